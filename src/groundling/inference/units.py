"""Scores of units against single actions, asked for as a search goes along."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundling.features.space import FeatureSpace
from groundling.language.instruction import Instruction
from groundling.model.builder import Builder
from groundling.model.encoding import Candidate, Problem
from groundling.model.graphs import LaidOutGraph
from groundling.model.kernels import Reals
from groundling.model.lattice import MARKS
from groundling.model.scoring import Model
from groundling.world.environment import Action, State, World

__all__ = ["UnitScores"]


class UnitScores:
    """ψ(x_i, y) and ψ(y) for the units of one text and the actions of one world.

    Scores are computed in batches and remembered; `budget` bounds how many.
    """

    def __init__(
        self,
        builder: Builder,
        space: FeatureSpace,
        theta: Reals,
        instructions: Sequence[Instruction],
        world: World,
    ) -> None:
        self.builder = builder
        self.space = space
        self.theta = theta
        self.world = world
        self.instructions = instructions
        self.passage = builder.passage(instructions, separate=True)
        self._known: dict[LaidOutGraph, tuple[Reals, float]] = {}
        self._of: dict[tuple[State, Action], LaidOutGraph] = {}

    @property
    def units(self) -> int:
        """The number of units."""
        return self.passage.forest.groups

    def __len__(self) -> int:
        return len(self._of)

    def actions(self, pairs: Sequence[tuple[State, Action]]) -> tuple[Reals, Reals]:
        """Return (pairs × units) text scores and text-free scores."""
        for pair in pairs:
            if pair not in self._of:
                self._of[pair] = self.builder.ground(self.world, *pair)
        return self.graphs([self._of[pair] for pair in pairs])

    def marks(self) -> tuple[Reals, Reals]:
        """Return (2 × units) scores of passing on, and scores of acting again."""
        text, free = self.graphs([self.builder.lay_out(mark) for mark in MARKS])
        return text[:2] + free[:2, None], text[2] + free[2]

    def graphs(self, graphs: Sequence[LaidOutGraph]) -> tuple[Reals, Reals]:
        """Return the scores of laid-out graphs."""
        new = [g for g in dict.fromkeys(graphs) if g not in self._known]
        # A name that training never saw is looked for in the text when its own graph is
        # scored, so that a score never depends on what else was asked about.
        for named in self.builder.by_new_values(new):
            passage = self.builder.passage(self.instructions, named[:1], separate=True)
            problem = Problem(passage.forest, passage.words, [Candidate((g,)) for g in named])
            model = Model(self.builder.encode([problem], self.space), self.builder.overlay)
            grouped, free = model.group_scores(self.theta)
            table = grouped.reshape(len(named), self.units)
            for place, graph in enumerate(named):
                self._known[graph] = (table[place], float(free[place]))
        text = np.array([self._known[g][0] for g in graphs]).reshape(len(graphs), self.units)
        return text, np.array([self._known[g][1] for g in graphs])
