"""Joined labels that are remembered: which features words and nodes have, once θ is known."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.features.labels import STRING, NodeLabel, WordLabel
from groundling.features.space import FeatureSpace
from groundling.overlay.batch import Integers, Reals
from groundling.overlay.candidate_arrays import CandidateArrays
from groundling.overlay.graphs import NodeContent, Relation
from groundling.overlay.interning import Interner
from groundling.overlay.joining import Meetings, edge_labels
from groundling.overlay.potentials import LabelTables
from groundling.overlay.ragged import concatenated, starts_of

__all__ = ["JoinedLabels"]

_MOST_LABELS = 50_000
_MOST_ENTRIES = 2_000_000  # numbers in all arrays together: about 30 megabytes
_TOGETHER = 1_000_000  # pairs of labels joined at a time
_BLOCK = 64  # node labels that a word is joined with at once, when it meets one of them

Rows = tuple[Integers, Integers, Reals]
"""With which node labels a word label joins, which feature that is, and how strongly it fires."""


class _Spelled(NamedTuple):
    """The labels of nodes, numbered among those that occur."""

    age: object  # of the numbers of `occurring`, which hold until all is forgotten
    starts: Integers
    label: NDArray[Any]
    amount: Reals
    occurring: Integers
    blocks: list[int]  # that these are in


class JoinedLabels:
    """What labels join in a feature space that no longer grows.

    A text is about words and things that were mostly met before; what they have in common need
    not be worked out again for every request. Labels without a feature are dropped here.

    Parameters
    ----------
    space
        The features that exist. User's own joining functions may do anything, so a space with
        some has nothing to remember (see `fits`).
    """

    def __init__(self, space: FeatureSpace) -> None:
        self.space = space
        self._keys = space.keys
        self._lock = threading.Lock()  # requests may be followed side by side
        self._forget()

    def _forget(self) -> None:
        self._age = object()
        self._ones = np.ones(0)
        self._nodes = Interner[NodeLabel]()
        # Labels are kept as bytes: arrays of a few take far more room.
        self._contents: dict[int, tuple[NodeContent, bytes, Reals | None]] = {}
        self._words: dict[WordLabel, Rows] = {}
        # How many labels of each block a word is joined with. A request costs what it is about,
        # however many other things were met before.
        self._done: dict[WordLabel, dict[int, int]] = {}
        self._edges: dict[tuple[str, Relation], tuple[Integers, Reals]] = {}
        self.entries = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return JoinedLabels, (self.space,)  # copies begin anew

    @property
    def bytes(self) -> int:
        """About how many bytes it takes."""
        return 12 * self.entries + 300 * len(self._nodes)

    def fits(self, space: FeatureSpace) -> bool:
        """Tell whether this was made for a space as it now is."""
        return self.space is space and self._keys is space.keys and not space.own

    def tables(
        self, meetings: Meetings, *, edge_scores: bool, alone: CandidateArrays | None = None
    ) -> LabelTables:
        """Return what `join_labels` returns when nothing grows.

        `alone` are the candidates whose nodes meet words, where there is one only that is kept.
        """
        with self._lock:
            if self.entries > _MOST_ENTRIES or len(self._nodes) > _MOST_LABELS:
                self._forget()
            return self._tables(meetings, edge_scores, alone)

    def _tables(
        self, meetings: Meetings, edge_scores: bool, alone: CandidateArrays | None
    ) -> LabelTables:
        spelled: _Spelled | None = None if alone is None else alone.spelled
        if spelled is None or spelled.age is not self._age:
            spelled = self._spell(meetings.nodes)
            if alone is not None:
                alone.spelled = spelled
        words: dict[WordLabel, int] = {}
        numbers, amounts, sizes = [], [], []
        for content in meetings.sets:
            sizes.append(len(content))
            for word, amount in content:
                numbers.append(words.setdefault(word, len(words)))
                amounts.append(amount)
        rows = self._join(list(words), spelled.blocks)
        label, feature, value = (
            concatenated([each[part] for each in rows], kind)
            for part, kind in enumerate((np.int32, np.int32, np.float64))
        )
        # Only labels that occur matter here; they are numbered anew, so that tables stay small.
        place = np.full(len(self._nodes), -1, np.int32)
        place[spelled.occurring] = np.arange(len(spelled.occurring), dtype=np.int32)
        row_label = place[label]
        kept = row_label >= 0
        row_ends = starts_of(np.array([len(each[0]) for each in rows], np.int64))
        edges = self._join_edges(meetings, edge_scores)
        return LabelTables(
            set_labels=starts_of(np.array(sizes, np.int64), np.int32),
            set_label=np.array(numbers, np.int32),
            set_amount=np.array(amounts, np.float64),
            node_labels=spelled.starts,
            node_label=spelled.label.astype(np.int32),
            node_amount=spelled.amount,
            # What is scored once need not be cut into parts.
            label_part=np.zeros(len(spelled.occurring), np.int32),
            label_rows=starts_of(kept, np.int32)[row_ends],
            row_label=row_label[kept],
            row_feature=feature[kept],
            row_value=value[kept],
            set_pairs=np.searchsorted(meetings.pair_set, np.arange(len(meetings.sets) + 1)).astype(
                np.int32
            ),
            pair_node=meetings.pair_node,
            edge_rows=starts_of(np.array([len(each[0]) for each in edges], np.int64), np.int32),
            edge_feature=concatenated([each[0] for each in edges], np.int32),
            edge_value=concatenated([each[1] for each in edges], np.float64),
        )

    def _spell(self, contents: Sequence[NodeContent]) -> _Spelled:
        """Return the labels of nodes, numbered anew, and which ones they are."""
        found = []
        for content in contents:
            known = self._contents.get(id(content))
            if known is None:
                labels = np.array([self._nodes(label) for label, _ in content], np.int32)
                amounts = None  # all are one
                if any(amount != 1.0 for _, amount in content):
                    amounts = np.array([amount for _, amount in content], np.float64)
                # Holding the content keeps its identity from being reused.
                known = self._contents[id(content)] = (content, labels.tobytes(), amounts)
                self.entries += len(labels) + 10
            found.append(known)
        starts = starts_of(np.array([len(each[0]) for each in found], np.int64), np.int32)
        amount = self._all_one(int(starts[-1]))
        for place, (_, _, given) in enumerate(found):
            if given is not None:
                if not amount.flags.owndata:
                    amount = amount.copy()
                amount[starts[place] : starts[place + 1]] = given
        labels = np.frombuffer(b"".join([each[1] for each in found]), np.int32)
        occurring, label = np.unique(labels, return_inverse=True)
        blocks = np.unique(occurring // _BLOCK).tolist()
        small = label.astype(np.uint16 if len(occurring) < 2**16 else np.int32)
        return _Spelled(self._age, starts, small, amount, occurring, blocks)

    def _all_one(self, count: int) -> Reals:
        """Return so many ones, in memory that is shared."""
        if len(self._ones) < count:
            self._ones = np.ones(2 * count)
        return self._ones[:count]

    def _join(self, words: list[WordLabel], blocks: list[int]) -> list[Rows]:
        """Return what word labels join with; what is not known yet is joined many at a time."""
        everything = len(self._nodes)
        ends = {block: min(everything, (block + 1) * _BLOCK) for block in blocks}
        behind: dict[tuple[tuple[int, int], ...], list[WordLabel]] = {}
        for word in words:
            if word.kind != STRING and word.name not in self.space.word_names:
                continue  # new words join nothing, and there is no end of them
            done = self._done.get(word)
            if done is None:
                done = self._done[word] = {}
                self._words[word] = _NOTHING
                self.entries += 20
            if ends.items() <= done.items():
                continue
            missing = [
                (done.get(block, block * _BLOCK), end)
                for block, end in ends.items()
                if done.get(block) != end
            ]
            behind.setdefault(tuple(missing), []).append(word)
            done |= ends
            self.entries += len(missing)
        for ranges, waiting in behind.items():
            numbers = np.concatenate([np.arange(*each, dtype=np.int32) for each in ranges])
            step = max(1, _TOGETHER // len(numbers))
            for first in range(0, len(waiting), step):
                some = waiting[first : first + step]
                for word, more in zip(some, self._fresh(some, numbers), strict=True):
                    if not len(more[0]):
                        continue
                    before = self._words[word]
                    self._words[word] = (
                        np.concatenate([before[0], more[0]]),
                        np.concatenate([before[1], more[1]]),
                        np.concatenate([before[2], more[2]]),
                    )
                    self.entries += 2 * len(more[0])
        return [self._words.get(word, _NOTHING) for word in words]

    def _fresh(self, words: Sequence[WordLabel], numbers: Integers) -> Iterable[Rows]:
        """Join words with the node labels that have these numbers."""
        nodes = [self._nodes.items[number] for number in numbers.tolist()]
        pair_words = np.repeat(np.arange(len(words)), len(nodes))
        pair_nodes = np.tile(np.arange(len(nodes)), len(words))
        joined = self.space.join(words, nodes, pair_words, pair_nodes)
        features = self.space.places(joined.key)
        kept = features >= 0
        pairs = joined.pair[kept]  # in ascending order: word by word
        cuts = np.searchsorted(pair_words[pairs], np.arange(1, len(words)))
        return zip(
            np.split(numbers[pair_nodes[pairs]], cuts),
            np.split(features[kept].astype(np.int32), cuts),
            np.split(joined.value[kept], cuts),
            strict=True,
        )

    def _join_edges(self, meetings: Meetings, edge_scores: bool) -> list[tuple[Integers, Reals]]:
        """Return the features of each dependency with each relation."""
        found = []
        for dependency in meetings.dependencies:
            for relation in meetings.relations:
                if not edge_scores:
                    found.append(_NO_EDGE)
                    continue
                known = self._edges.get((dependency, relation))
                if known is None:
                    words, nodes, (word, node, _) = edge_labels([dependency], [relation])
                    joined = self.space.join(words, nodes, word, node)
                    features = self.space.places(joined.key)
                    kept = features >= 0
                    known = (features[kept].astype(np.int32), joined.value[kept])
                    self._edges[dependency, relation] = known
                    self.entries += len(known[0]) + 20
                found.append(known)
        return found


_NOTHING: Rows = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
_NO_EDGE: tuple[Integers, Reals] = (np.zeros(0, np.int32), np.zeros(0))
