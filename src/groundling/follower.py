"""The follower: learns from demonstrations, follows instructions, explains itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from groundling.answers import listed_requests, no_plan
from groundling.diagnosis.diagnosing import check_learnt, check_taught, left_out, warn
from groundling.errors import (
    DemonstrationError,
    GroundlingError,
    SettingError,
    WorldError,
)
from groundling.explain.explanation import Plan
from groundling.features.feature_settings import Features
from groundling.features.reader import Text
from groundling.inference.search import Search
from groundling.io import load_learnt, save_learnt
from groundling.language.parser import Parser
from groundling.learning.choosing import Choices, choose
from groundling.learning.facts import Facts
from groundling.learning.settings import Learning
from groundling.learning.teaching import forget, teach
from groundling.learning.texts import warn_of_long_texts
from groundling.learning.trainer import Trainer
from groundling.learning.training import ProgressCallback, early
from groundling.learning.tuning import compare
from groundling.looking import Looking
from groundling.models.base import Model
from groundling.models.examples import Skipped, listed_demonstrations, sift
from groundling.models.learnt import Learnt
from groundling.overlay.settings import Overlay
from groundling.scale.fitting import fit_at_scale, refuse_in_shards
from groundling.settings import AUTO, Auto, knowing_names
from groundling.world.environment import Demonstration, Environment, State

__all__ = ["Follower"]


class Follower(Looking):
    """An agent that learns to follow instructions from demonstrations.

    What is not given is chosen from the demonstrations (`"auto"`); `choices_` tells what, and
    why. What is given is kept.

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
        A parser or its name: `"default"`, `"chain"`, `"chain:LANGUAGE"`, `"spacy:NAME"`,
        `"conllu:PATH"`.
    seed
        For everything random: same seed, same follower.
    threads
        How many threads train.

    Attributes
    ----------
    skipped_ : tuple of Skipped
        What `fit(…, skip_bad=True)` left out, and why.
    choices_ : tuple of Choice
        What was chosen from the demonstrations: what, the choice, why, what to set instead.
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

    @knowing_names
    def __init__(
        self,
        *,
        model: Model | Auto = AUTO,
        overlay: Overlay | Auto = AUTO,
        features: Features | Auto = AUTO,
        learning: Learning | Auto = AUTO,
        search: Search | Auto = AUTO,
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
        skip_bad: bool = False,
        check: bool = True,
        cluster: Any = None,
        memory: str | int | None = None,
    ) -> Follower:
        """Learn from demonstrations, forgetting whatever was learnt before.

        `progress` is called from the first second on and after every step of training, where
        it may return True to stop. With `checkpoint`, a folder, training writes what it has
        reached every `checkpoint_every` iterations and resumes from what it finds there. With
        `skip_bad`, demonstrations that cannot be read or carried out are left out; a warning
        says how many and which, and `skipped_` why. Unless `check` is off, what cannot work is
        told in warnings (`LearningWarning`) with the cure; see also `diagnose`. With `memory`,
        such as "4GB", or a Dask `cluster`, it learns in shards, without these checks (see
        `fit_at_scale`). `y` is not used; it is there for scikit-learn's searches.
        """
        self._check_settings()
        if cluster is not None or memory is not None:
            refuse_in_shards(skip_bad)
            told = (progress, checkpoint, checkpoint_every, cluster, memory)
            self._learnt = fit_at_scale(self.get_params(deep=False), demonstrations, *told)
            self.skipped_: tuple[Skipped, ...] = ()
            return self
        tell = early(progress)
        listed = listed_demonstrations(demonstrations)
        skipped: list[Skipped] = []
        if skip_bad:
            tell("reading", 0, len(listed))
            listed, skipped = self._sift(listed)
        if check:
            warn_of_long_texts(listed)
        trainer, choices = choose(
            self.get_params(deep=False), listed, lambda what: tell(what, 0, len(listed))
        )
        learnt = trainer.fit(listed, progress, checkpoint, checkpoint_every)
        self._learnt = replace(learnt, choices=choices)
        self.skipped_ = tuple(skipped)
        if check:
            tell("checking", 0, len(listed))
            warn(check_learnt(self._learnt))
        return self

    @classmethod
    def tuned(
        cls,
        demonstrations: Iterable[Demonstration],
        seconds: float = 60,
        *,
        parser: str | Parser = "default",
        seed: int = 0,
        threads: int = 1,
        show: Callable[[str], object] = print,
    ) -> Follower:
        """Return a follower with the best of several configurations, fitted.

        What `Follower()` chooses, other whole configurations, then others like the best one and
        its penalties, are compared by cross-validation over groups of demonstrations; the last
        fit is on all demonstrations. All together take about so many seconds, or as long as
        choosing, one small comparison and the last fit take. `show` gets each trial as it is
        done, then the table, which says what was left out for want of time.
        """
        listed = listed_demonstrations(demonstrations)
        settings = {"parser": parser, "seed": seed, "threads": threads}
        found = compare(settings, listed, seconds, show)
        show(str(found))
        assert found.trainer is not None
        follower = cls._of(replace(found.trainer.fit(listed), choices=found.choices))
        follower.skipped_ = ()
        warn(check_learnt(follower._learnt))
        return follower

    def _sift(self, listed: Sequence[Demonstration]) -> tuple[list[Demonstration], list[Skipped]]:
        """Leave out what cannot be used, and say so."""
        good, bad = sift(Facts(listed, self.parser).encoder, listed)
        if not good:
            raise DemonstrationError(
                f"None of {len(bad)} demonstrations can be used. The first: {bad[0].problem}"
            )
        if bad:
            warn([left_out(bad)])
        return good, bad

    def teach(
        self,
        demonstrations: Iterable[Demonstration],
        *,
        known: Iterable[Demonstration] = (),
        progress: ProgressCallback | None = None,
        check: bool = True,
    ) -> Follower:
        """Learn from more demonstrations, keeping the earlier ones.

        This follower is changed, and returned. The result is that of `fit` on all of them, up to
        the tolerance of learning: settings that were left open are chosen again (what takes
        trials, when there are twice as many demonstrations). While they come out the same, it
        begins with the present weights, and a lexicon that was learnt is kept as it is. An
        unfitted follower learns as by `fit`. A follower that was loaded from a file holds no
        demonstrations: give those it had learnt from as `known`. Unless `check` is off, warnings
        tell what cannot work in the new ones.

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
        listed = listed_demonstrations(demonstrations)
        if not hasattr(self, "_learnt"):
            return self.fit([*known, *listed], progress=progress, check=check)
        self._learnt = teach(self._learnt, listed, known, progress)
        if check:
            warn(check_taught(self._learnt, listed))
        return self

    def forget(self, names: Iterable[str], *, progress: ProgressCallback | None = None) -> Follower:
        """Unlearn demonstrations by their names, as if they had never been shown.

        This follower is changed, and returned.
        """
        self._learnt = forget(self._fitted(), names, progress)
        return self

    def forget_environment(self, environment: Environment) -> None:
        """Forget what an environment has answered; for changes that `follow` does not notice."""
        self._fitted().fitted.encoder.forget(environment)

    @property
    def demonstrations_(self) -> tuple[Demonstration, ...]:
        """What was learnt from; empty in a follower from a file."""
        examples = self._fitted().examples
        return tuple(each.shown for each in examples if each.shown is not None)

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
        settings = Trainer.of(learnt)
        if search.max_length is None:
            search = replace(search, max_length=max(learnt.search.longest, search.min_length))
        settings.model.check(settings.overlay, settings.features, settings.learning.rounds, search)
        choices = learnt.choices.closed("search") if isinstance(learnt.choices, Choices) else ()
        return self._of(replace(learnt.with_search(search), choices=choices))

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

    def act(
        self, instructions: str, running: Any, world: Any, *, threshold: float | None = None
    ) -> Any:
        """Carry out instructions in a running environment, and tell what came of it.

        `world` is one that can make an agent of a follower (`agent(follower)`), such as those
        of `groundling.gym`; `running` is the environment that the agent moves in. Below a
        confidence of `threshold` nothing is done; if it is left out, the agent decides.

        >>> from groundling import gym
        >>> level = gym.babyai("GoToLocal")
        >>> follower = level.follower().fit(level.record(range(20)))
        >>> env = level.make()
        >>> mission, _ = level.reset(env, seed=1000)
        >>> print(follower.act(mission, env, level))
        Done: go to a green ball.
        """
        self._fitted()
        if isinstance(world, type):
            raise WorldError(f"{world.__name__} is a class. Give act a world that was made of it.")
        if not hasattr(world, "agent"):
            raise WorldError(
                f"A {type(world).__name__} only plans: it has no agent that acts. Use follow, or "
                "a world of groundling.gym."
            )
        agent = world.agent(self) if threshold is None else world.agent(self, threshold)
        return agent.act(instructions, running)

    @overload
    def follow_many(
        self,
        requests: Iterable[tuple[Text, Environment, State]],
        *,
        length: int | None = None,
        errors: Literal["raise"] = "raise",
    ) -> list[Plan]: ...

    @overload
    def follow_many(
        self,
        requests: Iterable[tuple[Text, Environment, State]],
        *,
        length: int | None = None,
        errors: Literal["return"],
    ) -> list[Plan | GroundlingError]: ...

    def follow_many(
        self,
        requests: Iterable[tuple[Text, Environment, State]],
        *,
        length: int | None = None,
        errors: Literal["raise", "return"] = "raise",
    ) -> list[Plan] | list[Plan | GroundlingError]:
        """Return a plan for each (instructions, environment, start); faster than one by one.

        With `errors="return"`, the place of a request that cannot be followed holds the error
        instead of a plan, and the others are followed.
        """
        search = self._fitted().search
        if errors not in ("raise", "return"):
            raise SettingError(f"errors is 'raise' or 'return', not {errors!r}.")
        if length is not None:
            search = replace(search, min_length=length, max_length=length)
        listed = listed_requests(requests)
        if errors == "return":
            try:
                return self.follow_many(listed, length=length)
            except GroundlingError as error:
                found: list[Plan | GroundlingError] = [error]
            if len(listed) > 1:
                return [self.follow_many([e], length=length, errors="return")[0] for e in listed]
            return found
        plans = []
        for plan, (_, environment, start) in zip(self._plans(listed, search), listed, strict=True):
            if plan is None:
                raise no_plan(self._fitted().fitted.encoder.world(environment), start, search)
            plans.append(plan)
        return plans

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
