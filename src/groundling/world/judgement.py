"""Whether a plan is right: the one place that decides it."""

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
    """A plan that was carried out: a trajectory, or the answer of a follower."""

    @property
    def actions(self) -> tuple[Hashable, ...]: ...
    @property
    def states(self) -> tuple[Hashable, ...]: ...


@dataclass(frozen=True)
class Judgement:
    """What is right for a demonstration: its plan and those of `also`.

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
        """Carry out what was demonstrated; an impossible action is an error."""
        plans = (demonstration.actions, *demonstration.also)
        shown = tuple(world.trace(demonstration.start, e, str(demonstration)) for e in plans)
        return cls.among(world, shown)

    @classmethod
    def among(cls, world: CachedEnvironment, shown: Sequence[Trajectory]) -> Judgement:
        """Judge by plans that were carried out before."""
        return cls(world, tuple(shown), frozenset(world.outcome(each.end) for each in shown))

    def accepts_end(self, state: Hashable) -> bool:
        """Tell whether a plan that ends in a state has the outcome of a plan that was shown."""
        return self.world.outcome(state) in self.outcomes

    def accepts(self, plan: _Done | None, *, exactly: bool = False) -> bool:
        """Tell whether a plan is right: it ends as one that was shown; no plan is not right.

        With `exactly`, its actions must be those of one that was shown.
        """
        if plan is None:
            return False
        if exactly:
            return any(plan.actions == each.actions for each in self.shown)
        return self.accepts_end(plan.states[-1])

    def credit(self, plan: _Done | None) -> float:
        """Return 1 for a right plan, and for another half of what it has in common.

        In a world with a goal, where all plans end, the actions must be right.
        """
        if plan is None:
            return 0.0
        if self.accepts(plan, exactly=self.world.has_goal):
            return 1.0
        return max(self._in_common(plan, each) for each in self.shown) / 2

    def _in_common(self, one: _Done, other: _Done) -> float:
        """Return the F1 score of transitions from outcome to outcome."""
        first, second = (
            Counter(pairwise(self.world.outcome(state) for state in each.states))
            for each in (one, other)
        )
        return 2 * (first & second).total() / max(1, first.total() + second.total())


def is_right(world: CachedEnvironment, demonstration: Demonstration, plan: _Done | None) -> bool:
    """Tell whether a plan ends as a demonstration, or one of its `also` plans, does.

    >>> from groundling import GroundingGraph, Plan
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): return GroundingGraph({"lamp": {action: True}})
    >>> shown = Demonstration("light it", Lamp(), "off", ("on",))
    >>> plan = Plan(("off", "on"), ("off", "off", "on"), -0.1, 0.9)
    >>> is_right(CachedEnvironment(Lamp()), shown, plan)
    True
    """
    return Judgement.of(world, demonstration).accepts(plan)
