"""Changes: the facts that an action makes true or false."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from groundling.world.graph import GroundingGraph, Label, Labels

BEGINS, ENDS, NOTHING = "begins", "ends", "changes nothing"
Facts = frozenset[Label]


def with_changes(graph: GroundingGraph, before: Facts, after: Facts) -> GroundingGraph:
    """Add nodes for facts that become true (`begins`) or false (`ends`) to a graph.

    Edges connect these nodes to the root. If nothing changes, the root gets the label `changes
    nothing`.

    >>> graph = GroundingGraph({"event": "press"})
    >>> locked, shut = frozenset({Label("gate", "locked")}), frozenset({Label("gate", "shut")})
    >>> print(with_changes(graph, shut, locked))
    event*: press
    begins: gate=locked
    ends: gate=shut
    event -> begins: begins
    event -> ends: ends
    """
    nodes: dict[str, Labels] = dict(zip(graph.node_names, graph.node_labels, strict=True))
    edges: list[tuple[str, str, Labels]] = list(graph.edges)
    if before == after:
        nodes[graph.root] = (*graph.labels(graph.root), Label(NOTHING))
    for name, facts in ((BEGINS, after - before), (ENDS, before - after)):
        if facts and name not in nodes:
            nodes[name] = sorted(facts, key=str)
            edges.append((graph.root, name, name))
    return GroundingGraph(nodes, edges, graph.root, graph.roles)


def label_changes(facts: Sequence[Facts]) -> dict[str, bool]:
    """Return whether a plan `idles` (has steps without effect) or `undoes` changes.

    `facts` are the facts of each state of the plan, from start to end.

    >>> on, off = frozenset({Label("on")}), frozenset()
    >>> label_changes([on, off, on])
    {'idles': False, 'undoes': True}
    """
    moves = [one for one, other in pairwise(facts) if one != other]
    return {
        "idles": len(moves) < len(facts) - 1,
        "undoes": len({*moves, facts[-1]}) < len(moves) + 1,
    }
