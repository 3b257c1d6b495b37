"""Grounding graphs laid out for the overlay: label sets and neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise, repeat
from typing import Any, Literal, TypeVar

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
from groundling.features.labels import (
    LABEL,
    RANK,
    NodeLabel,
    NodeLabeller,
    kind_of_name,
)
from groundling.overlay.settings import Overlay
from groundling.ragged import entries_of, renumbered, sizes_of, starts_of
from groundling.world.graph import GroundingGraph, Label, labels_of
from groundling.world.graph_table import GraphTable
from groundling.world.relations import Rank, Ranks, Scene, SceneNode

__all__ = ["LaidOutGraph", "LaidOutTable", "Layouts", "NodeContent", "Shape", "spell_plan"]

T = TypeVar("T")
_Ranks = Ranks | None  # None if the node is not a thing of a scene

FAR: Relation = ("far",)
SELF: Relation = ("self",)
TWO_STEP: Relation = ("two-step",)
Edge = tuple[int, int, tuple[Label, ...]]
_RECURRING = 500  # approximate bytes of a cached result
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
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
        The settings, which define the neighbours of a node.

    Attributes
    ----------
    The (neighbour, relation) pairs of all nodes as arrays: the index at which those of each
    node start, the neighbours, and indices into `relations`, which is in the order of first
    occurrence.
    """

    __slots__ = ("enters", "near_node", "near_relation", "node_near", "relations")

    node_near: NDArray[np.int32]
    near_node: NDArray[np.int32]
    near_relation: NDArray[np.int32]
    relations: tuple[Relation, ...]

    def __init__(self, edges: Sequence[Edge], enters: Sequence[bool], overlay: Overlay) -> None:
        self.enters = tuple(enters)
        self._find_neighbours([self], [edges], overlay)

    @classmethod
    def several(
        cls, graphs: Sequence[tuple[Sequence[Edge], Sequence[bool]]], overlay: Overlay
    ) -> list[Shape]:
        """Return the shapes of several graphs, which takes less time than one after the other."""
        shapes = [cls.__new__(cls) for _ in graphs]
        for shape, (_, enters) in zip(shapes, graphs, strict=True):
            shape.enters = tuple(enters)
        cls._find_neighbours(shapes, [edges for edges, _ in graphs], overlay)
        return shapes

    @staticmethod
    def _find_neighbours(
        shapes: Sequence[Shape], edges: Sequence[Sequence[Edge]], overlay: Overlay
    ) -> None:
        counts, sizes = np.array(list(map(len, shapes))), np.array(list(map(len, edges)))
        listed, first = [*chain.from_iterable(edges)], starts_of(counts)
        nodes, width = np.arange(first[-1]), np.repeat(counts, counts)
        # Nodes are numbered across all graphs, neighbours within their graph.
        before, pair = np.repeat(first[:-1], sizes), starts_of(width)
        sources, targets, labels = zip(*listed, strict=True) if listed else ((), (), ())
        ends = np.array([sources, targets], int)
        one, other = before + ends
        if len(renumbered(pair[one] + ends[1])[0]) < len(listed):
            Shape._find_neighbours(shapes, list(map(_merged, edges)), overlay)
            return
        place: dict[Relation, int] = {SELF: 0, TWO_STEP: 1, FAR: 2}
        ids = list(map(id, labels))
        distinct = dict(zip(ids, labels, strict=True))
        coded = [[place.setdefault(name, len(place)) for name in _relations(each)]
                 for each in distinct.values()]  # fmt: skip
        rows = {key: n for n, key in enumerate(distinct)}
        there, back = np.array(coded, int).reshape(-1, 2).T[:, [rows[key] for key in ids]]
        # Lists of pairs, nodes and relations; the first of several relations applies.
        found: list[tuple[NDArray[Any], NDArray[Any], Any]] = [(nodes[:0], nodes[:0], nodes[:0])]
        if "given" in overlay.neighbours:
            found.append((pair[one] + ends[1], one, there))
        if "reversed" in overlay.neighbours:
            found.append((pair[other] + ends[0], other, back))
        if "self" in overlay.neighbours:
            found.append((pair[nodes] + nodes - np.repeat(first[:-1], counts), nodes, place[SELF]))
        if "two-step" in overlay.neighbours:
            order = np.argsort(one, kind="stable")
            begin, end = (np.searchsorted(one[order], other, side) for side in _SIDES)
            source, steps = np.repeat(one, end - begin), order[entries_of(begin, end - begin)]
            found.append((pair[source] + ends[1][steps], source, place[TWO_STEP]))
        if overlay.adjacency == "soft":
            every, node = np.arange(pair[-1]), np.repeat(nodes, width)
        else:
            every, numbers = renumbered(np.concatenate([each[0] for each in found]))
            node = np.empty(len(every), int)
            node[numbers] = np.concatenate([each[1] for each in found])
        kind, code = np.full(len(node), len(found)), np.full(len(node), place[FAR])
        for number, (pairs, _, relations) in reversed([*enumerate(found)]):
            at = pairs if overlay.adjacency == "soft" else np.searchsorted(every, pairs)
            kind[at], code[at] = number, relations
        key = node * (len(found) + 1) + kind
        order = key.argsort(kind="stable")
        near = (every - pair[node])[order].astype(np.int32)
        code, starts = code[order], starts_of(np.bincount(node, minlength=len(nodes)), np.int32)
        # Relations are numbered in the order of first occurrence, separately for each graph.
        graph_of = np.repeat(np.arange(len(counts)), counts)[node]
        seen = np.full((len(counts), len(place)), len(order))
        seen.reshape(-1)[(graph_of * len(place) + code)[::-1]] = np.arange(len(order))[::-1]
        ranked = seen.argsort(axis=1, kind="stable")
        relation, names = ranked.argsort(axis=1).astype(np.int32)[graph_of, code], list(place)
        for n, (shape, used) in enumerate(zip(shapes, (seen < len(order)).sum(1), strict=True)):
            own = starts[first[n] : first[n + 1] + 1]
            some = slice(own[0], own[-1])
            shape.node_near = own - own[0]
            shape.near_node, shape.near_relation = near[some], relation[some]
            shape.relations = tuple([names[each] for each in ranked[n, :used].tolist()])

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
    """A grounding graph laid out for the overlay; two graphs are equal only if identical.

    `nodes` are the label sets that words align with, `names` their names, `prior` the labels
    used by ψ(y), and `values` the (kind, value) pairs that occur.
    """

    nodes: tuple[NodeContent, ...]
    names: tuple[str, ...]
    shape: Shape
    prior: NodeContent
    values: tuple[tuple[str, str], ...]


