"""Grounding graphs laid out for the overlay: label sets and neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundling.features.feature_tables import (
    ContentTable,
    NodeContent,
    Part,
    Relation,
    composed,
)
from groundling.features.labels import RANK, NodeLabel, NodeLabeller, kind_of
from groundling.overlay.distinct import in_order
from groundling.overlay.settings import Overlay
from groundling.ragged import entries_of, starts_of
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
        self._labels: dict[tuple[NodeLabel, float], tuple[NodeLabel, float]] = {}
        self._spelled: dict[tuple[Label, str, bool], Part] = {}
        # The scene of the latest graph with relations, and what was laid out in it.
        self._latest: tuple[Scene, dict[Hashable, _Surroundings]] | None = None
        # Results by key. Objects in keys that are compared by identity are kept alive by this, so
        # that their ids are not reused.
        self._made: dict[Hashable, Any] = {}
        self.bytes = 0  # approximate size of all of these

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

    def lay_out_table(self, table: GraphTable) -> LaidOutTable:
        """Lay out the graphs of a table without building each of them."""
        columns, places, names = [], [], []
        for name, listed in table.labels.items():
            chosen = table.places[name]
            # The part that a node plays may depend on which nodes there are.
            parts = {
                number: pattern.parts[pattern.node_names.index(name)]
                for number, pattern in enumerate(table.patterns)
                if name in pattern.node_names
            }
            for part in dict.fromkeys(parts.values()):
                columns.append([self._node(part, labels, None) for labels in listed])
                own = np.array([parts.get(n) == part for n in range(len(table.patterns))])
                places.append(chosen if own.all() else np.where(own[table.pattern_of], chosen, -1))
                names.append(name)
        shapes = list(map(self._shape, table.patterns))
        return LaidOutTable(self, names, columns, places, shapes, table.pattern_of)

    def _graph(
        self, parts: tuple[_SpelledNode, ...], names: tuple[str, ...], shape: Shape
    ) -> LaidOutGraph:
        """Return the graph of some nodes."""
        flat = self._flat_labels(parts)
        called: tuple[str, ...] = ("action",) if self._is_flat else names
        key = (flat, id(shape), called)
        known: LaidOutGraph | None = self._made.get(key)
        if known is not None:
            return known
        nodes: tuple[NodeContent, ...] = (flat.content,)
        if self.overlay.nodes == "both":
            nodes = tuple([self._with_all(part, flat) for part in parts])
        elif not self._is_flat:
            nodes = tuple([part.own for part in parts])
        made = LaidOutGraph(nodes, called, shape, flat.content, flat.values)
        return self._keep(key, made, 300 + 8 * len(nodes))

    def _keep(self, key: Hashable, made: T, size: int) -> T:
        self._made[key] = made
        self.bytes += size
        return made

    def share(self, content: Part) -> Part:
        """Return one shared object for equal labels."""
        found: Part | None = self._made.get(content)
        if found is None:
            found = self._shared(content)
            self._keep(found, found, 300 + 100 * len(found))
        return found

    def _node(self, name: str, labels: tuple[Label, ...], ranks: _Ranks) -> _SpelledNode:
        """Return a node; nodes that the scene adds have an empty name."""
        # Groups of ranks are shared, and kept alive by the node, so they are compared by identity.
        key = (name, labels, None if ranks is None else tuple(map(id, ranks)))
        found: _SpelledNode | None = self._made.get(key)
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
        known, found = self._spelled, list[tuple[NodeLabel, float]]()
        is_compared = labeller is self._compared
        for label in labels:
            spelled = known.get((label, prefix, is_compared))
            if spelled is None:
                spelled = self._shared(labeller.spell((label,), prefix))
                # Values of slots are mostly names, which seldom occur again.
                if not isinstance(label.value, str) or kind_of(label) not in labeller.slots:
                    known[label, prefix, is_compared] = spelled
                    self.bytes += 300
            found += spelled
        return tuple(found)

    def _rank_labels(self, prefix: str, ranks: tuple[Rank, ...]) -> Part:
        known: tuple[tuple[Rank, ...], Part] | None = self._made.get((prefix, id(ranks)))
        if known is None:
            listed = [(NodeLabel(f"{prefix}{rank}", RANK, among), 1.0) for rank, among in ranks]
            known = ranks, self._shared(listed)
            self._keep((prefix, id(ranks)), known, 200 + 100 * len(ranks))
        return known[1]

    def _shared(self, content: Iterable[tuple[NodeLabel, float]]) -> Part:
        """Return labels as shared objects, because many nodes have the same few labels."""
        return tuple([self._labels.setdefault(each, each) for each in content])

    def _flat_labels(self, parts: tuple[_SpelledNode, ...]) -> _FlatLabels:
        found: _FlatLabels | None = self._made.get(parts)
        if found is None:
            found = _FlatLabels(
                composed([part.named for part in parts]),
                tuple(dict.fromkeys(chain.from_iterable(part.values for part in parts))),
            )
            size = 2 * len(parts) + len(found.values)
            self._keep(parts, found, 350 + 8 * size)
        return found

    def _with_all(self, part: _SpelledNode, flat: _FlatLabels) -> NodeContent:
        found: NodeContent | None = self._made.get((part, flat))
        if found is None:
            found = composed((part.own, flat.content))
            self._keep((part, flat), found, 300)
        return found

    def _shape(self, graph: GroundingGraph) -> Shape:
        if self._is_flat:
            return self._one
        edges = _numbered(graph)
        key = (len(graph), edges, graph.node_names.index(graph.root))
        found: Shape | None = self._made.get(key)
        if found is None:
            found = Shape(edges, self._enters(graph), self.overlay)
            self._keep(key, found, 1000 + 8 * len(found.near_node))
        return found

    def _enters(self, graph: GroundingGraph) -> list[bool]:
        anywhere = self.overlay.entry == "any"
        return [anywhere or name == graph.root for name in graph.node_names]


@dataclass(eq=False, repr=False)
class LaidOutTable(Sequence[LaidOutGraph]):
    """Graphs that are built on access; `values` holds the values of all of them."""

    layouts: Layouts
    names: list[str]
    columns: list[list[_SpelledNode]]
    places: list[NDArray[np.int64]]  # of each graph's nodes in the columns; -1 for none
    shapes: list[Shape]
    shape_of: NDArray[np.int64]
    _made: dict[int, LaidOutGraph] = field(default_factory=dict)

    @cached_property
    def values(self) -> tuple[tuple[str, str], ...]:
        """The (kind, value) pairs that occur in any of the graphs."""
        found: dict[tuple[str, str], None] = {}
        for column, places in zip(self.columns, self.places, strict=True):
            for place in dict.fromkeys(places[places >= 0].tolist()):
                found |= dict.fromkeys(column[place].values)
        return tuple(found)

    def priors(self) -> ContentTable:
        """Return the labels of each whole graph."""
        return ContentTable([[each.named for each in column] for column in self.columns],
                            self.places)  # fmt: skip

    def __len__(self) -> int:
        return len(self.places[0])

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        known = self._made.get(place)
        if known is None:
            columns = zip(self.columns, self.names, self.places, strict=True)
            chosen = [(column[each[place]], name) for column, name, each in columns
                      if each[place] >= 0]  # fmt: skip
            parts, names = zip(*chosen, strict=True)
            shape = self.shapes[self.shape_of[place]]
            known = self._made[place] = self.layouts._graph(parts, names, shape)
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
