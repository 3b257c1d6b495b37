"""Whole configurations compared by cross-validation over groups, within some seconds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from groundling.data.own import folds
from groundling.errors import DemonstrationError, GroundlingError, GroundlingWarning
from groundling.learning.choosing import Choice, Choices, count_right
from groundling.learning.facts import Facts, sample
from groundling.learning.presets import (
    Configuration,
    configurations,
    learning_for,
    like,
    more_configurations,
)
from groundling.learning.settings import Learning
from groundling.learning.trainer import Trainer
from groundling.world.environment import Demonstration

__all__ = ["Comparison", "Trial", "compare"]

_PARTS = 3
_MOST = 600  # demonstrations that are compared on
_PENALTIES = (0.1, 0.3, 3.0, 10.0)  # times the usual one, for the best configuration


@dataclass(frozen=True)
class Trial:
    """A configuration that was tried: its name, its penalty, the share of right answers."""

    name: str
    l2: float
    score: float
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """What was tried, in order, and the best of it as a trainer.

    >>> print(Comparison((Trial("unit by unit", 0.5, 0.75, 1.25),), None, Choices()))
    configuration                    l2   right  seconds
    unit by unit                    0.5    0.75      1.2  ← best
    """

    trials: tuple[Trial, ...]
    trainer: Trainer | None
    choices: Choices

    @property
    def best(self) -> Trial:
        """The trial with the most right answers; the first of equals."""
        return max(self.trials, key=lambda each: each.score)

    def __str__(self) -> str:
        wide = max(26, *(len(each.name) for each in self.trials)) + 2
        lines = [f"{'configuration':<{wide}}{'l2':>7}{'right':>8}{'seconds':>9}"]
        for each in self.trials:
            mark = "  ← best" if each is self.best else ""
            lines.append(
                f"{each.name:<{wide}}{each.l2:>7g}{each.score:>8.2f}{each.seconds:>9.1f}{mark}"
            )
        return "\n".join(lines)


def compare(
    settings: Mapping[str, Any],
    demonstrations: Sequence[Demonstration],
    seconds: float,
    tell: Callable[[str], object] = lambda what: None,
) -> Comparison:
    """Try configurations, then others like the best one, then its penalties, for some seconds.

    The first configuration is always tried; another one only if there is time for what the others
    took in the mean. How many are tried depends on the machine, since time does; what is tried
    first is the same everywhere.
    """
    began = time.monotonic()
    facts = Facts(demonstrations, settings["parser"])
    parts = folds(sample(demonstrations, _MOST), _PARTS)
    options = configurations(facts)
    names = {each.name for each in options}
    options += [each for each in more_configurations(facts) if each.name not in names]
    tried: list[tuple[Trial, Trainer]] = []

    def attempt(option: Configuration, learning: Learning) -> None:
        taken = sum(each.seconds for each, _ in tried) / max(1, len(tried))
        if tried and time.monotonic() - began + taken > seconds:
            return
        tell(f"trying {option.name}, l2={learning.l2:g}")
        trainer = Trainer(**{
            **settings, "model": option.model, "overlay": option.overlay,
            "features": option.features, "search": option.search, "learning": learning,
        })  # fmt: skip
        start = time.monotonic()
        score = _cross_validated(trainer, parts)
        trial = Trial(option.name, learning.l2, score, time.monotonic() - start)
        tried.append((trial, trainer))

    def best_option() -> Configuration:
        top = max(tried, key=lambda each: each[0].score)[0].name
        return next(each for each in options if each.name == top)

    for option in options:
        attempt(option, learning_for(facts, option.model))
    more = like(best_option(), facts)
    options += more
    for option in more:
        attempt(option, learning_for(facts, option.model))
    best = best_option()
    usual = learning_for(facts, best.model)
    for times in _PENALTIES:
        attempt(best, replace(usual, l2=usual.l2 * times))
    trial, trainer = max(tried, key=lambda each: each[0].score)
    if trial.score <= 0:
        raise DemonstrationError(
            "No configuration follows any demonstration that it did not learn from. Give more "
            "demonstrations, or fit one configuration and call diagnose to see why."
        )
    why = (
        f"{trial.score:.2f} right in {_PARTS}-fold cross-validation over groups, the best of "
        f"{len(tried)} that were tried"
    )
    chosen = Choices(
        (
            Choice("configuration", trial.name, why,
                   "follower.chosen().set_params(model=…, overlay=…, features=…)"),
            Choice("Learning.l2", f"{trial.l2:g}", why,
                   "follower.chosen().set_params(learning__l2=…)"),
        )
    )  # fmt: skip
    return Comparison(tuple(each for each, _ in tried), trainer, chosen)


def _cross_validated(
    trainer: Trainer, parts: Sequence[tuple[list[Demonstration], list[Demonstration]]]
) -> float:
    right, count = 0.0, 0
    for learn, test in parts:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GroundlingWarning)
                right += count_right(trainer.fit(learn), test)
        except GroundlingError:  # a configuration that cannot work here
            return 0.0
        count += len(test)
    return right / count
