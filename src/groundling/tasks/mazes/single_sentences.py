"""Single sentences of the mazes as a preset wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundling.language.instruction import Instruction
from groundling.language.languages import ENGLISH
from groundling.language.parser import load_parser
from groundling.language.units import split_commands
from groundling.tasks.mazes.corpus import Sail, start_as_published
from groundling.tasks.mazes.maze_presets import MazePreset
from groundling.world.environment import Demonstration


def prepare_sentences(chosen: MazePreset, sail: Sail) -> dict[str, list[Demonstration]]:
    """Return the single sentences of each map as a preset wants them."""
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
    """Return parsed sentences as the follower reads them: whole, or command by command."""
    if not chosen.split_commands:
        return tuple(parsed)
    return tuple(part for sentence in parsed for part in split_commands(sentence, ENGLISH))
