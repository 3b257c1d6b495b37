"""Puzzles as the command line sees them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from groundling.errors import SettingError, did_you_mean
from groundling.evaluation.report import Row
from groundling.explain.explanation import Plan
from groundling.follower import Follower
from groundling.language.instruction import Instruction
from groundling.tasks.base import Fold, Outcome, Scene, Task, TrainingSet, sample_count
from groundling.tasks.presets import FULL
from groundling.tasks.puzzles.corpus import Corpus, Puzzle, read_corpus, split_hints
from groundling.tasks.puzzles.generator import generate_corpus
from groundling.tasks.puzzles.metrics import SplitScore, split_row
from groundling.tasks.puzzles.picture import draw_followed
from groundling.tasks.puzzles.presets import PRESETS, Preset
from groundling.tasks.puzzles.protocol import (
    HELD_OUT,
    judge,
    learn_and_follow,
    leave_one_out,
    prepare,
    random_splits,
    training_cases,
)

__all__ = ["PuzzleScene", "PuzzleTask"]

SPLITS = 20
QUICK_SPLITS = 5
_SECONDS = {"paper": 1.3, "best": 3.5, "auto": 5.0}  # a split


class PuzzleTask(Task[Corpus, Preset]):
    """Hints for puzzles; ten are held out at random, twenty times, and each of them once."""

    name = "puzzles"
    about = (
        "Hints for Crossblock puzzles: match means exactly the demonstrated strikes, success an "
        "empty board by whatever strikes."
    )
    metrics = ("success", "match")
    presets = PRESETS
    corpus = "crossblock"

    def load(self, folder: Path | None, size: float | None = None) -> Corpus:
        """Read the Crossblock corpus, or generate small puzzles."""
        if folder is not None:
            return read_corpus(folder / self.corpus / "data")
        return generate_corpus(sample_count(24, 8, size), seed=1, sizes=(3, 5))

    def training_set(self, corpus: Corpus, chosen: Preset, left_out: str | None) -> TrainingSet:
        """Return all puzzles but some, by default the last ten."""
        if left_out is None:
            apart = {each.number for each in corpus.usable[-_held_out(len(corpus.usable)) :]}
        else:
            apart = {_puzzle(corpus, each).number for each in left_out.split(",") if each.strip()}
        places = {place for place, each in enumerate(corpus.usable) if each.number in apart}
        shown = training_cases(prepare(chosen, corpus.usable), places)
        return TrainingSet(shown, ",".join(map(str, sorted(apart))))

    def folds(self, corpus: Corpus, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return stretches of random splits and, for the full system, of puzzles left out."""
        size, each = len(corpus.usable), _SECONDS[preset]
        if variant == "max alignment":
            each *= 5  # it alternates, from several starts
        splits = [(0, QUICK_SPLITS)] if quick else _stretches(SPLITS, 10)
        found = [Fold(f"splits {one}-{two}", each * (two - one)) for one, two in splits]
        if variant == FULL and not quick:
            found += [
                Fold(f"left out {one}-{two}", each * (two - one))
                for one, two in _stretches(size, 12)
            ]
        return found

    def evaluate_fold(
        self, corpus: Corpus, preset: str, variants: Sequence[str], fold: str
    ) -> dict[str, Outcome]:
        """Run a stretch of splits."""
        kind, _, stretch = fold.rpartition(" ")
        one, two = map(int, stretch.split("-"))
        size = len(corpus.usable)
        ways = (
            random_splits(size, two, held_out=_held_out(size))
            if kind == "splits"
            else leave_one_out(size)
        )
        found = {}
        for variant in variants:
            chosen = self.presets.select(preset, variant)
            cases = prepare(chosen, corpus.usable)
            splits = []
            for number in range(one, two):
                if kind == "splits":  # in a fresh world, so that the seconds are its own
                    cases = prepare(chosen, corpus.usable)
                done = learn_and_follow(chosen, cases, ways[number], seed=number)
                splits.append(judge(done).to_dict())
            found[variant] = {"kind": kind, "splits": splits}
        return found

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Put the stretches together."""
        splits: dict[str, list[SplitScore]] = {"splits": [], "left out": []}
        for outcome in outcomes:
            splits[outcome["kind"]] += map(SplitScore.from_dict, outcome["splits"])
        published = self.presets.select(preset, variant).published
        return split_row(variant, splits["splits"], splits["left out"], published)

    def condition(self, corpus: Corpus, preset: str, quick: bool) -> str:
        """Say how the figures come about."""
        size = len(corpus.usable)
        told = ", number of actions told" if self.presets.select(preset).length_told else ""
        count = QUICK_SPLITS if quick else SPLITS
        return f"{count} random splits, {_held_out(size)} of {size} puzzles held out{told}"

    def tuning_folds(self, corpus: Corpus) -> list[str]:
        """Return four shares of the puzzles to train on: all but the last ten."""
        size = len(corpus.usable) - _held_out(len(corpus.usable))
        return [",".join(map(str, range(start, size, 4))) for start in range(4)]

    def try_out(self, corpus: Corpus, chosen: Preset, fold: str) -> float:
        """Return the share of matching plans on a share of the puzzles to train on."""
        training = corpus.usable[: -_held_out(len(corpus.usable))]
        cases = prepare(chosen, training)
        done = learn_and_follow(chosen, cases, [int(place) for place in fold.split(",")])
        return judge(done).share("match")

    def scene(
        self, corpus: Corpus, chosen: Preset, where: str | None, start: str | None
    ) -> PuzzleScene:
        """Return a puzzle, by default the last one."""
        if start is not None:
            raise SettingError("A puzzle begins with its full board; leave --start out.")
        puzzle = corpus.usable[-1] if where is None else _puzzle(corpus, where)
        return PuzzleScene(puzzle, chosen)


class PuzzleScene(Scene):
    """A puzzle; all hints are read before the strikes are chosen."""

    def __init__(self, puzzle: Puzzle, chosen: Preset) -> None:
        self.name = f"puzzle {puzzle.number}"
        self.puzzle = puzzle
        self.chosen = chosen
        self.world = chosen.world_to_follow_in(chosen.world())

    def describe(self) -> str:
        """Return the board."""
        return self.world.describe(self.puzzle.start)

    def follow(
        self, follower: Follower, lines: Sequence[str], length: int | None = None
    ) -> list[Plan]:
        """Follow hints, cut at commas and at *then* as those of the corpus are."""
        hints = [hint for line in lines for hint in split_hints(line.replace(",", " , "))]
        if self.chosen.split_hyphens:
            hints = [hint.replace("-", " ") for hint in hints]
        text = tuple(Instruction.chain(hint.lower()) for hint in hints)
        return [follower.follow(text, self.world, self.puzzle.start, length=length)]

    def draw(self, plans: Sequence[Plan], file: Path, title: str = "") -> None:
        """Draw the board, strike by strike."""
        draw_followed(plans[0], title=title, path=file)


def _stretches(size: int, length: int) -> list[tuple[int, int]]:
    """Cut a range into stretches.

    >>> _stretches(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(size, start + length)) for start in range(0, size, length)]


def _held_out(size: int) -> int:
    """Return how many puzzles are held out: as in the paper, or fewer of a small corpus."""
    return min(HELD_OUT, max(1, size // 4))


def _puzzle(corpus: Corpus, text: str) -> Puzzle:
    shown = text.strip().removeprefix("puzzle").strip()
    known = [each.number for each in corpus]
    if not shown.isdecimal() or int(shown) not in known:
        raise SettingError(f"There is no puzzle {text!r}.{did_you_mean(shown, known)}")
    return corpus[int(shown)]
