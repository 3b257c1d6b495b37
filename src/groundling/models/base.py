"""Base classes of models and training objectives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, Self, TypeAlias

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
from groundling.overlay.batch_builder import Instance
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
"""Progress callback; its arguments are the stage, the steps done and the total steps."""


@dataclass(frozen=True)
class Request:
    """A text to follow, with its world and initial state."""

    text: Text
    world: CachedEnvironment
    start: State


@dataclass(frozen=True)
class SearchResult:
    """The plans found by a search, with their scores.

    Parameters
    ----------
    plans
        Scored plans; without planning, the reflex agent's plan comes first.
    settled
        Whether the first plan must be chosen, whatever its score.
    normalised
        Whether the scores are already log probabilities, even of a single plan.
    """

    plans: Sequence[ScoredTrajectory]
    settled: bool = False
    normalised: bool = False


@dataclass(frozen=True)
class FittedModel:
    """A fitted model: its encoder, features, weights and length model.

    `others` are the other members of an ensemble.
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
        """All members of an ensemble, each without `others`; otherwise only this model."""
        return (replace(self, others=()), *self.others) if self.others else (self,)

    def pruned(self, most: int) -> FittedModel:
        """Return a copy with the `most` largest absolute weights and without `others`."""
        order = np.argsort(-np.abs(self.theta), kind="stable")
        kept = np.sort(order[:most])
        space = replace(self.space, keys=self.space.keys[kept])
        return replace(self, space=space, theta=self.theta[kept], others=())


