"""Blocks: plans that many problems share, numbered once and then copied as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundling.model.graphs import LaidOutGraph, NodeContent

if TYPE_CHECKING:
    from groundling.model.encoding import Candidate

__all__ = ["Block"]

Numbers = NDArray[np.int64]


class Block:
    """Candidates that are not right, not pinned and have no base score, as arrays.

    Attributes
    ----------
    graphs, plans
        The distinct graphs, and the distinct labels of plans (none, if plans have none).
    action_graph
        For each action of each candidate the place of its graph.
    ends
        For each candidate how many actions it and those before it have.
    plan
        For each candidate the place of its labels.

    Examples
    --------
    >>> from groundling.model.encoding import Candidate
    >>> one, two = object(), object()  # stand for graphs
    >>> block = Block([Candidate((one,)), Candidate((one, two))])
    >>> block.action_graph.tolist(), block.ends.tolist(), len(block)
    ([0, 0, 1], [1, 3], 2)
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        graph_place: dict[int, int] = {}
        plan_place: dict[NodeContent, int] = {}
        self.graphs: list[LaidOutGraph] = []
        actions, ends, plans = [], [], []
        for candidate in candidates:
            assert not candidate.gold
            assert candidate.pins is None
            assert candidate.base == 0.0
            for graph in candidate.graphs:
                if id(graph) not in graph_place:
                    graph_place[id(graph)] = len(self.graphs)
                    self.graphs.append(graph)
                actions.append(graph_place[id(graph)])
            ends.append(len(actions))
            if candidate.plan is not None:
                plans.append(plan_place.setdefault(candidate.plan, len(plan_place)))
        assert len(plans) in (0, len(candidates))
        self.plans: list[NodeContent] = list(plan_place)
        self.action_graph: Numbers = np.array(actions, np.int64)
        self.ends: Numbers = np.array(ends, np.int64)
        self.plan: Numbers = np.array(plans, np.int64)

    def __len__(self) -> int:
        return len(self.ends)
