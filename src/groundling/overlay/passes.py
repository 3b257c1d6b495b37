"""Compiled pass over instances: forward for scores, backward for expected counts.

An instance is a text with its candidates. The forward pass fills their charts, and the backward
pass returns expected counts. The same kernel serves all purposes, semirings and layouts; it is
compiled for each combination that is used.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.array_views import grid, hold, view
from groundling.compiler import compiled, inner
from groundling.overlay.batch import Integers, Plans, Reals, Texts, whole
from groundling.overlay.layout import FlatLayout, GraphLayout, PlanLayout, Workspace
from groundling.overlay.recursion import Chart, Gradients, Text, inside, outside
from groundling.overlay.simd import fill

# The purpose of a pass: candidate scores; the same with their gradient; scores of each group of
# words; expected counts of groups with given weights.
SCORE, LEARN, UNITS, EXPECT = 0, 1, 2, 3


class PassJob(NamedTuple):
    """The purpose of a pass, and the arrays that it reads and writes.

    `scores` receives candidate scores (SCORE, LEARN). `groups` (indexed by `group_start`) and
    `free` receive scores (UNITS) or provide weights (EXPECT). Gradients are accumulated. `in_logs`
    is set for candidates that overflow or underflow. A pass in the log semiring processes only the
    candidates for which it is set.
    """

    purpose: int
    first: int  # instances first … last-1
    last: int
    in_logs: NDArray[np.bool_]
    scores: Reals
    group_start: Integers
    groups: Reals
    free: Reals
    pair_grad: Reals
    edge_grad: Reals


@compiled
def pass_instances(
    texts: Texts, plans: Plans, layout: GraphLayout | FlatLayout, psi: Any, workspace: Workspace,
    job: PassJob,
) -> float:  # fmt: skip
    """Run a pass over instances; return Σ weight · -log p(gold)."""
    loss = 0.0
    texts, plans, layout = hold(texts), hold(plans), hold(layout)
    psi, workspace, job = hold(psi), hold(workspace), hold(job)
    charts, space = workspace.chart, workspace.plans
    gradients = hold(Gradients(job.pair_grad, job.edge_grad))
    for instance in range(job.first, job.last):
        weight = plans.instance_weight[instance]
        begin = whole(plans.instance_candidates[instance])
        end = whole(plans.instance_candidates[instance + 1])
        count = end - begin
        in_logs = view(job.in_logs, begin, count)
        wanted = False
        for c in range(end - begin):
            wanted |= psi.ring.wants(in_logs[c])
        if not wanted or (job.purpose == LEARN and weight == 0.0):
            continue
        text = hold(_read_text(texts, instance, layout.stay))
        logs, free = space.group_log, space.free
        weights, free_weight = space.group_weight, space.free_weight
        if job.purpose >= UNITS:
            weights = view(job.groups, job.group_start[instance], count * text.groups)
            free_weight = view(job.free, begin, count)
            if job.purpose == UNITS:
                logs, free = weights, free_weight
        group_log = grid(logs, count, text.groups)
        group_weight = grid(weights, count, text.groups)
        first_cell = texts.instance_cells[instance]
        pairs = view(texts.cell_pair, first_cell, text.words * text.nodes)
        held = psi.fetch_scores(text, pairs, charts.scores, space.group_shift)
        fill(space.in_logs, count, not held)
        tiles = layout.instance_tiles[instance], layout.instance_tiles[instance + 1]
        for way in range(2 if held else 0):  # forward, backward
            place = whole(0)
            for number in range(*tiles):
                if not psi.ring.wants(in_logs[layout.order[layout.tile_candidates[number]]]):
                    continue
                fresh = way == 0 or tiles[1] - tiles[0] > 1  # a single tile is still laid out
                tile = hold(layout.open_tile(plans, workspace.tile, number, text.nodes, fresh))
                cells = text.words * tile.states
                rows, messages = (
                    view(charts.rows, place, cells),
                    view(charts.messages, place, cells),
                )
                chart = hold(Chart(rows, messages, view(charts.posteriors, 0, cells)))
                place += cells
                if way == 1:
                    outside(text, tile, psi, chart, charts, group_weight, gradients)
                    continue
                for c in tile.order:
                    for g in range(text.groups):
                        group_log[c, g] = 0.0
                inside(text, tile, psi, chart, charts, group_log)
                for c in tile.order:
                    kept = 0.0
                    for g in range(text.groups):
                        kept += group_log[c, g]
                        group_log[c, g] += space.group_shift[g]
                    actions = view(plans.candidate_actions, begin + c, 2)
                    good = psi.holds(kept, text.words, actions[1] - actions[0])
                    space.in_logs[c] = not good
                    held &= good
            if way == 1:
                continue
            _score_free(plans, instance, psi.pair_score, space, free)
            if not held:
                break
            if job.purpose <= LEARN:
                gold = view(plans.candidate_gold, begin, count)
                scores = view(job.scores, begin, count)
                loss += _weigh(weight, gold, group_log, free, scores, group_weight, free_weight)
            if job.purpose not in (LEARN, EXPECT):
                break
            fill(charts.counts, text.words * text.nodes + 1, 0.0)
        if not held:
            # Candidates that are normalised together must be scored in the same semiring.
            for c in range(end - begin):
                in_logs[c] = space.in_logs[c] or job.purpose != UNITS
        elif job.purpose in (LEARN, EXPECT):
            _return_free(plans, instance, free_weight, space, job.pair_grad)
            for cell in range(text.words * text.nodes):
                job.pair_grad[pairs[cell]] += charts.counts[cell]
    return loss


@inner
def _read_text(texts: Texts, instance: int, stay: int) -> Text:
    """Return the words of an instance as arrays."""
    first, last = whole(texts.instance_words[instance]), whole(texts.instance_words[instance + 1])
    words = last - first
    groups = texts.instance_groups[instance + 1] - texts.instance_groups[instance]
    return Text(
        words, whole(texts.instance_nodes[instance]), whole(groups), whole(stay),
        view(texts.word, first, words),
    )  # fmt: skip


@inner
def _score_free(
    plans: Plans, instance: int, pair_score: Reals, space: PlanLayout, free: Reals
) -> None:
    """Compute ψ(n) + Σ ψ(y_j) and all other scores that do not depend on the alignment."""
    kind, graph = plans.instance_kinds[instance], plans.instance_graphs[instance]
    for k in range(kind, plans.instance_kinds[instance + 1]):
        total = 0.0
        for i in range(plans.kind_extras[k], plans.kind_extras[k + 1]):
            total += pair_score[plans.extra_pair[i]]
        space.kind_score[k - kind] = total
    for g in range(graph, plans.instance_graphs[instance + 1]):
        prior = plans.graph_prior[g]
        space.graph_score[g - graph] = pair_score[prior] if prior >= 0 else 0.0
    begin = plans.instance_candidates[instance]
    for c in range(plans.instance_candidates[instance + 1] - begin):
        total = space.kind_score[plans.candidate_kind[begin + c]]
        for i in range(plans.candidate_actions[begin + c], plans.candidate_actions[begin + c + 1]):
            total += space.graph_score[plans.action_graph[i] - graph]
        free[c] = total


@inner
def _return_free(
    plans: Plans, instance: int, free_weight: Reals, space: PlanLayout, pair_grad: Reals
) -> None:
    """Run the backward pass of `_score_free`: add candidates' weights to the pairs used."""
    kind, graph = plans.instance_kinds[instance], plans.instance_graphs[instance]
    kinds, graphs = plans.instance_kinds[instance + 1], plans.instance_graphs[instance + 1]
    fill(space.kind_weight, kinds - kind, 0.0)
    fill(space.graph_weight, graphs - graph, 0.0)
    begin = plans.instance_candidates[instance]
    for c in range(plans.instance_candidates[instance + 1] - begin):
        weight = free_weight[c]
        if weight == 0.0:
            continue
        space.kind_weight[plans.candidate_kind[begin + c]] += weight
        for i in range(plans.candidate_actions[begin + c], plans.candidate_actions[begin + c + 1]):
            space.graph_weight[plans.action_graph[i] - graph] += weight
    for k in range(kind, kinds):
        for i in range(plans.kind_extras[k], plans.kind_extras[k + 1]):
            pair_grad[plans.extra_pair[i]] += space.kind_weight[k - kind]
    for g in range(graph, graphs):
        if plans.graph_prior[g] >= 0:
            pair_grad[plans.graph_prior[g]] += space.graph_weight[g - graph]


