"""Languages: their numerals, plurals, function words and sentence rules.

No other module contains words of any language. `NEUTRAL` has only language-independent rules;
`ENGLISH` is built in (`english.toml`). Define other languages as a `Language`, in Python or in a
file.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from groundling.errors import SettingError, did_you_mean
from groundling.files import read_plain
from groundling.limits import LANGUAGE_BYTES

_DIGITS = re.compile(r"\d{1,9}([.٫]\d{1,9})?")
Segmenter = Callable[[str], list[str]]


@dataclass(frozen=True)
class Language:
    """Word lists and rules of one language; neutral by default.

    Parameters
    ----------
    name
        Name of the language, as used by parsers and model files.
    numerals, ordinals
        Number words and their values. Digits of any script are always recognised.
    joined_numerals
        Characters that join two numerals into their sum (`twenty-three`).
    units
        Unit words, each with its base unit and the factor (`"minutes": ("second", 60)`). The base
        units `percent` and `second` give percentages and durations.
    multipliers
        Words that multiply the numeral before them (`two hundred`).
    points
        Words between a number and its decimal digits (`twenty point five`).
    fractions, articles, partitives, joints, exceptions
        Words for fractions (`half`), for a single unit (`an hour`), between fraction and unit
        (`of`), between summands (`and`), and before an exception (`except`).
    connectives
        Words between commands (`and`, `then`).
    universals, complements, restrictives, indefinites, negations
        Words for all things (`every`), the remaining ones (`the other`), no others (`only`), any
        of them (`a`), and none of them (`neither`).
    times, half_days, hour_words, clock_words
        Named times of day in minutes (`noon`), offsets of day halves in hours (`pm`), words after
        a full hour (`o'clock`), and the sign of minutes relative to an hour (`past`, `to`).
    colours
        Colour words, each with the English name.
    ordinal_endings
        Suffixes that make digits an ordinal (`2nd`).
    plurals
        Plural (and case) endings, each with its replacement in the singular. The first match gives
        the singular. Names and lexicon entries match without any of these endings.
    stop_words
        Words with little meaning, which some settings drop.
    function_words
        Function words and polite words, which never count as unknown.
    greetings
        Words of greetings and thanks. A text with no other words contains no request.
    addressed
        Words for the addressee (`you`). Clauses with another subject are not commands.
    forecasts
        Auxiliaries for the future or possibility (`will`, `can`), which mark statements.
    abbreviations
        Abbreviations whose full stop does not end a sentence, written without the full stop.
    sentence_ends
        Further characters that end a sentence.
    phrases
        Phrases of an agent with placeholders, such as `"which": "Which {thing}: {options}?"`.
        Default: the tables in `groundling.dialogue.phrases`.
    replies
        Words or phrases of replies to a question, by meaning: `yes`, `no`, `not`, `all`, `none`,
        `cancel`, `first`, `last`, and `filler` for words without meaning.
    cased
        Whether the script has upper and lower case, which are then treated as equal.
    spellings
        Letters that are often written as another letter, each with the usual one. Words are
        compared in the usual spelling.
    spaced
        Whether words are separated by spaces. If not, every character is a word, unless
        `segment` is set.
    segment
        A function from a sentence to its words, such as a tokeniser.

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
    units: Mapping[str, tuple[str, float]] = field(default_factory=lambda: {"%": ("percent", 1.0)})
    multipliers: Mapping[str, float] = field(default_factory=dict)
    fractions: Mapping[str, float] = field(default_factory=dict)
    articles: tuple[str, ...] = ()
    partitives: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    connectives: tuple[str, ...] = ()
    universals: tuple[str, ...] = ()
    complements: tuple[str, ...] = ()
    restrictives: tuple[str, ...] = ()
    indefinites: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)
    half_days: Mapping[str, float] = field(default_factory=dict)
    hour_words: tuple[str, ...] = ()
    clock_words: Mapping[str, float] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)
    ordinal_endings: tuple[str, ...] = ()
    plurals: tuple[tuple[str, str], ...] = ()
    stop_words: tuple[str, ...] = ()
    function_words: tuple[str, ...] = ()
    greetings: tuple[str, ...] = ()
    addressed: tuple[str, ...] = ()
    forecasts: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    sentence_ends: str = ""
    phrases: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cased: bool = True
    spellings: Mapping[str, str] = field(default_factory=dict)
    spaced: bool = True
    segment: Segmenter | None = None

    def __post_init__(self) -> None:
        readers = {
            "str": _string, "Mapping[str, float]": self._numbers, "tuple[str, ...]": self._words,
        }  # fmt: skip
        with _must("Language.spellings must map single letters to letters"):
            self._set("spellings", {str(a): str(b) for a, b in self.spellings.items()})
            str.maketrans(dict(self.spellings))
        for each in fields(self):
            if read := readers.get(str(each.type)):
                self._set(each.name, read(f"Language.{each.name}", getattr(self, each.name)))
        with _must(
            "Language.units must map words to a base unit and a number, such as "
            "{'minutes': ('second', 60)}, and colours words to names"
        ):
            units = ((self.fold(str(word)), *each) for word, each in self.units.items())
            self._set(
                "units",
                {word: (str(unit), _finite("Language.units", size)) for word, unit, size in units},
            )
            self._set("colours", {self.fold(str(a)): str(b) for a, b in self.colours.items()})
        with _must(
            "Language.phrases must map names to texts, and replies meanings to lists of words"
        ):
            self._set("phrases", {str(name): str(text) for name, text in self.phrases.items()})
            said = ((str(meaning), words) for meaning, words in self.replies.items())
            self._set(
                "replies",
                {name: self._words(f"Language.replies[{name!r}]", words) for name, words in said},
            )
        with _must(
            f"Language.plurals must be pairs such as ('ies', 'y'); got {self.plurals!r:.60}"
        ):
            self._set("plurals", tuple((str(a), str(b)) for a, b in self.plurals))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _numbers(self, name: str, table: Any) -> dict[str, float]:
        rule = f"{name} must map words to numbers"
        if not isinstance(table, Mapping):
            raise SettingError(f"{rule}, such as {{'two': 2}}; got {table!r}.")
        with _must(rule):
            return {self.fold(str(word)): _finite(name, number) for word, number in table.items()}

    def _words(self, name: str, words: Any) -> tuple[str, ...]:
        words = (words,) if isinstance(words, str) else words
        if not isinstance(words, Iterable):
            raise SettingError(f"{name} must be a list of words; got {words!r:.60}.")
        return tuple(self.fold(str(word)) for word in words)

    def __hash__(self) -> int:
        return hash(self.name)

    # ---- words --------------------------------------------------------------------------

    @cached_property
    def plain_words(self) -> frozenset[str]:
        """Words that name nothing on their own, such as *the*, *every* and *except*.

        >>> {"the", "every", "except"} <= ENGLISH.plain_words, "lamp" in ENGLISH.plain_words
        (True, False)
        """
        return frozenset((
            *self.stop_words, *self.function_words, *self.universals, *self.complements,
            *self.restrictives, *self.indefinites, *self.exceptions, *self.connectives,
        ))  # fmt: skip

    @cached_property
    def value_words(self) -> frozenset[str]:
        """Words that can begin a value, such as a number, a time of day or a colour.

        >>> {"two", "half", "noon", "red"} <= ENGLISH.value_words, "lamp" in ENGLISH.value_words
        (True, False)
        """
        return frozenset((
            *self.numerals, *self.multipliers, *self.fractions, *self.articles, *self.times,
            *self.ordinals, *self.colours,
        ))  # fmt: skip

    def fold(self, word: str) -> str:
        """Return the form of a word that is used for comparison: lower case, if `cased`.

        >>> ENGLISH.fold("Left"), Language("exact", cased=False).fold("Left")
        ('left', 'Left')
        >>> Language("german", spellings={"ß": "ss"}).fold("Straße")
        'strasse'
        """
        folded = word.lower() if self.cased else word
        return folded.translate(self._letters) if self.spellings else folded

    @cached_property
    def _letters(self) -> dict[int, str]:
        return str.maketrans(dict(self.spellings))

    def singular(self, word: str) -> str:
        """Return the singular of a word, or the word itself if it has no plural ending.

        >>> [ENGLISH.singular(word) for word in ("halls", "butterflies", "sofa")]
        ['hall', 'butterfly', 'sofa']
        """
        for ending, instead in self.plurals:
            if word.endswith(ending) and len(word) > len(ending):
                return word[: -len(ending)] + instead
        return word

    def stems(self, word: str) -> tuple[str, ...]:
        """Return the possible stems of a word, one for each ending that it has.

        >>> Language("german", plurals=(("en", ""), ("n", ""))).stems("roten")
        ('rot', 'rote')
        """
        return tuple(
            word[: -len(ending)] + instead
            for ending, instead in self.plurals
            if ending and word.endswith(ending) and len(word) > len(ending)
        )

    def numeral(self, word: str) -> float | None:
        """Return the value of a numeral in words or digits of any script, or else None.

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

    def numerals_in(self, words: Sequence[str]) -> list[tuple[int, int, float]]:
        """Return the numbers of several words, as (start, end, value) tuples.

        >>> ENGLISH.numerals_in("set it to one hundred twenty five or to 20".split())
        [(3, 7, 125.0)]
        """
        values = [self.numeral(word) if word.isalpha() else None for word in words]
        found, start = [], 0
        while start < len(words):
            end, total = start + 1, values[start]
            while total is not None and end < len(words):
                value, times = values[end], self.multipliers.get(self.fold(words[end]))
                if times is not None and total % times:
                    total *= times
                elif (
                    value
                    and (total % 100 == 0 or (total % 10 == 0 and value < 10))
                    and (0 < value < total)
                ):
                    total += value
                else:
                    break
                end += 1
            if total is not None and end > start + 1:
                found.append((start, end, total))
            start = end
        return found

    def ordinal(self, word: str) -> float | None:
        """Return the value of a word that is an ordinal, or else None.

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
        """Return the settings that differ from their defaults, as a dictionary for files.

        >>> Language("elvish", numerals={"tad": 2}).to_dict()
        {'name': 'elvish', 'numerals': {'tad': 2.0}}
        """
        if self.segment is not None:
            raise SettingError(
                "A language that is saved to a file must not have a `segment` function; got "
                f"{self.name!r}, which has one. Save the language without it."
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
        """Restore a language from the output of `to_dict`.

        >>> Language.from_dict({"name": "elvish", "numerals": {"tad": 2}}).numeral("tad")
        2.0
        """
        known = [each.name for each in fields(cls) if each.name != "segment"]
        for name in data:
            if name not in known:
                raise SettingError(f"A language has no field {name!r}.{did_you_mean(name, known)}")
        return cls(**dict(data))

    @classmethod
    def read(cls, path: str | Path) -> Language:
        """Read a language from a JSON file that contains the output of `to_dict`."""
        try:
            data = json.loads(read_plain(Path(path), LANGUAGE_BYTES, SettingError, links=True))
            if not isinstance(data, dict):
                raise ValueError(f"The file must contain a JSON object; got {type(data).__name__}.")
        except (ValueError, RecursionError) as error:
            raise SettingError(
                f"The language in {path} cannot be read ({str(error).rstrip('.')}). Correct the "
                "file."
            ) from error
        return cls.from_dict({"name": Path(path).stem, **data})


@contextmanager
def _must(rule: str) -> Iterator[None]:
    """Raise `SettingError` with the given rule if the block raises an error."""
    try:
        yield
    except SettingError:
        raise
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise SettingError(f"{rule}: {error}.") from error


def _string(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise SettingError(f"{name} must be a string; got {str(value)[:60]!r}.")
    return value


def _finite(name: str, number: Any) -> float:
    if not math.isfinite(value := float(number)):
        raise SettingError(f"The numbers in {name} must be finite; got {value}. Correct the entry.")
    return value


def _character_value(character: str) -> float | None:
    """Return the numeric value of a character such as ½ or 三.

    Returns None for a letter, and for a superscript such as ².
    """
    if unicodedata.decomposition(character).startswith(("<super>", "<sub>")):
        return None
    return unicodedata.numeric(character, None)


NEUTRAL = Language()
"""Language-independent rules: digits are numbers, and marks of all scripts end sentences."""

ENGLISH = Language.from_dict(
    tomllib.loads((files("groundling.language") / "english.toml").read_text("utf-8"))
)
"""English, the language of the shipped parser."""

LANGUAGES: Mapping[str, Language] = {each.name: each for each in (NEUTRAL, ENGLISH)}
"""Built-in languages by name."""


def load_language(name: str | Language) -> Language:
    """Load a language by name or file path; a `Language` is returned unchanged.

    >>> load_language("english").numeral("two")
    2.0
    >>> load_language("englsh")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: A language must be a known name or the path of a file; got
    'englsh'. Did you mean 'english'?
    """
    if isinstance(name, Language):
        return name
    if name in LANGUAGES:
        return LANGUAGES[name]
    if Path(name).is_file():
        return Language.read(name)
    raise SettingError(
        f"A language must be a known name or the path of a file; got {str(name)!r}."
        f"{did_you_mean(name, LANGUAGES)}"
    )
