"""Action structure: grounding graphs and the environments that they describe."""

from groundling.world.checks import EnvironmentReport, check_environment
from groundling.world.environment import Demonstration, Environment, World
from groundling.world.graph import GroundingGraph, Label
from groundling.world.trajectory import ScoredTrajectory, Trajectory

__all__ = [
    "Demonstration",
    "Environment",
    "EnvironmentReport",
    "GroundingGraph",
    "Label",
    "ScoredTrajectory",
    "Trajectory",
    "World",
    "check_environment",
]
