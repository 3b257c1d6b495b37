"""Mazes: follow route instructions through halls with floors, pictures and furniture."""

from groundling.tasks.mazes.actions import (
    STAY,
    MazeAction,
    MazeState,
    face,
    move,
    read_action,
    rotate,
)
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.generator import (
    Route,
    generate_demonstrations,
    generate_mazes,
    generate_routes,
)
from groundling.tasks.mazes.maze import Hall, Maze
from groundling.tasks.mazes.mirror import mirror_text

__all__ = [
    "STAY",
    "Hall",
    "Maze",
    "MazeAction",
    "MazeEnvironment",
    "MazeState",
    "Route",
    "face",
    "generate_demonstrations",
    "generate_mazes",
    "generate_routes",
    "mirror_text",
    "move",
    "read_action",
    "rotate",
]
