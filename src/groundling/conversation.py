"""Conversations: one instruction after another, with a memory that labels can see."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from groundling.data.canonical import Json
from groundling.data.codec import Codec
from groundling.data.own import starts_of, tells_start
from groundling.errors import DemonstrationError, LearningWarning, NotFittedError, WorldError
from groundling.explain.explanation import Plan
from groundling.features.labels import kind_of
from groundling.features.lexicon import matches_name
from groundling.features.reader import Text
from groundling.follower import Follower
from groundling.language.instruction import Instruction
from groundling.language.sentences import runs_of, split_words
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import (
    Action,
    Demonstration,
    Environment,
    State,
    Wrapper,
    class_name,
    shorten,
)
from groundling.world.graph import GroundingGraph, Label
from groundling.world.reprs import among

__all__ = ["Conversation", "Memory", "MemoryEnvironment", "Remembered", "Turn"]

_LABELS = ("again", "alike", "same number", "back", "last", "other", "mentioned")
# Models of units have a node `again` of their own, which remembers nothing of a conversation.
_MEMORY = re.compile(rf"(?<![^\s.:])(?<!again\.)(?:{'|'.join(_LABELS)})(?!\S)")
_OF_STATES = ("is_terminal", "is_goal", "is_dead_end", "outcome", "extra_length", "describe")


class Memory(NamedTuple):
    """What is remembered: the last action, what it was about, the state before, words said.

    `things` are (kind, value) pairs such as `("colour", "red")`.
    """

    action: Action | None = None
    things: frozenset[tuple[str, str]] = frozenset()
    before: State | None = None
    words: frozenset[str] = frozenset()


class Remembered(NamedTuple):
    """A state of an environment together with what is remembered there."""

    state: State
    memory: Memory = Memory()


class MemoryEnvironment(Wrapper):
    """An environment whose graphs also show how actions relate to what went before.

    The graph of an action is the environment's, with further indicators. At the root:

    - `again`: the same action as the last one; `alike`: another action, but of the same sort
      (with the same indicators at the root);
    - `same number`: the numbers at the root are those of the last action, if it has any;
    - `back`: it leads back to the state before the last action.

    At every node with a value:

    - `last`: the last action was about the same thing; `other`: about another of this kind;
    - `mentioned`: a word of the last text names it.

    So words like *it*, *again*, *back*, *the other one* can be learnt as any other. An
    action is about the values at its root and at the nodes next to it; an environment may tell
    better, by a method `about(state, action, next_state)` that returns (kind, value) pairs.

    Parameters
    ----------
    environment
        The environment; its optional methods are kept, except `mirror` and `label_plan`.

    Examples
    --------
    >>> class Lamps:
    ...     def actions(self, lit): return ("red", "blue")
    ...     def step(self, lit, lamp): return lit ^ {lamp}
    ...     def ground(self, lit, lamp, after):
    ...         return GroundingGraph({"event": {"light": lamp in after}, "lamp": {"colour": lamp}},
    ...                               [("event", "lamp", "of")])
    >>> world = MemoryEnvironment(Lamps())
    >>> once = world.step(world.begin(frozenset()), "red")
    >>> print(world.ground(once, "red", world.step(once, "red")))
    event*: again, back
    lamp: colour=red, last
    event -> lamp: of
    """

    def __init__(self, environment: Environment[Any, Any]) -> None:
        super().__init__(environment)
        for name in _OF_STATES:
            if hasattr(environment, name):
                setattr(self, name, self._of_state(getattr(environment, name)))
        for name in ("action_to_json", "action_from_json"):
            if hasattr(environment, name):
                setattr(self, name, getattr(environment, name))
        if hasattr(environment, "state_to_json") or hasattr(environment, "action_to_json"):
            self.state_to_json, self.state_from_json = self._to_json, self._from_json
        if tells_start(environment):
            self.starts = self._starts

    @staticmethod
    def _of_state(method: Callable[[Any], Any]) -> Callable[[Remembered], Any]:
        return lambda remembered: method(_known(remembered).state)

    def _starts(self) -> dict[str, Remembered]:
        named = starts_of(self.environment, class_name(self))
        return {name: self.begin(start) for name, start in named}

    def _to_json(self, remembered: Remembered) -> Json:
        """Return a state as JSON, where the environment has JSON of its own."""
        codec = Codec(self.environment)
        state, (action, things, before, words) = remembered
        return {
            "state": codec.state_to_json(state),
            "action": [] if action is None else [codec.action_to_json(action)],
            "things": sorted(map(list, things)),
            "before": [] if action is None else [codec.state_to_json(before)],
            "words": sorted(words),
        }

    def _from_json(self, data: Json) -> Remembered:
        codec = Codec(self.environment)
        action = next(map(codec.action_from_json, data.get("action", ())), None)
        before = next(map(codec.state_from_json, data.get("before", ())), None)
        things = frozenset((kind, value) for kind, value in data.get("things", ()))
        memory = Memory(action, things, before, frozenset(data.get("words", ())))
        return Remembered(codec.state_from_json(data["state"]), memory)

    def begin(self, start: State) -> Remembered:
        """Return a state in which nothing is remembered yet."""
        return start if isinstance(start, Remembered) else Remembered(start)

    def listen(self, remembered: Remembered, text: Text) -> Remembered:
        """Return the state in which the next text is said, after this one was followed."""
        parts = [text] if isinstance(text, (str, Instruction)) else text
        said = [split_words(part) if isinstance(part, str) else part.tokens for part in parts]
        words = frozenset(word.lower() for part in said for word in (*part, *runs_of(part)))
        state = remembered.state
        if hasattr(self.environment, "restart"):
            state = self.environment.restart(state)
        return Remembered(state, remembered.memory._replace(words=words))

    # ---- as an environment ----------------------------------------------------------------

    def actions(self, remembered: Remembered) -> Sequence[Action]:
        """Return the actions possible in a state."""
        return self.environment.actions(_known(remembered).state)

    def step(self, remembered: Remembered, action: Action) -> Remembered:
        """Return the state after an action, with the action remembered."""
        state, memory = _known(remembered)
        after = self.environment.step(state, action)
        things = self._about(state, action, after)
        return Remembered(after, Memory(action, things, state, memory.words))

    def _about(self, state: State, action: Action, after: State) -> frozenset[tuple[str, str]]:
        if hasattr(self.environment, "about"):
            told = self.environment.about(state, action, after)
            return frozenset((str(kind), str(value)) for kind, value in told)
        graph = self.environment.ground(state, action, after)
        near = {graph.root, *(target for source, target, _ in graph.edges if source == graph.root)}
        return frozenset(pair for node in near for pair in _values(graph.labels(node)))

    def ground(self, remembered: Remembered, action: Action, after: Remembered) -> GroundingGraph:
        """Return the grounding graph of an action, with its relations to what went before."""
        state, memory = _known(remembered)
        graph = self.environment.ground(state, action, after.state)
        nodes: dict[str, tuple[Label, ...]] = {}
        for name, labels in zip(graph.node_names, graph.node_labels, strict=True):
            found = self._relations(_values(labels), memory)
            if name == graph.root and memory.action is not None:
                found += self._repetitions(state, action, after.state, memory, labels)
            nodes[name] = (*labels, *map(Label, found))
        return GroundingGraph(nodes, graph.edges, graph.root, graph.roles)

    @staticmethod
    def _relations(values: frozenset[tuple[str, str]], memory: Memory) -> list[str]:
        found = []
        if values & memory.things:
            found.append("last")
        elif {kind for kind, _ in values} & {kind for kind, _ in memory.things}:
            found.append("other")
        if any(matches_name(word, value) for _, value in values for word in memory.words):
            found.append("mentioned")
        return found

    def _repetitions(
        self, state: State, action: Action, after: State, memory: Memory, labels: Iterable[Label]
    ) -> list[str]:
        found = []
        before = self.environment.ground(memory.before, memory.action, state)
        if action == memory.action:
            found.append("again")
        elif _indicators(before.labels(before.root)) == _indicators(labels):
            found.append("alike")
        numbers = _numbers(labels)
        if numbers and numbers == _numbers(before.labels(before.root)):
            found.append("same number")
        if after == memory.before:
            found.append("back")
        return found

    # ---- demonstrations -------------------------------------------------------------------

    def converse(
        self,
        start: State,
        turns: Iterable[tuple[Text, Sequence[Action]]],
        *,
        name: str = "",
    ) -> list[Demonstration]:
        """Return a whole conversation as demonstrations, each from where the last one ended.

        Parameters
        ----------
        start
            The state in which the conversation begins.
        turns
            What was said and what was then done, in order.
        name
            What the conversation is called; its demonstrations are one group.
        """
        remembered, found = self.begin(start), []
        for number, turn in enumerate(turns, 1):
            if not isinstance(turn, (tuple, list)) or len(turn) != 2:
                raise DemonstrationError(
                    f"Turn {number} is {shorten(turn)}. Give a text and a list of actions."
                )
            text, actions = turn
            called = f"{name}-{number}" if name else ""
            shown = Demonstration(text, self, remembered, actions, name=called, group=name)
            found.append(shown)
            told = f"Turn {number}, {text!r}"
            if (done := tuple(shown.actions)) and among(done, tuple(self.actions(remembered))):
                raise DemonstrationError(
                    f"{told} has the action {shorten(done)} where a list of actions is meant. "
                    "Put it into a list."
                )
            remembered = _known(CachedEnvironment(self).carry_out(remembered, done, told)[-1])
            remembered = self.listen(remembered, text)
        if not found:
            raise DemonstrationError(
                f"The conversation {name!r} has no turns. Give (text, actions) pairs."
            )
        return found


def _known(remembered: State) -> Remembered:
    """Return a state, or complain of one that is the environment's own."""
    if not isinstance(remembered, Remembered):
        raise WorldError(
            f"{shorten(remembered)} is a state without memory, but the world is a "
            "MemoryEnvironment. Use world.begin(state), or world.converse(start, turns)."
        )
    return remembered


