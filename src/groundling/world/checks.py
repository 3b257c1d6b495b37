"""The check of an environment: what it does wrong, in plain sentences."""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from groundling.errors import GroundlingError, WorldError
from groundling.world.environment import Demonstration, World, shorten
from groundling.world.graph import GroundingGraph, labels_of

__all__ = ["EnvironmentReport", "check_environment"]

_MUST = ("actions", "step", "ground")
_MAY = (
    "is_terminal", "is_goal", "outcome", "label_plan", "mirror", "describe", "initial_state",
    "state_to_json", "state_from_json", "action_to_json", "action_from_json",
)  # fmt: skip
_NOTHING = object()  # what a method that raised has answered


@dataclass(frozen=True)
class EnvironmentReport:
    """What a check saw of an environment that it found right.

    `complete` says whether these are all states that can be reached from the start.
    """

    states: int
    actions: int
    graphs: int
    complete: bool

    def __str__(self) -> str:
        seen = f"{self.states} states, {self.actions} actions in them, {self.graphs} graphs"
        if self.complete:
            return f"The environment is fine: {seen}, which is all that can be reached."
        return f"The environment is fine as far as was looked: {seen}, and there are more."


def check_environment(environment: Any, start: Any, *, states: int = 200) -> EnvironmentReport:
    """Tell what an environment does wrong, walking breadth-first from a start state.

    Everything is asked more than once and compared: methods must exist, not raise, not
    change what they are given, and always give the same answer; states and actions must
    be hashable; graphs must be grounding graphs whose labels keep their kind (a label is
    an indicator, a string or a number everywhere). Optional methods are checked as well.

    Parameters
    ----------
    environment, start
        The environment, and a state that plans begin in.
    states
        How many states are looked at, at most; the report says whether these were all.

    Raises
    ------
    WorldError
        Lists every problem once, with the first state and action where it was seen.

    Examples
    --------
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after):
    ...         return GroundingGraph({"lamp": {action: True}})
    >>> print(check_environment(Lamp(), "off"))
    The environment is fine: 2 states, 4 actions in them, 2 graphs, which is all that can be
    reached.
    >>> class Broken(Lamp):
    ...     def step(self, state, action): return [action]
    >>> check_environment(Broken(), "off")
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: Broken breaks the contract of an environment:
    - step('off', 'on') returned ['on'], a list, which is not hashable. Use a value such as a
      tuple or a frozen dataclass. (The same is wrong in 1 more place.)
    """
    if states < 1:
        raise WorldError(f"check_environment looks at 1 state or more, not {states}.")
    check = _Check(environment, start, states)
    check.run()
    if check.problems:
        listed = "\n".join(f"- {each}" for each in check.sentences())
        raise WorldError(
            f"{type(environment).__name__} breaks the contract of an environment:\n{listed}"
        )
    return EnvironmentReport(len(check.seen), len(check.answers), len(check.graphs), check.complete)


