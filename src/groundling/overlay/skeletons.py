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
    links = _links(text, overlay)
    last_top: Word | None = None
    for number, instruction in enumerate(text if overlay.skeleton != "bag" else ()):
        units = enumerate(split(instruction, overlay.unit))
        unit_of = {position: place for place, unit in units for position in unit}
        for position in range(len(instruction)):
            link = links[number, position]
            if link.parent is None:
                link = link._replace(parent=last_top, kind=UNIT, relation="sentence")
            elif unit_of[position] != unit_of[link.parent[1]]:
                link = link._replace(kind=FREE if overlay.unit == "word" else UNIT)
            links[number, position] = link
        chain = overlay.skeleton == "chain"
        last_top = (number, len(instruction) - 1 if chain else instruction.root)
    return _skeleton(_without(links, dropped) if dropped else links, 1)


def separate_skeleton(
    text: Sequence[Instruction], overlay: Overlay, split: UnitSplitter
) -> Skeleton:
    """Return a text's skeleton for alignment with single actions; each unit is a group."""
    heads = _links(text, overlay)
    links: dict[Word, _Link] = {}
    count = 0
    for number, instruction in enumerate(text):
        for unit in split(instruction, overlay.unit):
            members = {(number, position) for position in unit}
            top: Word | None = None
            for word in sorted(members):
                head = heads[word].parent
                while head is not None and head not in members:
                    head = heads[head].parent
                if head is None and overlay.skeleton != "bag":  # attach other roots to the first
                    head, top = top, top or word
                links[word] = heads[word]._replace(parent=head, group=count)
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


def _links(text: Sequence[Instruction], overlay: Overlay) -> dict[Word, _Link]:
    """Return the link of each word to its parent in the sentence, in text order."""
    links: dict[Word, _Link] = {}
    for number, instruction in enumerate(text):
        for position in range(len(instruction)):
            head, relation = position - 1, "next"
            if overlay.skeleton == "tree":
                head, relation = instruction.heads[position], instruction.relations[position]
            parent = None if head < 0 or overlay.skeleton == "bag" else (number, head)
            links[number, position] = _Link(parent, BOUND, relation)
    return links


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
