"""The lexicon: which words stand for which values of labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rapidfuzz.distance import OSA

from groundling.errors import LexiconError
from groundling.features.labels import NUMBER, ORDINAL
from groundling.features.name_index import NameIndex
from groundling.files import read_plain
from groundling.language.languages import NEUTRAL, Language
from groundling.limits import LEXICON_BYTES

Meaning = tuple[str, str | float]
"""A kind of value and a value of it, such as `("item", "sofa")` or `("number", 2.0)`."""


def matches_name(
    word: str, value: str, *, rare: bool = False, language: Language = NEUTRAL
) -> bool:
    """Tell whether a word is a spelling of a value's name.

    Equal, or a shared stem (a plural counts as its singular) of at least four letters as prefix
    or suffix; rare words may
    also differ by one edit if they have five letters or more and start alike. A name of
    several words is matched by any of them.

    >>> [matches_name(word, "brick") for word in ("brick", "bricks", "bricked", "black")]
    [True, True, True, False]
    >>> matches_name("mill", "old mill"), matches_name("hatrak", "hatrack", rare=True)
    (True, True)
    """
    word, value = language.fold(word), language.fold(value)
    if word == value:
        return True
    parts = value.split()
    if len(parts) > 1:
        return any(
            matches_name(word, part, rare=rare, language=language)
            for part in parts
            if len(part) > 2
        )
    stem = language.singular(word)
    shared = value.startswith(stem) or stem.startswith(value) or value.endswith(stem)
    if shared and min(len(stem), len(value)) >= 4:
        return True
    return (
        rare
        and min(len(word), len(value)) >= 5
        and word[0] == value[0]
        and OSA.distance(word, value, score_cutoff=1) <= 1
    )


def index_names(
    values: Mapping[str, Iterable[str]], language: Language = NEUTRAL, base: NameIndex | None = None
) -> NameIndex:
    """Return an index of the values that `matches_name` compares words with."""
    return NameIndex(values, matches_name, language, base)


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _pairs(word: object, pairs: object) -> list[tuple[object, object]]:
    """Return the (kind, value) pairs of a word; raise `LexiconError` for anything else."""
    several = isinstance(pairs, Iterable) and not isinstance(pairs, (str, bytes))
    listed: list[Any] = list(pairs) if several else [pairs]  # type: ignore[call-overload]
    if all(isinstance(each, (tuple, list)) and len(each) == 2 for each in listed):
        return [(kind, value) for kind, value in listed]
    raise LexiconError(
        f"The meaning of {word!r} in the lexicon must be a list of (kind, value) pairs; got "
        f"{pairs!r}. Write {{{word!r}: [('item', 'sofa')]}}, where item is the name of a label."
    )


def _meaning(word: object, kind: object, value: object) -> Meaning:
    """Return a (kind, value) pair with numbers as numbers."""
    if kind not in (NUMBER, ORDINAL):
        return str(kind), str(value)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise LexiconError(
            f"The number of {word!r} in the lexicon must be in digits; got {value!r}."
        )
    return str(kind), number


@dataclass
class Lexicon:
    """Words and the values they stand for, by string match, as given, or as learnt.

    Parameters
    ----------
    given
        For each word the (kind, value) pairs it stands for, fully. The value of the kind
        `"number"` is a number, however it is written: `"2"` is 2.0. A word with an ending of
        the language (see `Language.plurals`) is found under what is left of it, too. Words are
        single ones: what is given for two words with a space between them is never looked up.
    learnt
        For each word and (kind, value) pair how far it stands for it, from cross-fitting. Two
        words with a space between them are a pair, which its last word stands for.
    string_match
        Whether words also stand for values whose names they spell (see `matches_name`).
    learn
        Whether further words are learnt from the demonstrations, beside those given.

    Examples
    --------
    >>> lexicon = Lexicon(given={"bench": [("item", "sofa")]})
    >>> values = {"item": {"sofa", "lamp"}, "floor": {"brick"}, "number": ()}
    >>> lexicon.look_up("bench", values), lexicon.look_up("bricks", values)
    ((('item', 'sofa'),), (('floor', 'brick'),))
    >>> from groundling.language import ENGLISH
    >>> lexicon.look_up("two", values, language=ENGLISH), lexicon.look_up("walk", values)
    ((('number', 2.0),), ())
    """

    given: Mapping[str, Iterable[tuple[str, str | float]]] = field(default_factory=dict)
    learnt: Mapping[str, Mapping[Meaning, float]] = field(default_factory=dict)
    string_match: bool = True
    learn: bool = False

    def __post_init__(self) -> None:
        self.given = {
            str(word).lower(): tuple(_meaning(word, *pair) for pair in _pairs(word, pairs))
            for word, pairs in self.given.items()
        }
        self.learnt = {
            word: {_meaning(word, *pair): extent for pair, extent in pairs.items()}
            for word, pairs in self.learnt.items()
        }

    def look_up(
        self,
        word: str,
        values: Mapping[str, Iterable[str]],
        *,
        rare: bool = False,
        language: Language = NEUTRAL,
        endings: bool = True,
        names: NameIndex | None = None,
    ) -> tuple[tuple[str, str | float], ...]:
        """Return the (kind, value) pairs a word fully stands for, given the values that exist.

        The kind `"number"` among the values switches numerals and ordinals on. `endings` lets a
        word be a form of one that was given, unless it was given itself. `names` is an index of
        the values (see `index_names`), for callers that look up many words.
        """
        word = language.fold(word)
        if given := self._given(word, values):
            return given
        number = language.numeral(word)
        if number is not None:
            return ((NUMBER, number),) if NUMBER in values else ()
        number = language.ordinal(word)
        if number is not None:
            return ((ORDINAL, number),) if NUMBER in values else ()
        stems = language.stems(word) if endings and word not in self.given else ()
        stemmed = next(filter(None, (self._given(stem, values) for stem in stems)), ())
        if not self.string_match:
            return stemmed
        if names is None:
            names = index_names(values, language)
        exact, near = names.find(word, rare=rare)
        return tuple(exact or (() if stemmed else near)) or stemmed

    def _given(self, word: str, values: Mapping[str, Iterable[str]]) -> tuple[Meaning, ...]:
        """Return what a word was said to stand for, as far as there are such kinds."""
        return tuple(
            pair
            for pair in self.given.get(word, ())
            if (NUMBER if pair[0] == ORDINAL else pair[0]) in values
        )

    @classmethod
    def read(cls, path: str | Path, *, string_match: bool = True) -> Lexicon:
        """Read a lexicon from a text file of lines such as ``bench = item:sofa, item:lamp``.

        On the left is one word; on the right are values it stands for, each with the name of its
        label. Empty lines and everything after ``#`` are passed over.
        """
        given: dict[str, tuple[tuple[str, str | float], ...]] = {}
        try:
            content = read_plain(Path(path), LEXICON_BYTES, LexiconError, links=True)
            lines = content.decode("utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise LexiconError(f"The lexicon {path} cannot be read: {error}.") from error
        for number, line in enumerate(lines, 1):
            line = line.partition("#")[0].strip()
            if not line:
                continue
            word, equals, right = line.partition("=")
            pairs = [tuple(part.strip() for part in each.split(":")) for each in right.split(",")]
            if not (equals and word.strip()) or any(len(p) != 2 or not all(p) for p in pairs):
                raise LexiconError(
                    f"{path}, line {number}: {line!r} is not of the form 'word = kind:value, …'."
                )
            given[word.strip().lower()] = tuple((pair[0], pair[1]) for pair in pairs)
        try:
            return cls(given=given, string_match=string_match)
        except LexiconError as error:
            raise LexiconError(f"{path}: {error}") from error

    def table(self) -> str:
        """Return the lexicon as text that `read` understands (learnt entries as comments)."""
        lines = [
            f"{word} = {', '.join(f'{kind}:{_written(value)}' for kind, value in pairs)}"
            for word, pairs in sorted(self.given.items())
        ]
        for word, learnt in sorted(self.learnt.items()):
            entries = sorted(learnt.items(), key=lambda item: (-item[1], str(item[0])))
            shown = ", ".join(
                f"{k}:{_written(v)} {w:.2f}" for (k, v), w in entries if not math.isclose(w, 0)
            )
            if shown:
                lines.append(f"# learnt: {word} = {shown}")
        return "\n".join(lines)
