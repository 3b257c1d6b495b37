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

from groundling.model.charts import compiled, lay_out, lay_out_batch, make_room, next_batch
from groundling.model.encoding import Encoding

__all__ = ["prepare_limit"]


def prepare_limit(encoding: Encoding) -> Callable[[], None]:
    """Return a function that does what no implementation of this recursion can leave out."""
    charts, scores = encoding.charts, encoding.scores
    layout = lay_out(charts, encoding.word_sets)
    room = make_room(charts, layout)
    pairs = len(scores.pair_node)
    # As in the library: one exponential per distinct pair and relation; per chart a logarithm for
    # its root and two more for rescaled rows; per word one; per candidate two exponentials more.
    pair_score, pair_exp, pair_grad = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs)
    edges = np.zeros(len(scores.edge_rows) - 1)
    exponentials = np.zeros(2 * len(charts.candidate_base))
    logarithms = np.ones(3 * len(charts.candidate_base) + len(charts.word_parent))
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
        _pass_charts(charts, layout, room, pair_exp, pair_grad)

    return limit


def _stream(arrays: tuple[Any, ...], theta: np.ndarray) -> float:
    return sum(float(each.sum()) for each in arrays) + float(theta.sum())


@compiled
def _pass_pairs(pair_node: Any, pair_score: Any) -> None:
    """Read and write each pair once."""
    for pair in range(len(pair_node)):
        pair_score[pair] = pair_node[pair] * 0.0


@compiled
def _pass_charts(charts: Any, layout: Any, room: Any, pair_exp: Any, pair_grad: Any) -> float:
    seen = np.uint64(0)
    held = 0.0
    for problem in range(len(charts.problem_weight)):
        words = charts.problem_words[problem + 1] - charts.problem_words[problem]
        cells = words * charts.problem_nodes[problem]
        first_cell = charts.problem_cells[problem]
        pairs = layout.cell_pair[first_cell : first_cell + cells]
        for cell in range(cells):
            room.scores[cell] = pair_exp[pairs[cell]]
        first, end = charts.problem_candidates[problem], charts.problem_candidates[problem + 1]
        while first < end:
            last, states = next_batch(layout, first, end)
            lay_out_batch(charts, layout, first, last, room)
            for w in range(words):
                row = room.rows[w * states : (w + 1) * states]
                message = room.messages[w * states : (w + 1) * states]
                posterior = room.posteriors[w * states : (w + 1) * states]
                for _ in range(2):  # forward, backward
                    for i in range(room.batch_links[0]):
                        seen += room.link[i]
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
                    room.asked[s] = message[s]
                for s in range(states):
                    held = max(held, posterior[s])
            first = last
        for cell in range(cells):
            pair_grad[pairs[cell]] += room.scores[cell]
    return held + math.sqrt(seen)
