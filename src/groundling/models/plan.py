"""Whole plans normalised together: the demonstrated plan against all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import ClassVar

import numpy as np

from groundling.features.settings import Features
from groundling.inference.plan_space import (
    beam_plans,
    greedy_plans,
    widen,
)
from groundling.inference.plan_tree import ScoredPlans
from groundling.inference.settings import Search
from groundling.models.base import (
    FittedModel,
    Model,
    Request,
    SearchResult,
    Text,
    TrainingData,
)
from groundling.models.interpretation import Interpretation, free_counts, text_counts
from groundling.models.plan_objective import PlanObjective
from groundling.models.plan_spaces import PlanSpace, PlanSpaces
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import LabelledText
from groundling.overlay.encoding import Instance
from groundling.overlay.settings import Overlay, PlanTerms
from groundling.settings import idle_setting, setting
from groundling.world.environment import State, World
from groundling.world.trajectory import Trajectory

__all__ = ["PlanModel"]

_TOGETHER = 200  # texts scored at once
_PLANS_TOGETHER = 50_000


@dataclass(frozen=True, repr=False)
class PlanModel(Model):
    """The demonstrated plan against all other plans, alignments summed.

    -log p(plan | text), where p is normalised over every plan that can be enumerated from
    the start; where there are too many, over a sample and those that a beam finds.

    Parameters
    ----------
    plan_scores, plan_words
        Whether ψ(n) has weights: the length and the labels of the whole plan, and words with
        these labels.
    advance_scores
        Whether words have weights for going on to another action.
    skip
        What each action costs that is passed over between two aligned words.
    alternatives
        How many plans are sampled where they cannot be enumerated.

    Examples
    --------
    >>> PlanModel(skip=2).check(Overlay.bag(), Features(), 5, Search())
    Traceback (most recent call last):
        ...
    groundling.errors.IdleSettingError: PlanModel.skip has no effect with Overlay.skeleton='bag',
    where words have no links. Leave it out, or use skeleton='tree'.
    """

    lists_plans: ClassVar[bool] = True
    plan_scores: bool = True
    plan_words: bool = False
    advance_scores: bool = False
    skip: float = setting(0.0, least=0)
    alternatives: int = setting(50, least=1)

    @classmethod
    def flat(cls) -> PlanModel:
        """Return the setting that served best on mazes, for `Overlay.flat`."""
        return cls(plan_words=True, advance_scores=True, skip=2.0)

    def check(self, overlay: Overlay, features: Features, rounds: int, search: Search) -> None:
        """Complain of settings that have no effect in this model."""
        if overlay.skeleton == "bag":
            for name in ("advance_scores", "skip"):
                if name in self.changed():
                    raise idle_setting(
                        f"PlanModel.{name}",
                        "with Overlay.skeleton='bag', where words have no links",
                        "Leave it out, or use skeleton='tree'.",
                    )
        if self.plan_words and not self.plan_scores:
            raise idle_setting(
                "PlanModel.plan_words",
                "with plan_scores=False, where plans have no labels",
                "Leave it out, or use plan_scores=True.",
            )

    def terms(self) -> PlanTerms:
        """Return which potentials whole plans have."""
        chosen = asdict(self)
        return PlanTerms(**{each.name: chosen[each.name] for each in fields(PlanTerms)})

    def objective(self, data: TrainingData) -> PlanObjective:
        """Return the loss of demonstrated plans against all others."""
        return PlanObjective(data, self.alternatives)

    # ---- searching ----------------------------------------------------------------------

    def search(
        self, fitted: FittedModel, requests: Sequence[Request], search: Search
    ) -> Iterator[SearchResult]:
        """Score all plans where they can be listed, many texts at once; else search by beam."""
        waiting: list[tuple[Request, PlanSpace]] = []
        for request in requests:
            space = self._listed(fitted, request, search)
            if space is not None:
                waiting.append((request, space))
                if len(waiting) == _TOGETHER:
                    yield from self._score_together(fitted, waiting)
                    waiting = []
                continue
            yield from self._score_together(fitted, waiting)
            waiting = []
            yield self._search_one(fitted, request, search)
        yield from self._score_together(fitted, waiting)

    @staticmethod
    def _listed(fitted: FittedModel, request: Request, search: Search) -> PlanSpace | None:
        if not search.planning:
            return None
        return PlanSpaces.of(fitted.encoder).plans(request.world, request.start, search)

    def _score_together(
        self, fitted: FittedModel, waiting: Sequence[tuple[Request, PlanSpace]]
    ) -> Iterator[SearchResult]:
        texts = [(request.text, [space]) for request, space in waiting]
        for (_, space), [scores] in zip(waiting, self._scores(fitted, texts), strict=True):
            yield SearchResult(ScoredPlans(space.plans, scores))

    @staticmethod
    def _scores(
        fitted: FittedModel, texts: Sequence[tuple[Text, Sequence[PlanSpace]]]
    ) -> Iterator[list[Reals]]:
        """Return for each text the scores of the plans of each space."""
        instances = []
        for text, spaces in texts:
            candidates = [space.candidates for space in spaces if space]
            if candidates:
                graphs = dict.fromkeys(graph for each in candidates for graph in each.graphs)
                labelled = fitted.encoder.label(text, list(graphs))
                instances.append(Instance(labelled.skeleton, labelled.words, candidates))
        found = np.zeros(0)
        if instances:
            scorer = fitted.encoder.encode(instances, fitted.space)
            found = scorer.candidate_scores(fitted.theta)
        place = 0
        for _, spaces in texts:
            scores = []
            for space in spaces:
                scores.append(found[place : place + len(space)])
                place += len(space)
            yield scores

    def rescore(
        self,
        fitted: FittedModel,
        requests: Sequence[Request],
        found: Iterable[Sequence[Trajectory]],
        search: Search,
    ) -> Iterator[Reals]:
        """Return the scores of plans that another model found, many texts at once."""
        waiting: list[tuple[Text, list[PlanSpace]]] = []
        for request, plans in zip(requests, found, strict=True):
            space = self._listed(fitted, request, search)
            if space is None or len(space) != len(plans):  # else all, always in the same order
                space = PlanSpace(plans, fitted.encoder.candidates(request.world, plans))
            waiting.append((request.text, [space]))
            if len(waiting) == _TOGETHER:
                yield from (scores for [scores] in self._scores(fitted, waiting))
                waiting = []
        yield from (scores for [scores] in self._scores(fitted, waiting))

    def _search_one(self, fitted: FittedModel, request: Request, search: Search) -> SearchResult:
        """Search where plans cannot all be listed: by beam, or without looking ahead."""
        world, start = request.world, request.start

        def score(plans: Sequence[Trajectory]) -> Reals:
            space = PlanSpace(plans, fitted.encoder.candidates(world, plans))
            [[scores]] = self._scores(fitted, [(request.text, [space])])
            return scores

        if not search.planning:
            return SearchResult(greedy_plans(world, start, search, score), settled=True)
        return SearchResult(
            widen(lambda wider: beam_plans(world, start, wider, score), search, world)
        )

    def score_starts(
        self,
        fitted: FittedModel,
        requests: Sequence[tuple[Text, World, Sequence[State]]],
        search: Search,
    ) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
        """Score the plans from several starts under one text, for many texts."""
        waiting: list[tuple[Text, list[PlanSpace]]] = []
        count = 0
        for text, world, starts in requests:
            spaces = [self._space(fitted, Request(text, world, start), search) for start in starts]
            waiting.append((text, spaces))
            count += sum(map(len, spaces))
            if count > _PLANS_TOGETHER:
                yield from self._answers(fitted, waiting)
                waiting, count = [], 0
        yield from self._answers(fitted, waiting)

    def _answers(
        self, fitted: FittedModel, waiting: Sequence[tuple[Text, list[PlanSpace]]]
    ) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
        for (_, spaces), scores in zip(waiting, self._scores(fitted, waiting), strict=True):
            yield [(space.plans, values) for space, values in zip(spaces, scores, strict=True)]

    def _space(self, fitted: FittedModel, request: Request, search: Search) -> PlanSpace:
        """Return all plans from a start, or those that the search keeps."""
        space = self._listed(fitted, request, search)
        if space is None:
            found = self._search_one(fitted, request, search).plans
            kept = found if search.planning else found[:1]
            space = PlanSpace(kept, fitted.encoder.candidates(request.world, kept))
        return space

    # ---- interpreting -------------------------------------------------------------------

    def interpret(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[Interpretation]:
        """Return how the text is read, over all alignments with each plan."""
        text, space = self._labelled(fitted, request, plans, search)
        instance = Instance(text.skeleton, text.words, [space.candidates])
        scorer = fitted.encoder.encode([instance], fitted.space)
        potentials = scorer.potentials(fitted.theta)
        scores = scorer.candidate_scores(fitted.theta)
        order = text.order()
        found = []
        for place in range(len(space)):
            posteriors = scorer.posteriors(potentials, 0, place)
            chosen = np.zeros(len(space))
            chosen[place] = 1.0
            total = scorer.weighted_gradient(fitted.theta, chosen, chosen)
            aligned, texts, frees = [], [], []
            first = 0
            for graph in space.candidates.actions(place):
                here = posteriors[:, first : first + len(graph.nodes)]
                first += len(graph.nodes)
                texts.append(text_counts(scorer, graph, here))
                frees.append(free_counts(scorer, graph))
                aligned.append(here[order])
            rest = total - np.sum([*texts, *frees], axis=0)
            rest[np.abs(rest) < 1e-12] = 0.0  # what rounding left of features counted above
            found.append(
                Interpretation(
                    float(scores[place]), tuple(aligned), tuple(texts), tuple(frees), rest
                )
            )
        return found

    def scores(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[float]:
        """Return the scores of several plans under one text."""
        text, space = self._labelled(fitted, request, plans, search)
        instance = Instance(text.skeleton, text.words, [space.candidates])
        scorer = fitted.encoder.encode([instance], fitted.space)
        found: list[float] = scorer.candidate_scores(fitted.theta).tolist()
        return found

    def _labelled(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> tuple[LabelledText, PlanSpace]:
        """Return the text labelled as in the search, where names of all plans label the words."""
        space = PlanSpace(plans, fitted.encoder.candidates(request.world, plans))
        searched = self._listed(fitted, request, search)
        graphs = dict.fromkeys(space.candidates.graphs)
        if searched is not None:
            graphs |= dict.fromkeys(searched.candidates.graphs)
        return fitted.encoder.label(request.text, list(graphs)), space
