"""The plan: what the agent would do, how sure it is, and what it considered instead."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from groundling.world.environment import Action, State

if TYPE_CHECKING:
    from groundling.explain.explanation import Explanation, Source

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """A sequence of actions with its probability.

    Parameters
    ----------
    actions, states
        What to do, and the states from the start to the end.
    log_probability
        The log probability of exactly this plan among those considered.
    confidence
        The calibrated probability of the decoded answer (the plan, or its outcome).
    understood
        Whether the confidence reaches the follower's threshold; if not, the plan is the
        best guess and should not be carried out unasked.
    alternatives
        Other plans that were considered, most probable first.

    Examples
    --------
    >>> plan = Plan(("go",), ("a", "b"), log_probability=-0.1, confidence=0.9)
    >>> plan.end, len(plan), list(plan)
    ('b', 1, ['go'])
    >>> print(plan)
    go (confidence 0.90)
    """

    actions: tuple[Action, ...]
    states: tuple[State, ...]
    log_probability: float
    confidence: float
    understood: bool = True
    alternatives: tuple[Plan, ...] = ()
    _source: Source | None = field(default=None, repr=False, compare=False)

    @property
    def start(self) -> State:
        """The state in which the plan begins."""
        return self.states[0]

    @property
    def end(self) -> State:
        """The state in which the plan ends."""
        return self.states[-1]

    @property
    def probability(self) -> float:
        """The probability of exactly this plan among those considered."""
        return math.exp(self.log_probability)

    def explain(self) -> Explanation:
        """Say which words caused which action, and which weights decided."""
        from groundling.errors import GroundlingError

        if self._source is None:
            raise GroundlingError(
                "This plan cannot be explained: it was not made by a follower, or is an "
                "alternative. Explain the plan that Follower.follow returned."
            )
        return self._source.explain(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready data; values that JSON does not know as text.

        >>> Plan((("go", 2),), ("a", "b"), -0.1, 0.9).to_dict()["actions"]
        [['go', 2]]
        """
        return {
            "actions": [_plain(action) for action in self.actions],
            "states": [_plain(state) for state in self.states],
            "probability": self.probability,
            "log_probability": self.log_probability,
            "confidence": self.confidence,
            "understood": self.understood,
            "alternatives": [
                {
                    "actions": [_plain(action) for action in each.actions],
                    "probability": each.probability,
                }
                for each in self.alternatives
            ],
        }

    def _repr_html_(self) -> str:
        """Show the plan and what was considered instead as a table, in a notebook."""
        rows = "".join(
            f"<tr><td>{escape(', '.join(map(str, each.actions)))}</td>"
            f"<td>{each.probability:.2f}</td></tr>"
            for each in (self, *self.alternatives[:5])
        )
        head = "<tr><th>plan</th><th>probability</th></tr>"
        return f"<div><p>{escape(str(self))}</p><table>{head}{rows}</table></div>"

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __str__(self) -> str:
        if not self.understood:
            return f"I do not understand (confidence {self.confidence:.2f})"
        steps = ", ".join(str(action) for action in self.actions)
        return f"{steps} (confidence {self.confidence:.2f})"


def _plain(value: object) -> Any:
    """Return a value as JSON knows it: tuples as lists, what it does not know as text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if type(value) in (tuple, list):
        return [_plain(each) for each in value]  # type: ignore[attr-defined]
    return str(value)
