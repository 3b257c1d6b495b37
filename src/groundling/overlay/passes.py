"""The passes over instances: forward to scores, backward to expected counts, compiled.

Every instance is a text and its candidates. `forward` fills the charts of all of them in plain
numbers; `backward` returns expected counts. Instances whose numbers do not hold are noted, to be
done in logarithms (`passes_log.py`), which is compiled only where it is needed. There is one
kernel for all purposes: what is linked into several is compiled as often.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import (
    Batch,
    Integers,
    Layout,
    Reals,
    Workspace,
    compiled,
    inner,
    lay_out_tile,
    next_tile,
    summing,
    whole,
)
from groundling.overlay.inside_outside import FAINT, inside, outside
from groundling.overlay.potentials import Potentials

__all__ = [
    "EXPECT", "LEARN", "SCORE", "UNITS", "fetch_scores", "pass_instances", "return_kinds",
    "return_text_free", "score_kinds", "text_free", "weigh",
]  # fmt: skip

# What a pass is for: scores of candidates; these and their gradient; scores of every group of
# words by itself; the expected counts of such groups, weighted from outside.
SCORE, LEARN, UNITS, EXPECT = 0, 1, 2, 3


@inner
def score_kinds(batch: Batch, instance: int, pair_score: Reals, kind_score: Reals) -> None:
    """Score what candidates have as a whole, once for all that have the same."""
    first = batch.instance_kinds[instance]
    for kind in range(batch.instance_kinds[instance + 1] - first):
        total = 0.0
        for i in range(batch.kind_extras[first + kind], batch.kind_extras[first + kind + 1]):
            total += pair_score[batch.extra_pair[i]]
        kind_score[kind] = total


@inner
def return_kinds(batch: Batch, instance: int, kind_weight: Reals, pair_grad: Reals) -> None:
    """Undo `score_kinds`."""
    first = batch.instance_kinds[instance]
    for kind in range(batch.instance_kinds[instance + 1] - first):
        for i in range(batch.kind_extras[first + kind], batch.kind_extras[first + kind + 1]):
            pair_grad[batch.extra_pair[i]] += kind_weight[kind]


@inner
def text_free(batch: Batch, candidate: int, pair_score: Reals, kind_score: Reals) -> float:
    """ψ(n) + Σ ψ(y_j) and whatever else a candidate scores in every alignment."""
    total = kind_score[batch.candidate_kind[candidate]]
    for i in range(batch.candidate_actions[candidate], batch.candidate_actions[candidate + 1]):
        prior = batch.graph_prior[batch.action_graph[i]]
        if prior >= 0:
            total += pair_score[prior]
    return float(total)


@inner
def return_text_free(
    batch: Batch, candidate: int, weight: float, pair_grad: Reals, kind_weight: Reals
) -> None:
    """Undo `text_free`: add the weight of a candidate to its kind and to the pairs that it has."""
    kind_weight[batch.candidate_kind[candidate]] += weight
    for i in range(batch.candidate_actions[candidate], batch.candidate_actions[candidate + 1]):
        prior = batch.graph_prior[batch.action_graph[i]]
        if prior >= 0:
            pair_grad[prior] += weight


@summing
def fetch_scores(
    batch: Batch, layout: Layout, instance: int, potentials: Potentials, workspace: Workspace
) -> bool:
    """Fetch each score of an instance once from afar, and make those of a word sum to one.

    Returns whether plain numbers can hold them; `workspace.group_shift` receives what was divided.
    """
    first_word = whole(batch.instance_words[instance])
    words = whole(batch.instance_words[instance + 1]) - first_word
    nodes = whole(batch.instance_nodes[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    workspace.group_shift[:groups] = 0.0
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
            scores[w, node] *= 1.0 / total
        shift = potentials.set_shift[layout.word_set[first_word + w]] + math.log(total)
        workspace.group_shift[batch.word_group[first_word + w]] += shift
    return bool(fast)


@inner
def forward(
    batch: Batch, layout: Layout, instance: int, potentials: Potentials, workspace: Workspace,
    group_log: Reals, free: Reals,
) -> bool:  # fmt: skip
    """Fill the charts of all candidates of an instance: `group_log` is (candidates × groups).

    Returns whether the numbers held; those of candidates in `workspace.in_logs` are void if not.
    """
    words = whole(batch.instance_words[instance + 1] - batch.instance_words[instance])
    nodes = whole(batch.instance_nodes[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    begin = whole(batch.instance_candidates[instance])
    end = whole(batch.instance_candidates[instance + 1])
    group_log[: (end - begin) * groups] = 0.0
    fast = fetch_scores(batch, layout, instance, potentials, workspace)
    scores = workspace.scores[: words * nodes].reshape(words, nodes)
    workspace.in_logs[: end - begin] = not fast
    held = fast
    first, place = begin, whole(0)
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
        for c in range(first - begin, last - begin):
            held &= not workspace.in_logs[c]
        first, place = last, place + words * states
    score_kinds(batch, instance, potentials.pair_score, workspace.kind_score)
    for c in range(end - begin if fast else 0):
        for g in range(groups):
            group_log[c * groups + g] += workspace.group_shift[g]
        free[c] = text_free(batch, begin + c, potentials.pair_score, workspace.kind_score)
    return held


@inner
def backward(
    batch: Batch, layout: Layout, instance: int, potentials: Potentials, group_weight: Reals,
    free_weight: Reals, workspace: Workspace, pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Add the expected counts of an instance, its charts weighted by (candidates × groups)."""
    words = whole(batch.instance_words[instance + 1] - batch.instance_words[instance])
    nodes = whole(batch.instance_nodes[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    begin = whole(batch.instance_candidates[instance])
    end = whole(batch.instance_candidates[instance + 1])
    counts = workspace.counts[: words * nodes]
    counts[:] = 0.0
    first, place = begin, whole(0)
    while first < end:
        last, states = next_tile(layout, first, end)
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
    workspace.kind_weight[:] = 0.0
    for c in range(end - begin):
        if free_weight[c] != 0.0:
            return_text_free(batch, begin + c, free_weight[c], pair_grad, workspace.kind_weight)
    return_kinds(batch, instance, workspace.kind_weight, pair_grad)
    first_cell = batch.instance_cells[instance]
    for cell in range(words * nodes):
        pair_grad[layout.cell_pair[first_cell + cell]] += counts[cell]


@inner
def weigh(
    batch: Batch, instance: int, group_log: Reals, free: Reals, candidate_score: Reals,
    group_weight: Reals, free_weight: Reals,
) -> float:  # fmt: skip
    """Score the candidates of an instance; return weight · -log p(gold).

    `group_weight` and `free_weight` receive the derivative by what each candidate is made of.
    """
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    begin = whole(batch.instance_candidates[instance])
    count = whole(batch.instance_candidates[instance + 1]) - begin
    weight = batch.instance_weight[instance]
    top = -math.inf
    top_gold = -math.inf
    for c in range(count):
        score = free[c]
        for g in range(groups):
            score += group_log[c * groups + g]
        candidate_score[begin + c] = score
        top = max(top, score)
        if batch.candidate_gold[begin + c]:
            top_gold = max(top_gold, score)
    if weight == 0.0 or top_gold == -math.inf:
        free_weight[:count] = 0.0
        group_weight[: count * groups] = 0.0
        return 0.0
    total, total_gold = 0.0, 0.0
    for c in range(count):
        score = candidate_score[begin + c]
        free_weight[c] = math.exp(score - top)
        total += free_weight[c]
        if batch.candidate_gold[begin + c]:
            total_gold += math.exp(score - top_gold)
    for c in range(count):
        share = free_weight[c] / total
        if batch.candidate_gold[begin + c]:
            share -= math.exp(candidate_score[begin + c] - top_gold) / total_gold
        free_weight[c] = weight * share
        for g in range(groups):
            group_weight[c * groups + g] = weight * share
    return float(weight * (top + math.log(total) - top_gold - math.log(total_gold)))


@compiled
def pass_instances(
    batch: Batch, layout: Layout, first: int, last: int, potentials: Potentials,
    workspace: Workspace, purpose: int, in_logs: NDArray[np.bool_], candidate_score: Reals,
    out_start: Integers, group_values: Reals, free_values: Reals, pair_grad: Reals,
    edge_grad: Reals,
) -> float:  # fmt: skip
    """Pass over instances first … last-1 for some purpose; return Σ weight · -log p(gold).

    `candidate_score` receives scores (SCORE, LEARN). `group_values` and `free_values`, laid
    out as `out_start` tells, receive scores (UNITS) or give weights (EXPECT). Gradients are
    added to. `in_logs` becomes true for candidates that must be done in logarithms instead.
    """
    loss = 0.0
    for instance in range(first, last):
        if purpose == LEARN and batch.instance_weight[instance] == 0.0:
            continue
        group_log, free = workspace.group_log, workspace.free
        group_weight, free_weight = workspace.group_weight, workspace.free_weight
        candidates = batch.instance_candidates
        begin, end = whole(candidates[instance]), whole(candidates[instance + 1])
        if purpose >= UNITS:
            group_weight = group_values[out_start[instance] : out_start[instance + 1]]
            free_weight = free_values[begin:end]
            if purpose == UNITS:
                group_log, free = group_weight, free_weight
        if not forward(batch, layout, instance, potentials, workspace, group_log, free):
            # Where candidates are weighed against each other, all are done alike.
            for c in range(end - begin):
                in_logs[begin + c] = workspace.in_logs[c] or purpose != UNITS
            continue
        if purpose <= LEARN:
            loss += weigh(batch, instance, group_log, free, candidate_score, group_weight,
                          free_weight)  # fmt: skip
        if purpose in (LEARN, EXPECT):
            backward(batch, layout, instance, potentials, group_weight, free_weight, workspace,
                     pair_grad, edge_grad)  # fmt: skip
    return loss
