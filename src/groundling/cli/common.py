"""Code shared by all commands, such as options, error messages and JSON output."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from groundling.cli.entry import told

if TYPE_CHECKING:
    from rich.console import Console

    from groundling.data.records import Demonstrations
    from groundling.tasks.benchmark import Source, Task
    from groundling.world.environment import Demonstration


CorporaOption = Annotated[
    Path | None,
    typer.Option(help="Folder of the corpora. Default: GROUNDLING_CORPORA, then your data folder."),
]
ParserOption = Annotated[
    str | None, typer.Option(help="Parser to use: default, chain, spacy:NAME or conllu:PATH.")
]
SkipBadOption = Annotated[bool, typer.Option(help="Skip invalid records in files, and list them.")]
SampleOption = Annotated[bool, typer.Option(help="Use generated sample data instead of a corpus.")]
FoldsOption = Annotated[
    int | None, typer.Option(min=2, help="Number of folds, for your own world. [5]")
]
JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Number of processes; 0 for all cores.")
]
ClusterOption = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, or local:2 for 2 local workers.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonFileOption = Annotated[
    Path | None, typer.Option("--json", help="Write JSON to this file; - for standard output.")
]
DebugOption = Annotated[bool, typer.Option(help="Show tracebacks of errors.")]


def _folder(given: str | Path) -> Path:
    if not str(given).strip():
        raise typer.BadParameter(
            "the folder must have a name; got an empty one. Write . for the current folder."
        )
    return Path(given)


_FOLDER = typer.Option(parser=_folder, metavar="PATH")
FolderOption = Annotated[Path, _FOLDER]
"""Type of an option that names an output folder; rejects an empty name."""
OptionalFolder = Annotated[Path | None, _FOLDER]


@dataclass
class TaskOptions:
    """Arguments and options that select a task, its settings and its data.

    Parameters
    ----------
    task
        A task, such as mazes; or your own world, such as my_world.py:Kitchen.
    files
        JSON Lines or Parquet files, for your own world.
    preset, -p
        paper, best or auto; best if there is one.
    """

    task: Annotated[str, typer.Argument(metavar="TASK")]
    files: Annotated[list[str] | None, typer.Argument(metavar="[DEMONSTRATIONS]...")] = None
    preset: str | None = None
    parser: ParserOption = None
    skip_bad: SkipBadOption = False
    corpora: CorporaOption = None
    sample: SampleOption = False

    @property
    def changes(self) -> tuple[tuple[str, Any], ...]:
        """The name and the value of the setting that `--parser` changes; empty without it."""
        return (("parser", self.parser),) if self.parser else ()

    def find(self, console: Console, task: Task[Any, Any]) -> Source:
        """Find the data of a task, print their location and return it."""
        return find_source(
            task, self.files, self.corpora, self.sample, console, skip_bad=self.skip_bad
        )


_SHOWN = 5  # maximum number of skipped records to list
ERROR, INTERRUPTED = 1, 130


@contextmanager
def plainly(debug: bool, stopped: str = "No partial files were left behind.") -> Iterator[None]:
    """Print an error as one line and exit with code 1; after Ctrl-C, with code 130.

    >>> from groundling.errors import SettingError
    >>> try:
    ...     with plainly(debug=False):
    ...         raise SettingError("There is no such thing.")
    ... except typer.Exit as exit:
    ...     exit.exit_code
    1
    """
    # Small optimisation steps are slower on more threads; it must be set before NumPy loads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from groundling.errors import GroundlingError

    for stream in (sys.stdout, sys.stderr):
        # Print a question mark for characters that the terminal cannot show. (In the C locale,
        # Python uses surrogateescape instead of strict, which fails as well.)
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")
    try:
        yield
    except KeyboardInterrupt:
        told.set()
        typer.echo(f"\nStopped. {stopped}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        raise  # the reader of the output has closed the pipe; click exits without a message
    except Exception as error:
        if debug:
            raise
        message = _one_line(error)
        if not isinstance(error, (GroundlingError, OSError)):
            message = (
                f"{type(error).__name__}: {message}. This is a bug; run the command again with "
                "--debug."
            )
        typer.echo(f"Error: {message}", err=True)
        raise typer.Exit(ERROR) from None


def command(stopped: str = "No partial files were left behind.") -> Callable[[Any], Any]:
    """Return a decorator that turns a function into a command with options.

    Every parameter becomes an option unless it is annotated as `typer.Argument`. Its help text
    comes from the *Parameters* section of the docstring, which also lists short or different
    names, such as `-o`. A parameter whose type is a dataclass, such as `TaskOptions`, becomes one
    option for each field.

    >>> @command()
    ... def greet(name: str) -> None:
    ...     print("Hello", name)
    >>> greet(name="Ada", debug=False)
    Hello Ada
    """

    def decorate(function: Any) -> Any:
        hints = get_type_hints(function)
        groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
        debug = Parameter("debug", Parameter.KEYWORD_ONLY, default=False)
        shown = [*_options(function), debug.replace(annotation=_option(DebugOption, "debug"))]

        def run(debug: bool, **given: Any) -> None:
            for name, kind in groups.items():
                given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
            with plainly(debug, stopped):
                function(**given)

        run.__name__, run.__doc__ = function.__name__, _SECTION.split(getdoc(function) or "")[0]
        run.__annotations__ = {each.name: each.annotation for each in shown}
        run.__signature__ = Signature(shown)  # type: ignore[attr-defined]
        return run

    return decorate


_SECTION = re.compile(r"\n*Parameters\n-+\n")
_ENTRY = re.compile(r"^(\w+)(.*)\n((?:    .*\n?)+)", re.MULTILINE)
_FLAG = re.compile(r"--?\w[\w-]*")


def _options(of: Any) -> Iterator[Parameter]:
    """Yield the parameters of a command or an option group as options with help texts."""
    hints = get_type_hints(of, include_extras=True)
    written = _SECTION.split(getdoc(of) or "")[1:]
    told = {name: rest for name, *rest in _ENTRY.findall("".join(written))}
    for name, parameter in signature(of).parameters.items():
        if is_dataclass(hints[name]):
            yield from _options(hints[name])
        else:
            kind = _option(hints[name], name, *told.get(name, ()))
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=kind)


def _option(kind: Any, name: str, names: str = "", text: str = "") -> Any:
    """Return the annotation of an option; `names` replace the name of the parameter."""
    kind, given = get_args(kind) if get_origin(kind) is Annotated else (kind, typer.Option())
    info = copy(given)
    info.help = info.help or " ".join(text.split())
    if isinstance(info, OptionInfo) and info.default is ...:  # no names are given
        flags = _FLAG.findall(names)
        if not any(each.startswith("--") for each in flags):
            flags.insert(0, f"--{name.replace('_', '-')}")
        info.default, info.param_decls = flags[0], tuple(flags[1:])
    return Annotated[kind, info]


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}. Choose another folder or file, such as with --out."
    return " ".join(str(error).split())


def check_writable(file: Path | None) -> None:
    """Raise `SettingError` if a file cannot be written; call this before long work."""
    if file is None or str(file) == "-":
        return
    from groundling.errors import SettingError

    folder = file.absolute().parent
    if not folder.is_dir():
        raise SettingError(
            f"The folder {folder} does not exist. Create it, or choose a file in another folder."
        )
    if file.is_dir() or not os.access(folder, os.W_OK):
        raise SettingError(f"{file} must be a writable file. Choose another file.")


def make_console(*, errors: bool = False) -> Console:
    """Return a console that prints messages, to standard error if `errors` is set.

    Lines are not wrapped, and brackets are not read as markup.
    """
    from rich.console import Console

    return Console(stderr=errors, highlight=False, soft_wrap=True, markup=False)


def print_json(content: Any) -> None:
    """Print JSON on standard output, in ASCII if the terminal has no UTF-8."""
    import json

    plain = "utf" not in (sys.stdout.encoding or "").lower()
    text = json.dumps(content, indent=1, ensure_ascii=plain)
    sys.stdout.write(whole(text) + "\n")


def write_json(content: Any, file: Path | None) -> None:
    """Write JSON to a file, or to standard output if `file` is `-`.

    If `file` is None, nothing is written.
    """
    import json

    from groundling.files import write_atomically

    if str(file) == "-":
        print_json(content)
    elif file is not None:
        write_atomically(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def whole(text: str) -> str:
    r"""Return a text with `�` in place of characters that cannot be encoded.

    >>> whole("go \udcff left")
    'go � left'
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def without_controls(text: str) -> str:
    r"""Return a text with terminal control characters replaced by `�`.

    >>> without_controls("Lamp\x1b[2J\n")
    'Lamp�[2J\n'
    """
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\ufffd", whole(text))


