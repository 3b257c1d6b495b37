"""The environment: which actions are possible, what they do, and how they look."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

from groundling.errors import DemonstrationError, GraphError, GroundlingError, WorldError
from groundling.language.instruction import Instruction
from groundling.world.graph import GroundingGraph

__all__ = ["Action", "Demonstration", "Environment", "State", "Trace", "World", "shorten"]

State: TypeAlias = Hashable
Action: TypeAlias = Hashable


@runtime_checkable
class Environment(Protocol):
    """What a world must offer so that an agent can learn to act in it.

    Every environment must have:

    - `actions(state)`: the actions possible in a state, in a fixed order (empty when
      the state is final);
    - `step(state, action)`: the state after an action; it does not change the state
      it is given, and always gives the same answer;
    - `ground(state, action, next_state)`: the grounding graph of the action between
      its two states.

    Some may also have:

    - `is_terminal(state)`: no action follows, whatever `actions` says;
    - `is_goal(state)`: plans must end here (a hard constraint on search);
    - `is_dead_end(state)`: it is proven that no goal can be reached from here, so searches
      that look ahead drop plans that come here;
    - `outcome(state)`: what of the final state counts as the result; plans with equal
      outcomes are summed when outcomes are decoded (default: the state itself);
    - `extra_length(start)`: by how much plans from a state may be longer than elsewhere
      (one more action, say, where the agent must first find its bearings);
    - `label_plan(start, actions, states)`: labels of a whole plan (its pattern, …);
    - `mirror(demonstration)`: equally true demonstrations, such as left and right
      swapped; the demonstration and its images share its weight in training;
    - `describe(state)`: a line of text for people;
    - `draw(state)`: a picture of a state for the studio, as the text of an SVG;
    - `start`, or `starts` by name: the states in which the studio and the service begin.

    States and actions are hashable values; keep whatever the labels need (what was
    visited, the last action) inside the state.
    """

    def actions(self, state: Any) -> Sequence[Any]:
        """Return the actions possible in a state."""
        ...

    def step(self, state: Any, action: Any) -> Any:
        """Return the state after an action."""
        ...

    def ground(self, state: Any, action: Any, next_state: Any) -> GroundingGraph:
        """Return the grounding graph of an action between two states."""
        ...


@dataclass(frozen=True)
class Demonstration:
    """What somebody said, and what was then done.

    Parameters
    ----------
    instructions
        The text: one string (sentences are split by the parser), or sentences as
        strings or as parsed instructions.
    environment, start
        Where it happened, and the state it began in.
    actions
        What was done.
    weight
        How much it counts in training.
    name
        Where it comes from, for error messages.
    also
        Other action sequences that are just as correct.
    group
        What it belongs to (a route, a session): demonstrations of one group stay together
        wherever data are split.
    rivals
        Other states in which it might have begun, had one not known the start. Where whole
        plans are normalised, what was done must then win against all plans from those
        states too, except those that end alike (they are no less right): the text becomes
        evidence of where it was said.
    """

    instructions: str | Instruction | Sequence[str | Instruction]
    environment: Environment
    start: State
    actions: tuple[Action, ...]
    weight: float = 1.0
    name: str = ""
    also: tuple[tuple[Action, ...], ...] = ()
    group: str = ""
    rivals: tuple[State, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", tuple(self.actions))
        object.__setattr__(self, "rivals", tuple(self.rivals))
        if self.start in self.rivals:
            raise DemonstrationError(f"{self} has its own start among the rivals. Take it out.")
        if not 0 <= self.weight < math.inf:
            raise DemonstrationError(f"{self} has weight {self.weight}; weights are 0 or more.")

    def weighted(self, weight: float) -> Demonstration:
        """Return a copy that counts differently."""
        return replace(self, weight=weight)

    def __str__(self) -> str:
        if self.name:
            return f"The demonstration {self.name!r}"
        text = self.instructions
        words = str(text) if isinstance(text, (str, Instruction)) else " ".join(map(str, text))
        return f"The demonstration {words[:60] + ('…' if len(words) > 60 else '')!r}"


@dataclass(frozen=True)
class Trace:
    """A plan carried out: its actions, the states it passes, and a graph for each action."""

    actions: tuple[Action, ...]
    states: tuple[State, ...]
    graphs: tuple[GroundingGraph, ...]


class World:
    """An environment seen through a memory: each state and action is asked about once.

    Errors of the environment become `WorldError` that names the method, the state
    and the action. The methods mirror the environment's, optional ones included.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._actions: dict[State, tuple[Action, ...]] = {}
        self._steps: dict[tuple[State, Action], State] = {}
        self._graphs: dict[tuple[State, Action], GroundingGraph] = {}
        self._dead_ends: dict[State, bool] = {}

    def _ask(self, method: str, *arguments: Any, listed: bool = False) -> Any:
        try:
            answer = getattr(self.environment, method)(*arguments)
            if not listed:
                return answer
            if not isinstance(answer, str) and isinstance(answer, Iterable):
                return tuple(answer)
        except GraphError as error:
            raise GraphError(f"{self._call(method, arguments)}: {error}") from error
        except GroundlingError:
            raise
        except Exception as error:
            raise WorldError(
                f"{self._call(method, arguments)} raised "
                f"{type(error).__name__}: {error}. Run check_environment to see what else is wrong."
            ) from error
        raise WorldError(
            f"{self._call(method, arguments)} returned {shorten(answer)}; return a tuple."
        )

    def _call(self, method: str, arguments: Iterable[Any]) -> str:
        shown = ", ".join(shorten(each) for each in arguments)
        return f"{type(self.environment).__name__}.{method}({shown})"

    def _hashable(self, value: Any, method: str, *arguments: Any) -> Any:
        try:
            hash(value)
        except TypeError as error:
            what = f"{self._call(method, arguments)} gave" if method else "The state is"
            raise WorldError(
                f"{what} {shorten(value)}, a {type(value).__name__}, which is not hashable. "
                "States, actions and outcomes are values such as tuples or frozen dataclasses."
            ) from error
        return value

    def actions(self, state: State) -> tuple[Action, ...]:
        """Return the actions possible in a state; none when it is terminal."""
        try:
            return self._actions[state]
        except KeyError:
            pass
        except TypeError:
            self._hashable(state, "")
            raise
        offered = () if self.is_terminal(state) else self._ask("actions", state, listed=True)
        self._actions[state] = tuple(self._hashable(each, "actions", state) for each in offered)
        return self._actions[state]

    def step(self, state: State, action: Action) -> State:
        """Return the state after an action."""
        key = (state, action)
        if key not in self._steps:
            after = self._ask("step", state, action)
            self._steps[key] = self._hashable(after, "step", state, action)
        return self._steps[key]

    def ground(self, state: State, action: Action) -> GroundingGraph:
        """Return the grounding graph of an action in a state."""
        key = (state, action)
        if key not in self._graphs:
            graph = self._ask("ground", state, action, self.step(state, action))
            if not isinstance(graph, GroundingGraph):
                raise WorldError(
                    f"{type(self.environment).__name__}.ground returned {shorten(graph)} for the "
                    f"action {shorten(action)} in state {shorten(state)}; return a GroundingGraph."
                )
            self._graphs[key] = graph
        return self._graphs[key]

    def is_terminal(self, state: State) -> bool:
        """Tell whether no action can follow."""
        return hasattr(self.environment, "is_terminal") and bool(self._ask("is_terminal", state))

    @property
    def has_goal(self) -> bool:
        """Whether the environment has a goal test."""
        return hasattr(self.environment, "is_goal")

    def is_goal(self, state: State) -> bool:
        """Tell whether a plan may end here: always, unless the environment has a goal test."""
        return not self.has_goal or bool(self._ask("is_goal", state))

    def is_dead_end(self, state: State) -> bool:
        """Tell whether no goal can be reached from a state, as far as the environment knows."""
        if not self.has_goal or not hasattr(self.environment, "is_dead_end"):
            return False
        if state not in self._dead_ends:
            self._dead_ends[state] = bool(self._ask("is_dead_end", state))
        return self._dead_ends[state]

    def outcome(self, state: State) -> Hashable:
        """Return what of a final state counts as the result."""
        if hasattr(self.environment, "outcome"):
            result: Hashable = self._hashable(self._ask("outcome", state), "outcome", state)
            return result
        return state

    def extra_length(self, start: State) -> int:
        """Return by how much plans from a state may be longer than elsewhere."""
        if hasattr(self.environment, "extra_length"):
            return int(self._ask("extra_length", start))
        return 0

    def label_plan(self, start: State, actions: Sequence[Action], states: Sequence[State]) -> Any:
        """Return the environment's labels of a whole plan, or nothing."""
        if hasattr(self.environment, "label_plan"):
            return self._ask("label_plan", start, tuple(actions), tuple(states))
        return {}

    def mirror(self, demonstration: Demonstration) -> Iterable[Demonstration]:
        """Return the environment's equally true versions of a demonstration."""
        if hasattr(self.environment, "mirror"):
            return tuple(self._ask("mirror", demonstration, listed=True))
        return ()

    def describe(self, state: State) -> str:
        """Return a line of text about a state."""
        if hasattr(self.environment, "describe"):
            return str(self._ask("describe", state))
        return str(state)

    def trace(self, start: State, actions: Iterable[Action], where: str = "The plan") -> Trace:
        """Carry out a plan; an impossible action is an error that says which and where."""
        states, graphs, done = [start], [], []
        for number, action in enumerate(actions, 1):
            possible = self.actions(states[-1])
            if action not in possible:
                listed = ", ".join(shorten(each) for each in possible[:8]) or "none"
                raise DemonstrationError(
                    f"{where}: action {number}, {shorten(action)}, is impossible in state "
                    f"{shorten(states[-1])}. Possible there: {listed}"
                    f"{', …' if len(possible) > 8 else ''}."
                )
            graphs.append(self.ground(states[-1], action))
            states.append(self.step(states[-1], action))
            done.append(action)
        return Trace(tuple(done), tuple(states), tuple(graphs))


def shorten(value: object, limit: int = 80) -> str:
    """Return how a value looks, cut to fit in a message.

    >>> shorten("a" * 100, 8)
    "'aaaaaa…"
    """
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
