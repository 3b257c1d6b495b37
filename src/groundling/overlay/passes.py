"""The pass over instances: forward to scores, backward to expected counts, compiled.

Every instance is a text and its candidates. The way forward fills the charts of all of them; the
way back returns expected counts. There is one kernel for all purposes, semirings and layouts; it
is compiled for those that are used.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.compiling import DEBUG
from groundling.overlay.batch import Batch, Integers, Reals, Texts, compiled, inner, whole
from groundling.overlay.layout import FlatLayout, GraphLayout, Workspace
from groundling.overlay.recursion import Chart, Gradients, Text, inside, outside

__all__ = ["EXPECT", "LEARN", "SCORE", "UNITS", "Job", "pass_instances"]

# What a pass is for: scores of candidates; these and their gradient; scores of every group of
# words by itself; the expected counts of such groups, weighted from outside.
SCORE, LEARN, UNITS, EXPECT = 0, 1, 2, 3


class Job(NamedTuple):
    """What a pass is for, and where its results go.

    `scores` receives scores of candidates (SCORE, LEARN). `groups` and `free`, laid out as
    `group_start` tells, receive scores (UNITS) or give weights (EXPECT). Gradients are added to.
    `in_logs` becomes true for candidates whose numbers did not hold; a pass in logarithms does
    those where it is true.
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
    batch: Batch, texts: Texts, layout: GraphLayout | FlatLayout, psi: Any, space: Workspace,
    job: Job,
) -> float:  # fmt: skip
    """Pass over instances for some purpose; return Σ weight · -log p(gold)."""
    loss = 0.0
    for instance in range(job.first, job.last):
        if job.purpose == LEARN and batch.instance_weight[instance] == 0.0:
            continue
        begin = whole(batch.instance_candidates[instance])
        end = whole(batch.instance_candidates[instance + 1])
        wanted = False
        for c in range(begin, end):
            wanted |= psi.ring.wants(job.in_logs[c])
        if not wanted:
            continue
        text = _read_text(batch, texts, instance, layout.stay)
        logs, free = space.group_log, space.free
        weights, free_weight = space.group_weight, space.free_weight
        if job.purpose >= UNITS:
            weights = job.groups[job.group_start[instance] : job.group_start[instance + 1]]
            free_weight = job.free[begin:end]
            if job.purpose == UNITS:
                logs, free = weights, free_weight
        shape = (end - begin, text.groups)
        group_log = logs[: shape[0] * shape[1]].reshape(shape)
        group_weight = weights[: shape[0] * shape[1]].reshape(shape)
        first_cell = batch.instance_cells[instance]
        pairs = texts.cell_pair[first_cell : first_cell + text.words * text.nodes]
        held = psi.fetch_scores(text, pairs, space.scores, space.group_shift)
        space.in_logs[: end - begin] = not held
        gradients = Gradients(job.pair_grad, job.edge_grad, space.counts)
        tiles = whole(layout.instance_tiles[instance]), whole(layout.instance_tiles[instance + 1])
        for way in range(2 if held else 0):  # there, and back
            place = whole(0)
            for number in range(tiles[0], tiles[1]):
                if not psi.ring.wants(job.in_logs[begin + layout.order[
                    layout.tile_candidates[number]
                ]]):  # fmt: skip
                    continue
                fresh = way == 0 or tiles[1] - tiles[0] > 1  # else it is there still
                tile = layout.open_tile(batch, space, instance, number, fresh)
                chart = _open_chart(text, tile.states, place, space)
                if way == 0:
                    held &= _fill_chart(batch, begin, text, tile, psi, chart, group_log, space)
                else:
                    outside(text, tile, psi, chart, group_weight, gradients)
                place += text.words * tile.states
            if way == 1:
                continue
            _score_free(batch, instance, psi.pair_score, space, free)
            if not held:
                break
            if job.purpose <= LEARN:
                gold = batch.candidate_gold[begin:end]
                loss += _weigh(batch.instance_weight[instance], gold, group_log, free,
                               job.scores[begin:end], group_weight, free_weight)  # fmt: skip
            if job.purpose not in (LEARN, EXPECT):
                break
            space.counts[: text.words * text.nodes + 1] = 0.0
        if not held:
            # Where candidates are weighed against each other, all are done alike.
            for c in range(end - begin):
                job.in_logs[begin + c] = space.in_logs[c] or job.purpose != UNITS
        elif job.purpose in (LEARN, EXPECT):
            _return_free(batch, instance, free_weight, space, job.pair_grad)
            for cell in range(text.words * text.nodes):
                job.pair_grad[pairs[cell]] += space.counts[cell]
    return loss


