"""Texts in a home: mentions of names, places and values, and the remaining words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from groundling.features.spans import Span, SpanIndex, nearest_word
from groundling.home.home import Home
from groundling.home.locales import COMPOUNDS, ELISIONS, NEGATIONS, PLACES, PREFIXES
from groundling.language.instruction import Instruction
from groundling.language.languages import Language
from groundling.language.literals import Literal, read_literals
from groundling.language.sentences import is_punctuation, split_words

BEGIN = "‹text›"
UNKNOWN = "‹unknown›"
PART = "‹part›"
_FRACTIONS = {"1/2": 0.5, "½": 0.5, "1/4": 0.25, "¼": 0.25}
_PERCENT = re.compile(r"\b(?:por ciento|pour ?cent|per cento|per cent)\b", re.IGNORECASE)
_SHORTEST_PART = 4  # minimum letters of a part of a compound
_FULL = 0.8  # minimum share of a name that counts as the whole name
_TITLES = {"name": "‹name›", "area": "‹area›", "floor": "‹floor›", "timer": "‹timer›"}
_ORDER = "‹percentage›‹name›‹timer›‹area›‹floor›"  # mark order for equal words; others first


class Mention(NamedTuple):
    """A mention: the ids, the positions in the text, and whether the name is complete."""

    kind: str
    ids: tuple[str, ...]
    places: tuple[int, ...]
    full: bool


class HomeNames:
    """An index of the names in a home.

    >>> home = Home.from_data({"areas": [{"id": "den", "name": "Den"}],
    ...                        "entities": [{"id": "light.a", "name": "Desk Lamp"}]})
    >>> from groundling.language import ENGLISH
    >>> names = HomeNames(home, ENGLISH)
    >>> [(each.kind, each.ids, each.full) for each in names.find("the lamp in the den".split())]
    [('name', ('light.a',), False), ('area', ('den',), True)]
    """

    def __init__(self, home: Home, language: Language) -> None:
        self.home, self.language = home, language
        owners: dict[str, dict[str, list[str]]] = {"name": {}, "area": {}, "floor": {}, "timer": {}}
        things = (("name", home.entities), ("area", home.areas), ("floor", home.floors))
        for kind, listed in things:
            for thing in listed:
                for name in dict.fromkeys((thing.name, *thing.aliases)):
                    written = " ".join(split_words(_plain(name), language))  # split like texts
                    owners[kind].setdefault(written, []).append(thing.id)
        for place, timer in enumerate(home.timers):
            if timer.name:
                owners["timer"].setdefault(timer.name, []).append(f"timer:{place}")
        self._owners = owners
        self._stems: dict[str, dict[str, None]] = {}  # ids of entities by the words of their names
        for name, ids in owners["name"].items():
            for word in language.fold(name).split():
                self._stems.setdefault(language.singular(word), {}).update(dict.fromkeys(ids))
        self._index = SpanIndex(owners, language)
        folded = {language.fold(name) for names in owners.values() for name in names}
        single = [each for each in folded if " " not in each and len(each) >= _SHORTEST_PART]
        self.stems = sorted(single, key=lambda each: (-len(each), each))
        said = (name for names in owners.values() for name in names)
        self.grammar = frozenset((
            *language.units, *language.numerals, *language.ordinals, *language.colours,
            *language.fractions, *language.articles, *language.joints, *language.exceptions,
            *language.multipliers, *language.times, *language.half_days, *language.function_words,
        ))  # fmt: skip
        parts = [language.fold(name).split() for name in said]
        self.words = {part: 2 for name in parts for part in name}
        self.pairs = {" ".join(pair) for name in parts for pair in pairwise(name)}

    def __contains__(self, word: str) -> bool:
        return word in self._index

    def find(self, words: Sequence[str], known: Collection[str] = ()) -> list[Mention]:
        """Return the mentions in folded words; `known` words are never treated as typos."""
        found: dict[tuple[str, tuple[int, ...], bool], list[str]] = {}
        spans = self._index.find(words, known)
        named = {n for each in spans if each.extent >= _FULL for n in each.places}
        for span in spans:
            ids = self._owners[span.kind][span.value]
            if span.kind == "name" and span.extent < _FULL:
                ids = [*ids, *self._sharing([words[n] for n in span.places])]
            full = span.extent >= _FULL or self._is_short_place(span, words, named, known)
            if full or span.kind == "name":
                found.setdefault((span.kind, span.places, full), []).extend(ids)
        return [
            Mention(kind, tuple(dict.fromkeys(ids)), places, full)
            for (kind, places, full), ids in found.items()
        ]

    def _sharing(self, words: Sequence[str]) -> list[str]:
        """Return the ids of entities whose names contain all the words."""
        first, *others = (self._stems.get(self.language.singular(each), {}) for each in words)
        return [id_ for id_ in first if all(id_ in each for each in others)]

    def _is_short_place(
        self, span: Span, words: Sequence[str], named: Collection[int], known: Collection[str]
    ) -> bool:
        """Return whether words name a place without its generic noun (*the office*)."""
        general = PLACES.get(self.language.name, frozenset())
        return (
            bool(general)
            and span.kind in ("area", "floor")
            and any(
                n not in named
                and words[n] not in known
                and self.language.singular(words[n]) not in general
                for n in span.places
            )
        )


@dataclass(frozen=True)
class Utterance:
    """A text as the model reads it, with its mentions of things in one home.

    `words` are the words as written; `folded` are normalised, with typos corrected.
    """

    text: str
    words: tuple[str, ...]
    folded: tuple[str, ...]
    mentions: tuple[Mention, ...]
    literals: tuple[Literal, ...]
    language: Language
    known: Collection[str] = ()

    @classmethod
    def of(
        cls, text: str, names: HomeNames, vocabulary: Mapping[str, int] | None = None
    ) -> Utterance:
        """Read a text in a home; unknown words one edit from a known one are corrected."""
        language, known = names.language, vocabulary or {}
        words = _joined(_tokens(text, names), names, known)
        folded = tuple(_mended(language.fold(each), names, known) for each in words)
        literals = tuple(
            each
            for each in read_literals(folded, language)
            if not _is_article(each, folded, language)
        )
        mentions = tuple(names.find(folded, {*names.grammar, *known}))
        return cls(text, words, folded, mentions, literals, language, known)

    def of_kind(self, kind: str) -> list[Mention]:
        """Return the mentions of a kind, full names first."""
        return sorted((e for e in self.mentions if e.kind == kind), key=lambda e: not e.full)

    @cached_property
    def is_negated(self) -> bool:
        """Whether the text is a negative command."""
        known = NEGATIONS.get(self.language.name, ())
        return any(self.folded[: len(each)] == each for each in known)

    @cached_property
    def exception(self) -> int:
        """The position of the word for *except*, or the number of words."""
        words = self.language.exceptions
        return next((n for n, word in enumerate(self.folded) if word in words), len(self.folded))

    @cached_property
    def joints(self) -> tuple[int, ...]:
        """The positions after a comma or *and*, where another command may start."""
        joints = {*self.language.joints, ",", ";"}
        inside = {place for each in self.literals for place in each.places[1:]}
        starts = [
            place + 1
            for place, word in enumerate(self.folded)
            if word in joints and place and place not in inside
        ]
        after = [n for n in starts if n < len(self.folded) and self.folded[n] not in joints]
        return tuple(dict.fromkeys(after))

    def part(self, start: int, end: int) -> str:
        """Return the text of a range of words, without conjunctions at its ends."""
        joints = {*self.language.joints, ",", ";"}
        while start < end and self.folded[start] in joints:
            start += 1
        while end > start and self.folded[end - 1] in joints:
            end -= 1
        return " ".join(self.words[start:end])

    @cached_property
    def masked(self) -> tuple[str, ...]:
        """The words, with names, places and values replaced by marks of their types."""
        return tuple(word for word, _ in self.masks())

    @property
    def is_unknown(self) -> bool:
        """Whether all words of the text are unknown."""
        return set(self.masked) <= {BEGIN, UNKNOWN}

    def masks(self, only: Collection[Mention] | None = None) -> Iterator[tuple[str, int]]:
        """Yield the words that the model reads, each with its position in the text.

        A name that is one known word is kept next to its mark, since it may be an ordinary word
        (*lock*).
        Words that are known only as parts of names become one mark. With `only`, other mentions
        and all values stay as written.
        """
        mentions = [each for each in self.mentions if each.full]
        if only is not None:
            mentions = [each for each in mentions if each in only]
        said = [(_TITLES[each.kind], each.places) for each in mentions]
        if only is None:
            said += [(_literal_mark(each), each.places) for each in self.literals]
        marks: dict[int, tuple[str, tuple[int, ...]]] = {}
        taken: set[int] = set()
        for mark, places in sorted(said, key=lambda each: (-len(each[1]), _ORDER.find(each[0]))):
            free = tuple(place for place in places if place not in taken)
            if free and (len(free) == len(places) or mark in (_TITLES["area"], _TITLES["floor"])):
                marks[free[0]] = (mark, free)
                taken |= set(free)
        parts = {n for e in self.mentions if e.kind == "name" and not e.full for n in e.places}
        yield BEGIN, -1
        for place, word in enumerate(self.folded):
            if place in marks:
                mark, places = marks[place]
                yield mark, place
                is_word = not self.known or word in self.known
                if len(places) == 1 and mark == _TITLES["name"] and is_word:
                    yield word, place
            elif place not in taken:
                if word in self.known or not self.known:
                    yield word, place
                elif place not in parts:
                    yield UNKNOWN, place
                elif place - 1 not in parts:
                    yield PART, place

    def instruction(self, only: Collection[Mention] | None = None) -> Instruction:
        """Return the model's input: a chain of words."""
        words = self.masked if only is None else tuple(word for word, _ in self.masks(only))
        heads = tuple(range(-1, len(words) - 1))
        return Instruction(words, heads, ("root", *["next"] * (len(words) - 1)), text=self.text)