def _values(labels: Iterable[Label]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (kind_of(label), label.value) for label in labels if isinstance(label.value, str)
    )


def _indicators(labels: Iterable[Label]) -> set[str]:
    return {label.name for label in labels if label.value is None}


def _numbers(labels: Iterable[Label]) -> set[Label]:
    return {label for label in labels if isinstance(label.value, float)}


def _knows_memory(follower: Follower) -> bool:
    """Tell whether some label of the memory was seen in training."""
    return any(_MEMORY.search(name) for name in follower.feature_names_)


class Turn(NamedTuple):
    """One turn of a conversation: what was said, what was done, and the state before."""

    text: Text
    plan: Plan
    before: Remembered


class Conversation:
    """Follows one instruction after another, from where the last one ended.

    Parameters
    ----------
    follower
        A follower that was trained on conversations (see `MemoryEnvironment.converse`), or on
        single demonstrations in the same `MemoryEnvironment`.
    world, start
        Where it happens, and the state it begins in.

    Examples
    --------
    >>> class Line:
    ...     def actions(self, place): return ("left", "right")
    ...     def step(self, place, way): return place + (1 if way == "right" else -1)
    ...     def ground(self, place, way, after): return GroundingGraph({"event": {way: True}})
    >>> from groundling import Search
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
    (('right',), 6)
    >>> meant = talk.correct(["left"])
    >>> talk.state, meant.actions
    (4, ('left',))
    >>> follower.teach([meant]).follow("go on", world, world.begin(5)).actions
    ('left',)
    """

    def __init__(
        self, follower: Follower, world: MemoryEnvironment | Environment[Any, Any], start: State
    ) -> None:
        if not hasattr(follower, "theta_"):
            raise NotFittedError("A conversation needs a follower that was trained; call fit.")
        if not _knows_memory(follower):
            warnings.warn(
                "This follower has never seen what is remembered in a conversation, so that words "
                "such as “again” or “it” mean nothing to it. Train it on conversations: "
                "MemoryEnvironment(world).converse(start, turns).",
                LearningWarning,
                stacklevel=2,
            )
        self.follower = follower
        self.world = world if isinstance(world, MemoryEnvironment) else MemoryEnvironment(world)
        self.turns: list[Turn] = []
        self._now = self.world.begin(start)

    @property
    def state(self) -> State:
        """The state of the environment now."""
        return self._now.state

    @property
    def memory(self) -> Memory:
        """What is remembered now."""
        return self._now.memory

    def say(self, text: Text, *, length: int | None = None) -> Plan:
        """Follow a text from the present state, carry the plan out, and return it."""
        plan = self.follower.follow(text, self.world, self._now, length=length)
        self.turns.append(Turn(text, plan, self._now))
        end = plan.end
        assert isinstance(end, Remembered)
        self._now = self.world.listen(end, text)
        return plan

    def take_back(self) -> None:
        """Return to where the last text was said; without one, nothing happens."""
        if self.turns:
            self._now = self.turns.pop().before

    def correct(self, actions: Sequence[Action]) -> Demonstration:
        """Carry out what was meant by the last text in place of the plan, and go on from there.

        State, memory and the last of `turns` are as if it had been followed so; that plan counts
        as sure, since somebody said it. Returns a demonstration, for `Follower.teach`.
        """
        if not self.turns:
            raise DemonstrationError("Nothing was said that could be corrected. Use say first.")
        text, _, before = self.turns[-1]
        shown = Demonstration(text, self.world, before, actions)
        if not shown.actions:
            raise DemonstrationError(
                "A correction has one action or more. Use take_back where nothing was meant."
            )
        meant = CachedEnvironment(self.world).trace(before, shown.actions, "The correction")
        plan = Plan(meant.actions, meant.states, log_probability=0.0, confidence=1.0)
        self.turns[-1] = Turn(text, plan, before)
        end = meant.end
        assert isinstance(end, Remembered)
        self._now = self.world.listen(end, text)
        return shown
