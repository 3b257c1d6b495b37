"""Service calls of Home Assistant that carry out Groundling's commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groundling.home.environment import Command

_PLAIN = {
    ("cover", "open"): "open_cover", ("cover", "close"): "close_cover",
    ("cover", "stop"): "stop_cover", ("valve", "open"): "open_valve",
    ("valve", "close"): "close_valve", ("valve", "stop"): "stop_valve",
    ("lock", "lock"): "lock", ("lock", "unlock"): "unlock", ("vacuum", "start"): "start",
    ("vacuum", "return"): "return_to_base", ("vacuum", "pause"): "pause",
    ("vacuum", "stop"): "stop", ("lawn_mower", "start"): "start_mowing",
    ("lawn_mower", "return"): "dock", ("lawn_mower", "pause"): "pause",
    ("media_player", "pause"): "media_pause", ("media_player", "resume"): "media_play",
    ("media_player", "stop"): "media_stop", ("media_player", "next"): "media_next_track",
    ("media_player", "previous"): "media_previous_track", ("button", "press"): "press",
}  # fmt: skip
_MODES = {"heat": "heat", "cool": "cool", "automatic": "auto"}


def calls_of(
    command: Command, changes: dict[str, Any]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield a service call (domain, service, data) for each entity of a command."""
    for id_ in command.target.ids:
        domain = id_.partition(".")[0]
        if "." in id_:
            yield from _call(domain, id_, command, changes.get(id_, {}).get("attributes", {}))


def _call(
    domain: str, id_: str, command: Command, new: dict[str, Any]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    verb, data = command.verb, {"entity_id": id_}
    if (domain, verb) in _PLAIN:
        yield domain, _PLAIN[domain, verb], data
    elif verb in ("turn on", "turn off", "toggle"):
        yield "homeassistant", verb.replace(" ", "_"), data
    elif domain == "climate" and verb in _MODES:
        yield domain, "set_hvac_mode", {**data, "hvac_mode": _MODES[verb]}
    elif domain == "climate" and "temperature" in new:
        yield domain, "set_temperature", {**data, "temperature": new["temperature"]}
    elif domain == "light" and new:
        if "brightness" in new and not new["brightness"]:
            yield "light", "turn_off", data
        else:
            yield "light", "turn_on", {**data, **new}
    elif domain in ("cover", "valve"):
        position = new.get("current_position", new.get("position"))
        if position is not None:
            yield domain, f"set_{domain}_position", {**data, "position": position}
    elif domain == "fan" and "percentage" in new:
        yield domain, "set_percentage", {**data, "percentage": new["percentage"]}
    elif domain == "humidifier" and "humidity" in new:
        yield domain, "set_humidity", {**data, "humidity": new["humidity"]}
    elif domain == "media_player" and verb in ("mute", "unmute"):
        yield domain, "volume_mute", {**data, "is_volume_muted": verb == "mute"}
    elif domain == "media_player" and "volume_level" in new:
        yield domain, "volume_set", {**data, "volume_level": new["volume_level"]}
    elif domain == "todo" and command.value is not None:
        if verb == "add item":
            yield domain, "add_item", {**data, "item": command.value}
        else:
            yield domain, "update_item", {**data, "item": command.value, "status": "completed"}
