"""Instructions for any simulator: Gymnasium environments, BabyAI, Minari datasets."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundling.gym.acting import Agent, Report, carry_out
    from groundling.gym.babyai_levels import BabyAI, babyai, levels
    from groundling.gym.cutting import cut
    from groundling.gym.datasets import from_minari, to_minari
    from groundling.gym.moving import MoveAgent
    from groundling.gym.objects import Choice, Episode, MacroAction, ObjectWorld, Verb, sides
    from groundling.gym.recording import Trajectory, record
    from groundling.gym.simulator import Cost, GymWorld, Seen, Situation
    from groundling.gym.wrapper import InstructionFollowing

__all__ = [
    "Agent",
    "BabyAI",
    "Choice",
    "Cost",
    "Episode",
    "GymWorld",
    "InstructionFollowing",
    "MacroAction",
    "MoveAgent",
    "ObjectWorld",
    "Report",
    "Seen",
    "Situation",
    "Trajectory",
    "Verb",
    "babyai",
    "carry_out",
    "cut",
    "from_minari",
    "levels",
    "record",
    "sides",
    "to_minari",
]

# Where the names live. Gymnasium and its kin are optional: only what is used is imported.
_HOMES = {
    "acting": ("Agent", "Report", "carry_out"),
    "babyai_levels": ("BabyAI", "babyai", "levels"),
    "cutting": ("cut",),
    "datasets": ("from_minari", "to_minari"),
    "moving": ("MoveAgent",),
    "objects": ("Choice", "Episode", "MacroAction", "ObjectWorld", "Verb", "sides"),
    "recording": ("Trajectory", "record"),
    "simulator": ("Cost", "GymWorld", "Seen", "Situation"),
    "wrapper": ("InstructionFollowing",),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"groundling.gym.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'groundling.gym' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
