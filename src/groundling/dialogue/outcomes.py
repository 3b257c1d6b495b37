"""All outcomes that a follower considers: the one module that looks inside a follower."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from groundling import Follower, Plan
from groundling.answers import listed_requests, possible_plans
from groundling.dialogue.options import Option, group_by_outcome
from groundling.features.reader import Text
from groundling.inference.decoder import decode, log_softmax
from groundling.inference.plan_space import ActionNames
from groundling.ties import at_least, rank
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Environment, State

__all__ = ["Request", "all_options", "all_plans", "decoded_plan", "rank_plans", "world_of"]

Request = tuple[Text, Environment, State]
"""Instructions, the environment, and the state to begin in."""


def world_of(follower: Follower, environment: Environment) -> CachedEnvironment:
    """Return the follower's own view of an environment, which remembers what it was asked."""
    return follower._fitted().fitted.encoder.world(environment)


def all_plans(follower: Follower, requests: Iterable[Request]) -> list[list[Plan]]:
    """Return for each request all plans that the search found, in its own order.

    Probabilities are those of `Follower.follow`, at the follower's temperature.
    """
    learnt = follower._fitted()
    asked = follower._requests(listed_requests(requests))
    found = []
    for result in learnt.model.search(learnt.fitted, asked, learnt.search):
        plans = possible_plans(result)
        scores = np.array([plan.score for plan in plans])
        if len(plans) == 1 and result.normalised:
            logs = np.minimum(scores / learnt.temperature, 0.0)
        else:
            logs = log_softmax(scores, learnt.temperature) if len(plans) else scores
        found.append(
            [
                Plan(plan.actions, plan.states, log, math.exp(log))
                for plan, log in zip(plans, logs.tolist(), strict=True)
            ]
        )
    return found


def all_options(follower: Follower, requests: Iterable[Request]) -> list[tuple[Option, ...]]:
    """Return for each request all outcomes that the search found, most probable first.

    `plan.alternatives` holds ten plans; prediction sets of high coverage need all of them.

    >>> from groundling import Demonstration
    >>> from groundling.examples import Lamp
    >>> shown = [Demonstration("light it", Lamp(), "off", ("on",)),
    ...          Demonstration("douse it", Lamp(), "on", ("off",))]
    >>> follower = Follower(parser="chain").fit(shown)
    >>> [options] = all_options(follower, [("light it", Lamp(), "off")])
    >>> [option.outcome for option in options]
    ['on', 'off']
    """
    listed = list(requests)
    return [
        group_by_outcome(plans, world_of(follower, environment).outcome)
        for plans, (_, environment, _) in zip(all_plans(follower, listed), listed, strict=True)
    ]


def rank_plans(plans: Sequence[Plan]) -> list[int]:
    """Return the places of plans by falling probability; ties by the names of their actions."""
    names = ActionNames()
    logs = np.array([plan.log_probability for plan in plans])
    return rank(logs, lambda place: names.plan(plans[place].actions))


def decoded_plan(
    follower: Follower, plans: Sequence[Plan], world: CachedEnvironment, among: Collection[int]
) -> Plan:
    """Return the plan that the follower would answer with, given the probabilities of plans.

    Its alternatives are the other plans at the places `among`.
    """
    search, names = follower._fitted().search, ActionNames()
    best, confidence = decode(
        search.decode,
        np.array([plan.log_probability for plan in plans]),
        [plan.states for plan in plans],
        world.outcome,
        name=lambda place: names.plan(plans[place].actions),
    )
    others = [place for place in rank_plans(plans) if place != best and place in among]
    return replace(
        plans[best],
        confidence=confidence,
        understood=at_least(confidence, search.threshold),
        alternatives=tuple(plans[place] for place in others),
    )
