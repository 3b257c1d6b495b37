"""Associations between words and values, found by a score test on whole plans.

A model that ignores values gives the probability of each plan. In texts with a given word, some
values occur in the demonstrated plans more often than this model expects. The excess, in standard
deviations, is the evidence that the word means the value.

The pairs with the strongest evidence are selected first. For each selected pair, weights are then
fitted: one for each slot in which a value can occur (passed, in front, at the end). With these
weights in the model, the evidence for the other pairs becomes more accurate.
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
from groundling.overlay.batch_builder import Encoding
from groundling.overlay.graphs import NodeContent

_PRIOR = 3.0  # prior variance of each pair, in occurrences
_LARGEST = 20.0  # largest number that may get a word
_PENALTY = 2.0  # L2 penalty of slot weights
_ITERATIONS = 30
_AT_ONCE = 3  # words selected per round, for each kind of value


@dataclass(frozen=True)
class Evidence:
    """A word that probably means a value, with the evidence; `word` is a column index."""

    word: int
    meaning: Meaning
    strength: float  # in standard deviations, given all other words
    effect: float  # relative effect; about 1 for most words that denote the value


@dataclass(frozen=True)
class _Choice:
    """The (slot, value) pairs in each candidate plan of some instances."""

    plan: NDArray[np.int64]
    cell: NDArray[np.int64]  # index of the (slot, meaning) pair
    slot: NDArray[np.int64]
    meaning: NDArray[np.int64]
    size: int
    instances: list[int]


class PlanValues:
    """The values in each candidate plan of each text, by slot.

    Parameters
    ----------
    encoding
        The encoded instances.
    kinds
        The kinds of values to consider.
    """

    def __init__(self, encoding: Encoding, kinds: Collection[str]) -> None:
        batch = encoding.batch
        self.first = batch.instance_candidates.astype(np.int64)
        self.gold = batch.candidate_gold > 0
        self.slots: dict[tuple[str, str], int] = {}
        self.meanings: dict[Meaning, int] = {}
        self.choices: list[_Choice] = []
        self._kinds = frozenset(kinds)
        self.cells: dict[tuple[int, int], int] = {}
        self._found: dict[int, list[tuple[int, int, int]]] = {}
        known: dict[int, _Choice] = {}
        for instance, graphs in enumerate(encoding.graphs):
            # Texts with the same candidate plans share a list of graphs.
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
                plan, cell, slot, meaning = np.array(cells, np.int64).reshape(-1, 4).T
                known[id(graphs)] = _Choice(plan, cell, slot, meaning, int(end - begin), [])
                self.choices.append(known[id(graphs)])
            known[id(graphs)].instances.append(instance)
        self.kind_names = sorted({kind for kind, _ in self.slots})
        self.slot_kind = np.array([self.kind_names.index(k) for k, _ in self.slots], np.int64)
        self.cell_meaning = np.array([meaning for _, meaning in self.cells], np.int64)
        self.meaning_kind = np.array([self.kind_names.index(k) for k, _ in self.meanings], np.int64)

    def _cells_of(self, content: NodeContent) -> list[tuple[int, int, int]]:
        found = self._found.get(id(content))
        if found is None:
            found = self._found[id(content)] = []
            for label, _ in content:
                kind, value = label.kind, label.value
                if kind not in self._kinds or value is None:
                    continue
                # Usually, only small whole numbers have words.
                if isinstance(value, float) and not (value.is_integer() and 0 <= value <= _LARGEST):
                    continue
                slot = self.slots.setdefault((kind, label.name), len(self.slots))
                meaning = self.meanings.setdefault((kind, value), len(self.meanings))
                cell = self.cells.setdefault((slot, meaning), len(self.cells))
                found.append((cell, slot, meaning))
        return found


def find_words(
    values: PlanValues,
    blind: Reals,
    said: Reals,
    weights: Reals,
    *,
    least: float = 3.0,
    effect: float = 0.3,
    rounds: int = 12,
) -> list[Evidence]:
    """Return the words that probably mean values, with the evidence for each.

    Parameters
    ----------
    values
        The values in the candidate plans of each instance.
    blind
        The scores of all plans under a model that does not see values. Preferably, the model of an
        instance was not trained on that instance.
    said
        Which words (columns) occur in which instances (rows).
    weights
        The weight of each instance.
    least, effect
        Minimum evidence in standard deviations, and minimum effect relative to the words
        selected before.
    rounds
        Maximum number of rounds of selecting words and fitting slot weights.
    """
    if not values.meanings:
        return []
    test = _ScoreTest(values, blind, said, weights)
    meanings = list(values.meanings)
    dropped = np.zeros(test.taken.shape, bool)
    tested: dict[tuple[int, int], tuple[float, float]] = {}
    for _ in range(rounds):
        strength, size = test.measure()
        strength[(test.taken > 0) | dropped | (size < effect)] = -np.inf
        new = _choose(strength, values.meaning_kind, least)
        if not new:
            break
        for pair in new:
            test.taken[pair] = 1.0
        test.weigh()
        # A pair that was selected later may explain an earlier one.
        tested = {pair: test.retest(*pair) for pair in zip(*np.nonzero(test.taken), strict=True)}
        for pair, again in tested.items():
            if again[0] < least or again[1] < effect:
                test.taken[pair], dropped[pair] = 0.0, True
        test.weigh()
    return [
        Evidence(int(word), meanings[place], *tested[word, place])
        for word, place in zip(*np.nonzero(test.taken), strict=True)
    ]


def _choose(strength: Reals, kinds: NDArray[np.int64], least: float) -> list[tuple[int, int]]:
    """Return the (word, meaning) pairs with the strongest evidence, one for each word."""
    chosen: list[tuple[int, int]] = []
    words: set[int] = set()
    counts = np.zeros(int(kinds.max()) + 1, np.int64)
    order = np.argsort(-strength, axis=None, kind="stable")
    for place in order[: int(np.sum(strength >= least))].tolist():
        word, meaning = divmod(place, strength.shape[1])
        if word not in words and counts[kinds[meaning]] < _AT_ONCE:
            words.add(word)
            counts[kinds[meaning]] += 1
            chosen.append((word, meaning))
    return chosen


class _ScoreTest:
    """Tests which words mean values, given plan scores and the words selected so far."""

    def __init__(self, values: PlanValues, blind: Reals, said: Reals, weights: Reals) -> None:
        self.values = values
        self.blind = blind
        self.said = said
        self.weights = weights
        self.counts = np.diff(values.first)
        self.taken = np.zeros((said.shape[1], len(values.meanings)))
        self.slot_weights = np.zeros(len(values.slots))
        self.extra = np.zeros(len(blind))
        self.always = np.zeros(len(values.meanings))  # effects that are independent of the text

    def _chances(self, scores: Reals) -> tuple[float, Reals, Reals]:
        """Return the loss Σ weight · -log p(gold), and the values p(plan) and p(plan | gold)."""
        starts, gold = self.values.first[:-1], self.values.gold
        top = np.maximum.reduceat(scores, starts)
        plans = np.exp(scores - np.repeat(top, self.counts))
        right = plans * gold
        total, among = np.add.reduceat(plans, starts), np.add.reduceat(right, starts)
        among = np.maximum(among, 1e-300)
        loss = float(self.weights @ (np.log(total) - np.log(among)))
        return loss, plans / np.repeat(total, self.counts), right / np.repeat(among, self.counts)

    def measure(self) -> tuple[Reals, Reals]:
        """Return the evidence for each word and meaning, and the effect sizes.

        Until a word of a kind is selected, the evidence for a value is that of its best slot.
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
        meanings = len(values.meanings)
        if not seeded.all():
            excess, spread, _ = self._moments(
                lambda each: sparse.csr_matrix(
                    (np.ones(len(each.plan)), (each.plan, each.cell)),
                    shape=(each.size, len(values.cells)),
                )
            )
            by_cell = excess / np.sqrt(spread + _PRIOR)
            for meaning in range(meanings):
                strength[:, meaning] = by_cell[:, values.cell_meaning == meaning].max(axis=1)
            size[:] = 1.0
        if seeded.any():
            weights = self.slot_weights
            excess, spread, self.always = self._moments(
                lambda each: sparse.csr_matrix(
                    (weights[each.slot], (each.plan, each.meaning)), shape=(each.size, meanings)
                )
            )
            doubt = spread + self._doubt()
            strength[:, seeded] = (excess / np.sqrt(doubt))[:, seeded]
            size[:, seeded] = (excess / doubt)[:, seeded]
        return strength, size

    def _doubt(self) -> Reals:
        """Return the prior variance of each meaning, scaled by its slots' squared weights."""
        found = []
        for kind in self.values.meaning_kind:
            chosen = self.slot_weights[(self.values.slot_kind == kind) & (self.slot_weights > 0)]
            found.append(np.mean(chosen**2) if len(chosen) else 1.0)
        return _PRIOR * np.array(found)

    def retest(self, word: int, meaning: int) -> tuple[float, float]:
        """Return a word's evidence and effect in texts without other selected words."""
        rest = self.taken[:, meaning].copy()
        rest[word] = 0.0
        alone = (self.said[:, word] > 0) & (self.said @ rest == 0)
        excess = spread = 0.0
        for each in self.values.choices:
            places = np.array([place for place in each.instances if alone[place]], np.int64)
            if not len(places):
                continue
            chosen = each.meaning == meaning
            held = np.bincount(
                each.plan[chosen], weights=self.slot_weights[each.slot[chosen]], minlength=each.size
            )
            cells = self.values.first[places][:, None] + np.arange(each.size)
            scores = self.blind[cells] + self.extra[cells] - held
            plans = np.exp(scores - scores.max(axis=1, keepdims=True))
            right = plans * self.values.gold[cells]
            plans /= plans.sum(axis=1, keepdims=True)
            right /= np.maximum(right.sum(axis=1, keepdims=True), 1e-300)
            expected = plans @ held
            variance = plans @ held**2 - expected**2
            more = right @ held - expected - variance * self.always[meaning]
            excess += float(self.weights[places] @ more)
            spread += float(self.weights[places] @ variance)
        doubt = spread + self._doubt()[meaning]
        return excess / doubt**0.5, excess / doubt

    def _moments(self, table: Callable[[_Choice], sparse.csr_matrix]) -> tuple[Reals, Reals, Reals]:
        """Return each column's excess and variance for each word, and its effect.

        The excess of a column is its sum over the gold plans, minus the expected sum, and minus the
        effect that the column has in all texts (the third array).
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
        always = excess_all / (spread_all + _PRIOR)
        return excess - spread * always, spread, always

    def weigh(self) -> None:
        """Fit the slot weights for the values that the selected words name."""
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
