"""Rare words: weaker penalties if a word and a label both occur only once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from groundling.features.space import FeatureSpace
from groundling.models.example import Example
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder


@dataclass(frozen=True)
class RareWords:
    """Words that occur in only one text, with the labels of its plan.

    The L2 penalty grows with the number of demonstrations. This suits features that occur
    throughout the demonstrations, but suppresses features that occur in a single one. The weight of
    a word and a label that both occur once is therefore penalised as if there were only one
    demonstration.

    >>> one = RareWords(
    ...     labels=Counter({"swift": 2, "wary": 1}),
    ...     found=(("gingerly", ("swift", "wary")),),
    ...     examples=2,
    ... )
    >>> both = RareWords.merged([one, RareWords(labels=Counter({"swift": 2}), examples=2)])
    >>> both.pairs, both.examples
    ([('gingerly', 'wary')], 4)
    """

    labels: Counter[str] = field(default_factory=Counter)
    found: Sequence[tuple[str, Sequence[str]]] = ()
    examples: int = 0

    @classmethod
    def merged(cls, parts: Iterable[RareWords]) -> RareWords:
        """Merge the counts of several shards."""
        labels: Counter[str] = Counter()
        found: list[tuple[str, Sequence[str]]] = []
        examples = 0
        for each in parts:
            labels.update(each.labels)
            found += each.found
            examples += each.examples
        return cls(labels, found, examples)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of a word and a label that both occur only in the same demonstration."""
        return [(word, e) for word, labels in self.found for e in labels if self.labels[e] == 1]

    def penalty(self, l2: float, space: FeatureSpace) -> float | Reals:
        """Return the L2 penalty of each weight or, without rare words, a single number."""
        keys = space.conjunctions((f"word={word}", label) for word, label in self.pairs)
        places = space.places(keys)
        places = places[places >= 0]
        if not len(places):
            return l2
        each = np.full(len(space), l2)
        each[places] /= self.examples
        return each


def find_rare_words(
    encoder: Encoder, examples: Sequence[Example], counts: Mapping[str, int]
) -> RareWords:
    """Find the words that occur only once, with the labels of the demonstrated plans.

    `counts` has the number of occurrences of each word.
    """
    fold = encoder.reader.language.fold
    labels: Counter[str] = Counter()
    found: list[tuple[str, Sequence[str]]] = []
    shown = [each for each in examples if each.shown is not None]
    for each in shown:
        here = {
            label.name if label.value is None else f"{label.name}={label.value}"
            for state, action in each.trajectory.decisions()
            for content in encoder.ground(each.world, state, action).nodes
            for label, _ in content
            if not isinstance(label.value, float)
        }
        labels.update(here)
        words = {fold(word) for sentence in each.instructions for word in sentence.tokens}
        found += [(word, sorted(here)) for word in sorted(words) if counts.get(word) == 1]
    return RareWords(labels, found, len(shown))
