"""What all commands share: plain errors, where corpora come from, tables, options."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.entry import told

if TYPE_CHECKING:
    from rich.console import Console

    from groundling.data.records import Demonstrations
    from groundling.tasks.benchmark import Source, Task
    from groundling.world.environment import Demonstration


TaskArgument = Annotated[
    str,
    typer.Argument(
        help="A task, such as mazes; or a world of your own, such as my_world.py:Kitchen.",
        metavar="TASK",
    ),
]
FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[DEMONSTRATIONS]...", help="Of your own world: JSON Lines or Parquet files."
    ),
]
ParserOption = Annotated[
    str | None, typer.Option(help="Another parser: default, chain, spacy:NAME or conllu:PATH.")
]
SkipBadOption = Annotated[
    bool, typer.Option("--skip-bad", help="Leave bad records of files out, and list them.")
]
PresetOption = Annotated[
    str | None, typer.Option("--preset", "-p", help="paper, best or auto; best if there is one.")
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        "-s",
        metavar="NAME=VALUE",
        help="Change a setting, such as learning.l2=3; may be repeated.",
    ),
]
FoldsOption = Annotated[
    int | None, typer.Option("--folds", min=2, help="In your own world: how many folds; 5.")
]
CorporaOption = Annotated[
    Path | None,
    typer.Option(help="Folder of the corpora. Else GROUNDLING_CORPORA, your data folder, sample."),
]
SampleOption = Annotated[
    bool, typer.Option("--sample", help="Use the generated sample, whatever corpora there are.")
]
JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="How many processes to use; 0 for all cores.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", help="A Dask scheduler's address, or local:2 for 2 workers here."),
]
MemoryOption = Annotated[
    str | None, typer.Option("--memory", help="Learn in shards within this, such as 4GB.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonFileOption = Annotated[
    Path | None, typer.Option("--json", help="Also write JSON to a file; - for the output.")
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")]

_SHOWN = 5  # records that were left out, as they are listed
ERROR, INTERRUPTED = 1, 130


@contextmanager
def plainly(debug: bool, stopped: str = "Nothing half-written is left.") -> Iterator[None]:
    """Turn errors into one sentence and an exit code: 1 for errors, 130 for Ctrl-C.

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
        # What an ASCII terminal cannot show is shown as a question mark. (In the locale C, Python
        # takes surrogateescape instead of strict, which fails as well.)
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
        raise  # whoever read our output has gone; click ends quietly
    except Exception as error:
        if debug:
            raise
        message = _one_line(error)
        if not isinstance(error, (GroundlingError, OSError)):
            message = f"{type(error).__name__}: {message}. This should not happen; see --debug."
        typer.echo(f"Error: {message}", err=True)
        raise typer.Exit(ERROR) from None


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename}" if error.filename else ""
        return f"{error.strerror}:{where}. Choose another folder or file, such as with --out."
    return " ".join(str(error).split())


def folder_option(*names: str, help: str) -> Any:  # noqa: A002 - as typer calls it
    """Return an option for a folder to write into; an empty name is none, and not this folder."""
    return typer.Option(*names, help=help, parser=_folder, metavar="PATH")


def _folder(given: str | Path) -> Path:
    if not str(given).strip():
        raise typer.BadParameter("it must be a folder; got an empty name. Write . for this one.")
    return Path(given)


def check_writable(file: Path | None) -> None:
    """Complain of a file that cannot be written before hours are spent on it."""
    if file is None or str(file) == "-":
        return
    from groundling.errors import SettingError

    folder = file.absolute().parent
    if not folder.is_dir():
        raise SettingError(f"{file} cannot be written: there is no folder {folder}. Make it first.")
    if file.is_dir() or not os.access(folder, os.W_OK):
        raise SettingError(f"{file} cannot be written. Give a file in a folder of your own.")


def make_console(*, errors: bool = False) -> Console:
    """Return a console for messages, on standard error where the output is for machines.

    It prints lines as they are, however long: nothing is wrapped, and brackets are no markup.
    """
    from rich.console import Console

    return Console(stderr=errors, highlight=False, soft_wrap=True, markup=False)


def print_json(content: Any) -> None:
    """Print JSON on standard output; in ASCII where that is all there is."""
    import json

    plain = "utf" not in (sys.stdout.encoding or "").lower()
    text = json.dumps(content, indent=1, ensure_ascii=plain)
    sys.stdout.write(whole(text) + "\n")


def write_json(content: Any, file: Path | None) -> None:
    """Write JSON to a file, or for `-` to standard output; nothing without a file."""
    import json

    from groundling.files import write_atomically

    if str(file) == "-":
        print_json(content)
    elif file is not None:
        write_atomically(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def whole(text: str) -> str:
    r"""Return a text that can be written: what was no UTF-8 becomes a mark.

    >>> whole("go \udcff left")
    'go � left'
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def check_preset(task: Task[Any, Any], preset: str | None, variant: str = "full") -> str:
    """Return the name of a preset that can be trained; by default the task's own default."""
    from groundling.errors import SettingError

    preset = preset or task.presets.default
    if preset in task.tables_only:
        raise SettingError(f"{preset!r} is a table, not a preset to train; take 'best'.")
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
    """Find the corpus of a task, and say where it comes from; a user's world has files."""
    from groundling.corpora import Place, find_corpora
    from groundling.data.own import names_world
    from groundling.errors import SettingError

    if sample and corpora is not None:
        raise SettingError("--sample and --corpora exclude each other; give one of them.")
    if names_world(task.name):
        if sample or corpora is not None:
            raise SettingError(
                "A world of your own has no corpus; leave --corpora and --sample out."
            )
        list_demonstrations(task, files or (), console, skip_bad=skip_bad)
        return tuple(files or ())
    if files or skip_bad:
        raise SettingError(
            "Files of demonstrations and --skip-bad are for a world of your own, such as "
            "my_world.py:Kitchen. A task has its own corpus; leave them out."
        )
    if not task.corpus:
        if corpora is not None:
            raise SettingError(f"The task {task.name} has no corpus; leave --corpora out.")
        place = Place(None, "the task has no corpus")
    else:
        place = Place(None, why) if sample else find_corpora(corpora, task.corpus)
    console.print(f"Data: {place}.")
    return place.folder


def list_demonstrations(
    task: Task[Any, Any], files: Sequence[str], console: Console, *, skip_bad: bool
) -> list[Demonstration]:
    """Return the demonstrations in the files of a user's world; say which are left out."""
    from groundling.data.own import open_world
    from groundling.errors import DemonstrationError

    if not files:
        raise DemonstrationError(
            f"There are no demonstrations. Type such as: groundling train {task.name} "
            "demonstrations.jsonl"
        )
    own = open_world(task.name, files, skip_bad=skip_bad, check=True)
    own.worlds.check()  # a wrong name is not the fault of the first record
    assert own.demonstrations is not None
    shown = own.listed
    say_skipped(console, own.demonstrations, "records cannot be used and are left out", _SHOWN)
    return shown


def say_skipped(console: Console, shown: Demonstrations, what: str, most: int) -> bool:
    """List records that the latest pass left out, and tell whether there are any."""
    bad = shown.skipped_count
    if bad:
        console.print(f"{bad:,} {what}:")
        for record in shown.skipped[:most]:
            console.print(f"- {record}")
        if bad > most:
            console.print(f"- and {bad - most:,} more")
    return bool(bad)
