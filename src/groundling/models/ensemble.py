"""Ensembles: the average of several models with different overlays or features."""

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
    """An equally weighted ensemble of models trained on the same demonstrations.

    Models with different views of a text make different mistakes, so for instance a dependency-tree
    model and a word-by-word model can do better together than either alone. The first member uses
    the follower's own overlay and features, and searches for plans. The score of a plan is the mean
    over all members.

    Parameters
    ----------
    members
        The additional members, each with its own overlay and features.
    model
        The model of every member.

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
        """Raise an error for settings that are invalid or have no effect in this model."""
        if isinstance(self.model, Ensemble):
            raise SettingError(
                "Ensemble.model must be a single model; got another Ensemble. Use PlanModel, "
                "DecisionModel or TransducerModel."
            )
        if not self.members:
            raise SettingError(
                "Ensemble.members must contain at least one member; got none. Add members, or use "
                "Ensemble.model on its own."
            )
        for each in self.all_members(overlay, features):
            self.model.check(each.overlay, each.features, rounds, search)
            for name in _SHARED:
                if getattr(each.features, name) != getattr(features, name):
                    raise SettingError(
                        f"Features.{name} of every Ensemble member must equal the follower's; got "
                        "a member with another value. Make them equal."
                    )

    def all_members(self, overlay: Overlay, features: Features) -> tuple[Member, ...]:
        """Return all members; the first has the follower's own settings."""
        return (Member(overlay, features), *self.members)

    @property
    def member_model(self) -> Model:
        """The model that every member uses."""
        return self.model

    def terms(self) -> PlanTerms:
        """Return the settings for potentials of whole plans."""
        return self.model.terms()

    def first(self, width: int, seed: int) -> Reals:
        """Return the weights from which the training of a member starts."""
        return self.model.first(width, seed)

    def objective(self, data: TrainingData) -> Objective:
        """Return the objective of one member; each member is trained separately."""
        return self.model.objective(data)

    def lengths(self, encoder: Encoder, examples: Sequence[Example]) -> LengthModel:
        """Return a length model fitted to the examples."""
        return self.model.lengths(encoder, examples)

    def search(
        self, fitted: FittedModel, requests: Sequence[Request], search: Search
    ) -> Iterator[SearchResult]:
        """Yield the plans found by the first member, scored by all members."""
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
        """Yield, for each text, the plans from each start, with mean scores."""
        answers = [self.model.score_starts(each, requests, search) for each in fitted.members]
        for same in zip(*answers, strict=True):
            yield [_mean(starts) for starts in zip(*same, strict=True)]

    def interpret(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[Interpretation]:
        """Return the mean of the interpretations by all members."""
        each_of = (self.model.interpret(one, request, plans, search) for one in fitted.members)
        return [Interpretation.mean(found) for found in zip(*each_of, strict=True)]

    def scores(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[float]:
        """Return the mean scores of plans over all members."""
        found = [self.model.scores(one, request, plans, search) for one in fitted.members]
        return list(map(float, np.mean(found, axis=0)))


def _mean(
    answers: Sequence[tuple[Sequence[Trajectory], Reals]],
) -> tuple[Sequence[Trajectory], Reals]:
    """Return the plans with their mean scores over all members."""
    plans, scores = answers[0]
    names = [plan.actions for plan in plans]
    total = scores.copy()
    for others, values in answers[1:]:
        theirs = [plan.actions for plan in others]
        if theirs != names:  # the plans of a beam are ordered by score
            place = {actions: number for number, actions in enumerate(theirs)}
            if place.keys() != set(names):
                raise SettingError(
                    "Ensemble cannot compare plans from several starts unless all plans can be "
                    "enumerated, because its members keep different plans. Raise Search.budget, "
                    "and use planning=True."
                )
            values = values[[place[actions] for actions in names]]
        total += values
    return plans, total / len(answers)
