"""Reader of the gSCAN corpus: commands, situations and primitive moves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from groundling.data.lines import read_lines
from groundling.errors import CorpusError, DemonstrationError
from groundling.tasks.gscan.environment import MANNERS, VERBS, Grid, GridThing, GscanCommand
from groundling.world.environment import shorten

FILE = "examples.jsonl.gz"
TRAIN = "train"
SPLITS = {
    "A": "test", "B": "visual_easier", "C": "visual", "D": "situational_1",
    "E": "situational_2", "F": "contextual", "G": "adverb_1", "H": "adverb_2",
}  # fmt: skip
"""Names of the splits in the files, by their letters in the gSCAN paper."""
_MOST_SIZE, _MOST_THINGS = 100, 1_000


@dataclass(frozen=True)
class GscanExample:
    """A gSCAN example: a command, its grid, its meaning, and its primitive moves."""

    split: str
    text: str
    grid: Grid
    command: GscanCommand
    moves: tuple[str, ...]


def read_corpus(path: Path) -> list[GscanExample]:
    """Return the examples in a file with one JSON object per line.

    The file lists the target first. The reader sorts the things by position, so that their order
    does not reveal the target.
    """
    examples = []
    for number, line in read_lines(path):
        if isinstance(line, DemonstrationError):
            raise CorpusError(f"{path}, line {number}: {line}") from line
        try:
            examples.append(_read(json.loads(line)))
        except (
            ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError,
        ) as error:  # fmt: skip
            raise CorpusError(
                f"{path}, line {number}: a line must be an example of gSCAN; got {shorten(line)} "
                f"({type(error).__name__}: {str(error).rstrip('.')})."
            ) from error
    return examples


def _read(content: dict[str, Any]) -> GscanExample:
    situation = content["situation"]
    placed = situation["placed_objects"].values()
    things = [
        GridThing(
            *_place(each["position"]), str(each["object"]["shape"]), str(each["object"]["color"]),
            int(each["object"]["size"]),
        )
        for each in islice(placed, _MOST_THINGS)
    ]  # fmt: skip
    size, direction = int(situation["grid_size"]), int(situation["agent_direction"])
    if not 0 < size <= _MOST_SIZE:
        raise ValueError(f"`grid_size` must be from 1 to {_MOST_SIZE}; got {size}.")
    if direction not in range(4):
        raise ValueError(f"`agent_direction` must be from 0 to 3; got {direction}.")
    grid = Grid(size, *_place(situation["agent_position"]), direction, tuple(sorted(things)))
    if any(not (0 <= each.row < size and 0 <= each.column < size) for each in things):
        raise ValueError(
            f"The rows and columns of all things must be from 0 to {size - 1}; got a thing outside."
        )
    text = str(content["command"]).replace(",", " ")
    verb = text.split()[0]
    said = next((each for each in MANNERS if each and text.endswith(f" {each}")), "")
    if verb not in VERBS:
        raise ValueError(
            f"A command must start with one of {', '.join(map(repr, VERBS))}; got {verb!r}."
        )
    command = GscanCommand(verb, grid.things.index(things[0]), list(MANNERS).index(said))
    return GscanExample(
        str(content["split"]), text, grid, command, tuple(content["target_commands"].split(","))
    )


def _place(content: dict[str, Any]) -> tuple[int, int]:
    return int(content["row"]), int(content["column"])
