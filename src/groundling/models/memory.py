"""A memory of demonstrations: a term of its own beside the weights.

A text that is said again, or nearly so, should mean what was shown for it. Weights generalise;
they do not recall. The memory adds to the log probability of a plan

    strength · (likeness of the nearest text) · (mean likeness of the plan's graphs to those of
    demonstrations, weighted by the likeness of their texts),

where graphs are alike if their roots (what is done) are, and more so if all their nodes are.
Demonstrations of one text that contradict each other thereby cancel out. One demonstration suffices
for the sentence itself; sentences unlike any that was shown are followed by the weights alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from groundling.language.instruction import Instruction
from groundling.models.example import Example
from groundling.overlay.batch import Reals
from groundling.ties import rank
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.trajectory import Trajectory

TEXT_POWER = 4  # one word of six that differs leaves a seventh
LEAST = 0.05  # likeness of texts below which nothing comes to mind
BEST = 100  # plans that are compared with what is remembered
MOST = 2_000  # demonstrations that are kept, the latest
_EDGE = ""  # before the first word and after the last


@dataclass(frozen=True)
class RememberedText:
    """A demonstration as it is remembered: its words, and the labels of what was done."""

    words: tuple[str, ...]
    roots: Mapping[str, int]
    labels: Mapping[str, int]
    name: str = ""
    group: str = field(default="", compare=False)

    @cached_property
    def grams(self) -> frozenset[tuple[str, ...]]:
        """Its words, and pairs of words that follow each other."""
        return frozenset((word,) for word in self.words) | frozenset(
            pairwise((_EDGE, *self.words, _EDGE))
        )

    @property
    def text(self) -> str:
        """What was said."""
        return " ".join(self.words)


@dataclass(frozen=True)
class Recollection:
    """What came to mind for a plan: a demonstration, and how much the memory adds to its score.

    >>> print(Recollection(RememberedText(("to", "the", "sofa"), {}, {}), 4.0))
    “to the sofa” +4.00
    """

    shown: RememberedText
    amount: float

    def __str__(self) -> str:
        return f"“{self.shown.text}” {self.amount:+.2f}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"text": self.shown.text, "name": self.shown.name, "amount": self.amount}


@dataclass(frozen=True)
class DemonstrationMemory:
    """Demonstrations that are remembered, and how strongly.

    Examples
    --------
    >>> shown = RememberedText(("to", "the", "sofa"), {"go": 1}, {"go": 1, "sofa": 1})
    >>> memory = DemonstrationMemory((shown,), strength=4.0)
    >>> [round(found, 2) for _, found in memory.like(("to", "the", "sofa"))]
    [1.0]
    >>> memory.like(("bring", "tea"))
    []
    """

    shown: tuple[RememberedText, ...] = ()
    strength: float = 0.0

    @classmethod
    def of(cls, examples: Iterable[Example], strength: float = 0.0) -> DemonstrationMemory:
        """Return the memory of examples as they were shown; images and compositions are not."""
        return cls(tuple(map(_remembered, latest(examples)[-MOST:])), strength)

    def with_strength(self, strength: float) -> DemonstrationMemory:
        """Return the same memory, stronger or weaker."""
        return replace(self, strength=strength)

    @cached_property
    def _index(self) -> dict[tuple[str, ...], list[int]]:
        found: dict[tuple[str, ...], list[int]] = {}
        for place, each in enumerate(self.shown):
            for gram in each.grams:
                found.setdefault(gram, []).append(place)
        return found

    def like(
        self, words: Sequence[str], without: str | None = None
    ) -> list[tuple[RememberedText, float]]:
        """Return the demonstrations whose text is like these words, and how much.

        Those of the group `without` do not count.
        """
        said = RememberedText(tuple(words), {}, {})
        shared = Counter(place for gram in said.grams for place in self._index.get(gram, ()))
        found = []
        for place, both in shared.items():
            each = self.shown[place]
            alike = (both / (len(said.grams) + len(each.grams) - both)) ** TEXT_POWER
            if alike >= LEAST and each.group != without:
                found.append((each, alike))
        return found

    def recall(
        self,
        text: Sequence[Instruction],
        world: CachedEnvironment,
        plans: Sequence[Trajectory],
        scores: Reals,
        without: str | None = None,
    ) -> dict[int, Recollection]:
        """Return what comes to mind for the best of several plans, by place.

        Demonstrations of the group `without` do not count.
        """
        like = self.like(words_of(text), without) if self.strength else []
        best = rank(scores, most=BEST)[:BEST] if like else []
        return {
            place: _mean(like, *labels_of(world, plans[place]), self.strength) for place in best
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, each label written once."""
        names: dict[str, int] = {}

        def numbered(labels: Mapping[str, int]) -> list[list[int]]:
            return [[names.setdefault(name, len(names)), count] for name, count in labels.items()]

        shown = [
            [list(each.words), numbered(each.roots), numbered(each.labels), each.name]
            for each in self.shown
        ]
        return {"strength": self.strength, "labels": list(names), "shown": shown}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DemonstrationMemory:
        """Return the memory that `to_dict` wrote; an error of Python's own if it is none.

        >>> shown = RememberedText(("go",), {"move": 1}, {"move": 1}, "first")
        >>> memory = DemonstrationMemory((shown,), 2.0)
        >>> DemonstrationMemory.from_dict(memory.to_dict()) == memory
        True
        """
        names, strength = [_text(each) for each in data["labels"]], float(data["strength"])
        if not 0 <= strength <= 100:
            raise ValueError(f"the strength of the memory must be from 0 to 100; got {strength}")

        def named(pairs: Iterable[Sequence[Any]]) -> dict[str, int]:
            return {names[int(place)]: int(count) for place, count in pairs}

        return cls(
            tuple(
                RememberedText(tuple(map(_text, words)), named(roots), named(labels), _text(name))
                for words, roots, labels, name in data["shown"]
            ),
            strength,
        )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:60]!r} stands where a text should")
    return value


