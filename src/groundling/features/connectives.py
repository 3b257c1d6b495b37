"""Connectives that reverse clauses, and the reordering of texts that contain them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from groundling.language.instruction import Instruction

PLACES = ("middle", "front", "sentence")


class Connective(NamedTuple):
    """A word that reverses the order of two clauses or sentences.

    The place is one of:

    - `middle` (*X after you Y*): the clause that begins with the connective comes first;
    - `front` (*before you Y, X*): the clause after the next comma comes first;
    - `sentence` (*Y. Before that, X.*): the sentence of the connective comes before the previous
      one.

    >>> print(Connective("after", "middle"))
    after (middle)
    """

    word: str
    place: str

    def __str__(self) -> str:
        return f"{self.word} ({self.place})"


def in_order(
    text: Sequence[Instruction],
    connectives: Collection[Connective],
    fold: Callable[[str], str] = str.lower,
) -> tuple[Instruction, ...]:
    """Return a text with its clauses in the order of the actions.

    >>> text = [Instruction.chain("stop after you turn left")]
    >>> [turned] = in_order(text, {Connective("after", "middle")})
    >>> turned.tokens
    ('after', 'you', 'turn', 'left', 'stop')
    >>> text = [Instruction.chain("stop"), Instruction.chain("before that turn left")]
    >>> [str(each) for each in in_order(text, {Connective("before", "sentence")})]
    ['before that turn left', 'stop']
    """
    if not connectives:
        return tuple(text)
    found: list[Instruction] = []
    for instruction in text:
        known = next((c for c in _places(instruction, bool(found), fold) if c in connectives), None)
        if known is None:
            found.append(instruction)
        elif known.place == "sentence":
            found.insert(len(found) - 1, instruction)
        else:
            found.append(_turned(instruction, known, fold))
    return tuple(found)


def possible_connectives(
    text: Sequence[Instruction], fold: Callable[[str], str] = str.lower
) -> set[Connective]:
    """Return every word of a text that could be a connective, with its place.

    >>> sorted(map(str, possible_connectives([Instruction.chain("stop after turning")])))
    ['after (middle)']
    """
    found: set[Connective] = set()
    for number, instruction in enumerate(text):
        found.update(_places(instruction, number > 0, fold))
    return found


def _places(
    instruction: Instruction, follows: bool, fold: Callable[[str], str]
) -> Iterator[Connective]:
    words = [fold(word) for word in instruction.tokens]
    if follows:
        yield Connective(words[0], "sentence")
    if _comma(instruction) is not None:
        yield Connective(words[0], "front")
    for position in range(1, _end(instruction) - 1):
        if words[position].isalpha():
            yield Connective(words[position], "middle")


def _comma(instruction: Instruction) -> int | None:
    """Return the index of the first punctuation mark inside a sentence, or None."""
    marks = [i for i, tag in enumerate(instruction.tags) if tag == "PUNCT"]
    return next((i for i in marks if 0 < i < _end(instruction) - 1), None)


def _end(instruction: Instruction) -> int:
    """Return the number of words before the final punctuation marks."""
    end = len(instruction)
    while end > 1 and instruction.tags[end - 1] == "PUNCT":
        end -= 1
    return end


def _turned(
    instruction: Instruction, connective: Connective, fold: Callable[[str], str]
) -> Instruction:
    end = _end(instruction)
    if connective.place == "front":
        comma = _comma(instruction)
        assert comma is not None
        cut = comma + 1
    else:
        words = [fold(word) for word in instruction.tokens]
        cut = words.index(connective.word, 1)
    order = [*range(cut, end), *range(cut), *range(end, len(instruction))]
    tokens = tuple(instruction.tokens[i] for i in order)
    tags = tuple(instruction.tags[i] for i in order)
    if instruction.heads == tuple(range(-1, len(order) - 1)):  # the result of a chain is a chain
        return replace(instruction, tokens=tokens, tags=tags)
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    return replace(
        instruction,
        tokens=tokens,
        tags=tags,
        heads=tuple(place[instruction.heads[i]] for i in order),
        relations=tuple(instruction.relations[i] for i in order),
    )
