"""Demonstration files, which are read as streams and written atomically."""

from __future__ import annotations

import glob
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from groundling.data import lines, parquet
from groundling.data.canonical import Json
from groundling.data.codec import Codec
from groundling.data.format import RecordReader, record_of
from groundling.data.worlds import GivenWorlds, Worlds
from groundling.errors import DemonstrationError, GroundlingError, SettingError, did_you_mean
from groundling.files import replacing
from groundling.world.environment import Demonstration, Environment, class_name
from groundling.world.reprs import said

_ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
_LISTED = 1000  # maximum number of bad records that are listed; all are counted

NameWorld: TypeAlias = Callable[[Environment], tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class BadRecord:
    """A skipped record: its location and its problem.

    >>> print(BadRecord("shown.jsonl", 3, "There is no start."))
    shown.jsonl:3: There is no start.
    """

    file: str
    number: int
    problem: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {self.problem}"


class Demonstrations:
    """A collection of demonstrations that can be iterated repeatedly.

    Create it from a list, or from files with `read`. Files are streamed, so that only one
    demonstration is in memory at a time. Demonstrations are ordered by file name, then by line.

    Parameters
    ----------
    source
        Demonstrations; an iterator is stored as a tuple.

    Attributes
    ----------
    files : tuple of Path
        Files that are read.
    skipped : list of BadRecord
        The first 1,000 records that the latest pass skipped (with `skip_bad`).
    skipped_count : int
        Number of records that the latest pass skipped.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> class Lamp:
    ...     def actions(self, state): return ("on", "off")
    ...     def step(self, state, action): return action
    ...     def ground(self, state, action, after): ...
    >>> shown = [Demonstration("light it", Lamp(), "off", ("on",))]
    >>> with TemporaryDirectory() as folder:
    ...     [file] = Demonstrations(shown).write(f"{folder}/shown.jsonl")
    ...     print(file.read_text().splitlines()[1])
    ...     again = Demonstrations.read(f"{folder}/*.jsonl", worlds=Lamp)
    ...     print(len(again), [each.actions for each in again])
    {"text": "light it", "world": "Lamp", "start": "off", "actions": ["on"]}
    1 [('on',)]
    """

    worlds: Worlds | None = None

    def __init__(self, source: Iterable[Demonstration]) -> None:
        self._source = source if isinstance(source, Collection) else tuple(source)
        self.files: tuple[Path, ...] = ()
        self.skipped: list[BadRecord] = []
        self.skipped_count = 0

    @staticmethod
    def read(
        path: str | PathLike[str] | Sequence[str | PathLike[str]],
        worlds: GivenWorlds,
        *,
        skip_bad: bool = False,
        check: bool = False,
    ) -> Demonstrations:
        """Read demonstration files: JSON Lines (.jsonl, .jsonl.gz) or Parquet (.parquet).

        Parameters
        ----------
        path
            A file, a pattern such as `shown/*.jsonl.gz`, or several of them.
        worlds
            The worlds to which records refer (see `Worlds`): an environment, a class or function
            that creates one, a name such as `"my_world.py:Kitchen"`, or a mapping from names to any
            of these.
        skip_bad
            Skip records that cannot be read, and list them in `skipped`, instead of raising an
            error at the first one. If no record is left, an error is raised.
        check
            Execute every plan, and treat records with impossible plans as bad. This takes as long
            as the environment needs for the plans.
        """
        return _InFiles(_matching(path), Worlds.of(worlds), skip_bad, check)

    def __iter__(self) -> Iterator[Demonstration]:
        return iter(self._source)

    def __len__(self) -> int:
        """Return the number of demonstrations.

        With `skip_bad`, the number is known only after the first pass.
        """
        return len(self._source)

    def shards(self) -> list[Demonstrations]:
        """Return the demonstrations of each file as a separate collection."""
        return [self]

    def write(
        self,
        path: str | PathLike[str],
        *,
        worlds: Mapping[str, Environment] | NameWorld | None = None,
        shard_size: int | None = None,
    ) -> list[Path]:
        """Write files atomically, in the format of the file extension; return their paths.

        Parameters
        ----------
        path
            A file that ends in .jsonl, .jsonl.gz or .parquet.
        worlds
            Names of environments: a mapping from names to environments, or a function that returns
            the name and the arguments of an environment. By default, environments keep the names
            under which they were read, and a single environment is named after its class.
        shard_size
            Maximum number of records in a file. If set, files are numbered (`shown-00000.jsonl`).
        """
        target = Path(fspath(path))
        ending = _ending(target)
        if not target.parent.is_dir():
            raise DemonstrationError(f"The folder {target.parent} does not exist. Create it first.")
        if shard_size is not None and shard_size < 1:
            raise DemonstrationError(f"`shard_size` must be >= 1; got {shard_size}.")
        records = self._records(_naming(worlds, self.worlds))
        if shard_size is None:
            _write(target, ending, records)
            return [target]
        written: list[Path] = []
        while (first := next(records, None)) is not None:
            stem = target.name.removesuffix(ending)
            file = target.with_name(f"{stem}-{len(written):05d}{ending}")
            _write(file, ending, chain([first], islice(records, shard_size - 1)))
            written.append(file)
        return written

    def _records(self, name_world: NameWorld) -> Iterator[dict[str, Json]]:
        codecs: dict[int, tuple[object, Codec]] = {}
        for shown in self:
            environment = shown.environment
            known = codecs.get(id(environment))
            if known is None:
                if len(codecs) >= _LISTED:
                    codecs.clear()
                # This keeps a reference, so that the id is not reused.
                known = codecs[id(environment)] = (environment, Codec(environment))
                try:
                    known[1].check(shown.start, *shown.actions)
                except GroundlingError as error:
                    raise DemonstrationError(f"{shown} cannot be written: {error}") from error
            yield record_of(shown, known[1], name_world)


class _InFiles(Demonstrations):
    """Demonstrations that are read again from their files in every iteration."""

    worlds: Worlds

    def __init__(self, files: Sequence[Path], worlds: Worlds, skip_bad: bool, check: bool) -> None:
        super().__init__(())
        self.files = tuple(files)
        self.worlds = worlds
        self.skip_bad = skip_bad
        self.check = check
        self._count: int | None = None

    def __iter__(self) -> Iterator[Demonstration]:
        skipped: list[BadRecord] = []  # one list per pass, so that concurrent passes do not mix
        self.skipped, self.skipped_count = skipped, 0
        reader = RecordReader(self.worlds, self.check)
        found = bad = 0
        for path in self.files:
            read, parse, _ = _FORMS[_ending(path)]
            file = str(path)
            for number, row in read(path):
                try:
                    record = parse(row)
                    if record is None:
                        continue
                    shown = reader.read(record, file, number)
                except Exception as error:
                    # Attribute any exception to the current record.
                    ours = isinstance(error, GroundlingError)
                    what = str(error) if ours else f"The record cannot be read: {said(error)}."
                    problem = BadRecord(file, number, what)
                    if not self.skip_bad or isinstance(error, SettingError):
                        raise DemonstrationError(str(problem)) from error
                    bad += 1
                    if bad <= _LISTED:
                        skipped.append(problem)
                    self.skipped_count = bad
                    continue
                found += 1
                yield shown
        self._count = found
        if bad and not found:
            raise DemonstrationError(
                f"At least one record must be valid; got errors in all {bad}. First error: "
                f"{skipped[0]}"
            )

    def __len__(self) -> int:
        if self._count is None:
            if self.skip_bad:
                raise TypeError(
                    "With `skip_bad`, the length is known only after the first pass. Iterate once "
                    "before calling `len`."
                )
            self._count = sum(_FORMS[_ending(path)][2](path) for path in self.files)
        return self._count

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    def shards(self) -> list[Demonstrations]:
        return [_InFiles([file], self.worlds, self.skip_bad, self.check) for file in self.files]

    def __repr__(self) -> str:
        return f"Demonstrations.read({[str(each) for each in self.files]}, {self.worlds!r})"


def _naming(
    given: Mapping[str, Environment] | NameWorld | None, read_from: Worlds | None
) -> NameWorld:
    """Return a function that names environments: as given, as read, or by class."""
    if given is not None and not isinstance(given, Mapping):
        return given
    worlds = read_from if given is None else Worlds(given)
    classes: dict[str, object] = {}

    def name_world(environment: Environment) -> tuple[str, Mapping[str, Any]]:
        found = worlds.name_of(environment) if worlds is not None else None
        if found is not None:
            return found
        name = class_name(environment)
        known = classes.setdefault(name, environment)
        if given is not None or known is not environment:
            rule = "a name of its own" if given is None else "a name in `worlds`"
            raise DemonstrationError(
                f"Every environment must have {rule}; got a second environment of class {name}. "
                "Pass "
                "worlds={'one': …, 'other': …}, or a function that returns the name and the "
                "arguments of an environment."
            )
        return name, {}

    return name_world


def _matching(given: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """Return the files that match names and patterns in order, each only once."""
    found: dict[Path, None] = {}
    for each in [given] if isinstance(given, (str, PathLike)) else given:
        name = fspath(each)
        path = Path(name)
        if path.is_dir():
            raise DemonstrationError(
                f"`path` must be a file or a pattern; {name} is a folder. Use a pattern such as "
                f"{path / '*.jsonl'}."
            )
        matches = [name] if path.exists() else sorted(glob.glob(name, recursive=True))
        if not matches:
            there = path.parent.glob("*") if path.parent.is_dir() else ()
            near = [file.name for file in there if file.name.endswith(_ENDINGS)]
            hint = did_you_mean(path.name, near) if near else " Check the path."
            what = "No file matches" if glob.has_magic(name) else "There is no file"
            raise DemonstrationError(f"{what} {name}.{hint}")
        found.update((Path(match), None) for match in matches if not Path(match).is_dir())
    if not found:
        raise DemonstrationError(
            f"`path` must match at least one file; got {given!r}. Check the path or the pattern."
        )
    for path in found:
        _ending(path)
    return list(found)


def _ending(path: Path) -> str:
    for ending in _ENDINGS:
        if path.name.endswith(ending):
            return ending
    raise DemonstrationError(
        f"The name of a demonstration file must end in {', '.join(_ENDINGS)}; got {path}."
    )


def _write(path: Path, ending: str, records: Iterable[dict[str, Json]]) -> None:
    with replacing(path) as file:
        if ending == ".parquet":
            parquet.write_rows(file, records)
        else:
            lines.write_lines(file, records, compress=ending == ".jsonl.gz")


_FORMS: dict[str, tuple[Any, Any, Callable[[Path], int]]] = {
    ".jsonl": (lines.read_lines, lines.parse_line, lines.count_lines),
    ".jsonl.gz": (lines.read_lines, lines.parse_line, lines.count_lines),
    ".parquet": (parquet.read_rows, parquet.parse_row, parquet.count_rows),
}
"""For each file ending, functions that read rows, parse a row and count records."""
