"""Parser of settings on the command line, such as `learning.l2=1,2,4`."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any

from groundling.errors import SettingError, did_you_mean
from groundling.features.feature_settings import Features
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.every import every_model
from groundling.overlay.settings import Overlay
from groundling.settings import Settings, check_value
from groundling.tasks.jobs import Changes

_GROUPS: dict[str, tuple[type[Settings], ...]] = {
    "model": tuple(dict.fromkeys(type(each["model"]) for each in every_model())),
    "overlay": (Overlay,),
    "features": (Features,),
    "learning": (Learning,),
    "search": (Search,),
}


def read_settings(given: Sequence[str]) -> list[Changes]:
    """Return all combinations of values for settings such as `learning.l2=1,2`.

    >>> read_settings(["learning.l2=1,2", "search.beam=5"])
    [(('learning.l2', 1), ('search.beam', 5)), (('learning.l2', 2), ('search.beam', 5))]
    """
    options = [[(name, value) for value in values] for name, values in map(_read, given)]
    return list(itertools.product(*options))


def read_changes(given: Sequence[str]) -> Changes:
    """Return the changed settings; unknown names and invalid values raise an error.

    A setting that the chosen model does not have is reported later, once the model is known.

    >>> read_changes(["learning.l2=3", "features.slots=room,thing"])
    (('learning.l2', 3), ('features.slots', ('room', 'thing')))
    >>> read_changes(["l2=3"])
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: --setting must contain a known setting; got 'l2'. Did you mean
    'learning.l2'?
    """
    known = {
        f"{group}.{each.name}": (kind, each)
        for group, kinds in _GROUPS.items()
        for kind in reversed(kinds)
        for each in fields(kind)
    }
    changes: list[tuple[str, Any]] = []
    for name, values in map(_read, given):
        if name not in known:
            raise SettingError(
                f"--setting must contain a known setting; got {name!r}.{_hint(name, known)}"
            )
        kind, each = known[name]
        several = isinstance(each.default, tuple)
        if not several and len(values) > 1:
            raise SettingError(
                f"--setting {name} must have one value; got {len(values)}. Remove the others."
            )
        changes.append((name, values if several else values[0]))
        check_value(kind, each.name, changes[-1][1])
    return tuple(changes)


def _read(given: str) -> tuple[str, tuple[Any, ...]]:
    name, mark, values = given.partition("=")
    if not mark or not values.strip():
        raise SettingError(
            f"--setting must be NAME=VALUE, such as learning.l2=1,2,4; got {given!r}."
        )
    return name.strip(), tuple(map(_value, values.split(",")))


def _hint(name: str, known: Collection[str]) -> str:
    """Return a hint that names the most similar setting, or else all settings."""
    inside = [each for each in known if each.partition(".")[2] == name.rpartition(".")[2]]
    if inside or difflib.get_close_matches(name, known):
        return did_you_mean(inside[0] if inside else name, inside or known)
    groups = (", ".join(sorted(e for e in known if e.startswith(f"{g}."))) for g in _GROUPS)
    return " Known: " + ",\n".join(groups) + "."  # the command line truncates long lines in errors


def _value(text: str) -> Any:
    """Return a text as a number or a Boolean if it is one, or else unchanged.

    >>> [_value(each) for each in ("2", "0.5", "true", "plan")]
    [2, 0.5, True, 'plan']
    """
    text = text.strip()
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def default_settings(chosen: Any) -> list[str]:
    """Return the settings to try by default: half, once and twice the regularisation."""
    name = "l1" if chosen.learning.l1 > 0 else "l2"
    now = getattr(chosen.learning, name)
    return [f"learning.{name}={now / 2:g},{now:g},{now * 2:g}"]
