"""The skeleton of a text: which word hangs from which, and where links may cross actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from groundling.language.instruction import Instruction
from groundling.overlay.settings import Overlay

__all__ = [
    "BOUND",
    "FREE",
    "UNIT",
    "Skeleton",
    "UnitSplitter",
    "joined_skeleton",
    "separate_skeleton",
]

# How a word is linked to the word it hangs from.
BOUND = 0  # same unit: a neighbouring node of the same action
FREE = 1  # other unit, inside a sentence read word by word: a neighbour, or another action
UNIT = 2  # head of a unit: the same action anew, or a later one

UnitSplitter = Callable[[Instruction, str], Sequence[Sequence[int]]]


@dataclass(frozen=True)
class Skeleton:
    """Words in an order where dependents stand before what they hang from.

    For word i: `sentence[i]` and `position[i]` say which word it is, `parent[i]` its place
    in this order (-1: a root), `link[i]`, `relation[i]` and `direction[i]` (+1: it stands
    right of its parent) how it hangs there, `group[i]` the unit whose score it counts to.
    """

    sentence: tuple[int, ...]
    position: tuple[int, ...]
    parent: tuple[int, ...]
    link: tuple[int, ...]
    relation: tuple[str, ...]
    direction: tuple[int, ...]
    group: tuple[int, ...]
    groups: int

    def __len__(self) -> int:
        return len(self.parent)

    def select(self, groups: Iterable[int]) -> tuple[Skeleton, tuple[int, ...]]:
        """Return the skeleton of some groups, numbered anew in that order, and its words' places.

        >>> text = [Instruction.chain("go up"), Instruction.chain("wait")]
        >>> skeleton = separate_skeleton(text, Overlay(), lambda each, unit: [range(len(each))])
        >>> skeleton.select([0])[0].parent, skeleton.select([1])[1]
        ((1, -1), (1,))
        """
        number = {group: place for place, group in enumerate(groups)}
        kept = tuple(place for place, group in enumerate(self.group) if group in number)
        moved = {place: new for new, place in enumerate(kept)} | {-1: -1}
        return (
            Skeleton(
                sentence=tuple(self.sentence[i] for i in kept),
                position=tuple(self.position[i] for i in kept),
                parent=tuple(moved[self.parent[i]] for i in kept),
                link=tuple(self.link[i] for i in kept),
                relation=tuple(self.relation[i] for i in kept),
                direction=tuple(self.direction[i] for i in kept),
                group=tuple(number[self.group[i]] for i in kept),
                groups=len(number),
            ),
            kept,
        )


def joined_skeleton(text: Sequence[Instruction], overlay: Overlay, split: UnitSplitter) -> Skeleton:
    """Return the skeleton of a whole text, to be laid over whole plans; all words in one group."""
    words, heads = _words(text, overlay)
    unit_of: dict[tuple[int, int], tuple[int, int]] = {}
    for number, instruction in enumerate(text):
        for place, unit in enumerate(split(instruction, overlay.unit)):
            unit_of |= {(number, position): (number, place) for position in unit}
    links: dict[tuple[int, int], tuple[tuple[int, int] | None, int, str]] = {}
    last_top: tuple[int, int] | None = None
    for number, instruction in enumerate(text):
        for position in range(len(instruction)):
            word = (number, position)
            head = heads[word]
            relation = _relation(instruction, position, overlay)
            if overlay.skeleton == "bag":
                links[word] = (None, BOUND, relation)
            elif head is None:
                links[word] = (last_top, UNIT, "sentence")
            else:
                kind = (
                    BOUND
                    if unit_of[word] == unit_of[head]
                    else FREE
                    if overlay.unit == "word"
                    else UNIT
                )
                links[word] = (head, kind, relation)
        top = next(w for w in words if w[0] == number and heads[w] is None)
        last_top = (number, len(instruction) - 1) if overlay.skeleton == "chain" else top
    return _skeleton(words, links, dict.fromkeys(words, 0), 1)


def separate_skeleton(
    text: Sequence[Instruction], overlay: Overlay, split: UnitSplitter
) -> Skeleton:
    """Return the skeletons of a text's units, each a group, to be laid over single actions."""
    words, heads = _words(text, overlay)
    links: dict[tuple[int, int], tuple[tuple[int, int] | None, int, str]] = {}
    group: dict[tuple[int, int], int] = {}
    count = 0
    for number, instruction in enumerate(text):
        for unit in split(instruction, overlay.unit):
            members = {(number, position) for position in unit}
            top: tuple[int, int] | None = None
            for word in sorted(members):
                group[word] = count
                head = heads[word]
                while head is not None and head not in members:
                    head = heads[head]
                relation = _relation(instruction, word[1], overlay)
                if overlay.skeleton == "bag":
                    links[word] = (None, BOUND, relation)
                elif head is not None:
                    links[word] = (head, BOUND, relation)
                elif top is None:
                    top = word
                    links[word] = (None, BOUND, relation)
                else:
                    links[word] = (top, BOUND, relation)
            count += 1
    return _skeleton(words, links, group, count)


Word = tuple[int, int]


def _words(
    text: Sequence[Instruction], overlay: Overlay
) -> tuple[list[Word], dict[Word, Word | None]]:
    words = [(n, position) for n, each in enumerate(text) for position in range(len(each))]
    heads: dict[Word, Word | None] = {}
    for number, position in words:
        tree = overlay.skeleton == "tree"
        head = text[number].heads[position] if tree else position - 1
        heads[number, position] = None if head < 0 else (number, head)
    return words, heads


def _relation(instruction: Instruction, position: int, overlay: Overlay) -> str:
    return instruction.relations[position] if overlay.skeleton == "tree" else "next"


def _skeleton(
    words: list[Word],
    links: dict[Word, tuple[Word | None, int, str]],
    group: dict[Word, int],
    groups: int,
) -> Skeleton:
    children: dict[Word, list[Word]] = {word: [] for word in words}
    order: list[Word] = []
    for word in words:
        parent = links[word][0]
        if parent is None:
            order.append(word)
        else:
            children[parent].append(word)
    for word in order:  # grows while it is walked: parents first
        order.extend(children[word])
    order.reverse()
    place = {word: i for i, word in enumerate(order)}
    parents = [links[word][0] for word in order]
    return Skeleton(
        sentence=tuple(word[0] for word in order),
        position=tuple(word[1] for word in order),
        parent=tuple(-1 if parent is None else place[parent] for parent in parents),
        link=tuple(links[word][1] for word in order),
        relation=tuple(links[word][2] for word in order),
        direction=tuple(
            -1 if parent is not None and word < parent else 1
            for word, parent in zip(order, parents, strict=True)
        ),
        group=tuple(group[word] for word in order),
        groups=groups,
    )
