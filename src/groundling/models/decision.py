"""The decision model of the paper, normalised separately for each decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from groundling.features.feature_settings import Features
from groundling.inference.alignment import align, spread
from groundling.inference.alternation import Alternation, alternate
from groundling.inference.search import Search
from groundling.inference.unit_scores import UnitScores
from groundling.models.base import (
    FittedModel,
    Objective,
    TrainingData,
)
from groundling.models.example import Example
from groundling.models.lengths import LengthModel
from groundling.models.unit_table import UnitModel, UnitTable
from groundling.overlay.batch import Reals
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates
from groundling.overlay.encoder import Encoder
from groundling.overlay.graphs import LaidOutGraph
from groundling.overlay.settings import Overlay
from groundling.settings import idle_setting, setting
from groundling.world.environment import Action, State
from groundling.world.trajectory import ScoredTrajectory, Trajectory

_FIRST_SPREAD = 0.1  # standard deviation of random initial weights


@dataclass(frozen=True, repr=False)
class DecisionModel(UnitModel):
    """The paper's model, which compares each demonstrated action with alternatives.

    The loss is Σ_j -log softmax over Ỹ of ψ(ỹ) + Σ_i [a_i = j] ψ(x_i, ỹ). Learning alternates
    between the weights θ and the alignment a of units with actions. The search alternates between
    the alignment and the plan.

    Parameters
    ----------
    aligned
        `best`: each unit aligns with its best action, in the order of the text. `all`: every unit
        aligns with every action.
    alternatives
        Number of alternatives Ỹ to sample per decision; `None` uses all.
    alternatives_from
        Where alternatives come from: the state of the `decision`, or all states of the `path`.
    begin
        Whether training starts from random `weights`, or from units spread evenly over the actions
        (`alignment`).
    last_to_last
        Whether the last unit must align with the last action.
    restarts, alternations
        Number of initial alignments in the search, and of alternations from each.
    compare
        Whether the plans found by the search are compared by their total `score`, or only by their
        fit to the `text`.

    Examples
    --------
    >>> DecisionModel(restarts=5)
    DecisionModel(restarts=5)
    >>> DecisionModel(aligned="all", restarts=5).check(Overlay(), Features(), 5, Search())
    Traceback (most recent call last):
        ...
    groundling.errors.IdleSettingError: DecisionModel.restarts has no effect with aligned='all',
    which needs no alternation. Leave it out, or use aligned='best'.
    """

    aligned: Literal["best", "all"] = "best"
    alternatives: int | None = setting(None, least=1)
    alternatives_from: Literal["decision", "path"] = "decision"
    begin: Literal["weights", "alignment"] = "weights"
    last_to_last: bool = False
    restarts: int = setting(10, least=1)
    alternations: int = setting(5, least=1)
    compare: Literal["score", "text"] = "score"

    def check(self, overlay: Overlay, features: Features, rounds: int, search: Search) -> None:
        """Raise an error for settings that have no effect in this model."""
        if self.aligned == "all":
            for name in self.changed():
                if name in ("begin", "restarts", "alternations"):
                    raise idle_setting(
                        f"DecisionModel.{name}",
                        "with aligned='all', which needs no alternation",
                        "Leave it out, or use aligned='best'.",
                    )

    def objective(self, data: TrainingData) -> DecisionObjective:
        """Return the loss of decisions; units are realigned with actions each round."""
        self.check_negative_starts(data.examples)
        return DecisionObjective(self, data)

    def first(self, width: int, seed: int) -> Reals:
        """Return random initial weights, or zeros with `aligned="all"`."""
        if self.aligned == "all":
            return np.zeros(width)
        return np.random.default_rng([seed, 0]).normal(size=width) * _FIRST_SPREAD

    def lengths(self, encoder: Encoder, examples: Sequence[Example]) -> LengthModel:
        """Fit ψ(n): the frequency of plan lengths by number of units."""
        units = [
            encoder.label(each.instructions, separate=True).skeleton.groups for each in examples
        ]
        pairs = zip(units, (len(each.trajectory) for each in examples), strict=True)
        return LengthModel().fit(pairs)

    def find(
        self, fitted: FittedModel, scores: UnitScores, start: State, search: Search
    ) -> Callable[[Search], list[ScoredTrajectory]]:
        """Return a function that finds plans by alternating alignment and planning."""
        lengths = range(search.min_length, search.longest + 1)
        how = Alternation(
            restarts=self.restarts,
            rounds=self.alternations,
            compare=self.compare,
            every_unit=self.aligned == "all",
            last_to_last=self.last_to_last,
            seed=fitted.seed,
        )

        def length_score(length: int) -> float:
            return fitted.lengths.score(length, scores.units)

        scores.look_ahead(start, search.longest)
        return lambda wider: alternate(scores, start, wider, length_score, lengths, how)

    @property
    def free(self) -> float:
        """The weight of scores that do not depend on the text; 0 with `compare="text"`."""
        return float(self.compare == "score")

    def align(self, table: UnitTable, plan: Trajectory) -> tuple[float, Reals]:
        """Return the score of the best alignment, and the alignment."""
        places = table.actions(plan)
        text = table.text[places].T
        score, chosen = align(text, last_to_last=self.last_to_last)
        if self.compare == "score":
            score += float(table.free[places].sum())
            score += table.fitted.lengths.score(len(places), table.units)
        arcs = np.zeros(text.shape)
        for unit, action in enumerate(chosen):
            if action >= 0:
                arcs[unit, action] = 1.0
        return score, arcs


class DecisionObjective(Objective):
    """The loss of decisions, given alignments that stay the same for a round.

    The instance of a decision has only the units that are aligned with it, so one evaluation reads
    each text only once, whatever its number of decisions.
    """

    forgets = True

    def __init__(self, model: DecisionModel, data: TrainingData) -> None:
        self.model = model
        self.realigns = model.aligned == "best"
        self.data = data
        self.begins_aligned = model.begin == "alignment"
        self.options = [self._alternatives(example) for example in data.examples]
        self.graphs = [[graph for each in options for graph in each] for options in self.options]
        self.decisions = np.cumsum([0, *map(len, self.options)]).tolist()  # of each example

    def encode(self) -> None:
        """Label the texts, find the features, and encode each decision."""
        data = self.data
        self.texts = data.label(self.graphs, separate=True)
        self.alignment: list[tuple[int, ...]] = [
            spread(text.skeleton.groups, len(decisions))
            for text, decisions in zip(self.texts, self.options, strict=True)
        ]
        if data.grow:
            self._decide_features()
        if self.model.aligned == "best":
            demonstrated = [
                Instance(
                    text.skeleton,
                    text.words,
                    [Candidates.single(each[0] for each in decisions)],
                )
                for text, decisions in zip(self.texts, self.options, strict=True)
            ]
            self.aligner = data.encoder.encode(demonstrated, data.space, threads=data.threads)
        self._encode()
        self.check_possible()
        self.graphs = []  # no longer needed

    def _decide_features(self) -> None:
        """Add the features of all units with all graphs of each example to the space."""
        instances = []
        for example, text, decisions in zip(
            self.data.examples, self.texts, self.options, strict=True
        ):
            starts = np.cumsum([0, *map(len, decisions)])[:-1]
            graphs = Candidates.single(graph for each in decisions for graph in each)
            instances.append(
                Instance(text.skeleton, text.words, [graphs], starts.tolist(), example.weight)
            )
        self.data.encode(instances)

    def _encode(self) -> None:
        """Encode one instance for each decision, with the units aligned with it."""
        instances = []
        for example, text, decisions, alignment in zip(
            self.data.examples, self.texts, self.options, self.alignment, strict=True
        ):
            for j, graphs in enumerate(decisions):
                skeleton, words = text.skeleton, text.words
                if self.model.aligned == "best":
                    skeleton, kept = skeleton.select([i for i, a in enumerate(alignment) if a == j])
                    words = tuple(words[place] for place in kept)
                candidates = [Candidates.single(graphs)]
                instances.append(Instance(skeleton, words, candidates, (0,), example.weight))
        self.scorer = self.data.encoder.encode(
            instances, self.data.space, threads=self.data.threads
        )

    def _alternatives(self, example: Example) -> list[list[LaidOutGraph]]:
        """Return the graphs of each decision's actions, the demonstrated action first."""
        trajectory, world = example.trajectory, example.world
        everywhere = [
            (state, action) for state in trajectory.states[:-1] for action in world.actions(state)
        ]
        options = []
        for state, action in trajectory.decisions():
            pool: list[tuple[State, Action]] = (
                everywhere
                if self.model.alternatives_from == "path"
                else [(state, each) for each in world.actions(state)]
            )
            others = [pair for pair in dict.fromkeys(pool) if pair != (state, action)]
            limit = self.model.alternatives
            if limit is not None and len(others) > limit:
                picked = np.sort(self.data.random.choice(len(others), limit, replace=False))
                others = [others[place] for place in picked]
            pairs = [(state, action), *others]
            options.append([self.data.encoder.ground(world, *pair) for pair in pairs])
        return options

    def first(self, width: int, seed: int) -> Reals:
        """Return the weights from which training starts, as defined by the model."""
        return self.model.first(width, seed)

    def realign(self, theta: Reals) -> bool:
        """Realign units with the demonstrated actions (Viterbi)."""
        if self.model.aligned == "all":
            return False
        grouped, _ = self.aligner.group_scores(theta)
        found = []
        for place, decisions in enumerate(self.options):
            start, end = self.aligner.group_start[place : place + 2]
            table = grouped[start:end].reshape(len(decisions), -1).T
            found.append(align(table, last_to_last=self.model.last_to_last)[1])
        changed = found != self.alignment
        if changed:
            self.alignment = found
            self._encode()
        return changed

    def owners(self) -> Sequence[int]:
        """Return, for each decision, the index of its example."""
        places = np.arange(len(self.data.examples))
        return np.repeat(places, np.diff(self.decisions)).tolist()

    def alignments(self) -> list[tuple[tuple[int, ...], ...]]:
        """Return the aligned actions of each unit, by example."""
        if self.model.aligned == "all":
            return [
                (tuple(range(len(decisions))),) * text.skeleton.groups
                for text, decisions in zip(self.texts, self.options, strict=True)
            ]
        return [tuple(() if a < 0 else (a,) for a in each) for each in self.alignment]
