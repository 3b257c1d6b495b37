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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.model.careful import best_states, inside_careful, outside_careful
from groundling.model.charts import (
    Charts,
    Indices,
    Integers,
    Layout,
    Reals,
    Room,
    compiled,
    inlined,
    lay_out,
    lay_out_batch,
    make_room,
    next_batch,
)
from groundling.model.encoding import Encoding, Scores
from groundling.model.kernels import FAINT, inside, outside
from groundling.model.settings import Overlay

__all__ = ["Model", "Potentials"]


class _Tables(NamedTuple):
    """What turns weights into scores of pairs: `Scores` with unsigned indices.

    Nodes are numbered by how many labels they have, and the pairs of a word set are listed in
    that order: loops over labels are equally long for long stretches, and the nodes that words
    meet lie close together in memory, apart from the long ones that only ψ(y) sees.
    """

    set_labels: Integers
    set_label: Integers
    set_amount: Reals
    label_rows: Indices
    row_label: Indices
    row_feature: Indices
    row_value: Reals
    set_pairs: Indices
    listed_pair: Indices
    listed_node: Indices
    node_labels: Indices
    node_label: Indices
    node_amount: Reals


def _tabulate(scores: Scores) -> _Tables:
    sizes = np.diff(scores.node_labels)
    order = np.argsort(sizes, kind="stable")
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order))
    node_labels = np.concatenate([[0], np.cumsum(sizes[order])])
    entry = np.repeat(scores.node_labels[order] - node_labels[:-1], sizes[order])
    entry += np.arange(len(entry))
    pair_set = np.repeat(np.arange(len(scores.set_pairs) - 1), np.diff(scores.set_pairs))
    listed = np.lexsort((rank[scores.pair_node], pair_set))
    return _Tables(
        set_labels=scores.set_labels,
        set_label=scores.set_label,
        set_amount=scores.set_amount,
        label_rows=scores.label_rows.view(np.uint32),
        row_label=scores.row_label.view(np.uint32),
        row_feature=scores.row_feature.view(np.uint32),
        row_value=scores.row_value,
        set_pairs=scores.set_pairs.view(np.uint32),
        listed_pair=listed.astype(np.uint32),
        listed_node=rank[scores.pair_node[listed]],
        node_labels=node_labels.astype(np.uint32),
        node_label=scores.node_label[entry].view(np.uint32),
        node_amount=scores.node_amount[entry],
    )


@compiled
def _score_sets(
    tables: _Tables, theta: Reals, first: int, last: int, scratch: Reals,
    pair_score: Reals, pair_shifted: Reals, set_shift: Reals,
) -> None:  # fmt: skip
    """Score the pairs of some word sets; `set_shift` receives each set's best score.

    `pair_shifted` receives the scores less that best one.
    """
    node_labels, node_label, node_amount = (
        tables.node_labels, tables.node_label, tables.node_amount
    )  # fmt: skip
    for s in range(first, last):
        scratch[:] = 0.0
        for i in range(tables.set_labels[s], tables.set_labels[s + 1]):
            label, amount = tables.set_label[i], tables.set_amount[i]
            if amount == 0.0:
                continue
            for row in range(tables.label_rows[label], tables.label_rows[label + 1]):
                scratch[tables.row_label[row]] += (
                    amount * tables.row_value[row] * theta[tables.row_feature[row]]
                )
        top = -math.inf
        for place in range(tables.set_pairs[s], tables.set_pairs[s + 1]):
            node = tables.listed_node[place]
            total = 0.0
            for i in range(node_labels[node], node_labels[node + np.uint32(1)]):
                total += node_amount[i] * scratch[node_label[i]]
            pair_score[tables.listed_pair[place]] = total
            top = max(top, total)
        set_shift[s] = top if math.isfinite(top) else 0.0
        for pair in range(tables.set_pairs[s], tables.set_pairs[s + 1]):
            pair_shifted[pair] = pair_score[pair] - set_shift[s]


