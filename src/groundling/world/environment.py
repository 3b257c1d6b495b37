"""The environment protocol, demonstrations, and wrappers of environments."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeAlias, runtime_checkable

from typing_extensions import TypeVar

from groundling.errors import DemonstrationError
from groundling.language.instruction import Instruction
from groundling.world.graph import GroundingGraph
from groundling.world.reprs import among, shorten

__all__ = [
    "Action", "Demonstration", "Environment", "State", "Wrapper", "class_name", "innermost",
    "shorten",
]  # fmt: skip

MOST_WEIGHT = 1e15
"""Maximum weight of a demonstration."""

State: TypeAlias = Hashable
Action: TypeAlias = Hashable
StateT = TypeVar("StateT", default=Any)
ActionT = TypeVar("ActionT", default=Any)


@runtime_checkable
class Environment(Protocol[StateT, ActionT]):
    """Protocol of an environment: possible actions, transitions and grounding graphs.

    States and actions must be hashable. Keep everything that labels depend on, such as visited
    places or the last action, inside the state.

    Required methods:

    - `actions(state)`: the possible actions, in a fixed order; empty if the state is final;
    - `step(state, action)`: the next state. It must be deterministic and must not modify `state`;
    - `ground(state, action, next_state)`: the grounding graph of the action between its two
      states.

    Optional methods for search and training:

    - `is_terminal(state)`: True if no action may follow, whatever `actions` returns;
    - `is_goal(state)`: True if plans may end here (a hard constraint on search);
    - `is_dead_end(state)`: True if it is certain that no goal can be reached from here; search
      drops plans that lead here;
    - `ground_many(state, actions)`: the graphs of all actions as a `GraphTable`, equal to those
      of `ground`. Speeds up states with hundreds of actions;
    - `outcome(state)`: the part of the final state that counts as the result (default: the
      state itself). `Search(decode="outcome")` sums the probabilities of equal outcomes;
    - `extra_length(start)`: by how many actions plans from here may exceed the maximum length;
    - `label_plan(start, actions, states)`: labels of a whole plan, such as its pattern;
    - `canonical_plan(start, actions)`: the canonical form of a plan, for joined plans that can
      be written differently (such as two moves in a row as one);
    - `mirror(demonstration)`: equally valid variants of a demonstration, such as left and right
      swapped. All variants share its weight in training;
    - `things(state)`: labels for each thing. Ranks and relations are derived from them (see
      `Scene`); required if actions have an `OpenSet`;
    - `facts(state)`: labels of the facts that hold. Changes become part of the action's graph (see
      `with_changes`).

    Optional attributes for search and training:

    - `roles`: node names that are roles, such as `("event", "object")`; the model sees no other
      node names;
    - `open_values`: the types of values that actions leave open (see `OpenValue` and `OpenSet`);
    - `follower_settings`: recommended settings by name (`model`, `overlay`, `features`,
      `learning`, `search`); automatic settings prefer them if they score as well;
    - `presumed_slots`: slots that followers always use, even if graphs lack them;
      `slots_place` tells, in messages, where other slots are set;
    - `labels_follow_text`: whether graphs contain only labels that the text names; if so, labels
      are not compared between worlds.

    Optional members for users, files and services:

    - `describe(state)`: a one-line description;
    - `name_action(action)`: a readable name of an action;
    - `draw(state)`, or `draw(state, way)` with all states from the start on: a picture as SVG
      text, for the studio and `follow --picture`;
    - `initial_state()`: the default start state;
    - `start`, or `starts` by name: the start states of the studio and the service;
    - `agent(follower, threshold)`: an agent that carries out plans;
    - `state_to_json(state)`, `state_from_json(data)`, `action_to_json(action)` and
      `action_from_json(data)`: custom JSON for states and actions (see `groundling.data.Codec`
      and its `json_classes`).
    """

    def actions(self, state: StateT) -> Sequence[ActionT]:
        """Return the actions possible in a state."""
        ...

    def step(self, state: StateT, action: ActionT) -> StateT:
        """Return the state after an action."""
        ...

    def ground(self, state: StateT, action: ActionT, next_state: StateT) -> GroundingGraph:
        """Return the grounding graph of an action between two states."""
        ...


@dataclass(frozen=True)
class Demonstration(Generic[StateT, ActionT]):
    """An instruction and the actions that carry it out.

    Parameters
    ----------
    instructions
        The text: one string, which the parser splits into sentences, or a list of sentences as
        strings or parsed instructions.
    environment, start
        The environment and the start state.
    actions
        The demonstrated plan; empty for a question.
    weight
        Weight in training.
    name
        Identifier for error messages, such as the source.
    also
        Other plans that are equally correct.
    group
        Identifier of a route, session or similar. Demonstrations of one group stay together in
        every data split.
    answer
        The answer, if the text is a question about the start: a set of things (as
        `things(state)` lists them), the value of a label, a number, or True or False.
    negative_starts
        Alternative start states, for learning which start a text implies. Models that normalise
        over whole plans also contrast the demonstrated plan with plans from these states, except
        those with the same outcome.
    """

    instructions: str | Instruction | Sequence[str | Instruction]
    environment: Environment[StateT, ActionT]
    start: StateT
    actions: Sequence[ActionT] = ()
    weight: float = 1.0
    name: str = ""
    also: tuple[tuple[ActionT, ...], ...] = ()
    group: str = ""
    negative_starts: tuple[StateT, ...] = ()
    answer: Any = None

    def __post_init__(self) -> None:
        given: Any = self.actions
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise DemonstrationError(
                f"{self}: `actions` must be a list of actions; got {shorten(self.actions)}. "
                "Put a single action into a list."
            )
        object.__setattr__(self, "actions", tuple(self.actions))
        object.__setattr__(self, "negative_starts", tuple(self.negative_starts))
        if isinstance(self.answer, (set, tuple, list)):
            object.__setattr__(self, "answer", frozenset(self.answer))
        if self.answer is not None and self.actions:
            raise DemonstrationError(
                f"{self} must have either actions or an answer; got both. Remove one of them."
            )
        if among(self.start, self.negative_starts):
            raise DemonstrationError(
                f"{self}: `negative_starts` must not contain `start`; got "
                f"{shorten(self.start)} in both. Remove it from `negative_starts`."
            )
        number = isinstance(self.weight, numbers.Real)
        if not number or not 0 <= self.weight <= MOST_WEIGHT:
            raise DemonstrationError(
                f"{self}: `weight` must be between 0 and {MOST_WEIGHT:g}; got "
                f"{shorten(self.weight)}."
            )

    def weighted(self, weight: float) -> Demonstration[StateT, ActionT]:
        """Return a copy with another weight."""
        return replace(self, weight=weight)

    def __str__(self) -> str:
        if self.name:
            return f"The demonstration {self.name!r}"
        text = self.instructions
        words = " ".join(map(str, text)) if isinstance(text, (list, tuple)) else str(text)
        return f"The demonstration {words[:60] + ('…' if len(words) > 60 else '')!r}"


class Wrapper:
    """Base class of environments that wrap another one (`environment`).

    Error messages give the class name of the wrapped environment. In files, states and actions
    may be of classes that belong to either environment.

    >>> class Farm: ...
    >>> class Ranked(Wrapper): ...
    >>> class_name(Ranked(Ranked(Farm())))
    'Farm'
    """

    def __init__(self, environment: Environment[Any, Any]) -> None:
        self.environment = environment

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.environment!r})"


def innermost(environment: object) -> object:
    """Return the environment inside all wrappers, or the environment itself.

    >>> innermost(Wrapper(Wrapper(3)))
    3
    """
    while isinstance(environment, Wrapper):
        environment = environment.environment
    return environment


def class_name(environment: object) -> str:
    """Return the class name of the environment inside all wrappers, for messages."""
    return type(innermost(environment)).__name__
