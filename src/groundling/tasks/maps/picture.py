"""Pictures of a map: landmarks, the true route, the predicted one, and why a step was taken."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling.errors import SettingError
from groundling.tasks.maps.landscape import Landscape, Point, visited_landmarks
from groundling.tasks.maps.mapfile import MapSheet
from groundling.tasks.maps.metrics import score_path, transitions
from groundling.tasks.maps.scan import place_scan, read_scan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Cause", "draw_map"]

_INK, _PALE, _PAPER, _SHAPE = "#22313f", "#7f8c8d", "#fdfcf8", "#ece5d3"
_ROUTE, _RIGHT, _WRONG, _CHOSEN = "#7cc29a", "#1f6fb2", "#c8452f", "#f5b82e"
_MARGIN = 45.0  # pixels of paper around the landmarks
_BOW = 0.12  # how far arrows are bent, so that there and back stay apart
# in inches
_WIDTH, _CHART, _EDGE, _HEAD, _FOOT = 10.0, 6.7, 0.2, 0.65, 1.15
_NAME = 9.5  # points, the size of names on the map
# where a name may stand: below, above, beside, at the corners, and farther below and above
_AROUND: tuple[Point, ...] = (
    *((0, 1), (0, -1), (1, 0), (-1, 0), (0.7, 1), (-0.7, 1), (0.7, -1), (-0.7, -1)),
    *((0, 2), (0, -2)),
)


@dataclass(frozen=True)
class Cause:
    """Why a step was taken: the sentence, and the words of it that mattered.

    Parameters
    ----------
    step
        The number of the step; the first is 1.
    sentence
        The sentence that it was aligned with.
    words
        The positions of the words that caused it, or a mapping from positions to how
        much each mattered, at most 1.
    speaker
        Who said it, for the caption.

    Examples
    --------
    >>> Cause(2, "head down to the old mill", words=[1, 4, 5]).strengths
    {1: 1.0, 4: 1.0, 5: 1.0}
    """

    step: int
    sentence: str
    words: Mapping[int, float] | Collection[int] = ()
    speaker: str = ""

    @property
    def strengths(self) -> dict[int, float]:
        """How much each word mattered, from 0 to 1."""
        if isinstance(self.words, Mapping):
            return {place: min(1.0, max(0.0, float(how))) for place, how in self.words.items()}
        return dict.fromkeys(self.words, 1.0)


def draw_map(
    sheet: MapSheet,
    predicted: Iterable[Any] = (),
    *,
    cause: Cause | None = None,
    scan: str | Path | None = None,
    title: str = "",
) -> Figure:
    """Draw a map, its route, and the way that was predicted.

    Parameters
    ----------
    sheet
        The map with its true route.
    predicted
        The predicted path, from the start on: keys of landmarks, or steps, actions or
        states. Steps between sides of one landmark are not drawn and not counted.
    cause
        A step to highlight, with the sentence and words that caused it.
    scan
        The scanned map, to be put behind (`Corpus.image` finds it).
    title
        What to write above; by default the map's number.

    Returns
    -------
    Figure
        A matplotlib figure; write it to a file with its `savefig`.

    Examples
    --------
    >>> from groundling.tasks.maps.generator import generate_map
    >>> sheet = generate_map(seed=5)
    >>> figure = draw_map(sheet, visited_landmarks(sheet.steps)[:4])
    >>> len(figure.axes)
    2
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    keys = _keys(sheet.landscape, predicted)
    moves = list(pairwise(keys))
    if cause is not None and not 1 <= cause.step <= len(moves):
        raise SettingError(
            f"There is no step {cause.step}: the predicted path has {len(moves)} steps."
        )
    chosen = 0 if cause is None else cause.step
    right = _right(moves, visited_landmarks(sheet.steps))
    west, east, north, south = _bounds(sheet)
    tall = max(4.0, _CHART * (south - north) / (east - west))
    foot = _FOOT if cause else _EDGE
    height = _HEAD + tall + foot
    figure = Figure(figsize=(_WIDTH, height), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)
    chart = figure.add_axes((_EDGE / _WIDTH, foot / height, _CHART / _WIDTH, tall / height))
    beside = (_EDGE + _CHART + 0.2) / _WIDTH
    side = figure.add_axes((beside, foot / height, 0.985 - beside, tall / height))
    figure.text(
        _EDGE / _WIDTH, 1 - 0.36 / height, title or f"Map {sheet.number}",
        size=16, weight="bold", color=_INK, va="center",
    )  # fmt: skip

    _paper(chart, sheet, scan)
    xs, ys = zip(*sheet.route, strict=True)
    chart.plot(xs, ys, color=_ROUTE, lw=7, alpha=0.7, zorder=2, solid_capstyle="round")
    for number, (here, there) in enumerate(moves, 1):
        _arrow(chart, sheet.landscape, here, there, right[number - 1], number == chosen)
    bows = [_bow(sheet.landscape, *move) for move in moves]
    lines = [*sheet.route, *(point for bow in bows for point in bow)]
    scale = (south - north) / (tall * 72)  # pixels of the map per point of print
    for key, place in _label_places(sheet, lines, scale).items():
        _landmark(chart, sheet, key, place, visited=key in keys, boxed=scan is not None)
    for number, place in enumerate(_badge_places(bows), 1):
        _badge(chart, place, number, right[number - 1], number == chosen)
    _list(side, sheet, keys, right, chosen)
    if cause is not None:
        _caption(figure, cause, moves[chosen - 1])
    return figure


