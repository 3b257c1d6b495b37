"""Demonstrations as files, worlds by name, states and actions as JSON."""

from groundling.data.codec import Codec, canonical, value_classes

__all__ = ["Codec", "canonical", "value_classes"]
