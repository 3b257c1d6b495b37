"""The average of several models that look at different sides of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee

import numpy as np

from groundling.errors import SettingError
from groundling.features.feature_settings import Features
from groundling.inference.plan_space import ScoredPlans
from groundling.inference.search import Search
from groundling.models.base import (
    FittedModel,
    Member,
    Model,
    Objective,
    Request,
    SearchResult,
    Text,
    TrainingData,
)
from groundling.models.example import Example
from groundling.models.interpretation import Interpretation
from groundling.models.lengths import LengthModel
from groundling.models.plan import PlanModel
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder
from groundling.overlay.settings import Overlay, PlanTerms
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State
from groundling.world.trajectory import Trajectory

_SHARED = ("lexicon", "promote", "stop_words")


@dataclass(frozen=True, repr=False)
class Ensemble(Model):
    """Several models that learn from the same demonstrations and have an equal say.

    Models that look at different sides of a text make different mistakes: one that reads
    along the dependencies and one that reads word by word are together better than either.
    The first member is the follower's own overlay and features; it searches, and the score
    of a plan is the mean over all members.

    Parameters
    ----------
    members
        The further members: each another way to lay text over plans.
    model
        What every member is.

    Examples
    --------
    >>> from groundling import Features, Follower, Overlay
    >>> chain = Member(Overlay(skeleton="chain"), Features(words=("word", "previous")))
    >>> Follower(model=Ensemble([chain])).model.members[0].overlay.skeleton
    'chain'
    """

    members: tuple[Member, ...] = ()
    model: Model = PlanModel()  # noqa: RUF009 - a frozen value

    def check(self, overlay: Overlay, features: Features, rounds: int, search: Search) -> None:
        """Complain of settings that have no effect in this model."""
        if isinstance(self.model, Ensemble):
            raise SettingError("Ensemble.model is a model by itself, not another Ensemble.")
        if not self.members:
            raise SettingError(
                "Ensemble has no further members. Give it some, or use its model by itself."
            )
        for each in self.all_members(overlay, features):
            self.model.check(each.overlay, each.features, rounds, search)
            for name in _SHARED:
                if getattr(each.features, name) != getattr(features, name):
                    raise SettingError(
                        f"All members of an ensemble read the text alike: Features.{name} of a "
                        "member differs from the follower's. Make them equal."
                    )

    def all_members(self, overlay: Overlay, features: Features) -> tuple[Member, ...]:
        """Return all members, the follower's own first."""
        return (Member(overlay, features), *self.members)

    @property
    def member_model(self) -> Model:
        """What each member is."""
        return self.model

    def terms(self) -> PlanTerms:
        """Return which potentials whole plans have."""
        return self.model.terms()

    def first(self, width: int, seed: int) -> Reals:
        """Return the θ that a member begins with."""
        return self.model.first(width, seed)

    def objective(self, data: TrainingData) -> Objective:
        """Return what one member minimises; each learns by itself."""
        return self.model.objective(data)

    def lengths(self, encoder: Encoder, examples: Sequence[Example]) -> LengthModel:
        """Return what is learnt of the lengths of plans by counting."""
        return self.model.lengths(encoder, examples)

    def search(
        self, fitted: FittedModel, requests: Sequence[Request], search: Search
    ) -> Iterator[SearchResult]:
        """Let the first member search, and all score what it found."""
        first, *others = fitted.members
        found, again = tee(self.model.search(first, requests, search))
        plans = (result.plans for result in again)
        rescored = [
            self.model.rescore(each, requests, copy, search)
            for each, copy in zip(others, tee(plans, len(others)), strict=True)
        ]
        for result, *scores in zip(found, *rescored, strict=True):
            if not result.plans:
                yield result
                continue
            own = np.array([plan.score for plan in result.plans])
            mean = np.sum([own, *scores], axis=0) / len(fitted.members)
            yield replace(result, plans=ScoredPlans(result.plans, mean))

    def score_starts(
        self,
        fitted: FittedModel,
        requests: Sequence[tuple[Text, CachedEnvironment, Sequence[State]]],
        search: Search,
    ) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
        """Score the plans from several starts under one text, for many texts."""
        answers = [self.model.score_starts(each, requests, search) for each in fitted.members]
        for same in zip(*answers, strict=True):
            yield [_mean(starts) for starts in zip(*same, strict=True)]

    def interpret(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[Interpretation]:
        """Return the mean of what all members read."""
        each_of = (self.model.interpret(one, request, plans, search) for one in fitted.members)
        return [Interpretation.mean(found) for found in zip(*each_of, strict=True)]

    def scores(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[float]:
        """Return the mean scores of several plans under one text."""
        found = [self.model.scores(one, request, plans, search) for one in fitted.members]
        return list(map(float, np.mean(found, axis=0)))


def _mean(
    answers: Sequence[tuple[Sequence[Trajectory], Reals]],
) -> tuple[Sequence[Trajectory], Reals]:
    """Return plans with the mean of what all members score them."""
    plans, scores = answers[0]
    names = [plan.actions for plan in plans]
    total = scores.copy()
    for others, values in answers[1:]:
        theirs = [plan.actions for plan in others]
        if theirs != names:  # a beam keeps the best first
            place = {actions: number for number, actions in enumerate(theirs)}
            if place.keys() != set(names):
                raise SettingError(
                    "Ensemble cannot compare plans from several starts where plans cannot all be "
                    "enumerated: its members keep different ones. Raise Search.budget, and leave "
                    "planning=True."
                )
            values = values[[place[actions] for actions in names]]
        total += values
    return plans, total / len(answers)
