"""Plans whose actions are one node each: charts laid out position by position, compiled.

Where actions are flat, a state is an action, and what a word tells its parent depends on the
actions before or after. All candidates of a text then do the same at the same position: their
states stand side by side (position × candidate), the longest candidates first, so that those
that go on are always the first ones, and every loop runs over many candidates at once.
The arithmetic is that of `inside_outside.py`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import (
    TILE,
    Batch,
    Indices,
    Integers,
    Layout,
    Reals,
    Workspace,
    compiled,
    summing,
    whole,
)
from groundling.overlay.inside_outside import FLOOR, HUGE, NEXT, PREVIOUS, SAME, TINY
from groundling.overlay.passes import (
    EXPECT,
    LEARN,
    UNITS,
    fetch_scores,
    return_kinds,
    score_kinds,
    weigh,
)
from groundling.overlay.potentials import Potentials
from groundling.overlay.ragged import sizes_of, starts_of
from groundling.overlay.skeletons import BOUND, UNIT

__all__ = ["FlatLayout", "is_flat", "lay_out_flat", "pass_flat_instances"]


unsigned = cast(Any, np.uint64)  # indices that cannot count from the end, see `Indices`


class FlatLayout(NamedTuple):
    """Where the states of flat candidates are: tile by tile, and in it position by position."""

    instance_tiles: Integers
    tile_candidates: Integers  # tile -> candidates, in `order`
    tile_positions: Integers  # tile -> positions
    position_states: Integers  # position -> states, one for each candidate that is long enough
    state_node: Indices  # state -> node of the instance
    order: Integers  # candidates of an instance, the longest first
    instance_prior: NDArray[np.int64]  # instance -> its nodes in `node_prior`
    node_prior: Integers  # node -> pair (nothing, all labels) or -1
    relation: int  # of a node to itself


def is_flat(batch: Batch) -> bool:
    """Tell whether all actions are one node, which words may enter and stay at."""
    return (
        len(batch.shape_nodes) == 2
        and len(batch.node_enters) == len(batch.near_node) == 1
        and bool(batch.node_enters[0])
        and bool(np.all(sizes_of(batch.candidate_actions) > 0))
    )


def lay_out_flat(batch: Batch) -> FlatLayout:
    """Sort candidates by length, cut them into tiles, and list their states."""
    length = sizes_of(batch.candidate_actions).astype(np.int64)
    counts = sizes_of(batch.instance_candidates)
    owner = np.repeat(np.arange(len(counts)), counts)
    ranked = np.lexsort((-length, owner))
    sizes = length[ranked]
    before = np.cumsum(sizes) - sizes
    first = np.concatenate([before, [0]])[np.minimum(batch.instance_candidates[:-1], len(before))]
    cut = (before - first[owner]) // TILE
    begins = np.ones(len(ranked), np.bool_)
    begins[1:] = (owner[1:] != owner[:-1]) | (cut[1:] != cut[:-1])
    tile_first = np.flatnonzero(begins)
    tile = np.cumsum(begins) - 1
    # States: those of a tile together, sorted by position, then by candidate.
    candidate = np.repeat(np.arange(len(ranked)), sizes)
    position = np.arange(len(candidate)) - before[candidate]
    order = np.lexsort((position, tile[candidate]))
    graph = batch.action_graph[(batch.candidate_actions[ranked][candidate] + position)[order]]
    longest = sizes[tile_first]
    tile_positions = starts_of(longest)
    place = tile_positions[tile[candidate]] + position
    nodes = np.zeros(len(batch.instance_nodes) + 1, np.int64)
    np.cumsum(batch.instance_nodes, out=nodes[1:])
    node_prior = np.full(nodes[-1], -1, np.int32)
    graphs = np.repeat(nodes[:-1], sizes_of(batch.instance_graphs))
    node_prior[graphs + batch.graph_node] = batch.graph_prior
    return FlatLayout(
        instance_tiles=np.searchsorted(tile_first, batch.instance_candidates).astype(np.int32),
        tile_candidates=np.append(tile_first, len(ranked)).astype(np.int32),
        tile_positions=tile_positions.astype(np.int32),
        position_states=np.concatenate(
            [[0], np.cumsum(np.bincount(place, minlength=tile_positions[-1]))]
        ).astype(np.int32),
        state_node=batch.graph_node[graph].astype(np.uint32),
        order=(ranked - batch.instance_candidates[owner]).astype(np.int32),
        instance_prior=nodes,
        node_prior=node_prior,
        relation=int(batch.near_relation[0]),
    )


@summing
def _inside(
    batch: Batch, layout: Layout, flat: FlatLayout, instance: int, tile: int, place: Any,
    potentials: Potentials, workspace: Workspace, group_log: Reals,
) -> bool:  # fmt: skip
    """Do what `inside` does for a tile of flat candidates; return whether the numbers held."""
    first_word = whole(batch.instance_words[instance])
    words = whole(batch.instance_words[instance + 1]) - first_word
    nodes = unsigned(batch.instance_nodes[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    first, last = whole(flat.tile_positions[tile]), whole(flat.tile_positions[tile + 1])
    state = unsigned(flat.position_states[first])
    states = unsigned(flat.position_states[last]) - state
    count = unsigned(flat.position_states[first + 1]) - state
    order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
    rows, messages, scores = workspace.rows, workspace.messages, workspace.scores
    total, beyond, kept_log = workspace.total, workspace.asked, workspace.kept_log
    state_node, position_states = flat.state_node, flat.position_states
    for c in range(count):
        kept_log[c] = 0.0
    for i in range(unsigned(words) * states):
        rows[place + i] = 1.0
    held = True
    for w in range(words):
        word = first_word + w
        group = batch.word_group[word]
        row, score = place + unsigned(w) * states, unsigned(w) * nodes
        for s in range(states):
            rows[row + s] *= scores[score + unsigned(state_node[state + s])]
        parent = batch.word_parent[word]
        # Scores sum to one, so only rows that took in messages can leave the range.
        if parent < 0 or layout.word_leads[word]:
            for c in range(count):
                total[c] = rows[row + c]
            for p in range(first + 1, last):
                here = row + unsigned(position_states[p]) - state
                for c in range(unsigned(position_states[p + 1] - position_states[p])):
                    total[c] += rows[here + c]
            odd = whole(0)
            for c in range(count):
                odd += not (TINY < total[c] < HUGE)
            if odd > 0:
                for c in range(count):
                    fits = 0.0 < total[c] < math.inf and not (TINY < total[c] < HUGE)
                    beyond[c] = 1.0 / total[c] if fits else 1.0
                for p in range(first, last):
                    here = row + unsigned(position_states[p]) - state
                    for c in range(unsigned(position_states[p + 1] - position_states[p])):
                        rows[here + c] *= beyond[c]
                for c in range(count):
                    if TINY < total[c] < HUGE:
                        continue
                    if not (0.0 < total[c] < math.inf):
                        workspace.in_logs[order[c]] = True
                        held = False
                        continue
                    amount = math.log(total[c])
                    group_log[order[c] * groups + group] += amount
                    kept_log[c] += amount
                    total[c] = 1.0
            if parent < 0:
                for c in range(count):
                    amount = math.log(total[c])
                    group_log[order[c] * groups + group] += amount
                    kept_log[c] += amount
                continue
        _send(batch, flat, word, tile, potentials, row, place + unsigned(parent) * states,
              rows, messages, beyond)  # fmt: skip
    # The longest candidates are the hardest to hold; what holds for them does for all.
    floor = FLOOR + words * (potentials.edge_top + math.log(last - first))
    for c in range(count):
        if not kept_log[c] > floor:
            workspace.in_logs[order[c]] = True
            held = False
    return held


@summing
def _send(
    batch: Batch, flat: FlatLayout, word: int, tile: int, potentials: Potentials, row: Any,
    above: Any, rows: Reals, messages: Reals, beyond: Reals,
) -> None:  # fmt: skip
    """Compute what a word tells its parent, position by position."""
    first, last = whole(flat.tile_positions[tile]), whole(flat.tile_positions[tile + 1])
    state = unsigned(flat.position_states[first])
    link, dependency = batch.word_link[word], batch.word_dependency[word]
    stay = potentials.edge_exp[dependency, SAME if link == UNIT else flat.relation]
    if link == BOUND or last == first + 1:
        for s in range(unsigned(flat.position_states[last]) - state):
            message = stay * rows[row + s]
            messages[row + s] = message
            rows[above + s] *= message
        return
    right = batch.word_direction[word] > 0
    go = potentials.edge_exp[dependency, NEXT if right else PREVIOUS]
    if batch.word_advance[word] >= 0:
        go *= potentials.advance_exp[batch.word_advance[word]]
    skip = potentials.skip_exp
    for c in range(unsigned(flat.position_states[first + 1]) - state):
        beyond[c] = 0.0
    for step in range(last - first):
        p = last - 1 - step if right else first + step
        here = unsigned(flat.position_states[p]) - state
        for c in range(unsigned(flat.position_states[p + 1] - flat.position_states[p])):
            own = rows[row + here + c]
            message = stay * own + go * beyond[c]
            messages[row + here + c] = message
            rows[above + here + c] *= message
            beyond[c] = own + skip * beyond[c]


@summing
def _outside(
    batch: Batch, flat: FlatLayout, instance: int, tile: int, place: Any, potentials: Potentials,
    workspace: Workspace, group_weight: Reals, pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Do what `outside` does for a tile of flat candidates."""
    first_word = whole(batch.instance_words[instance])
    words = whole(batch.instance_words[instance + 1]) - first_word
    nodes = unsigned(batch.instance_nodes[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    first, last = whole(flat.tile_positions[tile]), whole(flat.tile_positions[tile + 1])
    state = unsigned(flat.position_states[first])
    states = unsigned(flat.position_states[last]) - state
    count = unsigned(flat.position_states[first + 1]) - state
    order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
    rows, posteriors, counts = workspace.rows, workspace.posteriors, workspace.counts
    total, share = workspace.total, workspace.asked
    state_node, position_states = flat.state_node, flat.position_states
    for w in range(words - 1, -1, -1):
        word = first_word + w
        group = batch.word_group[word]
        row, own = place + unsigned(w) * states, unsigned(w) * states
        parent = batch.word_parent[word]
        if parent >= 0:
            _receive(batch, flat, word, tile, potentials, row, own, unsigned(parent) * states,
                     rows, workspace.messages, posteriors, share, pair_grad, edge_grad)  # fmt: skip
        else:
            for c in range(count):
                total[c] = rows[row + c]
            for p in range(first + 1, last):
                here = row + unsigned(position_states[p]) - state
                for c in range(unsigned(position_states[p + 1] - position_states[p])):
                    total[c] += rows[here + c]
            for c in range(count):
                weight = group_weight[order[c] * groups + group]
                share[c] = weight / total[c] if total[c] > 0.0 else 0.0
            for p in range(first, last):
                here = unsigned(position_states[p]) - state
                for c in range(unsigned(position_states[p + 1] - position_states[p])):
                    posteriors[own + here + c] = share[c] * rows[row + here + c]
        cell = unsigned(w) * nodes
        for s in range(states):
            counts[cell + unsigned(state_node[state + s])] += posteriors[own + s]


@summing
def _receive(
    batch: Batch, flat: FlatLayout, word: int, tile: int, potentials: Potentials, row: Any,
    own: Any, above: Any, rows: Reals, messages: Reals, posteriors: Reals, before: Reals,
    pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Undo `_send`: from posteriors of the parent's states to those of the word's."""
    first, last = whole(flat.tile_positions[tile]), whole(flat.tile_positions[tile + 1])
    state = unsigned(flat.position_states[first])
    link, dependency = batch.word_link[word], batch.word_dependency[word]
    relation = SAME if link == UNIT else flat.relation
    stay = potentials.edge_exp[dependency, relation]
    stayed, gone = 0.0, 0.0
    if link == BOUND or last == first + 1:
        # All that the parent has came from here.
        for s in range(unsigned(flat.position_states[last]) - state):
            share = posteriors[above + s] if messages[row + s] > 0.0 else 0.0
            posteriors[own + s] = share
            stayed += share
        edge_grad[dependency, relation] += stayed
        return
    right = batch.word_direction[word] > 0
    going = NEXT if right else PREVIOUS
    go = potentials.edge_exp[dependency, going]
    if batch.word_advance[word] >= 0:
        go *= potentials.advance_exp[batch.word_advance[word]]
    skip = potentials.skip_exp
    for c in range(unsigned(flat.position_states[first + 1]) - state):
        before[c] = 0.0  # adjoint of `beyond`, walking the actions the other way round
    for step in range(last - first):
        p = first + step if right else last - 1 - step
        here = unsigned(flat.position_states[p]) - state
        for c in range(unsigned(flat.position_states[p + 1] - flat.position_states[p])):
            message, cell = messages[row + here + c], rows[row + here + c]
            asked = posteriors[above + here + c] / message if message > 0.0 else 0.0
            kept, left = stay * asked * cell, before[c] * cell
            posteriors[own + here + c] = kept + left
            stayed += kept
            gone += left
            before[c] = go * asked + skip * before[c]
    edge_grad[dependency, relation] += stayed
    edge_grad[dependency, going] += gone
    if batch.word_advance[word] >= 0:
        pair_grad[batch.word_advance[word]] += gone


@summing
def _forward(
    batch: Batch, layout: Layout, flat: FlatLayout, instance: int, potentials: Potentials,
    workspace: Workspace, group_log: Reals, free: Reals,
) -> bool:  # fmt: skip
    """Do what `forward` does for flat candidates."""
    words = unsigned(batch.instance_words[instance + 1] - batch.instance_words[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    begin = whole(batch.instance_candidates[instance])
    count = whole(batch.instance_candidates[instance + 1]) - begin
    group_log[: count * groups] = 0.0
    held = fetch_scores(batch, layout, instance, potentials, workspace)
    workspace.in_logs[:count] = not held
    if not held:
        return False
    score_kinds(batch, instance, potentials.pair_score, workspace.kind_score)
    for c in range(count):
        free[c] = workspace.kind_score[batch.candidate_kind[begin + c]]
        for g in range(groups):
            group_log[c * groups + g] = workspace.group_shift[g]
    node = flat.instance_prior[instance]
    prior = workspace.prior
    for k in range(flat.instance_prior[instance + 1] - node):
        pair = flat.node_prior[node + k]
        prior[k] = potentials.pair_score[pair] if pair >= 0 else 0.0
    place = unsigned(0)
    for tile in range(flat.instance_tiles[instance], flat.instance_tiles[instance + 1]):
        first, last = whole(flat.tile_positions[tile]), whole(flat.tile_positions[tile + 1])
        order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
        for p in range(first, last):
            state = unsigned(flat.position_states[p])
            for c in range(unsigned(flat.position_states[p + 1]) - state):
                free[order[c]] += prior[unsigned(flat.state_node[state + c])]
        held &= _inside(batch, layout, flat, instance, tile, place, potentials, workspace,
                        group_log)  # fmt: skip
        place += words * unsigned(flat.position_states[last] - flat.position_states[first])
    return bool(held)


@summing
def _backward(
    batch: Batch, layout: Layout, flat: FlatLayout, instance: int, potentials: Potentials,
    group_weight: Reals, free_weight: Reals, workspace: Workspace, pair_grad: Reals,
    edge_grad: Reals,
) -> None:  # fmt: skip
    """Do what `backward` does for flat candidates."""
    words = unsigned(batch.instance_words[instance + 1] - batch.instance_words[instance])
    begin = whole(batch.instance_candidates[instance])
    cells = words * unsigned(batch.instance_nodes[instance])
    counts, prior = workspace.counts, workspace.prior
    for cell in range(cells):
        counts[cell] = 0.0
    node = flat.instance_prior[instance]
    nodes = flat.instance_prior[instance + 1] - node
    prior[:nodes] = 0.0
    workspace.kind_weight[: batch.instance_kinds[instance + 1] - batch.instance_kinds[instance]] = 0
    place = unsigned(0)
    for tile in range(flat.instance_tiles[instance], flat.instance_tiles[instance + 1]):
        first, last = whole(flat.tile_positions[tile]), whole(flat.tile_positions[tile + 1])
        order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
        for p in range(first, last):
            state = unsigned(flat.position_states[p])
            for c in range(unsigned(flat.position_states[p + 1]) - state):
                prior[unsigned(flat.state_node[state + c])] += free_weight[order[c]]
        for c in range(len(order)):
            kind = batch.candidate_kind[begin + order[c]]
            workspace.kind_weight[kind] += free_weight[order[c]]
        _outside(batch, flat, instance, tile, place, potentials, workspace, group_weight,
                 pair_grad, edge_grad)  # fmt: skip
        place += words * unsigned(flat.position_states[last] - flat.position_states[first])
    return_kinds(batch, instance, workspace.kind_weight, pair_grad)
    for k in range(nodes):
        if flat.node_prior[node + k] >= 0:
            pair_grad[flat.node_prior[node + k]] += prior[k]
    first_cell = unsigned(batch.instance_cells[instance])
    for cell in range(cells):
        pair_grad[layout.cell_pair[first_cell + cell]] += counts[cell]


@compiled
def pass_flat_instances(
    batch: Batch, layout: Layout, flat: FlatLayout, first: int, last: int, potentials: Potentials,
    workspace: Workspace, purpose: int, in_logs: NDArray[np.bool_], candidate_score: Reals,
    out_start: Integers, group_values: Reals, free_values: Reals, pair_grad: Reals,
    edge_grad: Reals,
) -> float:  # fmt: skip
    """Do what `pass_instances` does where all actions are flat."""
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
        if not _forward(batch, layout, flat, instance, potentials, workspace, group_log, free):
            # Where candidates are weighed against each other, all are done alike.
            for c in range(end - begin):
                in_logs[begin + c] = workspace.in_logs[c] or purpose != UNITS
            continue
        if purpose <= LEARN:
            loss += weigh(batch, instance, group_log, free, candidate_score, group_weight,
                          free_weight)  # fmt: skip
        if purpose in (LEARN, EXPECT):
            _backward(batch, layout, flat, instance, potentials, group_weight, free_weight,
                      workspace, pair_grad, edge_grad)  # fmt: skip
    return loss
