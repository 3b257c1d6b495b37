"""Potentials: scores of distinct pairs and relations, and their gradient.

One sparse product maps the weight vector to the score of every distinct (word, node) pair. The
transposed product maps expected counts of pairs to the gradient.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.array_views import view
from groundling.compiler import compiled, inner
from groundling.features.feature_tables import LabelTables
from groundling.overlay.batch import Indices, Integers, Reals, whole
from groundling.overlay.distinct import distinct_keys
from groundling.overlay.parts import share_parts
from groundling.overlay.simd import (
    LANES,
    fill,
    lane_rows,
    load,
    spread,
    store,
)
from groundling.ragged import entries_of, owners_of, sizes_of, starts_of


class PairTables(NamedTuple):
    """Tables for scoring pairs in blocks of word sets with similar nodes.

    A block of word sets is scored together for every node that is paired with one of them, so each
    node is read once per block. The score of a node is the sum of the scores of its parts, and the
    score of a part is the sum of the scores of its labels. Shared parts are scored once. Nodes are
    ordered by their number of parts, and parts by their number of labels, so that consecutive inner
    loops have the same length.
    """

    block_set: Integers  # block of word sets, eight each -> sets
    pair_place: Indices  # pair -> its index in the table (nodes × sets) of its block
    block_nodes: Indices  # block of word sets -> nodes paired with them
    block_node: Indices
    block_parts: Indices  # block of word sets -> parts of these nodes
    block_part: Indices
    node_parts: Indices
    node_part: Indices
    part_labels: Indices
    part_label: Indices
    part_amount: Reals


_CACHED = 2**14  # arrays up to this size are cleared completely, which is as fast
_ORDERS, _ALIKE = 32, 128  # number of MinHash permutations, and of word sets compared at a time


def tabulate(labels: LabelTables) -> PairTables:
    """Build the tables for scoring pairs."""
    nodes = share_parts(
        labels.node_labels, labels.node_label, labels.node_amount, labels.label_part
    )
    part_rank, part_labels, entry = _by_size(nodes.part_labels)
    part_label, part_amount = nodes.part_label[entry], nodes.part_amount[entry]
    rank, node_parts, entry = _by_size(nodes.node_parts)
    node_part = part_rank[nodes.node_part[entry]]
    block_set = _group_sets(labels)
    place = np.argsort(block_set)
    block, lane = np.divmod(np.repeat(place, sizes_of(labels.set_pairs)), LANES)
    met, where = distinct_keys(block << 32 | rank[labels.pair_node], len(rank))
    block_node = met & 0xFFFFFFFF
    blocks = np.arange((len(labels.set_pairs) - 2) // LANES + 2)
    block_nodes = np.searchsorted(met >> 32, blocks)
    # The parts of a block are the parts of all its nodes.
    counts = sizes_of(node_parts)[block_node]
    of_nodes = node_part[entries_of(node_parts[block_node], counts)]
    used, _ = distinct_keys(
        np.repeat(met >> 32, counts) << 32 | of_nodes, len(nodes.part_labels) - 1
    )
    return PairTables(
        block_set=block_set.astype(np.int32),
        pair_place=((where - block_nodes[block]) * LANES + lane).astype(np.uint32),
        block_nodes=block_nodes.astype(np.uint32),
        block_node=block_node.astype(np.uint32),
        block_parts=np.searchsorted(used >> 32, blocks).astype(np.uint32),
        block_part=(used & 0xFFFFFFFF).astype(np.uint32),
        node_parts=node_parts.astype(np.uint32),
        node_part=(node_part * LANES).astype(np.uint32),
        part_labels=part_labels.astype(np.uint32),
        part_label=(part_label * LANES).astype(np.uint32),
        part_amount=part_amount,
    )


def _by_size(starts: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Sort lists by size; return their ranks, their new starts, and the order of all entries."""
    sizes = sizes_of(starts)
    order = np.argsort(sizes, kind="stable")
    return np.argsort(order), starts_of(sizes[order]), entries_of(starts[order], sizes[order])


