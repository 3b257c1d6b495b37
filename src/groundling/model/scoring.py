"""Scores of all problems under θ, and their gradient: labels → pairs → charts and back.

A weight vector is turned into the score of every distinct (word, node) pair by one sparse
product; charts only gather them. Going back, the charts return how much each pair is
expected to occur, and the transposed product turns that into the gradient.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from groundling.model.careful import best_states, inside_careful, outside_careful
from groundling.model.encoding import Encoding, Scores
from groundling.model.kernels import Charts, Integers, Reals, inside, outside
from groundling.model.settings import Overlay

__all__ = ["Model", "Potentials"]

_jit = njit(cache=True, nogil=True, error_model="numpy")


@_jit
def _score_sets(
    scores: Scores, theta: Reals, first: int, last: int, scratch: Reals,
    pair_score: Reals, set_shift: Reals,
) -> None:  # fmt: skip
    """Score the pairs of some word sets; `set_shift` receives each set's best score."""
    for s in range(first, last):
        scratch[:] = 0.0
        for i in range(scores.set_labels[s], scores.set_labels[s + 1]):
            label, amount = scores.set_label[i], scores.set_amount[i]
            for row in range(scores.label_rows[label], scores.label_rows[label + 1]):
                scratch[scores.row_label[row]] += (
                    amount * scores.row_value[row] * theta[scores.row_feature[row]]
                )
        top = -math.inf
        for pair in range(scores.set_pairs[s], scores.set_pairs[s + 1]):
            node = scores.pair_node[pair]
            total = 0.0
            for i in range(scores.node_labels[node], scores.node_labels[node + 1]):
                total += scores.node_amount[i] * scratch[scores.node_label[i]]
            pair_score[pair] = total
            top = max(top, total)
        set_shift[s] = top


@_jit
def _return_sets(
    scores: Scores, pair_grad: Reals, first: int, last: int, scratch: Reals, theta_grad: Reals
) -> None:
    """Undo `_score_sets`: from expected counts of pairs to the gradient."""
    for s in range(first, last):
        scratch[:] = 0.0
        some = False
        for pair in range(scores.set_pairs[s], scores.set_pairs[s + 1]):
            count = pair_grad[pair]
            if count == 0.0:
                continue
            some = True
            node = scores.pair_node[pair]
            for i in range(scores.node_labels[node], scores.node_labels[node + 1]):
                scratch[scores.node_label[i]] += count * scores.node_amount[i]
        if not some:
            continue
        for i in range(scores.set_labels[s], scores.set_labels[s + 1]):
            label, amount = scores.set_label[i], scores.set_amount[i]
            for row in range(scores.label_rows[label], scores.label_rows[label + 1]):
                theta_grad[scores.row_feature[row]] += (
                    amount * scores.row_value[row] * scratch[scores.row_label[row]]
                )


@_jit
def _return_amounts(
    scores: Scores, theta: Reals, pair_grad: Reals, scratch: Reals, amount_grad: Reals
) -> None:
    """From expected counts of pairs to the gradient of how far each word has each label."""
    for s in range(len(scores.set_labels) - 1):
        scratch[:] = 0.0
        for pair in range(scores.set_pairs[s], scores.set_pairs[s + 1]):
            node = scores.pair_node[pair]
            for i in range(scores.node_labels[node], scores.node_labels[node + 1]):
                scratch[scores.node_label[i]] += pair_grad[pair] * scores.node_amount[i]
        for i in range(scores.set_labels[s], scores.set_labels[s + 1]):
            label = scores.set_label[i]
            for row in range(scores.label_rows[label], scores.label_rows[label + 1]):
                amount_grad[i] += (
                    scores.row_value[row]
                    * theta[scores.row_feature[row]]
                    * scratch[scores.row_label[row]]
                )


@_jit
def _score_edges(scores: Scores, theta: Reals, edge_score: Reals) -> None:
    for edge in range(len(scores.edge_rows) - 1):
        edge_score[edge] = 0.0
        for row in range(scores.edge_rows[edge], scores.edge_rows[edge + 1]):
            edge_score[edge] += scores.edge_value[row] * theta[scores.edge_feature[row]]


