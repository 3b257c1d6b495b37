"""Judging by demonstrations: how many are followed rightly, and how sure one may be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from groundling.answers import possible_plans
from groundling.errors import DemonstrationError
from groundling.explain.explanation import Plan
from groundling.inference.decoding import best_temperature
from groundling.models.base import Request
from groundling.models.learnt import Learnt
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration

__all__ = ["checked", "honest_temperature", "is_right", "share_right"]


def checked(demonstrations: Iterable[Demonstration]) -> list[Demonstration]:
    """Return demonstrations that can be judged by.

    >>> checked([])
    Traceback (most recent call last):
        ...
    groundling.errors.DemonstrationError: There are no demonstrations with weight to judge by.
    """
    listed = list(demonstrations)
    if not listed or sum(each.weight for each in listed) <= 0:
        raise DemonstrationError("There are no demonstrations with weight to judge by.")
    return listed


def is_right(world: CachedEnvironment, demonstration: Demonstration, plan: Plan | None) -> bool:
    """Tell whether a plan ends as a demonstration does; no plan does not.

    >>> from groundling import GroundingGraph
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): return GroundingGraph({"lamp": {action: True}})
    >>> shown = Demonstration("light it", Lamp(), "off", ("on",))
    >>> plan = Plan(("off", "on"), ("off", "off", "on"), -0.1, 0.9)
    >>> is_right(CachedEnvironment(Lamp()), shown, plan)
    True
    """
    ends = [
        world.outcome(world.trace(demonstration.start, actions, str(demonstration)).end)
        for actions in (demonstration.actions, *demonstration.also)
    ]
    return plan is not None and world.outcome(plan.end) in ends


def share_right(
    learnt: Learnt, demonstrations: Sequence[Demonstration], plans: Iterable[Plan | None]
) -> float:
    """Return the share of demonstrations whose outcome plans reach, by weight."""
    right, weight = 0.0, 0.0
    for each, plan in zip(demonstrations, plans, strict=True):
        world = learnt.fitted.encoder.world(each.environment)
        right += each.weight * is_right(world, each, plan)
        weight += each.weight
    return right / weight


def honest_temperature(
    learnt: Learnt, demonstrations: Sequence[Demonstration], requests: Sequence[Request]
) -> float:
    """Return the temperature at which demonstrated plans, or their outcomes, are most likely."""
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    cases = []
    for each, request, result in zip(demonstrations, requests, results, strict=True):
        world, found = request.world, possible_plans(result)
        end = world.outcome(world.trace(each.start, each.actions, str(each)).end)
        scores = np.array([plan.score for plan in found])
        if learnt.search.decode == "plan":
            shown = (each.actions, *map(tuple, each.also))
            right = np.array([plan.actions in shown for plan in found])
        else:
            right = np.array([world.outcome(plan.end) == end for plan in found])
        if len(found) and right.any():
            cases.append((scores, right))
    if not cases:
        raise DemonstrationError(
            "None of the demonstrations can be used to calibrate: no plan that was found ends as "
            "demonstrated. Raise Search.max_length or Search.beam."
        )
    return best_temperature(cases)