def _group_sets(labels: LabelTables) -> NDArray[np.int64]:
    """Return an order of word sets in which sets with similar nodes are adjacent.

    Similarity is estimated with MinHash (Broder 1997): the number of random permutations of all
    nodes in which two sets have the same first node. The set with the most nodes is grouped with
    the seven most similar sets among the next largest ones, and so on with the remaining sets.
    """
    sizes = sizes_of(labels.set_pairs)
    order = np.argsort(-sizes, kind="stable")
    if len(order) <= _ALIKE or sizes[order[-1]] == 0:
        return order
    chance = np.random.default_rng(0)
    first = np.empty((len(order), _ORDERS), np.uint32)
    for number in range(_ORDERS):
        drawn = chance.permutation(len(labels.node_labels) - 1).astype(np.uint32)
        first[:, number] = np.minimum.reduceat(drawn[labels.pair_node], labels.set_pairs[:-1])
    grouped = []
    while len(order):
        near = order[:_ALIKE]
        alike = (first[near] == first[near[0]]).sum(axis=1)
        taken = np.argsort(-alike, kind="stable")[:LANES]
        grouped.append(near[taken])
        order = np.delete(order, taken)
    return np.concatenate(grouped)


class Scratch(NamedTuple):
    """Working memory for a block of eight word sets: a value for each item and set."""

    labels: Reals  # of nodes
    parts: Reals
    table: Reals  # of nodes paired with the block


def make_scratch(tables: PairTables) -> Scratch:
    """Allocate working memory for the largest block."""
    labels = int(tables.part_label.max(initial=0)) // LANES + 1
    nodes = int(sizes_of(tables.block_nodes.astype(np.int64)).max(initial=0))
    return Scratch(lane_rows(labels), lane_rows(len(tables.part_labels) - 1), lane_rows(nodes))


@inner
def _pair(starts: Integers, number: int) -> tuple[Any, Any]:
    """Return the bounds of a range, unsigned to avoid checks for negative indices."""
    return np.uint32(starts[number]), np.uint32(starts[number + 1])


@inner
def _lanes(tables: PairTables, block: int) -> tuple[int, int]:
    """Return the first word set of a block, and the number of its sets."""
    first = block * LANES
    return first, min(LANES, len(tables.block_set) - first)


@inner
def _place(labels: LabelTables, row: int, lane: int) -> Any:
    """Return the index of a row's node label, for one of eight word sets."""
    return np.uint32(labels.row_label[row]) * np.uint32(LANES) + np.uint32(lane)


@compiled
def score_sets(
    labels: LabelTables, tables: PairTables, theta: Reals, span: tuple[int, int], scratch: Scratch,
    pair_score: Reals, pair_shifted: Reals, set_shift: Reals,
) -> None:  # fmt: skip
    """Score the pairs in a range of word-set blocks.

    `set_shift` receives the best score of each set, and `pair_shifted` the scores minus the best
    score.
    """
    one = np.uint32(1)
    by_label, parts, table = scratch
    fill(by_label, len(by_label), 0.0)
    for block in range(span[0], span[1]):
        sets = view(tables.block_set, *_lanes(tables, block))
        for lane in range(len(sets)):
            s = sets[lane]
            for i in range(labels.set_labels[s], labels.set_labels[s + 1]):
                label, amount = labels.set_label[i], labels.set_amount[i]
                if amount == 0.0:
                    continue
                for row in range(*_pair(labels.label_rows, label)):
                    by_label[_place(labels, row, lane)] += (
                        amount * labels.row_value[row] * theta[np.uint32(labels.row_feature[row])]
                    )
        for entry in range(tables.block_parts[block], tables.block_parts[block + 1]):
            part = tables.block_part[entry]
            eight = spread(0.0)
            for i in range(tables.part_labels[part], tables.part_labels[part + one]):
                eight = eight + tables.part_amount[i] * load(by_label, tables.part_label[i])
            store(parts, part * LANES, eight)
        place = 0
        for entry in range(tables.block_nodes[block], tables.block_nodes[block + 1]):
            node = tables.block_node[entry]
            eight = spread(0.0)
            for i in range(tables.node_parts[node], tables.node_parts[node + one]):
                eight = eight + load(parts, tables.node_part[i])
            store(table, place, eight)
            place += LANES
        _clear(labels, sets, by_label)
        for s in sets:
            begin, end = whole(labels.set_pairs[s]), whole(labels.set_pairs[s + 1])
            top = -math.inf
            for pair in range(begin, end):
                pair_score[pair] = table[tables.pair_place[pair]]
                if pair_score[pair] > top:
                    top = pair_score[pair]
            set_shift[s] = top if math.isfinite(top) else 0.0
            for pair in range(begin, end):
                pair_shifted[pair] = pair_score[pair] - set_shift[s]


