"""The passes over instances: forward to scores, backward to expected counts, compiled.

Every instance is a text and its candidates. The way forward fills the charts of all of them in
plain numbers; the way back returns expected counts. Instances whose numbers do not hold are noted,
to be done in logarithms (`passes_log.py`), which is compiled only where it is needed. There is one
kernel for all purposes, and it is long: what is linked into several is compiled as often, and
what calls each other is optimised once more at every level.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import (
    Batch,
    Indices,
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
from groundling.overlay.inside_outside import FAINT, MOST_EDGE, inside, outside
from groundling.overlay.potentials import Potentials

__all__ = [
    "EXPECT", "LEARN", "SCORE", "UNITS", "fetch_scores", "pass_instances", "return_kinds",
    "return_text_free", "score_kinds", "score_text_free", "weigh",
]  # fmt: skip

# What a pass is for: scores of candidates; these and their gradient; scores of every group of
# words by itself; the expected counts of such groups, weighted from outside.
SCORE, LEARN, UNITS, EXPECT = 0, 1, 2, 3


# What is handed over is all that they read: each array makes a function longer to compile.


@inner
def score_kinds(
    first: int, last: int, kind_extras: Integers, extra_pair: Integers, pair_score: Reals,
    kind_score: Reals,
) -> None:  # fmt: skip
    """Score what candidates have as a whole, once for all that have the same."""
    for kind in range(first, last):
        total = 0.0
        for i in range(kind_extras[kind], kind_extras[kind + 1]):
            total += pair_score[extra_pair[i]]
        kind_score[kind - first] = total


@inner
def return_kinds(
    first: int, last: int, kind_extras: Integers, extra_pair: Integers, kind_weight: Reals,
    pair_grad: Reals,
) -> None:  # fmt: skip
    """Undo `score_kinds`."""
    for kind in range(first, last):
        for i in range(kind_extras[kind], kind_extras[kind + 1]):
            pair_grad[extra_pair[i]] += kind_weight[kind - first]


@inner
def score_text_free(
    batch: Batch, instance: int, pair_score: Reals, kind_score: Reals, free: Reals
) -> None:
    """ψ(n) + Σ ψ(y_j) and whatever else each candidate scores in every alignment."""
    kinds = batch.instance_kinds
    score_kinds(kinds[instance], kinds[instance + 1], batch.kind_extras, batch.extra_pair,
                pair_score, kind_score)  # fmt: skip
    begin = batch.instance_candidates[instance]
    for c in range(batch.instance_candidates[instance + 1] - begin):
        total = kind_score[batch.candidate_kind[begin + c]]
        for i in range(batch.candidate_actions[begin + c], batch.candidate_actions[begin + c + 1]):
            prior = batch.graph_prior[batch.action_graph[i]]
            if prior >= 0:
                total += pair_score[prior]
        free[c] = total


@inner
def return_text_free(
    batch: Batch, instance: int, free_weight: Reals, pair_grad: Reals, kind_weight: Reals
) -> None:
    """Undo `score_text_free`: add the weights of candidates to the pairs that they have."""
    kind_weight[:] = 0.0
    begin = batch.instance_candidates[instance]
    for c in range(batch.instance_candidates[instance + 1] - begin):
        weight = free_weight[c]
        if weight == 0.0:
            continue
        kind_weight[batch.candidate_kind[begin + c]] += weight
        for i in range(batch.candidate_actions[begin + c], batch.candidate_actions[begin + c + 1]):
            prior = batch.graph_prior[batch.action_graph[i]]
            if prior >= 0:
                pair_grad[prior] += weight
    kinds = batch.instance_kinds
    return_kinds(kinds[instance], kinds[instance + 1], batch.kind_extras, batch.extra_pair,
                 kind_weight, pair_grad)  # fmt: skip


@summing
def fetch_scores(
    words: int, nodes: int, pairs: Indices, word_group: Integers, word_set: Integers,
    pair_exp: Reals, set_shift: Reals, scores: Reals, group_shift: Reals,
) -> bool:  # fmt: skip
    """Fetch each score of an instance once from afar, and make those of a word sum to one.

    Returns whether plain numbers can hold them; `group_shift` receives what was divided.
    """
    fast = True
    for w in range(words):
        total = 0.0
        for cell in range(np.uint64(w * nodes), np.uint64((w + 1) * nodes)):
            score = pair_exp[pairs[cell]]
            scores[cell] = score
            total += score
        fast &= FAINT < total < math.inf
        for cell in range(np.uint64(w * nodes), np.uint64((w + 1) * nodes)):
            scores[cell] *= 1.0 / total
        group_shift[word_group[w]] += set_shift[word_set[w]] + math.log(total)
    return fast


@inner
def weigh(
    groups: int, weight: float, gold: Integers, group_log: Reals, free: Reals, scores: Reals,
    group_weight: Reals, free_weight: Reals,
) -> float:  # fmt: skip
    """Score the candidates of an instance; return weight · -log p(gold).

    `group_weight` and `free_weight` receive the derivative by what each candidate is made of.
    """
    count = len(gold)
    top = -math.inf
    top_gold = -math.inf
    for c in range(count):
        score = free[c]
        for g in range(groups):
            score += group_log[c * groups + g]
        scores[c] = score
        top = max(top, score)
        if gold[c]:
            top_gold = max(top_gold, score)
    if weight == 0.0 or top_gold == -math.inf:
        free_weight[:count] = 0.0
        group_weight[: count * groups] = 0.0
        return 0.0
    total, total_gold = 0.0, 0.0
    for c in range(count):
        free_weight[c] = math.exp(scores[c] - top)
        total += free_weight[c]
        if gold[c]:
            total_gold += math.exp(scores[c] - top_gold)
    for c in range(count):
        share = free_weight[c] / total
        if gold[c]:
            share -= math.exp(scores[c] - top_gold) / total_gold
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
        # Forward: fill the charts of all candidates, `group_log` is (candidates × groups).
        groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
        words = whole(batch.instance_words[instance + 1] - batch.instance_words[instance])
        nodes = whole(batch.instance_nodes[instance])
        first_word, first_cell = batch.instance_words[instance], batch.instance_cells[instance]
        pairs = layout.cell_pair[first_cell : first_cell + words * nodes]
        group_log[: (end - begin) * groups] = 0.0
        workspace.group_shift[:groups] = 0.0
        held = fetch_scores(
            words, nodes, pairs, batch.word_group[first_word:], layout.word_set[first_word:],
            potentials.pair_exp, potentials.set_shift, workspace.scores, workspace.group_shift,
        )  # fmt: skip
        held &= potentials.edge_top < MOST_EDGE
        workspace.in_logs[: end - begin] = not held
        for way in range(2 if held else 0):  # there, and back
            tile, place = begin, whole(0)
            while tile < end:
                stop, states = next_tile(layout, tile, end)
                if way == 0 or tile > begin or stop < end:  # else it is there still
                    lay_out_tile(batch, layout, tile, stop, nodes, workspace)
                rows = workspace.rows[place : place + words * states].reshape(words, states)
                messages = workspace.messages[place : place + words * states].reshape(words, states)
                logs = slice((tile - begin) * groups, (stop - begin) * groups)
                if way == 0:
                    inside(batch, layout, instance, tile, stop, potentials, workspace, rows,
                           messages, group_log[logs],
                           workspace.in_logs[tile - begin : stop - begin])  # fmt: skip
                else:
                    posteriors = workspace.posteriors[: words * states]
                    posteriors[:] = 0.0
                    outside(batch, layout, instance, tile, stop, group_weight[logs], potentials,
                            workspace, rows, messages, posteriors.reshape(words, states),
                            pair_grad, edge_grad)  # fmt: skip
                tile, place = stop, place + words * states
            if way == 1:
                continue
            score_text_free(batch, instance, potentials.pair_score, workspace.kind_score, free)
            for c in range(end - begin):
                held &= not workspace.in_logs[c]
                for g in range(groups):
                    group_log[c * groups + g] += workspace.group_shift[g]
            if not held:
                break
            if purpose <= LEARN:
                loss += weigh(groups, batch.instance_weight[instance],
                              batch.candidate_gold[begin:end], group_log, free,
                              candidate_score[begin:end], group_weight, free_weight)  # fmt: skip
            if purpose not in (LEARN, EXPECT):
                break
            workspace.counts[: words * nodes + 1] = 0.0
        if not held:
            # Where candidates are weighed against each other, all are done alike.
            for c in range(end - begin):
                in_logs[begin + c] = workspace.in_logs[c] or purpose != UNITS
        elif purpose in (LEARN, EXPECT):
            return_text_free(batch, instance, free_weight, pair_grad, workspace.kind_weight)
            for cell in range(words * nodes):
                pair_grad[pairs[cell]] += workspace.counts[cell]
    return loss
