"""Texts in a home: mentions of names, places and values, and the other words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile, pairwise
from typing import NamedTuple

from groundling.features.spans import Span, SpanIndex, nearest_word
from groundling.home.home import Entity, Home
from groundling.home.knowledge import Knowledge
from groundling.home.locales import (
    ARTICLES,
    COMPOUNDS,
    DETERMINERS,
    ELISIONS,
    FILLERS,
    IMPERATIVES,
    INTERROGATIVES,
    NEGATIONS,
    PLACES,
    PREFIXES,
    PRONOUNS,
    REQUESTS,
    REWRITES,
    SINGULARS,
    STATEMENTS,
    SUBJECTS,
    SYNONYMS,
)
from groundling.language.instruction import Instruction
from groundling.language.languages import Language
from groundling.language.literals import Literal, read_literals
from groundling.language.sentences import is_punctuation, split_words

BEGIN = "‹text›"
ASKS = "?"
UNKNOWN = "‹unknown›"
PART = "‹part›"
_FRACTIONS = {"1/2": 0.5, "½": 0.5, "1/4": 0.25, "¼": 0.25}
_PERCENT = re.compile(r"\b(?:por ciento|pour ?cent|per cento|per cent)\b", re.IGNORECASE)
PARTICLES = frozenset(("on", "off", "up", "down"))  # function words that are parts of verbs
_SHORTEST_PART, _SHORTEST_REST = 4, 3  # minimum letters of the parts of a compound
_SHORTEST_TYPO = 4  # letters; in a free text, shorter words stay as they are (*bad* is no *band*)
_USUAL = 9  # assumed number of texts with a unit or numeral
_FULL = 0.8  # minimum share of a name that counts as the whole name
_LEFT = 2  # minimum words of a name without its kind
_MOST_ADDRESS = 4  # words of a form of address
_SINGLE = ("media_player", "switch", "vacuum", "climate")  # may be called by one word
_TITLES = {"name": "‹name›", "area": "‹area›", "floor": "‹floor›", "timer": "‹timer›"}
# order of marks for equal words; other marks come first
_ORDER = "‹percentage›‹name›‹timer›‹area›‹floor›"


_Found = dict[tuple[str, tuple[int, ...], bool], list[str]]  # ids by kind, places and completeness


class Mention(NamedTuple):
    """A mention of something in the home.

    `places` are the positions of the words. `full` is true if the whole name is mentioned.
    """

    kind: str
    ids: tuple[str, ...]
    places: tuple[int, ...]
    full: bool


class HomeNames:
    """Index of the names in a home.

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
        things = (("area", home.areas), ("floor", home.floors), ("name", home.entities))
        self.stems: dict[str, str] = {}  # names of one word with which compounds can begin
        for kind, listed in things:
            for thing in listed:
                for name in dict.fromkeys((thing.name, *thing.aliases)):
                    words = split_words(_plain(name), language)
                    words = self.split(words) if len(words) > 1 else self.plain(words)
                    written = " ".join(_usual(each, language) for each in words)
                    owners[kind].setdefault(written, []).append(thing.id)
            self.stems = _stems(owners, language)
        for name, ids in _short_names(owners, home, language).items():
            owners["name"].setdefault(name, []).extend(ids)
        for place, timer in enumerate(home.timers):
            if timer.name:
                owners["timer"].setdefault(timer.name, []).append(f"timer:{place}")
        self.stems = _stems(owners, language)
        self._owners = owners
        self._stems: dict[str, dict[str, None]] = {}  # ids of entities by the words of their names
        for name, ids in owners["name"].items():
            for word in language.fold(name).split():
                self._stems.setdefault(language.singular(word), {}).update(dict.fromkeys(ids))
        self._index = SpanIndex(owners, language)
        self._places = SpanIndex({kind: owners[kind] for kind in ("area", "floor")}, language)
        self._general = PLACES.get(language.name, frozenset())
        said = (name for names in owners.values() for name in names)
        self.grammar = frozenset((
            *language.units, *language.numerals, *language.ordinals, *language.colours,
            *language.fractions, *language.articles, *language.joints, *language.exceptions,
            *language.multipliers, *language.times, *language.half_days, *language.function_words,
            "minus",
        ))  # fmt: skip
        orders = IMPERATIVES.get(language.name, frozenset()) - SINGULARS.get(
            language.name, frozenset()
        )
        self._plain_words = {
            *language.articles, *language.function_words, *language.joints, *orders,
            *DETERMINERS.get(language.name, ()),
        }  # fmt: skip
        self._spelt: tuple[Mapping[str, int], Mapping[str, int], Mapping[str, str]] = ({}, {}, {})
        parts = [language.fold(name).split() for name in said]
        self.words = {part: 2 for name in parts for part in name}
        self.pairs = {" ".join(pair) for name in parts for pair in pairwise(name)}

    def __contains__(self, word: str) -> bool:
        return word in self._index

    def plain(self, words: Sequence[str]) -> list[str]:
        """Return words with prefixed articles removed."""
        return [_without_article(each, self.language) for each in words]

    def split(self, words: Sequence[str]) -> list[str]:
        """Return words with prefixed articles removed and compounds split."""
        return [
            part
            for word in self.plain(words)
            for part in _parts(word, self.stems, self.language.singular)
        ]

    def corrected(self, word: str, known: Mapping[str, int]) -> str:
        """Return the known word of which a word is an inflection or a typo, or the word."""
        if self._spelt[0] is not known:
            grammar = dict.fromkeys(self.grammar, _USUAL)
            rare_first = sorted(known, key=lambda each: known[each])
            by_stem = {self.language.singular(each): each for each in rare_first}
            self._spelt = known, {**grammar, **known}, by_stem
        _, words, stems = self._spelt
        stem = stems.get(self.language.singular(word), "")
        found = nearest_word(word, self.words) or stem or nearest_word(word, words) or word
        is_other = len(found) == len(word) and found[0] not in word[:2]  # *pool* is not *cool*
        return word if is_other and not stem else found

    def find(self, words: Sequence[str], known: Collection[str] = ()) -> list[Mention]:
        """Return the mentions in normalised words; `known` words never count as typos."""
        found: _Found = {}
        spans = self._index.find(words, known)
        named = {n for each in spans if each.extent >= _FULL for n in each.places}
        nouns = SINGULARS.get(self.language.name, frozenset())
        shared: set[tuple[int, ...]] = set()  # words for which all entities have been found
        for span in spans:
            full, ids = span.extent >= _FULL, self._owners[span.kind][span.value]
            said = [words[n] for n in span.places]
            if not full and all(each in self._plain_words for each in said):
                continue
            is_plural = said[0] not in nouns and self.language.singular(said[0]) in nouns
            if full and span.kind == "name" and len(said) == 1 and is_plural:
                continue  # the lights of the home, not a sensor named Light
            if span.kind == "name" and not full and span.places not in shared:
                shared.add(span.places)
                ids = [*ids, *self._sharing([words[n] for n in span.places])]
            if full or span.kind == "name":
                found.setdefault((span.kind, span.places, full), []).extend(ids)
        self._add_elided(words, found)
        self._add_short(words, found)
        for span in self._places.find(words, known) if self._general else ():
            if span.extent < _FULL and self._is_short_place(span, words, named, known):
                ids = self._owners[span.kind][span.value]
                found.setdefault((span.kind, span.places, True), []).extend(ids)
        return [
            Mention(kind, tuple(dict.fromkeys(ids)), places, full)
            for (kind, places, full), ids in found.items()
        ]

    def _add_elided(self, words: Sequence[str], found: _Found) -> None:
        """Add names that share words with another name (*the front and back doors*)."""
        named = {n for _, places, full in found if full for n in places}
        for kind, places, full in list(found):
            first, last = places[0], places[-1]
            if not full or len(places) < 2 or last - first + 1 != len(places):
                continue
            before = self._beyond_joint(words, first - 1, -1)
            after = self._beyond_joint(words, last + 1, 1)
            pairs = (((before,), words[first + 1 : last + 1]), ((after,), words[first:last]))
            for (at,), shared in pairs:
                if at is None or at in named:
                    continue
                said = (words[at], *shared) if at == before else (*shared, words[at])
                for span in self._index.find(said, said):
                    if span.kind == kind and span.extent >= _FULL and len(span.places) == len(said):
                        found.setdefault((kind, (at,), True), []).extend(
                            self._owners[kind][span.value]
                        )

    def _beyond_joint(self, words: Sequence[str], at: int, step: int) -> int | None:
        """Return the position of the word beyond a conjunction, or None if there is none."""
        skipped = (*self.language.articles, *self.language.function_words)
        while (
            0 <= at < len(words) and words[at] in skipped and words[at] not in self.language.joints
        ):
            at += step
        if not (0 <= at < len(words) and words[at] in (*self.language.joints, ",")):
            return None
        return at + step if 0 <= at + step < len(words) else None

    def _add_short(self, words: Sequence[str], found: _Found) -> None:
        """Add mentions by a two-letter word of a name (*TV* for *kitchen TV*)."""
        taken = {n for _, places, _ in found for n in places}
        for n, word in enumerate(words):
            is_short = len(word) == 2 and word.isalpha() and word not in self.grammar
            if is_short and n not in taken and word in self._stems:
                found["name", (n,), False] = list(self._stems[word])

    def _sharing(self, words: Sequence[str]) -> list[str]:
        """Return the ids of entities whose names contain all the given words."""
        first, *others = (self._stems.get(self.language.singular(each), {}) for each in words)
        return [id_ for id_ in first if all(id_ in each for each in others)]

    def _is_short_place(
        self, span: Span, words: Sequence[str], named: Collection[int], known: Collection[str]
    ) -> bool:
        """Return whether words name a place without a word such as *room* (*the office*)."""
        return any(
            n not in named
            and words[n] not in known
            and self.language.singular(words[n]) not in self._general
            for n in span.places
        )


