"""The overlay recursion (the paper's Algorithm 1, over whole plans), compiled.

Here is its fast arithmetic: each word's chart row is kept as plain numbers, scaled to stay
near one, so that a cell costs a few multiplications. When an answer falls below what that
can hold, `inside_outside_log.py` does the same in logarithms.

A chart row has one entry per state, a state being (action j, node k of its graph), laid out
action by action. `Batch` holds everything the kernels read, flat; see `encoding.py`.
"""

# Kernels are long lists of array arguments and loops: what they lose in style they gain in speed.

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import (
    FROM,
    RELATION,
    STATE,
    Batch,
    Indices,
    Integers,
    Layout,
    Reals,
    Workspace,
    inner,
    whole,
)
from groundling.overlay.potentials import Potentials
from groundling.overlay.skeletons import BOUND, UNIT
from groundling.overlay.vectors import (
    LANES,
    divided,
    fetch,
    load,
    spread,
    store,
    total,
    without,
)

__all__ = [
    "FAINT", "FLOOR", "HUGE", "MOST_EDGE", "NEXT", "PREVIOUS", "SAME", "TINY",
    "Batch", "Integers", "Reals", "count_states", "inside", "outside",
]  # fmt: skip

SAME, NEXT, PREVIOUS = 0, 1, 2  # the first relations of every table

TINY, HUGE = 1e-12, 1e12  # rows outside are rescaled
# Scores are scaled so that those of a word with all nodes of the instance sum to one. Then all
# alignments together are at most what relations add, times the number of actions per word. A
# cell that underflows loses e^-515 of that at most, with scores above FAINT before scaling. So
# no alignment that matters is lost while the sum over those that are kept stays above e^-440.
FAINT, FLOOR = 1e-100, -440.0
MOST_EDGE = 50.0  # the largest score of a relation that plain numbers can be multiplied with


@inner
def inside(
    batch: Batch,
    layout: Layout,
    instance: int,
    first: int,  # candidates first … last-1 are a tile that is laid out in `workspace`
    last: int,
    potentials: Potentials,
    workspace: Workspace,
    rows: Reals,  # words × states, these in eights
    messages: Reals,
    group_log: Reals,  # candidates × groups, flat
    in_logs: NDArray[np.bool_],
) -> None:
    """Fill chart rows and messages; add each (candidate, group)'s log sum to `group_log`.

    Where the numbers did not hold, `in_logs` becomes true, and `group_log` is void.
    """
    first_word = whole(batch.instance_words[instance])
    words, states = rows.shape
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    tile_start, action_start = workspace.tile_start, workspace.action_start
    state_node, state_enters, kept_log = (
        workspace.state_node,
        workspace.state_enters,
        workspace.kept_log,
    )
    count = last - first
    nodes = whole(batch.instance_nodes[instance])
    dependency = batch.word_dependency[first_word:]
    kept_log[:count] = 0.0
    for w in range(words):  # its own scores; what its dependents tell it comes to them
        row = rows[w]
        for s in range(0, states, LANES):
            own = fetch(workspace.scores, w * nodes, state_node, s)
            store(row, s, without(own, state_node, s, nodes))
    for w in range(words):
        group = batch.word_group[first_word + w]
        parent = batch.word_parent[first_word + w]
        # Scores sum to one, so only rows that took in messages can leave the range.
        for c in range(count if parent < 0 or layout.word_leads[first_word + w] else 0):
            start, stop = action_start[tile_start[c]], action_start[tile_start[c + 1]]
            total = 0.0
            for s in range(start, stop):
                total += rows[w, s]
            if not (TINY < total < HUGE):
                if not (0.0 < total < math.inf):
                    in_logs[c] = True
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
                    in_logs[c] = True
                    continue
                group_log[c * groups + group] += math.log(total)
                kept_log[c] += math.log(total)
        if parent < 0:
            continue
        # What it tells its parent: for each state of the parent, the sum over its own.
        link, edge = batch.word_link[first_word + w], potentials.edge_exp[dependency[w]]
        row, message, above = rows[w], messages[w], rows[parent]
        kept = edge[layout.stay] if link != UNIT and layout.stay >= 0 else 0.0
        for s in range(0, states, LANES):
            store(message, s, kept * load(row, s))
        if link != UNIT:
            _send_near(workspace.link[: workspace.tile_links[-1]], edge, row, message)
        if link != BOUND:
            right = batch.word_direction[first_word + w] > 0
            advance = batch.word_advance[first_word + w]
            go = edge[NEXT if right else PREVIOUS]
            if advance >= 0:
                go *= potentials.advance_exp[advance]
            stay = edge[SAME] if link == UNIT else 0.0
            _send_far(count, tile_start, action_start, state_enters, right, stay, go,
                      potentials.skip_exp, row, message)  # fmt: skip
        for s in range(0, states, LANES):
            store(above, s, load(above, s) * load(message, s))
    for c in range(count):
        add = potentials.edge_top + math.log(max(1, tile_start[c + 1] - tile_start[c]))
        if in_logs[c] or not (kept_log[c] > FLOOR + words * add):
            in_logs[c] = True
            # What is left there must not disturb the others on the way back.
            for w in range(words):
                for s in range(action_start[tile_start[c]], action_start[tile_start[c + 1]]):
                    rows[w, s] = 0.0


