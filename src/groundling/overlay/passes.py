"""The passes over instances: forward to scores, backward to expected counts, compiled.

Every instance is a text and its candidates. `forward` fills the charts of all of them, in plain
numbers where these hold and in logarithms where not; `backward` returns expected counts.
"""

from __future__ import annotations

import math

from groundling.overlay.batch import (
    Batch,
    Integers,
    Layout,
    Reals,
    Workspace,
    compiled,
    inlined,
    lay_out_tile,
    next_tile,
)
from groundling.overlay.inside_outside import FAINT, inside, outside
from groundling.overlay.inside_outside_log import inside_log, outside_log
from groundling.overlay.potentials import Potentials

__all__ = ["all_gradients", "all_scores", "softmax_instances"]


@compiled
def text_free(batch: Batch, candidate: int, pair_score: Reals) -> float:
    """ψ(n) + Σ ψ(y_j) and whatever else a candidate scores in every alignment."""
    total = 0.0
    for i in range(batch.candidate_extras[candidate], batch.candidate_extras[candidate + 1]):
        total += pair_score[batch.extra_pair[i]]
    for i in range(batch.candidate_actions[candidate], batch.candidate_actions[candidate + 1]):
        prior = batch.graph_prior[batch.action_graph[i]]
        if prior >= 0:
            total += pair_score[prior]
    return float(total)


@compiled
def return_text_free(batch: Batch, candidate: int, weight: float, pair_grad: Reals) -> None:
    for i in range(batch.candidate_extras[candidate], batch.candidate_extras[candidate + 1]):
        pair_grad[batch.extra_pair[i]] += weight
    for i in range(batch.candidate_actions[candidate], batch.candidate_actions[candidate + 1]):
        prior = batch.graph_prior[batch.action_graph[i]]
        if prior >= 0:
            pair_grad[prior] += weight


@compiled
def forward(
    batch: Batch, layout: Layout, instance: int, potentials: Potentials, workspace: Workspace,
    group_log: Reals, free: Reals,
) -> None:  # fmt: skip
    """Fill the charts of all candidates of an instance: `group_log` is (candidates × groups)."""
    first_word, last_word = batch.instance_words[instance], batch.instance_words[instance + 1]
    words, nodes = last_word - first_word, batch.instance_nodes[instance]
    groups = batch.instance_groups[instance + 1] - batch.instance_groups[instance]
    begin, end = batch.instance_candidates[instance], batch.instance_candidates[instance + 1]
    group_log[: (end - begin) * groups] = 0.0
    workspace.group_shift[:groups] = 0.0
    # Candidates share nodes: fetch each score once from afar, and make a word's sum to one.
    scores = workspace.scores[: words * nodes].reshape(words, nodes)
    cell = batch.instance_cells[instance]
    fast = potentials.edge_top < 50.0
    for w in range(words):
        pairs = layout.cell_pair[cell + w * nodes : cell + (w + 1) * nodes]
        total = 0.0
        for node in range(nodes):
            score = potentials.pair_exp[pairs[node]]
            scores[w, node] = score
            total += score
        fast &= FAINT < total < math.inf
        for node in range(nodes):
            scores[w, node] /= total
        shift = potentials.set_shift[layout.word_set[first_word + w]] + math.log(total)
        workspace.group_shift[batch.word_group[first_word + w]] += shift
    workspace.in_logs[: end - begin] = not fast
    first, place = begin, 0
    while first < end and fast:
        last, states = next_tile(layout, first, end)
        lay_out_tile(batch, layout, first, last, workspace)
        workspace.rows[place : place + words * states] = 1.0
        workspace.messages[place : place + words * states] = 0.0
        rows = workspace.rows[place : place + words * states].reshape(words, states)
        messages = workspace.messages[place : place + words * states].reshape(words, states)
        inside(batch, layout, instance, first, last, scores, potentials, workspace, rows, messages,
               group_log[(first - begin) * groups : (last - begin) * groups],
               workspace.in_logs[first - begin : last - begin])  # fmt: skip
        first, place = last, place + words * states
    for c in range(end - begin):
        logs = group_log[c * groups : (c + 1) * groups]
        if workspace.in_logs[c]:
            logs[:] = 0.0
            inside_one(batch, layout, instance, begin + c, potentials, workspace, logs)
        else:
            for g in range(groups):
                logs[g] += workspace.group_shift[g]
        free[c] = text_free(batch, begin + c, potentials.pair_score)


@inlined
def inside_one(
    batch: Batch, layout: Layout, instance: int, candidate: int, potentials: Potentials,
    workspace: Workspace, logs: Reals,
) -> tuple[Reals, Reals, Reals]:  # fmt: skip
    """Fill the chart of one candidate in logarithms; return its rows, messages and free space."""
    words = batch.instance_words[instance + 1] - batch.instance_words[instance]
    states = layout.candidate_states[candidate]
    rows = workspace.log_rows[: words * states].reshape(words, states)
    messages = workspace.log_messages[: words * states].reshape(words, states)
    inside_log(batch, instance, candidate, potentials, False, workspace.log_start, rows, messages,
               workspace.asked, logs)  # fmt: skip
    return rows, messages, workspace.posteriors[: words * states].reshape(words, states)


