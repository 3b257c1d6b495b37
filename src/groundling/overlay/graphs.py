"""Grounding graphs laid out for the overlay: label sets and neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundling.errors import GraphError
from groundling.features.feature_tables import (
    ContentTable,
    NodeContent,
    Part,
    Relation,
    composed,
)
from groundling.features.labels import RANK, NodeLabel, NodeLabeller, kind_of
from groundling.limits import GRAPH_EDGES, GRAPH_NODES
from groundling.overlay.settings import Overlay
from groundling.ragged import starts_of
from groundling.world.graph import GroundingGraph, Label, labels_of
from groundling.world.graph_table import GraphTable
from groundling.world.relations import AS, IS, Rank, Ranks, Scene

__all__ = ["LaidOutGraph", "LaidOutTable", "Layouts", "NodeContent", "Shape", "spell_plan"]

T = TypeVar("T")
_Ranks = Ranks | None  # None for nodes that are not things of a scene

FAR: Relation = ("far",)
SELF: Relation = ("self",)
TWO_STEP: Relation = ("two-step",)
Edge = tuple[int, int, tuple[Label, ...]]
_FEW_EDGES = 12  # up to this many, loops are faster than arrays


class Shape:
    """The neighbours and relations of each node in a graph, and where texts may enter.

    Parameters
    ----------
    near
        For each node, its (neighbour, relation) pairs.
    enters
        For each node, whether texts may enter there.

    Attributes
    ----------
    node_near, near_node, near_relation
        The same pairs as arrays: the index at which the pairs of each node start, the neighbours,
        and indices into `relations`, which are in the order of first occurrence.
    """

    __slots__ = ("enters", "near_node", "near_relation", "node_near", "relations")

    def __init__(
        self, near: Sequence[Sequence[tuple[int, Relation]]], enters: Sequence[bool]
    ) -> None:
        pairs = list(chain.from_iterable(near))
        place: dict[Relation, int] = {}
        codes = [place.setdefault(relation, len(place)) for _, relation in pairs]
        nodes = np.array([node for node, _ in pairs], np.int32)
        sizes = np.array([len(each) for each in near], np.int32)
        self._set(sizes, nodes, np.array(codes, np.int32), tuple(place), enters)

    def _set(
        self,
        sizes: NDArray[Any],
        nodes: NDArray[Any],
        codes: NDArray[Any],
        relations: Sequence[Relation],
        enters: Sequence[bool],
    ) -> None:
        first = list(dict.fromkeys(codes.tolist()))
        rank = np.zeros(len(relations), np.int32)
        rank[first] = np.arange(len(first))
        self.node_near, self.near_node = starts_of(sizes, np.int32), nodes.astype(np.int32)
        self.near_relation = rank[codes]
        self.relations, self.enters = tuple([relations[each] for each in first]), tuple(enters)

    @classmethod
    def of_edges(cls, edges: Sequence[Edge], enters: Sequence[bool], overlay: Overlay) -> Shape:
        """Return the shape of a graph with edges between numbered nodes."""
        count = len(enters)
        if len(edges) < _FEW_EDGES or "two-step" in overlay.neighbours:
            return cls(_neighbours(edges, count, overlay), enters)
        place: dict[Relation, int] = {SELF: 0, FAR: 1}
        coded: dict[tuple[Label, ...], tuple[int, int]] = {}
        for labels in {id(labels): labels for _, _, labels in edges}.values():
            names = _relations(labels)
            coded[labels] = tuple([place.setdefault(name, len(place)) for name in names])  # type: ignore[assignment]
        sources, targets, listed = zip(*edges, strict=True)
        if len(set(zip(sources, targets, strict=True))) < len(edges):  # relations to be merged
            return cls(_neighbours(edges, count, overlay), enters)
        one, other = np.array(sources), np.array(targets)
        there, again = np.array(list(map(coded.__getitem__, listed))).T
        # The first kind of relation that applies is written last.
        kind, code = np.full((2, count, count), -1)
        if overlay.adjacency == "soft":
            kind[:], code[:] = 3, 1
        if "self" in overlay.neighbours:
            np.fill_diagonal(kind, 2)
            np.fill_diagonal(code, 0)
        if "reversed" in overlay.neighbours:
            kind[other, one], code[other, one] = 1, again
        if "given" in overlay.neighbours:
            kind[one, other], code[one, other] = 0, there
        node, end = np.nonzero(kind >= 0)
        order = np.argsort(node * 4 + kind[node, end], kind="stable")
        node, end = node[order], end[order]
        shape = cls.__new__(cls)
        sizes = np.bincount(node, minlength=count)
        shape._set(sizes, end, code[node, end], tuple(place), enters)
        return shape

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

    def __init__(self, overlay: Overlay, labeller: NodeLabeller) -> None:
        self.overlay = overlay
        self.labeller = labeller
        self._is_flat = overlay.nodes == "flat"
        numbers = tuple(each for each in labeller.numbers if each == "equal")
        self._compared = replace(labeller, numbers=numbers)
        self.has_ranks = False  # whether any node laid out so far has ranks
        self._one = Shape((((0, SELF),),), (True,))
        self.clear()

    def __getstate__(self) -> dict[str, Any]:
        # Keys of the caches hold identities, which copies do not share.
        return {"overlay": self.overlay, "labeller": self.labeller, "has_ranks": self.has_ranks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["overlay"], state["labeller"])  # type: ignore[misc]
        self.has_ranks = state["has_ranks"]

    def clear(self) -> None:
        """Clear the caches; graphs already laid out stay valid."""
        self._labels: dict[tuple[NodeLabel, float], tuple[NodeLabel, float]] = {}
        self._spelled: dict[tuple[Label, str, bool], Part] = {}
        self._same: dict[tuple[str, int, int], _SpelledNode] = {}
        # The scene of the latest graph with relations, and what was laid out in it.
        self._latest: tuple[Scene, dict[Hashable, Any]] | None = None
        # Results by key. Objects in keys that are compared by identity are kept alive by this, so
        # that their ids are not reused.
        self._made: dict[Hashable, Any] = {}
        self.bytes = 0  # approximate size of all of these

    def lay_out(self, graph: GroundingGraph, scene: Scene | None = None) -> LaidOutGraph:
        """Lay out a grounding graph according to the overlay settings.

        Nodes that are things of a scene get ranks and, with `Overlay.relations`, relations to other
        things. ψ(y) and flat labels use only the graph's original nodes.
        """
        if scene is not None and self.overlay.relations:
            return self._with_relations(graph, scene)
        parts = self._parts(graph, graph.parts, scene)
        return self._graph(parts, graph.node_names, self._shape(graph))

    def _parts(
        self, graph: GroundingGraph, names: Sequence[str], scene: Scene | None
    ) -> tuple[_SpelledNode, ...]:
        """Spell out the labels of a graph's nodes; `names` are the names of its parts."""
        same, parts = self._same, []
        ranks: Sequence[_Ranks] = (None,) * len(names)
        if scene is not None:
            named = zip(graph.node_names, graph.node_labels, strict=True)
            ranks = [scene.grouped_ranks(name, labels) for name, labels in named]
            self.has_ranks = self.has_ranks or any(ranks)
        for name, labels, ranked in zip(names, graph.node_labels, ranks, strict=True):
            # Equal labels are mostly the same object, so look up by identity first.
            part = same.get((name, id(labels), id(ranked)))
            if part is None or part.labels is not labels or part.ranks is not ranked:
                part = self._node(name, labels, ranked)
            parts.append(part)
        return tuple(parts)

    def _with_relations(self, graph: GroundingGraph, scene: Scene) -> LaidOutGraph:
        """Lay out a graph with the relations of its things."""
        if self._latest is None or self._latest[0] is not scene:
            self._latest = scene, {}
        known = self._latest[1]
        things = scene.things_of(graph)
        of = (graph.node_names, graph.edges, graph.root, graph.roles, *things.items())
        # Actions on the same things differ in their own labels only.
        around: _Surroundings | None = known.get(of)
        if around is None:
            nodes = known.setdefault(_Surroundings, {})
            around = known[of] = self._surroundings(graph, scene, things, nodes)
        flat = self._flat_labels(self._parts(graph, around.parts, scene))
        key = (flat, id(around))
        found: LaidOutGraph | None = known.get(key)
        if found is None:
            parts = (*flat.nodes, *around.nodes)
            contents = [part.own for part in parts]
            if self.overlay.nodes == "both":
                contents = [self._with_all(part, flat) for part in parts]
            values = tuple(dict.fromkeys((*flat.values, *around.values)))
            found = LaidOutGraph(tuple(contents), around.names, around.shape, flat.content, values)
            known[key] = found
        return found

    def _surroundings(
        self,
        graph: GroundingGraph,
        scene: Scene,
        things: dict[str, str],
        nodes: dict[str, _SpelledNode],
    ) -> _Surroundings:
        """Return the relations of some things, as in `Scene.related`; `nodes` caches things."""
        place = {name: number for number, name in enumerate(graph.node_names)}
        renamed = {thing: name for name, thing in reversed(things.items()) if thing != name}
        edges = [(place[one], place[other], labels) for one, other, labels in graph.edges]
        added: list[_SpelledNode] = []
        for name, thing in things.items():
            is_first = name == renamed.get(thing, thing)  # of several nodes for one thing
            for node in scene.relation_nodes(thing):
                number = place.setdefault(node.name, len(place))
                if number == len(graph) + len(added):
                    added.append(self._node("", node.labels, node.ranks))
                edges.append((place[name], number, IS))
                for other in node.others:
                    end = place.setdefault(renamed.get(other, other), len(place))
                    if end == len(graph) + len(added):
                        if other not in nodes:
                            ranks = scene.grouped_ranks(other)
                            nodes[other] = self._node("", scene.labels[other], ranks)
                        added.append(nodes[other])
                    if is_first:
                        edges.append((number, end, AS))
        GRAPH_NODES.check(len(place), GraphError, "A grounding graph")
        GRAPH_EDGES.check(len(edges), GraphError, "A grounding graph")
        self.has_ranks = self.has_ranks or any(each.ranks for each in added)
        shape = Shape.of_edges(edges, self._enters(tuple(place), graph.root), self.overlay)
        return _Surroundings(
            graph.parts if _is_near(graph, things) else scene.related(graph).parts[: len(graph)],
            added, tuple(place), shape,
            tuple(dict.fromkeys(chain.from_iterable(part.values for part in added))),
        )  # fmt: skip

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
        """Return labels as an object that is the same for equal labels."""
        found: Part | None = self._made.get(content)
        if found is None:
            found = self._shared(content)
            self._keep(found, found, 300 + 100 * len(found))
        return found

    def plan_labels(self, length: int, labels: Any) -> Part:
        """Return the labels of a plan, shared with equal plans."""
        if not isinstance(labels, dict) or labels:
            return self.share(spell_plan(length, labels, self.labeller))
        found: Part | None = self._made.get(length)
        if found is None:
            spelled = self.share(spell_plan(length, {}, self.labeller))
            found = self._keep(length, spelled, 50)
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
            found = _SpelledNode(labels, ranks, own, named, self.labeller.values(labels))
            self._keep(key, found, 600 + 500 * len(labels) + 100 * len(ranks or ()))
        if found.labels is labels and found.ranks is ranks:
            self._same[name, id(labels), id(ranks)] = found
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
                parts,
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
            self._keep((part, flat), found, 250 + 8 * len(flat.nodes))
        return found

    def _shape(self, graph: GroundingGraph) -> Shape:
        if self._is_flat:
            return self._one
        names = graph.node_names
        place = {name: number for number, name in enumerate(names)}
        edges = tuple([(place[one], place[other], labels) for one, other, labels in graph.edges])
        key = (len(names), edges, place[graph.root])
        found: Shape | None = self._made.get(key)
        if found is None:
            found = Shape.of_edges(edges, self._enters(names, graph.root), self.overlay)
            self._keep(key, found, 1000 + 8 * len(found.near_node))
        return found

    def _enters(self, names: Sequence[str], root: str) -> list[bool]:
        anywhere = self.overlay.entry == "any"
        return [anywhere or name == root for name in names]


