"""Generated worlds that are new in every request: a home and a crowded room.

The worlds use only functions that every version of the library has, so that `benchmarks/side.py`
can run with any version. Environments may also define `ground_many`, which older versions ignore.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from groundling import Demonstration, GroundingGraph

__all__ = ["Home", "Room", "SingleRoom", "demonstrations", "home", "requests", "room"]

VERBS = {
    "turn on": ("turn on", "switch on", "start"),
    "turn off": ("turn off", "switch off", "stop"),
    "toggle": ("toggle", "flip"),
    "dim": ("dim", "lower"),
    "report": ("check", "tell me about"),
}
KINDS = ("light", "switch", "fan", "cover", "lock", "speaker", "heater", "sensor")
AREAS = ("kitchen", "bedroom", "bathroom", "hall", "attic", "cellar", "garage", "office", "garden",
         "nursery")  # fmt: skip
COLOURS = ("red", "green", "blue", "yellow", "black", "white")
SHAPES = ("cup", "plate", "bowl", "box", "ball", "book", "lamp", "spoon", "vase", "candle")
ACTS = {"take": ("take", "grab", "pick up"), "push": ("push", "move"), "tip": ("tip", "turn over")}
_SYLLABLES = ("ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "ze")


class Entity(NamedTuple):
    """An entity in a home."""

    kind: str
    name: str
    area: str
    is_on: bool


class Command(NamedTuple):
    """A command: a verb and the number of an entity."""

    verb: str
    entity: int


Entities = tuple[Entity, ...]
_RELATIONS = (("event", "thing", "of"), ("thing", "place", "in"))


class Home:
    """A home in which every verb can be applied to every entity."""

    def actions(self, state: Entities) -> tuple[Command, ...]:
        """Return all pairs of a verb and an entity."""
        return tuple(Command(verb, place) for place in range(len(state)) for verb in VERBS)

    def step(self, state: Entities, action: Command) -> Entities:
        """Return the home with the entity turned on or off."""
        entity = state[action.entity]
        is_on = {"turn on": True, "turn off": False, "toggle": not entity.is_on}
        now = is_on.get(action.verb, entity.is_on)
        if now == entity.is_on:
            return state
        changed = entity._replace(is_on=now)
        return (*state[: action.entity], changed, *state[action.entity + 1 :])

    def ground(self, state: Entities, action: Command, after: Entities) -> GroundingGraph:
        """Return the command, the entity and its area."""
        entity = state[action.entity]
        nodes = {
            "event": {"verb": action.verb},
            "thing": {"kind": entity.kind, "name": entity.name, "is on": entity.is_on},
            "place": {"area": entity.area},
        }
        return GroundingGraph(nodes, _RELATIONS, roles=nodes)

    def ground_many(self, state: Entities, actions: tuple[Command, ...]) -> Any:
        """Return the graphs of all commands together; old versions do not call this method."""
        from groundling.world import GraphTable

        verbs, areas = list(VERBS), sorted({each.area for each in state})
        of_verb = {verb: place for place, verb in enumerate(verbs)}
        of_area = {area: place for place, area in enumerate(areas)}
        things = [{"kind": e.kind, "name": e.name, "is on": e.is_on} for e in state]
        nodes: dict[str, Any] = {
            "event": ([{"verb": verb} for verb in verbs], [of_verb[a.verb] for a in actions]),
            "thing": (things, [a.entity for a in actions]),
            "place": (
                [{"area": area} for area in areas],
                [of_area[state[a.entity].area] for a in actions],
            ),
        }
        return GraphTable(nodes, _RELATIONS, roles=nodes)


class Thing(NamedTuple):
    """A thing in a room."""

    colour: str
    shape: str
    column: int
    row: int


class Act(NamedTuple):
    """An action: a verb and a thing."""

    verb: str
    thing: int


Things = tuple[Thing, ...]


SIDES = {"left": (-1, 0), "right": (1, 0), "front": (0, 1), "back": (0, -1)}


class Room:
    """A room full of things; the graph of an action has the thing and its neighbours."""

    def actions(self, state: Things) -> tuple[Act, ...]:
        """Return all pairs of a verb and a thing."""
        return tuple(Act(verb, place) for place in range(len(state)) for verb in ACTS)

    def step(self, state: Things, action: Act) -> Things:
        """Return the room without the thing."""
        return (*state[: action.thing], *state[action.thing + 1 :])

    def ground(self, state: Things, action: Act, after: Things) -> GroundingGraph:
        """Return the graph: the action, the thing and the things beside it."""
        thing = state[action.thing]
        nodes: dict[str, dict[str, Any]] = {
            "event": {"act": action.verb},
            "target": {"colour": thing.colour, "shape": thing.shape},
        }
        edges = [("event", "target", "of")]
        at = {(other.column, other.row): other for other in state}
        for side, (right, forward) in SIDES.items():
            beside = at.get((thing.column + right, thing.row + forward))
            if beside is not None:
                nodes[side] = {"colour": beside.colour, "shape": beside.shape}
                edges.append(("target", side, side))
        return GroundingGraph(nodes, edges)

    def ground_many(self, state: Things, actions: tuple[Act, ...]) -> Any:
        """Return the graphs of all actions together; old versions do not call this method."""
        from groundling.world import GraphTable

        verbs = {verb: place for place, verb in enumerate(ACTS)}
        things = [{"colour": each.colour, "shape": each.shape} for each in state]
        at = {(each.column, each.row): place for place, each in enumerate(state)}
        nodes: dict[str, Any] = {
            "event": ([{"act": verb} for verb in ACTS], [verbs[each.verb] for each in actions]),
            "target": (things, [each.thing for each in actions]),
        }
        for side, (right, forward) in SIDES.items():
            beside = [at.get((each.column + right, each.row + forward), -1) for each in state]
            nodes[side] = (things, [beside[each.thing] for each in actions])
        edges = [("event", "target", "of"), *[("target", side, side) for side in SIDES]]
        return GraphTable(nodes, edges)


class SingleRoom(Room):
    """The same room without `ground_many`."""

    ground_many = None


def home(dice: random.Random, size: int = 100) -> Entities:
    """Return a home with new names."""
    kinds = [dice.choice(KINDS) for _ in range(size)]
    return tuple(
        Entity(kind, f"{_word(dice)} {kind}", dice.choice(AREAS), dice.random() < 0.5)
        for kind in kinds
    )


def room(dice: random.Random, size: int = 60) -> Things:
    """Return a room with things in new places."""
    places = dice.sample([(column, row) for column in range(10) for row in range(8)], size)
    return tuple(Thing(dice.choice(COLOURS), dice.choice(SHAPES), *place) for place in places)


def _word(dice: random.Random) -> str:
    return "".join(dice.choice(_SYLLABLES) for _ in range(dice.randint(2, 4)))


def _text(dice: random.Random, state: Any, action: Any) -> str:
    if isinstance(action, Command):
        entity = state[action.entity]
        where = f" in the {entity.area}" if dice.random() < 0.5 else ""
        return f"{dice.choice(VERBS[action.verb])} the {entity.name}{where}"
    thing = state[action.thing]
    return f"{dice.choice(ACTS[action.verb])} the {thing.colour} {thing.shape}"


def requests(
    name: str, count: int, seed: int, *, together: bool = False, size: int = 0
) -> list[tuple[str, Any, Any, Any]]:
    """Return (text, world, state, action) requests; with `together`, all about one state."""
    dice = random.Random(f"{name} {seed}")
    world: Any = {"home": Home, "room": Room, "single room": SingleRoom}[name]()
    make: Any = home if name == "home" else room
    found = []
    state: Any = None
    for _ in range(count):
        if state is None or not together:
            state = make(dice, size) if size else make(dice)
        action = dice.choice(world.actions(state))
        found.append((_text(dice, state, action), world, state, action))
    return found


def demonstrations(name: str, count: int, seed: int, size: int) -> list[Demonstration]:
    """Return demonstrations of one action each, every one in a different world."""
    return [
        Demonstration(text, world, state, (action,))
        for text, world, state, action in requests(name, count, seed, size=size)
    ]
