"""Checks that an environment follows the protocol, with a report of every problem."""

from __future__ import annotations

import copy
import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import NoneType
from typing import Any

import numpy as np

from groundling.cache import size_of
from groundling.errors import GroundlingError, WorldError
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, class_name
from groundling.world.graph import GroundingGraph, labels_of
from groundling.world.graph_table import GraphTable
from groundling.world.open_values import example_of, fill, holes
from groundling.world.reprs import said, shorten

_MUST = ("actions", "step", "ground")
_MAY = (
    "is_terminal", "is_goal", "is_dead_end", "outcome", "extra_length", "label_plan", "mirror",
    "canonical_plan", "describe", "initial_state", "ground_many",
    "state_to_json", "state_from_json", "action_to_json", "action_from_json",
)  # fmt: skip
_TRUTH = (bool, np.bool_)
_RETURNS = {
    **dict.fromkeys(("is_terminal", "is_goal", "is_dead_end"), (_TRUTH, "True or False")),
    "describe": ((str,), "a line of text"),
}
"""The types that optional methods must return for a state, and their names."""
_COPIED = 30_000_000  # bytes of arguments that are copied to detect changes
_SHOWN = 200  # maximum characters of the difference between two graphs


@dataclass(frozen=True)
class EnvironmentReport:
    """Summary of a successful environment check.

    `complete` is True if every state that can be reached from the start was checked.
    """

    states: int
    actions: int
    graphs: int
    complete: bool

    def __str__(self) -> str:
        counts = {"state": self.states, "action": self.actions, "graph": self.graphs}
        first, second, third = (f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items())
        seen = f"{first}, {second} and {third}"
        if self.complete:
            return f"No problems found in {seen}; all reachable states were checked."
        return f"No problems found in {seen}. Increase `states` to check more."


def check_environment(environment: Any, start: Any, *, states: int = 200) -> EnvironmentReport:
    """Check an environment by breadth-first search from a start state.

    Every method is called more than once, and the results are compared. Methods must exist, must be
    deterministic, and must not raise errors or modify their arguments. States and actions must be
    hashable. Graphs must be grounding graphs in which each label has one kind: indicator, string or
    number. Optional methods are checked too.

    Parameters
    ----------
    environment, start
        The environment and a start state.
    states
        Maximum number of states to check.

    Raises
    ------
    WorldError
        If there are problems. Each kind is listed once, with the first state and action where it
        occurred.

    Examples
    --------
    >>> from groundling.examples import Lamp
    >>> print(check_environment(Lamp(), "off"))
    No problems found in 2 states, 4 actions and 2 graphs; all reachable states were checked.
    >>> class Broken(Lamp):
    ...     def step(self, state, action): return [action]
    >>> check_environment(Broken(), "off")
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: Broken must follow the Environment protocol:
    - step('off', 'on') returned ['on'], a list, which must be hashable. Use a value such as a
      tuple or a frozen dataclass. (Also in 1 more place.)
    """
    if states < 1:
        raise WorldError(f"`states` must be >= 1; got {states}.")
    check = _Check(environment, start, states)
    check.run()
    if check.problems:
        listed = "\n".join(f"- {each}" for each in check.sentences())
        raise WorldError(
            f"{class_name(environment)} must follow the Environment protocol:\n{listed}"
        )
    return EnvironmentReport(len(check.seen), len(check.answers), len(check.graphs), check.complete)


