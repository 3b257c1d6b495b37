"""Plans whose actions are one node each: charts of eight candidates side by side, compiled.

Where actions are flat, a state is an action, and what a word tells its parent depends on the
actions before or after. All candidates of a text then do the same at the same position. So the
longest stand first, eight make a block, and of a block the states at one position are next to
each other: a strip of eight numbers, with which kernels calculate as with one. Where a candidate
of a block is shorter, its number in a strip is zero. Where the last block is not full, its last
candidate is repeated, which no one asks for.
The arithmetic is that of `inside_outside.py`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import (
    Batch,
    Integers,
    Layout,
    Reals,
    Workspace,
    compiled,
    inner,
    summing,
    whole,
)
from groundling.overlay.inside_outside import (
    FLOOR,
    HUGE,
    MOST_EDGE,
    NEXT,
    PREVIOUS,
    SAME,
    TINY,
    count_states,
)
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
from groundling.overlay.skeletons import BOUND, UNIT
from groundling.overlay.strips import FlatLayout
from groundling.overlay.vectors import (
    LANES,
    between,
    divided,
    fetch,
    load,
    spread,
    store,
    total,
    without,
)

__all__ = ["pass_flat_instances"]


@summing
def _inside(
    batch: Batch, layout: Layout, flat: FlatLayout, instance: int, tile: int, place: int,
    potentials: Potentials, workspace: Workspace, group_log: Reals,
) -> bool:  # fmt: skip
    """Do what `inside` does for a tile of flat candidates; return whether the numbers held."""
    first_word = whole(batch.instance_words[instance])
    words = whole(batch.instance_words[instance + 1]) - first_word
    nodes = whole(batch.instance_nodes[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    first, last = whole(flat.tile_blocks[tile]), whole(flat.tile_blocks[tile + 1])
    strip = whole(flat.block_strips[first])
    strips = whole(flat.block_strips[last]) - strip
    state, states = LANES * strip, LANES * strips
    order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
    count = len(order)
    rows, messages, scores = workspace.rows, workspace.messages, workspace.scores
    sums, scale, kept_log = workspace.total, workspace.asked, workspace.kept_log
    state_node = flat.state_node
    kept_log[:count] = 0.0
    for w in range(words):  # its own scores; what its dependents tell it comes to them
        for s in range(0, states, LANES):
            own = fetch(scores, w * nodes, state_node, state + s)
            store(rows, place + w * states + s, without(own, state_node, state + s, nodes))
    held = True
    for w in range(words):
        word = first_word + w
        group = batch.word_group[word]
        row = place + w * states
        parent = batch.word_parent[word]
        # Scores sum to one, so only rows that took in messages can leave the range.
        if parent < 0 or layout.word_leads[word]:
            _sum_row(flat, strip, strips, row, rows, sums)
            fits = True
            for c in range(0, count, LANES):
                fits &= between(TINY, load(sums, c), HUGE)
            if not fits:
                held &= _rescale(flat, tile, row, rows, sums, scale, group_log, groups, group,
                                 kept_log, workspace.in_logs)  # fmt: skip
            if parent < 0:
                for c in range(count):
                    change = math.log(sums[c])
                    group_log[order[c] * groups + group] += change
                    kept_log[c] += change
                continue
        _send(batch, flat, word, strip, strips, potentials, row, place + parent * states, rows,
              messages)  # fmt: skip
    # The longest candidates are the hardest to hold; what holds for them does for all.
    longest = flat.block_strips[first + 1] - strip
    floor = FLOOR + words * (potentials.edge_top + math.log(longest))
    for c in range(count):
        if not kept_log[c] > floor:
            workspace.in_logs[order[c]] = True
            held = False
    return held


@summing
def _rescale(
    flat: FlatLayout, tile: int, row: int, rows: Reals, sums: Reals, scale: Reals,
    group_log: Reals, groups: int, group: int, kept_log: Reals, in_logs: NDArray[np.bool_],
) -> bool:  # fmt: skip
    """Divide a row by its sums where they left the range; return whether the numbers held."""
    first, last = whole(flat.tile_blocks[tile]), whole(flat.tile_blocks[tile + 1])
    order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
    state = LANES * whole(flat.block_strips[first])
    held = True
    scale[: LANES * (last - first)] = 1.0
    for c in range(len(order)):
        if TINY < sums[c] < HUGE:
            continue
        if not (0.0 < sums[c] < math.inf):
            in_logs[order[c]] = True
            held = False
            continue
        amount = math.log(sums[c])
        group_log[order[c] * groups + group] += amount
        kept_log[c] += amount
        scale[c] = 1.0 / sums[c]
        sums[c] = 1.0
    for block in range(first, last):
        times = load(scale, LANES * (block - first))
        here, there = LANES * flat.block_strips[block], LANES * flat.block_strips[block + 1]
        for s in range(row - state + here, row - state + there, LANES):
            store(rows, s, times * load(rows, s))
    return held


@inner
def _sum_row(flat: FlatLayout, strip: int, strips: int, row: int, rows: Reals, sums: Reals) -> None:
    """Sum each candidate's states; `sums` are those of a tile, block by block."""
    amount = spread(0.0)
    for s in range(strips):
        amount = load(rows, row + LANES * s) + flat.strip_before[strip + s] * amount
        store(sums, LANES * flat.strip_block[strip + s], amount)


