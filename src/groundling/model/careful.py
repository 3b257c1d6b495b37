"""The overlay recursion in logarithms: for any size of score, and for best alignments.

The same recursion as `kernels.py`, with log-sum-exp in place of sums; with `best_only`, max
takes its place and `best_states` reads the best alignment off the chart.
"""

from __future__ import annotations

import math

from groundling.model.charts import Charts, Integers, Reals, compiled, fill_states
from groundling.model.forest import BOUND, UNIT
from groundling.model.kernels import NEXT, PREVIOUS, SAME

__all__ = ["best_states", "inside_careful", "outside_careful"]


@compiled
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


@compiled
def _log_add(a: float, b: float, best_only: bool) -> float:
    if a < b:
        a, b = b, a
    if best_only or b == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@compiled
def inside_careful(
    charts: Charts,
    problem: int,
    candidate: int,
    pair_score: Reals,
    edge_score: Reals,
    costs: Reals,  # between, before, after
    best_only: bool,
    state_start: Integers,
    rows: Reals,
    messages: Reals,
    scratch: Reals,
    group_log: Reals,
) -> None:
    """Do what `inside` does in logarithms, without shifts; with `best_only`, max replaces sum."""
    states = fill_states(charts, candidate, state_start)
    first_word = charts.problem_words[problem]
    words = charts.problem_words[problem + 1] - first_word
    first_action = charts.candidate_actions[candidate]
    actions = charts.candidate_actions[candidate + 1] - first_action
    nodes = charts.problem_nodes[problem]
    cells = charts.problem_cells[problem]
    groups = charts.problem_groups[problem]
    pin = charts.candidate_pins[candidate]
    for w in range(words):
        if not charts.group_active[groups + charts.word_group[first_word + w]]:
            continue
        end = charts.word_end[first_word + w]
        for j in range(actions):
            graph = charts.action_graph[first_action + j]
            cost = 0.0
            if end & 1:
                cost += costs[1] * j
            if end & 2:
                cost += costs[2] * (actions - 1 - j)
            if pin >= 0 and charts.pins[pin + w] >= 0 and charts.pins[pin + w] != j:
                cost = math.inf
            base = charts.graph_nodes[graph]
            for k in range(state_start[j + 1] - state_start[j]):
                pair = charts.cell_pair[cells + w * nodes + charts.graph_node[base + k]]
                rows[w, state_start[j] + k] = pair_score[pair] - cost
    for w in range(words):
        group = charts.word_group[first_word + w]
        if not charts.group_active[groups + group]:
            continue
        parent = charts.word_parent[first_word + w]
        if parent < 0:
            total = -math.inf
            for j in range(actions):
                entry = _enter(charts, first_action + j, state_start[j], state_start[j + 1],
                               rows, w, best_only, scratch)  # fmt: skip
                total = _log_add(total, entry, best_only)
            group_log[group] += total
            continue
        _send_careful(charts, first_word + w, first_action, actions, pair_score, edge_score,
                      costs, best_only, state_start, rows, w, messages,
                      scratch)  # fmt: skip
        for s in range(states):
            rows[parent, s] += messages[w, s]


@compiled
def _enter(
    charts: Charts,
    action: int,
    base: int,
    stop: int,
    rows: Reals,
    w: int,
    best_only: bool,
    scratch: Reals,
) -> float:
    shape = charts.shape_nodes[charts.graph_shape[charts.action_graph[action]]]
    count = 0
    for k in range(stop - base):
        if charts.node_enters[shape + k]:
            scratch[count] = rows[w, base + k]
            count += 1
    return _log_sum(scratch, count, best_only)


@compiled
def _send_careful(
    charts: Charts,
    word: int,
    first_action: int,
    actions: int,
    pair_score: Reals,
    edge_score: Reals,
    costs: Reals,
    best_only: bool,
    state_start: Integers,
    rows: Reals,
    w: int,
    messages: Reals,
    scratch: Reals,
) -> None:
    link = charts.word_link[word]
    dependency = charts.word_dependency[word]
    for j in range(actions):
        base = state_start[j]
        size = state_start[j + 1] - base
        shape = charts.shape_nodes[charts.graph_shape[charts.action_graph[first_action + j]]]
        if link != UNIT:
            for k in range(size):
                first = charts.node_near[shape + k]
                count = charts.node_near[shape + k + 1] - first
                for i in range(count):
                    scratch[i] = (
                        edge_score[dependency, charts.near_relation[first + i]]
                        + rows[w, base + charts.near_node[first + i]]
                    )
                messages[w, base + k] = _log_sum(scratch, count, best_only)
        else:
            total = edge_score[dependency, SAME] + _enter(
                charts, first_action + j, base, base + size, rows, w, best_only, scratch
            )
            for k in range(size):
                messages[w, base + k] = total
    if link == BOUND or actions == 1:
        return
    right = charts.word_direction[word] > 0
    go = edge_score[dependency, NEXT if right else PREVIOUS]
    if charts.word_advance[word] >= 0:
        go += pair_score[charts.word_advance[word]]
    beyond = -math.inf
    for step in range(actions):
        j = actions - 1 - step if right else step
        base = state_start[j]
        for k in range(state_start[j + 1] - base):
            messages[w, base + k] = _log_add(messages[w, base + k], go + beyond, best_only)
        here = _enter(charts, first_action + j, base, state_start[j + 1], rows, w, best_only,
                      scratch)  # fmt: skip
        beyond = _log_add(here, beyond - costs[0], best_only)


