"""What was learnt, asked again for every mistake: its weights, its words, its plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from groundling.inference.search import Search
from groundling.learning.wording import graph_values
from groundling.models.base import Request
from groundling.models.examples import Example
from groundling.models.learnt import Learnt
from groundling.overlay.batch import Reals
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import State
from groundling.world.graph import GroundingGraph
from groundling.world.trajectory import Trajectory

__all__ = [
    "NOTHING", "Known", "TextWords", "advise", "amount", "graphs", "listed", "looks",
    "plan_scores", "quoted", "some", "wider", "within",
]  # fmt: skip

NOTHING = 1e-6
"""Weights below which nothing was learnt."""
_FEW = 8  # texts of which most have the same words, whatever these say
_SELDOM = 2  # times a word was shown that little was learnt of


class Known:
    """What was learnt, with what is asked again for every mistake."""

    def __init__(self, learnt: Learnt) -> None:
        self.learnt = learnt
        self.encoder = learnt.fitted.encoder
        self.shown = [each for each in learnt.examples if each.shown is not None]

    @cached_property
    def theta(self) -> Reals:
        """The weights of all members."""
        return np.concatenate([member.theta for member in self.learnt.fitted.members])

    @cached_property
    def names(self) -> list[str]:
        """The names of all features."""
        return [name for member in self.learnt.fitted.members for name in member.space.names()]

    @cached_property
    def by_label(self) -> dict[str, list[int]]:
        """The places of features that join words with a label and have a weight, by the label."""
        found: dict[str, list[int]] = {}
        for place in np.flatnonzero(np.abs(self.theta) > NOTHING).tolist():
            _, joined, label = self.names[place].partition(" ∧ ")
            if joined:
                found.setdefault(label, []).append(place)
        return found

    @cached_property
    def by_text(self) -> dict[tuple[str, ...], list[Example]]:
        """What was learnt from, by its words."""
        found: dict[tuple[str, ...], list[Example]] = {}
        for each in self.shown:
            found.setdefault(self.words(each), []).append(each)
        return found

    @cached_property
    def _texts(self) -> dict[str, list[int]]:
        """The places of the texts that were learnt from, by each of their words."""
        found: dict[str, list[int]] = {}
        for place, each in enumerate(self.shown):
            for word in dict.fromkeys(self.words(each)):
                found.setdefault(word, []).append(place)
        return found

    @cached_property
    def _values(self) -> list[frozenset[tuple[str, str]]]:
        """The string labels of what was shown with each text, each a kind and a value."""
        return [
            frozenset().union(
                *(graph_values(each.world, *done) for done in each.trajectory.decisions())
            )
            for each in self.shown
        ]

    def is_common(self, word: str) -> bool:
        """Tell whether a word says little: a stop word, or one of most texts learnt from."""
        stop = {*self.encoder.reader.language.stop_words, *self.learnt.settings.features.stop_words}
        return word in stop or 2 * len(self._texts.get(word, ())) > len(self.shown) > _FEW

    def speaks_of(self, word: str, kind: str, value: str) -> float:
        """Return how much a word goes with a value: of the texts with it, the share shown with it.

        Shares of few texts are drawn to one half.
        """
        texts = self._texts.get(word, ())
        with_value = sum((kind, value) in self._values[place] for place in texts)
        return (with_value + 0.5) / (len(texts) + 1)

    def words(self, of: Example | Request) -> tuple[str, ...]:
        """Return the words of a text, one after another."""
        text = of.instructions if isinstance(of, Example) else of.text
        fold = self.encoder.reader.language.fold
        return tuple(fold(word) for sentence in text for word in sentence.tokens)


class TextWords:
    """The words of a text, and what they stand for."""

    def __init__(self, known: Known, request: Request, plan: Trajectory) -> None:
        encoder = known.encoder
        self.reader = encoder.reader
        # Where features have no words, it does not matter which there are.
        reads = bool(known.learnt.settings.features.words)
        self.words = tuple(dict.fromkeys(known.words(request))) if reads else ()
        self.values = {kind: set(values) for kind, values in encoder.values.items()}
        for state, action in plan.decisions():
            for kind, value in encoder.ground(request.world, state, action).values:
                if kind in self.values:
                    self.values[kind].add(value)

    def kinds(self, word: str) -> set[str]:
        """Return the kinds of values that a word stands for."""
        return {kind for kind, _ in self.reader.sense(word, self.values)}

    @cached_property
    def plain(self) -> list[str]:
        """Words of letters that stand for no value."""
        alphabetic = [word for word in self.words if word.isalpha()]
        return [word for word in alphabetic if not self.kinds(word)]

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Words that training never saw and that spell no value."""
        return tuple(word for word in self.plain if word not in self.reader.counts)

    def rare(self, least: int) -> tuple[tuple[str, int], ...]:
        """Return words that training saw so seldom that little was learnt of them."""
        counts = self.reader.counts
        seldom = max(_SELDOM, least - 1)
        return tuple(
            (word, counts[word]) for word in self.plain if 0 < counts.get(word, 0) <= seldom
        )


def advise(learnt: Learnt, group: str, **values: Any) -> str:
    """Return how settings of a group are changed: on top of what was chosen, or by hand."""
    chosen = {each.what.partition(".")[0].lower() for each in learnt.choices}
    if chosen & {group.lower(), "configuration"}:
        told = ", ".join(f"{group.lower()}__{name}={value!r}" for name, value in values.items())
        return f"follower.chosen().set_params({told})"
    return f"{group}({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def plan_scores(learnt: Learnt, request: Request, plans: Sequence[Trajectory]) -> list[float]:
    """Return what plans score under a text, whether the search would keep them or not."""
    return learnt.model.scores(learnt.fitted, request, plans, learnt.search)


def wider(search: Search) -> str:
    """Return how a search finds more, and what that costs.

    >>> wider(Search())
    'Raise Search.beam (it is 15) or Search.budget (it is 20,000); following takes longer by
    about as much.'
    """
    return (
        f"Raise Search.beam (it is {search.beam}) or Search.budget (it is {search.budget:,}); "
        "following takes longer by about as much."
    )


def amount(number: float, sign: str = "") -> str:
    """Return a number with two digits after the point, or with as many as it takes to see it.

    >>> amount(1.234), amount(0.0004), amount(0.5, "+")
    ('1.23', '0.0004', '+0.50')
    """
    return f"{number:{sign}.2f}" if abs(number) >= 0.005 else f"{number:{sign}.1g}"


def listed(actions: Sequence[Hashable]) -> str:
    """Return actions one after another."""
    return ", ".join(map(str, actions))


def quoted(words: Sequence[str]) -> str:
    """Return words in quotes."""
    return ", ".join(f"“{word}”" for word in words)


def some(count: int, what: str) -> str:
    """Return a number of things.

    >>> some(1, "clause"), some(2, "clause")
    ('1 clause', '2 clauses')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def within(few: Sequence[Hashable], many: Sequence[Hashable]) -> bool:
    """Tell whether actions are among others in the same order.

    >>> within("ac", "abc"), within("ca", "abc")
    (True, False)
    """
    rest = iter(many)
    return all(each in rest for each in few)


def graphs(world: CachedEnvironment, plan: Trajectory) -> list[GroundingGraph]:
    """Return the graphs of the actions of a plan."""
    return [world.ground(state, action) for state, action in plan.decisions()]


def looks(world: CachedEnvironment, start: State) -> Counter[GroundingGraph]:
    """Return what can be done from a start, as graphs show it."""
    return Counter(world.ground(start, action) for action in world.actions(start))
