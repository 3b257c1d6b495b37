"""The plan model, normalised over whole plans."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import ClassVar

import numpy as np

from groundling.cache import Cache, CacheBudget
from groundling.features.feature_settings import Features
from groundling.inference.plan_space import (
    PlanScorer,
    ScoredPlans,
    beam_plans,
    enumerate_plans,
    greedy_plans,
    is_factored,
    nearby_plans,
    sample_plans,
    widen,
)
from groundling.inference.search import Search
from groundling.models.base import (
    FittedModel,
    Model,
    Objective,
    Request,
    SearchResult,
    Text,
    TrainingData,
)
from groundling.models.example import Example
from groundling.models.interpretation import Interpretation, free_counts, text_counts
from groundling.overlay.batch import Reals
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates, graphs_of
from groundling.overlay.encoder import Encoder, LabelledText
from groundling.overlay.scorer import Scorer
from groundling.overlay.settings import Overlay, PlanTerms
from groundling.settings import idle_setting, setting
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, State
from groundling.world.trajectory import Trajectory


@dataclass(frozen=True, eq=False, slots=True)
class PlanSpace:
    """A list of plans, and the same plans as encoded candidates.

    `whole` is the larger space of which this space is a subset, if any.
    """

    plans: Sequence[Trajectory]
    candidates: Candidates
    whole: PlanSpace | None = None

    def __len__(self) -> int:
        return len(self.plans)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.plans)

    def __getitem__(self, place: int) -> Trajectory:
        return self.plans[place]


class PlanSpaces:
    """LRU cache of an encoder's plan spaces, by world, start and limits."""

    def __init__(self, encoder: Encoder, budget: CacheBudget | None = None) -> None:
        self.encoder = encoder
        self.budget = encoder.budget if budget is None else budget
        self._known: Cache[
            tuple[CachedEnvironment, State, tuple[int, ...]], PlanSpace | _TooMany
        ] = Cache(self.budget)

    @classmethod
    def of(cls, encoder: Encoder) -> PlanSpaces:
        """Return the plan spaces cached with an encoder."""
        found = encoder.memory.get("plan spaces")
        if found is None:
            found = encoder.memory["plan spaces"] = cls(encoder)
        assert isinstance(found, cls)
        return found

    @property
    def bytes(self) -> int:
        """Return 0, because the shared budget already counts these bytes."""
        return 0

    def plans(self, world: CachedEnvironment, start: State, search: Search) -> PlanSpace | None:
        """Return all plans from a start, or None if there are too many."""
        limits = (search.min_length, search.longest, search.budget, world.generation)
        key = (world, start, limits)
        found = self._known.get(key)
        if found is None:
            plans = enumerate_plans(world, start, search)
            if plans is None:
                found = _TOO_MANY
                self._known.put(key, found, 0)
            else:
                listed = (
                    self.encoder.candidates_from(world, start)
                    if plans.is_ahead
                    else self.encoder.candidates(world, plans)
                )
                found = PlanSpace(plans, listed)
                self._known.put(key, found, plans.nbytes + found.candidates.nbytes)
        return None if isinstance(found, _TooMany) else found


class _TooMany:
    """Placeholder for plan spaces that are too large to enumerate."""


_TOO_MANY = _TooMany()


