"""The protocol of a model: an objective of demonstrations, plans of a text, reasons of a plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DemonstrationError, SettingError
from groundling.features.feature_settings import Features
from groundling.features.space import FeatureSpace
from groundling.inference.search import Search
from groundling.language.instruction import Instruction
from groundling.models.example import Example
from groundling.models.interpretation import Interpretation
from groundling.models.lengths import LengthModel
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder, LabelledText
from groundling.overlay.graphs import LaidOutGraph
from groundling.overlay.scorer import Scorer
from groundling.overlay.settings import Overlay, PlanTerms
from groundling.settings import Settings
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State
from groundling.world.trajectory import ScoredTrajectory, Trajectory

Text: TypeAlias = tuple[Instruction, ...]
Tell: TypeAlias = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and of how much."""


@dataclass(frozen=True)
class Request:
    """Something to follow: a text that was read, where, and from which state."""

    text: Text
    world: CachedEnvironment
    start: State


@dataclass(frozen=True)
class SearchResult:
    """The plans that a search found, with their scores.

    Parameters
    ----------
    plans
        Scored plans; without planning, the reflex agent's own comes first.
    settled
        Whether the first plan is the answer, whatever the others score.
    normalised
        Whether scores are log probabilities by themselves, even if one plan only was found.
    """

    plans: Sequence[ScoredTrajectory]
    settled: bool = False
    normalised: bool = False


@dataclass(frozen=True)
class FittedModel:
    """What one model has learnt: how it encodes, its features and weights, lengths of plans.

    `others` are the further members of an ensemble.
    """

    features: Features
    encoder: Encoder
    space: FeatureSpace
    theta: Reals
    lengths: LengthModel = field(default_factory=LengthModel)
    seed: int = 0
    others: tuple[FittedModel, ...] = ()

    @property
    def members(self) -> tuple[FittedModel, ...]:
        """The model and the further members of its ensemble, each by itself."""
        return (replace(self, others=()), *self.others) if self.others else (self,)

    def pruned(self, most: int) -> FittedModel:
        """Return the model with its largest weights only; members of an ensemble are left out."""
        order = np.argsort(-np.abs(self.theta), kind="stable")
        kept = np.sort(order[:most])
        space = replace(self.space, keys=self.space.keys[kept])
        return replace(self, space=space, theta=self.theta[kept], others=())


@dataclass(frozen=True)
class TrainingData:
    """What an objective is made of.

    With `grow`, it decides which features there are. With `surveyed`, the encoder knows the
    values and the words of all examples, and of others. `before_labels` is called when all
    values are known and no word is labelled yet.
    """

    encoder: Encoder
    space: FeatureSpace
    examples: Sequence[Example]
    search: Search
    random: np.random.Generator
    threads: int = 1
    min_word_count: int = 1
    grow: bool = True
    surveyed: bool = False
    before_labels: Callable[[], None] | None = None
    tell: Tell | None = None

    def report(self, stage: str, step: int = 0) -> None:
        """Tell how far the objective has come, if anybody listens."""
        if self.tell is not None:
            self.tell(stage, step, len(self.examples))

    def label(
        self, graphs: Sequence[Sequence[LaidOutGraph]], *, separate: bool
    ) -> list[LabelledText]:
        """Return the labelled texts of all examples, after the values of all graphs are known."""
        self.report("encoding")
        if self.grow and not self.surveyed:
            # Most examples are about the same graphs.
            self.encoder.learn_values(set(chain.from_iterable(graphs)))
            texts = (example.instructions for example in self.examples)
            self.encoder.reader.count(texts, self.encoder.values)
        if self.before_labels is not None:
            self.before_labels()
        # Then graphs have no new values; spans are looked for among those of each text.
        known = (self.grow or self.surveyed) and not self.encoder.reader.spans
        return [
            self.encoder.label(example.instructions, () if known else each, separate=separate)
            for example, each in zip(self.examples, graphs, strict=True)
        ]