class LaidOutTable(Sequence[LaidOutGraph]):
    """Graphs that are built on access; `values` holds the values of all of them."""

    def __init__(
        self,
        layouts: Layouts,
        names: list[str],
        columns: list[list[_SpelledNode]],
        places: list[NDArray[np.int64]],
        shapes: list[Shape],
        shape_of: NDArray[np.int64],
    ) -> None:
        self.shapes, self.shape_of, self.places = shapes, shape_of, places
        self.nodes = layouts.overlay.nodes
        self._layouts, self._names, self._columns = layouts, names, columns
        self._made: dict[int, LaidOutGraph] = {}

    @cached_property
    def values(self) -> tuple[tuple[str, str], ...]:
        """The (kind, value) pairs that occur in any of the graphs."""
        found: dict[tuple[str, str], None] = {}
        for column, places in zip(self._columns, self.places, strict=True):
            for place in dict.fromkeys(places[places >= 0].tolist()):
                found |= dict.fromkeys(column[place].values)
        return tuple(found)

    def own_contents(self) -> list[list[NodeContent]]:
        """Return the possible labels of each node."""
        return [[each.own for each in column] for column in self._columns]

    def priors(self) -> ContentTable:
        """Return the labels of each whole graph."""
        return ContentTable([[each.named for each in column] for column in self._columns],
                            self.places)  # fmt: skip

    def __len__(self) -> int:
        return len(self.places[0])

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        known = self._made.get(place)
        if known is None:
            columns = zip(self._columns, self._names, self.places, strict=True)
            chosen = [(column[each[place]], name) for column, name, each in columns
                      if each[place] >= 0]  # fmt: skip
            parts, names = zip(*chosen, strict=True)
            shape = self.shapes[self.shape_of[place]]
            known = self._made[place] = self._layouts._graph(parts, names, shape)
        return known