def latest(examples: Iterable[Example]) -> list[Example]:
    """Return the examples that were shown and are not corrected by a later one.

    Whoever shows the same text from the same start again corrects what was shown before.
    """
    found = {
        (words_of(each.instructions), each.trajectory.start): each
        for each in examples
        if each.shown is not None and each.weight > 0
    }
    return list(found.values())


def _mean(
    like: Sequence[tuple[RememberedText, float]],
    roots: Mapping[str, int],
    labels: Mapping[str, int],
    strength: float,
) -> Recollection:
    weights = np.array([alike for _, alike in like])
    graphs = np.array(
        [
            likeness(each.roots, roots) ** 2 * (1 + likeness(each.labels, labels) ** 2) / 2
            for each, _ in like
        ]
    )
    amount = strength * weights.max() * (weights @ graphs) / weights.sum()
    return Recollection(like[int(np.argmax(weights * graphs))][0], float(amount))


def words_of(text: Sequence[Instruction]) -> tuple[str, ...]:
    """Return the words of a text in small letters, without punctuation."""
    words = (word.casefold() for each in text for word in each.tokens)
    return tuple(word for word in words if any(map(str.isalnum, word)))


def labels_of(world: CachedEnvironment, plan: Trajectory) -> tuple[Counter[str], Counter[str]]:
    """Return how often each label occurs in the roots, and in all nodes, of a plan's graphs."""
    roots: Counter[str] = Counter()
    everything: Counter[str] = Counter()
    for state, action in zip(plan.states, plan.actions, strict=False):
        graph = world.ground(state, action)
        roots.update(map(str, graph.labels(graph.root)))
        everything.update(str(label) for labels in graph.node_labels for label in labels)
    return roots, everything


def likeness(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Return the share of labels that two plans have in common (Jaccard of multisets).

    >>> likeness({"go": 2, "sofa": 1}, {"go": 2, "lamp": 1})
    0.5
    """
    shared = sum(min(count, other[name]) for name, count in one.items() if name in other)
    total = sum(one.values()) + sum(other.values()) - shared
    return shared / total if total else 0.0


def _remembered(example: Example) -> RememberedText:
    name = example.shown.name if example.shown is not None else ""
    roots, labels = labels_of(example.world, example.trajectory)
    return RememberedText(words_of(example.instructions), roots, labels, name, example.group)
