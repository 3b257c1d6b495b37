"""Grounding graphs laid out for the overlay: label sets and neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundling.features.feature_tables import (
    NodeContent,
    Part,
    PartTable,
    Relation,
    composed,
)
from groundling.features.interner import Interner
from groundling.features.labels import RANK, NodeLabel, NodeLabeller, kind_of
from groundling.overlay.distinct import in_order
from groundling.overlay.settings import Overlay
from groundling.ragged import entries_of, sizes_of, starts_of
from groundling.world.graph import GroundingGraph, Label, labels_of
from groundling.world.graph_table import GraphTable
from groundling.world.relations import Rank, Ranks, Scene

__all__ = ["LaidOutGraph", "LaidOutTable", "Layouts", "NodeContent", "Shape", "spell_plan"]

T = TypeVar("T")
_Ranks = Ranks | None  # None for nodes that are not things of a scene

FAR: Relation = ("far",)
SELF: Relation = ("self",)
TWO_STEP: Relation = ("two-step",)
Edge = tuple[int, int, tuple[Label, ...]]
_RECURRING = 500  # approximate bytes of a result that recurred
_RELATED = labels_of("related")  # the relation of edges without labels


class Shape:
    """The neighbours and relations of each node in a graph, and where texts may enter.

    Parameters
    ----------
    edges
        Triples (source, target, labels) of a graph with numbered nodes.
    enters
        For each node, whether texts may enter there.
    overlay
        The settings that define which nodes are neighbours.

    Attributes
    ----------
    node_near, near_node, near_relation
        The neighbours of all nodes as arrays: the index at which those of each node start, the
        neighbours, and indices into `relations`, which are in the order of first occurrence.
    """

    __slots__ = ("enters", "near_node", "near_relation", "node_near", "relations")

    def __init__(self, edges: Sequence[Edge], enters: Sequence[bool], overlay: Overlay) -> None:
        count = len(enters)
        if len({edge[:2] for edge in edges}) < len(edges):
            edges = _merged(edges)
        sources, targets, listed = zip(*edges, strict=True) if edges else ((), (), ())
        one, other, nodes = np.array(sources, int), np.array(targets, int), np.arange(count)
        place: dict[Relation, int] = {SELF: 0, TWO_STEP: 1, FAR: 2}
        coded: dict[int, list[int]] = {}
        for key, labels in {id(labels): labels for labels in listed}.items():
            coded[key] = [place.setdefault(name, len(place)) for name in _relations(labels)]
        there, back = np.array([coded[id(labels)] for labels in listed], int).reshape(-1, 2).T
        # Lists of nodes, neighbours and relations; of several relations the first applies.
        found: list[tuple[NDArray[Any], NDArray[Any], Any]] = [(nodes[:0], nodes[:0], nodes[:0])]
        if "given" in overlay.neighbours:
            found.append((one, other, there))
        if "reversed" in overlay.neighbours:
            found.append((other, one, back))
        if "self" in overlay.neighbours:
            found.append((nodes, nodes, place[SELF]))
        if "two-step" in overlay.neighbours:
            order = np.argsort(one, kind="stable")
            begin, end = (np.searchsorted(one[order], other, side) for side in ("left", "right"))
            after = other[order][entries_of(begin, end - begin)]
            found.append((np.repeat(one, end - begin), after, place[TWO_STEP]))
        if overlay.adjacency == "soft":
            found.append((np.repeat(nodes, count), np.tile(nodes, count), place[FAR]))
        node, end = (np.concatenate([each[side] for each in found]) for side in (0, 1))
        code = np.concatenate([np.broadcast_to(each[2], len(each[0])) for each in found])
        kind = np.repeat(np.arange(len(found)), [len(each[0]) for each in found])
        _, first = np.unique(node * count + end, return_index=True)
        first = first[np.lexsort((end[first], kind[first], node[first]))]
        self.node_near = starts_of(np.bincount(node[first], minlength=count), np.int32)
        self.near_node, self.enters = end[first].astype(np.int32), tuple(enters)
        used, where = in_order(code[first].tolist())
        names = list(place)
        self.near_relation = where.astype(np.int32)
        self.relations = tuple([names[each] for each in used])

    @property
    def near(self) -> tuple[tuple[tuple[int, Relation], ...], ...]:
        """For each node, its (neighbour, relation) pairs."""
        names = [self.relations[place] for place in self.near_relation.tolist()]
        pairs = tuple(zip(self.near_node.tolist(), names, strict=True))
        starts = self.node_near.tolist()
        return tuple([pairs[begin:end] for begin, end in pairwise(starts)])

    def _key(self) -> tuple[Hashable, ...]:
        arrays = (self.node_near, self.near_node, self.near_relation)
        return self.relations, self.enters, *[each.tobytes() for each in arrays]

    def __len__(self) -> int:
        return len(self.enters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True, eq=False, slots=True)
class LaidOutGraph:
    """A grounding graph laid out for the overlay; compared by identity.

    `nodes` are the label sets that words align with, `names` their names, `prior` the labels
    used by ψ(y), and `values` the (kind, value) pairs that occur.
    """

    nodes: tuple[NodeContent, ...]
    names: tuple[str, ...]
    shape: Shape
    prior: NodeContent
    values: tuple[tuple[str, str], ...]


class Layouts:
    """Factory of laid-out graphs that share equal nodes, flat labels and shapes.

    Equal parts are the same object, so they can be compared by identity.

    Parameters
    ----------
    overlay, labeller
        The overlay settings, and the labeller that converts node labels to features.

    Examples
    --------
    >>> nodes = {"event": "move", "here": {"item": "sofa"}}
    >>> graph = GroundingGraph(nodes, [("event", "here", "to")])
    >>> Layouts(Overlay(), NodeLabeller()).lay_out(graph).shape.near
    (((1, ('to',)), (0, ('self',))), ((0, ('to reversed',)), (1, ('self',))))
    >>> Layouts(Overlay.flat(), NodeLabeller()).lay_out(graph).names
    ('action',)
    """

    def __init__(self, overlay: Overlay, labeller: NodeLabeller, has_ranks: bool = False) -> None:
        self.overlay = overlay
        self.labeller = labeller
        self._is_flat = overlay.nodes == "flat"
        numbers = tuple(each for each in labeller.numbers if each == "equal")
        self._compared = replace(labeller, numbers=numbers)
        self.has_ranks = has_ranks  # whether any node laid out so far has ranks
        self._one = Shape((), (True,), Overlay())
        self.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        # Keys of the caches hold identities, which copies do not share.
        return Layouts, (self.overlay, self.labeller, self.has_ranks)

    def clear(self) -> None:
        """Clear the caches; graphs already laid out stay valid."""
        # The scene of the latest graph with relations, and what was laid out in it.
        self._latest: tuple[Scene, dict[Hashable, _Surroundings]] | None = None
        # Results by key: those that recurred, those of the latest request, and of the one before.
        # Objects in keys that are compared by identity are kept alive by their results, so that
        # their ids are not reused.
        self._made: dict[Hashable, Any] = {}
        self._new: dict[Hashable, Any] = {}
        self._before: dict[Hashable, Any] = {}
        self.bytes = 0  # approximate size of the first two
        self._new_bytes = 0

    def begin(self) -> None:
        """Begin a request about something new; drop results that did not recur."""
        self.bytes -= self._new_bytes
        self._before, self._new, self._new_bytes = self._new, {}, 0

    def lay_out(self, graph: GroundingGraph, scene: Scene | None = None) -> LaidOutGraph:
        """Lay out a grounding graph according to the overlay settings.

        Nodes that are things of a scene get ranks and, with `Overlay.relations`, relations to other
        things. ψ(y) and flat labels use only the graph's original nodes.
        """
        parts = self._parts(graph, scene)
        if scene is None or not self.overlay.relations:
            return self._graph(parts, graph.node_names, self._shape(graph))
        added, names, shape = self._surroundings(graph, scene)
        return self._graph((*parts, *added), names, shape)

    def _parts(self, graph: GroundingGraph, scene: Scene | None) -> tuple[_SpelledNode, ...]:
        """Return the nodes of a graph, converted to features."""
        ranks: Sequence[_Ranks] = (None,) * len(graph)
        if scene is not None:
            things = scene.things_of(graph)
            ranks = [
                scene.grouped_ranks(things[name]) if name in things else None
                for name in graph.node_names
            ]
            self.has_ranks = self.has_ranks or any(ranks)
        return tuple(map(self._node, graph.parts, graph.node_labels, ranks))

    def _surroundings(self, graph: GroundingGraph, scene: Scene) -> _Surroundings:
        """Return the nodes that relations add to a graph, and the names and shape of the result."""
        if self._latest is None or self._latest[0] is not scene:
            self._latest = scene, {}
        known = self._latest[1]
        # Actions on the same things differ in their own labels only.
        of = (graph.node_names, graph.edges, graph.root, *scene.things_of(graph).items())
        if of not in known:
            whole = scene.related(graph)
            labelled = list(zip(whole.node_names, whole.node_labels, strict=True))
            added = [
                self._node("", labels, scene.grouped_ranks(name))
                for name, labels in labelled[len(graph) :]
            ]
            self.has_ranks = self.has_ranks or any(each.ranks for each in added)
            shape = Shape(_numbered(whole), self._enters(whole), self.overlay)
            known[of] = added, whole.node_names, shape
        return known[of]

    def lay_out_many(self, graphs: GraphTable | Sequence[GroundingGraph]) -> LaidOutTable:
        """Lay out graphs together: each is built on access, and equal labels are read once."""
        if isinstance(graphs, GraphTable):
            patterns, pattern_of = graphs.patterns, graphs.pattern_of
            listed, places = graphs.labels, graphs.places
        else:
            keys, labels = Interner[Hashable](), Interner[tuple[Label, ...]]()
            pattern_of = np.array([keys((e.node_names, e.edges, e.root, e.roles)) for e in graphs])
            first = np.unique(pattern_of, return_index=True)[1]
            patterns = [graphs[place] for place in first.tolist()]
            flat = chain.from_iterable([each.node_labels for each in graphs])
            label = np.array([labels(each) for each in flat], np.int64)
            starts = starts_of(np.array(list(map(len, graphs)), np.int64))[:-1]
        # A column has the nodes that play one part at one place.
        tables: dict[int, _LabelTable] = {}
        columns: dict[tuple[int, str, int], _Column] = {}
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(pattern_of == number)
            for place, (name, part) in enumerate(
                zip(pattern.node_names, pattern.parts, strict=True)
            ):
                if isinstance(graphs, GraphTable):
                    of, chosen = listed[name], places[name][rows]
                else:
                    of, chosen = labels.items, label[starts[rows] + place]
                key = place, part, id(of)
                if id(of) not in tables:
                    tables[id(of)] = _LabelTable(of)
                if key not in columns:
                    columns[key] = _Column(part, tables[id(of)], np.full(len(graphs), -1))
                columns[key].kinds[rows] = tables[id(of)].kind_of[chosen]
        ordered = [columns[key] for key in sorted(columns, key=lambda key: key[0])]
        names = [each.node_names for each in patterns]
        return LaidOutTable(self, ordered, names, list(map(self._shape, patterns)), pattern_of)

    def spell_table(self, prefix: str, things: _LabelTable) -> PartTable:
        """Convert the labels of several nodes to features, each label once."""
        parts = [self._spell_label(self.labeller, prefix, label) for label in things.labels]
        return PartTable(parts, things.starts, things.label)

    def _graph(
        self, parts: tuple[_SpelledNode, ...], names: tuple[str, ...], shape: Shape
    ) -> LaidOutGraph:
        """Return the graph of some nodes."""
        flat = self._flat_labels(parts)
        called: tuple[str, ...] = ("action",) if self._is_flat else names
        key = (flat, id(shape), called)
        known: LaidOutGraph | None = self._find(key)
        if known is not None:
            return known
        nodes: tuple[NodeContent, ...] = (flat.content,)
        if self.overlay.nodes == "both":
            nodes = tuple([self._with_all(part, flat) for part in parts])
        elif not self._is_flat:
            nodes = tuple([part.own for part in parts])
        made = LaidOutGraph(nodes, called, shape, flat.content, flat.values)
        return self._keep(key, made, 300 + 8 * len(nodes))

    def _find(self, key: Hashable) -> Any:
        """Return the result of a key, or None."""
        found = self._made.get(key)
        if found is None:
            found = self._new.get(key)
        if found is None and self._before:
            found = self._before.get(key)
            if found is not None:
                self._made[key] = found
                self.bytes += _RECURRING
        return found

    def _keep(self, key: Hashable, made: T, size: int) -> T:
        self._new[key] = made
        self._new_bytes += size
        self.bytes += size
        return made

    def share(self, content: Part) -> Part:
        """Return labels as an object that is the same for equal labels."""
        found: Part | None = self._find(content)
        return self._keep(content, content, 300 + 100 * len(content)) if found is None else found

    def _node(self, name: str, labels: tuple[Label, ...], ranks: _Ranks) -> _SpelledNode:
        """Return a node; nodes that the scene adds have an empty name."""
        # Groups of ranks are shared, and kept alive by the node, so they are compared by identity.
        key = (name, labels, None if ranks is None else tuple(map(id, ranks)))
        found: _SpelledNode | None = self._find(key)
        if found is None:
            own: NodeContent = ()
            if ranks is not None and name:
                own = self._node("", labels, ranks).own
            elif not self._is_flat:
                own = self._spell("", labels, ranks)
            named = self._spell(f"{name}.", labels, ranks) if name else ()
            found = _SpelledNode(ranks, own, named, self.labeller.values(labels))
            self._keep(key, found, 600 + 500 * len(labels) + 100 * len(ranks or ()))
        return found

    def _spell(self, prefix: str, labels: tuple[Label, ...], ranks: _Ranks) -> NodeContent:
        """Convert labels to features; things of a scene get ranks and exact numbers only."""
        if ranks is None:
            return self._spell_labels(self.labeller, prefix, labels)
        own = self.share(self._spell_labels(self._compared, prefix, labels))
        return composed((own, *[self._rank_labels(prefix, group) for group in ranks]))

    def _spell_labels(self, labeller: NodeLabeller, prefix: str, labels: tuple[Label, ...]) -> Part:
        spelled = [self._spell_label(labeller, prefix, label) for label in labels]
        return tuple(chain.from_iterable(spelled))

    def _spell_label(self, labeller: NodeLabeller, prefix: str, label: Label) -> Part:
        if isinstance(label.value, str) and kind_of(label) in labeller.slots:
            return tuple(labeller.spell((label,), prefix))  # mostly a name, which seldom recurs
        key = (label, prefix, labeller is self._compared)
        found: Part | None = self._find(key)
        if found is None:
            found = self._keep(key, tuple(labeller.spell((label,), prefix)), 300)
        return found

    def _rank_labels(self, prefix: str, ranks: tuple[Rank, ...]) -> Part:
        known: tuple[tuple[Rank, ...], Part] | None = self._find((prefix, id(ranks)))
        if known is None:
            listed = [(NodeLabel(f"{prefix}{rank}", RANK, among), 1.0) for rank, among in ranks]
            known = ranks, tuple(listed)
            self._keep((prefix, id(ranks)), known, 200 + 100 * len(ranks))
        return known[1]

    def _flat_labels(self, parts: tuple[_SpelledNode, ...]) -> _FlatLabels:
        found: _FlatLabels | None = self._find(parts)
        if found is None:
            found = _FlatLabels(
                composed([part.named for part in parts]),
                tuple(dict.fromkeys(chain.from_iterable(part.values for part in parts))),
            )
            size = 2 * len(parts) + len(found.values)
            self._keep(parts, found, 350 + 8 * size)
        return found

    def _with_all(self, part: _SpelledNode, flat: _FlatLabels) -> NodeContent:
        found: NodeContent | None = self._find((part, flat))
        if found is None:
            found = composed((part.own, flat.content))
            self._keep((part, flat), found, 300)
        return found

    def _shape(self, graph: GroundingGraph) -> Shape:
        if self._is_flat:
            return self._one
        edges = _numbered(graph)
        key = (len(graph), edges, graph.node_names.index(graph.root))
        found: Shape | None = self._find(key)
        if found is None:
            found = Shape(edges, self._enters(graph), self.overlay)
            self._keep(key, found, 1000 + 8 * len(found.near_node))
        return found

    def _enters(self, graph: GroundingGraph) -> list[bool]:
        anywhere = self.overlay.entry == "any"
        return [anywhere or name == graph.root for name in graph.node_names]


class _LabelTable:
    """The labels of things as arrays; things with equal labels are listed once."""

    def __init__(self, listed: Sequence[tuple[Label, ...]]) -> None:
        kinds, labels = Interner[tuple[Label, ...]](), Interner[Label]()
        self.kind_of = np.array([kinds(each) for each in listed], np.int64)
        self.kinds = kinds.items
        self.starts = starts_of(np.array([len(each) for each in self.kinds], np.int64))
        flat = chain.from_iterable(self.kinds)
        self.label = np.array([labels(each) for each in flat], np.int64)
        self.labels = labels.items


class _Column(NamedTuple):
    """A node of many graphs, with the part it plays."""

    part: str
    things: _LabelTable
    kinds: NDArray[np.int64]  # for each graph, which labels of the things; -1 for no node


@dataclass(eq=False, repr=False)
class LaidOutTable(Sequence[LaidOutGraph]):
    """Graphs that are built on access; `values` holds the values of all of them."""

    layouts: Layouts
    columns: list[_Column]
    names: list[tuple[str, ...]]
    shapes: list[Shape]
    shape_of: NDArray[np.int64]  # for each graph, which shape and names
    _made: dict[int, LaidOutGraph] = field(default_factory=dict)

    @cached_property
    def values(self) -> tuple[tuple[str, str], ...]:
        """The (kind, value) pairs that occur in any of the graphs."""
        found: dict[Label, None] = {}
        for _, things, kinds in self.columns:
            seen = np.unique(kinds[kinds >= 0])
            entries = entries_of(things.starts[seen], sizes_of(things.starts)[seen])
            chosen = np.unique(things.label[entries]).tolist()
            found |= dict.fromkeys([things.labels[place] for place in chosen])
        return self.layouts.labeller.values(found)

    @cached_property
    def _rows(self) -> list[list[int]]:
        """For each graph, its labels in each column."""
        rows: list[list[int]] = np.stack([each.kinds for each in self.columns], axis=1).tolist()
        return rows

    def own(self) -> tuple[PartTable, NDArray[np.int64]]:
        """Return the labels of distinct nodes, and the indices of each graph's nodes in them."""
        tables: dict[int, tuple[PartTable, int]] = {}
        found, count = [], 0
        for _, things, kinds in self.columns:
            if id(things) not in tables:
                tables[id(things)] = self.layouts.spell_table("", things), count
                count += len(things.kinds)
            found.append(np.where(kinds < 0, -1, kinds + tables[id(things)][1]))
        return PartTable.joined([each for each, _ in tables.values()]), np.stack(found, axis=1)

    def priors(self) -> PartTable:
        """Return the labels of each whole graph."""
        tables = [self.layouts.spell_table(f"{e.part}.", e.things) for e in self.columns]
        chosen = np.stack([each.kinds for each in self.columns], axis=1)
        return PartTable.combined(tables, chosen)

    def __len__(self) -> int:
        return len(self.shape_of)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        known = self._made.get(place)
        if known is None:
            parts = tuple([
                self.layouts._node(part, things.kinds[kind], None)
                for (part, things, _), kind in zip(self.columns, self._rows[place], strict=True)
                if kind >= 0
            ])  # fmt: skip
            pattern = self.shape_of[place]
            known = self.layouts._graph(parts, self.names[pattern], self.shapes[pattern])
            self._made[place] = known
        return known


