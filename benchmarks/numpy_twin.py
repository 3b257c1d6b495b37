"""The objective computed by plain loops over words and nodes, with NumPy for the inner sums."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from groundling.overlay.batch_builder import Encoding

__all__ = ["Loops", "numpy_loss"]


class Loops(NamedTuple):
    """Result of the loops, and their times for pairs and for charts."""

    loss: float
    gradient: np.ndarray
    pair_seconds: float
    chart_seconds: float


def numpy_loss(encoding: Encoding, theta: np.ndarray) -> Loops:
    """Return loss and gradient of an encoding of single actions."""
    start = time.process_time()
    pair_score = _score_pairs(encoding, theta)
    edge_score = _score_edges(encoding, theta)
    middle = time.process_time()
    pair_grad, edge_grad = np.zeros_like(pair_score), np.zeros_like(edge_score)
    loss = sum(
        _decision(encoding, instance, pair_score, edge_score, pair_grad, edge_grad)
        for instance in range(len(encoding.batch.instance_weight))
    )
    end = time.process_time()
    gradient = np.zeros_like(theta)
    _return_pairs(encoding, pair_grad, gradient)
    _return_edges(encoding, edge_grad, gradient)
    pair_seconds = middle - start + time.process_time() - end
    return Loops(loss, gradient, pair_seconds, end - middle)


def _decision(
    encoding: Encoding,
    instance: int,
    pair_score: np.ndarray,
    edge_score: np.ndarray,
    pair_grad: np.ndarray,
    edge_grad: np.ndarray,
) -> float:
    batch = encoding.batch
    first, last = batch.instance_words[instance], batch.instance_words[instance + 1]
    nodes = batch.instance_nodes[instance]
    start = batch.instance_cells[instance]
    table = batch.cell_pair[start : start + (last - first) * nodes].reshape(-1, nodes)
    parents, dependencies = batch.words.parent[first:last], batch.words.dependency[first:last]
    begin, end = batch.instance_candidates[instance], batch.instance_candidates[instance + 1]
    kept, totals = [], np.zeros(end - begin)
    for candidate in range(begin, end):
        graph = batch.action_graph[batch.candidate_actions[candidate]]
        here = batch.graph_node[batch.graph_nodes[graph] : batch.graph_nodes[graph + 1]]
        base = batch.shape_nodes[batch.graph_shape[graph]]
        near = []
        for k in range(base, base + len(here)):
            span = slice(batch.node_near[k], batch.node_near[k + 1])
            near.append((batch.near_node[span], batch.near_relation[span]))
        enters = np.flatnonzero(batch.node_enters[base : base + len(here)])
        rows = pair_score[table[:, here]]
        messages = np.zeros_like(rows)
        inside = 0.0
        for w in range(len(parents)):
            if parents[w] < 0:
                inside = np.logaddexp.reduce(rows[w, enters])
                continue
            for k, (others, relations) in enumerate(near):
                terms = edge_score[dependencies[w], relations] + rows[w, others]
                messages[w, k] = np.logaddexp.reduce(terms)
            rows[parents[w]] += messages[w]
        kind = batch.candidate_kind[candidate]
        extras = batch.kind_extras[kind : kind + 2]
        free = np.append(batch.extra_pair[extras[0] : extras[1]], batch.graph_prior[graph])
        totals[candidate - begin] = inside + pair_score[free].sum()
        kept.append((here, near, enters, rows, messages, free, inside))
    golden = batch.candidate_gold[begin:end] != 0
    whole = np.logaddexp.reduce(totals)
    shares = np.exp(totals - whole) - golden
    for share, (here, near, enters, rows, messages, free, inside) in zip(shares, kept, strict=True):
        posteriors = np.zeros_like(rows)
        for w in range(len(parents) - 1, -1, -1):
            if parents[w] < 0:
                posteriors[w, enters] = share * np.exp(rows[w, enters] - inside)
                continue
            for k, (others, relations) in enumerate(near):
                terms = edge_score[dependencies[w], relations] + rows[w, others]
                flow = posteriors[parents[w], k] * np.exp(terms - messages[w, k])
                posteriors[w, others] += flow
                np.add.at(edge_grad, (dependencies[w], relations), flow)
        np.add.at(pair_grad, table[:, here], posteriors)
        np.add.at(pair_grad, free, share)
    return float(whole - totals[golden][0])


def _score_pairs(encoding: Encoding, theta: np.ndarray) -> np.ndarray:
    tables = encoding.tables
    pair_score = np.zeros(len(tables.pair_node))
    for word_set in range(len(tables.set_pairs) - 1):
        by_label = np.zeros(int(tables.node_label.max()) + 1)
        for i in range(tables.set_labels[word_set], tables.set_labels[word_set + 1]):
            rows = _rows(tables, i)
            values = tables.set_amount[i] * tables.row_value[rows] * theta[tables.row_feature[rows]]
            np.add.at(by_label, tables.row_label[rows], values)
        for pair in range(tables.set_pairs[word_set], tables.set_pairs[word_set + 1]):
            span = _span(tables.node_labels, tables.pair_node[pair])
            pair_score[pair] = tables.node_amount[span] @ by_label[tables.node_label[span]]
    return pair_score


def _return_pairs(encoding: Encoding, pair_grad: np.ndarray, gradient: np.ndarray) -> None:
    tables = encoding.tables
    for word_set in range(len(tables.set_pairs) - 1):
        by_label = np.zeros(int(tables.node_label.max()) + 1)
        for pair in range(tables.set_pairs[word_set], tables.set_pairs[word_set + 1]):
            span = _span(tables.node_labels, tables.pair_node[pair])
            np.add.at(by_label, tables.node_label[span], pair_grad[pair] * tables.node_amount[span])
        for i in range(tables.set_labels[word_set], tables.set_labels[word_set + 1]):
            rows = _rows(tables, i)
            values = (
                tables.set_amount[i] * tables.row_value[rows] * by_label[tables.row_label[rows]]
            )
            np.add.at(gradient, tables.row_feature[rows], tables.set_amount[i] * values)


def _score_edges(encoding: Encoding, theta: np.ndarray) -> np.ndarray:
    tables = encoding.tables
    spans = [_span(tables.edge_rows, edge) for edge in range(len(tables.edge_rows) - 1)]
    found = [tables.edge_value[span] @ theta[tables.edge_feature[span]] for span in spans]
    return np.array(found).reshape(-1, encoding.relations)


def _return_edges(encoding: Encoding, edge_grad: np.ndarray, gradient: np.ndarray) -> None:
    tables = encoding.tables
    for edge, count in enumerate(edge_grad.ravel()):
        span = _span(tables.edge_rows, edge)
        np.add.at(gradient, tables.edge_feature[span], count * tables.edge_value[span])


def _rows(tables, entry: int) -> slice:  # type: ignore[no-untyped-def]
    return _span(tables.label_rows, tables.set_label[entry])


def _span(starts: np.ndarray, place: int) -> slice:
    return slice(starts[place], starts[place + 1])
