"""What learning minimises: plans or decisions, alignments summed or maximised."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from groundling.errors import DemonstrationError
from groundling.features.space import FeatureSpace
from groundling.inference.courses import (
    Scorer,
    beam_courses,
    enumerate_courses,
    sample_courses,
)
from groundling.inference.settings import Search
from groundling.learning.base import ExamplesObjective, Objective
from groundling.learning.decisions import DecisionObjective
from groundling.learning.examples import Example
from groundling.learning.settings import Learning
from groundling.model.blocks import Block
from groundling.model.builder import Builder, Course, Courses, Passage
from groundling.model.encoding import Candidate, Problem
from groundling.model.graphs import LaidOutGraph
from groundling.model.kernels import Integers, Reals
from groundling.model.lattice import MARKS, best_reading_gradient, lattice_gradient
from groundling.model.scoring import Model
from groundling.world.environment import Action, State

__all__ = ["DecisionObjective", "LatticeObjective", "Objective", "PlanObjective", "make_objective"]


def make_objective(
    builder: Builder,
    space: FeatureSpace,
    examples: Sequence[Example],
    learning: Learning,
    search: Search,
    random: np.random.Generator,
    *,
    threads: int = 1,
    grow: bool = True,
    min_word_count: int = 1,
    before_labels: Callable[[], None] | None = None,
) -> Objective:
    """Return the objective that the settings name; with `grow`, it decides the features.

    `before_labels` is called when all values are known and no word is labelled yet.
    """
    kind: type[PlanObjective | LatticeObjective | DecisionObjective]
    if learning.normalise == "plans":
        kind = PlanObjective
    elif learning.reads:
        kind = LatticeObjective
    else:
        kind = DecisionObjective
    objective = kind(builder, space, examples, learning, search, random, before_labels)
    objective.build(threads, grow, min_word_count)
    return objective


class PlanObjective(ExamplesObjective):
    """The demonstrated plan against all others: -log p(plan | text), alignments summed.

    With `alignment="viterbi"`, the numerator keeps only the best alignment of the
    demonstrated plan at the last round's θ, and the denominator sums over all: p(y, a | x).
    """

    separate = False

    def problems(self, grow: bool) -> list[Problem]:
        """Return one problem per example: its text and the plans it may mean."""
        self.courses: list[list[Course]] = []
        self.gold: list[list[int]] = []
        self.rivals: list[list[Courses]] = []  # plans from elsewhere, never right
        self.complete = True
        # Examples that start alike share their plans.
        spaces: dict[tuple[int, State], Courses | None] = {}
        apart: dict[tuple[int, Hashable], tuple[Courses, Courses]] = {}
        for example in self.examples:
            self._add(example, self._from(example, example.trace.states[0], spaces))
            found = (
                self._others(example, self._from(example, start, spaces), apart)
                for start in example.demonstration.rivals
            )
            self.rivals.append([courses for courses in found if courses])
        graphs = [
            list(
                dict.fromkeys(
                    [g for c in courses for g in c.graphs]
                    + [g for other in rivals for g in other.block.graphs]
                )
            )
            for courses, rivals in zip(self.courses, self.rivals, strict=True)
        ]
        self.texts = self.passages(graphs, grow)
        return self._problems()

    def _from(
        self, example: Example, start: State, spaces: dict[tuple[int, State], Courses | None]
    ) -> Courses:
        key = (id(example.world), start)
        if key not in spaces:
            spaces[key] = enumerate_courses(self.builder, example.world, start, self.search)
        courses = spaces[key]
        if courses is None:
            self.complete = False
            courses = sample_courses(
                self.builder, example.world, start, self.search,
                self.learning.alternatives or 50, self.random,
            )  # fmt: skip
        return courses

    @staticmethod
    def _others(
        example: Example,
        courses: Courses,
        apart: dict[tuple[int, Hashable], tuple[Courses, Courses]],
    ) -> Courses:
        """Return the plans from a rival start, without those that end as demonstrated."""
        end = example.world.outcome(example.trace.states[-1])
        key = (id(courses), end)
        if key not in apart:
            others = [c for c in courses if example.world.outcome(c.states[-1]) != end]
            # Holding the plans keeps their identity from being reused.
            apart[key] = (courses, courses if len(others) == len(courses) else Courses(others))
        return apart[key][1]

    def _add(self, example: Example, courses: list[Course]) -> None:
        wanted = {example.trace.actions} | {trace.actions for trace in example.also}
        gold = [place for place, course in enumerate(courses) if course.actions in wanted]
        if not gold:
            # Too long for the space: any shortest plan to the same outcome will do.
            end = example.world.outcome(example.trace.states[-1])
            alike = [
                (len(course.actions), place)
                for place, course in enumerate(courses)
                if example.world.outcome(course.states[-1]) == end
            ]
            shortest = min((length for length, _ in alike), default=0)
            gold = [place for length, place in alike if length == shortest]
        if not gold:
            courses = [
                *courses,
                self.builder.course(example.world, example.trace.states, example.trace.actions),
            ]
            gold = [len(courses) - 1]
        self.courses.append(courses)
        self.gold.append(gold)

    def _problems(self) -> list[Problem]:
        pinned = self.learning.alignment == "viterbi"
        problems = []
        for example, text, courses, gold, rivals in zip(
            self.examples, self.texts, self.courses, self.gold, self.rivals, strict=True
        ):
            chosen = set(gold)
            candidates: list[Candidate | Block] = [
                course.candidate(gold=place in chosen and not pinned)
                for place, course in enumerate(courses)
            ]
            if pinned:
                free = (-1,) * len(text.forest)
                candidates += [courses[place].candidate(True, free) for place in gold]
            candidates += [each.block for each in rivals]
            problems.append(Problem(text.forest, text.words, candidates, example.weight))
        return problems

    def realign(self, theta: Reals) -> bool:
        """Find new rivals by beam where plans were sampled; fix the best alignments anew."""
        changed = False
        if not self.complete:
            changed = self._beam(theta)
        if self.learning.alignment == "viterbi":
            changed = self._pin(theta) or changed
        return changed

    def _beam(self, theta: Reals) -> bool:
        grown = False
        for place, (example, text) in enumerate(zip(self.examples, self.texts, strict=True)):

            def score(courses: Sequence[Course], text: Passage = text) -> Reals:
                problem = Problem(text.forest, text.words, [c.candidate() for c in courses])
                encoding = self.builder.encode([problem], self.space)
                return Model(encoding, self.builder.overlay).candidate_scores(theta)

            known = {course.actions for course in self.courses[place]}
            new = self._new(example, example.trace.states[0], score, known)
            self.courses[place] = [*self.courses[place], *new]
            grown |= bool(new)
            for number, rivals in enumerate(self.rivals[place]):
                known = {course.actions for course in rivals}
                new = self._new(example, rivals[0].states[0], score, known)
                self.rivals[place][number] = Courses([*rivals, *new]) if new else rivals
                grown |= bool(new)
        if grown:
            encoding = self.builder.encode(self._problems(), self.space)
            self.model = Model(encoding, self.builder.overlay, self.threads)
        return grown

    def _new(
        self, example: Example, start: State, score: Scorer, known: set[tuple[Action, ...]]
    ) -> list[Course]:
        """Return plans that a beam finds and that are not yet known."""
        found = beam_courses(self.builder, example.world, start, self.search, score)
        return [course for course, _ in found if course.actions not in known]

    def _pin(self, theta: Reals) -> bool:
        model = self.model
        charts = model.charts
        potentials = model.potentials(theta)
        before = charts.pins.copy()
        for problem, courses in enumerate(self.courses):
            first = int(charts.problem_candidates[problem])
            for number, place in enumerate(self.gold[problem]):
                _, states = model.best_alignment(potentials, problem, place)
                sizes = np.cumsum([0] + [len(g.nodes) for g in courses[place].graphs])
                actions = np.searchsorted(sizes, states, side="right") - 1
                start = int(charts.candidate_pins[first + len(courses) + number])
                charts.pins[start : start + len(states)] = actions
        return not np.array_equal(before, charts.pins)


class LatticeObjective(ExamplesObjective):
    """Decisions normalised one by one, all readings summed exactly, or only the best kept."""

    def problems(self, grow: bool) -> list[Problem]:
        """Return one problem per example: what could be done in every state, then the marks."""
        marks = [self.builder.lay_out(mark) for mark in MARKS]
        self.layout: list[tuple[Integers, Integers]] = []
        pools: list[list[LaidOutGraph]] = []
        for example in self.examples:
            graphs: list[LaidOutGraph] = []
            starts, gold = [0], []
            for j, state in enumerate(example.trace.states):
                actions = list(example.world.actions(state))
                wanted = example.trace.actions[j] if j < len(example.trace.actions) else None
                limit = self.learning.alternatives
                if limit is not None and len(actions) > limit:
                    others = [a for a in actions if a != wanted]
                    size = limit if wanted is None else limit - 1
                    picked = np.sort(self.random.choice(len(others), size, replace=False))
                    actions = [others[place] for place in picked]
                    if wanted is not None:
                        actions.append(wanted)
                if wanted is not None:
                    gold.append(len(graphs) + actions.index(wanted))
                graphs += [self.builder.ground(example.world, state, a) for a in actions]
                starts.append(len(graphs))
            self.layout.append((np.array(starts, np.int32), np.array(gold, np.int32)))
            pools.append([*graphs, *marks])
        texts = self.passages(pools, grow)
        return [
            Problem(
                text.forest,
                text.words,
                [
                    Candidate((g,), gold=place in set(gold.tolist()) or place >= len(pool) - 3)
                    for place, g in enumerate(pool)
                ],
                example.weight,
            )
            for example, text, pool, (_, gold) in zip(
                self.examples, texts, pools, self.layout, strict=True
            )
        ]

    def check_possible(self) -> None:
        """Leave it to the loss, which looks at units rather than whole texts."""

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p(actions | text) and its gradient."""
        model = self.model
        summed = self.learning.alignment == "marginal"
        gradient = lattice_gradient if summed else best_reading_gradient
        grouped, free = model.group_scores(theta)
        weights, free_weights = np.zeros_like(grouped), np.zeros_like(free)
        total = 0.0
        for problem, (starts, gold) in enumerate(self.layout):
            first, last = (int(each) for each in model.charts.problem_candidates[problem:][:2])
            span = slice(int(model.group_start[problem]), int(model.group_start[problem + 1]))
            table = grouped[span].reshape(last - first, -1) + free[first:last, None]
            count = int(starts[-1])
            grads = np.zeros_like(table)
            passing = np.ascontiguousarray(table[count : count + 2])
            passing_grad, again_grad = np.zeros_like(passing), np.zeros(table.shape[1])
            act_grad = np.zeros((count, table.shape[1]))
            arcs = np.zeros((table.shape[1], len(gold)))
            again = table[count + 2] if self.learning.again else np.full(table.shape[1], -np.inf)
            loss = gradient(
                table[:count], starts, gold, passing, again.copy(),
                act_grad, passing_grad, again_grad, arcs,
                self.learning.idle, self.learning.repeat,
            )  # fmt: skip
            if not np.isfinite(loss):
                raise DemonstrationError(
                    f"{self.examples[problem].demonstration} cannot be read: no way of aligning "
                    "its text leads to its actions."
                )
            weight = self.examples[problem].weight
            grads[:count], grads[count : count + 2], grads[count + 2] = (
                act_grad, passing_grad, again_grad,
            )  # fmt: skip
            total += weight * loss
            weights[span] = weight * grads.ravel()
            free_weights[first:last] = weight * grads.sum(axis=1)
        return total, model.weighted_gradient(theta, weights, free_weights)