@compiled
def outside_careful(
    charts: Charts,
    problem: int,
    candidate: int,
    group_weight: Reals,
    pair_score: Reals,
    edge_score: Reals,
    costs: Reals,
    state_start: Integers,
    rows: Reals,
    messages: Reals,
    scratch: Reals,
    posteriors: Reals,
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Do what `outside` does after `inside_careful`: posteriors flow down from parent to child."""
    states = fill_states(charts, candidate, state_start)
    first_word = charts.problem_words[problem]
    words = charts.problem_words[problem + 1] - first_word
    first_action = charts.candidate_actions[candidate]
    actions = charts.candidate_actions[candidate + 1] - first_action
    nodes = charts.problem_nodes[problem]
    cells = charts.problem_cells[problem]
    groups = charts.problem_groups[problem]
    posteriors[:words, :states] = 0.0
    for w in range(words - 1, -1, -1):
        word = first_word + w
        group = charts.word_group[word]
        if not charts.group_active[groups + group] or group_weight[group] == 0.0:
            continue
        parent = charts.word_parent[word]
        if parent < 0:
            total = -math.inf
            for j in range(actions):
                entry = _enter(charts, first_action + j, state_start[j], state_start[j + 1],
                               rows, w, False, scratch)  # fmt: skip
                total = _log_add(total, entry, False)
            for j in range(actions):
                shape = charts.shape_nodes[
                    charts.graph_shape[charts.action_graph[first_action + j]]
                ]
                for k in range(state_start[j + 1] - state_start[j]):
                    if charts.node_enters[shape + k]:
                        s = state_start[j] + k
                        posteriors[w, s] = group_weight[group] * math.exp(rows[w, s] - total)
        else:
            link = charts.word_link[word]
            dependency = charts.word_dependency[word]
            right = charts.word_direction[word] > 0
            going = NEXT if right else PREVIOUS
            go = edge_score[dependency, going]
            if charts.word_advance[word] >= 0:
                go += pair_score[charts.word_advance[word]]
            for j in range(actions):
                base = state_start[j]
                shape = charts.shape_nodes[
                    charts.graph_shape[charts.action_graph[first_action + j]]
                ]
                for k in range(state_start[j + 1] - base):
                    share = posteriors[parent, base + k]
                    message = messages[w, base + k]
                    if share == 0.0 or message == -math.inf:
                        continue
                    if link != UNIT:
                        for near in range(
                            charts.node_near[shape + k], charts.node_near[shape + k + 1]
                        ):
                            relation = charts.near_relation[near]
                            s = base + charts.near_node[near]
                            flow = share * math.exp(
                                edge_score[dependency, relation] + rows[w, s] - message
                            )
                            posteriors[w, s] += flow
                            edge_grad[dependency, relation] += flow
                    else:
                        for other in range(state_start[j + 1] - base):
                            if charts.node_enters[shape + other]:
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
                        entered = charts.shape_nodes[
                            charts.graph_shape[charts.action_graph[first_action + there]]
                        ]
                        for other in range(state_start[there + 1] - state_start[there]):
                            if charts.node_enters[entered + other]:
                                s = state_start[there] + other
                                flow = share * math.exp(
                                    go - costs[0] * (gap - 1) + rows[w, s] - message
                                )
                                posteriors[w, s] += flow
                                edge_grad[dependency, going] += flow
                                if charts.word_advance[word] >= 0:
                                    pair_grad[charts.word_advance[word]] += flow
        for j in range(actions):
            base = charts.graph_nodes[charts.action_graph[first_action + j]]
            for k in range(state_start[j + 1] - state_start[j]):
                pair = charts.cell_pair[cells + w * nodes + charts.graph_node[base + k]]
                pair_grad[pair] += posteriors[w, state_start[j] + k]


@compiled
def best_states(
    charts: Charts,
    problem: int,
    candidate: int,
    pair_score: Reals,
    edge_score: Reals,
    costs: Reals,
    state_start: Integers,
    rows: Reals,
    chosen: Integers,
) -> None:
    """Read the best alignment off the rows of `inside_careful` with `best_only`.

    `chosen` receives for each word its state, or -1 for words of inactive groups.
    """
    fill_states(charts, candidate, state_start)
    first_word = charts.problem_words[problem]
    words = charts.problem_words[problem + 1] - first_word
    first_action = charts.candidate_actions[candidate]
    actions = charts.candidate_actions[candidate + 1] - first_action
    groups = charts.problem_groups[problem]
    for w in range(words - 1, -1, -1):
        word = first_word + w
        chosen[w] = -1
        if not charts.group_active[groups + charts.word_group[word]]:
            continue
        parent = charts.word_parent[word]
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
        link = charts.word_link[word]
        dependency = charts.word_dependency[word]
        right = charts.word_direction[word] > 0
        go = edge_score[dependency, NEXT if right else PREVIOUS]
        if charts.word_advance[word] >= 0:
            go += pair_score[charts.word_advance[word]]
        for j in range(actions):
            shape = charts.shape_nodes[charts.graph_shape[charts.action_graph[first_action + j]]]
            base = state_start[j]
            if parent >= 0 and j == above_action and link != UNIT:
                k = above_state - base
                for near in range(charts.node_near[shape + k], charts.node_near[shape + k + 1]):
                    s = base + charts.near_node[near]
                    score = edge_score[dependency, charts.near_relation[near]] + rows[w, s]
                    if score > best:
                        best = score
                        chosen[w] = s
                continue
            if parent >= 0 and j != above_action:
                gap = j - above_action if right else above_action - j
                if link == BOUND or gap < 1:
                    continue
                offset = go - costs[0] * (gap - 1)
            elif parent >= 0:
                offset = edge_score[dependency, SAME]
            else:
                offset = 0.0
            for k in range(state_start[j + 1] - base):
                if charts.node_enters[shape + k] and offset + rows[w, base + k] > best:
                    best = offset + rows[w, base + k]
                    chosen[w] = base + k
