"""Progress of long steps: a bar with an estimate on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from groundling.learning.rounds import Progress as Report
    from groundling.learning.rounds import ProgressCallback


SECONDS = 5.0  # between two plain lines


@contextmanager
def progress(console: Console, title: str) -> Iterator[ProgressCallback]:
    """Show the progress of one long step while the block runs.

    >>> from types import SimpleNamespace
    >>> with progress(Console(width=60), "learning") as report:
    ...     report(SimpleNamespace(stage="training", step=3, steps=3, loss=1.5))
    learning …
    learning: training 3/3, loss 1.50
    """
    from groundling.compiler import announced

    def tell(what: str) -> None:
        console.print(f"{title}: {what} …", highlight=False)

    if console.is_terminal:
        with _bar(console, title) as report, announced(tell):
            yield report
    else:
        console.print(f"{title} …", highlight=False)
        with announced(tell):
            yield _Lines(console, title)


class _Lines:
    """One line now and then, and one at the end of each stage."""

    def __init__(self, console: Console, title: str) -> None:
        self.console = console
        self.title = title
        self.last = monotonic()

    def __call__(self, report: Report) -> None:
        if report.step < report.steps and monotonic() - self.last < SECONDS:
            return
        self.last = monotonic()
        self.console.print(
            f"{self.title}: {report.stage} {report.step}/{report.steps}{_loss(report, ', ')}",
            highlight=False,
            soft_wrap=True,
        )


def _loss(report: Report, before: str = "") -> str:
    """Return the loss in words; there is none before training."""
    return "" if math.isnan(report.loss) else f"{before}loss {report.loss:.2f}"


@contextmanager
def _bar(console: Console, title: str) -> Iterator[ProgressCallback]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(title, total=None, note="")

        def show(report: Report) -> None:
            bars.update(
                task,
                total=report.steps,
                completed=report.step,
                description=f"{title}: {report.stage}",
                note=_loss(report),
            )

        yield show


@contextmanager
def counting(
    console: Console, title: str, *, unit: str = "bytes", expected: float = 0.0
) -> Iterator[Callable[..., None]]:
    """Show how much of something is done; the total may be unknown.

    `expected` are the seconds it may take, to be shown before anything is done.

    >>> with counting(Console(width=60), "download") as tell:
    ...     tell(5, 10)
    ...     tell(10, 10)
    download: 10 of 10 bytes
    """
    if not console.is_terminal:
        yield _Counts(console, title, unit)
        return
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
    )
    from rich.text import Text

    class Left(ProgressColumn):
        """The time that is left, from what was done so far, counted down in between."""

        def render(self, task: Task) -> Text:
            ends = task.fields["ends"]
            left = max(0.0, ends - monotonic()) if ends else 0.0
            return Text(f"{_duration(left)} left" if left else "", "cyan", no_wrap=True)

    began = monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Left())
    with Progress(*columns, console=console, transient=True) as bars:
        ends = began + expected if expected else None
        task = bars.add_task(title, total=None, ends=ends)

        def tell(done: float, total: float | None, note: str = "") -> None:
            nonlocal ends
            now = monotonic()
            if done > 0 and total is not None:
                ends = now + (now - began) * (total - done) / done
            bars.update(task, completed=done, total=total, description=note or title, ends=ends)

        yield tell


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(45), _duration(400)
    ('45 s', '7 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class _Counts:
    """One line now and then, and one at the end."""

    def __init__(self, console: Console, title: str, unit: str) -> None:
        self.console = console
        self.title = title
        self.unit = unit
        self.last = monotonic()

    def __call__(self, done: float, total: float | None, note: str = "") -> None:
        if done != total and monotonic() - self.last < SECONDS:
            return
        self.last = monotonic()
        of = "" if total is None else f" of {total:.0f}"
        self.console.print(f"{self.title}: {done:.0f}{of} {self.unit}", highlight=False)
