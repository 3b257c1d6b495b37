"""`groundling evaluate` and `groundling tune`: figures on held-out data, beside the published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.common import (
    ClusterOption,
    CorporaOption,
    DebugOption,
    FilesArgument,
    JobsOption,
    ParserOption,
    PresetOption,
    SampleOption,
    SkipBadOption,
    TaskArgument,
    check_own_only,
    check_preset,
    check_task_only,
    check_writable,
    find_place,
    folder_option,
    given,
    make_console,
    plainly,
    print_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from groundling.evaluation.report import Report

__all__ = ["evaluate", "show_report", "tune"]

JsonFileOption = Annotated[
    Path | None, typer.Option("--json", help="Also write JSON to a file; - for the output.")
]


def evaluate(
    context: typer.Context,
    task: TaskArgument,
    files: FilesArgument = None,
    preset: PresetOption = "best",
    ablations: Annotated[
        bool, typer.Option("--ablations", help="All rows of the table, not only the full model.")
    ] = False,
    row: Annotated[
        list[str] | None, typer.Option("--row", help="A row by its name; may be repeated.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and splits.")] = False,
    parts: Annotated[
        int, typer.Option(min=2, help="In your own world: into how many parts to split.")
    ] = 5,
    model: Annotated[
        Path | None,
        typer.Option(help="In your own world: a trained model to judge, instead of the parts."),
    ] = None,
    parser: ParserOption = None,
    skip_bad: SkipBadOption = False,
    jobs: JobsOption = 0,
    cluster: ClusterOption = None,
    json_file: JsonFileOption = None,
    corpora: CorporaOption = None,
    sample: SampleOption = False,
    debug: DebugOption = False,
) -> None:
    """Evaluate on data that was not trained on: a preset, or your own world by its parts."""
    with plainly(debug, "Nothing was written."):
        from groundling.data.own import names_world
        from groundling.errors import SettingError

        if names_world(task):
            from groundling.cli.own import evaluate_own, evaluate_parts

            check_own_only(
                context,
                "preset",
                "ablations",
                "row",
                "quick",
                "jobs",
                "cluster",
                "corpora",
                "sample",
            )
            console = make_console(errors=str(json_file) == "-")
            if model is None:
                evaluate_parts(
                    task, files or (), console, skip_bad=skip_bad, parser=parser, parts=parts,
                    json_file=json_file,
                )  # fmt: skip
                return
            if given(context, "parts"):
                raise SettingError(
                    "--parts has no effect with --model, which is judged on all demonstrations. "
                    "Leave one of them out."
                )
            evaluate_own(
                task, files or (), console, model, skip_bad=skip_bad, parser=parser,
                json_file=json_file,
            )  # fmt: skip
            return
        check_task_only(files, parser, skip_bad)
        from groundling.cli.running import run_with_progress
        from groundling.tasks.presets import FULL
        from groundling.tasks.registry import get_task
        from groundling.tasks.running import assemble, evaluation_jobs

        asked = get_task(task)
        check_writable(json_file)
        if model is not None:
            raise SettingError("--model is for a world of your own. Leave it out.")
        if ablations and row:
            raise SettingError("--ablations means all rows; leave --row out.")
        known = asked.presets.variants_of(preset)
        variants = row or list(known if ablations or FULL not in known else (FULL,))
        for name in variants:
            asked.presets.select(preset, name)
        to_output = str(json_file) == "-"
        console = make_console(errors=to_output)
        place = find_place(task, corpora, sample, console)
        wanted = evaluation_jobs(task, preset, variants, place.folder, quick=quick)
        results = run_with_progress(
            wanted, {task: place.folder}, console, workers=jobs, cluster=cluster
        )
        report = assemble(task, preset, variants, results, place.folder, quick=quick)
        show_report(console, report, asked.shown_metrics(preset))
        if to_output:
            print_json(report.to_dict())
        elif json_file is not None:
            report.save(json_file)
            console.print(f"Written to {json_file}.", soft_wrap=True, markup=False)


def show_report(console: Console, report: Report, metrics: Sequence[str]) -> None:
    """Print the main figures of a report as a table."""
    from rich.table import Table

    from groundling.evaluation.report import fraction

    console.print(f"[bold]{report.task}, {report.preset}[/bold]: {report.condition}")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("row", overflow="fold")
    for name in metrics:
        table.add_column(name, justify="right", no_wrap=True)
    wide = console.width >= 60
    published = any(row.published for row in report.rows)
    if wide:
        table.add_column("95%", no_wrap=True)
    if published:
        table.add_column("published", overflow="fold")
    for row in report.rows:
        cells = [fraction(row.metrics[n]) if n in row.metrics else "" for n in metrics]
        if wide:
            ends = "–".join(map(fraction, row.interval)) if row.interval else ""
            cells.append(f"{metrics[-1]} {ends}" if ends else "")
        if published:
            cells.append(", ".join(f"{n} {fraction(v)}" for n, v in row.published.items()))
        table.add_row(row.name, *cells)
    console.print(table)
    console.print(f"{report.seconds:.0f} s of processor time, version {report.version}.")
    first = report.rows[0]
    if first.seconds:
        parts = " and ".join(f"{each:.1f} s to {name}" for name, each in first.seconds.items())
        console.print(f"In the median, {first.name} takes {parts}.", soft_wrap=True, markup=False)


def tune(
    context: typer.Context,
    task: TaskArgument,
    files: FilesArgument = None,
    preset: PresetOption = "best",
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            "-s",
            metavar="NAME=VALUE,VALUE,…",
            help="Tasks only: what to try, such as learning.l2=1,2,4; repeated, all combinations.",
        ),
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option("--row", help="A row to try, with all settings; may be repeated."),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0, help="In your own world: about how long to compare.")
    ] = 60.0,
    out: Annotated[
        Path | None, folder_option("--out", "-o", help="In your own world: folder for the best.")
    ] = None,
    parser: ParserOption = None,
    skip_bad: SkipBadOption = False,
    jobs: JobsOption = 0,
    cluster: ClusterOption = None,
    json_file: JsonFileOption = None,
    corpora: CorporaOption = None,
    sample: SampleOption = False,
    debug: DebugOption = False,
) -> None:
    """Choose settings inside the training data: what they score on parts of it left out."""
    with plainly(debug, "Nothing was written."):
        from groundling.data.own import names_world

        if names_world(task):
            from groundling.cli.own import tune_own

            check_own_only(
                context, "preset", "row", "setting", "jobs", "cluster", "json_file", "corpora",
                "sample",
            )  # fmt: skip
            tune_own(
                task, files or (), make_console(), parser=parser or "default", seconds=seconds,
                out=out, skip_bad=skip_bad,
            )  # fmt: skip
            return
        check_task_only(files, parser, skip_bad)
        from rich.table import Table

        from groundling.cli.running import default_settings, read_settings, run_with_progress
        from groundling.evaluation.report import fraction
        from groundling.files import write_atomically
        from groundling.tasks.presets import FULL
        from groundling.tasks.registry import get_task
        from groundling.tasks.running import tuning_jobs

        asked = get_task(task)
        chosen = check_preset(asked, preset)
        check_writable(json_file)
        plain = [] if row else default_settings(chosen)
        tried = read_settings(setting or plain)
        to_output = str(json_file) == "-"
        console = make_console(errors=to_output)
        place = find_place(task, corpora, sample, console)
        groups = [
            (
                ((("row", name),) if row else ()) + each,
                tuning_jobs(task, preset, each, place.folder, name),
            )
            for name in row or [FULL]
            for each in tried
        ]
        wanted = [job for _, group in groups for job in group]
        results = run_with_progress(
            wanted, {task: place.folder}, console, workers=jobs, cluster=cluster
        )
        found = []
        for changes, group in groups:
            scores = {job.fold: results[job]["outcome"]["score"] for job in group}
            mean = sum(scores.values()) / len(scores)
            found.append({"settings": dict(changes), "score": mean, "parts": scores})
        best = max(found, key=lambda each: float(str(each["score"])))
        table = Table(box=None, pad_edge=False)
        table.add_column("settings", overflow="fold")
        table.add_column(asked.metrics[-1], justify="right")
        for each, (changes, _) in zip(found, groups, strict=True):
            shown = ", ".join(f"{name}={value}" for name, value in changes)
            mark = "  ← best" if each is best else ""
            table.add_row(shown, f"{fraction(float(str(each['score'])))}{mark}")
        console.print(table)
        content = {"task": task, "preset": preset, "metric": asked.metrics[-1], "tried": found,
                   "best": best["settings"]}  # fmt: skip
        if to_output:
            print_json(content)
        elif json_file is not None:
            import json

            write_atomically(json_file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