@dataclass(frozen=True)
class Utterance:
    """A text as read in a home, with its mentions of entities, places and values.

    `words` are the words as written; `folded` are the normalised words with typos corrected.
    """

    text: str
    words: tuple[str, ...]
    folded: tuple[str, ...]
    mentions: tuple[Mention, ...]
    literals: tuple[Literal, ...]
    language: Language
    known: Collection[str] = ()
    frames: Collection[str] = ()

    @classmethod
    def of(cls, text: str, names: HomeNames, knowledge: Knowledge | None = None) -> Utterance:
        """Read a text in a home; typos in names and known words are corrected."""
        language, known = names.language, knowledge.words if knowledge else {}
        for pattern, plain in REWRITES.get(language.name, ()):
            text = pattern.sub(plain, text)
        words = _joined(_tokens(text, names), names, known)
        usual = [_usual(language.fold(each), language) for each in words]
        folded = tuple(_mended(each, names, known) for each in usual)
        literals = tuple(
            each
            for each in read_literals(folded, language)
            if not _is_article(each, folded, language) and not _is_in_word(each, folded)
        )
        mentions = tuple(names.find(folded, {*names.grammar, *known}))
        frames = knowledge.frames if knowledge else ()
        return cls(text, words, folded, mentions, literals, language, known, frames)

    def of_kind(self, kind: str) -> list[Mention]:
        """Return the mentions of one kind, full names first."""
        return sorted((e for e in self.mentions if e.kind == kind), key=lambda e: not e.full)

    @cached_property
    def is_negated(self) -> bool:
        """Whether the text begins with a negation (*don't …*)."""
        known = NEGATIONS.get(self.language.name, ())
        return any(self.folded[: len(each)] == each for each in known)

    @cached_property
    def is_question(self) -> bool:
        """Whether the text begins like a question, so that it must not change anything.

        A form of address at the beginning (*computer, is the lamp on*) is ignored.
        """
        name = self.language.name
        fillers = {*FILLERS.get(name, ()), ","}
        words = tuple(dropwhile(fillers.__contains__, self.folded[self._address :]))
        polite = any(words[: len(each)] == each for each in REQUESTS.get(name, ()))
        return bool(words) and words[0] in INTERROGATIVES.get(name, ()) and not polite

    @cached_property
    def _address(self) -> int:
        """Number of words of a form of address at the beginning (*computer, …*)."""
        language, named = self.language, {n for each in self.mentions for n in each.places}
        fillers, said = FILLERS.get(language.name, ()), list(map(language.fold, self.words))
        size = 0
        while size < len(said) and size not in named and (
            said[size] == "," or said[size] in fillers or said[size] not in self.known
        ):  # fmt: skip
            size += 1
        if not self.known or size > _MOST_ADDRESS or "," in said[:size]:
            return size if size <= _MOST_ADDRESS and self.known else 0
        subjects = {*language.articles, *DETERMINERS.get(language.name, ())}
        after = size + 1  # *grandma is cold* is no question
        is_subject = after < len(said) and (after in named or said[after] in subjects)
        return size if is_subject else 0

    @cached_property
    def exception(self) -> int:
        """Position of the word for *except*, or else the number of words."""
        words = self.language.exceptions
        return next((n for n, word in enumerate(self.folded) if word in words), len(self.folded))

    @cached_property
    def joints(self) -> tuple[int, ...]:
        """Positions after a comma or *and*, where another command may start."""
        joints = {*self.language.joints, ",", ";"}
        inside = {place for each in self.literals for place in each.places[1:]}
        starts = [
            place + 1
            for place, word in enumerate(self.folded)
            if word in joints and place and place not in inside
        ]
        after = [n for n in starts if n < len(self.folded) and self.folded[n] not in joints]
        return tuple(dict.fromkeys(after))

    @cached_property
    def has_unread_number(self) -> bool:
        """Whether the text has a number that is too large to be a value."""
        read = {n for each in self.literals for n in each.places}
        read |= {n for each in self.mentions for n in each.places}
        return any(word.isdigit() and n not in read for n, word in enumerate(self.folded))

    @cached_property
    def without_reason(self) -> str:
        """Command without the statement beside it (*I'm leaving, lock the door*), or ""."""
        if self.is_question:
            return ""
        orders = IMPERATIVES.get(self.language.name, frozenset())
        reasons = STATEMENTS.get(self.language.name, ())
        fillers = FILLERS.get(self.language.name, frozenset())

        def begins(start: int, known: Collection[str]) -> bool:
            words = tuple(dropwhile(fillers.__contains__, self.folded[start:]))
            return any(words[: len(e)] == e for e in map(tuple, map(str.split, known)))

        for place, word in enumerate(self.folded):
            if word in (",", "so", "because", "since") and 0 < place < len(self.folded) - 1:
                if begins(0, orders) and begins(place + 1, reasons):
                    return self.part(0, place)
                if begins(place + 1, orders) and begins(0, reasons):
                    return self._after_reason(place + 1)
        said = [len(each.split()) for each in reasons if begins(0, [each])]
        if said:  # spoken texts have no commas
            for place in range(max(said) + 1, len(self.folded) - 1):
                if self.is_order(place):
                    return self._after_reason(place)
        return ""

    def _after_reason(self, place: int) -> str:
        """Return the text from a position; empty if its pronoun refers to an earlier name."""
        pronouns = PRONOUNS.get(self.language.name, frozenset())
        is_named = any(each.places[0] < place for each in self.mentions if each.kind == "name")
        refers = is_named and not pronouns.isdisjoint(self.folded[place:])
        return "" if refers else self.part(place, len(self.words))

    @cached_property
    def spoken_joints(self) -> tuple[int, ...]:
        """Positions at which another command may start without a conjunction.

        These are the positions of verbs that begin a command, and of names after *on* or *off*.
        """
        begins = {each.places[0] for each in self.mentions if each.full}
        return tuple(
            n
            for n in range(_LEFT, len(self.folded) - 1 if not self.is_question else 0)
            if self.is_order(n) or (n in begins and self.folded[n - 1] in PARTICLES)
        )

    def is_order(self, place: int) -> bool:
        """Return whether the word at a position is a verb that begins a command."""
        name, named = self.language.name, {n for each in self.mentions for n in each.places}
        verbs = IMPERATIVES.get(name, frozenset()) - SINGULARS.get(name, frozenset())
        return (
            self.folded[place] in verbs
            and place not in named
            and self.folded[place - 1] not in SUBJECTS.get(name, ())
        )

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """Positions after a conjunction at which a command begins."""
        known = IMPERATIVES.get(self.language.name, frozenset())
        if self.is_question or any(each.type == "duration" for each in self.literals):
            return ()  # a delay may apply to both commands
        return tuple(n for n in self.joints if n > _LEFT and self.folded[n] in known)

    def part(self, start: int, end: int) -> str:
        """Return the text of a range of words, without conjunctions at its ends."""
        joints = {*self.language.joints, *self.language.exceptions, ",", ";"}
        while start < end and self.folded[start] in joints:
            start += 1
        while end > start and self.folded[end - 1] in joints:
            end -= 1
        return " ".join(self.words[start:end])

    @cached_property
    def masked(self) -> tuple[str, ...]:
        """Words of the text, with marks in place of names, places and values."""
        return tuple(word for word, _ in self.masks())

    @property
    def is_unknown(self) -> bool:
        """Whether the text contains no known word."""
        return set(self.masked) <= {BEGIN, ASKS, UNKNOWN}

    def _is_unsafe(self, place: int) -> bool:
        """Return whether a corrected word is so short that it may have been right."""
        written = self.language.fold(self.words[place])
        return self.folded[place] != written and len(written) < _SHORTEST_TYPO

    def masks(self, only: Collection[Mention] | None = None) -> Iterator[tuple[str, int]]:
        """Yield the words that the model reads, each with its position in the text.

        Names and values are replaced by marks. If a name is a single known word, the word follows
        the mark, because it may be an ordinary word (*lock*). Consecutive words that are known only
        from names become one mark. With `only`, other mentions and all values are not replaced, and
        only words that occur beside free-text values count as known.
        """
        mentions = [each for each in self.mentions if each.full]
        if only is not None:
            mentions = [each for each in mentions if each in only]
        said = [(_TITLES[each.kind], self._core(each.places)) for each in mentions]
        if only is None:
            said += [(_literal_mark(each), each.places) for each in self.literals]
        marks: dict[int, tuple[str, tuple[int, ...]]] = {}
        taken: set[int] = set()
        for mark, places in sorted(said, key=lambda each: (-len(each[1]), _ORDER.find(each[0]))):
            free = tuple(place for place in places if place not in taken)
            if free and (len(free) == len(places) or mark in (_TITLES["area"], _TITLES["floor"])):
                marks[free[0]] = (mark, free)
                taken |= set(free)
        named = [each for each in self.mentions if each.kind == "name" and not each.full]
        parts = {n for each in named for n in each.places} if only is None else set()
        known = self.known if only is None else self.frames or self.known
        yield BEGIN, -1
        if only is None and self.text.rstrip().endswith(("?", "؟")):
            yield ASKS, -1
        for place, word in enumerate(self.folded):
            if place in marks:
                mark, places = marks[place]
                yield mark, place
                is_word = not known or word in known
                if len(places) == 1 and mark == _TITLES["name"] and is_word:
                    yield word, place
            elif place not in taken:
                is_safe = only is None or not self._is_unsafe(place)
                if is_safe and (word in known or not known):
                    yield word, place
                elif place not in parts:
                    yield UNKNOWN, place
                elif place - 1 not in parts:
                    yield PART, place

    def _core(self, places: tuple[int, ...]) -> tuple[int, ...]:
        """Return the positions of a name, without a verb before it (*lock the door lock*)."""
        is_verb = len(places) > 1 and places[1] > places[0] + 1 and not places[0]
        orders = IMPERATIVES.get(self.language.name, frozenset())
        return places[1:] if is_verb and self.folded[places[0]] in orders else places

    def instruction(self, only: Collection[Mention] | None = None) -> Instruction:
        """Return the input of the model: a chain of words and marks."""
        words = self.masked if only is None else tuple(word for word, _ in self.masks(only))
        heads = tuple(range(-1, len(words) - 1))
        return Instruction(words, heads, ("root", *["next"] * (len(words) - 1)), text=self.text)


