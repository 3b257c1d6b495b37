"""Teach an agent to follow plain-language instructions from demonstrations."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundling.agent import Agent, Turn
    from groundling.conversation import Conversation
    from groundling.errors import GroundlingError
    from groundling.features.feature_settings import Features
    from groundling.features.lexicon import Lexicon
    from groundling.features.synonyms import WordNet, WordVectors
    from groundling.follower import Follower
    from groundling.inference.search import Search
    from groundling.language.instruction import Instruction
    from groundling.learning.settings import Learning
    from groundling.models.base import Member
    from groundling.models.decision import DecisionModel
    from groundling.models.ensemble import Ensemble
    from groundling.models.plan import PlanModel
    from groundling.models.transducer import TransducerModel
    from groundling.overlay.settings import Overlay
    from groundling.plan import Plan
    from groundling.world.composition import compose
    from groundling.world.environment import Demonstration, Environment
    from groundling.world.environment_checks import check_environment
    from groundling.world.graph import GroundingGraph
    from groundling.world.open_values import OpenValue
    from groundling.world.products import Product
    from groundling.world.sets import OpenSet, describe_set

__version__ = "0.2.0"

# Silent unless the application configures logging.
logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = [
    "Agent",
    "Conversation",
    "DecisionModel",
    "Demonstration",
    "Ensemble",
    "Environment",
    "Features",
    "Follower",
    "GroundingGraph",
    "GroundlingError",
    "Instruction",
    "Learning",
    "Lexicon",
    "Member",
    "MemoryEnvironment",
    "OpenSet",
    "OpenValue",
    "Overlay",
    "Plan",
    "PlanModel",
    "Product",
    "Search",
    "TransducerModel",
    "Turn",
    "WordNet",
    "WordVectors",
    "__version__",
    "check_environment",
    "compose",
    "describe_set",
]

# The module of each name, imported on first use so that the command line starts quickly.
_HOMES = {
    "Agent": "agent",
    "Turn": "agent",
    "Conversation": "conversation",
    "DecisionModel": "models.decision",
    "Ensemble": "models.ensemble",
    "GroundlingError": "errors",
    "Member": "models.base",
    "PlanModel": "models.plan",
    "TransducerModel": "models.transducer",
    "Demonstration": "world.environment",
    "OpenSet": "world.sets",
    "OpenValue": "world.open_values",
    "describe_set": "world.sets",
    "Environment": "world.environment",
    "Features": "features.feature_settings",
    "Follower": "follower",
    "GroundingGraph": "world.graph",
    "Instruction": "language.instruction",
    "Learning": "learning.settings",
    "Lexicon": "features.lexicon",
    "WordNet": "features.synonyms",
    "WordVectors": "features.synonyms",
    "Overlay": "overlay.settings",
    "Plan": "plan",
    "Product": "world.products",
    "MemoryEnvironment": "history",
    "Search": "inference.search",
    "check_environment": "world.environment_checks",
    "compose": "world.composition",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'groundling' has no attribute {name!r}")
    value = getattr(import_module(f"groundling.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