def _keys(landscape: Landscape, predicted: Iterable[Any]) -> tuple[str, ...]:
    keys: list[str] = []
    for place in predicted:
        key = place if isinstance(place, str) else place.landmark
        landscape.place(key)  # an unknown landmark is an error
        if keys[-1:] != [key]:
            keys.append(key)
    return tuple(keys)


def _right(moves: Sequence[tuple[str, str]], truth: Sequence[str]) -> list[bool]:
    """Tell which moves are in the reference, each as often as it is there."""
    left = transitions(truth)
    right = []
    for move in moves:
        right.append(left[move] > 0)
        left[move] -= 1
    return right


def _bounds(sheet: MapSheet) -> tuple[float, float, float, float]:
    """Return the west, east, north and south edges of what is drawn, in the map's pixels."""
    points = [*(each.position for each in sheet.landscape.landmarks), *sheet.route]
    xs, ys = zip(*points, strict=True)
    return min(xs) - _MARGIN, max(xs) + _MARGIN, min(ys) - _MARGIN, max(ys) + _MARGIN


def _paper(chart: Axes, sheet: MapSheet, scan: str | Path | None) -> None:
    west, east, north, south = _bounds(sheet)
    if scan is None:
        for each in sheet.landscape.landmarks:
            if len(each.outline) > 2:
                corners = list(zip(*each.outline, strict=True))
                chart.fill(*corners, facecolor=_SHAPE, edgecolor="none", zorder=1)
        if sheet.finish is not None:
            chart.plot(*sheet.finish.position, "X", ms=9, mew=0, color=_PALE, zorder=5)
            chart.annotate(
                "finish", sheet.finish.position, (0, -15), textcoords="offset points", ha="center",
                size=_NAME, style="italic", color=_PALE, zorder=6,
            )  # fmt: skip
    else:
        grey = read_scan(scan)
        edges = place_scan(grey < 0.5, sheet.route).extent(grey.shape[1], grey.shape[0])
        extent = (edges[0], edges[1], edges[3], edges[2])
        chart.imshow(grey, cmap="gray", vmin=0, vmax=1, extent=extent, alpha=0.4, zorder=0)
    chart.set_xlim(west, east)
    chart.set_ylim(south, north)  # y grows towards the south
    chart.set(xticks=[], yticks=[], facecolor=_PAPER if scan is None else "white")
    chart.set_aspect("equal", anchor="NW")
    for spine in chart.spines.values():
        spine.set_color("#d5d8dc")


