"""Action structure: environments and the grounding graphs of their actions."""

from groundling.world.cached_environment import CachedEnvironment
from groundling.world.composition import compose
from groundling.world.environment import Demonstration, Environment
from groundling.world.environment_checks import EnvironmentReport, check_environment
from groundling.world.graph import GroundingGraph, Label
from groundling.world.graph_table import GraphTable
from groundling.world.manners import Manner, explain_sequence, learn_manners
from groundling.world.open_values import OpenValue
from groundling.world.products import Product
from groundling.world.relations import Scene
from groundling.world.sets import OpenSet, describe_set
from groundling.world.trajectory import ScoredTrajectory, Trajectory

__all__ = [
    "CachedEnvironment",
    "Demonstration",
    "Environment",
    "EnvironmentReport",
    "GraphTable",
    "GroundingGraph",
    "Label",
    "Manner",
    "OpenSet",
    "OpenValue",
    "Product",
    "Scene",
    "ScoredTrajectory",
    "Trajectory",
    "check_environment",
    "compose",
    "describe_set",
    "explain_sequence",
    "learn_manners",
]
