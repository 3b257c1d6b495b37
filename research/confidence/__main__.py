"""Accuracy of confidence: `python -m research.confidence TASK CORPORA OUT.json [PICTURE.png]`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from groundling import Follower
from groundling.errors import ConvergenceWarning, SettingError, did_you_mean
from groundling.evaluation.confidence import Judged
from groundling.tasks.benchmark import Case, Score, demonstrations, follow_cases
from groundling.tasks.maps.path_score import PathScore
from groundling.tasks.task_registry import get_task
from research.confidence.reliability import deal
from research.confidence.report import ConfidenceReport, measure

__all__ = ["MEASURED", "Measured", "measure_task", "write_report"]


class Measured(NamedTuple):
    """Measurement on a task: test folds, folds of the training data, and what counts as right."""

    wanted: float
    right: str
    share: Callable[[Score], float]
    condition: str
    folds: int
    bins: int
    test_folds: int = 0  # number of folds of parts; by default, those of the task's evaluation


MEASURED = {
    "mazes": Measured(
        0.9, "share that ends right", lambda score: score["right"],
        "single sentences, one map left out", folds=2, bins=10,
    ),
    "maps": Measured(
        0.75, "F1 of moves", lambda score: PathScore(**score).f1,  # type: ignore[arg-type]
        "{test} dialogues about maps not trained on", folds=4, bins=5,
    ),
    "puzzles": Measured(
        0.95, "share that matches", lambda score: score["match"],
        "{all} puzzles, a fifth held out at a time", folds=4, bins=5, test_folds=5,
    ),
}  # fmt: skip
"""Measurement on each task."""


def measure_task(
    name: str, corpora: Path | None, *, folds: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> ConfidenceReport:  # fmt: skip
    """Measure the preset `best`; thresholds and temperatures come from the training data."""
    if name not in MEASURED:
        raise SettingError(f"There is no task {name!r}.{did_you_mean(name, MEASURED)}")
    what, task = MEASURED[name], get_task(name)
    chosen, corpus = task.presets.select("best"), task.load(corpora)
    cases = task.prepare(corpus, chosen)
    if what.test_folds:
        trials = deal(cases, _part, what.test_folds)
    else:
        tests = [fold.held_out for fold in task.folds(corpus, "best", "full", quick=False)]
        trials = [
            ([each for each in cases if each.part not in test],
             [each for each in cases if each.part in test])
            for test in tests
        ]  # fmt: skip

    def judge(follower: Follower, items: Sequence[Case]) -> list[Judged]:
        plans = follow_cases(follower, items)
        return [
            Judged(0.0 if plan is None else plan.confidence, what.share(task.judge(case, plan)))
            for case, plan in zip(items, plans, strict=True)
        ]

    counts = {"all": len(cases), "test": sum(len(test) for _, test in trials)}
    return measure(
        trials,
        lambda items: chosen.fit(demonstrations(items), check=False),
        judge,
        group=_part,  # the threshold must apply to a part that was not used for training
        shown=lambda each: each.demonstration,
        folds=folds or what.folds,
        wanted=what.wanted,
        bins=what.bins,
        task=name,
        preset="best",
        condition=what.condition.format(**counts),
        right=what.right,
        tell=tell,
    )


def _part(case: Case) -> str:
    return case.part


def write_report(
    name: str, corpora: str | Path | None, out: str | Path, picture: str | Path = "", **options: Any
) -> None:
    """Measure confidence on a task, and write the report as JSON and as a picture.

    `corpora` is the folder of all corpora; without it, the generated sample is used.

    >>> write_report("chess", "corpora", "confidence-chess.json")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is no task 'chess'. Known: 'maps', 'mazes', 'puzzles'.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        report = measure_task(name, None if corpora is None else Path(corpora), **options)
    report.save(out)
    if picture:
        report.draw().savefig(picture, dpi=170)


if __name__ == "__main__":
    write_report(*sys.argv[1:], tell=print)