@dataclass(frozen=True, eq=False, slots=True)
class _SpelledNode:
    """A node's labels, its labels prefixed with the node's name, and its values."""

    ranks: _Ranks
    own: NodeContent  # empty if actions are flat
    named: NodeContent
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False, slots=True)
class _FlatLabels:
    """The labels of all nodes of a graph, and the values among them."""

    content: NodeContent
    values: tuple[tuple[str, str], ...]


_Surroundings = tuple[list[_SpelledNode], tuple[str, ...], Shape]
"""The nodes that relations add to a graph, and the names of all nodes and the shape with them."""


def _numbered(graph: GroundingGraph) -> tuple[Edge, ...]:
    """Return the edges of a graph, with nodes as numbers."""
    place = {name: number for number, name in enumerate(graph.node_names)}
    return tuple([(place[one], place[other], labels) for one, other, labels in graph.edges])


def _merged(edges: Iterable[Edge]) -> list[Edge]:
    """Merge edges that join the same nodes; the result has the labels of all of them."""
    found: dict[tuple[int, int], tuple[Label, ...]] = {}
    for one, other, labels in edges:
        found[one, other] = (*found.get((one, other), ()), *(labels or _RELATED))
    return [(*ends, labels) for ends, labels in found.items()]


@lru_cache(maxsize=1000)
def _relations(labels: tuple[Label, ...]) -> tuple[Relation, Relation]:
    """Return the relations of an edge, as seen from its source and from its target.

    Numbers are not part of the relation: `distance=2.5` is the relation `distance`.
    """
    listed = labels or _RELATED
    named = {label.name if isinstance(label.value, float) else str(label) for label in listed}
    return tuple(sorted(named)), tuple(sorted([f"{name} reversed" for name in named]))


def spell_plan(length: int, labels: Sequence[Label] | object, labeller: NodeLabeller) -> Part:
    """Return a plan's labels for ψ(n): its length and the world's plan labels.

    >>> [str(label) for label, _ in spell_plan(2, {"pattern": "turn move"}, NodeLabeller())]
    ['plan.length=2', 'plan.pattern']
    """
    read = labels_of(labels, "the plan")  # type: ignore[arg-type]
    return (
        (NodeLabel(f"plan.length={min(length, 20)}"), 1.0),
        *labeller.spell(read, "plan."),
    )
