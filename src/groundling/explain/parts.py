"""What an explanation is made of: contributions of features, causes, steps, rivals, deletions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from groundling.features.space import FeatureSpace
from groundling.overlay.batch import Reals
from groundling.ties import rank
from groundling.world.graph import GroundingGraph

__all__ = [
    "Cause",
    "Contribution",
    "Contributions",
    "Deletion",
    "Link",
    "Rival",
    "Step",
    "Unit",
]


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to a score: its weight times its expected count.

    >>> print(Contribution("word=top ∧ side=North", weight=2.0, count=0.5))
    +1.00  word=top ∧ side=North
    """

    feature: str
    weight: float
    count: float

    @property
    def amount(self) -> float:
        """Weight × expected count."""
        return self.weight * self.count

    def __str__(self) -> str:
        return f"{self.amount:+.2f}  {self.feature}"

    def to_dict(self) -> dict[str, Any]:
        """Return the contribution as JSON-ready data."""
        return {
            "feature": self.feature,
            "weight": self.weight,
            "count": self.count,
            "amount": self.amount,
        }


@dataclass(frozen=True)
class Contributions:
    """All features that add to a score, strongest first.

    >>> both = Contributions((Contribution("move", 2.0, 1.0), Contribution("turn", -1.0, 0.5)))
    >>> both.total, [each.feature for each in both.against()]
    (1.5, ['turn'])
    """

    features: tuple[Contribution, ...]

    @classmethod
    def of(cls, space: FeatureSpace, theta: Reals, counts: Reals) -> Contributions:
        """Return the contributions of features with expected counts, dense like θ."""
        places = np.flatnonzero(theta * counts)
        order = places[rank(np.abs((theta * counts)[places]))]
        return cls(
            tuple(
                Contribution(space.name(int(space.keys[i])), float(theta[i]), float(counts[i]))
                for i in order
            )
        )

    @classmethod
    def together(cls, parts: Iterable[Contributions]) -> Contributions:
        """Return what several models add; a feature that they share is named once.

        Its weight is then the mean of theirs, each counted as often as it fired.

        >>> one, two = Contribution("move", 2.0, 0.5), Contribution("move", 4.0, 0.5)
        >>> Contributions.together([Contributions((one,)), Contributions((two,))]).features
        (Contribution(feature='move', weight=3.0, count=1.0),)
        """
        found: dict[tuple[str, bool], Contribution] = {}
        for each in (feature for part in parts for feature in part.features):
            key = (each.feature, each.count > 0)
            known = found.get(key)
            if known is not None:
                count = known.count + each.count
                weight = (known.amount + each.amount) / count
                each = Contribution(each.feature, weight, count)
            found[key] = each
        listed = list(found.values())
        order = rank(np.array([abs(each.amount) for each in listed]))
        return cls(tuple(listed[place] for place in order))

    @property
    def total(self) -> float:
        """The sum of all amounts."""
        return math.fsum(each.amount for each in self.features)

    def favouring(self, most: int = 3) -> tuple[Contribution, ...]:
        """Return the strongest features that speak for it."""
        return tuple(each for each in self.features if each.amount > 0)[:most]

    def against(self, most: int = 3) -> tuple[Contribution, ...]:
        """Return the strongest features that speak against it."""
        return tuple(each for each in self.features if each.amount < 0)[:most]

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the strongest features and the sum of all others as JSON-ready data."""
        shown = self.features[:most]
        return {
            "total": self.total,
            "features": [each.to_dict() for each in shown],
            "others": math.fsum(each.amount for each in self.features[most:]),
        }


@dataclass(frozen=True)
class Unit:
    """A stretch of text that aligns as one: which sentence, which words, how it reads."""

    sentence: int
    words: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Cause:
    """A unit of text and the probability that it names the action."""

    unit: Unit
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """Return the cause as JSON-ready data."""
        return {
            "text": self.unit.text,
            "sentence": self.unit.sentence,
            "words": list(self.unit.words),
            "probability": self.probability,
        }


@dataclass(frozen=True)
class Link:
    """The probability that a word lies on a node of an action's grounding graph."""

    sentence: int
    position: int
    word: str
    node: str
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """Return the link as JSON-ready data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Rival:
    """A plan that was considered instead: by how much it lost, and through what.

    `features` are those of the chosen plan less those of the rival; with what the number of
    readings adds (`ambiguity`) they make up the margin exactly.
    """

    actions: tuple[str, ...]
    probability: float
    margin: float
    differs: str
    features: Contributions
    ambiguity: float

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the rival as JSON-ready data."""
        return {
            "actions": list(self.actions),
            "probability": self.probability,
            "margin": self.margin,
            "differs": self.differs,
            "features": self.features.to_dict(most),
            "ambiguity": self.ambiguity,
        }


@dataclass(frozen=True)
class Step:
    """Why one action: the text that caused it, the nodes its words lie on, the features.

    `support` is the probability of the unit that most probably names the action (where words
    are units: the expected number of words on it, at most 1); below one half, nobody asked
    for it. `text` are the features of words on the action, `own` those
    that the action has whatever is said (ψ(y)). `without` is the best
    plan considered that does without the action: its runner-up, with the margin.
    """

    action: str
    asked: bool
    support: float
    causes: tuple[Cause, ...]
    links: tuple[Link, ...]
    text: Contributions
    own: Contributions
    nodes: tuple[str, ...]
    graph: GroundingGraph
    without: Rival | None = None

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the step as JSON-ready data."""
        return {
            "action": self.action,
            "asked": self.asked,
            "support": self.support,
            "causes": [each.to_dict() for each in self.causes],
            "links": [each.to_dict() for each in self.links],
            "text": self.text.to_dict(most),
            "own": self.own.to_dict(most),
            "without": self.without.to_dict(most) if self.without else None,
        }


@dataclass(frozen=True)
class Deletion:
    """What leaving a word out does: to the plan's score, and to its lead over the runner-up."""

    word: str
    sentence: int
    position: int
    score: float
    margin: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the deletion as JSON-ready data."""
        return dict(vars(self))


def difference(chosen: Iterable[str], other: Iterable[str]) -> str:
    """Say in what two plans differ.

    >>> difference(["turn", "move"], ["turn", "move"])
    'the same actions'
    >>> difference(["turn", "go"], ["turn", "stay", "go"])
    'stay instead of go as action 2, go as action 3'
    """
    ours, theirs = list(chosen), list(other)
    said = []
    for place in range(max(len(ours), len(theirs))):
        one = ours[place] if place < len(ours) else None
        two = theirs[place] if place < len(theirs) else None
        if one == two:
            continue
        if one is None:
            said.append(f"{two} as action {place + 1}")
        elif two is None:
            said.append(f"no {one} as action {place + 1}")
        else:
            said.append(f"{two} instead of {one} as action {place + 1}")
    return ", ".join(said) or "the same actions"
