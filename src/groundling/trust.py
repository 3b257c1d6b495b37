"""What a model file may ask for: types, ranges, and regular expressions that always end.

Settings that a user writes are checked where they are given. Those of a file may come from
anybody, so that more is asked of them: nothing in it may make us wait or run out of memory.
"""

from __future__ import annotations

import re
from typing import Any

from groundling.errors import ModelFileError
from groundling.limits import SETTING_CHARACTERS, SETTING_ENTRIES

# The least and the most of what decides how long something takes; other numbers: ±1e15.
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
_MOST_LEVELS = 8  # as many as settings of ours have, and some


def check_settings(content: Any, name: str = "settings", level: int = 0) -> None:
    """Refuse settings that no follower has, or that would never end.

    >>> check_settings({"search": {"max_length": 1_000_000_000}})
    Traceback (most recent call last):
        ...
    ValueError: max_length is 1000000000, but it is between 1 and 10000
    """
    if level > _MOST_LEVELS:
        raise ValueError(f"{name} is nested too deep")
    if name in _WHOLE and type(content) is not int:
        raise ValueError(f"{name} is {str(content)[:60]!r}, but it is a whole number")
    if name in _RANGES and isinstance(content, bool):
        raise ValueError(f"{name} is {content}, but it is a number")
    if isinstance(content, str):
        SETTING_CHARACTERS.check(len(content), ModelFileError, name)
        if name in _PATTERNS:
            check_pattern(content)
    elif isinstance(content, (int, float)) and not isinstance(content, bool):
        low, high = _RANGES.get(name, (-1e15, 1e15))
        if not low <= content <= high:
            raise ValueError(f"{name} is {content}, but it is between {low:g} and {high:g}")
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
    r"""Refuse a regular expression that might take for ever.

    What is left is what filters of names need: alternatives, sets, anchors, and a few
    repetitions of single characters. Groups are not repeated, and nothing refers back.

    >>> check_pattern(r"^string∈|^word=(North|South) ∧ (to\.|from\.)?side=")
    >>> check_pattern("(a+)+$")
    Traceback (most recent call last):
        ...
    ValueError: the pattern '(a+)+$' repeats a group, which may never end
    """
    steps, depth, before = 1.0, 0, ""
    for match in _TOKEN.finditer(pattern):
        kind, text = str(match.lastgroup), match[0]
        if kind == "other" or (kind == "escape" and text[1] in "123456789"):
            raise ValueError(f"the pattern {pattern[:60]!r} uses flags, names or back references")
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "or" and depth:
            steps *= 2  # ways to go on after the group
        elif kind == "repeat":
            if before == "repeat" or (before == "close" and text[:1] != "?"):
                raise ValueError(
                    f"the pattern {pattern[:60]!r} repeats a group, which may never end"
                )
            steps *= 2 if text[:1] == "?" else 200
        if depth > 20:
            raise ValueError(f"the pattern {pattern[:60]!r} is nested too deep")
        if steps > 1e9:
            raise ValueError(f"the pattern {pattern[:60]!r} may take for ever")
        before = kind