def _tokens(text: str, names: HomeNames) -> tuple[str, ...]:
    """Return the words of a text, without commas inside durations.

    Fractions such as `½` become words.
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
    words = names.split(words)
    units = language.units
    return tuple(
        word
        for place, word in enumerate(words)
        if not (word == "," and any(language.fold(e) in units for e in words[place - 1 : place]))
    )


def _joined(words: Sequence[str], names: HomeNames, known: Collection[str]) -> tuple[str, ...]:
    """Return the words, joining neighbours that form a known word (*bed room*)."""
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


def _stems(owners: Mapping[str, Iterable[str]], language: Language) -> dict[str, str]:
    """Map the spellings of names that can begin a compound to the names."""
    if language.name not in COMPOUNDS:
        return {}
    folded = (language.fold(name) for names in owners.values() for name in names)
    single = [each for each in folded if " " not in each and len(each) >= _SHORTEST_PART]
    found = {f"{each}n": each for each in single if each.endswith("e")}
    found |= {each: each for each in single}
    return dict(sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _parts(word: str, stems: Mapping[str, str], singular: Callable[[str], str] = str) -> list[str]:
    """Return the parts of a compound that begins with names, or else the word itself.

    >>> _parts("keukenlampen", {"keuken": "keuken"})
    ['keuken', 'lampen']
    """
    folded = word.lower()
    if folded in stems.values() or singular(folded) in map(singular, stems.values()):
        return [word]
    for written, stem in stems.items():
        rest = folded.removeprefix(written)
        if rest != folded and len(rest) >= _SHORTEST_REST:
            return [stem, *_parts(rest, stems, singular)]
    return [word]


def _short_names(
    owners: Mapping[str, Mapping[str, Sequence[str]]], home: Home, language: Language
) -> dict[str, list[str]]:
    """Return unique short forms of names, without the area or the kind of entity.

    If no other name fits, *TV* means the Living Room TV, and *front door* the Front Door Lock.
    """
    general, nouns = PLACES.get(language.name), SINGULARS.get(language.name, frozenset())
    if not general:
        return {}
    taken = {language.fold(name) for names in owners.values() for name in names}
    found: dict[str, list[str]] = {}
    for name, ids in owners["name"].items():
        for id_ in ids:
            entity = home.entity_of[id_]
            words, area = language.fold(name).split(), home.area_of.get(entity.area)
            place = language.fold(_plain(area.name)).split() if area else []
            short = words[len(place) :] if place and words[: len(place)] == place else words
            for each in (short, _without_last(short, entity), _without_last(words, entity)):
                if each and each != words:
                    found.setdefault(" ".join(each), []).append(id_)
    return {
        name: list(dict.fromkeys(ids))
        for name, ids in found.items()
        if len(set(ids)) == 1
        and home.entity_of[ids[0]].domain not in ("sensor", "binary_sensor")
        and name not in taken
        and (" " in name or home.entity_of[ids[0]].domain in _SINGLE)
        and not {language.singular(each) for each in name.split()} <= {*nouns, *general}
    }


def _without_last(words: list[str], entity: Entity) -> list[str]:
    """Return a name without the domain at its end; an empty list if it has none."""
    return words[:-1] if len(words) > _LEFT and words[-1] == entity.domain else []


def _usual(word: str, language: Language) -> str:
    """Return the most common synonym of a noun (*TV* for *television*), or the noun."""
    known, folded = SYNONYMS.get(language.name, {}), language.fold(word)
    stem = _plain(folded)
    return known.get(stem, word) + folded[len(stem) :] if stem in known else word


def _without_article(word: str, language: Language) -> str:
    for prefix in ARTICLES.get(language.name, ()):
        rest = word.removeprefix(prefix)
        if rest != word and (len(rest) >= _SHORTEST_REST or rest.isdigit()):
            return _without_article(rest, language)
    return word


def _plain(name: str) -> str:
    """Return a name without possessive endings (*'s*)."""
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
    return names.corrected(word, known)


def _is_article(literal: Literal, words: Sequence[str], language: Language) -> bool:
    """Return whether a numeral is an article or particle (*schalte das Licht ein*)."""
    said = [words[n] for n in literal.places]
    return literal.type == "number" and not literal.unit and set(said) <= set(language.articles)


def _is_in_word(literal: Literal, words: Sequence[str]) -> bool:
    """Return whether a number is part of a word (*CO2*)."""
    is_plain = literal.type == "number" and not literal.unit
    return is_plain and any(
        words[n][0].isalpha() and not words[n].isalpha() for n in literal.places
    )


def _literal_mark(literal: Literal) -> str:
    return f"‹{literal.unit}›" if literal.type == "number" and literal.unit else f"‹{literal.type}›"
