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

from groundling.model.charts import (
    Charts,
    Indices,
    Integers,
    Links,
    Reals,
    Room,
    fill_states,
    inlined,
)
from groundling.model.forest import BOUND, UNIT

__all__ = ["NEXT", "PREVIOUS", "SAME", "Charts", "Integers", "Reals", "inside", "outside"]

SAME, NEXT, PREVIOUS = 0, 1, 2  # the first relations of every table

_TINY, _HUGE = 1e-30, 1e30  # rows outside are rescaled
# A cell underflows at least e^480 below the best of its row (rows that start below _FAINT are
# refused). All alignments together are at most the product of the words' sums over states,
# times what relations add. So none that matters is lost while the sum over those that were
# kept, measured against that product, stays above e^-440.
_FAINT, _FLOOR = 1e-100, -440.0


@inlined
def _lay_out(
    charts: Charts, links: Links, candidate: int, room: Room
) -> tuple[int, Indices, Integers, Indices, Indices, Indices]:
    """Lay the states of a candidate's actions and their links out one after another.

    Returns the number of states, their nodes and whether they enter; links to, from, and
    their relations.
    """
    states = fill_states(charts, candidate, room.state_start)
    first = charts.candidate_actions[candidate]
    actions = charts.candidate_actions[candidate + 1] - first
    if actions == 1:  # they stand there already
        graph = charts.action_graph[first]
        shape = charts.graph_shape[graph]
        nodes, enters = charts.graph_nodes[graph], charts.shape_nodes[shape]
        begin, end = links.shape_links[shape], links.shape_links[shape + 1]
        return (
            states, links.graph_node[nodes : nodes + states],
            links.node_enters[enters : enters + states], links.link_to[begin:end],
            links.link_from[begin:end], links.link_relation[begin:end],
        )  # fmt: skip
    count = 0
    for j in range(actions):
        graph = charts.action_graph[first + j]
        shape = charts.graph_shape[graph]
        base = room.state_start[j]
        for k in range(room.state_start[j + 1] - base):
            room.state_node[base + k] = links.graph_node[charts.graph_nodes[graph] + k]
            room.state_enters[base + k] = links.node_enters[charts.shape_nodes[shape] + k]
        for link in range(links.shape_links[shape], links.shape_links[shape + 1]):
            room.link_to[count] = base + links.link_to[link]
            room.link_from[count] = base + links.link_from[link]
            room.link_relation[count] = links.link_relation[link]
            count += 1
    return (
        states, room.state_node[:states], room.state_enters[:states], room.link_to[:count],
        room.link_from[:count], room.link_relation[:count],
    )  # fmt: skip


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
    links: Links,
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
    states, state_node, state_enters, link_to, link_from, link_relation = _lay_out(
        charts, links, candidate, room
    )
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
            _send(charts, first_word + w, w, actions, states, advance_exp, edge_exp, skips,
                  room.state_start, state_enters, link_to, link_from, link_relation, rows,
                  messages)  # fmt: skip
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
    state_start: Integers,
    state_enters: Integers,
    link_to: Indices,
    link_from: Indices,
    link_relation: Indices,
    rows: Reals,
    messages: Reals,
) -> None:
    """Compute what a word tells its parent: for each state of the parent, the sum over its own."""
    link = charts.word_link[word]
    dependency = charts.word_dependency[word]
    if link != UNIT:
        for s in range(states):
            messages[w, s] = 0.0
        for i in range(len(link_to)):
            messages[w, link_to[i]] += (
                edge_exp[dependency, link_relation[i]] * rows[w, link_from[i]]
            )
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
    links: Links,
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
    states, state_node, state_enters, link_to, link_from, link_relation = _lay_out(
        charts, links, candidate, room
    )
    scratch = room.scratch
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
                     room.state_start, state_enters, link_to, link_from, link_relation, rows,
                     scratch, posteriors, pair_grad, edge_grad)  # fmt: skip
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
    state_start: Integers,
    state_enters: Integers,
    link_to: Indices,
    link_from: Indices,
    link_relation: Indices,
    rows: Reals,
    asked: Reals,
    posteriors: Reals,
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Undo `_send`: from adjoints of a message (`asked`) to posteriors of the word's states."""
    link = charts.word_link[word]
    dependency = charts.word_dependency[word]
    if link != UNIT:
        for s in range(states):
            posteriors[w, s] = 0.0
        for i in range(len(link_to)):
            relation, s = link_relation[i], link_from[i]
            flow = edge_exp[dependency, relation] * asked[link_to[i]] * rows[w, s]
            posteriors[w, s] += flow
            edge_grad[dependency, relation] += flow
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
    going = NEXT if right else PREVIOUS
    go = edge_exp[dependency, going]
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
    edge_grad[dependency, going] += gone
    if charts.word_advance[word] >= 0:
        pair_grad[charts.word_advance[word]] += gone
