"""Scores of single words against single labels, remembered from text to text."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from groundling.features.labels import NodeLabel
from groundling.features.space import FeatureSpace
from groundling.overlay.batch import Integers, Reals
from groundling.overlay.candidates import Candidates
from groundling.overlay.encoder import Encoder
from groundling.overlay.encoding import Instance
from groundling.overlay.graphs import LaidOutGraph, Shape
from groundling.overlay.interning import Interner
from groundling.overlay.joining import WordContent
from groundling.overlay.skeletons import BOUND, Skeleton

__all__ = ["WordScores", "alone"]

_SHARE = 4  # of an encoder's budget, one part in so many may be spent on scores
_BYTES = 9  # of a score, and of whether it is known


class WordScores:
    """What each word says about each label under one θ.

    Where a text is a bag of words and an action a bag of labels, every score is a sum of these.
    There are few of them, so that most texts need no overlay at all.
    """

    def __init__(self, space: FeatureSpace, theta: Reals) -> None:
        self.space = space
        self.theta = theta.copy()
        self._keys = space.keys
        self._lock = threading.Lock()  # requests may be followed side by side
        self._forget()

    @classmethod
    def of(cls, encoder: Encoder, space: FeatureSpace, theta: Reals) -> WordScores:
        """Return the scores that an encoder remembers, or new ones if θ is not the same."""
        found = encoder.memory.get("word scores")
        if not isinstance(found, cls) or not found.fits(space, theta):
            found = encoder.memory["word scores"] = cls(space, theta)
        return found

    @property
    def bytes(self) -> int:
        """How many bytes are taken, those of the words and labels left out."""
        return self._scores.nbytes + self._known.nbytes + self._free.nbytes

    def fits(self, space: FeatureSpace, theta: Reals) -> bool:
        """Tell whether this was made for a space as it now is, and for these weights."""
        same = self.space is space and self._keys is space.keys
        return same and np.array_equal(self.theta, theta)

    def _forget(self) -> None:
        self._labels = Interner[NodeLabel]()
        self._words = Interner[WordContent]()
        self._scores = np.zeros((64, 64))
        self._known = np.zeros((64, 64), np.bool_)
        self._free = np.zeros(64)

    def __reduce__(self) -> tuple[Any, ...]:
        return WordScores, (self.space, self.theta)  # copies begin anew

    def scores(
        self,
        encoder: Encoder,
        words: Sequence[WordContent],
        labels: Sequence[NodeLabel],
        shape: Shape,
    ) -> tuple[Reals, Reals]:
        """Return (labels × words) scores, and what each label scores without text."""
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
        """Return how many labels and words there is room for once there are so many more."""
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
        """Lay words over labels, each by itself."""
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
    """Return a graph with one label only."""
    value = ((label.kind, label.value),) if isinstance(label.value, str) else ()
    return LaidOutGraph((((label, 1.0),),), ("action",), shape, ((label, 1.0),), value)
