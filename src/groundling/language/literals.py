"""Literals: numbers with units, durations, times of day, ordinals and colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from groundling.language.languages import NEUTRAL, Language

LITERAL_TYPES = ("number", "percentage", "duration", "time", "ordinal", "colour", "text")
"""The types of literals."""

_CLOCK = re.compile(r"([01]?\d|2[0-3])[:.h]([0-5]\d)")
_NUMBER = re.compile(r"[+\-−]?\d{1,9}(?:[.,]\d{1,9})?")
_PARTS = re.compile(r"\d{1,2}[:h]\d{2}|[+\-−]?\d+(?:[.,]\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_MINUS = ("minus", "-", "−")
_DAY = 24 * 60
_LARGEST = 1e15  # larger numbers are ignored, as their sums and multiples may overflow


class Literal(NamedTuple):
    """A value in a text: type, value, unit, and the indices of its words.

    Durations are in seconds, times of day are `"HH:MM"`, and colours are English names.
    """

    type: str
    value: float | str
    unit: str
    places: tuple[int, ...]


class _Part(NamedTuple):
    """A word or a number that is part of a token, with the index of the token."""

    text: str
    place: int


def read_literals(tokens: Sequence[str], language: Language = NEUTRAL) -> tuple[Literal, ...]:
    """Return the literals of a text, from left to right.

    >>> from groundling.language.languages import ENGLISH
    >>> def read(text):
    ...     return [(each.type, each.value, each.unit)
    ...             for each in read_literals(text.split(), ENGLISH)]
    >>> read("set the hall to 21.5 degrees"), read("set it to twenty point five degrees")
    ([('number', 21.5, 'degree')], [('number', 20.5, 'degree')])
    >>> read("dim it to fifty percent in two and a half minutes")
    [('percentage', 50.0, 'percent'), ('duration', 150.0, 'second')]
    >>> read("wake me at half past six pm with the third red lamp")
    [('time', '18:30', ''), ('ordinal', 3.0, ''), ('colour', 'red', '')]
    """
    folded = [language.fold(token) for token in tokens]
    if not any(_may_start(token, language) for token in folded):
        return ()
    parts = [
        _Part(found.group(), place)
        for place, token in enumerate(folded)
        for found in _PARTS.finditer(token)
    ]
    return tuple(_Scanner(parts, language).scan())


def _may_start(word: str, language: Language) -> bool:
    """Return False for words that cannot begin a value.

    This fast test excludes most words.
    """
    return (
        word in language.value_words
        or word in _MINUS
        or not word.isalpha()
        or len(word) == 1
        or any(joint in word for joint in language.joined_numerals)
    )


class _Scanner:
    """A reader of literals, in one pass over the parts of a text."""

    def __init__(self, parts: Sequence[_Part], language: Language) -> None:
        self.parts, self.language = parts, language

    def scan(self) -> Iterator[Literal]:
        at = 0
        while at < len(self.parts):
            if not _may_start(self.parts[at].text, self.language):
                at += 1
                continue
            for read in (self._time, self._duration, self._amount, self._word):
                found = read(at)
                if found is not None:
                    literal, at = found
                    yield literal
                    break
            else:
                at += 1

    def _text(self, at: int) -> str:
        return self.parts[at].text if at < len(self.parts) else ""

    def _literal(self, type_: str, value: float | str, unit: str, start: int, end: int) -> Literal:
        places = dict.fromkeys(part.place for part in self.parts[start:end])
        return Literal(type_, value, unit, tuple(places))

    # ---- numbers --------------------------------------------------------------------------

    def _number(self, at: int) -> tuple[float, int] | None:
        """Read a number in digits or words, such as `21.5` or `a hundred and ten`."""
        if self._text(at) in _MINUS:
            found = self._number(at + 1) if self._text(at + 1) not in _MINUS else None
            return (-found[0], found[1]) if found else None
        if _NUMBER.fullmatch(self._text(at)):
            total, end = float(self._text(at).replace(",", ".").replace("−", "-")), at + 1
        else:
            total, end = self._spelt(at)
        if end == at or abs(total) > _LARGEST:
            return None
        return (
            self._decimals(total, end) if self._text(end) in self.language.points else (total, end)
        )

    def _decimals(self, whole: float, at: int) -> tuple[float, int]:
        """Add the digits after a point, such as `point two five`, to a number."""
        digits, end = "", at + 1
        while len(digits) < 6 and (digit := self.language.numeral(self._text(end))) in range(10):
            digits, end = f"{digits}{digit:.0f}", end + 1
        return (whole + float(f"0.{digits}"), end) if digits else (whole, at)

    def _spelt(self, at: int) -> tuple[float, int]:
        """Read a number in words: tens and units, multiplied by hundreds and thousands."""
        language, total, current, end, last = self.language, 0.0, 0.0, at, 0.0
        while True:
            word, after = self._text(end), end + 1
            if word in language.joints and self._joins(after, last):
                word, after = self._text(after), after + 1
            times = language.multipliers.get(word)
            value = language.numeral(word) if word.isalpha() else None
            if times is not None:
                current, last = (current or 1.0) * times, times
                if times >= 1000:
                    total, current = total + current, 0.0
            elif value is not None and (end == at or (last >= 20 and 0 < value < min(last, 100))):
                current, last = current + value, value
            else:
                return total + current, end
            end = after

    def _joins(self, at: int, last: float) -> bool:
        """Return whether a word continues a number, as in `hundred and ten`."""
        value = self.language.numeral(self._text(at))
        hyphen = not self._text(at - 1).isalpha()
        return value is not None and (last >= 100 or (hyphen and last >= 20)) and value < last

    def _quantity(self, at: int) -> tuple[float, str, int] | None:
        """Read a number with its unit, such as `half an hour`, as (value, unit, end)."""
        language = self.language
        found = self._number(at)
        fraction = language.fractions.get(self._text(at))
        if found is None and fraction is not None:
            end = at + 1
            while self._text(end) in language.articles or self._text(end) in language.partitives:
                end += 1
            unit = self._text(end)
            return (fraction, unit, end + 1) if unit in language.units else (fraction, "", at + 1)
        if found is None and self._text(at) in language.articles:
            if self._text(at + 1) in language.units:
                return self._and_half(1.0, self._text(at + 1), at + 2)
            hundreds = self._number(at + 1)
            found = hundreds if hundreds and hundreds[0] >= 100 else None
        if found is None:
            return None
        value, end = found
        half = self._half(end)
        if half is not None:
            value, end = value + half[0], half[1]
        unit = self._text(end)
        if unit not in language.units:
            return value, "", end
        return self._and_half(value, unit, end + 1)

    def _and_half(self, value: float, unit: str, end: int) -> tuple[float, str, int]:
        half = self._half(end)
        return (value, unit, end) if half is None else (value + half[0], unit, half[1])

    def _half(self, at: int) -> tuple[float, int] | None:
        """Read a fraction added to a number, such as `and a half`."""
        language = self.language
        if self._text(at) not in language.joints:
            return None
        end = at + 1
        while self._text(end) in language.articles:
            end += 1
        fraction = language.fractions.get(self._text(end))
        return None if fraction is None else (fraction, end + 1)

    def _amount(self, at: int) -> tuple[Literal, int] | None:
        found = self._quantity(at)
        if found is None:
            return None
        value, word, end = found
        if self._text(at) in self.language.fractions and not word:
            return self._literal("percentage", 100 * value, "percent", at, end), end
        ending = self._text(end)
        if not word and value == int(value) and ending in self.language.ordinal_endings:
            same = self.parts[end].place == self.parts[end - 1].place
            if same:
                return self._literal("ordinal", value, "", at, end + 1), end + 1
        unit, factor = self.language.units.get(word, ("", 1.0))
        type_ = "percentage" if unit == "percent" else "number"
        return self._literal(type_, value * factor, unit, at, end), end

    def _duration(self, at: int) -> tuple[Literal, int] | None:
        """Read a duration, the sum of consecutive quantities of time."""
        total, end, start = 0.0, at, at
        while True:
            found = self._quantity(end)
            unit, factor = self.language.units.get(found[1], ("", 1.0)) if found else ("", 1.0)
            if found is None or unit != "second":
                break
            total, end = total + found[0] * factor, found[2]
            start, at = start, end
            if self._text(end) in (*self.language.joints, ","):
                end += 1
        return (self._literal("duration", total, "second", start, at), at) if at > start else None

    # ---- times, ordinals, colours -----------------------------------------------------------

    def _time(self, at: int) -> tuple[Literal, int] | None:
        """Read a time of day: `7:30`, `6 pm`, `half past six`, `noon`."""
        language, word = self.language, self._text(at)
        if word in language.times:
            return self._at(language.times[word], at, at + 1)
        clock = _CLOCK.fullmatch(word) if ":" in word or "h" in word else None
        if clock:
            return self._half_day(60 * int(clock[1]) + int(clock[2]), at, at + 1)
        fraction, minutes, end = language.fractions.get(word), None, at
        if fraction is not None:
            minutes, end = 60 * fraction, at + 1
        elif (number := self._number(at)) is not None:
            minutes, end = number
            if self._text(end) in language.half_days and 0 < minutes <= 12:
                return self._half_day(60 * int(minutes), at, end)
            if self._text(end) in language.hour_words:
                return self._half_day(60 * int(minutes), at, end + 1)
            if language.units.get(self._text(end), ("", 0))[1] == 60:
                end += 1
        if minutes is None or self._text(end) not in language.clock_words:
            return None
        sign = language.clock_words[self._text(end)]
        hour = self._number(end + 1)
        if hour is None or not 0 <= hour[0] <= 24 or not 0 < minutes < 60:
            return None
        return self._half_day(int(60 * hour[0] + sign * minutes), at, hour[1])

    def _half_day(self, minutes: int, at: int, end: int) -> tuple[Literal, int]:
        shift = self.language.half_days.get(self._text(end))
        if shift is not None:
            minutes, end = minutes % (_DAY // 2) + int(60 * shift), end + 1
        return self._at(minutes, at, end)

    def _at(self, minutes: float, at: int, end: int) -> tuple[Literal, int]:
        hours, rest = divmod(int(minutes) % _DAY, 60)
        return self._literal("time", f"{hours:02}:{rest:02}", "", at, end), end

    def _word(self, at: int) -> tuple[Literal, int] | None:
        word = self._text(at)
        if (place := self.language.ordinal(word)) is not None:
            return self._literal("ordinal", place, "", at, at + 1), at + 1
        if (colour := self.language.colours.get(word)) is not None:
            return self._literal("colour", colour, "", at, at + 1), at + 1
        return None
