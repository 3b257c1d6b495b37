"""Joined features φ: features of pairs of a word label and a node label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel

from groundling.errors import SettingError, did_you_mean
from groundling.features.labels import NUMBER, RANK, STRING, NodeLabel, WordLabel, meaning_of
from groundling.ragged import renumbered, starts_of
from groundling.trust import check_pattern

JoiningFunction: TypeAlias = Callable[[WordLabel, NodeLabel], Iterable[tuple[str, float]]]

JOINS = ("conjunction", "slot", "similarity", "contains")
_KNOWN_JOINS = (*JOINS, "value")
_CONJUNCTION, _SLOT, _SIMILARITY, _CONTAINS, _OWN = range(5)
_SHIFT = 29  # key = join << 58 | word name << 29 | node name


@dataclass
class Joins:
    """The joined features of (word label, node label) pairs, one row per feature.

    `pair[i]` is the index of the pair, `key[i]` identifies the feature (see
    `FeatureSpace.name`), and `value[i]` is the feature value.
    """

    pair: NDArray[np.int64]
    key: NDArray[np.int64]
    value: NDArray[np.float64]


@dataclass
class FeatureSpace:
    """An index of joined features: maps pairs of labels to positions in θ.

    Parameters
    ----------
    joins
        Joining functions, by name or as callables that take a word label and a node label and
        return (feature name, value) pairs. The names are:

        - `conjunction`: both labels are present (`word=top ∧ side=North`); the feature is
          multiplied by the node's number, if it has one;
        - `slot`: the word and the node have the same value (`word=‹floor› ∧ front.floor~`);
        - `value`: a word that matches no value, with a value of a slot
          (`word=bricky ∧ front.floor=brick`);
        - `similarity`: the string similarity of a word and a value (`string≈name`);
        - `contains`: the word is one of the words of a value (`string∈name`).
    slots
        The kinds whose values are used only by `slot` and `value` (see `NodeLabeller`).
    min_count
        Minimum number of occurrences of a feature in the demonstrated plans.
    include, exclude
        Regular expressions for feature names. A feature is kept if its name matches `include`
        and does not match `exclude`.

    Examples
    --------
    >>> space = FeatureSpace(slots=("floor",))
    >>> words = [WordLabel("word=top"), WordLabel("word=‹floor›", "floor", "brick")]
    >>> nodes = [NodeLabel("side", "side", "North"), NodeLabel("front.floor", "floor", "brick")]
    >>> joined = space.join(words, nodes, np.array([0, 1]), np.array([0, 1]), grow=True)
    >>> [space.name(key) for key in joined.key]
    ['word=top ∧ side=North', 'word=‹floor› ∧ front.floor~']
    """

    joins: tuple[str | JoiningFunction, ...] = JOINS
    slots: tuple[str, ...] = ()
    min_count: float = 1
    include: str = ""
    exclude: str = ""
    word_names: dict[str, int] = field(default_factory=dict)
    node_names: dict[str, int] = field(default_factory=dict)
    keys: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __post_init__(self) -> None:
        self.joins = tuple(self.joins)
        for each in self.joins:
            if not callable(each) and each not in _KNOWN_JOINS:
                raise SettingError(
                    f"`joins` must be known names or functions; got {each!r}."
                    f"{did_you_mean(each, _KNOWN_JOINS)}"
                )
        for pattern in (self.include, self.exclude):
            try:
                check_pattern(pattern)
                re.compile(pattern)
            except (re.error, ValueError) as error:
                raise SettingError(
                    f"`include` and `exclude` must be regular expressions; got {pattern[:60]!r} "
                    f"({str(error).rstrip('.')})."
                ) from error

    @property
    def own(self) -> tuple[JoiningFunction, ...]:
        """The user-defined joining functions."""
        return tuple(each for each in self.joins if callable(each))

    def __len__(self) -> int:
        return len(self.keys)

    # ---- joining ------------------------------------------------------------------------

    def join(
        self,
        words: Sequence[WordLabel],
        nodes: Sequence[NodeLabel] | NodeTable,
        pair_words: NDArray[Any],
        pair_nodes: NDArray[Any],
        *,
        grow: bool = False,
    ) -> Joins:
        """Join pairs of labels, given by their indices in `words` and `nodes`.

        With `grow`, unknown label names are added; otherwise they join nothing. Pass a
        `NodeTable` as `nodes` to reuse the properties of node labels between calls.
        """
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
        word_name = self._places(self.word_names, [w.name for w in words], grow)
        table = nodes if isinstance(nodes, NodeTable) else NodeTable(self, nodes, grow=grow)
        plain, slot = table.plain, table.slot
        if "conjunction" in self.joins:
            # Only slots and similarity use labels with a value.
            visible = np.array([not w.kind for w in words], bool)
            chosen = np.flatnonzero(
                visible[pair_words] & (plain[pair_nodes] >= 0) & (word_name[pair_words] >= 0)
            )
            key = _key(_CONJUNCTION, word_name[pair_words[chosen]], plain[pair_nodes[chosen]])
            found.append((chosen, key, np.ones(len(chosen))))
        if "value" in self.joins:
            found.append(self._values(words, table, pair_words, pair_nodes, word_name))
        if "slot" in self.joins:
            chosen = self._agreeing(words, table, pair_words, pair_nodes)
            chosen = chosen[(word_name[pair_words[chosen]] >= 0) & (slot[pair_nodes[chosen]] >= 0)]
            key = _key(_SLOT, word_name[pair_words[chosen]], slot[pair_nodes[chosen]])
            found.append((chosen, key, np.ones(len(chosen))))
        if "similarity" in self.joins or "contains" in self.joins:
            found += self._strings(words, table, pair_words, pair_nodes)
        if self.own:
            found.append(self._own_joins(words, table.labels, pair_words, pair_nodes, grow))
        pairs, keys, values = (
            np.concatenate([each[part] for each in found]) if found else np.empty(0)
            for part in range(3)
        )
        order = np.argsort(pairs, kind="stable")
        return Joins(
            pairs[order].astype(np.int64), keys[order].astype(np.int64), values[order].astype(float)
        )

    @staticmethod
    def _values(
        words: Sequence[WordLabel],
        table: NodeTable,
        pair_words: NDArray[Any],
        pair_nodes: NDArray[Any],
        word_name: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the features of the join `value`: words that match no value, with slot values."""
        # Combinations of words would overfit, so only single words are joined.
        alone = np.array(
            [not w.kind and w.name.startswith("word=") and "‹" not in w.name for w in words], bool
        )
        value = table.value
        chosen = np.flatnonzero(
            alone[pair_words] & (value[pair_nodes] >= 0) & (word_name[pair_words] >= 0)
        )
        key = _key(_CONJUNCTION, word_name[pair_words[chosen]], value[pair_nodes[chosen]])
        return chosen, key, np.ones(len(chosen))

    @staticmethod
    def _places(
        table: dict[str, int], names: Iterable[str], grow: bool, skip: str | None = None
    ) -> NDArray[np.int64]:
        if grow:
            places = [-1 if n == skip else table.setdefault(n, len(table)) for n in names]
        else:
            places = [-1 if n == skip else table.get(n, -1) for n in names]
        return np.array(places, np.int64)

    @staticmethod
    def _agreeing(
        words: Sequence[WordLabel],
        table: NodeTable,
        pair_words: NDArray[Any],
        pair_nodes: NDArray[Any],
    ) -> NDArray[np.int64]:
        """Return the pairs of labels whose kinds and values are equal."""
        known = table.meanings
        meanings = [meaning_of(word) for word in words]
        of_words = np.array([-1 if m is None else known.get(m, -1) for m in meanings], np.int64)
        chosen = of_words[pair_words]
        return np.flatnonzero((chosen >= 0) & (chosen == table.meaning[pair_nodes]))

    def _strings(
        self,
        words: Sequence[WordLabel],
        table: NodeTable,
        pair_words: NDArray[Any],
        pair_nodes: NDArray[Any],
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
        spelled = np.array([w.kind == STRING for w in words], bool)
        text, slot = table.text, table.slot
        chosen = np.flatnonzero(
            spelled[pair_words] & (text[pair_nodes] >= 0) & (slot[pair_nodes] >= 0)
        )
        ratios, inside = np.zeros(len(chosen)), np.zeros(len(chosen))
        # Compare words in small batches, and each distinct pair of strings once.
        group = pair_words[chosen] // _TOGETHER
        order = np.argsort(group, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            of_words, word = renumbered(pair_words[chosen[some]])
            of_names, name = renumbered(text[pair_nodes[chosen[some]]])
            alike, holds = _alike(
                [str(words[place].value).lower() for place in of_words.tolist()],
                [table.texts[number] for number in of_names.tolist()],
            )
            ratios[some], inside[some] = alike[word, name], holds[word, name]
        found = []
        for join, code, values in (
            ("similarity", _SIMILARITY, ratios),
            ("contains", _CONTAINS, inside),
        ):
            if join in self.joins:
                fires = np.flatnonzero(values)
                slots = slot[pair_nodes[chosen[fires]]]
                key = _key(code, np.zeros(len(fires), np.int64), slots)
                found.append((chosen[fires], key, values[fires]))
        return found

    def _own_joins(
        self,
        words: Sequence[WordLabel],
        nodes: Sequence[NodeLabel],
        pair_words: NDArray[Any],
        pair_nodes: NDArray[Any],
        grow: bool,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        pairs, names, values = [], [], []
        for pair, (w, n) in enumerate(zip(pair_words, pair_nodes, strict=True)):
            for function in self.own:
                for name, value in _apply(function, words[w], nodes[n]):
                    pairs.append(pair)
                    names.append(name)
                    values.append(value)
        places = self._places(self.word_names, names, grow)
        known = places >= 0
        key = _key(_OWN, places[known], np.zeros(int(known.sum()), np.int64))
        return np.array(pairs, np.int64)[known], key, np.array(values)[known]

    # ---- the index ----------------------------------------------------------------------

    def index(self, keys: NDArray[np.int64], counts: NDArray[np.float64]) -> None:
        """Replace the index: keep features that are frequent enough and pass the filters."""
        distinct, where = np.unique(keys, return_inverse=True)
        total = np.bincount(where, weights=counts, minlength=len(distinct))
        kept = total >= self.min_count
        if self.include or self.exclude:
            wanted, unwanted = re.compile(self.include), re.compile(self.exclude or r"(?!)")
            for place in np.flatnonzero(kept):
                name = self.name(int(distinct[place]))
                kept[place] = bool(wanted.search(name)) and not unwanted.search(name)
        self.keys = distinct[kept]

    def places(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position of each feature in θ, or -1 if it is not in this space."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, -1)

    def translate(self, other: FeatureSpace) -> NDArray[np.int64]:
        """Return the position in this space of each feature of another space, or -1."""
        joins, words, nodes = (
            other.keys >> (2 * _SHIFT), (other.keys >> _SHIFT) & _MASK, other.keys & _MASK
        )  # fmt: skip
        # Some joins use the name of only one label; the index of the other is 0.
        one, both = np.zeros(1, np.int64), (_CONJUNCTION, _SLOT)
        here_words = np.append(self._places(self.word_names, other.word_names, False), one)
        here_nodes = np.append(self._places(self.node_names, other.node_names, False), one)
        words = np.where(np.isin(joins, (*both, _OWN)), here_words[words], 0)
        nodes = np.where(joins == _OWN, 0, here_nodes[nodes])
        places = self.places((joins << (2 * _SHIFT)) | (words << _SHIFT) | nodes)
        return np.where((words < 0) | (nodes < 0), -1, places)

    def conjunctions(self, pairs: Iterable[tuple[str, str]]) -> NDArray[np.int64]:
        """Return the keys of the conjunctions of label names; unknown names are skipped."""
        known = [
            (self.word_names[word], self.node_names[node])
            for word, node in pairs
            if word in self.word_names and node in self.node_names
        ]
        words, nodes = np.array(known, np.int64).reshape(-1, 2).T
        return _key(_CONJUNCTION, words, nodes)

    def name(self, key: int) -> str:
        """Return the name of a feature, such as `word=top ∧ side=North`, from its key."""
        join, word, node = int(key) >> 58, (int(key) >> _SHIFT) & _MASK, int(key) & _MASK
        words, nodes = self._listed()
        if join == _OWN:
            return words[word]
        if join == _SIMILARITY:
            return f"string≈{nodes[node]}"
        if join == _CONTAINS:
            return f"string∈{nodes[node]}"
        right = nodes[node] + ("~" if join == _SLOT else "")
        return f"{words[word]} ∧ {right}" if words[word] else right

    def names(self) -> list[str]:
        """Return the names of all features, in the order of θ."""
        return [self.name(key) for key in self.keys]

    def _listed(self) -> tuple[list[str], list[str]]:
        # Entries are only ever appended, so the lists are valid until the tables grow.
        cached: tuple[list[str], list[str]] | None = getattr(self, "_lists", None)
        if cached is None or (len(cached[0]), len(cached[1])) != (
            len(self.word_names),
            len(self.node_names),
        ):
            cached = (list(self.word_names), list(self.node_names))
            self._lists = cached
        return cached


class NodeTable:
    """The properties of node labels that joining functions need.

    In the example, the value *sofa* of a slot has a text, and the label *go* has none:

    >>> space = FeatureSpace(slots=("item",))
    >>> table = NodeTable(space, [NodeLabel("go"), NodeLabel("item", "item", "sofa")], grow=True)
    >>> table.text.tolist(), table.texts
    ([-1, 0], [('sofa',)])
    """

    def __init__(
        self, space: FeatureSpace, labels: Sequence[NodeLabel], *, grow: bool = False
    ) -> None:
        self.space = space
        self.labels: Sequence[NodeLabel] = labels
        self.meanings: dict[tuple[str, str | float], int] = {}
        self.texts: list[tuple[str, ...]] = []  # the words of each value, then the whole value
        self._text_of: dict[str, int] = {}
        self._known: dict[tuple[str, str | float], tuple[int, int]] = {}  # by kind and value
        self._columns = np.empty((5, 0), np.int64)
        self._count = 0
        self.extend(grow=grow)

    def extend(self, *, grow: bool = False) -> None:
        """Compute the properties of labels that were added to `labels`."""
        new = self.labels[self._count :]
        if not new:
            return
        space, end = self.space, self._count + len(new)
        if end > self._columns.shape[1]:
            longer = np.empty((5, 2 * end), np.int64)
            longer[:, : self._count] = self._columns[:, : self._count]
            self._columns = longer
        hidden, slots = {*space.slots, NUMBER, RANK}, space.slots
        valued = ["" if n.value is None else n.name for n in new]
        plain = [
            "" if n.kind in hidden else n.name if n.value is None else f"{n.name}={n.value}"
            for n in new
        ]
        columns: list[Any] = [
            space._places(space.node_names, plain, grow, skip=""),
            space._places(space.node_names, valued, grow, skip=""),
            [-1] * len(new),
            *zip(*[self._read(each) for each in new], strict=True),
        ]
        if "value" in space.joins:
            named = [f"{n.name}={n.value}" if n.kind in slots else "" for n in new]
            columns[2] = space._places(space.node_names, named, grow, skip="")
        self._columns[:, self._count : end] = columns
        self._count = end

    def _read(self, label: NodeLabel) -> tuple[int, int]:
        """Return the index of a label's (kind, value) pair in `meanings`, and of its text.

        Both are -1 for a label without a value. The text is an index in `texts`.
        """
        if label.value is None:
            return -1, -1
        key = label.kind, label.value
        found = self._known.get(key)
        if found is None:
            meaning, place = meaning_of(label), -1
            if meaning is not None:
                place = self.meanings.setdefault(meaning, len(self.meanings))
            found = self._known[key] = place, self._text(label)
        return found

    def _text(self, label: NodeLabel) -> int:
        if not isinstance(label.value, str) or label.kind == RANK:
            return -1
        text = label.value.lower()
        found = self._text_of.get(text)
        if found is None:
            found = self._text_of[text] = len(self.texts)
            self.texts.append(tuple(dict.fromkeys((*text.split(), text))))
        return found

    @property
    def plain(self) -> NDArray[np.int64]:
        """For each label, the index of its name in conjunctions, or -1."""
        return self._columns[0, : self._count]

    @property
    def slot(self) -> NDArray[np.int64]:
        """For each label, the index of the name of its slot feature, or -1."""
        return self._columns[1, : self._count]

    @property
    def value(self) -> NDArray[np.int64]:
        """For each label, the index of its name in features of the join `value`, or -1."""
        return self._columns[2, : self._count]

    @property
    def meaning(self) -> NDArray[np.int64]:
        """For each label, the index of its (kind, value) pair in `meanings`, or -1."""
        return self._columns[3, : self._count]

    @property
    def text(self) -> NDArray[np.int64]:
        """For each label, the index of its value in `texts`, or -1."""
        return self._columns[4, : self._count]


def _alike(
    words: Sequence[str], names: Sequence[Sequence[str]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the similarity of words to names, and whether names contain the words.

    Each name is a list of its words, followed by the whole name.
    """
    if not words or not names:
        return np.zeros((0, 0)), np.zeros((0, 0), np.bool_)
    starts = starts_of(np.array([len(each) for each in names], np.int64))[:-1]
    pieces = list(chain.from_iterable(names))
    ratios = process.cdist(words, pieces, scorer=Indel.normalized_similarity, dtype=np.float64)
    best = np.maximum.reduceat(ratios, starts, axis=1)
    # A word with spaces can equal a whole name, but is not one of its words.
    single = np.array([[word] == word.split() for word in words], bool)
    return np.where(best >= _ALIKE, best, 0.0), (best == 1.0) & single[:, None]


_MASK = (1 << _SHIFT) - 1
_TOGETHER = 32  # words compared at a time
_ALIKE = 0.7  # similarities below this count as 0
_MOST_VALUE = 1e30  # squares and sums of larger values overflow


def name_of(function: JoiningFunction) -> str:
    """Return the name of a joining function, as stored in model files.

    >>> name_of(max)
    'max'
    """
    return str(getattr(function, "__name__", type(function).__name__))


def _apply(function: JoiningFunction, word: WordLabel, node: NodeLabel) -> list[tuple[str, float]]:
    """Call a user-defined joining function, and check the pairs that it returns."""
    try:
        found = [(str(name), float(value)) for name, value in function(word, node)]
    except Exception as error:
        raise SettingError(
            f"The joining function {name_of(function)} must take a word label and a node label, "
            f"and return a list of (feature name, value) pairs. For {word.name!r} and "
            f"{node.name!r} it raised {type(error).__name__}: {error}. Correct the function."
        ) from error
    for name, value in found:
        if not abs(value) <= _MOST_VALUE:
            raise SettingError(
                f"The joining function {name_of(function)} must return values within "
                f"±{_MOST_VALUE:g}; got {value} for the feature {name!r} of {word.name!r} and "
                f"{node.name!r}."
            )
    return found


def _key(join: int, word: NDArray[np.int64], node: NDArray[np.int64]) -> NDArray[np.int64]:
    return (np.int64(join) << 58) | (word.astype(np.int64) << _SHIFT) | node.astype(np.int64)
