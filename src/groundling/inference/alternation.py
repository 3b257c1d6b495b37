"""The paper's inference, which alternates between alignment and planning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groundling.compiler import njit
from groundling.errors import SearchError
from groundling.inference.alignment import align, spread
from groundling.inference.plan_space import best_first
from groundling.inference.search import Search
from groundling.inference.unit_scores import UnitScores
from groundling.overlay.batch import Integers, Reals
from groundling.ties import CLOSE, rank_kept
from groundling.world.environment import Action, State
from groundling.world.trajectory import ScoredTrajectory


@dataclass(frozen=True)
class Alternation:
    """Settings for alternating between alignment and planning.

    `restarts` is the number of initial alignments, and `rounds` the number of alternations from
    each. `compare` is `"score"` to rank the resulting plans by their total score, or `"text"` to
    rank them only by their fit to the text. With `every_unit`, every unit is aligned with every
    action, so that no alternation is needed, and plans of different lengths are compared by their
    best alignment. With `last_to_last`, the last unit aligns with the last action.
    """

    restarts: int = 10
    rounds: int = 5
    compare: str = "score"
    every_unit: bool = False
    last_to_last: bool = False
    seed: int = 0


def best_path(
    scores: UnitScores,
    start: State,
    weights: Reals,
    search: Search,
) -> list[ScoredTrajectory]:
    """Return the best plans with `weights.shape[1]` actions, best first.

    The score of the j-th action is ψ(y_j) + Σ_i weights[i, j] ψ(x_i, y_j). Equal states at the
    same step are merged (Viterbi), `search.beam` limits the number of states kept per step, and
    dead ends are dropped.
    """
    world = scores.world
    beam = search.beam if search.planning else 1
    length = weights.shape[1]
    totals, layer = np.zeros(1), [start]
    steps: list[tuple[list[int], list[Action]]] = []  # by layer: (origins, actions)
    layers = [layer]
    for j in range(length):
        options = scores.options(layer)
        if len(scores) > search.budget:
            raise SearchError(
                f"The search scored {len(scores)} actions from state {start!r} without finding a "
                "plan. Raise Search.budget, or lower Search.beam or Search.max_length."
            )
        counts = [len(each.actions) for each in options]
        if not any(counts):
            return []
        units = np.flatnonzero(weights[:, j]).astype(np.int32)
        amounts = weights[units, j]
        values = np.concatenate([_gains(each.text, each.free, units, amounts) for each in options])
        values += np.repeat(totals, counts)
        targets = np.concatenate([each.places for each in options])
        origins, done, places = [], [], []
        following: list[State] = []
        begins = np.cumsum([0, *counts])
        ranked = _best_ways(values, targets)
        froms = np.searchsorted(begins, ranked, "right") - 1
        for place, origin, number in zip(
            ranked.tolist(), froms.tolist(), (ranked - begins[froms]).tolist(), strict=True
        ):
            after = options[origin].after[number]
            if j == length - 1 and not world.is_goal(after):
                continue
            if search.planning and world.is_dead_end(after):
                continue
            places.append(place)
            origins.append(origin)
            done.append(options[origin].actions[number])
            following.append(after)
            if len(following) == beam:
                break
        totals, layer = values[places], following
        layers.append(layer)
        steps.append((origins, done))
    return [
        ScoredTrajectory(*_walk(layers, steps, place), score=total)
        for place, total in enumerate(totals.tolist())
    ]


@njit(cache=True)
def _gains(text: Reals, free: Reals, units: Integers, amounts: Reals) -> Reals:
    """Return the score of each action: its own plus the weighted unit scores."""
    gains = free.copy()
    for action in range(len(free)):
        for place in range(len(units)):
            gains[action] += amounts[place] * text[action, units[place]]
    return gains


@njit(cache=True)
def _best_ways(values: Reals, targets: Integers) -> NDArray[np.int64]:
    """Return the index of the best value of each target, best first."""
    best = np.full(targets.max() + 1, -1)
    for place in range(len(values)):
        known = best[targets[place]]
        if known < 0:
            best[targets[place]] = place
            continue
        size = abs(values[known])
        bound = CLOSE * max(1.0, size) if size < np.inf else 0.0
        if values[place] > values[known] + bound:
            best[targets[place]] = place
    return rank_kept(values, best[best >= 0])


def _walk(
    layers: Sequence[Sequence[State]],
    steps: Sequence[tuple[Sequence[int], Sequence[Action]]],
    place: int,
) -> tuple[tuple[State, ...], tuple[Action, ...]]:
    """Return the states and actions of the path to an entry of the last layer."""
    states, actions = [layers[-1][place]], []
    for before, (origins, done) in zip(reversed(layers[:-1]), reversed(steps), strict=True):
        actions.append(done[place])
        place = origins[place]
        states.append(before[place])
    return tuple(reversed(states)), tuple(reversed(actions))


def alternate(
    scores: UnitScores,
    start: State,
    search: Search,
    length_score: Callable[[int], float],
    lengths: Sequence[int],
    how: Alternation = Alternation(),
) -> list[ScoredTrajectory]:
    """Search for plans of all given lengths; return the distinct plans, best first."""
    random = np.random.default_rng(how.seed)
    every_unit = how.every_unit
    found: dict[tuple[Action, ...], ScoredTrajectory] = {}
    aligned: dict[tuple[Action, ...], tuple[int, ...]] = {}
    for length in lengths:
        starts = 1 if every_unit else how.restarts
        for restart in range(starts):
            alignment = spread(scores.units, length, random if restart else None)
            for _ in range(1 if every_unit else how.rounds):
                weights = _weights(alignment, scores.units, length, every_unit)
                paths = best_path(scores, start, weights, search)
                if not paths:
                    break
                settled = True
                for rank, path in enumerate(paths[: 1 if every_unit else 3]):
                    if path.actions not in found:
                        text, free = scores.actions(list(path.decisions()))
                        score, fresh = align(text.T, last_to_last=how.last_to_last)
                        if how.compare == "score":
                            score += float(free.sum()) + length_score(length)
                        found[path.actions] = replace(path, score=score)
                        aligned[path.actions] = fresh
                    if rank == 0:
                        following = aligned[path.actions]
                        settled = following == alignment
                alignment = following
                if settled:
                    break
    return best_first(list(found.values()))


def _weights(alignment: Sequence[int], units: int, length: int, every_unit: bool) -> Reals:
    if every_unit:
        return np.ones((units, length))
    weights = np.zeros((units, length))
    for unit, action in enumerate(alignment):
        if action >= 0:
            weights[unit, action] = 1.0
    return weights
