"""Teach an agent to follow plain-language instructions from a handful of demonstrations."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundling.errors import GroundlingError
    from groundling.features.lexicon import Lexicon
    from groundling.features.settings import Features
    from groundling.follower import Follower
    from groundling.inference.plan import Plan
    from groundling.inference.settings import Search
    from groundling.language.instruction import Instruction
    from groundling.learning.settings import Learning
    from groundling.model.settings import Overlay
    from groundling.partner import Partner
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
    "GroundlingError",
    "Instruction",
    "Learning",
    "Lexicon",
    "Overlay",
    "Partner",
    "Plan",
    "Search",
    "__version__",
    "check_environment",
]

# Where the names live: they are imported on first use, so that the command line answers at once.
_HOMES = {
    "Demonstration": "world.environment",
    "Environment": "world.environment",
    "Features": "features.settings",
    "Follower": "follower",
    "GroundingGraph": "world.graph",
    "GroundlingError": "errors",
    "Instruction": "language.instruction",
    "Learning": "learning.settings",
    "Lexicon": "features.lexicon",
    "Overlay": "model.settings",
    "Partner": "partner",
    "Plan": "inference.plan",
    "Search": "inference.settings",
    "check_environment": "world.checks",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'groundling' has no attribute {name!r}")
    value = getattr(import_module(f"groundling.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
