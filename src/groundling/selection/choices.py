"""Automatic choice of unset settings, with reasons."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from groundling.errors import SettingError
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.learning.trainer import Trainer
from groundling.models.learnt import Learnt
from groundling.overlay.encoder import Encoder
from groundling.overlay.settings import Overlay
from groundling.selection.configurations import (
    Configuration,
    configurations,
    default_model,
    reads_units,
)
from groundling.selection.constants import ENOUGH_FOR_PAIRS, L2_PER_DEMONSTRATION, LAPS
from groundling.selection.profile import Profile
from groundling.selection.race import Budget, Race, Runner
from groundling.settings import AUTO, Settings
from groundling.world.environment import Demonstration

_GROUPS = ("model", "overlay", "features", "learning", "search")
_LENGTH = "search.max_length"
_DECLARED = ", as the environment declares"
_Tell = Callable[[str], object]


@dataclass(frozen=True)
class Choice:
    """A setting chosen automatically: its value, the reason, and how to change it.

    >>> print(Choice("Search.max_length", chosen="1", why="every demonstration has one action",
    ...              change="follower.chosen().set_params(search__max_length=…)"))
    Search.max_length = 1: every demonstration has one action. To change it:
    follower.chosen().set_params(search__max_length=…)
    """

    what: str
    chosen: str
    why: str
    change: str

    @property
    def setting(self) -> str:
        """The name of the setting in `set_params`, such as `features__slots`."""
        group, _, name = self.what.partition(".")
        return f"{group.lower()}__{name}" if name else group

    def __str__(self) -> str:
        return f"{self.what} = {self.chosen}: {self.why}. To change it: {self.change}"


@dataclass(frozen=True)
class Tried:
    """The result of a race: the winning configuration, its accuracy, and the reason.

    `count` is the number of demonstrations, and `names` are the configurations that took part.
    """

    count: int
    names: tuple[str, ...]
    winner: str
    right: float
    why: str

    def holds(self, names: Sequence[str], count: int) -> bool:
        """Return whether the result can be reused for other data.

        The configurations must be the same, and the number of demonstrations must be more than
        half, and less than twice, that of the race.

        >>> tried = Tried(count=20, names=("graph",), winner="graph", right=1.0, why="")
        >>> tried.holds(["graph"], 39), tried.holds(["graph"], 40)
        (True, False)
        """
        return list(self.names) == list(names) and self.count < 2 * count < 4 * self.count


class Choices(tuple[Choice, ...]):
    """The settings chosen from the demonstrations; printing shows one per line.

    `left_open` lists the settings that were unset, `tried` is the result of the race, and `params`
    has the chosen values by their names in `set_params`.

    >>> print(Choices())
    All settings were given; none was chosen.
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
        """Create the choices, together with the data for choosing again."""
        made = super().__new__(cls, choices)
        made.left_open, made.tried, made.params = tuple(left_open), tried, dict(params or {})
        return made

    def of(self, trainer: Any) -> Self:
        """Return the choices with `params` taken from the settings of a trainer."""
        params = {}
        for each in self:
            group, _, name = each.setting.partition("__")
            value = getattr(trainer, group, None)
            params[each.setting] = getattr(value, name) if name else value
        return type(self)(self, self.left_open, self.tried, params)

    def closed(self, group: str) -> Self:
        """Return the choices after the user has set a group of settings.

        The group is removed from `left_open`.

        >>> Choices(left_open=("learning", "search.max_length")).closed("search").left_open
        ('learning',)
        """
        names = [name for name in self.left_open if name.partition(".")[0] != group]
        return type(self)(self, names, self.tried, self.params)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "All settings were given; none was chosen."

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(part)}</td>" for part in
                             (each.what, each.chosen, each.why, each.change)) + "</tr>"
            for each in self
        )  # fmt: skip
        head = "<tr><th>what</th><th>chosen</th><th>why</th><th>to change it</th></tr>"
        return f"<table>{head}{rows}</table>"


# ---- open settings ------------------------------------------------------------------------------


def _left_open(settings: Mapping[str, Any]) -> tuple[str, ...]:
    found = [name for name in _GROUPS if _is_auto(settings[name])]
    if "search" not in found and settings["search"].max_length is None:
        found.append(_LENGTH)
    return tuple(found)


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO


def check_open(names: Iterable[str]) -> tuple[str, ...]:
    """Check the names of unset settings in a file, and return them.

    >>> check_open(["learning", "hat"])
    Traceback (most recent call last):
        ...
    ValueError: The saved model contains an unknown setting: a setting must be one of model,
    overlay, features, learning, search, search.max_length; got 'hat'. Train the follower again.
    """
    found, known = tuple(names), (*_GROUPS, _LENGTH)
    for name in found:
        if name not in known:
            raise ValueError(
                "The saved model contains an unknown setting: a setting must be one of "
                f"{', '.join(known)}; got {name!r}. Train the follower again."
            )
    return found


