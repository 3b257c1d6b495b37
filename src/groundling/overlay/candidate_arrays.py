"""Lists of candidates as arrays, shared by the texts about them; the latest are kept."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph, NodeContent, Relation, Shape
from groundling.overlay.ragged import concatenated

__all__ = ["Alone", "CandidateArrays", "LatestArrays", "Numbered", "lay_out_candidates"]

Numbers = NDArray[Any]

_LATEST = 1_900_000  # bytes


@dataclass(eq=False)
class CandidateArrays:
    """What some lists of candidates come to as arrays, shared by the texts that choose among them.

    Nothing in it depends on a text, or on what else is encoded with it. Things that are the same
    object are listed once, as they first occur; others are told by their places in these lists.
    """

    candidates: tuple[Candidates, ...]  # holding them keeps their identity from being reused
    graphs: Sequence[LaidOutGraph]
    contents: list[NodeContent]  # of nodes, of whole graphs (ψ(y)), and of plans (ψ(n))
    shapes: list[Shape]
    graph_shape: Numbers
    graph_prior: Numbers  # graph -> its content; or -1
    graph_node: Numbers  # graph -> places of its nodes in `nodes`
    graph_ends: Numbers
    nodes: Numbers  # node -> its content
    action_graph: Numbers
    candidate_ends: Numbers
    kinds: Numbers  # kind of candidate -> content of its labels; none where plans have none
    candidate_kind: Numbers
    # What was worked out for it alone; see `encode`, `JoinedLabels` and `arrange`.
    encoded: Any = None
    spelled: Any = None
    arranged: Any = None

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes, with all that is worked out for it alone."""
        labels = sum(map(len, self.contents))
        return 8000 + 24 * len(self.graph_node) + 20 * len(self.action_graph) + 4 * labels


@dataclass(frozen=True, eq=False, slots=True)
class Numbered:
    """Arrays of candidates with the numbers that nodes and shapes have in an encoding.

    What the arrays number is not kept: there are many, and the garbage collector walks all of it.
    """

    graphs: Sequence[LaidOutGraph]
    graph_shape: Numbers
    graph_prior: Numbers
    graph_node: Numbers
    graph_ends: Numbers
    nodes: Numbers
    action_graph: Numbers
    candidate_ends: Numbers
    candidate_kind: Numbers
    kinds: Numbers  # kind of candidate -> its labels; none where plans have none

    def gold_nodes(self, gold: Collection[int]) -> NDArray[np.float64]:
        """Count how often each node occurs in some candidates."""
        counts = np.zeros(len(self.nodes))
        for place in gold:
            begin = self.candidate_ends[place - 1] if place else 0
            for graph in self.action_graph[begin : self.candidate_ends[place]].tolist():
                first = self.graph_ends[graph - 1] if graph else 0
                np.add.at(counts, self.graph_node[first : self.graph_ends[graph]], 1.0)
        return counts


class Alone(NamedTuple):
    """What is the same for every text that is encoded alone with some candidates."""

    numbered: Numbered
    nodes: list[NodeContent]
    relations: list[Relation]
    arrays: dict[str, Numbers]  # of the batch


def lay_out_candidates(candidates: Sequence[Candidates], *, priors: bool) -> CandidateArrays:
    """Return what lists of candidates come to together; `priors` tells whether ψ(y) is scored."""
    places: dict[int, int] = {}  # identity of a graph, a content or a shape -> its place
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
    kinds: dict[int, int] = {}  # place of labels -> which kind of candidate has them
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
        of_actions = each.action_graph
        if len(candidates) > 1:  # else graphs are listed in this order already
            of_actions = np.array([places[id(graph)] for graph in each.graphs], np.int32)[
                each.action_graph
            ]
        actions.append(of_actions)
        plan_ends.append(each.ends if not count else count + each.ends)
        count += len(each.action_graph)
        of_kinds = [kinds.setdefault(place, len(kinds)) for place in of_plans]
        if len(candidates) == 1 and of_plans:
            plan_kinds.append(each.plan_labels)
        elif of_plans:
            plan_kinds.append(np.array(of_kinds, np.int32)[each.plan_labels])
        else:
            plan_kinds.append(np.zeros(len(each), np.int32))  # without labels, all are alike
    return CandidateArrays(
        candidates=tuple(candidates),
        graphs=graphs if len(candidates) > 1 else candidates[0].graphs,
        contents=contents,
        shapes=shapes,
        graph_shape=np.array(graph_shape, np.int32),
        graph_prior=np.array(graph_prior, np.int32),
        graph_node=np.array(graph_node, np.int32),
        graph_ends=np.array(graph_ends, np.int32),
        nodes=np.array(node_content, np.int32),
        action_graph=concatenated(actions),
        candidate_ends=concatenated(plan_ends),
        kinds=np.array(list(kinds), np.int64),
        candidate_kind=concatenated(plan_kinds),
    )


class LatestArrays:
    """What the latest lists of candidates came to, for more texts about the same.

    Most requests are about what others were about shortly before. Only the latest are kept: they
    take more room than the candidates themselves, and are made again soon enough.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._known: dict[tuple[int, ...], CandidateArrays] = {}  # those used last stand last
        self._lock = threading.Lock()  # requests may be followed side by side

    def __reduce__(self) -> tuple[Any, ...]:
        return LatestArrays, ()  # copies begin anew

    def of(self, candidates: Sequence[Candidates], *, priors: bool) -> CandidateArrays:
        """Return what lists of candidates come to, which holds them as long as it is kept."""
        key = tuple(map(id, candidates))
        with self._lock:
            found = self._known.pop(key, None)
            if found is None:
                found = lay_out_candidates(candidates, priors=priors)
                self.bytes += found.nbytes
            self._known[key] = found
            while self.bytes > _LATEST:
                self.bytes -= self._known.pop(next(iter(self._known))).nbytes
        return found

    def forget(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._known.clear()
            self.bytes = 0