# What is handed over is all that they read: each array makes a function longer to compile.


@inner
def _send_near(link: NDArray[np.uint64], edge: Reals, row: Reals, message: Reals) -> None:
    """Add what a word's neighbouring nodes amount to, as `edge` weighs relations."""
    for i in range(np.uint64(len(link))):
        packed = link[i]
        message[packed & STATE] += edge[packed >> RELATION] * row[packed >> FROM & STATE]


@inner
def _send_far(
    candidates: int, tile_start: Integers, action_start: NDArray[np.uint64],
    state_enters: NDArray[np.bool_], right: bool, stay: float, go: float, skip: float,
    row: Reals, message: Reals,
) -> None:  # fmt: skip
    """Add what comes from the same action anew, and from those on the far side."""
    for c in range(candidates):
        begin, stop = tile_start[c], tile_start[c + 1]
        beyond = 0.0  # what the actions on the far side amount to, with what passing over costs
        for step in range(stop - begin):
            action = stop - 1 - step if right else begin + step
            here = 0.0
            for s in range(action_start[action], action_start[action + 1]):
                if state_enters[s]:
                    here += row[s]
            for s in range(action_start[action], action_start[action + 1]):
                message[s] += stay * here + go * beyond
            beyond = here + skip * beyond


@inner
def outside(
    batch: Batch,
    layout: Layout,
    instance: int,
    first: int,
    last: int,
    group_weight: Reals,  # candidates × groups, flat
    potentials: Potentials,
    workspace: Workspace,
    rows: Reals,
    messages: Reals,
    posteriors: Reals,  # words × states, filled with 0
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Add weight × posterior of every node and relation, after `inside` of the same tile.

    `posteriors` receives (words × states) posteriors times the weight of the word's group.
    """
    first_word = whole(batch.instance_words[instance])
    words, states = rows.shape
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    state_enters, asked = workspace.state_enters, workspace.asked
    for w in range(words - 1, -1, -1):
        group = batch.word_group[first_word + w]
        some = False
        for c in range(last - first):
            some |= group_weight[c * groups + group] != 0.0
        if not some:
            continue
        parent = batch.word_parent[first_word + w]
        if parent >= 0:
            message, above = messages[w], posteriors[parent]
            for s in range(0, states, LANES):
                store(asked, s, divided(load(above, s), load(message, s)))
            # Undo what was told: from the message's adjoint to posteriors of the word's states.
            row, posterior = rows[w], posteriors[w]
            link = batch.word_link[first_word + w]
            dependency = batch.word_dependency[first_word + w]
            edge, grad = potentials.edge_exp[dependency], edge_grad[dependency]
            if link != UNIT and layout.stay >= 0:
                grad[layout.stay] += _receive_kept(edge[layout.stay], asked, row, posterior)
            if link != UNIT:
                _receive_near(workspace.tile_links, workspace.link, edge, asked, row, posterior,
                              grad)  # fmt: skip
            if link != BOUND:
                right = batch.word_direction[first_word + w] > 0
                advance = batch.word_advance[first_word + w]
                going = NEXT if right else PREVIOUS
                go = edge[going]
                if advance >= 0:
                    go *= potentials.advance_exp[advance]
                stay = edge[SAME] if link == UNIT else 0.0
                stayed, gone = _receive_far(
                    last - first, workspace.tile_start, workspace.action_start, state_enters,
                    right, stay, go, potentials.skip_exp, asked, row, posterior,
                )  # fmt: skip
                grad[SAME] += stayed
                grad[going] += gone
                if advance >= 0:
                    pair_grad[advance] += gone
        else:
            for c in range(last - first):
                start = workspace.action_start[workspace.tile_start[c]]
                stop = workspace.action_start[workspace.tile_start[c + 1]]
                total = 0.0
                for s in range(start, stop):
                    if state_enters[s]:
                        total += rows[w, s]
                share = group_weight[c * groups + group] / total if total > 0.0 else 0.0
                for s in range(start, stop):
                    if state_enters[s]:
                        posteriors[w, s] = share * rows[w, s]
    nodes = whole(batch.instance_nodes[instance])
    count_states(workspace.state_node, words, nodes, states, workspace.posteriors,
                 workspace.counts)  # fmt: skip


@inner
def _receive_near(
    tile_links: Integers, link: NDArray[np.uint64], edge: Reals, asked: Reals, row: Reals,
    posterior: Reals, grad: Reals,
) -> None:  # fmt: skip
    """Undo `_send_near`."""
    for relation in range(len(tile_links) - 1):
        first, last = tile_links[relation], tile_links[relation + 1]
        even, odd = 0.0, 0.0  # two sums, as each addition waits for the one before
        for pair in range((last - first) // 2):
            packed = link[np.uint64(first + 2 * pair)]
            state = packed >> FROM & STATE
            flow = edge[relation] * asked[packed & STATE] * row[state]
            posterior[state] += flow
            even += flow
            packed = link[np.uint64(first + 2 * pair + 1)]
            state = packed >> FROM & STATE
            flow = edge[relation] * asked[packed & STATE] * row[state]
            posterior[state] += flow
            odd += flow
        if (last - first) % 2:
            packed = link[np.uint64(last - 1)]
            state = packed >> FROM & STATE
            flow = edge[relation] * asked[packed & STATE] * row[state]
            posterior[state] += flow
            even += flow
        grad[relation] += even + odd


@inner
def _receive_far(
    candidates: int, tile_start: Integers, action_start: NDArray[np.uint64],
    state_enters: NDArray[np.bool_], right: bool, stay: float, go: float, skip: float,
    asked: Reals, row: Reals, posterior: Reals,
) -> tuple[float, float]:  # fmt: skip
    """Undo `_send_far`; return how much stayed and how much went on."""
    stayed, gone = 0.0, 0.0
    for c in range(candidates):
        begin, stop = tile_start[c], tile_start[c + 1]
        before = 0.0  # adjoint of `beyond`, walking the actions the other way round
        for step in range(stop - begin):
            action = begin + step if right else stop - 1 - step
            total, here = 0.0, 0.0
            for s in range(action_start[action], action_start[action + 1]):
                total += asked[s]
                if state_enters[s]:
                    here += row[s]
            for s in range(action_start[action], action_start[action + 1]):
                if state_enters[s]:
                    posterior[s] += (stay * total + before) * row[s]
            stayed += stay * total * here
            gone += before * here
            before = go * total + skip * before
    return stayed, gone


@inner
def _receive_kept(kept: float, asked: Reals, row: Reals, posterior: Reals) -> float:
    """Write what comes from every state to itself; return the sum."""
    amount = spread(0.0)
    for s in range(0, len(row), LANES):
        flow = kept * load(asked, s) * load(row, s)
        store(posterior, s, flow)
        amount = amount + flow
    return float(total(amount))


@inner
def count_states(
    state_node: Indices, words: int, nodes: int, states: int, posteriors: Reals, counts: Reals
) -> None:
    """Add posteriors of states to counts of nodes, for four words at a time.

    Neighbouring states are often of one node: a sum that waits for itself. Four wait together.
    """
    w = whole(0)
    while w + 4 <= words:
        zero, one, two, three = (
            counts[w * nodes :], counts[(w + 1) * nodes :], counts[(w + 2) * nodes :],
            counts[(w + 3) * nodes :],
        )  # fmt: skip
        for s in range(states):
            k = np.uint64(state_node[np.uint64(s)])
            zero[k] += posteriors[w * states + s]
            one[k] += posteriors[(w + 1) * states + s]
            two[k] += posteriors[(w + 2) * states + s]
            three[k] += posteriors[(w + 3) * states + s]
        w += 4
    for rest in range(w, words):
        count = counts[rest * nodes :]
        for s in range(states):
            count[np.uint64(state_node[np.uint64(s)])] += posteriors[rest * states + s]
