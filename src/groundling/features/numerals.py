"""Numerals and ordinals of English, by value."""

from __future__ import annotations

import re

__all__ = ["numeral", "ordinal"]

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMERALS = {word: float(value) for value, word in enumerate(_UNITS)}
_NUMERALS |= {word: float(10 * value) for value, word in enumerate(_TENS, 2)}
_NUMERALS |= {"once": 1.0, "twice": 2.0, "thrice": 3.0, "both": 2.0}
_NTH = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth"),
)
_ORDINALS = {word: float(value) for value, word in enumerate(_NTH, 1)}
_DIGITS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_DIGIT_ORDINAL = re.compile(r"([0-9]{1,9})(st|nd|rd|th)")


def numeral(word: str) -> float | None:
    """Return the value of a numeral, or nothing.

    >>> numeral("two"), numeral("7"), numeral("twenty-three"), numeral("sofa")
    (2.0, 7.0, 23.0, None)
    """
    word = word.lower()
    if _DIGITS.fullmatch(word):
        return float(word)
    if "-" in word:
        tens, _, units = word.partition("-")
        if tens in _TENS and units in _UNITS[1:10]:
            return _NUMERALS[tens] + _NUMERALS[units]
    return _NUMERALS.get(word)


def ordinal(word: str) -> float | None:
    """Return the value of an ordinal, or nothing.

    >>> ordinal("third"), ordinal("2nd"), ordinal("two")
    (3.0, 2.0, None)
    """
    word = word.lower()
    found = _DIGIT_ORDINAL.fullmatch(word)
    return float(found[1]) if found else _ORDINALS.get(word)
