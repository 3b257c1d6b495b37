"""The protocol of the puzzles: random splits, and one puzzle left out at a time.

`python -m groundling.tasks.puzzles.protocol FOLDER results/puzzles-best.json --preset best`
measures every row of a preset.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, cast

from groundling import __version__
from groundling.errors import DemonstrationError, GroundlingError, SearchError, SettingError
from groundling.evaluation.report import Report, Row, bootstrap
from groundling.follower import Follower
from groundling.inference.plan import Plan
from groundling.language.instruction import Instruction
from groundling.tasks.puzzles.corpus import Corpus, Puzzle, read_corpus
from groundling.tasks.puzzles.presets import PRESETS, Preset, preset, row_names
from groundling.world import Demonstration, World

__all__ = [
    "Answer",
    "Case",
    "Split",
    "evaluate",
    "evaluate_row",
    "learn_and_follow",
    "leave_one_out",
    "main",
    "prepare",
    "random_splits",
    "table_row",
]

HELD_OUT = 10
FOLDS = 5  # the paper averages five random splits


@dataclass(frozen=True)
class Case:
    """A puzzle as a preset wants it, to learn from and to follow in an environment.

    Not `offered` where its plan is not in the plan space.
    """

    puzzle: Puzzle
    demonstration: Demonstration
    environment: World
    offered: bool


@dataclass(frozen=True)
class Answer:
    """What the follower did with one puzzle; no plan where it found none."""

    puzzle: Puzzle
    plan: Plan | None

    @property
    def match(self) -> bool:
        """Whether the plan is exactly the demonstrated one."""
        return self.plan is not None and self.plan.actions == self.puzzle.plan

    @property
    def success(self) -> bool:
        """Whether the plan clears the board, by whatever strikes."""
        return self.plan is not None and not self.plan.end.board.cells  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Split:
    """One split: the follower trained on one part, and its answers on the other."""

    follower: Follower | None
    answers: tuple[Answer, ...]
    train_seconds: float
    test_seconds: float

    def share(self, metric: str) -> float:
        """Return the share of answers with a property."""
        return fmean(getattr(answer, metric) for answer in self.answers)

    def light(self) -> Split:
        """Return the split without its follower, which holds on to all it has seen."""
        answers = tuple(
            replace(each, plan=each.plan and replace(each.plan, _source=None))
            for each in self.answers
        )
        return replace(self, follower=None, answers=answers)


def prepare(chosen: Preset, puzzles: Iterable[Puzzle]) -> list[Case]:
    """Return puzzles as a preset wants them, all in one environment.

    >>> from groundling.tasks.puzzles.generator import generate_puzzle
    >>> [case] = prepare(preset("best"), [generate_puzzle(3, 4, 2, seed=1)])
    >>> case.offered, len(case.demonstration.instructions) == len(case.puzzle.hints)
    (True, True)
    """
    environment = chosen.world()
    # Worlds remember graphs and proofs, so that later splits need not ask again.
    world, follow_in = World(environment), World(chosen.world_to_follow_in(environment))
    cases = []
    for puzzle in puzzles:
        hints = [hint.replace("-", " ") if chosen.split_hyphens else hint for hint in puzzle.hints]
        told = tuple(Instruction.chain(hint) for hint in hints)
        demonstration = replace(
            puzzle.demonstration(environment), instructions=told, environment=cast(Any, world)
        )
        try:
            world.trace(puzzle.start, puzzle.plan)
            offered = True
        except DemonstrationError:
            offered = False
        cases.append(Case(puzzle, demonstration, follow_in, offered))
    return cases


def random_splits(
    size: int, count: int, *, held_out: int = HELD_OUT, seed: int = 0
) -> list[tuple[int, ...]]:
    """Return for each split the places that are held out.

    >>> random_splits(4, 2, held_out=1)
    [(3,), (3,)]
    """
    if not 0 < held_out < size:
        raise SettingError(
            f"Cannot hold out {held_out} of {size} puzzles; hold out at least one and leave one."
        )
    rng = random.Random(seed)
    return [tuple(sorted(rng.sample(range(size), held_out))) for _ in range(count)]


def leave_one_out(size: int) -> list[tuple[int, ...]]:
    """Return splits that hold out each place once.

    >>> leave_one_out(3)
    [(0,), (1,), (2,)]
    """
    return [(place,) for place in range(size)]


def learn_and_follow(
    chosen: Preset, cases: Sequence[Case], held_out: Iterable[int], *, seed: int = 0
) -> Split:
    """Train on all cases but some and follow the hints of those.

    Cases whose plan is not in the plan space cannot be learnt from; held out, they count.
    """
    left = set(held_out)
    train = [
        case.demonstration for place, case in enumerate(cases) if place not in left and case.offered
    ]
    began = time.process_time()
    follower = chosen.follower(seed=seed).fit(train)
    trained = time.process_time()
    answers = tuple(_follow(chosen, follower, cases[place]) for place in sorted(left))
    return Split(follower, answers, trained - began, time.process_time() - trained)


def _follow(chosen: Preset, follower: Follower, case: Case) -> Answer:
    shown = case.demonstration
    length = len(case.puzzle.plan) if chosen.length_told else None
    try:
        plan = follower.follow(
            shown.instructions, cast(Any, case.environment), shown.start, length=length
        )
    except SearchError:
        return Answer(case.puzzle, None)
    return Answer(case.puzzle, plan)


def evaluate_row(
    name: str,
    row: str,
    corpus: Corpus,
    *,
    splits: int = 20,
    one_left_out: bool = True,
    alone: bool = False,
    seed: int = 0,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Row, list[Split], list[Split]]:
    """Evaluate one row of a preset; return it, the random splits and those with one left out.

    Splits share a world, which remembers graphs and proofs, unless random splits are to stand
    `alone`: then their seconds are those of one split in a fresh world, and are noted.
    """
    chosen = preset(name, row)
    shared = prepare(chosen, corpus.usable)
    ways = [random_splits(len(shared), splits, seed=seed), []]
    if one_left_out:
        ways[1] = leave_one_out(len(shared))
    done: list[list[Split]] = [[], []]
    for found, way in zip(done, ways, strict=True):
        for number, held_out in enumerate(way):
            cases = prepare(chosen, corpus.usable) if alone and found is done[0] else shared
            split = learn_and_follow(chosen, cases, held_out, seed=seed + number)
            found.append(split.light())
            missed = [answer.puzzle.number for answer in split.answers if not answer.match]
            tell(
                f"{name}, {row}: split {number + 1} match {split.share('match'):.2f} success "
                f"{split.share('success'):.2f} ({split.train_seconds:.2f} + "
                f"{split.test_seconds:.2f} s), other plans for {missed}"
            )
    return table_row(row, chosen, done[0], done[1], alone), done[0], done[1]


def table_row(
    name: str,
    chosen: Preset,
    splits: Sequence[Split],
    single: Sequence[Split],
    alone: bool = False,
) -> Row:
    """Put what was answered together into a row of the table."""
    metrics: dict[str, float] = {}
    for metric in ("match", "success"):
        shares = [split.share(metric) for split in splits]
        metrics[metric] = fmean(shares)
        metrics[f"{metric} sd"] = stdev(shares) if len(shares) > 1 else 0.0
        metrics[f"{metric} first five"] = fmean(shares[:FOLDS])
        if single:
            metrics[f"{metric} one left out"] = fmean(split.share(metric) for split in single)
    # Puzzles, not splits, are what was drawn: the same few are held out again and again.
    by_puzzle: dict[int, list[bool]] = {}
    for split in splits:
        for answer in split.answers:
            by_puzzle.setdefault(answer.puzzle.number, []).append(answer.match)
    interval = bootstrap(
        [fmean(found) for found in by_puzzle.values()], lambda items: fmean(items), draws=1000
    )
    missed = sorted(number for number, found in by_puzzle.items() if not all(found))
    note = f"puzzles with another plan in some split: {', '.join(map(str, missed)) or 'none'}"
    if alone:
        seconds = [split.train_seconds + split.test_seconds for split in splits]
        note += (
            f"; CPU seconds to train and test one split on its own: {median(seconds):.1f} in the "
            f"median, {fmean(seconds):.1f} on average, {max(seconds):.1f} at most"
        )
    return Row(name, metrics, interval, seeds=len(splits), published=chosen.published, note=note)


def evaluate(
    corpus_folder: str | Path,
    name: str = "best",
    rows: Sequence[str] | None = None,
    *,
    splits: int = 20,
    one_left_out: bool | Sequence[str] = True,
    seed: int = 0,
    tell: Callable[[str], None] = lambda line: None,
    out: str | Path | None = None,
) -> Report:
    """Evaluate rows of a preset on the corpus of a folder (see `read_corpus`).

    Each row gives the mean over random splits of ten puzzles held out, their standard
    deviation, the mean of the first five, and the figure with one puzzle left out at a time;
    `one_left_out` may list the rows that this is wanted for. The row `full` also notes the
    seconds that one split takes. With `out`, what is measured is saved there after every row.
    """
    if splits < 1:
        raise SettingError(f"Puzzles are evaluated on at least one split, not on {splits}.")
    if out is not None and not Path(out).parent.is_dir():
        raise SettingError(f"There is no folder {Path(out).parent} to save results in. Make it.")
    began = time.time()
    corpus = read_corpus(corpus_folder)
    wanted = row_names(name) if rows is None else rows
    for row in wanted:
        preset(name, row)  # complain of an unknown row before the first is measured
    condition = f"{splits} random splits, {HELD_OUT} of {len(corpus.usable)} puzzles held out"
    report = Report("puzzles", name, condition, [], 0.0, __version__)
    for row in wanted:
        single = one_left_out if isinstance(one_left_out, bool) else row in one_left_out
        found, _, _ = evaluate_row(
            *(name, row, corpus),
            splits=splits,
            one_left_out=single,
            alone=row == "full",
            seed=seed,
            tell=tell,
        )
        report = replace(report, rows=[*report.rows, found], seconds=time.time() - began)
        if out is not None:
            report.save(out)
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluate a preset from the command line; the file is written after each row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", help="the folder of the corpus")
    parser.add_argument("out", help="a JSON file for the results")
    parser.add_argument("--preset", default="best", choices=sorted(PRESETS))
    parser.add_argument("--rows", nargs="+", help="rows of the preset; all if not given")
    parser.add_argument("--splits", type=int, default=20, help="random splits")
    parser.add_argument(
        "--one-left-out",
        nargs="*",
        metavar="ROW",
        help="rows for which puzzles are also left out one at a time; all if not given",
    )
    settings = parser.parse_args(arguments)
    try:
        report = evaluate(
            settings.corpus,
            settings.preset,
            settings.rows,
            splits=settings.splits,
            one_left_out=True if settings.one_left_out is None else settings.one_left_out,
            tell=print,
            out=settings.out,
        )
    except GroundlingError as error:
        parser.exit(1, f"{error}\n")
    print(report.markdown())


if __name__ == "__main__":
    main()
