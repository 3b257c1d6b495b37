"""What all objectives share: examples, their labelled texts, and a model of their problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from groundling.errors import DemonstrationError
from groundling.features.space import FeatureSpace
from groundling.inference.settings import Search
from groundling.learning.examples import Example
from groundling.learning.settings import Learning
from groundling.model.builder import Builder, Passage
from groundling.model.encoding import Problem
from groundling.model.graphs import LaidOutGraph
from groundling.model.kernels import Reals
from groundling.model.scoring import Model

__all__ = ["ExamplesObjective", "Objective"]


class Objective(ABC):
    """A loss over examples; some are made anew each round, at the present θ."""

    model: Model

    @abstractmethod
    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p and its gradient."""

    @abstractmethod
    def owners(self) -> Sequence[int]:
        """Return for each problem of the model the place of its example."""

    def realign(self, theta: Reals) -> bool:
        """Adapt to θ before another round; return whether anything changed."""
        return False


class ExamplesObjective(Objective):
    """An objective over prepared examples, each with problems of its own."""

    separate = True

    def __init__(
        self,
        builder: Builder,
        space: FeatureSpace,
        examples: Sequence[Example],
        learning: Learning,
        search: Search,
        random: np.random.Generator,
        before_labels: Callable[[], None] | None = None,
    ) -> None:
        self.before_labels = before_labels
        self.builder = builder
        self.space = space
        self.examples = examples
        self.learning = learning
        self.search = search
        self.random = random

    def build(self, threads: int, grow: bool, min_word_count: int) -> None:
        """Encode all problems."""
        self.threads = threads
        problems = self.problems(grow)
        encoding = self.builder.encode(
            problems, self.space, grow=grow, min_word_count=min_word_count
        )
        self.model = Model(encoding, self.builder.overlay, threads)
        self.check_possible()

    def check_possible(self) -> None:
        """Complain of demonstrations whose text cannot be laid over their plan at all."""
        charts = self.model.charts
        scores = self.model.candidate_scores(np.zeros(len(self.space)))
        gold = (charts.candidate_gold > 0) & np.isfinite(scores)
        owner = np.repeat(np.arange(len(charts.problem_weight)), np.diff(charts.problem_candidates))
        possible = np.bincount(owner[gold], minlength=len(charts.problem_weight)) > 0
        if not possible.all():
            example = self.examples[self.owners()[int(np.argmin(possible))]]
            raise DemonstrationError(
                f"{example.demonstration} cannot be learnt from: no alignment of its words with "
                "the nodes of its actions is allowed. Add 'self' to Overlay.neighbours, or use "
                "adjacency='soft' or null_node=True."
            )

    @abstractmethod
    def problems(self, grow: bool) -> list[Problem]:
        """Return what is to be encoded; with `grow`, values and words are counted first."""

    def owners(self) -> Sequence[int]:
        """Return for each problem of the model the place of its example."""
        return range(len(self.examples))

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p and its gradient."""
        return self.model.loss(theta)

    def passages(self, graphs: Sequence[Sequence[LaidOutGraph]], grow: bool) -> list[Passage]:
        """Return the labelled texts, after the values of all graphs are known."""
        if grow:
            for each in graphs:
                self.builder.learn_values(each)
            texts = (example.instructions for example in self.examples)
            self.builder.reader.count(texts, self.builder.values)
        if self.before_labels is not None:
            self.before_labels()
        return [
            self.builder.passage(example.instructions, each, separate=self.separate)
            for example, each in zip(self.examples, graphs, strict=True)
        ]
