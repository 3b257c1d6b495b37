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
    "FAINT", "FLOOR", "HUGE", "NEXT", "PREVIOUS", "SAME", "TINY",
    "Batch", "Integers", "Reals", "count_states", "inside", "outside",
]  # fmt: skip

SAME, NEXT, PREVIOUS = 0, 1, 2  # the first relations of every table

TINY, HUGE = 1e-12, 1e12  # rows outside are rescaled
# Scores are scaled so that those of a word with all nodes of the instance sum to one. Then all
# alignments together are at most what relations add, times the number of actions per word. A
# cell that underflows loses e^-515 of that at most, with scores above FAINT before scaling. So
# no alignment that matters is lost while the sum over those that are kept stays above e^-440.
FAINT, FLOOR = 1e-100, -440.0


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
        if parent >= 0:
            _send(batch, layout, first_word + w, w, count, potentials, workspace, rows, messages)
            above, message = rows[parent], messages[w]
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


@inner
def _send(
    batch: Batch,
    layout: Layout,
    word: int,
    w: int,
    candidates: int,
    potentials: Potentials,
    workspace: Workspace,
    rows: Reals,
    messages: Reals,
) -> None:
    """Compute what a word tells its parent: for each state of the parent, the sum over its own."""
    link = batch.word_link[word]
    dependency = batch.word_dependency[word]
    edge_exp = potentials.edge_exp
    action_start, state_enters = workspace.action_start, workspace.state_enters
    row, message = rows[w], messages[w]
    listed = link != UNIT
    kept = edge_exp[dependency, layout.stay] if listed and layout.stay >= 0 else 0.0
    for s in range(0, rows.shape[1], LANES):
        store(message, s, kept * load(row, s))
    if listed:
        for i in range(np.uint64(workspace.tile_links[-1])):
            packed = workspace.link[i]
            cell = row[packed >> FROM & STATE]
            message[packed & STATE] += edge_exp[dependency, packed >> RELATION] * cell
        if link == BOUND:
            return
    right = batch.word_direction[word] > 0
    go = edge_exp[dependency, NEXT if right else PREVIOUS]
    if batch.word_advance[word] >= 0:
        go *= potentials.advance_exp[batch.word_advance[word]]
    stay = edge_exp[dependency, SAME] if link == UNIT else 0.0
    for c in range(candidates):
        begin, stop = workspace.tile_start[c], workspace.tile_start[c + 1]
        beyond = 0.0  # what the actions on the far side amount to, with what passing over costs
        for step in range(stop - begin):
            action = stop - 1 - step if right else begin + step
            here = 0.0
            for s in range(action_start[action], action_start[action + 1]):
                if state_enters[s]:
                    here += rows[w, s]
            for s in range(action_start[action], action_start[action + 1]):
                messages[w, s] += stay * here + go * beyond
            beyond = here + potentials.skip_exp * beyond


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
            _receive(batch, layout, first_word + w, w, last - first, potentials, workspace, rows,
                     posteriors, pair_grad, edge_grad)  # fmt: skip
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
def _receive(
    batch: Batch,
    layout: Layout,
    word: int,
    w: int,
    candidates: int,
    potentials: Potentials,
    workspace: Workspace,
    rows: Reals,
    posteriors: Reals,
    pair_grad: Reals,
    edge_grad: Reals,
) -> None:
    """Undo `_send`: from adjoints of a message (`asked`) to posteriors of the word's states."""
    link = batch.word_link[word]
    dependency = batch.word_dependency[word]
    edge_exp, asked = potentials.edge_exp, workspace.asked
    action_start, state_enters = workspace.action_start, workspace.state_enters
    if link != UNIT:
        row, posterior = rows[w], posteriors[w]
        if layout.stay >= 0:
            edge_grad[dependency, layout.stay] += _receive_kept(
                edge_exp[dependency, layout.stay], asked, row, posterior
            )
        for relation in range(len(workspace.next_link)):
            times = edge_exp[dependency, relation]
            first, last = workspace.tile_links[relation], workspace.tile_links[relation + 1]
            even, odd = 0.0, 0.0  # two sums, as each addition waits for the one before
            for pair in range((last - first) // 2):
                packed = workspace.link[np.uint64(first + 2 * pair)]
                state = packed >> FROM & STATE
                flow = times * asked[packed & STATE] * row[state]
                posterior[state] += flow
                even += flow
                packed = workspace.link[np.uint64(first + 2 * pair + 1)]
                state = packed >> FROM & STATE
                flow = times * asked[packed & STATE] * row[state]
                posterior[state] += flow
                odd += flow
            if (last - first) % 2:
                packed = workspace.link[np.uint64(last - 1)]
                state = packed >> FROM & STATE
                flow = times * asked[packed & STATE] * row[state]
                posterior[state] += flow
                even += flow
            edge_grad[dependency, relation] += even + odd
        if link == BOUND:
            return
    right = batch.word_direction[word] > 0
    going = NEXT if right else PREVIOUS
    go = edge_exp[dependency, going]
    if batch.word_advance[word] >= 0:
        go *= potentials.advance_exp[batch.word_advance[word]]
    stay = edge_exp[dependency, SAME] if link == UNIT else 0.0
    stayed, gone = 0.0, 0.0
    for c in range(candidates):
        begin, stop = workspace.tile_start[c], workspace.tile_start[c + 1]
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
            before = go * total + potentials.skip_exp * before
    if link == UNIT:
        edge_grad[dependency, SAME] += stayed
    edge_grad[dependency, going] += gone
    if batch.word_advance[word] >= 0:
        pair_grad[batch.word_advance[word]] += gone


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
