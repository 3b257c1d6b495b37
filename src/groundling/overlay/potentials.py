"""Potentials: from weights θ to the score of every distinct pair and relation, and back.

A weight vector becomes the score of every distinct (word, node) pair by one sparse product;
the transposed product turns expected counts of pairs into the gradient.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from groundling.overlay.batch import Indices, Integers, Reals, compiled

__all__ = [
    "LabelTables", "PairTables", "Potentials", "return_amounts", "return_edges", "return_sets",
    "score_edges", "score_sets", "tabulate",
]  # fmt: skip


class Potentials(NamedTuple):
    """What the recursion reads of θ: scores of pairs and relations, plain and exponentiated."""

    pair_score: Reals
    pair_exp: Reals  # exp(score - best score of the word set)
    advance_exp: Reals  # exp(score) of pairs (word, advance)
    set_shift: Reals  # the best score of each word set
    edge_score: Reals  # dependency × relation
    edge_exp: Reals
    edge_top: float  # the largest edge or advance score, or 0
    skip_cost: float
    skip_exp: float


class LabelTables(NamedTuple):
    """Which labels word sets and nodes have, and which features labels join: sparse tables."""

    set_labels: Integers  # word set -> labels
    set_label: Integers
    set_amount: Reals
    node_labels: Integers  # node -> labels
    node_label: Integers
    node_amount: Reals
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
    """What turns weights into scores of pairs: `LabelTables` with unsigned indices.

    Nodes are numbered by how many labels they have, and the pairs of a word set are listed in
    that order: loops over labels are equally long for long stretches, and the nodes that words
    meet lie close together in memory, apart from the long ones that only ψ(y) sees.
    """

    set_labels: Integers
    set_label: Integers
    set_amount: Reals
    label_rows: Indices
    row_label: Indices
    row_feature: Indices
    row_value: Reals
    set_pairs: Indices
    listed_pair: Indices
    listed_node: Indices
    node_labels: Indices
    node_label: Indices
    node_amount: Reals


def tabulate(labels: LabelTables) -> PairTables:
    """Arrange the tables for scoring."""
    sizes = np.diff(labels.node_labels)
    order = np.argsort(sizes, kind="stable")
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order))
    node_labels = np.concatenate([[0], np.cumsum(sizes[order])])
    entry = np.repeat(labels.node_labels[order] - node_labels[:-1], sizes[order])
    entry += np.arange(len(entry))
    pair_set = np.repeat(np.arange(len(labels.set_pairs) - 1), np.diff(labels.set_pairs))
    listed = np.lexsort((rank[labels.pair_node], pair_set))
    return PairTables(
        set_labels=labels.set_labels,
        set_label=labels.set_label,
        set_amount=labels.set_amount,
        label_rows=labels.label_rows.view(np.uint32),
        row_label=labels.row_label.view(np.uint32),
        row_feature=labels.row_feature.view(np.uint32),
        row_value=labels.row_value,
        set_pairs=labels.set_pairs.view(np.uint32),
        listed_pair=listed.astype(np.uint32),
        listed_node=rank[labels.pair_node[listed]],
        node_labels=node_labels.astype(np.uint32),
        node_label=labels.node_label[entry].view(np.uint32),
        node_amount=labels.node_amount[entry],
    )


@compiled
def score_sets(
    tables: PairTables, theta: Reals, first: int, last: int, scratch: Reals,
    pair_score: Reals, pair_shifted: Reals, set_shift: Reals,
) -> None:  # fmt: skip
    """Score the pairs of some word sets; `set_shift` receives each set's best score.

    `pair_shifted` receives the scores less that best one.
    """
    node_labels, node_label, node_amount = (
        tables.node_labels, tables.node_label, tables.node_amount
    )  # fmt: skip
    for s in range(first, last):
        scratch[:] = 0.0
        for i in range(tables.set_labels[s], tables.set_labels[s + 1]):
            label, amount = tables.set_label[i], tables.set_amount[i]
            if amount == 0.0:
                continue
            for row in range(tables.label_rows[label], tables.label_rows[label + 1]):
                scratch[tables.row_label[row]] += (
                    amount * tables.row_value[row] * theta[tables.row_feature[row]]
                )
        top = -math.inf
        for place in range(tables.set_pairs[s], tables.set_pairs[s + 1]):
            node = tables.listed_node[place]
            total = 0.0
            for i in range(node_labels[node], node_labels[node + np.uint32(1)]):
                total += node_amount[i] * scratch[node_label[i]]
            pair_score[tables.listed_pair[place]] = total
            top = max(top, total)
        set_shift[s] = top if math.isfinite(top) else 0.0
        for pair in range(tables.set_pairs[s], tables.set_pairs[s + 1]):
            pair_shifted[pair] = pair_score[pair] - set_shift[s]


@compiled
def return_sets(
    tables: PairTables, pair_grad: Reals, first: int, last: int, scratch: Reals, theta_grad: Reals
) -> None:
    """Undo `score_sets`: from expected counts of pairs to the gradient."""
    node_labels, node_label, node_amount = (
        tables.node_labels, tables.node_label, tables.node_amount
    )  # fmt: skip
    for s in range(first, last):
        scratch[:] = 0.0
        for place in range(tables.set_pairs[s], tables.set_pairs[s + 1]):
            count = pair_grad[tables.listed_pair[place]]
            node = tables.listed_node[place]
            for i in range(node_labels[node], node_labels[node + np.uint32(1)]):
                scratch[node_label[i]] += count * node_amount[i]
        for i in range(tables.set_labels[s], tables.set_labels[s + 1]):
            label, amount = tables.set_label[i], tables.set_amount[i]
            if amount == 0.0:
                continue
            for row in range(tables.label_rows[label], tables.label_rows[label + 1]):
                theta_grad[tables.row_feature[row]] += (
                    amount * tables.row_value[row] * scratch[tables.row_label[row]]
                )


@compiled
def return_amounts(
    labels: LabelTables, theta: Reals, pair_grad: Reals, scratch: Reals, amount_grad: Reals
) -> None:
    """From expected counts of pairs to the gradient of how far each word has each label."""
    for s in range(len(labels.set_labels) - 1):
        scratch[:] = 0.0
        for pair in range(labels.set_pairs[s], labels.set_pairs[s + 1]):
            node = labels.pair_node[pair]
            for i in range(labels.node_labels[node], labels.node_labels[node + 1]):
                scratch[labels.node_label[i]] += pair_grad[pair] * labels.node_amount[i]
        for i in range(labels.set_labels[s], labels.set_labels[s + 1]):
            label = labels.set_label[i]
            for row in range(labels.label_rows[label], labels.label_rows[label + 1]):
                amount_grad[i] += (
                    labels.row_value[row]
                    * theta[labels.row_feature[row]]
                    * scratch[labels.row_label[row]]
                )


@compiled
def score_edges(labels: LabelTables, theta: Reals, edge_score: Reals) -> None:
    """Score every dependency × relation."""
    for edge in range(len(labels.edge_rows) - 1):
        edge_score[edge] = 0.0
        for row in range(labels.edge_rows[edge], labels.edge_rows[edge + 1]):
            edge_score[edge] += labels.edge_value[row] * theta[labels.edge_feature[row]]


@compiled
def return_edges(labels: LabelTables, edge_grad: Reals, theta_grad: Reals) -> None:
    """Undo `score_edges`: from expected counts to the gradient."""
    for edge in range(len(labels.edge_rows) - 1):
        for row in range(labels.edge_rows[edge], labels.edge_rows[edge + 1]):
            theta_grad[labels.edge_feature[row]] += labels.edge_value[row] * edge_grad[edge]