def _bow(landscape: Landscape, here: str, there: str) -> list[Point]:
    """Return points along the bent arrow between two landmarks, which stops short of both."""
    a, b = landscape[here], landscape[there]
    # the control point of a quadratic curve, to the right of the way
    x, y = (a.x + b.x) / 2 - _BOW * (b.y - a.y), (a.y + b.y) / 2 + _BOW * (b.x - a.x)
    length = max(1.0, math.dist(a.position, b.position))
    gap = min(0.25, 12 / length)
    shares = [gap + (1 - 2 * gap) * number / 24 for number in range(25)]
    return [
        (
            (1 - s) ** 2 * a.x + 2 * s * (1 - s) * x + s**2 * b.x,
            (1 - s) ** 2 * a.y + 2 * s * (1 - s) * y + s**2 * b.y,
        )
        for s in shares
    ]


def _arrow(
    chart: Axes, landscape: Landscape, here: str, there: str, right: bool, chosen: bool
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Line

    line = Line(_bow(landscape, here, there))
    if chosen:
        chart.add_patch(FancyArrowPatch(path=line, arrowstyle="-", color=_CHOSEN, lw=9, zorder=3))
    chart.add_patch(
        FancyArrowPatch(
            path=line,
            arrowstyle="-|>,head_length=6,head_width=3.2",
            color=_RIGHT if right else _WRONG,
            linestyle="-" if right else (0, (4, 2.2)),
            lw=2.0,
            zorder=4,
        )
    )


def _badge_places(bows: Sequence[Sequence[Point]]) -> list[Point]:
    """Choose a point of each arrow for its number, away from the other numbers."""
    places: list[Point] = []
    for bow in bows:
        middle = [bow[number] for number in (12, 10, 14, 8, 16, 6, 18)]
        free = [p for p in middle if all(math.dist(p, other) > 26 for other in places)]
        places.append((free or middle)[0])
    return places


def _badge(chart: Axes, place: Point, number: int, right: bool, chosen: bool) -> None:
    chart.text(
        *place, str(number), ha="center", va="center", size=8.5, weight="bold", zorder=7,
        color=_INK if chosen else "white",
        bbox={"boxstyle": "circle,pad=0.22", "lw": 1, "edgecolor": "white",
              "facecolor": _CHOSEN if chosen else _RIGHT if right else _WRONG},
    )  # fmt: skip


def _label_places(sheet: MapSheet, lines: Sequence[Point], scale: float) -> dict[str, Point]:
    """Find for each name a place near its landmark that covers no line and no other name."""
    west, east, north, south = _bounds(sheet)
    placed: dict[str, Point] = {}
    boxes: list[tuple[float, float, float, float]] = []
    spots = [each.position for each in sheet.landscape.landmarks]
    for landmark in sheet.landscape.landmarks:
        half = 0.6 * _NAME * scale * len(landmark.key) / 2  # a letter is 0.6 as wide as tall
        tall = 1.3 * _NAME * scale / 2
        best = (math.inf, (landmark.x, landmark.y))
        for rank, (across, along) in enumerate(_AROUND):
            x = landmark.x + across * (half + 12)
            y = landmark.y + along * (tall + 12)
            box = (x - half, x + half, y - tall, y + tall)
            hits = sum(box[0] < px < box[1] and box[2] < py < box[3] for px, py in lines)
            hits += 4 * sum(box[0] < px < box[1] and box[2] < py < box[3] for px, py in spots)
            clash = sum(
                box[0] < other[1] and other[0] < box[1] and box[2] < other[3] and other[2] < box[3]
                for other in boxes
            )
            outside = box[0] < west or box[1] > east or box[2] < north or box[3] > south
            cost = hits + 20 * clash + 50 * outside + 0.2 * rank
            best = min(best, (cost, (x, y)))
        x, y = placed[landmark.key] = best[1]
        boxes.append((x - half, x + half, y - tall, y + tall))
    return placed


def _landmark(
    chart: Axes, sheet: MapSheet, key: str, place: Point, *, visited: bool, boxed: bool
) -> None:
    from matplotlib.patheffects import withStroke

    landmark = sheet.landscape[key]
    start = key == sheet.landscape.start
    chart.plot(
        landmark.x, landmark.y, "X" if start else "o", ms=11 if start else 7, mew=1.2, mec="white",
        color=_INK if visited or start else _PALE, zorder=5,
    )  # fmt: skip
    chart.text(
        *place, key, ha="center", va="center", size=_NAME, color=_INK, zorder=6,
        # a scan has handwriting of its own, which the name covers
        bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1} if boxed else None,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip


def _list(
    side: Axes, sheet: MapSheet, keys: Sequence[str], right: Sequence[bool], chosen: int
) -> None:
    """Write down the key of the lines, the steps and the score."""
    side.set(xlim=(0, 1), ylim=(0, 1))
    side.axis("off")
    rows = [("true route", _ROUTE, "-", 7.0)]
    if len(keys) > 1:
        rows += [("predicted, right", _RIGHT, "-", 2.0), ("predicted, wrong", _WRONG, "--", 2.0)]
    y = 0.985
    for text, color, style, width in rows:
        side.plot([0, 0.11], [y, y], color=color, linestyle=style, lw=width)
        side.text(0.15, y, text, va="center", size=10, color=_INK)
        y -= 0.03
    if len(keys) < 2:
        return
    y -= 0.02
    line = min(0.035, (y - 0.08) / len(keys))  # long paths are set closer
    size = 10 if line > 0.024 else 7.5
    for number, key in enumerate(keys[1:], 1):
        mark, color = ("✓", _RIGHT) if right[number - 1] else ("✗", _WRONG)
        now = number == chosen
        box = {"facecolor": _CHOSEN, "edgecolor": "none", "pad": 1.5} if now else None
        side.text(0.07, y, str(number), ha="right", va="center", size=size, color=_PALE)
        side.text(
            0.12, y, key, va="center", size=size, color=_INK, bbox=box,
            weight="bold" if now else "normal",
        )  # fmt: skip
        # matplotlib's own font has the marks, whatever font is set
        side.text(0.99, y, mark, ha="right", va="center", size=size, color=color,
                  family="DejaVu Sans")  # fmt: skip
        y -= line
    score = score_path(keys, visited_landmarks(sheet.steps))
    side.text(0.0, y - 0.015, str(score), va="center", size=10, weight="bold", color=_INK)


def _caption(figure: Figure, cause: Cause, move: tuple[str, str]) -> None:
    """Write the sentence below the map, with the words that mattered marked."""
    who = {"g": "the giver", "f": "the follower"}.get(cause.speaker, cause.speaker)
    said = f", said by {who}" if who else ""
    height = figure.get_figheight()
    step = f"Step {cause.step}: {move[0]} → {move[1]}{said}"
    figure.text(_EDGE / _WIDTH, 0.92 / height, step, size=11, color=_PALE, va="center")
    strengths = cause.strengths
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    x, y = _EDGE, 0.58  # inches
    for place, word in enumerate(cause.sentence.split()):
        how = strengths.get(place, 0.0)
        box = {"facecolor": (*_rgb(_CHOSEN), 0.25 + 0.75 * how), "edgecolor": "none", "pad": 2}
        text = figure.text(
            x / _WIDTH, y / height, word, size=13, va="center", color=_INK,
            weight="bold" if how else "normal",
        )  # fmt: skip
        # measured before it is marked, which would count the mark's margin as well
        wide = text.get_window_extent(renderer).width / figure.dpi
        if how:
            text.set_bbox(box)
        if x + wide > _WIDTH - _EDGE:
            x, y = _EDGE, y - 0.34
            text.set_position((x / _WIDTH, y / height))
            if y < 0:  # only two lines fit
                text.set(text="…", position=(1 - _EDGE / _WIDTH, (y + 0.34) / height))
                break
        x += wide + 0.08


def _rgb(color: str) -> tuple[float, float, float]:
    return tuple(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))  # type: ignore[return-value]
