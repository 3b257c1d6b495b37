"""From texts and candidate plans to flat arrays: equal things are interned and scored once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.features.labels import NodeLabel, WordLabel
from groundling.features.space import FeatureSpace
from groundling.overlay.batch import Batch, Integers
from groundling.overlay.candidates import Candidates
from groundling.overlay.choices import Choice, KnownGraph, distinct_keys, in_order
from groundling.overlay.graphs import LaidOutGraph, NodeContent, Relation, Shape
from groundling.overlay.interning import Interner
from groundling.overlay.joined import JoinedLabels
from groundling.overlay.joining import Meetings, WordContent, join_labels
from groundling.overlay.potentials import LabelTables
from groundling.overlay.ragged import sizes_of
from groundling.overlay.skeletons import BOUND, Skeleton

__all__ = ["Encoding", "Instance", "encode"]

BIAS: WordContent = ((WordLabel(""), 1.0),)  # what ψ(y) and ψ(n) are joined with
ADVANCE: NodeContent = ((NodeLabel("advance"), 1.0),)

Numbers = NDArray[Any]

_SINGLES = ("word_advance", "graph_prior", "extra_pair")
_STARTS = (
    "instance_words", "instance_graphs", "graph_nodes", "instance_candidates",
    "candidate_actions", "instance_kinds", "kind_extras", "instance_groups",
)  # fmt: skip


@dataclass
class Instance:
    """A text and the candidates among which the model chooses, in one list or several.

    `gold` are the places of the right ones, counted through all lists.
    """

    skeleton: Skeleton
    words: Sequence[WordContent]  # in the order of the skeleton
    candidates: Sequence[Candidates]
    gold: Collection[int] = ()
    weight: float = 1.0


@dataclass
class Encoding:
    """Instances as flat arrays, and the tables that tell what the numbers mean."""

    batch: Batch
    tables: LabelTables
    relations: int
    space: FeatureSpace
    sets: list[WordContent]
    nodes: list[NodeContent]
    pair_set: Integers
    word_sets: Integers  # word set of every word, instance by instance
    dependencies: list[str]
    relation_names: list[Relation]
    graphs: list[list[LaidOutGraph]] = field(repr=False)

    @property
    def instances(self) -> int:
        """The number of instances."""
        return len(self.batch.instance_weight)

    @cached_property
    def chart_cells(self) -> int:
        """The number of chart cells in all instances: words × states, over all candidates."""
        batch = self.batch
        graph_size = sizes_of(batch.graph_nodes)
        total = np.concatenate([[0], np.cumsum(graph_size[batch.action_graph])])
        states = total[batch.candidate_actions[1:]] - total[batch.candidate_actions[:-1]]
        words = sizes_of(batch.instance_words)
        return int(np.sum(states * np.repeat(words, sizes_of(batch.instance_candidates))))


def encode(
    instances: Sequence[Instance],
    space: FeatureSpace,
    *,
    grow: bool = False,
    min_word_count: int = 1,
    edge_scores: bool = True,
    action_scores: bool = True,
    advance_scores: bool = False,
    plan_words: bool = False,
    joined: JoinedLabels | None = None,
) -> Encoding:
    """Encode instances; with `grow`, also decide which features the space has.

    `joined` remembers what labels join, where the space does not grow.
    """
    if grow or joined is None or not joined.fits(space):
        joined = None
    collector = _Collector(action_scores, advance_scores, plan_words, by_value=joined is None)
    for instance in instances:
        collector.add(instance)
    return collector.finish(space, grow, min_word_count, edge_scores, joined)


class _Collector:
    """Collects instances as growing lists of arrays, then joins them."""

    def __init__(
        self, action_scores: bool, advance_scores: bool, plan_words: bool, by_value: bool
    ) -> None:
        self.by_value = by_value
        self.action_scores = action_scores
        self.advance_scores = advance_scores
        self.plan_words = plan_words
        self.sets = Interner[WordContent]([BIAS])
        self.nodes = Interner[NodeContent]([ADVANCE])
        self.shapes = Interner[Shape]()
        self.relations = Interner[Relation]([("same",), ("next",), ("previous",)])
        self.dependencies = Interner[str](["sentence"])
        # Interning a large thing by value hashes all its labels; by identity it is free.
        self.known_graphs: dict[int, KnownGraph] = {}
        self.known_nodes: dict[int, int] = {}
        self.known_shapes: dict[int, int] = {}
        self.known_labels: dict[int, tuple[NodeContent, int]] = {}
        self.choices: dict[tuple[int, ...], Choice] = {}
        self.graphs: list[list[LaidOutGraph]] = []
        self.chunks: dict[str, list[NDArray[Any]]] = {name: [] for name in Batch._fields}
        self.sizes: dict[str, int] = dict.fromkeys(Batch._fields, 0)
        for name in _STARTS:
            self.put(name, [0])
        self.keys: list[Numbers] = []  # (set << 32 | node) of cells, then of single pairs
        self.gold: list[NDArray[np.float64]] = []
        self.word_sets: list[Numbers] = []
        self.extra_uses: list[Numbers] = []  # how many candidates have each extra pair
        self.cells = 0
        self.groups = 0

    def put(self, name: str, values: Sequence[Any] | NDArray[Any]) -> None:
        """Append to one of the arrays."""
        self.chunks[name].append(np.asarray(values))
        self.sizes[name] += len(values)

    def graph(self, graph: LaidOutGraph) -> KnownGraph:
        found = self.known_graphs.get(id(graph))
        if found is None:
            nodes = [self.node(node) for node in graph.nodes]
            prior = self.node(graph.prior) if self.action_scores else -1
            found = KnownGraph(graph, nodes, self.shape(graph.shape), prior)
            self.known_graphs[id(graph)] = found
        return found

    def node(self, content: NodeContent) -> int:
        found = self.known_nodes.get(id(content))
        if found is None:
            # Laid-out graphs share what is equal; where there is little, looking is not worth it.
            number = self.nodes if self.by_value else self.nodes.add
            found = self.known_nodes[id(content)] = number(content)
        return found

    def shape(self, shape: Shape) -> int:
        found = self.known_shapes.get(id(shape))
        if found is None:
            for near in shape.near:
                for _, relation in near:
                    self.relations(relation)
            found = self.known_shapes[id(shape)] = self.shapes(shape)
        return found

    def plan_labels(self, labels: NodeContent) -> int:
        found = self.known_labels.get(id(labels))
        if found is None:
            found = self.known_labels[id(labels)] = (labels, self.nodes(labels))
        return found[1]

    def choice(self, candidates: Sequence[Candidates]) -> Choice:
        """Return what candidates come to, for the first text or for the next one."""
        key = tuple(map(id, candidates))
        found = self.choices.get(key)
        if found is None:
            found = self.choices[key] = self._choose(candidates)
        return found

    def _choose(self, candidates: Sequence[Candidates]) -> Choice:
        if len(candidates) == 1:
            return self._choose_among(candidates[0])
        places: dict[int, int] = {}  # identity of a graph -> its place
        known: list[KnownGraph] = []
        actions: list[Numbers] = [np.zeros(0, np.int64)]
        ends: list[Numbers] = [np.zeros(0, np.int64)]
        labels: list[Numbers] = [np.zeros(0, np.int64)]
        count = 0
        for each in candidates:
            of_plans = np.zeros(len(each.labels), np.int64)
            for place in each.order:
                if place < 0:
                    of_plans[-1 - place] = self.plan_labels(each.labels[-1 - place])
                elif id(each.graphs[place]) not in places:
                    places[id(each.graphs[place])] = len(known)
                    known.append(self.graph(each.graphs[place]))
            numbers = np.array([places[id(graph)] for graph in each.graphs], np.int64)
            actions.append(numbers[each.action_graph])
            ends.append(count + each.ends)
            count += len(each.action_graph)
            if each.labels:
                labels.append(of_plans[each.plan_labels])
        nodes, local = in_order([node for graph in known for node in graph.nodes])
        return Choice(
            candidates=tuple(candidates),
            graphs=[each.graph for each in known],
            graph_shape=np.array([each.shape for each in known], np.int64),
            graph_prior=np.array([each.prior for each in known], np.int64),
            graph_node=local,
            graph_ends=np.cumsum([len(each.nodes) for each in known], dtype=np.int64),
            nodes=nodes,
            action_graph=np.concatenate(actions),
            candidate_ends=np.concatenate(ends),
            labels=np.concatenate(labels),
        )

    def _choose_among(self, candidates: Candidates) -> Choice:
        """Do the same for one list, whose nodes are arrays already."""
        of_plans = np.zeros(len(candidates.labels), np.int64)
        shapes = np.zeros(len(candidates.graphs), np.int64)
        priors = np.full(len(candidates.graphs), -1, np.int64)
        for place in candidates.order:
            if place < 0:
                of_plans[-1 - place] = self.plan_labels(candidates.labels[-1 - place])
                continue
            graph = candidates.graphs[place]
            for content in graph.nodes:
                self.node(content)
            if self.action_scores:
                priors[place] = self.node(graph.prior)
            shapes[place] = self.shape(graph.shape)
        layout = candidates.layout
        # Contents that differ in identity only have one number.
        nodes, local = in_order([self.node(content) for content in layout.nodes])
        return Choice(
            candidates=(candidates,),
            graphs=candidates.graphs,
            graph_shape=shapes,
            graph_prior=priors,
            graph_node=local[layout.graph_node],
            graph_ends=layout.graph_ends,
            nodes=nodes,
            action_graph=candidates.action_graph,
            candidate_ends=candidates.ends,
            labels=of_plans[candidates.plan_labels] if candidates.labels else of_plans[:0],
        )

    def add(self, instance: Instance) -> None:
        sets = self._add_words(instance)
        choice = self.choice(instance.candidates)
        count = len(choice.candidate_ends)
        self.put("action_graph", self.sizes["graph_shape"] + choice.action_graph)
        self.put("candidate_actions", self._sum("action_graph", choice) + choice.candidate_ends)
        self.put("graph_nodes", self.sizes["graph_node"] + choice.graph_ends)
        for name in ("graph_shape", "graph_prior", "graph_node"):
            self.put(name, getattr(choice, name))
        self._add_extras(choice, sets)
        gold = np.zeros(count, np.int32)
        gold[list(instance.gold)] = 1
        self.put("candidate_gold", gold)
        self.put("instance_candidates", [self.sizes["candidate_gold"]])
        self.put("instance_graphs", [self.sizes["graph_shape"]])
        self.put("instance_nodes", [len(choice.nodes)])
        self.put("instance_cells", [self.cells])
        self.cells += len(sets) * len(choice.nodes)
        self.keys.append(((sets[:, None] << 32) | choice.nodes[None, :]).ravel())
        shown = choice.gold_nodes(instance.gold)
        self.gold.append(np.broadcast_to(shown, (len(sets), len(choice.nodes))).ravel())
        self.groups += instance.skeleton.groups
        self.put("instance_groups", [self.groups])
        self.put("instance_weight", [float(instance.weight)])
        self.graphs.append(choice.graphs)

    def _sum(self, name: str, choice: Choice) -> int:
        """Return how many actions there were before those of the choice just put."""
        return self.sizes[name] - len(choice.action_graph)

    def _add_words(self, instance: Instance) -> Numbers:
        skeleton = instance.skeleton
        sets = np.array([self.sets(word) for word in instance.words], np.int64)
        self.word_sets.append(sets)
        self.put("word_parent", skeleton.parent)
        self.put("word_link", skeleton.link)
        self.put("word_dependency", [self.dependencies(name) for name in skeleton.relation])
        self.put("word_direction", skeleton.direction)
        self.put("word_group", skeleton.group)
        free = np.asarray(skeleton.link) != BOUND
        advances = np.where(free, sets << 32, -1) if self.advance_scores else np.full(len(sets), -1)
        self.put("word_advance", advances)
        self.put("instance_words", [self.sizes["word_parent"]])
        return sets

    def _add_extras(self, choice: Choice, sets: Numbers) -> None:
        """Note the pairs that every alignment of a candidate has: the plan's labels, with words."""
        kinds, kind, uses = choice.kinds
        extras = kinds[:, None]
        if not len(choice.labels):
            extras = np.zeros((1, 0), np.int64)
        elif self.plan_words:
            extras = np.concatenate([extras, (sets[None, :] << 32) | extras], axis=1)
        before = self.sizes["extra_pair"]
        self.put("extra_pair", extras.ravel())
        self.extra_uses.append(np.repeat(uses, extras.shape[1]))
        self.put("kind_extras", before + extras.shape[1] * np.arange(1, len(kinds) + 1))
        self.put("candidate_kind", kind)
        self.put("instance_kinds", [self.sizes["kind_extras"] - 1])

    def finish(
        self,
        space: FeatureSpace,
        grow: bool,
        min_word_count: int,
        edge_scores: bool,
        joined: JoinedLabels | None,
    ) -> Encoding:
        cell_keys = np.concatenate([*self.keys, np.empty(0, np.int64)])
        # Pairs that stand alone were noted by their keys, -1 where there is none.
        single = {name: self._joined(name).astype(np.int64) for name in _SINGLES}
        single_keys = np.concatenate([keys[keys >= 0] for keys in single.values()])
        pairs, where = distinct_keys(np.concatenate([cell_keys, single_keys]), len(self.nodes))
        self.chunks["cell_pair"] = [where[: len(cell_keys)]]
        place = len(cell_keys)
        for name, keys in single.items():
            count = int((keys >= 0).sum())
            keys[keys >= 0] = where[place : place + count]
            self.chunks[name] = [keys]
            place += count
        pair_gold = np.zeros(len(pairs))
        gold = np.concatenate([*self.gold, np.zeros(0)])
        np.add.at(pair_gold, where[: len(gold)], gold)
        # ψ(y) and ψ(n) are counted as if each fired once wherever it occurs.
        singles = where[len(cell_keys) :]
        extra_uses = np.concatenate([*self.extra_uses, np.zeros(0)])
        times = np.concatenate([np.ones(len(singles) - len(extra_uses)), extra_uses])
        pair_gold += np.bincount(singles, times, len(pairs))
        words = sizes_of(self._joined("instance_words"))
        weights = np.repeat(self._joined("instance_weight"), words)
        word_sets = np.concatenate([*self.word_sets, np.zeros(0, np.int64)]).astype(np.int32)
        uses = np.bincount(word_sets, weights=weights, minlength=len(self.sets)).astype(float)
        meetings = Meetings(
            sets=self.sets.items,
            nodes=self.nodes.items,
            pair_set=(pairs >> 32).astype(np.int32),
            pair_node=(pairs & 0xFFFFFFFF).astype(np.int32),
            pair_gold=pair_gold,
            set_uses=uses,
            dependencies=self.dependencies.items,
            relations=self.relations.items,
        )
        if joined is not None:
            tables = joined.tables(meetings, edge_scores=edge_scores)
        else:
            tables = join_labels(
                meetings, space, grow=grow, min_word_count=min_word_count, edge_scores=edge_scores
            )
        return Encoding(
            batch=self._batch(),
            tables=tables,
            relations=len(self.relations),
            space=space,
            sets=self.sets.items,
            nodes=self.nodes.items,
            pair_set=meetings.pair_set,
            word_sets=word_sets,
            dependencies=self.dependencies.items,
            relation_names=self.relations.items,
            graphs=self.graphs,
        )

    def _joined(self, name: str) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, np.int32), *self.chunks[name]])

    def _batch(self) -> Batch:
        nodes, sizes = [0], [0]
        near: list[int] = []
        relations: list[int] = []
        enters: list[bool] = []
        for shape in self.shapes.items:
            for around in shape.near:
                near += [node for node, _ in around]
                relations += [self.relations(name) for _, name in around]
                sizes.append(len(near))
            enters += shape.enters
            nodes.append(len(enters))
        shapes = {
            "shape_nodes": nodes, "node_near": sizes, "near_node": near,
            "near_relation": relations, "node_enters": enters,
        }  # fmt: skip
        kinds = {"instance_weight": np.float64, "instance_cells": np.int64}
        arrays: dict[str, Any] = {
            name: np.ascontiguousarray(
                shapes[name] if name in shapes else self._joined(name),
                dtype=kinds.get(name, np.int32),
            )
            for name in Batch._fields
        }
        return Batch(**arrays)