@dataclass(frozen=True)
class TrainingData:
    """The data from which an objective is built.

    With `grow`, the objective adds features to the space. With `surveyed`, the encoder already
    knows the values and words of all examples, including those in other shards.
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
    tell: Tell | None = None

    def report(self, stage: str, step: int = 0) -> None:
        """Report progress through the `tell` callback, if there is one."""
        if self.tell is not None:
            self.tell(stage, step, len(self.examples))

    def label(
        self, graphs: Sequence[Sequence[LaidOutGraph]], *, separate: bool
    ) -> list[LabelledText]:
        """Return the texts with labelled words, given the graphs of each example."""
        # Spans depend on the graphs of each text; otherwise, graphs would add no new values.
        known = (self.grow or self.surveyed) and not self.encoder.reader.spans
        return [
            self.encoder.label(example.instructions, () if known else each, separate=separate)
            for example, each in zip(self.examples, graphs, strict=True)
        ]

    def encode(self, instances: Sequence[Instance]) -> Scorer:
        """Encode instances, with new features if `grow` is set."""
        return self.encoder.encode(
            instances, self.space, grow=self.grow, min_word_count=self.min_word_count,
            threads=self.threads,
        )  # fmt: skip


class Objective(ABC):
    """A loss over examples; `realign` may adapt the loss to θ before each round.

    The constructor collects the `graphs` of each example, and `encode` creates the `scorer`.
    """

    data: TrainingData
    graphs: Sequence[Sequence[LaidOutGraph]]
    scorer: Scorer
    begins_aligned = False  # whether the first round uses the initial alignments
    realigns = False  # whether `realign` may change the loss
    forgets = False  # whether the result of `realign` depends only on the latest θ

    @abstractmethod
    def encode(self) -> None:
        """Label and encode the examples; call `survey` first."""

    def survey(self) -> None:
        """Collect the values of all graphs and the words of all texts, if not yet done."""
        data, encoder = self.data, self.data.encoder
        data.report("encoding")
        if data.grow and not data.surveyed:
            # Use a set, as most examples share graphs.
            encoder.learn_values(set(chain.from_iterable(self.graphs)))
            encoder.reader.count((each.instructions for each in data.examples), encoder.values)

    def prepare(self) -> Self:
        """Survey and encode the examples, then return this objective."""
        self.survey()
        self.encode()
        return self

    @property
    def width(self) -> int:
        """The number of weights in θ."""
        return len(self.data.space)

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return the loss Σ weight · -log p, and its gradient."""
        return self.scorer.loss(theta)

    def parts(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that `Model.loss` needs besides those of the scorer."""
        return {}

    def first(self, width: int, seed: int) -> Reals:
        """Return the weights θ from which training starts."""
        return np.zeros(width)

    def owners(self) -> Sequence[int]:
        """Return, for each instance in the scorer, the index of its example."""
        return range(len(self.data.examples))

    def realign(self, theta: Reals) -> bool:
        """Adapt the loss to θ before another round; return whether it changed."""
        return False

    def check_possible(self) -> None:
        """Raise `DemonstrationError` if a text has no valid alignment with its plan."""
        batch = self.scorer.batch
        scores = self.scorer.candidate_scores(np.zeros(len(self.data.space)))
        gold = (batch.candidate_gold > 0) & np.isfinite(scores)
        count = len(batch.instance_weight)
        owner = np.repeat(np.arange(count), np.diff(batch.instance_candidates))
        possible = np.bincount(owner[gold], minlength=count) > 0
        if not possible.all():
            example = self.data.examples[self.owners()[int(np.argmin(possible))]]
            raise DemonstrationError(
                f"{example.demonstration}: its words must have an alignment with the nodes of its "
                "actions; got none. Add 'self' to Overlay.neighbours, or use adjacency='soft'."
            )


@dataclass(frozen=True, repr=False)
class Member(Settings):
    """Settings of an additional ensemble member: its overlay and its features.

    >>> Member(Overlay(skeleton="chain")).overlay.skeleton
    'chain'
    """

    overlay: Overlay = Overlay()  # noqa: RUF009 - a frozen value
    features: Features = Features()  # noqa: RUF009


@dataclass(frozen=True, repr=False)
class Model(Settings, ABC):
    """Base class of models: an objective and a search, with the settings for both.

    A model is immutable. Subclasses must implement `objective` (the loss on demonstrations),
    `search` (which finds plans for a text) and `interpret` (the alignment of a text with a plan,
    and the expected features).
    """

    lists_plans: ClassVar[bool] = False  # whether plans are enumerated if possible

    @abstractmethod
    def objective(self, data: TrainingData) -> Objective:
        """Return the training objective; call `prepare` to encode it."""

    @abstractmethod
    def search(
        self, fitted: FittedModel, requests: Sequence[Request], search: Search
    ) -> Iterator[SearchResult]:
        """Yield the search result of each request, in order."""

    @abstractmethod
    def interpret(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[Interpretation]:
        """Return an interpretation of the text for each of the plans."""

    # Optional methods.

    def loss(
        self, scorer: Scorer, parts: Mapping[str, NDArray[Any]], theta: Reals
    ) -> tuple[float, Reals]:
        """Return the loss Σ weight · -log p and its gradient (see `Objective.parts`)."""
        return scorer.loss(theta)

    def first(self, width: int, seed: int) -> Reals:
        """Return the weights θ from which training starts."""
        return np.zeros(width)

    def scores(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[float]:
        """Return the score of each plan, given the text of the request."""
        return [each.score for each in self.interpret(fitted, request, plans, search)]

    def rescore(
        self,
        fitted: FittedModel,
        requests: Sequence[Request],
        found: Iterable[Sequence[Trajectory]],
        search: Search,
    ) -> Iterator[Reals]:
        """Yield, for each request, the scores of plans found by another model."""
        for request, plans in zip(requests, found, strict=True):
            yield np.array(self.scores(fitted, request, plans, search) if plans else [])

    def score_starts(
        self,
        fitted: FittedModel,
        requests: Sequence[tuple[Text, CachedEnvironment, Sequence[State]]],
        search: Search,
    ) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
        """Yield, for each text, the plans from each start, with their scores."""
        raise SettingError(
            f"{type(self).__name__} cannot compare plans from several starts, because it "
            "normalises each decision separately. Use PlanModel."
        )

    def check(self, overlay: Overlay, features: Features, rounds: int, search: Search) -> None:
        """Raise an error for settings that are invalid or have no effect in this model."""

    def length_cure(self, short: bool) -> str:
        """Return advice for plans that are too short or, with `short=False`, too long.

        Returns an empty string if no setting of the model changes the length of plans.
        """
        return ""

    def check_negative_starts(self, examples: Sequence[Example]) -> None:
        """Raise `DemonstrationError` if an example has negative starts."""
        for example in examples:
            if example.demonstration.negative_starts:
                raise DemonstrationError(
                    f"{example.demonstration} must not have negative starts, because they have no "
                    f"effect in {type(self).__name__}. Use PlanModel, or leave them out."
                )

    def terms(self) -> PlanTerms:
        """Return the settings for potentials of whole plans."""
        return PlanTerms()

    def lengths(self, encoder: Encoder, examples: Sequence[Example]) -> LengthModel:
        """Return a length model fitted to the examples."""
        return LengthModel()

    def all_members(self, overlay: Overlay, features: Features) -> tuple[Member, ...]:
        """Return all members; a single one unless the model is an ensemble."""
        return (Member(overlay, features),)

    @property
    def member_model(self) -> Model:
        """The model that every member uses."""
        return self
