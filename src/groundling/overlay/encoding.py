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
from groundling.overlay.graphs import LaidOutGraph, NodeContent, Relation, Shape
from groundling.overlay.interning import Interner
from groundling.overlay.joining import Meetings, WordContent, join_labels
from groundling.overlay.potentials import LabelTables
from groundling.overlay.skeletons import BOUND, Skeleton

__all__ = ["Encoding", "Instance", "encode"]

BIAS: WordContent = ((WordLabel(""), 1.0),)  # what ψ(y) and ψ(n) are joined with
ADVANCE: NodeContent = ((NodeLabel("advance"), 1.0),)

_SINGLES = ("word_advance", "graph_prior", "extra_pair")
_STARTS = (
    "instance_words", "instance_graphs", "graph_nodes", "instance_candidates",
    "candidate_actions", "candidate_extras", "instance_groups",
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
        graph_size = np.diff(batch.graph_nodes)
        total = np.concatenate([[0], np.cumsum(graph_size[batch.action_graph])])
        states = total[batch.candidate_actions[1:]] - total[batch.candidate_actions[:-1]]
        words = np.diff(batch.instance_words)
        return int(np.sum(states * np.repeat(words, np.diff(batch.instance_candidates))))


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
) -> Encoding:
    """Encode instances; with `grow`, also decide which features the space has."""
    collector = _Collector(action_scores, advance_scores, plan_words)
    for instance in instances:
        collector.add(instance)
    return collector.finish(space, grow, min_word_count, edge_scores)


@dataclass(frozen=True)
class _KnownGraph:
    """A graph that was interned; holding it keeps its identity from being reused."""

    graph: LaidOutGraph
    nodes: list[int]
    shape: int
    prior: int


