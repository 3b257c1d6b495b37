"""Potentials: from weights θ to the score of every distinct pair and relation, and back.

A weight vector becomes the score of every distinct (word, node) pair by one sparse product;
the transposed product turns expected counts of pairs into the gradient.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import Indices, Integers, Reals, compiled, inner, whole
from groundling.overlay.distinct import distinct_keys
from groundling.overlay.parts import share_parts
from groundling.overlay.ragged import sizes_of, starts_of
from groundling.overlay.simd import (
    LANES,
    fetch,
    lane_rows,
    larger,
    largest,
    load,
    spread,
    store,
)

__all__ = [
    "LabelTables", "PairTables", "Scratch", "make_scratch", "return_amounts", "return_edges",
    "return_sets", "score_edges", "score_sets", "tabulate", "with_rows",
]  # fmt: skip


class LabelTables(NamedTuple):
    """Which labels word sets and nodes have, and which features labels join: sparse tables."""

    set_labels: Integers  # word set -> labels
    set_label: Integers
    set_amount: Reals
    node_labels: Integers  # node -> labels
    node_label: Integers
    node_amount: Reals
    label_part: Integers  # node label -> what it is about, see `share_parts`
    label_rows: Integers  # word label -> joined features by node label
    row_label: Integers
    row_feature: Integers
    row_value: Reals
    set_pairs: Integers  # word set -> its pairs
    pair_node: Integers
    edge_rows: Integers  # dependency × relation -> features
    edge_feature: Integers
    edge_value: Reals


class PairTables(NamedTuple):
    """What turns weights into scores of pairs: `LabelTables` with unsigned indices, in blocks.

    The scores of several word sets, a block, are worked out side by side for every node that
    one of them meets: what is read of a node serves them all. Nodes are sums of parts, which are
    sums of labels, and those that nodes share are scored once. Nodes are numbered by how many
    parts they have: loops over parts are equally long for long stretches.
    """

    set_labels: Integers
    set_label: Integers
    set_amount: Reals
    label_rows: Indices
    row_label: Indices
    row_feature: Indices
    row_value: Reals
    set_pairs: Indices
    block_set: Integers  # block of word sets, eight each -> sets
    pair_place: Indices  # pair -> its place in the table (nodes × sets) of its block
    block_nodes: Indices  # block of word sets -> nodes that they meet
    block_node: Indices
    block_parts: Indices  # block of word sets -> parts of these nodes
    block_part: Indices
    node_parts: Indices
    node_part: Indices
    part_labels: Indices
    part_label: Indices
    part_amount: Reals


_ORDERS, _ALIKE = 32, 128  # random orders by which word sets are compared, with so many others

_NO_ROWS = np.zeros(0, np.uint32)


def tabulate(labels: LabelTables) -> PairTables:
    """Arrange the tables for scoring."""
    nodes = share_parts(
        labels.node_labels, labels.node_label, labels.node_amount, labels.label_part
    )
    sizes = sizes_of(nodes.node_parts)
    order = np.argsort(sizes, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    node_parts = starts_of(sizes[order])
    node_part = nodes.node_part[_entries(nodes.node_parts[order], sizes[order])]
    block_set = _group_sets(labels)
    place = np.empty(len(block_set), np.int64)
    place[block_set] = np.arange(len(block_set))
    block, lane = np.divmod(np.repeat(place, sizes_of(labels.set_pairs)), LANES)
    met, where = distinct_keys(block << 32 | rank[labels.pair_node], len(order))
    block_node = met & 0xFFFFFFFF
    blocks = np.arange((len(labels.set_pairs) - 2) // LANES + 2)
    block_nodes = np.searchsorted(met >> 32, blocks)
    # The parts of a block: those of all its nodes.
    counts = sizes[order][block_node]
    of_nodes = node_part[_entries(node_parts[block_node], counts)]
    used, _ = distinct_keys(
        np.repeat(met >> 32, counts) << 32 | of_nodes, len(nodes.part_labels) - 1
    )
    tables = PairTables(
        set_labels=labels.set_labels,
        set_label=labels.set_label,
        set_amount=labels.set_amount,
        label_rows=_NO_ROWS,
        row_label=_NO_ROWS,
        row_feature=_NO_ROWS,
        row_value=labels.row_value,
        set_pairs=labels.set_pairs.view(np.uint32),
        block_set=block_set.astype(np.int32),
        pair_place=((where - block_nodes[block]) * LANES + lane).astype(np.uint32),
        block_nodes=block_nodes.astype(np.uint32),
        block_node=block_node.astype(np.uint32),
        block_parts=np.searchsorted(used >> 32, blocks).astype(np.uint32),
        block_part=(used & 0xFFFFFFFF).astype(np.uint32),
        node_parts=node_parts.astype(np.uint32),
        node_part=(node_part * LANES).astype(np.uint32),
        part_labels=nodes.part_labels.astype(np.uint32),
        part_label=(nodes.part_label * LANES).astype(np.uint32),
        part_amount=nodes.part_amount,
    )
    return with_rows(tables, labels)


def _group_sets(labels: LabelTables) -> NDArray[np.int64]:
    """Return the word sets in an order in which those that meet the same nodes are neighbours.

    How alike two are is told by how many of some random orders of all nodes begin, for both, with
    the same node (Broder 1997). The set that meets most nodes takes the seven most like it, of the
    next ones by size; then the next does.
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


