"""Batch builder: converts texts and candidate plans to flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from groundling.cache import Cache
from groundling.features.feature_tables import (
    JoinedLabels,
    LabelTables,
    Meetings,
    NodeContent,
    PartTable,
    Relation,
    WordContent,
    join_labels,
)
from groundling.features.interner import Interner
from groundling.features.labels import NodeLabel, WordLabel
from groundling.features.space import FeatureSpace
from groundling.overlay.batch import WORD, Batch, Integers, check_width, states_of
from groundling.overlay.candidate_arrays import (
    CandidateArrays,
    Kept,
    PlanArrays,
    lay_out_candidates,
)
from groundling.overlay.candidates import Candidates
from groundling.overlay.distinct import distinct_keys
from groundling.overlay.graphs import LaidOutGraph, Shape
from groundling.overlay.skeletons import BOUND, Skeleton
from groundling.ragged import (
    concatenated,
    joined_ends,
    owners_of,
    shifted,
    sizes_of,
    starts_of,
    sums_of,
)

BIAS: WordContent = ((WordLabel(""), 1.0),)  # placeholder words for ψ(y) and ψ(n)
ADVANCE: NodeContent = ((NodeLabel("advance"), 1.0),)

Numbers = NDArray[Any]
LatestArrays = Cache[tuple[int, ...], CandidateArrays]
"""Cache of the most recent candidate lists as arrays, keyed by identity."""

_NONE = np.zeros(0)
_FEW = 256  # candidate lists up to this number of actions are compared by value
_KINDS = {"instance_weight": np.float64, "instance_cells": np.int64, "cell_pair": np.uint32}


@dataclass
class Instance:
    """A text and its candidate plans, in one or more lists.

    `gold` holds the indices of the correct candidates, numbered across all lists.
    """

    skeleton: Skeleton
    words: Sequence[WordContent]  # in skeleton order
    candidates: Sequence[Candidates]
    gold: Collection[int] = ()
    weight: float = 1.0


@dataclass
class Encoding:
    """Instances as flat arrays, and the tables that their indices refer to."""

    batch: Batch
    tables: LabelTables
    relations: int
    space: FeatureSpace
    sets: list[WordContent]
    nodes: Sequence[NodeContent]
    graphs: list[Sequence[LaidOutGraph]] = field(repr=False)
    kept: Kept = field(default_factory=Kept, repr=False)  # results for the same candidates

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The number of chart cells of each instance: words × states of all candidates."""
        states = sums_of(states_of(self.batch), self.batch.instance_candidates)
        return np.asarray(sizes_of(self.batch.instance_words) * states, np.int64)


class Scored(NamedTuple):
    """Which potentials have weights, in addition to word × node."""

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
    """Encode instances as flat arrays; with `grow`, also add features to the space.

    `joined` caches joined labels and `latest` caches candidate arrays. Both are ignored with
    `grow`.
    """
    if grow or joined is None or not joined.fits(space):
        joined = latest = None
    is_alone = latest is not None and len(instances) == 1
    collector = _Collector(scored, joined is None, latest, is_alone)
    for instance in instances:
        collector.add(instance)
    return collector.finish(space, grow, min_word_count, joined)


