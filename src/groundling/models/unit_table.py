"""Scores of all units of a text with all possible actions along some plans."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from groundling.inference.plan_space import widen
from groundling.inference.search import Search
from groundling.inference.transduction import MARKS
from groundling.inference.unit_scores import UnitScores
from groundling.models.base import FittedModel, Model, Request, SearchResult
from groundling.models.interpretation import Interpretation
from groundling.overlay.batch import Reals
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph
from groundling.overlay.scorer import Scorer
from groundling.world.environment import Action, State
from groundling.world.trajectory import ScoredTrajectory, Trajectory

Alignment = Callable[["UnitTable", Trajectory], tuple[float, Reals]]
"""Function that returns a plan's score, and p(unit names action) as units × actions."""


class UnitTable:
    """ψ(x_i, y) and ψ(y) of all units and all possible actions along some plans.

    `text` has the shape (actions × units), and `free` holds the scores that do not depend on the
    text. The last three rows are the transducer's choices other than acting (`MARKS` in
    `groundling.inference.transduction`).
    """

    def __init__(self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory]) -> None:
        self.fitted = fitted
        self.world = request.world
        encoder = fitted.encoder
        self.place: dict[tuple[State, Action], int] = {}
        graphs: list[LaidOutGraph] = []
        for state in dict.fromkeys(state for plan in plans for state in plan.states):
            for action in self.world.actions(state):
                self.place[state, action] = len(graphs)
                graphs.append(encoder.ground(self.world, state, action))
        graphs += [encoder.lay_out(mark) for mark in MARKS]
        text = encoder.label(request.text, separate=True)
        self.units = text.skeleton.groups
        self.order = text.order()
        self.unit_of = np.array(text.skeleton.group)[self.order]
        self.text, self.free = np.zeros((len(graphs), self.units)), np.zeros(len(graphs))
        self.scorers: dict[int, tuple[Scorer, int]] = {}  # by graph, with its index in the scorer
        at: dict[LaidOutGraph, list[int]] = {}
        for place, graph in enumerate(graphs):
            at.setdefault(graph, []).append(place)
        # As in the search, word labels depend on the new names in each graph.
        for named in encoder.by_new_values(list(at)).values():
            text = encoder.label(request.text, named[:1], separate=True)
            instance = Instance(text.skeleton, text.words, [Candidates.single(named)])
            scorer = encoder.encode([instance], fitted.space)
            grouped, free = scorer.group_scores(fitted.theta)
            for number, graph in enumerate(named):
                for place in at[graph]:
                    self.text[place] = grouped[number * self.units : (number + 1) * self.units]
                    self.free[place] = free[number]
                    self.scorers[place] = (scorer, number)

    def actions(self, plan: Trajectory) -> list[int]:
        """Return the row index of each action of a plan."""
        return [self.place[decision] for decision in plan.decisions()]

    def interpret(
        self, plans: Sequence[Trajectory], align: Alignment, free: float = 1.0
    ) -> list[Interpretation]:
        """Return interpretations of the text, for which `align` aligns units with actions.

        `free` is the weight of ψ(y). It is 0 if plans are compared without ψ(y).
        """
        found = []
        for plan in plans:
            score, arcs = align(self, plan)
            aligned, texts, frees = [], [], []
            for j, place in enumerate(self.actions(plan)):
                within = self._posteriors(place)
                aligned.append(within * arcs[self.unit_of, j][:, None])
                texts.append(self._counts(place, arcs[:, j], 0.0))
                frees.append(self._counts(place, np.zeros(self.units), free))
            none = np.zeros(len(self.fitted.theta))
            found.append(Interpretation(score, tuple(aligned), tuple(texts), tuple(frees), none))
        return found

    def _posteriors(self, place: int) -> Reals:
        """Return p(word aligned with node) if the word's unit names this action."""
        scorer, number = self.scorers[place]
        potentials = scorer.potentials(self.fitted.theta)
        return scorer.posteriors(potentials, 0, number)[self.order]

    def _counts(self, place: int, units: Reals, free: float) -> Reals:
        """Return the expected features of an action, with the given unit weights."""
        scorer, number = self.scorers[place]
        candidates = len(scorer.batch.candidate_gold)
        weights, free_weights = np.zeros((candidates, self.units)), np.zeros(candidates)
        weights[number], free_weights[number] = units, free
        return scorer.weighted_gradient(self.fitted.theta, weights.ravel(), free_weights)


class UnitModel(Model):
    """A model that scores units with single actions, and aligns units with actions."""

    @abstractmethod
    def find(
        self, fitted: FittedModel, scores: UnitScores, start: State, search: Search
    ) -> Callable[[Search], list[ScoredTrajectory]]:
        """Return a function that finds plans, given search settings."""

    @abstractmethod
    def align(self, table: UnitTable, plan: Trajectory) -> tuple[float, Reals]:
        """Return the score of a plan, and p(unit names action)."""

    @property
    def free(self) -> float:
        """The weight of the scores that do not depend on the text."""
        return 1.0

    def search(
        self, fitted: FittedModel, requests: Sequence[Request], search: Search
    ) -> Iterator[SearchResult]:
        """Yield the plans found for each request."""
        for request in requests:
            world, start = request.world, request.start
            extended = search.extended(world.extra_length(start))
            scores = UnitScores(fitted.encoder, fitted.space, fitted.theta, request.text, world)
            found = widen(self.find(fitted, scores, start, extended), extended, world)
            yield SearchResult(found, normalised=not search.planning)

    def interpret(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[Interpretation]:
        """Return interpretations of the text, given each plan."""
        return UnitTable(fitted, request, plans).interpret(plans, self.align, self.free)

    def scores(
        self, fitted: FittedModel, request: Request, plans: Sequence[Trajectory], search: Search
    ) -> list[float]:
        """Return the scores of plans, given the text of the request, as in the search."""
        table = UnitTable(fitted, request, plans)
        return [self.align(table, plan)[0] for plan in plans]
