"""Searching with a learnt model: whichever way it was learnt, scored plans come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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

__all__ = ["Scored", "Searcher"]

_BATCH = 200  # texts scored at once
_REMEMBERED = 2000  # starts whose plans are kept

Scored = list[tuple[float, tuple[State, ...], tuple[Action, ...]]]


@dataclass
class Searcher:
    """What a model has learnt, put to use: finds plans and their scores."""

    builder: Builder
    space: FeatureSpace
    theta: Reals
    learning: Learning
    lengths: LengthModel
    seed: int = 0
    _courses: dict[tuple[World, State, Search], Courses | None] = field(
        default_factory=dict, init=False, repr=False
    )

    def search_many(
        self,
        texts: Sequence[tuple[Instruction, ...]],
        worlds: Sequence[World],
        starts: Sequence[State],
        search: Search,
    ) -> Iterator[Scored]:
        """Search one by one, or many at once where all plans can be listed and scored."""
        listing = self.learning.normalise == "plans" and search.planning
        batch: list[tuple[Problem, list[Course]]] = []
        for text, world, start in zip(texts, worlds, starts, strict=True):
            courses = self.all_courses(world, start, search) if listing else None
            if courses:
                batch.append((self._problem(text, courses), courses))
                if len(batch) == _BATCH:
                    yield from self._score_batch(batch)
                    batch = []
            else:
                yield from self._score_batch(batch)
                batch = []
                yield [] if courses == [] else self.search(text, world, start, search)
        yield from self._score_batch(batch)

    def all_courses(self, world: World, start: State, search: Search) -> Courses | None:
        """Return all plans from a start, or nothing if there are too many; remembered."""
        key = (world, start, search)
        if key not in self._courses:
            if len(self._courses) >= _REMEMBERED:
                self._courses.clear()
            self._courses[key] = enumerate_courses(self.builder, world, start, search)
        return self._courses[key]

    def _problem(self, text: tuple[Instruction, ...], courses: Sequence[Course]) -> Problem:
        graphs = list(dict.fromkeys(g for course in courses for g in course.graphs))
        passage = self.builder.passage(text, graphs)
        return Problem(passage.forest, passage.words, [c.candidate() for c in courses])

    def _score_batch(self, batch: Sequence[tuple[Problem, list[Course]]]) -> Iterator[Scored]:
        if not batch:
            return
        scores = self.scores([problem for problem, _ in batch]).tolist()
        place = 0
        for _, courses in batch:
            values = scores[place : place + len(courses)]
            place += len(courses)
            yield [
                (value, course.states, course.actions)
                for value, course in zip(values, courses, strict=True)
            ]

    def scores(self, problems: Sequence[Problem]) -> Reals:
        """Return the scores of all candidates, problem by problem."""
        encoding = self.builder.encode(problems, self.space)
        return Model(encoding, self.builder.overlay).candidate_scores(self.theta)

    def search(
        self, text: tuple[Instruction, ...], world: World, start: State, search: Search
    ) -> Scored:
        """Search for plans under one text, by the way the model was learnt.

        Without planning, the plan of the reflex agent comes first, whatever the others score.
        """
        if self.learning.normalise == "plans":
            return self._search_plans(text, world, start, search)
        search = search.extended(world.extra_length(start))
        scores = UnitScores(self.builder, self.space, self.theta, text, world)
        learning = self.learning
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

    def _search_plans(
        self, text: tuple[Instruction, ...], world: World, start: State, search: Search
    ) -> Scored:
        """Search where plans cannot all be listed: by beam, or without looking ahead."""

        def score(courses: Sequence[Course]) -> Reals:
            return self.scores([self._problem(text, courses)])

        if search.planning:
            found = self._widen(
                lambda wider: beam_courses(self.builder, world, start, wider, score), search, world
            )
        else:
            found = greedy_courses(self.builder, world, start, search, score)
        return [(value, course.states, course.actions) for course, value in found]
