"""Looking at a follower: its weights, what was chosen for it, how well it follows, and why not."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import fields, replace
from typing import Self

from groundling.answers import answer
from groundling.data.own import folds
from groundling.diagnosis.diagnosing import Diagnosis, diagnose, joined
from groundling.diagnosis.findings import Finding, another_world
from groundling.errors import LearningWarning, NotFittedError, SettingError
from groundling.estimator import Estimator
from groundling.explain.explanation import Plan
from groundling.features.lexicon import Lexicon
from groundling.features.reader import Text
from groundling.inference.decoding import SHARPEST, SOFTEST
from groundling.inference.search import Search
from groundling.judging import checked, honest_temperature, share_right
from groundling.learning.choosing import Choices
from groundling.learning.given import reopened
from groundling.learning.trainer import Trainer
from groundling.learning.usual import usual_labels
from groundling.models.base import Request
from groundling.models.learnt import Learnt
from groundling.overlay.batch import Reals
from groundling.settings import Auto
from groundling.world.environment import Demonstration, Environment, State
from groundling.world.trajectory import Trajectory

__all__ = ["Looking"]

_FEW_TO_CALIBRATE = 10  # demonstrations; of more, all being right tells something


class Looking(Estimator):
    """What can be seen of what a follower has learnt.

    >>> from groundling import Follower
    >>> Follower().theta_
    Traceback (most recent call last):
        ...
    groundling.errors.NotFittedError: This Follower has not learnt anything yet. Call fit with
    demonstrations, or Follower.load with a saved model.
    """

    search: Search | Auto
    _learnt: Learnt

    def _fitted(self) -> Learnt:
        if not hasattr(self, "_learnt"):
            raise NotFittedError(
                "This Follower has not learnt anything yet. Call fit with demonstrations, or "
                "Follower.load with a saved model."
            )
        return self._learnt

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
    def remembered_(self) -> dict[str, int]:
        """About how many bytes are taken by what is remembered to answer faster.

        >>> from groundling import Demonstration, Follower, GroundingGraph
        >>> class Lamp:
        ...     def actions(self, state): return ("on", "off")
        ...     def step(self, state, action): return action
        ...     def ground(self, state, action, after):
        ...         return GroundingGraph({"lamp": {action: True}})
        >>> follower = Follower(parser="chain").fit([Demonstration("on", Lamp(), "off", ("on",))])
        >>> follower.remembered_["worlds, graphs and plans"] > 0
        True
        >>> follower.forget_remembered()
        >>> sum(follower.remembered_.values())
        0
        """
        total: dict[str, int] = {}
        for member in self._fitted().fitted.members:
            for name, size in member.encoder.remembered().items():
                total[name] = total.get(name, 0) + size
        return total

    def forget_remembered(self) -> None:
        """Empty all memories; what was learnt stays, and answers stay what they are."""
        for member in self._fitted().fitted.members:
            member.encoder.empty()

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

    def kinds_of(self, word: str) -> tuple[str, ...]:
        """Return the slots whose values a word stands for, by its spelling or a lexicon.

        >>> from groundling import Demonstration, Features, Follower, GroundingGraph
        >>> class Shelf:
        ...     def actions(self, taken): return ("cup", "jug")
        ...     def step(self, taken, thing): return thing
        ...     def ground(self, taken, thing, after):
        ...         return GroundingGraph({"event": {"thing": thing}})
        >>> shown = [Demonstration("take the cup", Shelf(), "", ("cup",))]
        >>> follower = Follower(parser="chain", features=Features(slots=("thing",))).fit(shown)
        >>> follower.kinds_of("jug"), follower.kinds_of("take")
        (('thing',), ())
        """
        encoder = self._fitted().fitted.encoder
        word = encoder.reader.language.fold(word)
        return tuple(dict.fromkeys(kind for kind, _ in encoder.reader.sense(word, encoder.values)))

    @property
    def member_count_(self) -> int:
        """How many models have a say: one, unless they are an ensemble."""
        return len(self._fitted().fitted.members)

    @property
    def threshold(self) -> float:
        """Below this confidence the follower says that it does not understand."""
        if hasattr(self, "_learnt"):
            return self._learnt.search.threshold
        return Search().threshold if isinstance(self.search, str) else self.search.threshold

    @property
    def choices_(self) -> Choices:
        """What was chosen from the demonstrations, and why; print it to read it."""
        return Choices(self._fitted().choices)

    def chosen(self) -> Self:
        """Return a follower that has learnt nothing yet, with all settings that this one learnt by.

        What was chosen from the demonstrations is given to it, so that some settings can be
        changed and the others stay.

        >>> from groundling import Demonstration, Follower, GroundingGraph
        >>> class Lamp:
        ...     def actions(self, state): return ("on", "off")
        ...     def step(self, state, action): return action
        ...     def ground(self, state, action, after):
        ...         return GroundingGraph({"lamp": {action: True}})
        >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
        >>> follower = Follower(parser="chain").fit(shown)
        >>> another = follower.chosen().set_params(search__max_length=2).fit(shown)
        >>> another.search.max_length, another.features == follower.chosen().features
        (2, True)
        """
        settings = self._fitted().settings
        return type(self)(**{each.name: getattr(settings, each.name) for each in fields(Trainer)})

    def given(self) -> Self:
        """Return a follower that has learnt nothing yet, with the settings that this one was given.

        What was left open is open again, also in a follower that was loaded from a file.

        >>> from groundling import Demonstration, Follower, GroundingGraph
        >>> class Lamp:
        ...     def actions(self, state): return ("on", "off")
        ...     def step(self, state, action): return action
        ...     def ground(self, state, action, after):
        ...         return GroundingGraph({"lamp": {action: True}})
        >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
        >>> Follower(parser="chain").fit(shown).given()
        Follower(parser='chain')
        """
        learnt = self._fitted()
        return type(self)(**reopened(Trainer.of(learnt), getattr(learnt.choices, "left_open", ())))

    def score_plans(
        self, requests: Iterable[tuple[Text, Environment, Sequence[State]]]
    ) -> Iterator[list[tuple[Sequence[Trajectory], Reals]]]:
        """Score the plans from several starts under one text, as if it might be about any.

        For each (instructions, environment, starts), yields for each start its plans and
        their scores under θ, neither normalised nor calibrated. Scores of one text can be
        compared between starts; to make that meaningful, train with
        `Demonstration.negative_starts`.

        >>> from groundling import Demonstration, Follower, GroundingGraph, Search
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

    def diagnose(
        self, demonstrations: Iterable[Demonstration], *, parts: int | None = None
    ) -> Diagnosis:
        """Follow demonstrations and say what cannot work, and of each that goes wrong why.

        What was learnt from is mostly followed right. With `parts`, such as 3, each of so many
        parts of the demonstrations is followed by what these settings learn from the others
        alone, and what was learnt stays as it is.

        >>> from groundling import Demonstration, Follower, GroundingGraph
        >>> class Lamp:
        ...     def actions(self, state): return ("on", "off")
        ...     def step(self, state, action): return action
        ...     def ground(self, state, action, after):
        ...         return GroundingGraph({"lamp": {action: True}})
        >>> shown = [Demonstration("light it", Lamp(), "off", ("on",), name="light")]
        >>> follower = Follower(parser="chain").fit(shown)
        >>> wrong = Demonstration("douse it", Lamp(), "on", ("off",), name="dark")
        >>> follower.diagnose([*shown, wrong]).reasons
        {'lower score': 1}
        """
        learnt = self._fitted()
        listed = checked(demonstrations)
        if parts is None:
            read = self._requests([(e.instructions, e.environment, e.start) for e in listed])
            return diagnose(learnt, listed, read)
        other, found = copy(self), []
        for learn, test in folds(listed, parts):
            other._learnt = Trainer.of(learnt).fit(learn)
            found.append(other.diagnose(test))
        return joined(found)

    def check_world(self, places: Iterable[tuple[Environment, State]]) -> tuple[Finding, ...]:
        """Say what graphs lack that they had wherever it learnt, if they do.

        `places` are environments with a state in each.

        >>> from groundling import Demonstration, Follower, GroundingGraph
        >>> class Lamp:
        ...     def __init__(self, **more): self.more = more
        ...     def actions(self, state): return ("on", "off")
        ...     def step(self, state, action): return action
        ...     def ground(self, state, action, after):
        ...         return GroundingGraph({"lamp": {action: True, **self.more}})
        >>> shown = [Demonstration("light it", Lamp(colour="red"), "off", ("on",))]
        >>> follower = Follower(parser="chain").fit(shown)
        >>> follower.check_world([(Lamp(colour="blue"), "off")])
        ()
        >>> print(*follower.check_world([(Lamp(), "off")]))
        No graph of what can be done here has the label 'colour', which graphs had wherever it
        learnt. Follow in the world that it learnt in, or learn again in this one.
        """
        learnt = self._fitted()
        asked = [(learnt.fitted.encoder.world(world), state) for world, state in places]
        return tuple(another_world(usual_labels(learnt), asked))

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

    def calibrate(self, demonstrations: Iterable[Demonstration]) -> Self:
        """Make confidences honest on demonstrations that were not trained on.

        Sets `temperature_` so that the demonstrated plans are most likely; where outcomes
        or transitions are decoded, so that their outcomes are. A few that are all right tell
        nothing of how often plans are wrong; a warning says so.
        """
        learnt = self._fitted()
        listed = checked(demonstrations)
        read = self._requests([(e.instructions, e.environment, e.start) for e in listed])
        temperature = honest_temperature(learnt, listed, read)
        if len(listed) < _FEW_TO_CALIBRATE and not SHARPEST * 1.01 < temperature < SOFTEST / 1.01:
            warnings.warn(
                f"The temperature is {temperature:.2g}, the end of what is tried: so few "
                f"demonstrations ({len(listed)}) do not tell how often plans are wrong. Calibrate "
                "on more, which were not trained on.",
                LearningWarning,
                stacklevel=2,
            )
        self._learnt = replace(learnt, temperature=temperature)
        return self
