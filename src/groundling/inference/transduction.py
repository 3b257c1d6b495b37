"""Beam search over states and positions in the text: pass or act at each unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from groundling.errors import SearchError
from groundling.inference.plan_space import ActionNames, best_first
from groundling.inference.search import Search
from groundling.inference.unit_scores import Options, UnitScores
from groundling.overlay.batch import Reals
from groundling.ties import margin, rank, rank_kept
from groundling.world.environment import Action, State
from groundling.world.graph import GroundingGraph
from groundling.world.trajectory import ScoredTrajectory

# Choices besides acting: pass to the next unit, pass after acting, act again.
MARKS = (
    GroundingGraph({"pass": "fresh"}, roles=("pass",)),
    GroundingGraph({"pass": "after"}, roles=("pass",)),
    GroundingGraph({"again": "again"}, roles=("again",)),
)

Layer = dict[tuple[Action, ...], tuple[float, tuple[State, ...]]]
"""The plans so far, by their actions, each with its score and state."""
Merge = Callable[[Layer, tuple[Action, ...], float, tuple[State, ...]], None]


@dataclass(frozen=True)
class Transduction:
    """Settings for reading a text unit by unit.

    Without `allow_multiple`, a unit can name only one action. A unit that names no action costs
    `unaligned_cost`, and each further action of a unit costs `fertility_cost` (see
    `groundling.models.transducer`). The score of a plan is its log probability, plus `length_bonus`
    for each action, plus `normaliser_power` times the log normaliser of each decision.
    """

    allow_multiple: bool = True
    unaligned_cost: float = 0.0
    fertility_cost: float = 0.0
    length_bonus: float = 0.0
    normaliser_power: float = 0.0


@dataclass(frozen=True)
class _Choices:
    """Log probabilities of the choices in a state.

    Each pair has the values before and after the first action of a unit.
    """

    options: Options
    acting: tuple[Reals, Reals]  # units × actions
    passing: tuple[list[float], list[float]]  # units


def transduce(
    scores: UnitScores,
    start: State,
    search: Search,
    how: Transduction = Transduction(),
    merge: Merge | None = None,
) -> list[ScoredTrajectory]:
    """Return plans with their log probabilities, best first.

    Readings with the same actions are merged: their probabilities are summed, or combined by
    `merge`. `search.beam` limits the number of distinct plans at each position in the text, so the
    time is linear in the length of the text. A plan that leads to a dead end keeps its share of the
    probability, but is not extended.
    """
    merge = merge or sum_readings
    reader = _UnitReader(scores, start, search, how, merge)
    layer: Layer = {(): (0.0, (start,))}
    for unit in range(scores.units):
        passed: Layer = {}
        frontier = layer
        for turn in range(search.longest + 1):
            if not frontier:
                break
            if turn and not how.allow_multiple:
                # Passing is the only choice left.
                for actions, (score, states) in frontier.items():
                    merge(passed, actions, score, states)
                break
            frontier = reader.read(unit, int(turn > 0), frontier, passed)
        layer = _best(passed, reader.beam, reader.names)
    plans = [
        ScoredTrajectory(states, actions, score=score)
        for actions, (score, states) in layer.items()
        if len(actions) >= search.min_length and scores.world.is_goal(states[-1])
    ]
    return best_first(plans, reader.names)


class _UnitReader:
    """Extends plans by one unit at a time, and caches the choices in each state."""

    def __init__(
        self,
        scores: UnitScores,
        start: State,
        search: Search,
        how: Transduction,
        merge: Merge,
    ) -> None:
        self.merge = merge
        self.scores = scores
        self.start = start
        self.search = search
        self.beam = (search.beam or search.budget) if search.planning else 1
        self.how = how
        *self.passing, again = scores.marks(MARKS)
        self.extras = (np.zeros_like(again), again)
        if not how.allow_multiple:
            self.extras = (np.zeros_like(again), np.full_like(again, -np.inf))
        self.gains = (how.length_bonus, how.length_bonus - how.fertility_cost)
        self.choices: dict[State, _Choices] = {}
        self.names = ActionNames()

    def read(self, unit: int, named: int, frontier: Layer, passed: Layer) -> Layer:
        """Extend plans by a decision about one unit: to pass over it, or to act.

        Plans that pass are added to `passed`; the best plans that act are returned.
        """
        self._prepare(frontier)
        chosen = [self.choices[states[-1]] for _, states in frontier.values()]
        grown, longest = [], self.search.longest
        for (actions, (score, states)), each in zip(frontier.items(), chosen, strict=True):
            self.merge(passed, actions, score + each.passing[named][unit], states)
            if len(actions) < longest:
                grown.append(score + each.acting[named][unit])
            else:
                grown.append(each.acting[named][unit][:0])
        # Skip plans that cannot reach the beam of the next unit.
        values = np.concatenate(grown)
        kept = rank_kept(values, np.flatnonzero(values > _floor(passed, self.beam)))
        ends = np.cumsum([len(each) for each in grown])
        owners = np.searchsorted(ends, kept, side="right")
        plans = list(frontier.items())
        acted: Layer = {}
        for place, owner in zip(kept.tolist(), owners.tolist(), strict=True):
            actions, (_, states) = plans[owner]
            number = place - int(ends[owner]) + len(grown[owner])
            options = chosen[owner].options
            after = options.after[number]
            if self.search.planning and self.scores.world.is_dead_end(after):
                continue
            acted[(*actions, options.actions[number])] = (float(values[place]), (*states, after))
            if len(acted) == self.beam:
                break
        return acted

    def _prepare(self, frontier: Layer) -> None:
        new = dict.fromkeys(
            states[-1] for _, states in frontier.values() if states[-1] not in self.choices
        )
        if not new:
            return
        if len(self.scores) > self.search.budget:
            raise SearchError(
                f"The search scored {len(self.scores)} actions from state {self.start!r} "
                "without finding a plan. Raise Search.budget, or lower Search.beam."
            )
        for state, options in zip(new, self.scores.options(new), strict=True):
            acting = (options.text + options.free[:, None]).T
            both = []
            for extra, passing in zip(self.extras, self.passing, strict=True):
                everything = np.column_stack([passing, acting + extra[:, None]])
                top = everything.max(axis=1, keepdims=True)
                total = top + np.log(np.exp(everything - top).sum(axis=1, keepdims=True))
                both.append(everything - (1.0 - self.how.normaliser_power) * total)
            self.choices[state] = _Choices(
                options,
                (both[0][:, 1:] + self.gains[0], both[1][:, 1:] + self.gains[1]),
                ((both[0][:, 0] - self.how.unaligned_cost).tolist(), both[1][:, 0].tolist()),
            )


def sum_readings(
    into: Layer, actions: tuple[Action, ...], score: float, states: tuple[State, ...]
) -> None:
    """Add the probability of another reading with the same actions."""
    known = into.get(actions)
    if known is not None and known[0] > -math.inf:
        high, low = max(known[0], score), min(known[0], score)
        score = high + math.log1p(math.exp(low - high))
    into[actions] = (score, states)


def _best(layer: Layer, beam: int, names: ActionNames) -> Layer:
    if len(layer) <= beam:
        return layer
    plans = list(layer.items())
    scores = np.array([score for _, (score, _) in plans])
    order = rank(scores, lambda place: names.plan(plans[place][0]), beam)
    return dict(plans[place] for place in order[:beam])


def _floor(layer: Layer, beam: int) -> float:
    if len(layer) < beam:
        return -math.inf
    lowest = sorted((score for score, _ in layer.values()), reverse=True)[beam - 1]
    return lowest + margin(lowest)
