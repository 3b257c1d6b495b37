"""The overlay recursion in logarithms: for any size of score, and for best alignments.

The same recursion as `inside_outside.py`, with log-sum-exp in place of sums; with `best_only`, max
takes its place and `best_states` reads the best alignment off the chart.
"""

from __future__ import annotations

import math

from groundling.overlay.batch import Batch, Integers, Reals, compiled, fill_states, inner
from groundling.overlay.inside_outside import NEXT, PREVIOUS, SAME
from groundling.overlay.potentials import Potentials
from groundling.overlay.skeletons import BOUND, UNIT
from groundling.ties import CLOSE

__all__ = ["best_states", "inside_log", "outside_log"]


@inner
def _log_sum(values: Reals, count: int, best_only: bool) -> float:
    top = -math.inf
    for i in range(count):
        top = max(top, values[i])
    if best_only or top == -math.inf:
        return top
    total = 0.0
    for i in range(count):
        total += math.exp(values[i] - top)
    return top + math.log(total)


@inner
def _log_add(a: float, b: float, best_only: bool) -> float:
    if a < b:
        a, b = b, a
    if best_only or b == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@compiled
def inside_log(
    batch: Batch,
    instance: int,
    candidate: int,
    potentials: Potentials,
    best_only: bool,
    state_start: Integers,
    rows: Reals,
    messages: Reals,
    scratch: Reals,
    group_log: Reals,
) -> None:
    """Do what `inside` does in logarithms, without shifts; with `best_only`, max replaces sum."""
    states = fill_states(batch, candidate, state_start)
    first_word = batch.instance_words[instance]
    words = batch.instance_words[instance + 1] - first_word
    first_action = batch.candidate_actions[candidate]
    actions = batch.candidate_actions[candidate + 1] - first_action
    nodes = batch.instance_nodes[instance]
    cells = batch.instance_cells[instance]
    for w in range(words):
        for j in range(actions):
            base = batch.graph_nodes[batch.action_graph[first_action + j]]
            for k in range(state_start[j + 1] - state_start[j]):
                pair = batch.cell_pair[cells + w * nodes + batch.graph_node[base + k]]
                rows[w, state_start[j] + k] = potentials.pair_score[pair]
    for w in range(words):
        group = batch.word_group[first_word + w]
        parent = batch.word_parent[first_word + w]
        if parent < 0:
            total = -math.inf
            for j in range(actions):
                entry = _enter(batch, first_action + j, state_start[j], state_start[j + 1],
                               rows, w, best_only, scratch)  # fmt: skip
                total = _log_add(total, entry, best_only)
            group_log[group] += total
            continue
        _send_log(batch, first_word + w, first_action, actions, potentials, best_only, state_start,
                  rows, w, messages, scratch)  # fmt: skip
        for s in range(states):
            rows[parent, s] += messages[w, s]


@inner
def _enter(
    batch: Batch,
    action: int,
    base: int,
    stop: int,
    rows: Reals,
    w: int,
    best_only: bool,
    scratch: Reals,
) -> float:
    shape = batch.shape_nodes[batch.graph_shape[batch.action_graph[action]]]
    count = 0
    for k in range(stop - base):
        if batch.node_enters[shape + k]:
            scratch[count] = rows[w, base + k]
            count += 1
    return _log_sum(scratch, count, best_only)


