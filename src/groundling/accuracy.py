"""Accuracy on demonstrations, and the calibration of confidences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from groundling.answers import possible_plans
from groundling.errors import DemonstrationError
from groundling.inference.decoder import best_temperature
from groundling.models.base import Request
from groundling.models.learnt import Learnt
from groundling.plan import Plan
from groundling.world.environment import Demonstration
from groundling.world.judgement import Judgement, is_right


def checked(demonstrations: Iterable[Demonstration]) -> list[Demonstration]:
    """Return demonstrations as a list; raise an error if their total weight is 0.

    >>> checked([])
    Traceback (most recent call last):
        ...
    groundling.errors.DemonstrationError: The total weight of demonstrations must be > 0; got 0.
    Add demonstrations with a weight > 0.
    """
    listed = list(demonstrations)
    if not listed or sum(each.weight for each in listed) <= 0:
        raise DemonstrationError(
            "The total weight of demonstrations must be > 0; got 0. Add demonstrations with a "
            "weight > 0."
        )
    return listed


def share_right(
    learnt: Learnt, demonstrations: Sequence[Demonstration], plans: Iterable[Plan | None]
) -> float:
    """Return the weighted share of demonstrations for which the plan is correct."""
    right, weight = 0.0, 0.0
    for each, plan in zip(demonstrations, plans, strict=True):
        world = learnt.fitted.encoder.world(each.environment)
        right += each.weight * is_right(world, each, plan)
        weight += each.weight
    return right / weight


def honest_temperature(
    learnt: Learnt, demonstrations: Sequence[Demonstration], requests: Sequence[Request]
) -> float:
    """Return the temperature that maximises the likelihood of the demonstrations."""
    results = learnt.model.search(learnt.fitted, requests, learnt.search)
    cases = []
    for each, request, result in zip(demonstrations, requests, results, strict=True):
        judgement, found = Judgement.of(request.world, each), possible_plans(result)
        scores = np.array([plan.score for plan in found])
        exactly = learnt.search.decode == "plan"
        right = np.array([judgement.accepts(plan, exactly=exactly) for plan in found])
        if len(found) and right.any():
            cases.append((scores, right))
    if not cases:
        raise DemonstrationError(
            "The search must find at least one demonstrated plan to calibrate; found none. Raise "
            "Search.max_length or Search.beam."
        )
    return best_temperature(cases)
