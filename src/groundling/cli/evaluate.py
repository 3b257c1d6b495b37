"""`groundling evaluate` and `groundling tune`: figures on held-out data, beside the published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.common import (
    ClusterOption,
    CorporaOption,
    DebugOption,
    FilesArgument,
    FoldsOption,
    JobsOption,
    JsonFileOption,
    ParserOption,
    PresetOption,
    SampleOption,
    SkipBadOption,
    TaskArgument,
    check_preset,
    check_writable,
    find_source,
    folder_option,
    list_demonstrations,
    make_console,
    plainly,
    write_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from groundling.evaluation.report import Report
    from groundling.tasks.benchmark import Source, Task


_WRONG = 10  # demonstrations that are followed otherwise, as they are listed


def evaluate(
    task: TaskArgument,
    files: FilesArgument = None,
    preset: PresetOption = None,
    ablations: Annotated[
        bool, typer.Option("--ablations", help="All rows of the table, not only the full model.")
    ] = False,
    row: Annotated[
        list[str] | None, typer.Option("--row", help="A row by its name; may be repeated.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and splits.")] = False,
    dialogue: Annotated[
        bool, typer.Option("--dialogue", help="How often it asks, and what that brings.")
    ] = False,
    speaker: Annotated[
        bool, typer.Option("--speaker", help="Whether plans said by it are understood.")
    ] = False,
    pragmatic: Annotated[
        bool, typer.Option("--pragmatic", help="With and without the speaker's probabilities.")
    ] = False,
    folds: FoldsOption = None,
    model: Annotated[
        Path | None, typer.Option(help="A trained model to judge, instead of training.")
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
    """Evaluate a task or your own world on data that was not trained on."""
    with plainly(debug, "Nothing was written."):
        from groundling.cli.job_progress import run_with_progress
        from groundling.errors import SettingError
        from groundling.tasks.jobs import assemble, evaluation_jobs
        from groundling.tasks.studies import STUDIES
        from groundling.tasks.variants import FULL

        asked = _with_folds(task, folds)
        check_writable(json_file)
        if ablations and row:
            raise SettingError("--ablations means all rows; leave --row out.")
        if model is not None and folds is not None:
            raise SettingError(
                "--folds has no effect with --model, which is judged on all that it did not "
                "learn from. Leave one of them out."
            )
        studies = {"dialogue": dialogue, "speaker": speaker, "pragmatic": pragmatic}
        study, *others = [name for name, wanted in studies.items() if wanted] or [""]
        if others or (study and model is not None):
            what = "--model" if model is not None else f"--{others[0]}"
            raise SettingError(f"--{study} cannot be combined with {what}. Leave one of them out.")
        preset = preset or asked.presets.default
        known = asked.presets.variants_of(preset)
        whole = not study and (ablations or FULL not in known)
        variants = row or list(known if whole else (FULL,))
        for name in variants:
            asked.presets.select(preset, name)
        console = make_console(errors=str(json_file) == "-")
        source = find_source(asked, files, corpora, sample, console, skip_bad=skip_bad)
        if model is not None:
            report = _judge(asked, source, model, parser, console)
        else:
            changes = (("parser", parser),) if parser else ()
            wanted = evaluation_jobs(
                asked, preset, variants, source, quick=quick, changes=changes,
                study=study,
            )  # fmt: skip
            sources = {asked.name: source}
            results = run_with_progress(wanted, sources, console, workers=jobs, cluster=cluster)
            report = assemble(
                asked, preset, variants, results, source, quick=quick, changes=changes,
                study=study,
            )  # fmt: skip
        shown = asked.shown_metrics(report.preset)
        show_report(console, report, (study and STUDIES[study].metrics) or shown)
        _show_mistakes(console, report.mistakes)
        write_json(report.to_dict(), json_file)
        if json_file is not None and str(json_file) != "-":
            console.print(f"Written to {json_file}.")


def _with_folds(name: str, folds: int | None) -> Task[Any, Any]:
    """Return a task; a world of one's own with as many folds as asked for."""
    from groundling.errors import SettingError
    from groundling.tasks.task_registry import get_task
    from groundling.tasks.user_world import UserWorldTask

    task = get_task(name)
    if folds is None:
        return task
    if not isinstance(task, UserWorldTask):
        raise SettingError("--folds is for a world of your own: a task has its own. Leave it out.")
    return UserWorldTask(name, folds)


def _judge(
    task: Task[Any, Any], source: Source, model: Path, parser: str | None, console: Console
) -> Report:
    """Judge a trained model on what it did not learn from, or on all of a world's files."""
    from time import process_time

    from groundling import __version__
    from groundling.data.own import names_world
    from groundling.errors import SettingError
    from groundling.evaluation.report import Report
    from groundling.tasks.jobs import load_corpus
    from groundling.tasks.model_notes import load_trained

    own = names_world(task.name)
    follower, note = load_trained(model, world=task.name if own else None, parser=parser)
    if note.task != task.name:
        raise SettingError(f"The model in {model} is of the task {note.task}, not {task.name}.")
    began = process_time()
    corpus = load_corpus(task.name, source)
    cases = task.prepare(corpus, task.presets.select(note.preset, note.variant))
    if own:
        shown = [each.demonstration for each in cases]
        for each in follower.check_world((each.environment, each.start) for each in shown):
            console.print(f"Warning: {each}")
    parts = list(filter(None, note.left_out.split(","))) or [each.part for each in cases]
    outcome = task.follow(follower, cases, parts)
    row = task.make_row(note.preset, note.variant, [outcome])
    count = len(outcome.get("scores", ())) or len(parts)
    condition = f"{model} on {count} demonstrations"
    return Report(
        task.name, note.preset, condition, [row], process_time() - began, __version__,
        mistakes=outcome.get("mistakes", ()),
    )  # fmt: skip


