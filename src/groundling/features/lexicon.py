"""The lexicon: a mapping from words to label values."""

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
"""A kind and a value, such as `("item", "sofa")` or `("number", 2.0)`."""


def matches_name(
    word: str, value: str, *, rare: bool = False, language: Language = NEUTRAL
) -> bool:
    """Return whether a word matches the name of a value.

    A word matches a name if they are equal. It also matches if its singular is a prefix or suffix
    of the name, or if the name is a prefix of the singular; the shared part must have at least four
    letters. A rare word of at least five letters may differ from the name by one edit, but not in
    its first letter. A name of several words matches each of its words.

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
    """Return an index of values, for fast matching with `matches_name`."""
    return NameIndex(values, matches_name, language, base)


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _pairs(word: object, pairs: object) -> list[tuple[object, object]]:
    """Return the pairs given for a word; raise `LexiconError` if they are invalid."""
    several = isinstance(pairs, Iterable) and not isinstance(pairs, (str, bytes))
    listed: list[Any] = list(pairs) if several else [pairs]  # type: ignore[call-overload]
    if all(isinstance(each, (tuple, list)) and len(each) == 2 for each in listed):
        return [(kind, value) for kind, value in listed]
    raise LexiconError(
        f"The meaning of {word!r} in the lexicon must be a list of (kind, value) pairs; got "
        f"{pairs!r}. Write {{{word!r}: [('item', 'sofa')]}}, where 'item' is the name of a label."
    )


def _meaning(word: object, kind: object, value: object) -> Meaning:
    """Return a (kind, value) pair, with numeric values converted to float."""
    if kind not in (NUMBER, ORDINAL):
        return str(kind), str(value)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise LexiconError(
            f"The number for {word!r} in the lexicon must be finite and written in digits; "
            f"got {value!r}."
        )
    return str(kind), number


@dataclass
class Lexicon:
    """A mapping from words to label values: by spelling, given, or learnt.

    Parameters
    ----------
    given
        The (kind, value) pairs of each word. Values of the kind `"number"` become floats: `"2"`
        is 2.0. Inflected words are also looked up by their stem (see `Language.plurals`). Keys
        must be single words; keys with a space are never matched.
    learnt
        Weights of the (kind, value) pairs of each word, learnt by cross-fitting. A key with a
        space is a pair of words, of which the last one gets the labels.
    string_match
        Whether words also match values by spelling (see `matches_name`).
    learn
        Whether to learn more words from the demonstrations, in addition to those given.

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
        """Return the (kind, value) pairs that a word may denote, except learnt ones.

        Parameters
        ----------
        word
            The word to look up.
        values
            The existing values of each kind. Numerals and ordinals are recognised if the kind
            `"number"` is among them.
        rare
            Whether the word may be a misspelling of a name.
        language
            The language, which supplies the numerals and word endings.
        endings
            Whether to look up the stems of the word if the word is not found.
        names
            An index of the values (see `index_names`). Pass it to look up many words faster.
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
        """Return the given (kind, value) pairs of a word whose kinds have values."""
        return tuple(
            pair
            for pair in self.given.get(word, ())
            if (NUMBER if pair[0] == ORDINAL else pair[0]) in values
        )

    @classmethod
    def read(cls, path: str | Path, *, string_match: bool = True) -> Lexicon:
        """Read a lexicon from a file of lines such as ``bench = item:sofa, item:lamp``.

        The left side is one word; the right side lists values, each with the name of its label.
        Empty lines and comments after ``#`` are ignored.
        """
        given: dict[str, tuple[tuple[str, str | float], ...]] = {}
        try:
            content = read_plain(Path(path), LEXICON_BYTES, LexiconError, links=True)
            lines = content.decode("utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise LexiconError(
                f"The lexicon {path} must be UTF-8 text ({error}). Save the file as UTF-8."
            ) from error
        for number, line in enumerate(lines, 1):
            line = line.partition("#")[0].strip()
            if not line:
                continue
            word, equals, right = line.partition("=")
            pairs = [tuple(part.strip() for part in each.split(":")) for each in right.split(",")]
            if not (equals and word.strip()) or any(len(p) != 2 or not all(p) for p in pairs):
                raise LexiconError(
                    f"{path}, line {number}: a line must be of the form 'word = kind:value, …'; "
                    f"got {line!r}."
                )
            given[word.strip().lower()] = tuple((pair[0], pair[1]) for pair in pairs)
        try:
            return cls(given=given, string_match=string_match)
        except LexiconError as error:
            raise LexiconError(f"{path}: {error}") from error

    def table(self) -> str:
        """Return the lexicon in the format of `read`, with learnt entries as comments."""
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
