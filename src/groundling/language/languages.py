"""What is particular to one language: its numerals, plurals, stop words, forecasts, sentences.

Nothing else in the package knows a word of any language. `NEUTRAL` is what holds in all of
them; `ENGLISH` is one instance. Another one is a `Language` of your own, in Python or as a file.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from groundling.errors import SettingError, did_you_mean

__all__ = ["ENGLISH", "LANGUAGES", "NEUTRAL", "Language", "load_language"]

_DIGITS = re.compile(r"\d{1,9}([.٫]\d{1,9})?")
_LONGEST_FILE = 1_000_000
Segmenter = Callable[[str], list[str]]


@dataclass(frozen=True)
class Language:
    """What the core asks of a language; whatever is left out is as in no language in particular.

    Parameters
    ----------
    name
        What it is called; parsers and model files name it.
    numerals, ordinals
        Words and the numbers they stand for. Digits of any script are always read.
    joined_numerals
        Characters that join two numerals into their sum (`twenty-three`).
    ordinal_endings
        What makes digits an ordinal (`2nd`).
    plurals
        Endings of plurals, and of cases where there are some, each with what stands in the
        singular instead; the first that a word has is taken. Names of labels and words of a
        lexicon are found with them and without.
    stop_words
        Words that say nothing of what is to be done, for settings that ask for them.
    addressed
        Words for the one who is told what to do; clauses about others are no commands.
    forecasts
        Auxiliaries of what will or may be, rather than of what is to be done.
    abbreviations
        Words whose full stop does not end a sentence, without it.
    sentence_ends
        Further characters that end a sentence.
    cased
        Whether capital and small letters are the same letters.
    spaced
        Whether words are written apart. If not, every character is a word, unless `segment`
        cuts them.
    segment
        A function from a sentence to its words, such as a tokeniser that you have.

    Examples
    --------
    >>> elvish = Language("elvish", numerals={"min": 1, "tad": 2}, plurals=(("in", ""),))
    >>> elvish.numeral("tad"), elvish.numeral("٣"), elvish.numeral("mellon")
    (2.0, 3.0, None)
    >>> elvish.singular("edhelin")
    'edhel'
    """

    name: str = "neutral"
    numerals: Mapping[str, float] = field(default_factory=dict)
    ordinals: Mapping[str, float] = field(default_factory=dict)
    joined_numerals: str = ""
    ordinal_endings: tuple[str, ...] = ()
    plurals: tuple[tuple[str, str], ...] = ()
    stop_words: tuple[str, ...] = ()
    addressed: tuple[str, ...] = ()
    forecasts: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    sentence_ends: str = ""
    cased: bool = True
    spaced: bool = True
    segment: Segmenter | None = None

    def __post_init__(self) -> None:
        for name in ("numerals", "ordinals"):
            table = getattr(self, name)
            if not isinstance(table, Mapping):
                raise SettingError(
                    f"Language.{name} maps words to numbers, such as {{'two': 2}}, not {table!r}."
                )
            try:
                read = {self.fold(str(word)): float(number) for word, number in table.items()}
            except (TypeError, ValueError) as error:
                raise SettingError(f"Language.{name} maps words to numbers: {error}.") from error
            object.__setattr__(self, name, read)
        object.__setattr__(self, "plurals", tuple((str(a), str(b)) for a, b in self.plurals))
        for name in ("ordinal_endings", "stop_words", "addressed", "forecasts", "abbreviations"):
            words = getattr(self, name)
            words = (words,) if isinstance(words, str) else words
            object.__setattr__(self, name, tuple(self.fold(str(word)) for word in words))

    def __hash__(self) -> int:
        return hash(self.name)

    # ---- words --------------------------------------------------------------------------

    def fold(self, word: str) -> str:
        """Return a word as it is compared: in small letters, where these are the same.

        >>> ENGLISH.fold("Left"), Language("exact", cased=False).fold("Left")
        ('left', 'Left')
        """
        return word.lower() if self.cased else word

    def singular(self, word: str) -> str:
        """Return a word without the ending of a plural, if it has one.

        >>> [ENGLISH.singular(word) for word in ("halls", "butterflies", "sofa")]
        ['hall', 'butterfly', 'sofa']
        """
        for ending, instead in self.plurals:
            if word.endswith(ending) and len(word) > len(ending):
                return word[: -len(ending)] + instead
        return word

    def stems(self, word: str) -> tuple[str, ...]:
        """Return what a word may be without its ending: one for each ending that it has.

        >>> Language("german", plurals=(("en", ""), ("n", ""))).stems("roten")
        ('rot', 'rote')
        """
        return tuple(
            word[: -len(ending)] + instead
            for ending, instead in self.plurals
            if ending and word.endswith(ending) and len(word) > len(ending)
        )

    def numeral(self, word: str) -> float | None:
        """Return the value of a numeral, or nothing; digits of any script are numerals.

        >>> ENGLISH.numeral("two"), NEUTRAL.numeral("7"), ENGLISH.numeral("twenty-three")
        (2.0, 7.0, 23.0)
        >>> NEUTRAL.numeral("½"), NEUTRAL.numeral("三"), NEUTRAL.numeral("two")
        (0.5, 3.0, None)
        """
        word = self.fold(word)
        if _DIGITS.fullmatch(word):
            plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else "." for c in word)
            return float(plain)
        found = self.numerals.get(word)
        if found is None and len(word) == 1:
            found = _character_value(word)
        if found is None:
            for joint in self.joined_numerals:
                first, _, last = word.partition(joint)
                if first in self.numerals and last in self.numerals:
                    tens, units = self.numerals[first], self.numerals[last]
                    # “twenty-three”, not “two-three”
                    if tens >= 20 and 10 > units > 0 and tens % 10 == 0:
                        return tens + units
        return found

    def ordinal(self, word: str) -> float | None:
        """Return the value of an ordinal, or nothing.

        >>> ENGLISH.ordinal("third"), ENGLISH.ordinal("2nd"), ENGLISH.ordinal("two")
        (3.0, 2.0, None)
        """
        word = self.fold(word)
        for ending in self.ordinal_endings:
            digits = word.removesuffix(ending)
            if digits != word and digits.isdecimal() and len(digits) < 10:
                return float(digits)
        return self.ordinals.get(word)

    # ---- files --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the language by its parts, as files keep it; a function cannot be kept.

        >>> Language("elvish", numerals={"tad": 2}).to_dict()
        {'name': 'elvish', 'numerals': {'tad': 2.0}}
        """
        if self.segment is not None:
            raise SettingError(
                f"The language {self.name!r} cuts words by a function, which no file can keep."
            )
        neutral = Language()
        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: value
            for name, value in parts.items()
            if name == "name" or value != getattr(neutral, name)
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Language:
        """Return the language that `to_dict` described.

        >>> Language.from_dict({"name": "elvish", "numerls": {}})
        Traceback (most recent call last):
            ...
        groundling.errors.SettingError: A language has no part 'numerls'. Did you mean ...
        """
        known = [each.name for each in fields(cls) if each.name != "segment"]
        for name in data:
            if name not in known:
                raise SettingError(f"A language has no part {name!r}.{did_you_mean(name, known)}")
        return cls(**dict(data))

    @classmethod
    def read(cls, path: str | Path) -> Language:
        """Read a language from a JSON file: an object of its parts, such as `to_dict` returns."""
        try:
            with Path(path).open(encoding="utf-8") as file:
                data = json.loads(file.read(_LONGEST_FILE))
            if not isinstance(data, dict):
                raise ValueError(f"it holds a {type(data).__name__} instead of an object")
        except (OSError, ValueError, RecursionError) as error:
            raise SettingError(f"The language in {path} cannot be read: {error}.") from error
        return cls.from_dict({"name": Path(path).stem, **data})