@compiled
def _return_sets(
    tables: _Tables, pair_grad: Reals, first: int, last: int, scratch: Reals, theta_grad: Reals
) -> None:
    """Undo `_score_sets`: from expected counts of pairs to the gradient."""
    node_labels, node_label, node_amount = (
        tables.node_labels, tables.node_label, tables.node_amount
    )  # fmt: skip
    for s in range(first, last):
        scratch[:] = 0.0
        for place in range(tables.set_pairs[s], tables.set_pairs[s + 1]):
            count = pair_grad[tables.listed_pair[place]]
            node = tables.listed_node[place]
            for i in range(node_labels[node], node_labels[node + np.uint32(1)]):
                scratch[node_label[i]] += count * node_amount[i]
        for i in range(tables.set_labels[s], tables.set_labels[s + 1]):
            label, amount = tables.set_label[i], tables.set_amount[i]
            if amount == 0.0:
                continue
            for row in range(tables.label_rows[label], tables.label_rows[label + 1]):
                theta_grad[tables.row_feature[row]] += (
                    amount * tables.row_value[row] * scratch[tables.row_label[row]]
                )


@compiled
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


@compiled
def _score_edges(scores: Scores, theta: Reals, edge_score: Reals) -> None:
    for edge in range(len(scores.edge_rows) - 1):
        edge_score[edge] = 0.0
        for row in range(scores.edge_rows[edge], scores.edge_rows[edge + 1]):
            edge_score[edge] += scores.edge_value[row] * theta[scores.edge_feature[row]]


@compiled
def _return_edges(scores: Scores, edge_grad: Reals, theta_grad: Reals) -> None:
    for edge in range(len(scores.edge_rows) - 1):
        for row in range(scores.edge_rows[edge], scores.edge_rows[edge + 1]):
            theta_grad[scores.edge_feature[row]] += scores.edge_value[row] * edge_grad[edge]


@compiled
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


@compiled
def _return_text_free(charts: Charts, candidate: int, weight: float, pair_grad: Reals) -> None:
    for i in range(charts.candidate_extras[candidate], charts.candidate_extras[candidate + 1]):
        pair_grad[charts.extra_pair[i]] += weight
    for i in range(charts.candidate_actions[candidate], charts.candidate_actions[candidate + 1]):
        prior = charts.graph_prior[charts.action_graph[i]]
        if prior >= 0:
            pair_grad[prior] += weight


@compiled
def _forward(
    charts: Charts, layout: Layout, problem: int, potentials: Any, edge_top: float, room: Room,
    group_log: Reals, free: Reals,
) -> None:  # fmt: skip
    """Fill the charts of all candidates of a problem: `group_log` is (candidates × groups)."""
    pair_score, pair_exp, advance_exp, set_shift, edge_score, edge_exp, skips, costs = potentials
    first_word, last_word = charts.problem_words[problem], charts.problem_words[problem + 1]
    words, nodes = last_word - first_word, charts.problem_nodes[problem]
    first_group = charts.problem_groups[problem]
    groups = charts.problem_groups[problem + 1] - first_group
    begin, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
    group_log[: (end - begin) * groups] = 0.0
    room.group_shift[:groups] = 0.0
    # Candidates share nodes: fetch each score once from afar, and make a word's sum to one.
    scores = room.scores[: words * nodes].reshape(words, nodes)
    cell = charts.problem_cells[problem]
    fast = edge_top < 50.0
    for w in range(words):
        pairs = layout.cell_pair[cell + w * nodes : cell + (w + 1) * nodes]
        total = 0.0
        for node in range(nodes):
            score = pair_exp[pairs[node]]
            scores[w, node] = score
            total += score
        if charts.group_active[first_group + charts.word_group[first_word + w]]:
            fast &= FAINT < total < math.inf
            for node in range(nodes):
                scores[w, node] /= total
            shift = set_shift[layout.word_set[first_word + w]] + math.log(total)
            room.group_shift[charts.word_group[first_word + w]] += shift
    room.careful[: end - begin] = not fast
    first, place = begin, 0
    while first < end and fast:
        last, states = next_batch(layout, first, end)
        lay_out_batch(charts, layout, first, last, room)
        room.rows[place : place + words * states] = 1.0
        room.messages[place : place + words * states] = 0.0
        rows = room.rows[place : place + words * states].reshape(words, states)
        messages = room.messages[place : place + words * states].reshape(words, states)
        inside(charts, layout, problem, first, last, scores, advance_exp,
               edge_exp, edge_top, skips, room, rows, messages,
               group_log[(first - begin) * groups : (last - begin) * groups],
               room.careful[first - begin : last - begin])  # fmt: skip
        first, place = last, place + words * states
    for c in range(end - begin):
        logs = group_log[c * groups : (c + 1) * groups]
        if room.careful[c]:
            logs[:] = 0.0
            _inside_one(charts, layout, problem, begin + c, pair_score, edge_score, costs, room,
                        logs)  # fmt: skip
        else:
            for g in range(groups):
                logs[g] += room.group_shift[g]
        free[c] = _text_free(charts, begin + c, pair_score)