@inner
def _weigh(
    weight: float, gold: Integers, group_log: Reals, free: Reals, scores: Reals,
    group_weight: Reals, free_weight: Reals,
) -> float:  # fmt: skip
    """Score the candidates of an instance; return weight · -log p(gold).

    `group_weight` and `free_weight` receive the derivatives with respect to the group scores and
    the text-free score of each candidate.
    """
    top = top_gold = -math.inf
    for c in range(len(gold)):
        score = free[c]
        for g in range(group_log.shape[1]):
            score += group_log[c, g]
        scores[c] = score
        if score > top:
            top = score
        if gold[c] and score > top_gold:
            top_gold = score
    if weight == 0.0 or top_gold == -math.inf:
        fill(free_weight, len(gold), 0.0)
        for c in range(len(gold)):
            for g in range(group_log.shape[1]):
                group_weight[c, g] = 0.0
        return 0.0
    total, total_gold = 0.0, 0.0
    for c in range(len(gold)):
        free_weight[c] = math.exp(scores[c] - top)
        total += free_weight[c]
        if gold[c]:
            total_gold += math.exp(scores[c] - top_gold)
    for c in range(len(gold)):
        share = free_weight[c] / total
        if gold[c]:
            share -= math.exp(scores[c] - top_gold) / total_gold
        free_weight[c] = weight * share
        for g in range(group_log.shape[1]):
            group_weight[c, g] = weight * share
    return weight * (top + math.log(total) - top_gold - math.log(total_gold))
