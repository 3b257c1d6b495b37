"""Trajectories: the states of a plan and the actions between them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from groundling.world.graph import GroundingGraph


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The states of a plan from start to end, and the actions between them.

    `graphs` holds the grounding graph of each action, or is empty if they were not requested.

    >>> way = Trajectory(("a", "b", "c"), ("go", "stop"))
    >>> way.start, way.end, len(way), list(way.decisions())
    ('a', 'c', 2, [('a', 'go'), ('b', 'stop')])
    """

    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...] = ()
    graphs: tuple[GroundingGraph, ...] = ()

    @property
    def start(self) -> Hashable:
        """The state before the first action."""
        return self.states[0]

    @property
    def end(self) -> Hashable:
        """The state after the last action."""
        return self.states[-1]

    def __len__(self) -> int:
        return len(self.actions)

    def decisions(self) -> zip[tuple[Hashable, Hashable]]:
        """Return pairs of a state and the action taken in it."""
        return zip(self.states, self.actions, strict=False)

    def extended(self, action: Hashable, after: Hashable) -> Trajectory:
        """Return a trajectory extended by an action and the state after it."""
        return Trajectory((*self.states, after), (*self.actions, action))


@dataclass(frozen=True, slots=True)
class ScoredTrajectory(Trajectory):
    """A trajectory that a search found, with its score."""

    score: float = 0.0