class Layouts:
    """Creates laid-out graphs that share equal nodes, flat labels and shapes.

    Equal parts are the same object, so comparing identities suffices.

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
        # The caches are keyed by identity, and copies of objects have other identities.
        return Layouts, (self.overlay, self.labeller, self.has_ranks)

    def clear(self) -> None:
        """Clear the caches; graphs already laid out stay valid."""
        # The scene of the latest graph with relations, and what was laid out for it.
        self._latest: tuple[Scene, dict[Hashable, _Surroundings]] | None = None
        # Results by key: those that recurred, those of the latest request, and of the one before.
        # Objects in keys that are compared by identity are kept alive by their results, so that
        # their ids are not reused.
        self._made: dict[Hashable, Any] = {}
        self._new: dict[Hashable, Any] = {}
        self._before: dict[Hashable, Any] = {}
        self.bytes = 0  # approximate size of `_made` and `_new`
        self._new_bytes = 0

    def begin(self) -> None:
        """Begin a request about another state; drop results that were used only once."""
        self.bytes -= self._new_bytes
        self._before, self._new, self._new_bytes = self._new, {}, 0

    def lay_out(self, graph: GroundingGraph, scene: Scene | None = None) -> LaidOutGraph:
        """Lay out a grounding graph according to the overlay settings.

        Nodes that are things of a scene get ranks and, with `Overlay.relations`, relations to other
        things. ψ(y) and flat labels use only the nodes of the original graph.
        """
        ranks: Sequence[_Ranks] = (None,) * len(graph)
        if scene is not None:
            things = scene.things_of(graph)
            ranks = self._ranked(scene.ranks_of(things))
        parts = tuple(map(self._node, graph.parts, graph.node_labels, ranks))
        if scene is None or not self.overlay.relations:
            return self._graph(parts, graph.node_names, self._shape(graph))
        [(added, names, shape)] = self._surroundings([(graph, things)], scene)
        nodes = [scene.nodes[each] for each in added]
        others = [self._node("", each.labels, each.ranks) for each in nodes]
        return self._graph((*parts, *others), names, shape)

    def _ranked(self, ranks: list[_Ranks]) -> list[_Ranks]:
        """Return the ranks of nodes, and take note if there are any."""
        self.has_ranks = self.has_ranks or any(ranks)
        return ranks

    def _surroundings(
        self, graphs: Sequence[tuple[GroundingGraph, _Things]], scene: Scene
    ) -> list[_Surroundings]:
        """Return what relations add to graphs whose nodes represent the given things."""
        if self._latest is None or self._latest[0] is not scene:
            self._latest = scene, {}
        known = self._latest[1]
        # Actions on the same things differ only in the labels of the action.
        keys = [(each.node_names, each.edges, each.root, things) for each, things in graphs]
        new = {key: pair for key, pair in zip(keys, graphs, strict=True) if key not in known}
        nodes, shapes = [], []
        for graph, things in new.values():
            added, edges = scene.surroundings(things)
            names = (*graph.node_names, *[scene.nodes[each].name for each in added])
            enters = [self.overlay.entry == "any" or name == graph.root for name in names]
            nodes.append((added, names))
            shapes.append(((*_numbered(graph), *edges), enters))
            self._ranked([scene.nodes[each].ranks for each in added])
        pairs = zip(nodes, Shape.several(shapes, self.overlay) if shapes else (), strict=True)
        known |= {key: (*pair, shape) for key, (pair, shape) in zip(new, pairs, strict=True)}
        return [known[key] for key in keys]

    def lay_out_many(
        self, graphs: GraphTable | Sequence[GroundingGraph], scene: Scene | None = None
    ) -> LaidOutTable:
        """Lay out several graphs; equal labels are read once, and graphs are built on access."""
        if isinstance(graphs, GraphTable) and scene is None:
            return self._lay_out_table(graphs)
        own: list[_Things] = [()] * len(graphs)
        around: list[_Surroundings | None] = [None] * len(graphs)
        others: list[SceneNode] = []
        if scene is not None:
            own = list(map(scene.things_of, graphs))
            if self.overlay.relations:
                around = [*self._surroundings(list(zip(graphs, own, strict=True)), scene)]
                others = scene.nodes
        patterns, made = Interner[Hashable](), list[tuple[tuple[str, ...], Shape]]()
        known: dict[Hashable, int] = {}
        pattern_of, names, places = [], [], list[list[int]]()
        # The nodes of the scene come before those of the graphs.
        labels, ranks = [each.labels for each in others], list[_Ranks]()
        ranks += [each.ranks for each in others]
        for graph, things, whole in zip(graphs, own, around, strict=True):
            added, called, shape = whole or ([], graph.node_names, None)
            key = (graph.node_names, graph.edges, graph.root, graph.roles, id(shape))
            number = known.get(key)
            if number is None:  # the names of nodes do not matter
                roles = [name if name in graph.roles else "" for name in graph.node_names]
                edges, root = _numbered(graph), graph.node_names.index(graph.root)
                number = known[key] = patterns((edges, root, *roles, id(shape)))
            pattern_of.append(number)
            if len(made) < len(patterns):
                made.append((graph.parts, self._shape(graph) if shape is None else shape))
            names.append(called)
            places.append([*range(len(labels), len(labels) + len(graph)), *added])
            labels += graph.node_labels
            if scene is not None:
                ranks += scene.ranks_of(things)
        # The nodes of each graph in a row, with -1 behind them.
        rows = np.full((len(places), max(map(len, places), default=0)), -1)
        used, numbers = renumbered(np.array([*chain.from_iterable(places)], np.int64))
        rows[np.arange(rows.shape[1]) < np.array(list(map(len, places)))[:, None]] = numbers
        if others:
            labels, ranks = ([each[n] for n in used.tolist()] for each in (labels, ranks))
        nodes = _LabelTable(labels, self._ranked(ranks))
        return LaidOutTable(
            self, nodes, nodes.at(rows), [parts for parts, _ in made], names,
            [shape for _, shape in made], np.array(pattern_of, np.int64),
        )  # fmt: skip

    def _lay_out_table(self, table: GraphTable) -> LaidOutTable:
        # Several nodes may have the same list of labels.
        listed = {id(each): each for each in table.labels.values()}
        sizes = np.array(list(map(len, listed.values())), np.int64)
        first = dict(zip(listed, starts_of(sizes).tolist(), strict=False))
        nodes = _LabelTable([*chain.from_iterable(listed.values())])
        rows = [
            np.where(table.places[name] < 0, -1, table.places[name] + first[id(labels)])
            for name, labels in table.labels.items()
        ]
        parts = []
        for pattern in table.patterns:
            part = dict(zip(pattern.node_names, pattern.parts, strict=True))
            parts.append(tuple([part.get(name, "") for name in table.labels]))
        names = [table.patterns[number].node_names for number in table.pattern_of.tolist()]
        shapes = list(map(self._shape, table.patterns))
        kinds = nodes.at(np.stack(rows, axis=1))
        return LaidOutTable(self, nodes, kinds, parts, names, shapes, table.pattern_of)

    def spell_table(
        self, prefix: str, nodes: _LabelTable, kinds: NDArray[np.int64] | None = None
    ) -> PartTable:
        """Convert the labels of several nodes to features; each label is converted once."""
        slots = self.labeller.slots if LABEL not in self.labeller.slots else ()
        starts, run, labels = nodes.starts, nodes.run, nodes.labels
        if kinds is not None:
            sizes = sizes_of(starts)[kinds]
            used, run = renumbered(run[entries_of(starts[kinds], sizes)])
            starts, labels = starts_of(sizes), [labels[each] for each in used.tolist()]
        names = {each.name for each in labels if type(each) is Label}
        named = {e: (f"{prefix}{e}", kind) for e in names if (kind := kind_of_name(e)) in slots}
        parts = [
            ((NodeLabel(*named[each.name], each.value), 1.0),)  # the same, but faster
            if type(each) is Label and type(each.value) is str and each.name in named
            else self._spell_run(prefix, each)
            for each in labels
        ]
        return PartTable(parts, starts, run)

    def _spell_run(self, prefix: str, run: _Run) -> Part:
        if type(run) is Label:
            return self._spell_label(self.labeller, prefix, run)
        if not run or type(run[0]) is not Label:
            return self._rank_labels(prefix, run)
        found: Part | None = self._find((prefix, run))
        if found is None:
            found = self._spell_labels(self._compared, prefix, run)
            self._keep((prefix, run), found, 300 + 100 * len(found))
        return found

    def _graph(
        self, parts: tuple[_SpelledNode, ...], names: tuple[str, ...], shape: Shape
    ) -> LaidOutGraph:
        """Return the graph that consists of the given nodes."""
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
        """Return the cached result of a key, or None."""
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
        """Return the given labels as one object that is shared by all equal labels."""
        found: Part | None = self._find(content)
        return self._keep(content, content, 300 + 100 * len(content)) if found is None else found

    def _node(self, name: str, labels: tuple[Label, ...], ranks: _Ranks) -> _SpelledNode:
        """Return a node with its labels as features; nodes added by the scene have no name."""
        # The node refers to its groups of ranks, which are shared, so the key is their identity.
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
        """Convert labels to features; only things of a scene get ranks and exact numbers."""
        if ranks is None:
            return self._spell_labels(self.labeller, prefix, labels)
        own = self.share(self._spell_labels(self._compared, prefix, labels))
        return composed((own, *[self._rank_labels(prefix, group) for group in ranks]))

    def _spell_labels(self, labeller: NodeLabeller, prefix: str, labels: tuple[Label, ...]) -> Part:
        spelled = [self._spell_label(labeller, prefix, label) for label in labels]
        return tuple(chain.from_iterable(spelled))

    def _spell_label(self, labeller: NodeLabeller, prefix: str, label: Label) -> Part:
        if isinstance(label.value, str) and kind_of_name(label.name) in labeller.slots:
            return tuple(labeller.spell((label,), prefix))  # usually a name, which rarely recurs
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
    """The labels of nodes as arrays; nodes with equal labels and ranks are listed once.

    Without ranks, a node is a list of labels. With ranks, it consists of all its labels together
    and of groups of ranks.
    """

    def __init__(self, listed: Sequence[tuple[Label, ...]], ranks: Sequence[_Ranks] = ()) -> None:
        kinds = Interner[Hashable]()
        # Groups of ranks are shared, so they are compared by identity.
        pairs = zip(listed, map(id, ranks), strict=True) if len(ranks) else listed
        self.kind_of = np.array([kinds(each) for each in pairs], np.int64)
        firsts = np.zeros(len(kinds), np.int64)
        firsts[self.kind_of[::-1]] = np.arange(len(self.kind_of))[::-1]
        first: list[int] = firsts.tolist()
        self.kinds = [listed[place] for place in first]
        self.ranks = [ranks[place] for place in first] if len(ranks) else [None] * len(first)
        nodes = zip(self.kinds, self.ranks, strict=True)
        runs: list[Any] = [own if found is None else (own, *found) for own, found in nodes]
        self.starts = starts_of(np.array(list(map(len, runs)), np.int64))
        keys = [each if type(each) is Label else id(each) for each in chain.from_iterable(runs)]
        known = dict(zip(keys, chain.from_iterable(runs), strict=True))
        place = {key: number for number, key in enumerate(known)}
        self.run = np.array([place[key] for key in keys], np.int64)
        self.labels: list[_Run] = list(known.values())

    def at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of the distinct labels of nodes; -1 for none."""
        if not len(self.kind_of):
            return places
        return np.where(places < 0, -1, self.kind_of[places])

    def plain(
        self, kinds: NDArray[np.int64], labeller: NodeLabeller
    ) -> tuple[_LabelTable, NDArray[np.int64]]:
        """Return a table without labels that only words compare, and the indices of some kinds."""
        listed = [self.kinds[kind] for kind in kinds.tolist()]
        ranks = [self.ranks[kind] for kind in kinds.tolist()]
        labels = {*chain.from_iterable(listed)}
        kind_of = {name: kind_of_name(name) for name in {name for name, _ in labels}}
        slots, amounts = labeller.slots, labeller.has_amounts
        texts = {e for e in labels if isinstance(e.value, str) and kind_of[e.name] in slots}
        compared = texts | {each for each in labels if isinstance(each.value, float)}
        # Things with ranks have no amounts.
        left_out = [texts if amounts and each is None else compared for each in ranks]
        pairs = zip(listed, left_out, strict=True)
        listed = [tuple([e for e in own if e not in out]) for own, out in pairs]
        nodes = _LabelTable(listed, [None if each is None else () for each in ranks])
        return nodes, nodes.kind_of


