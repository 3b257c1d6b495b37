"""Conversations: instructions that are followed in turn, with a memory."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from groundling.errors import (
    DemonstrationError,
    GroundlingError,
    LearningWarning,
    NotFittedError,
    SettingError,
)
from groundling.explain.explanation import Source
from groundling.features.reader import Text
from groundling.follower import Follower
from groundling.history import Memory, MemoryEnvironment, Remembered
from groundling.plan import Plan
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, Demonstration, Environment, State

_LABELS = ("again", "alike", "same number", "back", "last \\S+", "other \\S+", "mentioned")
# Transduction models have their own node `again`, which is unrelated to conversations.
_MEMORY = re.compile(rf"(?<![^\s.:])(?<!again\.)(?:{'|'.join(_LABELS)})(?!\S)")
_WIDEST = 100


def _knows_memory(follower: Follower) -> bool:
    """Return whether the follower was trained in a `MemoryEnvironment`."""
    return any(_MEMORY.search(name) for name in follower.feature_names_)


class Turn(NamedTuple):
    """One turn of a conversation: the text, the plan, and the state before it."""

    text: Text
    plan: Plan
    before: Remembered


class _Course(NamedTuple):
    """One possible course of a conversation: turns, current state and log-probability."""

    turns: tuple[Turn, ...]
    now: Remembered
    score: float = 0.0

    def extended(self, world: MemoryEnvironment, text: Text, plan: Plan) -> _Course:
        end = plan.end
        assert isinstance(end, Remembered)
        turns = (*self.turns, Turn(text, plan, self.now))
        heard = world.listen(end, text, plan.word_places)
        return _Course(turns, heard, self.score + plan.log_probability)


class Conversation:
    """A conversation, in which each text is followed from the latest state.

    Parameters
    ----------
    follower
        A follower trained on conversations (see `MemoryEnvironment.converse`), or on single
        demonstrations in the same `MemoryEnvironment`.
    world, start
        The environment and the initial state.
    beam
        Number of hypotheses about the conversation to keep. With 1, each plan is final. With more,
        a later text can change the plan of an earlier one; `state` and `turns` are those of the
        most probable hypothesis, so execute nothing before the conversation ends.

    Examples
    --------
    >>> from groundling import GroundingGraph, Search
    >>> class Line:
    ...     def actions(self, place): return ("left", "right")
    ...     def step(self, place, way): return place + (1 if way == "right" else -1)
    ...     def ground(self, place, way, after): return GroundingGraph({"event": {way: True}})
    >>> world = MemoryEnvironment(Line())
    >>> ways = ("left", "right", "right", "left", "left", "left", "right", "right")
    >>> shown = world.converse(0, [(f"go {way}", [way]) for way in ways], name="walk")
    >>> follower = Follower(parser="chain", search=Search(max_length=1)).fit(shown)
    >>> talk = Conversation(follower, world, 5)
    >>> talk.say("go right").actions, talk.state
    (('right',), 6)
    >>> talk.take_back(); talk.state
    5
    >>> talk.say("go on").actions, talk.state
    (('left',), 4)
    >>> meant = talk.correct(["right"])
    >>> talk.state, meant.actions
    (6, ('right',))
    >>> follower.teach([meant]).follow("go on", world, world.begin(5)).actions
    ('right',)
    """

    def __init__(
        self,
        follower: Follower,
        world: MemoryEnvironment | Environment[Any, Any],
        start: State,
        *,
        beam: int = 1,
    ) -> None:
        if isinstance(beam, bool) or not isinstance(beam, int) or not 1 <= beam <= _WIDEST:
            raise SettingError(f"`beam` must be a whole number from 1 to {_WIDEST}; got {beam!r}.")
        if not hasattr(follower, "theta_"):
            raise NotFittedError("The follower of a conversation must be fitted. Call `fit` first.")
        if not _knows_memory(follower):
            warnings.warn(
                "This follower was not trained on conversations, so words such as “again” or “it” "
                "have no meaning for it. Train the follower on the demonstrations that "
                "MemoryEnvironment(world).converse(start, turns) returns.",
                LearningWarning,
                stacklevel=2,
            )
        self.follower = follower
        self.world = world if isinstance(world, MemoryEnvironment) else MemoryEnvironment(world)
        self.beam = beam
        # The hypotheses after each turn, most probable first.
        self._kept: list[list[_Course]] = [[_Course((), self.world.begin(start))]]

    @property
    def _now(self) -> _Course:
        return self._kept[-1][0]

    @property
    def turns(self) -> list[Turn]:
        """All turns of the conversation so far, with texts and plans."""
        return list(self._now.turns)

    @property
    def state(self) -> State:
        """The state of the environment after the latest turn."""
        return self._now.now.state

    @property
    def memory(self) -> Memory:
        """The memory of earlier steps, which gives words such as *again* their meaning."""
        return self._now.now.memory

    def say(self, text: Text, *, length: int | None = None) -> Plan:
        """Follow a text from the current state, apply the plan, and return it."""
        requests = [(text, self.world, each.now) for each in self._kept[-1]]
        found = self.follower.follow_many(requests[:1], length=length)
        plans = [*found, *self.follower.follow_many(requests[1:], length=length, errors="return")]
        courses: dict[State, _Course] = {}
        for course, plan in zip(self._kept[-1], plans, strict=True):
            if isinstance(plan, GroundlingError):
                continue  # no plan is possible, so this hypothesis is wrong
            others = [replace(each, _source=plan._source) for each in plan.alternatives]
            for each in (plan, *others)[: self.beam]:
                new = course.extended(self.world, text, each)
                known = courses.setdefault(self.world.outcome(new.now), new)
                if new.score > known.score:
                    courses[self.world.outcome(new.now)] = new
        best = sorted(courses.values(), key=lambda each: -each.score)[: self.beam]
        self._kept.append(best)
        return best[0].turns[-1].plan

    def take_back(self) -> None:
        """Undo the last turn, if there is one."""
        if len(self._kept) > 1:
            self._kept.pop()

    def correct(self, actions: Sequence[Action]) -> Demonstration:
        """Replace the last plan with the correct actions, and continue from there.

        The state, the memory and the last turn change accordingly, and the plan gets confidence 1.
        Returns a demonstration that can be passed to `Follower.teach`.
        """
        if not self._now.turns:
            raise DemonstrationError("There is no turn to correct yet. Call `say` first.")
        *earlier, (text, _, before) = self._now.turns
        shown = Demonstration(text, self.world, before, actions)
        if not shown.actions:
            raise DemonstrationError(
                "A correction must have at least one action; got none. Use `take_back` to undo the "
                "last turn."
            )
        meant = CachedEnvironment(self.world).trace(before, shown.actions, "The correction")
        plan = Plan(meant.actions, meant.states, log_probability=0.0, confidence=1.0)
        self._kept[-1] = [_Course(tuple(earlier), before).extended(self.world, text, plan)]
        return shown


def align_conversations(
    follower: Follower, demonstrations: Iterable[Demonstration]
) -> list[Demonstration]:
    """Return conversations whose referents are ordered by a follower's alignments.

    `MemoryEnvironment.converse` orders the things that a text mentions by spelling alone, so
    pronouns (*he gives him the key*) remain ambiguous. A follower trained on the conversations can
    resolve them: fit once, align, and fit again on the result. The conversation in the example has
    no ambiguous pronouns, so it does not change:

    >>> class Lamps:
    ...     def actions(self, lit): return ("red", "blue")
    ...     def step(self, lit, lamp): return lit ^ {lamp}
    ...     def ground(self, lit, lamp, after):
    ...         return GroundingGraph({"event": {"light": lamp in after}, "lamp": {"colour": lamp}},
    ...                               [("event", "lamp", "of")])
    >>> from groundling import GroundingGraph
    >>> world = MemoryEnvironment(Lamps())
    >>> shown = world.converse(frozenset(), [("red on", ["red"]), ("off", ["red"])], name="talk")
    >>> first = Follower(parser="chain").fit(shown, check=False)
    >>> align_conversations(first, shown) == shown
    True
    """
    learnt, found = follower._fitted(), []
    now: dict[tuple[int, str], Remembered] = {}  # current state of each conversation
    for shown in demonstrations:
        world = shown.environment
        if not isinstance(world, MemoryEnvironment) or not shown.group:
            raise DemonstrationError(
                f"{shown} must be a turn of a conversation. Create turns with "
                "MemoryEnvironment(world).converse(start, turns, name=…)."
            )
        key = (id(world), shown.group)
        start = now.get(key, world.begin(shown.start))
        shown = replace(shown, start=start)
        [request] = follower._requests([(shown.instructions, world, start)])
        way = request.world.trace(start, shown.actions, str(shown))
        source = Source(learnt.model, learnt.fitted, request, learnt.search)
        plan = Plan(way.actions, way.states, 0.0, 1.0, _source=source)
        end = plan.end
        assert isinstance(end, Remembered)
        now[key] = world.listen(end, shown.instructions, plan.word_places)
        found.append(shown)
    return found
