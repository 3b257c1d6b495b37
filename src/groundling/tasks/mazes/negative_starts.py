"""Negative starts: where else a sentence might have been said, so that it tells where it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from groundling.tasks.mazes.actions import STAY, MazeState
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.plans import plans_within
from groundling.world.environment import Demonstration

NEAR = 4  # how far away an unknown start has its negative ones, in places


def add_negative_starts(
    demonstrations: Sequence[Demonstration],
    *,
    misread: int = 0,
    elsewhere: int = 0,
    alone: float = 0.0,
    seed: int = 0,
) -> list[Demonstration]:
    """Give demonstrations negative starts in the same maze.

    A start with an orientation gets `misread` of the states in which the agent would be had
    it taken the sentence before for something else; one without gets `elsewhere` places
    nearby, without orientation too. Sentences at which nothing is done get none: most are as
    true elsewhere. The share `alone` of the weight stays with a copy without them, which
    learns what to do where the start is known.

    >>> from groundling.tasks.mazes import Maze, MazeEnvironment, face
    >>> halls = [((0, 0), (1, 0), "wood", "fish")]
    >>> world = MazeEnvironment(Maze("Two", {(0, 0): "", (1, 0): ""}, halls))
    >>> shown = Demonstration("look along the hall", world, world.start((0, 0)), (face(90),))
    >>> made = add_negative_starts([shown], elsewhere=2, alone=0.25)
    >>> [(each.weight, [state.position for state in each.negative_starts]) for each in made]
    [(0.25, []), (0.75, [(1, 0)])]
    """
    before = _starts_before(demonstrations)
    found = []
    for place, each in enumerate(demonstrations):
        start, world = _place(each)
        pool: list[MazeState] = []
        count = misread
        if each.actions == (STAY,):
            pass
        elif start.orientation is None:
            pool, count = _near(world, start), elsewhere
        elif (each.group, start) in before:
            pool = _ends(world, before[each.group, start])
        pool = [state for state in pool if state != start]
        order = np.random.default_rng([seed, place]).permutation(len(pool))
        starts = tuple(pool[number] for number in order[:count].tolist())
        if starts and alone:
            found.append(each.weighted(alone * each.weight))
        share = 1 - alone if starts else 1.0
        found.append(replace(each, negative_starts=starts, weight=share * each.weight))
    return found


def _place(demonstration: Demonstration) -> tuple[MazeState, MazeEnvironment]:
    start, world = demonstration.start, demonstration.environment
    assert isinstance(start, MazeState)
    assert isinstance(world, MazeEnvironment)
    return start, world


def _starts_before(
    demonstrations: Sequence[Demonstration],
) -> dict[tuple[str, MazeState], MazeState]:
    """Return for each group and state where the sentence started that ends in that state."""
    found: dict[tuple[str, MazeState], MazeState] = {}
    for each in demonstrations:
        start, world = _place(each)
        end = start
        for action in each.actions:
            end = world.step(end, action)
        if world.restart(end) != start:
            found.setdefault((each.group, world.restart(end)), start)
    return found


def _ends(world: MazeEnvironment, start: MazeState) -> list[MazeState]:
    """Return the states in which plans from a start end, if they face anywhere."""
    length = 3 + world.extra_length(start)
    ends = dict.fromkeys(world.restart(end) for _, end in plans_within(world, start, length))
    return [end for end in ends if end.orientation is not None]


def _near(world: MazeEnvironment, start: MazeState) -> list[MazeState]:
    """Return starts without orientation in places nearby."""
    x, y = start.position
    return [
        world.start(position)
        for position in world.maze.positions
        if 0 < abs(position[0] - x) + abs(position[1] - y) <= NEAR
    ]
