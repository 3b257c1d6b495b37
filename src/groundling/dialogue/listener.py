"""A pragmatic listener, which prefers plans for which people would say the text.

The N most probable plans are reranked by log p(plan | text) + weight · log p(text | plan). The
first term is the follower's probability; the second is that of a speaker trained on the same
demonstrations (Andreas & Klein 2016; Fried et al. 2018). The weight is chosen by cross-validation;
0 disables reranking.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from groundling.dialogue.cross_fit import HeldOutFold, cross_fit
from groundling.dialogue.options import Option, group_by_outcome, right_outcomes
from groundling.dialogue.outcomes import (
    Listener,
    Said,
    all_plans,
    decoded_plan,
    rank_plans,
    world_of,
)
from groundling.dialogue.translation import (
    PlanLabels,
    Reals,
    TranslationModel,
    describe_graphs,
    graphs_of,
    words_of,
)
from groundling.errors import DemonstrationError, SettingError
from groundling.features.reader import Text
from groundling.language.parser import language_of, load_parser
from groundling.plan import Plan
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, Environment, State

MOST_RANKED = 11
"""Number of plans that are reranked; the others keep their probability."""
WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
_TEMPERATURES = (0.7, 1.0, 1.4, 2.0)  # for comparing weights; plans keep the follower's temperature
_FLOOR = 1e-6  # minimum probability of a right outcome in cross-validation


def learn_translation(
    follower: Listener, demonstrations: Iterable[Demonstration]
) -> TranslationModel:
    """Estimate a speaker model p(text | plan) from demonstrations."""
    language = language_of(load_parser(follower.parser))
    texts = [
        (
            words_of(each.instructions, language),
            describe_graphs(
                CachedEnvironment(each.environment).trace(each.start, each.actions).graphs
            ),
        )
        for each in demonstrations
    ]
    return TranslationModel.learn(texts, lexicon=follower.lexicon_, language=language)


@dataclass(frozen=True)
class Trial:
    """The cross-validation result of a weight.

    `likelihood` is the mean log-likelihood of the right outcome, at the temperature that is best
    for the weight: adding the speaker makes probabilities more extreme even if the ranking stays
    the same. `gain` is the improvement over weight 0, and `error` is the standard error of `gain`.
    """

    weight: float
    likelihood: float
    gain: float
    error: float

    @property
    def bound(self) -> float:
        """The gain minus its standard error; the weight with the highest bound is chosen."""
        return self.gain - self.error


@dataclass(frozen=True)
class Reason:
    """The log probability ratio of two plans, decomposed exactly.

    `literal` is the follower's log ratio. `words` contains the speaker's log ratio for each word,
    without the weight. `total` is their weighted sum.
    """

    plan: Plan
    rival: Plan
    weight: float
    literal: float
    words: tuple[tuple[str, float], ...]

    @property
    def speaker(self) -> float:
        """The speaker's log ratio of the whole text."""
        return math.fsum(amount for _, amount in self.words)

    @property
    def total(self) -> float:
        """The log ratio of the plans' probabilities after reranking."""
        return self.literal + self.weight * self.speaker


