"""Mazes: instructions for routes through halls with pictures and furniture."""

from groundling.tasks.mazes.actions import (
    STAY,
    MazeAction,
    MazeState,
    face,
    move,
    read_action,
    rotate,
)
from groundling.tasks.mazes.corpus import (
    CorpusReport,
    MazeCorpus,
    Sail,
    load_sail,
    start_as_published,
)
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.generator import (
    Route,
    generate_demonstrations,
    generate_mazes,
    generate_routes,
)
from groundling.tasks.mazes.maze import Hall, Maze
from groundling.tasks.mazes.maze_files import write_corpus
from groundling.tasks.mazes.mirror import Swaps, find_swaps, mirror_text

__all__ = [
    "STAY",
    "CorpusReport",
    "Hall",
    "Maze",
    "MazeAction",
    "MazeCorpus",
    "MazeEnvironment",
    "MazeState",
    "Route",
    "Sail",
    "Swaps",
    "face",
    "find_swaps",
    "generate_demonstrations",
    "generate_mazes",
    "generate_routes",
    "load_sail",
    "mirror_text",
    "move",
    "read_action",
    "rotate",
    "start_as_published",
    "write_corpus",
]