def _tokens(text: str, names: HomeNames) -> tuple[str, ...]:
    """Return the words of a text, with fractions as words.

    Commas inside durations are dropped.
    """
    language = names.language
    for written, fraction in _FRACTIONS.items():
        word = next((each for each, size in language.fractions.items() if size == fraction), "")
        text = text.replace(written, word) if word else text
    text = _PERCENT.sub("%", text)
    if language.name in ELISIONS:
        text = text.replace("'", " ").replace("’", " ")
    words = [each for each in split_words(text, language) if not _is_mark(each)]
    words = [part for word in words for part in _split_hyphens(word, language)]
    if language.name in COMPOUNDS:
        words = [part for word in words for part in _parts(word, names)]
    units = language.units
    return tuple(
        word
        for place, word in enumerate(words)
        if not (word == "," and any(language.fold(e) in units for e in words[place - 1 : place]))
    )


def _joined(words: Sequence[str], names: HomeNames, known: Collection[str]) -> tuple[str, ...]:
    """Join two words that form a known one (*bed room*)."""
    found: list[str] = []
    for word in words:
        before = names.language.fold(found[-1]) if found else ""
        joined = before + names.language.fold(word)
        is_one = joined in names.words or (joined in known and word not in known)
        pair = f"{before} {names.language.fold(word)}"
        if before.isalpha() and is_one and pair not in names.pairs and word != before:
            found[-1] = found[-1] + word
        else:
            found.append(word)
    return tuple(found)


