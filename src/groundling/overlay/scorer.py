"""The scorer: scores of all candidates under θ, their gradient, alignments and posteriors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.arranging import Arrangement, arrange
from groundling.overlay.batch import Integers, Reals, make_workspace
from groundling.overlay.encoding import Encoding
from groundling.overlay.flat import pass_flat_instances
from groundling.overlay.inside_outside_log import best_states, inside_log, outside_log
from groundling.overlay.passes import EXPECT, LEARN, SCORE, UNITS, pass_instances
from groundling.overlay.passes_log import pass_instance_in_logs
from groundling.overlay.potentials import (
    Potentials,
    return_amounts,
    return_edges,
    return_sets,
    score_edges,
    score_sets,
)
from groundling.overlay.ragged import sizes_of, starts_of
from groundling.overlay.vectors import LANES, lane_rows

__all__ = ["Scorer"]


_NONE = np.zeros(0)
_NO_GRADS: tuple[Sequence[Reals], Sequence[Reals]] = ([_NONE], [np.zeros((0, 0))])


class Scorer:
    """Encoded instances under θ: scores, gradients, alignments.

    `skip` is what each action costs that is passed over between two words. `threads` share
    the work; results agree for any number to about 1e-12. `arrangement` is what `arrange`
    makes of the encoding, where it is there already.
    """

    def __init__(
        self,
        encoding: Encoding,
        *,
        skip: float = 0.0,
        threads: int = 1,
        arrangement: Arrangement | None = None,
    ) -> None:
        self.encoding = encoding
        self.batch = encoding.batch
        self.tables = encoding.tables
        self.arrangement = arrange(encoding) if arrangement is None else arrangement
        self.skip = skip
        self.threads = min(threads, os.cpu_count() or 1) if threads > 1 else 1
        batch = self.batch
        groups = sizes_of(batch.instance_groups) * sizes_of(batch.instance_candidates)
        self.group_start = starts_of(groups, np.int32)
        self.width = len(encoding.space)
        self._pair_tables, self._layout, self._flat, self._advances, room = self.arrangement
        self.labels = int(self._pair_tables.part_label.max(initial=0)) // LANES + 1
        self._instance_shards = self._shards(len(batch.instance_weight), self._cells)
        blocks = sizes_of(self._pair_tables.block_nodes.astype(np.float64))
        self._parts = len(self._pair_tables.part_labels) - 1
        self._block_nodes = int(blocks.max(initial=0))
        self._block_shards = self._shards(len(blocks), lambda: blocks)
        self._workspaces = [make_workspace(room) for _ in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def _cells(self) -> NDArray[Any]:
        """Return how many chart cells each instance has."""
        cells: NDArray[Any] = sizes_of(self.batch.instance_words) * np.add.reduceat(
            np.append(self._layout.candidate_states, 0), self.batch.instance_candidates[:-1]
        )
        return cells

    # Gradients of shared pairs are collected per thread; they are allocated once, if needed.

    @cached_property
    def _pair_grads(self) -> Reals:
        return np.zeros((self.threads, len(self.tables.pair_node)))

    @cached_property
    def _edge_grads(self) -> list[Reals]:
        edges, relations = len(self.tables.edge_rows) - 1, self.encoding.relations
        return [np.zeros((edges // relations, relations)) for _ in range(self.threads)]

    @cached_property
    def _theta_grads(self) -> list[Reals]:
        return [np.zeros(self.width) for _ in range(self.threads)]

    def _shards(self, count: int, work: Callable[[], NDArray[Any]]) -> list[tuple[int, int]]:
        if self.threads == 1:
            return [(0, count)]
        total = starts_of(work() + 1.0, np.float64)
        cuts = np.searchsorted(total, np.linspace(0, total[-1], self.threads + 1))
        cuts[0], cuts[-1] = 0, count
        return [(int(a), int(b)) for a, b in pairwise(cuts)]

    def _each(self, work: Callable[[int], Any]) -> list[Any]:
        if self._pool is None:
            return [work(0)]
        others = [self._pool.submit(work, shard) for shard in range(1, self.threads)]
        return [work(0), *(each.result() for each in others)]

    # ---- forward ------------------------------------------------------------------------

    def potentials(self, theta: Reals) -> Potentials:
        """Score every distinct pair and every relation."""
        pair_score, pair_exp = np.empty((2, len(self.tables.pair_node)))
        set_shift = np.empty(len(self.tables.set_labels) - 1)

        def work(shard: int) -> None:
            first, last = self._block_shards[shard]
            score_sets(
                self._pair_tables, theta, first, last, lane_rows(self.labels),
                lane_rows(self._parts), lane_rows(self._block_nodes), pair_score, pair_exp,
                set_shift,
            )  # fmt: skip

        self._each(work)
        shifted = [pair_exp[each] for each in self._pair_shares()]
        self._each(lambda shard: np.exp(shifted[shard], out=shifted[shard]))
        edge_score = score_edges(self.tables, theta)
        advances = pair_score[self._advances]
        top = max(edge_score.max(initial=0.0), advances.max(initial=0.0))
        advance_exp = np.zeros(len(pair_score) if len(advances) else 0)
        advance_exp[self._advances] = np.exp(np.minimum(advances, 700.0))
        edges = edge_score.reshape(-1, self.encoding.relations)
        return Potentials(
            pair_score, pair_exp, advance_exp, set_shift, edges, np.exp(np.minimum(edges, 700.0)),
            float(top), self.skip, float(np.exp(-self.skip)),
        )  # fmt: skip

    def _pair_shares(self) -> list[slice]:
        """Return all pairs, shared out evenly."""
        cuts = np.linspace(0, len(self.tables.pair_node), self.threads + 1).astype(int).tolist()
        return [slice(*each) for each in pairwise(cuts)]

    def candidate_scores(self, theta: Reals) -> Reals:
        """Return the log score of every candidate of every instance, one after another."""
        return self._softmax(theta, want_gradient=False)[1]

    def group_scores(self, theta: Reals) -> tuple[Reals, Reals]:
        """Return ψ of every (candidate, group), instance by instance, and text-free scores."""
        grouped = np.zeros(int(self.group_start[-1]))
        free = np.zeros(len(self.batch.candidate_gold))
        self._pass(theta, UNITS, _NONE, grouped, free)
        return grouped, free

    def _pass(
        self, theta: Reals, purpose: int, scores: Reals, grouped: Reals, free: Reals
    ) -> float:
        """Pass over all instances, those that need it in logarithms; return the loss."""
        potentials = self.potentials(theta)
        pair_grads: Sequence[Reals] | Reals
        pair_grads, edge_grads = _NO_GRADS
        if purpose in (LEARN, EXPECT):
            pair_grads, edge_grads = self._pair_grads, self._edge_grads
            for each in (*pair_grads, *edge_grads):
                each.fill(0.0)
        in_logs = np.zeros(len(self.batch.candidate_gold), np.bool_)

        def work(shard: int) -> float:
            first, last = self._instance_shards[shard]
            given = (
                first, last, potentials, self._workspaces[shard], purpose, in_logs, scores,
                self.group_start, grouped, free, pair_grads[shard % len(pair_grads)],
                edge_grads[shard % len(edge_grads)],
            )  # fmt: skip
            if self._flat is not None:
                return float(pass_flat_instances(self.batch, self._layout, self._flat, *given))
            return float(pass_instances(self.batch, self._layout, *given))

        loss: float = sum(self._each(work))
        needed = np.flatnonzero(in_logs)
        owners = np.searchsorted(self.batch.instance_candidates, needed, side="right") - 1
        for instance in np.unique(owners).tolist():
            loss += pass_instance_in_logs(
                self.batch, self._layout, instance, potentials, self._workspaces[0], purpose,
                in_logs, scores, self.group_start, grouped, free, pair_grads[0], edge_grads[0],
            )  # fmt: skip
        return loss

    # ---- gradients ----------------------------------------------------------------------

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p(gold candidates) and its gradient."""
        loss, _ = self._softmax(theta, want_gradient=True)
        return loss, self._gradient()

    def _softmax(self, theta: Reals, want_gradient: bool) -> tuple[float, Reals]:
        scores = np.zeros(len(self.batch.candidate_gold))
        purpose = LEARN if want_gradient else SCORE
        return self._pass(theta, purpose, scores, _NONE, _NONE), scores

    def weighted_gradient(self, theta: Reals, group_weight: Reals, free_weight: Reals) -> Reals:
        """Return the gradient of Σ weight · score, weights as laid out by `group_scores`."""
        self._pass(theta, EXPECT, _NONE, group_weight, free_weight)
        return self._gradient()

    def amount_loss(self, theta: Reals, wanted: NDArray[np.bool_]) -> tuple[float, Reals]:
        """Return the loss and its gradient by how far each word has those labels that are wanted.

        `wanted` has a place for each label of each set of words, as `tables.set_amount` has; what
        is not wanted is zero.
        """
        loss, _ = self._softmax(theta, want_gradient=True)
        gradient = np.zeros(len(self.tables.set_amount))

        def work(shard: int) -> None:
            first, last = self._block_shards[shard]
            return_amounts(
                self._pair_tables, self._pair_grads, first, last, lane_rows(self.labels),
                lane_rows(self._parts), lane_rows(self._block_nodes), theta, wanted, gradient,
            )  # fmt: skip

        self._each(work)
        return loss, gradient

    @staticmethod
    def _collect(parts: list[Reals]) -> Reals:
        for each in parts[1:]:
            parts[0] += each
        return parts[0]

    def _gradient(self) -> Reals:
        theta_grads = self._theta_grads  # made before threads begin

        def work(shard: int) -> None:
            first, last = self._block_shards[shard]
            theta_grads[shard][:] = 0.0
            return_sets(
                self._pair_tables, self._pair_grads, first, last, lane_rows(self.labels),
                lane_rows(self._parts), lane_rows(self._block_nodes), theta_grads[shard],
            )  # fmt: skip

        self._each(work)
        gradient = self._collect(theta_grads).copy()
        return_edges(self.tables, self._collect(self._edge_grads).ravel(), gradient)
        return gradient

    # ---- alignments ---------------------------------------------------------------------

    def best_alignment(
        self, potentials: Potentials, instance: int, candidate: int
    ) -> tuple[float, Integers]:
        """Return the score of the best alignment of a candidate, and each word's state."""
        place, group_log, state_start, rows, messages, scratch = self._chart(instance, candidate)
        inside_log(self.batch, instance, place, potentials, True, state_start, rows, messages,
                   scratch, group_log)  # fmt: skip
        chosen = np.full(len(rows), -1, np.int32)
        best_states(self.batch, instance, place, potentials, state_start, rows, chosen)
        return float(group_log.sum()), chosen

    def posteriors(
        self, potentials: Potentials, instance: int, candidate: int
    ) -> tuple[Reals, Reals, Reals]:
        """Return p(word at state) as (words × states), and expected counts of pairs and edges."""
        place, group_log, state_start, rows, messages, scratch = self._chart(instance, candidate)
        posteriors, pair_count = np.zeros_like(rows), np.zeros_like(potentials.pair_score)
        edge_count = np.zeros_like(potentials.edge_score)
        inside_log(self.batch, instance, place, potentials, False, state_start, rows, messages,
                   scratch, group_log)  # fmt: skip
        outside_log(self.batch, instance, place, np.ones(len(group_log)), potentials, state_start,
                    rows, messages, scratch, posteriors, pair_count, edge_count)  # fmt: skip
        return posteriors, pair_count, edge_count.ravel()

    def _chart(self, instance: int, candidate: int) -> tuple[Any, ...]:
        """Return the place of a candidate among all, and fresh arrays for its chart."""
        place = int(self.batch.instance_candidates[instance]) + candidate
        words, groups, actions = (
            int(starts[which + 1] - starts[which])
            for starts, which in (
                (self.batch.instance_words, instance),
                (self.batch.instance_groups, instance),
                (self.batch.candidate_actions, place),
            )
        )
        shape = (words, int(self._layout.candidate_states[place]))
        return (
            place, np.zeros(groups), np.zeros(actions + 1, np.int32), np.empty(shape),
            np.empty(shape), np.empty(shape[1]),
        )  # fmt: skip
