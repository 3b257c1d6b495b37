"""Smart homes: a home as data, as an environment, and a corpus of sentences about homes."""

from groundling.home.environment import Command, HomeEnvironment, HomeState
from groundling.home.home import Area, Entity, Floor, Home, HomeError, Timer, read_home

__all__ = [
    "Area",
    "Command",
    "Entity",
    "Floor",
    "Home",
    "HomeEnvironment",
    "HomeError",
    "HomeState",
    "Timer",
    "read_home",
]
