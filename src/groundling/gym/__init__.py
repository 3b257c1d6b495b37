"""Instructions for any simulator: Gymnasium environments, BabyAI, Minari datasets."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundling.gym.agent import ActReport, Agent, carry_out
    from groundling.gym.babyai_levels import BabyAI, babyai, levels
    from groundling.gym.datasets import from_minari, to_minari
    from groundling.gym.move_agent import MoveAgent
    from groundling.gym.objects import Choice, Episode, MacroAction, ObjectWorld, Verb, sides
    from groundling.gym.recorder import Recording, record
    from groundling.gym.segmentation import cut
    from groundling.gym.simulator import Cost, GymWorld, Seen, Situation
    from groundling.gym.wrapper import InstructionFollowing

__all__ = [
    "ActReport",
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
    "Recording",
    "Seen",
    "Situation",
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
    "agent": ("Agent", "ActReport", "carry_out"),
    "babyai_levels": ("BabyAI", "babyai", "levels"),
    "segmentation": ("cut",),
    "datasets": ("from_minari", "to_minari"),
    "move_agent": ("MoveAgent",),
    "objects": ("Choice", "Episode", "MacroAction", "ObjectWorld", "Verb", "sides"),
    "recorder": ("Recording", "record"),
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
