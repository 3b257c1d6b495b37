"""Scores of predicted paths: transitions from landmark to landmark, as multisets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise
from statistics import mean, stdev
from typing import Any, NamedTuple, Protocol

import numpy as np

from groundling.errors import SettingError
from groundling.evaluation.report import Row
from groundling.tasks.trials import Seconds, median_seconds

__all__ = [
    "DialogueScore",
    "Interval",
    "PathScore",
    "RunOutcome",
    "bootstrap",
    "run_row",
    "score_by_map",
    "score_path",
    "score_paths",
    "transitions",
]


class _Place(Protocol):
    @property
    def landmark(self) -> str: ...


def transitions(path: Iterable[str | _Place]) -> Counter[tuple[str, str]]:
    """Count the moves of a path from one landmark to another; sides do not matter.

    A path is given by landmarks' keys, or by steps, actions or states, and begins with
    the start.

    >>> transitions(["start", "cave", "cave", "start", "cave"])
    Counter({('start', 'cave'): 2, ('cave', 'start'): 1})
    """
    keys = [each if isinstance(each, str) else each.landmark for each in path]
    return Counter((here, there) for here, there in pairwise(keys) if here != there)


@dataclass(frozen=True)
class PathScore:
    """How many transitions were predicted, are in the reference, and are in both.

    Scores add up to the score of several paths together (a micro average).

    >>> print(PathScore(correct=3, predicted=4, reference=6) + PathScore(1, 1, 4))
    P 0.800  R 0.400  F1 0.533
    """

    correct: int = 0
    predicted: int = 0
    reference: int = 0

    @property
    def precision(self) -> float:
        """The share of the predicted transitions that are right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the reference's transitions that were found."""
        return self.correct / self.reference if self.reference else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
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
    """Score one path against its reference; a transition made twice must be right twice.

    >>> score_path(["start", "cave", "hut"], ["start", "cave", "inn", "hut"])
    PathScore(correct=1, predicted=2, reference=3)
    """
    found, wanted = transitions(predicted), transitions(reference)
    return PathScore((found & wanted).total(), found.total(), wanted.total())


def score_paths(
    pairs: Iterable[tuple[Iterable[str | _Place], Iterable[str | _Place]]],
) -> PathScore:
    """Score several paths together, each as (predicted, reference).

    >>> score_paths([(["start", "cave"], ["start", "cave"]), (["start"], ["start", "hut"])]).recall
    0.5
    """
    return sum((score_path(*pair) for pair in pairs), PathScore())


def score_by_map(scores: Iterable[PathScore], maps: Iterable[int]) -> dict[int, PathScore]:
    """Add up the scores of the dialogues about each map.

    >>> score_by_map([PathScore(1, 1, 2), PathScore(2, 4, 4), PathScore(0, 1, 2)], [3, 1, 3])
    {1: PathScore(correct=2, predicted=4, reference=4),
     3: PathScore(correct=1, predicted=2, reference=4)}
    """
    sums: dict[int, PathScore] = {}
    for score, number in zip(scores, maps, strict=True):
        sums[number] = sums.get(number, PathScore()) + score
    return dict(sorted(sums.items()))


class Interval(NamedTuple):
    """A confidence interval of an F1."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.3f}–{self.high:.3f}"


def bootstrap(
    scores: Sequence[PathScore] | Mapping[int, PathScore],
    *,
    samples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Return a bootstrap interval of the F1, by drawing dialogues with replacement.

    Dialogues about the same map are alike, so the interval says too little about new
    maps; give the scores by map (`score_by_map`) to draw whole maps instead.

    >>> low, high = bootstrap([PathScore(8, 10, 10), PathScore(2, 10, 10), PathScore(5, 9, 10)])
    >>> 0.2 <= low < 15 / 29.5 < high <= 0.8
    True
    """
    if isinstance(scores, Mapping):
        scores = list(scores.values())
    if not scores:
        raise SettingError("There are no scores to draw from; score at least one dialogue.")
    if samples < 1 or not 0 < level < 1:
        raise SettingError(
            f"samples is {samples} and level is {level}; "
            "draw at least once, at a level between 0 and 1."
        )
    counts = np.array([(each.correct, each.predicted + each.reference) for each in scores])
    draws = np.random.default_rng(seed).integers(len(scores), size=(samples, len(scores)))
    sums = counts[draws].sum(axis=1)  # [sample, (correct, predicted + reference)]
    f1 = 2 * sums[:, 0] / np.maximum(sums[:, 1], 1)
    low, high = np.quantile(f1, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


class DialogueScore(NamedTuple):
    """The score of one dialogue, and which map it is about."""

    map: int
    score: PathScore


@dataclass(frozen=True)
class RunOutcome:
    """The scores of test dialogues after one training.

    >>> found = RunOutcome((DialogueScore(3, PathScore(1, 2, 4)),), Seconds(9.0, 2.0))
    >>> found.total.recall, found.by_map(), RunOutcome.from_dict(found.to_dict()) == found
    (0.25, {3: PathScore(correct=1, predicted=2, reference=4)}, True)
    """

    answers: tuple[DialogueScore, ...]
    seconds: Seconds

    @property
    def total(self) -> PathScore:
        """The score of all dialogues together."""
        return sum((each.score for each in self.answers), PathScore())

    def by_map(self) -> dict[int, PathScore]:
        """Return the score of each map."""
        return score_by_map(
            [each.score for each in self.answers], [each.map for each in self.answers]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        answers = [[each.map, *astuple(each.score)] for each in self.answers]
        return {"answers": answers, "seconds": self.seconds}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RunOutcome:
        """Return an outcome that was kept as JSON."""
        answers = tuple(
            DialogueScore(number, PathScore(*score)) for number, *score in content["answers"]
        )
        return cls(answers, Seconds(*content["seconds"]))


def run_row(
    name: str, runs: Sequence[RunOutcome], published: Mapping[str, float] | None = None
) -> Row:
    """Put the runs of all seeds together: metrics are means over seeds.

    The interval is a bootstrap of the F1 over the test dialogues of all seeds.

    >>> answers = (DialogueScore(0, PathScore(3, 4, 4)), DialogueScore(1, PathScore(1, 4, 4)))
    >>> run_row("full", [RunOutcome(answers, Seconds(9.0, 2.0))]).metrics
    {'precision': 0.5, 'recall': 0.5, 'f1': 0.5, 'map 0': 0.75, 'map 1': 0.25}
    """
    totals = [each.total for each in runs]
    metrics = {
        "precision": mean(score.precision for score in totals),
        "recall": mean(score.recall for score in totals),
        "f1": mean(score.f1 for score in totals),
    }
    if len(runs) > 1:
        metrics["f1 sd"] = stdev(score.f1 for score in totals)
    for number in runs[0].by_map():
        metrics[f"map {number}"] = mean(each.by_map()[number].f1 for each in runs)
    # Means over seeds are drawn dialogue by dialogue, so that seeds do not pass for data.
    summed = [
        sum((each.answers[place].score for each in runs), PathScore())
        for place in range(len(runs[0].answers))
    ]
    low, high = bootstrap(summed)
    seconds = median_seconds([each.seconds for each in runs])
    return Row(name, metrics, (low, high), len(runs), published or {}, seconds=seconds)
