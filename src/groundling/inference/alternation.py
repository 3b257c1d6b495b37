"""The paper's inference: alternate the best alignment and the best plan, from many starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from groundling.errors import SearchError
from groundling.inference.settings import Search
from groundling.inference.units import UnitScores
from groundling.model.kernels import Reals
from groundling.model.path import align, spread
from groundling.world.environment import Action, State

__all__ = ["Found", "alternate", "best_path"]


@dataclass(frozen=True)
class Found:
    """A plan that a search found, with its alignment (unit -> action or -1) and score."""

    actions: tuple[Action, ...]
    states: tuple[State, ...]
    alignment: tuple[int, ...]
    score: float


def best_path(
    scores: UnitScores,
    start: State,
    weights: Reals,
    search: Search,
) -> list[tuple[float, tuple[State, ...], tuple[Action, ...]]]:
    """Return the best plans whose j-th action is scored by ψ(y_j) + Σ_i weights[i, j] ψ(x_i, y_j).

    Equal states at the same step are merged (Viterbi); `search.beam` bounds how many are
    kept, and dead ends are dropped. Best first; plans of exactly `weights.shape[1]` actions.
    """
    world = scores.world
    beam = search.beam if search.planning else 1
    length = weights.shape[1]
    gains: dict[State, Reals] = {}  # (actions × steps), for the alignment at hand
    layer: list[tuple[float, tuple[State, ...], tuple[Action, ...]]] = [(0.0, (start,), ())]
    for j in range(length):
        options = scores.options(states[-1] for _, states, _ in layer)
        if len(scores) > search.budget:
            raise SearchError(
                f"The search asked about {len(scores)} actions from state {start!r} without an "
                "answer. Raise Search.budget, or lower Search.beam or Search.max_length."
            )
        best: dict[State, tuple[float, int, int]] = {}
        for place, ((total, states, _), each) in enumerate(zip(layer, options, strict=True)):
            if states[-1] not in gains:
                gains[states[-1]] = each.text @ weights + each.free[:, None]
            values = (total + gains[states[-1]][:, j]).tolist()
            for number, (after, score) in enumerate(zip(each.after, values, strict=True)):
                known = best.get(after)
                if known is None or score > known[0]:
                    best[after] = (score, place, number)
        if not best:
            return []
        ranked = sorted(best.items(), key=lambda item: -item[1][0])
        if j == length - 1:
            ranked = [item for item in ranked if world.is_goal(item[0])]
        if search.planning:
            alive = (item for item in ranked if not world.is_dead_end(item[0]))
            ranked = list(islice(alive, beam))  # asks only about as many as are needed
        layer = [
            (
                score,
                (*layer[place][1], after),
                (*layer[place][2], options[place].actions[number]),
            )
            for after, (score, place, number) in ranked[:beam]
        ]
    return layer


def alternate(
    scores: UnitScores,
    start: State,
    search: Search,
    length_score: Callable[[int], float],
    lengths: Sequence[int],
    *,
    silence: float | None = None,
    last_to_last: bool = False,
    every_unit: bool = False,
    seed: int = 0,
) -> list[Found]:
    """Search plans of all lengths; return the distinct ones found, best first.

    With `every_unit`, plans of one length are searched with every unit on every action and
    nothing alternates; the best alignment then compares plans of different lengths.
    """
    random = np.random.default_rng(seed)
    found: dict[tuple[Action, ...], Found] = {}
    for length in lengths:
        starts = 1 if every_unit else search.restarts
        for restart in range(starts):
            alignment = spread(scores.units, length, random if restart else None)
            for _ in range(1 if every_unit else search.rounds):
                weights = _weights(alignment, scores.units, length, every_unit)
                paths = best_path(scores, start, weights, search)
                if not paths:
                    break
                settled = True
                for rank, (_, states, actions) in enumerate(paths[: 1 if every_unit else 3]):
                    text, free = scores.actions(list(zip(states[:-1], actions, strict=True)))
                    total, fresh = align(text.T, silence=silence, last_to_last=last_to_last)
                    score = total + float(free.sum()) + length_score(length)
                    known = found.get(actions)
                    if known is None or score > known.score:
                        found[actions] = Found(actions, states, fresh, score)
                    if rank == 0:
                        settled = fresh == alignment
                        following = fresh
                alignment = following
                if settled:
                    break
    return sorted(found.values(), key=lambda each: -each.score)


def _weights(alignment: Sequence[int], units: int, length: int, every_unit: bool) -> Reals:
    if every_unit:
        return np.ones((units, length))
    weights = np.zeros((units, length))
    for unit, action in enumerate(alignment):
        if action >= 0:
            weights[unit, action] = 1.0
    return weights
