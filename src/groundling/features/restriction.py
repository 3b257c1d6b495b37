"""Restriction: labels that limit which things a superlative or ordinal compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundling.features.labels import LABEL, NUMBER, ORDINAL, RANK, STRING, WordLabel
from groundling.features.reader import LabelledWord
from groundling.language.instruction import Instruction

_NO_KINDS = frozenset({"", LABEL, NUMBER, ORDINAL, RANK, STRING})
_COUNTED = ("word=‹ordinal›", "around=")  # prefixes of labels of ordinals, which match ranks


def restrict_ranks(instruction: Instruction, words: Sequence[LabelledWord]) -> list[LabelledWord]:
    """Add rank labels to words, with the kinds of values in the phrase of each word.

    In *the biggest red circle*, *biggest* gets the kinds colour and shape. It matches the rank
    among things that have the same colour and shape. The phrase of a word consists of its
    descendants, its head and its siblings.

    >>> red = (WordLabel("word=‹colour›", "colour", "red"), 1.0)
    >>> tree = Instruction(("biggest", "red"), heads=(-1, 0), relations=("root", "amod"))
    >>> restrict_ranks(tree, [((WordLabel("word=biggest"), 1.0),), (red,)])[0][-1][0]
    WordLabel(name='word=biggest', kind='rank', value='colour')
    """
    heads = instruction.heads
    kinds = [{label.kind for label, _ in labels} - _NO_KINDS for labels in words]
    below = [set(own) for own in kinds]
    for place in range(len(words)):
        above, steps = heads[place], 0
        while above >= 0 and steps < len(words):
            below[above] |= kinds[place]
            above, steps = heads[above], steps + 1
    found = []
    for place, labels in enumerate(words):
        head = heads[place]
        phrase = set(below[place])
        if head >= 0:
            phrase |= kinds[head].union(*(kinds[n] for n, h in enumerate(heads) if h == head))
        among = " ".join(sorted(phrase))
        found.append((*labels, *_ranked(labels, among, bool(kinds[place]))))
    return found


def _ranked(labels: LabelledWord, among: str, names: bool) -> Iterator[tuple[WordLabel, float]]:
    """Yield the rank labels of a word; those of an ordinal include its number."""
    for label, amount in labels:
        if label.kind == ORDINAL and label.name.startswith(_COUNTED):
            yield WordLabel(label.name, RANK, f"{label.value:g} {among}".strip()), amount
        elif not (names or label.kind or "‹" in label.name) and label.name.startswith("word="):
            yield WordLabel(label.name, RANK, among), amount
