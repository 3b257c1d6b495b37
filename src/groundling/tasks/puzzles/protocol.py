"""The protocol of the puzzles: random splits, and one puzzle left out at a time."""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from groundling.errors import DemonstrationError, SearchError, SettingError
from groundling.explain.explanation import Plan
from groundling.follower import Follower
from groundling.language.instruction import Instruction
from groundling.tasks.puzzles.corpus import Puzzle
from groundling.tasks.puzzles.metrics import PuzzleScore, SplitScore
from groundling.tasks.puzzles.presets import Preset
from groundling.tasks.trials import Seconds, Trial
from groundling.world import CachedEnvironment, Demonstration

__all__ = [
    "HELD_OUT",
    "Answer",
    "Case",
    "judge",
    "learn_and_follow",
    "leave_one_out",
    "prepare",
    "random_splits",
    "training_cases",
]

HELD_OUT = 10


@dataclass(frozen=True)
class Case:
    """A puzzle as a preset wants it, to learn from and to follow in an environment.

    Not `offered` where its plan is not in the plan space.
    """

    puzzle: Puzzle
    demonstration: Demonstration
    environment: CachedEnvironment
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


def prepare(chosen: Preset, puzzles: Iterable[Puzzle]) -> list[Case]:
    """Return puzzles as a preset wants them, all in one environment.

    >>> from groundling.tasks.puzzles.generator import generate_puzzle
    >>> from groundling.tasks.puzzles.presets import PRESETS
    >>> [case] = prepare(PRESETS.select("best"), [generate_puzzle(3, 4, 2, seed=1)])
    >>> case.offered, len(case.demonstration.instructions) == len(case.puzzle.hints)
    (True, True)
    """
    environment = chosen.world()
    # Worlds remember graphs and proofs, so that later splits need not ask again.
    world, follow_in = (
        CachedEnvironment(environment),
        CachedEnvironment(chosen.world_to_follow_in(environment)),
    )
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


def training_cases(cases: Sequence[Case], held_out: Collection[int]) -> list[Demonstration]:
    """Return what there is to learn from: all cases but those in some places.

    Cases whose plan is not in the plan space cannot be learnt from; held out, they count.
    """
    return [
        case.demonstration
        for place, case in enumerate(cases)
        if place not in held_out and case.offered
    ]


def learn_and_follow(
    chosen: Preset, cases: Sequence[Case], held_out: Iterable[int], *, seed: int = 0
) -> Trial[Answer]:
    """Train on all cases but some and follow the hints of those."""
    left = set(held_out)
    shown = training_cases(cases, left)
    began = time.process_time()
    follower = chosen.follower(seed=seed).fit(shown, check=False)
    trained = time.process_time()
    answers = tuple(_follow(chosen, follower, cases[place]) for place in sorted(left))
    return Trial(follower, answers, Seconds(trained - began, time.process_time() - trained))


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


def judge(trial: Trial[Answer]) -> SplitScore:
    """Return what tables are made of."""
    scores = tuple(
        PuzzleScore(each.puzzle.number, each.match, each.success) for each in trial.answers
    )
    return SplitScore(scores, trial.seconds)
