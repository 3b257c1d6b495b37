"""Grounding graphs: an action and its two states as labelled nodes and edges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from groundling.cache import Sightings
from groundling.errors import GraphError
from groundling.limits import GRAPH_EDGES, GRAPH_LABELS, GRAPH_NODES, LABEL_CHARACTERS
from groundling.world.reprs import shorten

MOST_NUMBER = 1e30  # squares and sums of larger numbers overflow


class Label(NamedTuple):
    """One label of a node, an edge or a word: an indicator, a string or a number.

    >>> print(Label("move"), Label("floor", "brick"), Label("distance", 2.0))
    move floor=brick distance=2
    """

    name: str
    value: str | float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        if isinstance(self.value, float):
            return f"{self.name}={self.value:g}"
        return f"{self.name}={self.value}"


LabelValue: TypeAlias = bool | str | int | float | None
Labels: TypeAlias = "Mapping[str, LabelValue | Iterable[str | float]] | Iterable[str | Label] | str"


def labels_of(labels: Labels, where: str = "a node") -> tuple[Label, ...]:
    """Normalise labels into a sorted tuple without duplicates.

    A mapping gives each name a value: `True` for an indicator, a string, a number, or a collection
    of strings or numbers. `False` and `None` mean that the label is absent. Any other iterable
    lists the names of indicators. A result of this function is returned unchanged, so labels that
    many graphs share are normalised only once.

    >>> labels_of({"move": True, "distance": 2, "item": ["sofa", "lamp"], "wall": None})
    (Label(name='distance', value=2.0), Label(name='item', value='lamp'),
     Label(name='item', value='sofa'), Label(name='move', value=None))
    >>> labels_of("start")
    (Label(name='start', value=None),)
    """
    known, key = _remembered(labels)
    if known is not None:
        return known
    read = _read_plain(labels) or _read_labels(labels, where)
    # Caching names that are new in every request would displace those that recur.
    if (
        key is not None
        and len(read) <= _SHORT
        and _SEEN.again(key)
        and sum(len(str(each)) for each in read) < 1000
    ):
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = read
    return read


def labels_of_each(listed: Sequence[Labels], where: str = "a node") -> list[tuple[Label, ...]]:
    """Normalise the labels of several nodes; faster than calling `labels_of` for each.

    >>> lamps = [{"item": "lamp", "lit": True}, {"item": "sofa", "lit": None}]
    >>> for labels in labels_of_each(lamps):
    ...     print(*labels)
    item=lamp lit
    item=sofa
    """
    given: Any = listed
    first = given[0] if len(given) > 1 else None
    if type(first) is dict and 0 < len(first) <= _SHORT and _NAMES.issuperset(map(type, first)):
        names = sorted(first)
        if all(type(each) is dict and each.keys() == first.keys() for each in given):
            columns = [_read_column(name, [each[name] for each in given]) for name in names]
            if all(columns):
                some = any(None in column for column in columns)
                rows = zip(*columns, strict=True)
                return [tuple(filter(None, row)) for row in rows] if some else list(rows)
    return [labels_of(each, where) for each in listed]


def _read_column(name: str, values: list[Any]) -> list[Any]:
    """Return the label of each value, or None for an absent one.

    Returns an empty list if a value is not plain; all labels must then be read one by one.
    """
    kinds = {*map(type, values)} - {type(None)}
    if len(kinds) > 1 or not kinds <= {str, bool} or len(name) > _BRIEF:
        return []
    read: dict[Any, Label | None] = {None: None, False: None}
    for value in values:
        if value not in read:
            if value is not True and len(value) > _BRIEF:
                return []
            label = Label(name, None if value is True else value)
            read[value] = _LABELS.get(label) or _shared(label)
    return [read[value] for value in values]


# Graphs repeat the same labels many times, so normalised labels are cached. Keys include types,
# because 1 == True == 1.0 but their labels differ. The cache is global, since graphs do not belong
# to a follower. It holds strings and numbers only: a few megabytes, and at most about thirty.
_KNOWN: dict[object, _Normalised] = {}
_SEEN = Sightings()
_MOST_KNOWN, _SHORT = 4_000, 30
_CLEAR = frozenset({str, bool, type(None)})  # for these types, equal values have equal types
_PLAIN, _NAMES = frozenset({str, int, float, bool, type(None)}), frozenset({str})
_LISTED = _PLAIN | {tuple, list, set, frozenset}


def _remembered(labels: Labels) -> tuple[_Normalised | None, object]:
    """Return the cached result for labels, or None, and the cache key if there is one."""
    key: object
    if type(labels) is dict and _CLEAR.issuperset(map(type, labels.values())):
        key = tuple(labels.items())
        known = _KNOWN.get(key)
        if known is not None:
            return known, key
        few = len(labels) <= _SHORT and _NAMES.issuperset(map(type, labels))
        return None, key if few else None
    if isinstance(labels, _Normalised):
        return labels, None
    if type(labels) is str:
        return _KNOWN.get(labels), labels
    if type(labels) is not dict or len(labels) > _SHORT:
        return None, None
    kinds = tuple(map(type, labels.values()))
    if not _NAMES.issuperset(map(type, labels)):
        return None, None
    if _PLAIN.issuperset(kinds):
        key = (tuple(labels.items()), kinds)
    elif _LISTED.issuperset(kinds):
        listed = [_listed(value) for value in labels.values()]
        if None in listed:
            return None, None
        key = (tuple(labels), tuple(listed))
    else:
        return None, None
    return _KNOWN.get(key), key


def _listed(value: object) -> tuple[object, ...] | None:
    """Return a cache key with the types of items; None for large or unusual values."""
    if isinstance(value, (set, frozenset)):
        few = len(value) <= _SHORT and _NAMES.issuperset(map(type, value))
        return (set, frozenset(value)) if few else None
    if not isinstance(value, (tuple, list)):
        return (type(value), value)
    if len(value) > _SHORT or not _PLAIN.issuperset(map(type, value)):
        return None
    return (tuple(map(type, value)), tuple(value))


def _read_plain(labels: Labels) -> _Normalised | None:
    """Return the labels of a dictionary, or None if it has a value that is not plain."""
    if type(labels) is not dict or not _NAMES.issuperset(map(type, labels)):
        return None
    if not _PLAIN.issuperset(map(type, labels.values())):
        return None
    found = []
    for name in sorted(labels):
        value: Any = labels[name]
        if value is None or value is False:
            continue
        # A Label equals the tuple (name, value), so pairs suffice.
        label = _LABELS.get((name, None if value is True else value))  # type: ignore[call-overload]
        if label is None:
            if type(value) is not str or len(name) + len(value) > _BRIEF:
                return None
            label = _shared(Label(name, value))
        found.append(label)
    return _Normalised(found) if len(found) <= GRAPH_LABELS.least else None


def _read_labels(labels: Labels, where: str) -> _Normalised:
    found: set[Label] = set()
    if isinstance(labels, str):
        return _Normalised((Label(_text(labels, where)),))
    if isinstance(labels, Mapping):
        for name, value in labels.items():
            if isinstance(value, (bool, np.bool_)):
                if value:
                    found.add(Label(_text(name, where)))
            elif value is None:
                continue
            elif isinstance(value, (str, int, float)):
                found.add(Label(_text(name, where), _value(value, name, where)))
            elif isinstance(value, Iterable) and not isinstance(value, (Mapping, *_BYTES)):
                for each in GRAPH_LABELS.bounded(value, GraphError, where):
                    found.add(Label(_text(name, where), _value(each, name, where)))
            else:
                # such as NumPy scalars
                found.add(Label(_text(name, where), _value(value, name, where)))
    elif not isinstance(labels, Iterable):
        raise GraphError(
            f"The labels of {where} must be a mapping from names to values or a list of names; got "
            f"{shorten(labels)}."
        )
    else:
        for each in GRAPH_LABELS.bounded(labels, GraphError, where):
            if isinstance(each, Label):
                value = None if each.value is None else _value(each.value, each.name, where)
                found.add(Label(_text(each.name, where), value))
            elif isinstance(each, str):
                found.add(Label(_text(each, where)))
            else:
                raise GraphError(
                    f"A label of {where} must be a name or a Label; got {shorten(each)}. Use a "
                    "mapping from names to values."
                )
    GRAPH_LABELS.check(len(found), GraphError, where)
    return _Normalised(map(_shared, sorted(found, key=_order)))


_BYTES = (bytes, bytearray, memoryview)
_LABELS: dict[Label, Label] = {}
_MOST_LABELS_KNOWN = 20_000
_BRIEF = 100  # maximum characters of shared labels


def _shared(label: Label) -> Label:
    """Return one shared object for equal labels that recur, to save memory."""
    long = isinstance(label.value, str) and len(label.value) > _BRIEF
    if long or len(label.name) > _BRIEF or not _SEEN.again(label):
        return label
    if len(_LABELS) >= _MOST_LABELS_KNOWN:
        _LABELS.clear()
    return _LABELS.setdefault(label, label)


def _text(name: object, where: str) -> str:
    text = str(name)
    if len(text) > LABEL_CHARACTERS.least:
        LABEL_CHARACTERS.check(len(text), GraphError, f"The label {text[:40]!r}… of {where}")
    return text


class _Normalised(tuple[Label, ...]):
    """Normalised labels, as returned by `labels_of`."""

    __slots__ = ()


def _value(value: object, name: str, where: str) -> str | float:
    if isinstance(value, str):
        return _text(value, where)
    try:
        if isinstance(value, (bool, np.bool_, *_BYTES)):  # float(b"1") would succeed
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise GraphError(
            f"The value of the label {shorten(name)} of {where} must be True, a string, a number "
            f"or a collection of strings or numbers; got {shorten(value)}, a "
            f"{type(value).__name__}."
        ) from None
    if not math.isfinite(number):
        raise GraphError(
            f"The label {shorten(name)} of {where} must be finite; got {number}. "
            "Leave the label out if its value is unknown."
        )
    if abs(number) > MOST_NUMBER:
        raise GraphError(
            f"The label {shorten(name)} of {where} must be within ±{MOST_NUMBER:g}; got {number}. "
            "Use a larger unit."
        )
    return number


def _called(name: object) -> str:
    """Return a name as shown in messages; fast for short names."""
    return repr(name) if isinstance(name, str) and len(name) <= 80 else shorten(name)


def _order(label: Label) -> tuple[str, int, float, str]:
    if label.value is None:
        return label.name, 0, 0.0, ""
    if isinstance(label.value, str):
        return label.name, 2, 0.0, label.value
    return label.name, 1, label.value, ""


class GroundingGraph:
    """A rooted, labelled, directed graph (V, E, L, f_V, f_E).

    The graph may have cycles and self-loops.

    Parameters
    ----------
    nodes
        Labels by node name (see `labels_of`). Names only identify nodes: the model does not see
        them, so nodes with the same labels and relations are interchangeable.
    edges
        Triples (source, target, labels of the relation).
    root
        The name of the node that the sentence's root word aligns with. Default: the first node.
    roles
        Node names that have the same meaning in every graph (`"event"`, `"front"`). The model may
        see these. An environment declares them for all its graphs in its attribute `roles`.

    Examples
    --------
    >>> graph = GroundingGraph(
    ...     nodes={"event": {"move": True, "distance": 2}, "here": {"item": "sofa"}},
    ...     edges=[("event", "here", "to")],
    ... )
    >>> graph.root, graph.node_names
    ('event', ('event', 'here'))
    >>> print(graph)
    event*: distance=2, move
    here: item=sofa
    event -> here: to
    >>> graph.parts
    ('root', 'to')
    """

    __slots__ = ("_hash", "edges", "node_labels", "node_names", "roles", "root")

    node_names: tuple[str, ...]
    node_labels: tuple[tuple[Label, ...], ...]
    edges: tuple[tuple[str, str, tuple[Label, ...]], ...]
    root: str
    roles: frozenset[str]

    def __init__(
        self,
        nodes: Mapping[str, Labels],
        edges: Iterable[tuple[str, str, Labels]] = (),
        root: str | None = None,
        roles: Iterable[str] = (),
    ) -> None:
        if not nodes:
            raise GraphError(
                "A grounding graph must have at least one node; got none. Add a node for the event."
            )
        if not isinstance(nodes, Mapping):
            raise GraphError(
                "The nodes of a grounding graph must be a mapping from names to labels; got "
                f"{shorten(nodes)}."
            )
        GRAPH_NODES.check(len(nodes), GraphError, "A grounding graph")
        self.node_names = tuple(nodes)
        self.node_labels = tuple(
            [
                _remembered(labels)[0] or labels_of(labels, f"node {_called(name)}")
                for name, labels in nodes.items()
            ]
        )
        self.root = self.node_names[0] if root is None else root
        if self.root not in nodes:
            raise GraphError(
                f"The root of a graph must be one of its nodes, {shorten(list(nodes), 300)}; got "
                f"{shorten(self.root)}."
            )
        read: list[tuple[str, str, tuple[Label, ...]]] = []
        known: tuple[Label, ...] | None
        for edge in GRAPH_EDGES.bounded(edges, GraphError, "A grounding graph"):
            if isinstance(edge, str) or len(edge) != 3:
                raise GraphError(
                    f"An edge must be a triple (source, target, labels); got {shorten(edge)}."
                )
            source, target, labels = edge
            for end in () if source in nodes and target in nodes else (source, target):
                if end not in nodes:
                    raise GraphError(
                        f"The edge {shorten(source)} -> {shorten(target)} must join two "
                        f"nodes of the graph; got {shorten(end)}, which is not among "
                        f"{shorten(list(nodes), 300)}."
                    )
            known = _KNOWN.get(labels) if type(labels) is str else _remembered(labels)[0]
            if known is None:
                known = labels_of(labels, f"edge {_called(source)} -> {_called(target)}")
            read.append((source, target, known))
        self.edges = tuple(read)
        self.roles = frozenset(roles)
        self._hash = 0  # computed when it is needed

    def labels(self, node: str) -> tuple[Label, ...]:
        """Return the labels of a node."""
        return self.node_labels[self.node_names.index(node)]

    @property
    def parts(self) -> tuple[str, ...]:
        """The role of each node or, if it has none, the relation that leads to it."""
        if self.roles.issuperset(self.node_names):
            return self.node_names
        return _parts(self.node_names, self.edges, self.root, self.roles)

    def changed(
        self,
        labels: Mapping[str, tuple[Label, ...]] | None = None,
        roles: Iterable[str] | None = None,
    ) -> GroundingGraph:
        """Return a copy with new labels for some nodes, or with new roles.

        >>> graph = GroundingGraph({"event": "move", "here": "lit"})
        >>> print(graph.changed({"here": labels_of("dark")}))
        event*: move
        here: dark
        """
        other = GroundingGraph.__new__(GroundingGraph)
        other.node_names, other.edges, other.root = self.node_names, self.edges, self.root
        other.roles = self.roles if roles is None else frozenset(roles)
        other.node_labels, other._hash = self.node_labels, self._hash
        if labels:
            pairs = zip(self.node_names, self.node_labels, strict=True)
            other.node_labels = tuple([labels.get(name, own) for name, own in pairs])
            other._hash = 0
        return other

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes, excluding labels shared with other graphs."""
        return 600 + 40 * len(self) + 90 * len(self.edges)

    def __len__(self) -> int:
        return len(self.node_names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroundingGraph):
            return NotImplemented
        return hash(self) == hash(other) and (
            (self.node_names, self.node_labels, self.edges, self.root, self.roles)
            == (other.node_names, other.node_labels, other.edges, other.root, other.roles)
        )

    def __hash__(self) -> int:
        if not self._hash:
            self._hash = hash((self.node_names, self.node_labels, self.edges, self.root)) or 1
        return self._hash

    def __str__(self) -> str:
        lines = [
            f"{name}{'*' if name == self.root else ''}: {', '.join(map(str, labels))}"
            for name, labels in zip(self.node_names, self.node_labels, strict=True)
        ]
        lines += [
            f"{source} -> {target}: {', '.join(map(str, labels))}"
            for source, target, labels in self.edges
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"GroundingGraph({len(self)} node{'s' * (len(self) != 1)}, {len(self.edges)} "
            f"edge{'s' * (len(self.edges) != 1)}, root={self.root!r})"
        )


_Edges = tuple[tuple[str, str, tuple[Label, ...]], ...]


@lru_cache(maxsize=4096)
def _parts(
    names: tuple[str, ...], edges: _Edges, root: str, roles: frozenset[str]
) -> tuple[str, ...]:
    """Return the role of each node, or the relation that leads to it from the root."""
    found = {root: "root"}
    near: dict[str, list[tuple[str, tuple[Label, ...], str]]] = {}
    for source, target, labels in edges:
        near.setdefault(source, []).append((target, labels, ""))
        near.setdefault(target, []).append((source, labels, " reversed"))
    layer = [root]
    while layer:
        leading: dict[str, set[str]] = {}
        for one in layer:
            for other, labels, suffix in near.get(one, ()):
                if other not in found:
                    leading.setdefault(other, set()).update([f"{each}{suffix}" for each in labels])
        layer = list(leading)
        for name, relations in leading.items():
            found[name] = " ".join(sorted(relations)) or "related"
    return tuple(name if name in roles else found.get(name, "node") for name in names)
