"""Feature tables: the joined features of words and nodes, as sparse arrays.

`join_labels` joins all labels that occur together, and can add new features. `JoinedLabels`
returns the same tables for a fixed feature space, and caches the joined features of labels.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from groundling.cache import Sightings
from groundling.features.interner import Interner
from groundling.features.labels import STRING, NodeLabel, WordLabel, meaning_of
from groundling.features.space import FeatureSpace, Joins, NodeTable
from groundling.ragged import (
    concatenated,
    entries_of,
    joined_ends,
    shifted,
    sizes_of,
    starts_of,
)

WordContent = tuple[tuple[WordLabel, float], ...]
Relation = tuple[str, ...]
Integers = NDArray[np.int32]
Reals = NDArray[np.float64]

_KEPT = 4096  # maximum cached node labels, and word labels
_MOST_PASSING = 100_000  # number of labels computed without the cache before it is cleared
_MOST_ENTRIES = 2_000_000  # maximum size of all cached arrays, in numbers (about 30 megabytes)
_MOST_CONTENTS = 100_000  # maximum size of cached node labels, in numbers
_TOGETHER = 1_000_000  # pairs of labels in a batch
_BLOCK = 64  # node labels that a word is joined with at once

_Ragged = tuple[Integers, Integers, Reals]


Part = tuple[tuple[NodeLabel, float], ...]
"""Labels that occur together, with their amounts."""


class ComposedContent(Sequence[tuple[NodeLabel, float]]):
    """The labels of a node, as a sequence of parts that other nodes may share.

    >>> one, two = ((NodeLabel("red"), 1.0),), ((NodeLabel("lamp"), 1.0),)
    >>> len(ComposedContent((one, two))), ComposedContent((one, two))[1][0].name
    (2, 'lamp')
    """

    __slots__ = ("_hash", "parts")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self._hash = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposedContent) and self.parts == other.parts

    def __hash__(self) -> int:
        self._hash = self._hash or hash(self.parts) or 1
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return ComposedContent, (self.parts,)  # hashes of strings differ between processes

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[tuple[NodeLabel, float]]:
        return chain.from_iterable(self.parts)

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]


NodeContent = Part | ComposedContent


def composed(contents: Iterable[NodeContent]) -> NodeContent:
    """Concatenate the labels of several node contents; empty contents are skipped.

    >>> one, two = ((NodeLabel("red"), 1.0),), ((NodeLabel("lamp"), 1.0),)
    >>> composed((one, ())) is one, len(composed((one, two)))
    (True, 2)
    """
    parts: list[Part] = []
    for each in contents:
        if isinstance(each, ComposedContent):
            parts += each.parts
        elif each:
            parts.append(each)
    return ComposedContent(tuple(parts)) if len(parts) > 1 else parts[0] if parts else ()


class PartTable(Sequence[NodeContent]):
    """The labels of many nodes, stored as shared parts that are combined on access.

    Parameters
    ----------
    parts
        The distinct parts.
    starts, part
        The parts of node i are `parts[p]` for each p in `part[starts[i] : starts[i + 1]]`.

    Examples
    --------
    >>> one, two = ((NodeLabel("red"), 1.0),), ((NodeLabel("lamp"), 1.0),)
    >>> table = PartTable.of([composed((one, two)), two])
    >>> len(table), table[1] is two, table.starts.tolist(), table.part.tolist()
    (2, True, [0, 2, 3], [0, 1, 1])
    """

    def __init__(self, parts: list[Part], starts: NDArray[Any], part: NDArray[Any]) -> None:
        self.parts, self.starts, self.part = parts, starts, part

    @classmethod
    def of(cls, contents: Iterable[NodeContent]) -> PartTable:
        """Return a table of the labels of the given nodes."""
        if isinstance(contents, PartTable):
            return contents
        runs = [e.parts if isinstance(e, ComposedContent) else (e,) for e in contents]
        flat = list(chain.from_iterable(runs))
        parts = dict(zip(map(id, flat), flat, strict=True))
        place = {key: number for number, key in enumerate(parts)}
        starts = starts_of(np.array([len(each) for each in runs], np.int64))
        return cls(list(parts.values()), starts, np.array([place[id(e)] for e in flat], np.int64))

    @classmethod
    def joined(cls, tables: Sequence[PartTable]) -> PartTable:
        """Return one table with the nodes of several tables, one after the other."""
        parts = list(chain.from_iterable([each.parts for each in tables]))
        part = shifted([e.part for e in tables], np.array([len(e.parts) for e in tables]))
        return cls(parts, joined_ends([each.starts[1:] for each in tables]), part)

    @classmethod
    def combined(cls, columns: Sequence[PartTable], places: NDArray[np.int64]) -> PartTable:
        """Return a table of new nodes, each with the labels of one node of every column.

        `places[i, c]` is the index of that node in `columns[c]` for the i-th new node, or -1 to
        leave the column out.

        >>> red, lamp = PartTable.of([((NodeLabel("red"), 1.0),)]), ((NodeLabel("lamp"), 1.0),)
        >>> [red_lamp, plain_lamp] = PartTable.combined(
        ...     [red, PartTable.of([lamp])], np.array([[0, 0], [-1, 0]])
        ... )
        >>> len(red_lamp), len(plain_lamp)
        (2, 1)
        """
        every = cls.joined(columns)
        item = np.where(places < 0, 0, places + starts_of(np.array(list(map(len, columns))))[:-1])
        sizes = np.where(places < 0, 0, sizes_of(every.starts)[item])
        entries = entries_of(every.starts[item].ravel(), sizes.ravel())
        return cls(every.parts, starts_of(sizes.sum(axis=1)), every.part[entries])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        run = self.part[self.starts[place] : self.starts[place + 1]].tolist()
        return composed([self.parts[each] for each in run])


class LabelTables(NamedTuple):
    """Sparse tables: the labels of word sets and nodes, and their joined features.

    Compiled kernels read these tables, so a change to this file recompiles the kernels.
    """

    set_labels: Integers  # word set -> labels
    set_label: Integers
    set_amount: Reals
    node_labels: Integers  # node -> labels
    node_label: Integers
    node_amount: Reals
    label_part: Integers  # node label -> the node it describes, see `share_parts`
    label_rows: Integers  # word label -> joined features by node label
    row_label: Integers
    row_feature: Integers
    row_value: Reals
    set_pairs: Integers  # word set -> pairs with nodes
    pair_node: Integers
    edge_rows: Integers  # dependency × relation -> features
    edge_feature: Integers
    edge_value: Reals


@dataclass(frozen=True)
class Meetings:
    """Pairs of word sets and nodes, with their counts in demonstrated plans.

    `pair_set` and `pair_node` list the distinct pairs in ascending order. `set_uses` has the
    weighted number of occurrences of each word set in the texts.
    """

    sets: Sequence[WordContent]
    nodes: Sequence[NodeContent]
    pair_set: Integers
    pair_node: Integers
    pair_gold: Reals
    set_uses: Reals
    dependencies: Sequence[str]
    relations: Sequence[Relation]

    def set_pairs(self) -> Integers:
        """The index at which the pairs of each word set start."""
        return np.searchsorted(self.pair_set, np.arange(len(self.sets) + 1)).astype(np.int32)


def join_labels(
    meetings: Meetings,
    space: FeatureSpace,
    *,
    grow: bool,
    min_word_count: int,
    edge_scores: bool,
) -> LabelTables:
    """Join the labels of all pairs; with `grow`, index the resulting features."""
    word_labels, node_labels = Interner[WordLabel](), Interner[NodeLabel]()
    of_sets = _ragged(meetings.sets, word_labels)
    of_nodes = _ragged(meetings.nodes, node_labels)
    pair_set, pair_node = meetings.pair_set, meetings.pair_node
    # Pairs of word and node labels: (labels × sets)(sets × nodes)(nodes × labels).
    by_set = _matrix(*of_sets[:2], len(word_labels))
    by_node = _matrix(*of_nodes[:2], len(node_labels))
    shape = (len(meetings.sets), len(meetings.nodes))
    met = sparse.csr_matrix((np.ones(len(pair_set)), (pair_set, pair_node)), shape=shape)
    # Labels with a value join only labels with the same value, which needs no matrix product.
    valued = np.array([meaning_of(label) is not None for label in word_labels.items], bool)
    if space.own:
        valued[:] = False
    plain = np.flatnonzero(~valued)
    meeting = (by_set[:, plain].T @ (met @ by_node)).tocoo()
    agreeing = _agreeing(word_labels.items, node_labels.items, np.flatnonzero(valued))
    words = np.concatenate([plain[meeting.row], agreeing[0]])
    nodes = np.concatenate([meeting.col, agreeing[1]])
    if grow and min_word_count > 1:
        frequent = _frequent(word_labels.items, of_sets, meetings, min_word_count)
        words, nodes = words[frequent[words]], nodes[frequent[words]]
    joined = space.join(word_labels.items, node_labels.items, words, nodes, grow=grow)
    edge_words, edge_nodes, edge_pairs = _edge_labels(
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
    rows = _rows(space, joined, words, len(word_labels))
    edges = _rows(
        space, edge_joined, edge_pairs[2], len(meetings.dependencies) * len(meetings.relations)
    )
    return LabelTables(
        *of_sets, *of_nodes, _parts(node_labels.items),
        rows[0], nodes[rows[1]].astype(np.int32), *rows[2:],
        meetings.set_pairs(), pair_node, edges[0], *edges[2:],
    )  # fmt: skip


def _rows(
    space: FeatureSpace, joined: Joins, owner: NDArray[Any], count: int
) -> tuple[Integers, NDArray[Any], Integers, Reals]:
    features = space.places(joined.key)
    kept = np.flatnonzero(features >= 0)
    kept = kept[np.argsort(owner[joined.pair[kept]], kind="stable")]
    pairs = joined.pair[kept]
    starts = starts_of(np.bincount(owner[pairs], minlength=count), np.int32)
    return starts, pairs, features[kept].astype(np.int32), joined.value[kept]


def _frequent(
    labels: Sequence[WordLabel], of_sets: _Ragged, meetings: Meetings, least: int
) -> NDArray[np.bool_]:
    """Return for each word label whether it occurs at least `least` times.

    Occurrences are weighted, so a demonstration and its mirror image together count once.
    """
    counts: dict[str, float] = {}
    per_label = np.repeat(meetings.set_uses, sizes_of(of_sets[0]))
    for label, count in zip(of_sets[1].tolist(), per_label.tolist(), strict=True):
        name = labels[label].name
        counts[name] = counts.get(name, 0) + count
    rare = {name for name, count in counts.items() if count < least - 1e-9 and name != ""}
    return np.array([label.name not in rare for label in labels], bool)


def _edge_labels(
    dependencies: Sequence[str], relations: Sequence[Relation]
) -> tuple[list[WordLabel], list[NodeLabel], tuple[NDArray[np.int64], ...]]:
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


def _ragged(contents: Sequence[Any], labels: Interner[Any]) -> _Ragged:
    """Flatten labels into arrays of starts, label indices and amounts."""
    table = PartTable.of(contents)
    flat = list(chain.from_iterable(table.parts))
    # Shared pairs of label and amount are looked up by identity, so each label is hashed once.
    places = list(map(id, flat))
    number = {place: labels(pair[0]) for place, pair in dict(zip(places, flat)).items()}  # noqa: B905
    label = np.array([number[place] for place in places], np.int32)
    amount = np.array([pair[1] for pair in flat], np.float64)
    ends = starts_of(np.array(list(map(len, table.parts)), np.int64))
    sizes = sizes_of(ends)[table.part]
    entries = entries_of(ends[table.part], sizes)
    return starts_of(sizes)[table.starts].astype(np.int32), label[entries], amount[entries]


def _parts(labels: Sequence[NodeLabel]) -> Integers:
    """Return the number of each label's prefix.

    The prefix is the part of the name before the first `.`; equal prefixes have equal numbers.
    """
    names = Interner[str]()
    return np.array([names(each.name.partition(".")[0]) for each in labels], np.int32)


def _agreeing(
    words: Sequence[WordLabel], nodes: Sequence[NodeLabel], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of chosen word labels and node labels with equal meanings."""
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


