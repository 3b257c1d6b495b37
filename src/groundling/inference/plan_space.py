"""The plans that a world allows: all of them, a sample, a beam's, or a reflex agent's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from groundling.errors import SearchError
from groundling.inference.naming import ActionNames
from groundling.inference.plan_tree import PlanTree
from groundling.inference.settings import Search
from groundling.ties import Name, margin, rank
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State
from groundling.world.trajectory import ScoredTrajectory, Trajectory

__all__ = [
    "PlanScorer", "beam_plans", "best_first", "enumerate_plans", "greedy_plans", "sample_plans",
    "widen",
]  # fmt: skip

PlanScorer = Callable[[Sequence[Trajectory]], NDArray[np.float64]]


def enumerate_plans(world: CachedEnvironment, start: State, search: Search) -> PlanTree | None:
    """Return all plans within the length limits, shortest first, or nothing if too many.

    Where the world has a goal, only plans that reach it count, and plans that come to a dead
    end are dropped there.
    """
    search = search.extended(world.extra_length(start))
    found = PlanTree(start)
    layer = [0]
    for length in range(1, search.longest + 1):
        grown: list[int] = []
        # Where no plan can be dropped, the number of actions tells beforehand.
        offered = sum(len(world.actions(found.state(plan))) for plan in layer)
        if offered > search.budget and not world.has_dead_ends:
            return None
        for plan in layer:
            end = found.state(plan)
            for action in world.actions(end):
                after = world.step(end, action)
                if world.is_dead_end(after):
                    continue
                grown.append(found.grow(plan, action, after))
                if len(grown) > search.budget:
                    return None
        layer = grown
        if length >= search.min_length:
            found.keep(plan for plan in layer if world.is_goal(found.state(plan)))
        if len(found) > search.budget:
            return None
    return found


def sample_plans(
    world: CachedEnvironment, start: State, search: Search, count: int, random: np.random.Generator
) -> list[Trajectory]:
    """Return distinct plans of random walks."""
    search = search.extended(world.extra_length(start))
    found: dict[tuple[object, ...], Trajectory] = {}
    for _ in range(4 * count):
        plan = Trajectory((start,))
        wanted = int(random.integers(search.min_length, search.longest + 1))
        while len(plan) < wanted:
            possible = [
                each
                for each in world.actions(plan.end)
                if not world.is_dead_end(world.step(plan.end, each))
            ]
            if not possible:
                break
            action = possible[int(random.integers(len(possible)))]
            plan = plan.extended(action, world.step(plan.end, action))
        if len(plan) >= search.min_length and world.is_goal(plan.end):
            found[plan.actions] = plan
        if len(found) == count:
            break
    return list(found.values())


def beam_plans(
    world: CachedEnvironment, start: State, search: Search, score: PlanScorer
) -> list[ScoredTrajectory]:
    """Grow plans action by action, keeping the best of each length; return all kept, scored.

    Every unfinished plan is scored as if the text ended with it; dead ends are dropped.
    With `beam=None` nothing else is dropped, and the search is exhaustive.
    """
    search = search.extended(world.extra_length(start))
    layer = [Trajectory((start,))]
    kept: list[ScoredTrajectory] = []
    names = ActionNames()
    looked = 0
    for _ in range(search.longest):
        looked += sum(len(world.actions(plan.end)) for plan in layer)
        if looked > search.budget:
            if kept:
                break
            raise SearchError(
                f"The search looked at {looked} plans from state {start!r} without an answer. "
                "Raise Search.budget, or lower Search.beam or Search.max_length."
            )
        grown = [each for plan in layer for each in _next(world, plan)]
        if not grown:
            break
        scores = score(grown)
        # Far more than are kept may be tied before anything is learnt: name those that matter.
        ranked = rank(scores, _names(grown, names), search.beam)
        alive = (place for place in ranked if not world.is_dead_end(grown[place].end))
        order = list(islice(alive, search.beam))  # asks only about as many as are needed
        layer = [grown[place] for place in order]
        kept += [_scored(grown[place], scores[place]) for place in order]
    return [plan for plan in kept if _may_end(plan, world, search)]


def greedy_plans(
    world: CachedEnvironment, start: State, search: Search, score: PlanScorer
) -> list[ScoredTrajectory]:
    """Act without looking ahead: the best next action, until stopping scores better.

    Where the world has a goal, the agent stops only there. The first plan is the answer;
    then come, best first, the others that were looked at on the way and could have been one.
    """
    search = search.extended(world.extra_length(start))
    plan = _scored(Trajectory((start,)), -np.inf)
    looked: list[ScoredTrajectory] = []
    names = ActionNames()
    while len(plan) < search.longest:
        options = _next(world, plan)
        if not options:
            break
        scores = score(options)
        scored = [_scored(each, value) for each, value in zip(options, scores, strict=True)]
        looked += scored
        best = scored[rank(scores, _names(options, names), 1)[0]]
        if best.score <= plan.score + margin(plan.score) and _may_end(plan, world, search):
            break
        plan = best
    if not _may_end(plan, world, search):
        return []
    others = [each for each in looked if each is not plan and _may_end(each, world, search)]
    return [plan, *best_first(others, names)]


def best_first(
    plans: Sequence[ScoredTrajectory], names: ActionNames | None = None
) -> list[ScoredTrajectory]:
    """Return plans by falling score; ties by the names of their actions, shorter ones first."""
    scores = np.array([plan.score for plan in plans])
    order = rank(scores, _names(plans, ActionNames() if names is None else names))
    return [plans[place] for place in order]


def _names(plans: Sequence[Trajectory], names: ActionNames) -> Name:
    return lambda place: names.plan(plans[place].actions)


def widen(
    run: Callable[[Search], list[ScoredTrajectory]], search: Search, world: CachedEnvironment
) -> list[ScoredTrajectory]:
    """Search again with a wider beam while a goal is not reached and the budget lasts."""
    while True:
        found = run(search)
        if found or not world.has_goal or not search.planning or search.beam is None:
            return found
        if search.beam * 4 > search.budget:
            return found
        search = replace(search, beam=search.beam * 4)


def _next(world: CachedEnvironment, plan: Trajectory) -> list[Trajectory]:
    """Return the plan with each action that can follow it."""
    return [
        plan.extended(action, world.step(plan.end, action)) for action in world.actions(plan.end)
    ]


def _scored(plan: Trajectory, score: float) -> ScoredTrajectory:
    return ScoredTrajectory(plan.states, plan.actions, score=float(score))


def _may_end(plan: Trajectory, world: CachedEnvironment, search: Search) -> bool:
    return len(plan) >= search.min_length and world.is_goal(plan.end)
