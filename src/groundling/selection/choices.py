"""Choices: the settings that nobody gave, with the reasons; and the choice itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from groundling.errors import SettingError
from groundling.features.feature_settings import Features
from groundling.features.labels import LABEL
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.learning.trainer import Trainer
from groundling.models.base import Model
from groundling.models.learnt import Learnt
from groundling.overlay.settings import Overlay
from groundling.selection.configurations import (
    Configuration,
    configurations,
    default_model,
    reads_units,
)
from groundling.selection.constants import FIRST_LAP, ENOUGH_FOR_PAIRS
from groundling.selection.profile import Profile
from groundling.selection.race import Race, Runner, Work
from groundling.settings import AUTO, Settings
from groundling.world.environment import Demonstration

_GROUPS = ("model", "overlay", "features", "learning", "search")
_LENGTH = "search.max_length"
_REST = "features but reorder"
_Tell = Callable[[str], object]


@dataclass(frozen=True)
class Choice:
    """A setting that was chosen from the demonstrations.

    >>> print(Choice("Search.max_length", "1", "every demonstration has one action",
    ...              "follower.chosen().set_params(search__max_length=…)"))
    Search.max_length = 1: every demonstration has one action. To change it:
    follower.chosen().set_params(search__max_length=…)
    """

    what: str
    chosen: str
    why: str
    change: str

    @property
    def setting(self) -> str:
        """The name of the setting for `set_params`, such as `features__slots`."""
        group, _, name = self.what.partition(".")
        return f"{group.lower()}__{name}" if name else group

    def __str__(self) -> str:
        return f"{self.what} = {self.chosen}: {self.why}. To change it: {self.change}"


@dataclass(frozen=True)
class Tried:
    """The outcome of a race: of how many demonstrations, between which, who won, how well."""

    count: int
    names: tuple[str, ...]
    winner: str
    right: float
    why: str

    def holds(self, names: Sequence[str], count: int) -> bool:
        """Tell whether the race need not be run again: the same runners, not twice the data.

        >>> Tried(20, ("a",), "a", 1.0, "").holds(["a"], 39)
        True
        >>> Tried(20, ("a",), "a", 1.0, "").holds(["a"], 40)
        False
        """
        return list(self.names) == list(names) and self.count < 2 * count < 4 * self.count


class Choices(tuple[Choice, ...]):
    """What was chosen from the demonstrations, printed a line each.

    `left_open` names what nobody gave, `tried` is the race that was run, and `params` are the
    chosen values for `set_params`.

    >>> print(Choices())
    Nothing was left to choose.
    """

    left_open: tuple[str, ...]
    tried: Tried | None
    params: Mapping[str, Any]

    def __new__(
        cls,
        choices: Iterable[Choice] = (),
        left_open: Iterable[str] = (),
        tried: Tried | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Self:
        """Keep choices, and what is needed to choose again."""
        made = super().__new__(cls, choices)
        made.left_open, made.tried, made.params = tuple(left_open), tried, dict(params or {})
        return made

    def of(self, trainer: Any) -> Self:
        """Return the same with the values that a trainer has."""
        params = {}
        for each in self:
            group, _, name = each.setting.partition("__")
            value = getattr(trainer, group, None)
            params[each.setting] = getattr(value, name) if name else value
        return type(self)(self, self.left_open, self.tried, params)

    def closed(self, group: str) -> Self:
        """Return the same where a group of settings was given since then.

        >>> Choices((), ("learning", "search.max_length")).closed("search").left_open
        ('learning',)
        """
        names = [name for name in self.left_open if name.partition(".")[0] != group]
        return type(self)(self, names, self.tried, self.params)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "Nothing was left to choose."

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(part)}</td>" for part in
                             (each.what, each.chosen, each.why, each.change)) + "</tr>"
            for each in self
        )  # fmt: skip
        head = "<tr><th>what</th><th>chosen</th><th>why</th><th>to change it</th></tr>"
        return f"<table>{head}{rows}</table>"


# ---- what is open -----------------------------------------------------------------------------


def _left_open(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the settings that are to be chosen."""
    found = [name for name in _GROUPS if _is_auto(settings[name])]
    if "search" not in found and settings["search"].max_length is None:
        found.append(_LENGTH)
    if found and settings["features"] == Features(reorder=True):
        found.append(_REST)
    return tuple(found)


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO


