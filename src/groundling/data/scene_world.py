"""Worlds that are defined in a JSON file: places, things, movers and verbs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias
from xml.etree.ElementTree import Element

from groundling.data.lines import parse_json
from groundling.errors import DemonstrationError, WorldError, did_you_mean
from groundling.files import read_plain, write_atomically
from groundling.limits import PLAN_ACTIONS, SCENE_ACTIONS, WORLD_BYTES
from groundling.svg import Canvas
from groundling.world.environment import shorten
from groundling.world.graph import GroundingGraph

VERBS = ("go", "take", "put", "push", "open", "switch")
"""The verbs of movers; `open` includes closing, and `switch` is on and off."""
MOST = 60  # maximum number of places, of things and of movers
SCENES = 24  # maximum number of initial states
_EXAMPLES = 1_000
_LONGEST_NAME, _LONGEST_VALUE, _MOST_PROPERTIES = 40, 200, 12
_SHAPES = ("at", "size", "can")  # properties that have their own checks
_ABLE = ("take", "push", "open", "switch")  # verbs that a thing may allow
_CONDITIONS = {"open": ("closed", "open"), "switch": ("off", "on")}
_CELL, _GAP, _HEAD = 170.0, 14.0, 26.0
_SLOT = (64.0, 62.0)  # width and height that a thing or mover needs at full size
_FONT, _LETTER = 13.0, 0.56  # font size of names, and width of a letter relative to it
_OUTLINE = "#7a828a"
_COLOURS = {
    "red": "#c8553d", "blue": "#3d6fb4", "green": "#4d8a52", "yellow": "#d9a927",
    "orange": "#d9822b", "purple": "#7d5ba6", "pink": "#d67ba8", "brown": "#8a6a45",
    "black": "#3a3f45", "white": "#e6e6e6", "grey": "#8d949b",
}  # fmt: skip


class SceneState(NamedTuple):
    """The place and held thing of each mover; the place and condition of each thing."""

    movers: tuple[tuple[str, str], ...]
    things: tuple[tuple[str, str], ...]


class _Deed(NamedTuple):
    """An action: its mover, verb, thing and place."""

    mover: int
    verb: str
    thing: int = -1
    place: str = ""


Json: TypeAlias = Mapping[str, Any]
_Box: TypeAlias = tuple[float, float, float, float]  # left, top, width and height


class SceneWorld:
    """A world of places, things and movers, read from JSON.

    Parameters
    ----------
    data
        An object with `title`, `places` (each with a `name` and, for the floor plan, its column
        and row `at`, and its `size`), `things` (each with a `name`, a place `at`, the verbs it
        `can` be used with, and further properties such as a `colour`), `movers` (each with a
        `name` and a place `at`), `verbs` (see `VERBS`) and `scenes`, the number of initial states.
        `examples`, shown in the studio, are texts with a scene number and actions.

    Examples
    --------
    >>> world = SceneWorld({
    ...     "title": "Yard", "places": [{"name": "shed"}, {"name": "gate"}],
    ...     "things": [{"name": "rake", "at": "shed", "can": ["take"]}],
    ...     "movers": [{"name": "robot", "at": "shed"}], "verbs": ["go", "take", "put"],
    ... })
    >>> state = world.initial_state()
    >>> world.actions(state)
    ('go to the gate', 'take the rake')
    >>> world.describe(world.step(state, "take the rake"))
    'The robot is at the shed and holds the rake.'
    >>> SceneWorld({"title": "Yard", "places": []})
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: `places` must have 1 to 60 entries; got 0.
    """

    def __init__(self, data: Json) -> None:
        if not isinstance(data, Mapping):
            raise WorldError(f"A world must be a JSON object; got {shorten(data)}.")
        known = ("title", "places", "things", "movers", "verbs", "scenes", "examples")
        for name in data:
            if name not in known:
                raise WorldError(f"A world has no key {shorten(name)}.{did_you_mean(name, known)}")
        self.title = _name(data.get("title"), "`title`")
        self._places = {each["name"]: each for each in _listed(data, "places", 1)}
        self._things = {each["name"]: each for each in _listed(data, "things", 0)}
        self._movers = {each["name"]: each for each in _listed(data, "movers", 1)}
        for what in ("places", "things", "movers"):
            names = [each["name"] for each in data.get(what, ())]
            if twice := [name for name in names if names.count(name) > 1]:
                raise WorldError(
                    f"Names of `{what}` must be unique; got {twice[0]!r} twice. Rename one of them."
                )
        self.verbs = _chosen(data.get("verbs", ["go", "take", "put"]), VERBS, "`verbs`")
        self.scenes = _whole(data.get("scenes", 1), 1, SCENES, "`scenes`")
        self.examples: Sequence[Json] = data.get("examples", ())
        for name, each in [*self._things.items(), *self._movers.items()]:
            place = each.get("at")
            if not isinstance(place, str) or place not in self._places:
                raise WorldError(
                    f"`at` of {name!r} must be the name of a place; got {shorten(place)}."
                    f"{did_you_mean(shorten(place), self._places)}"
                )
        self._can = {
            name: _chosen(each.get("can", []), _ABLE, f"`can` of {name!r}")
            for name, each in self._things.items()
        }
        for name, each in self._things.items():
            kind = self._kind(name)
            if "is" in each and each["is"] not in _CONDITIONS.get(kind, ()):
                rule = " or ".join(_CONDITIONS.get(kind, ())) or "left out"
                raise WorldError(f"`is` of {name!r} must be {rule}; got {shorten(each['is'])}.")
        self._plan = self._floor_plan()
        self._thing_names, self._mover_names = tuple(self._things), tuple(self._movers)
        deeds = self._all_deeds()
        SCENE_ACTIONS.check(len(deeds), WorldError, "A world")
        self._deeds = {self._name(deed): deed for deed in deeds}
        if len(self._deeds) < len(deeds):
            repeated = Counter(map(self._name, deeds)).most_common(1)[0][0]
            raise WorldError(
                f"Action names must be unique; got {repeated!r} twice. Rename a place or a thing."
            )
        self._check_examples()

    @classmethod
    def load(cls, path: str | Path) -> SceneWorld:
        """Read a world from a JSON file."""
        text = read_plain(Path(path), WORLD_BYTES, WorldError, links=True)
        try:
            found: Any = parse_json(text.decode("utf-8").strip(), "Write one object.")
            return cls(found)
        except UnicodeDecodeError:
            raise WorldError(f"{path} must be a UTF-8 text file. Save it as UTF-8.") from None
        except (WorldError, DemonstrationError) as error:
            raise WorldError(f"{path}: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """Return the world as JSON-ready data, which the constructor accepts."""
        return {
            "title": self.title,
            "places": list(self._places.values()),
            "things": list(self._things.values()),
            "movers": list(self._movers.values()),
            "verbs": list(self.verbs),
            "scenes": self.scenes,
            "examples": [dict(each) for each in self.examples],
        }

    def save(self, path: str | Path) -> Path:
        """Write the world to a JSON file, and return its path."""
        written = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        write_atomically(Path(path), written)
        return Path(path)

    # ---- states and actions ---------------------------------------------------------------

    def initial_state(self) -> SceneState:
        """Return the state with all movers and things at their places in the file."""
        return SceneState(
            tuple((each["at"], "") for each in self._movers.values()),
            tuple((each["at"], self._condition(name)) for name, each in self._things.items()),
        )

    @property
    def starts(self) -> dict[str, SceneState]:
        """The initial states by name: the one in the file, then ones with random places."""
        found = {f"{self.title} 1": self.initial_state()}
        for number in range(2, self.scenes + 1):
            dice, first = Random(number), self.initial_state()
            places = list(self._places)
            movers = tuple((dice.choice(places), "") for _ in first.movers)
            things = tuple(
                (
                    dice.choice(places) if {"take", "push"} & set(self._can[name]) else where,
                    dice.choice(_CONDITIONS[kind]) if (kind := self._kind(name)) else how,
                )
                for name, (where, how) in zip(self._things, first.things, strict=True)
            )
            found[f"{self.title} {number}"] = SceneState(movers, things)
        return found

    def actions(self, state: SceneState) -> tuple[str, ...]:
        """Return the actions that are possible in a state."""
        if not self._is_state(state):
            raise WorldError(
                f"A state of {self.title} must give each mover a place, and each thing a condition "
                f"and a place or holder; got {shorten(state)}."
            )
        return tuple(name for name, deed in self._deeds.items() if self._possible(state, deed))

    def step(self, state: SceneState, action: str) -> SceneState:
        """Return the state after an action."""
        deed = self._deeds[action]
        movers, things = list(state.movers), list(state.things)
        at, holds = movers[deed.mover]
        name = self._thing_names[deed.thing] if deed.thing >= 0 else ""
        if deed.verb == "go":
            movers[deed.mover] = (deed.place, holds)
        elif deed.verb == "take":
            movers[deed.mover] = (at, name)
            things[deed.thing] = ("", things[deed.thing][1])
        elif deed.verb == "put":
            movers[deed.mover] = (at, "")
            things[deed.thing] = (at, things[deed.thing][1])
        elif deed.verb == "push":
            movers[deed.mover] = (deed.place, holds)
            things[deed.thing] = (deed.place, things[deed.thing][1])
        else:
            things[deed.thing] = (things[deed.thing][0], _after(deed.verb))
        return SceneState(tuple(movers), tuple(things))

    def ground(self, state: SceneState, action: str, after: SceneState) -> GroundingGraph:
        """Return the grounding graph of an action: verb, place, thing and mover."""
        deed = self._deeds[action]
        where = deed.place or after.movers[deed.mover][0]
        nodes: dict[str, dict[str, Any]] = {
            "event": {deed.verb: True},
            "where": {"place": where, f"place={where}": True},
        }
        edges = [("event", "where", "at")]
        if deed.thing >= 0:
            name = self._thing_names[deed.thing]
            shown = {key: value for key, value in self._things[name].items()
                     if key not in ("at", "can", "name")}  # fmt: skip
            nodes["object"] = {"thing": name, f"thing={name}": True}
            for key, value in shown.items():
                nodes["object"] |= {key: str(value), f"{key}={value}": True}
            edges.append(("event", "object", "of"))
        if len(self._movers) > 1:
            who = self._mover_names[deed.mover]
            nodes["who"] = {"mover": who, f"mover={who}": True}
            edges.append(("event", "who", "by"))
        return GroundingGraph(nodes, edges)

    def outcome(self, state: SceneState) -> SceneState:
        """Return the result of a plan that ends in a state: the state itself."""
        return state

    def describe(self, state: SceneState) -> str:
        """Return a one-line description of a state."""
        said = []
        for name, (at, holds) in zip(self._movers, state.movers, strict=True):
            who = name if name[:1].isupper() else f"the {name}"  # Robby is a proper name
            said.append(f"{who} is at the {at}" + (f" and holds the {holds}" if holds else ""))
        for name, (at, how) in zip(self._things, state.things, strict=True):
            if at:
                said.append(f"the {name} is {how + ' ' if how else ''}at the {at}")
        text = "; ".join(said)
        return f"{text[:1].upper()}{text[1:]}."

    def _condition(self, name: str) -> str:
        kind = self._kind(name)
        return str(self._things[name].get("is", _CONDITIONS[kind][0])) if kind else ""

    def _kind(self, name: str) -> str:
        return next((kind for kind in _CONDITIONS if kind in self._can[name]), "")

    def _all_deeds(self) -> list[_Deed]:
        found = []
        for mover in range(len(self._movers)):
            if "go" in self.verbs:
                found += [_Deed(mover, "go", -1, place) for place in self._places]
            for thing, name in enumerate(self._things):
                can = [verb for verb in self._can[name] if verb in self.verbs]
                found += [_Deed(mover, "take", thing)] * ("take" in can)
                found += [_Deed(mover, "put", thing)] * ("take" in can and "put" in self.verbs)
                if "push" in can:
                    found += [_Deed(mover, "push", thing, place) for place in self._places]
                if "open" in can:
                    found += [_Deed(mover, verb, thing) for verb in ("open", "close")]
                if "switch" in can:
                    found += [_Deed(mover, verb, thing) for verb in ("switch on", "switch off")]
        return found

    def _possible(self, state: SceneState, deed: _Deed) -> bool:
        at, holds = state.movers[deed.mover]
        if deed.verb == "go":
            return deed.place != at
        place, how = state.things[deed.thing]
        if deed.verb == "put":
            return bool(holds == self._thing_names[deed.thing])
        if place != at:
            return False
        if deed.verb == "take":
            return not holds
        if deed.verb == "push":
            return not holds and deed.place != at
        return how != _after(deed.verb)

    def _name(self, deed: _Deed) -> str:
        who = f"{self._mover_names[deed.mover]}: " if len(self._movers) > 1 else ""
        thing = f"the {self._thing_names[deed.thing]}" if deed.thing >= 0 else ""
        if deed.verb == "go":
            return f"{who}go to the {deed.place}"
        verb = "put down" if deed.verb == "put" else deed.verb
        return f"{who}{verb} {thing}" + (f" to the {deed.place}" if deed.place else "")

    # ---- checks ---------------------------------------------------------------------------

    def _is_state(self, state: Any) -> bool:
        """Return whether a value, perhaps from a file, is a state of this world."""
        try:
            held = [holds for _, holds in state.movers if holds]
            pairs = list(zip(self._things, state.things, strict=True))
            return (
                isinstance(state, SceneState)
                and len(state.movers) == len(self._movers)
                and all(at in self._places for at, _ in state.movers)
                and sorted(held) == sorted(name for name, (at, _) in pairs if not at)
                and all(
                    (at in self._places or at == "")
                    and how in (_CONDITIONS[kind] if (kind := self._kind(name)) else ("",))
                    for name, (at, how) in pairs
                )
            )
        except (TypeError, ValueError, AttributeError):
            return False

    def _check_examples(self) -> None:
        if not isinstance(self.examples, (list, tuple)) or len(self.examples) > _EXAMPLES:
            raise WorldError(
                f"`examples` must be a list of at most {_EXAMPLES:,} entries; got "
                f"{shorten(self.examples)}."
            )
        starts = list(self.starts.values())
        for number, each in enumerate(self.examples, 1):
            where = f"of example {number}"
            if not isinstance(each, Mapping):
                raise WorldError(f"Example {number} must be a JSON object; got {shorten(each)}.")
            if not isinstance(text := each.get("text"), str) or not text.strip():
                raise WorldError(
                    f"`text` {where} must have at least one word; got {shorten(text)}."
                )
            if not isinstance(actions := each.get("actions"), (list, tuple)):
                raise WorldError(f"`actions` {where} must be a list; got {shorten(actions)}.")
            PLAN_ACTIONS.check(len(actions), WorldError, f"`actions` {where}")
            scene = _whole(each.get("scene", 1), 1, self.scenes, f"`scene` {where}")
            state = starts[scene - 1]
            for action in actions:
                deed = self._deeds.get(action) if isinstance(action, str) else None
                if deed is None or not self._possible(state, deed):
                    raise WorldError(
                        f"`actions` {where} must be possible in this order; {shorten(action)} is "
                        "impossible in its place. Correct the actions, or the scene."
                    )
                state = self.step(state, action)

    def _floor_plan(self) -> dict[str, _Box]:
        """Return the left, top, width and height of each place in the drawing, in cells.

        A place without `at` is drawn in the first free cells.
        """
        columns = math.ceil(math.sqrt(len(self._places) * 1.4))
        found: dict[str, _Box] = {}
        for name, each in sorted(self._places.items(), key=lambda each: "at" not in each[1]):
            size = _pair(each.get("size", [1, 1]), 1, f"`size` of {name!r}")
            if "at" in each:
                box = (*_pair(each["at"], 0, f"`at` of {name!r}"), *size)
                for other, taken in found.items():
                    if _overlap(box, taken):
                        x, y = max(box[0], taken[0]) + 1, max(box[1], taken[1]) + 1
                        raise WorldError(
                            f"Each place must have a cell of its own; {other!r} and {name!r} share "
                            f"column {x:g}, row {y:g}. Move one of them."
                        )
            else:
                cells = ((float(n % columns), float(n // columns), *size) for n in count())
                box = next(b for b in cells if not any(_overlap(b, e) for e in found.values()))
            found[name] = box
        return {name: found[name] for name in self._places}

    def draw(self, state: SceneState) -> str:
        """Draw the places as a floor plan, with the things and movers in each place."""
        return str(_FloorPlan(self, state).canvas)


class _FloorPlan:
    """Drawing of a state, with a click target for each possible action."""

    def __init__(self, world: SceneWorld, state: SceneState) -> None:
        self.world = world
        self.things = dict(zip(world._things, state.things, strict=True))
        self.movers = dict(zip(world._movers, state.movers, strict=True))
        self.possible = set(world.actions(state))
        wide = max(x + w for x, _, w, _ in world._plan.values())
        high = max(y + h for _, y, _, h in world._plan.values())
        self.canvas = Canvas(0, 0, wide * _CELL, high * _CELL)
        for name, (x, y, w, h) in world._plan.items():
            self._draw_place(name, (x * _CELL, y * _CELL, w * _CELL, h * _CELL))

    def _offered(self, *deeds: str) -> list[str]:
        """Return the named actions that are possible for any of the movers."""
        movers = [f"{name}: " for name in self.movers] if len(self.movers) > 1 else [""]
        named = (f"{who}{deed}" for who in movers for deed in deeds)
        return [each for each in named if each in self.possible]

    def _fill(self, thing: str) -> str:
        return _COLOURS.get(str(self.world._things[thing].get("colour", "")), "#8d949b")

    def _draw_place(self, place: str, box: _Box) -> None:
        canvas, (x, y, w, h) = self.canvas, box
        inner: dict[str, Any] = {
            "x": x + _GAP / 2,
            "y": y + _GAP / 2,
            "width": w - _GAP,
            "height": h - _GAP,
        }
        canvas.add("rect", None, class_="room", rx=10, **inner)
        canvas.text(x + w / 2, y + _HEAD, place, text_anchor="middle", font_size=15)
        for action in self._offered(f"go to the {place}")[:1]:
            canvas.target("rect", action, rx=10, **inner)
        slots = [
            *((name, self._draw_thing) for name, (at, _) in self.things.items() if at == place),
            *((name, self._draw_mover) for name, (at, _) in self.movers.items() if at == place),
        ]
        inside = (w - _GAP, h - _HEAD - _GAP)
        columns, scale = _arrange(len(slots), inside)
        rows = math.ceil(len(slots) / columns)
        for number, (name, draw) in enumerate(slots):
            row = number // columns
            in_row = min(columns, len(slots) - row * columns)
            apart = inside[0] / columns
            left = x + w / 2 + (number % columns - (in_row - 1) / 2) * apart
            top = y + _HEAD + (row + 0.5) * inside[1] / rows
            group = canvas.add("g", transform=f"translate({left:g} {top:g}) scale({scale:.3g})")
            draw(name, group, apart / scale)
        pushes = (self._offered(f"push the {name} to the {place}") for name in self.things)
        for number, action in enumerate(chain(*pushes)):  # a small mark for each thing to push here
            at = f"translate({x + w - _GAP - 12 - 26 * number:g} {y + h - _GAP - 12:g})"
            group = canvas.add("g", None, class_="ghost", transform=at)
            canvas.add(
                "path", group, d="M-7 -7 L7 7 M7 -7 L-7 7", stroke=_OUTLINE, stroke_width=1.5
            )
            canvas.target("rect", action, group, x=-11, y=-11, width=22, height=22, rx=3)

    def _draw_thing(self, name: str, slot: Element, width: float) -> None:
        canvas, how = self.canvas, self.things[name][1]
        group = canvas.add("g", slot, f"{name}{f' ({how})' if how else ''}",
                           transform="translate(0 -8)")  # fmt: skip
        fill, kind = self._fill(name), self.world._kind(name)
        edge: dict[str, Any] = {}
        if self.world._things[name].get("colour") == "white":  # visible on a white page
            edge = {"stroke": _OUTLINE, "stroke_width": 1.5}
            if kind:  # the shape is drawn as a white line
                canvas.add("circle", group, r=24, cy=-1, fill=_OUTLINE, fill_opacity=0.4)
        if kind == "switch":
            glow = "#ffd84d" if how == "on" else "none"
            canvas.add("circle", group, r=15, cy=-4, fill=glow, stroke=fill, stroke_width=4)
            canvas.add("rect", group, x=-6, y=11, width=12, height=7, fill=fill)
        elif kind == "open":
            canvas.add("rect", group, x=-15, y=-19, width=30, height=38, rx=3, stroke=fill,
                       stroke_width=4, fill="none" if how == "open" else fill)  # fmt: skip
        elif "push" in self.world._can[name]:
            canvas.add("rect", group, x=-19, y=-17, width=38, height=34, rx=3, fill=fill, **edge)
            cross, line = "M-19 -17 L19 17 M19 -17 L-19 17", _OUTLINE if edge else "#ffffff"
            canvas.add("path", group, d=cross, stroke=line, stroke_opacity=0.5, stroke_width=2)
        else:
            canvas.add("circle", group, r=16, fill=fill, **edge)
        _label(canvas, group, name, width)
        verbs = ("take", "open", "close", "switch on", "switch off")
        for action in self._offered(*(f"{verb} the {name}" for verb in verbs))[:1]:
            canvas.target("rect", action, group, x=-29, y=-22, width=58, height=60, rx=8)

    def _draw_mover(self, name: str, slot: Element, width: float) -> None:
        canvas, holds = self.canvas, self.movers[name][1]
        group = canvas.add("g", slot, name, class_="agent", transform="translate(0 -8)")
        canvas.add("rect", group, x=-17, y=-19, width=34, height=36, rx=10)
        canvas.add("circle", group, class_="eye", cx=-6, cy=-5, r=3)
        canvas.add("circle", group, class_="eye", cx=6, cy=-5, r=3)
        canvas.add("path", group, class_="mouth", d="M-6 6 Q0 10 6 6")
        if len(self.movers) > 1:
            _label(canvas, canvas.add("g", slot, transform="translate(0 -8)"), name, width)
        if holds:
            held = canvas.add("g", slot, holds, transform="translate(22 -22)")
            canvas.add("circle", held, r=11, fill=self._fill(holds), stroke=_OUTLINE,
                       stroke_width=1)  # fmt: skip
            for action in self._offered(f"put down the {holds}"):  # only its holder can
                canvas.target("circle", action, held, r=16)


def _pair(value: Any, least: int, what: str) -> tuple[float, float]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise WorldError(f"{what} must be a list of two numbers; got {shorten(value)}.")
    return float(_whole(value[0], least, 30, what)), float(_whole(value[1], least, 30, what))


def _overlap(one: _Box, two: _Box) -> bool:
    (x, y, w, h), (left, top, wide, high) = one, two
    return x < left + wide and left < x + w and y < top + high and top < y + h


def _arrange(slots: int, inside: tuple[float, float]) -> tuple[int, float]:
    """Return the number of columns and the scale at which all things fit into a place."""
    slots = max(slots, 1)

    def scale(columns: int) -> float:
        rows = math.ceil(slots / columns)
        return min(1.0, inside[0] / columns / _SLOT[0], inside[1] / rows / _SLOT[1])

    columns = max(range(1, slots + 1), key=lambda each: (scale(each), each))
    return columns, scale(columns)


def _label(canvas: Canvas, group: Element, name: str, width: float) -> None:
    """Write a name below a thing, in smaller letters if the name is wider than `width`."""
    size = min(_FONT, (width - 4) / (len(name) * _LETTER))
    canvas.text(0, 33, name, group, text_anchor="middle", font_size=round(size, 1))


def _after(verb: str) -> str:
    """Return the condition in which a verb leaves a thing, such as `closed`."""
    return {"open": "open", "close": "closed", "switch on": "on", "switch off": "off"}[verb]


def _name(value: Any, what: str) -> str:
    plain = isinstance(value, str) and value.isprintable() and ":" not in value
    if not plain or not value.strip() or len(value) > _LONGEST_NAME:
        raise WorldError(
            f"{what} must be a string of 1 to {_LONGEST_NAME} characters without a colon; got "
            f"{shorten(value)}."
        )
    return str(value)


def _listed(data: Json, what: str, least: int) -> list[dict[str, Any]]:
    found = data.get(what, [])
    if not isinstance(found, (list, tuple)):
        raise WorldError(f"`{what}` must be a list; got {shorten(found)}.")
    if not least <= len(found) <= MOST:
        raise WorldError(f"`{what}` must have {least} to {MOST} entries; got {len(found)}.")
    for each in found:
        if not isinstance(each, Mapping):
            raise WorldError(f"Each entry of `{what}` must be a JSON object; got {shorten(each)}.")
        _name(each.get("name"), f"The name of each entry of `{what}`")
        if len(each) > _MOST_PROPERTIES:
            raise WorldError(
                f"{each['name']!r} must have at most {_MOST_PROPERTIES} properties; got "
                f"{len(each)}."
            )
        for key, value in each.items():
            _name(key, f"The name of a property of {each['name']!r}")
            if key not in _SHAPES and not _is_plain(value):
                raise WorldError(
                    f"`{key}` of {each['name']!r} must be a number or a string of at most "
                    f"{_LONGEST_VALUE} characters; got {shorten(value)}."
                )
    return [dict(each) for each in found]


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return value.isprintable() and len(value) <= _LONGEST_VALUE
    return isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value))


def _chosen(found: Any, known: Sequence[str], what: str) -> tuple[str, ...]:
    if not isinstance(found, (list, tuple)):
        raise WorldError(f"{what} must be a list; got {shorten(found)}.")
    for each in found:
        if each not in known:
            raise WorldError(
                f"{what} must contain only {', '.join(known)}; got {shorten(each)}."
                f"{did_you_mean(shorten(each), known)}"
            )
    return tuple(dict.fromkeys(found))


def _whole(value: Any, least: int, most: int, what: str) -> int:
    if type(value) is not int or not least <= value <= most:
        raise WorldError(
            f"{what} must be a whole number from {least} to {most}; got {shorten(value)}."
        )
    return value
