"""Explanations as pictures: dependency trees, grounding graphs and alignments.

The strip at the top shows which text names which action (Figure 3 of the paper). Below it, each
sentence has a panel, in which its words are linked to nodes of actions (Figure 2). Lengths are in
inches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from groundling.explain.explanation import ExplainedStep
from groundling.language.instruction import Instruction
from groundling.svg import Canvas, font_files

if TYPE_CHECKING:
    from groundling.explain.explanation import Explanation

SEEN = 0.15  # minimum probability of a drawn node
LABELS = 4
NAME_SIZE = 7.0  # font size of relations, in points


@dataclass(frozen=True)
class PlacedWord:
    """A string and its horizontal position."""

    text: str
    left: float
    right: float

    @property
    def middle(self) -> float:
        """The horizontal middle of the string."""
        return (self.left + self.right) / 2


@dataclass(frozen=True)
class NodeBox:
    """A node of an action's graph, drawn as a box with some of its labels."""

    action: int
    node: str
    labels: tuple[str, ...]
    left: float = 0.0
    right: float = 0.0

    @property
    def middle(self) -> float:
        """The horizontal middle of the box."""
        return (self.left + self.right) / 2

    @property
    def height(self) -> float:
        """The height of the box with its labels."""
        return 0.26 + 0.145 * len(self.labels)


@lru_cache(maxsize=2)
def _font(bold: bool) -> Any:
    from PIL import ImageFont

    return ImageFont.truetype(font_files()[bold], 100)


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a string in inches, for a font size in points.

    >>> text_width("wide", 10) > text_width("w", 10) > 0
    True
    """
    return float(_font(bold).getlength(text)) * size / 7200


def place_row(
    texts: Sequence[str], size: float, gap: float, padding: float = 0.0
) -> list[PlacedWord]:
    """Place strings next to each other in a row.

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
    """Place the words of a sentence, with space for dependency arcs and their names.

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
                    room = text_width(instruction.relations[one], NAME_SIZE) + 0.2
                    shift += max(0.0, placed[-1].middle + room - word.middle - shift)
        placed.append(PlacedWord(word.text, word.left + shift, word.right + shift))
    return placed


def arc_levels(instruction: Instruction) -> dict[int, int]:
    """Return the height of each word's dependency arc, as a level from 1.

    An arc is one level above all arcs that it spans or overlaps.

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
    """A drawn relation between two nodes, with its name and its height as a level."""

    source: NodeBox
    target: NodeBox
    name: str
    level: int


def graph_arcs(why: Explanation, boxes: Sequence[NodeBox]) -> list[GraphArc]:
    """Return the relations between drawn nodes."""
    found: list[tuple[int, int, str]] = []
    for j in sorted({box.action for box in boxes}):
        place = {box.node: number for number, box in enumerate(boxes) if box.action == j}
        for source, target, labels in why.steps[j].graph.edges:
            if source in place and target in place and source != target:
                found.append((place[source], place[target], ", ".join(map(str, labels))))
    levels = _levels({i: (min(a, b), max(a, b)) for i, (a, b, _) in enumerate(found)})
    return [GraphArc(boxes[a], boxes[b], name, levels[i]) for i, (a, b, name) in enumerate(found)]


def choose_nodes(why: Explanation, sentence: int) -> list[NodeBox]:
    """Choose the nodes with which a sentence aligns, and their most important labels."""
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
    """Place boxes in a row, with more space between actions than between nodes."""
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


def _labels(step: ExplainedStep, node: str) -> tuple[str, ...]:
    """Return the labels of a node as strings; those with active features come first."""
    if node in step.graph.node_names:
        labels = [(label.name, str(label)) for label in step.graph.labels(node)]
    else:  # the whole action is one node
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


WIDTH = 9.0  # inches; about 900 pixels wide in a README
MARGIN = 0.25
INK, SOFT, PAPER, ADDED = "#24262b", "#7c808a", "#fcfbf8", "#d9480f"
COLORS = ("#1f5fbf", "#2b8a3e", "#8a3fa8", "#b3781a", "#0b7d85", "#b03060", "#5c6b1e", "#6b4f3a")
WORD_SIZE, SMALL, TINY = 10.5, 8.5, 7.5
LEVEL = 0.17  # inches between levels of arcs
BETWEEN = 0.85  # inches between words and nodes
_INCH = 100.0  # drawing units per inch
_POINT = _INCH / 72
LINES, BOXES, WORDS, NAMES = range(4)  # layers from bottom to top


