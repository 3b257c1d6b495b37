"""The semirings in which the overlay recursion is read, and the potentials in each of them.

| semiring | a ⊕ b | a ⊗ b | the chart gives |
|---|---|---|---|
| `Scaled` | a + b | a · b | sums over alignments; fast, for numbers that a double can hold |
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
    load,
    quotient,
    spread,
    store,
    total,
    up_to_eights,
)

TINY, HUGE = 1e-12, 1e12  # rows whose sums leave this range are rescaled
# Scores are scaled so that those of a word with all nodes of the instance sum to one. Then all
# alignments together are at most what relations add, times the number of actions per word. A
# cell that underflows loses e^-515 of that at most, with scores above FAINT before scaling. So
# no alignment that matters is lost while the sum over those that are kept stays above e^-440.
FAINT, FLOOR = 1e-100, -440.0
MOST_EDGE = 50.0  # the largest score of a relation that plain numbers can be multiplied with


@with_methods
class Scaled(NamedTuple):
    """Sum-product in plain numbers."""

    zero: float = 0.0
    one: float = 1.0

    def plus(self, a: Any, b: Any) -> Any:
        """⊕."""
        return a + b

    def times(self, a: Any, b: Any) -> Any:
        """⊗."""
        return a * b

    def over(self, a: Any, b: Any) -> Any:
        """The x of x ⊗ b = a; zero where b is zero."""
        return quotient(a, b)

    def gate(self, flag: float) -> float:
        """One if the flag is 1, zero if it is 0."""
        return flag

    def log(self, a: float) -> float:
        """The logarithm of what a stands for."""
        return math.log(a) if a > 0.0 else -math.inf

    def seed(self, weight: float) -> float:
        """What posteriors of a candidate begin with."""
        return weight

    def counted(self, posterior: float, weight: float) -> float:
        """What a posterior adds to the gradient."""
        return posterior

    def wants(self, in_logs: bool) -> bool:
        """Whether a candidate is to be done in this semiring."""
        return True

    def tally(self) -> Any:
        """Zero, as wide as sums are that `tallied` adds to."""
        return spread(0.0)

    def tallied(self, amount: Any, row: Reals, s: int) -> Any:
        """⊕ eight states of a row to a sum."""
        return amount + load(row, s)

    def tally_sum(self, amount: Any) -> Any:
        """What such a sum amounts to."""
        return total(amount)

    def settle(self, tile: Any, row: Reals, sums: Reals, factors: Reals, logs: Reals) -> None:
        """Divide a row by its sums, candidate by candidate, where they leave the range."""
        count = len(tile.order)
        fits = True
        for c in range(count):
            fits &= (sums[c] > TINY) & (sums[c] < HUGE)
        if fits:
            return
        for c in range(count):
            leaves = not (TINY < sums[c] < HUGE)
            factors[c] = 1.0 / sums[c] if leaves and sums[c] > 0.0 else 1.0
            if leaves:
                logs[tile.order[c]] += math.log(sums[c]) if sums[c] > 0.0 else -math.inf
        for c in range(count, up_to_eights(count)):
            factors[c] = factors[count - 1]  # which fills the last block of a flat tile
        for action in range(len(tile.action_block)):
            tile.scale(self, row, action, tile.at(factors, action))


@with_methods
class Logs(NamedTuple):
    """Sum-product in logarithms."""

    zero: float = -math.inf
    one: float = 0.0

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
        return 0.0  # weights may be below zero: see `counted`

    def counted(self, posterior: float, weight: float) -> float:
        return weight * math.exp(posterior)

    def wants(self, in_logs: bool) -> bool:
        return in_logs

    def tally(self) -> Any:
        return self.zero

    def tallied(self, amount: Any, row: Reals, s: int) -> Any:
        for state in range(s, s + LANES):
            amount = self.plus(amount, row[state])
        return amount

    def tally_sum(self, amount: Any) -> Any:
        return amount

    def settle(self, tile: Any, row: Reals, sums: Reals, factors: Reals, logs: Reals) -> None:
        pass  # logarithms stay in range


@with_methods
class Best(Logs):
    """Max-product, in logarithms: posteriors tell how far below the best alignment a state is."""

    def plus(self, a: Any, b: Any) -> Any:
        return max(a, b)


@with_methods
class ScaledPotentials(NamedTuple):
    """What the recursion reads of θ, exponentiated; scores of pairs also as they are."""

    ring: Scaled
    pair: Reals  # exp(score - best score of the word set)
    edge: Reals  # dependency × relation
    advance: Reals  # of pairs (word, advance)
    skip: float  # of every action that is passed over
    pair_score: Reals
    set_shift: Reals  # the best score of each word set
    edge_top: float  # the largest edge or advance score, or 0

    def fetch_scores(self, text: Any, pairs: Indices, scores: Reals, shift: Reals) -> bool:
        """Fetch each score of an instance once from afar, and make those of a word sum to one.

        Returns whether plain numbers can hold them; `shift` receives what was divided, by group.
        """
        held = self.edge_top < MOST_EDGE
        shift[: text.groups] = 0.0
        for w in range(text.words):
            begin, end = w * text.nodes, (w + 1) * text.nodes
            full = begin + text.nodes // LANES * LANES
            amounts = spread(0.0)
            for cell in range(begin, full, LANES):
                eight = fetch(self.pair, 0, pairs, cell)
                store(scores, cell, eight)
                amounts = amounts + eight
            amount = total(amounts)
            for cell in range(full, end):
                score = self.pair[pairs[np.uint64(cell)]]
                scores[np.uint64(cell)] = score
                amount += score
            held &= (amount > FAINT) & (amount < math.inf)
            divisor = amount if amount > FAINT else 1.0
            for cell in range(np.uint64(begin), np.uint64(end)):
                scores[cell] *= 1.0 / divisor
            shift[text.group[w]] += self.set_shift[text.set[w]] + math.log(divisor)
        return held

    def holds(self, kept: float, words: int, actions: int) -> bool:
        """Whether a sum over alignments is so large that underflow lost nothing that matters."""
        add = self.edge_top + math.log(max(1, actions))
        return FLOOR + words * add < kept < math.inf


@with_methods
class LogPotentials(NamedTuple):
    """What the recursion reads of θ, as logarithms."""

    ring: Logs
    pair: Reals
    edge: Reals
    advance: Reals
    skip: float
    pair_score: Reals  # the same as `pair`

    def fetch_scores(self, text: Any, pairs: Indices, scores: Reals, shift: Reals) -> bool:
        """Fetch each score of an instance."""
        shift[: text.groups] = 0.0
        for cell in range(np.uint64(text.words * text.nodes)):
            scores[cell] = self.pair[pairs[cell]]
        return True

    def holds(self, kept: float, words: int, actions: int) -> bool:
        """Whether the result is good: always."""
        return True
