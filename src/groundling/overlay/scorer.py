"""The scorer: scores of candidates under θ, gradients, alignments and posteriors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import Plans, Reals, Texts, part_of
from groundling.overlay.batch_builder import Encoding
from groundling.overlay.layout import (
    Arrangement,
    GraphLayout,
    Workspace,
    arrange,
    lay_out_graphs,
    make_workspaces,
)
from groundling.overlay.passes import EXPECT, LEARN, SCORE, UNITS, PassJob, pass_instances
from groundling.overlay.potentials import (
    make_scratch,
    return_edges,
    return_sets,
    score_edges,
    score_sets,
)
from groundling.overlay.semiring import Best, LogPotentials, Logs, Scaled, ScaledPotentials
from groundling.overlay.simd import up_to_eights
from groundling.ragged import owners_of, sizes_of, starts_of

_NONE = np.zeros(0)


class Potentials(NamedTuple):
    """Potentials under θ, both exponentiated and as logarithms."""

    scaled: ScaledPotentials
    logs: LogPotentials


class Scorer:
    """Computes scores, gradients and alignments of encoded instances under θ.

    `skip` is the cost of each action skipped between two words. `threads` is the number of
    threads; results agree to about 1e-12 for any number. `arrangement` is the result of
    `arrange` for the encoding; it is computed if omitted.
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
        batch, tables = self.batch, self.tables
        instances, candidates = len(batch.instance_weight), sizes_of(batch.instance_candidates)
        self.group_start = starts_of(sizes_of(batch.instance_groups) * candidates, np.int32)
        self.width = len(encoding.space)
        blocks = sizes_of(self.arrangement.pairs.block_nodes.astype(np.float64))
        self._block_shards = self._shards(len(blocks), lambda: blocks)
        self._instance_shards = self._shards(instances, lambda: encoding.cells)
        self._layout = self.arrangement.layout
        self._texts, self._plans = part_of(batch, Texts), part_of(batch, Plans)
        self._extra_kind = owners_of(batch.kind_extras)
        self._action_candidate = owners_of(batch.candidate_actions)
        self._advances = np.unique(batch.words.advance[batch.words.advance >= 0])
        # Each thread has its own memory and accumulates its own gradient.
        relations, edges = encoding.relations, len(tables.edge_rows) - 1
        self._workspaces = make_workspaces(batch, self._layout, self.threads)
        self._scratches = [make_scratch(self.arrangement.pairs) for _ in range(self.threads)]
        self._pair_grads = np.zeros((self.threads, len(tables.pair_node)))
        self._edge_grads = np.zeros((self.threads, edges // relations, relations))
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    @property
    def labels(self) -> int:
        """The number of distinct node labels."""
        return int(self.tables.node_label.max(initial=0)) + 1

    @cached_property
    def _log_layout(self) -> tuple[GraphLayout, list[Workspace]]:
        """The layout for the log semiring, with a single candidate per tile."""
        layout = lay_out_graphs(self.batch, alone=True)
        return layout, make_workspaces(self.batch, layout, self.threads)

    @cached_property
    def _theta_grads(self) -> Reals:
        """The gradient of each thread; only training needs it."""
        return np.zeros((self.threads, self.width))

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
        """Return the scores of all distinct pairs and relations."""
        tables, pairs = self.tables, self.arrangement.pairs
        pair_score, pair_exp = np.empty((2, len(tables.pair_node)))
        set_shift = np.empty(len(tables.set_labels) - 1)

        def work(shard: int) -> None:
            span, scratch = self._block_shards[shard], self._scratches[shard]
            score_sets(tables, pairs, theta, span, scratch, pair_score, pair_exp, set_shift)

        self._each(work)
        shifted = np.array_split(pair_exp, self.threads)
        self._each(lambda shard: np.exp(shifted[shard], out=shifted[shard]))
        edge = score_edges(tables, theta).reshape(-1, self.encoding.relations)
        advances = pair_score[self._advances]
        advance = np.zeros(len(pair_score) if len(advances) else 0)
        advance[self._advances] = np.exp(np.minimum(advances, 700.0))
        top = float(max(edge.max(initial=0.0), advances.max(initial=0.0)))
        return Potentials(
            ScaledPotentials(
                Scaled(), pair_exp, np.exp(np.minimum(edge, 700.0)), advance,
                float(np.exp(-self.skip)), set_shift, top,
            ),
            LogPotentials(Logs(), pair_score, edge, pair_score, -float(self.skip)),
        )  # fmt: skip

    def candidate_scores(self, theta: Reals) -> Reals:
        """Return the log scores of the candidates of all instances in one array."""
        return self._pass(theta, SCORE)[1]

    def group_scores(self, theta: Reals) -> tuple[Reals, Reals]:
        """Return log ψ of each (candidate, group) by instance, and the text-free scores."""
        grouped = np.zeros(int(self.group_start[-1]))
        return grouped, self._pass(theta, UNITS, grouped)[2]

    def _pass(
        self, theta: Reals, purpose: int, groups: Reals = _NONE
    ) -> tuple[float, Reals, Reals]:
        """Run a pass over all instances, in logarithms where needed.

        Returns the loss, and the scores and the text-free scores of candidates.
        """
        potentials = self.potentials(theta)
        free = self._free_scores(potentials.logs.pair)
        scores, shares = np.zeros((2, len(free)))
        in_logs = np.zeros(len(free), np.bool_)
        if purpose in (LEARN, EXPECT):
            self._pair_grads.fill(0.0)
            self._edge_grads.fill(0.0)

        def work(shard: int) -> float:
            first, last = self._instance_shards[shard]
            job = PassJob(
                purpose, first, last, in_logs, free, scores, shares, self.group_start, groups,
                self._pair_grads[shard], self._edge_grads[shard],
            )  # fmt: skip
            texts, plans = self._texts, self._plans
            space = self._workspaces[shard]
            loss = pass_instances(texts, plans, self._layout, potentials.scaled, space, job)
            if in_logs[slice(*plans.instance_candidates[[first, last]])].any():
                layout, spaces = self._log_layout
                space = spaces[shard]
                loss += pass_instances(texts, plans, layout, potentials.logs, space, job)
            return float(loss)

        loss = float(sum(self._each(work)))
        if purpose == LEARN:
            self._return_free(shares)
        return loss, scores, free

    def _free_scores(self, pair_score: Reals) -> Reals:
        """Return ψ(n) + Σ ψ(y_j) of each candidate, which do not depend on the alignment."""
        batch = self.batch
        kinds = len(batch.kind_extras) - 1
        of_kinds = np.bincount(self._extra_kind, pair_score[batch.extra_pair], kinds)
        of_graphs = np.where(batch.graph_prior < 0, 0.0, pair_score[batch.graph_prior])
        free = np.asarray(of_kinds[batch.candidate_kind], np.float64)
        np.add.at(free, self._action_candidate, of_graphs[batch.action_graph])
        return free

    def _return_free(self, weights: Reals) -> None:
        """Run the backward pass of `_free_scores`: add candidates' weights to the pairs used."""
        batch, counts = self.batch, self._pair_grads[0]
        of_kinds = np.bincount(batch.candidate_kind, weights, len(batch.kind_extras) - 1)
        np.add.at(counts, batch.extra_pair, of_kinds[self._extra_kind])
        of_actions, graphs = weights[self._action_candidate], len(batch.graph_prior)
        of_graphs = np.bincount(batch.action_graph, of_actions, graphs)
        scored = batch.graph_prior >= 0
        np.add.at(counts, batch.graph_prior[scored], of_graphs[scored])

    # ---- gradients ----------------------------------------------------------------------

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p(gold candidates) and its gradient."""
        return self._pass(theta, LEARN)[0], self._gradient()

    def weighted_gradient(self, theta: Reals, group_weight: Reals, free_weight: Reals) -> Reals:
        """Return the gradient of Σ weight · score, with weights in the shape of `group_scores`."""
        self._pass(theta, EXPECT, group_weight)
        self._return_free(free_weight)
        return self._gradient()

    def amount_loss(self, theta: Reals, wanted: NDArray[np.bool_]) -> tuple[float, Reals]:
        """Return the loss and its gradient with respect to the wanted label amounts.

        `wanted` has the shape of `tables.set_amount`: one entry for each label of each word set.
        The gradient is zero for entries where `wanted` is false.
        """
        loss, *_ = self._pass(theta, LEARN)
        gradient = np.zeros(len(self.tables.set_amount))
        self._return(theta, wanted, [gradient] * self.threads)
        return loss, gradient

    def _gradient(self) -> Reals:
        self._theta_grads.fill(0.0)
        self._return(_NONE, np.zeros(0, np.bool_), self._theta_grads)
        gradient: Reals = self._theta_grads.sum(axis=0)
        return_edges(self.tables, self._edge_grads.sum(axis=0).ravel(), gradient)
        return gradient

    def _return(
        self, theta: Reals, wanted: NDArray[np.bool_], grads: Sequence[Reals] | Reals
    ) -> None:
        """Map the expected counts of pairs to the gradients of all threads."""
        tables, pairs = self.tables, self.arrangement.pairs

        def work(shard: int) -> None:
            span, scratch = self._block_shards[shard], self._scratches[shard]
            return_sets(tables, pairs, self._pair_grads, span, scratch, theta, wanted, grads[shard])

        self._each(work)

    # ---- alignments ---------------------------------------------------------------------

    def posteriors(
        self, potentials: Potentials, instance: int, candidate: int, *, best: bool = False
    ) -> Reals:
        """Return p(word at state) as an array (words × states).

        With `best`, returns instead the score of the best alignment with the word at the state,
        minus the score of the best alignment overall. These differences are 0 on the best
        alignments.
        """
        batch = self.batch
        place = int(batch.instance_candidates[instance]) + candidate
        words = int(batch.instance_words[instance + 1] - batch.instance_words[instance])
        graphs = batch.action_graph[slice(*batch.candidate_actions[[place, place + 1]])]
        states = int(sizes_of(batch.graph_nodes)[graphs].sum())
        width = up_to_eights(states)
        layout, (space, *_) = self._log_layout
        weights = np.ones(int(self.group_start[-1]))
        counts = np.zeros(len(self.tables.pair_node)), np.zeros_like(potentials.logs.edge)
        for psi in (potentials.logs._replace(ring=Best()),) if best else potentials:
            in_logs = np.full(len(batch.candidate_gold), psi is potentials.scaled)
            chosen = in_logs[place] = not in_logs[place]
            job = PassJob(
                EXPECT, instance, instance + 1, in_logs, _NONE, _NONE, _NONE, self.group_start,
                weights, *counts,
            )  # fmt: skip
            pass_instances(self._texts, self._plans, layout, psi, space, job)
            if in_logs[place] == chosen:  # within the numeric range
                break
        found = space.chart.posteriors[: words * width].reshape(words, width)[:, :states].copy()
        return found if best or psi is potentials.scaled else np.exp(found)
