"""Presets of the `mazes` task, and the preparation of single sentences for them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from groundling.language.instruction import Instruction
from groundling.language.languages import ENGLISH
from groundling.language.parser import load_parser
from groundling.language.units import split_commands
from groundling.tasks.mazes.corpus import Sail, start_as_published
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import Maze
from groundling.tasks.presets import Preset, read_presets
from groundling.world.environment import Demonstration


def opaque_name(kind: str, value: str) -> str:
    """Return the code that replaces a name; similar names get unrelated codes.

    >>> opaque_name("floor", "brick")
    'q3233'
    """
    digest = hashlib.sha256(f"{kind} {value}".encode()).hexdigest()
    return f"q{int(digest, 16) % 10_000:04}"


@dataclass(frozen=True, kw_only=True)
class MazePreset(Preset):
    """Settings of a follower and its environment, with published scores.

    With `train_within_limit`, training leaves out plans that are longer than the search allows.
    With `opaque`, the names of floors, walls and items are replaced by codes.
    """

    split_commands: bool = False
    published_start: bool = False
    train_within_limit: bool = False
    opaque: bool = False

    def world(self, maze: Maze) -> MazeEnvironment:
        """Return the environment of a maze for this preset."""
        seen = maze.renamed(opaque_name) if self.opaque else maze
        return MazeEnvironment(seen, **self.environment)


PRESETS = read_presets("mazes", MazePreset, files("groundling.tasks.mazes"))


def prepare_sentences(chosen: MazePreset, sail: Sail) -> dict[str, list[Demonstration]]:
    """Return the single sentences of each map, prepared for a preset."""
    parser = load_parser(chosen.parser)
    prepared = {}
    for name, corpus in sail.mazes.items():
        world = chosen.world(corpus.environment.maze)
        texts = parser.parse_many([" ".join(map(str, d.instructions)) for d in corpus.sentences])
        found = [
            replace(
                each,
                instructions=units(chosen, parsed),
                environment=world,
                group=each.name.rsplit("-", 1)[0],
            )
            for each, parsed in zip(corpus.sentences, texts, strict=True)
        ]
        if chosen.published_start:
            found = [start_as_published(each) for each in found]
        prepared[name] = found
    return prepared


def units(chosen: MazePreset, parsed: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Split parsed sentences into commands, if the preset uses commands as units."""
    if not chosen.split_commands:
        return tuple(parsed)
    return tuple(part for sentence in parsed for part in split_commands(sentence, ENGLISH))