@dataclass(frozen=True, eq=False, slots=True)
class _SpelledNode:
    """A node's labels, its labels prefixed with the node's name, and its values."""

    labels: tuple[Label, ...]
    ranks: _Ranks
    own: NodeContent  # empty if actions are flat
    named: NodeContent
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False, slots=True)
class _FlatLabels:
    """The nodes of a graph, their labels, and the values among them."""

    nodes: tuple[_SpelledNode, ...]
    content: NodeContent
    values: tuple[tuple[str, str], ...]


class _Surroundings(NamedTuple):
    """The nodes that a scene's relations add to the graphs of actions on the same things."""

    parts: Sequence[str]  # of the graphs' own nodes
    nodes: list[_SpelledNode]
    names: tuple[str, ...]
    shape: Shape
    values: tuple[tuple[str, str], ...]


def _is_near(graph: GroundingGraph, things: Iterable[str]) -> bool:
    """Return whether relations would shorten no path from the root to a node.

    A relation leads from one thing to another in two steps.
    """
    distance = {graph.root: 0}
    for step in range(len(graph)):
        for one, other, _ in graph.edges:
            for here, there in ((one, other), (other, one)):
                if distance.get(here) == step:
                    distance.setdefault(there, step + 1)
    if not all(name in distance for name in graph.node_names):
        return False
    nearest = min((distance[name] for name in things), default=len(graph))
    return max(distance.values()) < nearest + 2


