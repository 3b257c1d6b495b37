"""Poses and plans in mazes, and the search for plans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from groundling.tasks.mazes.actions import STAY, MazeAction, MazeState, face, move, rotate
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import DIRECTIONS, Maze, Position, direction_between


class Pose(NamedTuple):
    """A position and an orientation (None if unknown)."""

    position: Position
    orientation: int | None


def actions_of(maze: Maze, poses: Sequence[Pose]) -> list[MazeAction]:
    """Return the actions between consecutive poses, one per step and turn.

    Raises `ValueError`, with the reason, if the maze does not allow these actions.

    >>> maze = Maze("Two", {(0, 0): "", (1, 0): ""}, [((0, 0), (1, 0), "wood", "fish")])
    >>> actions_of(maze, [Pose((0, 0), None), Pose((0, 0), 90), Pose((1, 0), 90)])
    [face(90), move(1)]
    >>> actions_of(maze, [Pose((1, 0), 90), Pose((2, 0), 90)])
    Traceback (most recent call last):
    ...
    ValueError: Every position must be a place of the maze; got (2, 0).
    """
    if not poses:
        raise ValueError("The route must have at least one pose; got none.")
    for pose in poses:
        if pose.position not in maze:
            raise ValueError(f"Every position must be a place of the maze; got {pose.position}.")
        if pose.orientation is not None and pose.orientation not in DIRECTIONS:
            raise ValueError(
                f"Every orientation must be one of {list(DIRECTIONS)}; got {pose.orientation}."
            )
    actions = []
    for one, two in pairwise(poses):
        if one == two:
            continue
        if two.orientation is None:
            raise ValueError(
                f"The orientation must be known after the first pose; got None at {two.position}."
            )
        if one.position == two.position:
            if one.orientation is None:
                actions.append(face(two.orientation))
            else:
                actions.append(rotate((two.orientation - one.orientation) % 360))
            continue
        if one.orientation != two.orientation:
            raise ValueError(
                f"The route must not turn and move in one step; got such a step from "
                f"{one.position} to {two.position}. Add a pose between the turn and the move."
            )
        direction = direction_between(one.position, two.position)
        if direction != one.orientation:
            raise ValueError(
                f"Every move must go straight ahead; got a move from {one.position} to "
                f"{two.position} while facing {one.orientation}. Add a pose that turns first."
            )
        line = maze.ahead(one.position, direction)
        if two.position not in line:
            raise ValueError(
                f"Every move must follow a hall; no hall leads from {one.position} to "
                f"{two.position}."
            )
        actions.append(move(line.index(two.position) + 1))
    return actions


def merge_moves(actions: Iterable[MazeAction]) -> tuple[MazeAction, ...]:
    """Return the actions with consecutive steps merged into moves.

    >>> merge_moves([move(1), move(1), rotate(90), rotate(90)])
    (move(2), rotate(90), rotate(90))
    """
    plan: list[MazeAction] = []
    for action in actions:
        if plan and action.kind == plan[-1].kind == "move":
            plan[-1] = move(plan[-1].amount + action.amount)
        elif action != STAY:
            plan.append(action)
    return tuple(plan) or (STAY,)


def poses_of(maze: Maze, start: Pose, actions: Iterable[MazeAction]) -> list[Pose]:
    """Return the poses of a plan, one after each step and turn.

    >>> maze = Maze("Two", {(0, 0): "", (1, 0): ""}, [((0, 0), (1, 0), "wood", "fish")])
    >>> poses_of(maze, Pose((0, 0), 0), [rotate(90), move(1)])[-1]
    Pose(position=(1, 0), orientation=90)
    """
    poses = [start]
    for action in actions:
        position, orientation = poses[-1]
        if action.kind == "face":
            poses.append(Pose(position, action.amount))
        elif action.kind == "rotate" and orientation is not None:
            poses.append(Pose(position, (orientation + action.amount) % 360))
        elif action.kind == "move" and orientation is not None:
            line = maze.ahead(position, orientation)[: action.amount]
            poses += [Pose(each, orientation) for each in line]
    return poses


def plans_within(
    environment: MazeEnvironment, start: MazeState, length: int
) -> Iterator[tuple[tuple[MazeAction, ...], MazeState]]:
    """Yield each plan of at most `length` actions with its final state, shortest first.

    >>> maze = Maze("Two", {(0, 0): "", (1, 0): ""}, [((0, 0), (1, 0), "wood", "fish")])
    >>> world = MazeEnvironment(maze)
    >>> len(list(plans_within(world, world.start((0, 0), 90), length=2)))
    8
    """
    layer: list[tuple[tuple[MazeAction, ...], MazeState]] = [((), start)]
    for _ in range(length):
        layer = [
            ((*plan, action), environment.step(state, action))
            for plan, state in layer
            for action in environment.actions(state)
        ]
        yield from layer


def shortest_plans(
    environment: MazeEnvironment, start: MazeState, end: Pose, length: int, *, most: int = 16
) -> tuple[tuple[MazeAction, ...], ...]:
    """Return the shortest plans that end in a pose, up to `most` of them.

    Returns no plans if the shortest one has more than `length` actions.

    >>> maze = Maze("Two", {(0, 0): "", (1, 0): ""}, [((0, 0), (1, 0), "wood", "fish")])
    >>> world = MazeEnvironment(maze)
    >>> shortest_plans(world, world.start((0, 0), 0), Pose((1, 0), 90), length=3)
    ((rotate(90), move(1)),)
    """
    # breadth-first search; each state has all shortest plans that reach it
    layer: dict[MazeState, list[tuple[MazeAction, ...]]] = {start: [()]}
    seen = {start}
    for _ in range(length):
        following: dict[MazeState, list[tuple[MazeAction, ...]]] = {}
        for state, plans in layer.items():
            for action in environment.actions(state):
                reached = environment.step(state, action)
                if reached not in seen:
                    ways = following.setdefault(reached, [])
                    ways += [(*plan, action) for plan in plans[: most - len(ways)]]
        found = [
            plan
            for state, plans in following.items()
            if environment.outcome(state) == end
            for plan in plans
        ]
        if found or not following:
            return tuple(found[:most])
        seen.update(following)
        layer = following
    return ()