@compiled
def backward(
    batch: Batch, layout: Layout, instance: int, potentials: Potentials, group_weight: Reals,
    free_weight: Reals, workspace: Workspace, pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Add the expected counts of an instance, its charts weighted by (candidates × groups)."""
    words = batch.instance_words[instance + 1] - batch.instance_words[instance]
    nodes = batch.instance_nodes[instance]
    groups = batch.instance_groups[instance + 1] - batch.instance_groups[instance]
    begin, end = batch.instance_candidates[instance], batch.instance_candidates[instance + 1]
    counts = workspace.counts[: words * nodes]
    counts[:] = 0.0
    first, place = begin, 0
    while first < end:
        last, states = next_tile(layout, first, end)
        some = False
        for c in range(first - begin, last - begin):
            some |= not workspace.in_logs[c]
        if some:
            if first > begin or last < end:  # else it is there since `forward`
                lay_out_tile(batch, layout, first, last, workspace)
            posteriors = workspace.posteriors[: words * states]
            posteriors[:] = 0.0
            rows = workspace.rows[place : place + words * states].reshape(words, states)
            messages = workspace.messages[place : place + words * states].reshape(words, states)
            outside(batch, instance, first, last,
                    group_weight[(first - begin) * groups : (last - begin) * groups], potentials,
                    workspace, rows, messages, posteriors.reshape(words, states),
                    counts.reshape(words, nodes), pair_grad, edge_grad)  # fmt: skip
        first, place = last, place + words * states
    for c in range(end - begin):
        if workspace.in_logs[c]:
            logs = workspace.group_log[:groups]
            rows, messages, chart = inside_one(
                batch, layout, instance, begin + c, potentials, workspace, logs
            )
            weights = group_weight[c * groups : (c + 1) * groups]
            outside_log(batch, instance, begin + c, weights, potentials, workspace.log_start, rows,
                        messages, workspace.asked, chart, pair_grad, edge_grad)  # fmt: skip
        if free_weight[c] != 0.0:
            return_text_free(batch, begin + c, free_weight[c], pair_grad)
    first_cell = batch.instance_cells[instance]
    for cell in range(words * nodes):
        pair_grad[layout.cell_pair[first_cell + cell]] += counts[cell]


@compiled
def softmax_instances(
    batch: Batch, layout: Layout, first: int, last: int, potentials: Potentials,
    workspace: Workspace, want_gradient: bool, candidate_score: Reals, pair_grad: Reals,
    edge_grad: Reals,
) -> float:  # fmt: skip
    """Score candidates of instances first … last-1; return Σ weight · -log p(gold)."""
    group_log, group_weight = workspace.group_log, workspace.group_weight
    free, free_weight = workspace.free, workspace.free_weight
    pair_grad[:] = 0.0
    edge_grad[:] = 0.0
    loss = 0.0
    for instance in range(first, last):
        begin, end = batch.instance_candidates[instance], batch.instance_candidates[instance + 1]
        groups = batch.instance_groups[instance + 1] - batch.instance_groups[instance]
        weight = batch.instance_weight[instance]
        if want_gradient and weight == 0.0:
            continue
        forward(batch, layout, instance, potentials, workspace, group_log, free)
        top = -math.inf
        top_gold = -math.inf
        for c in range(end - begin):
            score = free[c]
            for g in range(groups):
                score += group_log[c * groups + g]
            candidate_score[begin + c] = score
            top = max(top, score)
            if batch.candidate_gold[begin + c]:
                top_gold = max(top_gold, score)
        if weight == 0.0 or top_gold == -math.inf:
            continue
        total, total_gold = 0.0, 0.0
        for c in range(end - begin):
            score = candidate_score[begin + c]
            total += math.exp(score - top)
            if batch.candidate_gold[begin + c]:
                total_gold += math.exp(score - top_gold)
        loss += weight * (top + math.log(total) - top_gold - math.log(total_gold))
        if not want_gradient:
            continue
        for c in range(end - begin):
            score = candidate_score[begin + c]
            share = math.exp(score - top) / total
            if batch.candidate_gold[begin + c]:
                share -= math.exp(score - top_gold) / total_gold
            free_weight[c] = weight * share
            for g in range(groups):
                group_weight[c * groups + g] = weight * share
        backward(batch, layout, instance, potentials, group_weight, free_weight, workspace,
                 pair_grad, edge_grad)  # fmt: skip
    return loss


@compiled
def all_scores(
    batch: Batch, layout: Layout, first: int, last: int, potentials: Potentials,
    workspace: Workspace, out_start: Integers, group_scores: Reals, free_scores: Reals,
) -> None:  # fmt: skip
    """Write the score of every (candidate, group) and the text-free score of every candidate."""
    for instance in range(first, last):
        begin, end = batch.instance_candidates[instance], batch.instance_candidates[instance + 1]
        forward(batch, layout, instance, potentials, workspace,
                group_scores[out_start[instance] : out_start[instance + 1]],
                free_scores[begin:end])  # fmt: skip


@compiled
def all_gradients(
    batch: Batch, layout: Layout, first: int, last: int, potentials: Potentials,
    workspace: Workspace, out_start: Integers, group_weight: Reals, free_weight: Reals,
    pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Add expected counts, every (candidate, group) chart weighted as told from outside."""
    pair_grad[:] = 0.0
    edge_grad[:] = 0.0
    for instance in range(first, last):
        begin, end = batch.instance_candidates[instance], batch.instance_candidates[instance + 1]
        forward(batch, layout, instance, potentials, workspace, workspace.group_log, workspace.free)
        backward(batch, layout, instance, potentials,
                 group_weight[out_start[instance] : out_start[instance + 1]],
                 free_weight[begin:end], workspace, pair_grad, edge_grad)  # fmt: skip
