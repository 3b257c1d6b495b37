"""Explanations as pictures: trees above, grounding graphs below, the alignment between.

The strip on top shows which text names which action (the paper's Figure 3); below it stands
one panel per sentence with its words on the nodes of their actions (Figure 2).
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from groundling.errors import GlyphWarning
from groundling.explain.explanation import Step
from groundling.language.instruction import Instruction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from groundling.explain.explanation import Explanation


_MOST_SHOWN = 8


def families_for(texts: Iterable[str]) -> tuple[list[str], str]:
    """Return font families that have the glyphs of texts between them, and what is missing.

    The usual family comes first; others are added only for what it lacks.

    >>> families_for(["turn left"])
    (['DejaVu Sans'], '')
    """
    wanted = {c for text in texts for c in text if not c.isspace() and c.isprintable()}
    families = ["DejaVu Sans"]
    missing = wanted - _glyphs("DejaVu Sans", wanted)
    if missing:
        from matplotlib.font_manager import fontManager

        for family in sorted(set(fontManager.get_font_names()) - {"DejaVu Sans", "Last Resort"}):
            found = _glyphs(family, missing)
            if found:
                families.append(family)
                missing -= found
            if not missing:
                break
    return families, "".join(sorted(missing))


@contextmanager
def fonts_for(texts: Iterable[str]) -> Iterator[None]:
    """Draw with fonts that have the glyphs of texts; say what to install if there are none.

    >>> with fonts_for(["turn left"]):
    ...     pass
    """
    from matplotlib import rc_context

    families, missing = families_for(texts)
    if missing:
        scripts = sorted({unicodedata.name(each, "UNKNOWN").split()[0] for each in missing})
        warnings.warn(
            f"No installed font has {missing[:_MOST_SHOWN]!r} ({', '.join(scripts)}); pictures "
            "show boxes instead. Install a font for it, such as one of the Noto family (Debian: "
            "fonts-noto-core, fonts-noto-cjk).",
            GlyphWarning,
            stacklevel=4,
        )
    with rc_context({"font.family": families}), quiet_glyphs():
        yield


@contextmanager
def quiet_glyphs() -> Iterator[None]:
    """Keep matplotlib from telling of every missing glyph, after `fonts_for` has told once.

    >>> with quiet_glyphs():
    ...     pass
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _glyphs(family: str, wanted: Iterable[str]) -> set[str]:
    known = _characters(family)
    return {each for each in wanted if ord(each) in known}


@lru_cache(maxsize=256)
def _characters(family: str) -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        path = findfont(FontProperties(family=family), fallback_to_default=False)
        return frozenset(get_font(path).get_charmap())
    except (ValueError, RuntimeError, OSError):  # a font that matplotlib cannot read
        return frozenset()


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
                    room = text_width(instruction.relations[one], NAME_SIZE) + 0.2
                    shift += max(0.0, placed[-1].middle + room - word.middle - shift)
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
