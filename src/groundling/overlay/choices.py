"""Choices: what some lists of candidates come to as arrays, shared by the texts about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph, NodeContent, Shape
from groundling.overlay.ragged import starts_of

__all__ = ["Choice", "choose", "distinct_keys", "in_order"]

Numbers = NDArray[Any]

_SOME = 2**18  # keys that are looked up at a time
_MOST_EMPTY = 40  # places of a table for each key
_COUNT = np.array([each.bit_count() for each in range(256)], np.uint8)  # of bits
_BELOW = (2 ** np.arange(8) - 1).astype(np.uint8)  # the bits below a bit


@dataclass(eq=False)
class Choice:
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
    labels: Numbers  # candidate -> content of its labels; or empty

    @cached_property
    def kinds(self) -> tuple[Numbers, Numbers, Numbers]:
        """The distinct labels, for each candidate their place, and how many candidates have them.

        Without labels, all candidates are of one kind.
        """
        if not len(self.labels):
            count = len(self.candidate_ends)
            return np.zeros(1, np.int64), np.zeros(count, np.int64), np.array([count])
        return np.unique(self.labels, return_inverse=True, return_counts=True)


def choose(candidates: Sequence[Candidates], *, priors: bool) -> Choice:
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

    actions, plan_ends, labels = [], [], []
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
        if of_plans:
            labels.append(np.array(of_plans, np.int32)[each.plan_labels])
    return Choice(
        candidates=tuple(candidates),
        graphs=graphs if len(candidates) > 1 else candidates[0].graphs,
        contents=contents,
        shapes=shapes,
        graph_shape=np.array(graph_shape, np.int32),
        graph_prior=np.array(graph_prior, np.int32),
        graph_node=np.array(graph_node, np.int32),
        graph_ends=np.array(graph_ends, np.int32),
        nodes=np.array(node_content, np.int32),
        action_graph=_concatenated(actions),
        candidate_ends=_concatenated(plan_ends),
        labels=_concatenated(labels),
    )


def _concatenated(parts: Sequence[Numbers]) -> Numbers:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)


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


def distinct_keys(keys: NDArray[np.int64], nodes: int) -> tuple[NDArray[np.int64], Numbers]:
    """Do what np.unique does with its inverse, without sorting: a table tells what occurs.

    Keys are set << 32 | node. The table has one bit for each set and node; places are looked up
    in it by counting bits, so that it stays small, and time grows with the number of keys.

    >>> [each.tolist() for each in distinct_keys(np.array([1 << 32, 2, 1 << 32]), 3)]
    [[2, 4294967296], [1, 0, 1]]
    """
    if not len(keys):
        return keys, keys
    size = (int(keys.max() >> 32) + 1) * nodes
    if size > _MOST_EMPTY * len(keys):
        distinct, where = np.unique(keys, return_inverse=True)
        return distinct, where
    seen = np.zeros(size, np.bool_)
    # What is done some at a time stays in the cache, and takes no room.
    some = [slice(first, first + _SOME) for first in range(0, len(keys), _SOME)]
    for each in some:
        seen[_flat(keys[each], nodes)] = True
    found = np.flatnonzero(seen)
    high = found // nodes
    distinct = high << 32 | (found - high * nodes)
    where = np.empty(len(keys), np.int32)
    if len(some) == 1:
        place = np.empty(size, np.int32)
        place[found] = np.arange(len(found), dtype=np.int32)
        where[:] = place[_flat(keys, nodes)]
        return distinct, where
    bits = np.packbits(seen, bitorder="little")
    del seen
    before = starts_of(_COUNT[bits], np.int32)  # how many occur before those of a byte
    for each in some:
        flat = _flat(keys[each], nodes)
        byte = flat >> 3
        where[each] = before[byte] + _COUNT[bits[byte] & _BELOW[flat & 7]]
    return distinct, where


def _flat(keys: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
    return (keys >> 32) * nodes + (keys & 0xFFFFFFFF)
