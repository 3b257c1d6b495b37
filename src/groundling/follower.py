"""The follower: learns from demonstrations and follows instructions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, Self, overload

import numpy as np

from groundling.accuracy import checked, honest_temperature, share_right
from groundling.answers import answer, listed_requests, no_plan, read_requests
from groundling.checks.diagnosis import (
    Diagnosis,
    check_learnt,
    check_taught,
    diagnose,
    joined,
)
from groundling.checks.registry import (
    left_out,
    warn,
    warn_of_long_texts,
)
from groundling.commands import Commands
from groundling.data.own import folds
from groundling.dialogue.command_fit import ActionWords
from groundling.dialogue.options import right_outcomes
from groundling.dialogue.outcomes import all_options
from groundling.dialogue.phrases import with_phrases
from groundling.dialogue.prediction_sets import PredictionSets
from groundling.dialogue.questions import (
    Answer,
    Answerer,
    diagnose_questions,
    split_questions,
)
from groundling.dialogue.speaker import Speaker
from groundling.errors import (
    DemonstrationError,
    GroundlingError,
    LearningWarning,
    NotFittedError,
    SettingError,
    StorageError,
)
from groundling.estimator import Estimator
from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon
from groundling.features.reader import Text
from groundling.inference.decoder import SHARPEST, SOFTEST
from groundling.inference.search import Search
from groundling.io import load_learnt, save_learnt
from groundling.language.languages import Language
from groundling.language.parser import Parser
from groundling.learning.incremental import forget, teach
from groundling.learning.rounds import ProgressCallback, early
from groundling.learning.settings import Learning
from groundling.learning.trainer import Trainer
from groundling.models.base import FittedModel, Model, Request
from groundling.models.example import Skipped, listed_demonstrations, sift
from groundling.models.learnt import Learnt
from groundling.overlay.batch import Reals
from groundling.overlay.encoder import Encoder
from groundling.overlay.settings import Overlay
from groundling.plan import Plan
from groundling.scale.sharded_fit import fit_at_scale, refuse_in_shards
from groundling.selection.choices import Choices, choose, choose_again, open_again
from groundling.selection.comparison import compare
from groundling.selection.profile import Profile
from groundling.settings import AUTO, Auto, knowing_names
from groundling.world.environment import Demonstration, Environment, State
from groundling.world.open_values import BoundEnvironment

__all__ = ["Follower"]


_MOST_SPOKEN = 20_000  # above this, text fragments are not saved with a model
_FEW_TO_CALIBRATE = 10  # below this, a temperature at the end of its range is not trusted


class Follower(Estimator):
    """An agent that learns to follow instructions from demonstrations.

    Options left at `"auto"` are chosen from the demonstrations; `choices_` lists the choices and
    the reasons.

    Parameters
    ----------
    model
        The probability model: `PlanModel`, `DecisionModel`, `TransducerModel`, or an
        `Ensemble` of one of them.
    overlay
        How words are aligned with grounding graphs (see `Overlay`).
    features
        Joined features of words and labels (see `Features`).
    learning
        Regularisation, rounds and optimiser (see `Learning`).
    search
        Plan lengths, beam and decoding (see `Search`).
    parser
        A parser or its name: `"default"`, `"chain"`, `"chain:LANGUAGE"`, `"spacy:NAME"`,
        `"conllu:PATH"`.
    seed
        Random seed; the same seed gives the same follower.
    threads
        Number of training threads.

    Attributes
    ----------
    skipped_ : tuple of Skipped
        Demonstrations left out by `fit(…, skip_bad=True)`, with their errors.
    choices_ : tuple of Choice
        Settings chosen from the demonstrations: name, value, reason, alternative.
    theta_ : array
        The learnt weights θ (see `weights` for those of an ensemble's members).
    feature_names_ : list of str
        The name of each weight.
    lexicon_ : Lexicon
        The lexicon in use, including learnt entries.
    learnt_ : Learnt
        The fitted model with its settings; `learnt_.loss` is the final training loss.
    temperature_ : float
        Divisor of scores that calibrates confidences.

    Notes
    -----
    Changing a setting after `fit` has no effect until the next `fit`. To follow with other search
    settings without a new `fit`, use `with_search`.

    Examples
    --------
    >>> from groundling import Demonstration, Follower
    >>> from groundling.examples import Lamp
    >>> shown = [
    ...     Demonstration("light the lamp", Lamp(), "off", ("on",)),
    ...     Demonstration("darken the lamp", Lamp(), "on", ("off",)),
    ... ]
    >>> follower = Follower(parser="chain").fit(shown)
    >>> follower.follow("please light the room", Lamp(), "off").actions
    ('on',)
    """

    _learnt: Learnt

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

    # ---- learn --------------------------------------------------------------------------

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
        """Fit the model to demonstrations, discarding any earlier fit.

        Parameters
        ----------
        demonstrations
            Instructions with the actions that they ask for.
        y
            Ignored; present for compatibility with scikit-learn.
        progress
            Called after every training step; return True to stop.
        checkpoint, checkpoint_every
            Folder for checkpoints, and the number of iterations between them. Training resumes
            from a checkpoint found there.
        skip_bad
            Leave out demonstrations that cannot be read or executed instead of raising. A
            warning names them, and `skipped_` holds their errors.
        check
            Emit a `LearningWarning`, with a suggested fix, for detectable problems (see also
            `diagnose`).
        cluster, memory
            Train in shards on a Dask cluster, or within a memory limit such as `"4GB"` (see
            `fit_at_scale`). Checks are skipped.
        """
        self._check_settings()
        if cluster is not None or memory is not None:
            refuse_in_shards(skip_bad)
            told = (progress, checkpoint, checkpoint_every, cluster, memory)
            self._learnt = fit_at_scale(self.get_params(deep=False), demonstrations, *told)
            self.skipped_: tuple[Skipped, ...] = ()
            return self
        tell = early(progress)
        listed, questions = split_questions(listed_demonstrations(demonstrations))
        if not listed:
            raise DemonstrationError(
                "At least one demonstration must have actions; got only questions. Add a "
                "demonstration with actions, or use groundling.dialogue.questions.Answerer."
            )
        skipped: list[Skipped] = []
        if skip_bad:
            tell("reading", 0, len(listed))
            listed, skipped = self._sift(listed)
        if check:
            warn_of_long_texts(listed)
        encoders: dict[Hashable, Encoder] = {}
        trainer, choices = choose(
            self.get_params(deep=False), listed, lambda what: tell(what, 0, len(listed)),
            encoders=encoders,
        )  # fmt: skip
        learnt = trainer.fit(listed, progress, checkpoint, checkpoint_every, encoders)
        self._learnt = _with_questions(replace(learnt, choices=choices), questions)
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
        """Return a fitted follower with the best of several configurations.

        This is the automatic choice of `Follower()` with a larger budget. Whole configurations, and
        then variants of the best one, are compared by cross-validation over groups of
        demonstrations, and the winner is fitted to all demonstrations. `seconds` is the total time
        budget; one small comparison and the final fit always run, even if they take longer. `show`
        is called with a line for each trial, and at the end with a table, which also lists the
        configurations for which no time was left.
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

    def teach(
        self,
        demonstrations: Iterable[Demonstration],
        *,
        known: Iterable[Demonstration] = (),
        progress: ProgressCallback | None = None,
        check: bool = True,
    ) -> Follower:
        """Add demonstrations to those already learnt; change and return this follower.

        The result equals `fit` on all demonstrations, up to the tolerance of the optimiser. Unset
        settings are chosen again. Those that need cross-validation are chosen again only when the
        number of demonstrations has doubled. If no setting changes, training starts from the
        current weights and keeps a learnt lexicon.

        An unfitted follower is fitted. A follower loaded from a file holds no demonstrations, so
        pass its training demonstrations as `known`. With `check`, warns of problems in the new
        demonstrations.

        >>> from groundling import Demonstration, Follower
        >>> from groundling.examples import Lamp
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
        listed, new = split_questions(listed)
        known, known_questions = split_questions(known)
        taught = self._learnt
        if listed:
            taught = teach(taught, listed, known, progress, choose_again)
            taught = replace(taught, sets=None)  # the sets were calibrated for the old weights
        before = taught.questions or tuple(known_questions)
        if new and taught.answers is not None and not before:
            raise DemonstrationError(
                "`known` must contain the questions that a loaded follower was trained on; "
                "got none. Pass known=[…]."
            )
        self._learnt = _with_questions(taught, (*before, *new))
        if check:
            warn(check_taught(self._learnt, listed))
        return self

    def forget(self, names: Iterable[str], *, progress: ProgressCallback | None = None) -> Follower:
        """Remove demonstrations by name and refit; change and return this follower."""
        learnt = self._fitted()
        unwanted = {names} if isinstance(names, str) else set(names)
        questions = [each for each in learnt.questions if each.name not in unwanted]
        unwanted -= {each.name for each in learnt.questions}
        if unwanted:
            learnt = replace(forget(learnt, unwanted, progress, choose_again), sets=None)
        self._learnt = _with_questions(learnt, questions)
        return self

    def calibrate(
        self, demonstrations: Iterable[Demonstration], *, coverage: float | None = None
    ) -> Self:
        """Calibrate confidences or prediction sets on held-out demonstrations.

        Sets `temperature_` to the value that maximises the likelihood of the demonstrated plans
        (of their outcomes, unless `Search.decode` is `"plan"`). Warns if there are too few
        demonstrations for a reliable value.

        With `coverage`, such as 0.95, calibrates prediction sets instead (split conformal
        prediction). An `Agent` then acts if the set has one outcome, and asks otherwise. For texts
        like the held-out ones, the set contains the correct outcome with this probability. The
        temperature does not change; calibrate it first, on other demonstrations.
        """
        learnt = self._fitted()
        listed = checked(split_questions(demonstrations)[0])
        if coverage is not None:
            said = [(each.instructions, each.environment, each.start) for each in listed]
            ends = [right_outcomes(each) for each in listed]
            cases = list(zip(all_options(self, said), ends, strict=True))
            sets = PredictionSets.calibrate(cases, coverage)
            self._learnt = replace(learnt, sets=sets.to_dict())
            return self
        read = self._requests([(e.instructions, e.environment, e.start) for e in listed])
        temperature = honest_temperature(learnt, listed, read)
        if len(listed) < _FEW_TO_CALIBRATE and not SHARPEST * 1.01 < temperature < SOFTEST / 1.01:
            warnings.warn(
                f"The temperature {temperature:.2g} is at the end of its range: with so few "
                f"mistakes or successes among the held-out demonstrations ({len(listed)}), it "
                "cannot be estimated. Add held-out demonstrations.",
                LearningWarning,
                stacklevel=2,
            )
        self._learnt = replace(learnt, temperature=temperature, sets=None)
        return self

    def _sift(self, listed: Sequence[Demonstration]) -> tuple[list[Demonstration], list[Skipped]]:
        """Separate the usable demonstrations from the others, and warn about the others."""
        good, bad = sift(Profile(listed, self.parser).encoder, listed)
        if not good:
            raise DemonstrationError(
                f"At least one demonstration must be usable; got {len(bad)} with errors. The first "
                f"error: {bad[0].problem}"
            )
        if bad:
            warn([left_out(bad)])
        return good, bad

    # ---- follow -------------------------------------------------------------------------

    def follow(
        self,
        instructions: Text,
        environment: Environment,
        start: State,
        *,
        length: int | None = None,
    ) -> Plan:
        """Return the most probable plan for the instructions.

        `length` fixes the number of actions, if it is known.
        """
        return self.follow_many([(instructions, environment, start)], length=length)[0]

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
        """Return a plan for each (instructions, environment, start); faster than `follow`.

        With `errors="return"`, a request that cannot be followed yields its error in place of a
        plan.
        """
        search = self._fitted().search
        if errors not in ("raise", "return"):
            raise SettingError(f"`errors` must be 'raise' or 'return'; got {errors!r}.")
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
        found_plans = self._plans(listed, search, whole=length is not None)
        for plan, (_, environment, start) in zip(found_plans, listed, strict=True):
            if plan is None:
                raise no_plan(self._fitted().fitted.encoder.world(environment), start, search)
            plans.append(plan)
        return plans

    def describe(
        self, plan: Plan, environment: Environment | None = None, *, unlike: Plan | None = None
    ) -> str:
        """Return a plan in words, in the language of the demonstrations.

        The text consists of fragments of demonstrations with the plan's own values, chosen so that
        this follower understands it. With `unlike`, the text distinguishes the plan from another
        one. The text is empty if the demonstrations have no words for the plan. `environment` is
        needed only if the plan was not returned by `follow`.

        >>> from groundling import Follower
        >>> from groundling.examples import Lamp, lamp_demonstrations
        >>> follower = Follower(parser="chain").fit(lamp_demonstrations())
        >>> follower.describe(follower.follow("lamp, light!", Lamp(), "off"))
        'light the lamp'
        """
        if environment is None:
            if plan._source is None:
                raise SettingError(
                    "`environment` must be given for a plan that `follow` did not return. Pass it "
                    "to `describe`."
                )
            environment = plan._source.world.environment
            if isinstance(environment, BoundEnvironment):
                environment = environment.environment
        speaker = self._get_speaker()
        return "" if speaker is None else speaker.describe(plan, environment, unlike=unlike).text

    def _get_speaker(self) -> Speaker | None:
        """Return the speaker, or None if the model file has no text fragments."""
        learnt = self._fitted()
        if getattr(self, "_speaker", (None,))[0] is not learnt.fitted:
            speaker = None
            if learnt.examples:
                speaker = Speaker(self)
            elif learnt.speech is not None:
                speaker = Speaker.from_dict(learnt.speech, self)
            self._speaker: tuple[FittedModel, Speaker | None] = (learnt.fitted, speaker)
        return self._speaker[1]

    def _get_action_words(self, language: Language) -> ActionWords:
        """Return the demonstrated words with the types of action that they were used for."""
        memory = self._fitted().memory
        kept = getattr(self, "_action_words", None)
        if kept is None or kept[0] is not memory or kept[1].language != language:
            self._action_words = kept = (memory, ActionWords.of(memory, language))
        return kept[1]

    def answer(self, question: str, environment: Environment, state: State) -> Answer:
        """Answer a question about a state, without changing it.

        Questions are learnt from demonstrations with answers (see `Demonstration.answer`), and
        are about the things in `environment.things(state)`.

        >>> from groundling import Demonstration, Follower, GroundingGraph
        >>> class Lamps:
        ...     def things(self, lit): return {each: {"lamp": True, "lit": each in lit}
        ...                                    for each in ("red", "blue")}
        ...     def actions(self, lit): return ("red", "blue")
        ...     def step(self, lit, lamp): return lit ^ {lamp}
        ...     def ground(self, lit, lamp, after): return GroundingGraph({"lamp": {"name": lamp}})
        >>> lamps, lit = Lamps(), frozenset({"red"})
        >>> shown = [Demonstration("switch the red lamp", lamps, lit, ["red"]),
        ...          Demonstration("switch the blue lamp", lamps, lit, ["blue"]),
        ...          Demonstration("which lamps are lit?", lamps, lit, answer={"red"}),
        ...          Demonstration("how many lamps are there?", lamps, lit, answer=2)]
        >>> follower = Follower(parser="chain:english").fit(shown, check=False)
        >>> follower.answer("how many lamps are lit?", lamps, frozenset()).value
        0
        """
        answerer = self._get_answerer()
        if answerer is None:
            raise NotFittedError(
                "This follower was not trained on questions. Fit it to demonstrations with "
                "answers, such as Demonstration(text, environment, state, answer={…})."
            )
        return answerer.answer(question, environment, state)

    def _get_answerer(self) -> Answerer | None:
        """Return the question model, or None if the follower was not trained on questions."""
        learnt = self._fitted()
        if learnt.answers is None:
            return None
        if getattr(self, "_answerer", (None,))[0] is not learnt.answers:
            self._answerer = (learnt.answers, Answerer.from_dict(learnt.answers, _spoken(learnt)))
        return self._answerer[1]

    def score(self, demonstrations: Iterable[Demonstration], y: None = None) -> float:
        """Return the accuracy on demonstrations, as a number from 0 to 1.

        Accuracy is the share of demonstrations, by weight, for which the plan has a correct outcome
        (see `Environment.outcome`), or the answer to a question is correct. Requests for which the
        follower finds no plan count as mistakes.
        """
        learnt = self._fitted()
        shown = checked(demonstrations)
        listed, questions = split_questions(shown)
        requests = [(each.instructions, each.environment, each.start) for each in listed]
        right = sum(each.weight for each in questions if self._answers_rightly(each))
        if listed:
            share = share_right(learnt, listed, self._plans(requests, learnt.search))
            right += share * sum(each.weight for each in listed)
        return right / sum(each.weight for each in shown)

    def _answers_rightly(self, question: Demonstration) -> bool:
        answerer = self._get_answerer()
        return answerer is not None and answerer.is_right(question)

    def _requests(self, requests: Sequence[tuple[Text, Environment, State]]) -> list[Request]:
        return read_requests(self._fitted(), requests)

    def _plans(
        self,
        requests: Sequence[tuple[Text, Environment, State]],
        search: Search,
        *,
        whole: bool = False,
    ) -> Iterator[Plan | None]:
        """Yield a plan for each request, or None if no plan was found.

        With `whole`, texts are not split into commands.
        """
        commands = self._commands()
        read = self._requests(requests)
        for request, plan in zip(read, commands.follow(read, search), strict=True):
            yield plan if whole else commands.answer(request, plan, search)

    def _commands(self) -> Commands:
        learnt = self._fitted()

        def follow(asked: Sequence[Request], search: Search) -> Iterator[Plan | None]:
            results = learnt.model.search(learnt.fitted, asked, search)
            for request, result in zip(asked, results, strict=True):
                yield answer(learnt, request, result, search)

        return Commands(learnt, follow, "search" in getattr(learnt.choices, "left_open", ()))

    # ---- inspect ------------------------------------------------------------------------

    @property
    def choices_(self) -> Choices:
        """The settings chosen from the demonstrations, with reasons; print them as a list."""
        learnt = self._fitted()
        strength = f"{learnt.memory.strength:g}"
        shown = [
            replace(each, chosen=strength) if each.what == "Learning.recall" else each
            for each in learnt.choices
        ]
        return Choices(shown, getattr(learnt.choices, "left_open", ())).of(learnt.settings)

    def chosen(self) -> Self:
        """Return an unfitted follower with all settings fixed, as chosen by this one.

        Change a setting of the result to keep all others as they were chosen.

        >>> from groundling import Demonstration, Follower
        >>> from groundling.examples import Lamp
        >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
        >>> follower = Follower(parser="chain").fit(shown)
        >>> another = follower.chosen().set_params(search__max_length=2).fit(shown)
        >>> another.search.max_length, another.features == follower.chosen().features
        (2, True)
        """
        settings = self._fitted().settings
        return type(self)(**{each.name: getattr(settings, each.name) for each in fields(Trainer)})

    def diagnose(
        self, demonstrations: Iterable[Demonstration], *, parts: int | None = None
    ) -> Diagnosis:
        """Follow demonstrations and report problems, with a reason for each mistake.

        A follower usually follows its own training demonstrations correctly. With `parts=3`, the
        given demonstrations are split into 3 folds, and each fold is followed by a model trained on
        the other two. This follower does not change.

        >>> from groundling import Demonstration, Follower
        >>> from groundling.examples import Lamp
        >>> shown = [Demonstration("light it", Lamp(), "off", ("on",), name="light")]
        >>> follower = Follower(parser="chain").fit(shown)
        >>> wrong = Demonstration("douse it", Lamp(), "on", ("off",), name="dark")
        >>> follower.diagnose([*shown, wrong]).reasons
        {'lower score': 1}
        """
        learnt = self._fitted()
        listed = checked(demonstrations)
        if parts is None:
            commands, questions = split_questions(listed)
            read = self._requests([(e.instructions, e.environment, e.start) for e in commands])
            told = diagnose_questions(questions, self._get_answerer())
            return joined([diagnose(learnt, commands, read), told]) if commands else told
        other, found = copy(self), []
        for learn, test in folds(listed, parts):
            commands, questions = split_questions(learn)
            other._learnt = _with_questions(Trainer.of(learnt).fit(commands), questions)
            found.append(other.diagnose(test))
        return joined(found)

    def weights(
        self, containing: str = "", *, most: int = 20, member: int = 0
    ) -> list[tuple[str, float]]:
        """Return the largest weights of features whose name contains a string.

        `member` selects a member of an ensemble.
        """
        members = self._fitted().fitted.members
        if not 0 <= member < len(members):
            raise SettingError(f"`member` must be from 0 to {len(members) - 1}; got {member}.")
        fitted = members[member]
        chosen = [
            (name, float(weight))
            for name, weight in zip(fitted.space.names(), fitted.theta.tolist(), strict=True)
            if containing in name and weight != 0
        ]
        return sorted(chosen, key=lambda each: (-abs(each[1]), each[0]))[:most]

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
        """The lexicon in use, including learnt entries."""
        return self._fitted().fitted.encoder.reader.lexicon

    @property
    def temperature_(self) -> float:
        """The number by which scores are divided, so that confidences are calibrated."""
        return self._fitted().temperature

    @property
    def threshold(self) -> float:
        """Confidence below which a text counts as not understood."""
        if hasattr(self, "_learnt"):
            return self._learnt.search.threshold
        return Search().threshold if isinstance(self.search, str) else self.search.threshold

    @property
    def demonstrations_(self) -> tuple[Demonstration, ...]:
        """The training demonstrations; empty in a loaded follower."""
        learnt = self._fitted()
        shown = (each.shown for each in learnt.examples)
        return (*(each for each in shown if each is not None), *learnt.questions)

    def clear_cache(self, environment: Environment | None = None) -> dict[str, int]:
        """Empty all caches, or those of one environment; return the previous sizes.

        The result has the size of each cache in bytes, summed over all environments.

        `follow` detects most changes of an environment itself. Call this method after other
        changes. The learnt model stays the same.

        >>> from groundling.examples import lamp_demonstrations
        >>> follower = Follower(parser="chain").fit(lamp_demonstrations())
        >>> follower.clear_cache()["worlds, graphs and plans"] > 0
        True
        >>> sum(follower.clear_cache().values())
        0
        """
        members = self._fitted().fitted.members
        held: dict[str, int] = {}
        for member in members:
            for name, size in member.encoder.remembered().items():
                held[name] = held.get(name, 0) + size
        if environment is not None:
            self._fitted().fitted.encoder.forget(environment)
            return held
        for member in members:
            member.encoder.empty()
        return held

    @property
    def learnt_(self) -> Learnt:
        """The fitted model with its settings, loss and memory."""
        return self._fitted()

    def _fitted(self) -> Learnt:
        if not hasattr(self, "_learnt"):
            raise NotFittedError(
                "This Follower is not fitted yet. Call `fit` with demonstrations, or "
                "`Follower.load` with a saved model."
            )
        return self._learnt

    # ---- persist ------------------------------------------------------------------------

    def save(self, folder: str | Path, *, note: Mapping[str, Any] | None = None) -> Path:
        """Save the follower to a folder, replacing a saved model atomically.

        `note` is stored with the model; `groundling.modelfolder.read_note` returns it. Raises
        `StorageError` if the folder cannot be written; a model that was there is kept.
        """
        learnt = self._fitted()
        if 0 < len(learnt.examples) <= _MOST_SPOKEN:
            with suppress(GroundlingError):  # a broken environment must not prevent saving
                if speaker := self._get_speaker():
                    learnt = replace(learnt, speech=speaker.to_dict())
        try:
            return save_learnt(Path(folder), learnt, note)
        except OSError as error:
            problem = StorageError(
                f"The model cannot be saved in {folder}: {error.strerror or error}. Free some "
                "space in it, or choose another folder."
            )
            problem.errno = error.errno
            raise problem from error

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        parser: str | Parser | None = None,
        joins: Iterable[Any] = (),
    ) -> Follower:
        """Read a saved follower; options that were `"auto"` before `fit` are restored.

        `parser` replaces the saved parser; it is required if the follower was trained with a
        custom parser object.
        `joins` are the custom joining functions that the follower was trained with.
        """
        learnt = load_learnt(Path(folder), parser, tuple(joins))
        follower = cls(**open_again(Trainer.of(learnt), getattr(learnt.choices, "left_open", ())))
        follower._learnt = learnt
        return follower

    def with_search(
        self,
        search: Search | None = None,
        *,
        temperature: float | None = None,
        max_weights: int | None = None,
    ) -> Follower:
        """Return a copy with other search settings or temperature, without refitting.

        `max_weights` keeps only that many weights, the largest in absolute value. In an ensemble,
        the limit applies to each member.

        >>> from groundling import Demonstration
        >>> from groundling.examples import Lamp
        >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
        >>> follower = Follower(parser="chain").fit(shown, check=False)
        >>> len(follower.theta_) > 2, len(follower.with_search(max_weights=2).theta_)
        (True, 2)
        """
        learnt = self._fitted()
        if temperature is not None:
            if not 0 < temperature < np.inf:
                raise SettingError(f"`temperature` must be > 0; got {temperature}.")
            learnt = replace(learnt, temperature=float(temperature), sets=None)
        if max_weights is not None:
            whole = isinstance(max_weights, int) and not isinstance(max_weights, bool)
            if not whole or max_weights < 1:
                raise SettingError(
                    f"`max_weights` must be a whole number >= 1; got {max_weights!r}."
                )
            first, *others = (each.pruned(max_weights) for each in learnt.fitted.members)
            learnt = replace(learnt, fitted=replace(first, others=tuple(others)))
        if search is None:
            return self._of(learnt)
        settings = Trainer.of(learnt)
        if search.max_length is None:
            search = replace(search, max_length=max(learnt.search.longest, search.min_length))
        settings.model.check(settings.overlay, settings.features, settings.learning.rounds, search)
        choices = learnt.choices.closed("search") if isinstance(learnt.choices, Choices) else ()
        return self._of(replace(learnt.with_search(search), choices=choices))

    @classmethod
    def _of(cls, learnt: Learnt) -> Follower:
        settings = {each.name: getattr(learnt.settings, each.name) for each in fields(Trainer)}
        follower = cls(**settings)
        follower._learnt = learnt
        return follower


def _with_questions(learnt: Learnt, questions: Iterable[Demonstration]) -> Learnt:
    """Return a learnt model that answers questions like the demonstrated ones."""
    listed = tuple(questions)
    if not listed:
        return replace(learnt, questions=(), answers=None if learnt.questions else learnt.answers)
    commands = [each.shown.instructions for each in learnt.examples if each.shown is not None]
    answers = Answerer.learn(listed, _spoken(learnt), commands=commands).to_dict()
    return replace(learnt, answers=answers, questions=listed)


def _spoken(learnt: Learnt) -> Language:
    """Return the language of the demonstrations, with its function words and phrases."""
    reader = learnt.fitted.encoder.reader
    return with_phrases(reader.language, reader.counts)
