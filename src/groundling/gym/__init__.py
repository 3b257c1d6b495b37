"""Instructions for any simulator: Gymnasium environments, BabyAI, Minari datasets."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundling.gym.babyai import BabyAI, babyai, levels
    from groundling.gym.objects import ObjectWorld, Verb

__all__ = ["BabyAI", "ObjectWorld", "Verb", "babyai", "levels"]

_HOMES = {
    "BabyAI": "babyai",
    "ObjectWorld": "objects",
    "Verb": "objects",
    "babyai": "babyai",
    "levels": "babyai",
}