@inner
def _send_log(
    batch: Batch,
    word: int,
    first_action: int,
    actions: int,
    potentials: Potentials,
    best_only: bool,
    state_start: Integers,
    rows: Reals,
    w: int,
    messages: Reals,
    scratch: Reals,
) -> None:
    edge_score = potentials.edge_score
    link = batch.word_link[word]
    dependency = batch.word_dependency[word]
    for j in range(actions):
        base = state_start[j]
        size = state_start[j + 1] - base
        shape = batch.shape_nodes[batch.graph_shape[batch.action_graph[first_action + j]]]
        if link != UNIT:
            for k in range(size):
                first = batch.node_near[shape + k]
                count = batch.node_near[shape + k + 1] - first
                for i in range(count):
                    scratch[i] = (
                        edge_score[dependency, batch.near_relation[first + i]]
                        + rows[w, base + batch.near_node[first + i]]
                    )
                messages[w, base + k] = _log_sum(scratch, count, best_only)
        else:
            total = edge_score[dependency, SAME] + _enter(
                batch, first_action + j, base, base + size, rows, w, best_only, scratch
            )
            for k in range(size):
                messages[w, base + k] = total
    if link == BOUND or actions == 1:
        return
    right = batch.word_direction[word] > 0
    go = edge_score[dependency, NEXT if right else PREVIOUS]
    if batch.word_advance[word] >= 0:
        go += potentials.pair_score[batch.word_advance[word]]
    beyond = -math.inf
    for step in range(actions):
        j = actions - 1 - step if right else step
        base = state_start[j]
        for k in range(state_start[j + 1] - base):
            messages[w, base + k] = _log_add(messages[w, base + k], go + beyond, best_only)
        here = _enter(batch, first_action + j, base, state_start[j + 1], rows, w, best_only,
                      scratch)  # fmt: skip
        beyond = _log_add(here, beyond - potentials.skip_cost, best_only)


