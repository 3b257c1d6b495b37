"""Joint search over (position in the text, state): read unit by unit, pass on or act."""

from __future__ import annotations

import math

import numpy as np

from groundling.errors import SearchError
from groundling.inference.settings import Search
from groundling.inference.units import UnitScores
from groundling.model.kernels import Reals
from groundling.world.environment import Action, State, World

__all__ = ["transduce"]

_Key = tuple[tuple[Action, ...], int]  # actions so far, whether the present unit named one


def transduce(
    scores: UnitScores, start: State, search: Search, idle: float = 0.0, repeat: float = 0.0
) -> list[tuple[float, tuple[State, ...], tuple[Action, ...]]]:
    """Return plans with their log probabilities, best first.

    Readings that lead to the same actions are summed; `search.beam` bounds how many
    different plans are kept at each position in the text. Actions into dead ends keep their
    share of the probability, but are not followed. `idle` and `repeat` are the costs of the
    lattice (see `groundling.model.lattice`).
    """
    world = scores.world
    passing, again = scores.marks()
    beam = (search.beam or search.budget) if search.planning else 1
    layer: dict[_Key, tuple[float, tuple[State, ...]]] = {((), 0): (0.0, (start,))}
    for unit in range(scores.units):
        passed: dict[_Key, tuple[float, tuple[State, ...]]] = {}
        frontier = layer
        for _ in range(search.max_length + 1):
            if not frontier:
                break
            if len(scores) > search.budget:
                raise SearchError(
                    f"The search asked about {len(scores)} actions from state {start!r} without "
                    "an answer. Raise Search.budget, or lower Search.beam."
                )
            acted: dict[_Key, tuple[float, tuple[State, ...]]] = {}
            gains = _act_scores(scores, [states[-1] for _, states in frontier.values()])
            for (actions, named), (score, states) in frontier.items():
                options = world.actions(states[-1])
                extra = again[unit] if named else 0.0
                values = gains[states[-1]][:, unit] + extra
                total = np.logaddexp.reduce(np.append(values, passing[named, unit]))
                left = score + passing[named, unit] - total - (0.0 if named else idle)
                _merge(passed, (actions, 0), left, states)
                if len(actions) == search.max_length:
                    continue
                for action, value in zip(options, values, strict=True):
                    after = (*states, world.step(states[-1], action))
                    gain = value - total - (repeat if named else 0.0)
                    _merge(acted, ((*actions, action), 1), score + gain, after)
            frontier = _alive(acted, beam, world) if search.planning else _best(acted, beam)
            # What cannot enter the beam of the next unit need not be grown here.
            floor = _floor(passed, beam)
            frontier = {key: item for key, item in frontier.items() if item[0] > floor}
        layer = _best(passed, beam)
    plans = [
        (score, states, actions)
        for (actions, _), (score, states) in layer.items()
        if len(actions) >= search.min_length and world.is_goal(states[-1])
    ]
    return sorted(plans, key=lambda each: -each[0])


def _act_scores(scores: UnitScores, states: list[State]) -> dict[State, Reals]:
    """Return for each state the (actions × units) scores of what can be done there."""
    distinct = list(dict.fromkeys(states))
    pairs = [(state, action) for state in distinct for action in scores.world.actions(state)]
    if not pairs:
        return {state: np.zeros((0, scores.units)) for state in distinct}
    text, free = scores.actions(pairs)
    table = text + free[:, None]
    found, place = {}, 0
    for state in distinct:
        count = len(scores.world.actions(state))
        found[state] = table[place : place + count]
        place += count
    return found


def _merge(
    into: dict[_Key, tuple[float, tuple[State, ...]]],
    key: _Key,
    score: float,
    states: tuple[State, ...],
) -> None:
    known = into.get(key)
    into[key] = (score if known is None else float(np.logaddexp(known[0], score)), states)


def _best(
    layer: dict[_Key, tuple[float, tuple[State, ...]]], beam: int
) -> dict[_Key, tuple[float, tuple[State, ...]]]:
    if len(layer) <= beam:
        return layer
    return dict(sorted(layer.items(), key=lambda item: -item[1][0])[:beam])


def _alive(
    layer: dict[_Key, tuple[float, tuple[State, ...]]], beam: int, world: World
) -> dict[_Key, tuple[float, tuple[State, ...]]]:
    """Return the best that are no dead ends; only as many are asked about as are needed."""
    kept: dict[_Key, tuple[float, tuple[State, ...]]] = {}
    for key, item in sorted(layer.items(), key=lambda item: -item[1][0]):
        if len(kept) == beam:
            break
        if not world.is_dead_end(item[1][-1]):
            kept[key] = item
    return kept


def _floor(layer: dict[_Key, tuple[float, tuple[State, ...]]], beam: int) -> float:
    if len(layer) < beam:
        return -math.inf
    return sorted((score for score, _ in layer.values()), reverse=True)[beam - 1]
