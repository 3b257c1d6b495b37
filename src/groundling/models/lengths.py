"""Plan lengths: ψ(n) for models that normalise each decision separately."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass
class LengthModel:
    """Smoothed frequencies of plan lengths, given the number of text units.

    >>> model = LengthModel().fit([(1, 1), (1, 1), (2, 2)])
    >>> model.score(1, units=1) > model.score(2, units=1)
    True
    """

    counts: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    longest: int = 1

    def fit(self, pairs: Iterable[tuple[int, int]]) -> LengthModel:
        """Fit the model to (number of units, number of actions) pairs, and return it."""
        counts: dict[int, Counter[int]] = {}
        for units, actions in pairs:
            counts.setdefault(units, Counter())[actions] += 1
            self.longest = max(self.longest, actions)
        self.counts = counts
        return self

    @classmethod
    def merged(cls, models: Iterable[LengthModel]) -> LengthModel:
        """Return the model fitted to the combined data of several models.

        >>> one, other = LengthModel().fit([(1, 1)]), LengthModel().fit([(1, 1), (2, 3)])
        >>> LengthModel.merged([one, other]) == LengthModel().fit([(1, 1), (1, 1), (2, 3)])
        True
        """
        counts: dict[int, Counter[int]] = {}
        longest = 1
        for each in models:
            for units, lengths in each.counts.items():
                counts.setdefault(units, Counter()).update(lengths)
            longest = max(longest, each.longest)
        return cls(counts, longest)

    def score(self, length: int, units: int) -> float:
        """Return log p(length | units), smoothed with the frequencies over all texts."""
        total: Counter[int] = Counter()
        for each in self.counts.values():
            total.update(each)
        size = self.longest + 1
        overall = (total[length] + 0.5) / (total.total() + 0.5 * size)
        here = Counter(self.counts.get(units, {}))
        return math.log((here[length] + 2.0 * overall) / (here.total() + 2.0))
