"""Compiled overlay recursion: Algorithm 1 of the paper, over whole plans.

`inside` traverses a text from its leaves to its roots. The row of a word contains, for every
state s, the score of the word and all its descendants, given that the word is at s:

    row[w][s] = score(w, s) ⊗ ⊗ over dependents d of message[d][s]
    message[d][s] = ⊕ over states t that d may take if w is at s, of edge(s, t) ⊗ row[d][t]

A dependent may be at s itself, at a neighbour of s within the action (`send_links`), or at an entry
state (`_send_far`). An entry state may belong to the same action, or to one further on in the
direction of the text. ψ(x, y) is the sum of a root's row over all entry states.

`outside` traverses the text from roots to leaves, and computes posteriors: the derivatives of log
ψ(x, y) with respect to the scores.

⊕ and ⊗ are the operations of a semiring (`semiring.py`); a tile defines the states of an action
(`layout.py`). Both are fixed when a kernel is compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groundling.array_views import view
from groundling.compiler import inner
from groundling.overlay.batch import Indices, Integers, Reals
from groundling.overlay.semiring import HUGE, TINY
from groundling.overlay.simd import LANES, fetch, fill, load, spread, store, up_to_eights
from groundling.overlay.skeletons import BOUND, UNIT

SAME, NEXT, PREVIOUS = 0, 1, 2  # the first relations of every table


class Text(NamedTuple):
    """The words of one instance, in skeleton order: dependents before heads."""

    words: int
    nodes: int  # of the instance
    groups: int
    stay: int  # relation of every node to itself, or -1
    word: Any  # records with the fields of `WORD`


class Chart(NamedTuple):
    """The chart of a tile (words × states), as flat arrays with optional padding."""

    rows: Reals
    messages: Reals
    posteriors: Reals


@inner
def inside(text: Text, tile: Any, psi: Any, chart: Chart, space: Any, group_log: Reals) -> None:
    """Fill a chart, and add log ψ of each (candidate, group) to `group_log`."""
    ring, states = psi.ring, tile.states
    for w in range(text.words):
        row = view(chart.rows, w * states, states)
        for s in range(0, states, LANES):
            store(row, s, fetch(space.scores, w * (text.nodes + 1), tile.state_node, s))
    for w in range(text.words):
        row = view(chart.rows, w * states, states)
        parent, group = text.word[w].parent, text.word[w].group
        if parent < 0:
            _sum_candidates(tile, ring, row, space.sums, True)
            for c in range(len(tile.order)):
                group_log[tile.order[c], group] += ring.log(space.sums[c])
            continue
        # Rows of leaves stay in range, because their scores sum to one.
        if text.word[w].leads and not ring.fits(tile, row):
            _settle(tile, ring, row, space, group_log[:, group])
        message = view(chart.messages, w * states, states)
        above = view(chart.rows, parent * states, states)
        link, edge, kept = text.word[w].link, psi.edge[text.word[w].dependency], _kept(text, w, psi)
        for s in range(0, states, LANES):
            store(message, s, ring.times(kept, load(row, s)))
        if link != UNIT:  # from neighbours of the node
            tile.send_links(ring, edge, row, message)
        if link != BOUND:  # from entry states of the same action or another one
            _send_far(ring, psi.skip, _hop(text, w, psi), tile, row, message)
        for s in range(0, states, LANES):
            store(above, s, ring.times(load(above, s), load(message, s)))


@inner
def _settle(tile: Any, ring: Any, row: Reals, space: Any, logs: Reals) -> None:
    """Rescale the row of each candidate whose sum is out of range."""
    sums, factors, count = space.sums, space.factors, len(tile.order)
    _sum_candidates(tile, ring, row, sums, False)
    fits = True
    for c in range(count):
        fits &= (sums[c] > TINY) & (sums[c] < HUGE)
    if fits:
        return
    for c in range(count):
        leaves = not (TINY < sums[c] < HUGE)
        factors[c] = ring.over(1.0, sums[c]) if leaves else 1.0
        if leaves:
            logs[tile.order[c]] += ring.log(sums[c])
    for c in range(count, up_to_eights(count)):
        factors[c] = factors[count - 1]  # padding of a flat tile's last block
    for action in range(len(tile.action_block)):
        tile.scale(ring, row, action, tile.at(factors, action))


@inner
def _send_far(
    ring: Any, skip: float, hop: tuple[bool, float, float], tile: Any, row: Reals, message: Reals
) -> None:
    """Add the entry states of the same action and of later actions to a message."""
    right, stay, go = hop
    further = tile.action_after if right else tile.action_before
    beyond = tile.nothing(ring)  # sum over later actions, including skip costs
    last = len(tile.action_block) - 1
    for step in range(last + 1):
        action = last - step if right else step
        more = ring.gate(further[action])
        here = tile.gather(ring, row, action, True)
        gone = ring.times(ring.times(go, more), beyond)
        tile.add(ring, message, action, ring.plus(ring.times(stay, here), gone))
        beyond = ring.plus(here, ring.times(ring.times(skip, more), beyond))


@inner
def _kept(text: Text, w: int, psi: Any) -> Any:
    """Return the weight for staying at the same node."""
    stays = text.stay >= 0 and text.word[w].link != UNIT
    return psi.edge[text.word[w].dependency, text.stay] if stays else psi.ring.zero


@inner
def _hop(text: Text, w: int, psi: Any) -> tuple[bool, float, float]:
    """Return whether a word is right of its head, and the weights to stay and to advance."""
    edge = psi.edge[text.word[w].dependency]
    right = text.word[w].direction > 0
    go = edge[NEXT if right else PREVIOUS]
    if text.word[w].advance >= 0:
        go = psi.ring.times(go, psi.advance[text.word[w].advance])
    return right, edge[SAME] if text.word[w].link == UNIT else psi.ring.zero, go


@inner
def outside(
    text: Text, tile: Any, psi: Any, chart: Chart, space: Any, weight: Reals, job: Any
) -> None:
    """Add weight × posterior to the gradients of a job; call `inside` for the same tile first.

    `weight` has the shape (candidates of the instance × groups).
    """
    ring, states = psi.ring, tile.states
    for w in range(text.words - 1, -1, -1):
        row = view(chart.rows, w * states, states)
        posterior = view(chart.posteriors, w * states, states)
        parent, group = text.word[w].parent, text.word[w].group
        if parent < 0:
            _sum_candidates(tile, ring, row, space.sums, True)
            space.lives[group] = _share(ring, tile.order, weight[:, group], space)
            for s in range(0, states, LANES):
                store(posterior, s, spread(ring.zero))
            for action in range(len(tile.action_block)):
                tile.enter(ring, posterior, row, action, tile.at(space.factors, action))
            continue
        if not space.lives[group]:
            fill(posterior, states, ring.zero)
            continue
        above = view(chart.posteriors, parent * states, states)
        message, kept = view(chart.messages, w * states, states), _kept(text, w, psi)
        for s in range(0, states, LANES):
            adjoint = ring.over(load(above, s), load(message, s))
            store(space.asked, s, adjoint)
            store(posterior, s, ring.times(kept, ring.times(adjoint, load(row, s))))
        rows, times = (space.asked, row, posterior), weight[tile.order[0], group]
        link, dependency = text.word[w].link, text.word[w].dependency
        grad = job.edge_grad[dependency]
        if link != UNIT:
            if text.stay >= 0:
                grad[text.stay] += ring.counted(ring.row_sum(posterior), times)
            tile.receive_links(ring, psi.edge[dependency], rows, grad, times)
        if link != BOUND:
            hop = _hop(text, w, psi)
            entered, gone = _receive_far(ring, psi.skip, hop, tile, rows)
            grad[SAME] += ring.counted(entered, times)
            grad[NEXT if hop[0] else PREVIOUS] += ring.counted(gone, times)
            if text.word[w].advance >= 0:
                job.pair_grad[text.word[w].advance] += ring.counted(gone, times)
    _count_states(ring, text, view(tile.state_node, 0, states), chart.posteriors,
                  weight[tile.order[0]], space.counts)  # fmt: skip


@inner
def _receive_far(
    ring: Any, skip: float, hop: tuple[bool, float, float], tile: Any,
    rows: tuple[Reals, Reals, Reals],
) -> Any:  # fmt: skip
    """Run the backward pass of `_send_far`; return the flows within the action and beyond."""
    asked, row, posterior = rows
    right, stay, go = hop
    further = tile.action_after if right else tile.action_before
    before = tile.nothing(ring)  # adjoint of `beyond`
    stayed, gone = tile.nothing(ring), tile.nothing(ring)
    last = len(tile.action_block) - 1
    for step in range(last + 1):
        action = step if right else last - step
        more = ring.gate(further[action])
        here = tile.gather(ring, row, action, True)
        wanted = tile.gather(ring, asked, action, False)
        kept = ring.times(stay, wanted)
        tile.enter(ring, posterior, row, action, ring.plus(kept, before))
        stayed = ring.plus(stayed, ring.times(kept, here))
        gone = ring.plus(gone, ring.times(before, here))
        before = ring.plus(
            ring.times(ring.times(go, more), wanted), ring.times(ring.times(skip, more), before)
        )
    return tile.sum(ring, stayed), tile.sum(ring, gone)


@inner
def _share(ring: Any, order: Integers, weight: Reals, space: Any) -> bool:
    """Write the initial posterior of each candidate; return whether any weight is not 0."""
    lives = False
    for c in range(len(order)):
        share = weight[order[c]]
        lives |= share != 0.0
        space.factors[c] = ring.over(ring.seed(share), space.sums[c])
    for c in range(len(order), up_to_eights(len(order))):
        space.factors[c] = ring.zero  # padding of the last block
    return lives


@inner
def _sum_candidates(tile: Any, ring: Any, row: Reals, sums: Reals, entries: bool) -> None:
    """Sum the states of each candidate: all, or with `entries` only the entry states."""
    fill(sums, len(tile.order), ring.zero)
    amount = tile.nothing(ring)
    for action in range(len(tile.action_block)):
        here = tile.gather(ring, row, action, entries)
        before = ring.times(ring.gate(tile.action_before[action]), amount)
        amount = ring.plus(here, before)
        tile.put(sums, action, amount)


@inner
def _count_states(
    ring: Any, text: Text, state_node: Indices, posteriors: Reals, weight: Reals, counts: Reals
) -> None:
    """Add the posteriors of states to the counts of nodes, for four words at a time.

    Adjacent states often have the same node, so an addition must wait for the previous one. Four
    interleaved sums hide this latency.
    """
    nodes, states = np.uint64(text.nodes), np.uint64(len(state_node))
    rest = np.uint64(text.words % 4)
    for first in range(rest, np.uint64(text.words), np.uint64(4)):
        for s in range(states):
            for w in range(first, first + np.uint64(4)):
                count = ring.counted(posteriors[w * states + s], weight[text.word[w].group])
                counts[w * nodes + state_node[s]] += count
    for w in range(rest):
        for s in range(states):
            count = ring.counted(posteriors[w * states + s], weight[text.word[w].group])
            counts[w * nodes + state_node[s]] += count
