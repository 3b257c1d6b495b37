"""How far confidence can be trusted: reliability, abstention, thresholds from training data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from groundling import __version__
from groundling.errors import GroundlingError, SettingError
from groundling.files import write_atomically
from groundling.follower import Follower
from groundling.ties import at_least
from groundling.world.environment import Demonstration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Bin",
    "ConfidenceReport",
    "Judged",
    "Point",
    "abstention",
    "at_threshold",
    "calibration_error",
    "choose_threshold",
    "cross_fit",
    "deal",
    "measure",
    "reliability",
]

Item = TypeVar("Item")
POINTS = 60  # of a curve, as kept in a report


@dataclass(frozen=True)
class Judged:
    """An answer: how sure the follower was, and how much of it was right (0 to 1)."""

    confidence: float
    right: float


@dataclass(frozen=True)
class Bin:
    """The answers whose confidence lies in a range: how many, their means."""

    low: float
    high: float
    count: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Point:
    """What is right of the answers at or above a threshold, and what share of all they are.

    Without a threshold, several were used, or none was found.
    """

    threshold: float | None
    coverage: float
    right: float


def _checked(judged: Iterable[Judged]) -> list[Judged]:
    listed = list(judged)
    if not listed:
        raise GroundlingError("There are no answers to judge confidence by.")
    return listed


def reliability(judged: Iterable[Judged], bins: int = 10) -> tuple[Bin, ...]:
    """Sort answers into ranges of confidence; ranges without answers are left out.

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
    """Return the expected calibration error: the mean distance of confidence from the truth.

    >>> calibration_error([Judged(0.75, 1), Judged(0.75, 1), Judged(0.75, 1), Judged(0.75, 0)])
    0.0
    >>> calibration_error([Judged(1.0, 0)])
    1.0
    """
    found = reliability(judged, bins)
    total = sum(each.count for each in found)
    return sum(each.count * abs(each.confidence - each.right) for each in found) / total


def abstention(judged: Iterable[Judged]) -> tuple[Point, ...]:
    """Return what is right of the surest answers, for every share of answers that is given.

    >>> for point in abstention([Judged(0.9, 1), Judged(0.5, 0), Judged(0.7, 1), Judged(0.5, 1)]):
    ...     print(point.threshold, point.coverage, point.right)
    0.9 0.25 1.0
    0.7 0.5 1.0
    0.5 1.0 0.75
    """
    listed = sorted(_checked(judged), key=lambda each: -each.confidence)
    points, right = [], 0.0
    for number, each in enumerate(listed, 1):
        right += each.right
        # Answers of one confidence are given or withheld together.
        if number == len(listed) or not at_least(listed[number].confidence, each.confidence):
            points.append(Point(each.confidence, number / len(listed), right / number))
    return tuple(points)


def choose_threshold(judged: Iterable[Judged], wanted: float) -> float | None:
    """Return the lowest threshold above which the wanted share is right; nothing if none does.

    Judge answers that were not trained on (see `cross_fit`), and never test data.

    >>> judged = [Judged(0.9, 1), Judged(0.5, 0), Judged(0.7, 1), Judged(0.6, 0)]
    >>> choose_threshold(judged, 0.9), choose_threshold(judged, 0.6)
    (0.7, 0.6)
    """
    if not 0 <= wanted <= 1:
        raise SettingError(f"The wanted share of right answers is between 0 and 1, not {wanted}.")
    good = [point for point in abstention(judged) if at_least(point.right, wanted)]
    return good[-1].threshold if good else None


def at_threshold(judged: Iterable[Judged], threshold: float | None) -> Point:
    """Return coverage and what is right at a threshold; without one nothing is answered.

    >>> at_threshold([Judged(0.9, 1), Judged(0.5, 0)], 0.7)
    Point(threshold=0.7, coverage=0.5, right=1.0)
    """
    return _pooled([(_checked(judged), threshold)])


def _pooled(trials: Sequence[tuple[Sequence[Judged], float | None]]) -> Point:
    """Return what several trials give together, each at its own threshold."""
    given = [
        each.right
        for judged, threshold in trials
        for each in judged
        if threshold is not None and at_least(each.confidence, threshold)
    ]
    total = sum(len(judged) for judged, _ in trials)
    only = trials[0][1] if len(trials) == 1 else None
    return Point(only, len(given) / total, float(np.mean(given)) if given else 0.0)


# ---- answers that were not trained on ---------------------------------------------------


