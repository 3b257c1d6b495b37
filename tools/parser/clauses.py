"""Generated instructions with relative clauses, to test their attachment."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from groundling.language.instruction import Instruction
from tools.parser import template_words as words
from tools.parser.template_phrases import Node, PhraseWriter

__all__ = ["attachment_scores", "clause_instructions"]

_PLACES = "in/on/under/behind/beside/near/inside/next to/above/below"
_SHARED = "row/column/colour/shape/size/room/line/corner/shelf/drawer"


def clause_instructions(count: int, *, seed: int = 0) -> list[Instruction]:
    """Return generated instructions with relative clauses or *the same … as*.

    >>> one, two = clause_instructions(2)
    >>> "acl:relcl" in one.relations + two.relations
    True
    """
    draw = random.Random(f"clauses/{seed}")
    return [_Writer(draw).sentence() for _ in range(count)]


def attachment_scores(
    gold: Sequence[Instruction], found: Iterable[Instruction]
) -> dict[str, float]:
    """Return the share of modifiers with the right head, for each kind of modifier.

    `relative clause` is the predicate of a clause, `second clause` a predicate that is coordinated
    with it, and `comparison` the noun after *same … as*.

    >>> shown = clause_instructions(20)
    >>> set(attachment_scores(shown, shown).values())
    {1.0}
    """
    right: dict[str, list[bool]] = {}
    for one, other in zip(gold, found, strict=True):
        for place, relation in enumerate(one.relations):
            kind = {"acl:relcl": "relative clause", "conj": "second clause"}.get(relation)
            cases = [one.tokens[each] for each in one.children(place)]
            if relation == "nmod" and "as" in cases:
                kind = "comparison"
            if kind is not None:
                right.setdefault(kind, []).append(one.heads[place] == other.heads[place])
    return {kind: sum(each) / len(each) for kind, each in sorted(right.items())}


class _Writer(PhraseWriter):
    """Generator of sentences that identify things by relations to other things."""

    def thing(self, article: str) -> Node:
        head = Node(self.any(words.THINGS), "NOUN")
        if self.chance(0.6):
            head.left("amod", Node(self.any("red blue green small big old wooden round"), "ADJ"))
        return head.left("det", Node(article, "DET"))

    def relation(self) -> Node:
        other = self.thing(self.any("a the"))
        kind = self.draw.random()
        if kind < 0.5:
            shared = self.phrase(_SHARED)
            case = "of" if shared in ("colour", "shape", "size") else self.any("in in on")
            head = Node(shared, "NOUN").right("nmod", other.left("case", Node("as", "ADP")))
            head.left("amod", Node("same", "ADJ")).left("det", Node("the", "DET"))
            return head.left("case", Node(case, "ADP"))
        if kind < 0.65:
            side = Node(self.any("left right front"), "NOUN")
            if side.word == "front":
                side.left("case", Node("in", "ADP"))
            else:
                side.left("det", Node("the", "DET")).left("case", Node(self.any("to on"), "ADP"))
            return side.right("nmod", other.left("case", Node("of", "ADP")))
        for word in reversed(self.phrase(_PLACES).split()):
            other.left("case", Node(word, "ADP"))
        return other

    def described(self) -> Node:
        head, first = self.thing("the"), self.relation()
        if self.chance(0.2):
            return head.right("nmod", first)
        first.left("cop", Node("is", "AUX"))
        first.left("nsubj", Node(self.any("that that which"), "PRON"))
        if self.chance(0.5):
            second = self.relation()
            if self.chance(0.3):
                second.left("cop", Node("is", "AUX"))
                if self.chance(0.5):
                    second.left("nsubj", Node("that", "PRON"))
            first.right("conj", second.left("cc", Node("and", "CCONJ")))
        return head.right("acl:relcl", first)

    def sentence(self) -> Instruction:
        if self.chance(0.3):
            verb, thing = Node(self.any("go walk move"), "VERB"), self.described()
            verb.right("obl", thing.left("case", Node("to", "ADP")))
        else:
            verb = Node(self.any(words.ACTS), "VERB").right("obj", self.described())
        return verb.flatten()