def with_rows(tables: PairTables, labels: LabelTables) -> PairTables:
    """Return the tables with the features that labels join now; all else depends on none."""
    return tables._replace(
        label_rows=labels.label_rows.view(np.uint32),
        row_label=(labels.row_label * LANES).view(np.uint32),
        row_feature=labels.row_feature.view(np.uint32),
        row_value=labels.row_value,
    )


def _entries(starts: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any]:
    """Return the places starts[i] … starts[i] + sizes[i] - 1, for every i."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(ends[-1] if len(ends) else 0)


class Scratch(NamedTuple):
    """Working memory for a block of word sets; eight numbers, one per set, for each thing."""

    labels: Reals  # of nodes
    parts: Reals
    table: Reals  # node that the block meets


def make_scratch(tables: PairTables) -> Scratch:
    """Allocate working memory for the largest block."""
    labels = int(tables.part_label.max(initial=0)) // LANES + 1
    nodes = int(sizes_of(tables.block_nodes.astype(np.int64)).max(initial=0))
    return Scratch(lane_rows(labels), lane_rows(len(tables.part_labels) - 1), lane_rows(nodes))


@compiled
def score_sets(
    tables: PairTables, theta: Reals, span: tuple[int, int], scratch: Scratch, pair_score: Reals,
    pair_shifted: Reals, set_shift: Reals,
) -> None:  # fmt: skip
    """Score the pairs of some blocks of word sets; `set_shift` receives each set's best score.

    `pair_shifted` receives the scores less that best one.
    """
    one = np.uint32(1)
    labels, parts, table = scratch
    for block in range(span[0], span[1]):
        sets = tables.block_set[block * LANES : (block + 1) * LANES]
        labels[:] = 0.0
        for lane in range(len(sets)):
            s = sets[lane]
            for i in range(tables.set_labels[s], tables.set_labels[s + 1]):
                label, amount = tables.set_label[i], tables.set_amount[i]
                if amount == 0.0:
                    continue
                for row in range(tables.label_rows[label], tables.label_rows[label + 1]):
                    labels[tables.row_label[row] + np.uint32(lane)] += (
                        amount * tables.row_value[row] * theta[tables.row_feature[row]]
                    )
        for entry in range(tables.block_parts[block], tables.block_parts[block + 1]):
            part = tables.block_part[entry]
            eight = spread(0.0)
            for i in range(tables.part_labels[part], tables.part_labels[part + one]):
                eight = eight + tables.part_amount[i] * load(labels, tables.part_label[i])
            store(parts, part * LANES, eight)
        place = 0
        for entry in range(tables.block_nodes[block], tables.block_nodes[block + 1]):
            node = tables.block_node[entry]
            eight = spread(0.0)
            for i in range(tables.node_parts[node], tables.node_parts[node + one]):
                eight = eight + load(parts, tables.node_part[i])
            store(table, place, eight)
            place += LANES
        for s in sets:
            begin, end = whole(tables.set_pairs[s]), whole(tables.set_pairs[s + 1])
            full = begin + (end - begin) // LANES * LANES
            tops, top = spread(-math.inf), -math.inf
            for pair in range(begin, full, LANES):
                eight = fetch(table, 0, tables.pair_place, pair)
                store(pair_score, pair, eight)
                tops = larger(tops, eight)
            for pair in range(full, end):
                pair_score[pair] = table[tables.pair_place[pair]]
                top = max(top, pair_score[pair])
            top = max(top, largest(tops))
            set_shift[s] = top if math.isfinite(top) else 0.0
            for pair in range(begin, end):
                pair_shifted[pair] = pair_score[pair] - set_shift[s]


@inner
def _return_labels(tables: PairTables, pair_grads: Reals, block: int, scratch: Scratch) -> None:
    """From expected counts of the pairs of a block, of each thread, to counts of node labels."""
    one = np.uint32(1)
    labels, parts, table = scratch
    begin, end = tables.block_nodes[block], tables.block_nodes[block + 1]
    table[: (end - begin) * LANES] = 0.0
    for s in tables.block_set[block * LANES : (block + 1) * LANES]:
        for pair in range(tables.set_pairs[s], tables.set_pairs[s + 1]):
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
    labels[:] = 0.0
    for entry in range(tables.block_parts[block], tables.block_parts[block + 1]):
        part = tables.block_part[entry]
        eight = load(parts, part * LANES)
        for i in range(tables.part_labels[part], tables.part_labels[part + one]):
            label = tables.part_label[i]
            store(labels, label, load(labels, label) + tables.part_amount[i] * eight)


@compiled
def return_sets(
    tables: PairTables, pair_grads: Reals, span: tuple[int, int], scratch: Scratch,
    theta_grad: Reals,
) -> None:  # fmt: skip
    """Undo `score_sets`: from expected counts of pairs, of each thread, to the gradient."""
    for block in range(span[0], span[1]):
        _return_labels(tables, pair_grads, block, scratch)
        sets = tables.block_set[block * LANES : (block + 1) * LANES]
        for lane in range(len(sets)):
            s = sets[lane]
            for i in range(tables.set_labels[s], tables.set_labels[s + 1]):
                label, amount = tables.set_label[i], tables.set_amount[i]
                if amount == 0.0:
                    continue
                for row in range(tables.label_rows[label], tables.label_rows[label + 1]):
                    theta_grad[tables.row_feature[row]] += (
                        amount
                        * tables.row_value[row]
                        * scratch.labels[tables.row_label[row] + np.uint32(lane)]
                    )


@compiled
def return_amounts(
    tables: PairTables, pair_grads: Reals, span: tuple[int, int], scratch: Scratch, theta: Reals,
    wanted: NDArray[np.bool_], amount_grad: Reals,
) -> None:  # fmt: skip
    """From expected counts of pairs to the gradient of how far each word has each label wanted."""
    for block in range(span[0], span[1]):
        sets = tables.block_set[block * LANES : (block + 1) * LANES]
        asked = False
        for s in sets:
            asked |= bool(wanted[tables.set_labels[s] : tables.set_labels[s + 1]].any())
        if not asked:
            continue
        _return_labels(tables, pair_grads, block, scratch)
        for lane in range(len(sets)):
            s = sets[lane]
            for i in range(tables.set_labels[s], tables.set_labels[s + 1]):
                if not wanted[i]:
                    continue
                label = tables.set_label[i]
                for row in range(tables.label_rows[label], tables.label_rows[label + 1]):
                    amount_grad[i] += (
                        tables.row_value[row]
                        * theta[tables.row_feature[row]]
                        * scratch.labels[tables.row_label[row] + np.uint32(lane)]
                    )


def score_edges(labels: LabelTables, theta: Reals) -> Reals:
    """Score every dependency × relation."""
    scores = labels.edge_value * theta[labels.edge_feature]
    edges = len(labels.edge_rows) - 1
    return np.asarray(np.bincount(_edge_of_rows(labels), scores, edges), np.float64)


def return_edges(labels: LabelTables, edge_grad: Reals, theta_grad: Reals) -> None:
    """Undo `score_edges`: from expected counts to the gradient."""
    counts = labels.edge_value * edge_grad[_edge_of_rows(labels)]
    np.add.at(theta_grad, labels.edge_feature, counts)


def _edge_of_rows(labels: LabelTables) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(labels.edge_rows) - 1), sizes_of(labels.edge_rows))
