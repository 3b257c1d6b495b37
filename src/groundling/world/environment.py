"""The environment: which actions are possible, what they do, and how they look."""

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
"""How much one demonstration may count."""

State: TypeAlias = Hashable
Action: TypeAlias = Hashable
StateT = TypeVar("StateT", default=Any)
ActionT = TypeVar("ActionT", default=Any)


@runtime_checkable
class Environment(Protocol[StateT, ActionT]):
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
    - `ground_many(state, actions)`: the graphs of all actions of a state together, as a
      `GraphTable`; they must be those of `ground`. It makes states with hundreds of actions fast;
    - `outcome(state)`: what of the final state counts as the result; plans with equal
      outcomes are summed when outcomes are decoded (default: the state itself);
    - `extra_length(start)`: by how much plans from a state may be longer than elsewhere
      (one more action, say, where the agent must first find its bearings);
    - `label_plan(start, actions, states)`: labels of a whole plan (its pattern, …);
    - `canonical_plan(start, actions)`: the same plan as `actions` would allow it, where plans
      put together may be said in another way (two moves in a row as one, say);
    - `mirror(demonstration)`: equally true demonstrations, such as left and right
      swapped; the demonstration and its images share its weight in training;
    - `describe(state)`: a line of text for people;
    - `initial_state()`: a state to begin in where none is named;
    - `state_to_json(state)`, `state_from_json(data)`, `action_to_json(action)` and
      `action_from_json(data)`: states and actions as JSON, where the usual JSON of values
      will not do (see `groundling.data.Codec`, and `json_classes` there);
    - `roles`: names of nodes that say what part a node plays, such as `("event", "object")`; the
      model sees no others;
    - `follower_settings`: settings that suit this world, by name (`model`, `overlay`,
      `features`, `learning`, `search`); automatic settings prefer them if they do as well;
    - `open_values`: the types of values that actions leave open (see `OpenValue`), and
      `things(state)`, labels for each thing, where sets are among them (see `OpenSet`);
    - `things(state)`: from which ranks and relations follow for nodes that are named like a thing
      (see `Scene`);
    - `facts(state)`: labels of what is true; what an action changes of it becomes part of its graph
      (see `with_changes`);
    - `presumed_slots`: slots that its followers have wherever they learn, though graphs may lack
      them;
    - `labels_follow_text`: whether graphs have only labels that a text names, so that no check
      takes the others for missing;
    - `draw(state)`, or `draw(state, way)` with all states from the start on: a picture for the
      studio and for `follow --picture`, as the text of an SVG;
    - `name_action(action)`: what people call an action;
    - `start`, or `starts` by name: the states in which the studio and the service begin.
    - `agent(follower, threshold)`: an agent that carries plans out;
    - `labels_follow_text`: whether labels differ with the text that is followed; they are then
      not compared between worlds;
    - `presumed_slots`, `slots_place`: slots that nobody chose, so that none is missed, and where
      others are set, for messages.

    States and actions are hashable values; keep whatever the labels need (what was
    visited, the last action) inside the state.
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
    """What somebody said, and what was then done.

    Parameters
    ----------
    instructions
        The text: one string (sentences are split by the parser), or sentences as
        strings or as parsed instructions.
    environment, start
        Where it happened, and the state it began in.
    actions
        What was done; nothing if it is a question.
    weight
        How much it counts in training.
    name
        Where it comes from, for error messages.
    also
        Other action sequences that are just as correct.
    group
        What it belongs to (a route, a session): demonstrations of one group stay together
        wherever data are split.
    answer
        The answer, if the text is a question about the start: a set of things (as
        `things(state)` lists them), the value of a label, a number, or True or False.
    negative_starts
        Other states in which it might have begun, had one not known the start. Where whole
        plans are normalised, what was done must then win against all plans from those
        states too, except those that end alike (they are no less right): the text becomes
        evidence of where it was said.
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
                f"{self} has the actions {shorten(self.actions)}. Give a list of actions."
            )
        object.__setattr__(self, "actions", tuple(self.actions))
        object.__setattr__(self, "negative_starts", tuple(self.negative_starts))
        if isinstance(self.answer, (set, tuple, list)):
            object.__setattr__(self, "answer", frozenset(self.answer))
        if self.answer is not None and self.actions:
            raise DemonstrationError(
                f"{self} must have actions or an answer, not both: a question changes nothing."
            )
        if among(self.start, self.negative_starts):
            raise DemonstrationError(
                f"{self} has its own start among its negative starts. Take it out."
            )
        number = isinstance(self.weight, numbers.Real)
        if not number or not 0 <= self.weight <= MOST_WEIGHT:
            raise DemonstrationError(
                f"{self} has weight {shorten(self.weight)}; weights are between 0 and "
                f"{MOST_WEIGHT:g}."
            )

    def weighted(self, weight: float) -> Demonstration[StateT, ActionT]:
        """Return a copy that counts differently."""
        return replace(self, weight=weight)

    def __str__(self) -> str:
        if self.name:
            return f"The demonstration {self.name!r}"
        text = self.instructions
        words = " ".join(map(str, text)) if isinstance(text, (list, tuple)) else str(text)
        return f"The demonstration {words[:60] + ('…' if len(words) > 60 else '')!r}"


class Wrapper:
    """An environment that shows more of another one, which is its attribute `environment`.

    Messages name the class of the environment inside, which is the one that people wrote, and
    its classes are those that states and actions in files may be of.

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
    """Return the environment inside all wrappers; itself if there is none.

    >>> innermost(Wrapper(Wrapper(3)))
    3
    """
    while isinstance(environment, Wrapper):
        environment = environment.environment
    return environment


def class_name(environment: object) -> str:
    """Return the class of the environment inside all wrappers, as messages name it."""
    return type(innermost(environment)).__name__
