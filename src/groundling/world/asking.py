"""Asking an environment in earnest: twice, watching what it is given, noting what is wrong."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from groundling.memory import size_of
from groundling.world.graph import GroundingGraph
from groundling.world.reprs import said, shorten

__all__ = ["NOTHING", "Questions", "apart", "call_of", "raised", "same"]

NOTHING = object()
"""What a method that raised has answered."""

_COPIED = 30_000_000  # bytes of states and actions that are copied, to see whether they change
_SHOWN = 200  # letters of what two graphs have not in common


class Questions:
    """Questions to an environment, and the problems that were found with its answers."""

    def __init__(self, environment: Any, most_actions: int) -> None:
        self.environment = environment
        self.most_actions = most_actions
        self.complete = True
        # Of each kind of problem the first that was found, and how many there were.
        self.problems: dict[tuple[str, ...], tuple[str, int]] = {}
        self.left_to_copy = _COPIED

    def report(self, key: tuple[str, ...], sentence: str) -> None:
        """Note a problem of a kind."""
        first, count = self.problems.get(key, (sentence, 0))
        self.problems[key] = (first, count + 1)

    def sentences(self) -> list[str]:
        """Return all problems, each kind once."""
        lines = []
        for first, count in self.problems.values():
            more = count - 1
            places = f"{more} more place{'s' if more > 1 else ''}"
            lines.append(first + (f" (The same is wrong in {places}.)" if more else ""))
        return lines

    def ask(self, method: str, *arguments: Any) -> Any:
        """Ask twice; report what raises, differs or changes its arguments."""
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
            if first:  # what is toggled is as it was after the second time
                now = self.snapshots(arguments) if before else []
        for argument, was, after in zip(arguments, before, now, strict=False):
            if not same(was, after):
                self.report(
                    (method, "changes"),
                    f"{call_of(method, arguments)} changed {shorten(argument)}, which it was "
                    "given. Make a new value instead.",
                )
                return NOTHING
        if not same(*answers):
            hint = ""
            if getattr(type(answers[0]), "__eq__", None) is object.__eq__:
                hint = (
                    f" Instances of {type(answers[0]).__name__} are equal only to themselves: "
                    "make it a frozen dataclass or a named tuple."
                )
            one, again = apart(*answers)
            self.report(
                (method, "differs"),
                f"{call_of(method, arguments)} returned {one} and, asked again, {again}. The same "
                f"question must have the same answer.{hint}",
            )
        return answers[0]

    def hashable(
        self, what: str, value: Any, method: str, arguments: tuple[Any, ...] | None = None
    ) -> bool:
        """Tell whether a value can be remembered; report it if not."""
        try:
            hash(value)
        except Exception:
            if arguments is not None:
                what = what.replace(method, call_of(method, arguments), 1)
            self.report(
                (method, "unhashable"),
                f"{what} {shorten(value)}, a {type(value).__name__}, which is not hashable. "
                "Use a value such as a tuple or a frozen dataclass.",
            )
            return False
        return True

    def says(self, method: str, state: Any) -> bool:
        """Tell whether a method says True of a state."""
        answer = self.ask(method, state)
        return isinstance(answer, (bool, np.bool_)) and bool(answer)

    def listed(self, answer: Any, state: Any) -> tuple[Any, ...]:
        """Return the actions that were offered, reporting collections that will not do."""
        call = call_of("actions", (state,))
        if isinstance(answer, str):
            self.report(
                ("actions", "string"),
                f"{call} returned the string {shorten(answer)}. Return a tuple of actions.",
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

    def snapshots(self, values: tuple[Any, ...]) -> list[tuple[str, Any, Any]]:
        """Return for each value its look and copies of it and its attributes, while that is cheap.

        Large states are copied a few times only; where nothing was copied, nothing is found.
        """
        self.left_to_copy -= sum(map(size_of, values))
        if self.left_to_copy < 0:
            return []
        return [
            (shorten(value, 1000), _copied(value), _copied(getattr(value, "__dict__", None)))
            for value in values
        ]


def call_of(method: str, arguments: Iterable[Any]) -> str:
    """Return a call as it is written.

    >>> call_of("step", (0, "right"))
    "step(0, 'right')"
    """
    return f"{method}({', '.join(shorten(each) for each in arguments)})"


def raised(method: str, arguments: tuple[Any, ...], error: Exception) -> str:
    """Return the sentence about a call that raised."""
    return f"{call_of(method, arguments)} raised {said(error)}."


def apart(one: Any, other: Any) -> tuple[str, str]:
    """Return how two values look; of graphs, the lines in which they differ.

    >>> red, blue = (GroundingGraph({"event": {"take": True}, "cup": {"colour": colour}},
    ...                             [("event", "cup", "of")]) for colour in ("red", "blue"))
    >>> apart(red, blue)
    ('a graph with cup: colour=red', 'a graph with cup: colour=blue')
    """
    if not (isinstance(one, GroundingGraph) and isinstance(other, GroundingGraph)):
        return shorten(one), shorten(other)
    lines = [str(graph).splitlines() for graph in (one, other)]
    only = [[line for line in lines[n] if line not in lines[1 - n]] for n in (0, 1)]
    if not any(only):  # the same in another order, say
        return shorten(one), shorten(other)
    shown = ["; ".join(each)[:_SHOWN] for each in only]
    with_these, others = (f"a graph with {each}" if each else "one without" for each in shown)
    return with_these, others


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal; what cannot be compared passes."""
    try:
        return one is other or bool(one == other)
    except Exception:  # arrays, say: they are reported as not hashable
        return True


def _copied(value: Any) -> Any:
    try:
        copied = copy.deepcopy(value)
        # What does not equal its copy cannot be compared with it later.
        return copied if bool(copied == value) else None
    except Exception:  # not every value can be copied or compared
        return None
