"""Candidates: the possible plans for a text, as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from groundling.overlay.graphs import LaidOutGraph, LaidOutTable, NodeContent

Numbers = NDArray[np.int32]


class Candidates:
    """Candidate plans as arrays, shared between texts.

    Parameters
    ----------
    plans
        For each plan, the laid-out graphs of its actions and its plan labels (`None` if plans
        have none).

    Attributes
    ----------
    graphs, labels
        The distinct graphs and the distinct plan labels.
    action_graph
        For each action of each plan, the index of its graph.
    ends
        For each plan, the cumulative number of actions.
    plan_labels
        For each plan, the index of its labels; empty if plans have none.
    order
        Graphs and labels in order of first occurrence: `i` for graph i, `-1 - i` for label i.

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
        """Approximate size in bytes, without the graphs, which are shared."""
        arrays = (self.action_graph, self.ends, self.plan_labels)
        listed = 200 * len(self.graphs) + 300 * len(self.labels)
        return 1000 + sum(each.nbytes for each in arrays) + listed

    def signature(self) -> tuple[Hashable, ...]:
        """Return a key that is equal for candidates with the same graphs and equal labels.

        Graphs are compared by identity, so the key is valid only while they exist.
        """
        arrays = (self.action_graph, self.ends, self.plan_labels)
        graphs = tuple(map(id, self.graphs))
        return graphs, tuple(self.labels), *(each.tobytes() for each in arrays)

    @classmethod
    def single(cls, graphs: Iterable[LaidOutGraph]) -> Candidates:
        """Return plans of one action each, without plan labels."""
        return cls(((graph,), None) for graph in graphs)

    @classmethod
    def of_table(cls, table: LaidOutTable, labels: NodeContent | None) -> Candidates:
        """Return a plan of one action for each graph of a table, all with the same labels."""
        found = cls(())
        places = np.arange(len(table), dtype=np.int32)
        found.graphs, found.action_graph, found.ends = table, places, places + 1
        found.order = array("i", places.tobytes())
        if labels is not None:
            found.labels, found.plan_labels = [labels], np.zeros(len(table), np.int32)
            found.order.insert(1, -1)
        return found

    def __len__(self) -> int:
        return len(self.ends)

    def actions(self, place: int) -> list[LaidOutGraph]:
        """Return the graphs of the plan at an index."""
        begin = int(self.ends[place - 1]) if place else 0
        return [self.graphs[each] for each in self.action_graph[begin : int(self.ends[place])]]


def graphs_of(candidates: Sequence[Candidates]) -> Sequence[LaidOutGraph]:
    """Return the distinct graphs of several candidate lists."""
    if len(candidates) == 1:
        return candidates[0].graphs
    return list(dict.fromkeys(graph for each in candidates for graph in each.graphs))
