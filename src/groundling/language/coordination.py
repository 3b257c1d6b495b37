"""Splitting of texts into commands, and completion of elliptical parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from groundling.language.instruction import Instruction
from groundling.language.languages import NEUTRAL, Language
from groundling.language.literals import read_literals

_MOST_CUTS = 3  # with more places to split at, only splitting at all of them is tried
_MARKS = frozenset(",;")

Segment = tuple[str, ...]
"""Consecutive words of a text, without connectives at either end."""


def cuts_of(text: Sequence[Instruction], language: Language) -> list[Segment]:
    """Split a text at sentence ends, commas and connectives such as *and*.

    A connective inside a value (*two hours and five minutes*) does not split the text.

    >>> from groundling.language import ENGLISH, ChainParser
    >>> text = ChainParser(language=ENGLISH).parse("Heat the hall for an hour and a half, and then "
    ...                                            "lock the side door lock. Thanks!")
    >>> [" ".join(each) for each in cuts_of(text, ENGLISH)]
    ['Heat the hall for an hour and a half', 'lock the side door lock', 'Thanks']
    """
    found: list[list[str]] = []
    for sentence in text:
        words = sentence.tokens
        joints = {
            place
            for place, word in enumerate(words)
            if word in _MARKS or language.fold(word) in language.connectives
        }
        marks = [word for word in words[:-1] if not any(map(str.isalnum, word))]
        inside = {
            place
            for literal in (read_literals(words, language) if joints or marks else ())
            for place in range(literal.places[0], literal.places[-1])
        }
        found.append([])
        for place, word in enumerate(words):
            if place in joints - inside:
                found.append([])
            elif any(map(str.isalnum, word)) or place in inside:
                found[-1].append(word)
    return [tuple(each) for each in found if each]


def segmentations(segments: Sequence[Segment], joint: str) -> Iterator[tuple[Segment, ...]]:
    """Yield the ways to join segments into two or more parts, most parts first.

    Neighbouring segments are joined by the word `joint`.

    >>> for parts in segmentations([("open", "it"), ("salt",), ("pepper",)], "and"):
    ...     print([" ".join(part) for part in parts])
    ['open it', 'salt', 'pepper']
    ['open it', 'salt and pepper']
    ['open it and salt', 'pepper']
    """
    places = range(1, len(segments))
    for size in range(len(places), 0, -1):
        if size < len(places) > _MOST_CUTS:
            return
        for chosen in combinations(places, size):
            ends = (0, *chosen, len(segments))
            yield tuple(_joined(segments[first:last], joint) for first, last in pairwise(ends))


def readings(parts: Sequence[Segment], place: int, language: Language = NEUTRAL) -> list[Segment]:
    """Return the possible complete forms of an elliptical part, the part itself first.

    A part may share the beginning of the part before it (*open the blinds in the kitchen and the
    hall*), or the end of the part after it (*the kitchen and hall lights*). A part that contains a
    value does not take a value from its neighbour.

    >>> parts = [("dim", "the", "hall"), ("the", "attic", "to", "20")]
    >>> [" ".join(each) for each in readings(parts, 1)]
    ['the attic to 20', 'dim the attic to 20', 'dim the the attic to 20']
    >>> " ".join(readings(parts, 0)[2])
    'dim the hall to 20'
    """
    part = parts[place]
    before = parts[place - 1] if place else ()
    after = parts[place + 1] if place + 1 < len(parts) else ()
    found = [part]
    found += [before[:size] + part for size in range(1, len(before))]
    found += [part + after[first:] for first in range(1, len(after))]
    said = len(read_literals(part, language))
    return [e for e in found if not said or len(read_literals(e, language)) <= said]


def is_polite(words: Sequence[str], language: Language) -> bool:
    """Return whether a text has only function words, greetings and polite words.

    >>> from groundling.language import ENGLISH
    >>> is_polite(("Alright", "thanks"), ENGLISH), is_polite(("thanks", "lamp"), ENGLISH)
    (True, False)
    """
    plain, greetings = language.plain_words, language.greetings
    folded = (language.fold(word) for word in words if any(map(str.isalnum, word)))
    return all(word in plain or word in greetings for word in folded)


def _joined(segments: Sequence[Segment], joint: str) -> Segment:
    words = list(segments[0])
    for each in segments[1:]:
        words += [joint, *each]
    return tuple(words)
