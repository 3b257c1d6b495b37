"""Teach an agent to follow plain-language instructions from demonstrations."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundling.agent import Agent as Agent
    from groundling.agent import Turn as Turn
    from groundling.conversation import Conversation as Conversation
    from groundling.errors import GroundlingError as GroundlingError
    from groundling.features.feature_settings import Features as Features
    from groundling.features.lexicon import Lexicon as Lexicon
    from groundling.features.synonyms import WordNet as WordNet
    from groundling.features.synonyms import WordVectors as WordVectors
    from groundling.follower import Follower as Follower
    from groundling.history import MemoryEnvironment as MemoryEnvironment
    from groundling.inference.search import Search as Search
    from groundling.language.instruction import Instruction as Instruction
    from groundling.learning.settings import Learning as Learning
    from groundling.models.base import Member as Member
    from groundling.models.decision import DecisionModel as DecisionModel
    from groundling.models.ensemble import Ensemble as Ensemble
    from groundling.models.plan import PlanModel as PlanModel
    from groundling.models.transducer import TransducerModel as TransducerModel
    from groundling.overlay.settings import Overlay as Overlay
    from groundling.plan import Plan as Plan
    from groundling.world.composition import compose as compose
    from groundling.world.environment import Demonstration as Demonstration
    from groundling.world.environment import Environment as Environment
    from groundling.world.environment_checks import check_environment as check_environment
    from groundling.world.graph import GroundingGraph as GroundingGraph
    from groundling.world.open_values import OpenValue as OpenValue
    from groundling.world.products import Product as Product
    from groundling.world.sets import OpenSet as OpenSet
    from groundling.world.sets import describe_set as describe_set

__version__ = "0.2.0"

# Silent unless the application configures logging.
logging.getLogger(__name__).addHandler(logging.NullHandler())

# The modules of the public names, imported on first use so that the command line starts quickly.
_HOMES = {
    "agent": ("Agent", "Turn"),
    "conversation": ("Conversation",),
    "errors": ("GroundlingError",),
    "features.feature_settings": ("Features",),
    "features.lexicon": ("Lexicon",),
    "features.synonyms": ("WordNet", "WordVectors"),
    "follower": ("Follower",),
    "history": ("MemoryEnvironment",),
    "inference.search": ("Search",),
    "language.instruction": ("Instruction",),
    "learning.settings": ("Learning",),
    "models.base": ("Member",),
    "models.decision": ("DecisionModel",),
    "models.ensemble": ("Ensemble",),
    "models.plan": ("PlanModel",),
    "models.transducer": ("TransducerModel",),
    "overlay.settings": ("Overlay",),
    "plan": ("Plan",),
    "world.composition": ("compose",),
    "world.environment": ("Demonstration", "Environment"),
    "world.environment_checks": ("check_environment",),
    "world.graph": ("GroundingGraph",),
    "world.open_values": ("OpenValue",),
    "world.products": ("Product",),
    "world.sets": ("OpenSet", "describe_set"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted((*_HOME_OF, "__version__"))


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'groundling' has no attribute {name!r}")
    value = getattr(import_module(f"groundling.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
