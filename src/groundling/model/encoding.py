"""From texts and plans to flat arrays: equal things are interned and scored once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from groundling.features.labels import NodeLabel, WordLabel, meaning_of
from groundling.features.space import FeatureSpace
from groundling.model.blocks import Block
from groundling.model.forest import Forest
from groundling.model.graphs import LaidOutGraph, NodeContent, Relation, Shape
from groundling.model.kernels import Charts, Integers, Reals

__all__ = ["Candidate", "Encoding", "Interner", "Problem", "Scores", "WordContent", "encode"]

WordContent = tuple[tuple[WordLabel, float], ...]
BIAS: WordContent = ((WordLabel(""), 1.0),)  # what ψ(y) and ψ(n) are joined with
ADVANCE: NodeContent = ((NodeLabel("advance"), 1.0),)

_SINGLES = ("word_advance", "graph_prior", "extra_pair")

T = TypeVar("T", bound=Hashable)


class Interner(Generic[T]):
    """Numbers for things, the same number for equal things.

    >>> words = Interner[str]()
    >>> [words(each) for each in ("go", "left", "go")], words.items
    ([0, 1, 0], ['go', 'left'])
    """

    def __init__(self, items: Iterable[T] = ()) -> None:
        self.items: list[T] = []
        self._place: dict[T, int] = {}
        for item in items:
            self(item)

    def __call__(self, item: T) -> int:
        """Return the number of a thing, giving it one if it is new."""
        place = self._place.get(item)
        if place is None:
            place = self._place[item] = len(self.items)
            self.items.append(item)
        return place

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Candidate:
    """A plan that the text may mean: its laid-out graphs, its labels, and what else it scores.

    `pins` fixes for each word of the forest the action it aligns with (-1: free).
    """

    graphs: tuple[LaidOutGraph, ...]
    plan: NodeContent | None = None
    base: float = 0.0
    gold: bool = False
    pins: tuple[int, ...] | None = None


@dataclass
class Problem:
    """A text and the candidates among which the model chooses, alone or in blocks.

    `active` says which groups of the forest count (default: all).
    """

    forest: Forest
    words: Sequence[WordContent]  # in the order of the forest
    candidates: Sequence[Candidate | Block]
    weight: float = 1.0
    active: Sequence[bool] | None = None


class Scores(NamedTuple):
    """What compiled scoring needs: sparse tables from labels to features."""

    set_labels: Integers  # word set -> labels
    set_label: Integers
    set_amount: Reals
    node_labels: Integers  # node -> labels
    node_label: Integers
    node_amount: Reals
    label_rows: Integers  # word label -> joined features by node label
    row_label: Integers
    row_feature: Integers
    row_value: Reals
    set_pairs: Integers  # word set -> its pairs
    pair_node: Integers
    edge_rows: Integers  # dependency × relation -> features
    edge_feature: Integers
    edge_value: Reals


@dataclass
class Encoding:
    """Problems as flat arrays, and the tables that tell what the numbers mean."""

    charts: Charts
    scores: Scores
    relations: int
    space: FeatureSpace
    sets: list[WordContent]
    nodes: list[NodeContent]
    pair_set: Integers
    word_sets: Integers  # word set of every word, problem by problem
    dependencies: list[str]
    relation_names: list[Relation]
    graphs: list[list[LaidOutGraph]] = field(repr=False)

    @property
    def problems(self) -> int:
        """The number of problems."""
        return len(self.charts.problem_weight)

    @cached_property
    def sizes(self) -> tuple[int, int, int, int]:
        """Most chart cells and words×states of a problem; most actions, groups of one."""
        charts = self.charts
        words = np.diff(charts.problem_words)
        graph_size = np.diff(charts.graph_nodes)
        of_action = graph_size[charts.action_graph] if len(charts.action_graph) else np.zeros(0)
        total = np.concatenate([[0], np.cumsum(of_action)])
        states = (
            total[charts.candidate_actions[1:]] - total[charts.candidate_actions[:-1]]
        ).astype(np.int64)
        owner = np.repeat(np.arange(self.problems), np.diff(charts.problem_candidates))
        cells = states * words[owner]
        per_problem = np.bincount(owner, weights=cells, minlength=self.problems)
        return (
            int(per_problem.max(initial=1)),
            int(max(cells.max(initial=1), states.max(initial=1))),
            int(np.diff(charts.candidate_actions).max(initial=1)),
            int(np.diff(charts.problem_groups).max(initial=1)),
        )

    @cached_property
    def chart_cells(self) -> int:
        """The number of chart cells in all problems: words × states, over all candidates."""
        charts = self.charts
        graph_size = np.diff(charts.graph_nodes)
        total = np.concatenate([[0], np.cumsum(graph_size[charts.action_graph])])
        states = total[charts.candidate_actions[1:]] - total[charts.candidate_actions[:-1]]
        words = np.diff(charts.problem_words)
        return int(np.sum(states * np.repeat(words, np.diff(charts.problem_candidates))))


def encode(
    problems: Sequence[Problem],
    space: FeatureSpace,
    *,
    grow: bool = False,
    min_word_count: int = 1,
    edge_scores: bool = True,
    action_scores: bool = True,
    advance_scores: bool = False,
    plan_words: bool = False,
) -> Encoding:
    """Encode problems; with `grow`, also decide which features the space has."""
    tables = _Tables(action_scores, advance_scores, plan_words)
    for problem in problems:
        tables.add(problem)
    return tables.finish(space, grow, min_word_count, edge_scores)


class _Tables:
    """Collects problems into growing lists, then freezes them into arrays."""

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
        self.known: dict[int, tuple[LaidOutGraph, NDArray[np.int64], int, int]] = {}
        self.known_plans: dict[int, tuple[NodeContent, int]] = {}
        self.graphs: list[list[LaidOutGraph]] = []
        self.lists: dict[str, list[Any]] = {name: [] for name in Charts._fields}
        for name in ("problem_words", "problem_graphs", "graph_nodes", "problem_candidates",
                     "candidate_actions", "candidate_extras", "problem_groups"):  # fmt: skip
            self.lists[name].append(0)
        self.keys: list[NDArray[np.int64]] = []  # (set << 32 | node) of cells, then of single pairs
        self.gold: list[NDArray[np.float64]] = []
        self.word_sets: list[int] = []
        self.cells = 0

    def graph(self, graph: LaidOutGraph) -> tuple[LaidOutGraph, NDArray[np.int64], int, int]:
        found = self.known.get(id(graph))
        if found is None:
            nodes = np.array([self.nodes(node) for node in graph.nodes], np.int64)
            for near in graph.shape.near:
                for _, relation in near:
                    self.relations(relation)
            prior = self.nodes(graph.prior) if self.action_scores else -1
            # Holding the graph keeps its identity from being reused.
            found = self.known[id(graph)] = (graph, nodes, self.shapes(graph.shape), prior)
        return found

    def plan(self, plan: NodeContent) -> int:
        found = self.known_plans.get(id(plan))
        if found is None:
            found = self.known_plans[id(plan)] = (plan, self.nodes(plan))
        return found[1]

    def add(self, problem: Problem) -> None:
        lists, forest = self.lists, problem.forest
        sets = np.array([self.sets(word) for word in problem.words], np.int64)
        self.word_sets.extend(sets.tolist())
        shifted = (sets << 32).tolist()
        lists["word_parent"].extend(forest.parent)
        lists["word_link"].extend(forest.link)
        lists["word_dependency"].extend(self.dependencies(name) for name in forest.relation)
        lists["word_direction"].extend(forest.direction)
        lists["word_group"].extend(forest.group)
        order = sorted(range(len(forest)), key=lambda i: (forest.sentence[i], forest.position[i]))
        ends = [0] * len(forest)
        if order:
            ends[order[0]] |= 1
            ends[order[-1]] |= 2
        lists["word_end"].extend(ends)
        for place in range(len(forest)):
            if self.advance_scores and forest.link[place] != 0:
                lists["word_advance"].append(int(sets[place]) << 32)
            else:
                lists["word_advance"].append(-1)
        lists["problem_words"].append(len(lists["word_parent"]))
        local: dict[int, int] = {}
        graph_place: dict[int, int] = {}
        kept: list[LaidOutGraph] = []
        gold_nodes: list[int] = []
        plan_pairs: dict[int, list[int]] = {}
        action_graph, extra_pair = lists["action_graph"], lists["extra_pair"]

        def number(graph: LaidOutGraph) -> int:
            known = graph_place.get(id(graph))
            if known is None:
                _, nodes, shape, prior = self.graph(graph)
                known = graph_place[id(graph)] = len(lists["graph_shape"])
                kept.append(graph)
                lists["graph_shape"].append(shape)
                lists["graph_prior"].append(prior)
                lists["graph_node"].extend(
                    local.setdefault(node, len(local)) for node in nodes.tolist()
                )
                lists["graph_nodes"].append(len(lists["graph_node"]))
            return known

        for candidate in problem.candidates:
            if isinstance(candidate, Block):
                self._add_block(candidate, [number(graph) for graph in candidate.graphs], sets)
                continue
            for graph in candidate.graphs:
                action_graph.append(number(graph))
                if candidate.gold:
                    gold_nodes.extend(local[node] for node in self.graph(graph)[1].tolist())
            lists["candidate_actions"].append(len(action_graph))
            if candidate.plan is not None:
                plan = self.plan(candidate.plan)
                pairs = plan_pairs.get(plan)
                if pairs is None:
                    pairs = plan_pairs[plan] = [plan]
                    if self.plan_words:
                        pairs += [key | plan for key in shifted]
                extra_pair.extend(pairs)
            lists["candidate_extras"].append(len(lists["extra_pair"]))
            lists["candidate_base"].append(candidate.base)
            lists["candidate_gold"].append(candidate.gold)
            if candidate.pins is None:
                lists["candidate_pins"].append(-1)
            else:
                lists["candidate_pins"].append(len(lists["pins"]))
                lists["pins"].extend(candidate.pins)
        lists["problem_candidates"].append(len(lists["candidate_gold"]))
        lists["problem_graphs"].append(len(lists["graph_shape"]))
        nodes_here = np.array(list(local), np.int64)
        lists["problem_nodes"].append(len(nodes_here))
        lists["problem_cells"].append(self.cells)
        self.cells += len(sets) * len(nodes_here)
        self.keys.append(((sets[:, None] << 32) | nodes_here[None, :]).ravel())
        gold = np.bincount(np.array(gold_nodes, np.int64), minlength=len(nodes_here)).astype(float)
        self.gold.append(np.broadcast_to(gold, (len(sets), len(nodes_here))).ravel())
        active = problem.active if problem.active is not None else [True] * forest.groups
        lists["group_active"].extend(active)
        lists["problem_groups"].append(len(lists["group_active"]))
        lists["problem_weight"].append(problem.weight)
        self.graphs.append(kept)

    def _add_block(self, block: Block, places: Sequence[int], sets: NDArray[np.int64]) -> None:
        """Do what is done for single candidates, for all of a block at once."""
        lists, size = self.lists, len(block)
        first = len(lists["action_graph"])
        lists["action_graph"].extend(np.array(places, np.int64)[block.action_graph].tolist())
        lists["candidate_actions"].extend((first + block.ends).tolist())
        extras = np.zeros((size, 0), np.int64)
        if block.plans:
            plans = np.array([self.plan(each) for each in block.plans], np.int64)
            pairs = plans[:, None]
            if self.plan_words:
                pairs = np.concatenate([pairs, (sets[None, :] << 32) | pairs], axis=1)
            extras = pairs[block.plan]
        first = len(lists["extra_pair"])
        lists["extra_pair"].extend(extras.ravel().tolist())
        ends = first + extras.shape[1] * np.arange(1, size + 1)
        lists["candidate_extras"].extend(ends.tolist())
        lists["candidate_base"].extend([0.0] * size)
        lists["candidate_gold"].extend([False] * size)
        lists["candidate_pins"].extend([-1] * size)

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
        pair_set = (pairs >> 32).astype(np.int32)
        pair_node = (pairs & 0xFFFFFFFF).astype(np.int32)
        gold = np.concatenate([*self.gold, np.zeros(0)])
        pair_gold = np.zeros(len(pairs))
        np.add.at(pair_gold, where[: len(gold)], gold)
        # ψ(y) and ψ(n) are counted as if each fired once wherever it occurs.
        single_count = np.bincount(where[len(cell_keys) :], minlength=len(pairs))
        pair_gold += single_count
        scores = self._scores(
            space, grow, min_word_count, edge_scores, pair_set, pair_node, pair_gold
        )
        return Encoding(
            charts=self._charts(),
            scores=scores,
            relations=len(self.relations),
            space=space,
            sets=self.sets.items,
            nodes=self.nodes.items,
            pair_set=pair_set,
            word_sets=np.array(self.word_sets, np.int32),
            dependencies=self.dependencies.items,
            relation_names=self.relations.items,
            graphs=self.graphs,
        )

    def _charts(self) -> Charts:
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
        kinds = {"candidate_base": np.float64, "problem_weight": np.float64,
                 "problem_cells": np.int64}  # fmt: skip
        arrays: dict[str, Any] = {
            name: np.ascontiguousarray(values, dtype=kinds.get(name, np.int32))
            for name, values in lists.items()
        }
        return Charts(**arrays)

    def _scores(
        self,
        space: FeatureSpace,
        grow: bool,
        min_word_count: int,
        edge_scores: bool,
        pair_set: Integers,
        pair_node: Integers,
        pair_gold: Reals,
    ) -> Scores:
        word_labels, node_labels = Interner[WordLabel](), Interner[NodeLabel]()
        set_labels, set_label, set_amount = _ragged(self.sets.items, word_labels)
        node_start, node_label, node_amount = _ragged(self.nodes.items, node_labels)
        if grow and min_word_count > 1:
            # Count word labels over tokens, each by the weight of its problem (a demonstration
            # and its mirror image count as one); rare names never get features.
            weights = np.repeat(self.lists["problem_weight"], np.diff(self.lists["problem_words"]))
            uses = np.bincount(np.array(self.word_sets), weights=weights, minlength=len(self.sets))
            per_label = np.repeat(uses, np.diff(set_labels))
            counts: dict[str, float] = {}
            for label, count in zip(set_label.tolist(), per_label.tolist(), strict=True):
                name = word_labels.items[label].name
                counts[name] = counts.get(name, 0) + count
            rare = {n for n, count in counts.items() if count < min_word_count - 1e-9 and n != ""}
        else:
            rare = set()
        # Which word labels meet which node labels: (labels × sets)(sets × nodes)(nodes × labels).
        by_set = _matrix(set_labels, set_label, len(word_labels))
        by_node = _matrix(node_start, node_label, len(node_labels))
        shape = (len(self.sets), len(self.nodes))
        met = sparse.csr_matrix((np.ones(len(pair_set)), (pair_set, pair_node)), shape=shape)
        # Labels with a value only ever join labels with the same: those need no product.
        valued = np.array([meaning_of(label) is not None for label in word_labels.items], bool)
        if space.own:
            valued[:] = False
        plain = np.flatnonzero(~valued)
        meetings = (by_set[:, plain].T @ (met @ by_node)).tocoo()
        agreeing = _agreeing(word_labels.items, node_labels.items, np.flatnonzero(valued))
        words = np.concatenate([plain[meetings.row], agreeing[0]])
        nodes = np.concatenate([meetings.col, agreeing[1]])
        if rare:
            frequent = np.array([label.name not in rare for label in word_labels.items], bool)
            words, nodes = words[frequent[words]], nodes[frequent[words]]
        joined = space.join(word_labels.items, node_labels.items, words, nodes, grow=grow)
        edge_words, edge_nodes, edge_pairs = self._edges(edge_scores)
        edge_joined = space.join(edge_words, edge_nodes, *edge_pairs[:2], grow=grow)
        if grow:
            pair_count = np.full(len(words), np.inf)
            if space.min_count > 0:
                golden = sparse.csr_matrix((pair_gold, (pair_set, pair_node)), shape=shape)
                counted = (by_set.T @ (golden @ by_node)).tocsr()
                pair_count = np.asarray(counted[words, nodes]).ravel()
            space.index(
                np.concatenate([joined.key, edge_joined.key]),
                np.concatenate([pair_count[joined.pair], np.full(len(edge_joined.key), np.inf)]),
            )
        features = space.places(joined.key)
        kept = features >= 0
        row_word = words[joined.pair[kept]]
        order = np.argsort(row_word, kind="stable")
        edge_features = space.places(edge_joined.key)
        edge_kept = edge_features >= 0
        edge_row = edge_pairs[2][edge_joined.pair[edge_kept]]
        edge_order = np.argsort(edge_row, kind="stable")
        pair_starts = np.searchsorted(pair_set, np.arange(len(self.sets) + 1))
        return Scores(
            set_labels=set_labels,
            set_label=set_label,
            set_amount=set_amount,
            node_labels=node_start,
            node_label=node_label,
            node_amount=node_amount,
            label_rows=_starts(row_word, len(word_labels)),
            row_label=nodes[joined.pair[kept]][order].astype(np.int32),
            row_feature=features[kept][order].astype(np.int32),
            row_value=joined.value[kept][order],
            set_pairs=pair_starts.astype(np.int32),
            pair_node=pair_node,
            edge_rows=_starts(edge_row, len(self.dependencies) * len(self.relations)),
            edge_feature=edge_features[edge_kept][edge_order].astype(np.int32),
            edge_value=edge_joined.value[edge_kept][edge_order],
        )

    def _edges(
        self, edge_scores: bool
    ) -> tuple[list[WordLabel], list[NodeLabel], tuple[NDArray[np.int64], ...]]:
        """Return dependency labels, relation labels, and the pairs of them with their table row."""
        words, nodes = Interner[WordLabel](), Interner[NodeLabel]()
        pairs: list[tuple[int, int, int]] = []
        if edge_scores:
            for d, dependency in enumerate(self.dependencies.items):
                named = (words(WordLabel("dep")), words(WordLabel(f"dep={dependency}")))
                for r, relation in enumerate(self.relations.items):
                    row = d * len(self.relations) + r
                    labels = [nodes(NodeLabel(f"relation={name}")) for name in relation]
                    pairs += [(word, node, row) for word in named for node in labels]
        columns = np.array(pairs, np.int64).reshape(-1, 3).T
        return words.items, nodes.items, tuple(columns)


def _ragged(
    contents: Sequence[tuple[tuple[Any, float], ...]], labels: Interner[Any]
) -> tuple[Integers, Integers, Reals]:
    starts = np.zeros(len(contents) + 1, np.int32)
    starts[1:] = np.cumsum([len(each) for each in contents])
    label = np.array([labels(name) for each in contents for name, _ in each], np.int32)
    amount = np.array([amount for each in contents for _, amount in each], np.float64)
    return starts, label, amount


def _agreeing(
    words: Sequence[WordLabel], nodes: Sequence[NodeLabel], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of chosen word labels and of node labels that mean the same."""
    by_meaning: dict[tuple[str, str | float], list[int]] = {}
    for place, node in enumerate(nodes):
        meaning = meaning_of(node)
        if meaning is not None:
            by_meaning.setdefault(meaning, []).append(place)
    pairs = [
        (word, node)
        for word in chosen.tolist()
        for node in by_meaning.get(meaning_of(words[word]) or ("", ""), ())
    ]
    columns = np.array(pairs, np.int64).reshape(-1, 2).T
    return columns[0], columns[1]


def _matrix(starts: Integers, labels: Integers, width: int) -> Any:
    matrix = sparse.csr_matrix(
        (np.ones(len(labels)), labels.copy(), starts.copy()), shape=(len(starts) - 1, width)
    )
    matrix.sum_duplicates()
    return matrix


def _starts(rows: NDArray[Any], count: int) -> Integers:
    starts = np.zeros(count + 1, np.int32)
    starts[1:] = np.cumsum(np.bincount(rows, minlength=count))
    return starts


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


def values_of(graphs: Iterable[LaidOutGraph]) -> Mapping[str, set[str]]:
    """Collect the values of each kind that occur in graphs."""
    values: dict[str, set[str]] = {}
    for graph in graphs:
        for kind, value in graph.values:
            values.setdefault(kind, set()).add(value)
    return values
