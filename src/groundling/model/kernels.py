"""The overlay recursion (the paper's Algorithm 1, over whole plans), compiled.

Here is its fast arithmetic: each word's chart row is kept as plain numbers, scaled to stay
near one, so that a cell costs a few multiplications. When an answer falls below what that
can hold, `careful.py` does the same in logarithms.

A chart row has one entry per state, a state being (action j, node k of its graph), laid out
action by action. `Charts` holds everything the kernels read, flat; see `encoding.py`.
"""

# Kernels are long lists of array arguments and loops: what they lose in style they gain in speed.

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from groundling.model.forest import BOUND, UNIT

__all__ = ["NEXT", "PREVIOUS", "SAME", "Charts", "inside", "outside"]

SAME, NEXT, PREVIOUS = 0, 1, 2  # the first relations of every table

_TINY, _HUGE = 1e-30, 1e30  # rows outside are rescaled
# A cell underflows at least e^480 below the best of its row (rows that start below _FAINT are
# refused). So no alignment that matters is lost while the sum itself, measured against the
# product of the rows' best cells, stays above e^-440 times what relations and the number of
# alignments can add.
_FAINT, _FLOOR = 1e-100, -440.0

Integers = NDArray[np.int32]
Reals = NDArray[np.float64]


class Charts(NamedTuple):
    """All texts, graphs and candidate plans of a set of problems, as flat arrays.

    Ranges are given by `*_start` arrays: the items of thing i are start[i] … start[i + 1] - 1.
    """

    # problem -> words, in forest order
    problem_words: Integers
    word_parent: Integers  # place in the problem, -1 for roots
    word_link: Integers
    word_dependency: Integers
    word_direction: Integers
    word_group: Integers
    word_advance: Integers  # pair (word, advance) or -1
    word_end: Integers  # 1: first word of the text, 2: last, 3: both
    # problem -> cells, (words × nodes) of pair numbers
    problem_nodes: Integers
    problem_cells: NDArray[np.int64]
    cell_pair: Integers
    # problem -> graphs -> nodes
    problem_graphs: Integers
    graph_shape: Integers
    graph_prior: Integers  # pair (nothing, all labels) or -1
    graph_nodes: Integers
    graph_node: Integers  # place among the problem's nodes
    # shape -> nodes -> neighbours
    shape_nodes: Integers
    node_enters: Integers
    node_near: Integers
    near_node: Integers
    near_relation: Integers
    # problem -> candidates -> actions
    problem_candidates: Integers
    candidate_actions: Integers
    action_graph: Integers
    candidate_extras: Integers
    extra_pair: Integers  # pairs that every alignment of the candidate has
    candidate_base: Reals
    candidate_gold: Integers
    candidate_pins: Integers  # start in `pins`, or -1
    pins: Integers  # for each word the action it must align with, or -1
    # problem -> groups of words
    problem_groups: Integers
    group_active: Integers
    problem_weight: Reals


_jit = njit(cache=True, nogil=True, error_model="numpy")


@_jit
def fill_states(charts: Charts, candidate: int, state_start: Integers) -> int:
    """Write where each action's states begin; return the number of states."""
    first = charts.candidate_actions[candidate]
    count = 0
    for j in range(charts.candidate_actions[candidate + 1] - first):
        state_start[j] = count
        graph = charts.action_graph[first + j]
        count += charts.graph_nodes[graph + 1] - charts.graph_nodes[graph]
    state_start[charts.candidate_actions[candidate + 1] - first] = count
    return count


