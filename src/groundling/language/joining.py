"""Sentences put side by side as one: their trees joined, with no word between them."""

from __future__ import annotations

from collections.abc import Iterable

from groundling.language.instruction import Instruction

__all__ = ["join_instructions"]


def join_instructions(parts: Iterable[Instruction], relation: str = "conj") -> Instruction:
    """Return one instruction: the root of each sentence hangs from the root of the one before.

    No connective is put between them, so that it works in any language. `relation` is the
    dependency by which they hang together.

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
