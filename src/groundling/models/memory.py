"""Nearest-neighbour memory of demonstrations, as an additional term of the score.

A text that is equal or similar to a demonstrated one should have the same meaning, but weights
generalise instead of memorising. The memory therefore adds a term to the log probability of a plan:

    strength · (similarity of the nearest text) · (mean similarity of the plan's graphs to those
    of demonstrations, weighted by the similarity of their texts)

The similarity of graphs depends on their roots (the kind of action) and, to a lesser degree, on all
their nodes. Contradictory demonstrations of a text cancel each other out. A single demonstration is
enough for its own sentence. Sentences unlike any demonstration are scored by the weights alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np

from groundling.language.instruction import Instruction
from groundling.models.example import Example
from groundling.overlay.batch import Reals
from groundling.ties import rank
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, State
from groundling.world.graph import Label

TEXT_POWER = 4  # if one word of six differs, the similarity is about 1/7
LEAST = 0.05  # minimum similarity of texts
BEST = 100  # number of plans compared with the memory
MOST = 2_000  # maximum number of demonstrations; the latest are kept
_EDGE = ""  # padding before the first word and after the last


@dataclass(frozen=True)
class RememberedText:
    """A stored demonstration: its words and the labels of its actions.

    `roots` counts the labels of the root nodes of the actions' graphs, and `labels` those of all
    nodes.
    """

    words: tuple[str, ...]
    roots: Mapping[str, int]
    labels: Mapping[str, int]
    name: str = ""
    group: str = field(default="", compare=False)

    @cached_property
    def grams(self) -> frozenset[tuple[str, ...]]:
        """The unigrams and bigrams of the text."""
        return frozenset((word,) for word in self.words) | frozenset(
            pairwise((_EDGE, *self.words, _EDGE))
        )

    @property
    def text(self) -> str:
        """The words of the text, joined by spaces."""
        return " ".join(self.words)


@dataclass(frozen=True)
class Recollection:
    """The memory's contribution to a plan's score, and its main source.

    >>> shown = RememberedText(("to", "the", "sofa"), roots={"go": 1}, labels={"go": 1, "sofa": 1})
    >>> print(Recollection(shown, amount=4.0))
    “to the sofa” +4.00
    """

    shown: RememberedText
    amount: float

    def __str__(self) -> str:
        return f"“{self.shown.text}” {self.amount:+.2f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the contribution as JSON-ready data."""
        return {"text": self.shown.text, "name": self.shown.name, "amount": self.amount}


