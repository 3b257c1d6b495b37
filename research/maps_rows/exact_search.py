"""Plan and alignment found together: one exact Viterbi over (unit, action, step of the world).

The alternation of the paper climbs to a plan and an alignment neither of which can be
improved alone. Where the reachable states can be listed, the best pair of all is found in
time units × length × (state, action) pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from groundling.compiling import njit
from groundling.errors import SearchError
from groundling.inference.settings import Search
from groundling.inference.units import Options, UnitScores
from groundling.models.base import FittedModel, Request, SearchResult, TrainingData
from groundling.models.decision import DecisionModel, DecisionObjective
from groundling.overlay.batch import Integers, Reals
from groundling.world.environment import Action, State
from groundling.world.trajectory import ScoredTrajectory

__all__ = ["ExactSearch", "best_together"]

_TOGETHER = 15  # states asked about at once


def best_together(
    scores: UnitScores,
    start: State,
    search: Search,
    length_score: Callable[[int], float],
    lengths: Sequence[int],
    *,
    last_to_last: bool = False,
) -> list[ScoredTrajectory]:
    """Return for each length and end the plan that scores best with its best alignment.

    The first is the maximum over all plans and all monotone alignments of
    ψ(n) + Σ_j ψ(y_j) + Σ_i ψ(x_i, y_{a_i}). Only `search.budget` bounds the search: it
    looks at every state that can be reached.
    """
    states, steps = _reachable(scores, start, search, max(lengths))
    if not steps:
        return []
    origin, target, _ = (np.array(each) for each in zip(*steps, strict=True))
    pairs = [(states[s], action) for s, _, action in steps]
    table, free = scores.actions(pairs)
    text = np.ascontiguousarray(table.T)
    totals, came, best = _viterbi(
        text, free, origin, target, len(states), max(lengths), last_to_last
    )
    found = []
    for length in lengths:
        ends: dict[int, int] = {}  # the best last step into each state
        for step in np.flatnonzero(totals[length - 1] > -np.inf).tolist():
            known = ends.get(int(target[step]))
            if known is None or totals[length - 1, step] > totals[length - 1, known]:
                ends[int(target[step])] = step
        for end, step in ends.items():
            if not scores.world.is_goal(states[end]):
                continue
            walked, _ = _walk(came, best, origin, length, step)
            found.append(
                ScoredTrajectory(
                    (start, *(states[target[each]] for each in walked)),
                    tuple(pairs[each][1] for each in walked),
                    score=float(totals[length - 1, step]) + length_score(length),
                )
            )
    return sorted(found, key=lambda each: -each.score)


def _reachable(
    scores: UnitScores, start: State, search: Search, length: int
) -> tuple[list[State], list[tuple[int, int, Action]]]:
    """Return all states within reach, the start first, and the steps between them."""
    numbers, states = {start: 0}, [start]
    steps: list[tuple[int, int, Action]] = []
    layer = [start]
    for _ in range(length):
        following: list[State] = []
        for state, options in zip(layer, _options(scores, layer), strict=True):
            for action, after in zip(options.actions, options.after, strict=True):
                if scores.world.is_dead_end(after):
                    continue
                if after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                    following.append(after)
                steps.append((numbers[state], numbers[after], action))
        if len(scores) > search.budget:
            raise SearchError(
                f"There are over {search.budget} actions within {length} steps from state "
                f"{start!r}, too many to search exactly. Raise Search.budget."
            )
        if not following:
            break
        layer = following
    return states, steps


def _options(scores: UnitScores, layer: Sequence[State]) -> Iterator[Options]:
    """Ask about a few states at a time, which bounds the memory for long texts."""
    for place in range(0, len(layer), _TOGETHER):
        yield from scores.options(layer[place : place + _TOGETHER])


@njit(cache=True)
def _viterbi(
    text: Reals,  # units × steps
    free: Reals,
    origin: Integers,
    target: Integers,
    states: int,
    length: int,
    last_to_last: bool,
) -> tuple[Reals, Integers, Integers]:
    """Return [action, step] the best total, and what leads there.

    Bit j of `came[i, :, s]` says that, before unit i is read, the best way to have step s as
    the action j comes from another action j - 1; `best[i, j, state]` is the best step for
    action j into a state, at that time.
    """
    units, steps = text.shape
    totals = np.full((length, steps), -np.inf)
    came = np.zeros((units + 1, (length + 7) // 8, steps), np.uint8)
    best = np.full((units + 1, length, states), -1, np.int32)
    for s in range(steps):
        if origin[s] == 0:
            totals[0, s] = free[s]
    for i in range(units + 1):
        if i == units and units > 0 and last_to_last:
            break  # what is done after the last unit has no unit
        for j in range(length - 1):
            for s in range(steps):
                known = best[i, j, target[s]]
                if totals[j, s] > -np.inf and (known < 0 or totals[j, s] > totals[j, known]):
                    best[i, j, target[s]] = s
            for s in range(steps):
                before = best[i, j, origin[s]]
                if before >= 0 and totals[j, before] + free[s] > totals[j + 1, s]:
                    totals[j + 1, s] = totals[j, before] + free[s]
                    came[i, (j + 1) // 8, s] |= np.uint8(1 << (j + 1) % 8)
        if i < units:
            for j in range(length):
                for s in range(steps):
                    totals[j, s] += text[i, s]
    return totals, came, best


def _walk(
    came: Integers, best: Integers, origin: Integers, length: int, step: int
) -> tuple[list[int], list[int]]:
    """Return the steps of a plan, and the action of each unit."""
    units = len(came) - 1
    steps, alignment = [step], []
    j = length - 1
    for i in range(units, -1, -1):
        while came[i, j // 8, step] >> j % 8 & 1:
            j -= 1
            step = int(best[i, j, origin[step]])
            steps.append(step)
        if i:
            alignment.append(j)
    return steps[::-1], alignment[::-1]


@dataclass(frozen=True, repr=False)
class ExactSearch(DecisionModel):
    """A decision model that searches plan and alignment together, and trusts sides less.

    `stiffness` is how many times as strongly features that name a word are penalised by L2,
    whose strength is `l2`.
    """

    stiffness: float = 1.0
    l2: float = 1.0

    def objective(self, data: TrainingData) -> DecisionObjective:
        """Return the loss with the further penalty."""
        return _Stiff(self, data)

    def _search(self, fitted: FittedModel, request: Request, search: Search) -> SearchResult:
        if not search.planning:
            return super()._search(fitted, request, search)
        world, start = request.world, request.start
        search = search.extended(world.extra_length(start))
        assert search.max_length is not None  # given in the preset
        scores = UnitScores(fitted.encoder, fitted.space, fitted.theta, request.text, world)
        lengths = range(search.min_length, search.max_length + 1)
        return SearchResult(
            best_together(
                scores, start, search, lambda n: fitted.lengths.score(n, scores.units), lengths,
                last_to_last=self.last_to_last,
            )
        )  # fmt: skip


class _Stiff(DecisionObjective):
    """The loss with a further penalty on features that name a word."""

    def __init__(self, model: ExactSearch, data: TrainingData) -> None:
        super().__init__(model, data)
        named = np.array([" ∧ " in name for name in data.space.names()], bool)
        self.extra = np.where(named, model.l2 * (model.stiffness - 1.0), 0.0)

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return the loss and its gradient."""
        value, gradient = super().loss(theta)
        penalty = 0.5 * float(self.extra * theta @ theta)
        return value + penalty, gradient + self.extra * theta