class PlanObjective(Objective):
    """The loss of demonstrated plans against all other plans, summed over alignments."""

    def __init__(self, data: TrainingData, alternatives: int) -> None:
        self.alternatives = alternatives
        self.data = data
        self.spaces = PlanSpaces.of(data.encoder)
        self.complete = True
        self.plans: list[PlanSpace] = []  # of each example, shared between equal starts
        self.further: list[list[Trajectory]] = []  # additional plans of each example
        self.gold: list[list[int]] = []
        self.negative: list[list[PlanSpace]] = []  # from negative starts, so never correct
        apart: dict[tuple[int, Hashable], PlanSpace] = {}
        for place, example in enumerate(data.examples):
            data.report("listing plans", place)
            self._add(example, self._from(example, example.trajectory.start))
            found = (
                self._others(example, self._from(example, start), apart)
                for start in example.demonstration.negative_starts
            )
            self.negative.append([space for space in found if space])
        self.graphs = [
            graphs_of([each.candidates for each in (*self._spaces(place), *self.negative[place])])
            for place in range(len(data.examples))
        ]

    def encode(self) -> None:
        """Label the texts, and encode them with their plans."""
        self.texts = self.data.label(self.graphs, separate=False)
        self.scorer = self.data.encode(self._instances())
        self.check_possible()

    def _from(self, example: Example, start: State) -> PlanSpace:
        space = self.spaces.plans(example.world, start, self.data.search)
        if space is None and is_factored(example.world, start):
            shown = [each for each in (example.trajectory, *example.also) if each.start == start]
            near = (each for one in shown for each in nearby_plans(example.world, one))
            plans = list({each.actions: each for each in near}.values())
            return PlanSpace(plans, self.data.encoder.candidates(example.world, plans))
        if space is None:
            self.complete, self.realigns = False, True
            plans = sample_plans(
                example.world, start, self.data.search, self.alternatives, self.data.random
            )
            space = PlanSpace(plans, self.data.encoder.candidates(example.world, plans))
        return space

    def _others(
        self, example: Example, space: PlanSpace, apart: dict[tuple[int, Hashable], PlanSpace]
    ) -> PlanSpace:
        """Return the plans from a negative start without the demonstrated outcome."""
        world = example.world
        end = world.outcome(example.trajectory.end)
        key = (id(space), end)
        if key not in apart or apart[key].whole is not space:
            others = [plan for plan in space if world.outcome(plan.end) != end]
            candidates = space.candidates
            if len(others) < len(space):
                candidates = self.data.encoder.candidates(world, others)
            # Refer to the whole space, so that its id is not reused.
            apart[key] = PlanSpace(others, candidates, whole=space)
        return apart[key]

    def _add(self, example: Example, space: PlanSpace) -> None:
        world, further = example.world, []
        wanted = {each.actions for each in (example.trajectory, *example.also)}
        gold = [place for place, plan in enumerate(space) if plan.actions in wanted]
        if not gold:
            # The plan is too long for the space: accept the shortest plans with its outcome.
            end = world.outcome(example.trajectory.end)
            alike = [
                (len(plan), place)
                for place, plan in enumerate(space)
                if world.outcome(plan.end) == end
            ]
            shortest = min((length for length, _ in alike), default=0)
            gold = [place for length, place in alike if length == shortest]
        if not gold:
            further = [example.trajectory]
            gold = [len(space)]
        self.plans.append(space)
        self.further.append(further)
        self.gold.append(gold)

    def _spaces(self, place: int) -> list[PlanSpace]:
        """Return the plan spaces of an example from its demonstrated start."""
        further, world = self.further[place], self.data.examples[place].world
        if not further:
            return [self.plans[place]]
        candidates = self.data.encoder.candidates(world, further)
        return [self.plans[place], PlanSpace(further, candidates)]

    def _instances(self) -> list[Instance]:
        return [
            Instance(
                text.skeleton,
                text.words,
                [each.candidates for each in (*self._spaces(place), *self.negative[place])],
                self.gold[place],
                example.weight,
            )
            for place, (example, text) in enumerate(
                zip(self.data.examples, self.texts, strict=True)
            )
        ]

    def realign(self, theta: Reals) -> bool:
        """Add competing plans from a beam search, if the plans of an example are a sample."""
        if self.complete:
            return False
        grown = False
        for place, example in enumerate(self.data.examples):
            score = self._scorer(place, theta)
            known = {plan.actions for space in self._spaces(place) for plan in space}
            new = self._new(example.world, example.trajectory.start, score, known)
            self.further[place] = [*self.further[place], *new]
            grown |= bool(new)
            for number, space in enumerate(self.negative[place]):
                known = {plan.actions for plan in space}
                new = self._new(example.world, space[0].start, score, known)
                if new:
                    plans = [*space, *new]
                    candidates = self.data.encoder.candidates(example.world, plans)
                    self.negative[place][number] = PlanSpace(plans, candidates)
                    grown = True
        if grown:
            self.scorer = self.data.encoder.encode(
                self._instances(), self.data.space, threads=self.data.threads
            )
        return grown

    def _scorer(self, place: int, theta: Reals) -> PlanScorer:
        """Return a function that scores plans given the text of an example."""
        encoder, text = self.data.encoder, self.texts[place]
        world = self.data.examples[place].world

        def score(plans: Sequence[Trajectory]) -> Reals:
            candidates = encoder.candidates(world, plans)
            instance = Instance(text.skeleton, text.words, [candidates])
            return encoder.encode([instance], self.data.space).candidate_scores(theta)

        return score

    def _new(
        self,
        world: CachedEnvironment,
        start: State,
        score: PlanScorer,
        known: set[tuple[Action, ...]],
    ) -> list[Trajectory]:
        """Return the plans found by a beam search, except known ones."""
        found = beam_plans(world, start, self.data.search, score)
        return [plan for plan in found if plan.actions not in known]


