"""Arrays of candidate lists, shared by texts that have the same candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.features.feature_tables import PartTable
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph, LaidOutTable, NodeContent, Shape
from groundling.ragged import concatenated

Numbers = NDArray[Any]


class PlanArrays(NamedTuple):
    """Candidate lists as arrays; node contents and graph shapes are indices."""

    graphs: Sequence[LaidOutGraph]
    graph_shape: Numbers
    graph_prior: Numbers  # graph -> content of ψ(y), or -1
    graph_node: Numbers  # graph -> indices of its nodes in `nodes`
    graph_ends: Numbers
    nodes: Numbers  # node -> its content
    action_graph: Numbers
    candidate_ends: Numbers
    kinds: Numbers  # kind of candidate -> content of its plan labels; empty without plan labels
    candidate_kind: Numbers


@dataclass
class Kept:
    """Results for candidate lists; see `encode`, `JoinedLabels` and `arrange`."""

    encoded: Any = None
    spelled: Any = None
    layout: Any = None


@dataclass(eq=False)
class CandidateArrays:
    """Candidate lists as arrays, with the objects that the indices refer to.

    The arrays do not depend on any text or on other candidates in the batch. Each distinct object
    is listed once, in order of first occurrence, and the arrays hold indices into these lists.
    """

    candidates: tuple[Candidates, ...]  # referenced here so that their ids are not reused
    contents: Sequence[NodeContent]  # of nodes, of whole graphs (ψ(y)), and of plans (ψ(n))
    shapes: list[Shape]
    arrays: PlanArrays
    kept: Kept = field(default_factory=Kept)  # results for later texts

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes, including the cached results."""
        arrays, contents = self.arrays, self.contents
        if isinstance(contents, PartTable):
            labels = 2 * len(contents.part)
        else:
            labels = sum(map(len, contents))
        return 8000 + 24 * len(arrays.graph_node) + 20 * len(arrays.action_graph) + 4 * labels


def lay_out_candidates(
    candidates: Sequence[Candidates], *, priors: bool, tabled: bool = False
) -> CandidateArrays:
    """Convert candidate lists to arrays; `priors` adds the contents that ψ(y) scores.

    With `tabled`, the contents of whole graphs may be a table.
    """
    table = candidates[0].graphs if tabled and len(candidates) == 1 else ()
    if isinstance(table, LaidOutTable) and table.layouts.overlay.nodes != "both" and len(table):
        return _lay_out_table(candidates[0], table, priors)
    places: dict[int, int] = {}  # id of a graph, content or shape -> its index
    nodes: dict[int, int] = {}
    graphs: list[LaidOutGraph] = []
    contents: list[NodeContent] = []
    shapes: list[Shape] = []
    node_content, graph_prior, graph_shape, graph_node, graph_ends = [], [], [], [], []

    def place_of(thing: Any, listed: list[Any]) -> int:
        place = places.get(id(thing))
        if place is None:
            place = places[id(thing)] = len(listed)
            listed.append(thing)
        return place

    actions, plan_ends, plan_kinds = [], [], []
    kinds: dict[int, int] = {}  # index of plan labels -> kind of candidate
    count = 0
    for each in candidates:
        of_plans = [0] * len(each.labels)
        for place in each.order:
            if place < 0:
                of_plans[-1 - place] = place_of(each.labels[-1 - place], contents)
                continue
            graph = each.graphs[place]
            if id(graph) in places:
                continue
            place_of(graph, graphs)
            for content in graph.nodes:
                node = nodes.get(id(content))
                if node is None:
                    node = nodes[id(content)] = len(nodes)
                    node_content.append(place_of(content, contents))
                graph_node.append(node)
            graph_ends.append(len(graph_node))
            graph_prior.append(place_of(graph.prior, contents) if priors else -1)
            graph_shape.append(place_of(graph.shape, shapes))
        of_graphs = np.array([places[id(graph)] for graph in each.graphs], np.int32)
        actions.append(of_graphs[each.action_graph])
        plan_ends.append(count + each.ends)
        count += len(each.action_graph)
        of_kinds = [kinds.setdefault(place, len(kinds)) for place in of_plans]
        labelled = each.plan_labels if of_plans else np.zeros(len(each), np.int32)
        plan_kinds.append(np.array(of_kinds or [0], np.int32)[labelled])  # one kind if no labels
    arrays = PlanArrays(
        graphs if len(candidates) > 1 else candidates[0].graphs, np.array(graph_shape, np.int32),
        np.array(graph_prior, np.int32), np.array(graph_node, np.int32),
        np.array(graph_ends, np.int32), np.array(node_content, np.int32), concatenated(actions),
        concatenated(plan_ends), np.array(list(kinds), np.int64), concatenated(plan_kinds),
    )  # fmt: skip
    return CandidateArrays(tuple(candidates), contents, shapes, arrays)


def _lay_out_table(candidates: Candidates, table: LaidOutTable, priors: bool) -> CandidateArrays:
    """Convert the candidates of a graph table to arrays, column by column."""
    count = len(table)
    graph_prior: Numbers = np.full(count, -1, np.int32)
    sizes: Numbers = np.ones(count, np.int32)
    plans = PartTable.of(candidates.labels)
    if table.layouts.overlay.nodes == "flat":
        own, chosen = table.priors()
        contents, graph_prior = [own, plans], chosen if priors else graph_prior
    else:
        own, chosen = table.own()
        contents, sizes = [own, plans], (chosen >= 0).sum(axis=1)
        if priors:
            of_graphs, place = table.priors()
            contents.append(of_graphs)
            graph_prior = len(own) + len(plans) + place
    nodes = np.arange(len(own), dtype=np.int32)
    kinds = len(own) + np.arange(len(plans))
    arrays = PlanArrays(
        table, table.shape_of.astype(np.int32), graph_prior.astype(np.int32),
        chosen[chosen >= 0].astype(np.int32),
        np.cumsum(sizes).astype(np.int32), nodes, candidates.action_graph, candidates.ends, kinds,
        np.zeros(count, np.int32),
    )  # fmt: skip
    return CandidateArrays((candidates,), PartTable.joined(contents), table.shapes, arrays)
