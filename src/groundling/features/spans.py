"""Spans: sequences of words in a text that name values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from groundling.features.labels import LABEL, NUMBER
from groundling.language.languages import NEUTRAL, Language

EXACT, PLURAL, EDIT, PART = range(4)
_EXTENT = (1.0, 0.95, 0.85)  # extents of an exact match, a plural and a misspelling
_REORDERED = 0.9  # factor if all words of a name are found, but not in a row
_PARTIAL = 0.5  # factor if only some words of a name are found
_SHORTEST = 3  # minimum letters of a word that may match part of a name
_MISSPELT = 4  # minimum letters of a word to which misspellings are corrected
_SPLIT = re.compile(r"[\W_]+")


class Span(NamedTuple):
    """The words of a text that name a value.

    `places` are their positions in the text, `extent` is a measure of how much of the name they
    match (1 for all of it), and `way` is the kind of match.
    """

    kind: str
    value: str
    places: tuple[int, ...]
    extent: float
    way: int


class SpanIndex:
    """An index of the names in an environment, for finding them in texts.

    A name matches if the text contains all of its words in a row, or else some of them close
    together. A span inside a longer span that matches equally well is dropped. A partial match is
    dropped if its words match a whole name, or more of another name.

    Parameters
    ----------
    values
        The values of each kind.
    language
        The language, for folding and singulars.

    Examples
    --------
    >>> index = SpanIndex({"name": {"Shed Lock", "Shed Lamp", "Lamp"}, "kind": {"lock"}})
    >>> for span in index.find("lock the shed lock".split()):
    ...     print(span.kind, span.value, span.places, span.extent)
    kind lock (0,) 1.0
    name Shed Lock (2, 3) 1.0
    >>> [span.value for span in index.find("light the lamp".split())]
    ['Lamp']
    >>> [(span.value, span.extent) for span in index.find("open the shed".split())]
    [('Shed Lamp', 0.25), ('Shed Lock', 0.25)]
    """

    def __init__(self, values: Mapping[str, Iterable[str]], language: Language = NEUTRAL) -> None:
        self.language = language
        self._names: list[tuple[str, str, tuple[str, ...]]] = []
        self._spelt: dict[str, list[tuple[int, int]]] = {}  # word -> (name, index in the name)
        self._stems: dict[str, list[tuple[int, int]]] = {}
        for kind in sorted(values):
            for value in sorted(values[kind]) if kind != NUMBER else ():
                parts = split_name(language.fold(value))
                number = len(self._names)
                for place, part in enumerate(parts):
                    self._spelt.setdefault(part, []).append((number, place))
                self._names.append((kind, value, parts))
        for part, named in self._spelt.items():
            for form in self._forms(part):
                known = self._stems.get(form)
                self._stems[form] = named if known is None else [*known, *named]
        self.words = frozenset(self._spelt)

    def __contains__(self, word: str) -> bool:
        return all(
            part in self._spelt or any(form in self._stems for form in self._forms(part))
            for part in split_word(word)
        )

    def _forms(self, word: str) -> tuple[str, ...]:
        """Return a word and its possible singulars."""
        return (word, *self.language.stems(word))

    def nearest(self, word: str) -> str:
        """Return a word of a name one edit away from `word`, or "" if there is none."""
        plain = word in self.language.plain_words
        return "" if plain else next(iter(_within_one_edit(word, self.words)), "")

    def find(self, words: Sequence[str], known: Collection[str] = ()) -> list[Span]:
        """Return the names found in folded words, as spans in text order.

        Words in `known` are never corrected.

        >>> SpanIndex({"file": {"notes.txt"}}).find("open notes.txt".split())[0].places
        (1,)
        """
        said: dict[int, dict[tuple[int, int], int]] = {}  # name -> (index in name, text) -> way
        parts_of = [split_word(word) for word in words]
        owner = [place for place, parts in enumerate(parts_of) for _ in parts]
        for place, word in enumerate(chain.from_iterable(parts_of)):
            for (name, part), way in self._ways(word, known).items():
                said.setdefault(name, {})[part, place] = way
        whole: list[Span] = []
        some: list[Span] = []
        for name, ways in sorted(said.items()):
            kind, value, parts = self._names[name]
            found = [
                Span(kind, value, tuple(range(start, start + len(parts))), *_rated(run))
                for (part, start) in ways
                if part == 0
                and None not in (run := [ways.get((n, start + n)) for n in range(len(parts))])
            ]
            whole += found
            if not found and len(parts) > 1 and (partial := _part(kind, value, parts, ways)):
                some.append(partial)
        best = _best(whole, some)
        if len(owner) > len(words):  # several parts of names may be in one word
            best = [
                each._replace(places=tuple(dict.fromkeys(owner[at] for at in each.places)))
                for each in best
            ]
        return sorted(best, key=lambda span: (span.places, span.kind, span.value))

    def _ways(self, word: str, known: Collection[str]) -> dict[tuple[int, int], int]:
        """Return the words in names that a word matches, each with the kind of match."""
        forms = self._forms(word)
        found = {here: PLURAL for form in forms for here in self._stems.get(form, ())}
        found |= dict.fromkeys(self._spelt.get(word, ()), EXACT)
        if not found and word not in known and word not in self.language.plain_words:
            nearest = _within_one_edit(word, self._spelt)
            found = {here: EDIT for part in nearest for here in self._spelt[part]}
        return found


def split_name(folded: str) -> tuple[str, ...]:
    """Split a folded name into its words, without punctuation.

    >>> split_name("living-room light"), split_name("notes.txt")
    (('living', 'room', 'light'), ('notes', 'txt'))
    """
    if folded.replace(" ", "").isalnum():  # the same, but faster
        parts = tuple(folded.split(" "))
    else:
        parts = tuple(_SPLIT.split(folded))
    return tuple(filter(None, parts)) if "" in parts else parts


def split_word(word: str) -> tuple[str, ...]:
    """Split a word with punctuation inside (*notes.txt*); numbers and contractions stay whole."""
    inside = word[:1].isalnum() and word[-1:].isalnum() and not word.isalnum()
    if not inside or "'" in word or "’" in word or not any(map(str.isalpha, word)):
        return (word,)
    return split_name(word) or (word,)


def spoken_kinds(
    cases: Iterable[tuple[Sequence[str], SpanIndex, Collection[tuple[str, str]]]],
) -> dict[str, tuple[int, int]]:
    """Count, by kind, the texts that name a value, and those whose plan contains it.

    A case consists of the folded words of a text, the names in its environment, and the (kind,
    value) pairs of the demonstrated plan. The two counts of a kind are close if texts name the
    values that their plans contain. Partial matches are not counted.

    >>> index = SpanIndex({"name": {"Shed Lock", "Lamp"}, "kind": {"lock"}})
    >>> shown = {("name", "Shed Lock"), ("kind", "lock")}
    >>> spoken_kinds([(["open", "the", "shed", "lock"], index, shown)])
    {'name': (1, 1)}
    """
    counts: dict[str, tuple[int, int]] = {}
    for words, names, shown in cases:
        said: dict[str, bool] = {}
        for span in names.find(words, words):
            if span.way != PART:
                said[span.kind] = said.get(span.kind, False) or (span.kind, span.value) in shown
        for kind, right in said.items():
            mentions, hits = counts.get(kind, (0, 0))
            counts[kind] = (mentions + 1, hits + right)
    return dict(sorted(counts.items()))


def nearest_word(word: str, counts: Mapping[str, int]) -> str:
    """Return the most frequent word one edit away, or "" if there is none.

    Words that occur once are left out.

    >>> nearest_word("trun", {"turn": 9, "run": 3, "open": 5})
    'turn'
    """
    near = [each for each in _within_one_edit(word, counts) if counts[each] > 1]
    return min(near, key=lambda each: (-counts[each], each), default="")


def _within_one_edit(word: str, words: Iterable[str]) -> list[str]:
    if len(word) < _MISSPELT - 1 or not word.isalpha():
        return []
    found = process.extract(word, list(words), scorer=OSA.distance, score_cutoff=1, limit=None)
    return sorted(each for each, _, _ in found if len(each) >= _MISSPELT)


def _rated(ways: Sequence[int | None]) -> tuple[float, int]:
    """Return the extent of a match of several words, and its least exact kind."""
    said = [way for way in ways if way is not None]
    return sum(_EXTENT[way] for way in said) / len(ways), max(said)


def _part(
    kind: str, value: str, parts: Sequence[str], ways: Mapping[tuple[int, int], int]
) -> Span | None:
    """Return the span of words that match part of a name, or None if there is none."""
    taken: dict[int, float] = {}
    short: set[int] = set()
    places: dict[int, list[int]] = {}
    for part, at in sorted(ways):
        places.setdefault(part, []).append(at)
    for part, word in enumerate(parts):
        free = next((at for at in places.get(part, ()) if at not in taken), None)
        if free is not None and (len(word) >= _SHORTEST or kind == LABEL):
            taken[free] = _EXTENT[ways[part, free]]
            if len(word) < _SHORTEST:
                short.add(free)
    if len(taken) < len(parts):
        taken = {at: extent for at, extent in taken.items() if at not in short}
    apart = bool(taken) and max(taken) - min(taken) > len(parts)
    # Verbs may be split (“turn the lamp on”); words of other names must be adjacent.
    parted = kind == LABEL and len(taken) == len(parts) and list(taken) == sorted(taken)
    if not taken or (apart and not parted):
        return None
    share = sum(taken.values()) / len(parts)
    extent = share * (_REORDERED if len(taken) == len(parts) else _PARTIAL)
    return Span(kind, value, tuple(sorted(taken)), extent, PART)


def _best(whole: Sequence[Span], some: Sequence[Span]) -> list[Span]:
    """Drop spans inside longer names, and partial matches that other names explain."""
    kept = [
        span
        for span in whole
        if not any(
            len(other.places) > len(span.places)
            and other.way <= span.way
            and set(span.places) < set(other.places)
            for other in whole
        )
    ]
    used = {place for span in kept for place in span.places}
    verbs = {place for span in kept if span.kind == LABEL for place in span.places}
    most: dict[tuple[int, ...], float] = {}
    for span in some:
        most[span.places] = max(span.extent, most.get(span.places, 0.0))
    return kept + [
        span
        for span in some
        if span.extent >= most[span.places]
        and not used.issuperset(span.places)
        and not (span.kind == LABEL and verbs & set(span.places))
        and not any(set(span.places) < set(other) for other in most)
    ]
