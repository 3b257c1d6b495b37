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
from groundling.overlay.layout import FlatLayout, GraphLayout, Workspace
from groundling.overlay.recursion import Chart, Text, inside, outside
from groundling.overlay.simd import fill

# The purpose of a pass: candidate scores; the same with their gradient; scores of each group of
# words; expected counts of groups with given weights.
SCORE, LEARN, UNITS, EXPECT = 0, 1, 2, 3


class PassJob(NamedTuple):
    """The purpose of a pass, and the arrays that it reads and writes.

    `free` has the part of each candidate's score that does not depend on the alignment. `scores`
    receives candidate scores (SCORE, LEARN), and `shares` the derivatives of the loss with respect
    to them (LEARN). `groups` (indexed by `group_start`) receives scores (UNITS) or provides weights
    (EXPECT). Gradients are accumulated. `in_logs` is set for candidates that overflow or underflow.
    A pass in a log semiring processes only the candidates for which it is set, and a pass in
    `Scaled` only the others.
    """

    purpose: int
    first: int  # instances first … last-1
    last: int
    in_logs: NDArray[np.bool_]
    free: Reals
    scores: Reals
    shares: Reals
    group_start: Integers
    groups: Reals
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
    charts = workspace.chart
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
        logs, weights = workspace.group_log, workspace.group_weight
        if job.purpose >= UNITS:
            weights = view(job.groups, job.group_start[instance], count * text.groups)
            if job.purpose == UNITS:
                logs = weights
        group_log = grid(logs, count, text.groups)
        group_weight = grid(weights, count, text.groups)
        first_cell = texts.instance_cells[instance]
        pairs = view(texts.cell_pair, first_cell, text.words * text.nodes)
        held = psi.fetch_scores(text, pairs, charts.scores, workspace.group_shift)
        fill(workspace.in_logs, count, not held)
        tiles = layout.instance_tiles[instance], layout.instance_tiles[instance + 1]
        for way in range(2 if held else 0):  # forward, backward
            place = whole(0)
            for number in range(*tiles):
                if not psi.ring.wants(in_logs[layout.order[layout.tile_candidates[number]]]):
                    continue
                fresh = way == 0 or tiles[1] - tiles[0] > 1  # a single tile is still laid out
                tile = hold(layout.open_tile(plans, workspace.tile, number, text.nodes, fresh))
                cells = text.words * tile.states
                rows = view(charts.rows, place, cells)
                messages = view(charts.messages, place, cells)
                chart = hold(Chart(rows, messages, view(charts.posteriors, 0, cells)))
                place += cells
                if way == 1:
                    outside(text, tile, psi, chart, charts, group_weight, job)
                    continue
                for c in tile.order:
                    for g in range(text.groups):
                        group_log[c, g] = 0.0
                inside(text, tile, psi, chart, charts, group_log)
                for c in tile.order:
                    kept = 0.0
                    for g in range(text.groups):
                        kept += group_log[c, g]
                        group_log[c, g] += workspace.group_shift[g]
                    actions = view(plans.candidate_actions, begin + c, 2)
                    good = psi.holds(kept, text.words, actions[1] - actions[0])
                    workspace.in_logs[c] = not good
                    held &= good
            if way == 1:
                continue
            if not held:
                break
            if job.purpose <= LEARN:
                gold = view(plans.candidate_gold, begin, count)
                free, scores = view(job.free, begin, count), view(job.scores, begin, count)
                shares = view(job.shares, begin, count)
                loss += _weigh(weight, gold, group_log, free, scores, shares, group_weight)
            if job.purpose not in (LEARN, EXPECT):
                break
            fill(charts.counts, text.words * text.nodes + 1, 0.0)
        if not held:
            # Candidates that are normalised together must be scored in the same semiring.
            for c in range(end - begin):
                in_logs[c] = workspace.in_logs[c] or job.purpose != UNITS
        elif job.purpose in (LEARN, EXPECT):
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
        view(texts.words, first, words),
    )  # fmt: skip


@inner
def _weigh(
    weight: float, gold: Integers, group_log: Reals, free: Reals, scores: Reals, shares: Reals,
    group_weight: Reals,
) -> float:  # fmt: skip
    """Score the candidates of an instance; return weight · -log p(gold).

    `shares` receives the derivatives with respect to the scores, and `group_weight` those with
    respect to the scores of each group of words.
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
    total, total_gold = 0.0, 0.0
    counts = weight != 0.0 and top_gold > -math.inf
    for c in range(len(gold) if counts else 0):
        shares[c] = math.exp(scores[c] - top)
        total += shares[c]
        if gold[c]:
            total_gold += math.exp(scores[c] - top_gold)
    for c in range(len(gold)):
        share = shares[c] / total if counts else 0.0
        if counts and gold[c]:
            share -= math.exp(scores[c] - top_gold) / total_gold
        shares[c] = weight * share
        for g in range(group_log.shape[1]):
            group_weight[c, g] = weight * share
    return weight * (top + math.log(total) - top_gold - math.log(total_gold)) if counts else 0.0
