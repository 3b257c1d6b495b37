"""Options: possible outcomes of a text, with their probabilities and best plans."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from groundling.inference.plan_space import ActionNames
from groundling.plan import Plan
from groundling.ties import rank
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, State


class Option(NamedTuple):
    """An outcome, with its total probability and its most probable plan.

    `text` is how a clarification question names the option.

    >>> Option("sofa", 0.8, Plan(("go",), ("hall", "sofa"), -0.3, 0.8)).plan.end
    'sofa'
    """

    outcome: Hashable
    probability: float
    plan: Plan
    text: str = ""


def _itself(state: State) -> Hashable:
    return state


def group_by_outcome(
    plans: Iterable[Plan], outcome: Callable[[State], Hashable] = _itself
) -> tuple[Option, ...]:
    """Return the outcomes of plans as options, most probable first.

    The probability of an option is the sum over its plans.

    >>> plans = [Plan(("a",), (0, 1), -0.7, 0.5), Plan(("b", "c"), (0, 2, 1), -1.6, 0.2)]
    >>> [(each.outcome, round(each.probability, 2)) for each in group_by_outcome(plans)]
    [(1, 0.7)]
    """
    best: dict[Hashable, Plan] = {}
    totals: dict[Hashable, float] = {}
    for plan in plans:
        end = outcome(plan.end)
        totals[end] = totals.get(end, 0.0) + plan.probability
        if end not in best or plan.log_probability > best[end].log_probability:
            best[end] = plan
    listed = [Option(end, min(total, 1.0), best[end]) for end, total in totals.items()]
    return sort_options(listed)


def sort_options(options: Sequence[Option]) -> tuple[Option, ...]:
    """Sort options by decreasing probability; ties are broken by action names."""
    names = ActionNames()
    order = rank(
        np.array([each.probability for each in options]),
        lambda place: names.plan(options[place].plan.actions),
    )
    return tuple(options[place] for place in order)


def right_outcomes(demonstration: Demonstration) -> frozenset[Hashable]:
    """Return the outcomes of the demonstrated plan and its correct alternatives.

    >>> from groundling import GroundingGraph
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): return GroundingGraph({"lamp": {action: True}})
    >>> sorted(right_outcomes(Demonstration("light it", Lamp(), "off", ("on",), also=(("off",),))))
    ['off', 'on']
    """
    world = CachedEnvironment(demonstration.environment)
    return frozenset(
        world.outcome(world.carry_out(demonstration.start, actions, str(demonstration))[-1])
        for actions in (demonstration.actions, *demonstration.also)
    )
