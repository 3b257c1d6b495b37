"""Generated instructions with their trees, for training a parser on what treebanks lack.

In a general treebank, *left* is usually a verb and hardly ever an adverb, and imperatives are rare.
A small grammar generates sentences from a seed, with trees in the style of Universal Dependencies.
Their words are from several domains (corridors, maps, puzzles, kitchens, robots, games), so that
the parser learns constructions rather than nouns.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from groundling.language.instruction import Instruction
from tools.parser import template_words as words
from tools.parser.template_phrases import Node, PhraseWriter

__all__ = ["template_instructions"]


def template_instructions(count: int, *, seed: int = 0) -> list[Instruction]:
    """Return generated instructions; the same seed gives the same instructions.

    >>> first, *_ = template_instructions(3, seed=1)
    >>> first == template_instructions(1, seed=1)[0]
    True
    """
    draw = random.Random(f"templates/{seed}")
    return [_Writer(draw).sentence() for _ in range(count)]


class _Writer(PhraseWriter):
    """Generator of random sentences."""

    # ------------------------------------------------------------------ commands

    def move(self) -> Node:
        kind = self.draw.random()
        if kind < 0.12:
            turn = Node(self.any("left right turn"), "NOUN")
            if turn.word == "turn" or self.chance(0.2):
                turn.left("amod", Node(self.any("left right sharp first second next"), "ADJ"))
            turn.left("det", Node(self.any("a a the"), "DET"))
            verb = Node(self.any("make take take hang"), "VERB").right("obj", turn)
        elif kind < 0.2:
            verb = Node(self.any("face face follow pass cross enter leave"), "VERB")
            verb.right("obj", self.noun())
            if self.chance(0.2):
                verb.right("obl", self.toward(depth=1))
            return verb
        else:
            verb = Node(self.any(words.MOVES), "VERB")
            simple = verb.word in ("turn", "rotate", "spin")
            if simple or self.chance(0.5):
                side = self.any("left right left right around") if simple else ""
                verb.right("advmod", Node(side, "ADV") if side else self.direction())
            if not simple and self.chance(0.3):
                measure = self.measure()
                verb.right("obl:unmarked", measure)
                if len(verb.after) == 1 and self.chance(0.4):
                    verb.right("advmod", self.direction())
            if not simple and self.chance(0.5):
                verb.right("obl", self.toward())
        if self.chance(0.35):
            verb.right(
                "obl", self.place_case(self.noun(depth=1)) if self.chance(0.3) else self.at()
            )
        return verb

    def at(self) -> Node:
        end = self.noun(depth=int(self.chance(0.6)))
        return end.left("case", Node(self.any("at at at after before past"), "ADP"))

    def handle(self) -> Node:
        """Return a command with an object."""
        kind = self.draw.random()
        if kind < 0.3:
            verb = Node(self.any(words.PUTS), "VERB").right("obj", self.noun(pronoun=0.2))
            if self.chance(0.15):
                verb.right("advmod", Node(self.any("back down there here"), "ADV"))
            else:
                verb.right("obl", self.place())
        elif kind < 0.5:
            verb_word, particle = self.phrase(words.PARTICLE_VERBS).split()
            verb, part = Node(verb_word, "VERB"), Node(particle, "ADP")
            thing = self.noun(pronoun=0.2)
            if thing.tag == "PRON" or (not thing.after and self.chance(0.4)):
                verb.right("obj", thing).right("compound:prt", part)
            else:
                verb.right("compound:prt", part).right("obj", thing)
        elif kind < 0.58:
            verb = Node(self.any("give hand bring get show pass"), "VERB")
            verb.right("iobj", Node(self.any("me him her us them"), "PRON"))
            verb.right("obj", self.noun())
        elif kind < 0.66:
            verb = Node("use", "VERB").right("obj", self.noun(depth=1))
            verb.right("advcl", self.bare().left("mark", Node("to", "PART")))
        else:
            verb = self.bare()
            if self.chance(0.25):
                other = self.noun(depth=1)
                case = Node(self.any("with from to from into for"), "ADP")
                verb.right("obl", other.left("case", case))
        if self.chance(0.12):
            verb.right("advmod", Node(self.any(words.MANNERS), "ADV"))
        return verb

    def bare(self) -> Node:
        return Node(self.any(words.ACTS), "VERB").right("obj", self.noun(pronoun=0.15))

    def special(self) -> Node:
        kind = self.draw.random()
        if kind < 0.3:
            verb = Node(self.any("keep continue stop start"), "VERB")
            inner = Node(self.any("walking going moving turning driving"), "VERB")
            if self.chance(0.6):
                inner.right("advmod", self.direction())
            elif self.chance(0.6):
                inner.right("obl", self.toward(depth=1))
            return verb.right("xcomp", inner)
        if kind < 0.5:
            verb = self.move() if self.chance(0.5) else self.bare()
            if self.chance(0.6):
                verb.left("advmod", Node(self.any("n't not n't"), "PART"))
                return verb.left("aux", Node("do", "AUX"))
            return verb.left("advmod", Node("never", "ADV"))
        if kind < 0.65:
            sure = Node("sure", "ADJ").right("ccomp", self.statement(depth=1))
            return Node("make", "VERB").right("xcomp", sure)
        if kind < 0.75:
            return Node("go", "VERB").right("xcomp", self.bare())
        if kind < 0.85:
            verb = Node(self.any("look wait search watch"), "VERB")
            return verb.right("obl", self.noun().left("case", Node("for", "ADP")))
        inner = self.bare() if self.chance(0.5) else self.move()
        verb = Node(self.any("try want need have"), "VERB")
        if verb.word != "try":
            verb.left("nsubj", Node("you", "PRON"))
        return verb.right("xcomp", inner.left("mark", Node("to", "PART")))

    def command(self) -> Node:
        kind = self.draw.random()
        verb = self.move() if kind < 0.5 else self.handle() if kind < 0.86 else self.special()
        if self.chance(0.18):
            verb.right("advcl", self.clause())
        return verb

    # ------------------------------------------------------------------ clauses

    def seen(self) -> Node:
        """Return a clause such as *you see the lamp* or *you get to the door*."""
        if self.chance(0.5):
            verb = Node(self.any("see reach pass hit find touch leave enter see"), "VERB")
            verb.right("obj", self.noun(depth=1))
            if self.chance(0.2):
                verb.right("obl", self.place(depth=1))
        else:
            verb = Node(self.any("get come go are get"), "VERB")
            if verb.word == "are":
                return self.place(depth=1).left("cop", Node("are", "AUX"))
            verb.right("obl", self.noun(depth=1).left("case", Node(self.any("to to past"), "ADP")))
        return verb

    def clause(self, *, first: bool = False) -> Node:
        """Return a clause such as *until you see …* or *so that … is on your left*."""
        kind = self.draw.random()
        if kind < 0.35 and not first:
            if self.chance(0.5):
                inner = self.place(depth=1).left("cop", Node("is", "AUX"))
                inner.left("nsubj", self.noun(depth=1))
            elif self.chance(0.5):
                inner = Node("facing", "VERB").right("obj", self.noun(depth=1))
                inner.left("aux", Node("are", "AUX")).left("nsubj", Node("you", "PRON"))
            else:
                inner = self.place(depth=1).left("cop", Node("are", "AUX"))
                inner.left("nsubj", Node("you", "PRON"))
            so = Node("so", "SCONJ")
            return inner.left(
                "mark", so.right("fixed", Node("that", "SCONJ")) if self.chance(0.7) else so
            )
        if kind < 0.85:
            inner = self.seen().left("nsubj", Node("you", "PRON"))
        else:
            inner = Node(self.any("opens stops appears moves ends turns"), "VERB")
            inner.left("nsubj", self.noun(depth=1))
        word = self.any("until until until till when when once before if as while")
        if word == "when":
            return inner.left("advmod", Node(word, "ADV"))
        return inner.left("mark", Node(word, "SCONJ"))

    def statement(self, *, depth: int = 0) -> Node:
        """Return a statement about what is, or will be, the case."""
        modal = Node(self.any("should will should must can"), "AUX") if self.chance(0.5) else None
        kind = self.draw.random()
        if kind < 0.3:
            verb = Node("be" if modal else self.any("is is are 's"), "VERB")
            verb.left("aux", modal).left("expl", Node("there", "PRON"))
            verb.right("nsubj", self.noun(depth=1))
            if self.chance(0.7):
                verb.right("obl", self.place(depth=1))
        elif kind < 0.5:
            verb = Node(self.any("see see find pass notice"), "VERB").left("aux", modal)
            verb.left("nsubj", Node("you", "PRON")).right("obj", self.noun())
            if self.chance(0.4):
                verb.right("obl", self.place(depth=1))
        elif kind < 0.75 or depth:
            subject = (
                Node(self.any("you it this that"), "PRON")
                if self.chance(0.4)
                else self.noun(depth=1)
            )
            kinds: list[Callable[[], Node]] = [self.place, self.place, self.adjective, self.noun]
            verb = self.draw.choice(kinds)()
            be = "be" if modal else "are" if subject.word == "you" else "is"
            verb.left("cop", Node(be, "AUX")).left("aux", modal).left("nsubj", subject)
        elif kind < 0.87:
            verb = self.place(depth=1)
            verb.right("cop", Node("is", "AUX")).right("nsubj", self.noun(depth=1))
        elif kind < 0.94:
            verb = Node(self.any("has leads goes ends"), "VERB").left("nsubj", self.noun(depth=1))
            if verb.word == "has":
                verb.right("obj", self.noun())
            else:
                verb.right("obl", self.toward(depth=1))
        else:
            verb = Node(self.any("have see"), "VERB").right("obj", self.noun())
            verb.left("nsubj", Node("you", "PRON")).left("aux", Node("do", "AUX"))
        return verb

    def fragment(self) -> Node:
        kind = self.draw.random()
        if kind < 0.3:
            return self.noun()
        if kind < 0.5:
            return self.place()
        if kind < 0.65:
            return self.measure()
        adverb = Node(self.any("left right straight forward back up down north south"), "ADV")
        if self.chance(0.6):
            adverb.right("obl", self.at() if self.chance(0.5) else self.toward(depth=1))
        elif self.chance(0.4):
            adverb.right("obl:unmarked", self.measure())
        return adverb

    # ------------------------------------------------------------------ sentences

    def sentence(self) -> Instruction:
        kind = self.draw.random()
        if kind < 0.12:
            root = self.fragment()
        elif kind < 0.27:
            root = self.statement()
        else:
            root = self.command()
            self.coordinate(root)
            if self.chance(0.08):
                clause = self.clause(first=True)
                if self.chance(0.6):
                    clause.right("punct", Node(",", "PUNCT"))
                root.left("advcl", clause)
            elif self.chance(0.06):
                place = self.at()
                root.left(
                    "obl", place.right("punct", Node(",", "PUNCT") if self.chance(0.6) else None)
                )
        self.decorate(root)
        return self.dress(root)

    def coordinate(self, root: Node) -> None:
        """Sometimes add further commands after the first."""
        more = self.draw.choice([0, 0, 0, 1, 1, 2])
        for number in range(more):
            other = self.command()
            last = number == more - 1
            style = self.draw.random()
            then = Node("then", "ADV") if self.chance(0.25) else None
            other.left("advmod", then)
            if style < 0.6:
                if last or self.chance(0.3):
                    other.left("cc", Node(self.any("and and and and but"), "CCONJ"))
                    comma = self.chance(0.25)
                else:
                    comma = True
                root.right("conj", other.left("punct", Node(",", "PUNCT") if comma else None))
            else:
                if then is None and self.chance(0.5):
                    other.left("advmod", Node("then", "ADV"))
                comma = self.chance(0.5)
                root.right("parataxis", other.left("punct", Node(",", "PUNCT") if comma else None))

    def decorate(self, root: Node) -> None:
        if self.chance(0.12):
            root.left("advmod", Node(self.any("now then next finally first again so"), "ADV"))
        if self.chance(0.12):
            word = Node(self.any("okay please um uh right well no yeah yes ok alright"), "INTJ")
            root.left(
                "discourse", word.right("punct", Node(",", "PUNCT") if self.chance(0.3) else None)
            )
        for place, (relation, child) in enumerate(list(root.after)):
            if relation == "advmod" and child.word in ("left", "right") and self.chance(0.04):
                other = Node("right" if child.word == "left" else "left", "ADV")
                child.left("discourse", Node(self.any("no sorry uh"), "INTJ"))
                child.left("reparandum", other)
            elif relation == "obl" and self.chance(0.02):
                root.after.insert(place, ("discourse", Node(self.any("um uh"), "INTJ")))
                break

    def dress(self, root: Node) -> Instruction:
        """Return a sentence, in a third of cases with a capital letter and a full stop."""
        if self.chance(0.35):
            root.right("punct", Node(self.any(". . . !"), "PUNCT"))
            plain = root.flatten()
            first = plain.tokens[0][:1].upper() + plain.tokens[0][1:]
            return Instruction((first, *plain.tokens[1:]), plain.heads, plain.relations, plain.tags)
        return root.flatten()
