"""Limits on what is read: one table for the library, its files, the studio and the service."""

from __future__ import annotations

import os
from dataclasses import dataclass

from groundling.errors import GroundlingError, SettingError

__all__ = [
    "CHECKPOINT_BYTES", "EMPTY_LINES", "EQUAL_HASHES", "EXPANSION", "GROUP_VALUES", "IMPORT_BYTES",
    "IMPORT_RECORDS", "LIMITS", "LINE_BYTES", "PAGE_BYTES", "PLAN_ACTIONS", "SAID_ACTIONS",
    "SAID_CHARACTERS", "SAID_SENTENCES", "TEXT_CHARACTERS", "TEXT_WORDS", "Limit",
]  # fmt: skip

_VARIABLE = "GROUNDLING_LIMIT_"

LIMITS: dict[str, Limit] = {}
"""All limits by name; `docs/reliability.md` lists them."""


@dataclass(frozen=True)
class Limit:
    """The most of something that is read; a variable of the environment raises it.

    Parameters
    ----------
    name
        Names the limit in messages; the variable is `GROUNDLING_LIMIT_` and the name in capitals.
    default
        The most, unless the variable says otherwise.
    what
        What is counted, in the plural.

    Examples
    --------
    >>> words = Limit("words", 10_000, "words")
    >>> words.check(10_000, SettingError)
    >>> words.check(10_001, SettingError, "The text 'go, go, …'")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: The text 'go, go, …' must have at most 10,000 words; got
    10,001. Set GROUNDLING_LIMIT_WORDS to raise the limit.
    """

    name: str
    default: int
    what: str

    @property
    def variable(self) -> str:
        """The variable of the environment that raises this limit."""
        return _VARIABLE + self.name.upper()

    @property
    def most(self) -> int:
        """The limit as it stands now."""
        given = os.environ.get(self.variable)
        if given is None:
            return self.default
        try:
            found = int(given.replace("_", ""))
        except ValueError:
            found = 0
        if found < 1:
            raise SettingError(f"{self.variable} must be a whole number above 0; got {given!r}.")
        return found

    @property
    def advice(self) -> str:
        """What to do where the limit is too low."""
        return f"Set {self.variable} to raise the limit."

    def check(self, count: int, error: type[GroundlingError], thing: str = "It") -> None:
        """Raise an error of a kind if there are more than the limit allows."""
        if count > self.most:
            raise self.exceeded(f"{count:,}", error, thing)

    def exceeded(
        self, got: str, error: type[GroundlingError], thing: str = "It"
    ) -> GroundlingError:
        """Return the error that says so; `got` is how many there are."""
        return error(
            f"{thing} must have at most {self.most:,} {self.what}; got {got}. {self.advice}"
        )


def _limit(name: str, default: int, what: str) -> Limit:
    LIMITS[name] = Limit(name, default, what)
    return LIMITS[name]


# Texts and plans, wherever they come from.
TEXT_CHARACTERS = _limit("text_characters", 100_000, "characters")
TEXT_WORDS = _limit("text_words", 10_000, "words")
PLAN_ACTIONS = _limit("plan_actions", 8_000, "actions")
# Values in JSON. Items of equal hash are compared with each other: their cost is quadratic.
EQUAL_HASHES = _limit("equal_hashes", 256, "different values with the same hash")
# Files of demonstrations.
LINE_BYTES = _limit("line_bytes", 16 * 2**20, "bytes")
EMPTY_LINES = _limit("empty_lines", 100_000, "empty lines")
EXPANSION = _limit("expansion", 250, "bytes for each compressed byte")
PAGE_BYTES = _limit("page_bytes", 64 * 2**20, "bytes in a page")
GROUP_VALUES = _limit("group_values", 10_000_000, "values in a row group")
# Files of models.
CHECKPOINT_BYTES = _limit("checkpoint_bytes", 2**31, "bytes")
# What the studio imports at once.
IMPORT_BYTES = _limit("import_bytes", 20_000_000, "bytes")
IMPORT_RECORDS = _limit("import_records", 20_000, "demonstrations")
# What is said and shown at once, in the studio and to the service.
SAID_CHARACTERS = _limit("said_characters", 4_000, "characters")
SAID_SENTENCES = _limit("said_sentences", 30, "sentences")
SAID_ACTIONS = _limit("said_actions", 100, "actions")