def open_again(trainer: Trainer, names: Iterable[str]) -> dict[str, Any]:
    """Return the settings of a trainer, in which the named ones are unset again."""
    settings = {each.name: getattr(trainer, each.name) for each in fields(trainer)}
    for name in names:
        if name == _LENGTH:
            settings["search"] = replace(trainer.search, max_length=None)
        else:
            settings[name] = AUTO
    return settings


_TICK = 0.5  # seconds between progress reports


def _ticking(tell: _Tell) -> Callable[[], None]:
    """Return a callback that counts environment steps, and reports them periodically."""
    steps, told = 0, time.monotonic()

    def tick() -> None:
        nonlocal steps, told
        steps += 1
        if (now := time.monotonic()) - told >= _TICK:
            told = now
            tell(f"querying the environments ({steps:,} steps)")

    return tick


# ---- the choice ---------------------------------------------------------------------------------


def choose(
    settings: Mapping[str, Any],
    demonstrations: Sequence[Demonstration],
    tell: _Tell = lambda what: None,
    tried: Tried | None = None,
    encoders: dict[Hashable, Encoder] | None = None,
) -> tuple[Trainer, Choices]:
    """Return a trainer with all settings fixed, and the choices with their reasons.

    Settings that were given are kept. Settings that the environment declares
    (`Environment.follower_settings`) take part in the race. The order of demonstrations does not
    matter. The result `tried` of an earlier race is reused until the number of demonstrations has
    doubled. `encoders` collects the encoders that the final fit can share.
    """
    names = _left_open(settings)
    if not names:
        return Trainer(**settings), Choices()
    tell("examining the demonstrations")
    length = None if _is_auto(settings["search"]) else settings["search"].max_length
    profile = Profile(demonstrations, settings["parser"], length, _ticking(tell))
    proposed = {n: v for n, v in profile.declared.items() if _is_auto(settings.get(n))}
    options = _feasible(settings, profile)
    if proposed:  # the environment's own settings come first
        own = _feasible({**settings, **proposed}, profile)
        options = [replace(each, name=f"{each.name}{_DECLARED}", base="") for each in own] + [
            each for each in options if all(replace(e, name=each.name) != each for e in own)
        ]
    learning = proposed.get("learning", settings["learning"])
    race = Race(
        {**settings, "learning": learning}, profile, Budget(profile.count), tell,
        encoders={} if encoders is None else encoders,
    )  # fmt: skip
    best, tried = _best(race, options, tried)
    trainer = best.trainer
    if "learning" in names:  # the race tests the weights alone, without a memory
        trainer = replace(trainer, learning=replace(trainer.learning, recall=None))
    declared = proposed if best.name.endswith(_DECLARED) else ()
    choices = describe(trainer, names, profile, tried, tuple(declared))
    race.release(trainer)
    return trainer, choices


def choose_again(
    learnt: Learnt, demonstrations: Sequence[Demonstration], tell: _Tell = lambda what: None
) -> tuple[Trainer, tuple[Any, ...]]:
    """Choose the unset settings of a follower again for other data.

    Returns a trainer with all settings, and the choices.
    """
    choices = learnt.choices
    if not isinstance(choices, Choices) or not choices.left_open:
        return Trainer.of(learnt), choices
    opened = open_again(Trainer.of(learnt), choices.left_open)
    return choose(opened, demonstrations, tell, choices.tried)


def _best(
    race: Race, options: Sequence[Configuration], tried: Tried | None
) -> tuple[Runner, Tried | None]:
    """Return the best configuration, by a race if there are several and enough data."""
    count, runners = race.profile.count, [race.runner(each) for each in options]
    names = [each.name for each in runners]
    if len(runners) == 1:
        return runners[0], None
    if 2 * count < LAPS[0]:
        declared = [each for each in runners if each.name.endswith(_DECLARED)]
        return race.recall(declared or runners), None
    if tried is None or not tried.holds(names, count):
        winner = race.run(runners)
        shown = ", ".join(f"{e.name} {e.right:.2f} ±{e.error:.2f}" for e in race.finished)
        why = (
            "the simplest configuration within one standard error of the best in cross-validation "
            f"on {winner.size} demonstrations: {shown}"
        )
        tried = Tried(count, tuple(names), winner.name, winner.right, why)
    return next(each for each in runners if each.name == tried.winner), tried


