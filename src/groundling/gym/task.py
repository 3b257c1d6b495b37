"""The `babyai` task: success on unseen seeds of every level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from groundling.errors import SettingError
from groundling.evaluation.report import Row, bootstrap
from groundling.follower import Follower
from groundling.gym import exam
from groundling.gym.babyai_levels import BabyAI, babyai, levels
from groundling.gym.episode import Episode
from groundling.gym.object_presets import make_follower
from groundling.plan import Plan
from groundling.tasks.benchmark import (
    Case,
    Fold,
    Outcome,
    Scene,
    Source,
    Task,
    by_part,
    sample_count,
)
from groundling.tasks.presets import Preset, Presets
from groundling.world.environment import Environment

_TOGETHER = 12  # number of levels per fold, for the row of all levels
# levels that test held-out combinations
_COMBINED = ("ActionObjDoor", "MiniBossLevel", "BossLevel")


@dataclass(frozen=True, kw_only=True)
class BabyAIPreset(Preset):
    """Preset of a row: the kind of evaluation, and the number of demonstrations."""

    parser: str = "chain:english"
    kind: str = "levels"
    count: int = 50

    def learns_like(self, other: Preset) -> bool:
        """Return whether two rows have the same kind and can be evaluated together."""
        return isinstance(other, BabyAIPreset) and self.kind == other.kind


def _presets() -> Presets[BabyAIPreset]:
    made = make_follower(BabyAI.slots).get_params(deep=False)
    best = {name: made[name] for name in ("model", "overlay", "features", "learning", "search")}
    kinds = {f"{count} demonstrations": ("levels", count) for count in exam.COUNTS}
    kinds |= {
        "random plan": ("levels", 0),
        "oracle": ("levels", 0),
        "partial view": ("partial", 50),
        "one follower for all levels": ("together", exam.TOGETHER),
        "combinations held out": ("combinations", 100),
        "combinations shown": ("combinations", 100),
    }
    rows = {name: BabyAIPreset(**best, kind=kind, count=n) for name, (kind, n) in kinds.items()}
    return Presets("babyai", {"best": rows}, "one follower for all levels")


class BabyAITask(Task[tuple[str, ...], BabyAIPreset]):
    """Missions of BabyAI levels; success is the environment's reward on unseen seeds."""

    name = "babyai"
    about = (
        "Missions of MiniGrid's BabyAI levels, carried out in the simulator by macro-actions on "
        "its full state: success is the environment's own reward, as a mean over levels."
    )
    metrics = ("success",)
    presets = _presets()
    part = "level"
    # Levels that the studio shows, with unseen seeds
    showcase = (
        "MiniBossLevel", "GoToLocal", "PutNextLocal", "UnlockPickupDist", "GoToSeqS5R2",
        "OpenDoorLoc", "PickupLoc", "BossLevel",
    )  # fmt: skip

    def load(self, source: Source, size: float | None = None) -> tuple[str, ...]:
        """Return the names of all levels, because there is no corpus to load."""
        return levels()

    def prepare(self, corpus: tuple[str, ...], chosen: BabyAIPreset) -> list[Case]:
        """Return demonstrations of all levels as cases."""
        shown = exam.record_mixed(sample_count(exam.TOGETHER, 20, None), corpus)
        return [Case(each, str(cast(Any, each.environment).world.name)) for each in shown]

    def parts(self, corpus: tuple[str, ...]) -> list[str]:
        """Return the names of all levels."""
        return list(corpus)

    def held_out(self, corpus: tuple[str, ...]) -> tuple[str, ...]:
        """Return an empty tuple: seeds are held out instead of levels."""
        return ()

    def folds(self, corpus: tuple[str, ...], preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return one fold for each level or group of levels.

        With `quick`, there are only a dozen levels.
        """
        kind = self.presets.select(preset, variant).kind
        seeds = exam.QUICK_SEEDS if quick else exam.SEEDS
        names = exam.QUICK_LEVELS if quick else corpus
        if kind == "combinations":
            chosen = _COMBINED[:2] if quick else _COMBINED
            return [Fold(f"{each} {4 * seeds}", seconds=60.0) for each in chosen]
        if kind == "together":
            which = "quick" if quick else "all"
            return [
                Fold(f"{which} {first}-{first + _TOGETHER} {seeds}", seconds=120.0)
                for first in range(0, len(names), _TOGETHER)
            ]
        draws = 1 if quick else exam.DRAWS
        most = 50 if quick else max(exam.COUNTS)
        if kind == "partial":
            seeds, draws = min(seeds, exam.PARTIAL_SEEDS), 1
        cost = 10.0 if quick else 60.0
        return [Fold(f"{name} {draws} {seeds} {most}", seconds=cost) for name in names]

    def evaluate(
        self, corpus: tuple[str, ...], chosen: Mapping[str, BabyAIPreset], fold: Fold
    ) -> dict[str, Outcome]:
        """Train followers, and return their outcomes on the levels of a fold."""
        first, *_ = chosen.values()
        variants = tuple(chosen)
        what, *rest = fold.name.split()
        if first.kind == "levels":
            draws, seeds, most = map(int, rest)
            return _levels(what, variants, draws, seeds, most)
        if first.kind == "partial":
            done = exam.evaluate_partial(what, first.count, int(rest[1]))
            return {variants[0]: {what: _graded(done)}}
        if first.kind == "together":
            stretch, count = rest
            known = exam.QUICK_LEVELS if what == "quick" else corpus
            follower = _follower_of(known, first.count)
            found = {}
            for level in known[slice(*map(int, stretch.split("-")))]:
                with closing(exam.Exam(level, int(count))) as test:
                    found[level] = _graded(test.grade(follower))
            return {variants[0]: found}
        return _combinations(what, variants, int(rest[0]), first.count)

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return the row: the mean success over levels, and the success on each level."""
        results = [pair for outcome in outcomes for pair in outcome.items()]
        if not results:
            return Row(variant, {}, note="not in the quick protocol")
        shares = [(level, each["successes"] / max(1, each["of"])) for level, each in results]
        why = [
            f"{level} {share:.2f} ({each['why']})"
            for (level, share), (_, each) in zip(shares, results, strict=True)
            if each.get("why")
        ]
        means = {level: float(np.mean(each)) for level, each in by_part(shares).items()}
        values = list(means.values())
        interval = bootstrap(values, lambda items: float(np.mean(items)), draws=500)
        metrics: Mapping[str, float] = {"success": float(np.mean(values)), **means}
        draws = max(result["draws"] for _, result in results)
        return Row(variant, metrics, interval, seeds=draws, note="; ".join(dict.fromkeys(why)))

    def condition(self, corpus: tuple[str, ...], preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        names = exam.QUICK_LEVELS if quick else corpus
        seeds = exam.QUICK_SEEDS if quick else exam.SEEDS
        draws = 1 if quick else exam.DRAWS
        return (
            f"{len(names)} levels, {seeds} unseen seeds each, {draws} draw{'s' * (draws > 1)} of "
            "demonstrations; full state and macro-actions"
        )

    def tuning_folds(self, corpus: tuple[str, ...]) -> list[Fold]:
        """Return one fold for each level used in tuning, with training seeds only."""
        return [Fold(each) for each in ("GoToSeqS5R2", "PickupLoc", "MiniBossLevel")]

    def try_out(self, corpus: tuple[str, ...], chosen: BabyAIPreset, fold: Fold) -> float:
        """Train on 25 training seeds of a level, and return the accuracy on 75 others."""
        shown = babyai(fold.name).record(exam.training_seeds(7, 100))
        return chosen.follower().fit(shown[:25], check=False).score(shown[25:])

    def scene(
        self, corpus: tuple[str, ...], chosen: BabyAIPreset, where: str | None, start: str | None
    ) -> Scene:
        """Return an episode as a scene; `where` names a level, and `start` is a seed."""
        [level] = self.find_parts(corpus, where or "BossLevel")
        if start is not None and not start.isdecimal():
            raise SettingError(f"--start must be a seed such as 7; got {start!r}.")
        return BabyAIScene(babyai(level), int(start or exam.FIRST_TEST))


def _levels(
    level: str, variants: Sequence[str], draws: int, seeds: int, most: int
) -> dict[str, Outcome]:
    counts = [each for each in exam.COUNTS if each <= most]
    asked = [each for each in counts if f"{each} demonstrations" in variants]
    others = "random plan" in variants or "oracle" in variants
    done = exam.evaluate_level(level, draws, asked, seeds, others=others)
    found: dict[str, Outcome] = {
        row: {level: _graded(done[row], len(done[row]) // seeds)} if row in done else {}
        for row in variants
    }
    if found.get("oracle"):
        found["oracle"][level]["why"] = done["why"]
    return found


def _combinations(
    level: str, variants: Sequence[str], seeds: int, count: int
) -> dict[str, Outcome]:
    found = {}
    shown: dict[str, list[Any]] = {"combinations held out": [], "combinations shown": []}
    with closing(exam.Exam(level, seeds)) as test, closing(test.world.make()) as env:
        world, seed = test.world, 0
        while min(map(len, shown.values())) < count:
            each = world.demonstration(env, seed)
            scene = cast(Episode, each.environment).scene
            apart = exam.held_out(world.mission(env), world, scene)
            for name, kept in shown.items():
                if len(kept) < count and (name == "combinations shown" or not apart):
                    kept.append(each)
            seed += 1
        for name in variants:
            done = test.grade(
                world.follower().fit(shown[name], check=False),
                lambda case: exam.held_out(case.said, world, case.scene),
            )
            found[name] = {level: _graded(done)}
    return found


@lru_cache(maxsize=1)
def _follower_of(names: tuple[str, ...], count: int) -> Follower:
    """Return a follower trained on several levels, cached for the process."""
    chosen = BabyAITask.presets.select("best")
    return chosen.follower().fit(exam.record_mixed(count, names), check=False)


def _graded(done: Sequence[int], draws: int = 1) -> dict[str, Any]:
    return {"successes": sum(done), "of": len(done), "draws": draws}


class BabyAIScene(Scene):
    """Initial scene of an episode; each line of the input is followed from this scene."""

    def __init__(self, world: BabyAI, seed: int) -> None:
        env = world.make()
        mission, self.grid = world.reset(env, seed)
        env.close()
        self.world = world
        episode = cast(Environment, world.episode(self.grid))
        super().__init__(f"{world.name} {seed}", episode, (), self._read, (mission,))

    def _read(self, lines: Sequence[str]) -> list[tuple[str, ...]]:
        return [self.world.read(line) for line in lines]

    def describe(self) -> str:
        """Return the grid as text, and the mission of the episode."""
        return f"{self.grid}\n(its mission: {self.examples[0]})"

    def follow(
        self, follower: Follower, lines: Sequence[str], length: int | None = None
    ) -> list[Plan]:
        """Return the plan of each line; all plans start in the initial state."""
        return [
            follower.follow(parts, self.world.episode(self.grid, parts), (), length=length)
            for parts in self._read(lines)
        ]

    def draw(self, plans: Sequence[Plan]) -> str:
        """Return an SVG drawing of the final state of the last plan."""
        return self.world.draw(cast(Episode, self.environment), cast(Any, plans[-1].end))
