"""The follower: learns from demonstrations, follows instructions, explains itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from groundling.answers import answer, listed_requests
from groundling.errors import (
    DemonstrationError,
    NotFittedError,
    SearchError,
    SettingError,
    did_you_mean,
)
from groundling.estimator import Estimator
from groundling.features.lexicon import Lexicon
from groundling.features.reading import Text
from groundling.features.settings import Features
from groundling.inference.plan import Plan
from groundling.inference.settings import Search
from groundling.io import load_learnt, save_learnt
from groundling.judging import checked, honest_temperature, share_right
from groundling.language.parser import Parser
from groundling.learning.settings import Learning
from groundling.learning.teaching import teach
from groundling.learning.trainer import Learnt, Trainer
from groundling.learning.training import ProgressCallback
from groundling.models.base import Model, Request
from groundling.models.examples import prepare
from groundling.models.plan import PlanModel
from groundling.overlay.batch import Reals
from groundling.overlay.settings import Overlay
from groundling.scale.fitting import fit_at_scale
from groundling.world.environment import Demonstration, Environment, State
from groundling.world.trajectory import Trajectory

__all__ = ["Follower"]


class Follower(Estimator):
    """An agent that learns to follow instructions from demonstrations.

    Parameters
    ----------
    model
        What is normalised over what: `PlanModel`, `DecisionModel`, `TransducerModel`, or an
        `Ensemble` of one of them.
    overlay
        How text is laid over plans (see `Overlay`).
    features
        Which joined features there are (see `Features`).
    learning
        How weights are learnt (see `Learning`).
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
        The learnt weights θ (see `weights` for those of an ensemble's members).
    feature_names_ : list of str
        The name of each weight.
    lexicon_ : Lexicon
        The lexicon in use, with what was learnt.
    loss_ : float
        The final training loss.
    temperature_ : float
        What scores are divided by so that confidences are calibrated.

    Notes
    -----
    What was learnt is kept with the settings of that time: settings that are changed later
    are heard at the next `fit`. To search in another way, use `with_search`.

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

    _learnt: Learnt

    def __init__(
        self,
        *,
        model: Model = PlanModel(),  # noqa: B008 - settings are frozen values
        overlay: Overlay = Overlay(),  # noqa: B008
        features: Features = Features(),  # noqa: B008
        learning: Learning = Learning(),  # noqa: B008
        search: Search = Search(),  # noqa: B008
        parser: str | Parser = "default",
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        self.model = model
        self.overlay = overlay
        self.features = features
        self.learning = learning
        self.search = search
        self.parser = parser
        self.seed = seed
        self.threads = threads
        self._check_settings()

    # ---- learning -----------------------------------------------------------------------

    def fit(
        self,
        demonstrations: Iterable[Demonstration],
        y: None = None,
        *,
        progress: ProgressCallback | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 25,
        cluster: Any = None,
        memory: str | int | None = None,
    ) -> Follower:
        """Learn from demonstrations, forgetting whatever was learnt before.

        `progress` is called after every step, and may return True to stop there. In `checkpoint`, a
        folder, training keeps what it reaches every `checkpoint_every` iterations, to resume. With
        `memory` ("4GB") or a Dask `cluster` it learns in shards; `y` is there for scikit-learn.
        """
        self._check_settings()
        told = (demonstrations, progress, checkpoint, checkpoint_every, cluster, memory)
        self._learnt = fit_at_scale(Trainer(**self.get_params(deep=False)), *told)
        return self

    def teach(
        self,
        demonstrations: Iterable[Demonstration],
        *,
        known: Iterable[Demonstration] = (),
        progress: ProgressCallback | None = None,
    ) -> Follower:
        """Learn from more demonstrations, keeping the earlier ones.

        The result is that of `fit` on all of them, up to the tolerance of learning, but begins
        with the present weights; a lexicon that was learnt is kept as it is. An unfitted
        follower learns as by `fit`. A follower that was loaded from a file holds no
        demonstrations: give those it had learnt from as `known`.

        >>> from groundling import Demonstration, Follower, GroundingGraph
        >>> class Lamp:
        ...     def actions(self, state): return ("on", "off")
        ...     def step(self, state, action): return action
        ...     def ground(self, state, action, after):
        ...         return GroundingGraph({"lamp": {action: True}})
        >>> follower = Follower(parser="chain")
        >>> for text, action in (("light it", "on"), ("douse it", "off")):
        ...     shown = Demonstration(text, Lamp(), "off", (action,), name=text)
        ...     follower = follower.teach([shown])
        >>> follower.follow("douse it", Lamp(), "off").actions
        ('off',)
        >>> [each.name for each in follower.forget(["douse it"]).demonstrations_]
        ['light it']
        """
        if not hasattr(self, "_learnt"):
            return self.fit([*known, *demonstrations], progress=progress)
        learnt = self._learnt
        trainer, encoder = learnt.settings, learnt.fitted.encoder
        before = learnt.examples
        if not before:
            listed = list(known)
            if not listed:
                raise DemonstrationError(
                    "This Follower was loaded from a file, which holds no demonstrations. Give "
                    "those it had learnt from as known=[…], or fit it with all."
                )
            before = tuple(prepare(encoder, listed, augment=trainer.learning.augment))
        new = prepare(encoder, demonstrations, augment=trainer.learning.augment)
        self._learnt = teach(learnt, before, new, progress)
        return self

    def forget(self, names: Iterable[str], *, progress: ProgressCallback | None = None) -> Follower:
        """Unlearn demonstrations by their names, as if they had never been shown."""
        learnt = self._fitted()
        unwanted = {names} if isinstance(names, str) else set(names)
        has = {each.demonstration.name for each in learnt.examples}
        for name in sorted(unwanted - has):
            raise DemonstrationError(
                f"There is no demonstration {name!r} to forget.{did_you_mean(name, has - {''})}"
            )
        kept = [e for e in learnt.examples if e.demonstration.name not in unwanted]
        self._learnt = learnt.settings.go_on(learnt, kept, progress)
        return self

    def forget_environment(self, environment: Environment) -> None:
        """Forget what an environment has answered; for changes that `follow` does not notice."""
        self._fitted().fitted.encoder.forget(environment)

    @property
    def demonstrations_(self) -> tuple[Demonstration, ...]:
        """What was learnt from; empty in a follower from a file."""
        examples = self._fitted().examples
        return tuple(each.shown for each in examples if each.shown is not None)

    def _fitted(self) -> Learnt:
        if not hasattr(self, "_learnt"):
            raise NotFittedError(
                "This Follower has not learnt anything yet. Call fit with demonstrations, or "
                "Follower.load with a saved model."
            )
        return self._learnt

    def with_search(self, search: Search) -> Follower:
        """Return a follower with the same knowledge that searches in another way.

        >>> from groundling import Search
        >>> Follower(search=Search(max_length=2)).with_search(Search(max_length=3))
        Traceback (most recent call last):
            ...
        groundling.errors.NotFittedError: This Follower has not learnt anything yet. Call fit with
        demonstrations, or Follower.load with a saved model.
        """
        learnt = self._fitted()
        settings = learnt.settings
        settings.model.check(settings.overlay, settings.features, settings.learning.rounds, search)
        return self._of(learnt.with_search(search))

    def with_temperature(self, temperature: float) -> Follower:
        """Return a follower with the same knowledge whose confidences are sharper or softer."""
        if not 0 < temperature < np.inf:
            raise SettingError(f"A temperature is above 0, not {temperature}.")
        return self._of(replace(self._fitted(), temperature=float(temperature)))

    @classmethod
    def _of(cls, learnt: Learnt) -> Follower:
        settings = {each.name: getattr(learnt.settings, each.name) for each in fields(Trainer)}
        follower = cls(**settings)
        follower._learnt = learnt
        return follower

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
        search = self._fitted().search
        if length is not None:
            search = replace(search, min_length=length, max_length=length)
        listed = listed_requests(requests)
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
    ) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
        """Score the plans from several starts under one text, as if it might be about any.

        For each (instructions, environment, starts), yields for each start its plans and
        their scores under θ, neither normalised nor calibrated. Scores of one text can be
        compared between starts; to make that meaningful, train with
        `Demonstration.negative_starts`.

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
        learnt = self._fitted()
        encoder = learnt.fitted.encoder
        listed = list(requests)
        texts = encoder.reader.read_many(text for text, _, _ in listed)
        asked = [
            (text, encoder.world(environment), starts)
            for text, (_, environment, starts) in zip(texts, listed, strict=True)
        ]
        return learnt.model.score_starts(learnt.fitted, asked, learnt.search)

    def _requests(self, requests: Sequence[tuple[Text, Environment, State]]) -> list[Request]:
        encoder = self._fitted().fitted.encoder
        texts = encoder.reader.read_many(text for text, _, _ in requests)
        found = [
            Request(text, encoder.world(environment), start)
            for text, (_, environment, start) in zip(texts, requests, strict=True)
        ]
        for each in found:
            each.world.actions(each.start)  # complains of states that cannot be remembered
            each.world.notice(each.start)  # whether the environment has changed since
        return found

    def _plans(
        self, requests: Sequence[tuple[Text, Environment, State]], search: Search
    ) -> Iterator[Plan | None]:
        """Follow one request after another; nothing where no plan is found."""
        learnt = self._fitted()
        read = self._requests(requests)
        results = learnt.model.search(learnt.fitted, read, search)
        for request, result in zip(read, results, strict=True):
            yield answer(learnt, request, result, search)

    # ---- judging ------------------------------------------------------------------------

    def score(self, demonstrations: Iterable[Demonstration], y: None = None) -> float:
        """Return the share of demonstrations whose outcome the follower reaches.

        Two plans have the same outcome if they end alike (see `Environment.outcome`);
        where no plan is found, the outcome is not reached.
        """
        learnt = self._fitted()
        listed = checked(demonstrations)
        requests = [(each.instructions, each.environment, each.start) for each in listed]
        return share_right(learnt, listed, self._plans(requests, learnt.search))

    def calibrate(self, demonstrations: Iterable[Demonstration]) -> Follower:
        """Make confidences honest on demonstrations that were not trained on.

        Sets `temperature_` so that the demonstrated plans are most likely; where outcomes
        or transitions are decoded, so that their outcomes are.
        """
        learnt = self._fitted()
        listed = checked(demonstrations)
        read = self._requests([(e.instructions, e.environment, e.start) for e in listed])
        self._learnt = replace(learnt, temperature=honest_temperature(learnt, listed, read))
        return self

    # ---- looking inside -----------------------------------------------------------------

    @property
    def theta_(self) -> Reals:
        """The learnt weights θ."""
        return self._fitted().fitted.theta

    @property
    def feature_names_(self) -> list[str]:
        """The name of each weight, in the order of `theta_`."""
        return self._fitted().fitted.space.names()

    @property
    def lexicon_(self) -> Lexicon:
        """The lexicon in use, with what was learnt."""
        return self._fitted().fitted.encoder.reader.lexicon

    @property
    def loss_(self) -> float:
        """The final training loss."""
        return self._fitted().loss

    @property
    def temperature_(self) -> float:
        """What scores are divided by so that confidences are calibrated."""
        return self._fitted().temperature

    @property
    def weight_count_(self) -> int:
        """How many weights were learnt, those of all members together."""
        return sum(len(each.theta) for each in self._fitted().fitted.members)

    def weights(
        self, containing: str = "", *, most: int = 20, member: int = 0
    ) -> list[tuple[str, float]]:
        """Return the strongest features whose name contains a string, as the paper's Table 2.

        `member` is the number of the ensemble's member whose weights are asked for.
        """
        members = self._fitted().fitted.members
        if not 0 <= member < len(members):
            raise SettingError(
                f"There is no member {member}: this follower has {len(members)}, counted from 0."
            )
        fitted = members[member]
        chosen = [
            (name, float(weight))
            for name, weight in zip(fitted.space.names(), fitted.theta.tolist(), strict=True)
            if containing in name and weight != 0
        ]
        return sorted(chosen, key=lambda each: (-abs(each[1]), each[0]))[:most]

    # ---- keeping ------------------------------------------------------------------------

    def save(self, folder: str | Path, *, note: Mapping[str, Any] | None = None) -> Path:
        """Write the follower into a folder (see `groundling.modelfolder`).

        A model that is there is replaced in one step. `note` is kept with the model, for
        `groundling.modelfolder.read_note`.
        """
        return save_learnt(Path(folder), self._fitted(), note)

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
        return cls._of(load_learnt(Path(folder), parser, tuple(joins)))
