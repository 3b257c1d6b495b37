"""Comparison of configurations within a time budget, for `Follower.tuned`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from groundling.errors import SettingError
from groundling.learning.trainer import Trainer
from groundling.selection.choices import Choices, Tried, choose, describe
from groundling.selection.configurations import Configuration, configurations, variants
from groundling.selection.constants import TUNED_L2_FACTORS
from groundling.selection.profile import Profile
from groundling.selection.race import Clock, Race, Runner, nothing_learnt
from groundling.settings import AUTO
from groundling.world.environment import Demonstration

BASELINE = "as Follower() chooses"
"""The name of the configuration that `Follower()` would choose."""


@dataclass(frozen=True)
class Comparison:
    """The results of comparing configurations, and a trainer for the best one.

    `ranked` has the configurations of the last lap, simplest first, `dropped` those that were
    clearly behind in an earlier lap, and `skipped` those that failed or were too slow, with the
    reason for each.

    >>> print(Comparison(ranked=(), best="unit by unit", compared=90, count=300))
    configuration                l2        right   behind the best   seconds
    Compared on 90 of 300 demonstrations within the budget.
    """

    ranked: tuple[Runner, ...]
    best: str
    compared: int
    count: int
    dropped: tuple[Runner, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    trainer: Trainer | None = None
    choices: Choices = Choices()  # noqa: RUF009 - a frozen value

    def __str__(self) -> str:
        rows = [*self.ranked, *self.dropped]
        wide = max((len(each.name) for each in rows), default=0)
        wide = max(wide, len("configuration")) + 1
        lines = [f"{'configuration':<{wide}}{'l2':>17}{'right':>13}{'behind the best':>18}"
                 f"{'seconds':>10}"]  # fmt: skip
        leader = max(self.ranked, key=lambda each: each.score, default=None)
        for each in rows:
            gap = f"dropped at {each.size}"
            if leader is not None and each in self.ranked:
                gap = "{:.2f} ±{:.2f}".format(*each.behind(leader))
            mark = "  ← kept" if each.name == self.best else ""
            lines.append(
                f"{each.name:<{wide}}{each.trainer.learning.l2:>17g}{each.right:>7.2f} "
                f"±{each.error:.2f}{gap:>18}{each.seconds:>10.1f}{mark}"
            )
        if self.compared < self.count:
            lines.append(
                f"Compared on {self.compared} of {self.count} demonstrations within the budget."
            )
        lines += [f"Not compared: {name} ({why})." for name, why in self.skipped]
        return "\n".join(lines)


def compare(
    settings: Mapping[str, Any],
    demonstrations: Sequence[Demonstration],
    seconds: float,
    tell: Callable[[str], object] = lambda what: None,
    now: Callable[[], float] = time.monotonic,
) -> Comparison:
    """Compare the configuration chosen by `Follower()` with other configurations.

    The candidates are the table of configurations, then variants of the best one. `seconds` is the
    time budget for the comparison and the caller's final fit. Each round trains and tests
    configurations on one fold, always including the one chosen by `Follower()`. The number of
    rounds depends on the speed of the machine.
    """
    given: Any = seconds
    number = isinstance(given, Real) and not isinstance(given, bool)
    if not number or not 0 <= float(given) < math.inf:
        raise SettingError(f"`seconds` must be a number >= 0, such as 60; got {seconds!r}.")
    clock = Clock(len(demonstrations), seconds=float(seconds), now=now)
    opened = {**settings, **dict.fromkeys(("model", "overlay", "features", "learning", "search"),
                                          AUTO)}  # fmt: skip
    chosen, choices = choose(opened, demonstrations)
    profile = Profile(demonstrations, settings["parser"])
    race = Race(opened, profile, clock, keep=BASELINE)
    first = Configuration(BASELINE, chosen.model, chosen.overlay, chosen.features, chosen.search)
    others = [e for e in configurations(profile) if replace(e, name=BASELINE, base="") != first]
    runners = [race.runner(replace(first, base="")), *map(race.runner, others)]
    race.tell = tell
    best = race.run(runners)
    if clock.left > clock.last(best):
        best = _vary(race, clock, best, runners)
    if best.score <= 0:
        raise nothing_learnt()
    ran = [each for each in runners if each.size]
    missed = [
        (e.name, e.failed or "no time left")
        for e in runners
        if not e.size and not e.configuration.base
    ]
    tried = Tried(
        profile.count, tuple(each.name for each in ran), best.name, best.right,
        f"{best.right:.2f} ±{best.error:.2f} right, the simplest configuration within one standard "
        f"error of the best of {len(ran)} compared on {best.size} demonstrations",
    )  # fmt: skip
    names = [*choices.left_open]
    return Comparison(
        tuple(race.finished), best.name, best.size, profile.count,
        tuple(each for each in race.dropped if each not in race.finished), tuple(missed),
        best.trainer, describe(best.trainer, names, profile, tried),
    )  # fmt: skip


def _vary(race: Race, clock: Clock, best: Runner, runners: list[Runner]) -> Runner:
    """Compare the winner with variants that differ in one setting or in the penalty."""
    size = best.size
    base = replace(
        best.configuration, name=best.name.removeprefix(BASELINE).strip(" ,") or best.name
    )
    made = [race.runner(each) for each in variants(base, race.profile)]
    for times in TUNED_L2_FACTORS:
        named = replace(
            best.configuration, name=f"{best.name}, {times:g} times the penalty", base=""
        )
        made.append(race.runner(named, times))
    for each in made:
        if not clock.affords([best] * race.folds, size):
            break
        for fold in range(race.folds):
            race.lap([each], size, fold)
        runners.append(each)
        if not each.failed and len(each.credit) == len(best.credit):
            race.finished.append(each)
    return race.winner()
