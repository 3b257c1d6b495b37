"""Shards: parts of the demonstrations that are processed one by one."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from groundling.data.records import Demonstrations
from groundling.errors import DemonstrationError
from groundling.world.environment import Demonstration, Environment

SHARD = 4000
"""Maximum number of demonstrations per shard."""


@dataclass(frozen=True)
class Shard:
    """Part of the demonstrations: `count` of those in `source`, from index `first`."""

    number: int
    source: Iterable[Demonstration]
    first: int = 0
    count: int = SHARD

    def read(self) -> Iterator[Demonstration]:
        """Yield the demonstrations of the shard."""
        return islice(self.source, self.first, self.first + self.count)

    def __str__(self) -> str:
        files = ", ".join(map(str, getattr(self.source, "files", ())))
        which = f"demonstrations {self.first + 1} to {self.first + self.count}"
        return f"{which} of {files}" if files else which


@dataclass(frozen=True)
class Shards:
    """All shards in order; pickling them together keeps the worlds that they share."""

    parts: tuple[Shard, ...]

    def __len__(self) -> int:
        return len(self.parts)


def split(demonstrations: Any, folder: Path, *, size: int = SHARD, apart: bool = False) -> Shards:
    """Split demonstrations into shards, in their order.

    Files are read in place, and no shard spans two files. Lists are sliced. Iterators are first
    written to files in the folder.

    Parameters
    ----------
    demonstrations
        `Demonstrations` or any iterable.
    folder
        Folder for the demonstrations from iterators.
    size
        Maximum number of demonstrations per shard.
    apart
        Whether the shards are read on machines without access to the folder. The demonstrations
        from iterators are then kept in memory, and nothing is written.

    Examples
    --------
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): ...
    >>> shown = [Demonstration(f"light {n}", Lamp(), "off", ("on",)) for n in range(5)]
    >>> shards = split(shown, Path("unused"), size=2)
    >>> [[each.instructions for each in part.read()] for part in shards.parts]
    [['light 0', 'light 1'], ['light 2', 'light 3'], ['light 4']]
    """
    if isinstance(demonstrations, (str, PathLike)):
        demonstrations = read_named(demonstrations)
    if not isinstance(demonstrations, Iterable):
        raise DemonstrationError(
            f"`demonstrations` must be iterable; got a {type(demonstrations).__name__}. Pass "
            "a list or Demonstrations."
        )
    if isinstance(demonstrations, Demonstrations) and demonstrations.files:
        return Shards(tuple(_of_files(demonstrations, size)))
    if not isinstance(demonstrations, (Collection, Demonstrations)):
        if not apart:
            return _written(demonstrations, folder, size)
        demonstrations = list(demonstrations)
    count = len(demonstrations)
    starts = range(0, count, size)
    return Shards(
        tuple(
            Shard(number, demonstrations, first, min(size, count - first))
            for number, first in enumerate(starts)
        )
    )


def read_named(name: str | PathLike[str]) -> Demonstrations:
    """Raise an error that tells how to read the demonstration files with this name."""
    found = glob.glob(str(name), recursive=True)
    raise DemonstrationError(
        f"`demonstrations` must be Demonstrations or an iterable; got the name {str(name)!r} "
        f"(matching files: {len(found)}). Pass Demonstrations.read({str(name)!r}, worlds=…)."
    )


def _of_files(demonstrations: Demonstrations, size: int) -> Iterator[Shard]:
    number = 0
    for source in demonstrations.shards():
        try:
            count = len(source)
        except TypeError:  # if records are skipped, the number is known only after reading
            count = sum(1 for _ in source)
        for first in range(0, count, size):
            yield Shard(number, source, first, min(size, count - first))
            number += 1


def _written(demonstrations: Iterable[Demonstration], folder: Path, size: int) -> Shards:
    """Write the demonstrations of an iterator to files, with numbered worlds."""
    environments: list[Environment] = []
    places: dict[int, int] = {}

    def name(environment: Environment) -> tuple[str, dict[str, Any]]:
        if id(environment) not in places:
            places[id(environment)] = len(environments)
            environments.append(environment)
        return f"{places[id(environment)]}", {}

    folder.mkdir(parents=True, exist_ok=True)
    files = Demonstrations(_Once(demonstrations)).write(
        folder / "given.jsonl", worlds=name, shard_size=size
    )
    if not files:
        return Shards(())
    worlds = {f"{place}": each for place, each in enumerate(environments)}
    return split(Demonstrations.read(files, worlds), folder, size=size)


class _Once(Collection[Demonstration]):
    """An iterator as a `Collection`, which `Demonstrations` does not copy."""

    def __init__(self, stream: Iterable[Demonstration]) -> None:
        self.stream = stream

    def __iter__(self) -> Iterator[Demonstration]:
        return iter(self.stream)

    def __len__(self) -> int:
        return 0

    def __contains__(self, item: object) -> bool:
        return False