@_jit
def inside(
    charts: Charts,
    problem: int,
    candidate: int,
    pair_exp: Reals,  # exp(score - shift of the word), per pair
    advance_exp: Reals,  # exp(score), per pair
    edge_exp: Reals,  # exp(score), dependency × relation
    relations: int,
    edge_top: float,  # the largest edge or advance score, or 0
    skips: Reals,  # exp(-cost): between, before, after
    state_start: Integers,
    rows: Reals,
    messages: Reals,
    group_log: Reals,
) -> bool:
    """Fill chart rows and messages of a candidate; add each group's log sum to `group_log`.

    Returns whether the numbers held; if not, `group_log` is void.
    """
    states = fill_states(charts, candidate, state_start)
    first_word = charts.problem_words[problem]
    words = charts.problem_words[problem + 1] - first_word
    first_action = charts.candidate_actions[candidate]
    actions = charts.candidate_actions[candidate + 1] - first_action
    nodes = charts.problem_nodes[problem]
    cells = charts.problem_cells[problem]
    groups = charts.problem_groups[problem]
    pin = charts.candidate_pins[candidate]
    floor = _FLOOR + words * (edge_top + math.log(states))
    peak = 1.0  # product of the rows' best cells
    peak_log = 0.0
    lost_log = 0.0
    for w in range(words):
        if not charts.group_active[groups + charts.word_group[first_word + w]]:
            continue
        end = charts.word_end[first_word + w]
        row = w * states
        top = 0.0
        for j in range(actions):
            graph = charts.action_graph[first_action + j]
            factor = 1.0
            if end & 1:
                factor *= skips[1] ** j
            if end & 2:
                factor *= skips[2] ** (actions - 1 - j)
            if pin >= 0 and charts.pins[pin + w] >= 0 and charts.pins[pin + w] != j:
                factor = 0.0
            base = charts.graph_nodes[graph]
            for k in range(state_start[j + 1] - state_start[j]):
                pair = charts.cell_pair[cells + w * nodes + charts.graph_node[base + k]]
                value = factor * pair_exp[pair]
                rows[row + state_start[j] + k] = value
                top = max(top, value)
        if top < _FAINT:
            return False
        peak *= top
        if peak < _FAINT:
            peak_log += math.log(peak)
            peak = 1.0
    for w in range(words):
        group = charts.word_group[first_word + w]
        if not charts.group_active[groups + group]:
            continue
        row = w * states
        top = 0.0
        for s in range(states):
            top = max(top, rows[row + s])
        if not (_TINY < top < _HUGE):
            if not (0.0 < top < math.inf):
                return False
            for s in range(states):
                rows[row + s] /= top
            group_log[group] += math.log(top)
            lost_log += math.log(top)
        parent = charts.word_parent[first_word + w]
        if parent < 0:
            total = 0.0
            for j in range(actions):
                shape = charts.shape_nodes[
                    charts.graph_shape[charts.action_graph[first_action + j]]
                ]
                for k in range(state_start[j + 1] - state_start[j]):
                    if charts.node_enters[shape + k]:
                        total += rows[row + state_start[j] + k]
            if not (0.0 < total < math.inf):
                return False
            group_log[group] += math.log(total)
            lost_log += math.log(total)
            continue
        _send(charts, first_word + w, first_action, actions, advance_exp, edge_exp, relations,
              skips, state_start, rows, row, messages)  # fmt: skip
        above = parent * states
        for s in range(states):
            rows[above + s] *= messages[row + s]
    return bool(lost_log - peak_log - math.log(peak) > floor)


@_jit
def _send(
    charts: Charts,
    word: int,
    first_action: int,
    actions: int,
    advance_exp: Reals,
    edge_exp: Reals,
    relations: int,
    skips: Reals,
    state_start: Integers,
    rows: Reals,
    row: int,
    messages: Reals,
) -> None:
    """Compute what a word tells its parent: for each state of the parent, the sum over its own."""
    link = charts.word_link[word]
    edges = charts.word_dependency[word] * relations
    for j in range(actions):
        base = state_start[j]
        size = state_start[j + 1] - base
        shape = charts.shape_nodes[charts.graph_shape[charts.action_graph[first_action + j]]]
        if link != UNIT:
            for k in range(size):
                total = 0.0
                for near in range(charts.node_near[shape + k], charts.node_near[shape + k + 1]):
                    total += (
                        edge_exp[edges + charts.near_relation[near]]
                        * rows[row + base + charts.near_node[near]]
                    )
                messages[row + base + k] = total
        else:
            total = 0.0
            for k in range(size):
                if charts.node_enters[shape + k]:
                    total += rows[row + base + k]
            total *= edge_exp[edges + SAME]
            for k in range(size):
                messages[row + base + k] = total
    if link == BOUND or actions == 1:
        return
    right = charts.word_direction[word] > 0
    go = edge_exp[edges + (NEXT if right else PREVIOUS)]
    if charts.word_advance[word] >= 0:
        go *= advance_exp[charts.word_advance[word]]
    beyond = 0.0  # what the actions on the far side amount to, each passed-over one at its cost
    for step in range(actions):
        j = actions - 1 - step if right else step
        base = state_start[j]
        shape = charts.shape_nodes[charts.graph_shape[charts.action_graph[first_action + j]]]
        here = 0.0
        for k in range(state_start[j + 1] - base):
            messages[row + base + k] += go * beyond
            if charts.node_enters[shape + k]:
                here += rows[row + base + k]
        beyond = here + skips[0] * beyond


