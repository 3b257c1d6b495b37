"""Agents for Gymnasium and BabyAI environments, and conversion of Minari datasets."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundling.gym.agent import ActReport as ActReport
    from groundling.gym.agent import Agent as Agent
    from groundling.gym.agent import carry_out as carry_out
    from groundling.gym.babyai_levels import BabyAI as BabyAI
    from groundling.gym.babyai_levels import babyai as babyai
    from groundling.gym.babyai_levels import levels as levels
    from groundling.gym.datasets import from_minari as from_minari
    from groundling.gym.datasets import to_minari as to_minari
    from groundling.gym.episode import ActionChoice as ActionChoice
    from groundling.gym.episode import Episode as Episode
    from groundling.gym.episode import MacroAction as MacroAction
    from groundling.gym.move_agent import MoveAgent as MoveAgent
    from groundling.gym.objects import ObjectWorld as ObjectWorld
    from groundling.gym.objects import sides as sides
    from groundling.gym.recorder import Recording as Recording
    from groundling.gym.recorder import record as record
    from groundling.gym.segmentation import cut as cut
    from groundling.gym.simulator import Cost as Cost
    from groundling.gym.simulator import GymWorld as GymWorld
    from groundling.gym.simulator import Seen as Seen
    from groundling.gym.simulator import Situation as Situation
    from groundling.gym.verbs import Verb as Verb
    from groundling.gym.wrapper import InstructionFollowing as InstructionFollowing

# Modules of the public names, imported on first use: Gymnasium and MiniGrid are optional.
_HOMES = {
    "agent": ("ActReport", "Agent", "carry_out"),
    "babyai_levels": ("BabyAI", "babyai", "levels"),
    "datasets": ("from_minari", "to_minari"),
    "episode": ("ActionChoice", "Episode", "MacroAction"),
    "move_agent": ("MoveAgent",),
    "objects": ("ObjectWorld", "sides"),
    "recorder": ("Recording", "record"),
    "segmentation": ("cut",),
    "simulator": ("Cost", "GymWorld", "Seen", "Situation"),
    "verbs": ("Verb",),
    "wrapper": ("InstructionFollowing",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'groundling.gym' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"groundling.gym.{_HOME_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
