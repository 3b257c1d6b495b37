"""Confidence on the tasks: `python -m groundling.tasks.confidence TASK CORPORA OUT [PICTURE]`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from groundling.errors import ConvergenceWarning, SearchError, SettingError, did_you_mean
from groundling.evaluation.confidence import ConfidenceReport, Judged, deal, measure
from groundling.follower import Follower
from groundling.tasks.registry import get_task
from groundling.world.environment import Demonstration

__all__ = ["TASKS", "maps", "mazes", "puzzles", "write_report"]

Tell = Callable[[str], None]


def _silent(line: str) -> None:
    pass


def _load(task: str, corpora: str | Path | None) -> Any:
    return get_task(task).load(None if corpora is None else Path(corpora))


def mazes(
    corpora: str | Path | None, *, wanted: float = 0.9, tell: Tell = _silent
) -> ConfidenceReport:
    """Measure `best` on single sentences, one map left out; thresholds from the other two."""
    from groundling.tasks.mazes.presets import PRESETS
    from groundling.tasks.mazes.protocol import ends_right, prepare_sentences

    chosen = PRESETS.select("best")
    sentences = prepare_sentences(chosen, _load("mazes", corpora))

    def judge(follower: Follower, items: Sequence[Demonstration]) -> list[Judged]:
        plans = follower.follow_many((e.instructions, e.environment, e.start) for e in items)
        return [
            Judged(plan.confidence, float(ends_right(each, plan)))
            for each, plan in zip(items, plans, strict=True)
        ]

    def trials() -> Any:
        for name, test in sentences.items():
            rest = [each for other, found in sentences.items() if other != name for each in found]
            yield rest, test

    return measure(
        trials(),
        lambda items: chosen.follower().fit(items, check=False),
        judge,
        group=lambda each: id(each.environment),  # the threshold must hold in a map not seen
        shown=lambda each: each,
        folds=2,
        wanted=wanted,
        task="mazes",
        preset="best",
        condition="single sentences, one map left out",
        right="share that ends right",
        tell=tell,
    )


def maps(
    corpora: str | Path | None, *, wanted: float = 0.75, folds: int = 4, tell: Tell = _silent
) -> ConfidenceReport:
    """Measure `best` on dialogues about test maps; a plan is as right as its F1."""
    from groundling.tasks.maps.corpus import Dialogue
    from groundling.tasks.maps.presets import PRESETS
    from groundling.tasks.maps.protocol import follow, prepare

    chosen = PRESETS.select("best")
    loaded = _load("maps", corpora)
    train, test = loaded.split()
    shown = {
        each.name: read
        for each, read in zip(
            [*train, *test], prepare(chosen, loaded, [*train, *test]), strict=True
        )
    }

    def learn(items: Sequence[Dialogue]) -> Follower:
        return chosen.follower().fit((shown[each.name] for each in items), check=False)

    def judge(follower: Follower, items: Sequence[Dialogue]) -> list[Judged]:
        done = follow(follower, chosen, loaded, items)
        return [Judged(each.plan.confidence, each.score.f1) for each in done.answers]

    return measure(
        [(train, test)],
        learn,
        judge,
        group=lambda each: each.map,
        shown=lambda each: shown[each.name],
        folds=folds,
        wanted=wanted,
        bins=5,
        task="maps",
        preset="best",
        condition=f"{len(test)} dialogues about maps not trained on",
        right="F1 of moves",
        tell=tell,
    )


def puzzles(
    corpora: str | Path | None, *, wanted: float = 0.95, tell: Tell = _silent
) -> ConfidenceReport:
    """Measure `best` on all puzzles, a fifth of them held out at a time."""
    from groundling.tasks.puzzles.presets import PRESETS
    from groundling.tasks.puzzles.protocol import Case, prepare

    chosen = PRESETS.select("best")
    cases = prepare(chosen, _load("puzzles", corpora).usable)

    def learn(items: Sequence[Case]) -> Follower:
        offered = [each.demonstration for each in items if each.offered]
        return chosen.follower().fit(offered, check=False)

    def judge(follower: Follower, items: Sequence[Case]) -> list[Judged]:
        judged = []
        for each in items:
            world, told = cast(Any, each.environment), each.demonstration
            try:
                plan = follower.follow(told.instructions, world, told.start)
            except SearchError:
                judged.append(Judged(0.0, 0.0))
            else:
                judged.append(Judged(plan.confidence, float(plan.actions == each.puzzle.plan)))
        return judged

    return measure(
        deal(cases, lambda each: each.puzzle.number, 5),
        learn,
        judge,
        group=lambda each: each.puzzle.number,
        shown=lambda each: each.demonstration,
        folds=4,
        wanted=wanted,
        bins=5,  # there are few puzzles
        task="puzzles",
        preset="best",
        condition=f"{len(cases)} puzzles, a fifth held out at a time",
        right="share that matches",
        tell=tell,
    )


TASKS: dict[str, Callable[..., ConfidenceReport]] = {
    "mazes": mazes,
    "maps": maps,
    "puzzles": puzzles,
}
"""What each task measures."""


def write_report(
    task: str,
    corpora: str | Path | None,
    out: str | Path,
    picture: str | Path = "",
    *,
    tell: Tell = _silent,
) -> None:
    """Measure confidence on a task and write what was found as JSON, and as a picture.

    `corpora` is the folder of all corpora; without it, the generated sample is taken.

    >>> write_report("chess", "corpora", "confidence-chess.json")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is no task 'chess'. Known: 'maps', 'mazes', 'puzzles'.
    """
    if task not in TASKS:
        raise SettingError(f"There is no task {task!r}.{did_you_mean(task, TASKS)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        report = TASKS[task](corpora, tell=tell)
    report.save(out)
    if picture:
        report.draw().savefig(picture, dpi=170)


if __name__ == "__main__":
    write_report(*sys.argv[1:], tell=print)
