"""Two generated worlds for which no setting was chosen: a rich scene, and command sequences."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import NamedTuple

from groundling import Demonstration, GroundingGraph

__all__ = ["Scene", "Thing", "scene_demonstrations", "sequence_demonstrations"]

KINDS = (
    "mug", "bowl", "plate", "fork", "spoon", "knife", "lamp", "book", "chair", "box", "ball",
    "bottle", "candle", "clock", "vase", "brush", "radio", "basket", "pillow", "kettle",
)  # fmt: skip
COLOURS = ("red", "blue", "green", "white", "black", "yellow")
SIZES = ("small", "large")
VERBS = {
    "take": ("take", "grab", "pick up"),
    "push": ("push", "shove", "move"),
    "cover": ("cover", "hide"),
}
CONNECTIVES = (" and then ", " and ", ", then ", " and after that ", ". ")


class Thing(NamedTuple):
    """A thing on a table."""

    kind: str
    colour: str
    size: str


class Scene:
    """World of things in a row on a table; each can be taken, pushed or covered.

    The state lists the actions so far. The graphs of actions on a thing differ only in the verb.

    >>> table = Scene((Thing("mug", "red", "small"), Thing("box", "blue", "large")))
    >>> table.actions(())[:2]
    (('take', 0), ('take', 1))
    """

    def __init__(self, things: tuple[Thing, ...]) -> None:
        self.things = things

    def actions(self, done: tuple[object, ...]) -> tuple[tuple[str, int], ...]:
        """Return all pairs of a verb and a thing."""
        return tuple((verb, place) for verb in VERBS for place in range(len(self.things)))

    def step(self, done: tuple[object, ...], action: tuple[str, int]) -> tuple[object, ...]:
        """Return the state with the action appended."""
        return (*done, action)

    def ground(
        self, done: tuple[object, ...], action: tuple[str, int], after: tuple[object, ...]
    ) -> GroundingGraph:
        """Return the graph: the event, the thing, and the things beside it."""
        verb, place = action
        thing = self.things[place]
        nodes: dict[str, dict[str, object]] = {
            "event": {verb: True},
            "object": {**thing._asdict(), "place": place + 1},
        }
        edges = [("event", "object", "of")]
        for name, beside in (("left", place - 1), ("right", place + 1)):
            if 0 <= beside < len(self.things):
                nodes[name] = dict(self.things[beside]._asdict())
                edges.append(("object", name, name))
        return GroundingGraph(nodes, edges)


def _table(dice: random.Random, size: int, kinds: tuple[str, ...]) -> tuple[Thing, ...]:
    return tuple(
        Thing(dice.choice(kinds), dice.choice(COLOURS), dice.choice(SIZES)) for _ in range(size)
    )


def _named(dice: random.Random, things: tuple[Thing, ...], place: int) -> str | None:
    """Return a random description of a thing if it fits no other thing, else None."""
    thing = things[place]
    words = [(thing.kind,), (thing.colour, thing.kind), (thing.size, thing.colour, thing.kind)]
    said = dice.choice(words)
    alike = [each for each in things if set(said) <= set(each)]
    if len(alike) == 1:
        return f"the {' '.join(said)}"
    if place and dice.random() < 0.5:
        beside = things[place - 1]
        pairs = [
            (one, other) for one, other in pairwise(things)
            if set(said) <= set(other) and (beside.colour, beside.kind) == (one.colour, one.kind)
        ]  # fmt: skip
        if len(pairs) == 1:
            return f"the {' '.join(said)} to the right of the {beside.colour} {beside.kind}"
    return None


def _command(dice: random.Random, things: tuple[Thing, ...]) -> tuple[str, tuple[str, int]]:
    while True:
        place = dice.randrange(len(things))
        name = _named(dice, things, place)
        if name is not None:
            verb = dice.choice(sorted(VERBS))
            return f"{dice.choice(VERBS[verb])} {name}", (verb, place)


def scene_demonstrations(count: int, seed: int = 0) -> list[Demonstration]:
    """Return commands of one action each, among eight things of twenty kinds.

    >>> [shown] = scene_demonstrations(1)
    >>> len(shown.actions)
    1
    """
    dice = random.Random(f"scene {seed}")
    shown = []
    for number in range(count):
        things = _table(dice, 8, KINDS)
        text, action = _command(dice, things)
        shown.append(Demonstration(text, Scene(things), (), (action,), name=f"scene {number}"))
    return shown


def sequence_demonstrations(count: int, seed: int = 0) -> list[Demonstration]:
    """Return two or three commands one after another, joined by connectives.

    >>> len(sequence_demonstrations(1)[0].actions) in (2, 3)
    True
    """
    dice = random.Random(f"sequences {seed}")
    shown = []
    for number in range(count):
        things = _table(dice, 4, KINDS[:8])
        commands = [_command(dice, things) for _ in range(dice.choice((2, 2, 3)))]
        text = commands[0][0]
        for said, _ in commands[1:]:
            text += dice.choice(CONNECTIVES) + said
        actions = tuple(action for _, action in commands)
        shown.append(Demonstration(text, Scene(things), (), actions, name=f"sequence {number}"))
    return shown
