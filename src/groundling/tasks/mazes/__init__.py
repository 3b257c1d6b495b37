"""Mazes: instructions for routes through halls with floors, pictures and furniture."""

from groundling.tasks.mazes.actions import STAY, face, move, rotate
from groundling.tasks.mazes.corpus import load_sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.generator import (
    Route,
    generate_demonstrations,
    generate_mazes,
    generate_routes,
)
from groundling.tasks.mazes.maze import Maze
from groundling.tasks.mazes.mirror import Swaps, find_swaps

__all__ = [
    "STAY",
    "Maze",
    "MazeEnvironment",
    "Route",
    "Swaps",
    "face",
    "find_swaps",
    "generate_demonstrations",
    "generate_mazes",
    "generate_routes",
    "load_sail",
    "move",
    "rotate",
]
