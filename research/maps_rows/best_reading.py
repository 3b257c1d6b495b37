"""Transducer that keeps only the best alignment of each plan, instead of the sum."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numba import njit

from groundling.inference.plan_space import widen
from groundling.inference.search import Search
from groundling.inference.transduction import Layer, Transduction, transduce
from groundling.inference.unit_scores import UnitScores
from groundling.models.base import FittedModel, Request, SearchResult
from groundling.models.transducer import Reading, TransducerModel
from groundling.overlay.batch import Integers, Reals
from groundling.world.environment import Action, State

__all__ = ["BestReading"]

_jit = njit(cache=True, nogil=True, error_model="numpy")


@_jit
def _normaliser(act: Reals, first: int, last: int, i: int, passing: float, extra: float) -> float:
    top = passing
    for y in range(first, last):
        top = max(top, act[y, i] + extra)
    total = math.exp(passing - top)
    for y in range(first, last):
        total += math.exp(act[y, i] + extra - top)
    return float(top + math.log(total))


@_jit
def best_reading_gradient(
    act: Reals,
    starts: Integers,
    gold: Integers,
    passing: Reals,
    again: Reals,
    act_grad: Reals,
    passing_grad: Reals,
    again_grad: Reals,
    arcs: Reals,
    unaligned_cost: float = 0.0,
    fertility_cost: float = 0.0,
) -> float:
    """Return -log p of the best alignment and fill in its gradient, like `lattice_gradient`."""
    units, actions = act.shape[1], len(gold)
    act_grad[:] = 0.0
    passing_grad[:] = 0.0
    again_grad[:] = 0.0
    arcs[:] = 0.0
    best = np.full((units + 1, actions + 1, 2), -math.inf)
    named = np.zeros((units + 1, actions + 1, 2), np.int8)  # f of the position before
    best[0, 0, 0] = 0.0
    for i in range(units):
        for j in range(actions + 1):
            for f in range(2):
                here = best[i, j, f]
                if here == -math.inf:
                    continue
                extra = again[i] if f else 0.0
                leave, more = (0.0, fertility_cost) if f else (unaligned_cost, 0.0)
                norm = _normaliser(act, starts[j], starts[j + 1], i, passing[f, i], extra)
                on = here + passing[f, i] - norm - leave
                if on > best[i + 1, j, 0]:
                    best[i + 1, j, 0], named[i + 1, j, 0] = on, f
                if j < actions:
                    done = here + act[gold[j], i] + extra - norm - more
                    if done > best[i, j + 1, 1]:
                        best[i, j + 1, 1], named[i, j + 1, 1] = done, f
    if best[units, actions, 0] == -math.inf:
        return math.inf
    i, j, f = units, actions, 0
    while i > 0 or j > 0:
        before = named[i, j, f]
        if f:
            j -= 1
            act_grad[gold[j], i] -= 1.0
            arcs[i, j] = 1.0
            again_grad[i] -= before
        else:
            i -= 1
            passing_grad[before, i] -= 1.0
        f = before
        extra = float(again[i]) if f else 0.0
        norm = _normaliser(act, starts[j], starts[j + 1], i, passing[f, i], extra)
        passing_grad[f, i] += math.exp(passing[f, i] - norm)
        for y in range(starts[j], starts[j + 1]):
            share = math.exp(act[y, i] + extra - norm)
            act_grad[y, i] += share
            again_grad[i] += share * f
    return float(-best[units, actions, 0])


def _keep_best(
    into: Layer, actions: tuple[Action, ...], score: float, states: tuple[State, ...]
) -> None:
    known = into.get(actions)
    if known is None or score > known[0]:
        into[actions] = (score, states)


@dataclass(frozen=True, repr=False)
class BestReading(TransducerModel):
    """Transducer model that keeps only the best alignment of each plan."""

    def read(
        self, act: Reals, marks: Reals, starts: Integers, gold: Integers, power: float = 0.0
    ) -> Reading:
        """Return the best alignment; `power` applies to normalisers in the search only."""
        passing = np.ascontiguousarray(marks[:2])
        again = marks[2].copy()
        if not self.allow_multiple:
            again[:] = -np.inf
        act_grad, passing_grad = np.zeros_like(act), np.zeros_like(passing)
        again_grad, arcs = np.zeros(act.shape[1]), np.zeros((act.shape[1], len(gold)))
        loss = best_reading_gradient(
            act, starts, gold, passing, again, act_grad, passing_grad, again_grad, arcs,
            self.unaligned_cost, self.fertility_cost,
        )  # fmt: skip
        return Reading(float(loss), act_grad, np.vstack([passing_grad, again_grad]), arcs)

    def _search(self, fitted: FittedModel, request: Request, search: Search) -> SearchResult:
        world, start = request.world, request.start
        how = Transduction(**asdict(self))
        scores = UnitScores(fitted.encoder, fitted.space, fitted.theta, request.text, world)
        found = widen(
            lambda wider: transduce(scores, start, wider, how, _keep_best),
            search.extended(world.extra_length(start)),
            world,
        )
        return SearchResult(found, normalised=not search.planning)
