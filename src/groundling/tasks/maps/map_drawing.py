"""Maps as SVG: landmarks, the path, the true route and the scanned map."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from groundling.svg import Canvas
from groundling.tasks.maps.landscape import Landscape, Point
from groundling.tasks.maps.path_score import transitions
from groundling.tasks.maps.scan import place_scan, read_scan

if TYPE_CHECKING:
    from groundling.tasks.maps.environment import Go, MapState


_SHIFT = {"North": (0, -1), "East": (1, 0), "South": (0, 1), "West": (-1, 0), "": (0, 0)}
_MARGIN, _BESIDE = 100.0, 26.0


def draw_map(
    landscape: Landscape,
    way: Sequence[MapState],
    *,
    possible: Sequence[Go] = (),
    route: Sequence[Point] = (),
    truth: Sequence[str] = (),
    scan: str | Path | None = None,
) -> str:
    """Return an SVG drawing of a map and a path from landmark to landmark.

    Parameters
    ----------
    landscape, way
        The landmarks, and the states of the path, beginning with the start.
    possible
        Actions that can be clicked.
    route
        The points of the true route.
    truth
        The landmarks along the true route; other moves are marked as wrong.
    scan
        The scanned map for the background (`MapCorpus.image`); requires `route`.

    Examples
    --------
    >>> from groundling.tasks.maps.environment import MapEnvironment
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> sheet = Landscape((Landmark("start", 50, 50), Landmark("old mill", 50, 250)))
    >>> world = MapEnvironment(sheet, shape="rich")
    >>> 'data-action="go to old mill"' in world.draw(world.start, [world.start])
    True
    """
    xs, ys = zip(*(each.position for each in landscape.landmarks), *route, strict=True)
    canvas = Canvas(
        min(xs) - _MARGIN,
        min(ys) - _MARGIN,
        max(xs) - min(xs) + 2 * _MARGIN,
        max(ys) - min(ys) + 2 * _MARGIN,
    )
    if scan is not None:
        _scan(canvas, scan, route)
    if route:
        points = " ".join(f"{x:g},{y:g}" for x, y in route)
        canvas.add("polyline", class_="route", points=points)
    _way(canvas, landscape, way, truth)
    offered: dict[str, list[tuple[str, str]]] = {}
    for action in possible:
        offered.setdefault(action.landmark, []).append((action.side, str(action)))
    seen, here = {each.landmark for each in way}, way[-1]
    for landmark in landscape.landmarks:
        x, y = landmark.x, landmark.y
        kind = "landmark here" if landmark.key == here.landmark else "landmark"
        group = canvas.add("g", class_=kind + (" seen" if landmark.key in seen else ""))
        if len(landmark.outline) > 2 and scan is None:
            corners = " ".join(f"{a:g},{b:g}" for a, b in landmark.outline)
            canvas.add("polygon", group, points=corners, class_="outline")
        canvas.add("circle", group, cx=x, cy=y, r=11)
        canvas.text(x, y + 29, landmark.key, group, text_anchor="middle", font_size=17)
        for side, action_name in offered.get(landmark.key, ()):
            across, down = _SHIFT[side]
            canvas.target("circle", action_name, group, r=9 if side else 17,
                          cx=x + across * _BESIDE, cy=y + down * _BESIDE)  # fmt: skip
    x, y = _spot(landscape, here)
    agent = canvas.add("g", class_="agent", transform=f"translate({x:g} {y:g})")
    canvas.add("circle", agent, r=10)
    return str(canvas)


def _way(
    canvas: Canvas, landscape: Landscape, way: Sequence[MapState], truth: Sequence[str]
) -> None:
    left = transitions(truth)
    for here, there in pairwise(way):
        (x, y), (to_x, to_y) = _spot(landscape, here), _spot(landscape, there)
        # bent to the right, so that moves in opposite directions do not overlap
        bow = ((x + to_x) / 2 - 0.12 * (to_y - y), (y + to_y) / 2 + 0.12 * (to_x - x))
        line = f"M{x:g} {y:g} Q{bow[0]:g} {bow[1]:g} {to_x:g} {to_y:g}"
        move = (here.landmark, there.landmark)
        wrong = bool(truth) and move[0] != move[1] and left[move] < 1
        left[move] -= 1
        canvas.add("path", class_="way-edge", d=line)
        canvas.add("path", class_="way wrong" if wrong else "way", d=line)


def _scan(canvas: Canvas, scan: str | Path, route: Sequence[Point]) -> None:
    """Add the scan to the drawing, aligned so that its drawn route matches `route`."""
    from PIL import Image

    grey = read_scan(scan)
    west, east, north, south = place_scan(grey < 0.5, route).extent(*grey.shape[::-1])
    made = io.BytesIO()
    Image.fromarray((255 * grey).astype("uint8")).save(made, "PNG")
    data = base64.b64encode(made.getvalue()).decode("ascii")
    canvas.add("image", x=west, y=north, width=east - west, height=south - north, opacity=0.4,
               href=f"data:image/png;base64,{data}", preserveAspectRatio="none")  # fmt: skip


def _spot(landscape: Landscape, state: MapState) -> Point:
    landmark = landscape[state.landmark]
    across, down = _SHIFT[state.side]
    return landmark.x + across * _BESIDE, landmark.y + down * _BESIDE
