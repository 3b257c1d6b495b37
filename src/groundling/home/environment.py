"""The home as an environment: which commands it takes, what they do, and how they look."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from groundling.home.home import Entity, Home, HomeError, Timer
from groundling.world.graph import GroundingGraph

__all__ = ["VALUES", "VERBS", "Command", "HomeEnvironment", "HomeState"]

_SWITCH = {"turn on": "on", "turn off": "off"}
_OPEN = {"open": "open", "close": "closed"}
VERBS: Mapping[str, Mapping[str, str]] = {
    "light": _SWITCH,
    "switch": _SWITCH,
    "fan": _SWITCH,
    "input_boolean": _SWITCH,
    "automation": _SWITCH,
    "siren": _SWITCH,
    "humidifier": _SWITCH,
    "water_heater": _SWITCH,
    "climate": {"turn on": "heat", "turn off": "off"},
    "media_player": {
        "turn on": "on", "turn off": "off", "pause": "paused", "resume": "playing",
        "next": "playing", "previous": "playing",
    },
    "cover": _OPEN,
    "valve": _OPEN,
    "lock": {"lock": "locked", "unlock": "unlocked"},
    "vacuum": {"start": "cleaning", "return": "returning"},
    "scene": {"turn on": "on"},
    "script": {"turn on": "on"},
}  # fmt: skip
"""For each domain its verbs, and the state each of them leads to."""

_TENS = (0, 1, *range(10, 101, 10))
COLORS = (
    "white", "black", "red", "orange", "yellow", "green", "blue", "purple", "brown", "pink",
    "turquoise",
)  # fmt: skip
VALUES: Mapping[str, tuple[tuple[str, str, tuple[Any, ...]], ...]] = {
    "light": (("set brightness", "brightness", _TENS), ("set color", "color", COLORS)),
    "climate": (("set temperature", "temperature", tuple(range(15, 31))),),
    "media_player": (("set volume", "volume_level", _TENS),),
    "cover": (("set position", "position", _TENS),),
    "valve": (("set position", "position", _TENS),),
}
"""For each domain the verbs that take a value: the verb, the attribute, and the values."""
MINUTES = (1, 2, 5, 10, 15, 20, 30)
_TIMER_VERBS = ("cancel", "pause", "resume")
NOTHING = "nothing"


class Command(NamedTuple):
    """One command: a verb, what it is done to, where, and perhaps a value.

    `what` is the id of an entity, a domain (`light`), a domain with a device class
    (`cover:curtain`), or a timer (`timer:0`, or `timer` for all). `where` is empty for an entity
    and for everywhere, or `area:ID` or `floor:ID`.

    >>> print(Command("turn on", "light", "area:kitchen"))
    turn on light (area:kitchen)
    """

    verb: str
    what: str = ""
    where: str = ""
    value: Hashable = None

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        value = "" if self.value is None else f" to {self.value}"
        return f"{self.verb} {self.what}{where}{value}".replace("  ", " ").strip()


@dataclass(frozen=True)
class HomeState:
    """What differs from the home as it was read, and what was asked for so far.

    `here` is the id of the area in which the speaker is, or empty. `changes` are (entity, name,
    value), sorted; the name `state` stands for the state, others are attributes. `calls` are
    (entity, verb, value) of all commands, sorted: a command that has no effect is part of the
    outcome, so that it counts as right only where it was addressed to the right things.
    """

    here: str = ""
    changes: tuple[tuple[str, str, Hashable], ...] = ()
    calls: tuple[tuple[str, str, Hashable], ...] = ()
    timers: tuple[Timer, ...] = ()


class HomeEnvironment:
    """A home in which commands can be followed.

    Every entity takes the verbs of its domain, and so do all entities of a domain or of a device
    class, in an area, on a floor or everywhere. Values are offered in steps (`values`, as in
    `VALUES`).

    Examples
    --------
    >>> home = Home.from_data({
    ...     "areas": [{"id": "hall", "name": "Hall"}],
    ...     "entities": [{"id": "lock.door", "name": "Front Door", "area": "hall"}],
    ... })
    >>> world = HomeEnvironment(home)
    >>> [str(each) for each in world.actions(world.initial_state())][:3]
    ['nothing', 'lock lock.door', 'unlock lock.door']
    >>> after = world.step(world.initial_state(), Command("lock", "lock", "area:hall"))
    >>> after.changes
    (('lock.door', 'state', 'locked'),)
    """

    def __init__(
        self,
        home: Home,
        values: Mapping[str, Sequence[tuple[str, str, Sequence[Any]]]] = VALUES,
    ) -> None:
        self.home = home
        self.values = values

    def initial_state(
        self, here: str = "", states: Mapping[str, Mapping[str, Any]] | None = None
    ) -> HomeState:
        """Return a state to begin in: as the home was read, with other `states` if given.

        `states` has for each entity `state` and `attributes`.
        """
        if here and here not in self.home.area_of:
            raise HomeError(f"`area` must be the id of an area of the home; got {here!r}.")
        changes: dict[tuple[str, str], Hashable] = {}
        for id_, new in (states or {}).items():
            if id_ not in self.home.entity_of:
                raise HomeError(f"`states` must name entities of the home; got {id_!r}.")
            if "state" in new:
                changes[id_, "state"] = str(new["state"])
            changes |= {(id_, str(k)): v for k, v in (new.get("attributes") or {}).items()}
        return HomeState(here, _sorted(changes), (), self.home.timers)

    def actions(self, state: HomeState) -> tuple[Command, ...]:
        """Return the commands that the home takes."""
        timers = [f"timer:{place}" for place in range(len(state.timers))]
        offered = [Command(verb, timer) for timer in timers for verb in _TIMER_VERBS]
        offered += [
            Command(verb, timer, "", minutes)
            for timer in timers
            for verb in ("add time", "take time")
            for minutes in MINUTES
        ]
        if timers:
            areas = dict.fromkeys(timer.area for timer in state.timers if timer.area)
            offered += [
                Command("cancel", "timer", where)
                for where in ("", *(f"area:{area}" for area in areas))
            ]
        return (*self._commands, *offered)

    @cached_property
    def _commands(self) -> tuple[Command, ...]:
        found = [Command(NOTHING)]
        for entity in self.home.entities:
            found += self._verbs(entity.domain, entity.id, "")
        for what, where in self.groups:
            found += self._verbs(what.partition(":")[0], what, where)
        return tuple(found)

    def _verbs(self, domain: str, what: str, where: str) -> Iterable[Command]:
        for verb in VERBS.get(domain, ()):
            yield Command(verb, what, where)
        for verb, _, values in self.values.get(domain, ()):
            for value in values:
                yield Command(verb, what, where, value)

    @cached_property
    def groups(self) -> Mapping[tuple[str, str], tuple[Entity, ...]]:
        """Entities of one kind in one place, by what and where as a `Command` has them."""
        found: dict[tuple[str, str], list[Entity]] = {}
        for entity in self.home.entities:
            if entity.domain not in VERBS:
                continue
            kinds = [entity.domain]
            if entity.device_class:
                kinds.append(f"{entity.domain}:{entity.device_class}")
            floor = self.home.floor_id(entity)
            places = ["", f"area:{entity.area}" * bool(entity.area), f"floor:{floor}" * bool(floor)]
            for kind in kinds:
                for place in dict.fromkeys(places):
                    found.setdefault((kind, place), []).append(entity)
        return {key: tuple(entities) for key, entities in found.items()}

    def targets(self, command: Command) -> tuple[Entity, ...]:
        """Return the entities that a command is for."""
        if command.what in self.home.entity_of:
            return (self.home.entity_of[command.what],)
        return self.groups.get((command.what, command.where), ())

    def step(self, state: HomeState, action: Command) -> HomeState:
        """Return the state after a command."""
        if action.what.startswith("timer"):
            return self._step_timers(state, action)
        changes = {(id_, name): value for id_, name, value in state.changes}
        calls = set(state.calls)
        for entity in self.targets(action):
            calls.add((entity.id, action.verb, action.value))
            attribute = self._attribute(entity.domain, action.verb)
            if attribute:
                changes[entity.id, attribute] = action.value
                to = {"light": "on", "cover": "open", "valve": "open"}.get(entity.domain)
                if action.value == 0:
                    to = {"light": "off", "cover": "closed", "valve": "closed"}.get(entity.domain)
            else:
                to = VERBS[entity.domain][action.verb]
            if to:
                changes[entity.id, "state"] = to
        return replace(state, changes=_sorted(changes), calls=tuple(sorted(calls, key=_order)))

    def _attribute(self, domain: str, verb: str) -> str:
        return next((name for v, name, _ in self.values.get(domain, ()) if v == verb), "")

    def _step_timers(self, state: HomeState, action: Command) -> HomeState:
        chosen = self._timers(state, action)
        timers = []
        for place, timer in enumerate(state.timers):
            if place in chosen:
                if action.verb == "cancel":
                    continue
                if action.verb in ("pause", "resume"):
                    timer = replace(timer, is_active=action.verb == "resume")
                else:
                    seconds = 60 * int(str(action.value)) * (1 if action.verb == "add time" else -1)
                    timer = replace(timer, left=max(0, timer.left + seconds))
            timers.append(timer)
        calls = {(f"timer:{place}", action.verb, action.value) for place in chosen}
        return replace(
            state,
            timers=tuple(timers),
            calls=tuple(sorted({*state.calls, *calls}, key=_order)),
        )

    @staticmethod
    def _timers(state: HomeState, action: Command) -> set[int]:
        _, _, place = action.what.partition(":")
        if place:
            return {int(place)}
        area = action.where.removeprefix("area:")
        return {n for n, timer in enumerate(state.timers) if not area or timer.area == area}

    def ground(self, state: HomeState, action: Command, next_state: HomeState) -> GroundingGraph:
        """Return the graph of a command: the event, the thing, its place and the value."""
        nodes: dict[str, dict[str, Any]] = {"event": {action.verb: True}}
        edges: list[tuple[str, str, str]] = []
        if action.what:
            nodes["thing"], nodes["place"] = self._thing(state, action)
            edges += [("event", "thing", "of"), ("thing", "place", "in")]
        if action.value is not None:
            said = "minutes" if action.verb.endswith("time") else action.verb.removeprefix("set ")
            nodes["value"] = {said: action.value, **_ends(said, action.value)}
            edges.append(("event", "value", "to"))
        return GroundingGraph(nodes, edges, roles=nodes)

    def _thing(self, state: HomeState, action: Command) -> tuple[dict[str, Any], dict[str, Any]]:
        home = self.home
        if action.what.startswith("timer:"):
            timer = state.timers[int(action.what.partition(":")[2])]
            thing: dict[str, Any] = {"timer": True, "name": timer.name or None}
            for unit, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)):
                if timer.start and timer.start % size == 0:
                    thing[unit] = timer.start // size
                    break
            return thing, self._place(state, timer.area, "")
        if action.what == "timer":
            return {"timer": True, "all": True}, self._group_place(state, action.where)
        if action.what in home.entity_of:
            entity = home.entity_of[action.what]
            thing = {"name": [entity.name, *entity.aliases], **_kinds(entity.domain)}
            if entity.device_class:
                thing["device_class"] = _spaced(entity.device_class)
            changed = {(id_, name): value for id_, name, value in state.changes}
            thing["state"] = changed.get((entity.id, "state"), entity.state) or None
            return thing, self._place(state, entity.area, home.floor_id(entity))
        domain, _, device_class = action.what.partition(":")
        thing = {"all": True, **_kinds(domain)}
        if device_class:
            thing["device_class"] = _spaced(device_class)
        return thing, self._group_place(state, action.where)

    def _group_place(self, state: HomeState, where: str) -> dict[str, Any]:
        kind, _, id_ = where.partition(":")
        if kind == "area":
            return self._place(state, id_, "")
        if kind == "floor":
            return self._place(state, "", id_)
        return {"everywhere": True}

    def _place(self, state: HomeState, area: str, floor: str) -> dict[str, Any]:
        place: dict[str, Any] = {}
        if area:
            found = self.home.area_of[area]
            place["area"] = [found.name, *found.aliases]
            place["here"] = area == state.here
        if floor:
            level = self.home.floor_of[floor]
            place["floor"] = [level.name, *level.aliases]
        return place

    @staticmethod
    def outcome(state: HomeState) -> Hashable:
        """Return what counts of a final state: changes, timers, and what was asked for."""
        return state.changes, state.timers, state.calls

    def describe(self, state: HomeState) -> str:
        """Return a line of text about a state."""
        changed = ", ".join(f"{id_} {name} = {value}" for id_, name, value in state.changes)
        return changed or "as it was read"


def _ends(said: str, value: Hashable) -> dict[str, bool]:
    """Return labels for the ends of a scale, which people call by words."""
    if said in ("brightness", "position", "volume"):
        return {"most": value == 100, "least": value == 1}
    return {}


def _kinds(domain: str) -> dict[str, str]:
    return {"domain": _spaced(domain)}


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _order(call: tuple[str, str, Hashable]) -> tuple[str, str, str]:
    return (call[0], call[1], repr(call[2]))


def _sorted(changes: Mapping[tuple[str, str], Hashable]) -> tuple[tuple[str, str, Hashable], ...]:
    return tuple((id_, name, changes[id_, name]) for id_, name in sorted(changes))