@dataclass(frozen=True)
class DemonstrationMemory:
    """Stored demonstrations, and the strength of their influence.

    Examples
    --------
    >>> shown = RememberedText(("to", "the", "sofa"), roots={"go": 1}, labels={"go": 1, "sofa": 1})
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
        """Return a memory of examples, excluding mirror images and compositions."""
        return cls(tuple(map(_remembered, latest(examples)[-MOST:])), strength)

    def with_strength(self, strength: float) -> DemonstrationMemory:
        """Return a copy of the memory with another strength."""
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
        """Return the demonstrations with a similar text, and their similarities.

        Demonstrations of the group `without` are excluded.
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
        decisions: Callable[[int], _Decisions],
        scores: Reals,
        without: str | None = None,
    ) -> dict[int, Recollection]:
        """Return what the memory adds to the scores of the best plans, by plan index.

        `decisions` returns the states and actions of a plan. Demonstrations of the group `without`
        are excluded.
        """
        like = self.like(words_of(text), without) if self.strength else []
        best = rank(scores, most=BEST)[:BEST] if like else []
        graphs = compare_plans(like, world, map(decisions, best))
        weights = np.array([alike for _, alike in like])
        sources = (weights * graphs).argmax(axis=1).tolist() if len(best) else []
        amounts = added(like, graphs, self.strength).tolist()
        return {
            place: Recollection(like[source][0], amount)
            for place, source, amount in zip(best, sources, amounts, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON-ready data, with each label stored once."""
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
        """Restore the memory from the output of `to_dict`.

        >>> shown = RememberedText(("go",), roots={"move": 1}, labels={"move": 1}, name="first")
        >>> memory = DemonstrationMemory((shown,), strength=2.0)
        >>> DemonstrationMemory.from_dict(memory.to_dict()) == memory
        True
        """
        names, strength = [_text(each) for each in data["labels"]], float(data["strength"])
        if not 0 <= strength <= 100:
            raise ValueError(f"The strength of the memory must be from 0 to 100; got {strength}.")

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
        raise TypeError(f"A value must be a string; got {str(value)[:60]!r}.")
    return value


def latest(examples: Iterable[Example]) -> list[Example]:
    """Return the original examples, without those that a later one replaces.

    A later demonstration of the same text from the same start replaces an earlier one.
    """
    found = {
        (words_of(each.instructions), each.trajectory.start): each
        for each in examples
        if each.shown is not None and each.weight > 0
    }
    return list(found.values())


def compare_plans(
    like: Sequence[tuple[RememberedText, float]],
    world: CachedEnvironment,
    plans: Iterable[_Decisions],
) -> Reals:
    """Return an array [plan, demonstration] of the similarities of their graphs."""
    known: dict[Any, _Strings] = {}
    found = [labels_of(world, plan, known) for plan in plans]
    roots, labels = (
        likeness([getattr(each, name) for each, _ in like], [own[side] for own in found])
        for side, name in enumerate(("roots", "labels"))
    )
    return roots**2 * (1 + labels**2) / 2  # without similar roots, nothing else counts


def added(like: Sequence[tuple[RememberedText, float]], graphs: Reals, strength: float) -> Reals:
    """Return what similar texts add to the scores of plans, given the similarities of graphs."""
    weights = np.array([alike for _, alike in like])
    if not len(weights):
        return np.zeros(len(graphs))
    return np.asarray(strength * weights.max() * (graphs @ weights) / weights.sum())


def words_of(text: Sequence[Instruction]) -> tuple[str, ...]:
    """Return the words of a text in lower case, without punctuation."""
    words = (word.casefold() for each in text for word in each.tokens)
    return tuple(word for word in words if any(map(str.isalnum, word)))


_Strings = tuple[tuple[str, ...], tuple[str, ...]]
_Decisions = Iterable[tuple[State, Action]]


def labels_of(world: CachedEnvironment, plan: _Decisions, known: dict[Any, _Strings]) -> _Strings:
    """Return the labels in a plan's graphs: those of root nodes, and those of all nodes.

    `known` caches labels by state, compared by identity, and action; pass the same dictionary for
    several plans.
    """
    roots: tuple[str, ...] = ()
    everything: tuple[str, ...] = ()
    for state, action in plan:
        found = known.get((id(state), action))
        if found is None:
            graph = world.ground(state, action)
            every = tuple(chain.from_iterable(map(_strings, graph.node_labels)))
            found = known[id(state), action] = _strings(graph.labels(graph.root)), every
        roots, everything = roots + found[0], everything + found[1]
    return roots, everything


@lru_cache(maxsize=10_000)
def _strings(labels: tuple[Label, ...]) -> tuple[str, ...]:
    return tuple(map(str, labels))


def likeness(shown: Sequence[Mapping[str, int]], others: Sequence[Sequence[str]]) -> Reals:
    """Return the Jaccard similarity of each of the other multisets of labels to those shown.

    >>> likeness([{"go": 2, "sofa": 1}, {"stay": 1}], [("go", "lamp", "go")])
    array([[0.5, 0. ]])
    """
    place = {name: n for n, name in enumerate(dict.fromkeys(chain.from_iterable(shown)))}
    width = len(place) + 1  # the last column is for all other labels
    counts, given = np.zeros((len(shown), width)), np.zeros((len(others), width))
    for row, each in zip(counts, shown, strict=True):
        row[[place[name] for name in each]] = list(each.values())
    rows = np.repeat(np.arange(len(others)), list(map(len, others)))
    columns = np.array([place.get(e, -1) for e in chain.from_iterable(others)], np.int64)
    np.add.at(given, (rows, columns), 1)
    most = int(min(counts.max(initial=0), given[:, :-1].max(initial=0)))
    shared = np.zeros((len(others), len(shown)))
    for least in range(1, most + 1):
        shared += (given >= least).astype(float) @ (counts >= least).astype(float).T
    total = given.sum(axis=1)[:, None] + counts.sum(axis=1) - shared
    return np.asarray(shared / np.maximum(total, 1))


def _remembered(example: Example) -> RememberedText:
    name = example.shown.name if example.shown is not None else ""
    roots, labels = map(Counter, labels_of(example.world, example.trajectory.decisions(), {}))
    return RememberedText(words_of(example.instructions), roots, labels, name, example.group)
