"""The `groundling reproduce` command: all tables of the paper, in one report."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from groundling.cli.common import (
    ClusterOption,
    CorporaOption,
    FolderOption,
    JobsOption,
    SampleOption,
    command,
    find_source,
    make_console,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groundling.evaluation.report import Report
    from groundling.tasks.jobs import Sources


TITLE = "Groundling: the paper's tables, run again"


@command("Finished parts are kept; run the same command to resume.")
def reproduce(
    out: FolderOption = Path("reproduction"),
    quick: bool = False,
    task: list[str] | None = None,
    routes: bool = False,
    jobs: JobsOption = 0,
    cluster: ClusterOption = None,
    again: bool = False,
    corpora: CorporaOption = None,
    sample: SampleOption = False,
) -> None:
    """Reproduce the tables of the paper, with all ablations.

    Finished parts are kept in OUT/cells, so an interrupted run can resume. The command writes
    report.html, report.md and one JSON file per table.

    Parameters
    ----------
    out, -o
        Folder for all results.
    quick
        Run only the rows of the paper, with fewer seeds and splits.
    task
        Run only this task; may be repeated.
    routes
        Also run the tables of whole routes, which takes 1.5 times as long.
    again
        Run everything again, including finished parts.
    """
    from time import perf_counter

    from groundling.cli.evaluate import show_report
    from groundling.cli.progress import run_with_progress
    from groundling.settings import AUTO
    from groundling.tasks.jobs import assemble, evaluation_jobs, forget_results
    from groundling.tasks.task_registry import get_task

    tasks = list(dict.fromkeys(task or _paper_tasks()))
    asked = {name: get_task(name) for name in tasks}
    console = make_console()
    sources: Sources = {
        name: find_source(each, None, corpora, sample, console) for name, each in asked.items()
    }
    out.mkdir(parents=True, exist_ok=True)  # raises an error early if it is not writable
    tables = [
        (name, preset, _variants(name, preset, quick))
        for name in tasks
        for preset in asked[name].presets
        if preset != AUTO  # the paper has no such table
        if routes or preset not in asked[name].tables_only
    ]
    began = perf_counter()
    wanted = [
        job
        for name, preset, variants in tables
        for job in evaluation_jobs(name, preset, variants, sources[name], quick=quick)
    ]
    refuse_others(out, [f"{name}-{preset}.json" for name, preset, _ in tables])
    if again:
        forget_results(wanted, out / "cells")
    results = run_with_progress(
        wanted, sources, console, workers=jobs, keep=out / "cells", cluster=cluster
    )
    reports = [
        assemble(name, preset, variants, results, sources[name], quick=quick)
        for name, preset, variants in tables
    ]
    for report in reports:
        report.save(out / f"{report.task}-{report.preset}.json")
        show_report(console, report, asked[report.task].shown_metrics(report.preset))
        console.print()
    page = write_pages(out, reports, sources)
    console.print(f"Done in {perf_counter() - began:.0f} s. Read {page}")


def _paper_tasks() -> list[str]:
    """Return the names of the tasks that have the preset `paper`."""
    from groundling.errors import PluginError
    from groundling.tasks.task_registry import get_task, task_names

    found = []
    for name in task_names():
        with suppress(PluginError):  # a broken plug-in
            if "paper" in get_task(name).presets:
                found.append(name)
    return found


def refuse_others(out: Path, tables: Sequence[str]) -> None:
    """Raise `SettingError` if the report would overwrite a file of another kind."""
    import json
    from html import escape

    from groundling.tasks.jobs import refuse_foreign

    for name in ("report.md", "report.html"):
        refuse_foreign(out / name, "report", lambda text: TITLE in text or escape(TITLE) in text)
    needed = {"task", "preset", "rows"}
    for name in tables:
        refuse_foreign(out / name, "report", lambda text: needed <= set(json.loads(text)))


def _variants(task: str, preset: str, quick: bool) -> list[str]:
    from groundling.tasks.presets import FULL
    from groundling.tasks.task_registry import get_task

    asked = get_task(task)
    wanted = asked.quick_variants if preset == "paper" else (FULL,)
    return [name for name in asked.presets.variants_of(preset) if not quick or name in wanted]


def write_pages(out: Path, reports: Sequence[Report], sources: Sources) -> Path:
    """Write report.html and report.md; return the path of report.html."""
    from groundling.evaluation.page import Section, html_page, markdown_page
    from groundling.files import write_atomically
    from groundling.tasks.task_registry import get_task

    sections = [
        Section(
            name.capitalize(),
            get_task(name).about,
            [
                (each, get_task(name).shown_metrics(each.preset))
                for each in reports
                if each.task == name
            ],
        )
        for name in sources
    ]
    generated = [name for name, source in sources.items() if source is None]
    data = "the real corpora"
    if generated:
        data = f"generated samples for {', '.join(generated)} (published figures do not apply)"
    minutes = sum(report.seconds for report in reports) / 60
    lead = (
        f"Made by `groundling reproduce`, version {reports[0].version}, on "
        f"{max(report.date for report in reports)}, from {data}; {minutes:.0f} minutes of "
        "processor time. The preset paper follows Andreas and Klein (2015) and their program "
        "as closely as possible; best is the best system of this library."
    )
    write_atomically(out / "report.md", markdown_page(TITLE, lead, sections))
    write_atomically(out / "report.html", html_page(TITLE, lead, sections))
    return out / "report.html"
