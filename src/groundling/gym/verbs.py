"""Verbs of a world of objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groundling.errors import SettingError


@dataclass(frozen=True)
class Verb:
    """A verb, with a role for each of its objects.

    The first role is the direct object. Each further role is named by the words that introduce it
    (`put` … `next to` …), and instructions are split at these words. Separate alternatives by `|`;
    the first alternative is the name of the role.

    >>> put = Verb("put", ("object", "next to|beside|by"))
    >>> put.roles, put.introductions[1]
    (('object', 'next to'), ('next to', 'beside', 'by'))
    """

    name: str
    roles: tuple[str, ...] = ("object",)
    introductions: tuple[tuple[str, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise SettingError(f"`Verb.name` must be a string such as 'take'; got {self.name!r}.")
        roles: Any = self.roles
        if isinstance(roles, str):
            raise SettingError(
                f"The roles of Verb({self.name!r}) must be a tuple, such as ({roles!r},); got "
                f"the string {roles!r}."
            )
        listed = tuple(
            tuple(word.strip() for word in each.split("|") if word.strip())
            if isinstance(each, str)
            else ()
            for each in roles
        )
        if not listed or not all(listed) or len({each[0] for each in listed}) < len(listed):
            raise SettingError(
                f"The roles of Verb({self.name!r}) must be one or more distinct strings, such as "
                f"('object', 'next to'); got {roles!r}."
            )
        object.__setattr__(self, "roles", tuple(each[0] for each in listed))
        object.__setattr__(self, "introductions", listed)


def check_verbs(world: str, verbs: Any) -> None:
    """Raise `SettingError` unless the verbs of a world are valid.

    >>> check_verbs("Shelf", ("take",))
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Shelf.verbs must be a tuple of Verb, such as (Verb('take'),);
    got ('take',).
    """
    good = isinstance(verbs, (tuple, list)) and all(isinstance(each, Verb) for each in verbs)
    if not good or not verbs:
        raise SettingError(
            f"{world}.verbs must be a tuple of Verb, such as (Verb('take'),); got {verbs!r}."
        )
    names = [each.name for each in verbs]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise SettingError(f"{world}.verbs must have distinct names; got {twice!r} twice.")
