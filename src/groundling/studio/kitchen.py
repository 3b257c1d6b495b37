"""Kitchen environment of the studio's lesson, in which a robot carries things."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from groundling.svg import Canvas
from groundling.world.graph import GroundingGraph

PLACES = ("table", "sink", "shelf")
THINGS = ("red cup", "blue cup", "red bowl")
_STARTS = 24
_COLORS = {"red": "#c8553d", "blue": "#3d6fb4", "green": "#4d8a52", "white": "#d9d9d9"}
_WIDE, _HIGH, _TOP, _FLOOR = 200.0, 400.0, 176.0, 276.0
_WOOD, _DARK, _STEEL = "#b98d5a", "#94703f", "#9aa5ad"


class KitchenState(NamedTuple):
    """State of the kitchen: where the robot is, what it holds, and where things lie.

    `holds` is empty if the robot holds nothing.
    """

    at: str
    holds: str
    lying: frozenset[tuple[str, str]]


class Kitchen:
    """A small kitchen with a robot, the environment of the lesson.

    Examples
    --------
    >>> kitchen = Kitchen()
    >>> kitchen.actions(kitchen.start)
    ('go to the table', 'go to the shelf', 'take the blue cup')
    >>> kitchen.describe(kitchen.step(kitchen.start, "take the blue cup"))
    'The robot is at the sink and holds the blue cup; the red bowl lies on the shelf, the red
    cup on the table.'
    """

    start = KitchenState(
        "sink", "", frozenset({("red cup", "table"), ("blue cup", "sink"), ("red bowl", "shelf")})
    )

    def actions(self, state: KitchenState) -> tuple[str, ...]:
        """Return the possible actions in a state."""
        go = [f"go to the {place}" for place in PLACES if place != state.at]
        if state.holds:
            return (*go, f"put down the {state.holds}")
        here = sorted(thing for thing, place in state.lying if place == state.at)
        return (*go, *(f"take the {thing}" for thing in here))

    def step(self, state: KitchenState, action: str) -> KitchenState:
        """Return the state after an action."""
        verb, what = action.split(" the ")
        if verb == "go to":
            return state._replace(at=what)
        if verb == "take":
            return state._replace(holds=what, lying=state.lying - {(what, state.at)})
        return state._replace(holds="", lying=state.lying | {(what, state.at)})

    def ground(self, state: KitchenState, action: str, after: KitchenState) -> GroundingGraph:
        """Return the grounding graph of an action: event, place and object."""
        verb, what = action.split(" the ")
        # Each name is both the value of a label and a label of its own. The higher weight helps
        # with as few as ten demonstrations.
        nodes: dict[str, dict[str, bool | str]] = {
            "event": {verb: True},
            "where": {"place": after.at, f"place={after.at}": True},
        }
        edges = [("event", "where", "at")]
        if verb != "go to":
            colour, thing = what.split()
            nodes["object"] = {
                "thing": thing, f"thing={thing}": True,
                "colour": colour, f"colour={colour}": True,
            }  # fmt: skip
            edges.append(("event", "object", "of"))
        return GroundingGraph(nodes, edges)

    def outcome(self, state: KitchenState) -> KitchenState:
        """Return the outcome of a final state, which is the state itself."""
        return state

    def describe(self, state: KitchenState) -> str:
        """Return a description of a state in one sentence."""
        holds = f"holds the {state.holds}" if state.holds else "holds nothing"
        lying = sorted(state.lying)
        things = ", ".join(
            f"the {thing} {'lies ' if number == 0 else ''}on the {place}"
            for number, (thing, place) in enumerate(lying)
        )
        return f"The robot is at the {state.at} and {holds}{'; ' + things if things else ''}."

    @staticmethod
    def shuffled(seed: int) -> KitchenState:
        """Return a random state; the same seed gives the same state."""
        dice = Random(seed)
        lying = frozenset((thing, dice.choice(PLACES)) for thing in THINGS)
        return KitchenState(dice.choice(PLACES), "", lying)

    def draw(self, state: KitchenState) -> str:
        """Return an SVG drawing of the places, with their things and the robot."""
        canvas = Canvas(0, 0, _WIDE * len(PLACES), _HIGH)
        canvas.add("rect", class_="wall", x=0, y=0, width=_WIDE * len(PLACES), height=_HIGH,
                   fill="#f4efe4")  # fmt: skip
        canvas.add("rect", class_="floor", x=0, y=_FLOOR - 16, width=_WIDE * len(PLACES),
                   height=_HIGH - _FLOOR + 16, fill="#e6dcc8")  # fmt: skip
        possible = set(self.actions(state))
        for number, place in enumerate(PLACES):
            left = number * _WIDE
            _furniture(canvas, place, left)
            canvas.text(left + _WIDE / 2, 62, place, text_anchor="middle", font_size=21)
            if f"go to the {place}" in possible:
                canvas.target("rect", f"go to the {place}", x=left + 8, y=_TOP + 4,
                              width=_WIDE - 16, height=_HIGH - _TOP - 16, rx=14)  # fmt: skip
            lying = sorted(thing for thing, where in state.lying if where == place)
            for rank, thing in enumerate(lying):
                x = left + _WIDE / 2 + (rank - (len(lying) - 1) / 2) * 56
                take = f"take the {thing}"
                _thing(canvas, thing, x, _TOP, take if take in possible else "")
        x = PLACES.index(state.at) * _WIDE + _WIDE / 2
        robot = canvas.add("g", class_="agent", transform=f"translate({x:g} 338) scale(1.35)")
        canvas.add("rect", robot, x=-21, y=-22, width=42, height=44, rx=12)
        canvas.add("circle", robot, class_="eye", cx=-8, cy=-5, r=4)
        canvas.add("circle", robot, class_="eye", cx=8, cy=-5, r=4)
        canvas.add("path", robot, class_="mouth", d="M-8 9 Q0 14 8 9")
        if state.holds:
            _thing(canvas, state.holds, x + 60, 366.0, f"put down the {state.holds}")
        return str(canvas)


def kitchen_starts() -> dict[str, KitchenState]:
    """Return the initial states of the lesson: a fixed state, and random states."""
    starts = [Kitchen.start, *map(Kitchen.shuffled, range(1, _STARTS))]
    return {f"Kitchen {number}": state for number, state in enumerate(starts, 1)}


def _furniture(canvas: Canvas, place: str, left: float) -> None:
    """Add a table, a sink or a shelf, all of the same height, to a drawing."""
    group = canvas.add("g", class_="place")

    def box(x: float, y: float, width: float, height: float, fill: str = _WOOD) -> None:
        canvas.add("rect", group, x=left + x, y=y, width=width, height=height, rx=3, fill=fill)

    if place == "sink":
        box(24, _TOP + 10, _WIDE - 48, 90)
        for x in (32, _WIDE / 2 + 4):
            box(x, _TOP + 30, _WIDE / 2 - 36, 62, _DARK)
        box(18, _TOP, _WIDE - 36, 12, _STEEL)
        canvas.add("path", group, d=f"M{left + 38:g} {_TOP:g} v-40 q0 -14 14 -14 q12 0 12 14",
                   fill="none", stroke=_STEEL, stroke_width=7)  # fmt: skip
    elif place == "shelf":
        box(24, _TOP - 66, 10, 166)
        box(_WIDE - 34, _TOP - 66, 10, 166)
        for y in (_TOP - 70, _TOP, _TOP + 50, _TOP + 90):
            box(24, y, _WIDE - 48, 10)
    else:
        box(18, _TOP, _WIDE - 36, 12)
        for x in (34, _WIDE - 44):
            box(x, _TOP + 12, 10, 88)


def _thing(canvas: Canvas, thing: str, x: float, floor: float, action: str) -> None:
    """Add a cup or a bowl whose base is at `floor` to a drawing."""
    colour, kind = thing.split()
    group = canvas.add("g", None, thing, transform=f"translate({x:g} {floor:g})")
    fill = _COLORS.get(colour, "#999999")
    if kind == "cup":
        canvas.add("path", group, d="M11 -26 h6 a7 7 0 0 1 0 15 h-6", fill="none", stroke=fill,
                   stroke_width=4)  # fmt: skip
        canvas.add("path", group, d="M-14 -32 H14 L11 0 H-11 Z", fill=fill)
    else:
        canvas.add("path", group, d="M-23 -22 H23 Q20 0 8 0 H-8 Q-20 0 -23 -22 Z", fill=fill)
    if action:
        canvas.target("rect", action, group, x=-26, y=-40, width=52, height=46, rx=8)