def _feasible(chosen: Mapping[str, Any], profile: Profile) -> list[Configuration]:
    """Return the configurations that are compatible with the given settings."""
    given = {name: chosen[name] for name in ("model", "overlay", "features")
             if not _is_auto(chosen[name])}  # fmt: skip
    table = configurations(profile)
    if "overlay" in given:  # models with flat actions cannot use graphs
        nodes = given["overlay"].nodes
        table = [each for each in table if each.overlay.nodes == nodes] or table
    if "model" in given:
        reads = reads_units(given["model"])
        bag = replace(Overlay.bag(), unit=profile.unit)
        own = replace(
            table[0],
            name="unit by unit" if reads else "graph",
            overlay=bag if reads else Overlay(unit=profile.unit),
        )
        table = [each for each in table if reads_units(each.model) == reads] or [own]
    table = [e for e in table if all(getattr(e, n) == v for n, v in given.items())] or table
    learning = Learning() if _is_auto(chosen["learning"]) else chosen["learning"]
    found: list[Configuration] = []
    problem: SettingError | None = None
    for each in table:
        option = replace(each, **given, search=_merged(chosen["search"], each.search))
        try:
            option.model.check(option.overlay, option.features, learning.rounds, option.search)
        except SettingError as error:
            problem = problem or error
            continue
        if all(replace(option, name=other.name, base=other.base) != other for other in found):
            found.append(option)
    if not found:
        assert problem is not None
        raise problem
    known = {each.name for each in found if each.model.member_model.lists_plans}
    return [replace(each, base=each.base if each.base in known else "") for each in found]


def _merged(given: Any, likely: Search) -> Search:
    """Return the given search; if it has no plan length, the estimated one is added."""
    found: Search = likely if _is_auto(given) else given
    if found.max_length is None:
        found = replace(found, max_length=max(likely.longest, found.min_length))
    return found


# ---- the reasons --------------------------------------------------------------------------------


def describe(
    trainer: Trainer,
    names: Sequence[str],
    profile: Profile,
    tried: Tried | None,
    declared: Sequence[str] = (),
) -> Choices:
    """Return the chosen settings that differ from their defaults, with reasons."""
    simplest = "the simplest configuration that follows its training demonstrations"
    raced = tried.why if tried else simplest
    found = []
    for group in _GROUPS:
        value: Settings = getattr(trainer, group)
        changed = value.changed() if group in names else []
        if group == "search" and _LENGTH in names:
            changed = ["max_length"]
        if group == "model":  # the settings of a model depend on its class
            changed = [""] if group in names and value != default_model() else []
        for name in changed:
            why = _REASONS.get(f"{group}.{name}", raced)
            if group in declared:
                why = "the environment declares it"
            elif name == "max_length":
                why = _length_why(trainer.search, profile)
            shown = repr(getattr(value, name) if name else value)
            made = Choice(f"{type(value).__name__}.{name}" if name else group, shown, why, "")
            change = f"follower.chosen().set_params({made.setting}=…)"
            found.append(replace(made, change=change))
    return Choices(found, names, tried).of(trainer)


_REASONS = {
    "features.slots": "texts spell values of these labels, or have words that may mean them",
    "features.words": f"combinations of words take {ENOUGH_FOR_PAIRS} demonstrations to learn",
    "features.compound_weight": "combinations of words are rarer than single words",
    "features.names": "names have several words, or texts often leave them out",
    "features.typos": "an unknown word one letter from a known one is usually a typo",
    "features.new_words": "there are no weights for words that were never demonstrated",
    "features.numbers": "labels have numbers, which are compared with any numbers in the texts",
    "features.lexicon": "many texts spell no value; other words may mean one",
    "features.reorder": "texts often name things in a different order from the actions",
    "features.min_word_count": "a word shown once is usually a typo",
    "features.min_count": "the penalty decides which features matter",
    "features.promote": "the words of a unit have no links",
    "learning.l2": f"{L2_PER_DEMONSTRATION:g} for each demonstration (or unit and action)",
    "learning.grow": "texts name things other than those acted on",
    "learning.rare_words": "some words and labels occur once, in the same demonstration",
    "learning.tolerance": "further steps hardly change any answer",
    "learning.recall": "chosen by leaving demonstrations out (`follower.learnt_.memory`)",
    "learning.composed": "most demonstrations start where the previous one of their group ended",
    "search.decode": "the environment defines the outcome of a final state",
    "search.beam": "there are too many plans to list",
    "search.budget": "there are too many plans to list",
}
"""Reasons for settings that follow from the data; the race decides the others."""


def _length_why(search: Search, profile: Profile) -> str:
    length, longest = search.longest, profile.longest
    if length == longest:
        return f"the longest demonstration has {longest} action{'s' * (longest > 1)}"
    if length > longest:
        return f"a quarter more than the longest demonstration, which has {longest} actions"
    within = sum(count for each, count in profile.lengths.items() if each <= length)
    return (
        f"{within / profile.count:.0%} of the demonstrations are that short; there are about "
        f"{profile.plans(longest):,.0f} plans of up to {longest} actions from a start, instead of "
        f"{profile.plans(length):,.0f}: too many to learn from in reasonable time"
    )
