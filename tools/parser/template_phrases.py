"""Generated phrases as trees: noun phrases, places, directions and measures."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from groundling.language.instruction import Instruction
from tools.parser import template_words as words

__all__ = ["Node", "PhraseWriter"]


@dataclass
class Node:
    """A word, with its dependents before and after it.

    >>> turn = Node("turn", "VERB").right("advmod", Node("left", "ADV"))
    >>> turn.flatten().relations
    ('root', 'advmod')
    """

    word: str
    tag: str
    before: list[tuple[str, Node]] = field(default_factory=list)
    after: list[tuple[str, Node]] = field(default_factory=list)

    def left(self, relation: str, child: Node | None) -> Node:
        """Add a dependent before the word and its earlier dependents."""
        if child is not None:
            self.before.insert(0, (relation, child))
        return self

    def right(self, relation: str, child: Node | None) -> Node:
        """Add a dependent after the word and its later dependents."""
        if child is not None:
            self.after.append((relation, child))
        return self

    def flatten(self) -> Instruction:
        """Return the tree as an instruction."""
        tokens: list[str] = []
        heads: list[int] = []
        relations: list[str] = []
        tags: list[str] = []

        def visit(node: Node, relation: str) -> int:
            early = [visit(child, name) for name, child in node.before]
            place = len(tokens)
            tokens.append(node.word)
            tags.append(node.tag)
            relations.append(relation)
            heads.append(-1)
            late = [visit(child, name) for name, child in node.after]
            for child_place in (*early, *late):
                heads[child_place] = place
            return place

        visit(self, "root")
        return Instruction(tuple(tokens), tuple(heads), tuple(relations), tuple(tags))


class PhraseWriter:
    """Generator of random phrases from a seed.

    >>> PhraseWriter(random.Random(0)).measure().tag
    'NOUN'
    """

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self.draw.random() < probability

    def any(self, options: str) -> str:
        """Return one of several words at random."""
        return self.draw.choice(options.split())

    def phrase(self, options: str) -> str:
        """Return one of several phrases, separated by slashes, at random."""
        return self.draw.choice(options.split("/"))

    # ------------------------------------------------------------------ nominal phrases

    def noun(self, *, depth: int = 0, pronoun: float = 0.0) -> Node:
        """Return a random noun phrase, which may contain others up to a depth."""
        if self.chance(pronoun):
            return Node(self.any("it them it this that everything"), "PRON")
        kind = self.draw.random()
        if kind < 0.06:
            return self.numbered()
        if kind < 0.14:
            head = Node("one", "NOUN").left("amod", self.adjective())
            head.left("det", Node(self.any("the that this"), "DET"))
        else:
            plural = self.chance(0.15)
            thing = self.any(words.THINGS)
            ending = "es" if thing.endswith(("sh", "ch", "x", "s")) else "s"
            head = Node(thing + ending if plural else thing, "NOUN")
            if self.chance(0.1 if depth else 0.2):
                head.left("compound", Node(self.any(words.MATERIALS), "NOUN"))
            for _ in range(self.draw.choice([0, 0, 0, 0, 0, 1, 1, 2])):
                head.left("amod", self.adjective())
            if plural and self.chance(0.6):
                head.left("nummod", Node(self.any(words.NUMBERS), "NUM"))
                if self.chance(0.4):
                    head.left("det", Node("the", "DET"))
            elif plural:
                self.determine(head, "the the these those some all any both")
            elif self.chance(0.1):
                head.left("amod", Node(self.any(words.ORDINALS), "ADJ"))
                head.left("det", Node("the", "DET"))
            else:
                self.determine(head, "the the the the a a this that another each")
        if depth == 0:
            self.modify(head)
        return head

    def determine(self, head: Node, choices: str) -> None:
        """Add an article or another determiner to a noun."""
        if self.chance(0.08):
            head.left("nmod:poss", Node(self.any("your its their my his her"), "PRON"))
        elif self.chance(0.06) and head.word.endswith("s"):
            head.left("det", Node("the", "DET")).left("det:predet", Node("all", "DET"))
        else:
            head.left("det", Node(self.any(choices), "DET"))

    def adjective(self) -> Node:
        """Return a random adjective, sometimes with an adverb."""
        adjective = Node(self.any(words.ADJECTIVES), "ADJ")
        if self.chance(0.07):
            adjective.left("advmod", Node(self.any("very really light dark"), "ADV"))
        return adjective

    def numbered(self) -> Node:
        """Return a phrase such as *row 3* or *block seven*."""
        number = Node(self.any(words.NUMBERS + " 1 2 3 4 5 6 7 8 9 12 20"), "NUM")
        return Node(self.any(words.NUMBERED), "NOUN").right("flat", number)

    def modify(self, head: Node) -> None:
        """Sometimes add a phrase or a clause to a noun."""
        kind = self.draw.random()
        if kind < 0.12:
            inner = self.noun(depth=1)
            head.right("nmod", inner.left("case", Node(self.any("of with of in"), "ADP")))
        elif kind < 0.18:
            head.right("nmod", self.side())
        elif kind < 0.23:
            inner = self.noun(depth=1)
            head.right("nmod", self.place_case(inner))
        elif kind < 0.27:
            predicate = self.place(depth=1) if self.chance(0.6) else self.adjective()
            predicate.left("cop", Node("is", "AUX"))
            head.right("acl:relcl", predicate.left("nsubj", Node(self.any("that which"), "PRON")))
        elif kind < 0.29:
            verb = Node(self.any("has touches blocks holds needs faces"), "VERB")
            verb.left("nsubj", Node(self.any("that which"), "PRON"))
            head.right("acl:relcl", verb.right("obj", self.noun(depth=1)))
        elif kind < 0.33:
            verb = Node(self.any("leading facing standing lying going"), "VERB")
            head.right("acl", verb.right("obl", self.toward(depth=1)))
        elif kind < 0.38:
            other = self.noun(depth=1).left("cc", Node(self.any("and and or"), "CCONJ"))
            head.right("conj", other)

    def side(self) -> Node:
        """Return a phrase such as *on your left* or *to the right of the lamp*."""
        side = Node(self.any("left right left right side"), "NOUN")
        if side.word == "side":
            side.left("amod", Node(self.any("left right far other north west"), "ADJ"))
            side.left("det", Node("the", "DET"))
        elif self.chance(0.5):
            side.left("nmod:poss", Node("your", "PRON"))
        else:
            side.left("det", Node("the", "DET"))
        if self.chance(0.25) and side.before[0][0] == "det":
            side.right("nmod", self.noun(depth=1).left("case", Node("of", "ADP")))
        return side.left("case", Node(self.any("on on to to at"), "ADP"))

    # ------------------------------------------------------------------ adverbials

    def place_case(self, noun: Node) -> Node:
        """Add a preposition of place before a noun."""
        preposition = self.phrase(words.PLACES)
        for word in reversed(preposition.split()):
            noun.left("case", Node(word, "ADP"))
        return noun

    def place(self, *, depth: int = 0) -> Node:
        """Return a phrase that says where something is."""
        kind = self.draw.random()
        if kind < 0.25:
            return self.side()
        if kind < 0.4:
            owner = Node("you", "PRON") if self.chance(0.6) else self.noun(depth=1)
            front = Node(self.any("front front top back"), "NOUN")
            front.left("case", Node("on" if front.word == "top" else self.any("in in at"), "ADP"))
            if front.word == "back":
                front.before[0][1].word = "at"
                front.before.insert(1, ("det", Node("the", "DET")))
            return front.right("nmod", owner.left("case", Node("of", "ADP")))
        if kind < 0.5:
            return Node("you", "PRON").left("case", Node(self.any("behind near beside"), "ADP"))
        return self.place_case(self.noun(depth=max(depth, int(self.chance(0.7)))))

    def toward(self, *, depth: int = 0) -> Node:
        """Return a phrase that says where a movement leads."""
        if self.chance(0.2):
            end = Node(self.any("end top bottom edge middle corner start"), "NOUN")
            end.left("det", Node("the", "DET"))
            noun = self.noun(depth=1).left("case", Node("of", "ADP"))
            end.right("nmod", noun if self.chance(0.8) else None)
        else:
            end = self.noun(depth=depth)
        path = self.phrase(words.PATHS)
        for word in reversed(path.split()):
            end.left("case", Node(word, "ADP"))
        return end

    def measure(self) -> Node:
        """Return a phrase such as *three steps*, *a bit* or *all the way*."""
        kind = self.draw.random()
        if kind < 0.1:
            return Node("bit", "NOUN").left("det", Node("a", "DET"))
        if kind < 0.2:
            way = Node("way", "NOUN").left("det", Node("the", "DET"))
            return way.left("det:predet", Node("all", "DET"))
        number = Node(self.any(words.NUMBERS + " one 2 3 4 10"), "NUM")
        if self.chance(0.15):
            number.left("advmod", Node(self.any("about exactly only"), "ADV"))
        unit = Node(self.any(words.MEASURES), "NOUN")
        if number.word == "one":
            unit.word = unit.word.removesuffix("s")
        if self.chance(0.15):
            unit.left("amod", Node("more", "ADJ"))
        return unit.left("nummod", number)

    def direction(self) -> Node:
        """Return a phrase such as *left*, *back to the door* or *north of the lake*."""
        word = self.any(words.DIRECTIONS)
        adverb = Node(word, "ADV")
        if word in ("back", "down", "up", "over", "away", "out") and self.chance(0.5):
            case = "from" if word == "away" else "to"
            return adverb.right("obl", self.noun(depth=1).left("case", Node(case, "ADP")))
        if word in ("north", "south", "east", "west") and self.chance(0.3):
            return adverb.right("obl", self.noun(depth=1).left("case", Node("of", "ADP")))
        return adverb