class _Collector:
    """Collects instances into growing lists, then freezes them into arrays."""

    def __init__(self, action_scores: bool, advance_scores: bool, plan_words: bool) -> None:
        self.action_scores = action_scores
        self.advance_scores = advance_scores
        self.plan_words = plan_words
        self.sets = Interner[WordContent]([BIAS])
        self.nodes = Interner[NodeContent]([ADVANCE])
        self.shapes = Interner[Shape]()
        self.relations = Interner[Relation]([("same",), ("next",), ("previous",)])
        self.dependencies = Interner[str](["sentence"])
        # Interning a large graph by value hashes all its labels; by identity it is free.
        self.known: dict[int, _KnownGraph] = {}
        self.known_labels: dict[int, tuple[NodeContent, int]] = {}
        self.graphs: list[list[LaidOutGraph]] = []
        self.lists: dict[str, list[Any]] = {name: [] for name in Batch._fields}
        for name in _STARTS:
            self.lists[name].append(0)
        self.keys: list[NDArray[np.int64]] = []  # (set << 32 | node) of cells, then of single pairs
        self.gold: list[NDArray[np.float64]] = []
        self.word_sets: list[int] = []
        self.cells = 0
        self.groups = 0

    def graph(self, graph: LaidOutGraph) -> _KnownGraph:
        found = self.known.get(id(graph))
        if found is None:
            nodes = [self.nodes(node) for node in graph.nodes]
            for near in graph.shape.near:
                for _, relation in near:
                    self.relations(relation)
            prior = self.nodes(graph.prior) if self.action_scores else -1
            found = _KnownGraph(graph, nodes, self.shapes(graph.shape), prior)
            self.known[id(graph)] = found
        return found

    def plan_labels(self, labels: NodeContent) -> int:
        found = self.known_labels.get(id(labels))
        if found is None:
            found = self.known_labels[id(labels)] = (labels, self.nodes(labels))
        return found[1]

    def add(self, instance: Instance) -> None:
        lists = self.lists
        sets = self._add_words(instance)
        first_graph = len(lists["graph_shape"])
        first = len(lists["candidate_gold"])
        local: dict[int, int] = {}  # node -> its place among the nodes of the instance
        places: dict[int, int] = {}  # identity of a graph -> its place among all
        kept: list[LaidOutGraph] = []
        for candidates in instance.candidates:
            self._add_candidates(candidates, sets, local, places, kept)
        for place in instance.gold:
            lists["candidate_gold"][first + place] = True
        lists["instance_candidates"].append(len(lists["candidate_gold"]))
        lists["instance_graphs"].append(len(lists["graph_shape"]))
        nodes_here = np.array(list(local), np.int64)
        lists["instance_nodes"].append(len(nodes_here))
        lists["instance_cells"].append(self.cells)
        self.cells += len(sets) * len(nodes_here)
        self.keys.append(((sets[:, None] << 32) | nodes_here[None, :]).ravel())
        gold = self._gold_nodes(instance, first, first_graph, kept, local)
        self.gold.append(np.broadcast_to(gold, (len(sets), len(nodes_here))).ravel())
        self.groups += instance.skeleton.groups
        lists["instance_groups"].append(self.groups)
        lists["instance_weight"].append(instance.weight)
        self.graphs.append(kept)

    def _add_words(self, instance: Instance) -> NDArray[np.int64]:
        lists, skeleton = self.lists, instance.skeleton
        sets = np.array([self.sets(word) for word in instance.words], np.int64)
        self.word_sets.extend(sets.tolist())
        lists["word_parent"].extend(skeleton.parent)
        lists["word_link"].extend(skeleton.link)
        lists["word_dependency"].extend(self.dependencies(name) for name in skeleton.relation)
        lists["word_direction"].extend(skeleton.direction)
        lists["word_group"].extend(skeleton.group)
        lists["word_advance"].extend(
            word << 32 if self.advance_scores and link != BOUND else -1
            for word, link in zip(sets.tolist(), skeleton.link, strict=True)
        )
        lists["instance_words"].append(len(lists["word_parent"]))
        return sets

    def _add_candidates(
        self,
        candidates: Candidates,
        sets: NDArray[np.int64],
        local: dict[int, int],
        places: dict[int, int],
        kept: list[LaidOutGraph],
    ) -> None:
        lists, size = self.lists, len(candidates)
        labels = np.zeros(len(candidates.labels), np.int64)
        for is_graph, place in candidates.order:
            if not is_graph:
                labels[place] = self.plan_labels(candidates.labels[place])
                continue
            graph = candidates.graphs[place]
            if id(graph) not in places:
                known = self.graph(graph)
                places[id(graph)] = len(lists["graph_shape"])
                kept.append(graph)
                lists["graph_shape"].append(known.shape)
                lists["graph_prior"].append(known.prior)
                lists["graph_node"].extend(
                    local.setdefault(node, len(local)) for node in known.nodes
                )
                lists["graph_nodes"].append(len(lists["graph_node"]))
        numbers = np.array([places[id(graph)] for graph in candidates.graphs], np.int64)
        begin = len(lists["action_graph"])
        lists["action_graph"].extend(numbers[candidates.action_graph].tolist())
        lists["candidate_actions"].extend((begin + candidates.ends).tolist())
        extras = np.zeros((size, 0), np.int64)
        if candidates.labels:
            pairs = labels[:, None]
            if self.plan_words:
                pairs = np.concatenate([pairs, (sets[None, :] << 32) | pairs], axis=1)
            extras = pairs[candidates.plan_labels]
        begin = len(lists["extra_pair"])
        lists["extra_pair"].extend(extras.ravel().tolist())
        ends = begin + extras.shape[1] * np.arange(1, size + 1)
        lists["candidate_extras"].extend(ends.tolist())
        lists["candidate_gold"].extend([False] * size)

    def _gold_nodes(
        self,
        instance: Instance,
        first: int,
        first_graph: int,
        kept: Sequence[LaidOutGraph],
        local: dict[int, int],
    ) -> NDArray[np.float64]:
        """Count how often each node of the instance occurs in the right candidates."""
        counts = np.zeros(len(local))
        starts = self.lists["candidate_actions"]
        for place in instance.gold:
            begin, end = starts[first + place], starts[first + place + 1]
            for graph in self.lists["action_graph"][begin:end]:
                for node in self.graph(kept[graph - first_graph]).nodes:
                    counts[local[node]] += 1
        return counts

    def finish(
        self, space: FeatureSpace, grow: bool, min_word_count: int, edge_scores: bool
    ) -> Encoding:
        cell_keys = np.concatenate([*self.keys, np.empty(0, np.int64)])
        # Pairs that stand alone were noted by their keys, -1 where there is none.
        single = {n: np.array(self.lists[n], np.int64) for n in _SINGLES}
        single_keys = np.concatenate([keys[keys >= 0] for keys in single.values()])
        pairs, where = _distinct(np.concatenate([cell_keys, single_keys]), len(self.nodes))
        self.lists["cell_pair"] = where[: len(cell_keys)]  # type: ignore[assignment]
        place = len(cell_keys)
        for name, keys in single.items():
            count = int((keys >= 0).sum())
            keys[keys >= 0] = where[place : place + count]
            self.lists[name] = keys  # type: ignore[assignment]
            place += count
        pair_gold = np.zeros(len(pairs))
        gold = np.concatenate([*self.gold, np.zeros(0)])
        np.add.at(pair_gold, where[: len(gold)], gold)
        # ψ(y) and ψ(n) are counted as if each fired once wherever it occurs.
        pair_gold += np.bincount(where[len(cell_keys) :], minlength=len(pairs))
        weights = np.repeat(self.lists["instance_weight"], np.diff(self.lists["instance_words"]))
        word_sets = np.array(self.word_sets, np.int32)
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

    def _batch(self) -> Batch:
        lists = self.lists
        lists["shape_nodes"].append(0)
        lists["node_near"].append(0)
        for shape in self.shapes.items:
            for near in shape.near:
                lists["near_node"].extend(node for node, _ in near)
                lists["near_relation"].extend(self.relations(name) for _, name in near)
                lists["node_near"].append(len(lists["near_node"]))
            lists["node_enters"].extend(shape.enters)
            lists["shape_nodes"].append(len(lists["node_enters"]))
        kinds = {"instance_weight": np.float64, "instance_cells": np.int64}
        arrays: dict[str, Any] = {
            name: np.ascontiguousarray(values, dtype=kinds.get(name, np.int32))
            for name, values in lists.items()
        }
        return Batch(**arrays)


def _distinct(keys: NDArray[np.int64], nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Do what np.unique does with its inverse, without sorting where a table fits in memory."""
    if not len(keys):
        return keys, keys
    high, low = keys >> 32, keys & 0xFFFFFFFF
    size = (int(high.max()) + 1) * nodes
    if size > 50_000_000 or size > 40 * len(keys):
        distinct, where = np.unique(keys, return_inverse=True)
        return distinct, where
    flat = high * nodes + low
    seen = np.zeros(size, bool)
    seen[flat] = True
    found = np.flatnonzero(seen)
    place = np.zeros(size, np.int32)
    place[found] = np.arange(len(found), dtype=np.int32)
    return ((found // nodes) << 32) | (found % nodes), place[flat].astype(np.int64)
