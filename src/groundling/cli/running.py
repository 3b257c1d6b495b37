"""Running jobs with one overall progress display, and reading what to try."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from groundling.cli.progress import counting
from groundling.errors import SettingError
from groundling.tasks.running import Changes, Folders, Job, Result, run_jobs

__all__ = ["default_settings", "read_settings", "run_with_progress"]


def run_with_progress(
    jobs: Sequence[Job],
    folders: Folders,
    console: Console,
    *,
    workers: int = 0,
    keep: Path | None = None,
    cluster: str | None = None,
) -> dict[Job, Result]:
    """Run jobs, on all cores unless told otherwise, and show how far it is."""
    workers = max(1, min(workers or os.cpu_count() or 1, len(jobs)))
    lines = not console.is_terminal
    total, done, number = sum(job.seconds for job in jobs), 0.0, 0
    with counting(console, f"0/{len(jobs)}", unit="s", expected=total / workers) as tell:
        if not lines:
            tell(0.0, total)

        def show(job: Job, kept: bool) -> None:
            nonlocal done, number, total
            number += 1
            if kept:
                total -= job.seconds  # so that the estimate is of what is left to do
            else:
                done += job.seconds
            if lines:
                note = " (kept from an earlier run)" if kept else ""
                console.print(f"{number}/{len(jobs)} {job}{note}", soft_wrap=True, markup=False)
            else:
                tell(done, total, f"{number}/{len(jobs)}")

        # Whoever ends us also ends our workers, as Ctrl-C does.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            return run_jobs(jobs, folders, workers=workers, keep=keep, tell=show, cluster=cluster)
        finally:
            signal.signal(signal.SIGTERM, before)


def read_settings(given: Sequence[str]) -> list[Changes]:
    """Return all combinations of what is to be tried.

    >>> read_settings(["learning.l2=1,2", "search.beam=5"])
    [(('learning.l2', 1), ('search.beam', 5)), (('learning.l2', 2), ('search.beam', 5))]
    """
    options: list[list[tuple[str, Any]]] = []
    for each in given:
        [(name, *values)] = read_values(each)
        options.append([(name, value) for value in values])
    return list(itertools.product(*options))


def read_values(given: str) -> list[tuple[Any, ...]]:
    """Return a setting and its values, from what was typed.

    >>> read_values("features.slots=crop,fence")
    [('features.slots', 'crop', 'fence')]
    """
    name, mark, values = given.partition("=")
    if not mark or not values.strip():
        raise SettingError(
            f"{given!r} names no value. Write NAME=VALUE,VALUE, such as learning.l2=1,2,4."
        )
    return [(name.strip(), *map(_value, values.split(",")))]


def _value(text: str) -> Any:
    """Read a number or a truth value, else a word.

    >>> [_value(each) for each in ("2", "0.5", "true", "plan")]
    [2, 0.5, True, 'plan']
    """
    text = text.strip()
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def default_settings(chosen: Any) -> list[str]:
    """Return what to try if nothing is said: half, once and twice the regularisation."""
    name = "l1" if chosen.learning.l1 > 0 else "l2"
    now = getattr(chosen.learning, name)
    return [f"learning.{name}={now / 2:g},{now:g},{now * 2:g}"]