def _neighbours(
    edges: Sequence[Edge], count: int, overlay: Overlay
) -> list[list[tuple[int, Relation]]]:
    """List the neighbours of each node once, by the first relation that applies."""
    given: list[dict[int, Relation]] = [{} for _ in range(count)]
    back: list[dict[int, Relation]] = [{} for _ in range(count)]
    for one, other, labels in edges:
        there, again = _relations(labels)
        for found, end, names in ((given[one], other, there), (back[other], one, again)):
            known = found.get(end)
            found[end] = names if known is None else tuple(sorted({*known, *names}))
    near: list[list[tuple[int, Relation]]] = []
    for node in range(count):
        found = {}
        for kind, relations in (("given", given), ("reversed", back)):
            if kind in overlay.neighbours:
                for end in sorted(relations[node]):
                    found.setdefault(end, relations[node][end])
        if "self" in overlay.neighbours:
            found.setdefault(node, SELF)
        if "two-step" in overlay.neighbours:
            for middle in sorted(given[node]):
                for end in sorted(given[middle]):
                    found.setdefault(end, TWO_STEP)
        if overlay.adjacency == "soft":
            for end in range(count):
                found.setdefault(end, FAR)
        near.append(list(found.items()))
    return near


@lru_cache(maxsize=1000)
def _relations(labels: tuple[Label, ...]) -> tuple[Relation, Relation]:
    """Return the relations of an edge, as seen from its source and from its target.

    Numbers are not part of the relation: `distance=2.5` is the relation `distance`.
    """
    named = {label.name if isinstance(label.value, float) else str(label) for label in labels}
    names = sorted(named or {"related"})
    return tuple(names), tuple(sorted(f"{name} reversed" for name in names))


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