@inner
def _clear(labels: LabelTables, sets: Integers, by_label: Reals) -> None:
    """Set the labels joined with some word sets to 0, or all labels if there are few."""
    if len(by_label) <= _CACHED:
        fill(by_label, len(by_label), 0.0)
        return
    for lane in range(len(sets)):
        for i in range(*_pair(labels.set_labels, sets[lane])):
            for row in range(*_pair(labels.label_rows, labels.set_label[i])):
                by_label[_place(labels, row, lane)] = 0.0


@inner
def _return_labels(
    labels: LabelTables, tables: PairTables, pair_grads: Reals, block: int, scratch: Scratch
) -> None:
    """Convert expected counts of a block's pairs, by thread, to counts of node labels."""
    one = np.uint32(1)
    by_label, parts, table = scratch
    begin, end = tables.block_nodes[block], tables.block_nodes[block + 1]
    fill(table, (end - begin) * LANES, 0.0)
    sets = view(tables.block_set, *_lanes(tables, block))
    for s in sets:
        for pair in range(*_pair(labels.set_pairs, s)):
            count = pair_grads[0, pair]
            for thread in range(1, len(pair_grads)):
                count += pair_grads[thread, pair]
            table[tables.pair_place[pair]] = count
    for entry in range(tables.block_parts[block], tables.block_parts[block + 1]):
        store(parts, tables.block_part[entry] * LANES, spread(0.0))
    place = 0
    for entry in range(begin, end):
        node = tables.block_node[entry]
        eight = load(table, place)
        for i in range(tables.node_parts[node], tables.node_parts[node + one]):
            part = tables.node_part[i]
            store(parts, part, load(parts, part) + eight)
        place += LANES
    _clear(labels, sets, by_label)
    for entry in range(tables.block_parts[block], tables.block_parts[block + 1]):
        part = tables.block_part[entry]
        eight = load(parts, part * LANES)
        for i in range(tables.part_labels[part], tables.part_labels[part + one]):
            label = tables.part_label[i]
            store(by_label, label, load(by_label, label) + tables.part_amount[i] * eight)


@compiled
def return_sets(
    labels: LabelTables, tables: PairTables, pair_grads: Reals, span: tuple[int, int],
    scratch: Scratch, theta: Reals, wanted: NDArray[np.bool_], grad: Reals,
) -> None:  # fmt: skip
    """Run the backward pass of `score_sets`: convert expected counts to the gradient.

    If `wanted` is not empty, the gradient is with respect to these label amounts instead of θ.
    """
    for block in range(span[0], span[1]):
        sets = view(tables.block_set, *_lanes(tables, block))
        _return_labels(labels, tables, pair_grads, block, scratch)
        for lane in range(len(sets)):
            s = sets[lane]
            for i in range(labels.set_labels[s], labels.set_labels[s + 1]):
                label, amount = labels.set_label[i], labels.set_amount[i]
                for row in range(*_pair(labels.label_rows, label)):
                    feature = np.uint32(labels.row_feature[row])
                    count = scratch.labels[_place(labels, row, lane)]
                    if len(wanted) == 0:
                        grad[feature] += amount * labels.row_value[row] * count
                    elif wanted[i]:
                        grad[i] += labels.row_value[row] * theta[feature] * count


def score_edges(labels: LabelTables, theta: Reals) -> Reals:
    """Return the score of every dependency with every relation."""
    scores = labels.edge_value * theta[labels.edge_feature]
    edges = len(labels.edge_rows) - 1
    return np.asarray(np.bincount(owners_of(labels.edge_rows), scores, edges), np.float64)


def return_edges(labels: LabelTables, edge_grad: Reals, theta_grad: Reals) -> None:
    """Run the backward pass of `score_edges`: convert expected counts to the gradient."""
    counts = labels.edge_value * edge_grad[owners_of(labels.edge_rows)]
    np.add.at(theta_grad, labels.edge_feature, counts)
