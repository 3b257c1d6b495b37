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

from groundling.model.charts import (
    FROM,
    RELATION,
    STATE,
    Charts,
    Integers,
    Layout,
    Reals,
    Room,
    inlined,
)
from groundling.model.forest import BOUND, UNIT

__all__ = ["FAINT", "NEXT", "PREVIOUS", "SAME", "Charts", "Integers", "Reals", "inside", "outside"]

SAME, NEXT, PREVIOUS = 0, 1, 2  # the first relations of every table

_TINY, _HUGE = 1e-12, 1e12  # rows outside are rescaled
# Scores are scaled so that those of a word with all nodes of the problem sum to one. Then all
# alignments together are at most what relations add, times the number of actions per word. A
# cell that underflows loses e^-515 of that at most, with scores above FAINT before scaling. So
# no alignment that matters is lost while the sum over those that are kept stays above e^-440.
FAINT, _FLOOR = 1e-100, -440.0


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
    layout: Layout,
    problem: int,
    first: int,  # candidates first … last-1 are a batch that is laid out in `room`
    last: int,
    scores: Reals,  # exp(score - shift of the word in the problem), words × nodes
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
    batch_start, action_start = room.batch_start, room.action_start
    state_node, state_enters, kept_log = room.state_node, room.state_enters, room.kept_log
    count = last - first
    kept_log[:count] = 0.0
    pinned = False
    for c in range(count):
        pinned |= charts.candidate_pins[first + c] >= 0
    for w in range(words):
        group = charts.word_group[first_word + w]
        if not charts.group_active[first_group + group]:
            continue
        # What the word's dependents told it is there already; its own scores come now.
        for s in range(states):
            rows[w, s] *= scores[w, state_node[s]]
        end = charts.word_end[first_word + w]
        if pinned or (end != 0 and batch_start[count] > count):
            _align_ends(charts, w, first, count, end, skips, room, rows)
        parent = charts.word_parent[first_word + w]
        # Scores sum to one, so only rows that took in messages can leave the range.
        for c in range(count if parent < 0 or layout.word_leads[first_word + w] else 0):
            start, stop = action_start[batch_start[c]], action_start[batch_start[c + 1]]
            total = 0.0
            for s in range(start, stop):
                total += rows[w, s]
            if not (_TINY < total < _HUGE):
                if not (0.0 < total < math.inf):
                    careful[c] = True
                    continue
                for s in range(start, stop):
                    rows[w, s] /= total
                group_log[c * groups + group] += math.log(total)
                kept_log[c] += math.log(total)
            if parent < 0:
                total = 0.0
                for s in range(start, stop):
                    if state_enters[s]:
                        total += rows[w, s]
                if not (0.0 < total < math.inf):
                    careful[c] = True
                    continue
                group_log[c * groups + group] += math.log(total)
                kept_log[c] += math.log(total)
        if parent >= 0:
            _send(charts, first_word + w, w, count, advance_exp, edge_exp, skips, room,
                  rows, messages)  # fmt: skip
            for s in range(states):
                rows[parent, s] *= messages[w, s]
    for c in range(count):
        add = edge_top + math.log(max(1, batch_start[c + 1] - batch_start[c]))
        if careful[c] or not (kept_log[c] > _FLOOR + words * add):
            careful[c] = True
            # What is left there must not disturb the others on the way back.
            for w in range(words):
                for s in range(action_start[batch_start[c]], action_start[batch_start[c + 1]]):
                    rows[w, s] = 0.0


@inlined
def _align_ends(
    charts: Charts, w: int, first: int, count: int, end: int, skips: Reals, room: Room, rows: Reals
) -> None:
    """Charge for the actions beside an end of the text; bar a pinned word from other actions."""
    for c in range(count):
        begin, stop = room.batch_start[c], room.batch_start[c + 1]
        pins = charts.candidate_pins[first + c]
        pin = charts.pins[pins + w] if pins >= 0 else -1
        for action in range(begin, stop):
            factor = _end_factor(end, action - begin, stop - begin, pin, skips)
            for s in range(room.action_start[action], room.action_start[action + 1]):
                rows[w, s] *= factor


@inlined
def _send(
    charts: Charts,
    word: int,
    w: int,
    candidates: int,
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
    action_start, state_enters = room.action_start, room.state_enters
    if link != UNIT:
        for i in range(room.batch_links[0]):
            packed = room.link[i]
            cell = rows[w, packed >> FROM & STATE]
            messages[w, packed & STATE] += edge_exp[dependency, packed >> RELATION] * cell
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
            _receive(charts, first_word + w, w, last - first, advance_exp, edge_exp, skips,
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
    action_start, state_enters, asked = room.action_start, room.state_enters, room.asked
    if link != UNIT:
        for i in range(room.batch_links[0]):
            packed = room.link[i]
            relation, state = packed >> RELATION, packed >> FROM & STATE
            flow = edge_exp[dependency, relation] * asked[packed & STATE] * rows[w, state]
            posteriors[w, state] += flow
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
