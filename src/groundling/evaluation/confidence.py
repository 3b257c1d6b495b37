"""Confidence thresholds: when to abstain in order to reach a given accuracy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundling.errors import GroundlingError, SettingError
from groundling.ties import at_least


@dataclass(frozen=True)
class Judged:
    """The confidence of an answer, and its correctness (0 to 1)."""

    confidence: float
    right: float


@dataclass(frozen=True)
class Point:
    """The coverage at a threshold, and the accuracy of the answers that reach it.

    `threshold` is None for a mean over several thresholds, or if no threshold was used.
    """

    threshold: float | None
    coverage: float
    right: float


def abstention(judged: Iterable[Judged]) -> tuple[Point, ...]:
    """Return the coverage and accuracy at every distinct threshold, highest first.

    >>> for point in abstention([Judged(0.9, 1), Judged(0.5, 0), Judged(0.7, 1), Judged(0.5, 1)]):
    ...     print(point.threshold, point.coverage, point.right)
    0.9 0.25 1.0
    0.7 0.5 1.0
    0.5 1.0 0.75
    """
    listed = sorted(judged, key=lambda each: -each.confidence)
    if not listed:
        raise GroundlingError(
            "`judged` must contain at least one answer; got none. Pass held-out answers."
        )
    points, right = [], 0.0
    for number, each in enumerate(listed, 1):
        right += each.right
        # Answers with the same confidence share a point.
        if number == len(listed) or not at_least(listed[number].confidence, each.confidence):
            points.append(Point(each.confidence, number / len(listed), right / number))
    return tuple(points)


def choose_threshold(judged: Iterable[Judged], wanted: float) -> float | None:
    """Return the lowest threshold with an accuracy of at least `wanted`.

    Returns None if no threshold reaches this accuracy. Use held-out answers (see
    `groundling.dialogue.cross_fit`), never test data.

    >>> judged = [Judged(0.9, 1), Judged(0.5, 0), Judged(0.7, 1), Judged(0.6, 0)]
    >>> choose_threshold(judged, 0.9), choose_threshold(judged, 0.6)
    (0.7, 0.6)
    """
    if not 0 <= wanted <= 1:
        raise SettingError(f"`wanted` must be between 0 and 1; got {wanted}.")
    good = [point for point in abstention(judged) if at_least(point.right, wanted)]
    return good[-1].threshold if good else None
