"""Correction of two attachment errors of the shipped parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundling.language.instruction import Instruction

_INSIDE = frozenset({"ADJ", "ADP", "ADV", "DET", "NOUN", "NUM", "PROPN"})
"""Tags of words inside noun phrases."""


def attach_clauses(sentence: Instruction) -> Instruction:
    """Attach comparisons and coordinated phrases to the words that they modify.

    - *a ball in the same row as a cup*: *cup* depends on *row*, if *row* belongs to a noun or to
      a relative clause.
    - *a ball that is near a box and (is) in a sink*: *sink* is coordinated with *box*, if both
      are prepositional phrases.

    Both kinds of phrase are rare in treebanks, so the parser attaches them to the verb. Other
    sentences are returned unchanged.

    >>> tokens = "push", "a", "ball", "in", "the", "same", "row", "as", "a", "cup"
    >>> tags = "VERB", "DET", "NOUN", "ADP", "DET", "ADJ", "NOUN", "ADP", "DET", "NOUN"
    >>> names = ("root", "det", "obj", "case", "det", "amod", "nmod", "case", "det", "obl")
    >>> parsed = Instruction(tokens, (-1, 2, 0, 6, 6, 6, 2, 9, 9, 0), names, tags)
    >>> print(attach_clauses(parsed).tree())
    push (root)
    └─ ball (obj)
       ├─ a (det)
       └─ row (nmod)
          ├─ in (case)
          ├─ the (det)
          ├─ same (amod)
          └─ cup (nmod)
             ├─ as (case)
             └─ a (det)
    """
    if "and" not in sentence.tokens and "as" not in sentence.tokens:
        return sentence
    heads, relations = list(sentence.heads), list(sentence.relations)
    for place, relation in enumerate(sentence.relations):
        if relation == "cc":
            _coordinate(sentence, place, heads, relations)
    for place, relation in enumerate(sentence.relations):
        if relation == "case" and sentence.tokens[place].lower() == "as":
            _compare(sentence, place, heads, relations)
    if heads == list(sentence.heads):
        return sentence
    return replace(sentence, heads=tuple(heads), relations=tuple(relations))


def _coordinate(sentence: Instruction, place: int, heads: list[int], relations: list[str]) -> None:
    """Attach a prepositional phrase after *and* to the relative clause before it."""
    other = heads[place]
    clauses = [each for each in range(place) if relations[each] == "acl:relcl"]
    if not clauses or other < place or relations[other] != "conj":
        return
    clause = clauses[-1]
    phrases = all(
        sentence.tags[word] == "NOUN" and _child(word, "case", heads, relations) is not None
        for word in (clause, other)
    )
    if (
        phrases
        and _child(clause, "cop", heads, relations) is not None
        and _INSIDE.issuperset(sentence.tags[clause:place])
        and not _is_below(clause, other, heads)
    ):
        heads[other] = clause


def _compare(sentence: Instruction, place: int, heads: list[int], relations: list[str]) -> None:
    """Attach the noun after *as* to the noun with *same* before it."""
    noun, standard = place - 1, heads[place]
    if standard < place or sentence.tags[noun] != "NOUN" or sentence.tags[standard] != "NOUN":
        return
    first = _child(noun, "case", heads, relations)
    if first is None or "same" not in sentence.tokens[first:noun] or noun - first > 3:
        return
    clause = heads[noun] if relations[noun] == "conj" else noun
    is_of_noun = clause == noun and _child(first - 1, "det", heads, relations) is not None
    if (relations[clause] == "acl:relcl" or is_of_noun) and not _is_below(noun, standard, heads):
        heads[standard], relations[standard] = noun, "nmod"


def _child(word: int, relation: str, heads: Sequence[int], relations: Sequence[str]) -> int | None:
    """Return the first dependent with a given relation to a word, or None."""
    pairs = zip(heads, relations, strict=True)
    return next((n for n, pair in enumerate(pairs) if pair == (word, relation)), None)


def _is_below(word: int, other: int, heads: Sequence[int]) -> bool:
    """Return whether a word is in the subtree of another word."""
    while word not in (other, -1):
        word = heads[word]
    return word == other
