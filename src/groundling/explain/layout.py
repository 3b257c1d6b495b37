"""Where things stand in the picture of an explanation, in inches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from groundling.explain.parts import Step
from groundling.language.instruction import Instruction

if TYPE_CHECKING:
    from groundling.explain.explanation import Explanation

__all__ = [
    "NAME_SIZE",
    "GraphArc",
    "NodeBox",
    "PlacedWord",
    "arc_levels",
    "choose_nodes",
    "graph_arcs",
    "place_nodes",
    "place_row",
    "place_words",
    "text_width",
]

SEEN = 0.15  # a node that a word lies on with less probability is not drawn
LABELS = 4
NAME_SIZE = 7.0  # of relations, in points


@dataclass(frozen=True)
class PlacedWord:
    """A text and where it stands from left to right."""

    text: str
    left: float
    right: float

    @property
    def middle(self) -> float:
        """The middle of the text."""
        return (self.left + self.right) / 2


@dataclass(frozen=True)
class NodeBox:
    """A node of an action's graph as a box with some of its labels."""

    action: int
    node: str
    labels: tuple[str, ...]
    left: float = 0.0
    right: float = 0.0

    @property
    def middle(self) -> float:
        """The middle of the box."""
        return (self.left + self.right) / 2

    @property
    def height(self) -> float:
        """How tall the box must be for its labels."""
        return 0.26 + 0.145 * len(self.labels)


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in inches, at a font size in points.

    >>> text_width("mm", 10) > text_width("m", 10) > text_width("i", 10) > 0
    True
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(weight="bold" if bold else "normal")
    # Letters without ink at the end (spaces) count too.
    path = TextPath((0, 0), text.replace(" ", "n"), size=size, prop=font)
    return float(path.get_extents().width) / 72


def place_row(
    texts: Sequence[str], size: float, gap: float, padding: float = 0.0
) -> list[PlacedWord]:
    """Place texts side by side.

    >>> one, two = place_row(["turn", "left"], 10, gap=0.5)
    >>> round(two.left - one.right, 3)
    0.5
    """
    placed, left = [], 0.0
    for text in texts:
        width = max(text_width(text, size), 0.08) + padding
        placed.append(PlacedWord(text, left, left + width))
        left += width + gap
    return placed


def place_words(instruction: Instruction, size: float) -> list[PlacedWord]:
    """Place the words of a sentence, far enough apart for arcs and their names.

    >>> turn = Instruction(("pick", "up"), heads=(-1, 0), relations=("root", "compound:prt"))
    >>> one, two = place_words(turn, 10)
    >>> two.middle - one.middle > text_width("compound:prt", NAME_SIZE)
    True
    """
    words = instruction.tokens
    gap = 0.34 if len(words) <= 10 else 0.24 if len(words) <= 15 else 0.16
    placed: list[PlacedWord] = []
    shift = 0.0
    for position, word in enumerate(place_row(words, size, gap)):
        if position:
            for one, other in ((position, position - 1), (position - 1, position)):
                if instruction.heads[one] == other:
                    workspace = text_width(instruction.relations[one], NAME_SIZE) + 0.2
                    shift += max(0.0, placed[-1].middle + workspace - word.middle - shift)
        placed.append(PlacedWord(word.text, word.left + shift, word.right + shift))
    return placed


def arc_levels(instruction: Instruction) -> dict[int, int]:
    """Return for each word with a head how high its arc runs, so that arcs do not cross over.

    >>> turn = Instruction(("go", "to", "sofa"), heads=(-1, 2, 0), relations=("root", "a", "b"))
    >>> arc_levels(turn)
    {1: 1, 2: 2}
    """
    spans = {
        position: (min(position, head), max(position, head))
        for position, head in enumerate(instruction.heads)
        if head >= 0
    }
    return _levels(spans)


def _levels(spans: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Return how far out each arc runs: one more than any that it spans or overlaps."""
    levels: dict[int, int] = {}
    for key in sorted(spans, key=lambda each: (spans[each][1] - spans[each][0], each)):
        first, last = spans[key]
        inside = [
            level
            for other, level in levels.items()
            if spans[other][0] < last and first < spans[other][1]
        ]
        levels[key] = 1 + max(inside, default=0)
    return dict(sorted(levels.items()))


@dataclass(frozen=True)
class GraphArc:
    """A relation between two nodes that are drawn: their boxes, its name, how far out it runs."""

    source: NodeBox
    target: NodeBox
    name: str
    level: int


def graph_arcs(why: Explanation, boxes: Sequence[NodeBox]) -> list[GraphArc]:
    """Return the relations between the nodes that are drawn."""
    found: list[tuple[int, int, str]] = []
    for j in sorted({box.action for box in boxes}):
        place = {box.node: number for number, box in enumerate(boxes) if box.action == j}
        for source, target, labels in why.steps[j].graph.edges:
            if source in place and target in place and source != target:
                found.append((place[source], place[target], ", ".join(map(str, labels))))
    levels = _levels({i: (min(a, b), max(a, b)) for i, (a, b, _) in enumerate(found)})
    return [GraphArc(boxes[a], boxes[b], name, levels[i]) for i, (a, b, name) in enumerate(found)]


def choose_nodes(why: Explanation, sentence: int) -> list[NodeBox]:
    """Choose the nodes that the words of a sentence lie on, with the labels that matter."""
    boxes = []
    for place, step in enumerate(why.steps):
        weight: dict[str, float] = {}
        for link in step.links:
            if link.sentence == sentence:
                weight[link.node] = max(weight.get(link.node, 0.0), link.probability)
        chosen = [name for name in step.nodes if weight.get(name, 0.0) >= SEEN]
        boxes += [NodeBox(place, name, _labels(step, name)) for name in chosen]
    return boxes


def place_nodes(boxes: Sequence[NodeBox], name_size: float, label_size: float) -> list[NodeBox]:
    """Place boxes side by side, actions further apart than nodes."""
    placed, left = [], 0.0
    for number, box in enumerate(boxes):
        if number:
            left += 0.14 if boxes[number - 1].action == box.action else 0.4
        widths = [text_width(each, label_size) for each in box.labels]
        width = max([text_width(box.node, name_size, bold=True), *widths]) + 0.18
        width = max(width, 0.62)
        placed.append(NodeBox(box.action, box.node, box.labels, left, left + width))
        left += width
    return placed


def _labels(step: Step, node: str) -> tuple[str, ...]:
    """Return a node's labels as people read them, those that features fired on first."""
    if node in step.graph.node_names:
        labels = [(label.name, str(label)) for label in step.graph.labels(node)]
    else:  # one node for the whole action
        labels = [
            (f"{name}.{label.name}", f"{name}.{label}")
            for name in step.graph.node_names
            for label in step.graph.labels(name)
        ]
    strength: dict[str, float] = {}
    for each in step.text.features:
        right = each.feature.rpartition(" ∧ ")[2].rstrip("~").partition("=")[0]
        strength[right] = max(strength.get(right, 0.0), each.amount)

    def worth(name: str) -> float:
        return max(strength.get(name, 0.0), strength.get(f"{node}.{name}", 0.0))

    ranked = sorted(labels, key=lambda each: -worth(each[0]))
    read = [re.sub(r"\b[a-z]:", "", text) for _, text in ranked]
    shown = tuple(dict.fromkeys(read))
    return (
        shown
        if len(shown) <= LABELS
        else (*shown[: LABELS - 1], f"+{len(shown) - LABELS + 1} more")
    )
