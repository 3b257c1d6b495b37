"""The `puzzles` task: random splits with ten puzzles held out, and leave-one-out."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import cast

from groundling.errors import DemonstrationError, SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.features.reader import Text
from groundling.language.instruction import Instruction
from groundling.plan import Plan
from groundling.tasks.benchmark import (
    Case,
    Fold,
    Outcome,
    Scene,
    Score,
    Task,
    by_part,
    median_seconds,
    sample_count,
)
from groundling.tasks.presets import FULL
from groundling.tasks.puzzles.board import Board
from groundling.tasks.puzzles.corpus import PuzzleCorpus, read_corpus, split_hints
from groundling.tasks.puzzles.environment import PuzzleState
from groundling.tasks.puzzles.generator import generate_corpus
from groundling.tasks.puzzles.planner import solve
from groundling.tasks.puzzles.puzzle_presets import PRESETS, PuzzlePreset
from groundling.world import CachedEnvironment, Environment

HELD_OUT = 10
SPLITS, QUICK_SPLITS = 20, 5
ORDERS = 20  # number of random orders of actions, which break ties
FIRST = 5  # the paper averages five random splits
_ALONE = "left out"  # prefix of leave-one-out folds
_SECONDS = {"paper": 1.3, "best": 3.5, "auto": 5.0}  # estimated seconds per split


class PuzzleTask(Task[PuzzleCorpus, PuzzlePreset]):
    """Hints for puzzles, evaluated on twenty random splits and by leave-one-out."""

    name = "puzzles"
    about = (
        "Hints for Crossblock puzzles: match means exactly the demonstrated strikes, success means "
        "an empty board after any strikes."
    )
    metrics = ("success", "match")
    presets = PRESETS
    corpus = "crossblock"
    part = "puzzle"

    def load(self, source: Path | None, size: float | None = None) -> PuzzleCorpus:
        """Return the Crossblock corpus in a folder, or small generated puzzles."""
        if source is not None:
            return read_corpus(source / self.corpus / "data")
        return generate_corpus(sample_count(24, 8, size), seed=1, sizes=(3, 5))

    def prepare(self, corpus: PuzzleCorpus, chosen: PuzzlePreset) -> list[Case]:
        """Return the puzzles that have hints as cases, all in one environment."""
        environment = chosen.world()
        # Puzzles share one cached environment, and so its graphs and proofs.
        world, follow_in = (
            CachedEnvironment(environment),
            CachedEnvironment(chosen.world_to_follow_in(environment)),
        )
        cases = []
        for puzzle in corpus.usable:
            plan = tuple(map(environment.in_order, puzzle.plan))
            shown = replace(
                puzzle.demonstration(environment), environment=cast(Environment, world),
                instructions=_read_hints(chosen, puzzle.hints), actions=plan,
            )  # fmt: skip
            try:
                world.trace(puzzle.start, plan)
                offered = True
            except DemonstrationError:  # the plan is outside this plan space
                offered = False
            length = len(plan) if chosen.length_told else None
            there = cast(Environment, follow_in)
            cases.append(Case(shown, str(puzzle.number), there, length, offered))
        return cases

    def parts(self, corpus: PuzzleCorpus) -> list[str]:
        """Return the numbers of the puzzles with hints."""
        return [str(each.number) for each in corpus.usable]

    def held_out(self, corpus: PuzzleCorpus) -> tuple[str, ...]:
        """Return the numbers of the last ten puzzles, or fewer in a small corpus."""
        parts = self.parts(corpus)
        return tuple(parts[-_held_out(len(parts)) :])

    def folds(self, corpus: PuzzleCorpus, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return the random splits and, for the row `full`, the leave-one-out folds."""
        parts = self.parts(corpus)
        cost = _SECONDS[preset]
        if variant == "max alignment":
            cost *= 5  # this preset trains several times, from different initial weights
        splits = random_splits(
            parts, QUICK_SPLITS if quick else SPLITS, held_out=_held_out(len(parts))
        )
        found = [Fold(f"split {n}", test, n, seconds=cost) for n, test in enumerate(splits)]
        if variant == FULL and not quick:
            found += [
                Fold(f"{_ALONE} {part}", (part,), n, seconds=cost / 2)
                for n, part in enumerate(parts)
            ]
        return found

    def evaluate(
        self, corpus: PuzzleCorpus, chosen: Mapping[str, PuzzlePreset], fold: Fold
    ) -> dict[str, Outcome]:
        """Return the outcomes of a split; with `any_order`, means over orders of actions."""
        first, *_ = chosen.values()
        if not first.any_order:
            found = super().evaluate(corpus, chosen, fold)
        else:
            found = self._evaluate_in_orders(corpus, chosen, fold)
        return {name: {**each, "fold": fold.name} for name, each in found.items()}

    def _evaluate_in_orders(
        self, corpus: PuzzleCorpus, chosen: Mapping[str, PuzzlePreset], fold: Fold
    ) -> dict[str, Outcome]:
        """Train once; return the mean outcomes over random orders of the actions."""
        first, *_ = chosen.values()
        first = replace(first, environment={**first.environment, "planner": first.world().planner})
        orders = [self.prepare(corpus, first.in_order(n)) for n in range(1, ORDERS + 1)]
        follower, seconds = self.fit(first, orders[0], fold)
        found = {}
        for variant, each in chosen.items():
            used = follower.with_search(each.search)
            runs = [self.follow(used, cases, fold.held_out) for cases in orders]
            scores: dict[str, list[Score]] = {}
            for run in runs:
                for part, score in run["scores"]:
                    scores.setdefault(part, []).append(score)
            found[variant] = {
                **runs[0],
                "scores": [
                    (part, {name: fmean(e[name] for e in some) for name in some[0]})
                    for part, some in scores.items()
                ],
                "seconds": [seconds, fmean(run["seconds"][0] for run in runs)],
            }
        return found

    def judge(self, case: Case, plan: Plan | None) -> Score:
        """Return whether a plan equals the demonstration and whether it clears the board."""
        if plan is None:
            return {"match": 0.0, "success": 0.0}
        match = plan.actions == case.demonstration.actions
        return {
            "match": float(match),
            "success": float(not cast(PuzzleState, plan.end).board.cells),
        }

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return the row of results for the random splits and the leave-one-out folds."""
        alone = [each for each in outcomes if each.get("fold", "").startswith(_ALONE)]
        splits = [each for each in outcomes if each not in alone]
        metrics: dict[str, float] = {}
        for metric in ("match", "success"):
            shares = [_share(each, metric) for each in splits]
            metrics[metric] = fmean(shares)
            metrics[f"{metric} sd"] = stdev(shares) if len(shares) > 1 else 0.0
            metrics[f"{metric} first five"] = fmean(shares[:FIRST])
            if alone:
                metrics[f"{metric} one left out"] = fmean(_share(each, metric) for each in alone)
        # Bootstrap over puzzles, not over splits, because splits share puzzles.
        by_puzzle = by_part(
            (puzzle, score["match"]) for each in splits for puzzle, score in each["scores"]
        )
        interval = bootstrap([fmean(found) for found in by_puzzle.values()], fmean)
        missed = sorted((puzzle for puzzle, found in by_puzzle.items() if min(found) < 1), key=int)
        note = f"puzzles not matched in at least one split: {', '.join(missed) or 'none'}"
        published = self.presets.select(preset, variant).published
        seconds = median_seconds(splits)
        return Row(variant, metrics, interval, len(splits), published, note, seconds)

    def condition(self, corpus: PuzzleCorpus, preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        size, chosen = len(corpus.usable), self.presets.select(preset)
        told = ", number of actions given" if chosen.length_told else ""
        count = QUICK_SPLITS if quick else SPLITS
        if chosen.any_order:
            told += f", mean over {ORDERS} random orders of the actions, which break ties"
        return f"{count} random splits, {_held_out(size)} of {size} puzzles held out{told}"

    def compile(self) -> None:
        """Compile the kernels of the planner by solving a tiny board."""
        solve(Board.read(["##", "##"]), 2)

    def read(
        self, chosen: PuzzlePreset, environment: Environment, lines: Sequence[str]
    ) -> Sequence[Text]:
        """Return typed lines as one text of hints, split at commas and at *then*."""
        hints = [hint for line in lines for hint in split_hints(line.replace(",", " , "))]
        return [_read_hints(chosen, [hint.lower() for hint in hints])]

    def scene(
        self, corpus: PuzzleCorpus, chosen: PuzzlePreset, where: str | None, start: str | None
    ) -> Scene:
        """Return the scene of a puzzle; by default, the last puzzle."""
        if start is not None:
            raise SettingError(
                "--start must not be used with puzzles, which have a fixed initial board. Remove "
                "--start."
            )
        [part] = self.find_parts(corpus, where or self.parts(corpus)[-1])
        world = cast(Environment, chosen.world_to_follow_in(chosen.world()))
        return self.make_scene(part, chosen, world, corpus[int(part)].start)


def random_splits(
    parts: Sequence[str], count: int, *, held_out: int = HELD_OUT, seed: int = 0
) -> list[tuple[str, ...]]:
    """Return the held-out puzzles of each random split.

    >>> random_splits("abcd", 2, held_out=2)
    [('b', 'd'), ('a', 'b')]
    """
    if not 0 < held_out < len(parts):
        raise SettingError(
            f"`held_out` must be at least 1 and less than the number of puzzles ({len(parts)}); "
            f"got {held_out}."
        )
    dice = random.Random(seed)
    places = (sorted(dice.sample(range(len(parts)), held_out)) for _ in range(count))
    return [tuple(parts[place] for place in each) for each in places]


def _read_hints(chosen: PuzzlePreset, hints: Sequence[str]) -> tuple[Instruction, ...]:
    if chosen.split_hyphens:
        hints = [hint.replace("-", " ") for hint in hints]
    return tuple(map(Instruction.chain, hints))


def _held_out(size: int) -> int:
    """Return the number of held-out puzzles: ten, or fewer in a small corpus."""
    return min(HELD_OUT, max(1, size // 4))


def _share(outcome: Outcome, metric: str) -> float:
    return fmean(score[metric] for _, score in outcome["scores"])
