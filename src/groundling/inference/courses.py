"""The plans that a world allows: all of them, a sample, or a beam's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from groundling.errors import SearchError
from groundling.inference.settings import Search
from groundling.model.builder import Builder, Course, Courses
from groundling.world.environment import Action, State, World

__all__ = ["beam_courses", "enumerate_courses", "greedy_courses", "sample_courses"]

Scorer = Callable[[Sequence[Course]], NDArray[np.float64]]
Path = tuple[tuple[State, ...], tuple[Action, ...]]


def enumerate_courses(
    builder: Builder, world: World, start: State, search: Search
) -> Courses | None:
    """Return all plans within the length limits, shortest first, or nothing if too many.

    Where the world has a goal, only plans that reach it count, and plans that come to a dead
    end are dropped there.
    """
    search = search.extended(world.extra_length(start))
    layer: list[Path] = [((start,), ())]
    found: list[Path] = []
    for length in range(1, search.max_length + 1):
        grown: list[Path] = []
        for states, actions in layer:
            for action in world.actions(states[-1]):
                after = world.step(states[-1], action)
                if world.is_dead_end(after):
                    continue
                grown.append(((*states, after), (*actions, action)))
                if len(grown) > search.budget:
                    return None
        layer = grown
        if length >= search.min_length:
            found += [path for path in layer if world.is_goal(path[0][-1])]
        if len(found) > search.budget:
            return None
    return Courses(builder.course(world, *path) for path in found)


def sample_courses(
    builder: Builder,
    world: World,
    start: State,
    search: Search,
    count: int,
    random: np.random.Generator,
) -> Courses:
    """Return distinct plans of random walks."""
    search = search.extended(world.extra_length(start))
    found: dict[tuple[Action, ...], Path] = {}
    for _ in range(4 * count):
        states: tuple[State, ...] = (start,)
        actions: tuple[Action, ...] = ()
        wanted = int(random.integers(search.min_length, search.max_length + 1))
        while len(actions) < wanted:
            possible = [
                each
                for each in world.actions(states[-1])
                if not world.is_dead_end(world.step(states[-1], each))
            ]
            if not possible:
                break
            action = possible[int(random.integers(len(possible)))]
            states, actions = (*states, world.step(states[-1], action)), (*actions, action)
        if len(actions) >= search.min_length and world.is_goal(states[-1]):
            found[actions] = (states, actions)
        if len(found) == count:
            break
    return Courses(builder.course(world, *path) for path in found.values())


def beam_courses(
    builder: Builder, world: World, start: State, search: Search, score: Scorer
) -> list[tuple[Course, float]]:
    """Grow plans action by action, keeping the best of each length; return all kept, scored.

    Every unfinished plan is scored as if the text ended with it; dead ends are dropped.
    With `beam=None` nothing else is dropped, and the search is exhaustive.
    """
    search = search.extended(world.extra_length(start))
    layer = [builder.course(world, (start,), ())]
    kept: list[tuple[Course, float]] = []
    looked = 0
    for _ in range(search.max_length):
        looked += sum(len(world.actions(course.states[-1])) for course in layer)
        if looked > search.budget:
            if kept:
                break
            raise SearchError(
                f"The search looked at {looked} plans from state {start!r} without an answer. "
                "Raise Search.budget, or lower Search.beam or Search.max_length."
            )
        grown = [
            builder.course(
                world,
                (*course.states, world.step(course.states[-1], action)),
                (*course.actions, action),
            )
            for course in layer
            for action in world.actions(course.states[-1])
        ]
        if not grown:
            break
        scores = score(grown)
        ranked = np.argsort(-scores, kind="stable").tolist()
        alive = (place for place in ranked if not world.is_dead_end(grown[place].states[-1]))
        order = list(islice(alive, search.beam))  # asks only about as many as are needed
        layer = [grown[place] for place in order]
        kept += [(grown[place], float(scores[place])) for place in order]
    return [
        (course, value)
        for course, value in kept
        if len(course.actions) >= search.min_length and world.is_goal(course.states[-1])
    ]


def greedy_courses(
    builder: Builder, world: World, start: State, search: Search, score: Scorer
) -> list[tuple[Course, float]]:
    """Act without looking ahead: the best next action, until stopping scores better.

    Where the world has a goal, the agent stops only there. The first course is the answer;
    then come, best first, the others that were looked at on the way and could have been one.
    """
    search = search.extended(world.extra_length(start))
    course = builder.course(world, (start,), ())
    best = -np.inf
    looked: list[tuple[Course, float]] = []
    while len(course.actions) < search.max_length:
        options = [
            builder.course(
                world,
                (*course.states, world.step(course.states[-1], action)),
                (*course.actions, action),
            )
            for action in world.actions(course.states[-1])
        ]
        if not options:
            break
        scores = score(options)
        looked += zip(options, scores.tolist(), strict=True)
        place = int(np.argmax(scores))
        if scores[place] <= best and _may_end(course, world, search):
            break
        course, best = options[place], float(scores[place])
    if not _may_end(course, world, search):
        return []
    others = [
        (each, value)
        for each, value in looked
        if each is not course and _may_end(each, world, search)
    ]
    return [(course, best), *sorted(others, key=lambda each: -each[1])]


def _may_end(course: Course, world: World, search: Search) -> bool:
    return len(course.actions) >= search.min_length and world.is_goal(course.states[-1])