@_jit
def _return_edges(scores: Scores, edge_grad: Reals, theta_grad: Reals) -> None:
    for edge in range(len(scores.edge_rows) - 1):
        for row in range(scores.edge_rows[edge], scores.edge_rows[edge + 1]):
            theta_grad[scores.edge_feature[row]] += scores.edge_value[row] * edge_grad[edge]


@_jit
def _text_free(charts: Charts, candidate: int, pair_score: Reals) -> float:
    """ψ(n) + Σ ψ(y_j) and whatever else a candidate scores in every alignment."""
    total = charts.candidate_base[candidate]
    for i in range(charts.candidate_extras[candidate], charts.candidate_extras[candidate + 1]):
        total += pair_score[charts.extra_pair[i]]
    for i in range(charts.candidate_actions[candidate], charts.candidate_actions[candidate + 1]):
        prior = charts.graph_prior[charts.action_graph[i]]
        if prior >= 0:
            total += pair_score[prior]
    return float(total)


@_jit
def _return_text_free(charts: Charts, candidate: int, weight: float, pair_grad: Reals) -> None:
    for i in range(charts.candidate_extras[candidate], charts.candidate_extras[candidate + 1]):
        pair_grad[charts.extra_pair[i]] += weight
    for i in range(charts.candidate_actions[candidate], charts.candidate_actions[candidate + 1]):
        prior = charts.graph_prior[charts.action_graph[i]]
        if prior >= 0:
            pair_grad[prior] += weight


@_jit
def _candidate_states(charts: Charts, candidate: int) -> int:
    count = 0
    for i in range(charts.candidate_actions[candidate], charts.candidate_actions[candidate + 1]):
        graph = charts.action_graph[i]
        count += charts.graph_nodes[graph + 1] - charts.graph_nodes[graph]
    return count


@_jit
def _forward(
    charts: Charts, word_sets: Integers, problem: int, potentials: Any, sizes: Any,
    state_start: Integers, rows: Reals, messages: Reals, scratch: Reals,
    group_log: Reals, careful: Integers, free: Reals,
) -> None:  # fmt: skip
    """Fill the charts of all candidates of a problem: `group_log` is (candidates × groups)."""
    pair_score, pair_exp, advance_exp, set_shift, edge_score, edge_exp, skips, costs = potentials
    relations, edge_top = sizes
    first_word, last_word = charts.problem_words[problem], charts.problem_words[problem + 1]
    first_group = charts.problem_groups[problem]
    groups = charts.problem_groups[problem + 1] - first_group
    first = charts.problem_candidates[problem]
    place = 0
    for c in range(charts.problem_candidates[problem + 1] - first):
        states = _candidate_states(charts, first + c)
        chart = rows[place : place + states * (last_word - first_word)]
        told = messages[place : place + states * (last_word - first_word)]
        logs = group_log[c * groups : (c + 1) * groups]
        logs[:] = 0.0
        held = edge_top < 50.0 and inside(
            charts, problem, first + c, pair_exp, advance_exp, edge_exp, relations, edge_top,
            skips, state_start, chart, told, logs,
        )  # fmt: skip
        careful[c] = not held
        if held:
            for w in range(first_word, last_word):
                if charts.group_active[first_group + charts.word_group[w]]:
                    logs[charts.word_group[w]] += set_shift[word_sets[w]]
        else:
            logs[:] = 0.0
            inside_careful(charts, problem, first + c, pair_score, edge_score, relations, costs,
                           False, state_start, chart, told, scratch, logs)  # fmt: skip
        free[c] = _text_free(charts, first + c, pair_score)
        place += states * (last_word - first_word)