_TOGETHER = 200  # texts scored in a batch
_PLANS_TOGETHER = 50_000


@dataclass(frozen=True, repr=False)
class PlanModel(Model):
    """A model that compares the demonstrated plan with all other plans.

    The loss is -log p(plan | text), summed over alignments, where p is normalised over all plans
    from the start. If there are too many plans to enumerate, p is normalised over a sample of plans
    and those found by beam search.

    Parameters
    ----------
    plan_scores, plan_words
        Whether ψ(n) has weights: for the length and labels of the whole plan, and for words
        joined with these labels.
    advance_scores
        Whether words have weights for a link that leads to another action.
    skip
        Cost of each action skipped between two aligned words.
    alternatives
        Number of plans to sample if they cannot be enumerated.

    Examples
    --------
    >>> PlanModel(skip=2)
    PlanModel(skip=2.0)
    >>> PlanModel(skip=2).check(Overlay.bag(), Features(), 5, Search())
    Traceback (most recent call last):
        ...
    groundling.errors.IdleSettingError: PlanModel.skip has no effect with Overlay.skeleton='bag',
    which removes the links between words. Leave it out, or use skeleton='tree'.
    """

    lists_plans: ClassVar[bool] = True
    plan_scores: bool = True
    plan_words: bool = False
    advance_scores: bool = False
    skip: float = setting(0.0, least=0)
    alternatives: int = setting(50, least=1)

    @classmethod
    def flat(cls) -> PlanModel:
        """Return the preset for mazes, to be used with `Overlay.flat`."""
        return cls(plan_words=True, advance_scores=True, skip=2.0)

    def check(self, overlay: Overlay, features: Features, rounds: int, search: Search) -> None:
        """Raise an error for settings that have no effect in this model."""
        if overlay.skeleton == "bag":
            for name in ("advance_scores", "skip"):
                if name in self.changed():
                    raise idle_setting(
                        f"PlanModel.{name}",
                        "with Overlay.skeleton='bag', which removes the links between words",
                        "Leave it out, or use skeleton='tree'.",
                    )
        if self.plan_words and not self.plan_scores:
            raise idle_setting(
                "PlanModel.plan_words",
                "with plan_scores=False, without which plans have no labels",
                "Leave it out, or use plan_scores=True.",
            )

    def terms(self) -> PlanTerms:
        """Return the settings for potentials of whole plans."""
        chosen = asdict(self)
        return PlanTerms(**{each.name: chosen[each.name] for each in fields(PlanTerms)})

    def objective(self, data: TrainingData) -> PlanObjective:
        """Return the loss of demonstrated plans against all others."""
        return PlanObjective(data, self.alternatives)

    # ---- searching ----------------------------------------------------------------------

    def search(
        self, fitted: FittedModel, requests: Sequence[Request], search: Search
    ) -> Iterator[SearchResult]:
        """Yield the scored plans of each request: all plans, or those of a beam search.

        A beam search is used if there are too many plans to enumerate.
        """
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
        """Yield, for each text, the scores of the plans in each of its plan spaces."""
        instances = []
        for text, spaces in texts:
            candidates = [space.candidates for space in spaces if space]
            if candidates:
                labelled = fitted.encoder.label(text, graphs_of(candidates))
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
        """Yield the scores of plans that another model found, computed in batches."""
        waiting: list[tuple[Text, list[PlanSpace]]] = []
        for request, plans in zip(requests, found, strict=True):
            space = self._listed(fitted, request, search)
            # If the lengths are equal, both lists have all plans in the same order.
            if space is None or len(space) != len(plans):
                space = PlanSpace(plans, fitted.encoder.candidates(request.world, plans))
            waiting.append((request.text, [space]))
            if len(waiting) == _TOGETHER:
                yield from (scores for [scores] in self._scores(fitted, waiting))
                waiting = []
        yield from (scores for [scores] in self._scores(fitted, waiting))

    def _search_one(self, fitted: FittedModel, request: Request, search: Search) -> SearchResult:
        """Run a beam search or, without planning, a reflex agent."""
        world, start = request.world, request.start

        def score(plans: Sequence[Trajectory]) -> Reals:
            if world.grounds_alone and all(len(each) == 1 for each in plans):
                candidates = fitted.encoder.candidates_from(world, start, plans)
            else:
                candidates = fitted.encoder.candidates(world, plans)
            [[scores]] = self._scores(fitted, [(request.text, [PlanSpace(plans, candidates)])])
            return scores

        if not search.planning:
            return SearchResult(greedy_plans(world, start, search, score), settled=True)
        return SearchResult(
            widen(lambda wider: beam_plans(world, start, wider, score), search, world)
        )

    def score_starts(
        self,
        fitted: FittedModel,
        requests: Sequence[tuple[Text, CachedEnvironment, Sequence[State]]],
        search: Search,
    ) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
        """Yield, for each text, the plans from each start, with their scores."""
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
        """Return all plans from a start or, if they are too many, those that a search finds."""
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
        """Return interpretations of the text given each plan, summed over all alignments."""
        text, space, scorer = self._encoded(fitted, request, plans, search)
        potentials = scorer.potentials(fitted.theta)
        scores = scorer.candidate_scores(fitted.theta)
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
                aligned.append(text.by_word(here))
            rest = total - np.sum([*texts, *frees], axis=0)
            rest[np.abs(rest) < 1e-12] = 0.0  # rounding errors
            found.append(
                Interpretation(
                    float(scores[place]), tuple(aligned), tuple(texts), tuple(frees), rest
                )
            )
        return found

    def scores(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[float]:
        """Return the score of each plan, given the text of the request."""
        *_, scorer = self._encoded(fitted, request, plans, search)
        found: list[float] = scorer.candidate_scores(fitted.theta).tolist()
        return found

    def _encoded(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> tuple[LabelledText, PlanSpace, Scorer]:
        """Return the text encoded with the given plans, with words labelled as in search."""
        space = PlanSpace(plans, fitted.encoder.candidates(request.world, plans))
        searched = self._listed(fitted, request, search)
        graphs = dict.fromkeys(space.candidates.graphs)
        if searched is not None:
            graphs |= dict.fromkeys(searched.candidates.graphs)
        text = fitted.encoder.label(request.text, list(graphs))
        instance = Instance(text.skeleton, text.words, [space.candidates])
        return text, space, fitted.encoder.encode([instance], fitted.space)
