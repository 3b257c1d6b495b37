"""The paper's objective: decisions against alternatives, units of text aligned one way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundling.learning.base import ExamplesObjective
from groundling.learning.examples import Example
from groundling.model.encoding import Candidate, Problem
from groundling.model.graphs import LaidOutGraph
from groundling.model.kernels import Reals
from groundling.model.path import align, spread
from groundling.model.scoring import Model
from groundling.world.environment import Action, State

__all__ = ["DecisionObjective"]


class DecisionObjective(ExamplesObjective):
    """The paper's objective: each demonstrated action against alternatives, alignments fixed.

    Σ_j -log softmax over Ỹ of ψ(ỹ) + Σ_i [a_i = j] ψ(x_i, ỹ).

    A decision's problem holds the units aligned with it and no others, so that an
    evaluation reads each text once, however many decisions it is about.
    """

    def build(self, threads: int, grow: bool, min_word_count: int) -> None:
        """Decide the features, then encode every decision with the units it begins with."""
        self.threads = threads
        problems = self.problems(grow)
        if grow:
            self.builder.encode(problems, self.space, grow=True, min_word_count=min_word_count)
        if self.learning.alignment != "all":
            demonstrated = [
                Problem(text.forest, text.words, [Candidate((each[0],)) for each in decisions])
                for text, decisions in zip(self.texts, self.options, strict=True)
            ]
            self.aligner = Model(
                self.builder.encode(demonstrated, self.space), self.builder.overlay, threads
            )
        self._encode()
        self.check_possible()

    def problems(self, grow: bool) -> list[Problem]:
        """Return one problem per example, which shows all its features: every unit and graph."""
        self.options = [self._alternatives(example) for example in self.examples]
        self.texts = self.passages([[g for each in o for g in each] for o in self.options], grow)
        self.decisions = np.cumsum([0, *map(len, self.options)]).tolist()  # of each example
        self.alignment: list[tuple[int, ...]] = [
            spread(text.forest.groups, len(decisions))
            for text, decisions in zip(self.texts, self.options, strict=True)
        ]
        return [
            Problem(
                text.forest,
                text.words,
                [Candidate((g,), gold=i == 0) for each in decisions for i, g in enumerate(each)],
                example.weight,
            )
            for example, text, decisions in zip(
                self.examples, self.texts, self.options, strict=True
            )
        ]

    def _encode(self) -> None:
        """Encode one problem per decision, with the units that are aligned with it."""
        problems = []
        for example, text, decisions, alignment in zip(
            self.examples, self.texts, self.options, self.alignment, strict=True
        ):
            for j, graphs in enumerate(decisions):
                forest, words = text.forest, text.words
                if self.learning.alignment != "all":
                    forest, kept = forest.select([i for i, a in enumerate(alignment) if a == j])
                    words = tuple(words[place] for place in kept)
                candidates = [Candidate((g,), gold=i == 0) for i, g in enumerate(graphs)]
                problems.append(Problem(forest, words, candidates, example.weight))
        encoding = self.builder.encode(problems, self.space)
        self.model = Model(encoding, self.builder.overlay, self.threads)

    def _alternatives(self, example: Example) -> list[list[LaidOutGraph]]:
        """Return for each decision its graphs, the demonstrated one first."""
        trace, world = example.trace, example.world
        everywhere = [
            (state, action) for state in trace.states[:-1] for action in world.actions(state)
        ]
        options = []
        for j, action in enumerate(trace.actions):
            state = trace.states[j]
            pool: list[tuple[State, Action]] = (
                everywhere
                if self.learning.alternatives_from == "path"
                else [(state, each) for each in world.actions(state)]
            )
            others = [pair for pair in dict.fromkeys(pool) if pair != (state, action)]
            limit = self.learning.alternatives
            if limit is not None and len(others) > limit:
                picked = np.sort(self.random.choice(len(others), limit, replace=False))
                others = [others[place] for place in picked]
            graphs = [self.builder.ground(world, *pair) for pair in [(state, action), *others]]
            options.append(graphs)
        return options

    def realign(self, theta: Reals) -> bool:
        """Align units with the demonstrated actions anew, by Viterbi."""
        if self.learning.alignment == "all":
            return False
        grouped, _ = self.aligner.group_scores(theta)
        found = []
        for place, decisions in enumerate(self.options):
            start, end = self.aligner.group_start[place : place + 2]
            _, alignment = align(
                grouped[start:end].reshape(len(decisions), -1).T,
                silence=self.learning.silence,
                last_to_last=self.learning.last_to_last,
            )
            found.append(alignment)
        changed = found != self.alignment
        if changed:
            self.alignment = found
            self._encode()
        return changed

    def owners(self) -> Sequence[int]:
        """Return for each decision the place of its example."""
        return np.repeat(np.arange(len(self.examples)), np.diff(self.decisions)).tolist()

    def alignments(self) -> list[tuple[tuple[int, ...], ...]]:
        """Return for each example and unit the actions it is aligned with."""
        if self.learning.alignment == "all":
            return [
                (tuple(range(len(decisions))),) * text.forest.groups
                for text, decisions in zip(self.texts, self.options, strict=True)
            ]
        return [tuple(() if a < 0 else (a,) for a in each) for each in self.alignment]