def deal(
    items: Sequence[Item], group: Callable[[Item], object], folds: int
) -> list[tuple[list[Item], list[Item]]]:
    """Deal groups of items out to folds; return for each fold the rest and the fold.

    An item without a group (`""` or None) is a group by itself.

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
    """Judge training items by followers that did not learn from them or from their group.

    Returns the judged answers and a temperature for the follower that learns from all of
    them: the geometric mean of what `Follower.calibrate` finds on the folds.
    """
    judged: list[Judged] = []
    logs = []
    for rest, part in deal(items, group, folds):
        follower = learn(rest)
        judged += judge(follower, part)
        logs.append(float(np.log(follower.calibrate(map(shown, part)).temperature_)))
    return judged, float(np.exp(np.mean(logs)))


# ---- reports ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ConfidenceReport:
    """The confidence of one system on held-out data, and thresholds chosen on training data.

    `right` says what counts as right. `thresholds` are those of the trials, each chosen on
    the trial's own training data to reach the `wanted` share there; `given` is what they give
    on held-out data. `calibrated` and `calibrated_error` are with scores divided by the
    temperatures found on training data.
    """

    task: str
    preset: str
    condition: str
    right: str
    count: int
    wanted: float
    thresholds: tuple[float | None, ...]
    expected: Point
    given: Point
    error: float
    bins: tuple[Bin, ...]
    curve: tuple[Point, ...]
    temperatures: tuple[float, ...]
    calibrated_error: float
    calibrated: tuple[Bin, ...]
    seconds: float
    version: str

    @property
    def overall(self) -> float:
        """What is right when every answer is given."""
        return self.curve[-1].right

    def row(self) -> str:
        """Return the line of this report in the table of the page on confidence."""
        shares = (self.overall, self.error, self.calibrated_error, self.wanted,
                  self.expected.coverage, self.expected.right,
                  self.given.coverage, self.given.right)  # fmt: skip
        cells = " | ".join(f"{share:.3f}".removeprefix("0") for share in shares)
        return f"| {self.task} | {self.count} | {cells} |"

    def save(self, path: str | Path) -> None:
        """Write the report as JSON."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        write_atomically(Path(path), text + "\n")

    @classmethod
    def load(cls, path: str | Path) -> ConfidenceReport:
        """Read a report that was saved."""
        data: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        for name in ("bins", "calibrated"):
            data[name] = tuple(Bin(**each) for each in data[name])
        data["curve"] = tuple(Point(**each) for each in data["curve"])
        for name in ("expected", "given"):
            data[name] = Point(**data[name])
        for name in ("thresholds", "temperatures"):
            data[name] = tuple(data[name])
        return cls(**data)

    def draw(self) -> Figure:
        """Draw the reliability diagram and the abstention curve side by side."""
        from groundling.evaluation.diagrams import draw_confidence

        return draw_confidence(self)


def measure(
    trials: Iterable[tuple[Sequence[Item], Sequence[Item]]],
    learn: Callable[[Sequence[Item]], Follower],
    judge: Callable[[Follower, Sequence[Item]], Iterable[Judged]],
    *,
    group: Callable[[Item], object],
    shown: Callable[[Item], Demonstration],
    folds: int,
    wanted: float,
    bins: int = 10,
    task: str = "",
    preset: str = "",
    condition: str = "",
    right: str = "",
    tell: Callable[[str], None] = lambda line: None,
) -> ConfidenceReport:
    """Measure confidence on trials of training and test items.

    In each trial everything that is chosen, thresholds and temperatures, is chosen by
    cross-fitting its training items; the test items are only judged.
    """
    began = time.time()
    inside: list[tuple[list[Judged], float | None]] = []
    outside: list[tuple[list[Judged], float | None]] = []
    calibrated: list[Judged] = []
    temperatures = []
    for train, test in trials:
        fitted, temperature = cross_fit(train, learn, judge, group=group, shown=shown, folds=folds)
        threshold = choose_threshold(fitted, wanted)
        follower = learn(train)
        outside.append((list(judge(follower, test)), threshold))
        inside.append((fitted, threshold))
        calibrated += judge(follower.with_search(temperature=temperature), test)
        temperatures.append(temperature)
        tell(f"threshold {threshold}, temperature {temperature:.2f}: {_pooled(outside[-1:])}")
    judged = [each for found, _ in outside for each in found]
    return ConfidenceReport(
        task=task,
        preset=preset,
        condition=condition,
        right=right,
        count=len(judged),
        wanted=wanted,
        thresholds=tuple(threshold for _, threshold in outside),
        expected=_pooled(inside),
        given=_pooled(outside),
        error=calibration_error(judged, bins),
        bins=reliability(judged, bins),
        curve=_thinned(abstention(judged)),
        temperatures=tuple(temperatures),
        calibrated_error=calibration_error(calibrated, bins),
        calibrated=reliability(calibrated, bins),
        seconds=time.time() - began,
        version=__version__,
    )


def _thinned(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return some points of a curve, evenly, with its ends."""
    places = np.linspace(0, len(points) - 1, min(POINTS, len(points))).astype(int)
    return tuple(points[place] for place in places)
