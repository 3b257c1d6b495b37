"""Action structure: grounding graphs and the environments that they describe."""

from groundling.world.checks import EnvironmentReport, check_environment
from groundling.world.environment import Demonstration, Environment, Trace, World
from groundling.world.graph import GroundingGraph, Label

__all__ = [
    "Demonstration",
    "Environment",
    "EnvironmentReport",
    "GroundingGraph",
    "Label",
    "Trace",
    "World",
    "check_environment",
]
