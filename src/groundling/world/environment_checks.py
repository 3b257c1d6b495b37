"""Check that an environment follows the protocol, and report every problem."""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from groundling.cache import size_of
from groundling.errors import GraphError, GroundlingError, WorldError
from groundling.limits import EXTRA_LENGTH
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
NOTHING = object()  # result of a call that raised
_COPIED = 30_000_000  # bytes of arguments to copy, in order to detect changes
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
        seen = f"{self.states} states, {self.actions} actions and {self.graphs} graphs"
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


class _Check:
    """One search through an environment, with the problems found."""

    def __init__(self, environment: Any, start: Any, most: int) -> None:
        self.environment = environment
        self.start = start
        self.most_actions = 20 * most
        self.complete = True
        # The first problem of each kind, and how many there are.
        self.problems: dict[tuple[str, ...], tuple[str, int]] = {}
        self.left_to_copy = _COPIED
        self.most = most
        self.queue: deque[Any] = deque()
        # The states and actions by which each state was first reached.
        self.seen: dict[Any, tuple[tuple[Any, ...], tuple[Any, ...]]] = {}
        self.answers: dict[tuple[Any, Any], tuple[Any, Any]] = {}  # next state and graph
        self.graphs: set[GroundingGraph] = set()
        self.kinds: dict[str, tuple[str, str]] = {}  # kind of each label, and where it occurred

    # ---- calls ----------------------------------------------------------------------------

    def report(self, key: tuple[str, ...], sentence: str) -> None:
        """Add a problem; `key` identifies its kind."""
        first, count = self.problems.get(key, (sentence, 0))
        self.problems[key] = (first, count + 1)

    def sentences(self) -> list[str]:
        """Return one message for each kind of problem."""
        lines = []
        for first, count in self.problems.values():
            more = count - 1
            places = f"{more} more place{'s' if more > 1 else ''}"
            lines.append(first + (f" (Also in {places}.)" if more else ""))
        return lines

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method twice; report exceptions, differences and modified arguments."""
        before = self.snapshots(arguments)
        answers = []
        now: list[tuple[str, Any, Any]] = []
        for first in (True, False):
            try:
                answer = getattr(self.environment, method)(*arguments)
                if method == "actions":
                    answer = self.listed(answer, arguments[0])
            except Exception as error:
                self.report((method, "raises"), raised(method, arguments, error))
                return NOTHING
            answers.append(answer)
            if first:  # a second call may undo what the first one changed
                now = self.snapshots(arguments) if before else []
        for argument, was, after in zip(arguments, before, now, strict=False):
            if not same(was, after):
                self.report(
                    (method, "changes"),
                    f"{call_of(method, arguments)} must not modify its arguments; it changed "
                    f"{shorten(argument)}. Return a new value instead.",
                )
                return NOTHING
        if not same(*answers):
            hint = ""
            if getattr(type(answers[0]), "__eq__", None) is object.__eq__:
                hint = (
                    f" {type(answers[0]).__name__} does not define equality: make it a frozen "
                    "dataclass or a named tuple."
                )
            one, again = apart(*answers)
            self.report(
                (method, "differs"),
                f"{call_of(method, arguments)} must be deterministic; got {one} and, in a second "
                f"call, {again}.{hint}",
            )
        return answers[0]

    def hashable(
        self, what: str, value: Any, method: str, arguments: tuple[Any, ...] | None = None
    ) -> bool:
        """Return whether a value is hashable; report it if not."""
        try:
            hash(value)
        except Exception:
            if arguments is not None:
                what = what.replace(method, call_of(method, arguments), 1)
            self.report(
                (method, "unhashable"),
                f"{what} {shorten(value)}, a {type(value).__name__}, which must be hashable. "
                "Use a value such as a tuple or a frozen dataclass.",
            )
            return False
        return True

    def says(self, method: str, state: Any) -> bool:
        """Return whether a method returns True for a state."""
        answer = self.ask(method, state)
        return isinstance(answer, (bool, np.bool_)) and bool(answer)

    def listed(self, answer: Any, state: Any) -> tuple[Any, ...]:
        """Return the listed actions; report unsuitable collections."""
        call = call_of("actions", (state,))
        if isinstance(answer, str):
            self.report(
                ("actions", "string"),
                f"{call} must return a tuple of actions; got the string {shorten(answer)}.",
            )
            return ()
        if isinstance(answer, (set, frozenset)):
            self.report(
                ("actions", "set"),
                f"{call} must return a tuple or a sorted list; got a set, whose order may change "
                "from run to run.",
            )
        listed = tuple(islice(answer, self.most_actions + 1))
        if len(listed) > self.most_actions:
            self.complete = False
        return tuple(self.filled(each, state) for each in listed[: self.most_actions])

    def filled(self, action: Any, state: Any) -> Any:
        """Fill the open values of an action with examples; report types that are not declared."""
        declared = getattr(self.environment, "open_values", ())
        for hole in holes(action):
            if isinstance(declared, str) or hole.type not in declared:
                self.report(
                    ("open_values", hole.type),
                    f"`open_values` must list every type of open value; got {shorten(declared)}, "
                    f"but {shorten(action)} has one of type {hole.type!r}. Add open_values = "
                    f"({hole.type!r},) to the class.",
                )
            action = fill(action, hole, example_of(hole, self.environment, state))
        return action

    def snapshots(self, values: tuple[Any, ...]) -> list[tuple[str, Any, Any]]:
        """Return the repr of each value, a copy of the value, and copies of its attributes.

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
        missing = [name for name in _MUST if not callable(getattr(self.environment, name, None))]
        for name in missing:
            self.report(("missing", name), f"It must have a method {name}; see Environment.")
        for name in _MAY:
            found = getattr(self.environment, name, None)
            if found is not None and not callable(found):
                self.report(("missing", name), f"{name} must be a method; got {shorten(found)}.")
                missing.append(name)
        for pair in (_MAY[-4:-2], _MAY[-2:]):
            absent = [name for name in pair if not hasattr(self.environment, name)]
            if len(absent) == 1:
                sentence = f"It must have both {' and '.join(pair)}; {absent[0]} is missing."
                self.report(("missing", absent[0]), sentence)
                missing += absent
        if missing or not self.hashable("The start state is", self.start, "start"):
            return
        try:
            self.reach(self.start, (self.start,), ())
            while self.queue:
                self.look(self.queue.popleft())
            self.look_again()
            self.look_at_dead_ends()
            self.look_at_plans()
        except Exception as error:
            # Only comparing or hashing states can raise here; nothing more can be checked.
            self.report(
                ("compare",),
                f"States and actions must be comparable; comparing them raised {said(error)}. Use "
                "values such as tuples or frozen dataclasses.",
            )

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
        """Check a state, its actions, and their next states and graphs."""
        self.look_at_options(state)
        final = self.is_final(state)
        actions = self.actions(state)
        if state is self.start and (final or not actions):
            why = "is_terminal returned True" if final else "actions returned none"
            if not any(key[0] == "actions" for key in self.problems):
                self.report(
                    ("nothing",),
                    f"The start state must have an action; {shorten(state)} has none: {why}. "
                    "Choose another start state, or add an action.",
                )
        if final:
            return
        states, path = self.seen[state]
        for action in actions:
            if len(self.answers) >= self.most_actions:
                self.complete = False
                return
            after = self.ask("step", state, action)
            if after is NOTHING or not self.is_state(state, action, after):
                continue
            graph = self.ask("ground", state, action, after)
            self.look_at_json("action", action)
            self.answers[state, action] = (after, graph)
            if graph is not NOTHING:
                self.look_at_graph(graph, state, action)
            self.reach(after, (*states, after), (*path, action))
        if callable(getattr(self.environment, "ground_many", None)):
            self.look_at_table(state, actions)

    def look_at_table(self, state: Any, actions: tuple[Any, ...]) -> None:
        """Check that `ground_many` returns the graphs that `ground` returns."""
        table = self.ask("ground_many", state, actions)
        if table is NOTHING:
            return
        call = call_of("ground_many", (state, f"{len(actions)} actions"))
        if not isinstance(table, GraphTable) or len(table) != len(actions):
            self.report(
                ("ground_many", "type"),
                f"{call} must return a GraphTable with a graph for each action; got "
                f"{shorten(table)}.",
            )
            return
        for graph, action in zip(table, actions, strict=True):
            _, known = self.answers.get((state, action), (None, graph))
            if known is not NOTHING and known != graph:
                one, other = apart(known, graph)
                self.report(
                    ("ground_many", "graph"),
                    f"{call} must return the same graphs as ground; got {other} for "
                    f"{shorten(action)}, but ground returned {one}.",
                )
                return

    def look_again(self) -> None:
        """Repeat some calls in reverse order, because results must not depend on earlier calls."""
        for (state, action), (after, graph) in list(self.answers.items())[:50][::-1]:
            for method, arguments, before in (
                ("step", (state, action), after),
                ("ground", (state, action, after), graph),
            ):
                now = self.ask(method, *arguments)
                if before is not NOTHING and now is not NOTHING and not same(before, now):
                    one, later = apart(before, now)
                    self.report(
                        (method, "later"),
                        f"{call_of(method, arguments)} must not depend on earlier calls; got {one} "
                        f"at first and {later} later. Keep everything that changes in the state, "
                        "not in the environment.",
                    )

    # ---- single results -----------------------------------------------------------------

    def actions(self, state: Any) -> tuple[Any, ...]:
        offered = self.ask("actions", state)
        if offered is NOTHING:
            return ()
        good = tuple(
            each for each in offered if self.hashable("actions offers", each, "actions", (state,))
        )
        known: dict[Any, None] = {}
        for each in good:
            if each in known:
                self.report(
                    ("actions", "twice"),
                    f"{call_of('actions', (state,))} must list every action once; got "
                    f"{shorten(each)} more than once.",
                )
                return tuple(dict.fromkeys(good))
            known[each] = None
        return good

    def is_state(self, state: Any, action: Any, after: Any) -> bool:
        if after is None:
            self.report(
                ("step", "nothing"),
                f"{call_of('step', (state, action))} must return the next state; got None. If the "
                "action is impossible, leave it out of actions.",
            )
            return False
        return self.hashable("step returned", after, "step", (state, action))

    def is_final(self, state: Any) -> bool:
        return hasattr(self.environment, "is_terminal") and self.says("is_terminal", state)

    def look_at_options(self, state: Any) -> None:
        """Check the results of the optional methods for a state."""
        self.look_at_json("state", state)
        kinds: dict[str, tuple[type[Any] | tuple[type[Any], ...], str]] = {
            "is_terminal": ((bool, np.bool_), "True or False"),
            "is_goal": ((bool, np.bool_), "True or False"),
            "is_dead_end": ((bool, np.bool_), "True or False"),
            "describe": (str, "a line of text"),
        }
        for method, (kind, wanted) in kinds.items():
            if hasattr(self.environment, method):
                answer = self.ask(method, state)
                if answer is not NOTHING and not isinstance(answer, kind):
                    self.report(
                        (method, "type"),
                        f"{call_of(method, (state,))} must return {wanted}; got {shorten(answer)}.",
                    )
        if hasattr(self.environment, "extra_length"):
            answer = self.ask("extra_length", state)
            whole = isinstance(answer, (int, np.integer)) and not isinstance(answer, bool)
            if answer is not NOTHING and not (whole and 0 <= answer <= EXTRA_LENGTH.most):
                self.report(
                    ("extra_length", "type"),
                    f"{call_of('extra_length', (state,))} must return a whole number between 0 and "
                    f"{EXTRA_LENGTH.most:,}; got {shorten(answer)}. {EXTRA_LENGTH.advice}",
                )
        if callable(getattr(self.environment, "things", None)):
            self.look_at_things(state)
        if hasattr(self.environment, "outcome"):
            answer = self.ask("outcome", state)
            if answer is not NOTHING:
                self.hashable("outcome returned", answer, "outcome", (state,))

    def look_at_things(self, state: Any) -> None:
        """Check that `things` returns labels for each thing of a state."""
        things = self.ask("things", state)
        call = call_of("things", (state,))
        if things is NOTHING:
            return
        if not isinstance(things, Mapping):
            self.report(
                ("things", "type"),
                f"{call} must return a mapping from things to labels; got {shorten(things)}.",
            )
            return
        for thing, labels in things.items():
            try:
                labels_of(labels, f"the thing {shorten(thing)}")
            except GraphError as error:
                self.report(("things", "labels"), f"{call}: {error}")

    def look_at_json(self, kind: str, value: Any) -> None:
        """Check that a state or an action survives a round trip through custom JSON."""
        to, back = f"{kind}_to_json", f"{kind}_from_json"
        if not hasattr(self.environment, to) or (written := self.ask(to, value)) is NOTHING:
            return
        try:
            read = json.loads(json.dumps(written, allow_nan=False))
        except (TypeError, ValueError) as error:
            sentence = (
                f"{call_of(to, (value,))} must return JSON data; got {shorten(written)} ({error})."
            )
            self.report((to, "json"), sentence)
            return
        again = self.ask(back, read)
        if again is not NOTHING and not same(again, value):
            self.report(
                (back, "differs"),
                f"{call_of(back, (read,))} must return the {kind} {shorten(value)} that was passed "
                f"to {to}; got {shorten(again)}.",
            )

    def look_at_graph(self, graph: Any, state: Any, action: Any) -> None:
        if not isinstance(graph, GroundingGraph):
            where = f"ground({shorten(state)}, {shorten(action)}, …)"
            self.report(
                ("ground", "type"),
                f"{where} must return a GroundingGraph; got {shorten(graph)}.",
            )
            return
        if graph in self.graphs:
            return
        self.graphs.add(graph)
        where = f"ground({shorten(state)}, {shorten(action)}, …)"
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
                        f"The label {label.name!r} must be of one kind; got {known} {there} and "
                        f"{kind} {here}. Use two different names.",
                    )

    def look_at_dead_ends(self) -> None:
        """Check that no goal can be reached from a dead end."""
        if not all(hasattr(self.environment, name) for name in ("is_goal", "is_dead_end")):
            return
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
                    ("is_dead_end", "wrong"),
                    f"is_dead_end({shorten(state)}) must be False, because {how}. Return True only "
                    "for states from which no goal can be reached.",
                )

    # ---- whole plans --------------------------------------------------------------------

    def look_at_plans(self) -> None:
        plans = [(states, actions) for states, actions in self.seen.values() if actions]
        if hasattr(self.environment, "label_plan"):
            for states, actions in plans[:50]:
                labels = self.ask("label_plan", self.start, actions, states)
                if labels is NOTHING:
                    continue
                try:
                    labels_of(labels, "the plan")
                except GroundlingError as error:
                    call = call_of("label_plan", (self.start, actions, states))
                    self.report(("label_plan", "labels"), f"{call}: {error}")
        if hasattr(self.environment, "canonical_plan"):
            for states, actions in plans[:50]:
                self.look_at_canonical(states[-1], actions)
        if hasattr(self.environment, "mirror") and plans:
            self.look_at_mirror(plans[-1][1])
        if (
            hasattr(self.environment, "is_goal")
            and self.complete
            and not self.problems
            and not any(self.says("is_goal", state) for state in self.seen)
        ):
            self.report(
                ("is_goal", "never"),
                f"is_goal must be True for some state that can be reached; it is False for all "
                f"{len(self.seen)}, so no plan can be found. Choose another start state, or remove "
                "is_goal.",
            )

    def look_at_canonical(self, end: Any, actions: tuple[Any, ...]) -> None:
        """Check that the canonical form of a plan is possible and has the same outcome."""
        plan = self.ask("canonical_plan", self.start, actions)
        if plan is NOTHING:
            return
        call = call_of("canonical_plan", (self.start, actions))
        world = CachedEnvironment(self.environment)
        try:
            reached = world.carry_out(self.start, plan, f"{call} returned {shorten(plan)}")[-1]
            alike = same(world.outcome(reached), world.outcome(end))
        except (GroundlingError, TypeError) as error:
            self.report(("canonical_plan", "impossible"), str(error))
            return
        if not alike:
            self.report(
                ("canonical_plan", "differs"),
                f"{call} must return a plan with the same outcome; got {shorten(plan)}, which ends "
                f"in {shorten(reached)}, not in {shorten(end)}.",
            )

    def look_at_mirror(self, actions: tuple[Any, ...]) -> None:
        shown = Demonstration("go on", self.environment, self.start, actions)
        try:
            images = tuple(self.environment.mirror(shown))
        except Exception as error:
            self.report(("mirror", "raises"), raised("mirror", (shown,), error))
            return
        for image in images:
            if not isinstance(image, Demonstration):
                self.report(
                    ("mirror", "type"),
                    f"mirror must return a list of Demonstrations; got {shorten(image)} in it.",
                )
                continue
            try:
                CachedEnvironment(image.environment).trace(
                    image.start, image.actions, "The mirror image"
                )
            except GroundlingError as error:
                self.report(("mirror", "impossible"), f"mirror of {shorten(actions)}: {error}")


def call_of(method: str, arguments: Iterable[Any]) -> str:
    """Format a call for messages.

    >>> call_of("step", (0, "right"))
    "step(0, 'right')"
    """
    return f"{method}({', '.join(shorten(each) for each in arguments)})"


def raised(method: str, arguments: tuple[Any, ...], error: Exception) -> str:
    """Return the message for a call that raised."""
    return f"{call_of(method, arguments)} raised {said(error)}."


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
        # A value that differs from its own copy cannot be checked for changes.
        return copied if bool(copied == value) else None
    except Exception:  # not every value can be copied or compared
        return None
