"""Verbs, values and states of each Home Assistant domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Verb(NamedTuple):
    """A verb of a domain, with the state or the attribute that it sets.

    `value` is the type of the spoken value (such as `percentage`, `number` or `text`). For
    relative verbs, `by` is the default change of the attribute. `ends` is true if the value can
    also be named by an end of the scale (*maximum*).
    """

    name: str
    to: str = ""
    attribute: str = ""
    value: str = ""
    by: float = 0.0
    ends: bool = False


_ON, _OFF = Verb("turn on", "on"), Verb("turn off", "off")
_SWITCH = (_ON, _OFF, Verb("toggle"))
_COVER = (
    Verb("open", "open", "current_position"),
    Verb("close", "closed", "current_position"),
    Verb("stop"),
    Verb("set position", "open", "current_position", "percentage"),
    Verb("open more", "open", "current_position", "percentage", 20),
    Verb("close more", "open", "current_position", "percentage", -20),
)
VERBS: Mapping[str, tuple[Verb, ...]] = {
    "light": (
        *_SWITCH,
        Verb("set brightness", "on", "brightness", "percentage", ends=True),
        Verb("brighten", "on", "brightness", "percentage", 20),
        Verb("dim", "on", "brightness", "percentage", -20),
        Verb("set colour", "on", "rgb_color", "colour"),
        Verb("set colour temperature", "on", "color_temp_kelvin", "kelvin"),
        Verb("make warm", "on", "color_temp_kelvin"),
        Verb("make cool", "on", "color_temp_kelvin"),
    ),
    **dict.fromkeys(("switch", "input_boolean", "automation", "siren", "water_heater"), _SWITCH),
    "fan": (
        *_SWITCH,
        Verb("set speed", "on", "percentage", "percentage", ends=True),
        Verb("speed up", "on", "percentage", "percentage", 25),
        Verb("slow down", "on", "percentage", "percentage", -25),
    ),
    "humidifier": (*_SWITCH, Verb("set humidity", "on", "humidity", "percentage")),
    "climate": (
        Verb("turn on", "heat"),
        _OFF,
        Verb("set temperature", "", "temperature", "degree"),
        Verb("warm up", "", "temperature", "degree", 1),
        Verb("cool down", "", "temperature", "degree", -1),
        Verb("heat", "heat"),
        Verb("cool", "cool"),
        Verb("automatic", "auto"),
    ),
    "media_player": (
        _ON,
        _OFF,
        Verb("pause", "paused"),
        Verb("resume", "playing"),
        Verb("stop", "idle"),
        Verb("next", "playing"),
        Verb("previous", "playing"),
        Verb("set volume", "", "volume_level", "percentage", ends=True),
        Verb("louder", "", "volume_level", "percentage", 10),
        Verb("quieter", "", "volume_level", "percentage", -10),
        Verb("mute", "", "is_volume_muted"),
        Verb("unmute", "", "is_volume_muted"),
        Verb("play", "playing", "media_title", "text"),
    ),
    "cover": _COVER,
    "valve": _COVER[:4],
    "lock": (Verb("lock", "locked"), Verb("unlock", "unlocked")),
    "vacuum": (
        Verb("start", "cleaning"),
        Verb("return", "returning"),
        Verb("pause", "paused"),
        Verb("stop", "idle"),
    ),
    "lawn_mower": (Verb("start", "mowing"), Verb("return", "docked"), Verb("pause", "paused")),
    "scene": (Verb("turn on", "on"),),
    "script": (Verb("turn on", "on"), _OFF),
    "button": (Verb("press"),),
    "todo": (
        Verb("add item", "", "items", "text"),
        Verb("complete item", "", "items", "text"),
    ),
}
"""Verbs of each domain."""

STATES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "light", "switch", "fan", "input_boolean", "automation", "siren", "humidifier",
            "water_heater", "script", "binary_sensor",
        ),
        ("on", "off"),
    ),
    "climate": ("on", "off", "heat", "cool"),
    "media_player": ("playing", "paused", "on", "off"),
    "cover": ("open", "closed", "opening", "closing"),
    "valve": ("open", "closed", "opening", "closing"),
    "lock": ("locked", "unlocked"),
    "vacuum": ("cleaning", "docked", "returning"),
    "lawn_mower": ("mowing", "docked"),
    "person": ("home", "not_home"),
    "device_tracker": ("home", "not_home"),
}  # fmt: skip
"""States that questions about each domain can name."""

QUESTIONS = frozenset({
    "whether", "any", "all", "which", "how many", "what", "temperature", "weather", "time",
    "date", "time left", "respond",
})  # fmt: skip
"""Verbs of questions, which change no state."""

COLOURS: Mapping[str, tuple[int, int, int]] = {
    "white": (255, 255, 255), "black": (0, 0, 0), "red": (255, 0, 0), "orange": (255, 165, 0),
    "yellow": (255, 255, 0), "green": (0, 128, 0), "blue": (0, 0, 255), "purple": (128, 0, 128),
    "brown": (165, 42, 42), "pink": (255, 192, 203), "turquoise": (64, 224, 208),
    "grey": (128, 128, 128), "cyan": (0, 255, 255), "magenta": (255, 0, 255),
    "violet": (238, 130, 238), "gold": (255, 215, 0), "beige": (245, 245, 220),
}  # fmt: skip
"""Colours of lights by their CSS names, as in Home Assistant."""


def states_of(domain: str, own: str = "") -> tuple[str, ...]:
    """Return the states that questions about a domain can name.

    `own` is the current state of the entity, such as the zone of a person.

    >>> states_of("lock"), states_of("person", "Work")
    (('locked', 'unlocked'), ('home', 'not_home', 'Work'))
    """
    known = STATES.get(domain, ())
    is_zone = domain in ("person", "device_tracker") and own and own not in known
    return (*known, own) if is_zone else known


def kind_name(kind: str) -> str:
    """Return the English name of a kind: its device class or, without one, its domain.

    >>> kind_name("cover:garage_door"), kind_name("media_player")
    ('garage door', 'media player')
    """
    domain, _, device_class = kind.partition(":")
    return (device_class or domain).replace("_", " ")