Rows = tuple[Integers, Integers, Reals]
"""The node labels that a word label joins with, the features, and their values."""


class Spelled(NamedTuple):
    """The labels of nodes as indices into the list of distinct labels."""

    age: object  # identifies the state of the cache; replaced when the cache is cleared
    starts: Integers
    label: NDArray[Any]
    amount: Reals
    occurring: Integers  # the cached labels among them
    blocks: list[int]  # blocks of these labels
    passing: NodeTable  # labels that are not cached; numbered after the cached ones


_Known = tuple[Part, bytes, Reals | None]
"""The labels of a part, their indices, and their amounts (None if all are 1)."""


class JoinedLabels:
    """A cache of joined labels for a feature space that no longer grows.

    Most words and things in a request appeared in earlier requests, so joined labels are reused.
    Pairs of labels that have no feature are dropped.

    Parameters
    ----------
    space
        The feature space, which must not have user-defined joining functions (see `fits`).
    """

    def __init__(self, space: FeatureSpace) -> None:
        self.space = space
        self._keys = space.keys
        self._lock = threading.Lock()  # requests may run in several threads
        self._forget()

    def _forget(self) -> None:
        self._age = object()
        self._ones = np.ones(0)
        self._nodes = Interner[NodeLabel]()
        self._table = NodeTable(self.space, self._nodes.items)
        # Labels are stored as bytes, because small arrays take much more memory.
        self._contents: dict[int, _Known] = {}
        self._listed = 0  # total size of these, in numbers
        self._recurring = Sightings()
        self._words: dict[WordLabel, Rows] = {}
        # How many labels of each block a word has been joined with. Joining by blocks makes the
        # cost of a request independent of the size of the cache.
        self._done: dict[WordLabel, dict[int, int]] = {}
        self._edges: dict[tuple[str, Relation], tuple[Integers, Reals]] = {}
        self._passing = 0  # number of labels computed without the cache
        self.entries = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return JoinedLabels, (self.space,)  # copies start with an empty cache

    @property
    def bytes(self) -> int:
        """Approximate size of the cache in bytes."""
        return 12 * self.entries + 300 * len(self._nodes)

    def fits(self, space: FeatureSpace) -> bool:
        """Return whether the cache is valid for a feature space.

        A cache is valid for the space that it was created for, until the features of that space
        change. It is never valid for a space with user-defined joining functions.
        """
        return self.space is space and self._keys is space.keys and not space.own

    def tables(
        self, meetings: Meetings, *, edge_scores: bool, spelled: Spelled | None = None
    ) -> tuple[LabelTables, Spelled]:
        """Return the tables of `join_labels` without `grow`, and the labels of the nodes.

        To avoid reading the labels of the same nodes again, pass those that an earlier call
        returned as `spelled`.
        """
        with self._lock:
            if self.entries > _MOST_ENTRIES or self._passing > _MOST_PASSING:
                self._forget()
            if self._listed > _MOST_CONTENTS:
                self.entries -= self._listed
                self._contents, self._listed = {}, 0
            if spelled is None or spelled.age is not self._age:
                spelled = self._spell(meetings.nodes)
            return self._tables(meetings, edge_scores, spelled), spelled

    def _tables(self, meetings: Meetings, edge_scores: bool, spelled: Spelled) -> LabelTables:
        words = Interner[WordLabel]()
        of_sets = _ragged(meetings.sets, words)
        starts, row_label, feature, value = self._rows(words.items, spelled)
        edges = self._join_edges(meetings, edge_scores)
        return LabelTables(
            *of_sets, spelled.starts, spelled.label.astype(np.int32), spelled.amount,
            # Sharing parts pays off only for tables that are scored repeatedly.
            np.zeros(len(spelled.occurring) + len(spelled.passing.labels), np.int32),
            starts, row_label, feature, value, meetings.set_pairs(), meetings.pair_node,
            starts_of(np.array([len(each[0]) for each in edges], np.int64), np.int32),
            concatenated([each[0] for each in edges], np.int32),
            concatenated([each[1] for each in edges], np.float64),
        )  # fmt: skip

    def _rows(
        self, words: list[WordLabel], spelled: Spelled
    ) -> tuple[Integers, Integers, Integers, Reals]:
        kept = self._keeps(words, spelled)
        rows = self._join([w for w, is_kept in zip(words, kept, strict=True) if is_kept],
                          spelled.blocks)  # fmt: skip
        # Renumber the labels that occur, so that tables stay small.
        place = np.full(len(self._nodes), -1, np.int32)
        place[spelled.occurring] = np.arange(len(spelled.occurring), dtype=np.int32)
        own = np.flatnonzero(kept)
        found = [
            (np.repeat(own, [len(each[0]) for each in rows]),
             place[concatenated([each[0] for each in rows], np.int32)],
             concatenated([each[1] for each in rows], np.int32),
             concatenated([each[2] for each in rows], np.float64))
        ]  # fmt: skip
        others = np.array([n for n, w in enumerate(words) if not kept[n] and self._joins(w)], int)
        found.append(self._anew(words, others, self._table, spelled.occurring, 0))
        passing = np.arange(len(spelled.passing.labels))
        every = [n for n, word in enumerate(words) if kept[n] or self._joins(word)]
        after = len(spelled.occurring)
        some = self._joins_new(words, every, spelled.passing)
        found.append(self._anew(words, some, spelled.passing, passing, after))
        owner, label, feature, value = (np.concatenate(each) for each in zip(*found, strict=True))
        order = np.argsort(owner, kind="stable")
        order = order[label[order] >= 0]
        starts = starts_of(np.bincount(owner[order], minlength=len(words)), np.int32)
        return starts, label[order], feature[order], value[order]

    def _anew(
        self,
        words: Sequence[WordLabel],
        chosen: NDArray[Any],
        table: NodeTable,
        numbers: NDArray[Any],
        first: int,
    ) -> tuple[NDArray[Any], Integers, Integers, Reals]:
        """Join words with the labels of a table without using the cache."""
        if not len(chosen) or not len(numbers):
            return np.zeros(0, np.int64), *_NOTHING
        table.extend()
        pair_words, places = _joinable(words, chosen, table, numbers)
        joined = self.space.join(words, table, pair_words, numbers[places])
        features = self.space.places(joined.key)
        exists = features >= 0
        pairs = joined.pair[exists]
        labels = (first + places[pairs]).astype(np.int32)
        return pair_words[pairs], labels, features[exists].astype(np.int32), joined.value[exists]

    def _joins_new(self, words: Sequence[WordLabel], places: list[int], table: NodeTable) -> Any:
        if not ((table.plain >= 0) | (table.value >= 0)).any():
            places = [place for place in places if words[place].kind]
        return np.array(places, int)

    def _joins(self, word: WordLabel) -> bool:
        """Return whether a word label may have features.

        It may if it occurred in training, or if it is the spelling of a word.
        """
        return word.kind == STRING or word.name in self.space.word_names

    def _keeps(self, words: Sequence[WordLabel], spelled: Spelled) -> list[bool]:
        """Return, for each word, whether to cache its joined features.

        In small requests, a word is cached when it is joined with the same labels a second time.
        The number of cached words is limited.
        """
        ends = self._ends(spelled.blocks).items()
        room = len(self._done) < _KEPT
        few = len(words) * len(spelled.occurring) < _TOGETHER // 10
        kept = []
        for word in words:
            done = self._done.get(word)
            if done is None and not (room and self._joins(word)):
                kept.append(False)
            elif done is None or not ends <= done.items():
                missing = tuple(spelled.blocks) if done is None else tuple(ends - done.items())
                kept.append(not few or self._recurring.again((word, missing)))
            else:
                kept.append(True)
        return kept

    def _ends(self, blocks: Sequence[int]) -> dict[int, int]:
        return {block: min(len(self._nodes), (block + 1) * _BLOCK) for block in blocks}

    def _spell(self, contents: Sequence[NodeContent]) -> Spelled:
        passing = Interner[NodeLabel]()
        table, kept = PartTable.of(contents), self._contents
        found = [kept.get(id(part)) for part in table.parts]
        new = [part for part, known in zip(table.parts, found, strict=True) if known is None]
        listed, amounts = self._number_labels(new, passing)
        # Cached parts come first.
        order = np.array([known is None for known in found], np.bool_).argsort(kind="stable")
        place_of_part = np.empty(len(found), np.int64)
        place_of_part[order] = np.arange(len(found))
        sizes = [len(known[1]) // 4 for known in found if known]
        ends = starts_of(np.array(sizes + list(map(len, new)), np.int64))
        labels = np.frombuffer(b"".join([known[1] for known in found if known]), np.int32)
        amount = np.ones(len(labels))
        for place, (_, _, given) in enumerate(filter(None, found)):
            if given is not None:
                amount[ends[place] : ends[place + 1]] = given
        labels, amount = np.append(labels, listed), np.append(amount, amounts)
        run = place_of_part[table.part]
        sizes = sizes_of(ends)[run]
        chosen = entries_of(ends[run], sizes)
        starts = starts_of(sizes)[table.starts]
        labels, amount = labels[chosen], amount[chosen]
        amount = self._all_one(len(chosen)) if np.all(amount == 1.0) else amount
        seen = np.zeros(_KEPT + len(passing), np.bool_)
        seen[labels] = True
        numbers = np.flatnonzero(seen)
        place_of = np.zeros(len(seen), np.uint16 if len(numbers) < 2**16 else np.int32)
        place_of[numbers] = np.arange(len(numbers))
        # Every label that is not cached gets an index, even if no node has it.
        occurring = numbers[numbers < _KEPT].astype(np.int32)
        place_of[_KEPT:] = len(occurring) + np.arange(len(passing))
        blocks = np.unique(occurring // _BLOCK).tolist()
        self._passing += len(passing)
        others = NodeTable(self.space, passing.items)
        return Spelled(
            self._age, starts.astype(np.int32), place_of[labels], amount, occurring, blocks, others
        )

    def _number_labels(
        self, parts: Sequence[Part], passing: Interner[NodeLabel]
    ) -> tuple[Integers, Reals]:
        """Return the label indices and amounts of parts; cache those of recurring parts."""
        flat = list(chain.from_iterable(parts))
        labels = [label for label, _ in flat]
        numbers: list[Any] = self._nodes.find(labels)
        if None in numbers:
            pairs = zip(labels, numbers, strict=True)
            numbers = [self._number(e, passing) if n is None else n for e, n in pairs]
        listed, amounts = np.array(numbers, np.int32), np.array([each[1] for each in flat])
        end = 0
        for part in parts:
            begin, end = end, end + len(part)
            if end > begin and max(numbers[begin:end]) >= _KEPT:
                continue
            # The entry refers to the part, so that its id is not reused.
            if self._recurring.again(id(part)):
                given = amounts[begin:end]
                known = (
                    part,
                    listed[begin:end].tobytes(),
                    None if np.all(given == 1.0) else given.copy(),
                )
                self._contents[id(part)] = known
                self.entries += end - begin + 10
                self._listed += end - begin + 10
        return listed, amounts

    def _number(self, label: NodeLabel, passing: Interner[NodeLabel]) -> int:
        if label in self._nodes or len(self._nodes) < _KEPT:
            return self._nodes(label)
        return _KEPT + passing(label)

    def _all_one(self, count: int) -> Reals:
        """Return an array of ones, as a view of shared memory."""
        if len(self._ones) < count:
            self._ones = np.ones(2 * count)
        return self._ones[:count]

    def _join(self, words: list[WordLabel], blocks: list[int]) -> list[Rows]:
        """Return the cached rows of word labels, after computing missing rows in batches."""
        ends = self._ends(blocks)
        behind: dict[tuple[tuple[int, int], ...], list[WordLabel]] = {}
        for word in words:
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
        """Join words with the node labels at the given indices."""
        self._table.extend()
        pair_words, places = _joinable(words, range(len(words)), self._table, numbers)
        joined = self.space.join(words, self._table, pair_words, numbers[places])
        starts, pairs, *found = _rows(self.space, joined, pair_words, len(words))
        parts = (numbers[places[pairs]], *found)
        return zip(*(np.split(each, starts[1:-1]) for each in parts), strict=True)

    def _join_edges(self, meetings: Meetings, edge_scores: bool) -> list[tuple[Integers, Reals]]:
        """Return the joined features of each dependency with each relation."""
        found = []
        for dependency in meetings.dependencies:
            for relation in meetings.relations:
                if not edge_scores:
                    found.append(_NO_EDGE)
                    continue
                known = self._edges.get((dependency, relation))
                if known is None:
                    words, nodes, (word, node, row) = _edge_labels([dependency], [relation])
                    joined = self.space.join(words, nodes, word, node)
                    *_, features, values = _rows(self.space, joined, row, 1)
                    known = features, values
                    self._edges[dependency, relation] = known
                    self.entries += len(known[0]) + 20
                found.append(known)
        return found


def _joinable(
    words: Sequence[WordLabel], chosen: Iterable[int], table: NodeTable, numbers: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return index pairs of chosen word labels and the node labels they can join.

    A word label without a value can join any label that has a name in the feature space. One with
    a value joins only node labels of the same value, and the spelling of a word joins only slots
    whose value is a string.
    """
    named = (table.plain[numbers] >= 0) | (table.value[numbers] >= 0)
    spelt = (table.text[numbers] >= 0) & (table.slot[numbers] >= 0)
    meaning = table.meaning[numbers]
    nodes: dict[Any, NDArray[np.int64]] = {"": named.nonzero()[0], STRING: spelt.nonzero()[0]}
    found = []
    for place in chosen:
        word = words[place]
        key: Any = word.kind
        if key not in ("", STRING):
            key = -1 if (known := meaning_of(word)) is None else table.meanings.get(known, -1)
            if key not in nodes:
                nodes[key] = (meaning == key).nonzero()[0] if key >= 0 else _NOWHERE
        found.append(nodes[key])
    sizes = [len(each) for each in found]
    return np.repeat(np.array(chosen, np.int64), sizes), concatenated(found, np.int64)


_NOWHERE = np.zeros(0, np.int64)
_NOTHING: Rows = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
_NO_EDGE: tuple[Integers, Reals] = (np.zeros(0, np.int32), np.zeros(0))