@_jit
def _backward(
    charts: Charts, problem: int, potentials: Any, sizes: Any, group_weight: Reals,
    free_weight: Reals, careful: Integers, state_start: Integers, rows: Reals, messages: Reals,
    adjoints: Reals, scratch: Reals, posteriors: Reals, pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Add the expected counts of a problem, its charts weighted by (candidates × groups)."""
    pair_score, _, advance_exp, _, edge_score, edge_exp, skips, costs = potentials
    relations, _ = sizes
    words = charts.problem_words[problem + 1] - charts.problem_words[problem]
    groups = charts.problem_groups[problem + 1] - charts.problem_groups[problem]
    first = charts.problem_candidates[problem]
    place = 0
    for c in range(charts.problem_candidates[problem + 1] - first):
        states = _candidate_states(charts, first + c)
        weights = group_weight[c * groups : (c + 1) * groups]
        chart = rows[place : place + states * words]
        told = messages[place : place + states * words]
        if np.any(weights != 0.0):
            if careful[c]:
                outside_careful(charts, problem, first + c, weights, pair_score, edge_score,
                                relations, costs, state_start, chart, told, scratch,
                                posteriors, pair_grad, edge_grad)  # fmt: skip
            else:
                outside(charts, problem, first + c, weights, advance_exp, edge_exp, relations,
                        skips, state_start, chart, told, adjoints, scratch, posteriors,
                        pair_grad, edge_grad)  # fmt: skip
        if free_weight[c] != 0.0:
            _return_text_free(charts, first + c, free_weight[c], pair_grad)
        place += states * words


@_jit
def _softmax_problems(
    charts: Charts, word_sets: Integers, first: int, last: int, potentials: Any, sizes: Any,
    room: Any, want_gradient: bool, candidate_score: Reals, pair_grad: Reals, edge_grad: Reals,
) -> float:  # fmt: skip
    """Score candidates of problems first … last-1; return Σ weight · -log p(gold)."""
    most_cells, most_chart, most_actions, most_groups, most_candidates = room
    state_start = np.zeros(most_actions + 1, np.int32)
    rows, messages = np.empty(most_cells), np.empty(most_cells)
    adjoints, scratch, posteriors = (
        np.empty(most_chart), np.empty(most_chart), np.empty(most_chart)
    )  # fmt: skip
    group_log = np.empty(most_candidates * most_groups)
    group_weight = np.empty(most_candidates * most_groups)
    free, free_weight = np.empty(most_candidates), np.empty(most_candidates)
    careful = np.zeros(most_candidates, np.int32)
    loss = 0.0
    for problem in range(first, last):
        begin, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
        groups = charts.problem_groups[problem + 1] - charts.problem_groups[problem]
        _forward(charts, word_sets, problem, potentials, sizes, state_start, rows, messages,
                 scratch, group_log, careful, free)  # fmt: skip
        top = -math.inf
        top_gold = -math.inf
        for c in range(end - begin):
            score = free[c]
            for g in range(groups):
                score += group_log[c * groups + g]
            candidate_score[begin + c] = score
            # A pinned candidate is a part of an unpinned one: it stands above the line only.
            if charts.candidate_pins[begin + c] < 0:
                top = max(top, score)
            if charts.candidate_gold[begin + c]:
                top_gold = max(top_gold, score)
        weight = charts.problem_weight[problem]
        if weight == 0.0 or top_gold == -math.inf:
            continue
        total, total_gold = 0.0, 0.0
        for c in range(end - begin):
            score = candidate_score[begin + c]
            if charts.candidate_pins[begin + c] < 0:
                total += math.exp(score - top)
            if charts.candidate_gold[begin + c]:
                total_gold += math.exp(score - top_gold)
        loss += weight * (top + math.log(total) - top_gold - math.log(total_gold))
        if not want_gradient:
            continue
        for c in range(end - begin):
            score = candidate_score[begin + c]
            share = 0.0
            if charts.candidate_pins[begin + c] < 0:
                share += math.exp(score - top) / total
            if charts.candidate_gold[begin + c]:
                share -= math.exp(score - top_gold) / total_gold
            free_weight[c] = weight * share
            for g in range(groups):
                group_weight[c * groups + g] = weight * share
        _backward(charts, problem, potentials, sizes, group_weight, free_weight, careful,
                  state_start, rows, messages, adjoints, scratch, posteriors,
                  pair_grad, edge_grad)  # fmt: skip
    return loss


@_jit
def _all_scores(
    charts: Charts, word_sets: Integers, first: int, last: int, potentials: Any, sizes: Any,
    room: Any, out_start: Integers, group_scores: Reals, free_scores: Reals,
) -> None:  # fmt: skip
    """Write the score of every (candidate, group) and the text-free score of every candidate."""
    most_cells, most_chart, most_actions, _, most_candidates = room
    state_start = np.zeros(most_actions + 1, np.int32)
    rows, messages, scratch = np.empty(most_cells), np.empty(most_cells), np.empty(most_chart)
    careful = np.zeros(most_candidates, np.int32)
    for problem in range(first, last):
        begin, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
        _forward(charts, word_sets, problem, potentials, sizes, state_start, rows, messages,
                 scratch, group_scores[out_start[problem] : out_start[problem + 1]], careful,
                 free_scores[begin:end])  # fmt: skip


@_jit
def _all_gradients(
    charts: Charts, word_sets: Integers, first: int, last: int, potentials: Any, sizes: Any,
    room: Any, out_start: Integers, group_weight: Reals, free_weight: Reals,
    pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Add expected counts, every (candidate, group) chart weighted as told from outside."""
    most_cells, most_chart, most_actions, most_groups, most_candidates = room
    state_start = np.zeros(most_actions + 1, np.int32)
    rows, messages = np.empty(most_cells), np.empty(most_cells)
    adjoints, scratch, posteriors = (
        np.empty(most_chart), np.empty(most_chart), np.empty(most_chart)
    )  # fmt: skip
    group_log = np.empty(most_candidates * most_groups)
    free = np.empty(most_candidates)
    careful = np.zeros(most_candidates, np.int32)
    for problem in range(first, last):
        begin, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
        _forward(charts, word_sets, problem, potentials, sizes, state_start, rows, messages,
                 scratch, group_log, careful, free)  # fmt: skip
        _backward(charts, problem, potentials, sizes,
                  group_weight[out_start[problem] : out_start[problem + 1]],
                  free_weight[begin:end], careful, state_start, rows, messages, adjoints,
                  scratch, posteriors, pair_grad, edge_grad)  # fmt: skip


@_jit
def _best_alignment(
    charts: Charts, problem: int, candidate: int, potentials: Any, sizes: Any, room: Any,
    chosen: Integers,
) -> float:  # fmt: skip
    _, most_chart, most_actions, most_groups, _ = room
    pair_score, _, _, _, edge_score, _, _, costs = potentials
    relations, _ = sizes
    state_start = np.zeros(most_actions + 1, np.int32)
    rows, messages, scratch = np.empty(most_chart), np.empty(most_chart), np.empty(most_chart)
    group_log = np.zeros(most_groups)
    inside_careful(charts, problem, candidate, pair_score, edge_score, relations, costs, True,
                   state_start, rows, messages, scratch, group_log)  # fmt: skip
    best_states(charts, problem, candidate, pair_score, edge_score, relations, costs,
                state_start, rows, chosen)  # fmt: skip
    return float(group_log.sum())


@_jit
def _posteriors(
    charts: Charts, word_sets: Integers, problem: int, candidate: int, potentials: Any,
    sizes: Any, room: Any, posteriors: Reals, pair_count: Reals, edge_count: Reals,
) -> float:  # fmt: skip
    _, most_chart, most_actions, most_groups, _ = room
    pair_score, _, _, _, edge_score, _, _, costs = potentials
    relations, _ = sizes
    state_start = np.zeros(most_actions + 1, np.int32)
    rows, messages, scratch = np.empty(most_chart), np.empty(most_chart), np.empty(most_chart)
    group_log = np.zeros(most_groups)
    inside_careful(charts, problem, candidate, pair_score, edge_score, relations, costs, False,
                   state_start, rows, messages, scratch, group_log)  # fmt: skip
    outside_careful(charts, problem, candidate, np.ones(most_groups), pair_score, edge_score,
                    relations, costs, state_start, rows, messages, scratch, posteriors,
                    pair_count, edge_count)  # fmt: skip
    return float(group_log.sum())


@dataclass
class Potentials:
    """The scores of pairs and of relations under one θ, ready for the charts."""

    pair_score: Reals
    edge_score: Reals
    arrays: tuple[Reals, ...]
    sizes: tuple[int, float]


class Model:
    """An encoding with the settings of its overlay: scores, gradients, alignments.

    `threads` share the work; results agree for any number to about 1e-12.
    """

    def __init__(self, encoding: Encoding, overlay: Overlay, threads: int = 1) -> None:
        self.encoding = encoding
        self.charts = encoding.charts
        self.scores = encoding.scores
        self.threads = max(1, min(threads, os.cpu_count() or 1))
        self.costs = np.array([overlay.skip, overlay.skip_before, overlay.skip_after])
        charts = self.charts
        most = int(np.diff(charts.problem_candidates).max(initial=1))
        self.room = (*encoding.sizes, most)
        groups = np.diff(charts.problem_groups) * np.diff(charts.problem_candidates)
        self.group_start = np.concatenate([[0], np.cumsum(groups)]).astype(np.int32)
        self.width = len(encoding.space)
        self.labels = int(self.scores.node_label.max(initial=0)) + 1
        self._set_shards = self._shards(np.diff(self.scores.set_pairs) + 1.0)
        cells = np.diff(charts.problem_words) * charts.problem_nodes + 1.0
        self._problem_shards = self._shards(cells)
        # Gradients of shared pairs are collected per thread; allocate once.
        self._pair_grads = [np.zeros(len(self.scores.pair_node)) for _ in range(self.threads)]
        self._edge_grads = [np.zeros(len(self.scores.edge_rows) - 1) for _ in range(self.threads)]
        self._theta_grads = [np.zeros(self.width) for _ in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def _shards(self, work: NDArray[Any]) -> list[tuple[int, int]]:
        total = np.concatenate([[0.0], np.cumsum(work)])
        cuts = np.searchsorted(total, np.linspace(0, total[-1], self.threads + 1))
        cuts[0], cuts[-1] = 0, len(work)
        return [(int(a), int(b)) for a, b in pairwise(cuts)]

    def _each(self, work: Callable[[int], Any]) -> list[Any]:
        if self._pool is None:
            return [work(0)]
        return list(self._pool.map(work, range(self.threads)))

    # ---- forward ------------------------------------------------------------------------

    def potentials(self, theta: Reals) -> Potentials:
        """Score every distinct pair and every relation."""
        pair_score = np.zeros(len(self.scores.pair_node))
        set_shift = np.zeros(len(self.scores.set_labels) - 1)
        edge_score = np.zeros(len(self.scores.edge_rows) - 1)

        def work(shard: int) -> None:
            first, last = self._set_shards[shard]
            _score_sets(
                self.scores, theta, first, last, np.empty(self.labels), pair_score, set_shift
            )

        self._each(work)
        _score_edges(self.scores, theta, edge_score)
        return self._prepare(pair_score, edge_score, set_shift)

    def _prepare(self, pair_score: Reals, edge_score: Reals, set_shift: Reals) -> Potentials:
        finite_shift = np.where(np.isfinite(set_shift), set_shift, 0.0)
        pair_exp = np.exp(pair_score - finite_shift[self.encoding.pair_set])
        advances = self.charts.word_advance[self.charts.word_advance >= 0]
        top = max(edge_score.max(initial=0.0), pair_score[advances].max(initial=0.0))
        advance_exp = np.zeros(len(pair_score))
        advance_exp[advances] = np.exp(np.minimum(pair_score[advances], 700.0))
        arrays = (
            pair_score, pair_exp, advance_exp, finite_shift, edge_score,
            np.exp(np.minimum(edge_score, 700.0)), np.exp(-self.costs), self.costs,
        )  # fmt: skip
        return Potentials(pair_score, edge_score, arrays, (self.encoding.relations, float(top)))

    def candidate_scores(self, theta: Reals) -> Reals:
        """Return the log score of every candidate of every problem, one after another."""
        return self._softmax(theta, want_gradient=False)[1]

    def group_scores(self, theta: Reals) -> tuple[Reals, Reals]:
        """Return ψ of every (candidate, group), problem by problem, and text-free scores."""
        potentials = self.potentials(theta)
        grouped = np.zeros(int(self.group_start[-1]))
        free = np.zeros(len(self.charts.candidate_base))

        def work(shard: int) -> None:
            first, last = self._problem_shards[shard]
            _all_scores(
                self.charts, self.encoding.word_sets, first, last, potentials.arrays,
                potentials.sizes, self.room, self.group_start, grouped, free,
            )  # fmt: skip

        self._each(work)
        return grouped, free

    # ---- gradients ----------------------------------------------------------------------

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p(gold candidates) and its gradient."""
        loss, _, potentials = self._softmax(theta, want_gradient=True)
        del potentials
        return loss, self._gradient()

    def _softmax(self, theta: Reals, want_gradient: bool) -> tuple[float, Reals, Potentials]:
        potentials = self.potentials(theta)
        scores = np.zeros(len(self.charts.candidate_base))
        self._clear()

        def work(shard: int) -> float:
            first, last = self._problem_shards[shard]
            return float(
                _softmax_problems(
                    self.charts, self.encoding.word_sets, first, last, potentials.arrays,
                    potentials.sizes, self.room, want_gradient, scores,
                    self._pair_grads[shard], self._edge_grads[shard],
                )
            )  # fmt: skip

        return sum(self._each(work)), scores, potentials

    def weighted_gradient(self, theta: Reals, group_weight: Reals, free_weight: Reals) -> Reals:
        """Return the gradient of Σ weight · score, weights as laid out by `group_scores`."""
        potentials = self.potentials(theta)
        self._clear()

        def work(shard: int) -> None:
            first, last = self._problem_shards[shard]
            _all_gradients(
                self.charts, self.encoding.word_sets, first, last, potentials.arrays,
                potentials.sizes, self.room, self.group_start, group_weight, free_weight,
                self._pair_grads[shard], self._edge_grads[shard],
            )  # fmt: skip

        self._each(work)
        return self._gradient()

    def amount_loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return the loss and its gradient by how far each word has each of its labels."""
        loss, _, _ = self._softmax(theta, want_gradient=True)
        gradient = np.zeros(len(self.scores.set_amount))
        _return_amounts(
            self.scores, theta, self._collect(self._pair_grads), np.empty(self.labels), gradient
        )
        return loss, gradient

    def _clear(self) -> None:
        for each in (*self._pair_grads, *self._edge_grads):
            each[:] = 0.0

    @staticmethod
    def _collect(parts: list[Reals]) -> Reals:
        for each in parts[1:]:
            parts[0] += each
        return parts[0]

    def _gradient(self) -> Reals:
        pair_grad, edge_grad = self._collect(self._pair_grads), self._collect(self._edge_grads)

        def work(shard: int) -> None:
            first, last = self._set_shards[shard]
            self._theta_grads[shard][:] = 0.0
            _return_sets(
                self.scores, pair_grad, first, last, np.empty(self.labels),
                self._theta_grads[shard],
            )  # fmt: skip

        self._each(work)
        gradient = self._collect(self._theta_grads).copy()
        _return_edges(self.scores, edge_grad, gradient)
        return gradient

    # ---- alignments ---------------------------------------------------------------------

    def best_alignment(
        self, potentials: Potentials, problem: int, candidate: int
    ) -> tuple[float, Integers]:
        """Return the score of the best alignment of a candidate, and each word's state."""
        first = int(self.charts.problem_words[problem])
        chosen = np.full(int(self.charts.problem_words[problem + 1]) - first, -1, np.int32)
        place = int(self.charts.problem_candidates[problem]) + candidate
        score = _best_alignment(
            self.charts, problem, place, potentials.arrays, potentials.sizes, self.room, chosen
        )
        return float(score), chosen

    def posteriors(
        self, potentials: Potentials, problem: int, candidate: int
    ) -> tuple[Reals, Reals, Reals]:
        """Return p(word at state) as (words × states), and expected counts of pairs and edges."""
        words = int(np.diff(self.charts.problem_words)[problem])
        place = int(self.charts.problem_candidates[problem]) + candidate
        pair_count = np.zeros(len(self.scores.pair_node))
        edge_count = np.zeros(len(self.scores.edge_rows) - 1)
        buffer = np.zeros(self.room[1])
        _posteriors(
            self.charts, self.encoding.word_sets, problem, place, potentials.arrays,
            potentials.sizes, self.room, buffer, pair_count, edge_count,
        )  # fmt: skip
        states = int(_candidate_states(self.charts, place))
        return buffer[: words * states].reshape(words, states), pair_count, edge_count
