"""Effects of commands: the new states and attributes, in Home Assistant's format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from groundling.home.catalogue import COLOURS, VERBS, Verb
from groundling.home.home import Entity, Home, HomeError

States = dict[str, dict[str, Any]]
"""Mapping from the id of each entity to its `state` and `attributes`."""

_WARM, _COOL = 2700, 6500  # kelvin
# the attribute's value at 100 %, if it is not 100
_SCALES = {"brightness": 255, "volume_level": 1.0}
_USUAL = {"temperature": 20.0, "volume_level": 0.5, "percentage": 50.0}  # defaults
_OFF_AT_ZERO = {"light": "off", "fan": "off", "cover": "closed", "valve": "closed"}
_DEGREES, _KELVIN = (0.0, 100.0), (1000.0, 12_000.0)  # Celsius or Fahrenheit
_MOST_DEGREES = 20.0  # of a change
_LONGEST = 7 * 86_400.0  # seconds of a timer or delay
_FLIP = {"on": "off", "off": "on", "open": "closed", "closed": "open"}
_INACTIVE = ("off", "unavailable", "unknown", "standby", "")


def initial_states(home: Home, given: Mapping[str, Any] | None = None) -> States:
    """Return the states of all entities: the states in the home, updated with `given`.

    >>> home = Home.from_data({"entities": [{"id": "light.a", "name": "A", "state": "off"}]})
    >>> initial_states(home, {"light.a": {"state": "on"}})
    {'light.a': {'state': 'on', 'attributes': {}}}
    """
    found: States = {
        each.id: {"state": each.state, "attributes": dict(each.attributes)}
        for each in home.entities
    }
    for id_, new in (given or {}).items():
        if id_ not in found:
            raise HomeError(
                f"`states` must contain only entities of the home; got {id_!r}. Correct or remove "
                "this id."
            )
        if not isinstance(new, Mapping) or not isinstance(new.get("attributes") or {}, Mapping):
            raise HomeError(
                f"`states` of {id_!r} must be a mapping with `state` and `attributes`; got "
                f"{str(new)[:60]!r}."
            )
        if new.get("state") is not None:
            found[id_]["state"] = _text(new["state"])
        found[id_]["attributes"] |= new.get("attributes") or {}
    return found


def changes(entity: Entity, now: Mapping[str, Any], verb: str, value: Any = None) -> dict[str, Any]:
    """Return the changes that a verb makes to an entity's state and attributes.

    >>> lamp = Entity("light.a", "A")
    >>> changes(lamp, {"state": "off", "attributes": {}}, "set brightness", 50)
    {'state': 'on', 'attributes': {'brightness': 128}}
    """
    state, attributes = str(now["state"]), dict(now["attributes"])
    known = next(each for each in VERBS[entity.domain] if each.name == verb)
    new_state, new = _after(entity, known, state, attributes, value)
    found: dict[str, Any] = {}
    if new_state != state:
        found["state"] = new_state
    different = {name: new[name] for name in new if new[name] != attributes.get(name)}
    if different:
        found["attributes"] = different
    return found


def _after(
    entity: Entity, verb: Verb, state: str, attributes: Mapping[str, Any], value: Any
) -> tuple[str, dict[str, Any]]:
    domain, name = entity.domain, verb.attribute
    if verb.name == "toggle":
        return _FLIP.get(state, "on"), {}
    if domain == "climate" and verb.name == "turn on":
        modes = [each for each in attributes.get("hvac_modes") or ("heat",) if each != "off"]
        return (state if state not in _INACTIVE else modes[0] if modes else "heat"), {}
    if name == "items":
        return _items(attributes, verb.name, str(value))
    if name == "media_title":
        return verb.to, {name: value}
    if verb.name in ("mute", "unmute"):
        return state, {name: verb.name == "mute"}
    if verb.name in ("make warm", "make cool"):
        return "on", {name: _WARM if verb.name == "make warm" else _COOL}
    if name == "rgb_color":
        return "on", {name: list(COLOURS[str(value)])}
    if name == "current_position" and name not in attributes and "position" in attributes:
        name = "position"
    if verb.name in ("open", "close"):
        known = name in attributes
        return verb.to, ({name: 100 if verb.name == "open" else 0} if known else {})
    if not name:
        return verb.to or state, {}
    if verb.by < 0 and domain in _OFF_AT_ZERO and state in (*_INACTIVE, "closed"):
        return state, {}  # a lamp that is off cannot be dimmed
    number = _level(verb, name, state, attributes, value)
    is_zero = not number and domain in _OFF_AT_ZERO
    return (_OFF_AT_ZERO[domain] if is_zero else verb.to or state), {name: number}


def _level(
    verb: Verb, name: str, state: str, attributes: Mapping[str, Any], value: Any
) -> float | int:
    """Return the new value of an attribute, on the attribute's own scale."""
    full = _SCALES.get(name, 100)
    is_share = verb.value == "percentage"
    size = float(verb.by if value is None else value)
    amount = size * full / 100 if is_share else size
    if verb.by:
        was = attributes.get(name, attributes.get("current_temperature"))
        now = _number(was, _USUAL.get(name, 0.0 if state in (*_INACTIVE, "closed") else full))
        amount = now + abs(amount) * (1 if verb.by > 0 else -1)
    if is_share:
        amount = min(float(full), max(0.0, amount))
    if name == "volume_level":
        return round(amount, 2)
    return round(amount + 1e-9) if is_share or float(amount).is_integer() else round(amount, 1)


def _items(attributes: Mapping[str, Any], verb: str, item: str) -> tuple[str, dict[str, Any]]:
    items = list(attributes.get("items") or ())
    if verb == "add item":
        items.append(item)
    else:
        items = [each for each in items if str(each).lower() != item.lower()]
    return str(len(items)), {"items": items}


def limits(
    command: str, value: float, entity: Entity | None = None, now: Mapping[str, Any] | None = None
) -> tuple[float, float] | None:
    """Return the range of possible values if a value is out of range, else None.

    >>> limits("set temperature", 900, Entity("climate.a", "A"), {"attributes": {}})
    (0.0, 100.0)
    >>> limits("start timer", -300)
    (1.0, 604800.0)
    """
    attributes = (now or {}).get("attributes", {})
    verb = next((e for e in VERBS.get(entity.domain, ()) if e.name == command), None) \
        if entity else None  # fmt: skip
    if verb is None:
        low, high = (1.0, _LONGEST)
    elif verb.value == "degree" and verb.by:
        low, high = (0.0, _MOST_DEGREES)
    elif verb.value == "degree":
        low = _number(attributes.get("min_temp"), _DEGREES[0])
        high = _number(attributes.get("max_temp"), _DEGREES[1])
    elif verb.value == "kelvin":
        low, high = _KELVIN
    else:
        low, high = (0.0, 100.0)
    return None if low <= value <= high else (low, high)


def is_in_state(entity: Entity, now: Mapping[str, Any], asked: str) -> bool:
    """Return whether an entity is in the state that a question asks about.

    >>> is_in_state(Entity("climate.a", "A"), {"state": "heat", "attributes": {}}, "on")
    True
    """
    state = str(now["state"])
    if asked == "on" and entity.domain in ("climate", "media_player"):
        return state not in _INACTIVE
    return state.lower() == asked.lower()


def _number(value: Any, usual: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return usual
    return number if math.isfinite(number) else usual


def _text(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
