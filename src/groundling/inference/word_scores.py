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

_MOST = 4_000_000  # scores that are remembered: 36 megabytes


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
            if (len(self._labels) + len(labels)) * (len(self._words) + len(words)) > _MOST:
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

    def _make_room(self) -> None:
        height, width = self._scores.shape
        needed = (len(self._labels), len(self._words))
        if needed[0] <= height and needed[1] <= width:
            return
        more = [
            (0, max(size, 2 * have) - have if size > have else 0)
            for size, have in zip(needed, (height, width), strict=True)
        ]
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
