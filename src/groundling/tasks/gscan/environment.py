"""The gSCAN grid as an environment: things, commands, and their executor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from groundling.world.graph import GroundingGraph, Labels, labels_of
from groundling.world.manners import PLAIN, Manner, Route

VERBS = ("walk", "push", "pull")
STRAIGHT, ZIGZAG = "", "zigzag"
_LOOK = ("turn left", "turn right", "turn right", "turn left")
MANNERS = {
    "": PLAIN,
    "cautiously": Manner(_LOOK, "before move"),
    "hesitantly": Manner(("stay",), "after move"),
    "while spinning": Manner(("turn left",) * 4, "before turns"),
    "while zigzagging": Manner(route=ZIGZAG),
}
"""Manners of the corpus, under names that do not occur in the texts."""
_EAST, _SOUTH, _WEST, _NORTH = range(4)
_STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))  # rows and columns, by direction
_TURNS: tuple[tuple[str, ...], ...] = ((), ("turn right",), ("turn left",) * 2, ("turn left",))
_HEAVY = 3  # smallest size of a thing that needs two pushes per cell


class GridThing(NamedTuple):
    """A thing on the grid, with its colour, shape, size and position."""

    row: int
    column: int
    shape: str
    colour: str
    size: int

    @property
    def labels(self) -> Labels:
        """Labels of the thing in a scene."""
        return _labels(self)


@lru_cache(maxsize=4096)
def _labels(thing: GridThing) -> Labels:
    return labels_of(
        {
            "shape": thing.shape, "colour": thing.colour, "size": thing.size,
            "x": thing.column, "y": thing.row,
        }
    )  # fmt: skip


class GscanCommand(NamedTuple):
    """A command: a verb, the index of a thing, and the index of a manner."""

    verb: str
    thing: int
    manner: int


class Grid(NamedTuple):
    """State of a grid: the agent's position and direction, the things, and the command.

    `done` is the executed command, or None at the start.
    """

    size: int
    row: int
    column: int
    direction: int
    things: tuple[GridThing, ...]
    done: GscanCommand | None = None


def routes(grid: Grid, verb: str, thing: int) -> dict[str, Route]:
    """Return the moves that carry out a verb, for a straight and a zigzag route.

    The zigzag route is left out if it equals the straight one.

    >>> circle = GridThing(row=1, column=2, shape="circle", colour="red", size=1)
    >>> grid = Grid(size=6, row=0, column=0, direction=0, things=(circle,))
    >>> for route in routes(grid, "walk", 0).values():
    ...     print(*(" ".join((*turns, move)) for turns, move in route), sep=", ")
    walk, walk, turn right walk
    walk, turn right walk, turn left walk
    """
    found = {}
    target = grid.things[thing]
    across, down = target.column - grid.column, target.row - grid.row
    columns = [_EAST if across > 0 else _WEST] * abs(across)
    rows = [_SOUTH if down > 0 else _NORTH] * abs(down)
    shorter = min(len(columns), len(rows))
    mixed = [each for pair in zip(columns, rows, strict=False) for each in pair]
    for name, way in (
        (STRAIGHT, columns + rows),
        (ZIGZAG, mixed + columns[shorter:] + rows[shorter:]),
    ):
        if name == STRAIGHT or way != columns + rows:
            found[name] = _route(grid, verb, thing, way)
    return found


def _route(grid: Grid, verb: str, thing: int, way: Sequence[int]) -> Route:
    steps: list[tuple[tuple[str, ...], str]] = []
    facing = grid.direction
    for direction in way:
        steps.append((_TURNS[(direction - facing) % 4], "walk"))
        facing = direction
    if verb != "walk":
        target = grid.things[thing]
        away = facing if verb == "push" else (facing + 2) % 4
        taken = {(other.row, other.column) for other in grid.things}
        row, column = (at + by for at, by in zip(target[:2], _STEPS[away], strict=True))
        while 0 <= row < grid.size and 0 <= column < grid.size and (row, column) not in taken:
            steps += [((), verb)] * (2 if target.size >= _HEAVY else 1)
            row, column = row + _STEPS[away][0], column + _STEPS[away][1]
    return steps


class GscanEnvironment:
    """Environment whose actions are commands: any verb with any thing in any manner.

    The executor (`execute`) handles routes and manners. The follower learns the thing, verb and
    manner of each text.

    Parameters
    ----------
    manners
        The possible manners.

    Examples
    --------
    >>> circle = GridThing(row=0, column=2, shape="circle", colour="red", size=1)
    >>> grid = Grid(size=6, row=0, column=0, direction=0, things=(circle,))
    >>> world = GscanEnvironment()
    >>> world.execute(grid, GscanCommand("walk", thing=0, manner=2))
    ('walk', 'stay', 'walk', 'stay')
    """

    def __init__(self, manners: Sequence[Manner] = tuple(MANNERS.values())) -> None:
        self.manners = tuple(manners)

    def things(self, state: Grid) -> dict[str, Labels]:
        """Return the labels of all things on the grid."""
        return {f"thing {n}": thing.labels for n, thing in enumerate(state.things)}

    def actions(self, state: Grid) -> tuple[GscanCommand, ...]:
        """Return all commands, or none after a command has been executed."""
        if state.done is not None:
            return ()
        return tuple(
            GscanCommand(verb, thing, manner)
            for verb in VERBS
            for thing in range(len(state.things))
            for manner in range(len(self.manners))
        )

    def step(self, state: Grid, action: GscanCommand) -> Grid:
        """Return the grid after a command."""
        return Grid(*state[:5], action)

    def ground(self, state: Grid, action: GscanCommand, next_state: Grid) -> GroundingGraph:
        """Return the grounding graph of a command: event, thing and manner."""
        thing = f"thing {action.thing}"
        nodes: dict[str, Labels] = {"event": action.verb, thing: state.things[action.thing].labels}
        edges = [("event", thing, "of")]
        manner = self.manners[action.manner]
        if manner != PLAIN:
            nodes["manner"] = str(manner)
            edges.append(("event", "manner", "how"))
        return GroundingGraph(nodes, edges)

    def execute(self, state: Grid, action: GscanCommand) -> tuple[str, ...]:
        """Return the primitive moves that carry out a command."""
        manner = self.manners[action.manner]
        ways = routes(state, action.verb, action.thing)
        return manner.render(ways.get(manner.route, ways[STRAIGHT]))  # type: ignore[return-value]

    def describe(self, state: Grid) -> str:
        """Return a one-line description of a grid."""
        listed = ", ".join(f"{e.colour} {e.shape} {e.size}" for e in state.things)
        return f"A grid of {state.size} by {state.size} with {listed}."
