"""The follower: learns from demonstrations, follows instructions, explains itself."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from groundling.errors import (
    DemonstrationError,
    ModelFileError,
    NotFittedError,
    SearchError,
    SettingError,
    did_you_mean,
)
from groundling.explain.explanation import Source
from groundling.features.lexicon import Lexicon
from groundling.features.reading import Reader, Text
from groundling.features.settings import Features
from groundling.features.space import FeatureSpace, name_of
from groundling.inference.alternation import alternate
from groundling.inference.courses import beam_courses, enumerate_courses, greedy_course
from groundling.inference.decoding import decode, log_softmax
from groundling.inference.plan import Plan
from groundling.inference.settings import Search
from groundling.inference.transduction import transduce
from groundling.inference.units import UnitScores
from groundling.language.instruction import Instruction
from groundling.language.parser import Parser, load_parser
from groundling.learning.checkpoints import Checkpoint
from groundling.learning.examples import prepare
from groundling.learning.lengths import LengthModel
from groundling.learning.lexicon import learn_lexicon
from groundling.learning.objectives import make_objective
from groundling.learning.settings import Learning
from groundling.learning.training import ProgressCallback, train
from groundling.model.builder import Builder, Course
from groundling.model.encoding import Problem
from groundling.model.kernels import Reals
from groundling.model.scoring import Model
from groundling.model.settings import Overlay
from groundling.saving import load_model, save_model
from groundling.world.environment import Action, Demonstration, Environment, State, World

__all__ = ["Follower"]

_OWN_PARSERS = re.compile(r"(default|chain|spacy:[A-Za-z0-9_]+)(@[^/]*)?")  # no paths
_BATCH = 200  # texts scored at once
_REMEMBERED = 2000  # starts whose plans are kept
_ALTERNATIVES = 10

Scored = list[tuple[float, tuple[State, ...], tuple[Action, ...]]]


class Follower:
    """An agent that learns to follow instructions from demonstrations.

    Parameters
    ----------
    overlay
        How text is laid over plans (see `Overlay`).
    features
        Which joined features there are (see `Features`).
    learning
        What is learnt and how (see `Learning`).
    search
        How plans are searched for and decoded (see `Search`).
    parser
        A parser or its name: `"default"`, `"chain"`, `"spacy:NAME"`, `"conllu:PATH"`.
    seed
        For everything random: same seed, same follower.
    threads
        How many threads train.

    Attributes
    ----------
    theta_ : array
        The learnt weights θ.
    feature_names_ : list of str
        The name of each weight.
    lexicon_ : Lexicon
        The lexicon in use, with what was learnt.
    loss_ : float
        The final training loss.
    temperature_ : float
        What scores are divided by so that confidences are calibrated.

    Examples
    --------
    >>> from groundling import Demonstration, Follower, GroundingGraph
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after):
    ...         return GroundingGraph({"lamp": {action: True}})
    >>> shown = [
    ...     Demonstration("light the lamp", Lamp(), "off", ("on",)),
    ...     Demonstration("darken the lamp", Lamp(), "on", ("off",)),
    ... ]
    >>> follower = Follower(parser="chain").fit(shown)
    >>> follower.follow("please light the room", Lamp(), "off").actions
    ('on',)
    """

    def __init__(
        self,
        *,
        overlay: Overlay = Overlay(),  # noqa: B008 - settings are frozen values
        features: Features = Features(),  # noqa: B008
        learning: Learning = Learning(),  # noqa: B008
        search: Search = Search(),  # noqa: B008
        parser: str | Parser = "default",
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        self.overlay = overlay
        self.features = features
        self.learning = learning
        self.search = search
        self.parser = parser
        self.seed = seed
        self.threads = threads

    # ---- scikit-learn habits ------------------------------------------------------------

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **settings: Any) -> Follower:
        """Change settings; what was learnt stays until the next fit."""
        known = self.get_params()
        for name, value in settings.items():
            if name not in known:
                raise SettingError(f"Follower has no setting {name!r}.{did_you_mean(name, known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = type(self)().get_params()
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v != default[k]]
        return f"Follower({', '.join(changed)})"

    # ---- learning -----------------------------------------------------------------------

    def fit(
        self,
        demonstrations: Iterable[Demonstration],
        *,
        progress: ProgressCallback | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 25,
    ) -> Follower:
        """Learn from demonstrations, forgetting whatever was learnt before.

        `progress` is called after every step. With `checkpoint`, a folder, training
        writes what it has reached every `checkpoint_every` iterations and resumes from
        what it finds there.
        """
        builder, space = self._workbench(self.features.first_lexicon())
        examples = prepare(builder, demonstrations, mirror=self.learning.mirror)
        state = self._checkpoint(checkpoint, checkpoint_every, examples)
        random = np.random.default_rng(self.seed)
        if self.features.lexicon == "learn":
            builder.reader.lexicon = learn_lexicon(
                builder, self.features, examples, self.learning, self.search,
                seed=self.seed, threads=self.threads, progress=progress, checkpoint=state,
            )  # fmt: skip
        objective = make_objective(
            builder, space, examples, self.learning, self.search, random,
            threads=self.threads, min_word_count=self.features.min_word_count,
        )  # fmt: skip
        loss, theta = train(
            objective, len(space), self.learning,
            seed=self.seed, progress=progress, checkpoint=state,
        )  # fmt: skip
        lengths = LengthModel()
        if self.learning.normalise == "decisions":
            units = [
                builder.passage(each.instructions, separate=True).forest.groups for each in examples
            ]
            lengths.fit(
                (count, len(each.trace.actions))
                for count, each in zip(units, examples, strict=True)
            )
        self._learnt(builder, space, theta, lengths, loss)
        return self

    def _workbench(self, lexicon: Lexicon) -> tuple[Builder, FeatureSpace]:
        reader = Reader(
            load_parser(self.parser), self.features.promote, self.features.labeller(), lexicon
        )
        return Builder(reader, self.overlay, self.features.nodes()), self.features.space()

    def _learnt(
        self,
        builder: Builder,
        space: FeatureSpace,
        theta: Reals,
        lengths: LengthModel,
        loss: float,
        temperature: float = 1.0,
    ) -> None:
        self._builder = builder
        self._space = space
        self._courses: dict[tuple[int, State, Search], list[Course] | None] = {}
        self._lengths = lengths
        self.theta_ = theta
        self.loss_ = loss
        self.temperature_ = temperature

    def _checkpoint(
        self, folder: str | Path | None, every: int, examples: Sequence[Any]
    ) -> Checkpoint | None:
        if folder is None:
            return None
        content = [
            (
                tuple(map(repr, e.instructions)), repr(e.trace.actions), repr(e.trace.states[0]),
                repr([trace.actions for trace in e.also]), e.weight, e.group,
            )
            for e in examples
        ]  # fmt: skip
        # Functions and parsers are known by name: how they print differs from run to run.
        joins = [j if isinstance(j, str) else name_of(j) for j in self.features.joins]
        settings = self.get_params() | {
            "features": replace(self.features, joins=()),
            "parser": load_parser(self.parser).name,
        }
        shown = json.dumps([repr(settings), joins, every, content])
        return Checkpoint(Path(folder), every, hashlib.sha256(shown.encode()).hexdigest())

    def _check_fitted(self) -> None:
        if not hasattr(self, "theta_"):
            raise NotFittedError(
                "This Follower has not learnt anything yet. Call fit with demonstrations, or "
                "Follower.load with a saved model."
            )

    # ---- following ----------------------------------------------------------------------

    def follow(
        self,
        instructions: Text,
        environment: Environment,
        start: State,
        *,
        length: int | None = None,
    ) -> Plan:
        """Return the plan that the instructions ask for.

        `length` tells the number of actions, where it is known.
        """
        return self.follow_many([(instructions, environment, start)], length=length)[0]

    def follow_many(
        self,
        requests: Iterable[tuple[Text, Environment, State]],
        *,
        length: int | None = None,
    ) -> list[Plan]:
        """Return a plan for each (instructions, environment, start); faster than one by one."""
        self._check_fitted()
        search = self.search
        if length is not None:
            search = replace(search, min_length=length, max_length=length)
        listed = list(requests)
        texts = self._builder.reader.read_many(text for text, _, _ in listed)
        worlds = [self._builder.world(environment) for _, environment, _ in listed]
        starts = [start for _, _, start in listed]
        for world, start in zip(worlds, starts, strict=True):
            world.actions(start)  # complains of states that cannot be remembered
        plans = []
        for text, world, start, found in zip(
            texts, worlds, starts, self._search_many(texts, worlds, starts, search), strict=True
        ):
            # Plans that the text cannot be laid over at all are none.
            found = [each for each in found if each[0] > -np.inf]
            if not found:
                raise SearchError(
                    f"There is no plan of {search.min_length} to {search.max_length} actions "
                    f"from state {start!r}"
                    + (" that reaches a goal" if world.has_goal else "")
                    + ". Raise Search.max_length or Search.beam, or check the environment."
                )
            plans.append(self._answer(text, world, found, search))
        return plans

    def _search_many(
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
            courses = self._all_courses(world, start, search) if listing else None
            if courses:
                batch.append((self._problem(text, courses), courses))
                if len(batch) == _BATCH:
                    yield from self._score_batch(batch)
                    batch = []
            else:
                yield from self._score_batch(batch)
                batch = []
                yield [] if courses == [] else self._search(text, world, start, search)
        yield from self._score_batch(batch)

    def _all_courses(self, world: World, start: State, search: Search) -> list[Course] | None:
        key = (id(world), start, search)
        if key not in self._courses:
            if len(self._courses) >= _REMEMBERED:
                self._courses.clear()
            self._courses[key] = enumerate_courses(self._builder, world, start, search)
        return self._courses[key]

    def _problem(self, text: tuple[Instruction, ...], courses: Sequence[Course]) -> Problem:
        graphs = list(dict.fromkeys(g for course in courses for g in course.graphs))
        passage = self._builder.passage(text, graphs)
        return Problem(passage.forest, passage.words, [c.candidate() for c in courses])

    def _score_batch(self, batch: Sequence[tuple[Problem, list[Course]]]) -> Iterator[Scored]:
        if not batch:
            return
        encoding = self._builder.encode([problem for problem, _ in batch], self._space)
        scores = Model(encoding, self.overlay).candidate_scores(self.theta_).tolist()
        place = 0
        for _, courses in batch:
            values = scores[place : place + len(courses)]
            place += len(courses)
            yield [
                (value, course.states, course.actions)
                for value, course in zip(values, courses, strict=True)
            ]

    def _search(
        self, text: tuple[Instruction, ...], world: World, start: State, search: Search
    ) -> Scored:
        if self.learning.normalise == "plans":
            return self._search_plans(text, world, start, search)
        scores = UnitScores(self._builder, self._space, self.theta_, text, world)
        if self.learning.alignment == "marginal":
            costs = (self.learning.idle, self.learning.repeat)
            read: Scored = self._widen(
                lambda wider: transduce(scores, start, wider, *costs), search, world
            )
            return read
        lengths = range(search.min_length, search.max_length + 1)
        found = self._widen(
            lambda wider: alternate(
                scores,
                start,
                wider,
                lambda n: self._lengths.score(n, scores.units),
                lengths,
                silence=self.learning.silence,
                last_to_last=self.learning.last_to_last,
                every_unit=self.learning.alignment == "all",
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
            encoding = self._builder.encode([self._problem(text, courses)], self._space)
            return Model(encoding, self.overlay).candidate_scores(self.theta_)

        if not search.planning:
            course = greedy_course(self._builder, world, start, search, score)
            return [(0.0, course.states, course.actions)] if course else []
        found = self._widen(
            lambda wider: beam_courses(self._builder, world, start, wider, score), search, world
        )
        return [(value, course.states, course.actions) for course, value in found]

    def _answer(
        self, text: tuple[Instruction, ...], world: World, found: Scored, search: Search
    ) -> Plan:
        logs = log_softmax(np.array([score for score, _, _ in found]), self.temperature_)
        paths = [states for _, states, _ in found]
        best, confidence = decode(self.search.decode, logs, paths, world.outcome)
        order = [place for place in np.argsort(-logs, kind="stable").tolist() if place != best]
        source = Source(
            self._builder, self._space, self.theta_, self.learning, search, self._lengths,
            text, world,
        )  # fmt: skip
        understood = confidence >= self.search.threshold
        others = tuple(
            Plan(found[place][2], found[place][1], float(logs[place]), float(np.exp(logs[place])))
            for place in order[:_ALTERNATIVES]
        )
        return Plan(
            found[best][2], found[best][1], float(logs[best]), confidence, understood, others,
            source,
        )  # fmt: skip

    # ---- judging ------------------------------------------------------------------------

    def score(self, demonstrations: Iterable[Demonstration]) -> float:
        """Return the share of demonstrations whose outcome the follower reaches.

        Two plans have the same outcome if they end alike (see `Environment.outcome`).
        """
        listed = self._checked(demonstrations)
        plans = self.follow_many((e.instructions, e.environment, e.start) for e in listed)
        right, weight = 0.0, 0.0
        for each, plan in zip(listed, plans, strict=True):
            world = self._builder.world(each.environment)
            ends = [
                world.outcome(world.trace(each.start, actions, str(each)).states[-1])
                for actions in (each.actions, *each.also)
            ]
            right += each.weight * (world.outcome(plan.end) in ends)
            weight += each.weight
        return right / weight

    def calibrate(self, demonstrations: Iterable[Demonstration]) -> Follower:
        """Make confidences honest on demonstrations that were not trained on.

        Sets `temperature_` so that the demonstrated plans are most likely.
        """
        listed = self._checked(demonstrations)
        texts = self._builder.reader.read_many(each.instructions for each in listed)
        worlds = [self._builder.world(each.environment) for each in listed]
        searched = self._search_many(texts, worlds, [e.start for e in listed], self.search)
        cases = []
        for each, world, scored in zip(listed, worlds, searched, strict=True):
            found = [plan for plan in scored if plan[0] > -np.inf]
            end = world.outcome(world.trace(each.start, each.actions, str(each)).states[-1])
            scores = np.array([score for score, _, _ in found])
            right = np.array([world.outcome(states[-1]) == end for _, states, _ in found])
            if len(found) and right.any():
                cases.append((scores, right))
        if not cases:
            raise DemonstrationError(
                "None of the demonstrations can be used to calibrate: no plan that was found "
                "ends as demonstrated. Raise Search.max_length or Search.beam."
            )

        def surprise(temperature: float) -> float:
            total = 0.0
            for scores, right in cases:
                logs = log_softmax(scores, temperature)
                total -= float(np.logaddexp.reduce(logs[right]))
            return total

        grid = np.exp(np.linspace(np.log(0.05), np.log(50.0), 200))
        self.temperature_ = float(min(grid, key=surprise))
        return self

    def _checked(self, demonstrations: Iterable[Demonstration]) -> list[Demonstration]:
        self._check_fitted()
        listed = list(demonstrations)
        if not listed or sum(each.weight for each in listed) <= 0:
            raise DemonstrationError("There are no demonstrations with weight to judge by.")
        return listed

    # ---- looking inside -----------------------------------------------------------------

    @property
    def feature_names_(self) -> list[str]:
        """The name of each weight, in the order of `theta_`."""
        self._check_fitted()
        return self._space.names()

    @property
    def lexicon_(self) -> Lexicon:
        """The lexicon in use, with what was learnt."""
        self._check_fitted()
        return self._builder.reader.lexicon

    def weights(self, containing: str = "", *, most: int = 20) -> list[tuple[str, float]]:
        """Return the strongest features whose name contains a string, as the paper's Table 2."""
        names = self.feature_names_
        chosen = [
            (name, float(weight))
            for name, weight in zip(names, self.theta_.tolist(), strict=True)
            if containing in name and weight != 0
        ]
        return sorted(chosen, key=lambda each: (-abs(each[1]), each[0]))[:most]

    # ---- keeping ------------------------------------------------------------------------

    def save(self, folder: str | Path) -> Path:
        """Write the follower into a folder (see `groundling.saving`)."""
        self._check_fitted()
        return save_model(
            Path(folder),
            settings={
                "overlay": asdict(self.overlay),
                "learning": asdict(self.learning),
                "search": asdict(self.search),
                "seed": self.seed,
                "threads": self.threads,
                "parser": self.parser if isinstance(self.parser, str) else "",
                "parser_name": self._builder.reader.parser.name,
            },
            features=self.features,
            space=self._space,
            theta=self.theta_,
            lexicon=self.lexicon_,
            values=self._builder.values,
            counts=dict(self._builder.reader.counts),
            lengths=self._lengths,
            loss=self.loss_,
            temperature=self.temperature_,
        )

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        parser: str | Parser | None = None,
        joins: Iterable[Any] = (),
    ) -> Follower:
        """Read a follower that was saved.

        `parser` replaces the saved parser; it is needed if that was an object of your own.
        `joins` are joining functions of your own that the follower was trained with.
        """
        saved = load_model(Path(folder), tuple(joins))
        kept = saved.settings
        try:
            name = parser if parser is not None else str(kept["parser"])
            follower = cls(
                overlay=Overlay(**kept["overlay"]),
                features=saved.features,
                learning=Learning(**kept["learning"]),
                search=Search(**kept["search"]),
                parser=name,
                seed=int(kept["seed"]),
                threads=int(kept["threads"]),
            )
            trained_with = str(kept["parser_name"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"The model in {folder} has settings that cannot be read "
                f"({type(error).__name__}: {error}). Save the follower again."
            ) from error
        # A model file must not make us read files or run pipelines of its choice.
        if parser is None and not _OWN_PARSERS.fullmatch(str(name)):
            raise SettingError(
                f"The follower in {folder} was trained with the parser {trained_with[:80]!r}, "
                "which is not part of the model. Pass it to Follower.load(…, parser=…)."
            )
        builder, _ = follower._workbench(saved.lexicon)
        builder.values = saved.values
        builder.reader.counts = saved.counts
        follower._learnt(
            builder, saved.space, saved.theta, saved.lengths, saved.loss, saved.temperature
        )
        return follower
