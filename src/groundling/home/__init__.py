"""Smart homes: descriptions of homes, an agent, models of languages, and a corpus."""

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
