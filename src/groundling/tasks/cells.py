"""Cells of the tables: the parts of evaluations, run on all cores and kept when they are done."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from groundling import __version__
from groundling.errors import ConvergenceWarning
from groundling.evaluation.report import Report
from groundling.files import write_atomically
from groundling.tasks import catalogue
from groundling.tasks.catalogue import changed, get_task

__all__ = ["Cell", "assemble", "evaluation_cells", "run_cell", "run_cells", "tuning_cells"]

Changes = tuple[tuple[str, Any], ...]
Result = dict[str, Any]
Folders = Mapping[str, Path | None]
"""Where the corpus of each task is; nowhere means the generated sample."""


@dataclass(frozen=True)
class Cell:
    """A piece of work that needs nothing of any other.

    `rows` are evaluated together on a part of the task; with `inner`, a part of the
    training data is left out instead, and the settings are changed.

    >>> Cell("mazes", "best", ("full",), "Grid").key
    'mazes-best-full-Grid'
    """

    task: str
    preset: str
    rows: tuple[str, ...]
    part: str
    seconds: float = 1.0
    changes: Changes = ()
    inner: bool = False

    @property
    def key(self) -> str:
        """A name for files."""
        shown = "-".join((self.task, self.preset, *self.rows, self.part))
        return re.sub(r"[^\w-]+", "_", shown)

    def __str__(self) -> str:
        what = " and ".join(self.rows)
        if self.changes:
            what = ", ".join(f"{name} {value}" for name, value in self.changes)
        return f"{self.task} {self.preset}, {what}: {self.part}"


def evaluation_cells(
    task: str, preset: str, rows: Sequence[str], folder: Path | None, *, quick: bool = False
) -> list[Cell]:
    """Return the cells of the rows of a table."""
    asked = get_task(task)
    corpus = _load(task, folder, catalogue.SAMPLE)
    return [
        Cell(task, preset, group, part, seconds)
        for group in asked.groups(preset, rows)
        for part, seconds in asked.parts(corpus, preset, group[0], quick)
    ]


def tuning_cells(
    task: str, preset: str, changes: Changes, folder: Path | None, row: str = "full"
) -> list[Cell]:
    """Return the cells that try settings of a row inside the training data."""
    asked = get_task(task)
    changed(asked.preset(preset, row), changes)  # complains of what does not exist
    parts = asked.inner_parts(_load(task, folder, catalogue.SAMPLE))
    return [Cell(task, preset, (row,), part, 1.0, changes, inner=True) for part in parts]


@lru_cache(maxsize=3)
def _load(task: str, folder: Path | None, size: float) -> Any:
    """Load a corpus once in each process; the size is that of the sample."""
    return get_task(task).load(folder, size)


def run_cell(cell: Cell, folder: Path | None, size: float = 1.0) -> Result:
    """Run a cell in this process."""
    task = get_task(cell.task)
    corpus = _load(cell.task, folder, size)
    began = time.process_time()
    with warnings.catch_warnings():
        # Presets say how long to train; the paper's stop before they converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if cell.inner:
            chosen = changed(task.preset(cell.preset, cell.rows[0]), cell.changes)
            outcome: Any = {"score": task.try_out(corpus, chosen, cell.part)}
        else:
            outcome = task.run(corpus, cell.preset, cell.rows, cell.part)
    return {"outcome": outcome, "seconds": time.process_time() - began}


def run_cells(
    cells: Sequence[Cell],
    folders: Folders,
    *,
    jobs: int = 1,
    keep: Path | None = None,
    tell: Callable[[Cell, bool], None] = lambda cell, kept: None,
) -> dict[Cell, Result]:
    """Run cells, on several cores if wished, the longest first.

    With `keep`, a folder, every result is written as soon as it is there, and those that
    an earlier run left are taken instead of running again. `tell` is called with each
    cell that is done, and whether it was kept.
    """
    results: dict[Cell, Result] = {}
    waiting = []
    for cell in sorted(cells, key=lambda each: -each.seconds):
        found = _kept(cell, folders[cell.task], keep)
        if found is None:
            waiting.append(cell)
        else:
            results[cell] = found
            tell(cell, True)
    for cell, result in _run(waiting, folders, jobs, keep):
        results[cell] = result
        tell(cell, False)
    return results


def _run(
    cells: Sequence[Cell], folders: Folders, jobs: int, keep: Path | None
) -> Iterator[tuple[Cell, Result]]:
    size = catalogue.SAMPLE
    if jobs == 1 or len(cells) < 2:
        for cell in cells:
            yield cell, _run_and_keep(cell, folders[cell.task], size, keep)
        return
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
    yield from pool(delayed(_work)(cell, folders[cell.task], size, keep) for cell in cells)


def _work(cell: Cell, folder: Path | None, size: float, keep: Path | None) -> tuple[Cell, Result]:
    # Ctrl-C is for the main process, which then ends this one.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return cell, _run_and_keep(cell, folder, size, keep)


def _run_and_keep(cell: Cell, folder: Path | None, size: float, keep: Path | None) -> Result:
    result = run_cell(cell, folder, size)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        content = {"fingerprint": _fingerprint(cell, folder, size), **result}
        write_atomically(keep / f"{cell.key}.json", json.dumps(content))
    return result


def _kept(cell: Cell, folder: Path | None, keep: Path | None) -> Result | None:
    path = None if keep is None else keep / f"{cell.key}.json"
    if path is None or not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["fingerprint"] != _fingerprint(cell, folder, catalogue.SAMPLE):
            return None
        return {"outcome": content["outcome"], "seconds": float(content["seconds"])}
    except (ValueError, KeyError, TypeError):
        return None


def _fingerprint(cell: Cell, folder: Path | None, size: float) -> str:
    """Return what a result depends on: version, settings and corpus."""
    task = get_task(cell.task)
    settings = [repr(task.preset(cell.preset, row)) for row in cell.rows]
    shown = json.dumps(
        [__version__, settings, repr(replace(cell, seconds=0.0)), _mark(cell.task, folder, size)]
    )
    return hashlib.sha256(shown.encode()).hexdigest()


@lru_cache(maxsize=8)
def _mark(task: str, folder: Path | None, size: float) -> str:
    if folder is None:
        return f"generated sample {size}"
    digest = hashlib.sha256()
    root = folder / get_task(task).corpus
    for path in sorted(root.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def assemble(
    task: str,
    preset: str,
    rows: Sequence[str],
    results: dict[Cell, Result],
    folder: Path | None,
    *,
    quick: bool = False,
) -> Report:
    """Put the results of cells together into the report of a table."""
    asked = get_task(task)
    corpus = _load(task, folder, catalogue.SAMPLE)
    wanted = evaluation_cells(task, preset, rows, folder, quick=quick)
    made = []
    for row in rows:
        outcomes = [results[cell]["outcome"][row] for cell in wanted if row in cell.rows]
        found = asked.row(preset, row, outcomes)
        # Published figures are about the real corpora only.
        made.append(found if folder is not None else replace(found, published={}))
    condition = asked.condition(corpus, preset, quick)
    if folder is None:
        condition = f"generated sample; {condition}"
    if quick:
        condition += "; quick"
    seconds = sum(results[cell]["seconds"] for cell in wanted)
    return Report(task, preset, condition, made, seconds, __version__)
