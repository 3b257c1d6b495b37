"""From texts and candidate plans to flat arrays: equal things are interned and scored once."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.features.labels import NodeLabel, WordLabel
from groundling.features.space import FeatureSpace
from groundling.overlay.batch import Batch, Integers
from groundling.overlay.candidate_arrays import (
    Alone,
    CandidateArrays,
    LatestArrays,
    Numbered,
    lay_out_candidates,
)
from groundling.overlay.candidates import Candidates
from groundling.overlay.distinct import distinct_keys, in_order
from groundling.overlay.graphs import LaidOutGraph, NodeContent, Relation, Shape
from groundling.overlay.interning import Interner
from groundling.overlay.joined import JoinedLabels
from groundling.overlay.joining import Meetings, WordContent, join_labels
from groundling.overlay.potentials import LabelTables
from groundling.overlay.ragged import concatenated, joined_ends, shifted, sizes_of, starts_of
from groundling.overlay.skeletons import BOUND, Skeleton

__all__ = ["Encoding", "Instance", "Scored", "encode"]

BIAS: WordContent = ((WordLabel(""), 1.0),)  # what ψ(y) and ψ(n) are joined with
ADVANCE: NodeContent = ((NodeLabel("advance"), 1.0),)

Numbers = NDArray[Any]

_NONE = np.zeros(0)
_FEW = 256  # actions of candidates that are compared with others
_KINDS = {"instance_weight": np.float64, "instance_cells": np.int64}
# What comes as numbers, not as arrays; those that begin with 0 tell where something begins.
_STARTS = ("instance_words", "instance_groups", "shape_nodes", "node_near")
_OF_TEXTS = (
    "instance_words", "instance_groups", "word_parent", "word_link", "word_dependency",
    "word_direction", "word_group",
)  # fmt: skip
_OF_CHOICES = (
    "instance_nodes", "shape_nodes", "node_near", "near_node", "near_relation", "node_enters",
)  # fmt: skip
_LISTED = (*_OF_TEXTS, *_OF_CHOICES)
# What depends on texts and candidates, or on an instance.
_OF_PAIRS = (
    "word_advance", "cell_pair", "graph_prior", "kind_extras", "extra_pair", "instance_weight",
    "candidate_gold",
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
    graphs: list[Sequence[LaidOutGraph]] = field(repr=False)
    alone: CandidateArrays | None = field(
        default=None, repr=False
    )  # of the only text, if it is kept

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


class Scored(NamedTuple):
    """Which potentials have weights beside those of words and nodes."""

    edges: bool = True  # dependencies × relations
    actions: bool = True  # ψ(y)
    advances: bool = False  # words that lead on to another action
    plan_words: bool = False  # words × labels of whole plans


def encode(
    instances: Sequence[Instance],
    space: FeatureSpace,
    *,
    scored: Scored = Scored(),
    grow: bool = False,
    min_word_count: int = 1,
    joined: JoinedLabels | None = None,
    latest: LatestArrays | None = None,
) -> Encoding:
    """Encode instances; with `grow`, also decide which features the space has.

    `joined` remembers what labels join, and `latest` what candidates come to, where the space
    does not grow.
    """
    if grow or joined is None or not joined.fits(space):
        joined = latest = None
    collector = _Collector(
        scored,
        by_value=joined is None,
        counts=grow and space.min_count > 0,
        latest=latest,
        alone=len(instances) == 1,
    )
    for instance in instances:
        collector.add(instance)
    return collector.finish(space, grow, min_word_count, joined)


class _Collector:
    """Collects instances as growing lists, then makes arrays of them."""

    def __init__(
        self,
        scored: Scored,
        by_value: bool,
        counts: bool,
        latest: LatestArrays | None,
        alone: bool,
    ) -> None:
        self.latest = latest
        self.is_alone = alone
        self.alone: CandidateArrays | None = None  # if it is the only one, and kept for other texts
        self.by_value = by_value
        self.counts = counts  # whether it matters what demonstrated plans have
        self.scored = scored
        self.sets = Interner[WordContent]([BIAS])
        self.nodes = Interner[NodeContent]([ADVANCE])
        self.shapes = Interner[Shape]()
        self.relations = Interner[Relation]([("same",), ("next",), ("previous",)])
        self.dependencies = Interner[str](["sentence"])
        # Interning a large thing by value hashes all its labels; by identity it is free.
        self.known_nodes: dict[int, int] = {}
        self.known_shapes: dict[int, int] = {}
        self.numbered: dict[tuple[int, ...], Numbered] = {}
        self.alike: dict[tuple[Hashable, ...], Numbered] = {}
        # What comes as numbers is collected as such; what comes as arrays is kept as they are.
        self.numbers: dict[str, array[int]] = {name: array("i") for name in _LISTED}
        for name in _STARTS:
            self.numbers[name].append(0)
        self.word_sets = array("i")
        self.weights = array("d")
        self.cells = array("q")
        self.chosen: list[Numbered] = []
        self.keys: list[Numbers] = []  # (set << 32 | node) of cells
        self.extras: list[Numbers] = []  # the same of pairs that all alignments have
        self.extra_sizes: list[int] = []  # how many of these each kind of candidate has
        self.gold: list[Collection[int]] = []

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
            new = len(self.shapes)
            found = self.known_shapes[id(shape)] = self.shapes(shape)
            if found == new:
                self._add_shape(shape)
        return found

    def _add_shape(self, shape: Shape) -> None:
        numbers, relation = self.numbers, self.relations
        near = numbers["near_node"]
        for around in shape.near:
            near.extend([node for node, _ in around])
            numbers["near_relation"].extend([relation(name) for _, name in around])
            numbers["node_near"].append(len(near))
        numbers["node_enters"].extend(shape.enters)
        numbers["shape_nodes"].append(len(numbers["node_enters"]))

    def number(self, candidates: Sequence[Candidates]) -> Numbered:
        """Return what candidates come to, for the first text or for the next one."""
        key = tuple(map(id, candidates))
        found = self.numbered.get(key)
        if found is not None:
            return found
        if self.latest is not None:
            arrays = self.latest.of(candidates, priors=self.scored.actions)
            self.alone = arrays if self.is_alone else None
            found = self._number(arrays)
        elif sum(len(each.action_graph) for each in candidates) <= _FEW:
            # Decisions in one state are often listed anew each time.
            same = tuple([each.signature() for each in candidates])
            found = self.alike.get(same)
            if found is None:
                found = self._number(lay_out_candidates(candidates, priors=self.scored.actions))
                self.alike[same] = found
        else:
            found = self._number(lay_out_candidates(candidates, priors=self.scored.actions))
        self.numbered[key] = found
        return found

    def _number(self, arrays: CandidateArrays) -> Numbered:
        if self.alone is not None and self.alone.encoded is not None:
            before: Alone = self.alone.encoded
            self.nodes.items, self.relations.items = before.nodes, before.relations
            return before.numbered
        node = self.node
        contents = np.array([node(each) for each in arrays.contents], np.int64)
        shapes = np.array([self.shape(each) for each in arrays.shapes], np.int32)
        nodes, graph_node = contents[arrays.nodes], arrays.graph_node
        if self.by_value and len(set(nodes.tolist())) < len(nodes):
            # Contents that differ in identity only have one number.
            nodes, local = in_order(nodes.tolist())
            graph_node = local[graph_node]
        return Numbered(
            graphs=arrays.graphs,
            graph_shape=shapes[arrays.graph_shape],
            graph_prior=contents[arrays.graph_prior] if self.scored.actions else arrays.graph_prior,
            graph_node=graph_node,
            graph_ends=arrays.graph_ends,
            nodes=nodes,
            action_graph=arrays.action_graph,
            candidate_ends=arrays.candidate_ends,
            candidate_kind=arrays.candidate_kind,
            kinds=contents[arrays.kinds],
        )

    def add(self, instance: Instance) -> None:
        numbers, skeleton = self.numbers, instance.skeleton
        sets = [self.sets(word) for word in instance.words]
        self.word_sets.extend(sets)
        for name in ("parent", "link", "direction", "group"):
            numbers[f"word_{name}"].extend(getattr(skeleton, name))
        dependency = self.dependencies
        numbers["word_dependency"].extend([dependency(name) for name in skeleton.relation])
        numbered = self.number(instance.candidates)
        self.chosen.append(numbered)
        groups = numbers["instance_groups"]
        groups.append(groups[-1] + skeleton.groups)
        numbers["instance_words"].append(len(self.word_sets))
        numbers["instance_nodes"].append(len(numbered.nodes))
        self.cells.append(len(numbered.nodes) * len(sets))
        self.weights.append(instance.weight)
        self.gold.append(instance.gold)
        high = np.array(sets, np.int64) << 32
        self.keys.append((high[:, None] | numbered.nodes).ravel())
        self._add_extras(numbered, high)

    def _add_extras(self, numbered: Numbered, sets: Numbers) -> None:
        """Note the pairs that every alignment of a candidate has: the plan's labels, with words."""
        extras, size = numbered.kinds, 1
        if not len(extras):
            size = 0
        elif self.scored.plan_words:
            size = 1 + len(sets)
            both = np.empty((len(extras), size), np.int64)
            both[:, 0] = extras
            np.bitwise_or(sets, extras[:, None], out=both[:, 1:])
            extras = both.ravel()
        self.extras.append(extras)
        self.extra_sizes.append(size)

    def finish(
        self,
        space: FeatureSpace,
        grow: bool,
        min_word_count: int,
        joined: JoinedLabels | None,
    ) -> Encoding:
        numbers = self.numbers
        word_sets = np.array(self.word_sets, np.int32)
        # Pairs that stand alone are told by their keys, -1 where there is none.
        advances = np.full(len(word_sets), -1, np.int64)
        if self.scored.advances:
            free = np.array(numbers["word_link"], np.int32) != BOUND
            advances[free] = word_sets[free].astype(np.int64) << 32
        priors = concatenated([each.graph_prior for each in self.chosen])
        alone = [advances[advances >= 0], priors[priors >= 0], *self.extras]
        pairs, where = distinct_keys(concatenated([*self.keys, *alone]), len(self.nodes))
        cells = sum(self.cells)
        first, second = cells + len(alone[0]), cells + len(alone[0]) + len(alone[1])
        advances[advances >= 0] = where[cells:first]
        if self.scored.actions:
            priors = where[first:second]
        meetings = Meetings(
            sets=self.sets.items,
            nodes=self.nodes.items,
            pair_set=(pairs >> 32).astype(np.int32),
            pair_node=(pairs & 0xFFFFFFFF).astype(np.int32),
            pair_gold=self._count(where, cells, second, len(pairs)) if self.counts else _NONE,
            set_uses=self._uses(word_sets) if grow else _NONE,
            dependencies=self.dependencies.items,
            relations=self.relations.items,
        )
        if joined is not None:
            tables = joined.tables(meetings, edge_scores=self.scored.edges, alone=self.alone)
        else:
            tables = join_labels(
                meetings,
                space,
                grow=grow,
                min_word_count=min_word_count,
                edge_scores=self.scored.edges,
            )
        return Encoding(
            batch=self._batch(
                word_advance=advances,
                cell_pair=where[:cells],
                graph_prior=priors,
                extra_pair=where[second:],
            ),
            tables=tables,
            relations=len(self.relations),
            space=space,
            sets=self.sets.items,
            nodes=self.nodes.items,
            pair_set=meetings.pair_set,
            word_sets=word_sets,
            dependencies=self.dependencies.items,
            relation_names=self.relations.items,
            graphs=[each.graphs for each in self.chosen],
            alone=self.alone,
        )

    def _count(self, where: Numbers, cells: int, extras: int, pairs: int) -> NDArray[np.float64]:
        """Count how often each pair occurs in demonstrated plans."""
        gold = [_NONE]
        for each, shown, words in zip(self.chosen, self.gold, self._words(), strict=True):
            gold.append(np.tile(each.gold_nodes(shown), words))
        counts = np.bincount(where[:cells], np.concatenate(gold), pairs)
        # ψ(y) and ψ(n) are counted as if each fired once wherever it occurs.
        uses = [np.ones(extras - cells)]
        for each, size in zip(self.chosen, self.extra_sizes, strict=True):
            if size:
                uses.append(np.repeat(np.bincount(each.candidate_kind), size))
        counts += np.bincount(where[cells:], np.concatenate(uses), pairs)
        return counts.astype(np.float64)

    def _words(self) -> list[int]:
        """Return how many words each instance has."""
        starts = self.numbers["instance_words"]
        return [end - begin for begin, end in pairwise(starts)]

    def _uses(self, word_sets: Integers) -> NDArray[np.float64]:
        """Count how often each word set occurs, each time by the weight of its instance."""
        weights = np.repeat(self.weights, self._words())
        return np.bincount(word_sets, weights, len(self.sets)).astype(np.float64)

    def _batch(self, **arrays: Numbers) -> Batch:
        sizes = np.array(self.extra_sizes, np.int64)
        kinds = [max(1, len(each.kinds)) for each in self.chosen]
        arrays["kind_extras"] = starts_of(np.repeat(sizes, kinds))
        arrays["instance_weight"] = np.array(self.weights)
        before: Alone | None = None if self.alone is None else self.alone.encoded
        for name in _OF_TEXTS if before is not None else _LISTED:
            arrays[name] = np.array(self.numbers[name], np.int32)
        if before is not None:
            arrays |= before.arrays
        else:
            arrays |= self._chosen_arrays(kinds)
        arrays["candidate_gold"] = self._golden(arrays["instance_candidates"])
        made: dict[str, Any] = {
            name: np.ascontiguousarray(arrays[name], _KINDS.get(name, np.int32))
            for name in Batch._fields
        }
        if self.alone is not None and before is None:
            same = set(Batch._fields).difference(_OF_TEXTS, _OF_PAIRS)
            self.alone.encoded = Alone(
                self.chosen[0],
                self.nodes.items,
                self.relations.items,
                {name: made[name] for name in same},
            )
        return Batch(**made)

    def _chosen_arrays(self, kinds: list[int]) -> dict[str, Numbers]:
        """Return what depends on candidates only."""
        chosen = self.chosen
        graphs = np.array([len(each.graph_shape) for each in chosen], np.int64)
        candidates = np.array([len(each.candidate_ends) for each in chosen], np.int64)
        return {
            "instance_graphs": starts_of(graphs),
            "instance_candidates": starts_of(candidates),
            "instance_kinds": starts_of(np.array(kinds, np.int64)),
            "instance_cells": starts_of(np.array(self.cells))[:-1],
            "graph_shape": concatenated([each.graph_shape for each in chosen]),
            "graph_node": concatenated([each.graph_node for each in chosen]),
            "graph_nodes": joined_ends([each.graph_ends for each in chosen]),
            "action_graph": shifted([each.action_graph for each in chosen], graphs),
            "candidate_actions": joined_ends([each.candidate_ends for each in chosen]),
            "candidate_kind": concatenated([each.candidate_kind for each in chosen]),
        }

    def _golden(self, starts: Numbers) -> Numbers:
        """Return which candidates were demonstrated."""
        gold = np.zeros(int(starts[-1]), np.int32)
        for start, shown in zip(starts.tolist(), self.gold, strict=False):
            for each in shown:
                gold[start + each] = 1
        return gold
