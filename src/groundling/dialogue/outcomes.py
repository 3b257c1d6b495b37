"""The outcomes that a follower's search finds, with their probabilities."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from groundling.answers import (
    Decoded,
    decoded,
    decoded_answer,
    listed_requests,
    possible_plans,
    read_requests,
)
from groundling.dialogue.options import Option, sort_options
from groundling.features.lexicon import Lexicon
from groundling.features.reader import Text
from groundling.inference.decoder import decode, log_softmax
from groundling.inference.plan_space import ActionNames, ScoredPlans
from groundling.language.parser import Parser
from groundling.models.base import Request
from groundling.models.learnt import Learnt
from groundling.plan import Plan
from groundling.ties import at_least, rank
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, Environment, State

Said = tuple[Text, Environment, State]
"""A request: instructions, environment and initial state."""


class Listener(Protocol):
    """Protocol for the part of `Follower` that dialogues use."""

    parser: str | Parser

    @property
    def lexicon_(self) -> Lexicon:
        """The lexicon in use, including learnt entries."""

    @property
    def demonstrations_(self) -> tuple[Demonstration, ...]:
        """The training demonstrations; empty if they were not kept."""

    def _fitted(self) -> Learnt: ...

    def chosen(self) -> Self:
        """Return an unfitted follower with the same settings."""

    def fit(self, demonstrations: Iterable[Demonstration], *, check: bool = True) -> Any:
        """Fit the model to demonstrations."""

    def follow_many(self, requests: Iterable[Said]) -> list[Plan]:
        """Return the most probable plan for each request."""

    def follow(self, instructions: Text, environment: Environment, start: State) -> Plan:
        """Return the most probable plan for a text."""


@dataclass(frozen=True)
class Considered:
    """A follower's plan for a request, and the outcomes found, most probable first."""

    request: Request
    plan: Plan
    options: tuple[Option, ...]


def world_of(follower: Listener, environment: Environment) -> CachedEnvironment:
    """Return an environment whose results are kept in the follower's cache."""
    return follower._fitted().fitted.encoder.world(environment)


def consider(follower: Listener, requests: Iterable[Said]) -> list[Considered | None]:
    """Return the plan and the outcomes of each request; None if there is no plan.

    >>> from groundling import Follower
    >>> from groundling.examples import Lamp, lamp_demonstrations
    >>> follower = Follower(parser="chain").fit(lamp_demonstrations())
    >>> [found] = consider(follower, [("light the lamp", Lamp(), "off")])
    >>> found.plan.actions, [each.outcome for each in found.options]
    (('on',), ['on', 'off'])
    """
    learnt = follower._fitted()
    asked = read_requests(learnt, listed_requests(requests))
    found: list[Considered | None] = []
    for request, result in zip(
        asked, learnt.model.search(learnt.fitted, asked, learnt.search), strict=True
    ):
        told = decoded(learnt, request, result, learnt.search)
        if told is None:
            found.append(None)
            continue
        plan = decoded_answer(learnt, request, told, learnt.search)
        found.append(Considered(request, plan, _options(told, request, plan)))
    return found


def chances(
    follower: Listener, requests: Iterable[Said], outcomes: Collection[Hashable]
) -> list[dict[Hashable, float]]:
    """Return the probabilities of given outcomes for each request.

    An outcome that the search does not find has probability 0. This function is faster than
    `consider`, because it creates no plans or options.

    >>> from groundling import Follower
    >>> from groundling.examples import Lamp, lamp_demonstrations
    >>> follower = Follower(parser="chain").fit(lamp_demonstrations())
    >>> [found] = chances(follower, [("light the lamp", Lamp(), "off")], ["on", "dim"])
    >>> found["on"] > 0.5, found["dim"]
    (True, 0.0)
    """
    learnt = follower._fitted()
    asked = read_requests(learnt, listed_requests(requests))
    found = []
    for request, result in zip(
        asked, learnt.model.search(learnt.fitted, asked, learnt.search), strict=True
    ):
        told = decoded(learnt, request, result, learnt.search)
        totals = dict.fromkeys(outcomes, 0.0)
        if told is not None:
            shares: dict[State, float] = {}
            for end, share in zip(_ends(told), np.exp(told.logs).tolist(), strict=True):
                shares[end] = shares.get(end, 0.0) + share
            for end, share in shares.items():
                outcome = request.world.outcome(end)
                if outcome in totals:
                    totals[outcome] += share
        found.append(totals)
    return found


def _ends(told: Decoded) -> Sequence[State]:
    listed = told.found
    return (
        listed.ends() if isinstance(listed, ScoredPlans) else [plan.states[-1] for plan in listed]
    )


def _options(told: Decoded, request: Request, answer: Plan) -> tuple[Option, ...]:
    """Return the outcomes of a search, with their probabilities and best plans."""
    listed, ends = told.found, _ends(told)
    totals: dict[Hashable, float] = {}
    best: dict[Hashable, int] = {}
    outcomes: dict[Hashable, Hashable] = {}
    logs = told.logs.tolist()
    for place, (end, log) in enumerate(zip(ends, logs, strict=True)):
        if end not in outcomes:
            outcomes[end] = request.world.outcome(end)
        outcome = outcomes[end]
        totals[outcome] = totals.get(outcome, 0.0) + math.exp(log)
        if outcome not in best or log > logs[best[outcome]]:
            best[outcome] = place
    best[request.world.outcome(answer.end)] = told.best
    options = []
    for outcome, place in best.items():
        chosen, chance = listed[place], min(totals[outcome], 1.0)
        plan = answer if place == told.best else Plan(
            chosen.actions, chosen.states, logs[place], chance, alternatives=(answer,),
            _source=answer._source,
        )  # fmt: skip
        options.append(Option(outcome, chance, plan))
    return sort_options(options)


def all_plans(follower: Listener, requests: Iterable[Said]) -> list[list[Plan]]:
    """Return all plans that the search finds for each request, in search order.

    Probabilities are those of `Follower.follow`, at the follower's temperature.
    """
    learnt = follower._fitted()
    asked = read_requests(learnt, listed_requests(requests))
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


def all_options(follower: Listener, requests: Iterable[Said]) -> list[tuple[Option, ...]]:
    """Return all outcomes that the search finds for each request, most probable first.

    A plan has at most ten `alternatives`, too few for prediction sets of high coverage.

    >>> from groundling import Demonstration, Follower
    >>> from groundling.examples import Lamp
    >>> shown = [Demonstration("light it", Lamp(), "off", ("on",)),
    ...          Demonstration("douse it", Lamp(), "on", ("off",))]
    >>> follower = Follower(parser="chain").fit(shown)
    >>> [options] = all_options(follower, [("light it", Lamp(), "off")])
    >>> [option.outcome for option in options]
    ['on', 'off']
    """
    return [() if each is None else each.options for each in consider(follower, requests)]


def rank_plans(plans: Sequence[Plan]) -> list[int]:
    """Return the indices of plans, most probable first; action names break ties."""
    names = ActionNames()
    logs = np.array([plan.log_probability for plan in plans])
    return rank(logs, lambda place: names.plan(plans[place].actions))


def decoded_plan(
    follower: Listener, plans: Sequence[Plan], world: CachedEnvironment, among: Collection[int]
) -> Plan:
    """Choose one of several plans by its probability, as the follower decodes plans.

    The alternatives of the returned plan are the other plans whose index is in `among`.
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
