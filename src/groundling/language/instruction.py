"""Instructions: dependency trees (the paper's *linguistic structure*)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from groundling.errors import InstructionError, ParseError


class SentenceLabel(NamedTuple):
    """A label of a whole sentence, such as its speaker.

    `amount` is the weight of the label. A label with a `kind` and a `value` can match slots.

    >>> SentenceLabel("match", 0.9, kind="landmark", value="old mill").amount
    0.9
    """

    name: str
    amount: float = 1.0
    kind: str = ""
    value: str | float | None = None


@dataclass(frozen=True)
class Instruction:
    """A sentence as a dependency tree: words, heads and relations.

    Parameters
    ----------
    tokens
        The words; at least one.
    heads
        The position of the head of each word, or -1 for the single root.
    relations
        The dependency relation of each word to its head.
    tags
        Universal part-of-speech tags, or empty strings if unknown.
    text
        The original sentence. Default: the words joined by spaces.
    labels
        Labels of the whole sentence, attached to the root word.

    Examples
    --------
    >>> turn = Instruction(("turn", "left"), heads=(-1, 0), relations=("root", "advmod"))
    >>> turn.root, turn.children(0)
    (0, (1,))
    >>> print(Instruction.chain("walk to the sofa").tree())
    walk (root)
    └─ to (next)
       └─ the (next)
          └─ sofa (next)
    """

    tokens: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...] = ()
    text: str = ""
    labels: tuple[SentenceLabel, ...] = ()
    _children: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        size = len(self.tokens)
        if size == 0:
            raise InstructionError(
                "An instruction must have at least one word; got none. "
                "Remove empty sentences first."
            )
        for name in ("tokens", "heads", "relations", "tags", "labels"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.tags:
            object.__setattr__(self, "tags", ("",) * size)
        for name in ("heads", "relations", "tags"):
            if len(getattr(self, name)) != size:
                raise ParseError(
                    f"{self._quote()} must have one entry in `{name}` for each word "
                    f"({size}); got {len(getattr(self, name))}."
                )
        if not self.text:
            object.__setattr__(self, "text", " ".join(self.tokens))
        roots = [i for i, head in enumerate(self.heads) if head == -1]
        if len(roots) != 1:
            cure = (
                "Attach the other roots to a word." if roots else "Set the head of one word to -1."
            )
            raise ParseError(
                f"{self._quote()} must have exactly one root (head -1); got {len(roots)} roots. "
                f"{cure}"
            )
        children: list[list[int]] = [[] for _ in range(size)]
        for i, head in enumerate(self.heads):
            if head == -1:
                continue
            if not 0 <= head < size or head == i:
                raise ParseError(
                    f"{self._quote()}: the head of word {i} ({self.tokens[i]!r}) must be the "
                    f"position of another word (0 to {size - 1}) or -1; got {head}."
                )
            children[head].append(i)
        object.__setattr__(self, "_children", tuple(map(tuple, children)))
        if len(self.top_down()) != size:
            raise ParseError(
                f"{self._quote()}: the heads must form a tree; got a cycle. Attach each word to "
                "a word nearer to the root."
            )

    def _quote(self) -> str:
        text = " ".join(self.tokens)
        return f"The instruction {text[:60] + ('…' if len(text) > 60 else '')!r}"

    @classmethod
    def chain(cls, text: str | Sequence[str], *, tags: Iterable[str] = ()) -> Instruction:
        """Build an instruction without a parser: each word depends on the one before it.

        >>> Instruction.chain(["向", "左", "转"]).heads
        (-1, 0, 1)
        """
        if isinstance(text, str):
            written, tokens = text.strip(), tuple(text.split())
        else:
            written, tokens = "", tuple(text)
        return cls(
            tokens=tokens,
            heads=tuple(range(-1, len(tokens) - 1)),
            relations=("root",) + ("next",) * (len(tokens) - 1),
            tags=tuple(tags),
            text=written,
        )

    @property
    def root(self) -> int:
        """The position of the root, the only word without a head."""
        return self.heads.index(-1)

    def children(self, position: int) -> tuple[int, ...]:
        """Return the positions of the words that depend on a word, from left to right."""
        return self._children[position]

    def top_down(self) -> tuple[int, ...]:
        """Return all word positions, each head before its dependents."""
        order = [self.root]
        for position in order:
            order.extend(self._children[position])
        return tuple(order)

    def tree(self) -> str:
        """Return the dependency tree as indented text, one word per line."""
        lines: list[str] = []
        stack = [(self.root, "", "")]
        while stack:
            position, first, rest = stack.pop()
            lines.append(f"{first}{self.tokens[position]} ({self.relations[position]})")
            children = self._children[position]
            for number, child in reversed(list(enumerate(children))):
                last = number == len(children) - 1
                stack.append(
                    (child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))
                )
        return "\n".join(lines)

    def select(self, positions: Iterable[int]) -> Instruction:
        """Return a copy with only the words at the given positions.

        A word whose head is dropped is attached to its nearest kept ancestor. Of the words without
        such an ancestor, the first becomes the root, and the others are attached to it. Relations
        do not change.

        >>> Instruction.chain("go to the sofa").select([0, 1, 3]).heads
        (-1, 0, 1)
        """
        kept = sorted(set(positions))
        place = {position: number for number, position in enumerate(kept)}
        heads: list[int] = []
        top = -1
        for position in kept:
            head = self.heads[position]
            while head != -1 and head not in place:
                head = self.heads[head]
            heads.append(place[head] if head != -1 else -1)
        for position in self.top_down():
            if position in place and heads[place[position]] == -1:
                if top == -1:
                    top = place[position]
                else:
                    heads[place[position]] = top
        return Instruction(
            tokens=tuple(self.tokens[i] for i in kept),
            heads=tuple(heads),
            relations=tuple(self.relations[i] for i in kept),
            tags=tuple(self.tags[i] for i in kept),
            labels=self.labels,
        )

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __str__(self) -> str:
        return self.text


def promote_function_words(
    instruction: Instruction, relations: Iterable[str] = ("case", "mark")
) -> Instruction:
    """Make prepositions and subordinators the heads of their phrases.

    In Universal Dependencies, *to* depends on *sofa* in *walk to the sofa*. Here, as in Stanford
    Dependencies, *to* depends on *walk* and *sofa* on *to*. Thanks to this extra level, the
    preposition can align with one node, and its noun with a neighbour of that node.

    >>> walk = Instruction(
    ...     ("walk", "to", "sofa"), heads=(-1, 2, 0), relations=("root", "case", "obl")
    ... )
    >>> promote_function_words(walk).heads
    (-1, 0, 1)
    """
    wanted = tuple(relations)
    heads, names = list(instruction.heads), list(instruction.relations)
    promoted: set[int] = set()
    for position in range(len(instruction)):
        noun = instruction.heads[position]
        if (
            instruction.relations[position].split(":")[0] not in wanted
            or noun in promoted
            or noun == -1
        ):
            continue
        promoted.add(noun)
        heads[position], names[position] = heads[noun], names[noun]
        heads[noun], names[noun] = position, instruction.relations[position]
    return replace(instruction, heads=tuple(heads), relations=tuple(names))


def reattach(
    tokens: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> tuple[int, ...]:
    """Return heads that form one tree; invalid parts are attached to the first root.

    Invalid parts are additional roots, heads out of range, and cycles.

    >>> reattach(["a", "b", "c"], [-1, -1, 7], ["root", "root", "dep"])
    (-1, 0, 0)
    >>> reattach(["a", "b"], [1, 0], ["dep", "dep"])
    (-1, 0)
    """
    size = len(tokens)
    fixed = [head if -1 <= head < size and head != i else -1 for i, head in enumerate(heads)]
    roots = [i for i, head in enumerate(fixed) if head == -1]
    if roots:
        top = next((i for i in roots if relations[i].lower() == "root"), roots[0])
    else:
        top = 0
        fixed[top] = -1
    state = [0] * size  # 0: unseen, 1: on the current path, 2: reaches the root
    state[top] = 2
    for start in range(size):
        path = []
        position = start
        while state[position] == 0:
            state[position] = 1
            path.append(position)
            if fixed[position] == -1:
                fixed[position] = top
            position = fixed[position]
        if state[position] == 1:  # a cycle: break it here
            fixed[position] = top
        for each in path:
            state[each] = 2
    return tuple(fixed)


def join_instructions(parts: Iterable[Instruction], relation: str = "conj") -> Instruction:
    """Join sentences into one instruction by attaching each root to the previous one.

    No connective is inserted, so the function works in any language. `relation` is the dependency
    relation between the roots.

    >>> turn, wait = Instruction.chain("turn left"), Instruction.chain("wait there")
    >>> print(join_instructions([turn, wait]).tree())
    turn (root)
    ├─ left (next)
    └─ wait (conj)
       └─ there (next)
    """
    given = tuple(parts)
    heads: list[int] = []
    relations: list[str] = []
    above = -1
    for part in given:
        shift = len(heads)
        heads += [above if head == -1 else head + shift for head in part.heads]
        names = list(part.relations)
        if above != -1:
            names[part.root] = relation
        relations += names
        above = part.root + shift
    return Instruction(
        tokens=tuple(token for part in given for token in part.tokens),
        heads=tuple(heads),
        relations=tuple(relations),
        tags=tuple(tag for part in given for tag in part.tags),
        text=" ".join(part.text for part in given),
        labels=tuple(label for part in given for label in part.labels),
    )
