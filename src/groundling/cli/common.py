"""What all commands share: plain errors, where corpora come from, tables, options."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from groundling.corpora import Place
    from groundling.tasks.base import Task

__all__ = [
    "ClusterOption",
    "CorporaOption",
    "DebugOption",
    "FilesArgument",
    "JobsOption",
    "MemoryOption",
    "ParserOption",
    "PresetOption",
    "SampleOption",
    "SkipBadOption",
    "TaskArgument",
    "check_own_only",
    "check_preset",
    "check_task_only",
    "check_writable",
    "find_place",
    "folder_option",
    "given",
    "make_console",
    "plainly",
    "print_json",
    "whole",
]

TaskArgument = Annotated[
    str,
    typer.Argument(
        help="mazes, maps, puzzles or babyai; or a world of your own, such as my_world.py:Kitchen.",
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
    str | None,
    typer.Option(help="In your own world: default, chain, spacy:NAME or conllu:PATH."),
]
SkipBadOption = Annotated[
    bool, typer.Option("--skip-bad", help="In your own world: leave bad records out, and say so.")
]
PresetOption = Annotated[str, typer.Option("--preset", "-p", help="paper, best or auto.")]
CorporaOption = Annotated[
    Path | None,
    typer.Option(help="Folder of the corpora. Else GROUNDLING_CORPORA, your data folder, sample."),
]
SampleOption = Annotated[
    bool, typer.Option("--sample", help="Use the generated sample, whatever corpora there are.")
]
JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Tasks only: processes to use; 0 for all cores.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", help="A Dask scheduler's address, or local:2 for 2 workers here."),
]
MemoryOption = Annotated[
    str | None, typer.Option("--memory", help="Learn in shards within this, such as 4GB.")
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")]

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
    """Return a console for messages, on standard error where the output is for machines."""
    from rich.console import Console

    return Console(stderr=errors, highlight=False)


def print_json(content: Any) -> None:
    """Print JSON on standard output; in ASCII where that is all there is."""
    import json

    plain = "utf" not in (sys.stdout.encoding or "").lower()
    text = json.dumps(content, indent=1, ensure_ascii=plain)
    sys.stdout.write(whole(text) + "\n")


def whole(text: str) -> str:
    r"""Return a text that can be written: what was no UTF-8 becomes a mark.

    >>> whole("go \udcff left")
    'go � left'
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def check_task_only(
    files: list[str] | None, parser: str | None, skip_bad: bool, setting: list[str] | None = None
) -> None:
    """Complain of what only worlds of one's own have."""
    from groundling.errors import SettingError

    told = {
        "demonstrations": files, "--parser": parser, "--skip-bad": skip_bad, "--setting": setting
    }  # fmt: skip
    wrong = next((name for name, value in told.items() if value), "")
    if wrong:
        raise SettingError(
            f"{wrong} are for a world of your own, such as my_world.py:Kitchen. A task has its "
            "own; leave them out."
        )


def check_own_only(context: typer.Context, *names: str) -> None:
    """Complain of options that only tasks have, given with a world of one's own."""
    from groundling.errors import SettingError

    for name in names:
        option = given(context, name)
        if option is not None:
            raise SettingError(
                f"{option} has no effect in a world of your own: it is for tasks. Leave it out."
            )


def given(context: typer.Context, name: str) -> str | None:
    """Return an option as it is spelt, if it stands on the command line."""
    source = context.get_parameter_source(name)
    if source is None or source.name != "COMMANDLINE":
        return None
    return next(max(each.opts, key=len) for each in context.command.params if each.name == name)


def check_preset(task: Task[Any, Any], preset: str, variant: str = "full") -> Any:
    """Return the settings of a preset that can be trained."""
    from groundling.errors import SettingError

    if preset in task.tables_only:
        raise SettingError(f"{preset!r} is a table, not a preset to train; take 'best'.")
    return task.presets.select(preset, variant)


def find_place(
    task: str, corpora: Path | None, sample: bool, console: Console | None, why: str = "--sample"
) -> Place:
    """Find the corpus of a task, and say where it comes from unless there is no console."""
    from groundling.corpora import Place, find_corpora
    from groundling.errors import SettingError
    from groundling.tasks.registry import get_task

    if sample and corpora is not None:
        raise SettingError("--sample and --corpora exclude each other; give one of them.")
    asked = get_task(task)
    if not asked.corpus:
        if corpora is not None:
            raise SettingError(f"The task {task} has no corpus; leave --corpora out.")
        place = Place(None, "the task has no corpus")
    else:
        place = Place(None, why) if sample else find_corpora(corpora, asked.corpus)
    if console is not None:
        console.print(f"Data: {place}.", soft_wrap=True, markup=False)
    return place
