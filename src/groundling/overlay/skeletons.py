"""The skeleton of a text: the parent of each word, and the kind of link to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from groundling.language.instruction import Instruction
from groundling.overlay.settings import Overlay

# The link between a word and its parent.
BOUND = 0  # same unit: a neighbouring node of the same action
FREE = 1  # another unit of the sentence, if units are words: a neighbouring node or another action
UNIT = 2  # head of a unit: an entry node of the same action or of a later one

UnitSplitter = Callable[[Instruction, str], Sequence[Sequence[int]]]
Word = tuple[int, int]  # sentence and position


@dataclass(frozen=True)
class Skeleton:
    """The words of a text, ordered with dependents before their parents.

    For word i, `sentence[i]` and `position[i]` give its place in the text, and `parent[i]` the
    index of its parent in this order (-1 for a root). `link[i]`, `relation[i]` and `direction[i]`
    (+1 if the word is right of its parent) describe the link to the parent. `group[i]` is the unit
    whose score the word contributes to.
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
        """Return the skeleton of the given groups, and the original indices of its words.

        >>> text = [Instruction.chain("go up"), Instruction.chain("wait")]
        >>> skeleton = separate_skeleton(text, Overlay(), lambda each, unit: [range(len(each))])
        >>> skeleton.select([0])[0].parent, skeleton.select([1])[1]
        ((1, -1), (1,))
        """
        number = {group: place for place, group in enumerate(groups)}
        kept = tuple(place for place, group in enumerate(self.group) if group in number)
        moved = {place: new for new, place in enumerate(kept)} | {-1: -1}
        same = ("sentence", "position", "link", "relation", "direction")
        chosen = Skeleton(
            **{name: tuple(getattr(self, name)[i] for i in kept) for name in same},
            parent=tuple(moved[self.parent[i]] for i in kept),
            group=tuple(number[self.group[i]] for i in kept),
            groups=len(number),
        )
        return chosen, kept


class _Link(NamedTuple):
    """The link from a word to its parent (if any), and the group of the word."""

    parent: Word | None
    kind: int
    relation: str
    group: int = 0


def joined_skeleton(
    text: Sequence[Instruction],
    overlay: Overlay,
    split: UnitSplitter,
    dropped: Collection[Word] = (),
) -> Skeleton:
    """Return a text's skeleton for alignment with whole plans, as one group.

    The dependents of a dropped word are attached to its nearest kept ancestor.
    """
    heads = _heads(text, overlay)
    unit_of: dict[Word, Word] = {}
    for number, instruction in enumerate(text):
        for place, unit in enumerate(split(instruction, overlay.unit)):
            unit_of |= {(number, position): (number, place) for position in unit}
    links: dict[Word, _Link] = {}
    last_top: Word | None = None
    for number, instruction in enumerate(text):
        for position in range(len(instruction)):
            word = (number, position)
            head, relation = heads[word], _relation(instruction, position, overlay)
            if overlay.skeleton == "bag":
                links[word] = _Link(None, BOUND, relation)
            elif head is None:
                links[word] = _Link(last_top, UNIT, "sentence")
            elif unit_of[word] == unit_of[head]:
                links[word] = _Link(head, BOUND, relation)
            else:
                links[word] = _Link(head, FREE if overlay.unit == "word" else UNIT, relation)
        top = next(w for w in heads if w[0] == number and heads[w] is None)
        last_top = (number, len(instruction) - 1) if overlay.skeleton == "chain" else top
    return _skeleton(_without(links, dropped) if dropped else links, 1)


def separate_skeleton(
    text: Sequence[Instruction], overlay: Overlay, split: UnitSplitter
) -> Skeleton:
    """Return a text's skeleton for alignment with single actions; each unit is a group."""
    heads = _heads(text, overlay)
    links: dict[Word, _Link] = {}
    count = 0
    for number, instruction in enumerate(text):
        for unit in split(instruction, overlay.unit):
            members = {(number, position) for position in unit}
            top: Word | None = None
            for word in sorted(members):
                head = None if overlay.skeleton == "bag" else heads[word]
                while head is not None and head not in members:
                    head = heads[head]
                if head is None and overlay.skeleton != "bag":  # attach other roots to the first
                    head, top = top, top or word
                links[word] = _Link(head, BOUND, _relation(instruction, word[1], overlay), count)
            count += 1
    return _skeleton(links, count)


def _without(links: Mapping[Word, _Link], dropped: Collection[Word]) -> dict[Word, _Link]:
    """Return the links of the words that are kept."""
    found: dict[Word, _Link] = {}
    top: Word | None = None
    for word, link in links.items():
        if word in dropped:
            continue
        parent, kind = link.parent, link.kind
        while parent is not None and parent in dropped:
            kind = max(kind, links[parent].kind)
            parent = links[parent].parent
        if parent is None and link.parent is not None:  # attach the other new roots to the first
            parent, top = top, top or word
        found[word] = link._replace(parent=parent, kind=kind)
    return found


def _heads(text: Sequence[Instruction], overlay: Overlay) -> dict[Word, Word | None]:
    """Return the parent of each word, in text order; None for roots."""
    heads: dict[Word, Word | None] = {}
    for number, instruction in enumerate(text):
        for position in range(len(instruction)):
            head = instruction.heads[position] if overlay.skeleton == "tree" else position - 1
            heads[number, position] = None if head < 0 else (number, head)
    return heads


def _relation(instruction: Instruction, position: int, overlay: Overlay) -> str:
    return instruction.relations[position] if overlay.skeleton == "tree" else "next"


def _skeleton(links: dict[Word, _Link], groups: int) -> Skeleton:
    children: dict[Word | None, list[Word]] = {}
    for word in sorted(links):
        children.setdefault(links[word].parent, []).append(word)
    order = children.get(None, [])
    for word in order:  # breadth first: the list grows during iteration
        order.extend(children.get(word, ()))
    order.reverse()
    place: dict[Word | None, int] = {word: i for i, word in enumerate(order)} | {None: -1}
    hung = [links[word] for word in order]
    return Skeleton(
        sentence=tuple(word[0] for word in order),
        position=tuple(word[1] for word in order),
        parent=tuple(place[each.parent] for each in hung),
        link=tuple(each.kind for each in hung),
        relation=tuple(each.relation for each in hung),
        direction=tuple(
            -1 if each.parent is not None and word < each.parent else 1
            for word, each in zip(order, hung, strict=True)
        ),
        group=tuple(each.group for each in hung),
        groups=groups,
    )
