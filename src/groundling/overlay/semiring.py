"""Semirings for the overlay recursion, and the potentials for each of them.

| semiring | a ⊕ b | a ⊗ b | the chart holds |
|---|---|---|---|
| `Scaled` | a + b | a · b | sums over alignments; fast, limited to the range of a double |
| `Logs` | log(eᵃ + eᵇ) | a + b | the same, for scores of any size |
| `Best` | max(a, b) | a + b | the best alignment |
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from groundling.compiler import with_methods
from groundling.overlay.batch import Indices, Reals
from groundling.overlay.simd import (
    LANES,
    difference,
    fetch,
    fill,
    load,
    quotient,
    spread,
    store,
    total,
)

TINY, HUGE = 1e-12, 1e12  # rows whose sums leave this range are rescaled
# The scores of a word are scaled to sum to one over all nodes of the instance. The sum over all
# alignments is then bounded, per word, by the relation scores times the number of actions. If all
# scores are above FAINT before scaling, a cell that underflows loses at most e^-515 of that bound.
# So no significant alignment is lost as long as the remaining sum is above e^-440.
FAINT, FLOOR = 1e-100, -440.0
MOST_EDGE = 50.0  # relation scores must be below this in the `Scaled` semiring


@with_methods
class Scaled(NamedTuple):
    """Sum-product semiring on real numbers."""

    zero: float = 0.0

    def plus(self, a: Any, b: Any) -> Any:
        """Return a ⊕ b."""
        return a + b

    def times(self, a: Any, b: Any) -> Any:
        """Return a ⊗ b."""
        return a * b

    def over(self, a: Any, b: Any) -> Any:
        """Return a divided by b, the inverse of ⊗; zero where b is zero."""
        return quotient(a, b)

    def gate(self, flag: float) -> float:
        """Return the one of the semiring if the flag is 1, and its zero if it is 0."""
        return flag

    def log(self, a: float) -> float:
        """Return the logarithm of the number represented by `a`."""
        return math.log(a) if a > 0.0 else -math.inf

    def seed(self, weight: float) -> float:
        """Return the initial posterior of a candidate."""
        return weight

    def counted(self, posterior: float, weight: float) -> float:
        """Return the contribution of a posterior to the gradient."""
        return posterior

    def wants(self, in_logs: bool) -> bool:
        """Return whether a candidate is scored in this semiring."""
        return not in_logs

    def row_sum(self, row: Reals) -> Any:
        """Return ⊕ over the states of a row."""
        amount = spread(0.0)
        for s in range(0, len(row), LANES):
            amount = amount + load(row, s)
        return total(amount)

    def fits(self, tile: Any, row: Reals) -> bool:
        """Return whether the sums of all candidates are clearly in range."""
        return bool(tile.least(row) > TINY and self.row_sum(row) < HUGE)


@with_methods
class Logs(NamedTuple):
    """Sum-product semiring on logarithms."""

    zero: float = -math.inf

    def plus(self, a: Any, b: Any) -> Any:
        low, high = min(a, b), max(a, b)
        return high if low == -math.inf else high + math.log1p(math.exp(low - high))

    def times(self, a: Any, b: Any) -> Any:
        return a + b

    def over(self, a: Any, b: Any) -> Any:
        return difference(a, b)

    def gate(self, flag: float) -> float:
        return 0.0 if flag > 0.0 else -math.inf

    def log(self, a: float) -> float:
        return a

    def seed(self, weight: float) -> float:
        return 0.0  # weights may be negative: see `counted`

    def counted(self, posterior: float, weight: float) -> float:
        return weight * math.exp(posterior)

    def wants(self, in_logs: bool) -> bool:
        return in_logs

    def row_sum(self, row: Reals) -> Any:
        amount = self.zero
        for value in row:
            amount = self.plus(amount, value)
        return amount

    def fits(self, tile: Any, row: Reals) -> bool:
        return True  # logarithms stay in range


@with_methods
class Best(Logs):
    """Max-product on logarithms; posteriors are differences from the best alignment."""

    def plus(self, a: Any, b: Any) -> Any:
        return max(a, b)


@with_methods
class ScaledPotentials(NamedTuple):
    """Exponentiated potentials for the recursion."""

    ring: Scaled
    pair: Reals  # exp(score - best score of the word set)
    edge: Reals  # dependency × relation
    advance: Reals  # of pairs (word, advance)
    skip: float  # factor for every skipped action
    set_shift: Reals  # the best score of each word set
    edge_top: float  # the largest edge or advance score, or 0

    def fetch_scores(self, text: Any, pairs: Indices, scores: Reals, shift: Reals) -> bool:
        """Copy the scores of an instance; those of each word are scaled to sum to one.

        Each word's scores are followed by a zero, for padding. Returns False on overflow or
        underflow; `shift` receives the log divisors, by group.
        """
        held = self.edge_top < MOST_EDGE
        fill(shift, text.groups, 0.0)
        for w in range(text.words):
            begin, place = w * text.nodes, w * (text.nodes + 1)
            full = text.nodes // LANES * LANES
            amounts = spread(0.0)
            for node in range(0, full, LANES):
                eight = fetch(self.pair, 0, pairs, begin + node)
                store(scores, place + node, eight)
                amounts = amounts + eight
            amount = total(amounts)
            for node in range(full, text.nodes):
                score = self.pair[pairs[np.uint64(begin + node)]]
                scores[np.uint64(place + node)] = score
                amount += score
            held &= (amount > FAINT) & (amount < math.inf)
            divisor = amount if amount > FAINT else 1.0
            for cell in range(np.uint64(place), np.uint64(place + text.nodes)):
                scores[cell] *= 1.0 / divisor
            scores[np.uint64(place + text.nodes)] = 0.0
            shift[text.word[w].group] += self.set_shift[text.word[w].set] + math.log(divisor)
        return held

    def holds(self, kept: float, words: int, actions: int) -> bool:
        """Return whether underflow leaves a sum over alignments unaffected."""
        add = self.edge_top + (math.log(actions) if actions > 1 else 0.0)
        return FLOOR + words * add < kept < math.inf


@with_methods
class LogPotentials(NamedTuple):
    """Potentials for the recursion, as logarithms."""

    ring: Logs
    pair: Reals
    edge: Reals
    advance: Reals
    skip: float

    def fetch_scores(self, text: Any, pairs: Indices, scores: Reals, shift: Reals) -> bool:
        """Copy the scores of an instance."""
        fill(shift, text.groups, 0.0)
        for w in range(text.words):
            place = w * (text.nodes + 1)
            for node in range(text.nodes):
                scores[place + node] = self.pair[pairs[w * text.nodes + node]]
            scores[place + text.nodes] = self.ring.zero
        return True

    def holds(self, kept: float, words: int, actions: int) -> bool:
        """Return True, because logarithms neither overflow nor underflow."""
        return True