def check_open(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of settings that a file says were left open, if they are some.

    >>> check_open(["learning", "hat"])
    Traceback (most recent call last):
        ...
    ValueError: no setting 'hat' can be left open
    """
    found = tuple(names)
    for name in found:
        if name not in (*_GROUPS, _LENGTH, _REST):
            raise ValueError(f"no setting {name!r} can be left open")
    return found


def open_again(trainer: Trainer, names: Iterable[str]) -> dict[str, Any]:
    """Return settings in which those that had been left open are open again."""
    settings = {each.name: getattr(trainer, each.name) for each in fields(trainer)}
    for name in names:
        if name == _LENGTH:
            settings["search"] = replace(trainer.search, max_length=None)
        elif name == _REST:
            settings["features"] = Features(reorder=True)
        else:
            settings[name] = AUTO
    return settings


_TICK = 0.5  # seconds between reports of how far it has come


def _ticking(tell: _Tell) -> Callable[[], None]:
    """Return what counts the steps of environments, and tells of them now and then."""
    steps, told = 0, time.monotonic()

    def tick() -> None:
        nonlocal steps, told
        steps += 1
        if (now := time.monotonic()) - told >= _TICK:
            told = now
            tell(f"asking the environments ({steps:,} steps)")

    return tick


# ---- the choice -------------------------------------------------------------------------------


def choose(
    settings: Mapping[str, Any],
    demonstrations: Sequence[Demonstration],
    tell: _Tell = lambda what: None,
    tried: Tried | None = None,
) -> tuple[Trainer, Choices]:
    """Return settings without anything left open, and what was chosen and why.

    What is given, or declared by the environment, is kept. The same demonstrations give the same
    choices, whatever their order. A race that was `tried` on fewer demonstrations is not run
    again while they are less than twice as many.
    """
    names = _left_open(settings)
    if not names:
        return Trainer(**settings), Choices()
    tell("looking at the demonstrations")
    chosen = dict(settings)
    if _REST in names:
        chosen["features"] = AUTO
    search = chosen["search"]
    length = None if _is_auto(search) else search.max_length
    profile = Profile(demonstrations, chosen["parser"], length, _ticking(tell))
    declared = [name for name in profile.declared if _is_auto(chosen.get(name))]
    chosen |= {name: profile.declared[name] for name in declared}
    race = Race(chosen, profile, Work(profile.count), tell)
    best, tried = _best(race, _feasible(chosen, profile), tried)
    trainer = best.trainer
    if "learning" in names:  # the race compares weights
        trainer = replace(trainer, learning=replace(trainer.learning, recall=None))
    if _REST in names:
        trainer = replace(trainer, features=replace(trainer.features, reorder=True))
    return trainer, describe(trainer, names, profile, tried, declared)


def choose_again(
    learnt: Learnt, demonstrations: Sequence[Demonstration], tell: _Tell = lambda what: None
) -> tuple[Trainer, tuple[Any, ...]]:
    """Return the settings that demonstrations would get now, and what was chosen of them."""
    choices = learnt.choices
    if not isinstance(choices, Choices) or not choices.left_open:
        return Trainer.of(learnt), choices
    opened = open_again(Trainer.of(learnt), choices.left_open)
    return choose(opened, demonstrations, tell, choices.tried)


def _best(
    race: Race, options: Sequence[Configuration], tried: Tried | None
) -> tuple[Runner, Tried | None]:
    """Return the winner of the race, without one where there is nothing to compare."""
    profile, runners = race.profile, [race.runner(each) for each in options]
    names = [each.name for each in runners]
    if len(runners) == 1:
        return runners[0], None
    if 2 * profile.count < FIRST_LAP:
        return race.recall(runners), None
    if tried is None or not tried.holds(names, profile.count):
        winner = race.run(runners)
        shown = ", ".join(
            f"{each.name} {each.right:.2f} ±{each.error:.2f}" for each in race.finished
        )
        why = (
            f"the simplest within one standard error of the best, after learning from a part of "
            f"{winner.size}: {shown}"
        )
        tried = Tried(profile.count, tuple(names), winner.name, winner.right, why)
    return next(each for each in runners if each.name == tried.winner), tried


def _feasible(chosen: Mapping[str, Any], profile: Profile) -> list[Configuration]:
    """Return the configurations of the table that can go with what was given."""
    found: list[Configuration] = []
    model, overlay = chosen["model"], chosen["overlay"]
    table = configurations(profile)
    if not _is_auto(overlay):  # models for flat actions are of no use for graphs
        table = [each for each in table if each.overlay.nodes == overlay.nodes] or table
    if not _is_auto(model):
        alike = [each for each in table if reads_units(each.model) == reads_units(model)]
        table = alike or [_beside(model, profile, table)]
    given = {name: chosen[name] for name in ("model", "overlay", "features")
             if not _is_auto(chosen[name])}  # fmt: skip
    agreeing = [e for e in table if all(getattr(e, name) == v for name, v in given.items())]
    learning = Learning() if _is_auto(chosen["learning"]) else chosen["learning"]
    for each in agreeing or table:
        option = replace(each, **given, search=_merged(chosen["search"], each.search))
        if "model" in given and not option.model.member_model.lists_plans:
            option = replace(option, base="")
        try:
            option.model.check(option.overlay, option.features, learning.rounds, option.search)
        except SettingError:
            continue
        if all(replace(option, name=other.name, base=other.base) != other for other in found):
            found.append(option)
    if not found:  # what was given cannot work with any: say why
        option = replace(table[0], **given, search=_merged(chosen["search"], table[0].search))
        option.model.check(option.overlay, option.features, learning.rounds, option.search)
    known = {each.name for each in found}
    return [replace(each, base=each.base if each.base in known else "") for each in found]


def _beside(model: Model, profile: Profile, table: Sequence[Configuration]) -> Configuration:
    """Return a configuration for a model of which the table has none."""
    first = table[0]
    if reads_units(model):
        overlay = replace(Overlay.bag(), unit=profile.unit)
        return replace(first, model=model, overlay=overlay, name="unit by unit")
    return replace(first, model=model, overlay=Overlay(unit=profile.unit), name="graph")


def _merged(given: Any, likely: Search) -> Search:
    """Return a search that was given, with the length that was left open."""
    if _is_auto(given):
        return likely
    kept: Search = given
    if kept.max_length is not None:
        return kept
    merged: Search = replace(given, max_length=max(likely.longest, given.min_length))
    return merged


# ---- what was chosen, in words ----------------------------------------------------------------


def describe(
    trainer: Trainer,
    names: Sequence[str],
    profile: Profile,
    tried: Tried | None,
    declared: Sequence[str] = (),
) -> Choices:
    """Return every setting that was chosen and differs from its default, with the reason."""
    found = []
    for group in _GROUPS:
        value: Settings = getattr(trainer, group)
        rest = group == "features" and _REST in names
        changed = value.changed() if group in names or rest else []
        if group == "search" and _LENGTH in names:
            changed = ["max_length"]
        if group == "model":  # its settings go with its class
            changed = [""] if group in names and value != default_model() else []
        for name in changed:
            why = _why(f"{group}.{name}", trainer, profile, tried)
            if group in declared:
                why = "the environment declares it"
            shown = repr(getattr(value, name) if name else value)
            found.append(_choice(f"{type(value).__name__}.{name}" if name else group, shown, why))
    return Choices(found, names, tried).of(trainer)


def _choice(what: str, chosen: str, why: str) -> Choice:
    made = Choice(what, chosen, why, "")
    return replace(made, change=f"follower.chosen().set_params({made.setting}=…)")


def _why(what: str, trainer: Trainer, profile: Profile, tried: Tried | None) -> str:
    """Say why a setting is what it is."""
    count = profile.count
    raced = tried.why if tried else "the simplest that follows what it was shown"
    reads = reads_units(trainer.model)
    reasons: dict[str, Callable[[], str]] = {
        "features.slots": lambda: _slots_why(trainer.features.slots, profile),
        "features.words": lambda: (
            f"{count} demonstrations are {'too few' if count < ENOUGH_FOR_PAIRS else 'enough'} to learn "
            "combinations of words"
        ),
        "features.names": lambda: "names have several words, or texts often leave them out",
        "features.numbers": lambda: (
            "texts say numbers" if profile.says_numbers else
            "labels have numbers, which no text says"
        ),
        "features.lexicon": lambda: (
            f"{profile.spoken:.0%} of the texts spell a value; other words may mean them"
        ),
        "features.reorder": lambda: (
            "texts name things in another order than they are done: "
            + ", ".join(profile.reordering or ("as was asked for",))
        ),
        "features.min_word_count": lambda: (
            "words that were shown once coincide with no label that was shown once"
        ),
        "features.min_count": lambda: "the penalty decides which features matter",
        "features.compound_weight": lambda: "combinations of words are rarer than words",
        "features.promote": lambda: "words of a unit have no links",
        "learning.l2": lambda: (
            f"a thousandth for each {'unit and action' if reads else 'demonstration'} of {count:,}"
        ),
        "learning.grow": lambda: "texts name other things than those acted on",
        "learning.rare_words": lambda: (
            "a word that was shown once coincides with a label that was shown once"
        ),
        "learning.tolerance": lambda: "further steps change hardly an answer",
        "learning.recall": lambda: "chosen by leaving demonstrations out (`Follower.memory_`)",
        "learning.composed": lambda: (
            "most demonstrations begin where the one before in their group ended"
        ),
        "search.max_length": lambda: _length_why(trainer.search, profile),
        "search.decode": lambda: "the environment says what counts of a final state",
        "search.beam": lambda: "plans are not listed",
        "search.budget": lambda: "plans are not listed",
    }  # fmt: skip
    return reasons.get(what, lambda: raced)()


def _slots_why(slots: Sequence[str], profile: Profile) -> str:
    kinds = {each.name: each for each in profile.kinds}
    spelt = [kind for kind in slots if kind != LABEL]
    if not set(spelt) <= {*profile.slots, *profile.meant}:
        return "words spell hardly any value; which words stand for them is learnt"
    shown = ", ".join(
        f"{kind} ({len(kinds[kind].spelled)} of {len(kinds[kind].values)} values)" for kind in spelt
    )
    if spelt == list(slots):
        return f"words of the texts spell their values: {shown}"
    return f"words may spell names of labels{f', and values: {shown}' * bool(shown)}"


def _length_why(search: Search, profile: Profile) -> str:
    length, longest = search.longest, profile.longest
    if length == longest:
        return f"the longest demonstration has {longest} action{'s' * (longest > 1)}"
    if length > longest:
        return f"a quarter more than the longest demonstration, which has {longest} actions"
    within = sum(count for each, count in profile.lengths.items() if each <= length)
    return (
        f"{within / profile.count:.0%} of the demonstrations are that short; of up to {longest} "
        f"actions there are about {profile.plans(longest):,.0f} plans from a start instead of "
        f"{profile.plans(length):,.0f}, too many to learn from in reasonable time"
    )
