"""The overlay recursion (the paper's Algorithm 1, over whole plans), compiled.

`inside` walks a text from its leaves to its roots. A word's row says, for every state s, how well
the word and all that hangs from it describe s:

    row[w][s] = score(w, s) ⊗ ⊗ over dependents d of message[d][s]
    message[d][s] = ⊕ over states t that d may take if w is at s, of edge(s, t) ⊗ row[d][t]

A dependent may take a neighbour of s within the action (`_send_near`), or a state by which words
enter the same action anew or another one, further on in the text's direction (`_send_far`). What a
row of a root amounts to over all states of entry is ψ(x, y). `outside` walks back, from roots to
leaves, with posteriors: the derivative of log ψ(x, y) by the scores.

⊕ and ⊗ are those of a semiring (`semiring.py`); what an action's states are is told by a tile
(`layout.py`). Both are known when a kernel is compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.batch import Integers, Reals, inner
from groundling.overlay.simd import LANES, fetch, load, masked, spread, store, up_to_eights
from groundling.overlay.skeletons import BOUND, UNIT

__all__ = ["NEXT", "PREVIOUS", "SAME", "Chart", "Gradients", "Text", "inside", "outside"]

SAME, NEXT, PREVIOUS = 0, 1, 2  # the first relations of every table


class Text(NamedTuple):
    """The words of one instance, in skeleton order: dependents before what they hang from."""

    words: int
    nodes: int  # of the instance
    groups: int
    parent: Integers  # -1 for roots
    link: Integers
    dependency: Integers
    direction: Integers
    group: Integers
    advance: Integers  # pair (word, advance) or -1
    set: Integers
    leads: NDArray[np.bool_]
    stay: int  # relation of every node to itself, or -1


class Chart(NamedTuple):
    """The charts of a tile, (words × states), and what is read off them."""

    rows: Reals
    messages: Reals
    posteriors: Reals
    scores: Reals  # (words × nodes), flat: how well each word describes each node
    asked: Reals
    sums: Reals
    factors: Reals
    lives: NDArray[np.bool_]


class Gradients(NamedTuple):
    """Where expected counts are added."""

    pair: Reals
    edge: Reals  # dependency × relation
    counts: Reals  # word × node of the instance, flat


@inner
def inside(text: Text, tile: Any, psi: Any, chart: Chart, group_log: Reals) -> None:
    """Fill a chart; add log ψ of each (candidate of the instance, group) to `group_log`."""
    ring = psi.ring
    for w in range(text.words):
        row = chart.rows[w]
        for s in range(0, tile.states, LANES):
            own = fetch(chart.scores, w * text.nodes, tile.state_node, s)
            store(row, s, masked(own, tile.state_node, s, text.nodes, ring.zero))
    for w in range(text.words):
        row, parent = chart.rows[w], text.parent[w]
        if parent < 0:
            _sum_candidates(tile, ring, row, chart.sums, True)
            for c in range(len(tile.order)):
                group_log[tile.order[c], text.group[w]] += ring.log(chart.sums[c])
            continue
        if text.leads[w]:  # scores sum to one: only rows that took in messages can leave the range
            _sum_candidates(tile, ring, row, chart.sums, False)
            ring.settle(tile, row, chart.sums, chart.factors, group_log[:, text.group[w]])
        message, above = chart.messages[w], chart.rows[parent]
        _send_near(text, w, tile, psi, row, message)
        if text.link[w] != BOUND:
            _send_far(text, w, tile, psi, row, message)
        for s in range(0, tile.states, LANES):
            store(above, s, ring.times(load(above, s), load(message, s)))


@inner
def _send_near(text: Text, w: int, tile: Any, psi: Any, row: Reals, message: Reals) -> None:
    """Write what a word tells its parent from the same node and from neighbours of the node."""
    ring, edge = psi.ring, psi.edge[text.dependency[w]]
    near = text.link[w] != UNIT
    kept = edge[text.stay] if near and text.stay >= 0 else ring.zero
    for s in range(0, tile.states, LANES):
        store(message, s, ring.times(kept, load(row, s)))
    if near:
        tile.send_links(ring, edge, row, message)


@inner
def _send_far(text: Text, w: int, tile: Any, psi: Any, row: Reals, message: Reals) -> None:
    """Add what it tells from the same action, entered anew, and from actions further on."""
    ring = psi.ring
    right, stay, go = _hop(text, w, psi)
    further = tile.action_after if right else tile.action_before
    beyond = tile.nothing(ring)  # what actions further on amount to, with what skipping costs
    last = len(tile.action_block) - 1
    for step in range(last + 1):
        action = last - step if right else step
        more = ring.gate(further[action])
        here = tile.entering(ring, row, action)
        gone = ring.times(ring.times(go, more), beyond)
        tile.add(ring, message, action, ring.plus(ring.times(stay, here), gone))
        beyond = ring.plus(here, ring.times(ring.times(psi.skip, more), beyond))


@inner
def _hop(text: Text, w: int, psi: Any) -> Any:
    """Return whether a word looks right, what staying in the action weighs, and what going does."""
    ring, edge = psi.ring, psi.edge[text.dependency[w]]
    right = text.direction[w] > 0
    go = edge[NEXT if right else PREVIOUS]
    if text.advance[w] >= 0:
        go = ring.times(go, psi.advance[text.advance[w]])
    return right, edge[SAME] if text.link[w] == UNIT else ring.zero, go


@inner
def outside(
    text: Text, tile: Any, psi: Any, chart: Chart, weight: Reals, gradients: Gradients
) -> None:
    """Add weight × posterior of every node and relation, after `inside` of the same tile.

    `weight` is (candidates of the instance × groups).
    """
    ring = psi.ring
    for w in range(text.words - 1, -1, -1):
        row, posterior = chart.rows[w], chart.posteriors[w]
        parent, group = text.parent[w], text.group[w]
        if parent < 0:
            chart.lives[group] = False
            _sum_candidates(tile, ring, row, chart.sums, True)
            for c in range(len(tile.order)):
                share = weight[tile.order[c], group]
                chart.lives[group] |= share != 0.0
                chart.factors[c] = ring.over(ring.seed(share), chart.sums[c])
            for c in range(len(tile.order), up_to_eights(len(tile.order))):
                chart.factors[c] = ring.zero  # of candidates that fill a block
            for s in range(0, tile.states, LANES):
                store(posterior, s, spread(ring.zero))
            for action in range(len(tile.action_block)):
                tile.enter(ring, posterior, row, action, tile.at(chart.factors, action))
        elif chart.lives[group]:
            above, message = chart.posteriors[parent], chart.messages[w]
            for s in range(0, tile.states, LANES):
                store(chart.asked, s, ring.over(load(above, s), load(message, s)))
            rows = (chart.asked, row, posterior)
            times = weight[tile.order[0], group]
            _receive_near(text, w, tile, psi, rows, gradients.edge, times)
            if text.link[w] != BOUND:
                _receive_far(text, w, tile, psi, rows, gradients, times)
        else:
            posterior[: tile.states] = ring.zero
    _count_states(text, tile, ring, chart.posteriors, weight[tile.order[0]], gradients.counts)


@inner
def _receive_near(
    text: Text, w: int, tile: Any, psi: Any, rows: tuple[Reals, Reals, Reals], edge_grad: Reals,
    times: float,
) -> None:  # fmt: skip
    """Undo `_send_near`: from the adjoint of a message to posteriors of the word's states."""
    ring, edge, grad = psi.ring, psi.edge[text.dependency[w]], edge_grad[text.dependency[w]]
    asked, row, posterior = rows
    near = text.link[w] != UNIT
    kept = edge[text.stay] if near and text.stay >= 0 else ring.zero
    for s in range(0, tile.states, LANES):
        flow = ring.times(kept, ring.times(load(asked, s), load(row, s)))
        store(posterior, s, flow)
    if near:
        if text.stay >= 0:
            grad[text.stay] += ring.counted(ring.sum_row(posterior, tile.states), times)
        tile.receive_links(ring, edge, rows, grad, times)


