"""`groundling corpora`: which there are, whether they are whole, and getting them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.common import DebugOption, JsonOption, make_console, plainly, print_json

app = typer.Typer(
    help="The corpora of the three tasks: list them, check them, fetch them.",
    no_args_is_help=True,
)


@app.command("list")
def show(as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the corpora, their terms, and where they are on this machine."""
    with plainly(debug):
        from groundling.corpora import CORPORA, check, find_corpora
        from groundling.tasks.task_registry import corpus_tasks

        place, tasks = find_corpora(), corpus_tasks()
        found = []
        for each in CORPORA:
            state = "not here"
            if place.folder is not None:
                checked = check(place.folder, each.folder)
                missing = "not here" if not checked.whole and not checked.changed else "incomplete"
                state = "whole" if checked.good else missing
            task = tasks.get(each.folder, "")
            found.append({"folder": each.folder, "task": task, **each._asdict(), "state": state})
        if as_json:
            folder = None if place.folder is None else str(place.folder)
            print_json({"folder": folder, "why": place.why, "corpora": found})
            return
        console = make_console()
        for item in found:
            console.print(f"{item['folder']} ({item['task']}): {item['state']}", style="bold")
            console.print(f"  {item['origin']}; {item['terms']}")
        console.print(f"\nData: {place}.")
        if place.folder is None:
            console.print("To get the corpora, type: groundling corpora fetch")


@app.command("check")
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the corpora.")],
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Compare every file of a folder with the sums that Groundling was measured with."""
    with plainly(debug):
        from groundling import corpora
        from groundling.errors import CorpusError

        if not folder.is_dir():
            raise CorpusError(
                f"{folder} is not a folder. Give the folder that holds sail, hcrc and crossblock, "
                f"or type `groundling corpora fetch --into {folder}`."
            )
        found = corpora.check(folder)
        if as_json:
            print_json(
                {
                    "folder": str(folder),
                    "good": found.good,
                    "whole": len(found.whole),
                    "missing": found.missing,
                    "changed": found.changed,
                }
            )
        else:
            console = make_console()
            for kind, names in (("missing", found.missing), ("changed", found.changed)):
                for name in names[:10]:
                    console.print(f"{kind}: {name}")
                if len(names) > 10:
                    console.print(f"{kind}: {len(names) - 10} more")
            count = len(found.whole) + len(found.missing) + len(found.changed)
            console.print(f"{len(found.whole)} of {count} files are as they should be.")
            if not found.good:
                console.print(f"To mend it, type: groundling corpora fetch --into {folder}")
        if not found.good:
            raise typer.Exit(1)


@app.command("fetch")
def fetch(
    into: Annotated[
        Path | None, typer.Option(help="Folder for the corpora; by default your data folder.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", help="Archive (.tar.gz, .zip), folder or address to take them from."
        ),
    ] = None,
    debug: DebugOption = False,
) -> None:
    """Get the corpora from their authors' repository, or from an archive; verify every file.

    The data are other people's and are not part of Groundling; `groundling corpora list`
    shows their terms.
    """
    with plainly(debug, "What was downloaded is kept; run it again to go on."):
        from groundling.cli.progress import counting
        from groundling.corpora import SOURCE, data_folder
        from groundling.corpora import fetch as get

        console = make_console()
        folder = data_folder() if into is None else into
        chosen = SOURCE if source is None else source
        console.print(f"Fetching from {chosen} into {folder}.")
        with counting(console, "download") as tell:
            new = get(folder, chosen, tell=tell)
        console.print(
            "Every file is verified." if new else "They are there already, and whole.",
        )
        if into is not None:
            console.print(f"To use them: --corpora {folder}, or set GROUNDLING_CORPORA={folder}")
