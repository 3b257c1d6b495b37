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

import numpy as np
from numpy.typing import NDArray

from groundling.model.charts import Charts, Integers, Reals, Room, inlined
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
    problem: int,
    first: int,  # candidates first … last-1 are a batch that is laid out in `room`
    last: int,
    links: int,
    scores: Reals,  # exp(score - shift of the word), words × nodes
    advance_exp: Reals,  # exp(score), per pair
    edge_exp: Reals,  # exp(score), dependency × relation
    edge_top: float,  # the largest edge or advance score, or 0
    skips: Reals,  # exp(-cost): between, before, after
    room: Room,
    rows: Reals,  # words × states, filled with 1
    messages: Reals,  # words × states, filled with 0
    group_log: Reals,  # candidates × groups, flat
    careful: NDArray[np.bool_],
) -> None:
    """Fill chart rows and messages; add each (candidate, group)'s log sum to `group_log`.

    Where the numbers did not hold, `careful` becomes true, and `group_log` is void.
    """
    first_word = charts.problem_words[problem]
    words, states = rows.shape
    first_group = charts.problem_groups[problem]
    groups = charts.problem_groups[problem + 1] - first_group
    state_node, state_enters = room.state_node, room.state_enters
    most, most_log, kept_log = room.most, room.most_log, room.kept_log
    for c in range(last - first):
        most[c], most_log[c], kept_log[c] = 1.0, 0.0, 0.0
    for w in range(words):
        group = charts.word_group[first_word + w]
        if not charts.group_active[first_group + group]:
            continue
        # What the word's dependents told it is there already; its own scores come now.
        end = charts.word_end[first_word + w]
        parent = charts.word_parent[first_word + w]
        for c in range(last - first):
            begin, stop = room.batch_start[c], room.batch_start[c + 1]
            pins = charts.candidate_pins[first + c]
            pin = charts.pins[pins + w] if pins >= 0 else -1
            alike = pin < 0 and (end == 0 or stop - begin == 1)  # all actions are
            own, total = 0.0, 0.0
            for action in range(begin, begin + 1 if alike else stop):
                factor = 1.0
                if not alike:
                    factor = _end_factor(end, action - begin, stop - begin, pin, skips)
                after = room.action_start[stop if alike else action + 1]
                for s in range(room.action_start[action], after):
                    score = factor * scores[w, state_node[s]]
                    cell = score * rows[w, s]
                    rows[w, s] = cell
                    own += score
                    total += cell
            if own < _FAINT or not (0.0 < total < math.inf):
                careful[c] = True
                continue
            most[c] *= own
            if not (_TINY < most[c] < _HUGE):
                most_log[c] += math.log(most[c])
                most[c] = 1.0
            if not (_TINY < total < _HUGE):
                for s in range(room.action_start[begin], room.action_start[stop]):
                    rows[w, s] /= total
                group_log[c * groups + group] += math.log(total)
                kept_log[c] += math.log(total)
            if parent < 0:
                total = 0.0
                for s in range(room.action_start[begin], room.action_start[stop]):
                    if state_enters[s]:
                        total += rows[w, s]
                if not (0.0 < total < math.inf):
                    careful[c] = True
                    continue
                group_log[c * groups + group] += math.log(total)
                kept_log[c] += math.log(total)
        if parent >= 0:
            _send(charts, first_word + w, w, last - first, links, advance_exp, edge_exp, skips,
                  room, rows, messages)  # fmt: skip
            for s in range(states):
                rows[parent, s] *= messages[w, s]
    for c in range(last - first):
        lost = kept_log[c] - most_log[c] - math.log(most[c])
        if careful[c] or not (lost > _FLOOR + words * edge_top):
            careful[c] = True
            # What is left there must not disturb the others on the way back.
            start = room.action_start[room.batch_start[c]]
            rows[:, start : room.action_start[room.batch_start[c + 1]]] = 0.0