@inner
def _receive_far(
    text: Text, w: int, tile: Any, psi: Any, rows: tuple[Reals, Reals, Reals],
    gradients: Gradients, times: float,
) -> None:  # fmt: skip
    """Undo `_send_far`, walking the actions the other way round."""
    ring, grad = psi.ring, gradients.edge[text.dependency[w]]
    asked, row, posterior = rows
    right, stay, go = _hop(text, w, psi)
    further = tile.action_after if right else tile.action_before
    before = tile.nothing(ring)  # adjoint of `beyond`
    stayed, gone = tile.nothing(ring), tile.nothing(ring)
    last = len(tile.action_block) - 1
    for step in range(last + 1):
        action = step if right else last - step
        more = ring.gate(further[action])
        here = tile.entering(ring, row, action)
        wanted = tile.all(ring, asked, action)
        kept = ring.times(stay, wanted)
        tile.enter(ring, posterior, row, action, ring.plus(kept, before))
        stayed = ring.plus(stayed, ring.times(kept, here))
        gone = ring.plus(gone, ring.times(before, here))
        before = ring.plus(
            ring.times(ring.times(go, more), wanted),
            ring.times(ring.times(psi.skip, more), before),
        )
    grad[SAME] += ring.counted(tile.sum(ring, stayed), times)
    flow = ring.counted(tile.sum(ring, gone), times)
    grad[NEXT if right else PREVIOUS] += flow
    if text.advance[w] >= 0:
        gradients.pair[text.advance[w]] += flow


@inner
def _sum_candidates(tile: Any, ring: Any, row: Reals, sums: Reals, entries: bool) -> None:
    """Sum the states of each candidate, all or only those of entry."""
    sums[: len(tile.order)] = ring.zero
    amount = tile.nothing(ring)
    for action in range(len(tile.action_block)):
        here = tile.entering(ring, row, action) if entries else tile.all(ring, row, action)
        before = ring.times(ring.gate(tile.action_before[action]), amount)
        amount = ring.plus(here, before)
        tile.put(sums, action, amount)


@inner
def _count_states(
    text: Text, tile: Any, ring: Any, posteriors: Reals, weight: Reals, counts: Reals
) -> None:
    """Add posteriors of states to counts of nodes, for four words at a time.

    Neighbouring states are often of one node: a sum that waits for itself. Four wait together.
    """
    nodes, group = text.nodes, text.group
    w = np.int64(0)
    while w + 4 <= text.words:
        zero, one, two, three = (
            counts[w * nodes :], counts[(w + 1) * nodes :], counts[(w + 2) * nodes :],
            counts[(w + 3) * nodes :],
        )  # fmt: skip
        for s in range(np.uint64(tile.states)):
            k = np.uint64(tile.state_node[s])
            zero[k] += ring.counted(posteriors[w, s], weight[group[w]])
            one[k] += ring.counted(posteriors[w + 1, s], weight[group[w + 1]])
            two[k] += ring.counted(posteriors[w + 2, s], weight[group[w + 2]])
            three[k] += ring.counted(posteriors[w + 3, s], weight[group[w + 3]])
        w += 4
    for rest in range(w, text.words):
        count = counts[rest * nodes :]
        for s in range(np.uint64(tile.states)):
            k = np.uint64(tile.state_node[s])
            count[k] += ring.counted(posteriors[rest, s], weight[group[rest]])
