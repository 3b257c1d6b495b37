"""Verbs: what can be done with objects, and how instructions speak of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groundling.errors import SettingError

__all__ = ["Verb", "check_verbs"]


@dataclass(frozen=True)
class Verb:
    """What can be done: its name, and a role for each object that it takes.

    The first role is the object itself; further ones are named by the words that introduce
    them (`put` … `next to` …), at which instructions are cut. Where several words introduce a
    role, all are listed, and the first is its name.

    >>> put = Verb("put", ("object", "next to|beside|by"))
    >>> put.roles, put.introductions[1]
    (('object', 'next to'), ('next to', 'beside', 'by'))
    """

    name: str
    roles: tuple[str, ...] = ("object",)
    introductions: tuple[tuple[str, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise SettingError(f"The name of a Verb is a text such as 'take', not {self.name!r}.")
        roles: Any = self.roles
        if isinstance(roles, str):
            raise SettingError(
                f"The roles of Verb({self.name!r}) are a tuple, such as ({roles!r},), not the "
                f"text {roles!r}."
            )
        listed = tuple(
            tuple(word.strip() for word in each.split("|") if word.strip())
            if isinstance(each, str)
            else ()
            for each in roles
        )
        if not listed or not all(listed) or len({each[0] for each in listed}) < len(listed):
            raise SettingError(
                f"The roles of Verb({self.name!r}) are different texts, one for each object that "
                f"it takes and at least one, such as ('object', 'next to'), not {roles!r}."
            )
        object.__setattr__(self, "roles", tuple(each[0] for each in listed))
        object.__setattr__(self, "introductions", listed)


def check_verbs(world: str, verbs: Any) -> None:
    """Raise unless verbs are what a world needs.

    >>> check_verbs("Shelf", ("take",))
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Shelf.verbs are a tuple of Verb, such as (Verb('take'),), not
    ('take',).
    """
    good = isinstance(verbs, (tuple, list)) and all(isinstance(each, Verb) for each in verbs)
    if not good or not verbs:
        raise SettingError(
            f"{world}.verbs are a tuple of Verb, such as (Verb('take'),), not {verbs!r}."
        )
    names = [each.name for each in verbs]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise SettingError(f"{world}.verbs has {twice!r} twice. Name every verb once.")
