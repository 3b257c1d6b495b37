"""Plans: sequences of actions with their probability and confidence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from groundling.errors import GroundlingError
from groundling.explain.explanation import Explanation, Source
from groundling.models.memory import Recollection
from groundling.world.environment import Action, State


@dataclass(frozen=True)
class Plan:
    """A sequence of actions with its probability.

    Parameters
    ----------
    actions, states
        The actions, and all states from start to end.
    log_probability
        The log probability of exactly this plan among those considered.
    confidence
        The calibrated probability of the decoded answer (the plan, or its outcome).
    understood
        Whether the confidence reaches the follower's threshold; if not, the plan is the
        best guess and should not be carried out without confirmation.
    alternatives
        Other plans that were considered, in order of probability.
    unexplained
        Words that occur in no demonstration and name nothing in the plan; they lower the
        confidence.
    remembered
        The demonstration of a similar text that favours the plan most, and how much it adds to
        the log probability; None if there is none.
    parts
        The plans of the individual commands if the text was split into several; otherwise empty.
    candidates
        Other plans that fit an ambiguous description as well (*the lamp*, if there are several),
        most probable first.
    asked
        Number of commands in the text if `Search.max_length` is too small for all of them;
        otherwise 0.

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
    unexplained: tuple[str, ...] = ()
    remembered: Recollection | None = None
    parts: tuple[Plan, ...] = ()
    asked: int = 0
    candidates: tuple[Plan, ...] = ()

    @property
    def start(self) -> State:
        """The state in which the plan starts."""
        return self.states[0]

    @property
    def end(self) -> State:
        """The state in which the plan ends."""
        return self.states[-1]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text, without punctuation.

        The tuple is empty if the plan was not returned by `follow`.
        """
        text = () if self._source is None else self._source.text
        return tuple(w for each in text for w in each.tokens if any(map(str.isalnum, w)))

    @property
    def probability(self) -> float:
        """The probability of exactly this plan among those considered."""
        return math.exp(self.log_probability)

    def explain(self) -> Explanation:
        """Explain which words caused which action, and through which weights."""
        if self.parts:
            return Explanation.joined(self, [part.explain() for part in self.parts])
        if not self.actions:
            raise GroundlingError(
                "A plan to explain must have at least one action; got an empty plan. Explain "
                "another plan."
            )
        if self._source is None:
            raise GroundlingError(
                "A plan to explain must be one that Follower.follow returned; got an alternative, "
                "or a plan created in code. Explain the plan that `follow` returned."
            )
        return self._source.explain(self)

    def word_places(self) -> tuple[dict[str, int], ...]:
        """Return, for each action, the most probable word of each node of its graph.

        Words are numbered across the whole text, from 0. The result is empty if the plan was not
        returned by `follow`.

        >>> from groundling import Follower
        >>> from groundling.examples import lamp_demonstrations, Lamp
        >>> follower = Follower(parser="chain").fit(lamp_demonstrations())
        >>> follower.follow("light the lamp", Lamp(), "off").word_places()
        ({'lamp': 0},)
        """
        return () if self._source is None else self._source.word_places(self)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data; values of other types become strings.

        >>> plan = Plan((("go", 2),), ("a", "b"), log_probability=-0.1, confidence=0.9)
        >>> plan.to_dict()["actions"]
        [['go', 2]]
        """
        return {
            "actions": [_plain(action) for action in self.actions],
            "states": [_plain(state) for state in self.states],
            "probability": self.probability,
            "log_probability": self.log_probability,
            "confidence": self.confidence,
            "understood": self.understood,
            "unexplained": list(self.unexplained),
            "remembered": None if self.remembered is None else self.remembered.to_dict(),
            "asked": self.asked,
            "alternatives": [
                {
                    "actions": [_plain(action) for action in each.actions],
                    "probability": each.probability,
                }
                for each in self.alternatives
            ],
        }

    def _repr_html_(self) -> str:
        """Show the plan and its alternatives as a table, in a notebook."""
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
        steps = ", ".join(str(action) for action in self.actions) or "nothing to do"
        actions = f"{self.asked} action{'s' * (self.asked != 1)}"
        more = f"; the text asks for {actions}" * bool(self.asked)
        return f"{steps} (confidence {self.confidence:.2f}{more})"


def _plain(value: object) -> Any:
    """Convert a value to JSON: tuples to lists, unknown types to strings."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if type(value) in (tuple, list):
        return [_plain(each) for each in value]  # type: ignore[attr-defined]
    return str(value)
