"""The commands `groundling evaluate` and `groundling tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.common import (
    ClusterOption,
    FoldsOption,
    JobsOption,
    JsonFileOption,
    OptionalFolder,
    TaskOptions,
    check_preset,
    check_writable,
    command,
    list_demonstrations,
    make_console,
    write_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from groundling.evaluation.report import Report
    from groundling.tasks.benchmark import Source, Task


_WRONG = 10  # maximum number of wrong plans to list


@command("Nothing was written.")
def evaluate(
    data: TaskOptions,
    ablations: bool = False,
    row: list[str] | None = None,
    quick: bool = False,
    dialogue: bool = False,
    speaker: bool = False,
    pragmatic: bool = False,
    folds: FoldsOption = None,
    model: Path | None = None,
    jobs: JobsOption = 0,
    cluster: ClusterOption = None,
    json_file: JsonFileOption = None,
) -> None:
    """Evaluate a task or your own world on held-out data.

    Parameters
    ----------
    ablations
        Run all rows of the results table, not only the full model.
    row
        Run this row of the results table; may be repeated.
    quick
        Run with fewer seeds and splits.
    dialogue
        Measure clarification questions and the coverage of prediction sets.
    speaker
        Measure how well generated texts are understood.
    pragmatic
        Compare the results with and without the pragmatic listener.
    model
        Score this trained model instead of training one.
    """
    from groundling.cli.progress import run_with_progress
    from groundling.errors import SettingError
    from groundling.tasks.jobs import assemble, evaluation_jobs
    from groundling.tasks.presets import FULL
    from groundling.tasks.studies import STUDIES

    asked = _with_folds(data.task, folds)
    check_writable(json_file)
    studies = {"dialogue": dialogue, "speaker": speaker, "pragmatic": pragmatic}
    study, *others = [name for name, wanted in studies.items() if wanted] or [""]
    for one, two in (
        (ablations and "--ablations", row and "--row"),
        (model and "--model", folds and "--folds"),
        (study and f"--{study}", others and f"--{others[0]}"),
        (study and f"--{study}", model and "--model"),
    ):
        if one and two:
            raise SettingError(f"{one} must not be combined with {two}. Remove one of them.")
    preset = data.preset or asked.presets.default
    known = asked.presets.variants_of(preset)
    whole = not study and (ablations or FULL not in known)
    variants = row or list(known if whole else (FULL,))
    for name in variants:
        asked.presets.select(preset, name)
    console = make_console(errors=str(json_file) == "-")
    source = data.find(console, asked)
    if model is not None:
        report = _judge(asked, source, model, data.parser, console)
    else:
        wanted: dict[str, Any] = {"quick": quick, "changes": data.changes, "study": study}
        todo = evaluation_jobs(asked, preset, variants, source, **wanted)
        results = run_with_progress(
            todo, {asked.name: source}, console, workers=jobs, cluster=cluster
        )
        report = assemble(asked, preset, variants, results, source, **wanted)
    shown = asked.shown_metrics(report.preset)
    show_report(console, report, (study and STUDIES[study].metrics) or shown)
    _show_mistakes(console, report.mistakes)
    write_json(report.to_dict(), json_file)
    if json_file is not None and str(json_file) != "-":
        console.print(f"Written to {json_file}.")


def _with_folds(name: str, folds: int | None) -> Task[Any, Any]:
    """Return a task by name; a user's own world may have a number of folds."""
    from groundling.errors import SettingError
    from groundling.tasks.task_registry import get_task
    from groundling.tasks.user_world import UserWorldTask

    task = get_task(name)
    if folds is None:
        return task
    if not isinstance(task, UserWorldTask):
        raise SettingError(
            "--folds can be used only with your own world; a task has its own folds. Remove "
            "--folds."
        )
    return UserWorldTask(name, folds)


def _judge(
    task: Task[Any, Any], source: Source, model: Path, parser: str | None, console: Console
) -> Report:
    """Return the scores of a trained model on held-out data or a user's files."""
    from time import process_time

    from groundling import __version__
    from groundling.checks.registry import missing_labels
    from groundling.data.own import names_world
    from groundling.errors import SettingError
    from groundling.evaluation.report import Report
    from groundling.tasks.jobs import load_corpus
    from groundling.tasks.model_notes import load_trained

    own = names_world(task.name)
    follower, note = load_trained(model, world=task.name if own else None, parser=parser)
    if note.task != task.name:
        raise SettingError(
            f"The model in {model} must be trained on {task.name}; got {note.task}. Pass another "
            f"model, or evaluate {note.task}."
        )
    began = process_time()
    corpus = load_corpus(task.name, source)
    cases = task.prepare(corpus, task.presets.select(note.preset, note.variant))
    if own:
        shown = [each.demonstration for each in cases]
        for each in missing_labels(
            follower.learnt_, ((each.environment, each.start) for each in shown)
        ):
            console.print(f"Warning: {each}")
    parts = list(filter(None, note.left_out.split(","))) or [each.part for each in cases]
    outcome = task.follow(follower, cases, parts)
    row = task.make_row(note.preset, note.variant, [outcome])
    count = len(outcome.get("scores", ())) or len(parts)
    condition = f"{model} on {count} demonstration{'s' * (count != 1)}"
    return Report(
        task.name, note.preset, condition, [row], process_time() - began, __version__,
        mistakes=outcome.get("mistakes", ()),
    )  # fmt: skip


