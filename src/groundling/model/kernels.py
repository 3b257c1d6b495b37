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
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from groundling.model.forest import BOUND, UNIT

__all__ = [
    "NEXT", "PREVIOUS", "SAME", "Charts", "Room", "Shapes", "compiled",
    "inside", "make_room", "open_tables", "outside", "turn_shapes",
]  # fmt: skip

SAME, NEXT, PREVIOUS = 0, 1, 2  # the first relations of every table

_TINY, _HUGE = 1e-30, 1e30  # rows outside are rescaled
# A cell underflows at least e^480 below the best of its row (rows that start below _FAINT are
# refused). All alignments together are at most the product of the words' sums over states,
# times what relations add. So none that matters is lost while the sum over those that were
# kept, measured against that product, stays above e^-440.
_FAINT, _FLOOR = 1e-100, -440.0

F = TypeVar("F", bound=Callable[..., Any])
# Kernels allocate nothing, so they need no reference counts, which cost more than the sums.
_OPTIONS: dict[str, Any] = {
    "cache": True, "nogil": True, "error_model": "numpy", "_nrt": False
}  # fmt: skip


def compiled(function: F) -> F:
    """Compile a kernel; inside it, no array can be made."""
    return cast(F, njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """Compile a kernel that becomes a part of those that call it."""
    return cast(F, njit(forceinline=True, **_OPTIONS)(function))


Integers = NDArray[np.int32]
Indices = NDArray[np.uint32]  # numba need not ask whether an unsigned index counts from the end
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


class Shapes(NamedTuple):
    """The neighbours of every shape's nodes, and the same turned round: who has it near."""

    node_near: Integers
    near_node: Integers
    near_relation: Integers
    node_back: Integers
    back_node: Integers
    back_relation: Integers


class Room(NamedTuple):
    """Working memory for one problem at a time.

    Charts are (words × states) arrays; those of a problem's candidates stand below each
    other. `scores` and `counts` are (words × nodes of the problem) tables.
    """

    state_start: Integers  # action -> its first state
    state_node: Indices  # state -> node of the problem
    state_enters: NDArray[np.bool_]
    state_near: Indices  # state -> neighbours, within a candidate
    near_state: Indices
    near_relation: Indices
    scores: Reals
    counts: Reals
    rows: Reals
    messages: Reals
    posteriors: Reals
    scratch: Reals
    group_log: Reals  # (candidates × groups)
    group_weight: Reals
    free: Reals  # candidate -> the part of its score that no word has a share in
    free_weight: Reals
    careful: NDArray[np.bool_]  # candidate -> whether its charts are in logarithms


@njit(cache=True, nogil=True, error_model="numpy")
def turn_shapes(charts: Charts) -> Shapes:
    """List for every node the nodes it is a neighbour of."""
    nodes = len(charts.node_enters)
    start = np.zeros(nodes + 1, np.int32)
    node = np.empty_like(charts.near_node)
    relation = np.empty_like(charts.near_relation)
    for shape in range(len(charts.shape_nodes) - 1):
        base, stop = charts.shape_nodes[shape], charts.shape_nodes[shape + 1]
        for near in range(charts.node_near[base], charts.node_near[stop]):
            start[base + charts.near_node[near] + 1] += 1
    for k in range(nodes):
        start[k + 1] += start[k]
    filled = start.copy()
    for shape in range(len(charts.shape_nodes) - 1):
        base, stop = charts.shape_nodes[shape], charts.shape_nodes[shape + 1]
        for k in range(base, stop):
            for near in range(charts.node_near[k], charts.node_near[k + 1]):
                place = filled[base + charts.near_node[near]]
                filled[base + charts.near_node[near]] += 1
                node[place] = k - base
                relation[place] = charts.near_relation[near]
    return Shapes(charts.node_near, charts.near_node, charts.near_relation, start, node, relation)


def make_room(sizes: tuple[int, ...]) -> Room:
    """Allocate working memory for the largest sizes that occur.

    These are: candidates and groups of a problem; actions, states and neighbours of a
    candidate; table cells of a problem; chart cells of a candidate, and of a problem.
    """
    candidates, groups, actions, states, near, table, chart, charts = sizes
    return Room(
        np.zeros(actions + 1, np.int32), np.empty(states, np.uint32), np.empty(states, np.bool_),
        np.empty(states + 1, np.uint32), np.empty(near, np.uint32), np.empty(near, np.uint32),
        np.empty(table), np.empty(table), np.empty(charts), np.empty(charts), np.empty(chart),
        np.empty(max(states, near)), np.empty(candidates * groups),
        np.empty(candidates * groups), np.empty(candidates), np.empty(candidates),
        np.empty(candidates, np.bool_),
    )  # fmt: skip


@compiled
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


@inlined
def open_tables(
    room: Room, words: int, nodes: int, candidates: int, states: int
) -> tuple[Reals, Reals, Reals, Reals, Reals]:
    """Return a problem's tables (words × nodes) and charts (words × states) for use by row.

    These are: scores, counts; rows and messages of all candidates, posteriors of one.
    """
    return (
        room.scores[: words * nodes].reshape(words, nodes),
        room.counts[: words * nodes].reshape(words, nodes),
        room.rows[: candidates * words * states].reshape(candidates * words, states),
        room.messages[: candidates * words * states].reshape(candidates * words, states),
        room.posteriors[: words * states].reshape(words, states),
    )


@inlined
def _lay_out(
    charts: Charts,
    candidate: int,
    node_near: Integers,  # the neighbours that are wanted: near or back
    near_node: Integers,
    near_relation: Integers,
    room: Room,
) -> int:
    """Write a candidate's states and their neighbours one after another; return their number."""
    states = fill_states(charts, candidate, room.state_start)
    first = charts.candidate_actions[candidate]
    near = 0
    for j in range(charts.candidate_actions[candidate + 1] - first):
        graph = charts.action_graph[first + j]
        shape = charts.shape_nodes[charts.graph_shape[graph]]
        base = room.state_start[j]
        nodes = charts.graph_nodes[graph]
        for k in range(room.state_start[j + 1] - base):
            room.state_node[base + k] = charts.graph_node[nodes + k]
            room.state_enters[base + k] = charts.node_enters[shape + k] != 0
            room.state_near[base + k] = near
            for i in range(node_near[shape + k], node_near[shape + k + 1]):
                room.near_state[near] = base + near_node[i]
                room.near_relation[near] = near_relation[i]
                near += 1
    room.state_near[states] = near
    return states


@inlined
def _end_factor(end: int, j: int, actions: int, pin: int, skips: Reals) -> float:
    """What it takes to align an end of the text, or a pinned word, with action j."""
    factor = 1.0
    if end & 1:
        factor *= skips[1] ** j
    if end & 2:
        factor *= skips[2] ** (actions - 1 - j)
    if pin >= 0 and pin != j:
        factor = 0.0
    return factor


@inlined
def inside(
    charts: Charts,
    shapes: Shapes,
    problem: int,
    candidate: int,
    scores: Reals,  # exp(score - shift of the word), words × nodes
    advance_exp: Reals,  # exp(score), per pair
    edge_exp: Reals,  # exp(score), dependency × relation
    edge_top: float,  # the largest edge or advance score, or 0
    skips: Reals,  # exp(-cost): between, before, after
    room: Room,
    rows: Reals,
    messages: Reals,
    group_log: Reals,
) -> bool:
    """Fill chart rows and messages of a candidate; add each group's log sum to `group_log`.

    Returns whether the numbers held; if not, `group_log` is void.
    """
    states = _lay_out(
        charts, candidate, shapes.node_near, shapes.near_node, shapes.near_relation, room
    )
    state_node, state_enters = room.state_node, room.state_enters
    first_word = charts.problem_words[problem]
    words = charts.problem_words[problem + 1] - first_word
    actions = charts.candidate_actions[candidate + 1] - charts.candidate_actions[candidate]
    groups = charts.problem_groups[problem]
    pins = charts.candidate_pins[candidate]
    most = 1.0  # product of the words' sums over states
    most_log = 0.0
    kept_log = 0.0
    for w in range(words):
        for s in range(states):
            rows[w, s] = 1.0
    for w in range(words):
        group = charts.word_group[first_word + w]
        if not charts.group_active[groups + group]:
            continue
        # What the word's dependents told it is there already; its own scores come now.
        end = charts.word_end[first_word + w]
        pin = charts.pins[pins + w] if pins >= 0 else -1
        alike = actions == 1 or (end == 0 and pin < 0)  # all actions are
        own, total = 0.0, 0.0
        for j in range(1 if alike else actions):
            factor = 1.0 if alike else _end_factor(end, j, actions, pin, skips)
            first = 0 if alike else room.state_start[j]
            for s in range(first, states if alike else room.state_start[j + 1]):
                score = factor * scores[w, state_node[s]]
                cell = score * rows[w, s]
                rows[w, s] = cell
                own += score
                total += cell
        if own < _FAINT or not (0.0 < total < math.inf):
            return False
        most *= own
        if not (_TINY < most < _HUGE):
            most_log += math.log(most)
            most = 1.0
        if not (_TINY < total < _HUGE):
            for s in range(states):
                rows[w, s] /= total
            group_log[group] += math.log(total)
            kept_log += math.log(total)
        parent = charts.word_parent[first_word + w]
        if parent >= 0:
            _send(charts, first_word + w, w, actions, states, advance_exp, edge_exp, skips, room,
                  rows, messages)  # fmt: skip
            for s in range(states):
                rows[parent, s] *= messages[w, s]
        else:
            total = 0.0
            for s in range(states):
                if state_enters[s]:
                    total += rows[w, s]
            if not (0.0 < total < math.inf):
                return False
            group_log[group] += math.log(total)
            kept_log += math.log(total)
    return bool(kept_log - most_log - math.log(most) > _FLOOR + words * edge_top)


@inlined
def _send(
    charts: Charts,
    word: int,
    w: int,
    actions: int,
    states: int,
    advance_exp: Reals,
    edge_exp: Reals,
    skips: Reals,
    room: Room,
    rows: Reals,
    messages: Reals,
) -> None:
    """Compute what a word tells its parent: for each state of the parent, the sum over its own."""
    link = charts.word_link[word]
    dependency = charts.word_dependency[word]
    state_start, state_enters = room.state_start, room.state_enters
    state_near, near_state, near_relation = room.state_near, room.near_state, room.near_relation
    if link != UNIT:
        for s in range(states):
            total = 0.0
            for near in range(state_near[s], state_near[s + 1]):
                total += edge_exp[dependency, near_relation[near]] * rows[w, near_state[near]]
            messages[w, s] = total
    else:
        for j in range(actions):
            total = 0.0
            for s in range(state_start[j], state_start[j + 1]):
                if state_enters[s]:
                    total += rows[w, s]
            for s in range(state_start[j], state_start[j + 1]):
                messages[w, s] = total * edge_exp[dependency, SAME]
    if link == BOUND or actions == 1:
        return
    right = charts.word_direction[word] > 0
    go = edge_exp[dependency, NEXT if right else PREVIOUS]
    if charts.word_advance[word] >= 0:
        go *= advance_exp[charts.word_advance[word]]
    beyond = 0.0  # what the actions on the far side amount to, each passed-over one at its cost
    for step in range(actions):
        j = actions - 1 - step if right else step
        here = 0.0
        for s in range(state_start[j], state_start[j + 1]):
            messages[w, s] += go * beyond
            if state_enters[s]:
                here += rows[w, s]
        beyond = here + skips[0] * beyond


@inlined
def outside(
    charts: Charts,
    shapes: Shapes,
    problem: int,
    candidate: int,
    group_weight: Reals,
    advance_exp: Reals,
    edge_exp: Reals,
    skips: Reals,
    room: Room,
    rows: Reals,
    messages: Reals,
    posteriors: Reals,
    counts: Reals,  # words × nodes
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Add weight × posterior of every node and relation, after `inside` of the same candidate.

    `posteriors` receives (words × states) posteriors times the weight of the word's group.
    """
    states = _lay_out(
        charts, candidate, shapes.node_back, shapes.back_node, shapes.back_relation, room
    )
    state_node, state_enters, scratch = room.state_node, room.state_enters, room.scratch
    first_word = charts.problem_words[problem]
    words = charts.problem_words[problem + 1] - first_word
    actions = charts.candidate_actions[candidate + 1] - charts.candidate_actions[candidate]
    groups = charts.problem_groups[problem]
    for w in range(words - 1, -1, -1):
        group = charts.word_group[first_word + w]
        if not charts.group_active[groups + group] or group_weight[group] == 0.0:
            for s in range(states):
                posteriors[w, s] = 0.0
            continue
        parent = charts.word_parent[first_word + w]
        if parent >= 0:
            for s in range(states):
                message = messages[w, s]
                scratch[s] = posteriors[parent, s] / message if message > 0.0 else 0.0
            _receive(charts, first_word + w, w, actions, states, advance_exp, edge_exp, skips,
                     room, rows, scratch, posteriors, pair_grad, edge_grad)  # fmt: skip
        else:
            total = 0.0
            for s in range(states):
                if state_enters[s]:
                    total += rows[w, s]
            share = group_weight[group] / total
            for s in range(states):
                posteriors[w, s] = share * rows[w, s] if state_enters[s] else 0.0
        for s in range(states):
            counts[w, state_node[s]] += posteriors[w, s]


@inlined
def _receive(
    charts: Charts,
    word: int,
    w: int,
    actions: int,
    states: int,
    advance_exp: Reals,
    edge_exp: Reals,
    skips: Reals,
    room: Room,
    rows: Reals,
    asked: Reals,
    posteriors: Reals,
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Undo `_send`: from adjoints of a message (`asked`) to posteriors of the word's states."""
    link = charts.word_link[word]
    dependency = charts.word_dependency[word]
    state_start, state_enters = room.state_start, room.state_enters
    state_back, back_state, back_relation = room.state_near, room.near_state, room.near_relation
    if link != UNIT:
        for s in range(states):
            cell = rows[w, s]
            total = 0.0
            for back in range(state_back[s], state_back[s + 1]):
                relation = back_relation[back]
                flow = cell * edge_exp[dependency, relation] * asked[back_state[back]]
                edge_grad[dependency, relation] += flow
                total += flow
            posteriors[w, s] = total
    else:
        for j in range(actions):
            total = 0.0
            for s in range(state_start[j], state_start[j + 1]):
                total += asked[s]
            total *= edge_exp[dependency, SAME]
            for s in range(state_start[j], state_start[j + 1]):
                flow = total * rows[w, s] if state_enters[s] else 0.0
                posteriors[w, s] = flow
                edge_grad[dependency, SAME] += flow
    if link == BOUND or actions == 1:
        return
    right = charts.word_direction[word] > 0
    relation = NEXT if right else PREVIOUS
    go = edge_exp[dependency, relation]
    if charts.word_advance[word] >= 0:
        go *= advance_exp[charts.word_advance[word]]
    before = 0.0  # adjoint of `beyond`, walking the actions the other way round
    gone = 0.0
    for step in range(actions):
        j = step if right else actions - 1 - step
        total = 0.0
        for s in range(state_start[j], state_start[j + 1]):
            total += asked[s]
            if state_enters[s]:
                flow = before * rows[w, s]
                posteriors[w, s] += flow
                gone += flow
        before = go * total + skips[0] * before
    edge_grad[dependency, relation] += gone
    if charts.word_advance[word] >= 0:
        pair_grad[charts.word_advance[word]] += gone