class _CheckError(WorldError):
    """A problem found by a check.

    Of each `kind`, the first problem is reported and the others are counted.
    """

    def __init__(self, method: str, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = (method, kind)


class _Check:
    """A search through the states of an environment that collects problems."""

    def __init__(self, environment: Any, start: Any, most: int) -> None:
        self.environment = environment
        self.start = start
        self.most_actions = 20 * most
        self.complete = True
        # The first problem of each kind, and the number of problems.
        self.problems: dict[tuple[str, str], tuple[str, int]] = {}
        self.left_to_copy = _COPIED
        self.most = most
        self.queue: deque[Any] = deque()
        # The path on which each state was first reached.
        self.seen: dict[Any, tuple[tuple[Any, ...], tuple[Any, ...]]] = {}
        # Next states, and graphs if they are valid.
        self.answers: dict[tuple[Any, Any], tuple[Any, GroundingGraph | None]] = {}
        self.graphs: set[GroundingGraph] = set()
        self.kinds: dict[str, tuple[str, str]] = {}  # kind of each label, and where it occurred

    # ---- problems -------------------------------------------------------------------------

    def report(self, method: str, kind: str, sentence: str) -> None:
        first, count = self.problems.get((method, kind), (sentence, 0))
        self.problems[method, kind] = (first, count + 1)

    @contextmanager
    def noting(self, method: str = "", kind: str = "", lead: str = "") -> Iterator[None]:
        """Record an error raised in the `with` block as a problem, and suppress it."""
        try:
            yield
        except _CheckError as problem:
            self.report(*problem.kind, str(problem))
        except GroundlingError as error:
            self.report(method, kind, f"{lead}{error}")

    def sentences(self) -> list[str]:
        """Return one message for each kind of problem."""
        lines = []
        for first, count in self.problems.values():
            more = count - 1
            places = f"{more} more place{'s' if more > 1 else ''}"
            lines.append(first + (f" (Also in {places}.)" if more else ""))
        return lines

    # ---- calls ----------------------------------------------------------------------------

    def has(self, *methods: str) -> bool:
        return all(callable(getattr(self.environment, each, None)) for each in methods)

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method twice, and report differences.

        Raises `_CheckError` if the method raises an error or modifies its arguments.
        """
        before = self.snapshots(arguments)
        answers = []
        now: list[tuple[str, Any, Any]] = []
        for first in (True, False):
            try:
                answer = getattr(self.environment, method)(*arguments)
                if method == "actions":
                    answer = self.listed(answer, arguments[0])
            except Exception as error:
                sentence = f"{call_of(method, arguments)} raised {said(error)}."
                raise _CheckError(method, "raises", sentence) from error
            answers.append(answer)
            if first:  # check only once: the second call may undo the change
                now = self.snapshots(arguments) if before else []
        for argument, was, after in zip(arguments, before, now, strict=False):
            if not same(was, after):
                raise wrong(
                    method, arguments, "changes",
                    f"not modify its arguments; it changed {shorten(argument)}. Return a new value "
                    "instead.",
                )  # fmt: skip
        with self.noting():
            if not same(*answers):
                kind = type(answers[0])
                hint = "" if getattr(kind, "__eq__", None) is not object.__eq__ else (
                    f" {kind.__name__} does not define equality: make it a frozen dataclass or a "
                    "named tuple."
                )  # fmt: skip
                one, again = apart(*answers)
                rule = f"be deterministic; got {one} and, in a second call, {again}.{hint}"
                raise wrong(method, arguments, "differs", rule)
        return answers[0]

    def says(self, method: str, state: Any) -> bool:
        answer: Any = False
        with self.noting():
            answer = self.ask(method, state)
        return isinstance(answer, _TRUTH) and bool(answer)

    def listed(self, answer: Any, state: Any) -> tuple[Any, ...]:
        """Return the listed actions; report collections of an unsuitable type."""
        with self.noting():
            if isinstance(answer, str):
                answer, rule = (), f"return a tuple of actions; got the string {shorten(answer)}."
                raise wrong("actions", (state,), "string", rule)
            if isinstance(answer, (set, frozenset)):
                raise wrong(
                    "actions", (state,), "set",
                    "return a tuple or a sorted list; got a set, whose order may change from run "
                    "to run.",
                )  # fmt: skip
        listed = tuple(islice(answer, self.most_actions + 1))
        if len(listed) > self.most_actions:
            self.complete = False
        return tuple(self.filled(each, state) for each in listed[: self.most_actions])

    def filled(self, action: Any, state: Any) -> Any:
        """Fill the open values of an action with examples; report undeclared types."""
        declared = getattr(self.environment, "open_values", ())
        for hole in holes(action):
            if isinstance(declared, str) or hole.type not in declared:
                self.report(
                    "open_values", hole.type,
                    f"`open_values` must list every type of open value; got {shorten(declared)}, "
                    f"but {shorten(action)} has one of type {hole.type!r}. Add open_values = "
                    f"({hole.type!r},) to the class.",
                )  # fmt: skip
            action = fill(action, hole, example_of(hole, self.environment, state))
        return action

    def snapshots(self, values: tuple[Any, ...]) -> list[tuple[str, Any, Any]]:
        """Return the repr, a copy, and copies of the attributes of each value.

        Copying stops once `_COPIED` bytes are used up; changes to the remaining values are not
        detected.
        """
        self.left_to_copy -= sum(map(size_of, values))
        if self.left_to_copy < 0:
            return []
        return [
            (shorten(value, 1000), _copied(value), _copied(getattr(value, "__dict__", None)))
            for value in values
        ]

    # ---- search -------------------------------------------------------------------------

    def run(self) -> None:
        for name in _MUST:
            if not self.has(name):
                self.report("missing", name, f"It must have a method {name}; see Environment.")
        for name in _MAY:
            found = getattr(self.environment, name, None)
            if found is not None and not callable(found):
                self.report("missing", name, f"{name} must be a method; got {shorten(found)}.")
        for pair in (_MAY[-4:-2], _MAY[-2:]):
            absent = [name for name in pair if not hasattr(self.environment, name)]
            if len(absent) == 1:
                sentence = f"It must have both {' and '.join(pair)}; {absent[0]} is missing."
                self.report("missing", absent[0], sentence)
        with self.noting():
            check_hashable("The start state is", self.start, "start")
        if self.problems:
            return
        try:
            self.reach(self.start, (self.start,), ())
            while self.queue:
                self.look(self.queue.popleft())
            self.look_again()
            if self.has("is_goal", "is_dead_end"):
                self.look_at_dead_ends()
            self.look_at_plans()
            if self.has("is_goal") and self.complete and not self.problems:
                self.look_at_goals()
        except Exception as error:
            # Comparing or hashing states raised, so nothing more can be checked.
            self.report(
                "all", "compare",
                f"States and actions must be comparable; comparing them raised {said(error)}. Use "
                "values such as tuples or frozen dataclasses.",
            )  # fmt: skip

    def reach(self, state: Any, states: tuple[Any, ...], actions: tuple[Any, ...]) -> None:
        """Queue a state for checking, unless it is known or the limit is reached."""
        if state in self.seen:
            return
        if len(self.seen) >= self.most:
            self.complete = False
            return
        self.seen[state] = (states, actions)
        self.queue.append(state)

    def look(self, state: Any) -> None:
        """Check a state, its actions, and the next states and graphs."""
        self.look_at_state(state)
        final = self.has("is_terminal") and self.says("is_terminal", state)
        actions: tuple[Any, ...] = ()
        with self.noting():
            actions = self.actions(state)
        if state is self.start and (final or not actions):
            why = "is_terminal returned True" if final else "actions returned none"
            if not any(method == "actions" for method, _ in self.problems):
                self.report(
                    "start", "nothing",
                    f"The start state must have an action; {shorten(state)} has none: {why}. "
                    "Choose another start state, or add an action.",
                )  # fmt: skip
        if final:
            return
        for action in actions:
            if len(self.answers) >= self.most_actions:
                self.complete = False
                return
            with self.noting():
                self.look_at_action(state, action)
        if self.has("ground_many"):
            with self.noting():
                self.look_at_table(state, actions)

    def look_at_action(self, state: Any, action: Any) -> None:
        """Check an action, and queue its next state."""
        after = self.ask("step", state, action)
        if after is None:
            raise wrong(
                "step", (state, action), "nothing",
                "return the next state; got None. If the action is impossible, leave it out of "
                "actions.",
            )  # fmt: skip
        check_hashable(f"{call_of('step', (state, action))} returned", after, "step")
        states, path = self.seen[state]
        self.reach(after, (*states, after), (*path, action))
        self.answers[state, action] = (after, None)
        self.look_at_json("action", action)
        graph = self.ask("ground", state, action, after)
        if not isinstance(graph, GroundingGraph):
            rule = f"return a GroundingGraph; got {shorten(graph)}."
            raise wrong("ground", (state, action, after), "type", rule)
        self.answers[state, action] = (after, graph)
        if graph not in self.graphs:
            self.graphs.add(graph)
            self.look_at_labels(graph, f"ground({shorten(state)}, {shorten(action)}, …)")

    def look_at_table(self, state: Any, actions: tuple[Any, ...]) -> None:
        """Check that `ground_many` returns the graphs that `ground` returns."""
        table = self.ask("ground_many", state, actions)
        shown = (state, f"{len(actions)} actions")
        if not isinstance(table, GraphTable) or len(table) != len(actions):
            rule = f"return a GraphTable with a graph for each action; got {shorten(table)}."
            raise wrong("ground_many", shown, "type", rule)
        for graph, action in zip(table, actions, strict=True):
            _, known = self.answers.get((state, action), (None, None))
            if known is not None and known != graph:
                one, other = apart(known, graph)
                raise wrong(
                    "ground_many", shown, "graph",
                    f"return the same graphs as ground; got {other} for {shorten(action)}, but "
                    f"ground returned {one}.",
                )  # fmt: skip

    def look_again(self) -> None:
        """Repeat some calls in reverse order, as results must not depend on earlier calls."""
        for (state, action), (after, graph) in list(self.answers.items())[:50][::-1]:
            calls = [("step", (state, action), after), ("ground", (state, action, after), graph)]
            for method, arguments, before in calls if graph is not None else calls[:1]:
                with self.noting():
                    now = self.ask(method, *arguments)
                    if not same(before, now):
                        one, later = apart(before, now)
                        raise wrong(
                            method, arguments, "later",
                            f"not depend on earlier calls; got {one} at first and {later} later. "
                            "Keep everything that changes in the state, not in the environment.",
                        )  # fmt: skip

    # ---- single results -----------------------------------------------------------------

    def actions(self, state: Any) -> tuple[Any, ...]:
        """Return the valid actions of a state, without duplicates."""
        good = []
        for each in self.ask("actions", state):
            with self.noting():
                check_hashable(f"{call_of('actions', (state,))} offers", each, "actions")
                good.append(each)
        with self.noting():
            if len(set(good)) < len(good):
                twice = next(each for each, count in Counter(good).items() if count > 1)
                rule = f"list every action once; got {shorten(twice)} more than once."
                raise wrong("actions", (state,), "twice", rule)
        return tuple(dict.fromkeys(good))

    def look_at_state(self, state: Any) -> None:
        """Check what the optional methods return for a state."""
        self.look_at_json("state", state)
        for method, (kinds, wanted) in _RETURNS.items():
            with self.noting():
                if self.has(method) and not isinstance(answer := self.ask(method, state), kinds):
                    rule = f"return {wanted}; got {shorten(answer)}."
                    raise wrong(method, (state,), "type", rule)
        world = CachedEnvironment(self.environment)
        for method, read in (("extra_length", world.extra_length), ("things", world.scene)):
            with self.noting(method, "type"):
                if self.has(method):
                    self.ask(method, state)
                    read(state)
        with self.noting():
            if self.has("outcome"):
                call = call_of("outcome", (state,))
                check_hashable(f"{call} returned", self.ask("outcome", state), "outcome")

    def look_at_json(self, kind: str, value: Any) -> None:
        """Check that a state or an action survives a round trip through custom JSON."""
        to, back = f"{kind}_to_json", f"{kind}_from_json"
        with self.noting():
            if not self.has(to):
                return
            written = self.ask(to, value)
            try:
                read = json.loads(json.dumps(written, allow_nan=False))
            except (TypeError, ValueError) as error:
                rule = f"return JSON data; got {shorten(written)} ({error})."
                raise wrong(to, (value,), "json", rule) from error
            again = self.ask(back, read)
            if not same(again, value):
                raise wrong(
                    back, (read,), "differs",
                    f"return the {kind} {shorten(value)} that was passed to {to}; got "
                    f"{shorten(again)}.",
                )  # fmt: skip

    def look_at_labels(self, graph: GroundingGraph, where: str) -> None:
        """Check that each label has one kind in all graphs."""
        names = {NoneType: "an indicator", str: "a string"}
        for name, labels in zip(graph.node_names, graph.node_labels, strict=True):
            for label in labels:
                kind = names.get(type(label.value), "a number")
                here = f"at node {name!r} of {where}"
                known, there = self.kinds.setdefault(label.name, (kind, here))
                if known != kind:
                    self.report(
                        "label", label.name,
                        f"The label {label.name!r} must be of one kind; got {known} {there} and "
                        f"{kind} {here}. Use two different names.",
                    )  # fmt: skip

    # ---- goals and whole plans ----------------------------------------------------------

    def look_at_dead_ends(self) -> None:
        """Check that no goal can be reached from a dead end."""
        before: dict[Any, list[tuple[Any, Any]]] = {}
        for (state, action), (after, _) in self.answers.items():
            before.setdefault(after, []).append((state, action))
        waiting = [state for state in self.seen if self.says("is_goal", state)]
        way: dict[Any, tuple[Any, ...]] = dict.fromkeys(waiting, ())
        for after in waiting:
            for state, action in before.get(after, ()):
                if state not in way:
                    way[state] = (action, *way[after])
                    waiting.append(state)
        for state, actions in way.items():
            if self.says("is_dead_end", state):
                how = f"{shorten(actions)} reaches a goal" if actions else "it is a goal"
                self.report(
                    "is_dead_end", "wrong",
                    f"is_dead_end({shorten(state)}) must be False, because {how}. Return True only "
                    "for states from which no goal can be reached.",
                )  # fmt: skip

    def look_at_goals(self) -> None:
        """Check that `is_goal` is True for at least one of the states found."""
        if not any(self.says("is_goal", state) for state in self.seen):
            self.report(
                "is_goal", "never",
                f"is_goal must be True for some state that can be reached; it is False for all "
                f"{len(self.seen)}, so no plan can be found. Choose another start state, or remove "
                "is_goal.",
            )  # fmt: skip

    def look_at_plans(self) -> None:
        """Check the methods for whole plans with some of the plans found by the search."""
        plans = [(states, actions) for states, actions in self.seen.values() if actions]
        for states, actions in plans[:50]:
            if self.has("label_plan"):
                call = call_of("label_plan", (self.start, actions, states))
                with self.noting("label_plan", "labels", f"{call}: "):
                    labels_of(self.ask("label_plan", self.start, actions, states), "the plan")
            if self.has("canonical_plan"):
                with self.noting("canonical_plan", "impossible"):
                    self.look_at_canonical(states[-1], actions)
        if self.has("mirror") and plans:
            self.look_at_mirror(plans[-1][1])

    def look_at_canonical(self, end: Any, actions: tuple[Any, ...]) -> None:
        """Check that the canonical form of a plan is possible and has the same outcome."""
        self.ask("canonical_plan", self.start, actions)
        call = call_of("canonical_plan", (self.start, actions))
        world = CachedEnvironment(self.environment)
        plan = world.canonical_plan(self.start, actions)
        reached = world.carry_out(self.start, plan, f"{call} returned {shorten(plan)}")[-1]
        if not same(world.outcome(reached), world.outcome(end)):
            raise wrong(
                "canonical_plan", (self.start, actions), "differs",
                f"return a plan with the same outcome; got {shorten(plan)}, which ends in "
                f"{shorten(reached)}, not in {shorten(end)}.",
            )  # fmt: skip

    def look_at_mirror(self, actions: tuple[Any, ...]) -> None:
        """Check that the mirror images of a plan are possible demonstrations."""
        shown = Demonstration("go on", self.environment, self.start, actions)
        with self.noting("mirror", "raises"):
            images: Iterable[Any] = CachedEnvironment(self.environment).mirror(shown)
            for image in images:
                with self.noting("mirror", "impossible", f"mirror of {shorten(actions)}: "):
                    if not isinstance(image, Demonstration):
                        sentence = "mirror must return a list of Demonstrations; got a list with "
                        raise _CheckError("mirror", "type", f"{sentence}{shorten(image)}.")
                    world = CachedEnvironment(image.environment)
                    world.trace(image.start, image.actions, "The mirror image")


def wrong(method: str, arguments: Iterable[Any], kind: str, rule: str) -> _CheckError:
    """Return the problem of a call whose result breaks a rule."""
    return _CheckError(method, kind, f"{call_of(method, arguments)} must {rule}")


def check_hashable(what: str, value: Any, method: str) -> None:
    """Raise `_CheckError` if a value is not hashable; `what` describes its origin."""
    try:
        hash(value)
    except Exception as error:
        sentence = (
            f"{what} {shorten(value)}, a {type(value).__name__}, which must be hashable. Use a "
            "value such as a tuple or a frozen dataclass."
        )
        raise _CheckError(method, "unhashable", sentence) from error


def call_of(method: str, arguments: Iterable[Any]) -> str:
    """Format a call for messages.

    >>> call_of("step", (0, "right"))
    "step(0, 'right')"
    """
    return f"{method}({', '.join(shorten(each) for each in arguments)})"


def apart(one: Any, other: Any) -> tuple[str, str]:
    """Return the reprs of two values; for graphs, the lines that differ.

    >>> red, blue = (GroundingGraph({"event": {"take": True}, "cup": {"colour": colour}},
    ...                             [("event", "cup", "of")]) for colour in ("red", "blue"))
    >>> apart(red, blue)
    ('a graph with cup: colour=red', 'a graph with cup: colour=blue')
    """
    if not (isinstance(one, GroundingGraph) and isinstance(other, GroundingGraph)):
        return shorten(one), shorten(other)
    lines = [str(graph).splitlines() for graph in (one, other)]
    only = [[line for line in lines[n] if line not in lines[1 - n]] for n in (0, 1)]
    if not any(only):  # the same lines in another order
        return shorten(one), shorten(other)
    shown = ["; ".join(each)[:_SHOWN] for each in only]
    with_these, others = (f"a graph with {each}" if each else "one without" for each in shown)
    return with_these, others


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal; True if they cannot be compared."""
    try:
        return one is other or bool(one == other)
    except Exception:  # such as arrays, which are reported as not hashable
        return True


def _copied(value: Any) -> Any:
    try:
        copied = copy.deepcopy(value)
        # If a copy differs from its value, changes cannot be detected.
        return copied if bool(copied == value) else None
    except Exception:  # not every value can be copied or compared
        return None
