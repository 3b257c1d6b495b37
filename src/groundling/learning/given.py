"""What was given to a follower and what was left open: to choose beside it, and to choose again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from groundling.errors import SettingError
from groundling.features.feature_settings import Features
from groundling.learning.presets import Configuration
from groundling.learning.settings import Learning
from groundling.learning.trainer import Trainer
from groundling.settings import AUTO

__all__ = [
    "PARTS",
    "REST",
    "Tried",
    "agrees",
    "check_open",
    "left_open",
    "reopened",
    "with_features",
]

PARTS = ("model", "overlay", "features")
"""The settings that a configuration holds together."""
REST = "features but reorder"
"""The name of all features, where only `Features(reorder=True)` was asked for."""
_LENGTH = "search.max_length"
_AGAIN = 2  # times as many demonstrations, after which configurations are tried again


@dataclass(frozen=True)
class Tried:
    """How likely configurations did on a part of so many demonstrations."""

    count: int
    options: tuple[Configuration, ...]
    scores: tuple[float, ...]

    def holds(self, options: Sequence[Configuration], count: int) -> bool:
        """Tell whether the scores still say something: of these options, from not many more.

        >>> Tried(20, (), ()).holds([], 39), Tried(20, (), ()).holds([], 40)
        (True, False)
        """
        alike = [(e.name, e.overlay, e.features, e.search) for e in self.options] == [
            (e.name, e.overlay, e.features, e.search) for e in options
        ]
        return alike and self.count / _AGAIN < count < _AGAIN * self.count


def left_open(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the settings that are to be chosen.

    >>> from groundling import Search
    >>> groups = ("model", "overlay", "features", "learning")
    >>> left_open({**dict.fromkeys(groups, AUTO), "search": Search()})
    ('model', 'overlay', 'features', 'learning', 'search.max_length')
    """
    found = [name for name in (*PARTS, "learning", "search") if settings[name] == AUTO]
    if "search" not in found and settings["search"].max_length is None:
        found.append(_LENGTH)
    if found and settings["features"] == Features(reorder=True):
        found.append(REST)
    return tuple(found)


def check_open(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of settings that a file says were left open, if they are some.

    >>> check_open(["learning", "hat"])
    Traceback (most recent call last):
        ...
    ValueError: no setting 'hat' can be left open
    """
    found = tuple(names)
    for name in found:
        if name not in (*PARTS, "learning", "search", _LENGTH, REST):
            raise ValueError(f"no setting {name!r} can be left open")
    return found


def reopened(trainer: Trainer, names: Iterable[str]) -> dict[str, Any]:
    """Return settings in which those that had been left open are open again."""
    settings = {each.name: getattr(trainer, each.name) for each in fields(trainer)}
    for name in names:
        if name == _LENGTH:
            settings["search"] = replace(trainer.search, max_length=None)
        elif name == REST:
            settings["features"] = Features(reorder=True)
        else:
            settings[name] = AUTO
    return settings


def agrees(option: Configuration, given: Mapping[str, Any]) -> bool:
    """Tell whether an option is what was given; of a search, whether plans are as long."""
    return all(
        getattr(option, name) == value
        if name != "search"
        else option.search.max_length == value.max_length
        for name, value in given.items()
    )


def with_features(
    chosen: Mapping[str, Any], options: Sequence[Configuration]
) -> list[Configuration]:
    """Return the options with the features that were given, if any; those that can be."""
    if chosen["features"] == AUTO:
        return list(options)
    learning = Learning() if chosen["learning"] == AUTO else chosen["learning"]
    found = []
    for each in options:
        option = replace(each, features=chosen["features"])
        try:
            option.model.check(option.overlay, option.features, learning.rounds, option.search)
        except SettingError:
            continue
        found.append(option)
    return found