def _split_hyphens(word: str, language: Language) -> list[str]:
    if "-" not in word.strip("-") or language.numeral(word) is not None:
        return [word]
    return [part for part in word.split("-") if part]


def _parts(word: str, names: HomeNames) -> list[str]:
    """Return the parts of a compound of a name and a thing, or the word itself."""
    folded = names.language.fold(word)
    if folded in names:
        return [word]
    for name in names.stems:
        rest = folded.removeprefix(name)
        if rest != folded and len(rest) >= _SHORTEST_PART:
            return [name, rest]
    return [word]


def _plain(name: str) -> str:
    """Return a name without possessive endings."""
    return re.sub(r"['’]s\b", "", name)


def _is_mark(word: str) -> bool:
    return is_punctuation(word) and word not in {",", ";", "%", "°", "/", "-"}


def _mended(word: str, names: HomeNames, known: Mapping[str, int]) -> str:
    for prefix in PREFIXES.get(names.language.name, ()):
        if word not in names and word.startswith(prefix) and word.removeprefix(prefix) in names:
            return word.removeprefix(prefix)
    for ending in ("'s", "’s"):
        if word.endswith(ending) and word.removesuffix(ending) in names:
            return word.removesuffix(ending)
    stem = names.language.singular(word)
    if word not in names and word not in names.grammar and stem in names.language.colours:
        return stem
    if not known or word in known or word in names or word in names.grammar:
        return word
    if not word.isalpha():
        return word
    return nearest_word(word, names.words) or nearest_word(word, known) or word


def _is_article(literal: Literal, words: Sequence[str], language: Language) -> bool:
    """Return whether a number is an article or particle (*schalte das Licht ein*)."""
    said = [words[n] for n in literal.places]
    return literal.type == "number" and not literal.unit and set(said) <= set(language.articles)


def _literal_mark(literal: Literal) -> str:
    return f"‹{literal.unit}›" if literal.type == "number" and literal.unit else f"‹{literal.type}›"