@inner
def _send(
    batch: Batch, flat: FlatLayout, word: int, strip: int, strips: int, potentials: Potentials,
    row: int, above: int, rows: Reals, messages: Reals,
) -> None:  # fmt: skip
    """Compute what a word tells its parent, strip by strip."""
    link, dependency = batch.word_link[word], batch.word_dependency[word]
    stay = potentials.edge_exp[dependency, SAME if link == UNIT else flat.relation]
    right = batch.word_direction[word] > 0
    go = 0.0 if link == BOUND else potentials.edge_exp[dependency, NEXT if right else PREVIOUS]
    if batch.word_advance[word] >= 0:
        go *= potentials.advance_exp[batch.word_advance[word]]
    goes_on = flat.strip_after if right else flat.strip_before
    s, step = (strips - 1, -1) if right else (0, 1)
    beyond = spread(0.0)  # what the actions on the far side amount to
    for _ in range(strips):
        own, more = load(rows, row + LANES * s), goes_on[strip + s]
        message = stay * own + (go * more) * beyond
        store(messages, row + LANES * s, message)
        store(rows, above + LANES * s, load(rows, above + LANES * s) * message)
        beyond = own + (potentials.skip_exp * more) * beyond
        s += step


@summing
def _outside(
    batch: Batch, flat: FlatLayout, instance: int, tile: int, place: int, potentials: Potentials,
    workspace: Workspace, group_weight: Reals, pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Do what `outside` does for a tile of flat candidates."""
    first_word = whole(batch.instance_words[instance])
    words = whole(batch.instance_words[instance + 1]) - first_word
    nodes = whole(batch.instance_nodes[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    first, last = whole(flat.tile_blocks[tile]), whole(flat.tile_blocks[tile + 1])
    strip = whole(flat.block_strips[first])
    strips = whole(flat.block_strips[last]) - strip
    state, states = LANES * strip, LANES * strips
    order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
    rows, posteriors, counts = workspace.rows, workspace.posteriors, workspace.counts
    share, sums = workspace.asked, workspace.total
    share[: LANES * (last - first)] = 0.0
    for w in range(words - 1, -1, -1):
        word = first_word + w
        row, own = place + w * states, w * states
        parent = batch.word_parent[word]
        if parent >= 0:
            _receive(batch, flat, word, strip, strips, potentials, row, own, parent * states,
                     rows, workspace.messages, posteriors, pair_grad, edge_grad)  # fmt: skip
        else:
            for c in range(len(order)):
                share[c] = group_weight[order[c] * groups + batch.word_group[word]]
            _sum_row(flat, strip, strips, row, rows, sums)
            for block in range(last - first):
                times = divided(load(share, LANES * block), load(sums, LANES * block))
                store(sums, LANES * block, times)
            for s in range(strips):
                times = load(sums, LANES * flat.strip_block[strip + s])
                store(posteriors, own + LANES * s, times * load(rows, row + LANES * s))
    node = flat.state_node[state : state + states]
    count_states(node, words, nodes, states, posteriors, counts)


@inner
def _receive(
    batch: Batch, flat: FlatLayout, word: int, strip: int, strips: int, potentials: Potentials,
    row: int, own: int, above: int, rows: Reals, messages: Reals, posteriors: Reals,
    pair_grad: Reals, edge_grad: Reals,
) -> None:  # fmt: skip
    """Undo `_send`: from posteriors of the parent's states to those of the word's."""
    link, dependency = batch.word_link[word], batch.word_dependency[word]
    relation = SAME if link == UNIT else flat.relation
    stay = potentials.edge_exp[dependency, relation]
    right = batch.word_direction[word] > 0
    going = NEXT if right else PREVIOUS
    go = 0.0 if link == BOUND else potentials.edge_exp[dependency, going]
    if batch.word_advance[word] >= 0:
        go *= potentials.advance_exp[batch.word_advance[word]]
    goes_on = flat.strip_after if right else flat.strip_before
    s, step = (0, 1) if right else (strips - 1, -1)
    stayed, gone = spread(0.0), spread(0.0)
    before = spread(0.0)  # adjoint of `beyond`, walking the actions the other way round
    for _ in range(strips):
        cell, more = load(rows, row + LANES * s), goes_on[strip + s]
        asked = divided(load(posteriors, above + LANES * s), load(messages, row + LANES * s))
        kept, left = stay * asked * cell, before * cell
        store(posteriors, own + LANES * s, kept + left)
        stayed, gone = stayed + kept, gone + left
        before = (go * more) * asked + (potentials.skip_exp * more) * before
        s += step
    edge_grad[dependency, relation] += total(stayed)
    edge_grad[dependency, going] += total(gone)
    if batch.word_advance[word] >= 0:
        pair_grad[batch.word_advance[word]] += total(gone)


@summing
def _forward(
    batch: Batch, layout: Layout, flat: FlatLayout, instance: int, potentials: Potentials,
    workspace: Workspace, group_log: Reals, free: Reals,
) -> bool:  # fmt: skip
    """Do what `forward` does for flat candidates."""
    words = whole(batch.instance_words[instance + 1] - batch.instance_words[instance])
    groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
    begin = whole(batch.instance_candidates[instance])
    count = whole(batch.instance_candidates[instance + 1]) - begin
    group_log[: count * groups] = 0.0
    first_word, first_cell = batch.instance_words[instance], batch.instance_cells[instance]
    size = whole(batch.instance_nodes[instance])
    pairs = layout.cell_pair[first_cell : first_cell + words * size]
    workspace.group_shift[:groups] = 0.0
    held = fetch_scores(words, size, pairs, batch.word_group[first_word:],
                        layout.word_set[first_word:], potentials.pair_exp, potentials.set_shift,
                        workspace.scores, workspace.group_shift)  # fmt: skip
    held &= potentials.edge_top < MOST_EDGE
    workspace.in_logs[:count] = not held
    if not held:
        return False
    kinds = batch.instance_kinds
    score_kinds(kinds[instance], kinds[instance + 1], batch.kind_extras, batch.extra_pair,
                potentials.pair_score, workspace.kind_score)  # fmt: skip
    for c in range(count):
        free[c] = workspace.kind_score[batch.candidate_kind[begin + c]]
        for g in range(groups):
            group_log[c * groups + g] = workspace.group_shift[g]
    node = flat.instance_prior[instance]
    nodes = flat.instance_prior[instance + 1] - node
    prior, sums = workspace.prior, workspace.total
    for k in range(nodes):
        pair = flat.node_prior[node + k]
        prior[k] = potentials.pair_score[pair] if pair >= 0 else 0.0
    prior[nodes] = 0.0
    place = whole(0)
    for tile in range(flat.instance_tiles[instance], flat.instance_tiles[instance + 1]):
        first, last = whole(flat.tile_blocks[tile]), whole(flat.tile_blocks[tile + 1])
        order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
        for block in range(first, last):
            amount = spread(0.0)
            for strip in range(flat.block_strips[block], flat.block_strips[block + 1]):
                amount = amount + fetch(prior, 0, flat.state_node, LANES * strip)
            store(sums, LANES * (block - first), amount)
        for c in range(len(order)):
            free[order[c]] += sums[c]
        held &= _inside(batch, layout, flat, instance, tile, place, potentials, workspace,
                        group_log)  # fmt: skip
        place += words * LANES * whole(flat.block_strips[last] - flat.block_strips[first])
    return bool(held)


@summing
def _backward(
    batch: Batch, layout: Layout, flat: FlatLayout, instance: int, potentials: Potentials,
    group_weight: Reals, free_weight: Reals, workspace: Workspace, pair_grad: Reals,
    edge_grad: Reals,
) -> None:  # fmt: skip
    """Do what `backward` does for flat candidates."""
    words = whole(batch.instance_words[instance + 1] - batch.instance_words[instance])
    begin = whole(batch.instance_candidates[instance])
    cells = np.uint64(words * batch.instance_nodes[instance])
    counts, prior, weights = workspace.counts, workspace.prior, workspace.total
    counts[: cells + np.uint64(1)] = 0.0
    node = flat.instance_prior[instance]
    nodes = flat.instance_prior[instance + 1] - node
    prior[: nodes + 1] = 0.0
    workspace.kind_weight[: batch.instance_kinds[instance + 1] - batch.instance_kinds[instance]] = 0
    place = whole(0)
    for tile in range(flat.instance_tiles[instance], flat.instance_tiles[instance + 1]):
        first, last = whole(flat.tile_blocks[tile]), whole(flat.tile_blocks[tile + 1])
        order = flat.order[flat.tile_candidates[tile] : flat.tile_candidates[tile + 1]]
        weights[: LANES * (last - first)] = 0.0
        for c in range(len(order)):
            weights[c] = free_weight[order[c]]
            workspace.kind_weight[batch.candidate_kind[begin + order[c]]] += weights[c]
        for block in range(first, last):
            states = LANES * flat.block_strips[block], LANES * flat.block_strips[block + 1]
            for s in range(np.uint64(states[0]), np.uint64(states[1])):
                lane = np.uint64(LANES * (block - first)) + s % np.uint64(LANES)
                prior[flat.state_node[s]] += weights[lane]
        _outside(batch, flat, instance, tile, place, potentials, workspace, group_weight,
                 pair_grad, edge_grad)  # fmt: skip
        place += words * LANES * whole(flat.block_strips[last] - flat.block_strips[first])
    kinds = batch.instance_kinds
    return_kinds(kinds[instance], kinds[instance + 1], batch.kind_extras, batch.extra_pair,
                 workspace.kind_weight, pair_grad)  # fmt: skip
    for k in range(nodes):
        if flat.node_prior[node + k] >= 0:
            pair_grad[flat.node_prior[node + k]] += prior[k]
    first_cell = np.uint64(batch.instance_cells[instance])
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
            groups = whole(batch.instance_groups[instance + 1] - batch.instance_groups[instance])
            loss += weigh(groups, batch.instance_weight[instance], batch.candidate_gold[begin:end],
                          group_log, free, candidate_score[begin:end], group_weight,
                          free_weight)  # fmt: skip
        if purpose in (LEARN, EXPECT):
            _backward(batch, layout, flat, instance, potentials, group_weight, free_weight,
                      workspace, pair_grad, edge_grad)  # fmt: skip
    return loss
