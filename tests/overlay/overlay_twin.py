"""The overlay by brute force: enumerate every alignment, score each from names alone."""

import itertools
import math
from collections.abc import Iterator, Mapping

from groundling.features.labels import NUMBER, ORDINAL
from groundling.overlay.batch_builder import ADVANCE, BIAS, Instance
from groundling.overlay.graphs import LaidOutGraph, NodeContent, Shape
from groundling.overlay.settings import Overlay
from groundling.overlay.skeletons import BOUND, FREE
from groundling.world.graph import labels_of

Plan = tuple[tuple[LaidOutGraph, ...], NodeContent | None]
"""The graphs of a plan's actions, and its labels as a whole."""


def shape_of(near, enters) -> Shape:
    """Return the shape in which each node has these (neighbour, relation) pairs."""
    edges = [(node, end, labels_of(list(names))) for node, ends in enumerate(near)
             for end, names in ends]  # fmt: skip
    return Shape(edges, enters, Overlay(neighbours=("given",)))


def neighbours(edges, count: int, overlay: Overlay):
    """List each node's neighbours once, by the first relation that applies."""
    given = [{} for _ in range(count)]
    back = [{} for _ in range(count)]
    for one, other, labels in edges:
        names = {str(label) for label in labels} or {"related"}
        given[one].setdefault(other, set()).update(names)
        back[other].setdefault(one, set()).update(f"{name} reversed" for name in names)
    near = []
    for node in range(count):
        found = {}
        for kind, relations in (("given", given), ("reversed", back)):
            if kind in overlay.neighbours:
                for end in sorted(relations[node]):
                    found.setdefault(end, tuple(sorted(relations[node][end])))
        if "self" in overlay.neighbours:
            found.setdefault(node, ("self",))
        if "two-step" in overlay.neighbours:
            for end in sorted(end for middle in given[node] for end in given[middle]):
                found.setdefault(end, ("two-step",))
        if overlay.adjacency == "soft":
            for end in range(count):
                found.setdefault(end, ("far",))
        near.append(tuple(found.items()))
    return tuple(near)


def pair_score(word, node, theta: Mapping[str, float], slots=()) -> float:
    """θ·φ(word, node) from the definition of conjunctions and slots."""
    total = 0.0
    for label, amount in word:
        for other, times in node:
            strength = amount * times
            if other.value is None:
                if label.kind:
                    continue
                name = f"{label.name} ∧ {other.name}" if label.name else other.name
                total += strength * theta.get(name, 0.0)
            else:
                if other.kind not in {*slots, NUMBER} and not label.kind:
                    right = f"{other.name}={other.value}"
                    name = f"{label.name} ∧ {right}" if label.name else right
                    total += strength * theta.get(name, 0.0)
                kind = NUMBER if label.kind == ORDINAL else label.kind
                if kind and kind == other.kind and label.value == other.value:
                    total += strength * theta.get(f"{label.name} ∧ {other.name}~", 0.0)
    return total


def edge_score(dependency: str, relation, theta: Mapping[str, float]) -> float:
    return sum(
        theta.get(f"{left} ∧ relation={name}", 0.0)
        for left in ("dep", f"dep={dependency}")
        for name in relation
    )


def states_of(plan: Plan) -> list[tuple[int, int]]:
    return [(j, k) for j, g in enumerate(plan[0]) for k in range(len(g.nodes))]


def alignments(
    instance: Instance, plan: Plan, theta: Mapping[str, float],
    skip: float = 0.0, advance: bool = False, slots=(),
) -> Iterator[tuple[tuple[tuple[int, int], ...], float, tuple[float, ...]]]:  # fmt: skip
    """Yield (state of each word, score, score of each group) for every allowed alignment."""
    skeleton = instance.skeleton
    states = states_of(plan)
    for choice in itertools.product(states, repeat=len(skeleton)):
        groups = [0.0] * skeleton.groups
        possible = True
        for w, (j, k) in enumerate(choice):
            graph = plan[0][j]
            score = pair_score(instance.words[w], graph.nodes[k], theta, slots)
            parent = skeleton.parent[w]
            if parent < 0:
                if not graph.shape.enters[k]:
                    possible = False
                    break
            else:
                above_action, above_node = choice[parent]
                link = skeleton.link[w]
                if j == above_action and link in (BOUND, FREE):
                    near = dict(graph.shape.near[above_node])
                    if k not in near:
                        possible = False
                        break
                    score += edge_score(skeleton.relation[w], near[k], theta)
                elif j == above_action:
                    if not graph.shape.enters[k]:
                        possible = False
                        break
                    score += edge_score(skeleton.relation[w], ("same",), theta)
                else:
                    gap = (j - above_action) * skeleton.direction[w]
                    if link == BOUND or gap < 1 or not graph.shape.enters[k]:
                        possible = False
                        break
                    relation = ("next",) if skeleton.direction[w] > 0 else ("previous",)
                    score += edge_score(skeleton.relation[w], relation, theta)
                    score -= skip * (gap - 1)
                    if advance:
                        score += pair_score(instance.words[w], ADVANCE, theta, slots)
            groups[skeleton.group[w]] += score
        if possible:
            yield choice, sum(groups), tuple(groups)


def text_free(instance, plan, theta, *, action_scores=True, plan_words=False, slots=()):
    graphs, labels = plan
    total = 0.0
    if labels is not None:
        total += pair_score(BIAS, labels, theta, slots)
        if plan_words:
            total += sum(pair_score(w, labels, theta, slots) for w in instance.words)
    if action_scores:
        total += sum(pair_score(BIAS, g.prior, theta, slots) for g in graphs)
    return total


def log_sum(values) -> float:
    values = list(values)
    top = max(values, default=-math.inf)
    if top == -math.inf:
        return top
    return top + math.log(sum(math.exp(v - top) for v in values))