@inner
def _fill_chart(
    batch: Batch, begin: int, text: Text, tile: Any, psi: Any, chart: Chart, group_log: Reals,
    space: Workspace,
) -> bool:  # fmt: skip
    """Go forward in a tile; return whether the numbers held, and note where not."""
    for c in tile.order:
        for g in range(text.groups):
            group_log[c, g] = 0.0
    inside(text, tile, psi, chart, group_log)
    all_held = True
    for c in tile.order:
        kept = 0.0
        for g in range(text.groups):
            kept += group_log[c, g]
            group_log[c, g] += space.group_shift[g]
        first, last = batch.candidate_actions[begin + c], batch.candidate_actions[begin + c + 1]
        held = psi.holds(kept, text.words, last - first)
        space.in_logs[c] = not held
        all_held &= held
    return all_held


@inner
def _read_text(batch: Batch, texts: Texts, instance: int, stay: int) -> Text:
    """Return the words of an instance."""
    first, last = whole(batch.instance_words[instance]), whole(batch.instance_words[instance + 1])
    return Text(
        last - first, whole(batch.instance_nodes[instance]),
        whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance]),
        batch.word_parent[first:last], batch.word_link[first:last],
        batch.word_dependency[first:last], batch.word_direction[first:last],
        batch.word_group[first:last], batch.word_advance[first:last], texts.word_set[first:last],
        texts.word_leads[first:last], stay,
    )  # fmt: skip


@inner
def _open_chart(text: Text, states: int, place: int, space: Workspace) -> Chart:
    """Return the chart of a tile, whose cells begin at a place of the workspace."""
    shape, size = (text.words, states), text.words * states
    if DEBUG:
        assert place + size <= len(space.rows), "rows and messages must hold all tiles"
        assert size <= len(space.posteriors), "posteriors must hold a tile"
        assert states <= len(space.asked), "asked must hold a row"
    return Chart(
        space.rows[place : place + size].reshape(shape),
        space.messages[place : place + size].reshape(shape),
        space.posteriors[:size].reshape(shape), space.scores, space.asked, space.sums,
        space.factors, space.group_lives,
    )  # fmt: skip


@inner
def _score_free(
    batch: Batch, instance: int, pair_score: Reals, space: Workspace, free: Reals
) -> None:
    """ψ(n) + Σ ψ(y_j) and whatever else each candidate scores in every alignment."""
    kind, graph = batch.instance_kinds[instance], batch.instance_graphs[instance]
    for k in range(kind, batch.instance_kinds[instance + 1]):
        total = 0.0
        for i in range(batch.kind_extras[k], batch.kind_extras[k + 1]):
            total += pair_score[batch.extra_pair[i]]
        space.kind_score[k - kind] = total
    for g in range(graph, batch.instance_graphs[instance + 1]):
        prior = batch.graph_prior[g]
        space.graph_score[g - graph] = pair_score[prior] if prior >= 0 else 0.0
    begin = batch.instance_candidates[instance]
    for c in range(batch.instance_candidates[instance + 1] - begin):
        total = space.kind_score[batch.candidate_kind[begin + c]]
        for i in range(batch.candidate_actions[begin + c], batch.candidate_actions[begin + c + 1]):
            total += space.graph_score[batch.action_graph[i] - graph]
        free[c] = total


@inner
def _return_free(
    batch: Batch, instance: int, free_weight: Reals, space: Workspace, pair_grad: Reals
) -> None:
    """Undo `_score_free`: add the weights of candidates to the pairs that they have."""
    kind, graph = batch.instance_kinds[instance], batch.instance_graphs[instance]
    kinds, graphs = batch.instance_kinds[instance + 1], batch.instance_graphs[instance + 1]
    space.kind_weight[: kinds - kind] = 0.0
    space.graph_weight[: graphs - graph] = 0.0
    begin = batch.instance_candidates[instance]
    for c in range(batch.instance_candidates[instance + 1] - begin):
        weight = free_weight[c]
        if weight == 0.0:
            continue
        space.kind_weight[batch.candidate_kind[begin + c]] += weight
        for i in range(batch.candidate_actions[begin + c], batch.candidate_actions[begin + c + 1]):
            space.graph_weight[batch.action_graph[i] - graph] += weight
    for k in range(kind, kinds):
        for i in range(batch.kind_extras[k], batch.kind_extras[k + 1]):
            pair_grad[batch.extra_pair[i]] += space.kind_weight[k - kind]
    for g in range(graph, graphs):
        if batch.graph_prior[g] >= 0:
            pair_grad[batch.graph_prior[g]] += space.graph_weight[g - graph]


@inner
def _weigh(
    weight: float, gold: Integers, group_log: Reals, free: Reals, scores: Reals,
    group_weight: Reals, free_weight: Reals,
) -> float:  # fmt: skip
    """Score the candidates of an instance; return weight · -log p(gold).

    `group_weight` and `free_weight` receive the derivative by what each candidate is made of.
    """
    top = top_gold = -math.inf
    for c in range(len(gold)):
        score = free[c]
        for g in range(group_log.shape[1]):
            score += group_log[c, g]
        scores[c] = score
        top = max(top, score)
        if gold[c]:
            top_gold = max(top_gold, score)
    if weight == 0.0 or top_gold == -math.inf:
        free_weight[: len(gold)] = 0.0
        group_weight[:, :] = 0.0
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
