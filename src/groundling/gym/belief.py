"""BabyAI with a partial view: the agent explores, and remembers what it has seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from groundling.features.lexicon import matches_name
from groundling.gym.babyai_levels import BabyAI
from groundling.gym.episode import ActionChoice, MacroAction
from groundling.gym.grid import (
    CLOSED,
    GONE,
    LOCKED,
    MOVES,
    OPEN,
    GridLayout,
    GridState,
    Thing,
    put,
    step,
)
from groundling.gym.grid_planner import GridPlanner, PlanningError
from groundling.gym.optional import require
from groundling.world.environment import Demonstration
from groundling.world.graph import Labels

_REACH = 32  # number of cells in the belief, in each direction from the start
_SIZE = 2 * _REACH + 1
_UNKNOWN = 2  # value in `walls` of cells that have not been seen
_STATUS = {0: OPEN, 1: CLOSED, 2: LOCKED}
_NAMES = {
    "kind": ("ball", "box", "key", "door"),
    "colour": ("red", "green", "blue", "purple", "yellow", "grey"),
    "side": ("left", "right", "front", "behind"),
}


@dataclass(frozen=True, eq=False)
class BeliefLayout(GridLayout):
    """Layout that grows as the agent sees more cells.

    `first` contains the cell in which each thing was first seen.
    """

    first: tuple[int, ...] = ()


def frontier(state: GridState) -> set[int]:
    """Return the unseen cells next to cells that are known to have no wall."""
    walls = state.layout.walls
    return {
        cell + way
        for cell, wall in enumerate(walls)
        if not wall
        for way in state.layout.steps
        if walls[cell + way] == _UNKNOWN
    }


class PartialBabyAI(BabyAI):
    """A BabyAI level in which the agent has a partial view and a memory.

    A scene is a belief: a `GridState` on a large grid, whose middle is the cell where the agent
    starts. The agent's position is computed from its moves. Before acting, the agent explores to
    find the things that the text mentions.
    """

    surprises = 2_000  # every new thing in view counts as a surprise

    def __init__(self, level: str) -> None:
        super().__init__(level)
        self._beliefs: WeakKeyDictionary[Any, GridState] = WeakKeyDictionary()

    def begin(self, env: Any) -> GridState:
        """Return the initial belief, after the first view."""
        super().begin(env)  # the teacher uses the full view
        unwrapped = env.unwrapped
        layout = BeliefLayout(_SIZE, _SIZE, bytes([_UNKNOWN]) * (_SIZE * _SIZE), ())
        middle = _REACH * _SIZE + _REACH
        state = GridState(layout, middle, int(unwrapped.agent_dir), -1, (), ())
        state = _see(state, unwrapped.gen_obs()["image"])
        if unwrapped.carrying is not None:  # the carried thing is known
            held = Thing(unwrapped.carrying.type, unwrapped.carrying.color)
            state = _add(state, held, GONE, 0)._replace(carrying=len(state.places))
        self._beliefs[unwrapped] = state
        return state

    def observe(self, env: Any) -> GridState:
        """Return the current belief of the agent."""
        return self._beliefs[env.unwrapped]

    def after(self, env: Any, scene: GridState, move: int) -> GridState:
        """Return the belief after a move, updated with the new view."""
        state = _see(step(scene, MOVES[move]), env.unwrapped.gen_obs()["image"])
        self._beliefs[env.unwrapped] = state
        return state

    def record(self, seeds: int | Iterable[int]) -> list[Demonstration]:
        """Return the teacher's demonstrations, which use the full view."""
        return BabyAI(self.level).record(seeds)

    def objects(self, scene: GridState, start: GridState) -> dict[int, Labels]:
        """Return the kind, the colour and the sides of each thing seen so far.

        The sides are relative to the agent's initial position.
        """
        layout = scene.layout
        assert isinstance(layout, BeliefLayout)
        room = _room(scene, start.agent)
        return {
            number: self._labels(number, scene, start, first if first in room else GONE)
            for number, first in enumerate(layout.first)
            if scene.places[number] != GONE or number == scene.carrying
        }

    def differs(self, expected: GridState, real: GridState) -> bool:
        """Return whether the belief after a move differs from the expected one."""
        return expected != real

    def look(
        self, scene: GridState, parts: Sequence[str], choices: Sequence[ActionChoice]
    ) -> tuple[int, ...]:
        """Return moves to the nearest unseen cells if the text mentions unseen things.

        Returns no moves if all mentioned things have been seen.
        """
        things = scene.layout.things
        if len(parts) == len(choices) and all(
            _fits(part, things[int(str(choice.things[0]))], choice)
            for part, choice in zip(parts, choices, strict=True)
        ):
            return ()
        return self._explore(scene)

    def moves(self, scene: GridState, action: MacroAction) -> tuple[int, ...]:
        """Return moves that carry out a macro-action or, if none are known, that explore."""
        try:
            return super().moves(scene, action)
        except PlanningError:
            looks = self._explore(scene)
            if not looks:
                raise
            return looks

    @staticmethod
    def _explore(scene: GridState) -> tuple[int, ...]:
        planner = GridPlanner(scene)
        try:
            planner.look_at(frontier(scene))
        except PlanningError:
            return ()
        return tuple(MOVES.index(move) for move in planner.moves)


