"""`groundling reproduce`: all tables of the paper, on all cores, as a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.common import (
    CorporaOption,
    DebugOption,
    JobsOption,
    SampleOption,
    find_place,
    make_console,
    plainly,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groundling.evaluation.report import Report
    from groundling.tasks.cells import Folders

__all__ = ["reproduce", "write_pages"]

TITLE = "Groundling: the paper's tables, run again"


def reproduce(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for all results.")] = Path(
        "reproduction"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="The paper's own rows, fewer seeds and splits.")
    ] = False,
    task: Annotated[
        list[str] | None, typer.Option("--task", help="Only this task; may be repeated.")
    ] = None,
    routes: Annotated[
        bool, typer.Option("--routes", help="Also whole routes in mazes, which take as long again.")
    ] = False,
    jobs: JobsOption = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Run everything, even what an earlier run finished.")
    ] = False,
    corpora: CorporaOption = None,
    sample: SampleOption = False,
    debug: DebugOption = False,
) -> None:
    """Run all tables of the paper, both presets, all ablations, beside the published figures.

    Every finished part is kept in OUT/cells, so that a stopped run goes on where it was.
    Writes report.html, report.md and one JSON file for each table.
    """
    with plainly(debug, "Finished parts are kept; the same command goes on from there."):
        import shutil
        from time import perf_counter

        from groundling.cli.evaluating import show_report
        from groundling.cli.running import run_with_progress
        from groundling.tasks.catalogue import TASKS, get_task
        from groundling.tasks.cells import assemble, evaluation_cells

        tasks = list(dict.fromkeys(task or TASKS))
        asked = {name: get_task(name) for name in tasks}
        console = make_console()
        folders: Folders = {n: find_place(n, corpora, sample, console).folder for n in tasks}
        out.mkdir(parents=True, exist_ok=True)  # a folder that cannot be written is told now
        if again:
            shutil.rmtree(out / "cells", ignore_errors=True)
        tables = [
            (name, preset, _rows(name, preset, quick))
            for name in tasks
            for preset in asked[name].tables
            if routes or preset in asked[name].presets
        ]
        began = perf_counter()
        cells = [
            cell
            for name, preset, rows in tables
            for cell in evaluation_cells(name, preset, rows, folders[name], quick=quick)
        ]
        results = run_with_progress(cells, folders, console, jobs=jobs, keep=out / "cells")
        reports = [
            assemble(name, preset, rows, results, folders[name], quick=quick)
            for name, preset, rows in tables
        ]
        for report in reports:
            report.save(out / f"{report.task}-{report.preset}.json")
            show_report(console, report, asked[report.task].shown(report.preset))
            console.print()
        page = write_pages(out, reports, folders)
        console.print(
            f"Done in {perf_counter() - began:.0f} s. Read {page}", soft_wrap=True, markup=False
        )


def _rows(task: str, preset: str, quick: bool) -> list[str]:
    from groundling.tasks.catalogue import get_task

    asked = get_task(task)
    wanted = asked.quick_rows if preset == "paper" else ("full",)
    return [row for row in asked.rows(preset) if not quick or row in wanted]


def write_pages(out: Path, reports: Sequence[Report], folders: Folders) -> Path:
    """Write report.html and report.md; return the former."""
    from groundling.evaluation.page import Section, html_page, markdown_page
    from groundling.files import write_atomically
    from groundling.tasks.catalogue import get_task

    sections = [
        Section(
            name.capitalize(),
            get_task(name).about,
            [(each, get_task(name).shown(each.preset)) for each in reports if each.task == name],
        )
        for name in folders
    ]
    generated = [name for name, folder in folders.items() if folder is None]
    data = "the real corpora"
    if generated:
        data = f"generated samples for {', '.join(generated)}, which no published figure is about"
    minutes = sum(report.seconds for report in reports) / 60
    lead = (
        f"Made by `groundling reproduce`, version {reports[0].version}, on "
        f"{max(report.date for report in reports)}, from {data}; {minutes:.0f} minutes of "
        "processor time. The preset paper is as faithful to Andreas and Klein (2015) as the "
        "paper and its program allow; best is whatever the library can do."
    )
    write_atomically(out / "report.md", markdown_page(TITLE, lead, sections))
    write_atomically(out / "report.html", html_page(TITLE, lead.replace("`", ""), sections))
    return out / "report.html"