class _Check:
    """One walk through an environment, and the problems found on the way."""

    def __init__(self, environment: Any, start: Any, most: int) -> None:
        self.environment = environment
        self.start = start
        self.most = most
        self.most_actions = 20 * most
        self.complete = True
        self.queue: deque[Any] = deque()
        self.problems: dict[tuple[str, ...], list[str]] = {}
        # How each state was first reached: the states and actions from the start.
        self.seen: dict[Any, tuple[tuple[Any, ...], tuple[Any, ...]]] = {}
        self.answers: dict[tuple[Any, Any], tuple[Any, Any]] = {}  # next state and graph
        self.graphs: set[GroundingGraph] = set()
        self.kinds: dict[str, tuple[str, str]] = {}  # of each label, and where it was seen

    def report(self, key: tuple[str, ...], sentence: str) -> None:
        self.problems.setdefault(key, []).append(sentence)

    def sentences(self) -> list[str]:
        lines = []
        for found in self.problems.values():
            more = len(found) - 1
            places = f"{more} more place{'s' if more > 1 else ''}"
            lines.append(found[0] + (f" (The same is wrong in {places}.)" if more else ""))
        return lines

    # ---- the walk -----------------------------------------------------------------------

    def run(self) -> None:
        missing = [name for name in _MUST if not callable(getattr(self.environment, name, None))]
        for name in missing:
            self.report(("missing", name), f"It has no method {name}. See Environment.")
        for name in _MAY:
            found = getattr(self.environment, name, None)
            if found is not None and not callable(found):
                self.report(("missing", name), f"{name} is {shorten(found)}, not a method.")
                missing.append(name)
        for pair in (_MAY[-4:-2], _MAY[-2:]):
            absent = [name for name in pair if not hasattr(self.environment, name)]
            if len(absent) == 1:
                sentence = f"It has no {absent[0]}, of {' and '.join(pair)}."
                self.report(("missing", absent[0]), sentence)
                missing += absent
        if missing or not self.hashable("The start state is", self.start, "start"):
            return
        self.reach(self.start, (self.start,), ())
        while self.queue:
            self.look(self.queue.popleft())
        self.look_again()
        self.look_at_plans()

    def reach(self, state: Any, states: tuple[Any, ...], actions: tuple[Any, ...]) -> None:
        """Note a state to be looked at, unless it is known or there are enough."""
        if state in self.seen:
            return
        if len(self.seen) >= self.most:
            self.complete = False
            return
        self.seen[state] = (states, actions)
        self.queue.append(state)

    def look(self, state: Any) -> None:
        """Check a state, what can be done in it, and what comes of that."""
        self.look_at_options(state)
        final = self.is_final(state)
        actions = self.actions(state)
        if state is self.start and (final or not actions):
            why = "is_terminal says it is final" if final else "actions returned none"
            if not any(key[0] == "actions" for key in self.problems):
                self.report(
                    ("nothing",),
                    f"Nothing can be done in the start state {shorten(state)}: {why}. Start "
                    "elsewhere, or offer an action there.",
                )
        if final:
            return
        states, path = self.seen[state]
        for action in actions:
            if len(self.answers) >= self.most_actions:
                self.complete = False
                return
            after = self.ask("step", state, action)
            if after is _NOTHING or not self.is_state(state, action, after):
                continue
            graph = self.ask("ground", state, action, after)
            self.look_at_json("action", action)
            self.answers[state, action] = (after, graph)
            if graph is not _NOTHING:
                self.look_at_graph(graph, state, action)
            self.reach(after, (*states, after), (*path, action))

    def look_again(self) -> None:
        """Ask some questions anew, last first: answers must not depend on what was asked."""
        for (state, action), (after, graph) in list(self.answers.items())[:50][::-1]:
            for method, arguments, before in (
                ("step", (state, action), after),
                ("ground", (state, action, after), graph),
            ):
                now = self.ask(method, *arguments)
                if _NOTHING not in (before, now) and not _same(before, now):
                    self.report(
                        (method, "later"),
                        f"{_call(method, arguments)} returned {shorten(before)} at first and "
                        f"{shorten(now)} after other questions. Keep all that changes inside the "
                        "state; the environment itself must not remember.",
                    )

    # ---- single answers -----------------------------------------------------------------

    def ask(self, method: str, *arguments: Any) -> Any:
        """Ask twice; report what raises, differs or changes its arguments."""
        before = _snapshots(arguments)
        answers = []
        for _ in range(2):
            try:
                answer = getattr(self.environment, method)(*arguments)
                if method == "actions":
                    answer = self.listed(answer, arguments[0])
            except Exception as error:
                self.report((method, "raises"), _raised(method, arguments, error))
                return _NOTHING
            answers.append(answer)
        for argument, was, now in zip(arguments, before, _snapshots(arguments), strict=True):
            if not _same(was, now):
                self.report(
                    (method, "changes"),
                    f"{_call(method, arguments)} changed {shorten(argument)}, which it was given. "
                    "Make a new value instead.",
                )
                return _NOTHING
        if not _same(*answers):
            hint = ""
            if getattr(type(answers[0]), "__eq__", None) is object.__eq__:
                hint = (
                    f" Instances of {type(answers[0]).__name__} are equal only to themselves: "
                    "make it a frozen dataclass or a named tuple."
                )
            self.report(
                (method, "differs"),
                f"{_call(method, arguments)} returned {shorten(answers[0])} and, asked again, "
                f"{shorten(answers[1])}. The same question must have the same answer.{hint}",
            )
        return answers[0]

    def hashable(self, what: str, value: Any, method: str) -> bool:
        try:
            hash(value)
        except TypeError:
            self.report(
                (method, "unhashable"),
                f"{what} {shorten(value)}, a {type(value).__name__}, which is not hashable. "
                "Use a value such as a tuple or a frozen dataclass.",
            )
            return False
        return True

    def listed(self, answer: Any, state: Any) -> tuple[Any, ...]:
        """Return the actions that were offered, reporting collections that will not do."""
        call = _call("actions", (state,))
        if isinstance(answer, str):
            self.report(
                ("actions", "string"),
                f"{call} returned the string {answer!r}. Return a tuple of actions.",
            )
            return ()
        if isinstance(answer, (set, frozenset)):
            self.report(
                ("actions", "set"),
                f"{call} returned a set, whose order may change from run to run. Return a tuple "
                "or a sorted list.",
            )
        listed = tuple(islice(answer, self.most_actions + 1))
        if len(listed) > self.most_actions:
            self.complete = False
        return listed[: self.most_actions]

    def actions(self, state: Any) -> tuple[Any, ...]:
        offered = self.ask("actions", state)
        if offered is _NOTHING:
            return ()
        call = _call("actions", (state,))
        good = tuple(each for each in offered if self.hashable(f"{call} offers", each, "actions"))
        twice = [each for place, each in enumerate(good) if each in good[:place]]
        if twice:
            self.report(
                ("actions", "twice"),
                f"{call} lists {shorten(twice[0])} more than once. List every action once.",
            )
        return tuple(dict.fromkeys(good))

    def is_state(self, state: Any, action: Any, after: Any) -> bool:
        call = _call("step", (state, action))
        if after is None:
            self.report(
                ("step", "nothing"),
                f"{call} returned None. Return the state after the action; where an action is "
                "impossible, leave it out of actions.",
            )
            return False
        return self.hashable(f"{call} returned", after, "step")

    def is_final(self, state: Any) -> bool:
        return hasattr(self.environment, "is_terminal") and self.ask("is_terminal", state) is True

    def look_at_options(self, state: Any) -> None:
        """Check what the optional methods say of a state."""
        self.look_at_json("state", state)
        kinds: dict[str, tuple[type[Any] | tuple[type[Any], ...], str]] = {
            "is_terminal": ((bool, np.bool_), "True or False"),
            "is_goal": ((bool, np.bool_), "True or False"),
            "describe": (str, "a line of text"),
        }
        for method, (kind, wanted) in kinds.items():
            if hasattr(self.environment, method):
                answer = self.ask(method, state)
                if answer is not _NOTHING and not isinstance(answer, kind):
                    self.report(
                        (method, "type"),
                        f"{_call(method, (state,))} returned {shorten(answer)}. Return {wanted}.",
                    )
        if hasattr(self.environment, "outcome"):
            answer = self.ask("outcome", state)
            if answer is not _NOTHING:
                self.hashable(f"{_call('outcome', (state,))} returned", answer, "outcome")

    def look_at_json(self, kind: str, value: Any) -> None:
        """Check that a state or an action comes back from the environment's own JSON."""
        to, back = f"{kind}_to_json", f"{kind}_from_json"
        if not hasattr(self.environment, to) or (written := self.ask(to, value)) is _NOTHING:
            return
        try:
            read = json.loads(json.dumps(written, allow_nan=False))
        except (TypeError, ValueError) as error:
            said = f"{_call(to, (value,))} returned {shorten(written)}, which is not JSON: {error}."
            self.report((to, "json"), said)
            return
        again = self.ask(back, read)
        if again is not _NOTHING and not _same(again, value):
            self.report(
                (back, "differs"),
                f"{_call(back, (read,))} returned {shorten(again)}, not the {kind} "
                f"{shorten(value)} that {to} was given.",
            )

    def look_at_graph(self, graph: Any, state: Any, action: Any) -> None:
        where = f"ground({shorten(state)}, {shorten(action)}, …)"
        if not isinstance(graph, GroundingGraph):
            self.report(
                ("ground", "type"), f"{where} returned {shorten(graph)}. Return a GroundingGraph."
            )
            return
        if graph in self.graphs:
            return
        self.graphs.add(graph)
        for name, labels in zip(graph.node_names, graph.node_labels, strict=True):
            for label in labels:
                kind = (
                    "an indicator"
                    if label.value is None
                    else "a string"
                    if isinstance(label.value, str)
                    else "a number"
                )
                here = f"at node {name!r} of {where}"
                known, there = self.kinds.setdefault(label.name, (kind, here))
                if known != kind:
                    self.report(
                        ("label", label.name),
                        f"The label {label.name!r} is {known} {there} but {kind} {here}. A label "
                        "keeps its kind; give the two different names.",
                    )

    # ---- whole plans --------------------------------------------------------------------

    def look_at_plans(self) -> None:
        plans = [(states, actions) for states, actions in self.seen.values() if actions]
        if hasattr(self.environment, "label_plan"):
            for states, actions in plans[:50]:
                labels = self.ask("label_plan", self.start, actions, states)
                if labels is _NOTHING:
                    continue
                try:
                    labels_of(labels, "the plan")
                except GroundlingError as error:
                    call = _call("label_plan", (self.start, actions, states))
                    self.report(("label_plan", "labels"), f"{call}: {error}")
        if hasattr(self.environment, "mirror") and plans:
            self.look_at_mirror(plans[-1][1])
        if (
            hasattr(self.environment, "is_goal")
            and self.complete
            and not self.problems
            and not any(self.ask("is_goal", state) for state in self.seen)
        ):
            self.report(
                ("is_goal", "never"),
                f"is_goal is true of none of the {len(self.seen)} states that can be reached, so "
                "that no plan can be found. Start elsewhere, or leave is_goal out.",
            )

    def look_at_mirror(self, actions: tuple[Any, ...]) -> None:
        shown = Demonstration("go on", self.environment, self.start, actions)
        try:
            images = tuple(self.environment.mirror(shown))
        except Exception as error:
            self.report(("mirror", "raises"), _raised("mirror", (shown,), error))
            return
        for image in images:
            if not isinstance(image, Demonstration):
                self.report(
                    ("mirror", "type"),
                    f"mirror gave {shorten(image)}. Return a list of Demonstrations.",
                )
                continue
            try:
                World(image.environment).trace(image.start, image.actions, "The mirror image")
            except GroundlingError as error:
                self.report(("mirror", "impossible"), f"mirror of {shorten(actions)}: {error}")


def _call(method: str, arguments: Iterable[Any]) -> str:
    return f"{method}({', '.join(shorten(each) for each in arguments)})"


def _raised(method: str, arguments: tuple[Any, ...], error: Exception) -> str:
    said = f"{type(error).__name__}: {error}".rstrip(".: ")
    return f"{_call(method, arguments)} raised {said}."


def _same(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except Exception:  # arrays, say: they are reported as not hashable
        return True


def _snapshots(values: Iterable[Any]) -> list[tuple[str, Any, Any]]:
    """Return for each value its text, and copies of it and of its attributes."""
    return [
        (repr(value), _copied(value), _copied(getattr(value, "__dict__", None))) for value in values
    ]


def _copied(value: Any) -> Any:
    try:
        copied = copy.deepcopy(value)
        # What does not equal its copy cannot be compared with it later.
        return copied if bool(copied == value) else None
    except Exception:  # not every value can be copied or compared
        return None
