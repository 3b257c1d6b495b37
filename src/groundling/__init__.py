"""Teach an agent to follow plain-language instructions from a handful of demonstrations."""

__version__ = "0.1.0"
