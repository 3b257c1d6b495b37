"""Decoding of scored plans: best plan, best outcome or minimum Bayes risk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groundling.ties import Name, margin, rank
from groundling.world.environment import State

SHARPEST, SOFTEST = 0.05, 50.0
"""The range of temperatures that `best_temperature` searches."""
Reals = NDArray[np.float64]
_MOST_COMPARED = 300


def log_softmax(scores: Reals, temperature: float = 1.0) -> Reals:
    """Return normalised log probabilities; rounding never makes them positive.

    >>> np.exp(log_softmax(np.array([0.0, 1e6]))).tolist()
    [0.0, 1.0]
    """
    scaled = scores / temperature
    shifted = scaled - scaled.max()
    return np.asarray(np.minimum(shifted - np.log(np.exp(shifted).sum()), 0.0))


def best_temperature(cases: Sequence[tuple[Reals, NDArray[np.bool_]]]) -> float:
    """Return the temperature that maximises the likelihood of correct plans.

    Each case has the scores of candidate plans, and a mask of the correct ones.

    >>> sure = (np.array([4.0, 0.0]), np.array([True, False]))
    >>> wrong = (np.array([4.0, 0.0]), np.array([False, True]))
    >>> best_temperature([sure, sure, sure]) < 1 < best_temperature([sure, sure, wrong])
    True
    """

    def surprise(temperature: float) -> float:
        total = 0.0
        for scores, right in cases:
            total -= float(np.logaddexp.reduce(log_softmax(scores, temperature)[right]))
        return total

    grid = np.exp(np.linspace(np.log(SHARPEST), np.log(SOFTEST), 200))
    surprises = np.array([surprise(temperature) for temperature in grid.tolist()])
    return float(grid[rank(-surprises, most=1)[0]])  # the lowest temperature wins ties


def decode(
    way: str,
    log_probabilities: Reals,
    paths: Sequence[Sequence[State]],
    outcome: Callable[[State], Hashable],
    *,
    answer: int | None = None,
    name: Name | None = None,
) -> tuple[int, float]:
    """Return the index of the chosen plan and its confidence.

    `way` is `Search.decode`. If a search without planning has already chosen a plan, `answer` is
    its index. Ties are broken by the `name` of each index (see `groundling.ties`).

    >>> logs = np.log(np.array([0.4, 0.3, 0.3]))
    >>> decode("plan", logs, ["ab", "ac", "adc"], lambda state: state)[0]
    0
    >>> place, confidence = decode("outcome", logs, ["ab", "ac", "adc"], lambda state: state)
    >>> place, round(confidence, 2)
    (1, 0.6)
    >>> decode("outcome", logs, ["ab", "ac", "adc"], lambda state: state, answer=0)[0]
    0
    """
    probabilities = np.exp(log_probabilities)
    if way == "plan":
        best = rank(log_probabilities, name, 1)[0] if answer is None else answer
        return best, float(probabilities[best])
    if way == "outcome":
        totals: dict[Hashable, float] = {}
        ends = [outcome(path[-1]) for path in paths]
        for end, probability in zip(ends, probabilities.tolist(), strict=True):
            totals[end] = totals.get(end, 0.0) + probability
        if answer is None:
            least = max(totals.values())
            least -= margin(least)
            likely = [place for place, end in enumerate(ends) if totals[end] >= least]
            # Ties go to the outcome of the more probable plan.
            named = None if name is None else lambda place: name(likely[place])
            answer = likely[rank(log_probabilities[likely], named, 1)[0]]
        return answer, min(totals[ends[answer]], 1.0)
    passed = [[outcome(state) for state in path] for path in paths]
    return _least_risk(probabilities, passed, answer, name)


def _least_risk(
    probabilities: Reals,
    paths: Sequence[Sequence[Hashable]],
    answer: int | None,
    name: Name | None,
) -> tuple[int, float]:
    """Return the index of the plan with the highest expected F1, and this F1.

    F1 compares the transitions of two plans.
    """
    # All pairs of plans are compared, so use only the most probable plans.
    likely = rank(probabilities, name, _MOST_COMPARED)[:_MOST_COMPARED]
    if answer is not None and answer not in likely:
        likely.append(answer)
    bags = [Counter(pairwise(paths[place])) for place in likely]
    gains = np.zeros(len(likely))
    for number, bag in enumerate(bags):
        for place, other in zip(likely, bags, strict=True):
            shared = sum((bag & other).values())
            gains[number] += probabilities[place] * 2 * shared / (bag.total() + other.total())
    best = rank(gains, most=1)[0] if answer is None else likely.index(answer)
    return likely[best], float(min(gains[best], 1.0))
