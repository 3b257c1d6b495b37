"""The `groundling corpora` commands: list, verify and download the corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.common import JsonOption, command, make_console, print_json

app = typer.Typer(
    help="List, verify and download the corpora of the tasks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
@command()
def show(as_json: JsonOption = False) -> None:
    """List the corpora with their licences, and whether they are on this machine."""
    from groundling.corpora import CORPORA, check, find_corpora
    from groundling.tasks.task_registry import corpus_tasks

    place, tasks = find_corpora(), corpus_tasks()
    found = []
    for each in CORPORA:
        state = "not here"
        if place.folder is not None:
            checked = check(place.folder, each.folder)
            if checked.whole or checked.changed:
                state = "complete" if checked.good else "incomplete"
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
        console.print("To download the corpora, type: groundling corpora fetch")


@app.command("check")
@command()
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR")], as_json: JsonOption = False
) -> None:
    """Verify the SHA-256 checksums of all files in a folder.

    Parameters
    ----------
    folder
        Folder of the corpora.
    """
    from groundling import corpora
    from groundling.errors import CorpusError

    if not folder.is_dir():
        raise CorpusError(
            f"The folder of the corpora must exist; got {folder}. Pass another folder, or run "
            f"`groundling corpora fetch --into {folder}`."
        )
    found = corpora.check(folder)
    if as_json:
        print_json(
            {
                "folder": str(folder), "good": found.good, "whole": len(found.whole),
                "missing": found.missing, "changed": found.changed,
            }
        )  # fmt: skip
    else:
        console = make_console()
        for kind, names in (("missing", found.missing), ("changed", found.changed)):
            for name in names[:10]:
                console.print(f"{kind}: {name}")
            if len(names) > 10:
                console.print(f"{kind}: {len(names) - 10} more")
        count = len(found.whole) + len(found.missing) + len(found.changed)
        console.print(
            f"{len(found.whole)} of {count} files {'is' if len(found.whole) == 1 else 'are'} "
            "correct."
        )
        if not found.good:
            console.print(f"To repair the folder, type: groundling corpora fetch --into {folder}")
    if not found.good:
        raise typer.Exit(1)


@app.command("fetch")
@command("The partial download is kept; run the same command to resume.")
def fetch(into: Path | None = None, source: str | None = None) -> None:
    """Download the corpora from their authors, or copy them from an archive.

    Every file is verified. The corpora have their own licences; see `groundling corpora list`.

    Parameters
    ----------
    into
        Folder for the corpora. Default: your data folder.
    source, --from
        Archive (.tar.gz, .zip), folder or URL to copy them from.
    """
    from groundling.cli.progress import counting
    from groundling.corpora import SOURCE, data_folder
    from groundling.corpora import fetch as get

    console = make_console()
    folder = data_folder() if into is None else into
    chosen = SOURCE if source is None else source
    console.print(f"Fetching from {chosen} into {folder}.")
    with counting(console, "download") as tell:
        new = get(folder, chosen, tell=tell)
    console.print("Every file is verified." if new else "The corpora are already there.")
    if into is not None:
        console.print(f"To use them: --corpora {folder}, or set GROUNDLING_CORPORA={folder}")