@dataclass(frozen=True)
class PragmaticListener:
    """A follower whose plans are reranked by a speaker's probability of the text.

    Parameters
    ----------
    follower
        The literal listener.
    model
        The speaker's model (see `learn_translation`).
    weight
        Weight of the speaker's log probabilities; 0 disables reranking.
    trials
        Cross-validation results, one for each weight.

    Examples
    --------
    >>> from groundling import Follower
    >>> from groundling.examples import Lamp
    >>> shown = [Demonstration(text, Lamp(), "dim", (action,), name=text) for text, action in (
    ...     ("light it", "on"), ("light up", "on"), ("douse it", "off"), ("douse all", "off"))]
    >>> follower = Follower(parser="chain").fit(shown, check=False)
    >>> listener = PragmaticListener(follower, learn_translation(follower, shown), weight=0.5)
    >>> plan = listener.follow("douse up", Lamp(), "dim")
    >>> reason = listener.reason("douse up", Lamp(), plan, plan.alternatives[0])
    >>> plan.actions, math.isclose(reason.total, plan.log_probability
    ...                            - plan.alternatives[0].log_probability)
    (('off',), True)
    """

    follower: Listener
    model: TranslationModel
    weight: float
    trials: tuple[Trial, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.weight < math.inf:
            raise SettingError(f"`weight` must be >= 0; got {self.weight}.")

    @classmethod
    def learn(
        cls,
        follower: Listener,
        demonstrations: Iterable[Demonstration] | None = None,
        *,
        parts: int = 4,
        cross_fitted: Sequence[HeldOutFold] | None = None,
        weights: Sequence[float] = WEIGHTS,
    ) -> Self:
        """Train the speaker, and choose its weight by cross-validation.

        `parts` is the number of folds. Pass `cross_fitted` to reuse followers that are already
        trained. The chosen weight is the one with the largest difference between its gain and the
        standard error of the gain; it is 0 if no gain exceeds its standard error.
        """
        given = follower.demonstrations_ if demonstrations is None else demonstrations
        shown = [each for each in given if each.answer is None]
        if not shown:
            raise DemonstrationError(
                "A pragmatic listener needs demonstrations to learn from; got none. Model "
                "files do not store them: pass the demonstrations the follower was trained on."
            )
        cases: list[_Case] = []
        for other, rest, part in (
            cross_fit(follower, shown, parts) if cross_fitted is None else cross_fitted
        ):
            cases += cls(other, learn_translation(other, rest), 0.0)._cases(part)
        trials = _compare(cases, sorted({0.0, *weights}))
        weight = max(trials, key=lambda each: (each.bound, -each.weight)).weight
        return cls(follower, learn_translation(follower, shown), weight, trials)

    def _cases(self, demonstrations: Sequence[Demonstration]) -> list[_Case]:
        requests = [(e.instructions, e.environment, e.start) for e in demonstrations]
        found = []
        for each, plans in zip(demonstrations, all_plans(self.follower, requests), strict=True):
            world = world_of(self.follower, each.environment)
            ends = right_outcomes(each)
            ranked = self._best(plans)
            right = np.array([world.outcome(plan.end) in ends for plan in ranked], dtype=bool)
            logs = np.array([plan.log_probability for plan in ranked])
            if not right.any() or right.all():
                found.append((logs, np.zeros(len(logs)), right))  # equal for every weight
            else:
                speaker = self._words(each.instructions, ranked, world).sum(axis=1)
                found.append((logs, speaker, right))
        return found

    # ---- following --------------------------------------------------------------------------

    def follow_many(self, requests: Iterable[Said]) -> list[Plan]:
        """Return a plan with alternatives for each request, decoded as by the follower.

        Probabilities and confidences are computed after reranking. The plans have no `explain`; use
        `reason` instead.
        """
        listed = list(requests)
        if self.weight == 0:
            return self.follower.follow_many(listed)
        found = []
        for (plans, ranked), (text, environment, start) in zip(
            self._ranked(listed), listed, strict=True
        ):
            if plans:
                world = world_of(self.follower, environment)
                found.append(decoded_plan(self.follower, plans, world, ranked))
            else:  # for an empty search, the follower raises or returns an error
                found.append(self.follower.follow(text, environment, start))
        return found

    def follow(self, instructions: Text, environment: Environment, start: State) -> Plan:
        """Return the most probable plan after reranking."""
        return self.follow_many([(instructions, environment, start)])[0]

    def options(self, requests: Iterable[Said]) -> list[tuple[Option, ...]]:
        """Return all outcomes of each request, most probable first, after reranking."""
        listed = list(requests)
        return [
            group_by_outcome(plans, world_of(self.follower, environment).outcome)
            for plans, (_, environment, _) in zip(self._plans(listed), listed, strict=True)
        ]

    def reason(self, text: Text, environment: Environment, plan: Plan, rival: Plan) -> Reason:
        """Explain why one plan was preferred to another from the same initial state.

        Both must be plans that `follow` considers. The terms of the explanation add up to the log
        ratio of the plans' probabilities.
        """
        [found] = all_plans(self.follower, [(text, environment, plan.start)])
        literal = {each.actions: each.log_probability for each in found}
        for each in (plan, rival):
            if each.actions not in literal:
                raise SettingError(
                    "`plan` and `rival` must be plans that the search finds for this text; "
                    f"got {', '.join(map(str, each.actions))}. Use plans from `follow`."
                )
        words = words_of(text, self.model.wording.language)
        world = world_of(self.follower, environment)
        one, two = self._words(text, [plan, rival], world)
        return Reason(
            plan,
            rival,
            self.weight,
            literal[plan.actions] - literal[rival.actions],
            tuple(zip(words, (one - two).tolist(), strict=True)),
        )

    def _plans(self, requests: Sequence[Said]) -> list[list[Plan]]:
        """Return all plans of each request, the most probable ones reranked."""
        return [plans for plans, _ in self._ranked(requests)]

    def _ranked(self, requests: Sequence[Said]) -> list[tuple[list[Plan], list[int]]]:
        """Return all plans of each request, and the indices of those that are reranked."""
        found = []
        for plans, (text, environment, _) in zip(
            all_plans(self.follower, requests), requests, strict=True
        ):
            order = rank_plans(plans)[:MOST_RANKED]
            found.append((plans, order))
            if len(order) < 2 or self.weight == 0:
                continue
            ranked = [plans[place] for place in order]
            world = world_of(self.follower, environment)
            logs = np.array([each.log_probability for each in ranked])
            speaker = self._words(text, ranked, world).sum(axis=1)
            scores = logs + self.weight * speaker
            logs = scores - np.logaddexp.reduce(scores) + np.logaddexp.reduce(logs)
            for place, log in zip(order, np.minimum(logs, 0.0).tolist(), strict=True):
                plan = plans[place]
                plans[place] = Plan(plan.actions, plan.states, log, math.exp(log))
        return found

    def _best(self, plans: Sequence[Plan]) -> list[Plan]:
        return [plans[place] for place in rank_plans(plans)[:MOST_RANKED]]

    def _words(self, text: Text, plans: Sequence[Plan], world: CachedEnvironment) -> Reals:
        """Return log p(word | plan) for each plan and each word."""
        labels: list[PlanLabels] = [
            describe_graphs(graphs_of(world, plan.states, plan.actions)) for plan in plans
        ]
        words = words_of(text, self.model.wording.language)
        return np.asarray(np.log(self.model.word_probabilities(words, labels)))


_Case = tuple[Reals, Reals, np.ndarray[Any, np.dtype[np.bool_]]]


def _compare(cases: Sequence[_Case], weights: Sequence[float]) -> tuple[Trial, ...]:
    """Return the held-out likelihood of each weight, and its gain over weight 0."""
    without = _likelihoods(cases, 0.0)
    trials = []
    for weight in weights:
        found = _likelihoods(cases, weight)
        gains = found - without
        error = float(gains.std() / math.sqrt(len(gains)))
        trials.append(Trial(weight, float(found.mean()), float(gains.mean()), error))
    return tuple(trials)


def _likelihoods(cases: Sequence[_Case], weight: float) -> Reals:
    """Return the log-likelihood of the right outcomes, at the best temperature."""
    rows = []
    for temperature in _TEMPERATURES:
        row = []
        for logs, speaker, right in cases:
            scores = (logs + weight * speaker) / temperature
            total = np.logaddexp.reduce(scores) if len(scores) else 0.0
            row.append(math.log(max(float(np.exp(scores[right] - total).sum()), _FLOOR)))
        rows.append(row)
    found = np.array(rows)
    return np.asarray(found[found.mean(axis=1).argmax()])