@inlined
def _send(
    charts: Charts,
    word: int,
    w: int,
    candidates: int,
    links: int,
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
    link_to, link_from, link_relation = room.link_to, room.link_from, room.link_relation
    action_start, state_enters = room.action_start, room.state_enters
    if link != UNIT:
        for i in range(links):
            messages[w, link_to[i]] += (
                edge_exp[dependency, link_relation[i]] * rows[w, link_from[i]]
            )
        if link == BOUND:
            return
    right = charts.word_direction[word] > 0
    go = edge_exp[dependency, NEXT if right else PREVIOUS]
    if charts.word_advance[word] >= 0:
        go *= advance_exp[charts.word_advance[word]]
    stay = edge_exp[dependency, SAME] if link == UNIT else 0.0
    for c in range(candidates):
        begin, stop = room.batch_start[c], room.batch_start[c + 1]
        beyond = 0.0  # what the actions on the far side amount to, with what passing over costs
        for step in range(stop - begin):
            action = stop - 1 - step if right else begin + step
            here = 0.0
            for s in range(action_start[action], action_start[action + 1]):
                if state_enters[s]:
                    here += rows[w, s]
            for s in range(action_start[action], action_start[action + 1]):
                messages[w, s] += stay * here + go * beyond
            beyond = here + skips[0] * beyond


@inlined
def outside(
    charts: Charts,
    problem: int,
    first: int,
    last: int,
    links: int,
    group_weight: Reals,  # candidates × groups, flat
    advance_exp: Reals,
    edge_exp: Reals,
    skips: Reals,
    room: Room,
    rows: Reals,
    messages: Reals,
    posteriors: Reals,  # words × states, filled with 0
    counts: Reals,  # words × nodes
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Add weight × posterior of every node and relation, after `inside` of the same batch.

    `posteriors` receives (words × states) posteriors times the weight of the word's group.
    """
    first_word = charts.problem_words[problem]
    words, states = rows.shape
    groups = charts.problem_groups[problem + 1] - charts.problem_groups[problem]
    state_node, state_enters, asked = room.state_node, room.state_enters, room.asked
    for w in range(words - 1, -1, -1):
        group = charts.word_group[first_word + w]
        some = False
        for c in range(last - first):
            some |= group_weight[c * groups + group] != 0.0
        if not some or not charts.group_active[charts.problem_groups[problem] + group]:
            continue
        parent = charts.word_parent[first_word + w]
        if parent >= 0:
            for s in range(states):
                message = messages[w, s]
                asked[s] = posteriors[parent, s] / message if message > 0.0 else 0.0
            _receive(charts, first_word + w, w, last - first, links, advance_exp, edge_exp, skips,
                     room, rows, posteriors, pair_grad, edge_grad)  # fmt: skip
        else:
            for c in range(last - first):
                start = room.action_start[room.batch_start[c]]
                stop = room.action_start[room.batch_start[c + 1]]
                total = 0.0
                for s in range(start, stop):
                    if state_enters[s]:
                        total += rows[w, s]
                share = group_weight[c * groups + group] / total if total > 0.0 else 0.0
                for s in range(start, stop):
                    if state_enters[s]:
                        posteriors[w, s] = share * rows[w, s]
        for s in range(states):
            counts[w, state_node[s]] += posteriors[w, s]


@inlined
def _receive(
    charts: Charts,
    word: int,
    w: int,
    candidates: int,
    links: int,
    advance_exp: Reals,
    edge_exp: Reals,
    skips: Reals,
    room: Room,
    rows: Reals,
    posteriors: Reals,
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Undo `_send`: from adjoints of a message (`asked`) to posteriors of the word's states."""
    link = charts.word_link[word]
    dependency = charts.word_dependency[word]
    link_to, link_from, link_relation = room.link_to, room.link_from, room.link_relation
    action_start, state_enters, asked = room.action_start, room.state_enters, room.asked
    if link != UNIT:
        for i in range(links):
            relation, s = link_relation[i], link_from[i]
            flow = edge_exp[dependency, relation] * asked[link_to[i]] * rows[w, s]
            posteriors[w, s] += flow
            edge_grad[dependency, relation] += flow
        if link == BOUND:
            return
    right = charts.word_direction[word] > 0
    going = NEXT if right else PREVIOUS
    go = edge_exp[dependency, going]
    if charts.word_advance[word] >= 0:
        go *= advance_exp[charts.word_advance[word]]
    stay = edge_exp[dependency, SAME] if link == UNIT else 0.0
    stayed, gone = 0.0, 0.0
    for c in range(candidates):
        begin, stop = room.batch_start[c], room.batch_start[c + 1]
        before = 0.0  # adjoint of `beyond`, walking the actions the other way round
        for step in range(stop - begin):
            action = begin + step if right else stop - 1 - step
            total, here = 0.0, 0.0
            for s in range(action_start[action], action_start[action + 1]):
                total += asked[s]
                if state_enters[s]:
                    here += rows[w, s]
            for s in range(action_start[action], action_start[action + 1]):
                if state_enters[s]:
                    posteriors[w, s] += (stay * total + before) * rows[w, s]
            stayed += stay * total * here
            gone += before * here
            before = go * total + skips[0] * before
    if link == UNIT:
        edge_grad[dependency, SAME] += stayed
    edge_grad[dependency, going] += gone
    if charts.word_advance[word] >= 0:
        pair_grad[charts.word_advance[word]] += gone