def show_report(console: Console, report: Report, metrics: Sequence[str]) -> None:
    """Print the main results of a report as a table."""
    from rich.table import Table

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
        *cells, ends, known = row.cells(metrics)
        if wide:
            cells.append(f"{metrics[-1]} {ends}" if ends else "")
        if published:
            cells.append(known)
        table.add_row(row.name, *cells)
    console.print(table, soft_wrap=False)
    console.print(f"{report.seconds:.0f} s of processor time, version {report.version}.")
    first = report.rows[0]
    if first.seconds:
        parts = " and ".join(f"{name} {each:.1f} s" for name, each in first.seconds.items())
        console.print(f"Median times of {first.name}: {parts}.")


def _show_mistakes(console: Console, mistakes: Sequence[Any]) -> None:
    """Print wrong plans, with the demonstrated and the predicted actions."""
    if mistakes:
        console.print(f"{len(mistakes):,} wrong:")
    for each in mistakes[:_WRONG]:
        text = each["text"] if isinstance(each["text"], str) else " ".join(each["text"])
        named = f" ({each['name']})" if each["name"] else ""
        got = "no plan" if each["got"] is None else each["got"]
        console.print(f"- “{text}”{named}: expected {each['wanted']}; got {got}")
    if len(mistakes) > _WRONG:
        console.print(f"- and {len(mistakes) - _WRONG:,} more, all of them in --json")


@command("Nothing was written.")
def tune(
    data: TaskOptions,
    setting: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE,VALUE,…")] = None,
    row: list[str] | None = None,
    seconds: Annotated[float, typer.Option(min=0)] = 60.0,
    out: OptionalFolder = None,
    jobs: JobsOption = 0,
    cluster: ClusterOption = None,
    json_file: JsonFileOption = None,
) -> None:
    """Compare settings by cross-validation inside the training data.

    Parameters
    ----------
    setting, -s
        Values to try, such as learning.l2=1,2,4; if repeated, all combinations.
    row
        Try the settings on this row of the results table; may be repeated.
    seconds
        Time budget of the race, for your own world.
    out, -o
        Folder for the best model of the race.
    """
    from groundling.cli.progress import run_with_progress
    from groundling.cli.typed_settings import default_settings, read_settings
    from groundling.data.own import names_world
    from groundling.tasks.jobs import tuning_jobs
    from groundling.tasks.presets import FULL
    from groundling.tasks.task_registry import get_task

    task, asked = data.task, get_task(data.task)
    preset = check_preset(asked, data.preset)
    check_writable(json_file)
    console = make_console(errors=str(json_file) == "-")
    if names_world(task) and not setting:
        _race(asked, data, console, seconds, out)
        return
    plain = [] if row else default_settings(asked.presets.select(preset))
    tried = [(*data.changes, *each) for each in read_settings(setting or plain)]
    source = data.find(console, asked)
    groups = [
        (((("row", name),) if row else ()) + each, tuning_jobs(task, preset, each, source, name))
        for name in row or [FULL]
        for each in tried
    ]
    wanted = [job for _, group in groups for job in group]
    results = run_with_progress(wanted, {task: source}, console, workers=jobs, cluster=cluster)
    found: list[dict[str, Any]] = []
    for changes, group in groups:
        scores = {job.fold.name: results[job]["outcome"]["score"] for job in group}
        mean = sum(scores.values()) / len(scores)
        found.append({"settings": dict(changes), "score": mean, "parts": scores})
    best = max(found, key=lambda each: each["score"])
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
    task: Task[Any, Any], data: TaskOptions, console: Console, seconds: float, out: Path | None
) -> None:
    """Compare configurations on a world's demonstrations, and save the best model."""
    from functools import partial

    from groundling.cli.models import print_warnings
    from groundling.follower import Follower
    from groundling.tasks.model_notes import Note

    shown = list_demonstrations(task, data.files or (), console, skip_bad=data.skip_bad)
    with print_warnings(console):
        follower = Follower.tuned(
            shown, seconds, parser=data.parser or "default",
            show=partial(console.print, soft_wrap=False),
        )  # fmt: skip
    if out is not None:
        follower.save(out, note=Note(task.name, task.presets.default).to_dict())
        console.print(f"The best model is in {out}.")
