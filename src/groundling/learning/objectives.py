"""What learning minimises: plans or decisions, alignments summed or maximised."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from groundling.errors import DemonstrationError
from groundling.features.space import FeatureSpace
from groundling.inference.courses import beam_courses, enumerate_courses, sample_courses
from groundling.inference.settings import Search
from groundling.learning.examples import Example
from groundling.learning.settings import Learning
from groundling.model.builder import Builder, Course, Passage
from groundling.model.encoding import Candidate, Problem
from groundling.model.graphs import LaidOutGraph
from groundling.model.kernels import Integers, Reals
from groundling.model.lattice import MARKS, lattice_gradient
from groundling.model.path import align, spread
from groundling.model.scoring import Model
from groundling.world.environment import Action, State

__all__ = ["DecisionObjective", "LatticeObjective", "Objective", "PlanObjective", "make_objective"]


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
    elif learning.alignment == "marginal":
        kind = LatticeObjective
    else:
        kind = DecisionObjective
    objective = kind(builder, space, examples, learning, search, random, before_labels)
    objective.build(threads, grow, min_word_count)
    return objective


class _Base(Objective):
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

    @abstractmethod
    def problems(self, grow: bool) -> list[Problem]: ...

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
            self.builder.reader.count(example.instructions for example in self.examples)
        if self.before_labels is not None:
            self.before_labels()
        return [
            self.builder.passage(example.instructions, each, separate=self.separate)
            for example, each in zip(self.examples, graphs, strict=True)
        ]


class PlanObjective(_Base):
    """The demonstrated plan against all others: -log p(plan | text), alignments summed.

    With `alignment="viterbi"`, the numerator keeps only the best alignment of the
    demonstrated plan at the last round's θ, and the denominator sums over all: p(y, a | x).
    """

    separate = False

    def problems(self, grow: bool) -> list[Problem]:
        """Return one problem per example: its text and the plans it may mean."""
        self.courses: list[list[Course]] = []
        self.gold: list[list[int]] = []
        self.complete = True
        # Examples that start alike share their plans.
        spaces: dict[tuple[int, State], list[Course] | None] = {}
        for example in self.examples:
            key = (id(example.world), example.trace.states[0])
            if key not in spaces:
                spaces[key] = enumerate_courses(self.builder, example.world, key[1], self.search)
            courses = spaces[key]
            if courses is None:
                self.complete = False
                courses = sample_courses(
                    self.builder, example.world, key[1], self.search,
                    self.learning.alternatives or 50, self.random,
                )  # fmt: skip
            self._add(example, courses)
        graphs = [
            list(dict.fromkeys(g for c in courses for g in c.graphs)) for courses in self.courses
        ]
        self.texts = self.passages(graphs, grow)
        return self._problems()

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
        for example, text, courses, gold in zip(
            self.examples, self.texts, self.courses, self.gold, strict=True
        ):
            chosen = set(gold)
            candidates = [
                course.candidate(gold=place in chosen and not pinned)
                for place, course in enumerate(courses)
            ]
            if pinned:
                free = (-1,) * len(text.forest)
                candidates += [courses[place].candidate(True, free) for place in gold]
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

            found = beam_courses(
                self.builder, example.world, example.trace.states[0], self.search, score
            )
            known = {course.actions for course in self.courses[place]}
            new = [course for course, _ in found if course.actions not in known]
            if new:
                self.courses[place] = [*self.courses[place], *new]
                grown = True
        if grown:
            encoding = self.builder.encode(self._problems(), self.space)
            self.model = Model(encoding, self.builder.overlay, self.threads)
        return grown

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


class DecisionObjective(_Base):
    """The paper's objective: each demonstrated action against alternatives, alignments fixed.

    Σ_j -log softmax over Ỹ of ψ(ỹ) + Σ_i [a_i = j] ψ(x_i, ỹ).
    """

    def problems(self, grow: bool) -> list[Problem]:
        """Return one problem per decision."""
        options = [self._alternatives(example) for example in self.examples]
        texts = self.passages([[g for each in o for g in each] for o in options], grow)
        problems: list[Problem] = []
        self.decisions: list[int] = []  # first problem of each example
        for example, text, each in zip(self.examples, texts, options, strict=True):
            self.decisions.append(len(problems))
            length = len(example.trace.actions)
            alignment = spread(text.forest.groups, length)
            for j, graphs in enumerate(each):
                active = [self.learning.alignment == "all" or action == j for action in alignment]
                candidates = [Candidate((g,), gold=i == 0) for i, g in enumerate(graphs)]
                problems.append(
                    Problem(text.forest, text.words, candidates, example.weight, active)
                )
        self.decisions.append(len(problems))
        return problems

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
        charts = self.model.charts
        # Scores of all units are needed, not only of those now aligned.
        before = charts.group_active.copy()
        charts.group_active[:] = 1
        grouped, _ = self.model.group_scores(theta)
        for first, last in zip(self.decisions, self.decisions[1:], strict=False):
            groups = int(charts.problem_groups[first + 1] - charts.problem_groups[first])
            scores = np.array(
                [
                    grouped[self.model.group_start[p] : self.model.group_start[p] + groups]
                    for p in range(first, last)
                ]
            )
            _, alignment = align(
                scores.T,
                silence=self.learning.silence,
                last_to_last=self.learning.last_to_last,
            )
            for j, problem in enumerate(range(first, last)):
                start = int(charts.problem_groups[problem])
                charts.group_active[start : start + groups] = [a == j for a in alignment]
        return not np.array_equal(before, charts.group_active)

    def owners(self) -> Sequence[int]:
        """Return for each decision the place of its example."""
        return np.repeat(np.arange(len(self.examples)), np.diff(self.decisions)).tolist()

    def alignments(self) -> list[tuple[tuple[int, ...], ...]]:
        """Return for each example and unit the actions it is aligned with."""
        charts, found = self.model.charts, []
        for first, last in zip(self.decisions, self.decisions[1:], strict=False):
            rows = [
                charts.group_active[charts.problem_groups[p] : charts.problem_groups[p + 1]]
                for p in range(first, last)
            ]
            found.append(tuple(tuple(np.flatnonzero(c).tolist()) for c in np.array(rows).T))
        return found


class LatticeObjective(_Base):
    """Decisions normalised one by one, with all ways of reading the text summed exactly."""

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

    def loss(self, theta: Reals) -> tuple[float, Reals]:
        """Return Σ weight · -log p(actions | text) and its gradient."""
        model = self.model
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
            loss = lattice_gradient(
                table[:count], starts, gold, passing, table[count + 2].copy(),
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
