"""Conversion of search results to plans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.errors import InstructionError, SearchError
from groundling.explain.explanation import Source
from groundling.features.coverage import trust, unexplained_words
from groundling.features.reader import Text
from groundling.inference.decoder import decode, log_softmax
from groundling.inference.plan_space import ActionNames, ScoredPlans
from groundling.inference.search import Search
from groundling.language.literals import Literal
from groundling.models.base import Request, SearchResult
from groundling.models.learnt import Learnt
from groundling.models.memory import Recollection
from groundling.overlay.batch import Reals
from groundling.plan import Plan
from groundling.ties import Name, at_least, rank
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, Environment, State, shorten
from groundling.world.open_values import alike_but_for_sets
from groundling.world.trajectory import ScoredTrajectory, Trajectory

_ALTERNATIVES = 10


def possible_plans(result: SearchResult) -> Sequence[ScoredTrajectory]:
    """Return the plans that can be aligned with the text (finite score)."""
    plans = result.plans
    if isinstance(plans, ScoredPlans) and np.all(plans.scores > -np.inf):
        return plans
    return [plan for plan in plans if plan.score > -np.inf]


@dataclass(frozen=True)
class Decoded:
    """Decoded search results: plans, log probabilities, and the best plan's index."""

    found: Sequence[ScoredTrajectory]
    logs: NDArray[np.float64]
    best: int
    confidence: float
    name: Name
    remembered: Recollection | None = None

    @property
    def answer(self) -> ScoredTrajectory:
        """The plan that decoding chose as the answer."""
        return self.found[self.best]


def decoded(
    learnt: Learnt, request: Request, result: SearchResult, search: Search
) -> Decoded | None:
    """Decode search results; return None if no plan was found."""
    found = possible_plans(result)
    if not found:
        return None
    listed = found if isinstance(found, ScoredPlans) else None
    scores = listed.scores if listed else np.array([plan.score for plan in found])
    recalled: dict[int, Recollection] = {}

    def decisions(place: int) -> Iterable[tuple[State, Action]]:
        return listed.decisions(place) if listed else found[place].decisions()

    if len(found) == 1 and result.normalised:
        # There is nothing to normalise over, but the score is itself a log probability.
        logs = np.minimum(scores / learnt.temperature, 0.0)
    else:
        scores = scores / learnt.temperature
        if not result.settled:
            recalled = learnt.memory.recall(request.text, request.world, decisions, scores)
        for place, each in recalled.items():
            scores[place] += each.amount
        logs = log_softmax(scores)
    settled = 0 if result.settled else None
    paths: Sequence[Sequence[State]] = ()
    if listed and search.decode == "outcome":
        paths = [(end,) for end in listed.ends()]
    elif search.decode != "plan":
        paths = [plan.states for plan in found]
    names = ActionNames()

    def name(place: int) -> Any:
        return names.plan(listed.actions(place) if listed else found[place].actions)

    best, confidence = decode(
        search.decode, logs, paths, request.world.outcome, answer=settled, name=name
    )
    return Decoded(found, logs, best, confidence, name, recalled.get(best))


def answer(learnt: Learnt, request: Request, result: SearchResult, search: Search) -> Plan | None:
    """Return the best plan for a request, or None if no plan was found."""
    told = decoded(learnt, request, result, search)
    return None if told is None else decoded_answer(learnt, request, told, search)


def decoded_answer(learnt: Learnt, request: Request, told: Decoded, search: Search) -> Plan:
    """Return a decoded result as a plan with alternatives."""
    logs = told.logs
    order = [p for p in rank(logs, told.name, _ALTERNATIVES + 1) if p != told.best]
    others = tuple(
        Plan(other.actions, other.states, float(logs[p]), float(np.exp(logs[p])))
        for p, other in ((p, told.found[p]) for p in order[:_ALTERNATIVES])
    )
    chosen = told.answer
    unexplained, trusted = _coverage(learnt, request, chosen)
    confidence = told.confidence * trusted
    return Plan(
        chosen.actions, chosen.states, float(logs[told.best]), confidence,
        at_least(confidence, search.threshold), others,
        Source(learnt.model, learnt.fitted, request, search), unexplained,
        remembered=told.remembered, candidates=_candidates(learnt, request, chosen, others),
    )  # fmt: skip