@inlined
def _inside_one(
    charts: Charts, layout: Layout, problem: int, candidate: int, pair_score: Reals,
    edge_score: Reals, costs: Reals, room: Room, logs: Reals,
) -> tuple[Reals, Reals, Reals]:  # fmt: skip
    """Fill the charts of one candidate carefully; return its rows, messages, and more room."""
    words = charts.problem_words[problem + 1] - charts.problem_words[problem]
    states = layout.candidate_states[candidate]
    rows = room.careful_rows[: words * states].reshape(words, states)
    messages = room.careful_messages[: words * states].reshape(words, states)
    inside_careful(charts, problem, candidate, pair_score, edge_score, costs, False,
                   room.careful_start, rows, messages, room.asked, logs)  # fmt: skip
    return rows, messages, room.posteriors[: words * states].reshape(words, states)


@compiled
def _backward(
    charts: Charts, layout: Layout, problem: int, potentials: Any, edge_top: float,
    group_weight: Reals, free_weight: Reals, room: Room, pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Add the expected counts of a problem, its charts weighted by (candidates × groups)."""
    pair_score, _, advance_exp, _, edge_score, edge_exp, skips, costs = potentials
    words = charts.problem_words[problem + 1] - charts.problem_words[problem]
    nodes = charts.problem_nodes[problem]
    groups = charts.problem_groups[problem + 1] - charts.problem_groups[problem]
    begin, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
    counts = room.counts[: words * nodes]
    counts[:] = 0.0
    first, place = begin, 0
    while first < end:
        last, states = next_batch(layout, first, end)
        some = False
        for c in range(first - begin, last - begin):
            some |= not room.careful[c]
        if some:
            if first > begin or last < end:  # else it is there since `_forward`
                lay_out_batch(charts, layout, first, last, room)
            posteriors = room.posteriors[: words * states]
            posteriors[:] = 0.0
            rows = room.rows[place : place + words * states].reshape(words, states)
            messages = room.messages[place : place + words * states].reshape(words, states)
            outside(charts, problem, first, last,
                    group_weight[(first - begin) * groups : (last - begin) * groups], advance_exp,
                    edge_exp, skips, room, rows, messages, posteriors.reshape(words, states),
                    counts.reshape(words, nodes), pair_grad, edge_grad)  # fmt: skip
        first, place = last, place + words * states
    for c in range(end - begin):
        if room.careful[c]:
            logs = room.group_log[:groups]
            rows, messages, chart = _inside_one(
                charts, layout, problem, begin + c, pair_score, edge_score, costs, room, logs
            )
            weights = group_weight[c * groups : (c + 1) * groups]
            outside_careful(charts, problem, begin + c, weights, pair_score, edge_score, costs,
                            room.careful_start, rows, messages, room.asked, chart, pair_grad,
                            edge_grad)  # fmt: skip
        if free_weight[c] != 0.0:
            _return_text_free(charts, begin + c, free_weight[c], pair_grad)
    first_cell = charts.problem_cells[problem]
    for cell in range(words * nodes):
        pair_grad[layout.cell_pair[first_cell + cell]] += counts[cell]


@compiled
def _softmax_problems(
    given: Any, want_gradient: bool,
    candidate_score: Reals, pair_grad: Reals, edge_grad: Reals,
) -> float:  # fmt: skip
    """Score candidates of problems first … last-1; return Σ weight · -log p(gold)."""
    charts, layout, first, last, potentials, edge_top, room = given
    group_log, group_weight = room.group_log, room.group_weight
    free, free_weight = room.free, room.free_weight
    pair_grad[:] = 0.0
    edge_grad[:] = 0.0
    loss = 0.0
    for problem in range(first, last):
        begin, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
        groups = charts.problem_groups[problem + 1] - charts.problem_groups[problem]
        weight = charts.problem_weight[problem]
        if want_gradient and weight == 0.0:
            continue
        _forward(charts, layout, problem, potentials, edge_top, room, group_log, free)
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
        _backward(charts, layout, problem, potentials, edge_top, group_weight, free_weight, room,
                  pair_grad, edge_grad)  # fmt: skip
    return loss


@compiled
def _all_scores(
    given: Any, out_start: Integers,
    group_scores: Reals, free_scores: Reals,
) -> None:  # fmt: skip
    """Write the score of every (candidate, group) and the text-free score of every candidate."""
    charts, layout, first, last, potentials, edge_top, room = given
    for problem in range(first, last):
        begin, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
        _forward(charts, layout, problem, potentials, edge_top, room,
                 group_scores[out_start[problem] : out_start[problem + 1]],
                 free_scores[begin:end])  # fmt: skip


@compiled
def _all_gradients(
    given: Any, out_start: Integers,
    group_weight: Reals, free_weight: Reals, pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Add expected counts, every (candidate, group) chart weighted as told from outside."""
    charts, layout, first, last, potentials, edge_top, room = given
    pair_grad[:] = 0.0
    edge_grad[:] = 0.0
    for problem in range(first, last):
        begin, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
        _forward(charts, layout, problem, potentials, edge_top, room, room.group_log, room.free)
        _backward(charts, layout, problem, potentials, edge_top,
                  group_weight[out_start[problem] : out_start[problem + 1]],
                  free_weight[begin:end], room, pair_grad, edge_grad)  # fmt: skip


@dataclass
class Potentials:
    """The scores of pairs and of relations under one θ, ready for the charts."""

    pair_score: Reals
    edge_score: Reals
    arrays: tuple[Reals, ...]
    edge_top: float


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
        groups = np.diff(charts.problem_groups) * np.diff(charts.problem_candidates)
        self.group_start = np.concatenate([[0], np.cumsum(groups)]).astype(np.int32)
        self.width = len(encoding.space)
        self.labels = int(self.scores.node_label.max(initial=0)) + 1
        self._tables = _tabulate(self.scores)
        self._layout = lay_out(charts, encoding.word_sets)
        cells = np.diff(charts.problem_words) * np.add.reduceat(
            np.append(self._layout.candidate_states, 0), charts.problem_candidates[:-1]
        )
        self._problem_shards = self._shards(cells + 1.0)
        self._set_shards = self._shards(np.diff(self.scores.set_pairs) + 1.0)
        self._advances = np.unique(charts.word_advance[charts.word_advance >= 0])
        pairs, edges = len(self.scores.pair_node), len(self.scores.edge_rows) - 1
        # Gradients of shared pairs are collected per thread; allocate once.
        self._pair_grads = [np.zeros(pairs) for _ in range(self.threads)]
        self._edge_grads = [
            np.zeros((edges // encoding.relations, encoding.relations)) for _ in range(self.threads)
        ]
        self._theta_grads = [np.zeros(self.width) for _ in range(self.threads)]
        self._rooms = [make_room(charts, self._layout) for _ in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def _shards(self, work: NDArray[Any]) -> list[tuple[int, int]]:
        total = np.concatenate([[0.0], np.cumsum(work)])
        cuts = np.searchsorted(total, np.linspace(0, total[-1], self.threads + 1))
        cuts[0], cuts[-1] = 0, len(work)
        return [(int(a), int(b)) for a, b in pairwise(cuts)]

    def _each(self, work: Callable[[int], Any]) -> list[Any]:
        if self._pool is None:
            return [work(0)]
        others = [self._pool.submit(work, shard) for shard in range(1, self.threads)]
        return [work(0), *(each.result() for each in others)]

    # ---- forward ------------------------------------------------------------------------

    def potentials(self, theta: Reals) -> Potentials:
        """Score every distinct pair and every relation."""
        pair_score, pair_exp = np.empty((2, len(self.scores.pair_node)))
        set_shift = np.empty(len(self.scores.set_labels) - 1)
        edge_score = np.empty(len(self.scores.edge_rows) - 1)

        def work(shard: int) -> None:
            first, last = self._set_shards[shard]
            _score_sets(
                self._tables, theta, first, last, np.empty(self.labels), pair_score, pair_exp,
                set_shift,
            )  # fmt: skip
            shifted = pair_exp[self.scores.set_pairs[first] : self.scores.set_pairs[last]]
            np.exp(shifted, out=shifted)

        self._each(work)
        _score_edges(self.scores, theta, edge_score)
        advances = pair_score[self._advances]
        top = max(edge_score.max(initial=0.0), advances.max(initial=0.0))
        advance_exp = np.zeros(len(pair_score) if len(advances) else 0)
        advance_exp[self._advances] = np.exp(np.minimum(advances, 700.0))
        edges = edge_score.reshape(-1, self.encoding.relations)
        arrays = (
            pair_score, pair_exp, advance_exp, set_shift, edges, np.exp(np.minimum(edges, 700.0)),
            np.exp(-self.costs), self.costs,
        )  # fmt: skip
        return Potentials(pair_score, edge_score, arrays, float(top))

    def candidate_scores(self, theta: Reals) -> Reals:
        """Return the log score of every candidate of every problem, one after another."""
        return self._softmax(theta, want_gradient=False)[1]

    def group_scores(self, theta: Reals) -> tuple[Reals, Reals]:
        """Return ψ of every (candidate, group), problem by problem, and text-free scores."""
        potentials = self.potentials(theta)
        grouped = np.zeros(int(self.group_start[-1]))
        free = np.zeros(len(self.charts.candidate_base))

        def work(shard: int) -> None:
            _all_scores(self._given(shard, potentials), self.group_start, grouped, free)

        self._each(work)
        return grouped, free

    def _given(self, shard: int, potentials: Potentials) -> tuple[Any, ...]:
        """Return what all kernels over problems read."""
        return (
            self.charts, self._layout, *self._problem_shards[shard], potentials.arrays,
            potentials.edge_top, self._rooms[shard],
        )  # fmt: skip

    # ---- gradients ----------------------------------------------------------------------

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p(gold candidates) and its gradient."""
        loss, _ = self._softmax(theta, want_gradient=True)
        return loss, self._gradient()

    def _softmax(self, theta: Reals, want_gradient: bool) -> tuple[float, Reals]:
        potentials = self.potentials(theta)
        scores = np.zeros(len(self.charts.candidate_base))

        def work(shard: int) -> float:
            return float(
                _softmax_problems(
                    self._given(shard, potentials), want_gradient, scores,
                    self._pair_grads[shard], self._edge_grads[shard],
                )
            )  # fmt: skip

        return sum(self._each(work)), scores

    def weighted_gradient(self, theta: Reals, group_weight: Reals, free_weight: Reals) -> Reals:
        """Return the gradient of Σ weight · score, weights as laid out by `group_scores`."""
        potentials = self.potentials(theta)

        def work(shard: int) -> None:
            _all_gradients(
                self._given(shard, potentials), self.group_start, group_weight, free_weight,
                self._pair_grads[shard], self._edge_grads[shard],
            )  # fmt: skip

        self._each(work)
        return self._gradient()

    def amount_loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return the loss and its gradient by how far each word has each of its labels."""
        loss, _ = self._softmax(theta, want_gradient=True)
        gradient = np.zeros(len(self.scores.set_amount))
        _return_amounts(
            self.scores, theta, self._collect(self._pair_grads), np.empty(self.labels), gradient
        )
        return loss, gradient

    @staticmethod
    def _collect(parts: list[Reals], span: slice = slice(None)) -> Reals:
        for each in parts[1:]:
            parts[0][span] += each[span]
        return parts[0]

    def _gradient(self) -> Reals:
        def work(shard: int) -> None:
            first, last = self._set_shards[shard]
            pairs = slice(self.scores.set_pairs[first], self.scores.set_pairs[last])
            self._theta_grads[shard][:] = 0.0
            _return_sets(
                self._tables, self._collect(self._pair_grads, pairs), first, last,
                np.empty(self.labels), self._theta_grads[shard],
            )  # fmt: skip

        self._each(work)
        gradient = self._collect(self._theta_grads).copy()
        _return_edges(self.scores, self._collect(self._edge_grads).ravel(), gradient)
        return gradient

    # ---- alignments ---------------------------------------------------------------------

    def best_alignment(
        self, potentials: Potentials, problem: int, candidate: int
    ) -> tuple[float, Integers]:
        """Return the score of the best alignment of a candidate, and each word's state."""
        place, group_log, state_start, rows, messages, scratch = self._chart(problem, candidate)
        pair_score, edge_score = potentials.arrays[0], potentials.arrays[4]
        inside_careful(self.charts, problem, place, pair_score, edge_score, self.costs, True,
                       state_start, rows, messages, scratch, group_log)  # fmt: skip
        chosen = np.full(len(rows), -1, np.int32)
        best_states(self.charts, problem, place, pair_score, edge_score, self.costs, state_start,
                    rows, chosen)  # fmt: skip
        return float(group_log.sum()), chosen

    def posteriors(
        self, potentials: Potentials, problem: int, candidate: int
    ) -> tuple[Reals, Reals, Reals]:
        """Return p(word at state) as (words × states), and expected counts of pairs and edges."""
        place, group_log, state_start, rows, messages, scratch = self._chart(problem, candidate)
        pair_score, edge_score = potentials.arrays[0], potentials.arrays[4]
        posteriors, pair_count = np.zeros_like(rows), np.zeros_like(pair_score)
        edge_count = np.zeros_like(edge_score)
        inside_careful(self.charts, problem, place, pair_score, edge_score, self.costs, False,
                       state_start, rows, messages, scratch, group_log)  # fmt: skip
        outside_careful(self.charts, problem, place, np.ones(len(group_log)), pair_score,
                        edge_score, self.costs, state_start, rows, messages, scratch, posteriors,
                        pair_count, edge_count)  # fmt: skip
        return posteriors, pair_count, edge_count.ravel()

    def _chart(self, problem: int, candidate: int) -> tuple[Any, ...]:
        """Return the place of a candidate among all, and fresh arrays for its careful charts."""
        place = int(self.charts.problem_candidates[problem]) + candidate
        words, groups, actions = (
            int(starts[which + 1] - starts[which])
            for starts, which in (
                (self.charts.problem_words, problem),
                (self.charts.problem_groups, problem),
                (self.charts.candidate_actions, place),
            )
        )
        shape = (words, int(self._layout.candidate_states[place]))
        return (
            place, np.zeros(groups), np.zeros(actions + 1, np.int32), np.empty(shape),
            np.empty(shape), np.empty(shape[1]),
        )  # fmt: skip