class Sheet:
    """A drawing in layers, with coordinates in inches from the lower left corner.

    >>> sheet = Sheet(2.0, 1.0)
    >>> sheet.text(1.0, 0.5, "go", 10.0)
    >>> ">go</text>" in str(sheet)
    True
    """

    def __init__(self, width: float, height: float) -> None:
        self.height = height
        self.canvas = Canvas(0, 0, width * _INCH, height * _INCH)
        self.canvas.root.set("width", f"{width * _INCH:g}")
        self.canvas.root.set("height", f"{height * _INCH:g}")
        self.canvas.add("rect", width=width * _INCH, height=height * _INCH, fill=PAPER)
        self.layers = [
            self.canvas.add("g", font_family="DejaVu Sans, sans-serif") for _ in range(4)
        ]

    def at(self, x: float, y: float) -> str:
        """Return a point in the syntax of SVG paths."""
        return f"{x * _INCH:.1f} {(self.height - y) * _INCH:.1f}"

    def text(
        self, x: float, y: float, words: str, size: float, color: str = INK, layer: int = WORDS,
        *, anchor: str = "middle", bold: bool = False, italic: bool = False,
    ) -> None:  # fmt: skip
        """Draw text centred at height y, with a halo that hides lines behind it."""
        behind = {"stroke": PAPER, "stroke_width": 6, "paint_order": "stroke"}
        self.canvas.text(
            x * _INCH, (self.height - y) * _INCH + 0.35 * size * _POINT, words,
            self.layers[layer], font_size=size * _POINT, fill=color, text_anchor=anchor,
            font_weight="bold" if bold else None, font_style="italic" if italic else None,
            **(behind if layer == NAMES else {}),
        )  # fmt: skip

    def path(self, way: str, color: str, wide: float, opacity: float = 1.0) -> None:
        """Draw a line; its width is in points."""
        self.canvas.add(
            "path", self.layers[LINES], d=way, fill="none", stroke=color, stroke_opacity=opacity,
            stroke_width=wide * _POINT, stroke_linecap="round",
        )  # fmt: skip

    def box(
        self, left: float, right: float, top: float, height: float, edge: str,
        face: str = "white", dashed: bool = False,
    ) -> None:  # fmt: skip
        """Draw a box with rounded corners."""
        self.canvas.add(
            "rect", self.layers[BOXES], x=left * _INCH, y=(self.height - top) * _INCH,
            width=(right - left) * _INCH, height=height * _INCH, rx=6.5, fill=face, stroke=edge,
            stroke_width=1.35 * _POINT, stroke_dasharray="5 4" if dashed else None,
        )  # fmt: skip

    def __str__(self) -> str:
        return str(self.canvas)


def draw(why: Explanation) -> str:
    """Return an SVG drawing of an explanation: a strip, and a panel for each sentence."""
    sentences = range(len(why.instructions))
    words = [place_words(each, WORD_SIZE) for each in why.instructions]
    boxes = [place_nodes(choose_nodes(why, s), SMALL, TINY) for s in sentences]
    widths = [row[-1].right for row in words] + [row[-1].right for row in boxes if row]
    top = strip_rows(why, max(WIDTH - 2 * MARGIN, *widths))
    width = max(WIDTH, 2 * MARGIN + max(*widths, *(row[-1].right for row in top)))
    heights = [panel_height(why, s, row) for s, row in zip(sentences, boxes, strict=True)]
    strip = 2.05
    y = strip + sum(heights) + 0.15
    sheet = Sheet(width, y)
    draw_strip(sheet, why, top, width, y)
    y -= strip
    for s, row, nodes, size in zip(sentences, words, boxes, heights, strict=True):
        sheet.path(f"M{sheet.at(MARGIN, y)} L{sheet.at(width - MARGIN, y)}", "#e3e0d8", 1.0)
        draw_panel(sheet, why, s, row, nodes, width, y)
        y -= size
    return str(sheet)


def _color(place: int, step: ExplainedStep) -> str:
    return COLORS[place % len(COLORS)] if step.asked else ADDED


