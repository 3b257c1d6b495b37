"""The feature counts of shards, which are merged to select features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.features.feature_tables import LabelTables
from groundling.features.interner import Interner
from groundling.features.labels import NodeLabel, WordLabel, meaning_of
from groundling.features.space import FeatureSpace, Joins, NodeTable
from groundling.overlay.batch_builder import Encoding

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """The labels of a shard in order of occurrence, and the counts of label pairs.

    `pairs` has the index of the word label and the index of the node label of each pair, in two
    rows. `counts` has the frequency of each pair in demonstrated plans, and `uses` the frequency of
    each word label in the texts.
    """

    words: list[WordLabel]
    nodes: list[NodeLabel]
    pairs: Numbers
    counts: NDArray[np.float64]
    edge_words: list[WordLabel]
    edge_nodes: list[NodeLabel]
    uses: dict[str, float] = field(default_factory=dict)


@dataclass
class CountingSpace(FeatureSpace):
    """The feature space of one shard, which keeps all its features and their counts."""

    counts: Counts | None = None
    _asked: list[tuple[Any, ...]] = field(default_factory=list)

    @classmethod
    def like(cls, space: FeatureSpace) -> CountingSpace:
        """Return an empty feature space with the joining functions of another one."""
        return cls(space.joins, space.slots, min_count=space.min_count)

    def join(
        self,
        words: Sequence[WordLabel],
        nodes: Sequence[NodeLabel] | NodeTable,
        pair_words: NDArray[Any],
        pair_nodes: NDArray[Any],
        *,
        grow: bool = False,
    ) -> Joins:
        """Return the joined features, and record the labels for `index`."""
        found = super().join(words, nodes, pair_words, pair_nodes, grow=grow)
        if grow:  # the first call is for words and nodes, the second for edges
            labels = nodes.labels if isinstance(nodes, NodeTable) else nodes
            self._asked.append((list(words), list(labels), pair_words, pair_nodes, found.pair))
        return found

    def index(self, keys: NDArray[np.int64], counts: NDArray[np.float64]) -> None:
        """Keep all features, and record the counts of the label pairs."""
        self.keys = np.unique(keys)
        (words, nodes, pair_words, pair_nodes, pair), (edge_words, edge_nodes, *_) = self._asked
        met, first = np.unique(pair, return_index=True)
        counted = counts[: len(pair)][first]
        if self.min_count > 0:  # drop pairs that occur in no demonstrated plan
            met, counted = met[counted > 0], counted[counted > 0]
        pairs = np.array([pair_words[met], pair_nodes[met]], np.int64).reshape(2, -1)
        self.counts = Counts(words, nodes, pairs, counted, edge_words, edge_nodes)
        self._asked = []


def word_uses(encoding: Encoding) -> dict[str, float]:
    """Return the weighted frequency of each word label in the texts.

    A demonstration and its mirror image share one weight and count as one.
    """
    batch = encoding.batch
    weights = np.repeat(batch.instance_weight, np.diff(batch.instance_words))
    uses = np.bincount(batch.words.set, weights=weights, minlength=len(encoding.sets))
    found: dict[str, float] = {}
    for content, count in zip(encoding.sets, uses.tolist(), strict=True):
        for label, _ in content:
            found[label.name] = found.get(label.name, 0.0) + count
    return found


class CountsSum:
    """Sum of the counts of shards, from which the feature space is built.

    The same features are selected as without shards, with the same names and order.
    """

    def __init__(self) -> None:
        self.words = Interner[WordLabel]()
        self.nodes = Interner[NodeLabel]()
        self.edge_words = Interner[WordLabel]()
        self.edge_nodes = Interner[NodeLabel]()
        self.uses: dict[str, float] = {}
        self._keys = np.zeros(0, np.int64)  # word << 32 | node
        self._counts = np.zeros(0)

    def add(self, counts: Counts) -> None:
        """Add the counts of the next shard; call it in the order of shards."""
        words = np.array([self.words(each) for each in counts.words], np.int64)
        nodes = np.array([self.nodes(each) for each in counts.nodes], np.int64)
        for label in counts.edge_words:
            self.edge_words(label)
        for node in counts.edge_nodes:
            self.edge_nodes(node)
        for name, use in counts.uses.items():
            self.uses[name] = self.uses.get(name, 0.0) + use
        keys = (words[counts.pairs[0]] << 32) | nodes[counts.pairs[1]]
        both = np.concatenate([self._keys, keys])
        self._keys, where = np.unique(both, return_inverse=True)
        weights = np.concatenate([self._counts, counts.counts])
        self._counts = np.zeros(len(self._keys))
        np.add.at(self._counts, where, weights)

    def decide(self, space: FeatureSpace, min_word_count: int) -> None:
        """Add the selected features to a feature space."""
        pair_words, pair_nodes, counts = self._keys >> 32, self._keys & 0xFFFFFFFF, self._counts
        if min_word_count > 1:
            # The tolerance allows for rounding in sums of weights.
            rare = {
                name
                for name, use in self.uses.items()
                if use < min_word_count - 1e-9 and name != ""
            }
            kept = np.array([label.name not in rare for label in self.words.items], bool)
            chosen = kept[pair_words]
            pair_words, pair_nodes = pair_words[chosen], pair_nodes[chosen]
            counts = counts[chosen]
        if space.min_count <= 0 and not space.own:
            pair_words, pair_nodes = self._with_agreeing(pair_words, pair_nodes)
            counts = np.full(len(pair_words), np.inf)
        joined = space.join(self.words.items, self.nodes.items, pair_words, pair_nodes, grow=True)
        edges = np.indices((len(self.edge_words), len(self.edge_nodes))).reshape(2, -1)
        edge_joined = space.join(self.edge_words.items, self.edge_nodes.items, *edges, grow=True)
        space.index(
            np.concatenate([joined.key, edge_joined.key]),
            np.concatenate([counts[joined.pair], np.full(len(edge_joined.key), np.inf)]),
        )

    def _with_agreeing(self, words: Numbers, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """Add the pairs of words and nodes with equal values, even from different shards."""
        by_meaning: dict[Any, list[int]] = {}
        for place, node in enumerate(self.nodes.items):
            by_meaning.setdefault(meaning_of(node), []).append(place)
        more = [
            (place, node)
            for place, word in enumerate(self.words.items)
            if (meaning := meaning_of(word)) is not None
            for node in by_meaning.get(meaning, ())
        ]
        added = np.array(more, np.int64).reshape(-1, 2).T
        keys = np.unique(np.concatenate([words << 32 | nodes, added[0] << 32 | added[1]]))
        return keys >> 32, keys & 0xFFFFFFFF


def renumber(tables: LabelTables, places: Iterable[int] | Numbers) -> LabelTables:
    """Renumber the features in tables; features with the new number -1 are dropped."""
    place = np.asarray(places, np.int64)
    rows, edges = place[tables.row_feature], place[tables.edge_feature]
    kept, edge_kept = rows >= 0, edges >= 0
    before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)
    edge_before = np.concatenate([[0], np.cumsum(edge_kept)]).astype(np.int32)
    return tables._replace(
        label_rows=before[tables.label_rows],
        row_label=tables.row_label[kept],
        row_feature=rows[kept].astype(np.int32),
        row_value=tables.row_value[kept],
        edge_rows=edge_before[tables.edge_rows],
        edge_feature=edges[edge_kept].astype(np.int32),
        edge_value=tables.edge_value[edge_kept],
    )
