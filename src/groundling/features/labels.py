"""Labels of words and nodes, from which joined features are made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from groundling.errors import SettingError, did_you_mean
from groundling.language.instruction import Instruction
from groundling.world.graph import Label
from groundling.world.open_values import AS_SAID, BY, LESS, MORE, STEP, TO, is_about_text

LABEL = "label"
NUMBER = "number"
ORDINAL = "ordinal"
RANK = "rank"
STRING = "string"
_NUMERALS = (f"‹{NUMBER}›", f"‹{ORDINAL}›")
_FIT = {AS_SAID: 10.0, **dict.fromkeys((TO, BY, STEP, MORE, LESS), 3.0)}
# Labels that relate an action to its text have larger amounts, because they apply to all actions.
SAID, NAMED = "said", "named"
"""Label of all words that name a value, and of all values. Their joined feature has one weight for
all kinds of values, which penalises plans that leave out a value of the text."""


class WordLabel(NamedTuple):
    """A label of a word; with a kind and a value it can match a slot of that kind.

    >>> print(WordLabel("word=top"), WordLabel("‹floor›", "floor", "brick"))
    word=top ‹floor›
    """

    name: str
    kind: str = ""
    value: str | float | None = None

    def __str__(self) -> str:
        return self.name


class NodeLabel(NamedTuple):
    """A label of a node, as used in joined features.

    An indicator has only a name. A label whose value is compared with words also has a kind and
    the value. The value of a real-valued feature is stored beside the label, as its amount.
    """

    name: str
    kind: str = ""
    value: str | float | None = None

    def __str__(self) -> str:
        return self.name


def kind_of(label: Label) -> str:
    """Return the kind of a label: its name without prefixes such as `m:` and `front.`.

    >>> kind_of(Label("floor", "brick")), kind_of(Label("m:floor", "brick"))
    ('floor', 'floor')
    """
    return kind_of_name(label.name)


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str:
    """Return the kind of all labels that have this name (see `kind_of`)."""
    return re.split(r"[.:]", name)[-1]


def string_values(labels: Iterable[Label]) -> set[tuple[str, str]]:
    """Return the (kind, value) pairs of labels whose value is a string.

    Labels of the kinds `number` and `ordinal` are left out.

    >>> string_values([Label("floor", "brick"), Label("number", "plural"), Label("far", 2.0)])
    {('floor', 'brick')}
    """
    found = ((kind_of(each), each.value) for each in labels if isinstance(each.value, str))
    return {(kind, value) for kind, value in found if kind not in (NUMBER, ORDINAL)}


def meaning_of(label: WordLabel | NodeLabel) -> tuple[str, str | float] | None:
    """Return the (kind, value) pair by which a label is matched, or None.

    The result is None for labels without a value. Ordinals match numbers, and upper and lower case
    are equal. The spelling of a word is not a value.

    >>> meaning_of(WordLabel("word=‹ordinal›", "ordinal", 2.0))
    ('number', 2.0)
    """
    if not label.kind or label.value is None or label.kind == STRING:
        return None
    value = label.value.lower() if isinstance(label.value, str) else label.value
    return (NUMBER if label.kind == ORDINAL else label.kind), value


@dataclass(frozen=True)
class WordLabeller:
    """Rules that give each word of an instruction its labels.

    `labels` lists any of:

    - `word`: the word itself, or its tag ‹kind› if it matches a value;
    - `first`: an indicator on the first word of a sentence;
    - `next`, `previous`: the word with its neighbour;
    - `head`, `relation`: the word with its head, or with its dependency relation;
    - `grandparent`, `preposition`, `context`, `verb`: a word that matches a value, with words
      above it in the tree (its head's head; the nearest adposition, subordinator or adverb; the
      nearest of `context_words`; the nearest verb);
    - `beside`: a word that matches a value, with each other word of its sentence;
    - `around`: a number with each word around it, up to the next number;
    - `number`: whether a word that matches a value is singular or plural;
    - `tag`: the part of speech;
    - `string`: the spelling, for string similarity.

    Words in `stop_words` have no labels. `context_words` are the most frequent training words
    that match no value; `Reader` sets them. `compound_weight` is a factor for each further word
    in a label: values below 1 penalise combinations more than single words.

    >>> labeller = WordLabeller(("word", "head"))
    >>> turn = Instruction(("turn", "left"), heads=(-1, 0), relations=("root", "advmod"))
    >>> labeller.names(turn, ["turn", "left"], 1, "left")
    ['word=left', 'head=turn word=left']
    >>> WordLabeller(compound_weight=0.5).amount("head=turn word=left")
    0.5
    """

    labels: tuple[str, ...] = ("word", "string")
    stop_words: frozenset[str] = frozenset()
    context_words: frozenset[str] = frozenset()
    compound_weight: float = 1.0

    KNOWN = (
        "word", "first", "next", "previous", "head", "relation",
        "grandparent", "preposition", "context", "verb", "beside", "around", "number",
        "tag", "string",
    )  # fmt: skip

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "stop_words", frozenset(self.stop_words))
        for label in self.labels:
            if label not in self.KNOWN:
                raise SettingError(
                    f"`labels` must be known word labels; got {label!r}."
                    f"{did_you_mean(label, self.KNOWN)}"
                )

    def amount(self, name: str) -> float:
        """Return the amount of a label, which depends on its number of words.

        `compound_weight` is the factor for each word after the first.
        """
        return float(self.compound_weight ** name.count(" "))

    def names(
        self, instruction: Instruction, cores: Sequence[str], position: int, core: str
    ) -> list[str]:
        """Return the names of a word's labels; `core` is the word itself or its tag."""
        if instruction.tokens[position].lower() in self.stop_words:
            return []
        labels = self.labels
        named = f"word={core}"
        tagged = core.startswith("‹")
        head = instruction.heads[position]
        names = []
        if "word" in labels:
            names.append(named)
        if "first" in labels and position == 0:
            names.append("first")
        if "tag" in labels and instruction.tags[position]:
            names.append(f"tag={instruction.tags[position]}")
        # An untagged word with its right neighbour is a bigram; `previous` covers those.
        if "next" in labels and tagged:
            after = cores[position + 1] if position + 1 < len(cores) else "$"
            names.append(f"{named} next={after}")
        if "previous" in labels:
            before = cores[position - 1] if position > 0 else "^"
            names.append(f"previous={before} {named}")
        if "head" in labels:
            names.append(f"head={cores[head] if head >= 0 else '^'} {named}")
        if "relation" in labels:
            names.append(f"dep={instruction.relations[position]} {named}")
        if tagged:
            names += self._above(instruction, cores, position, named)
        if tagged and "beside" in labels:
            others = (*cores[:position], *cores[position + 1 :])
            names += [f"beside={other} {named}" for other in dict.fromkeys(others)]
        if core in _NUMERALS and "around" in labels:
            earlier = takewhile(lambda other: other not in _NUMERALS, reversed(cores[:position]))
            others = (*earlier, *_behind(cores[position + 1 :]))
            names += [f"around={other} {named}" for other in dict.fromkeys(others)]
        return names

    def _above(
        self, instruction: Instruction, cores: Sequence[str], position: int, named: str
    ) -> list[str]:
        names = []
        head = instruction.heads[position]
        if "grandparent" in self.labels and head >= 0:
            grandparent = instruction.heads[head]
            over = cores[grandparent] if grandparent >= 0 else "^"
            names.append(f"grandparent={over} {named}")
            names.append(f"grandparent={over} head={cores[head]} {named}")
        wanted = [each for each in ("preposition", "context", "verb") if each in self.labels]
        found: dict[str, str] = {}
        above = head
        while above >= 0 and len(found) < len(wanted):
            tag = instruction.tags[above]
            if tag in {"ADP", "SCONJ", "ADV"}:
                found.setdefault("preposition", cores[above])
            if cores[above] in self.context_words:
                found.setdefault("context", cores[above])
            if tag in {"VERB", "AUX"}:
                found.setdefault("verb", cores[above])
            above = instruction.heads[above]
        names += [f"{each}={found.get(each, '^')} {named}" for each in wanted]
        if len(wanted) > 1:
            all_of = " ".join(f"{each}={found.get(each, '^')}" for each in wanted)
            names.append(f"{all_of} {named}")
        return names


