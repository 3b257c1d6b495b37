"""A generated rich scene: things on a table, graphs of 8 to 20 nodes, plans of one action.

The scene uses only functions that every version of the library has, so that `benchmarks/side.py`
can run with any version.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from groundling import Demonstration, GroundingGraph

__all__ = ["Act", "Table", "Thing", "demonstrations"]

COLOURS = ("red", "green", "blue", "yellow", "black", "white")
SHAPES = ("cup", "plate", "bowl", "box", "ball", "book", "lamp", "spoon")
SIZES = ("small", "large")
MATERIALS = ("wooden", "metal", "glass")
VERBS = {"take": ("take", "grab", "pick up"), "push": ("push", "move"), "tip": ("tip", "turn over")}


class Thing(NamedTuple):
    """A thing on the table."""

    colour: str
    shape: str
    size: str
    material: str
    column: int
    row: int


class Act(NamedTuple):
    """An action: a verb and a thing."""

    verb: str
    thing: int


Scene = tuple[Thing, ...]
Edge = tuple[str, str, str]


class Table:
    """World whose states are tables full of things; each text describes one thing."""

    def __init__(self) -> None:
        self._seen: dict[Scene, tuple[dict[str, dict[str, object]], list[Edge]]] = {}

    def actions(self, state: Scene) -> tuple[Act, ...]:
        """Return all pairs of a verb and a thing within reach, which is one in the first rows."""
        near = sorted(range(len(state)), key=lambda number: (state[number].row, number))[:6]
        return tuple(Act(verb, number) for verb in VERBS for number in sorted(near))

    def step(self, state: Scene, action: Act) -> Scene:
        """Return the table without the thing."""
        return (*state[: action.thing], *state[action.thing + 1 :])

    def ground(self, state: Scene, action: Act, after: Scene) -> GroundingGraph:
        """Return the graph: the action, all things, and the relations between them."""
        if state not in self._seen:
            self._seen[state] = self._describe(state)
        things, around = self._seen[state]
        target = f"thing {action.thing}"
        nodes = {"event": {"act": action.verb}, **things}
        nodes[target] = {**nodes[target], "target": True}
        return GroundingGraph(nodes, [("event", target, "acts on"), *around], root="event")

    def _describe(self, state: Scene) -> tuple[dict[str, dict[str, object]], list[Edge]]:
        nodes: dict[str, dict[str, object]] = {}
        edges: list[Edge] = []
        for number, thing in enumerate(state):
            nodes[f"thing {number}"] = {
                "colour": thing.colour, "shape": thing.shape, "size": thing.size,
                "material": thing.material,
            }  # fmt: skip
            for other, there in enumerate(state):
                if other != number and abs(there.column - thing.column) <= 1:
                    if there.row == thing.row:
                        side = "right of" if thing.column > there.column else "left of"
                        edges.append((f"thing {number}", f"thing {other}", side))
                    elif there.row == thing.row + 1 and there.column == thing.column:
                        edges.append((f"thing {number}", f"thing {other}", "in front of"))
        return nodes, edges


def demonstrations(count: int, seed: int = 0) -> list[Demonstration]:
    """Return demonstrations of one action each, every one at a different table."""
    rng = random.Random(seed)
    world = Table()
    shown = []
    for number in range(count):
        places = rng.sample([(column, row) for column in range(5) for row in range(4)], 19)
        scene = tuple(
            Thing(rng.choice(COLOURS), rng.choice(SHAPES), rng.choice(SIZES),
                  rng.choice(MATERIALS), *place)
            for place in places[: rng.randint(7, 19)]
        )  # fmt: skip
        act = rng.choice(world.actions(scene))
        thing = scene[act.thing]
        words = [rng.choice(VERBS[act.verb]), "the"]
        words += [each for each in (thing.size, thing.material) if rng.random() < 0.4]
        text = " ".join([*words, thing.colour, thing.shape])
        shown.append(Demonstration(text, world, scene, (act,), name=f"{number}"))
    return shown
