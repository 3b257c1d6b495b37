"""Searching with a learnt model: whichever way it was learnt, scored plans come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from groundling.features.space import FeatureSpace
from groundling.inference.alternation import alternate
from groundling.inference.courses import beam_courses, enumerate_courses, greedy_courses
from groundling.inference.joint import best_together
from groundling.inference.settings import Search
from groundling.inference.transduction import transduce
from groundling.inference.units import UnitScores
from groundling.language.instruction import Instruction
from groundling.learning.lengths import LengthModel
from groundling.learning.settings import Learning
from groundling.model.builder import Builder, Course, Courses
from groundling.model.encoding import Problem
from groundling.model.kernels import Reals
from groundling.model.scoring import Model
from groundling.world.environment import Action, State, World

__all__ = ["Part", "Scored", "Searcher"]

_BATCH = 200  # texts scored at once
_TOGETHER = 50_000  # plans scored at once
_REMEMBERED = 2000  # starts whose plans are kept

Scored = list[tuple[float, tuple[State, ...], tuple[Action, ...]]]
Text = tuple[Instruction, ...]


@dataclass
class Part:
    """One overlay with its features and what was learnt for them."""

    builder: Builder
    space: FeatureSpace
    theta: Reals
    _courses: dict[tuple[World, State, Search], Courses | None] = field(
        default_factory=dict, init=False, repr=False
    )

    def all_courses(self, world: World, start: State, search: Search) -> Courses | None:
        """Return all plans from a start, or nothing if there are too many; remembered."""
        key = (world, start, search)
        if key not in self._courses:
            if len(self._courses) >= _REMEMBERED:
                self._courses.clear()
            self._courses[key] = enumerate_courses(self.builder, world, start, search)
        return self._courses[key]

    def problem(self, text: Text, spaces: Sequence[Courses]) -> Problem:
        """Return plans from one or several starts as what a text may mean."""
        blocks = [courses.block for courses in spaces if courses]
        graphs = dict.fromkeys(graph for block in blocks for graph in block.graphs)
        passage = self.builder.passage(text, list(graphs))
        return Problem(passage.forest, passage.words, blocks)

    def scores(self, problems: Sequence[Problem]) -> Reals:
        """Return the scores of all candidates, problem by problem."""
        encoding = self.builder.encode(problems, self.space)
        return Model(encoding, self.builder.overlay).candidate_scores(self.theta)


@dataclass
class Searcher:
    """What a model has learnt, put to use: finds plans and their scores.

    The first of the `parts` searches; with several, scores are their means.
    """

    parts: tuple[Part, ...]
    learning: Learning
    lengths: LengthModel
    seed: int = 0

    def search_many(
        self,
        texts: Sequence[Text],
        worlds: Sequence[World],
        starts: Sequence[State],
        search: Search,
    ) -> Iterator[Scored]:
        """Search one by one, or many at once where all plans can be listed and scored."""
        listing = self.learning.normalise == "plans" and search.planning
        batch: list[tuple[Text, World, list[Courses]]] = []
        for text, world, start in zip(texts, worlds, starts, strict=True):
            courses = self.parts[0].all_courses(world, start, search) if listing else None
            if courses:
                batch.append((text, world, [courses]))
                if len(batch) == _BATCH:
                    yield from self._score_batch(batch, search)
                    batch = []
            else:
                yield from self._score_batch(batch, search)
                batch = []
                yield [] if courses == [] else self.search(text, world, start, search)
        yield from self._score_batch(batch, search)

    def _score_batch(
        self, batch: Sequence[tuple[Text, World, list[Courses]]], search: Search
    ) -> Iterator[Scored]:
        scores = self._mean_scores(batch, search).tolist() if batch else []
        place = 0
        for _, _, [courses] in batch:
            values = scores[place : place + len(courses)]
            place += len(courses)
            yield [
                (value, course.states, course.actions)
                for value, course in zip(values, courses, strict=True)
            ]

    def score_starts(
        self,
        texts: Sequence[Text],
        worlds: Sequence[World],
        starts: Sequence[Sequence[State]],
        search: Search,
    ) -> Iterator[list[tuple[Courses, Reals]]]:
        """Score the plans from several starts under one text, for many texts."""
        batch: list[tuple[Text, World, list[Courses]]] = []
        count = 0
        for text, world, possible in zip(texts, worlds, starts, strict=True):
            spaces = [self._listed(text, world, start, search) for start in possible]
            batch.append((text, world, spaces))
            count += sum(map(len, spaces))
            if count > _TOGETHER:
                yield from self._answers(batch, search)
                batch, count = [], 0
        yield from self._answers(batch, search)

    def _answers(
        self, batch: Sequence[tuple[Text, World, list[Courses]]], search: Search
    ) -> Iterator[list[tuple[Courses, Reals]]]:
        scores = self._mean_scores(batch, search) if batch else np.zeros(0)
        place = 0
        for _, _, spaces in batch:
            answer = []
            for courses in spaces:
                answer.append((courses, scores[place : place + len(courses)]))
                place += len(courses)
            yield answer

    def _listed(self, text: Text, world: World, start: State, search: Search) -> Courses:
        """Return all plans from a start, or those that the search keeps."""
        listing = self.learning.normalise == "plans" and search.planning
        courses = self.parts[0].all_courses(world, start, search) if listing else None
        if courses is None:
            found = self.search(text, world, start, search)
            courses = Courses(
                self.parts[0].builder.course(world, states, actions)
                for _, states, actions in (found if search.planning else found[:1])
            )
        return courses

    def _mean_scores(
        self, batch: Sequence[tuple[Text, World, list[Courses]]], search: Search
    ) -> Reals:
        """Return what the parts score on average, for plans that the first one has laid out."""
        first, *others = self.parts
        total = first.scores([first.problem(text, spaces) for text, _, spaces in batch])
        for part in others:
            problems = [
                part.problem(text, [self._again(part, world, each, search) for each in spaces])
                for text, world, spaces in batch
            ]
            total += part.scores(problems)
        return np.asarray(total / len(self.parts))

    @staticmethod
    def _again(part: Part, world: World, courses: Courses, search: Search) -> Courses:
        """Lay the same plans out for another part."""
        if not courses:
            return courses
        known = part.all_courses(world, courses[0].states[0], search)
        if known is not None and len(known) == len(courses):
            return known  # all there are, and always in the same order
        return Courses(part.builder.course(world, c.states, c.actions) for c in courses)

    def search(self, text: Text, world: World, start: State, search: Search) -> Scored:
        """Search for plans under one text, by the way the model was learnt.

        Without planning, the plan of the reflex agent comes first, whatever the others score.
        """
        if self.learning.normalise == "plans":
            return self._search_plans(text, world, start, search)
        search = search.extended(world.extra_length(start))
        part, learning = self.parts[0], self.learning
        scores = UnitScores(part.builder, part.space, part.theta, text, world)
        if learning.reads:
            read: Scored = self._widen(
                lambda wider: transduce(
                    scores,
                    start,
                    wider,
                    again=learning.again,
                    idle=learning.idle,
                    repeat=learning.repeat,
                    summed=learning.alignment == "marginal",
                ),
                search,
                world,
            )
            return read
        lengths = range(search.min_length, search.max_length + 1)

        def length_score(length: int) -> float:
            return self.lengths.score(length, scores.units)

        every_unit = learning.alignment == "all"
        if search.joint and search.planning and not every_unit:
            together = best_together(
                scores,
                start,
                search,
                length_score,
                lengths,
                silence=learning.silence,
                last_to_last=learning.last_to_last,
            )
            return [(each.score, each.states, each.actions) for each in together]
        scores.look_ahead(start, search.max_length)
        found = self._widen(
            lambda wider: alternate(
                scores,
                start,
                wider,
                length_score,
                lengths,
                silence=learning.silence,
                last_to_last=learning.last_to_last,
                every_unit=every_unit,
                seed=self.seed,
            ),
            search,
            world,
        )
        return [(each.score, each.states, each.actions) for each in found]

    @staticmethod
    def _widen(run: Any, search: Search, world: World) -> Any:
        """Search again with a wider beam while a goal is not reached and the budget lasts."""
        while True:
            found = run(search)
            if found or not world.has_goal or not search.planning or search.beam is None:
                return found
            if search.beam * 4 > search.budget:
                return found
            search = replace(search, beam=search.beam * 4)

    def _search_plans(self, text: Text, world: World, start: State, search: Search) -> Scored:
        """Search where plans cannot all be listed: by beam, or without looking ahead."""

        def score(courses: Sequence[Course]) -> Reals:
            total = np.zeros(len(courses))
            for number, part in enumerate(self.parts):
                laid_out = Courses(
                    part.builder.course(world, c.states, c.actions) if number else c
                    for c in courses
                )
                total += part.scores([part.problem(text, [laid_out])])
            return total / len(self.parts)

        builder = self.parts[0].builder
        if search.planning:
            found = self._widen(
                lambda wider: beam_courses(builder, world, start, wider, score), search, world
            )
        else:
            found = greedy_courses(builder, world, start, search, score)
        return [(value, course.states, course.actions) for course, value in found]
