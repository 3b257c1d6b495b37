"""Choices: what some lists of candidates come to as arrays, shared by the texts about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph

__all__ = ["Choice", "KnownGraph", "distinct_keys", "in_order"]

Numbers = NDArray[Any]


@dataclass(frozen=True, eq=False)
class KnownGraph:
    """A graph that was interned; holding it keeps its identity from being reused."""

    graph: LaidOutGraph
    nodes: list[int]
    shape: int
    prior: int


@dataclass(frozen=True, eq=False)
class Choice:
    """What some lists of candidates come to as arrays, shared by the texts that choose among them.

    Places of graphs and of actions are counted from the first of the instance, nodes are
    numbered as they first occur.
    """

    candidates: tuple[Candidates, ...]  # holding them keeps their identity from being reused
    graphs: list[LaidOutGraph]
    graph_shape: Numbers
    graph_prior: Numbers
    graph_node: Numbers
    graph_ends: Numbers
    nodes: Numbers
    action_graph: Numbers
    candidate_ends: Numbers
    labels: Numbers  # of each candidate, or empty

    @cached_property
    def kinds(self) -> tuple[Numbers, Numbers, Numbers]:
        """The distinct labels, for each candidate their place, and how many candidates have them.

        Without labels, all candidates are of one kind.
        """
        if not len(self.labels):
            count = len(self.candidate_ends)
            return np.zeros(1, np.int64), np.zeros(count, np.int64), np.array([count])
        return np.unique(self.labels, return_inverse=True, return_counts=True)

    def gold_nodes(self, gold: Iterable[int]) -> NDArray[np.float64]:
        """Count how often each node occurs in some candidates."""
        counts = np.zeros(len(self.nodes))
        for place in gold:
            begin = self.candidate_ends[place - 1] if place else 0
            for graph in self.action_graph[begin : self.candidate_ends[place]].tolist():
                first = self.graph_ends[graph - 1] if graph else 0
                np.add.at(counts, self.graph_node[first : self.graph_ends[graph]], 1.0)
        return counts


def in_order(values: Sequence[int]) -> tuple[Numbers, Numbers]:
    """Return the distinct values as they first occur, and the place of each value among them.

    >>> [each.tolist() for each in in_order([7, 3, 7, 5])]
    [[7, 3, 5], [0, 1, 0, 2]]
    """
    distinct, first, where = np.unique(
        np.array(values, np.int64), return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return distinct[order], rank[where]


def distinct_keys(
    keys: NDArray[np.int64], nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