@_jit
def outside(
    charts: Charts,
    problem: int,
    candidate: int,
    group_weight: Reals,
    advance_exp: Reals,
    edge_exp: Reals,
    relations: int,
    skips: Reals,
    state_start: Integers,
    rows: Reals,
    messages: Reals,
    adjoints: Reals,
    scratch: Reals,
    posteriors: Reals,
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Add weight × posterior of every pair and relation, after `inside` of the same candidate.

    `posteriors` receives (words × states) posteriors times the weight of the word's group.
    """
    states = fill_states(charts, candidate, state_start)
    first_word = charts.problem_words[problem]
    words = charts.problem_words[problem + 1] - first_word
    first_action = charts.candidate_actions[candidate]
    actions = charts.candidate_actions[candidate + 1] - first_action
    nodes = charts.problem_nodes[problem]
    cells = charts.problem_cells[problem]
    groups = charts.problem_groups[problem]
    for i in range(words * states):
        adjoints[i] = 0.0
    for w in range(words - 1, -1, -1):
        group = charts.word_group[first_word + w]
        row = w * states
        if not charts.group_active[groups + group] or group_weight[group] == 0.0:
            for s in range(states):
                posteriors[row + s] = 0.0
            continue
        parent = charts.word_parent[first_word + w]
        if parent < 0:
            total = 0.0
            for j in range(actions):
                shape = charts.shape_nodes[
                    charts.graph_shape[charts.action_graph[first_action + j]]
                ]
                for k in range(state_start[j + 1] - state_start[j]):
                    if charts.node_enters[shape + k]:
                        total += rows[row + state_start[j] + k]
            share = group_weight[group] / total
            for j in range(actions):
                shape = charts.shape_nodes[
                    charts.graph_shape[charts.action_graph[first_action + j]]
                ]
                for k in range(state_start[j + 1] - state_start[j]):
                    if charts.node_enters[shape + k]:
                        adjoints[row + state_start[j] + k] = share
        else:
            above = parent * states
            for s in range(states):
                message = messages[row + s]
                scratch[s] = posteriors[above + s] / message if message > 0.0 else 0.0
            _receive(charts, first_word + w, first_action, actions, advance_exp, edge_exp,
                     relations, skips, state_start, rows, row, adjoints, scratch,
                     pair_grad, edge_grad)  # fmt: skip
        for j in range(actions):
            graph = charts.action_graph[first_action + j]
            base = charts.graph_nodes[graph]
            for k in range(state_start[j + 1] - state_start[j]):
                s = row + state_start[j] + k
                posterior = adjoints[s] * rows[s]
                posteriors[s] = posterior
                pair_grad[charts.cell_pair[cells + w * nodes + charts.graph_node[base + k]]] += (
                    posterior
                )


@_jit
def _receive(
    charts: Charts,
    word: int,
    first_action: int,
    actions: int,
    advance_exp: Reals,
    edge_exp: Reals,
    relations: int,
    skips: Reals,
    state_start: Integers,
    rows: Reals,
    row: int,
    adjoints: Reals,
    scratch: Reals,
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Undo `_send`: from adjoints of a message (in `scratch`) to adjoints of the word's row."""
    link = charts.word_link[word]
    edges = charts.word_dependency[word] * relations
    for j in range(actions):
        base = state_start[j]
        size = state_start[j + 1] - base
        shape = charts.shape_nodes[charts.graph_shape[charts.action_graph[first_action + j]]]
        if link != UNIT:
            for k in range(size):
                adjoint = scratch[base + k]
                if adjoint == 0.0:
                    continue
                for near in range(charts.node_near[shape + k], charts.node_near[shape + k + 1]):
                    edge = edges + charts.near_relation[near]
                    s = row + base + charts.near_node[near]
                    flow = adjoint * edge_exp[edge]
                    adjoints[s] += flow
                    edge_grad[edge] += flow * rows[s]
        else:
            flow = 0.0
            for k in range(size):
                flow += scratch[base + k]
            flow *= edge_exp[edges + SAME]
            for k in range(size):
                if charts.node_enters[shape + k]:
                    adjoints[row + base + k] += flow
                    edge_grad[edges + SAME] += flow * rows[row + base + k]
    if link == BOUND or actions == 1:
        return
    right = charts.word_direction[word] > 0
    edge = edges + (NEXT if right else PREVIOUS)
    go = edge_exp[edge]
    if charts.word_advance[word] >= 0:
        go *= advance_exp[charts.word_advance[word]]
    before = 0.0  # adjoint of `beyond`, walking the actions the other way round
    gone = 0.0
    for step in range(actions):
        j = step if right else actions - 1 - step
        base = state_start[j]
        shape = charts.shape_nodes[charts.graph_shape[charts.action_graph[first_action + j]]]
        asked = 0.0
        for k in range(state_start[j + 1] - base):
            asked += scratch[base + k]
            if charts.node_enters[shape + k]:
                adjoints[row + base + k] += before
                gone += before * rows[row + base + k]
        before = go * asked + skips[0] * before
    edge_grad[edge] += gone
    if charts.word_advance[word] >= 0:
        pair_grad[charts.word_advance[word]] += gone