@dataclass(eq=False, repr=False)
class LaidOutTable(Sequence[LaidOutGraph]):
    """Laid-out graphs that are built on access."""

    layouts: Layouts
    nodes: _LabelTable
    kinds: NDArray[np.int64]  # graph × node -> index of the node's labels in `nodes`, or -1
    parts: list[tuple[str, ...]]  # shape -> parts of the first nodes; others have no part
    names: list[tuple[str, ...]]
    shapes: list[Shape]
    shape_of: NDArray[np.int64]  # graph -> index of its shape and parts
    _made: dict[int, LaidOutGraph] = field(default_factory=dict)

    @cached_property
    def values(self) -> tuple[tuple[str, str], ...]:
        """The (kind, value) pairs that occur in any of the graphs."""
        return self.layouts.labeller.values({*chain.from_iterable(self.nodes.kinds)})

    def own(self) -> tuple[PartTable, NDArray[np.int64]]:
        """Return the labels of distinct nodes, and for each graph the indices of its nodes."""
        return self.layouts.spell_table("", self.nodes), self.kinds

    def priors(self) -> tuple[PartTable, NDArray[np.int64]]:
        """Return the labels of whole graphs, and the index of each graph's labels.

        Unless actions are flat, labels that only words compare are left out.
        """
        layouts, part = self.layouts, Interner[str]([""])
        width = max(map(len, self.parts))
        padded = [[*map(part, own), *[0] * (width - len(own))] for own in self.parts]
        part_of, kinds = np.array(padded)[self.shape_of], self.kinds[:, :width]
        named = (part_of > 0) & (kinds >= 0)
        used, number = renumbered(kinds[named])
        nodes = self.nodes
        if not layouts._is_flat:
            nodes, used = nodes.plain(used, layouts.labeller)
        kinds = np.full(kinds.shape, -1)
        kinds[named] = used[number]
        columns, tables, place = [], [], np.zeros(len(self), np.int64)
        for name in part.items[1:]:
            own = part_of == part(name)
            nth = own.cumsum(axis=1) * own  # several nodes of a graph may have the same part
            for n in range(1, int(nth.max(initial=0)) + 1):
                column = np.where(nth == n, kinds, -1).max(axis=1)
                used, column[column >= 0] = renumbered(column[column >= 0])
                tables.append(layouts.spell_table(f"{name}.", nodes, used))
                columns.append(column)
                place = renumbered(place * (len(used) + 1) + column + 1)[1]
        first = np.empty(place.max(initial=-1) + 1, np.int64)
        first[place] = np.arange(len(self))
        return PartTable.combined(tables, np.stack(columns, axis=1)[first]), place

    def __len__(self) -> int:
        return len(self.shape_of)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        known = self._made.get(place)
        if known is None:
            of = self.shape_of[place]
            kinds: list[int] = self.kinds[place].tolist()
            pairs = zip(chain(self.parts[of], repeat("")), kinds, strict=False)
            nodes = tuple([
                self.layouts._node(part, self.nodes.kinds[kind], self.nodes.ranks[kind])
                for part, kind in pairs if kind >= 0
            ])  # fmt: skip
            known = self.layouts._graph(nodes, self.names[place], self.shapes[of])
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
    """The labels of all nodes of a graph, and their values."""

    content: NodeContent
    values: tuple[tuple[str, str], ...]


