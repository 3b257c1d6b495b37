"""Precision and recall of the transitions in predicted paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol


class _Place(Protocol):
    @property
    def landmark(self) -> str: ...


def transitions(path: Iterable[str | _Place]) -> Counter[tuple[str, str]]:
    """Return counts of the transitions from one landmark to another, without sides.

    A path consists of landmark keys, steps, actions or states, and begins with the start.

    >>> transitions(["start", "cave", "cave", "start", "cave"])
    Counter({('start', 'cave'): 2, ('cave', 'start'): 1})
    """
    keys = [each if isinstance(each, str) else each.landmark for each in path]
    return Counter((here, there) for here, there in pairwise(keys) if here != there)


@dataclass(frozen=True)
class PathScore:
    """Counts of predicted, reference and correct transitions of paths.

    The sum of two scores is the score of both paths together (a micro average).

    >>> one = PathScore(correct=3, predicted=4, reference=6)
    >>> print(one + PathScore(correct=1, predicted=1, reference=4))
    P 0.800  R 0.400  F1 0.533
    """

    correct: int = 0
    predicted: int = 0
    reference: int = 0

    @property
    def precision(self) -> float:
        """Share of the predicted transitions that are correct."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the reference transitions that were predicted."""
        return self.correct / self.reference if self.reference else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.predicted + self.reference
        return 2 * self.correct / both if both else 0.0

    def __add__(self, other: PathScore) -> PathScore:
        return PathScore(
            self.correct + other.correct,
            self.predicted + other.predicted,
            self.reference + other.reference,
        )

    def __str__(self) -> str:
        return f"P {self.precision:.3f}  R {self.recall:.3f}  F1 {self.f1:.3f}"


def score_path(predicted: Iterable[str | _Place], reference: Iterable[str | _Place]) -> PathScore:
    """Score the transitions of a path, as a multiset, against its reference.

    >>> score_path(["start", "cave", "hut"], ["start", "cave", "inn", "hut"])
    PathScore(correct=1, predicted=2, reference=3)
    """
    found, wanted = transitions(predicted), transitions(reference)
    return PathScore((found & wanted).total(), found.total(), wanted.total())


def score_by_map(scores: Iterable[PathScore], maps: Iterable[int]) -> dict[int, PathScore]:
    """Return the sum of the scores for each map.

    >>> scores = [PathScore(correct=correct, predicted=3, reference=4) for correct in (1, 2, 0)]
    >>> score_by_map(scores, maps=[3, 1, 3])
    {1: PathScore(correct=2, predicted=3, reference=4),
     3: PathScore(correct=1, predicted=6, reference=8)}
    """
    sums: dict[int, PathScore] = {}
    for score, number in zip(scores, maps, strict=True):
        sums[number] = sums.get(number, PathScore()) + score
    return dict(sorted(sums.items()))