def check_preset(task: Task[Any, Any], preset: str | None, variant: str = "full") -> str:
    """Return the preset to train, which defaults to that of the task.

    Raises `SettingError` if the preset can only be evaluated.
    """
    from groundling.errors import SettingError

    preset = preset or task.presets.default
    if preset in task.tables_only:
        raise SettingError(
            f"The preset {preset!r} can only be evaluated, not trained. Use another preset."
        )
    task.presets.select(preset, variant)
    return preset


def find_source(
    task: Task[Any, Any],
    files: Sequence[str] | None,
    corpora: Path | None,
    sample: bool,
    console: Console,
    *,
    skip_bad: bool = False,
    why: str = "--sample",
) -> Source:
    """Find the data of a task, print their location and return it.

    The data are a corpus or, for a user's own world, files of demonstrations.
    """
    from groundling.corpora import Place, find_corpora
    from groundling.data.own import names_world
    from groundling.errors import SettingError

    if sample and corpora is not None:
        raise SettingError("--sample must not be combined with --corpora. Remove one of them.")
    if names_world(task.name):
        if sample or corpora is not None:
            raise SettingError(
                "--corpora and --sample can be used only with a task; your own world "
                "has no corpus. Remove them."
            )
        list_demonstrations(task, files or (), console, skip_bad=skip_bad)
        return tuple(files or ())
    if files or skip_bad:
        raise SettingError(
            "Demonstration files and --skip-bad can be used only with your own world, for example "
            "my_world.py:Kitchen. A task has its own corpus. Remove these arguments."
        )
    if not task.corpus:
        if corpora is not None:
            raise SettingError(
                f"--corpora can be used only with a task that has a corpus; {task.name} has none. "
                "Remove --corpora."
            )
        place = Place(None, "the task has no corpus")
    else:
        place = Place(None, why) if sample else find_corpora(corpora, task.corpus)
    console.print(f"Data: {place}.")
    return place.folder


def list_demonstrations(
    task: Task[Any, Any], files: Sequence[str], console: Console, *, skip_bad: bool
) -> list[Demonstration]:
    """Return the demonstrations in the files of a user's world; print skipped records."""
    from groundling.data.own import open_world
    from groundling.errors import DemonstrationError

    if not files:
        raise DemonstrationError(
            f"{task.name} must have at least one file of demonstrations; got none. Pass one, as in "
            f"`groundling train {task.name} demonstrations.jsonl`."
        )
    own = open_world(task.name, files, skip_bad=skip_bad, check=True)
    own.worlds.check()  # report a wrong world name before reading any record
    assert own.demonstrations is not None
    shown = own.listed
    say_skipped(console, own.demonstrations, "invalid records were skipped", _SHOWN)
    return shown


def say_skipped(console: Console, shown: Demonstrations, what: str, most: int) -> bool:
    """Print the records that were skipped on reading; return whether there are any."""
    bad = shown.skipped_count
    if bad:
        console.print(f"{bad:,} {what}:")
        for record in shown.skipped[:most]:
            console.print(f"- {record}")
        if bad > most:
            console.print(f"- and {bad - most:,} more")
    return bool(bad)
