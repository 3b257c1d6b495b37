"""The two systems for mazes, `paper` and `best`, and the rows that take parts of them away."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import Maze
from groundling.tasks.preset_file import read_presets
from groundling.tasks.variants import BasePreset


def opaque_name(kind: str, value: str) -> str:
    """Return a code for a value, which tells nothing of its name.

    >>> opaque_name("floor", "brick")
    'q3233'
    """
    digest = hashlib.sha256(f"{kind} {value}".encode()).hexdigest()
    return f"q{int(digest, 16) % 10_000:04}"


@dataclass(frozen=True, kw_only=True)
class MazePreset(BasePreset):
    """A follower's settings, the environment they are for, and what was published for them.

    With `train_within_limit`, only plans that are short enough to be found are learnt from. With
    `opaque`, floors, walls and items have codes for names, which no word resembles.
    """

    split_commands: bool = False
    published_start: bool = False
    train_within_limit: bool = False
    opaque: bool = False

    def world(self, maze: Maze) -> MazeEnvironment:
        """Return a maze as the environment that the preset is for."""
        seen = maze.renamed(opaque_name) if self.opaque else maze
        return MazeEnvironment(seen, **self.environment)


PRESETS = read_presets("mazes", MazePreset, files("groundling.tasks.mazes"))