@compiled
def outside_log(
    batch: Batch,
    instance: int,
    candidate: int,
    group_weight: Reals,
    potentials: Potentials,
    state_start: Integers,
    rows: Reals,
    messages: Reals,
    scratch: Reals,
    posteriors: Reals,
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Do what `outside` does after `inside_log`: posteriors flow down from parent to child."""
    states = fill_states(batch, candidate, state_start)
    first_word = batch.instance_words[instance]
    words = batch.instance_words[instance + 1] - first_word
    first_action = batch.candidate_actions[candidate]
    actions = batch.candidate_actions[candidate + 1] - first_action
    nodes = batch.instance_nodes[instance]
    cells = batch.instance_cells[instance]
    edge_score = potentials.edge_score
    posteriors[:words, :states] = 0.0
    for w in range(words - 1, -1, -1):
        word = first_word + w
        group = batch.word_group[word]
        if group_weight[group] == 0.0:
            continue
        parent = batch.word_parent[word]
        if parent < 0:
            total = -math.inf
            for j in range(actions):
                entry = _enter(batch, first_action + j, state_start[j], state_start[j + 1],
                               rows, w, False, scratch)  # fmt: skip
                total = _log_add(total, entry, False)
            for j in range(actions):
                shape = batch.shape_nodes[batch.graph_shape[batch.action_graph[first_action + j]]]
                for k in range(state_start[j + 1] - state_start[j]):
                    if batch.node_enters[shape + k]:
                        s = state_start[j] + k
                        posteriors[w, s] = group_weight[group] * math.exp(rows[w, s] - total)
        else:
            link = batch.word_link[word]
            dependency = batch.word_dependency[word]
            right = batch.word_direction[word] > 0
            going = NEXT if right else PREVIOUS
            go = edge_score[dependency, going]
            if batch.word_advance[word] >= 0:
                go += potentials.pair_score[batch.word_advance[word]]
            for j in range(actions):
                base = state_start[j]
                shape = batch.shape_nodes[batch.graph_shape[batch.action_graph[first_action + j]]]
                for k in range(state_start[j + 1] - base):
                    share = posteriors[parent, base + k]
                    message = messages[w, base + k]
                    if share == 0.0 or message == -math.inf:
                        continue
                    if link != UNIT:
                        for near in range(
                            batch.node_near[shape + k], batch.node_near[shape + k + 1]
                        ):
                            relation = batch.near_relation[near]
                            s = base + batch.near_node[near]
                            flow = share * math.exp(
                                edge_score[dependency, relation] + rows[w, s] - message
                            )
                            posteriors[w, s] += flow
                            edge_grad[dependency, relation] += flow
                    else:
                        for other in range(state_start[j + 1] - base):
                            if batch.node_enters[shape + other]:
                                s = base + other
                                flow = share * math.exp(
                                    edge_score[dependency, SAME] + rows[w, s] - message
                                )
                                posteriors[w, s] += flow
                                edge_grad[dependency, SAME] += flow
                    if link == BOUND:
                        continue
                    for there in range(actions):
                        gap = there - j if right else j - there
                        if gap < 1:
                            continue
                        entered = batch.shape_nodes[
                            batch.graph_shape[batch.action_graph[first_action + there]]
                        ]
                        for other in range(state_start[there + 1] - state_start[there]):
                            if batch.node_enters[entered + other]:
                                s = state_start[there] + other
                                flow = share * math.exp(
                                    go - potentials.skip_cost * (gap - 1) + rows[w, s] - message
                                )
                                posteriors[w, s] += flow
                                edge_grad[dependency, going] += flow
                                if batch.word_advance[word] >= 0:
                                    pair_grad[batch.word_advance[word]] += flow
        for j in range(actions):
            base = batch.graph_nodes[batch.action_graph[first_action + j]]
            for k in range(state_start[j + 1] - state_start[j]):
                pair = batch.cell_pair[cells + w * nodes + batch.graph_node[base + k]]
                pair_grad[pair] += posteriors[w, state_start[j] + k]


@compiled
def best_states(
    batch: Batch,
    instance: int,
    candidate: int,
    potentials: Potentials,
    state_start: Integers,
    rows: Reals,
    chosen: Integers,
) -> None:
    """Read the best alignment off the rows of `inside_log` with `best_only`.

    `chosen` receives for each word its state, or -1 if there is none; ties go to the first.
    """
    fill_states(batch, candidate, state_start)
    first_word = batch.instance_words[instance]
    words = batch.instance_words[instance + 1] - first_word
    first_action = batch.candidate_actions[candidate]
    actions = batch.candidate_actions[candidate + 1] - first_action
    edge_score = potentials.edge_score
    for w in range(words - 1, -1, -1):
        word = first_word + w
        chosen[w] = -1
        parent = batch.word_parent[word]
        best = -math.inf
        above_action = -1
        above_state = -1
        if parent >= 0:
            if chosen[parent] < 0:
                continue
            above_state = chosen[parent]
            above_action = 0
            while state_start[above_action + 1] <= above_state:
                above_action += 1
        link = batch.word_link[word]
        dependency = batch.word_dependency[word]
        right = batch.word_direction[word] > 0
        go = edge_score[dependency, NEXT if right else PREVIOUS]
        if batch.word_advance[word] >= 0:
            go += potentials.pair_score[batch.word_advance[word]]
        for j in range(actions):
            shape = batch.shape_nodes[batch.graph_shape[batch.action_graph[first_action + j]]]
            base = state_start[j]
            if parent >= 0 and j == above_action and link != UNIT:
                k = above_state - base
                for near in range(batch.node_near[shape + k], batch.node_near[shape + k + 1]):
                    s = base + batch.near_node[near]
                    score = edge_score[dependency, batch.near_relation[near]] + rows[w, s]
                    if score == -math.inf:
                        continue
                    if best == -math.inf or score > best + CLOSE * max(1.0, abs(best)):
                        best = score
                        chosen[w] = s
                continue
            if parent >= 0 and j != above_action:
                gap = j - above_action if right else above_action - j
                if link == BOUND or gap < 1:
                    continue
                offset = go - potentials.skip_cost * (gap - 1)
            elif parent >= 0:
                offset = edge_score[dependency, SAME]
            else:
                offset = 0.0
            for k in range(state_start[j + 1] - base):
                score = offset + rows[w, base + k]
                if not batch.node_enters[shape + k] or score == -math.inf:
                    continue
                if best == -math.inf or score > best + CLOSE * max(1.0, abs(best)):
                    best = score
                    chosen[w] = base + k
