"""Action structure: grounding graphs and the environments that they describe."""

from groundling.world.environment import Demonstration, Environment, Trace, World
from groundling.world.graph import GroundingGraph, Label

__all__ = ["Demonstration", "Environment", "GroundingGraph", "Label", "Trace", "World"]