_Run = Any  # a label, all labels of a thing with ranks, or a group of ranks
_Things = tuple[str | None, ...]
_Surroundings = tuple[list[int], tuple[str, ...], Shape]
"""The nodes that relations add to a graph, and the names and the shape of all nodes."""


def _numbered(graph: GroundingGraph) -> tuple[Edge, ...]:
    """Return the edges of a graph, with nodes given by index."""
    place = {name: number for number, name in enumerate(graph.node_names)}
    return tuple([(place[one], place[other], labels) for one, other, labels in graph.edges])


def _merged(edges: Iterable[Edge]) -> list[Edge]:
    """Merge edges between the same two nodes into one edge with all their labels."""
    found: dict[tuple[int, int], tuple[Label, ...]] = {}
    for one, other, labels in edges:
        found[one, other] = (*found.get((one, other), ()), *(labels or _RELATED))
    return [(*ends, labels) for ends, labels in found.items()]


@lru_cache(maxsize=1000)
def _relations(labels: tuple[Label, ...]) -> tuple[Relation, Relation]:
    """Return the relations of an edge, as seen from its source and from its target.

    Numbers are dropped: the label `distance=2.5` gives the relation `distance`.
    """
    listed = labels or _RELATED
    named = {label.name if isinstance(label.value, float) else str(label) for label in listed}
    return tuple(sorted(named)), tuple(sorted([f"{name} reversed" for name in named]))


def spell_plan(length: int, labels: Sequence[Label] | object, labeller: NodeLabeller) -> Part:
    """Return a plan's labels for ψ(n): its length and the labels from `label_plan`.

    >>> [str(label) for label, _ in spell_plan(2, {"pattern": "turn move"}, NodeLabeller())]
    ['plan.length=2', 'plan.pattern']
    """
    read = labels_of(labels, "the plan")  # type: ignore[arg-type]
    return (
        (NodeLabel(f"plan.length={min(length, 20)}"), 1.0),
        *labeller.spell(read, "plan."),
    )
