"""BabyAI levels as SVG: rooms, doors, things, the path, and the possible choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast
from xml.etree.ElementTree import Element

from groundling.errors import GroundlingError
from groundling.svg import Canvas

if TYPE_CHECKING:
    from groundling.gym.episode import ActionChoice, Episode
    from groundling.gym.grid import GridState

CELL = 40.0
# Softer versions of the simulator's colours, with an edge that is visible in both themes.
_COLOURS = {
    "red": "#d6453d", "green": "#3f9b4f", "blue": "#3d6fd6", "purple": "#8a4fc0",
    "yellow": "#e3bd2f", "grey": "#8b9097",
}  # fmt: skip
_EDGE = "#2b2f34"
_MOST_MOVES = 2_000


def imagine(episode: Episode, choices: Sequence[ActionChoice]) -> tuple[GridState, list[int]]:
    """Simulate some choices; return the final scene and the cells on the agent's path.

    The simulation stops at the first macro-action that cannot be carried out.

    >>> from groundling import gym
    >>> level = gym.babyai("GoToObjS4")
    >>> [shown] = level.record([0])
    >>> scene, cells = imagine(shown.environment, shown.actions)
    >>> scene.agent == cells[-1], scene.at(scene.front) >= 0
    (True, True)
    """
    world: Any = episode.world
    scene: GridState = episode.scene
    cells = [scene.agent]
    try:
        for action in episode.macro_actions(choices):
            for move in world.moves(scene, action)[:_MOST_MOVES]:
                scene = world.predict(scene, move)
                cells.append(scene.agent)
    except GroundlingError:  # stop, and show the scene so far
        pass
    return scene, cells


def draw_babyai(environment: Episode, state: tuple[ActionChoice, ...]) -> str:
    """Return an SVG drawing of a level after some choices, with targets to click next.

    A click on a thing means *go to* or, if a verb was chosen, completes the verb. A click on a
    corner of the thing's cell chooses a verb: pick up, open or put.

    >>> from groundling import gym
    >>> [shown] = gym.babyai("GoToObjS4").record([0])
    >>> 'data-action="go to the' in draw_babyai(shown.environment, ())
    True
    """
    scene, cells = imagine(environment, state)
    layout = scene.layout
    canvas = Canvas(0, 0, layout.width * CELL, layout.height * CELL)
    canvas.add("rect", class_="grid-floor", width=layout.width * CELL,
               height=layout.height * CELL)  # fmt: skip
    walls = canvas.add("g", class_="grid-walls")
    for cell, wall in enumerate(layout.walls):
        if wall:
            x, y = layout.point(cell)
            canvas.add("rect", walls, x=x * CELL, y=y * CELL, width=CELL, height=CELL)
    points = [layout.point(cell) for cell in cells]
    canvas.way([((x + 0.5) * CELL, (y + 0.5) * CELL) for x, y in points])
    for number, thing in enumerate(layout.things):
        if scene.places[number] >= 0:
            x, y = layout.point(scene.places[number])
            spot = canvas.add("g", None, _name(scene, number), class_="thing",
                              transform=f"translate({x * CELL:g} {y * CELL:g})")  # fmt: skip
            _thing(canvas, spot, thing.kind, thing.colour, scene.doors[number])
    _agent(canvas, scene)
    _targets(canvas, environment, state, scene)
    return str(canvas)


def _name(scene: GridState, number: int) -> str:
    thing = scene.layout.things[number]
    status = ("open ", "closed ", "locked ")[scene.doors[number]] if thing.kind == "door" else ""
    return f"{status}{thing}"


def _thing(canvas: Canvas, spot: Element, kind: str, colour: str, status: int) -> None:
    paint: dict[str, Any] = {
        "fill": _COLOURS.get(colour, colour), "stroke": _EDGE, "stroke_width": 1.5,
    }  # fmt: skip
    if kind == "door":
        if status == 0:
            canvas.add("rect", spot, x=1, y=1, width=8, height=CELL - 2, **paint)
            return
        canvas.add("rect", spot, x=1, y=1, width=CELL - 2, height=CELL - 2, rx=3, **paint)
        if status == 2:
            canvas.add("circle", spot, cx=CELL / 2, cy=17, r=5, fill=_EDGE)
            canvas.add("path", spot, d=f"M{CELL / 2} 17 L{CELL / 2 - 4} 29 H{CELL / 2 + 4} Z",
                       fill=_EDGE)  # fmt: skip
        else:
            canvas.add("circle", spot, cx=CELL - 10, cy=CELL / 2, r=3.5, fill=_EDGE)
    elif kind == "ball":
        canvas.add("circle", spot, cx=CELL / 2, cy=CELL / 2, r=11.5, **paint)
    elif kind == "box":
        canvas.add("rect", spot, x=8, y=10, width=24, height=20, rx=2, **paint)
        canvas.add("path", spot, d="M8 17 H32 M20 10 V17", fill="none", stroke=_EDGE,
                   stroke_width=1.5)  # fmt: skip
    elif kind == "key":
        canvas.add("path", spot, fill_rule="evenodd", **paint,
                   d="M20 6 a7 7 0 0 1 2.5 13.5 V33 H16.5 V30 H19 V27 H16.5 V24 H17.5 V19.5 "
                     "A7 7 0 0 1 20 6 Z M20 10 a3 3 0 1 0 0.01 0 Z")  # fmt: skip
    else:
        canvas.add("rect", spot, x=0, y=0, width=CELL, height=CELL, fill=paint["fill"],
                   fill_opacity=0.5)  # fmt: skip


def _agent(canvas: Canvas, scene: GridState) -> None:
    x, y = scene.layout.point(scene.agent)
    middle = f"translate({(x + 0.5) * CELL:g} {(y + 0.5) * CELL:g})"
    held = "nothing" if scene.carrying < 0 else f"the {scene.layout.things[scene.carrying]}"
    agent = canvas.add("g", None, f"the agent, carrying {held}", class_="agent", transform=middle)
    canvas.add("circle", agent, r=14)
    canvas.add("path", agent, d="M0 -10 L7 7 L0 3.5 L-7 7 Z",
               transform=f"rotate({(90 + 90 * scene.direction) % 360})")  # fmt: skip
    if scene.carrying >= 0:
        thing = scene.layout.things[scene.carrying]
        place = f"translate({(x + 0.5) * CELL:g} {y * CELL - 4:g}) scale(0.55)"
        hand = canvas.add("g", class_="thing", transform=place)
        _thing(canvas, hand, thing.kind, thing.colour, 0)


def _targets(
    canvas: Canvas, environment: Episode, state: tuple[ActionChoice, ...], scene: GridState
) -> None:
    """Add click targets for the possible choices, except those with `earlier`."""
    for choice in environment.actions(state):
        if choice.earlier:
            continue
        for number in choice.things:
            cell = scene.places[cast(int, number)]
            if cell < 0:
                continue
            x, y = ((each + 0.5) * CELL for each in scene.layout.point(cell))
            if choice.role != "object" or choice.verb == "go to":
                canvas.target("circle", choice, cx=x, cy=y, r=CELL / 2 - 3)
            else:
                up = -1 if choice.verb in ("pick up", "open") else 1
                corner = CELL / 2 - 4
                canvas.target("circle", choice, cx=x + corner, cy=y + up * corner, r=8)
