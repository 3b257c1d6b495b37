"""Judgement of plans: whether a plan is correct for a demonstration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration
from groundling.world.trajectory import Trajectory


class _Done(Protocol):
    """A plan with its states: a trajectory, or a plan that a follower returned."""

    @property
    def actions(self) -> tuple[Hashable, ...]: ...
    @property
    def states(self) -> tuple[Hashable, ...]: ...


@dataclass(frozen=True)
class Judgement:
    """A judge of plans that compares them with the correct plans of a demonstration.

    >>> from groundling import GroundingGraph
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "dim", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): return GroundingGraph({"lamp": {action: True}})
    >>> shown = Demonstration("light it", Lamp(), "off", ("on",), also=(("dim",),))
    >>> judgement = Judgement.of(CachedEnvironment(Lamp()), shown)
    >>> [judgement.accepts_end(state) for state in ("on", "dim", "off")]
    [True, True, False]
    """

    world: CachedEnvironment
    shown: tuple[Trajectory, ...]
    outcomes: frozenset[Hashable]

    @classmethod
    def of(cls, world: CachedEnvironment, demonstration: Demonstration) -> Judgement:
        """Return a judge for a demonstration; raise an error if an action is impossible."""
        plans = (demonstration.actions, *demonstration.also)
        shown = tuple(world.trace(demonstration.start, e, str(demonstration)) for e in plans)
        return cls.among(world, shown)

    @classmethod
    def among(cls, world: CachedEnvironment, shown: Sequence[Trajectory]) -> Judgement:
        """Return a judge for the given trajectories of correct plans."""
        return cls(world, tuple(shown), frozenset(world.outcome(each.end) for each in shown))

    def accepts_end(self, state: Hashable) -> bool:
        """Return whether a state has the outcome of a correct plan."""
        return self.world.outcome(state) in self.outcomes

    def accepts(self, plan: _Done | None, *, exactly: bool = False) -> bool:
        """Return whether a plan has a correct outcome; False if `plan` is None.

        With `exactly`, the plan must also have the actions of a correct plan.
        """
        if plan is None:
            return False
        if exactly:
            return any(plan.actions == each.actions for each in self.shown)
        return self.accepts_end(plan.states[-1])

    def credit(self, plan: _Done | None) -> float:
        """Return 1 for a correct plan, and partial credit of up to 0.5 for others.

        Partial credit is half the best F1 score of transitions. If an environment has a goal test,
        every plan ends in a goal, so the actions must match exactly.
        """
        if plan is None:
            return 0.0
        if self.accepts(plan, exactly=self.world.has_goal):
            return 1.0
        return max(self._in_common(plan, each) for each in self.shown) / 2

    def _in_common(self, one: _Done, other: _Done) -> float:
        """Return the F1 score between the transitions of two plans."""
        first, second = (
            Counter(pairwise(self.world.outcome(state) for state in each.states))
            for each in (one, other)
        )
        return 2 * (first & second).total() / max(1, first.total() + second.total())


def is_right(world: CachedEnvironment, demonstration: Demonstration, plan: _Done | None) -> bool:
    """Return whether a plan reaches the demonstrated outcome or one of `also`.

    >>> from groundling import GroundingGraph, Plan
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): return GroundingGraph({"lamp": {action: True}})
    >>> shown = Demonstration("light it", Lamp(), "off", ("on",))
    >>> plan = Plan(
    ...     actions=("off", "on"), states=("off", "off", "on"), log_probability=-0.1, confidence=0.9
    ... )
    >>> is_right(CachedEnvironment(Lamp()), shown, plan)
    True
    """
    return Judgement.of(world, demonstration).accepts(plan)