def _candidates(
    learnt: Learnt, request: Request, chosen: ScoredTrajectory, others: Sequence[Plan]
) -> tuple[Plan, ...]:
    """Return plans for other sets of things that match the description equally well."""
    language = learnt.fitted.encoder.reader.language
    words = {language.fold(word) for sentence in request.text for word in sentence.tokens}
    world = request.world
    if not world.describes(chosen.states[0], chosen.actions) or words & {*language.indefinites}:
        return ()
    same = [plan for plan in others if alike_but_for_sets(plan.actions, chosen.actions)]
    return tuple(plan for plan in same if world.describes(plan.start, plan.actions))


def _coverage(
    learnt: Learnt, request: Request, chosen: ScoredTrajectory
) -> tuple[tuple[str, ...], float]:
    """Return the words that a plan does not explain, and a factor for its confidence."""
    reader = learnt.fitted.encoder.reader

    decisions = list(zip(chosen.states, chosen.actions, strict=False))

    def names() -> Iterable[str]:
        yield from request.world.texts(decisions)
        for state, action in decisions:
            yield from request.world.described_by(state, action)
            for labels in request.world.ground(state, action).node_labels:
                for label in labels:
                    yield label.name
                    if isinstance(label.value, str):
                        yield label.value

    def used(literal: Literal) -> bool:
        return request.world.uses(decisions, literal)

    unexplained = unexplained_words(reader, request.text, names, used)
    size = sum(len(each) for each in request.text) if unexplained else 0
    return unexplained, trust(reader.counts, size, len(unexplained))


def no_plan(world: CachedEnvironment, start: State, search: Search) -> SearchError:
    """Create the error for an initial state from which no plan was found."""
    if not world.actions(start):
        return SearchError(
            f"No action is possible in state {shorten(start)}: the state is final, or "
            "`actions` returns none. Start from another state, or make `actions` return at least "
            "one."
        )
    goal = " that reaches a goal" if world.has_goal else ""
    return SearchError(
        f"No plan of {search.min_length} to {search.max_length} actions{goal} was found from state "
        f"{shorten(start)}. Raise Search.max_length or Search.beam, or run check_environment."
    )


def read_requests(
    learnt: Learnt, requests: Sequence[tuple[Text, Environment, State]]
) -> list[Request]:
    """Parse texts and bind them to their environments."""
    encoder = learnt.fitted.encoder
    texts = encoder.reader.read_many(text for text, _, _ in requests)
    found = [
        Request(text, encoder.bind(environment, text), start)
        for text, (_, environment, start) in zip(texts, requests, strict=True)
    ]
    looked: Request | None = None
    for each in found:
        # Consecutive requests are often about the same state.
        if looked is None or looked.world is not each.world or looked.start is not each.start:
            if looked is None:
                for member in learnt.fitted.members:
                    member.encoder.begin(each.world, each.start)
            each.world.look_at(each.start)
        looked = each
    return found


def listed_requests(requests: Any) -> list[tuple[Text, Environment, State]]:
    """Return requests as a list of (instructions, environment, start) triples.

    Raises `InstructionError` if a request is anything else.
    """
    if isinstance(requests, (str, bytes)) or not isinstance(requests, Iterable):
        wrong = requests
    else:
        listed = list(requests)
        wrong = next((e for e in listed if not isinstance(e, tuple) or len(e) != 3), None)
        if wrong is None and None not in listed:
            return listed
    raise InstructionError(
        "`requests` must be a list of (instructions, environment, start) triples; got an object of "
        f"type {type(wrong).__name__}. Pass one triple for each text."
    )


def score_plans(
    learnt: Learnt, requests: Iterable[tuple[Text, Environment, Sequence[State]]]
) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
    """Score the plans from several possible initial states, given a text.

    For each triple (instructions, environment, starts), yields one list, which has the plans and
    their unnormalised scores under θ for each start. Scores of one text are comparable between
    starts if training used `Demonstration.negative_starts`.

    >>> from groundling import Demonstration, Follower, Search
    >>> from groundling.examples import Lamp
    >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
    >>> follower = Follower(parser="chain", search=Search(max_length=1)).fit(shown)
    >>> for answer in score_plans(follower.learnt_, [("light it", Lamp(), ("off", "on"))]):
    ...     for plans, scores in answer:
    ...         print([plan.actions for plan in plans], scores.argmax())
    [('on',), ('off',)] 0
    [('on',), ('off',)] 0
    """
    encoder = learnt.fitted.encoder
    listed = list(requests)
    texts = encoder.reader.read_many(text for text, _, _ in listed)
    asked = [
        (text, encoder.bind(environment, text), starts)
        for text, (_, environment, starts) in zip(texts, listed, strict=True)
    ]
    return learnt.model.score_starts(learnt.fitted, asked, learnt.search)