class Objective(ABC):
    """A loss over examples; some are made anew each round, at the present θ."""

    data: TrainingData
    scorer: Scorer
    begins_aligned = False  # whether the first round takes the alignments as they are
    realigns = False  # whether `realign` may change anything
    forgets = False  # whether what `realign` does depends on the latest θ only

    @property
    def width(self) -> int:
        """The number of weights."""
        return len(self.data.space)

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p and its gradient."""
        return self.scorer.loss(theta)

    def parts(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that `Model.loss` reads beside those of the scorer."""
        return {}

    def first(self, width: int, seed: int) -> Reals:
        """Return the θ to begin with."""
        return np.zeros(width)

    def owners(self) -> Sequence[int]:
        """Return for each instance of the scorer the place of its example."""
        return range(len(self.data.examples))

    def realign(self, theta: Reals) -> bool:
        """Adapt to θ before another round; return whether anything changed."""
        return False

    def check_possible(self) -> None:
        """Complain of demonstrations whose text cannot be laid over their plan at all."""
        batch = self.scorer.batch
        scores = self.scorer.candidate_scores(np.zeros(len(self.data.space)))
        gold = (batch.candidate_gold > 0) & np.isfinite(scores)
        count = len(batch.instance_weight)
        owner = np.repeat(np.arange(count), np.diff(batch.instance_candidates))
        possible = np.bincount(owner[gold], minlength=count) > 0
        if not possible.all():
            example = self.data.examples[self.owners()[int(np.argmin(possible))]]
            raise DemonstrationError(
                f"{example.demonstration} cannot be learnt from: no alignment of its words with "
                "the nodes of its actions is allowed. Add 'self' to Overlay.neighbours, or use "
                "adjacency='soft'."
            )


@dataclass(frozen=True, repr=False)
class Member(Settings):
    """A further member of an ensemble: another way to lay the same text over the same plans.

    >>> Member(Overlay(skeleton="chain")).overlay.skeleton
    'chain'
    """

    overlay: Overlay = Overlay()  # noqa: RUF009 - a frozen value
    features: Features = Features()  # noqa: RUF009


@dataclass(frozen=True, repr=False)
class Model(Settings, ABC):
    """What is normalised over what: the settings and the code of one way to learn and search.

    A model is a frozen value. It is asked for three things: what to minimise, given
    demonstrations (`objective`); which plans a text may mean (`search`); and how the text is
    read in the light of a plan (`interpret`).
    """

    lists_plans: ClassVar[bool] = False  # whether all plans are listed where they can be

    @abstractmethod
    def objective(self, data: TrainingData) -> Objective:
        """Return what learning minimises."""

    @abstractmethod
    def search(
        self, fitted: FittedModel, requests: Sequence[Request], search: Search
    ) -> Iterator[SearchResult]:
        """Return the plans of each request, one request after another."""

    @abstractmethod
    def interpret(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[Interpretation]:
        """Return how the text is read in the light of each of several plans."""

    # Some models also have these.

    def loss(
        self, scorer: Scorer, parts: Mapping[str, NDArray[Any]], theta: Reals
    ) -> tuple[float, Reals]:
        """Return Σ weight · -log p and its gradient, from arrays only (see `Objective.parts`)."""
        return scorer.loss(theta)

    def first(self, width: int, seed: int) -> Reals:
        """Return the θ to begin with."""
        return np.zeros(width)

    def scores(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[float]:
        """Return the scores of several plans under one text."""
        return [each.score for each in self.interpret(fitted, request, plans, search)]

    def rescore(
        self,
        fitted: FittedModel,
        requests: Sequence[Request],
        found: Iterable[Sequence[Trajectory]],
        search: Search,
    ) -> Iterator[Reals]:
        """Return the scores of plans that another model found, request by request."""
        for request, plans in zip(requests, found, strict=True):
            yield np.array(self.scores(fitted, request, plans, search) if plans else [])

    def score_starts(
        self,
        fitted: FittedModel,
        requests: Sequence[tuple[Text, CachedEnvironment, Sequence[State]]],
        search: Search,
    ) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
        """Score the plans from several starts under one text, for many texts."""
        raise SettingError(
            f"{type(self).__name__} cannot compare plans from several starts: its decisions are "
            "normalised one by one. Use PlanModel."
        )

    def check(self, overlay: Overlay, features: Features, rounds: int, search: Search) -> None:
        """Complain of settings that have no effect in this model."""

    def length_cure(self, short: bool) -> str:
        """Say which settings of the model make plans longer, or shorter; nothing if none does."""
        return ""

    def check_negative_starts(self, examples: Sequence[Example]) -> None:
        """Complain of negative starts, which only whole plans can be compared with."""
        for example in examples:
            if example.demonstration.negative_starts:
                raise DemonstrationError(
                    f"{example.demonstration} has negative starts, which have no effect in "
                    f"{type(self).__name__}. Use PlanModel, or leave them out."
                )

    def terms(self) -> PlanTerms:
        """Return which potentials whole plans have."""
        return PlanTerms()

    def lengths(self, encoder: Encoder, examples: Sequence[Example]) -> LengthModel:
        """Return what is learnt of the lengths of plans by counting."""
        return LengthModel()

    def all_members(self, overlay: Overlay, features: Features) -> tuple[Member, ...]:
        """Return all members that learn: one, unless this is an ensemble."""
        return (Member(overlay, features),)

    @property
    def member_model(self) -> Model:
        """What each member is."""
        return self
