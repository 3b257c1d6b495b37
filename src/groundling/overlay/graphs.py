"""Grounding graphs as the overlay walks them: nodes by label sets, neighbours by relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from groundling.features.labels import NodeLabel, NodeLabeller, kind_of
from groundling.overlay.settings import Overlay
from groundling.world.graph import GroundingGraph, Label, labels_of

__all__ = ["LaidOutGraph", "NodeContent", "Shape", "Spelled", "lay_out", "spell_plan"]

NodeContent = tuple[tuple[NodeLabel, float], ...]
Relation = tuple[str, ...]

FAR: Relation = ("far",)
SELF: Relation = ("self",)
TWO_STEP: Relation = ("two-step",)


@dataclass(frozen=True)
class Shape:
    """Who neighbours whom in a graph: for each node (neighbour, relation) pairs, and entries."""

    near: tuple[tuple[tuple[int, Relation], ...], ...]
    enters: tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class LaidOutGraph:
    """A grounding graph ready for the overlay; each is itself, so that looking it up is cheap.

    `nodes` are the label sets words align with, `names` what they are called, `prior` the
    labels that ψ(y) sees, `values` the values of each kind that occur.
    """

    nodes: tuple[NodeContent, ...]
    names: tuple[str, ...]
    shape: Shape
    prior: NodeContent
    values: tuple[tuple[str, str], ...]


Spelled = tuple[NodeContent, frozenset[tuple[str, str]]]


def lay_out(
    graph: GroundingGraph,
    overlay: Overlay,
    labeller: NodeLabeller,
    memory: dict[tuple[str, tuple[Label, ...]], Spelled] | None = None,
) -> LaidOutGraph:
    """Prepare a grounding graph for the overlay as its settings ask.

    `memory` keeps the nodes of one labeller, which graphs share, from being spelled again.

    >>> nodes = {"event": "move", "here": {"item": "sofa"}}
    >>> graph = GroundingGraph(nodes, [("event", "here", "to")])
    >>> lay_out(graph, Overlay(), NodeLabeller()).shape.near
    (((1, ('to',)), (0, ('self',))), ((0, ('to reversed',)), (1, ('self',))))
    >>> lay_out(graph, Overlay.flat(), NodeLabeller()).names
    ('action',)
    """
    memory = {} if memory is None else memory
    parts: list[Spelled] = []
    for key in zip(graph.node_names, graph.node_labels, strict=True):
        found = memory.get(key)
        if found is None:
            found = memory[key] = _spell(*key, labeller)
        parts.append(found)
    flat = tuple(chain.from_iterable(content for content, _ in parts))
    values = tuple(sorted(frozenset().union(*(values for _, values in parts))))
    if overlay.nodes == "flat":
        nodes: tuple[NodeContent, ...] = (flat,)
        names: tuple[str, ...] = ("action",)
        near: list[list[tuple[int, Relation]]] = [[(0, SELF)]]
        root = 0
    else:
        nodes = tuple(tuple(labeller.spell(labels)) for labels in graph.node_labels)
        if overlay.nodes == "both":
            nodes = tuple(own + flat for own in nodes)
        names = graph.node_names
        near = _neighbours(graph, overlay)
        root = names.index(graph.root)
    enters = tuple(overlay.entry == "any" or place == root for place in range(len(nodes)))
    return LaidOutGraph(nodes, names, Shape(tuple(map(tuple, near)), enters), flat, values)


def _spell(name: str, labels: tuple[Label, ...], labeller: NodeLabeller) -> Spelled:
    """Return a node as features see it in a flat graph, and the values it has."""
    values = ((kind_of(each), each.value) for each in labels if isinstance(each.value, str))
    return tuple(labeller.spell(labels, f"{name}.")), frozenset(values)


def _neighbours(graph: GroundingGraph, overlay: Overlay) -> list[list[tuple[int, Relation]]]:
    """List each node's neighbours once, by the first relation that applies."""
    place = {name: number for number, name in enumerate(graph.node_names)}
    given: list[dict[int, set[str]]] = [{} for _ in place]
    back: list[dict[int, set[str]]] = [{} for _ in place]
    for source, target, labels in graph.edges:
        names = {str(label) for label in labels} or {"related"}
        given[place[source]].setdefault(place[target], set()).update(names)
        back[place[target]].setdefault(place[source], set()).update(
            f"{name} reversed" for name in names
        )
    near: list[list[tuple[int, Relation]]] = []
    for node in range(len(place)):
        found: dict[int, Relation] = {}
        for kind, relations in (("given", given), ("reversed", back)):
            if kind in overlay.neighbours:
                for other, names in sorted(relations[node].items()):
                    found.setdefault(other, tuple(sorted(names)))
        if "self" in overlay.neighbours:
            found.setdefault(node, SELF)
        if "two-step" in overlay.neighbours:
            for middle in sorted(given[node]):
                for other in sorted(given[middle]):
                    found.setdefault(other, TWO_STEP)
        if overlay.adjacency == "soft":
            for other in range(len(place)):
                found.setdefault(other, FAR)
        near.append(list(found.items()))
    return near


def spell_plan(
    length: int, labels: Sequence[Label] | object, labeller: NodeLabeller
) -> NodeContent:
    """Return the labels of a whole plan as ψ(n) sees them: its length, and what the world adds.

    >>> [str(label) for label, _ in spell_plan(2, {"pattern": "turn move"}, NodeLabeller())]
    ['plan.length=2', 'plan.pattern']
    """
    read = labels_of(labels, "the plan")  # type: ignore[arg-type]
    return (
        (NodeLabel(f"plan.length={min(length, 20)}"), 1.0),
        *labeller.spell(read, "plan."),
    )