# ---- the strip: text above, actions below ----------------------------------------------


def strip_rows(why: Explanation, room: float) -> tuple[list[PlacedWord], list[PlacedWord]]:
    """Return the units of text and the actions, placed in two rows.

    If every word is a unit, the strip shows whole sentences. Long texts are truncated.
    """
    whole = [" ".join(each.tokens) for each in why.instructions]
    said = whole if _by_word(why) else [unit.text for unit in why.units]
    for limit in (52, 40, 32, 26, 20, 15):
        units = place_row([_short(each, limit) for each in said], SMALL + 1, 0.34, 0.22)
        if units[-1].right <= room:
            break
    names = [_name(place, step) for place, step in enumerate(why.steps)]
    return units, place_row(names, SMALL + 1, 0.6, 0.22)


def _by_word(why: Explanation) -> bool:
    return all(len(unit.words) == 1 for unit in why.units)


def _name(place: int, step: ExplainedStep) -> str:
    return f"{place + 1}  {step.action}"


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def draw_strip(
    sheet: Sheet, why: Explanation, rows: Sequence[list[PlacedWord]], width: float, y: float
) -> None:
    """Draw the strip: units of text, the actions below them, and curves in between."""
    sheet.text(MARGIN, y - 0.2, "which text names which action", SMALL, SOFT, anchor="start")
    sheet.text(width - MARGIN, y - 0.2, f"confidence {why.plan.confidence:.2f}", SMALL, SOFT,
               anchor="end")  # fmt: skip
    above, below = y - 0.52, y - 1.45
    said, done = (centred(row, width) for row in rows)
    for i, unit in enumerate(said):
        for j, step in enumerate(why.steps):
            _line(sheet, unit.middle, above - 0.16, done[j].middle, below + 0.17,
                  _named(why, i, j), _color(j, step))  # fmt: skip
        sheet.box(unit.left, unit.right, above + 0.16, 0.32, "#b9bcc4")
        sheet.text(unit.middle, above, unit.text, SMALL + 1)
    for j, (step, box) in enumerate(zip(why.steps, done, strict=True)):
        color = _color(j, step)
        face, ink = (color, "white") if step.asked else ("white", color)
        sheet.box(box.left, box.right, below + 0.17, 0.34, color, face, dashed=not step.asked)
        sheet.text(box.middle, below, box.text, SMALL + 1, ink, bold=True)
        if not step.asked:
            sheet.text(box.middle, below - 0.3, "not mentioned", TINY + 0.5, color,
                       italic=True)  # fmt: skip


def _named(why: Explanation, place: int, action: int) -> float:
    if _by_word(why):
        return float(why.sentence_shares()[place, action])
    causes = why.steps[action].causes
    return next((each.probability for each in causes if each.unit == why.units[place]), 0.0)


def centred(row: list[PlacedWord], width: float) -> list[PlacedWord]:
    """Return a row of words, centred within the given width."""
    shift = (width - row[-1].right) / 2
    return [PlacedWord(each.text, each.left + shift, each.right + shift) for each in row]


# ---- a panel: the tree above its words, the nodes below --------------------------------


def _deepest(why: Explanation, nodes: list[NodeBox]) -> int:
    return max((arc.level for arc in graph_arcs(why, nodes)), default=0)


def panel_height(why: Explanation, sentence: int, nodes: list[NodeBox]) -> float:
    """Return the height of a sentence with its dependency tree and nodes."""
    levels = arc_levels(why.instructions[sentence])
    tree = 0.3 + LEVEL * max(levels.values(), default=0)
    tallest = max((box.height for box in nodes), default=0.2)
    return tree + 0.3 + BETWEEN + tallest + LEVEL * _deepest(why, nodes) + 0.62


def draw_panel(
    sheet: Sheet, why: Explanation, sentence: int, words: list[PlacedWord], nodes: list[NodeBox],
    width: float, y: float,
) -> None:  # fmt: skip
    """Draw a sentence above the nodes with which it aligns."""
    words = centred(words, width)
    baseline = draw_tree(sheet, why.instructions[sentence], words, y)
    if not nodes:
        sheet.text(width / 2, baseline - 0.8, "names no action", SMALL, SOFT, italic=True)
    shift = (width - nodes[-1].right) / 2 if nodes else 0.0
    top = baseline - 0.13 - BETWEEN
    middles = {(box.action, box.node): box.middle + shift for box in nodes}
    for j, step in enumerate(why.steps):
        for link in step.links:
            where = middles.get((j, link.node))
            if link.sentence == sentence and where is not None:
                _line(sheet, words[link.position].middle, baseline - 0.13, where, top,
                      link.probability, _color(j, step))  # fmt: skip
    draw_nodes(sheet, why, nodes, shift, top)