def _fits(part: str, thing: Thing, choice: ActionChoice) -> bool:
    """Return whether an object has every kind, colour and side named in a text part."""
    shown = {thing.kind, thing.colour, *choice.shown.partition("(")[2].rstrip(")").split(", ")}
    for word in part.split():
        for values in _NAMES.values():
            named = [value for value in values if matches_name(word, value)]
            if named and not shown & set(named):
                return False
    return True


def _see(state: GridState, image: Any) -> GridState:
    """Return the belief updated with the walls, free cells and things in view."""
    constants = require("minigrid.core.constants")
    size = image.shape[0]
    ahead = state.layout.steps[state.direction]
    right = state.layout.steps[(state.direction + 1) % 4]
    walls = bytearray(state.layout.walls)
    seen: list[tuple[int, Thing, int]] = []
    empty: list[int] = []
    for column in range(size):
        for row in range(size):
            kind = constants.IDX_TO_OBJECT[int(image[column, row, 0])]
            cell = state.agent + ahead * (size - 1 - row) + right * (column - size // 2)
            if kind == "unseen" or not 0 <= cell < len(walls):
                continue
            walls[cell] = kind == "wall"
            if cell == state.agent or kind in ("empty", "wall"):
                if cell != state.agent:
                    empty.append(cell)
                continue
            colour = constants.IDX_TO_COLOR[int(image[column, row, 1])]
            seen.append((cell, Thing(kind, colour), int(image[column, row, 2])))
    if bytes(walls) != state.layout.walls:
        state = state._replace(layout=replace(state.layout, walls=bytes(walls)))
    for cell in empty:
        number = state.at(cell)
        if number >= 0:
            state = state._replace(places=put(state.places, number, GONE))
    for cell, thing, status in seen:
        state = _place(state, cell, thing, _STATUS[status] if thing.kind == "door" else 0)
    return state


def _place(state: GridState, cell: int, thing: Thing, status: int) -> GridState:
    """Return the belief after a thing was seen on a cell."""
    number = state.at(cell)
    if number < 0 or state.layout.things[number][:2] != thing[:2]:
        if number >= 0:
            state = state._replace(places=put(state.places, number, GONE))
        return _add(state, thing, cell, status)
    if state.doors[number] != status:
        state = state._replace(doors=put(state.doors, number, status))
    return state


def _add(state: GridState, thing: Thing, cell: int, status: int) -> GridState:
    layout = state.layout
    assert isinstance(layout, BeliefLayout)
    grown = replace(layout, things=(*layout.things, thing), first=(*layout.first, cell))
    return state._replace(layout=grown, places=(*state.places, cell), doors=(*state.doors, status))


def _room(state: GridState, start: int) -> set[int]:
    """Return the cells of the room around `start`, including its walls and doors."""
    doors = {
        place
        for place, thing in zip(state.places, state.layout.things, strict=True)
        if thing.kind == "door"
    }
    found, waiting = {start}, [start]
    while waiting:
        cell = waiting.pop()
        for way in state.layout.steps:
            other = cell + way
            if other not in found and 0 <= other < len(state.layout.walls):
                found.add(other)
                if not state.layout.walls[other] and other not in doors:
                    waiting.append(other)
    return found
