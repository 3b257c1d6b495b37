"""The `gscan` task: commands on a grid from few demonstrations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from groundling.errors import CorpusError
from groundling.evaluation.report import Row, bootstrap
from groundling.plan import Plan
from groundling.tasks.benchmark import (
    Case,
    Fold,
    Outcome,
    Score,
    Task,
    by_part,
    median_seconds,
    sample_count,
)
from groundling.tasks.gscan.corpus import FILE, SPLITS, TRAIN, GscanExample, read_corpus
from groundling.tasks.gscan.environment import VERBS, GscanCommand, GscanEnvironment, routes
from groundling.tasks.gscan.generator import generate_corpus
from groundling.tasks.presets import Preset, Presets
from groundling.world.environment import Demonstration
from groundling.world.manners import explain_sequence, learn_manners

_USUAL = 200
_QUICK = 40  # number of commands of each split


@dataclass(frozen=True, kw_only=True)
class GscanPreset(Preset):
    """Preset of gSCAN: the number of demonstrations, and whether manners are learnt."""

    auto: bool = True
    count: int = _USUAL
    learns_manners: bool = False


class GscanTask(Task[list[GscanExample], GscanPreset]):
    """Commands on a grid (gSCAN), tested on all splits of the benchmark.

    As in the benchmark, a single training command contains *cautiously* (split G). Demonstrations
    are sequences of primitive moves, and all commands with the same moves are equally correct.
    """

    name = "gscan"
    about = (
        "Commands of grounded SCAN as verb, thing and manner, carried out by an executor that "
        "knows routes and manners: the share of commands with exactly the right primitive moves, "
        "for each split of the benchmark."
    )
    metrics = (*SPLITS, "mean")
    presets = Presets(
        "gscan",
        {
            "auto": {
                **{f"{n} demonstrations": GscanPreset(count=n) for n in (50, 200, 1000, 5000)},
                "200 demonstrations, manner learnt": GscanPreset(learns_manners=True),
            }
        },
        f"{_USUAL} demonstrations",
    )
    corpus = "gscan"
    part = "split"

    def load(self, source: Path | None, size: float | None = None) -> list[GscanExample]:
        """Return the corpus in a folder, or a generated sample if `source` is None."""
        if source is None:
            return generate_corpus(sample_count(1000, 60, size), sample_count(100, 5, size))
        return read_corpus(source / self.corpus / FILE)

    def prepare(self, corpus: list[GscanExample], chosen: GscanPreset) -> list[Case]:
        """Return the training demonstrations and the commands of all test splits."""
        by_split: dict[str, list[GscanExample]] = {}
        for each in corpus:
            by_split.setdefault(each.split, []).append(each)
        missing = {TRAIN, *SPLITS.values()} - by_split.keys()
        if missing:
            raise CorpusError(
                f"The corpus must contain commands of all splits; got none for "
                f"{sorted(missing)}. Download the corpus again."
            )
        once, *rest = by_split[SPLITS["G"]]
        by_split[SPLITS["G"]] = rest
        shown = by_split[TRAIN]
        count = min(chosen.count - 1, len(shown))
        shown = [*random.Random(0).sample(shown, count), once]
        world = GscanEnvironment()
        if chosen.learns_manners:
            world = GscanEnvironment(learn_manners(map(_manners, shown)))
        cases = [_case(each, TRAIN, world, explain=True) for each in shown]
        for letter, split in SPLITS.items():
            cases += [
                _case(each, letter, world, explain=chosen.learns_manners)
                for each in by_split[split]
            ]
        return cases

    def parts(self, corpus: list[GscanExample]) -> list[str]:
        """Return the name of the training part and the letters of the test splits."""
        return [TRAIN, *SPLITS]

    def held_out(self, corpus: list[GscanExample]) -> tuple[str, ...]:
        """Return the letters of the test splits."""
        return tuple(SPLITS)

    def folds(
        self, corpus: list[GscanExample], preset: str, variant: str, quick: bool
    ) -> list[Fold]:
        """Return a single fold, which tests all splits."""
        chosen = self.presets.select(preset, variant)
        name = f"{_QUICK} of each split" if quick else "all"
        return [Fold(name, tuple(SPLITS), seconds=60 + 0.05 * chosen.count)]

    def evaluate(self, corpus: list[GscanExample], chosen: Any, fold: Fold) -> dict[str, Outcome]:
        """Train, and return the scores on all splits.

        With a quick fold, only the first commands of each split are tested.
        """
        if fold.name != "all":
            kept: dict[str, int] = {}
            some = []
            for each in corpus:
                kept[each.split] = kept.get(each.split, 0) + 1
                if each.split == TRAIN or kept[each.split] <= _QUICK:
                    some.append(each)
            corpus = some
        return super().evaluate(corpus, chosen, fold)

    def judge(self, case: Case, plan: Plan | None) -> Score:
        """Return the score of a plan: 1 if its moves are exactly right, else 0."""
        if plan is None:
            return {"right": 0.0}
        world: Any = case.demonstration.environment
        [command] = plan.actions
        return {"right": float(world.execute(case.demonstration.start, command) == case.reference)}

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return the row: the accuracy on each split, and the mean over the splits."""
        pairs = [(part, score["right"]) for each in outcomes for part, score in each["scores"]]
        rights = by_part(pairs)
        metrics = {letter: fmean(rights[letter]) for letter in SPLITS if letter in rights}
        metrics["mean"] = fmean(metrics.values())
        interval = bootstrap([right for _, right in pairs], fmean)
        return Row(variant, metrics, interval, seconds=median_seconds(outcomes))

    def condition(self, corpus: list[GscanExample], preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        count = f"{_QUICK} commands" if quick else "all commands"
        return f"no settings, {count} of each split"


def _commands(example: GscanExample, manners: int) -> list[GscanCommand]:
    things = range(len(example.grid.things))
    return [
        GscanCommand(verb, thing, manner)
        for verb in VERBS
        for thing in things
        for manner in range(manners)
    ]


def _manners(example: GscanExample) -> list[Any]:
    """Return the manners that could have produced the moves of an example."""
    ways = {(each.verb, each.thing) for each in _commands(example, 1)}
    return [
        manner
        for verb, thing in sorted(ways)
        for manner in explain_sequence(example.moves, routes(example.grid, verb, thing))
    ]


def _case(example: GscanExample, part: str, world: GscanEnvironment, explain: bool) -> Case:
    """Return an example as a case.

    With `explain`, every command that produces the same moves is correct.
    """
    right = [example.command]
    if explain:
        right = [
            each
            for each in _commands(example, len(world.manners))
            if world.execute(example.grid, each) == example.moves
        ]
    shown = _demonstration(example, world, right or [GscanCommand("walk", 0, 0)])
    return Case(shown, part, learnable=bool(right), reference=example.moves)


def _demonstration(
    example: GscanExample, world: GscanEnvironment, right: Sequence[GscanCommand]
) -> Demonstration:
    first, *others = right
    return Demonstration(
        example.text, world, example.grid, (first,), also=tuple((each,) for each in others)
    )
