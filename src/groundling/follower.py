"""The follower: learns from demonstrations, follows instructions, explains itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from groundling.explain.reading import TextReader
from groundling.features.lexicon import Lexicon
from groundling.features.reading import Text
from groundling.features.settings import Features
from groundling.fitting import Fitting
from groundling.inference.decoding import best_temperature, decode, log_softmax
from groundling.inference.plan import Plan
from groundling.inference.settings import Search
from groundling.language.instruction import Instruction
from groundling.language.parser import Parser
from groundling.learning.lengths import LengthModel
from groundling.learning.settings import Learning
from groundling.learning.training import ProgressCallback
from groundling.model.builder import Courses
from groundling.model.kernels import Reals
from groundling.model.settings import Overlay
from groundling.partner import Partner
from groundling.saving import SavedPart, load_model, save_model
from groundling.searching import Part, Scored, Searcher
from groundling.trust import build
from groundling.world.environment import Demonstration, Environment, State, World

__all__ = ["Follower"]

_OWN_PARSERS = re.compile(r"(default|chain)(@[^/]*)?")  # neither paths nor packages
_ALTERNATIVES = 10


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
    partners
        Further models whose scores are averaged in (see `Partner`).

    Attributes
    ----------
    theta_ : array
        The learnt weights θ (see `weights` for those of partners).
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
        partners: Partner | Sequence[Partner] = (),
    ) -> None:
        self.overlay = overlay
        self.features = features
        self.learning = learning
        self.search = search
        self.parser = parser
        self.seed = seed
        self.threads = threads
        self.partners = (partners,) if isinstance(partners, Partner) else tuple(partners)

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
        fitting = Fitting(**self.get_params())
        learnt = fitting.fit(demonstrations, progress, checkpoint, checkpoint_every)
        self._learnt(*learnt)
        return self

    def _learnt(
        self,
        parts: Sequence[Part],
        lengths: LengthModel,
        loss: float,
        temperature: float = 1.0,
    ) -> None:
        self._parts = tuple(parts)
        self._builder = parts[0].builder
        self._lengths = lengths
        self._searcher = Searcher(self._parts, self.learning, lengths, self.seed)
        self.loss_ = loss
        self.temperature_ = temperature

    def _check_fitted(self) -> None:
        if not hasattr(self, "_parts"):
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
        search = self.search
        if length is not None:
            search = replace(search, min_length=length, max_length=length)
        listed = list(requests)
        plans = []
        for plan, (_, environment, start) in zip(self._plans(listed, search), listed, strict=True):
            if plan is None:
                goal = hasattr(environment, "is_goal")
                raise SearchError(
                    f"There is no plan of {search.min_length} to {search.max_length} actions "
                    f"from state {start!r}{' that reaches a goal' if goal else ''}. "
                    "Raise Search.max_length or Search.beam, or check the environment."
                )
            plans.append(plan)
        return plans

    def score_plans(
        self, requests: Iterable[tuple[Text, Environment, Sequence[State]]]
    ) -> Iterator[list[tuple[Courses, Reals]]]:
        """Score the plans from several starts under one text, as if it might be about any.

        For each (instructions, environment, starts), yields for each start its plans and
        their scores under θ, neither normalised nor calibrated. Scores of one text can be
        compared between starts; to make that meaningful, train with `Demonstration.rivals`.

        >>> from groundling import Demonstration, Follower, GroundingGraph
        >>> class Lamp:
        ...     def actions(self, state): return ("on", "off")
        ...     def step(self, state, action): return action
        ...     def ground(self, state, action, after):
        ...         return GroundingGraph({"lamp": {action: True}})
        >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
        >>> follower = Follower(parser="chain", search=Search(max_length=1)).fit(shown)
        >>> for answer in follower.score_plans([("light it", Lamp(), ("off", "on"))]):
        ...     for plans, scores in answer:
        ...         print([plan.actions for plan in plans], scores.argmax())
        [('on',), ('off',)] 0
        [('on',), ('off',)] 0
        """
        self._check_fitted()
        listed = list(requests)
        texts = self._builder.reader.read_many(text for text, _, _ in listed)
        worlds = [self._builder.world(environment) for _, environment, _ in listed]
        starts = [possible for _, _, possible in listed]
        return self._searcher.score_starts(texts, worlds, starts, self.search)

    def _plans(
        self, requests: Sequence[tuple[Text, Environment, State]], search: Search
    ) -> Iterator[Plan | None]:
        """Follow one request after another; nothing where no plan is found."""
        self._check_fitted()
        texts = self._builder.reader.read_many(text for text, _, _ in requests)
        worlds = [self._builder.world(environment) for _, environment, _ in requests]
        starts = [start for _, _, start in requests]
        for world, start in zip(worlds, starts, strict=True):
            world.actions(start)  # complains of states that cannot be remembered
        searched = self._searcher.search_many(texts, worlds, starts, search)
        for text, world, found in zip(texts, worlds, searched, strict=True):
            # Plans that the text cannot be laid over at all are none.
            possible = [each for each in found if each[0] > -np.inf]
            yield self._answer(text, world, possible, search) if possible else None

    def _answer(
        self, text: tuple[Instruction, ...], world: World, found: Scored, search: Search
    ) -> Plan:
        scores = np.array([score for score, _, _ in found])
        if len(found) == 1 and not search.planning and self.learning.normalise == "decisions":
            # Nothing else was considered; but the score is a log probability by itself.
            logs = np.minimum(scores / self.temperature_, 0.0)
        else:
            logs = log_softmax(scores, self.temperature_)
        paths = [states for _, states, _ in found]
        reflex = not search.planning and self.learning.normalise == "plans"
        best, confidence = decode(
            self.search.decode, logs, paths, world.outcome, answer=0 if reflex else None
        )
        order = [place for place in np.argsort(-logs, kind="stable").tolist() if place != best]
        source = Source(
            [TextReader(each.builder, each.space, each.theta, self.learning, search,
                        self._lengths, world) for each in self._parts],
            text,
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

        Two plans have the same outcome if they end alike (see `Environment.outcome`);
        where no plan is found, the outcome is not reached.
        """
        listed = self._checked(demonstrations)
        requests = [(each.instructions, each.environment, each.start) for each in listed]
        right, weight = 0.0, 0.0
        for each, plan in zip(listed, self._plans(requests, self.search), strict=True):
            world = self._builder.world(each.environment)
            ends = [
                world.outcome(world.trace(each.start, actions, str(each)).states[-1])
                for actions in (each.actions, *each.also)
            ]
            reached = plan is not None and world.outcome(plan.end) in ends
            right += each.weight * reached
            weight += each.weight
        return right / weight

    def calibrate(self, demonstrations: Iterable[Demonstration]) -> Follower:
        """Make confidences honest on demonstrations that were not trained on.

        Sets `temperature_` so that the demonstrated plans are most likely; where outcomes
        or transitions are decoded, so that their outcomes are.
        """
        listed = self._checked(demonstrations)
        texts = self._builder.reader.read_many(each.instructions for each in listed)
        worlds = [self._builder.world(each.environment) for each in listed]
        searched = self._searcher.search_many(texts, worlds, [e.start for e in listed], self.search)
        cases = []
        for each, world, scored in zip(listed, worlds, searched, strict=True):
            found = [plan for plan in scored if plan[0] > -np.inf]
            end = world.outcome(world.trace(each.start, each.actions, str(each)).states[-1])
            scores = np.array([score for score, _, _ in found])
            if self.search.decode == "plan":
                shown = (each.actions, *map(tuple, each.also))
                right = np.array([actions in shown for _, _, actions in found])
            else:
                right = np.array([world.outcome(states[-1]) == end for _, states, _ in found])
            if len(found) and right.any():
                cases.append((scores, right))
        if not cases:
            raise DemonstrationError(
                "None of the demonstrations can be used to calibrate: no plan that was found "
                "ends as demonstrated. Raise Search.max_length or Search.beam."
            )

        self.temperature_ = best_temperature(cases)
        return self

    def _checked(self, demonstrations: Iterable[Demonstration]) -> list[Demonstration]:
        self._check_fitted()
        listed = list(demonstrations)
        if not listed or sum(each.weight for each in listed) <= 0:
            raise DemonstrationError("There are no demonstrations with weight to judge by.")
        return listed

    # ---- looking inside -----------------------------------------------------------------

    @property
    def theta_(self) -> Reals:
        """The learnt weights θ."""
        self._check_fitted()
        return self._parts[0].theta

    @property
    def feature_names_(self) -> list[str]:
        """The name of each weight, in the order of `theta_`."""
        self._check_fitted()
        return self._parts[0].space.names()

    @property
    def lexicon_(self) -> Lexicon:
        """The lexicon in use, with what was learnt."""
        self._check_fitted()
        return self._builder.reader.lexicon

    def weights(
        self, containing: str = "", *, most: int = 20, partner: int = 0
    ) -> list[tuple[str, float]]:
        """Return the strongest features whose name contains a string, as the paper's Table 2.

        `partner` is the number of the partner whose weights are asked for, if not our own.
        """
        self._check_fitted()
        if not 0 <= partner < len(self._parts):
            raise SettingError(
                f"There is no partner {partner}: this follower has {len(self._parts) - 1}."
            )
        part = self._parts[partner]
        chosen = [
            (name, float(weight))
            for name, weight in zip(part.space.names(), part.theta.tolist(), strict=True)
            if containing in name and weight != 0
        ]
        return sorted(chosen, key=lambda each: (-abs(each[1]), each[0]))[:most]

    # ---- keeping ------------------------------------------------------------------------

    def save(self, folder: str | Path, *, note: Mapping[str, Any] | None = None) -> Path:
        """Write the follower into a folder (see `groundling.modelfolder`).

        A model that is there is replaced in one step. `note` is kept with the model, for
        `groundling.modelfolder.read_note`.
        """
        self._check_fitted()
        partners = [asdict(each.overlay) for each in self.partners]
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
                **({"partners": partners} if partners else {}),
            },
            parts=[
                SavedPart(
                    features,
                    part.space,
                    part.theta,
                    part.builder.values,
                    dict(part.builder.reader.counts),
                    part.builder.reader.labeller.context_words,
                )
                for features, part in zip(
                    (self.features, *(each.features for each in self.partners)),
                    self._parts,
                    strict=True,
                )
            ],
            lexicon=self.lexicon_,
            lengths=self._lengths,
            loss=self.loss_,
            temperature=self.temperature_,
            note=note,
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
                overlay=build(Overlay, kept["overlay"]),
                features=saved.parts[0].features,
                learning=build(Learning, kept["learning"]),
                search=build(Search, kept["search"]),
                parser=name,
                seed=int(kept["seed"]),
                threads=int(kept["threads"]),
                partners=[
                    Partner(build(Overlay, overlay), part.features)
                    for overlay, part in zip(kept.get("partners", ()), saved.parts[1:], strict=True)
                ],
            )
            trained_with = str(kept["parser_name"])
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ModelFileError(
                f"The model in {folder} has settings that cannot be read "
                f"({type(error).__name__}: {str(error)[:200]}). Save the follower again."
            ) from error
        # A model file must not make us read files or run pipelines of its choice.
        if parser is None and not _OWN_PARSERS.fullmatch(str(name)):
            raise SettingError(
                f"The follower in {folder} was trained with the parser {trained_with[:80]!r}, "
                "which is not part of the model. Pass it to Follower.load(…, parser=…)."
            )
        workbench = Fitting(**follower.get_params())
        overlays = (follower.overlay, *(each.overlay for each in follower.partners))
        parts = []
        for overlay, part in zip(overlays, saved.parts, strict=True):
            builder = workbench.builder(overlay, part.features, saved.lexicon)
            builder.values = part.values
            builder.reader.counts = part.counts
            builder.reader.labeller = replace(
                builder.reader.labeller, context_words=part.context_words
            )
            parts.append(Part(builder, part.space, part.theta))
        follower._learnt(parts, saved.lengths, saved.loss, saved.temperature)
        return follower
