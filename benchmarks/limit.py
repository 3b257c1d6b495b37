"""Lower limit of the time of an evaluation: its exponentials, logarithms and memory traffic.

Every array is read and written sequentially, as often as the recursion has to, but nothing is
multiplied or summed over neighbours. Tables of scores are gathered and scattered as in the library,
because that is memory traffic too.

If all actions are flat, nodes have no neighbours, and the layout of states does not depend on the
weights. No links are then read, and nothing is laid out. What remains is the node of every state,
whose score is gathered and whose count is scattered once per word; rows, messages and posteriors;
and the pairs of whole candidates, once per instance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from groundling.compiler import compiled
from groundling.overlay.batch_builder import Encoding
from groundling.overlay.layout import FlatLayout, arrange, make_workspaces
from groundling.overlay.simd import LANES
from groundling.ragged import sizes_of, starts_of

__all__ = ["prepare_limit"]


def prepare_limit(encoding: Encoding) -> Callable[[], tuple[int, int]]:
    """Return a function with only the operations that no implementation can avoid.

    The function returns the numbers of chart cells and links that it has passed.
    """
    batch, tables = encoding.batch, encoding.tables
    arranged = arrange(encoding)
    layout = arranged.layout
    [workspace] = make_workspaces(batch, layout, 1)
    count = len(tables.pair_node)
    # As in the library: one exponential for each distinct pair and relation; for each chart, a
    # logarithm for its root and two more for rescaled rows; one for each word; and one more
    # exponential for each candidate.
    pair_score, pair_exp, pair_grad = np.zeros(count), np.zeros(count), np.zeros(count)
    edges = np.zeros(len(tables.edge_rows) - 1)
    exponentials = np.zeros(len(batch.candidate_gold))
    logarithms = np.ones(3 * len(batch.candidate_gold) + len(batch.word))
    theta = np.zeros(len(encoding.space))

    states = _states(encoding, layout) if isinstance(layout, FlatLayout) else ()
    passed = np.zeros(2, np.int64)

    def limit() -> tuple[int, int]:
        np.exp(pair_score, out=pair_exp)
        np.exp(edges)
        np.exp(exponentials)
        np.log(logarithms)
        pair_grad.fill(0.0)
        for _ in range(2):  # forward, backward
            _stream(tuple(tables), theta)
            _pass_pairs(tables.pair_node, pair_score)
        passed.fill(0)
        pairs = batch.cell_pair, pair_exp, pair_grad
        if states:
            _pass_flat_charts(batch, layout, states, workspace, pairs, passed)
        else:
            _pass_charts(batch, layout, workspace, pairs, passed)
        return int(passed[0]), int(passed[1])

    return limit


def _states(encoding: Encoding, flat: FlatLayout) -> tuple[np.ndarray, np.ndarray]:
    """Return where the states of each tile begin, and their nodes, without padding."""
    batch = encoding.batch
    tile_states = LANES * flat.tile_strips
    owner = np.repeat(np.arange(len(encoding.batch.instance_weight)), sizes_of(flat.instance_tiles))
    some = flat.state_node < np.repeat(batch.instance_nodes[owner], sizes_of(tile_states))
    lane = LANES * np.repeat(flat.strip_block, LANES) + np.tile(
        np.arange(LANES), len(some) // LANES
    )
    some &= lane < np.repeat(sizes_of(flat.tile_candidates), sizes_of(tile_states))
    return starts_of(some)[tile_states].astype(np.uint32), flat.state_node[some]


def _stream(arrays: tuple[Any, ...], theta: np.ndarray) -> float:
    return sum(float(each.sum()) for each in arrays) + float(theta.sum())


@compiled
def _pass_pairs(pair_node: Any, pair_score: Any) -> None:
    """Read and write each pair once."""
    for pair in range(len(pair_node)):
        pair_score[pair] = pair_node[pair] * 0.0


@compiled
def _pass_charts(batch: Any, layout: Any, workspace: Any, of_pairs: Any, passed: Any) -> float:
    cell_pair, pair_exp, pair_grad = of_pairs
    charts = workspace.chart
    seen = np.uint64(0)
    held = 0.0
    for instance in range(len(batch.instance_weight)):
        words = batch.instance_words[instance + 1] - batch.instance_words[instance]
        cells = words * batch.instance_nodes[instance]
        first_cell = batch.instance_cells[instance]
        pairs = cell_pair[first_cell : first_cell + cells]
        for cell in range(cells):
            charts.scores[cell] = pair_exp[pairs[cell]]
        for number in range(layout.instance_tiles[instance], layout.instance_tiles[instance + 1]):
            tile = layout.open_tile(
                batch, workspace.tile, number, batch.instance_nodes[instance], True
            )
            states = np.int64(tile.action_start[len(tile.action_block)])
            passed[0] += words * states
            passed[1] += words * len(tile.link)
            for w in range(words):
                row = charts.rows[w * states : (w + 1) * states]
                message = charts.messages[w * states : (w + 1) * states]
                posterior = charts.posteriors[w * states : (w + 1) * states]
                for _ in range(2):  # forward, backward
                    for i in range(len(tile.link)):
                        seen += tile.link[i]
                for s in range(states):  # forward: fill, write the message, write the row
                    row[s] = 1.0
                    message[s] = 0.0
                for s in range(states):
                    message[s] = row[s]
                for s in range(states):
                    row[s] = message[s]
                if layout.stay >= 0:  # neighbours that are not listed: each node itself
                    for s in range(states):
                        message[s] = row[s]
                    for s in range(states):
                        posterior[s] = message[s]
                for s in range(states):  # backward: read both, write posteriors
                    posterior[s] = row[s]
                for s in range(states):
                    charts.asked[s] = message[s]
                for s in range(states):
                    held = max(held, posterior[s])
        for cell in range(cells):
            pair_grad[pairs[cell]] += charts.scores[cell]
    return held + math.sqrt(seen)


@compiled
def _pass_flat_charts(
    batch: Any, layout: Any, of_states: Any, workspace: Any, of_pairs: Any, passed: Any
) -> float:
    tile_states, nodes_of_states = of_states
    cell_pair, pair_exp, pair_grad = of_pairs
    charts = workspace.chart
    held = 0.0
    for instance in range(len(batch.instance_weight)):
        words = batch.instance_words[instance + 1] - batch.instance_words[instance]
        nodes = batch.instance_nodes[instance]
        cells = words * nodes
        first_cell = batch.instance_cells[instance]
        pairs = cell_pair[first_cell : first_cell + cells]
        for cell in range(cells):
            charts.scores[cell] = pair_exp[pairs[cell]]
            charts.counts[cell] = 0.0
        kinds = batch.instance_kinds
        extras = batch.kind_extras[kinds[instance]], batch.kind_extras[kinds[instance + 1]]
        for i in range(*extras):
            held += pair_exp[batch.extra_pair[i]]
        graph = batch.instance_graphs[instance]
        for i in range(graph, graph + nodes):
            held += pair_exp[max(0, batch.graph_prior[i])]
        for tile in range(layout.instance_tiles[instance], layout.instance_tiles[instance + 1]):
            first, states = tile_states[tile], tile_states[tile + 1] - tile_states[tile]
            state_node = nodes_of_states[first : first + states]
            passed[0] += words * states
            for w in range(words):
                row = charts.rows[w * states : (w + 1) * states]
                message = charts.messages[w * states : (w + 1) * states]
                posterior = charts.posteriors[w * states : (w + 1) * states]
                score = charts.scores[w * nodes : (w + 1) * nodes]
                count = charts.counts[w * nodes : (w + 1) * nodes]
                for s in range(states):  # forward: fill, fetch scores, write the message and row
                    row[s] = 1.0
                for s in range(states):
                    row[s] = score[state_node[s]]
                for s in range(states):
                    message[s] = row[s]
                for s in range(states):
                    row[s] = message[s]
                if layout.stay >= 0:  # neighbours that are not listed: each node itself
                    for s in range(states):
                        message[s] = row[s]
                    for s in range(states):
                        posterior[s] = message[s]
                for s in range(states):  # backward: read both, write posteriors, return counts
                    posterior[s] = row[s]
                for s in range(states):
                    charts.asked[s] = message[s]
                for s in range(states):
                    count[state_node[s]] += posterior[s]
        for i in range(*extras):
            pair_grad[batch.extra_pair[i]] += 1.0
        for i in range(graph, graph + nodes):
            pair_grad[max(0, batch.graph_prior[i])] += 1.0
        for cell in range(cells):
            pair_grad[pairs[cell]] += charts.counts[cell]
    return held