def draw_tree(sheet: Sheet, instruction: Instruction, words: list[PlacedWord], y: float) -> float:
    """Draw words with their dependencies above them; return the baseline of the words."""
    levels = arc_levels(instruction)
    baseline = y - 0.38 - LEVEL * max(levels.values(), default=0)
    for position, level in levels.items():
        head = instruction.heads[position]
        _arc(sheet, words[head].middle, words[position].middle, baseline + 0.13, LEVEL * level,
             instruction.relations[position])  # fmt: skip
    for word in words:
        sheet.text(word.middle, baseline, word.text, WORD_SIZE)
    return baseline


def draw_nodes(
    sheet: Sheet, why: Explanation, nodes: list[NodeBox], shift: float, top: float
) -> None:
    """Draw nodes and their relations, and below them the names of their actions."""
    tallest = max((box.height for box in nodes), default=0.0)
    for box in nodes:
        color = _color(box.action, why.steps[box.action])
        sheet.box(box.left + shift, box.right + shift, top, tallest, color)
        sheet.text(box.middle + shift, top - 0.12, box.node, SMALL, color, bold=True)
        for line, label in enumerate(box.labels):
            sheet.text(box.middle + shift, top - 0.28 - 0.145 * line, label, TINY)
    bottom = top - tallest
    for arc in graph_arcs(why, nodes):
        _arc(sheet, arc.source.middle + shift, arc.target.middle + shift, bottom,
             -0.04 - LEVEL * arc.level, arc.name)  # fmt: skip
    below = bottom - 0.26 - LEVEL * _deepest(why, nodes)
    for j in sorted({box.action for box in nodes}):
        group = [box for box in nodes if box.action == j]
        step, middle = why.steps[j], (group[0].left + group[-1].right) / 2 + shift
        sheet.text(middle, below, _name(j, step), SMALL + 1, _color(j, step), bold=True)
        drawn = {box.node for box in group}
        rest = [name for name in step.graph.node_names if name not in drawn]
        said = "not mentioned: " + ", ".join(rest)
        room = group[-1].right - group[0].left + 0.4
        if rest and len(step.nodes) > 1 and text_width(said, TINY) < room:
            sheet.text(middle, below - 0.17, said, TINY, SOFT)


def _line(
    sheet: Sheet, x: float, y: float, to_x: float, to_y: float, probability: float, color: str
) -> None:
    """Draw a curve whose width shows a probability, unless the probability is low."""
    if probability < 0.06:
        return
    bend, at = (y - to_y) * 0.45, sheet.at
    way = f"M{at(x, y)} C{at(x, y - bend)} {at(to_x, to_y + bend)} {at(to_x, to_y)}"
    sheet.path(way, color, 0.5 + 3.2 * probability, 0.12 + 0.78 * probability)


def _arc(sheet: Sheet, x: float, to_x: float, y: float, height: float, name: str) -> None:
    """Draw an arc with rounded corners, an arrow at the end and the name on top."""
    way = 1 if to_x > x else -1
    start = x + way * 0.05
    corner = min(0.1, abs(to_x - start) / 2, abs(height) * 0.8)
    up = corner if height > 0 else -corner
    top, at, tip = y + height, sheet.at, 0.07 if height > 0 else -0.07
    sheet.path(
        f"M{at(start, y)} L{at(start, top - up)} Q{at(start, top)} {at(start + way * corner, top)} "
        f"L{at(to_x - way * corner, top)} Q{at(to_x, top)} {at(to_x, top - up)} L{at(to_x, y)} "
        f"M{at(to_x - 0.025, y + tip)} L{at(to_x, y)} L{at(to_x + 0.025, y + tip)}",
        SOFT, 0.9,
    )  # fmt: skip
    sheet.text((start + to_x) / 2, top, name, NAME_SIZE, "#555964", NAMES)
