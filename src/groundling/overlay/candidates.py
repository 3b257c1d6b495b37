"""Candidates: the plans that a text may mean, numbered once and then copied as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.graphs import LaidOutGraph, LaidOutTable, NodeContent

Numbers = NDArray[np.int32]


class Candidates:
    """Plans as arrays, shared by the many texts that may mean them.

    Parameters
    ----------
    plans
        For each plan the laid-out graphs of its actions, and its labels as a whole (`None`
        where plans have none).

    Attributes
    ----------
    graphs, labels
        The distinct graphs, and the distinct labels of plans.
    action_graph
        For each action of each plan the place of its graph.
    ends
        For each plan how many actions it and those before it have.
    plan_labels
        For each plan the place of its labels; empty if plans have none.
    order
        The graphs and labels as they first occur: the place of a graph, or -1 less that of a
        label.

    Examples
    --------
    >>> one, two = object(), object()  # stand for graphs
    >>> candidates = Candidates([((one,), None), ((one, two), None)])
    >>> candidates.action_graph.tolist(), candidates.ends.tolist(), len(candidates)
    ([0, 0, 1], [1, 3], 2)
    """

    __slots__ = ("action_graph", "ends", "graphs", "labels", "order", "plan_labels")

    def __init__(self, plans: Iterable[tuple[Sequence[LaidOutGraph], NodeContent | None]]) -> None:
        graph_place: dict[int, int] = {}
        label_place: dict[NodeContent, int] = {}
        listed: list[LaidOutGraph] = []
        self.graphs: Sequence[LaidOutGraph] = listed
        self.order = array("i")
        actions, ends, labelled = [], [], []
        for graphs, labels in plans:
            for graph in graphs:
                place = graph_place.get(id(graph))
                if place is None:
                    place = graph_place[id(graph)] = len(listed)
                    listed.append(graph)
                    self.order.append(place)
                actions.append(place)
            ends.append(len(actions))
            if labels is not None:
                place = label_place.get(labels)
                if place is None:
                    place = label_place[labels] = len(label_place)
                    self.order.append(-1 - place)
                labelled.append(place)
        assert len(labelled) in (0, len(ends))
        self.labels: list[NodeContent] = list(label_place)
        self.action_graph: Numbers = np.array(actions, np.int32)
        self.ends: Numbers = np.array(ends, np.int32)
        self.plan_labels: Numbers = np.array(labelled, np.int32)

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes, without the graphs, which are shared."""
        arrays = (self.action_graph, self.ends, self.plan_labels)
        listed = 200 * len(self.graphs) + 300 * len(self.labels)
        return 1000 + sum(each.nbytes for each in arrays) + listed

    def signature(self) -> tuple[Hashable, ...]:
        """Return what plans of the same graphs, with equal labels, have alike.

        It is good as long as the graphs are there, which are told apart by identity.
        """
        arrays = (self.action_graph, self.ends, self.plan_labels)
        graphs = tuple(map(id, self.graphs))
        return graphs, tuple(self.labels), *(each.tobytes() for each in arrays)

    @classmethod
    def single(cls, graphs: Iterable[LaidOutGraph]) -> Candidates:
        """Return plans of one action each, without labels of their own."""
        return cls(((graph,), None) for graph in graphs)

    @classmethod
    def of_table(cls, table: LaidOutTable, labels: NodeContent | None) -> Candidates:
        """Return plans of one action each, one for each graph of a table, labelled alike."""
        found = cls(())
        places = np.arange(len(table), dtype=np.int32)
        found.graphs, found.action_graph, found.ends = table, places, places + 1
        found.order = array("i", places)
        if labels is not None:
            found.labels, found.plan_labels = [labels], np.zeros(len(table), np.int32)
            found.order.insert(1, -1)
        return found

    def __len__(self) -> int:
        return len(self.ends)

    def actions(self, place: int) -> list[LaidOutGraph]:
        """Return the graphs of one plan."""
        begin = int(self.ends[place - 1]) if place else 0
        return [self.graphs[each] for each in self.action_graph[begin : int(self.ends[place])]]


def graphs_of(candidates: Sequence[Candidates]) -> Sequence[LaidOutGraph]:
    """Return the distinct graphs of several lists of candidates; of one, its very list."""
    if len(candidates) == 1:
        return candidates[0].graphs
    return list(dict.fromkeys(graph for each in candidates for graph in each.graphs))
