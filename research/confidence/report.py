"""Reports on confidence: measurements on held-out data, as JSON and as a figure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from groundling import Demonstration, Follower, __version__
from groundling.evaluation.confidence import Judged, Point, abstention, choose_threshold
from groundling.files import write_atomically
from research.confidence.reliability import Bin, calibration_error, cross_fit, pooled, reliability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ConfidenceReport", "measure"]

Item = TypeVar("Item")
POINTS = 60  # maximum number of points of a curve in a report


@dataclass(frozen=True)
class ConfidenceReport:
    """Confidence of one system on held-out data, with thresholds chosen on training data.

    `right` says what counts as right. `thresholds` are those of the trials, each chosen on the
    trial's training data to reach the accuracy `wanted`; `given` is the coverage and accuracy that
    they give on held-out data. `calibrated` and `calibrated_error` are measured after dividing
    scores by the temperatures found on training data.
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
        """Accuracy if every answer is given."""
        return self.curve[-1].right

    def save(self, path: str | Path) -> None:
        """Write the report as JSON."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        write_atomically(Path(path), text + "\n")

    @classmethod
    def load(cls, path: str | Path) -> ConfidenceReport:
        """Return a saved report."""
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
        from research.confidence.diagrams import draw_confidence

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
    """Return the report of trials, each with training and test items.

    In each trial, thresholds and temperatures are chosen by cross-fitting the training items; the
    test items are used only for the measurement.
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
        tell(f"threshold {threshold}, temperature {temperature:.2f}: {pooled(outside[-1:])}")
    judged = [each for found, _ in outside for each in found]
    return ConfidenceReport(
        task=task,
        preset=preset,
        condition=condition,
        right=right,
        count=len(judged),
        wanted=wanted,
        thresholds=tuple(threshold for _, threshold in outside),
        expected=pooled(inside),
        given=pooled(outside),
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
    """Return evenly spaced points of a curve, with its ends."""
    places = np.linspace(0, len(points) - 1, min(POINTS, len(points))).astype(int)
    return tuple(points[place] for place in places)
