"""The alignment lattice: units of text read in order, each naming no, one or several actions.

Reading unit i after j actions, the agent either passes on to the next unit or acts. Each
decision is normalised over everything that could be done there, and all ways of reading that
lead to the demonstrated actions are summed exactly by forward and backward passes.

Positions are (i, j, f): i units read, j actions done, f = 1 if the present unit has already
named an action. `act[j][y, i]` scores action y among the alternatives of prefix j when unit i
names it; `passing[f, i]` scores passing on; `again[i]` is added when a unit names one more.
`unaligned_cost` is what a unit costs that names nothing, `fertility_cost` each further action
of a unit: both outside the decisions, since a reader with nothing left to do would otherwise
pass over text for free.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from groundling.overlay.batch import Integers, Reals

__all__ = ["lattice_gradient"]

_jit = njit(cache=True, nogil=True, error_model="numpy")


@_jit
def _normaliser(act: Reals, first: int, last: int, i: int, passing: float, extra: float) -> float:
    top = passing
    for y in range(first, last):
        top = max(top, act[y, i] + extra)
    total = math.exp(passing - top)
    for y in range(first, last):
        total += math.exp(act[y, i] + extra - top)
    return top + math.log(total)


@_jit
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    if b == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@_jit
def lattice_gradient(
    act: Reals,  # (alternatives of all prefixes, one after another) × units
    starts: Integers,  # alternatives of prefix j are starts[j] … starts[j + 1] - 1
    gold: Integers,  # the demonstrated alternative of prefix j < n
    passing: Reals,  # 2 × units
    again: Reals,  # units
    act_grad: Reals,
    passing_grad: Reals,
    again_grad: Reals,
    arcs: Reals,  # units × actions: p(unit i names action j), filled in
    unaligned_cost: float = 0.0,
    fertility_cost: float = 0.0,
) -> float:
    """Return -log p(actions | units) and fill in the gradient by every score."""
    units, actions = act.shape[1], len(gold)
    act_grad[:] = 0.0
    passing_grad[:] = 0.0
    again_grad[:] = 0.0
    arcs[:] = 0.0
    norm = np.empty((units, actions + 1, 2))
    ahead = np.full((units + 1, actions + 1, 2), -math.inf)
    ahead[0, 0, 0] = 0.0
    for i in range(units):
        for j in range(actions + 1):
            for f in range(2):
                extra = again[i] if f else 0.0
                leave, more = (0.0, fertility_cost) if f else (unaligned_cost, 0.0)
                norm[i, j, f] = _normaliser(act, starts[j], starts[j + 1], i, passing[f, i], extra)
                here = ahead[i, j, f]
                if here == -math.inf:
                    continue
                ahead[i + 1, j, 0] = _log_add(
                    ahead[i + 1, j, 0], here + passing[f, i] - norm[i, j, f] - leave
                )
                if j < actions:
                    ahead[i, j + 1, 1] = _log_add(
                        ahead[i, j + 1, 1], here + act[gold[j], i] + extra - norm[i, j, f] - more
                    )
    total = ahead[units, actions, 0]
    if total == -math.inf:
        return math.inf
    behind = np.full((units + 1, actions + 1, 2), -math.inf)
    behind[units, actions, 0] = 0.0
    for i in range(units - 1, -1, -1):
        for j in range(actions, -1, -1):
            for f in range(2):
                extra = again[i] if f else 0.0
                leave, more = (0.0, fertility_cost) if f else (unaligned_cost, 0.0)
                here = ahead[i, j, f]
                on = behind[i + 1, j, 0] + passing[f, i] - norm[i, j, f] - leave
                done = -math.inf
                if j < actions:
                    done = behind[i, j + 1, 1] + act[gold[j], i] + extra - norm[i, j, f] - more
                behind[i, j, f] = _log_add(on, done)
                if here == -math.inf or behind[i, j, f] == -math.inf:
                    continue
                visits = math.exp(here + behind[i, j, f] - total)
                passed = math.exp(here + on - total)
                passing_grad[f, i] -= passed - visits * math.exp(passing[f, i] - norm[i, j, f])
                if j < actions:
                    acted = math.exp(here + done - total)
                    act_grad[gold[j], i] -= acted
                    arcs[i, j] += acted
                    if f:
                        again_grad[i] -= acted
                for y in range(starts[j], starts[j + 1]):
                    share = visits * math.exp(act[y, i] + extra - norm[i, j, f])
                    act_grad[y, i] += share
                    if f:
                        again_grad[i] += share
    return float(-total)