def show_report(console: Console, report: Report, metrics: Sequence[str]) -> None:
    """Print the main figures of a report as a table."""
    from rich.table import Table

    from groundling.evaluation.report import fraction

    console.print(f"[bold]{report.task}, {report.preset}[/bold]: {report.condition}", markup=True)
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
    console.print(table, soft_wrap=False)
    console.print(f"{report.seconds:.0f} s of processor time, version {report.version}.")
    first = report.rows[0]
    if first.seconds:
        parts = " and ".join(f"{each:.1f} s to {name}" for name, each in first.seconds.items())
        console.print(f"In the median, {first.name} takes {parts}.")


def _show_mistakes(console: Console, mistakes: Sequence[Any]) -> None:
    """List demonstrations that are followed otherwise, with what was wanted and got."""
    if mistakes:
        console.print(f"{len(mistakes):,} end otherwise:")
    for each in mistakes[:_WRONG]:
        text = each["text"] if isinstance(each["text"], str) else " ".join(each["text"])
        named = f" ({each['name']})" if each["name"] else ""
        got = "no plan" if each["got"] is None else each["got"]
        console.print(f"- “{text}”{named}: wanted {each['wanted']}; got {got}")
    if len(mistakes) > _WRONG:
        console.print(f"- and {len(mistakes) - _WRONG:,} more, all of them in --json")


def tune(
    task: TaskArgument,
    files: FilesArgument = None,
    preset: PresetOption = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            "-s",
            metavar="NAME=VALUE,VALUE,…",
            help="What to try, such as learning.l2=1,2,4; repeated, all combinations.",
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
        from groundling.cli.job_progress import default_settings, read_settings, run_with_progress
        from groundling.data.own import names_world
        from groundling.tasks.jobs import tuning_jobs
        from groundling.tasks.task_registry import get_task
        from groundling.tasks.variants import FULL

        asked = get_task(task)
        preset = check_preset(asked, preset)
        check_writable(json_file)
        console = make_console(errors=str(json_file) == "-")
        if names_world(task) and not setting:
            _race(asked, files, console, parser, seconds, out, skip_bad)
            return
        plain = [] if row else default_settings(asked.presets.select(preset))
        tried = read_settings(setting or plain)
        if parser:
            tried = [(("parser", parser), *each) for each in tried]
        source = find_source(asked, files, corpora, sample, console, skip_bad=skip_bad)
        groups = [
            (
                ((("row", name),) if row else ()) + each,
                tuning_jobs(task, preset, each, source, name),
            )
            for name in row or [FULL]
            for each in tried
        ]
        wanted = [job for _, group in groups for job in group]
        results = run_with_progress(wanted, {task: source}, console, workers=jobs, cluster=cluster)
        found = []
        for changes, group in groups:
            scores = {job.fold.name: results[job]["outcome"]["score"] for job in group}
            mean = sum(scores.values()) / len(scores)
            found.append({"settings": dict(changes), "score": mean, "parts": scores})
        best = max(found, key=lambda each: float(str(each["score"])))
        _show_tried(console, asked.metrics[-1], found, best)
        content = {"task": task, "preset": preset, "metric": asked.metrics[-1], "tried": found,
                   "best": best["settings"]}  # fmt: skip
        write_json(content, json_file)


def _show_tried(
    console: Console, metric: str, found: Sequence[dict[str, Any]], best: dict[str, Any]
) -> None:
    from rich.table import Table

    from groundling.evaluation.report import fraction

    table = Table(box=None, pad_edge=False)
    table.add_column("settings", overflow="fold")
    table.add_column(metric, justify="right")
    for each in found:
        shown = ", ".join(f"{name}={value}" for name, value in each["settings"].items())
        mark = "  ← best" if each is best else ""
        table.add_row(shown, f"{fraction(float(each['score']))}{mark}")
    console.print(table, soft_wrap=False)


def _race(
    task: Task[Any, Any], files: Sequence[str] | None, console: Console, parser: str | None,
    seconds: float, out: Path | None, skip_bad: bool,
) -> None:  # fmt: skip
    """Compare configurations on the demonstrations of a world; save the best if asked to."""
    from functools import partial

    from groundling.cli.models import warnings_told
    from groundling.follower import Follower
    from groundling.tasks.model_notes import Note

    shown = list_demonstrations(task, files or (), console, skip_bad=skip_bad)
    with warnings_told(console):
        follower = Follower.tuned(
            shown, seconds, parser=parser or "default",
            show=partial(console.print, soft_wrap=False),
        )  # fmt: skip
    if out is not None:
        follower.save(out, note=Note(task.name, task.presets.default).to_dict())
        console.print(f"The best one is in {out}.")
