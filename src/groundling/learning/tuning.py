"""Whole configurations compared by cross-validation over groups, within some seconds."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

from groundling.data.own import folds
from groundling.errors import (
    DemonstrationError,
    GroundlingError,
    GroundlingWarning,
    SettingError,
)
from groundling.learning.choosing import Choice, Choices, choose
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
from groundling.learning.trying import briefly, count_right
from groundling.settings import AUTO
from groundling.world.environment import Demonstration

__all__ = ["OWN", "Comparison", "Trial", "compare"]

OWN = "as Follower() chooses"
"""The name of the configuration that is chosen without a comparison."""
_PARTS, _FEW_PARTS = 3, 2
_WORTH = 3  # trials that are worth fewer parts
_MOST = 600  # demonstrations that are compared on
_FEWEST = 24  # demonstrations of which a comparison tells something
_PROBE = 8  # demonstrations that are learnt from to see how long it takes
_WARM = 4  # demonstrations whose training compiles what others use
_COMPARED = 2  # options that are looked at in any case, so that the quicker one can be taken
_SOON = 0.01  # of all the time: what more demonstrations are looked at after
_LOOKING = 0.25  # of all the time: seeing what options take,
_LOOK = 0.08  # and what one takes, after the first
_SHARE = 0.6  # of the time for trials: the configurations; the rest is for others like the best
_PENALTIES = (0.1, 0.3, 3.0, 10.0)  # times the usual one, for the best configuration


@dataclass(frozen=True)
class Trial:
    """A configuration that was tried: its name, its penalty, the share of right answers.

    `count` is of how many demonstrations.

    >>> print(Trial("unit by unit", 0.5, 0.75, 1.25, 90))
    unit by unit, l2=0.5: 0.75 ±0.05 right, 1.2 s
    """

    name: str
    l2: float
    score: float
    seconds: float
    count: int

    @property
    def error(self) -> float:
        """The standard error of the score: what may be chance."""
        return math.sqrt(self.score * (1 - self.score) / self.count)

    def __str__(self) -> str:
        return (
            f"{self.name}, l2={self.l2:g}: {self.score:.2f} ±{self.error:.2f} right, "
            f"{self.seconds:.1f} s"
        )


@dataclass(frozen=True)
class Comparison:
    """What was tried, in order, and the best of it as a trainer.

    `compared` of `count` demonstrations were compared on; `left_out` was not tried, each with
    about how many seconds it would have taken, for want of time.

    >>> print(Comparison((Trial("unit by unit", 0.5, 0.75, 1.25, 90),), None, Choices(), 90, 300,
    ...                  (("plans over graphs", 8.0),)))
    configuration                    l2        right  seconds
    unit by unit                    0.5   0.75 ±0.05      1.2  ← best
    Scores that differ by 0.05 or less may do so by chance; of such the first is taken.
    Compared on 90 of 300 demonstrations, as many as there was time for.
    Left out for want of time: plans over graphs (about 8 s).
    """

    trials: tuple[Trial, ...]
    trainer: Trainer | None
    choices: Choices
    compared: int = 0
    count: int = 0
    left_out: tuple[tuple[str, float], ...] = ()

    @property
    def best(self) -> Trial:
        """The trial with the most right answers; the first of those that may be as good."""
        return _first_of_the_best(self.trials)

    def __str__(self) -> str:
        wide = max(26, *(len(each.name) for each in self.trials)) + 2
        lines = [f"{'configuration':<{wide}}{'l2':>7}{'right':>13}{'seconds':>9}"]
        for each in self.trials:
            mark = "  ← best" if each is self.best else ""
            lines.append(
                f"{each.name:<{wide}}{each.l2:>7g}{each.score:>7.2f} ±{each.error:.2f}"
                f"{each.seconds:>9.1f}{mark}"
            )
        chance = max(self.trials, key=lambda each: each.score).error
        if chance:
            lines.append(
                f"Scores that differ by {chance:.2f} or less may do so by chance; of such the "
                "first is taken."
            )
        if self.compared < min(self.count, _MOST):
            lines.append(
                f"Compared on {self.compared} of {self.count} demonstrations, as many as there "
                "was time for."
            )
        if self.left_out:
            named = ", ".join(f"{name} (about {took:.0f} s)" for name, took in self.left_out)
            lines.append(f"Left out for want of time: {named}.")
        return "\n".join(lines)


def _first_of_the_best(trials: Sequence[Trial]) -> Trial:
    """Return the first trial that is not worse than the best by more than may be chance.

    >>> one, other = Trial("a", 1, 0.55, 1, 60), Trial("b", 1, 0.6, 1, 60)
    >>> _first_of_the_best([one, other]).name, _first_of_the_best([other, one]).name
    ('a', 'b')
    """
    top = max(trials, key=lambda each: each.score)
    return next(each for each in trials if each.score >= top.score - top.error)


def compare(
    settings: Mapping[str, Any],
    demonstrations: Sequence[Demonstration],
    seconds: float,
    tell: Callable[[str], object] = lambda what: None,
    clock: Callable[[], float] = time.monotonic,
) -> Comparison:
    """Try what `Follower()` chooses, other configurations, some like the best, its penalties.

    `tell` gets every trial as soon as it is done. All of it and the last fit, which the caller
    does, are to take so many seconds together. What a fit takes is measured on a few
    demonstrations first; then as many are compared on as there is time for, and what there is no
    time for is left out. One configuration is always tried. How many are tried depends on the
    machine, since time does; what is tried first is the same everywhere.
    """
    given: Any = seconds
    number = isinstance(given, Real) and not isinstance(given, bool)
    if not number or not 0 <= float(given) < math.inf:
        raise SettingError(f"seconds is a number from 0 on, such as 60, not {seconds!r}.")
    facts = Facts(demonstrations, settings["parser"])
    race = _Race(settings, facts, seconds, tell, clock)
    options = _options(settings, facts)
    race.measure(options)
    for option in options:
        race.attempt(option, learning_for(facts, option.model))
    if not race.tried:
        race.try_out(*race.quickest)
    for option in like(race.best, facts):
        race.probe(option)
        race.attempt(option, learning_for(facts, option.model))
    best = race.best
    usual = learning_for(facts, best.model)
    for times in _PENALTIES:
        race.attempt(best, replace(usual, l2=usual.l2 * times))
    trial, _, trainer = race.leading
    if trial.score <= 0:
        raise DemonstrationError(
            "No configuration follows any demonstration that it did not learn from. Give more "
            "demonstrations, or fit one configuration and call diagnose to see why."
        )
    why = (
        f"{trial.score:.2f} right in {race.folds}-fold cross-validation over groups, the best of "
        f"{len(race.tried)} that were tried, or the first of those within ±{trial.error:.2f}"
    )
    chosen = Choices(
        (
            Choice("configuration", trial.name, why,
                   "follower.chosen().set_params(model=…, overlay=…, features=…)"),
            Choice("Learning.l2", f"{trial.l2:g}", why,
                   "follower.chosen().set_params(learning__l2=…)"),
        )
    )  # fmt: skip
    trials = tuple(each for each, _, _ in race.tried)
    return Comparison(
        trials, trainer, chosen, race.compared, len(demonstrations), tuple(race.left_out)
    )


def _options(settings: Mapping[str, Any], facts: Facts) -> list[Configuration]:
    """Return what is tried: what would be chosen first, then flat actions, which mostly served."""
    left_open = dict.fromkeys(("model", "overlay", "features", "learning", "search"), AUTO)
    chosen, _ = choose({**settings, **left_open}, facts.demonstrations)
    own = Configuration(OWN, chosen.model, chosen.overlay, chosen.features, chosen.search)
    others = {each.name: each for each in (*configurations(facts), *more_configurations(facts))}
    rest = [each for each in others.values() if replace(each, name=OWN) != own]
    same = [each.name for each in others.values() if each not in rest]
    if same:
        own = replace(own, name=f"{OWN} ({same[0]})")
    return [own, *sorted(rest, key=lambda each: each.overlay.nodes != "flat")]


@dataclass
class _Race:
    """Configurations that are tried while there is time for them and for the last fit."""

    settings: Mapping[str, Any]
    facts: Facts
    seconds: float
    tell: Callable[[str], object]
    clock: Callable[[], float]
    tried: list[tuple[Trial, Configuration, Trainer]] = field(default_factory=list)
    left_out: list[tuple[str, float]] = field(default_factory=list)
    waiting: list[tuple[Configuration, Learning]] = field(default_factory=list)
    each: dict[str, float] = field(default_factory=dict)  # seconds of fit for a demonstration
    takes: dict[str, float] = field(default_factory=dict)  # seconds of a trial
    slow: set[str] = field(default_factory=set)  # what took too long to see how long it takes
    compared: int = 0
    folds: int = _PARTS
    parts: list[tuple[list[Demonstration], list[Demonstration]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def left(self) -> float:
        """How many seconds there are."""
        return self.seconds - (self.clock() - self.began)

    @property
    def leading(self) -> tuple[Trial, Configuration, Trainer]:
        """What was best so far."""
        trials = [each for each, _, _ in self.tried]
        return self.tried[trials.index(_first_of_the_best(trials))]

    @property
    def best(self) -> Configuration:
        """The configuration that was best so far."""
        return self.leading[1]

    def measure(self, options: Sequence[Configuration]) -> None:
        """See what options take, and how many demonstrations there is time to compare on."""
        most = min(_MOST, self.facts.count)
        if self.seconds > 0:
            self._fit(options[0], sample(self.facts.demonstrations, _WARM))
        for option in options:
            self.probe(option)
        quick = [option for option in options if option.name not in self.slow]
        known = [self.each[option.name] for option in quick if option.name in self.each]
        size = _FEWEST
        if len(known) == len(quick):
            last = max(self.each[each.name] * self._longer(each) for each in quick)
            spare = self.left - last * self.facts.count
            size = max(size, int(_SHARE * spare / (_PARTS * sum(known))) if sum(known) else most)
            if spare < _WORTH * _PARTS * min(size, most) * known[0]:
                self.folds = _FEW_PARTS
        self.parts = self._parts(min(size, most))
        self.compared = sum(len(test) for _, test in self.parts)

    def probe(self, option: Configuration) -> None:
        """See how long an option takes to learn from one demonstration, if there is time."""
        late = self.left <= (1 - _LOOKING) * self.seconds
        if self.seconds <= 0 or (late and len(self.each) >= _COMPARED):
            return
        size, took = _PROBE, 0.0
        until = self.clock() + _LOOK * self.seconds if self.each else math.inf
        while True:
            some = sample(self.facts.demonstrations, size)
            began = self.clock()
            try:
                self._fit(option, some, until)
            except _LateError:
                self.slow.add(option.name)
            took = self.clock() - began
            # What is soon done has mostly done what more of them share.
            if took > _SOON * self.seconds or len(some) < size or option.name in self.slow:
                break
            size *= 4
        self.each[option.name] = took / len(some)

    def attempt(self, option: Configuration, learning: Learning) -> None:
        """Try an option, if there is time for it and for learning from all demonstrations."""
        if self._has_time(option, learning):
            began, spare = self.clock(), self.left - self._last(option)
            try:
                self.try_out(option, learning, began + spare if self.tried else math.inf)
            except _LateError:
                self._leave_out(option, learning, self.clock() - began)
        elif not self.tried:
            self.waiting.append((option, learning))

    @property
    def quickest(self) -> tuple[Configuration, Learning]:
        """What there was no time for and takes least; the first of equals."""
        found = min(self.waiting, key=lambda each: self.each.get(each[0].name, math.inf))
        self.left_out = [each for each in self.left_out if each[0] != found[0].name]
        return found

    def try_out(self, option: Configuration, learning: Learning, until: float = math.inf) -> None:
        """Try an option, whatever it takes until then."""
        trainer = self._trainer(option, learning)
        began = self.clock()
        score, learning_took = _cross_validated(
            briefly(trainer, self.facts), self.parts, self._stops(until), self.clock
        )
        trial = Trial(option.name, learning.l2, score, self.clock() - began, self.compared)
        self.tried.append((trial, option, trainer))
        self.tell(str(trial))
        # A few demonstrations may take less or more time each than many.
        self.takes[option.name] = trial.seconds
        self.each[option.name] = learning_took / ((self.folds - 1) * self.compared)

    def _has_time(self, option: Configuration, learning: Learning) -> bool:
        # All parts but one learn from a demonstration, and the other one follows it.
        takes = self.takes.get(option.name, self._each(option) * self.compared * self.folds)
        if option.name not in self.slow and takes + self._last(option) <= self.left:
            return True
        self._leave_out(option, learning, takes)
        return False

    def _each(self, option: Configuration) -> float:
        """Return the seconds of fit for a demonstration; those of others, if not looked at."""
        others = [took for name, took in self.each.items() if name not in self.slow]
        return self.each.get(option.name, max(others, default=0.0))

    def _last(self, option: Configuration) -> float:
        """Return how many seconds the last fit takes if an option is tried."""
        last = self._each(option) * self._longer(option)
        if self.tried:
            last = max(last, self.each[self.best.name] * self._longer(self.best))
        return last * self.facts.count

    def _leave_out(self, option: Configuration, learning: Learning, takes: float) -> None:
        usual = learning_for(self.facts, option.model).l2 == learning.l2
        name = option.name if usual else f"{option.name}, l2={learning.l2:g}"
        self.left_out.append((name, takes))

    def _stops(self, until: float) -> Callable[[object], None]:
        """Return what is told of progress, and stops what is late."""

        def tell(progress: object) -> None:
            if self.clock() > until:
                raise _LateError

        return tell

    def _longer(self, option: Configuration) -> float:
        """Return how many times longer the last fit takes, which may list longer plans."""
        if not option.model.member_model.lists_plans:
            return 1.0
        tried, last = self.facts.trial_length, self.facts.enumerable_length
        if tried is None or last is None:
            return 1.0
        return self.facts.plans(last) / self.facts.plans(tried)

    def _parts(self, size: int) -> list[tuple[list[Demonstration], list[Demonstration]]]:
        """Return ways to learn from some and be tested on others, of two groups or more."""
        some = sample(self.facts.demonstrations, size)
        if len({each.group or number for number, each in enumerate(some)}) < 2:
            some = sample(self.facts.demonstrations, _MOST)
        return folds(some, self.folds)

    def _trainer(self, option: Configuration, learning: Learning) -> Trainer:
        return Trainer(**{
            **self.settings, "model": option.model, "overlay": option.overlay,
            "features": option.features, "search": option.search, "learning": learning,
        })  # fmt: skip

    def _fit(
        self, option: Configuration, some: Sequence[Demonstration], until: float = math.inf
    ) -> None:
        """Learn from some, for the time that it takes; what cannot work is seen when tried."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GroundlingWarning)
            try:
                trainer = self._trainer(option, learning_for(self.facts, option.model))
                briefly(trainer, self.facts).fit(some, self._stops(until))
            except GroundlingError:
                return


class _LateError(Exception):
    """There is no more time for what is being learnt."""


def _cross_validated(
    trainer: Trainer,
    parts: Sequence[tuple[list[Demonstration], list[Demonstration]]],
    progress: Callable[[object], None],
    clock: Callable[[], float],
) -> tuple[float, float]:
    """Return the share of right answers, and how many seconds it took to learn."""
    right, count, took = 0.0, 0, 0.0
    for learn, test in parts:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GroundlingWarning)
                began = clock()
                learnt = trainer.fit(learn, progress)
                took += clock() - began
                right += count_right(learnt, test)
        except GroundlingError:  # a configuration that cannot work here
            return 0.0, took
        count += len(test)
    return right / count, took