def _behind(cores: Sequence[str]) -> list[str]:
    """Return the words after a number, up to the next number with words of its own.

    Coordinated numbers share the words that follow: *the 1st and 4th from the right*.
    """
    found: list[str] = []
    for core in cores:
        if core in _NUMERALS and len(found) > 1:
            break
        found = [] if core in _NUMERALS else [*found, core]
    return found


@dataclass(frozen=True)
class NodeLabeller:
    """Rules that convert the labels of graph nodes into the labels used in features.

    Parameters
    ----------
    slots
        The kinds (see `kind_of`) whose values are matched with words. Features then express
        whether a word and a value agree; only the join `value` uses the value itself. `"number"`
        covers all numbers. `"label"` covers the names of all labels, which also match words
        that are not in the training texts.
    numbers
        How numbers are used: `real` (the value), `bins` (the interval that contains it),
        `equal` (whether a numeral or ordinal agrees with it).
    bins
        The boundaries of the intervals.

    Examples
    --------
    >>> labeller = NodeLabeller(slots=("floor",), numbers=("real", "bins"), bins=(1.0, 3.0))
    >>> for label, amount in labeller.spell([Label("floor", "brick"), Label("far", 2.0)], "front."):
    ...     print(label, label.kind, label.value, amount)
    front.floor floor brick 1.0
    front.far  None 2.0
    front.far∈[1,3)  None 1.0
    """

    slots: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ("real", "bins")
    bins: tuple[float, ...] = (0.5, 1.5, 2.5, 4.5, 8.5, 16.5)

    KNOWN = ("real", "bins", "equal")

    def __post_init__(self) -> None:
        for name in ("slots", "numbers", "bins"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for each in self.numbers:
            if each not in self.KNOWN:
                raise SettingError(
                    f"`numbers` must be one or more of {', '.join(self.KNOWN)}; got {each!r}."
                    f"{did_you_mean(each, self.KNOWN)}"
                )
        if any(a >= b for a, b in zip(self.bins, self.bins[1:], strict=False)):
            raise SettingError(f"`bins` must be in ascending order; got {self.bins}.")

    @property
    def has_amounts(self) -> bool:
        """True if numbers are features without being matched with words (`real`, `bins`)."""
        return "real" in self.numbers or "bins" in self.numbers

    def spell(self, labels: Iterable[Label], prefix: str = "") -> list[tuple[NodeLabel, float]]:
        """Convert the labels of a graph node for features; return (label, amount) pairs."""
        spelled: list[tuple[NodeLabel, float]] = []
        by_name = LABEL in self.slots
        for label in labels:
            name = prefix + label.name
            if by_name and not is_about_text(label.name):
                spelled.append((NodeLabel(prefix + LABEL, LABEL, kind_of(label)), 1.0))
            if label.value is None:
                amount = _FIT.get(label.name, 1.0)
                spelled.append((NodeLabel(name), amount))
            elif isinstance(label.value, str):
                spelled.append((NodeLabel(name, kind_of(label), label.value), 1.0))
                if by_name and kind_of(label) in self.slots:
                    spelled.append((NodeLabel(NAMED, kind_of(label), label.value), 1.0))
            else:
                if "real" in self.numbers:
                    spelled.append((NodeLabel(name), label.value))
                if "bins" in self.numbers:
                    spelled.append((NodeLabel(f"{name}∈{self.interval(label.value)}"), 1.0))
                if "equal" in self.numbers:
                    spelled.append((NodeLabel(name, NUMBER, label.value), 1.0))
                    if by_name:  # so that numbers with new label names match too
                        spelled.append((NodeLabel(prefix + NUMBER, NUMBER, label.value), 1.0))
                        spelled.append((NodeLabel(NAMED, NUMBER, label.value), 1.0))
        return spelled

    def values(self, labels: Iterable[Label]) -> tuple[tuple[str, str], ...]:
        """Return the (kind, value) pairs that words may match, sorted.

        They are the string values of the labels and, if `"label"` is a slot, the label names.

        >>> NodeLabeller(slots=("label",)).values([Label("floor", "brick"), Label("far", 2.0)])
        (('floor', 'brick'), ('label', 'far'), ('label', 'floor'))
        """
        labels = [*labels]
        kinds = {name: kind_of_name(name) for name in {name for name, _ in labels}}
        found = {(kinds[name], value) for name, value in labels if isinstance(value, str)}
        if LABEL in self.slots:
            found |= {(LABEL, kind) for name, kind in kinds.items() if not is_about_text(name)}
        return tuple(sorted(found))

    def interval(self, number: float) -> str:
        """Return the name of the interval that contains a number.

        >>> NodeLabeller(bins=(1.0, 3.0)).interval(5)
        '[3,∞)'
        """
        edges = ("-∞", *(f"{border:g}" for border in self.bins), "∞")
        place = sum(number >= border for border in self.bins)
        return f"[{edges[place]},{edges[place + 1]})"
