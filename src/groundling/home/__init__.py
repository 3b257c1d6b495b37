"""Smart homes: homes as data, an agent that replies in them, and a corpus of sentences."""

from groundling.home.environment import Command, HomeWorld, Situation, Target
from groundling.home.home import (
    Area,
    Entity,
    Floor,
    Home,
    HomeError,
    Phrase,
    Timer,
    read_home,
    teach_phrase,
)

__all__ = [
    "Area",
    "Command",
    "Entity",
    "Floor",
    "Home",
    "HomeError",
    "HomeWorld",
    "Phrase",
    "Situation",
    "Target",
    "Timer",
    "read_home",
    "teach_phrase",
]
