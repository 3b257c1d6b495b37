"""The limit: the exponentials, logarithms and memory traffic of an evaluation, and nothing else.

Every array is read and written as often as the recursion has to, one item after the other,
but nothing is multiplied or summed over neighbours. Tables of scores are gathered and
scattered as the library does, for that is traffic too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from groundling.overlay.batch import compiled, lay_out, lay_out_tile, make_workspace, next_tile
from groundling.overlay.encoding import Encoding

__all__ = ["prepare_limit"]


def prepare_limit(encoding: Encoding) -> Callable[[], None]:
    """Return a function that does what no implementation of this recursion can leave out."""
    batch, scores = encoding.batch, encoding.scores
    layout = lay_out(batch, encoding.word_sets)
    workspace = make_workspace(batch, layout)
    pairs = len(scores.pair_node)
    # As in the library: one exponential per distinct pair and relation; per chart a logarithm for
    # its root and two more for rescaled rows; per word one; per candidate two exponentials more.
    pair_score, pair_exp, pair_grad = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs)
    edges = np.zeros(len(scores.edge_rows) - 1)
    exponentials = np.zeros(2 * len(batch.candidate_base))
    logarithms = np.ones(3 * len(batch.candidate_base) + len(batch.word_parent))
    theta = np.zeros(len(encoding.space))
    tables = tuple(scores)

    def limit() -> None:
        np.exp(pair_score, out=pair_exp)
        np.exp(edges)
        np.exp(exponentials)
        np.log(logarithms)
        pair_grad.fill(0.0)
        for _ in range(2):  # forward, backward
            _stream(tables, theta)
            _pass_pairs(scores.pair_node, pair_score)
        _pass_charts(batch, layout, workspace, pair_exp, pair_grad)

    return limit


def _stream(arrays: tuple[Any, ...], theta: np.ndarray) -> float:
    return sum(float(each.sum()) for each in arrays) + float(theta.sum())


@compiled
def _pass_pairs(pair_node: Any, pair_score: Any) -> None:
    """Read and write each pair once."""
    for pair in range(len(pair_node)):
        pair_score[pair] = pair_node[pair] * 0.0


@compiled
def _pass_charts(batch: Any, layout: Any, workspace: Any, pair_exp: Any, pair_grad: Any) -> float:
    seen = np.uint64(0)
    held = 0.0
    for instance in range(len(batch.instance_weight)):
        words = batch.instance_words[instance + 1] - batch.instance_words[instance]
        cells = words * batch.instance_nodes[instance]
        first_cell = batch.instance_cells[instance]
        pairs = layout.cell_pair[first_cell : first_cell + cells]
        for cell in range(cells):
            workspace.scores[cell] = pair_exp[pairs[cell]]
        first, end = batch.instance_candidates[instance], batch.instance_candidates[instance + 1]
        while first < end:
            last, states = next_tile(layout, first, end)
            lay_out_tile(batch, layout, first, last, workspace)
            for w in range(words):
                row = workspace.rows[w * states : (w + 1) * states]
                message = workspace.messages[w * states : (w + 1) * states]
                posterior = workspace.posteriors[w * states : (w + 1) * states]
                for _ in range(2):  # forward, backward
                    for i in range(workspace.tile_links[0]):
                        seen += workspace.link[i]
                for s in range(states):  # forward: fill, write the message, write the row
                    row[s] = 1.0
                    message[s] = 0.0
                for s in range(states):
                    message[s] = row[s]
                for s in range(states):
                    row[s] = message[s]
                for s in range(states):  # backward: read both, write posteriors
                    posterior[s] = row[s]
                for s in range(states):
                    workspace.asked[s] = message[s]
                for s in range(states):
                    held = max(held, posterior[s])
            first = last
        for cell in range(cells):
            pair_grad[pairs[cell]] += workspace.scores[cell]
    return held + math.sqrt(seen)
