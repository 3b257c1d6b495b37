"""Scores of text units and single words with the actions of a world."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from groundling.features.feature_tables import WordContent
from groundling.features.interner import Interner
from groundling.features.labels import NodeLabel
from groundling.features.space import FeatureSpace
from groundling.inference.plan_space import ActionNames
from groundling.language.instruction import Instruction
from groundling.overlay.batch import Integers, Reals
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates
from groundling.overlay.encoder import Encoder
from groundling.overlay.graphs import LaidOutGraph, NodeContent, Shape
from groundling.overlay.skeletons import BOUND, Skeleton
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, State
from groundling.world.graph import GroundingGraph

_SHARE = 4  # scores may use this fraction (1 / _SHARE) of an encoder's budget
_BYTES = 9  # bytes per score, including the flag in `_known`


class WordScores:
    """Cached scores of each word with each label, for one θ.

    If a text is a bag of words and an action is a bag of labels, every score is a sum of these
    scores. There are few distinct words and labels, so most texts do not need the overlay
    recursion.
    """

    def __init__(self, space: FeatureSpace, theta: Reals) -> None:
        self.space = space
        self.theta = theta.copy()
        self._keys = space.keys
        self._lock = threading.Lock()  # requests may run in several threads
        self._forget()

    @classmethod
    def of(cls, encoder: Encoder, space: FeatureSpace, theta: Reals) -> WordScores:
        """Return the scores cached with an encoder.

        If θ or the feature space has changed, new empty scores are returned.
        """
        found = encoder.memory.get("word scores")
        if not isinstance(found, cls) or not found.fits(space, theta):
            found = encoder.memory["word scores"] = cls(space, theta)
        return found

    @property
    def bytes(self) -> int:
        """The size in bytes, excluding words and labels."""
        return self._scores.nbytes + self._known.nbytes + self._free.nbytes

    def fits(self, space: FeatureSpace, theta: Reals) -> bool:
        """Return whether the scores are for the current feature space and these weights."""
        same = self.space is space and self._keys is space.keys
        return same and np.array_equal(self.theta, theta)

    def _forget(self) -> None:
        self._labels = Interner[NodeLabel]()
        self._words = Interner[WordContent]()
        self._scores = np.zeros((64, 64))
        self._known = np.zeros((64, 64), np.bool_)
        self._free = np.zeros(64)

    def __reduce__(self) -> tuple[Any, ...]:
        return WordScores, (self.space, self.theta)  # copies start empty

    def scores(
        self,
        encoder: Encoder,
        words: Sequence[WordContent],
        labels: Sequence[NodeLabel],
        shape: Shape,
    ) -> tuple[Reals, Reals]:
        """Return (labels × words) scores, and the score of each label without text."""
        with self._lock:
            height, width = self._room(len(labels), len(words))
            if height * width * _BYTES > encoder.budget.most // _SHARE:
                self._forget()
            rows = np.array([self._labels(each) for each in labels], np.int64)
            columns = np.array([self._words(each) for each in words], np.int64)
            self._make_room()
            known = self._known[np.ix_(rows, columns)]
            if not known.all():
                self._learn(
                    encoder,
                    np.unique(rows[~known.all(axis=1)]).astype(np.int32),
                    np.unique(columns[~known.all(axis=0)]).astype(np.int32),
                    shape,
                )
            return self._scores[np.ix_(rows, columns)], self._free[rows]

    def _room(self, more_labels: int = 0, more_words: int = 0) -> tuple[int, int]:
        """Return a table size (labels, words) with room for additional labels and words."""
        height, width = self._scores.shape
        labels, words = len(self._labels) + more_labels, len(self._words) + more_words
        return (
            height if labels <= height else max(labels, 2 * height),
            width if words <= width else max(words, 2 * width),
        )

    def _make_room(self) -> None:
        height, width = self._scores.shape
        new_height, new_width = self._room()
        if (new_height, new_width) != (height, width):
            more = ((0, new_height - height), (0, new_width - width))
            self._scores, self._known = np.pad(self._scores, more), np.pad(self._known, more)
            self._free = np.pad(self._free, more[0])

    def _learn(self, encoder: Encoder, rows: Integers, columns: Integers, shape: Shape) -> None:
        """Compute and store the score of each word with each label."""
        count = len(columns)
        each = tuple(range(count))
        skeleton = Skeleton(
            sentence=(0,) * count,
            position=each,
            parent=(-1,) * count,
            link=(BOUND,) * count,
            relation=("next",) * count,
            direction=(1,) * count,
            group=each,
            groups=count,
        )
        graphs = [alone(self._labels.items[row], shape) for row in rows.tolist()]
        words = [self._words.items[column] for column in columns.tolist()]
        instance = Instance(skeleton, words, [Candidates.single(graphs)])
        grouped, free = encoder.encode([instance], self.space).group_scores(self.theta)
        self._scores[np.ix_(rows, columns)] = grouped.reshape(len(rows), count)
        self._known[np.ix_(rows, columns)] = True
        self._free[rows] = free


def alone(label: NodeLabel, shape: Shape) -> LaidOutGraph:
    """Return a laid-out graph whose single node has a single label."""
    value = ((label.kind, label.value),) if isinstance(label.value, str) else ()
    return LaidOutGraph((((label, 1.0),),), ("action",), shape, ((label, 1.0),), value)


_NOTHING = ((None, 1.0),)  # replaces an empty list of labels


@dataclass(frozen=True)
class Options:
    """The possible actions in a state, with their next states and scores.

    Actions are sorted by name. `text` has the shape (actions × units), `free` has the scores that
    do not depend on the text, and `places` numbers the next states; equal states have equal
    numbers.
    """

    actions: tuple[Action, ...]
    after: tuple[State, ...]
    places: Integers
    text: Reals
    free: Reals


class UnitScores:
    """ψ(x_i, y) and ψ(y) for the units of a text and the actions of a world.

    Scores are computed for many actions at once and cached.
    """

    def __init__(
        self,
        encoder: Encoder,
        space: FeatureSpace,
        theta: Reals,
        instructions: Sequence[Instruction],
        world: CachedEnvironment,
    ) -> None:
        self.encoder = encoder
        self.space = space
        self.theta = theta
        self.world = world
        self.instructions = instructions
        self.labelled = encoder.label(instructions, separate=True)
        self._known: dict[LaidOutGraph, tuple[Reals, float]] = {}
        self._of: dict[tuple[State, Action], LaidOutGraph] = {}
        self._options: dict[State, Options] = {}
        self._numbers = Interner[State]()
        self._names = ActionNames()
        # The score of a bag of words on a flat node is the sum of the scores of the node's labels.
        overlay = encoder.overlay
        self._adds_up = overlay.skeleton == "bag" and overlay.nodes == "flat"
        self._place: dict[NodeLabel, int] = {}
        self._label_text = np.zeros((0, self.labelled.skeleton.groups))
        self._label_free = np.zeros(0)

    @property
    def units(self) -> int:
        """The number of units of the text."""
        return self.labelled.skeleton.groups

    def __len__(self) -> int:
        return len(self._of)

    def actions(self, pairs: Sequence[tuple[State, Action]]) -> tuple[Reals, Reals]:
        """Return the scores of (state, action) pairs with the text, and without it.

        The scores with the text have the shape (pairs × units).
        """
        for pair in pairs:
            if pair not in self._of:
                self._of[pair] = self.encoder.ground(self.world, *pair)
        return self.graphs([self._of[pair] for pair in pairs])

    def options(self, states: Iterable[State]) -> list[Options]:
        """Return the possible actions in each state; new states are scored in one batch."""
        listed = list(states)
        new = [state for state in dict.fromkeys(listed) if state not in self._options]
        if new:
            world = self.world
            offered = [self._ordered(world.actions(state)) for state in new]
            text, free = self.actions(
                [(s, action) for s, each in zip(new, offered, strict=True) for action in each]
            )
            place = 0
            for state, actions in zip(new, offered, strict=True):
                span = slice(place, place + len(actions))
                after = tuple(world.step(state, action) for action in actions)
                places = np.array([self._numbers(each) for each in after], np.int32)
                self._options[state] = Options(actions, after, places, text[span], free[span])
                place += len(actions)
        return [self._options[state] for state in listed]

    def _ordered(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """Sort actions by name, so that ties do not depend on the environment's order."""
        return tuple(actions[place] for place in self._names.order(actions))

    def look_ahead(self, start: State, steps: int, most: int = 200) -> None:
        """Score the actions of the next steps, up to about `most`, in one batch."""
        world = self.world
        layer, found = [start], {start: None}
        count = len(world.actions(start))
        for _ in range(1, steps):
            after = (world.step(state, each) for state in layer for each in world.actions(state))
            layer = [state for state in dict.fromkeys(after) if state not in found]
            count += sum(len(world.actions(state)) for state in layer)
            if count > most:
                break
            found |= dict.fromkeys(layer)
        self.options(found)

    def marks(self, marks: Sequence[GroundingGraph]) -> Reals:
        """Return the scores (choices × units) of choices such as passing over a unit."""
        text, free = self.graphs([self.encoder.lay_out(mark) for mark in marks])
        return text + free[:, None]

    def graphs(self, graphs: Sequence[LaidOutGraph]) -> tuple[Reals, Reals]:
        """Return the scores of laid-out graphs, with the text and without it."""
        new = [g for g in dict.fromkeys(graphs) if g not in self._known]
        if new:
            table, free = self._add_up(new) if self._adds_up else self._score(new)
            for place, graph in enumerate(new):
                self._known[graph] = (table[place], float(free[place]))
        text = np.array([self._known[g][0] for g in graphs]).reshape(len(graphs), self.units)
        return text, np.array([self._known[g][1] for g in graphs])

    def _score(self, graphs: Sequence[LaidOutGraph]) -> tuple[Reals, Reals]:
        """Return the scores of graphs, computed by the overlay recursion."""
        found: dict[LaidOutGraph, tuple[Reals, float]] = {}
        # Names not seen in training are only matched when their own graph is scored, so that
        # scores do not depend on the other graphs.
        for new, named in self.encoder.by_new_values(graphs).items():
            text = self.labelled
            if new:
                text = self.encoder.label(self.instructions, named[:1], separate=True)
            instance = Instance(text.skeleton, text.words, [Candidates.single(named)])
            scorer = self.encoder.encode([instance], self.space)
            grouped, free = scorer.group_scores(self.theta)
            table = grouped.reshape(len(named), self.units)
            found |= {g: (table[i], float(free[i])) for i, g in enumerate(named)}
        scores = np.array([found[g][0] for g in graphs]).reshape(len(graphs), self.units)
        return scores, np.array([found[g][1] for g in graphs])

    def _add_up(self, graphs: Sequence[LaidOutGraph]) -> tuple[Reals, Reals]:
        """Score graphs as sums over their labels; each label is scored once."""
        [shape] = {graph.shape for graph in graphs}
        new = dict.fromkeys(
            label
            for graph in graphs
            for content in (*graph.nodes, graph.prior)
            for label, _ in content
            if label not in self._place
        )
        if new:
            text, free = self._score_labels(list(new), shape)
            self._place |= {label: len(self._place) + i for i, label in enumerate(new)}
            self._label_text = np.vstack([self._label_text, text])
            self._label_free = np.append(self._label_free, free)
        text = self._sums(self._label_text, [graph.nodes[0] for graph in graphs])
        return text, self._sums(self._label_free, [graph.prior for graph in graphs])

    def _sums(self, table: Reals, contents: Sequence[NodeContent]) -> Reals:
        place, nothing = self._place, [len(self._place)]
        listed = [[place[label] for label, _ in content] or nothing for content in contents]
        amounts = [amount for content in contents for _, amount in content or _NOTHING]
        padded = np.append(table, np.zeros((1, *table.shape[1:])), axis=0)
        rows = padded[list(chain.from_iterable(listed))]
        starts = np.cumsum([0, *map(len, listed[:-1])])
        weights = np.array(amounts).reshape(-1, *[1] * (table.ndim - 1))
        found: Reals = np.add.reduceat(rows * weights, starts, axis=0)
        return found

    def _score_labels(self, labels: Sequence[NodeLabel], shape: Shape) -> tuple[Reals, Reals]:
        """Return the scores of labels with the units (labels × units), and without text."""
        text, free = np.zeros((len(labels), self.units)), np.zeros(len(labels))
        known = WordScores.of(self.encoder, self.space, self.theta)
        places = {label: place for place, label in enumerate(labels)}
        graphs = {label: alone(label, shape) for label in labels}
        for new, sort in self.encoder.by_new_values(list(graphs.values())).items():
            words = self.labelled.words
            if new:
                words = self.encoder.label(self.instructions, sort[:1], separate=True).words
            some = [graph.prior[0][0] for graph in sort]
            rows = [places[label] for label in some]
            scores, free[rows] = known.scores(self.encoder, words, some, shape)
            of_units = np.zeros((len(some), self.units))
            for word, group in enumerate(self.labelled.skeleton.group):
                of_units[:, group] += scores[:, word]
            text[rows] = of_units
        return text, free
