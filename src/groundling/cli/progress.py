"""Progress of long steps: a bar on a terminal, plain lines otherwise."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from groundling.learning.rounds import Progress as Report
    from groundling.learning.rounds import ProgressCallback
    from groundling.tasks.jobs import Job, Result, Sources


SECONDS = 5.0  # seconds between plain lines


@contextmanager
def progress(console: Console, title: str) -> Iterator[ProgressCallback]:
    """Show the progress of one long step in a `with` block.

    >>> from types import SimpleNamespace
    >>> with progress(Console(width=60), "learning") as report:
    ...     report(SimpleNamespace(stage="training", step=3, steps=3, loss=1.5))
    learning …
    learning: training 3/3, loss 1.50
    """
    from groundling.compiler import announced

    with announced(lambda what: console.print(f"{title}: {what} …", highlight=False)):
        if not console.is_terminal:
            console.print(f"{title} …", highlight=False)
        with counting(console, title) as tell:

            def show(each: Report) -> None:
                loss = "" if math.isnan(each.loss) else f", loss {each.loss:.2f}"
                note = f"{title}: {each.stage} {each.step}/{each.steps}{loss}"
                tell(each.step, each.steps, note)

            yield show


def _now_and_then(console: Console) -> Callable[[str, bool], None]:
    """Return a function that prints at most one line every few seconds, and the last."""
    told = monotonic()

    def tell(line: str, last: bool) -> None:
        nonlocal told
        if last or monotonic() - told >= SECONDS:
            told = monotonic()
            console.print(line, highlight=False, soft_wrap=True)

    return tell


@contextmanager
def counting(
    console: Console, title: str, *, unit: str = "bytes", expected: float = 0.0
) -> Iterator[Callable[..., None]]:
    """Show how many items are finished, in a `with` block that reports the number.

    `expected` is the estimated time in seconds, shown until there is progress.

    >>> with counting(Console(width=60), "download") as tell:
    ...     tell(5, 10)
    ...     tell(10, 10)
    download: 10 of 10 bytes
    """
    if not console.is_terminal:
        line = _now_and_then(console)

        def count(done: float, total: float | None, note: str = "") -> None:
            of = "" if total is None else f" of {total:.0f}"
            line(note or f"{title}: {done:.0f}{of} {unit}", done == total)

        yield count
        return
    from rich import progress as rich
    from rich.text import Text

    class Left(rich.ProgressColumn):
        """Column with the estimated remaining time, which counts down between updates."""

        def render(self, task: rich.Task) -> Text:
            ends = task.fields["ends"]
            left = max(0.0, ends - monotonic()) if ends else 0.0
            return Text(f"{_duration(left)} left" if left else "", "cyan", no_wrap=True)

    began, before = monotonic(), 0.0
    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TaskProgressColumn(),
               Left())  # fmt: skip
    with rich.Progress(*columns, console=console, transient=True) as bars:
        ends = began + expected if expected else None
        task = bars.add_task(title, total=None, ends=ends)

        def tell(done: float, total: float | None, note: str = "") -> None:
            nonlocal began, before, ends
            now = monotonic()
            # A smaller number means that another stage has begun.
            began, before = now if done < before else began, done
            if done > 0 and total is not None:
                ends = now + (now - began) * (total - done) / done
            bars.update(task, completed=done, total=total, description=note or title, ends=ends)

        yield tell


def run_with_progress(
    jobs: Sequence[Job],
    sources: Sources,
    console: Console,
    *,
    workers: int = 0,
    keep: Path | None = None,
    cluster: str | None = None,
) -> dict[Job, Result]:
    """Run jobs, by default on all cores, and show their progress; return the results."""
    from groundling.tasks.jobs import run_jobs

    workers = max(1, min(workers or os.cpu_count() or 1, len(jobs)))
    lines = not console.is_terminal
    total, done, number = sum(job.fold.seconds for job in jobs), 0.0, 0
    with counting(console, f"0/{len(jobs)}", unit="s", expected=total / workers) as tell:
        if not lines:
            tell(0.0, total)

        def show(job: Job, kept: bool) -> None:
            nonlocal done, number, total
            number += 1
            if kept:
                total -= job.fold.seconds  # the estimate is for the remaining work
            else:
                done += job.fold.seconds
            if lines:
                note = " (kept from an earlier run)" if kept else ""
                console.print(f"{number}/{len(jobs)} {job}{note}")
            else:
                tell(done, total, f"{number}/{len(jobs)}")

        return run_jobs(jobs, sources, workers=workers, keep=keep, tell=show, cluster=cluster)


def _duration(seconds: float) -> str:
    """Return a duration as text in seconds or minutes.

    >>> _duration(45), _duration(400)
    ('45 s', '7 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