def _character_value(character: str) -> float | None:
    """Return the number that a character is (½, 三), unless it only marks another (x²)."""
    if unicodedata.decomposition(character).startswith(("<super>", "<sub>")):
        return None
    return unicodedata.numeric(character, None)


_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NTH = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth"),
)

NEUTRAL = Language()
"""What holds in every language: digits are numbers, marks of all scripts end sentences."""

ENGLISH = Language(
    "english",
    numerals={
        **{word: value for value, word in enumerate(_UNITS)},
        **{word: 10 * value for value, word in enumerate(_TENS, 2)},
        "once": 1,
        "twice": 2,
        "thrice": 3,
        "both": 2,
    },
    ordinals={word: value for value, word in enumerate(_NTH, 1)},
    joined_numerals="-",
    ordinal_endings=("st", "nd", "rd", "th"),
    plurals=(("ies", "y"), ("s", "")),
    stop_words=("the", "a", "an"),
    addressed=("you", "u"),
    forecasts=(
        *("will", "'ll", "ll", "would", "can", "could", "may", "might", "have", "'ve", "has"),
    ),
    abbreviations=("e.g", "i.e", "approx", "vs", "mr", "mrs", "ms", "dr"),
)
"""English, as the shipped parser reads it."""

LANGUAGES: Mapping[str, Language] = {each.name: each for each in (NEUTRAL, ENGLISH)}
"""The languages known by name."""


def load_language(name: str | Language) -> Language:
    """Return a language by its name or the path of its file; a language itself as it is.

    >>> load_language("english").numeral("two")
    2.0
    >>> load_language("englsh")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: 'englsh' is neither a language nor a file with one. Did you
    mean 'english'?
    """
    if isinstance(name, Language):
        return name
    if name in LANGUAGES:
        return LANGUAGES[name]
    if Path(name).is_file():
        return Language.read(name)
    raise SettingError(
        f"{str(name)!r} is neither a language nor a file with one.{did_you_mean(name, LANGUAGES)}"
    )
