"""Task for a user's own world: demonstrations from files, automatic settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from groundling.accuracy import checked
from groundling.data.own import OwnWorld, folds, open_world
from groundling.errors import DemonstrationError, GroundlingError, SettingError, WorldError
from groundling.evaluation.report import Row
from groundling.plan import Plan
from groundling.tasks.benchmark import FOLDS, Case, Fold, Outcome, Scene, Score, Source, Task
from groundling.tasks.presets import FULL, Preset, Presets
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, State, shorten


class UserWorldTask(Task[OwnWorld, Preset]):
    """Task for a user's own world, such as `my_world.py:Kitchen`.

    Demonstrations are read from files. Each demonstration is a separate part, but demonstrations
    of one group are held out together.

    >>> UserWorldTask("my_world.py:Kitchen").presets.default
    'auto'
    """

    about = "Right is the weighted share of demonstrations whose plan has a correct outcome."
    metrics = ("right",)
    presets = Presets("world", {"auto": {FULL: Preset(auto=True)}})
    part = "demonstration"

    def __init__(self, world: str, fold_count: int = FOLDS) -> None:
        self.name = world
        self.fold_count = fold_count

    def load(self, source: Source, size: float | None = None) -> OwnWorld:
        """Return the world with its demonstration files; invalid records are skipped."""
        if source is not None and not isinstance(source, tuple):
            raise SettingError(
                f"{self.name} is your own world and has no corpus. Pass at least one file of "
                "demonstrations."
            )
        return open_world(self.name, source or (), skip_bad=True, check=True)

    def prepare(self, corpus: OwnWorld, chosen: Preset) -> list[Case]:
        """Return the demonstrations in the files as cases."""
        if corpus.demonstrations is None:
            raise DemonstrationError(
                f"{self.name} must have at least one file of demonstrations; got none. Pass one, "
                f"as in `groundling train {self.name} demonstrations.jsonl`."
            )
        return [
            Case(each, str(place), reference=corpus.codec_of(each.environment))
            for place, each in enumerate(corpus.listed)
        ]

    def held_out(self, corpus: OwnWorld) -> tuple[str, ...]:
        """Return no parts: training holds out no demonstrations."""
        return ()

    def folds(self, corpus: OwnWorld, preset: str, variant: str, quick: bool) -> list[Fold]:
        """Return the folds of a cross-validation that keeps groups together."""
        cases = self.prepare(corpus, self.default())
        part_of = {id(each.demonstration): each.part for each in cases}
        shares = folds((each.demonstration for each in cases), self.fold_count)
        return [
            Fold(f"fold {n}", tuple(part_of[id(each)] for each in test))
            for n, (_, test) in enumerate(shares, 1)
        ]

    def tuning_folds(self, corpus: OwnWorld) -> list[Fold]:
        """Return the folds of the evaluation, which are also used for tuning."""
        return self.folds(corpus, self.presets.default, FULL, quick=False)

    def judge(self, case: Case, plan: Plan | None) -> Score:
        """Return 1 if the outcome is correct, else 0, and the demonstration's weight."""
        return {**super().judge(case, plan), "weight": case.demonstration.weight}

    def remark(self, case: Case, plan: Plan | None) -> Any:
        """Return the demonstrated and predicted actions of a wrong plan, for the report."""
        shown: Demonstration = case.demonstration
        if super().judge(case, plan)["right"]:
            return None
        write = case.reference.actions_to_json
        text = shown.instructions
        return {
            "name": shown.name,
            "text": text if isinstance(text, str) else list(map(str, text)),
            "wanted": write(shown.actions),
            "got": None if plan is None else write(plan.actions),
        }

    def make_row(self, preset: str, variant: str, outcomes: Sequence[Outcome]) -> Row:
        """Return the row: the weighted accuracy, with an unweighted confidence interval."""
        row = super().make_row(preset, variant, outcomes)
        scores = [score for each in outcomes for _, score in each["scores"]]
        weight = sum(score["weight"] for score in scores)
        if weight <= 0:
            checked([])  # raises the error for demonstrations with a total weight of 0
        right = sum(score["right"] * score["weight"] for score in scores) / weight
        note = f"{len(scores)} demonstration{'s' * (len(scores) != 1)}"
        return Row(
            variant, {"right": right}, row.interval, note=note,
            seconds=row.seconds,
        )  # fmt: skip

    def condition(self, corpus: OwnWorld, preset: str, quick: bool) -> str:
        """Return a short description of the evaluation protocol."""
        count = len(self.folds(corpus, preset, FULL, quick))
        return f"{count} folds, groups held out together"

    def scene(
        self, corpus: OwnWorld, chosen: Preset, where: str | None, start: str | None
    ) -> Scene:
        """Return the scene of a world.

        `start` is a state as JSON or the name of an initial state; by default, it is the initial
        state of the world.
        """
        known, state = corpus.begin(start, as_shown=True)
        if start is not None:
            self._check_start(corpus, known, state)
        return Scene(self.name, known.environment, state, action_to_json=known.codec.action_to_json)

    def _check_start(self, corpus: OwnWorld, known: Any, state: State) -> None:
        """Raise `SettingError` if a given state is not a state of the world."""
        try:
            world = CachedEnvironment(known.environment)
            world.actions(state)
            world.describe(state)
        except WorldError as error:
            such = ""
            with suppress(GroundlingError):
                usual = known.codec.state_to_json(corpus.begin(as_shown=True)[1])
                such = f" For example: --start '{json.dumps(usual, ensure_ascii=False)}'."
            why = str(error).partition(" Fix this method")[0]
            raise SettingError(
                f"--start must be a state of {known.codec.owner}; got {shorten(state)}: {why}{such}"
            ) from error
