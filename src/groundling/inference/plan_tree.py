"""Plans as a tree: very many of them share how they begin, and few are ever looked at."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from groundling.world.environment import Action, State
from groundling.world.trajectory import ScoredTrajectory, Trajectory

__all__ = ["PlanTree", "ScoredPlans"]

_BYTES = 24  # of a plan: its last action, its last state, where it comes from, its place


class PlanTree(Sequence[Trajectory]):
    """Plans from one start, each kept as an earlier one and one more action.

    >>> tree = PlanTree("a")
    >>> go = tree.grow(0, "go", "b")
    >>> tree.keep([go, tree.grow(go, "stop", "c")])
    >>> [(plan.states, plan.actions) for plan in tree]
    [(('a', 'b'), ('go',)), (('a', 'b', 'c'), ('go', 'stop'))]
    >>> tree.ends()
    ['b', 'c']
    """

    __slots__ = ("_actions", "_parents", "_places", "_states")

    def __init__(self, start: State) -> None:
        self._states: list[State] = [start]
        self._actions: list[Action] = [None]
        self._parents = array("i", [-1])
        self._places = array("i")

    def grow(self, node: int, action: Action, after: State) -> int:
        """Add a plan that goes on where another ends; return its number."""
        self._states.append(after)
        self._actions.append(action)
        self._parents.append(node)
        return len(self._parents) - 1

    def keep(self, nodes: Iterable[int]) -> None:
        """Count some of the plans that have grown among those that the sequence holds."""
        self._places.extend(nodes)

    def state(self, node: int) -> State:
        """Return where a plan ends, by its number."""
        return self._states[node]

    def ends(self) -> list[State]:
        """Return where all plans end."""
        return [self._states[node] for node in self._places]

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes, without states and actions, which are shared."""
        return 500 + _BYTES * len(self._parents)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Trajectory: ...
    @overload
    def __getitem__(self, place: slice) -> list[Trajectory]: ...
    def __getitem__(self, place: int | slice) -> Trajectory | list[Trajectory]:
        if isinstance(place, slice):
            return [self._plan(node) for node in self._places[place]]
        return self._plan(self._places[place])

    def __iter__(self) -> Iterator[Trajectory]:
        return map(self._plan, self._places)

    def _plan(self, node: int) -> Trajectory:
        states, actions = [self._states[node]], []
        while node:
            actions.append(self._actions[node])
            node = self._parents[node]
            states.append(self._states[node])
        return Trajectory(tuple(reversed(states)), tuple(reversed(actions)))


class ScoredPlans(Sequence[ScoredTrajectory]):
    """Plans with their scores, put together when they are looked at.

    >>> tree = PlanTree("a")
    >>> tree.keep([tree.grow(0, "go", "b")])
    >>> ScoredPlans(tree, np.array([2.5]))[0]
    ScoredTrajectory(states=('a', 'b'), actions=('go',), graphs=(), score=2.5)
    """

    def __init__(self, plans: Sequence[Trajectory], scores: NDArray[np.float64]) -> None:
        self._plans: Sequence[Trajectory] = plans
        if isinstance(plans, ScoredPlans):
            self._plans = plans._plans
        self.scores = scores

    def ends(self) -> list[State]:
        """Return where all plans end."""
        if isinstance(self._plans, PlanTree):
            return self._plans.ends()
        return [plan.end for plan in self._plans]

    def __len__(self) -> int:
        return len(self._plans)

    @overload
    def __getitem__(self, place: int) -> ScoredTrajectory: ...
    @overload
    def __getitem__(self, place: slice) -> list[ScoredTrajectory]: ...
    def __getitem__(self, place: int | slice) -> ScoredTrajectory | list[ScoredTrajectory]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        plan = self._plans[place]
        return ScoredTrajectory(plan.states, plan.actions, score=float(self.scores[place]))

    def __iter__(self) -> Iterator[ScoredTrajectory]:
        for plan, score in zip(self._plans, self.scores.tolist(), strict=True):
            yield ScoredTrajectory(plan.states, plan.actions, score=score)
