"""Which words go with which values, before any word is known: a score test on whole plans.

A model that cannot see values says how probable each plan is. Where a word is said, some
values are in the demonstrated plans more often than that model expects; how much more, in
standard deviations, is the evidence that the word stands for the value. The strongest pairs
are taken first. With them, the places where a value matters (passed, in front, at the end)
are weighed, and what they explain is expected; that sharpens the evidence for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from groundling.features.lexicon import Meaning
from groundling.overlay.batch import Reals
from groundling.overlay.encoding import Encoding
from groundling.overlay.graphs import NodeContent

__all__ = ["Evidence", "PlanValues", "find_words"]

_PRIOR = 3.0  # how many occurrences' worth of doubt there is about each pair
_PENALTY = 2.0  # of the weights of slots
_ITERATIONS = 30
_FIRST_OF_KIND = 3  # so many words of each kind begin


@dataclass(frozen=True)
class Evidence:
    """A word (by its column) that seems to stand for a value, and how strongly."""

    word: int
    meaning: Meaning
    strength: float  # in standard deviations, when it was taken


@dataclass(frozen=True)
class _Choice:
    """Plans that some instances choose among, with the values that each plan holds."""

    plan: NDArray[np.int64]
    slot: NDArray[np.int64]
    meaning: NDArray[np.int64]
    size: int
    instances: list[int]


class PlanValues:
    """Which values, at which slots, are in which of the plans that texts choose among.

    Parameters
    ----------
    encoding
        The instances.
    kinds
        The kinds of values that are looked at.
    """

    def __init__(self, encoding: Encoding, kinds: Collection[str]) -> None:
        batch = encoding.batch
        self.first = batch.instance_candidates.astype(np.int64)
        self.gold = batch.candidate_gold > 0
        self.slots: dict[tuple[str, str], int] = {}
        self.meanings: dict[Meaning, int] = {}
        self.choices: list[_Choice] = []
        self._kinds = frozenset(kinds)
        self._cells: dict[int, list[tuple[int, int]]] = {}
        known: dict[int, _Choice] = {}
        for instance, graphs in enumerate(encoding.graphs):
            # Texts that choose among the same plans share the list of their graphs.
            if id(graphs) not in known:
                begin, end = self.first[instance], self.first[instance + 1]
                ends = batch.candidate_actions[begin : end + 1]
                held = [self._cells_of(graph.prior) for graph in graphs]
                cells = sorted(
                    {
                        (plan, *cell)
                        for plan in range(int(end - begin))
                        for place in batch.action_graph[ends[plan] : ends[plan + 1]]
                        for cell in held[place - batch.instance_graphs[instance]]
                    }
                )
                columns = np.array(cells, np.int64).reshape(-1, 3).T
                known[id(graphs)] = _Choice(*columns, int(end - begin), [])
                self.choices.append(known[id(graphs)])
            known[id(graphs)].instances.append(instance)
        self.kind_names = sorted({kind for kind, _ in self.slots})
        self.slot_kind = np.array([self.kind_names.index(k) for k, _ in self.slots], np.int64)
        self.meaning_kind = np.array([self.kind_names.index(k) for k, _ in self.meanings], np.int64)

    def _cells_of(self, content: NodeContent) -> list[tuple[int, int]]:
        found = self._cells.get(id(content))
        if found is None:
            labels = [
                (each.kind, each.name, each.value)
                for each, _ in content
                if each.kind in self._kinds and each.value is not None
            ]
            found = self._cells[id(content)] = [
                (
                    self.slots.setdefault((kind, name), len(self.slots)),
                    self.meanings.setdefault((kind, value), len(self.meanings)),
                )
                for kind, name, value in labels
            ]
        return found


def find_words(
    values: PlanValues,
    blind: Reals,
    said: Reals,
    weights: Reals,
    *,
    least: float = 3.0,
    effect: float = 0.3,
    rounds: int = 5,
) -> list[Evidence]:
    """Return the words that seem to stand for values, the first ones first.

    Parameters
    ----------
    values
        The values in the plans of each instance.
    blind
        The scores of all plans under a model that does not see values and, best, did not see
        the instance when it learnt.
    said
        Which words (columns) are said in which instances (rows).
    weights
        How much each instance counts.
    least, effect
        The least evidence in standard deviations, and the least strength, as a share of the
        strength of words that were taken before.
    rounds
        How often words are taken and places weighed.
    """
    if not values.meanings:
        return []
    test = _ScoreTest(values, blind, said, weights)
    found: list[Evidence] = []
    meanings = list(values.meanings)
    for number in range(rounds):
        strength, size = test.measure()
        strength[(test.taken > 0) | (size < effect)] = -np.inf
        if number < 2:
            strength[test.taken.any(axis=1)] = -np.inf  # one meaning each, to begin with
        else:
            strength[strength < 0.8 * strength.max(axis=1, keepdims=True)] = -np.inf
        new = _choose(strength, values.meaning_kind, least, _FIRST_OF_KIND if not number else None)
        for word, place in new:
            test.taken[word, place] = 1.0
            found.append(Evidence(word, meanings[place], float(strength[word, place])))
        if not new:
            break
        test.weigh()
    return found


def _choose(
    strength: Reals, kinds: NDArray[np.int64], least: float, most: int | None
) -> list[tuple[int, int]]:
    """Return the strongest (word, meaning) pairs, one for each word, `most` of each kind."""
    chosen: list[tuple[int, int]] = []
    words: set[int] = set()
    counts = np.zeros(int(kinds.max()) + 1, np.int64)
    order = np.argsort(-strength, axis=None, kind="stable")
    for place in order[: int(np.sum(strength >= least))].tolist():
        word, meaning = divmod(place, strength.shape[1])
        if word in words or (most is not None and counts[kinds[meaning]] >= most):
            continue
        words.add(word)
        counts[kinds[meaning]] += 1
        chosen.append((word, meaning))
    return chosen


class _ScoreTest:
    """Plans under the blind model and the words that were taken so far."""

    def __init__(self, values: PlanValues, blind: Reals, said: Reals, weights: Reals) -> None:
        self.values = values
        self.blind = blind
        self.said = said
        self.weights = weights
        self.counts = np.diff(values.first)
        self.taken = np.zeros((said.shape[1], len(values.meanings)))
        self.slot_weights = np.zeros(len(values.slots))
        self.extra = np.zeros(len(blind))

    def _chances(self, scores: Reals) -> tuple[float, Reals, Reals]:
        """Return Σ weight · -log p(gold), p(plan), and p(plan | it is a gold one)."""
        starts, gold = self.values.first[:-1], self.values.gold
        top = np.maximum.reduceat(scores, starts)
        plans = np.exp(scores - np.repeat(top, self.counts))
        right = plans * gold
        total, among = np.add.reduceat(plans, starts), np.add.reduceat(right, starts)
        among = np.maximum(among, 1e-300)
        loss = float(self.weights @ (np.log(total) - np.log(among)))
        return loss, plans / np.repeat(total, self.counts), right / np.repeat(among, self.counts)

    def measure(self) -> tuple[Reals, Reals]:
        """Return for each word and meaning its evidence, and the size of its effect.

        Where no word of a kind is known, the best slot speaks for a value by itself.
        """
        values = self.values
        kinds = np.array(
            [
                bool(self.taken[:, values.meaning_kind == kind].any())
                for kind in range(len(values.kind_names))
            ]
        )
        seeded = kinds[values.meaning_kind]
        strength, size = np.zeros(self.taken.shape), np.zeros(self.taken.shape)
        slots, meanings = len(values.slots), len(values.meanings)
        if not seeded.all():
            excess, spread = self._moments(
                lambda each: sparse.csr_matrix(
                    (np.ones(len(each.plan)), (each.plan, each.slot * meanings + each.meaning)),
                    shape=(each.size, slots * meanings),
                )
            )
            by_slot = (excess / np.sqrt(spread + _PRIOR)).reshape(-1, slots, meanings)
            strength, size = by_slot.max(axis=1), np.ones(self.taken.shape)
        if seeded.any():
            weights = self.slot_weights
            excess, spread = self._moments(
                lambda each: sparse.csr_matrix(
                    (weights[each.slot], (each.plan, each.meaning)), shape=(each.size, meanings)
                )
            )
            squares = np.array(
                [
                    np.mean(chosen**2) if len(chosen := self._positive(kind)) else 1.0
                    for kind in values.meaning_kind
                ]
            )
            doubt = spread + _PRIOR * squares
            strength[:, seeded] = (excess / np.sqrt(doubt))[:, seeded]
            size[:, seeded] = (excess / doubt)[:, seeded]
        return strength, size

    def _positive(self, kind: int) -> Reals:
        return self.slot_weights[(self.values.slot_kind == kind) & (self.slot_weights > 0)]

    def _moments(self, table: Callable[[_Choice], sparse.csr_matrix]) -> tuple[Reals, Reals]:
        """Return, for each word, how much more of each column the gold plans have, and the spread.

        What holds whatever is said does not count.
        """
        _, plans, right = self._chances(self.blind + self.extra)
        said = self.said * self.weights[:, None]
        width = table(self.values.choices[0]).shape[1]
        excess, spread = np.zeros((2, said.shape[1], width))
        excess_all, spread_all = np.zeros((2, width))
        for each in self.values.choices:
            held = table(each)
            places = np.array(each.instances)
            cells = self.values.first[places][:, None] + np.arange(each.size)
            expected = np.asarray((held.T @ plans[cells].T).T)
            squares = np.asarray((held.multiply(held).T @ plans[cells].T).T)
            more = np.asarray((held.T @ right[cells].T).T) - expected
            variance = np.maximum(squares - expected**2, 0.0)
            weights = self.weights[places]
            excess += said[places].T @ more
            spread += said[places].T @ variance
            excess_all += weights @ more
            spread_all += weights @ variance
        return excess - spread * (excess_all / (spread_all + _PRIOR)), spread

    def weigh(self) -> None:
        """Fit the weights of slots to what the words that were taken say."""
        values = self.values
        named = self.said @ self.taken > 0
        rows, columns = [], []
        for each in values.choices:
            for instance in each.instances:
                chosen = named[instance][each.meaning]
                rows.append(values.first[instance] + each.plan[chosen])
                columns.append(each.slot[chosen])
        row, column = np.concatenate(rows), np.concatenate(columns)
        table = sparse.csr_matrix(
            (np.ones(len(row)), (row, column)), shape=(len(self.blind), len(values.slots))
        )
        shares = np.repeat(self.weights, self.counts)

        def loss(weights: Reals) -> tuple[float, Reals]:
            value, plans, right = self._chances(self.blind + table @ weights)
            gradient = table.T @ ((plans - right) * shares) + _PENALTY * weights
            return value + 0.5 * _PENALTY * float(weights @ weights), gradient

        self.slot_weights = minimize(
            loss, self.slot_weights, jac=True, method="L-BFGS-B",
            bounds=[(0.0, None)] * len(self.slot_weights), options={"maxiter": _ITERATIONS},
        ).x  # fmt: skip
        self.extra = np.asarray(table @ self.slot_weights)
