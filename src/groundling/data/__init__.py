"""Demonstration files, worlds found by name, and states and actions as JSON."""

from groundling.data.canonical import canonical
from groundling.data.codec import Codec, value_classes
from groundling.data.records import BadRecord, Demonstrations
from groundling.data.worlds import Worlds, load_world

__all__ = [
    "BadRecord",
    "Codec",
    "Demonstrations",
    "Worlds",
    "canonical",
    "load_world",
    "value_classes",
]
