"""How texts go with demonstrated actions: their words, and whether they keep the order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from groundling.features.connectives import Connective, possible_connectives
from groundling.features.labels import kind_of
from groundling.language.languages import Language
from groundling.language.sentences import are_characters, is_unspaced, runs_of
from groundling.models.examples import Example
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State

__all__ = [
    "KindFacts", "graph_values", "in_characters", "is_turned", "said_plainly", "turning_words",
    "words_of",
]  # fmt: skip

_SAID = 0.8  # share of the texts that spell what their actions have, where nearly all do
_FEWEST = 4  # texts with a connective
_SHARE = 0.6  # of them that are turned around


@dataclass(frozen=True)
class KindFacts:
    """How words of the texts go with the string labels of one kind.

    Parameters
    ----------
    kind
        The name of the labels.
    values
        The values of demonstrated actions.
    matched
        Those of them that some word of some text spells.
    mentions, hits
        In how many demonstrations a word spells a value of this kind, and in how many of
        these the demonstrated actions have that value.
    shown
        In how many demonstrations actions have a value of this kind.
    """

    kind: str
    values: frozenset[str]
    matched: frozenset[str]
    mentions: int
    hits: int
    shown: int = 0

    @property
    def is_slot(self) -> bool:
        """Whether words match these values, so that the words need not be learnt one by one.

        >>> few = frozenset({"red", "blue"})
        >>> KindFacts("colour", few, few, 10, 9).is_slot, KindFacts("way", few, few, 10, 2).is_slot
        (True, False)
        """
        many = len(self.matched) >= 5 or 2 * len(self.matched) > len(self.values)
        return len(self.matched) >= 2 and many and self.hits >= 0.5 * self.mentions

    @property
    def is_often_unsaid(self) -> bool:
        """Whether actions often have a value that no word of their text spells.

        >>> few = frozenset({"red", "blue"})
        >>> [KindFacts("colour", few, few, 10, 9, shown).is_often_unsaid for shown in (10, 20)]
        [False, True]
        """
        return self.hits < _SAID * self.shown


def words_of(example: Example) -> frozenset[str]:
    """Return the words of a text; where characters are words, runs of them, too."""
    return frozenset(
        word.lower()
        for sentence in example.instructions
        for word in (*sentence.tokens, *runs_of(sentence.tokens))
        if any(character.isalnum() for character in word)
    )


def in_characters(examples: Sequence[Example], language: Language) -> bool:
    """Tell whether most texts are in characters: without spaces, and without trees of words."""
    sentences = [each.tokens for example in examples for each in example.instructions]
    found = [
        are_characters(tokens) and (not language.spaced or is_unspaced(" ".join(tokens)))
        for tokens in sentences
    ]
    return sum(found) * 2 > len(sentences)


def graph_values(
    world: CachedEnvironment, state: State, action: object
) -> frozenset[tuple[str, str]]:
    """Return the string labels of an action, each a kind and a value."""
    return frozenset(
        (kind_of(label), label.value)
        for labels in world.ground(state, action).node_labels
        for label in labels
        if isinstance(label.value, str)
    )


def said_plainly(examples: Sequence[Example], kinds: Collection[str]) -> tuple[str, ...]:
    """Return those kinds of values that nodes have under their own name, beside any others.

    `island` is such a name, `near.island` says the same value again.
    """
    graphs = [
        each.world.ground(state, action)
        for each in examples
        for state, action in each.trajectory.decisions()
    ]
    names = {label.name for graph in graphs for labels in graph.node_labels for label in labels}
    # In names of features, a node's name could not be told from a label's.
    dotted = any("." in name for graph in graphs for name in graph.node_names)
    return () if dotted else tuple(kind for kind in kinds if kind in names)


def turning_words(
    examples: Sequence[Example],
    kinds: Collection[str],
    spells: Callable[[str, str], bool],
    fold: Callable[[str], str],
    *,
    fewest: int = _FEWEST,
) -> tuple[Connective, ...]:
    """Return words whose texts mostly name values in another order than actions have them.

    Looked at are values that one word of a text spells and one action of several has; `fewest`
    texts are to be turned around by a word.
    """
    turned: Counter[Connective] = Counter()
    seen: Counter[Connective] = Counter()
    for example in examples:
        order = is_turned(example, kinds, spells) if len(example.trajectory) > 1 else None
        if order is None:
            continue
        for each in possible_connectives(example.instructions, fold):
            seen[each] += 1
            turned[each] += order
    return tuple(
        sorted(
            each
            for each, count in turned.items()
            if count >= fewest and count >= _SHARE * seen[each]
        )
    )


def is_turned(
    example: Example, kinds: Collection[str], spells: Callable[[str, str], bool]
) -> bool | None:
    """Return whether a text names values in another order than its actions have them.

    Nothing, if its values do not tell.
    """
    held: dict[str, list[int]] = {}
    for number, (state, action) in enumerate(example.trajectory.decisions()):
        for kind, value in graph_values(example.world, state, action):
            if kind in kinds:
                held.setdefault(value, []).append(number)
    words = [word.lower() for each in example.instructions for word in each.tokens]
    joined = "".join(words) if are_characters(words) else ""
    places = []
    for value, actions in held.items():
        if joined:
            said = [found.start() for found in re.finditer(re.escape(value.lower()), joined)]
        else:
            said = [place for place, word in enumerate(words) if spells(word, value)]
        if len(said) == len(actions) == 1:
            places.append((said[0], actions[0]))
    pairs = [pair for pair in combinations(sorted(places), 2) if pair[0][1] != pair[1][1]]
    if not pairs:
        return None
    return sum(one[1] > other[1] for one, other in pairs) * 2 > len(pairs)
