"""Teach an agent to follow plain-language instructions from a handful of demonstrations."""

from groundling.features.lexicon import Lexicon
from groundling.features.settings import Features
from groundling.follower import Follower
from groundling.inference.plan import Plan
from groundling.inference.settings import Search
from groundling.language.instruction import Instruction
from groundling.learning.settings import Learning
from groundling.model.settings import Overlay
from groundling.world.checks import check_environment
from groundling.world.environment import Demonstration, Environment
from groundling.world.graph import GroundingGraph

__version__ = "0.1.0"

__all__ = [
    "Demonstration",
    "Environment",
    "Features",
    "Follower",
    "GroundingGraph",
    "Instruction",
    "Learning",
    "Lexicon",
    "Overlay",
    "Plan",
    "Search",
    "__version__",
    "check_environment",
]
