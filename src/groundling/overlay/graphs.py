"""Grounding graphs laid out for the overlay: label sets and neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundling.features.feature_tables import ComposedContent, NodeContent, Relation
from groundling.features.labels import RANK, NodeLabel, NodeLabeller
from groundling.overlay.settings import Overlay
from groundling.world.graph import GroundingGraph, Label, labels_of
from groundling.world.graph_table import GraphTable
from groundling.world.relations import Rank, Scene

__all__ = ["LaidOutGraph", "LaidOutTable", "Layouts", "NodeContent", "Shape", "spell_plan"]

T = TypeVar("T")
_Ranks = tuple[Rank, ...] | None  # None for nodes that are not things of a scene

FAR: Relation = ("far",)
SELF: Relation = ("self",)
TWO_STEP: Relation = ("two-step",)


@dataclass(frozen=True)
class Shape:
    """The (neighbour, relation) pairs and the entry flag of each node of a graph."""

    near: tuple[tuple[tuple[int, Relation], ...], ...]
    enters: tuple[bool, ...]


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

    def clear(self) -> None:
        """Clear the caches; graphs already laid out stay valid."""
        self._labels: dict[tuple[NodeLabel, float], tuple[NodeLabel, float]] = {}
        self._same: dict[tuple[str, int, int], _SpelledNode] = {}
        # Results by key. Objects in keys that are compared by identity are kept alive by this, so
        # that their ids are not reused.
        self._made: dict[Hashable, Any] = {}
        self.bytes = 0  # approximate size of all of these

    def lay_out(self, graph: GroundingGraph, scene: Scene | None = None) -> LaidOutGraph:
        """Lay out a grounding graph according to the overlay settings.

        Nodes that are things of a scene get ranks and, with `Overlay.relations`, relations to
        other things. ψ(y) and flat labels only use the graph's original nodes.
        """
        own = None
        if scene is not None and self.overlay.relations:
            own = len(graph)
            graph = scene.related(graph)
        same = self._same
        parts = []
        names = graph.parts
        ranks: Sequence[_Ranks] = (None,) * len(names)
        if scene is not None:
            named = zip(graph.node_names, graph.node_labels, strict=True)
            ranks = [scene.ranks(name, labels) for name, labels in named]
            self.has_ranks = self.has_ranks or any(ranks)
        for name, labels, ranked in zip(names, graph.node_labels, ranks, strict=True):
            # Equal labels are mostly the same object, so look up by identity first.
            part = same.get((name, id(labels), id(ranked)))
            if part is None or part.labels is not labels or part.ranks is not ranked:
                part = self._node(name, labels, ranked)
            parts.append(part)
        shape = self._one if self._is_flat else self._shape(graph)
        return self._graph(tuple(parts), graph.node_names, shape, own)

    def lay_out_table(self, table: GraphTable) -> LaidOutTable:
        """Lay out graphs that differ only in labels, without building each of them."""
        pattern = table.pattern
        columns = [
            [self._node(part, labels, None) for labels in table.labels[name]]
            for part, name in zip(pattern.parts, pattern.node_names, strict=True)
        ]
        shape = self._one if self._is_flat else self._shape(pattern)
        return LaidOutTable(self, pattern.node_names, columns, [*table.places.values()], shape)

    def _graph(
        self,
        parts: tuple[_SpelledNode, ...],
        names: tuple[str, ...],
        shape: Shape,
        own: int | None = None,
    ) -> LaidOutGraph:
        """Return a graph of nodes; nodes after the first `own` come from the scene."""
        flat = self._flat_labels(parts[:own])
        key: Hashable = (flat, id(shape)) if own is None else (parts, id(shape))
        known: LaidOutGraph | None = self._made.get(key)
        if known is not None:
            return known
        called: tuple[str, ...] = ("action",) if self._is_flat else names
        nodes: tuple[NodeContent, ...] = (flat.content,)
        if self.overlay.nodes == "both":
            nodes = tuple([self._with_all(part, flat) for part in parts])
        elif not self._is_flat:
            nodes = tuple([part.own for part in parts])
        values = flat.values
        if own is not None:
            values = tuple(dict.fromkeys(chain.from_iterable(part.values for part in parts)))
        made = LaidOutGraph(nodes, called, shape, flat.content, values)
        return self._keep(key, made, 300 + 8 * len(nodes))

    def _keep(self, key: Hashable, made: T, size: int) -> T:
        self._made[key] = made
        self.bytes += size
        return made

    def share(self, content: NodeContent) -> NodeContent:
        """Return the labels of a plan as an object shared with equal plans."""
        found: NodeContent | None = self._made.get(content)
        if found is None:
            found = self._shared(content)
            self._keep(found, found, 300 + 100 * len(found))
        return found

    def _node(self, name: str, labels: tuple[Label, ...], ranks: _Ranks) -> _SpelledNode:
        found: _SpelledNode | None = self._made.get((name, labels, ranks))
        if found is None:
            own = () if self._is_flat else self._spell("", labels, ranks)
            named = self._spell(f"{name}.", labels, ranks)
            found = _SpelledNode(labels, ranks, own, named, self.labeller.values(labels))
            self._keep(
                (name, labels, ranks), found, 600 + 500 * len(labels) + 100 * len(ranks or ())
            )
        if found.labels is labels and found.ranks is ranks:
            self._same[name, id(labels), id(ranks)] = found
        return found

    def _spell(self, prefix: str, labels: tuple[Label, ...], ranks: _Ranks) -> NodeContent:
        """Convert labels to features; things of a scene get ranks and exact numbers only."""
        if ranks is None:
            return self._shared(self.labeller.spell(labels, prefix))
        ranked = [(NodeLabel(f"{prefix}{rank}", RANK, among), 1.0) for rank, among in ranks]
        return self._shared([*self._compared.spell(labels, prefix), *ranked])

    def _shared(self, content: Iterable[tuple[NodeLabel, float]]) -> NodeContent:
        """Return labels as shared objects, since many nodes have the same labels."""
        return tuple(self._labels.setdefault(each, each) for each in content)

    def _flat_labels(self, parts: tuple[_SpelledNode, ...]) -> _FlatLabels:
        found: _FlatLabels | None = self._made.get(parts)
        if found is None:
            found = _FlatLabels(
                tuple(chain.from_iterable(part.named for part in parts)),
                tuple(dict.fromkeys(chain.from_iterable(part.values for part in parts))),
            )
            size = len(parts) + len(found.content) + len(found.values)
            self._keep(parts, found, 300 + 8 * size)
        return found

    def _with_all(self, part: _SpelledNode, flat: _FlatLabels) -> NodeContent:
        found: NodeContent | None = self._made.get((part, flat))
        if found is None:
            found = part.own + flat.content
            self._keep((part, flat), found, 250 + 8 * len(found))
        return found

    def _shape(self, graph: GroundingGraph) -> Shape:
        key = (graph.node_names, graph.edges, graph.root)
        found: Shape | None = self._made.get(key)
        if found is None:
            near = tuple(map(tuple, _neighbours(graph, self.overlay)))
            anywhere = self.overlay.entry == "any"
            enters = tuple(anywhere or name == graph.root for name in graph.node_names)
            size = 1000 + sum(60 + 70 * len(each) for each in near)
            found = self._keep(key, Shape(near, enters), size)
        return found


class LaidOutTable(Sequence[LaidOutGraph]):
    """A table of graphs with the same shape, each built on access."""

    def __init__(
        self,
        layouts: Layouts,
        names: tuple[str, ...],
        columns: list[list[_SpelledNode]],
        places: list[NDArray[np.int64]],
        shape: Shape,
    ) -> None:
        self.shape, self.places = shape, places
        self.nodes = layouts.overlay.nodes
        self._layouts, self._names, self._columns = layouts, names, columns
        self._made: dict[int, LaidOutGraph] = {}

    @cached_property
    def values(self) -> tuple[tuple[str, str], ...]:
        """The (kind, value) pairs that occur in any of the graphs."""
        found: dict[tuple[str, str], None] = {}
        for column, places in zip(self._columns, self.places, strict=True):
            for place in dict.fromkeys(places.tolist()):
                found |= dict.fromkeys(column[place].values)
        return tuple(found)

    def own_contents(self) -> list[list[NodeContent]]:
        """Return the possible labels of each node."""
        return [[each.own for each in column] for column in self._columns]

    def priors(self) -> list[ComposedContent]:
        """Return the labels of each whole graph."""
        named = [
            list(map([each.named for each in column].__getitem__, places.tolist()))
            for column, places in zip(self._columns, self.places, strict=True)
        ]
        return list(map(ComposedContent, zip(*named, strict=True)))

    def __len__(self) -> int:
        return len(self.places[0])

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        known = self._made.get(place)
        if known is None:
            pairs = zip(self._columns, self.places, strict=True)
            parts = tuple([column[places[place]] for column, places in pairs])
            known = self._made[place] = self._layouts._graph(parts, self._names, self.shape)
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
    """The labels of all nodes of a graph, and the values among them."""

    content: NodeContent
    values: tuple[tuple[str, str], ...]


def _neighbours(graph: GroundingGraph, overlay: Overlay) -> list[list[tuple[int, Relation]]]:
    """List each node's neighbours once, by the first relation that applies."""
    place = {name: number for number, name in enumerate(graph.node_names)}
    given: list[dict[int, Relation]] = [{} for _ in place]
    back: list[dict[int, Relation]] = [{} for _ in place]
    for source, target, labels in graph.edges:
        one, other = place[source], place[target]
        there, again = _relations(labels)
        for found, end, names in ((given[one], other, there), (back[other], one, again)):
            known = found.get(end)
            found[end] = names if known is None else tuple(sorted({*known, *names}))
    near: list[list[tuple[int, Relation]]] = []
    for node in range(len(place)):
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
            for end in range(len(place)):
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


def spell_plan(
    length: int, labels: Sequence[Label] | object, labeller: NodeLabeller
) -> NodeContent:
    """Return a plan's labels for ψ(n): its length and the world's plan labels.

    >>> [str(label) for label, _ in spell_plan(2, {"pattern": "turn move"}, NodeLabeller())]
    ['plan.length=2', 'plan.pattern']
    """
    read = labels_of(labels, "the plan")  # type: ignore[arg-type]
    return (
        (NodeLabel(f"plan.length={min(length, 20)}"), 1.0),
        *labeller.spell(read, "plan."),
    )