class _Collector:
    """Collects instances, interns equal items, and creates the arrays."""

    def __init__(
        self, scored: Scored, by_value: bool, latest: LatestArrays | None, is_alone: bool
    ) -> None:
        self.scored = scored
        self.by_value = by_value
        self.latest = latest
        self.is_alone = is_alone
        self.kept = Kept()  # results that are cached for later texts if there is a single list
        self.sets = Interner[WordContent]([BIAS])
        self.nodes = Interner[NodeContent]([ADVANCE])
        self.shapes = Interner[Shape]()
        self.relations = Interner[Relation]([("same",), ("next",), ("previous",)])
        self.dependencies = Interner[str](["sentence"])
        # Interning by value hashes all labels of an item; interning by identity costs nothing.
        self.known: dict[int, int] = {}
        self.numbered: dict[Hashable, PlanArrays] = {}
        self.instances: list[tuple[Skeleton, float, Collection[int]]] = []  # with weight and gold
        self.word_sets: list[int] = []
        self.chosen: list[PlanArrays] = []
        self.keys: list[Numbers] = []  # (set << 32 | node) for each cell
        self.extras: list[Numbers] = []  # the same for pairs in every alignment
        self.extra_sizes: list[int] = []  # number of extras of each kind of candidate

    def number(self, candidates: Sequence[Candidates]) -> PlanArrays:
        """Return candidates as arrays, reusing those of an earlier text if possible."""
        key = tuple(map(id, candidates))
        found, priors = self.numbered.get(key), self.scored.actions
        if found is None and self.latest is not None:
            arrays = self.latest.get(key)
            if arrays is None:
                arrays = lay_out_candidates(candidates, priors=priors, tabled=True)
                self.latest.put(key, arrays, arrays.nbytes)
            self.kept = arrays.kept if self.is_alone else self.kept
            found = self._number(arrays)
        elif found is None:
            # The decisions in a state are often listed again as new, but equal, objects.
            few = sum(len(each.action_graph) for each in candidates) <= _FEW
            same: Hashable = tuple([each.signature() for each in candidates]) if few else key
            found = self.numbered.get(same)
            found = found or self._number(lay_out_candidates(candidates, priors=priors))
            self.numbered[same] = found
        self.numbered[key] = found
        return found

    def _number(self, held: CandidateArrays) -> PlanArrays:
        if self.kept.encoded is not None:
            numbered: list[PlanArrays]
            numbered, self.nodes.items, self.relations.items, _ = self.kept.encoded
            return numbered[0]
        # Graphs of one list already share equal contents, so interning is unnecessary.
        if self.is_alone:
            contents = len(self.nodes) + np.arange(len(held.contents))
            listed = [PartTable.of(self.nodes.items), PartTable.of(held.contents)]
            self.nodes.items = cast(Any, PartTable.joined(listed))
        else:
            content = self.nodes if self.by_value else self.nodes.add
            contents = np.array([self._known(e, content) for e in list(held.contents)], np.int64)
        shapes = np.array([self._known(each, self.shapes) for each in held.shapes], np.int32)
        arrays = held.arrays
        nodes, graph_node = contents[arrays.nodes], arrays.graph_node
        if self.by_value and len(set(nodes.tolist())) < len(nodes):
            # Equal contents get one index, even if they are different objects.
            distinct = Interner[int]()
            graph_node = np.array(list(map(distinct, nodes.tolist())))[graph_node]
            nodes = np.array(distinct.items)
        return arrays._replace(
            graph_shape=shapes[arrays.graph_shape],
            graph_prior=contents[arrays.graph_prior] if self.scored.actions else arrays.graph_prior,
            graph_node=graph_node,
            nodes=nodes,
            kinds=contents[arrays.kinds],
        )

    def _known(self, thing: Any, number: Callable[[Any], int]) -> int:
        found = self.known.get(id(thing))
        if found is None:
            found = self.known[id(thing)] = number(thing)
        return found

    def add(self, instance: Instance) -> None:
        sets = [self.sets(word) for word in instance.words]
        self.word_sets += sets
        self.instances.append((instance.skeleton, instance.weight, instance.gold))
        chosen = self.number(instance.candidates)
        self.chosen.append(chosen)
        high = np.array(sets, np.int64) << 32
        self.keys.append((high[:, None] | chosen.nodes).ravel())
        # Pairs in every alignment of a candidate: words × labels of the plan.
        extras, size = chosen.kinds, min(1, len(chosen.kinds))
        if size and self.scored.plan_words:
            extras, size = (np.append(0, high) | extras[:, None]).ravel(), 1 + len(sets)
        self.extras.append(extras)
        self.extra_sizes.append(size)

    def finish(
        self, space: FeatureSpace, grow: bool, min_word_count: int, joined: JoinedLabels | None
    ) -> Encoding:
        texts = self._texts()
        # Keys of pairs outside the chart: words that lead on, ψ(y), ψ(n).
        words = texts["word"].view(WORD)[:, 0]
        leading = self.scored.advances & (words["link"] != BOUND)
        advances = words["set"][leading].astype(np.int64) << 32
        priors = concatenated([each.graph_prior for each in self.chosen])
        scored = priors[priors >= 0]
        keys = concatenated([*self.keys, advances, scored, *self.extras])
        pairs, where = distinct_keys(keys, len(self.nodes))
        check_width("the pairs of words and nodes in a batch", len(pairs))
        ends = np.cumsum([sum(map(len, self.keys)), len(advances), len(scored)])
        split = np.split(where, ends)
        texts["cell_pair"], words["advance"][leading], scored, texts["extra_pair"] = split
        texts["graph_prior"] = scored if self.scored.actions else priors
        batch = self._batch(texts)  # also interns the relations
        counts = grow and space.min_count > 0  # counts are only used for `min_count`
        weights = np.repeat(texts["instance_weight"], sizes_of(texts["instance_words"]))
        meetings = Meetings(
            sets=self.sets.items,
            nodes=self.nodes.items,
            pair_set=(pairs >> 32).astype(np.int32),
            pair_node=(pairs & 0xFFFFFFFF).astype(np.int32),
            pair_gold=_count(batch, len(pairs)) if counts else _NONE,
            set_uses=np.bincount(words["set"], weights, len(self.sets)).astype(np.float64),
            dependencies=self.dependencies.items,
            relations=self.relations.items,
        )
        edges, spelled = self.scored.edges, self.kept.spelled
        if joined is not None:
            tables, spelled = joined.tables(meetings, edge_scores=edges, spelled=spelled)
            self.kept.spelled = spelled
        else:
            tables = join_labels(
                meetings, space, grow=grow, min_word_count=min_word_count, edge_scores=edges
            )
        return Encoding(
            batch=batch,
            tables=tables,
            relations=len(self.relations),
            space=space,
            sets=self.sets.items,
            nodes=self.nodes.items,
            graphs=[each.graphs for each in self.chosen],
            kept=self.kept,
        )

    def _texts(self) -> dict[str, Numbers]:
        """Return the arrays that depend only on texts."""
        skeletons = [skeleton for skeleton, _, _ in self.instances]
        words = starts_of(np.array([len(each) for each in skeletons], np.int64), np.int32)
        records = np.zeros(words[-1], WORD)
        for name in ("parent", "link", "direction", "group"):
            records[name] = _flat(getattr(each, name) for each in skeletons)
        relations = chain.from_iterable(each.relation for each in skeletons)
        records["dependency"], records["advance"] = list(map(self.dependencies, relations)), -1
        records["set"], parents = self.word_sets, records["parent"]
        records["leads"][(np.repeat(words[:-1], sizes_of(words)) + parents)[parents >= 0]] = 1
        return {
            "word": records.view(np.int32).reshape(-1, WORD.itemsize // 4),
            "instance_words": words,
            "instance_groups": starts_of(np.array([each.groups for each in skeletons], np.int64)),
            "instance_weight": np.array([weight for _, weight, _ in self.instances]),
        }

    def _batch(self, arrays: dict[str, Numbers]) -> Batch:
        cells = np.array([len(each) for each in self.keys], np.int64)
        arrays["instance_cells"] = starts_of(cells)[:-1]
        if self.kept.encoded is None:
            shared = _converted(self._choices())
            self.kept.encoded = self.chosen, self.nodes.items, self.relations.items, shared
        *_, shared = self.kept.encoded
        starts, kinds = shared["instance_candidates"], sizes_of(shared["instance_kinds"])
        arrays["kind_extras"] = starts_of(np.repeat(np.array(self.extra_sizes, np.int64), kinds))
        gold = np.zeros(int(starts[-1]), np.int32)
        for start, (_, _, shown) in zip(starts.tolist(), self.instances, strict=False):
            gold[[start + each for each in shown]] = 1
        return Batch(**_converted(arrays | {"candidate_gold": gold}), **shared)

    def _choices(self) -> dict[str, Numbers]:
        """Return the arrays that depend only on candidates."""
        chosen, shapes = self.chosen, self.shapes.items
        graphs = np.array([len(each.graph_shape) for each in chosen], np.int64)
        relations = [np.array(list(map(self.relations, each.relations)), np.int32)
                     for each in shapes]  # fmt: skip
        candidates = np.array([len(each.candidate_ends) for each in chosen], np.int64)
        kinds = np.array([max(1, len(each.kinds)) for each in chosen], np.int64)
        return {
            "instance_nodes": np.array([len(each.nodes) for each in chosen]),
            "instance_graphs": starts_of(graphs),
            "instance_candidates": starts_of(candidates),
            "graph_shape": concatenated([each.graph_shape for each in chosen]),
            "graph_node": concatenated([each.graph_node for each in chosen]),
            "graph_nodes": joined_ends([each.graph_ends for each in chosen]),
            "action_graph": shifted([each.action_graph for each in chosen], graphs),
            "candidate_actions": joined_ends([each.candidate_ends for each in chosen]),
            "candidate_kind": shifted([each.candidate_kind for each in chosen], kinds),
            "instance_kinds": starts_of(kinds),
            "shape_nodes": starts_of(np.array([len(each) for each in shapes], np.int64)),
            "node_enters": _flat(shape.enters for shape in shapes),
            "node_near": joined_ends([each.node_near[1:] for each in shapes]),
            "near_node": concatenated([each.near_node for each in shapes]),
            "near_relation": concatenated(
                [own[each.near_relation] for own, each in zip(relations, shapes, strict=True)]
            ),
        }


def _count(batch: Batch, pairs: int) -> NDArray[np.float64]:
    """Count the occurrences of each pair in demonstrated plans."""
    of_actions = np.repeat(batch.candidate_gold, sizes_of(batch.candidate_actions))
    of_graphs = np.bincount(batch.action_graph, of_actions, len(batch.graph_shape))
    first = starts_of(batch.instance_nodes)
    before = np.repeat(first[:-1], sizes_of(batch.instance_graphs))
    owner = owners_of(batch.graph_nodes)
    of_nodes = np.bincount(before[owner] + batch.graph_node, of_graphs[owner], int(first[-1]))
    words = sizes_of(batch.instance_words).tolist()
    nodes = [of_nodes[begin:end] for begin, end in pairwise(first.tolist())]
    of_cells = [np.tile(each, count) for each, count in zip(nodes, words, strict=True)]
    counts = np.bincount(batch.cell_pair, concatenated(of_cells), pairs)
    # ψ(y) and ψ(n) count once per occurrence.
    for each in (batch.words.advance, batch.graph_prior):
        counts += np.bincount(each[each >= 0], minlength=pairs)
    of_kinds = np.bincount(batch.candidate_kind, minlength=len(batch.kind_extras) - 1)
    uses = np.repeat(of_kinds, sizes_of(batch.kind_extras))
    return np.asarray(counts + np.bincount(batch.extra_pair, uses, pairs), np.float64)


def _flat(lists: Iterable[Iterable[int]]) -> Integers:
    return np.fromiter(chain.from_iterable(lists), np.int32)


def _converted(arrays: dict[str, Numbers]) -> dict[str, Any]:
    """Convert arrays to the data types that kernels expect."""
    found = {}
    for name, each in arrays.items():
        if name not in _KINDS:
            check_width(f"the array {name!r} of a batch", len(each))
        found[name] = np.ascontiguousarray(each, _KINDS.get(name, np.int32))
    return found
