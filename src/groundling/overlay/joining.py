"""Joining: from the labels of word sets and nodes that meet to tables of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from groundling.features.labels import NodeLabel, WordLabel, meaning_of
from groundling.features.space import FeatureSpace
from groundling.overlay.batch import Integers, Reals
from groundling.overlay.graphs import NodeContent, Relation
from groundling.overlay.interning import Interner
from groundling.overlay.potentials import LabelTables
from groundling.overlay.ragged import sizes_of

__all__ = ["Meetings", "WordContent", "edge_labels", "join_labels"]

WordContent = tuple[tuple[WordLabel, float], ...]


@dataclass(frozen=True)
class Meetings:
    """Which word sets meet which nodes, and how often in demonstrated plans.

    `pair_set` and `pair_node` list the distinct pairs, in ascending order; `set_uses` is how
    often each word set occurs in the texts, each time by the weight of its instance.
    """

    sets: Sequence[WordContent]
    nodes: Sequence[NodeContent]
    pair_set: Integers
    pair_node: Integers
    pair_gold: Reals
    set_uses: Reals
    dependencies: Sequence[str]
    relations: Sequence[Relation]


def join_labels(
    meetings: Meetings,
    space: FeatureSpace,
    *,
    grow: bool,
    min_word_count: int,
    edge_scores: bool,
) -> LabelTables:
    """Join the labels of everything that meets; with `grow`, decide which features exist."""
    word_labels, node_labels = Interner[WordLabel](), Interner[NodeLabel]()
    set_labels, set_label, set_amount = _ragged(meetings.sets, word_labels)
    node_start, node_label, node_amount = _ragged(meetings.nodes, node_labels)
    pair_set, pair_node = meetings.pair_set, meetings.pair_node
    # Which word labels meet which node labels: (labels × sets)(sets × nodes)(nodes × labels).
    by_set = _matrix(set_labels, set_label, len(word_labels))
    by_node = _matrix(node_start, node_label, len(node_labels))
    shape = (len(meetings.sets), len(meetings.nodes))
    met = sparse.csr_matrix((np.ones(len(pair_set)), (pair_set, pair_node)), shape=shape)
    # Labels with a value only ever join labels with the same: those need no product.
    valued = np.array([meaning_of(label) is not None for label in word_labels.items], bool)
    if space.own:
        valued[:] = False
    plain = np.flatnonzero(~valued)
    meeting = (by_set[:, plain].T @ (met @ by_node)).tocoo()
    agreeing = _agreeing(word_labels.items, node_labels.items, np.flatnonzero(valued))
    words = np.concatenate([plain[meeting.row], agreeing[0]])
    nodes = np.concatenate([meeting.col, agreeing[1]])
    if grow and min_word_count > 1:
        frequent = _frequent(word_labels.items, set_labels, set_label, meetings, min_word_count)
        words, nodes = words[frequent[words]], nodes[frequent[words]]
    joined = space.join(word_labels.items, node_labels.items, words, nodes, grow=grow)
    edge_words, edge_nodes, edge_pairs = edge_labels(
        meetings.dependencies if edge_scores else (), meetings.relations
    )
    edge_joined = space.join(edge_words, edge_nodes, *edge_pairs[:2], grow=grow)
    if grow:
        pair_count = np.full(len(words), np.inf)
        if space.min_count > 0:
            golden = sparse.csr_matrix((meetings.pair_gold, (pair_set, pair_node)), shape=shape)
            counted = (by_set.T @ (golden @ by_node)).tocsr()
            pair_count = np.asarray(counted[words, nodes]).ravel()
        space.index(
            np.concatenate([joined.key, edge_joined.key]),
            np.concatenate([pair_count[joined.pair], np.full(len(edge_joined.key), np.inf)]),
        )
    features = space.places(joined.key)
    kept = features >= 0
    row_word = words[joined.pair[kept]]
    order = np.argsort(row_word, kind="stable")
    edge_features = space.places(edge_joined.key)
    edge_kept = edge_features >= 0
    edge_row = edge_pairs[2][edge_joined.pair[edge_kept]]
    edge_order = np.argsort(edge_row, kind="stable")
    pair_starts = np.searchsorted(pair_set, np.arange(len(meetings.sets) + 1))
    return LabelTables(
        set_labels=set_labels,
        set_label=set_label,
        set_amount=set_amount,
        node_labels=node_start,
        node_label=node_label,
        node_amount=node_amount,
        label_part=_parts(node_labels.items),
        label_rows=_starts(row_word, len(word_labels)),
        row_label=nodes[joined.pair[kept]][order].astype(np.int32),
        row_feature=features[kept][order].astype(np.int32),
        row_value=joined.value[kept][order],
        set_pairs=pair_starts.astype(np.int32),
        pair_node=pair_node,
        edge_rows=_starts(edge_row, len(meetings.dependencies) * len(meetings.relations)),
        edge_feature=edge_features[edge_kept][edge_order].astype(np.int32),
        edge_value=edge_joined.value[edge_kept][edge_order],
    )


def _frequent(
    labels: Sequence[WordLabel],
    set_labels: Integers,
    set_label: Integers,
    meetings: Meetings,
    least: int,
) -> NDArray[np.bool_]:
    """Tell which word labels have a name that occurs often enough in the texts.

    A demonstration and its mirror image count as one, since they share its weight.
    """
    counts: dict[str, float] = {}
    per_label = np.repeat(meetings.set_uses, sizes_of(set_labels))
    for label, count in zip(set_label.tolist(), per_label.tolist(), strict=True):
        name = labels[label].name
        counts[name] = counts.get(name, 0) + count
    rare = {name for name, count in counts.items() if count < least - 1e-9 and name != ""}
    return np.array([label.name not in rare for label in labels], bool)


def edge_labels(
    dependencies: Sequence[str], relations: Sequence[Relation]
) -> tuple[list[WordLabel], list[NodeLabel], tuple[NDArray[np.int64], ...]]:
    """Return dependency labels, relation labels, and the pairs of them with their table row."""
    words, nodes = Interner[WordLabel](), Interner[NodeLabel]()
    pairs: list[tuple[int, int, int]] = []
    for d, dependency in enumerate(dependencies):
        named = (words(WordLabel("dep")), words(WordLabel(f"dep={dependency}")))
        for r, relation in enumerate(relations):
            row = d * len(relations) + r
            labels = [nodes(NodeLabel(f"relation={name}")) for name in relation]
            pairs += [(word, node, row) for word in named for node in labels]
    columns = np.array(pairs, np.int64).reshape(-1, 3).T
    return words.items, nodes.items, tuple(columns)


def _ragged(
    contents: Sequence[tuple[tuple[Any, float], ...]], labels: Interner[Any]
) -> tuple[Integers, Integers, Reals]:
    starts = np.zeros(len(contents) + 1, np.int32)
    starts[1:] = np.cumsum([len(each) for each in contents])
    number: dict[int, int] = {}  # parts that contents share are looked up by identity
    label = np.empty(starts[-1], np.int32)
    place = 0
    for content in contents:
        for part in content:
            known = number.get(id(part))
            if known is None:
                known = number[id(part)] = labels(part[0])
            label[place] = known
            place += 1
    amount = np.array([amount for each in contents for _, amount in each], np.float64)
    return starts, label, amount


def _parts(labels: Sequence[NodeLabel]) -> Integers:
    """Number what labels are about: the node whose name stands before them, if there is one."""
    names = Interner[str]()
    return np.array([names(each.name.partition(".")[0]) for each in labels], np.int32)


def _agreeing(
    words: Sequence[WordLabel], nodes: Sequence[NodeLabel], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of chosen word labels and of node labels that mean the same."""
    by_meaning: dict[tuple[str, str | float], list[int]] = {}
    for place, node in enumerate(nodes):
        meaning = meaning_of(node)
        if meaning is not None:
            by_meaning.setdefault(meaning, []).append(place)
    pairs = [
        (word, node)
        for word in chosen.tolist()
        for node in by_meaning.get(meaning_of(words[word]) or ("", ""), ())
    ]
    columns = np.array(pairs, np.int64).reshape(-1, 2).T
    return columns[0], columns[1]


def _matrix(starts: Integers, labels: Integers, width: int) -> Any:
    matrix = sparse.csr_matrix(
        (np.ones(len(labels)), labels.copy(), starts.copy()), shape=(len(starts) - 1, width)
    )
    matrix.sum_duplicates()
    return matrix


def _starts(rows: NDArray[Any], count: int) -> Integers:
    starts = np.zeros(count + 1, np.int32)
    starts[1:] = np.cumsum(np.bincount(rows, minlength=count))
    return starts
