"""Checks of untrusted model files: types, ranges, and safe regular expressions.

Settings in a model file are checked more strictly than settings written in code. A malicious file
must not be able to hang the process or exhaust its memory.
"""

from __future__ import annotations

import re
from typing import Any

from groundling.errors import ModelFileError
from groundling.limits import SETTING_CHARACTERS, SETTING_ENTRIES

# Ranges of settings that determine run time or memory; other numbers: ±1e15.
_RANGES: dict[str, tuple[float, float]] = {
    "max_length": (1, 10_000),
    "min_length": (1, 10_000),
    "beam": (1, 100_000),
    "budget": (1, 10_000_000),
    "iterations": (1, 1_000_000),
    "restarts": (1, 10_000),
    "rounds": (1, 10_000),
    "alternations": (1, 10_000),
    "alternatives": (1, 1_000_000),
    "threads": (1, 1_024),
    "seed": (0, 2**63 - 1),
    "temperature": (1e-6, 1e6),
    "longest": (0, 1_000_000),
}
_WHOLE = ("seed", "threads")
_PATTERNS = ("include", "exclude")
_MOST_LEVELS = 8  # deeper than any valid settings


def check_settings(content: Any, name: str = "settings", level: int = 0) -> None:
    """Raise an error for settings that are invalid, or could make fitting too slow.

    >>> check_settings({"search": {"max_length": 1_000_000_000}})
    Traceback (most recent call last):
        ...
    ValueError: `max_length` must be between 1 and 10000; got 1000000000.
    """
    if level > _MOST_LEVELS:
        raise ValueError(f"`{name}` must be nested at most {_MOST_LEVELS} levels deep; got more.")
    if name in _WHOLE and type(content) is not int:
        raise ValueError(f"`{name}` must be a whole number; got {str(content)[:60]!r}.")
    if name in _RANGES and isinstance(content, bool):
        raise ValueError(f"`{name}` must be a number; got {content}.")
    if isinstance(content, str):
        SETTING_CHARACTERS.check(len(content), ModelFileError, name)
        if name in _PATTERNS:
            check_pattern(content)
    elif isinstance(content, (int, float)) and not isinstance(content, bool):
        low, high = _RANGES.get(name, (-1e15, 1e15))
        if not low <= content <= high:
            raise ValueError(f"`{name}` must be between {low:g} and {high:g}; got {content}.")
    elif isinstance(content, (dict, list)):
        SETTING_ENTRIES.check(len(content), ModelFileError, name)
        for key, value in content.items() if isinstance(content, dict) else (
            (name, value) for value in content
        ):  # fmt: skip
            check_settings(value, str(key)[:60], level + 1)


_TOKEN = re.compile(
    r"""(?P<escape>\\.)
    |(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
    |(?P<other>\(\?(?!:|=|!|<=|<!))
    |(?P<open>\((?:\?(?::|=|!|<=|<!))?)
    |(?P<close>\))
    |(?P<repeat>(?:[*+?]|\{[0-9]*,?[0-9]*\})[?+]?)
    |(?P<or>\|)
    |(?P<plain>.)""",
    re.X | re.S,
)


def check_pattern(pattern: str) -> None:
    r"""Raise an error for a regular expression that could backtrack exponentially.

    Alternatives, character sets, anchors and a few repetitions of single characters are
    allowed; repeated groups and back references are not.

    >>> check_pattern(r"^string∈|^word=(North|South) ∧ (to\.|from\.)?side=")
    >>> check_pattern("(a+)+$")
    Traceback (most recent call last):
        ...
    ValueError: The pattern '(a+)+$' must not repeat a group.
    """
    steps, depth, before = 1.0, 0, ""
    for match in _TOKEN.finditer(pattern):
        kind, text = str(match.lastgroup), match[0]
        if kind == "other" or (kind == "escape" and text[1] in "123456789"):
            raise ValueError(
                f"The pattern {pattern[:60]!r} must not use flags, named groups or back references."
            )
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "or" and depth:
            steps *= 2  # branches to continue from after the group
        elif kind == "repeat":
            if before == "repeat" or (before == "close" and text[:1] != "?"):
                raise ValueError(f"The pattern {pattern[:60]!r} must not repeat a group.")
            steps *= 2 if text[:1] == "?" else 200
        if depth > 20:
            raise ValueError(
                f"The pattern {pattern[:60]!r} must be nested at most 20 levels deep; got more."
            )
        if steps > 1e9:
            raise ValueError(
                f"The pattern {pattern[:60]!r} must have fewer repetitions, which take too long to "
                "match."
            )
        before = kind
