"""Maps as SVG: landmarks on a sheet, and the way from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from groundling.studio.drawings.svg import Canvas
from groundling.tasks.maps.environment import MapEnvironment, MapState

__all__ = ["draw_map"]

_SHIFT = {"North": (0, -1), "East": (1, 0), "South": (0, 1), "West": (-1, 0), "": (0, 0)}
_MARGIN, _BESIDE = 70.0, 26.0


def draw_map(environment: MapEnvironment, state: MapState, way: Sequence[MapState]) -> str:
    """Draw the landmarks of a map and the way so far; landmarks carry the action of going there.

    >>> from groundling.tasks.maps.landscape import Landmark, Landscape
    >>> sheet = Landscape((Landmark("start", 50, 50), Landmark("old mill", 50, 250)))
    >>> world = MapEnvironment(sheet, shape="rich")
    >>> 'data-action="go to old mill"' in draw_map(world, world.start, [world.start])
    True
    """
    landscape = environment.landscape
    xs, ys = zip(*(each.position for each in landscape.landmarks), strict=True)
    canvas = Canvas(
        min(xs) - _MARGIN,
        min(ys) - _MARGIN,
        max(xs) - min(xs) + 2 * _MARGIN,
        max(ys) - min(ys) + 2 * _MARGIN,
    )
    spots = [_spot(environment, each) for each in way]
    for (x, y), (to_x, to_y) in pairwise(spots):
        # bent to the right of the way, so that there and back are two lines
        bow = ((x + to_x) / 2 - 0.12 * (to_y - y), (y + to_y) / 2 + 0.12 * (to_x - x))
        line = f"M{x:g} {y:g} Q{bow[0]:g} {bow[1]:g} {to_x:g} {to_y:g}"
        canvas.add("path", class_="way-edge", d=line)
        canvas.add("path", class_="way", d=line)
    possible: dict[str, list[tuple[str, str]]] = {}
    for action in environment.actions(state):
        possible.setdefault(action.landmark, []).append((action.side, str(action)))
    seen = {each.landmark for each in way}
    for landmark in landscape.landmarks:
        x, y = landmark.x, landmark.y
        kind = "landmark here" if landmark.key == state.landmark else "landmark"
        group = canvas.add("g", class_=kind + (" seen" if landmark.key in seen else ""))
        if len(landmark.outline) > 2:
            corners = " ".join(f"{a:g},{b:g}" for a, b in landmark.outline)
            canvas.add("polygon", group, points=corners, class_="outline")
        canvas.add("circle", group, cx=x, cy=y, r=11)
        canvas.text(x, y + 29, landmark.key, group, text_anchor="middle", font_size=17)
        for side, action_name in possible.get(landmark.key, ()):
            across, down = _SHIFT[side]
            spot = canvas.add(
                "circle", group, class_="target", data_action=action_name, r=9 if side else 17,
                cx=x + across * _BESIDE, cy=y + down * _BESIDE,
            )  # fmt: skip
            canvas.add("title", spot).text = action_name
    x, y = _spot(environment, state)
    agent = canvas.add("g", class_="agent", transform=f"translate({x:g} {y:g})")
    canvas.add("circle", agent, r=10)
    return str(canvas)


def _spot(environment: MapEnvironment, state: MapState) -> tuple[float, float]:
    landmark = environment.landscape[state.landmark]
    across, down = _SHIFT[state.side]
    return landmark.x + across * _BESIDE, landmark.y + down * _BESIDE
