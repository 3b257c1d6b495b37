"""Calibration of confidence, and cross-fitting of values chosen on training data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from groundling import Demonstration, Follower
from groundling.errors import GroundlingError, SettingError
from groundling.evaluation.confidence import Judged, Point
from groundling.ties import at_least

__all__ = [
    "Bin", "at_threshold", "calibration_error", "cross_fit", "deal", "pooled", "reliability",
]  # fmt: skip

Item = TypeVar("Item")


@dataclass(frozen=True)
class Bin:
    """Answers whose confidence is in a range: their number and means."""

    low: float
    high: float
    count: int
    confidence: float
    right: float


def _checked(judged: Iterable[Judged]) -> list[Judged]:
    listed = list(judged)
    if not listed:
        raise GroundlingError("There must be at least one answer to measure confidence.")
    return listed


def reliability(judged: Iterable[Judged], bins: int = 10) -> tuple[Bin, ...]:
    """Return answers grouped by ranges of confidence, without empty ranges.

    Examples
    --------
    >>> found = reliability([Judged(0.92, 1), Judged(0.96, 0), Judged(0.31, 0)])
    >>> [(each.low, each.count, round(each.confidence, 2), each.right) for each in found]
    [(0.3, 1, 0.31, 0.0), (0.9, 2, 0.94, 0.5)]
    """
    listed = _checked(judged)
    found = []
    for place in range(bins):
        low, high = place / bins, (place + 1) / bins
        inside = [
            each
            for each in listed
            if low <= each.confidence and (each.confidence < high or place == bins - 1)
        ]
        if inside:
            sure = float(np.mean([each.confidence for each in inside]))
            right = float(np.mean([each.right for each in inside]))
            found.append(Bin(low, high, len(inside), sure, right))
    return tuple(found)


def calibration_error(judged: Iterable[Judged], bins: int = 10) -> float:
    """Return the expected calibration error: the mean distance of confidence from accuracy.

    >>> calibration_error([Judged(0.75, 1), Judged(0.75, 1), Judged(0.75, 1), Judged(0.75, 0)])
    0.0
    >>> calibration_error([Judged(1.0, 0)])
    1.0
    """
    found = reliability(judged, bins)
    total = sum(each.count for each in found)
    return sum(each.count * abs(each.confidence - each.right) for each in found) / total


def at_threshold(judged: Iterable[Judged], threshold: float | None) -> Point:
    """Return coverage and accuracy at a threshold; with None, nothing is answered.

    >>> at_threshold([Judged(0.9, 1), Judged(0.5, 0)], 0.7)
    Point(threshold=0.7, coverage=0.5, right=1.0)
    """
    return pooled([(_checked(judged), threshold)])


def pooled(trials: Sequence[tuple[Sequence[Judged], float | None]]) -> Point:
    """Return coverage and accuracy of several trials together, each at its own threshold."""
    given = [
        each.right
        for judged, threshold in trials
        for each in judged
        if threshold is not None and at_least(each.confidence, threshold)
    ]
    total = sum(len(judged) for judged, _ in trials)
    only = trials[0][1] if len(trials) == 1 else None
    return Point(only, len(given) / total, float(np.mean(given)) if given else 0.0)


def deal(
    items: Sequence[Item], group: Callable[[Item], object], folds: int
) -> list[tuple[list[Item], list[Item]]]:
    """Return folds of items as pairs (rest, fold); groups stay together.

    An item without a group (`""` or None) is a group of its own.

    >>> deal(["a1", "b1", "a2"], lambda item: item[0], 2)
    [(['b1'], ['a1', 'a2']), (['a1', 'a2'], ['b1'])]
    """
    named = [(group(each), 0) for each in items]
    named = [
        each if each[0] not in ("", None) else ("", place) for place, each in enumerate(named, 1)
    ]
    groups = list(dict.fromkeys(named))
    if not 2 <= folds <= len(groups):
        raise SettingError(
            f"Cannot deal {len(groups)} groups out to {folds} folds; there are 2 folds or more, "
            "and no more than groups."
        )
    fold_of = {each: place % folds for place, each in enumerate(groups)}
    placed = [(each, fold_of[own]) for each, own in zip(items, named, strict=True)]
    return [
        (
            [each for each, place in placed if place != fold],
            [each for each, place in placed if place == fold],
        )
        for fold in range(folds)
    ]


def cross_fit(
    items: Sequence[Item],
    learn: Callable[[Sequence[Item]], Follower],
    judge: Callable[[Follower, Sequence[Item]], Iterable[Judged]],
    *,
    group: Callable[[Item], object],
    shown: Callable[[Item], Demonstration],
    folds: int = 4,
) -> tuple[list[Judged], float]:
    """Return judged answers to training items, from followers trained without their groups.

    Also returns a temperature for a follower trained on all items: the geometric mean of those that
    `Follower.calibrate` finds on the folds.
    """
    judged: list[Judged] = []
    logs = []
    for rest, part in deal(items, group, folds):
        follower = learn(rest)
        judged += judge(follower, part)
        logs.append(float(np.log(follower.calibrate(map(shown, part)).temperature_)))
    return judged, float(np.exp(np.mean(logs)))
