"""Explanations as pictures: trees above, grounding graphs below, the alignment between.

The strip on top shows which text names which action (the paper's Figure 3); below it stands
one panel per sentence with its words on the nodes of their actions (Figure 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundling.explain.fonts import fonts_for
from groundling.explain.layout import (
    NAME_SIZE,
    NodeBox,
    PlacedWord,
    arc_levels,
    choose_nodes,
    graph_arcs,
    place_nodes,
    place_row,
    place_words,
    text_width,
)
from groundling.explain.parts import Step
from groundling.language.instruction import Instruction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from groundling.explain.explanation import Explanation

__all__ = ["RESOLUTION", "draw"]

RESOLUTION = 200
WIDTH = 9.0  # inches; a README shows it about 900 pixels wide
MARGIN = 0.25
INK, SOFT, PAPER, ADDED = "#24262b", "#7c808a", "#fcfbf8", "#d9480f"
COLORS = ("#1f5fbf", "#2b8a3e", "#8a3fa8", "#b3781a", "#0b7d85", "#b03060", "#5c6b1e", "#6b4f3a")
WORD_SIZE, SMALL, TINY = 10.5, 8.5, 7.5
LEVEL = 0.17  # inches from one level of arcs to the next
BETWEEN = 0.85  # from words to nodes
_BEHIND = {"boxstyle": "square,pad=0.12", "facecolor": PAPER, "edgecolor": "none"}


def draw(why: Explanation) -> Figure:
    """Draw an explanation, with fonts that have the letters of its words."""
    said = [word for each in why.instructions for word in each.tokens]
    with fonts_for([*said, *(step.action for step in why.steps)]):
        return _draw(why)


def _draw(why: Explanation) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = _sentences(why)
    words = [place_words(why.instructions[s], WORD_SIZE) for s in shown]
    boxes = [place_nodes(choose_nodes(why, s), SMALL, TINY) for s in shown]
    widths = [row[-1].right for row in words] + [row[-1].right for row in boxes if row]
    top = _strip_row(why, max(WIDTH - 2 * MARGIN, *widths))
    widths += [row[-1].right for row in top]
    width = max(WIDTH, max(widths) + 2 * MARGIN)
    heights = [
        _panel_height(arc_levels(why.instructions[s]), row, _deepest(why, row))
        for s, row in zip(shown, boxes, strict=True)
    ]
    strip = 2.05
    height = strip + sum(heights) + 0.15
    figure = Figure(figsize=(width, height), facecolor=PAPER)
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, width)
    ax.set_ylim(0, height)
    ax.set_axis_off()
    y = height
    _draw_strip(ax, why, top, width, y)
    y -= strip
    for s, row, nodes, size in zip(shown, words, boxes, heights, strict=True):
        ax.plot([MARGIN, width - MARGIN], [y, y], color="#e3e0d8", linewidth=1.0)
        _draw_panel(ax, why, s, row, nodes, width, y)
        y -= size
    return figure


def _color(place: int, step: Step) -> str:
    return COLORS[place % len(COLORS)] if step.asked else ADDED


def _sentences(why: Explanation) -> list[int]:
    return list(range(len(why.instructions)))


# ---- the strip: text to actions ---------------------------------------------------------


def _strip_row(why: Explanation, room: float) -> tuple[list[PlacedWord], list[PlacedWord]]:
    """Place the units (or the sentences, where every word is a unit) and the actions.

    Long units are cut until all fit into the room that the panels take anyway.
    """
    if _by_word(why):
        said = [" ".join(each.tokens) for each in why.instructions]
    else:
        said = [unit.text for unit in why.units]
    for limit in (52, 40, 32, 26, 20, 15):
        units = place_row([_short(each, limit) for each in said], SMALL + 1, 0.34, 0.22)
        if units[-1].right <= room:
            break
    names = [_name(place, step) for place, step in enumerate(why.steps)]
    return units, place_row(names, SMALL + 1, 0.6, 0.22)


def _by_word(why: Explanation) -> bool:
    return all(len(unit.words) == 1 for unit in why.units)


def _name(place: int, step: Step) -> str:
    return f"{place + 1}  {step.action}"


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _draw_strip(
    ax: Axes, why: Explanation, rows: Sequence[list[PlacedWord]], width: float, y: float
) -> None:
    ax.text(
        MARGIN, y - 0.2, "which text names which action", fontsize=SMALL, color=SOFT, va="center"
    )
    plan = why.plan
    ax.text(
        width - MARGIN, y - 0.2, f"confidence {plan.confidence:.2f}", fontsize=SMALL, color=SOFT,
        va="center", ha="right",
    )  # fmt: skip
    above, below = y - 0.52, y - 1.45
    said = _centred(rows[0], width)
    done = _centred(rows[1], width)
    for i, unit in enumerate(said):
        for j, step in enumerate(why.steps):
            probability = _named(why, i, j)
            _line(ax, unit.middle, above - 0.16, done[j].middle, below + 0.17,
                  probability, _color(j, step))  # fmt: skip
        _box(ax, unit, above, 0.32, "white", "#b9bcc4", INK, SMALL + 1, solid=True)
    for j, (step, box) in enumerate(zip(why.steps, done, strict=True)):
        color = _color(j, step)
        if step.asked:
            _box(ax, box, below, 0.34, color, color, "white", SMALL + 1, solid=True, bold=True)
        else:
            _box(ax, box, below, 0.34, "white", color, color, SMALL + 1, solid=False, bold=True)
            ax.text(box.middle, below - 0.3, "nobody asked for it", fontsize=TINY + 0.5,
                    color=color, ha="center", va="center", style="italic")  # fmt: skip


def _named(why: Explanation, place: int, action: int) -> float:
    if _by_word(why):
        return float(why.sentence_shares()[place, action])
    unit = why.units[place]
    for cause in why.steps[action].causes:
        if cause.unit == unit:
            return cause.probability
    return 0.0


def _centred(row: list[PlacedWord], width: float) -> list[PlacedWord]:
    shift = (width - row[-1].right) / 2
    return [PlacedWord(each.text, each.left + shift, each.right + shift) for each in row]


# ---- a panel: words to nodes ------------------------------------------------------------


def _deepest(why: Explanation, nodes: list[NodeBox]) -> int:
    return max((arc.level for arc in graph_arcs(why, nodes)), default=0)


def _panel_height(levels: dict[int, int], nodes: list[NodeBox], deepest: int) -> float:
    tree = 0.3 + LEVEL * max(levels.values(), default=0)
    tallest = max((box.height for box in nodes), default=0.2)
    return tree + 0.3 + BETWEEN + tallest + LEVEL * deepest + 0.62


def _draw_panel(
    ax: Axes,
    why: Explanation,
    sentence: int,
    words: list[PlacedWord],
    nodes: list[NodeBox],
    width: float,
    y: float,
) -> None:
    words = _centred(words, width)
    baseline = _draw_tree(ax, why.instructions[sentence], words, y)
    if not nodes:
        ax.text(width / 2, baseline - 0.8, "names no action", fontsize=SMALL, color=SOFT,
                ha="center", style="italic")  # fmt: skip
    shift = (width - nodes[-1].right) / 2 if nodes else 0.0
    top = baseline - 0.13 - BETWEEN
    middles = {(box.action, box.node): box.middle + shift for box in nodes}
    for j, step in enumerate(why.steps):
        for link in step.links:
            where = middles.get((j, link.node))
            if link.sentence == sentence and where is not None:
                _line(ax, words[link.position].middle, baseline - 0.13, where, top,
                      link.probability, _color(j, step))  # fmt: skip
    _draw_nodes(ax, why, nodes, shift, top)


def _draw_tree(ax: Axes, instruction: Instruction, words: list[PlacedWord], y: float) -> float:
    """Draw words and dependencies below a height; return the height of the words."""
    levels = arc_levels(instruction)
    baseline = y - 0.38 - LEVEL * max(levels.values(), default=0)
    for position, level in levels.items():
        head = instruction.heads[position]
        _arc(ax, words[head].middle, words[position].middle, baseline + 0.13, LEVEL * level,
             instruction.relations[position], arrow=True)  # fmt: skip
    for word in words:
        ax.text(word.middle, baseline, word.text, fontsize=WORD_SIZE, color=INK, ha="center",
                va="center", zorder=5)  # fmt: skip
    return baseline


def _draw_nodes(ax: Axes, why: Explanation, nodes: list[NodeBox], shift: float, top: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    tallest = max((box.height for box in nodes), default=0.0)
    for box in nodes:
        color = _color(box.action, why.steps[box.action])
        ax.add_patch(
            FancyBboxPatch(
                (box.left + shift, top - tallest), box.right - box.left, tallest,
                boxstyle="round,pad=0,rounding_size=0.06", facecolor="white", edgecolor=color,
                linewidth=1.3, zorder=4,
            )
        )  # fmt: skip
        ax.text(box.middle + shift, top - 0.12, box.node, fontsize=SMALL, color=color,
                ha="center", va="center", weight="bold", zorder=5)  # fmt: skip
        for line, label in enumerate(box.labels):
            ax.text(box.middle + shift, top - 0.28 - 0.145 * line, label, fontsize=TINY,
                    color=INK, ha="center", va="center", zorder=5)  # fmt: skip
    bottom = top - tallest
    for arc in graph_arcs(why, nodes):
        _arc(ax, arc.source.middle + shift, arc.target.middle + shift, bottom,
             -0.04 - LEVEL * arc.level, arc.name, arrow=True)  # fmt: skip
    below = bottom - 0.26 - LEVEL * _deepest(why, nodes)
    for j in sorted({box.action for box in nodes}):
        group = [box for box in nodes if box.action == j]
        step, middle = why.steps[j], (group[0].left + group[-1].right) / 2 + shift
        ax.text(middle, below, _name(j, step), fontsize=SMALL + 1, color=_color(j, step),
                ha="center", va="center", weight="bold")  # fmt: skip
        drawn = {box.node for box in group}
        rest = [name for name in step.graph.node_names if name not in drawn]
        said = "not spoken of: " + ", ".join(rest)
        room = group[-1].right - group[0].left + 0.4
        if rest and len(step.nodes) > 1 and text_width(said, TINY) < room:
            ax.text(middle, below - 0.17, said, fontsize=TINY, color=SOFT, ha="center",
                    va="center")  # fmt: skip


# ---- strokes ----------------------------------------------------------------------------


def _line(
    ax: Axes, x: float, y: float, to_x: float, to_y: float, probability: float, color: str
) -> None:
    """Draw an alignment, thicker and darker the more probable it is."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if probability < 0.06:
        return
    bend = (y - to_y) * 0.45
    curve = Path(
        [(x, y), (x, y - bend), (to_x, to_y + bend), (to_x, to_y)],
        [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
    )
    ax.add_patch(
        PathPatch(curve, facecolor="none", edgecolor=color, linewidth=0.5 + 3.2 * probability,
                  alpha=0.12 + 0.78 * probability, zorder=3, capstyle="round")
    )  # fmt: skip


def _arc(
    ax: Axes, x: float, to_x: float, y: float, height: float, name: str, *, arrow: bool
) -> None:
    """Draw a relation as a bracket with round corners; below the line for negative heights."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    way = 1 if to_x > x else -1
    start = x + way * 0.05
    corner = min(0.1, abs(to_x - start) / 2, abs(height) * 0.8)
    up = corner if height > 0 else -corner
    top = y + height
    curve = Path(
        [
            (start, y), (start, top - up), (start, top), (start + way * corner, top),
            (to_x - way * corner, top), (to_x, top), (to_x, top - up), (to_x, y),
        ],
        [
            Path.MOVETO, Path.LINETO, Path.CURVE3, Path.CURVE3,
            Path.LINETO, Path.CURVE3, Path.CURVE3, Path.LINETO,
        ],
    )  # fmt: skip
    ax.add_patch(
        FancyArrowPatch(path=curve, arrowstyle="-|>" if arrow else "-", mutation_scale=6,
                        color=SOFT, linewidth=0.9, zorder=2)
    )  # fmt: skip
    ax.text((start + to_x) / 2, top, name, fontsize=NAME_SIZE, color="#555964", ha="center",
            va="center", zorder=6, bbox=_BEHIND)  # fmt: skip


def _box(
    ax: Axes,
    word: PlacedWord,
    y: float,
    height: float,
    face: str,
    edge: str,
    ink: str,
    size: float,
    *,
    solid: bool,
    bold: bool = False,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    ax.add_patch(
        FancyBboxPatch(
            (word.left, y - height / 2), word.right - word.left, height,
            boxstyle="round,pad=0,rounding_size=0.07", facecolor=face, edgecolor=edge,
            linewidth=1.4, linestyle="-" if solid else (0, (3, 2)), zorder=4,
        )
    )  # fmt: skip
    ax.text(word.middle, y, word.text, fontsize=size, color=ink, ha="center", va="center",
            weight="bold" if bold else "normal", zorder=5)  # fmt: skip
