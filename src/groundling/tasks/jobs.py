"""Folds of evaluations as jobs that run in parallel, with cached results."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from groundling import __version__
from groundling.errors import ConvergenceWarning, SettingError, WorkerError
from groundling.evaluation.report import Report
from groundling.files import read_plain, write_atomically
from groundling.limits import RESULT_BYTES
from groundling.tasks import benchmark
from groundling.tasks.benchmark import Fold, Source, Task
from groundling.tasks.presets import FULL, with_changes
from groundling.tasks.studies import STUDIES, study_folds
from groundling.tasks.task_registry import get_task, task_package

Changes = tuple[tuple[str, Any], ...]
Result = dict[str, Any]
Sources = Mapping[str, Source]
"""Source of the corpus, by task."""

_LONGEST_NAME = 150  # maximum characters of a file name; most systems allow 255 bytes


@dataclass(frozen=True)
class Job:
    """One fold of an evaluation; jobs do not depend on each other.

    `variants` are the rows that share one training run. With `tuning`, the fold is inside the
    training data. `study` is the name of a study (see `groundling.tasks.studies`).

    >>> Job("mazes", preset="best", variants=("full",), fold=Fold("Grid", held_out=("Grid",))).key
    'mazes-best-full-Grid'
    """

    task: str
    preset: str
    variants: tuple[str, ...]
    fold: Fold
    changes: Changes = ()
    tuning: bool = False
    study: str = ""

    @property
    def key(self) -> str:
        """Name of the file that stores the result."""
        study = (self.study,) if self.study else ()
        shown = "-".join((self.task, self.preset, *study, *self.variants, self.fold.name))
        name = re.sub(r"[^\w-]+", "_", shown)
        if len(name) <= _LONGEST_NAME:
            return name
        return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(shown.encode()).hexdigest()[:12]}"

    def __str__(self) -> str:
        what = " and ".join(self.variants)
        if self.changes:
            what = ", ".join(f"{name} {value}" for name, value in self.changes)
        return f"{self.task} {self.preset}, {what}: {self.fold.name}"


def evaluation_jobs(
    task: str | Task[Any, Any],
    preset: str,
    variants: Sequence[str],
    source: Source,
    *,
    quick: bool = False,
    changes: Changes = (),
    study: str = "",
) -> list[Job]:
    """Return the jobs that evaluate rows of a table or run a study on them."""
    asked = get_task(task) if isinstance(task, str) else task
    corpus = load_corpus(asked.name, source)
    if study:
        return [
            Job(asked.name, preset, (variant,), fold, changes, study=study)
            for variant in variants
            for fold in study_folds(asked, corpus, preset, variant, quick)
        ]
    return [
        Job(asked.name, preset, group, fold, changes)
        for group in asked.presets.group(preset, variants)
        for fold in asked.folds(corpus, preset, group[0], quick)
    ]


def tuning_jobs(
    task: str, preset: str, changes: Changes, source: Source, variant: str = FULL
) -> list[Job]:
    """Return the jobs that score a row with changed settings on tuning folds."""
    asked = get_task(task)
    with_changes(asked.presets.select(preset, variant), changes)  # checks the settings
    folds = asked.tuning_folds(load_corpus(task, source))
    return [Job(task, preset, (variant,), fold, changes, tuning=True) for fold in folds]


def load_corpus(task: str, source: Source) -> Any:
    """Return the corpus of a task; it is cached in this process."""
    return _load(task, source, benchmark.SAMPLE)


@lru_cache(maxsize=3)
def _load(task: str, source: Source, size: float) -> Any:
    return get_task(task).load(source, size)


def run_job(job: Job, source: Source, size: float = 1.0) -> Result:
    """Run a job in this process, and return its result as JSON."""
    task = get_task(job.task)
    corpus = _load(job.task, source, size)
    chosen = {
        each: with_changes(task.presets.select(job.preset, each), job.changes)
        for each in job.variants
    }
    began = time.process_time()
    with warnings.catch_warnings():
        # Presets limit the iterations; the presets of the paper stop before convergence.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if job.tuning:
            outcome: Any = {"score": task.try_out(corpus, chosen[job.variants[0]], job.fold)}
        elif job.study:
            measure = STUDIES[job.study].measure
            outcome = {v: measure(task, corpus, each, job.fold) for v, each in chosen.items()}
        else:
            outcome = task.evaluate(corpus, chosen, job.fold)
    seconds = time.process_time() - began
    # Round trip through JSON, so that new results equal cached ones.
    return {"outcome": json.loads(json.dumps(outcome)), "seconds": seconds}


def run_jobs(
    jobs: Sequence[Job],
    sources: Sources,
    *,
    workers: int = 1,
    keep: Path | None = None,
    tell: Callable[[Job, bool], None] = lambda job, kept: None,
    cluster: Any = None,
) -> dict[Job, Result]:
    """Run jobs in processes or on a cluster, the longest first; return the results.

    If `keep` is a folder, each result is written there immediately, and earlier results are reused.
    `tell` is called with each finished job and a Boolean: whether its result was reused.
    """
    results: dict[Job, Result] = {}
    waiting = []
    _refuse_others(jobs, keep)
    for job in sorted(jobs, key=lambda each: -each.fold.seconds):
        found = _kept(job, sources[job.task], keep)
        if found is None:
            waiting.append(job)
        else:
            results[job] = found
            tell(job, True)
    run = _run_here if cluster is None else partial(_run_on_cluster, cluster=cluster)
    for job, result in run(waiting, sources, workers, keep is not None) if waiting else ():
        if keep is not None:
            _keep(job, sources[job.task], keep, result)
        results[job] = result
        tell(job, False)
    return results


def _run_here(
    jobs: Sequence[Job], sources: Sources, workers: int, kept: bool
) -> Iterator[tuple[Job, Result]]:
    size = benchmark.SAMPLE
    if workers == 1 or len(jobs) < 2:
        for job in jobs:
            yield job, run_job(job, sources[job.task], size)
        return
    from joblib import Parallel, delayed

    pool = Parallel(
        n_jobs=workers, return_as="generator_unordered", batch_size=1, pre_dispatch=workers
    )
    with _no_interrupts():
        path = tuple(sys.path)
        results = pool(delayed(_work)(job, sources[job.task], size, path) for job in jobs)
    try:
        yield from results
    except BrokenExecutor as error:  # killed by the system or by a user
        raise WorkerError(
            "A worker process died, perhaps because it ran out of memory. Run the command again "
            f"with fewer processes (--jobs 1).{' Finished parts are kept.' if kept else ''}"
        ) from error


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C while workers start, so that only the main process receives it."""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # the executor unblocks Ctrl-C when it starts a process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(job: Job, source: Source, size: float, path: Sequence[str] = ()) -> tuple[Job, Result]:
    if path:
        # A reused worker may lack paths of packages that were added later.
        sys.path[:] = path
        # Ctrl-C is left to the main process, which then ends this process.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    return job, run_job(job, source, size)


def _run_on_cluster(
    jobs: Sequence[Job], sources: Sources, workers: int, kept: bool, cluster: Any
) -> Iterator[tuple[Job, Result]]:
    """Run jobs on Dask workers; yield each job with its result."""
    from joblib import Parallel, delayed, parallel_config

    from groundling.scale.cluster import connected, explained

    size = benchmark.SAMPLE
    with (
        connected(cluster) as client,
        explained(lambda: "Finished parts are kept." if kept else "Nothing is kept."),
        parallel_config(backend="dask", client=client),
    ):
        pool = Parallel(n_jobs=-1, return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(_work)(job, sources[job.task], size) for job in jobs)


def _keep(job: Job, source: Source, keep: Path, result: Result) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    content = {"fingerprint": _fingerprint(job, source, benchmark.SAMPLE), **result}
    write_atomically(keep / f"{job.key}.json", json.dumps(content))


def _kept(job: Job, source: Source, keep: Path | None) -> Result | None:
    path = None if keep is None else keep / f"{job.key}.json"
    if path is None or not path.is_file():
        return None
    try:
        content = json.loads(read_plain(path, RESULT_BYTES, SettingError))
        if content["fingerprint"] != _fingerprint(job, source, benchmark.SAMPLE):
            return None
        return {"outcome": content["outcome"], "seconds": float(content["seconds"])}
    except (SettingError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None


def forget_results(jobs: Iterable[Job], keep: Path) -> None:
    """Delete the cached results of jobs; other files are kept."""
    _refuse_others(jobs, keep)
    for job in jobs:
        (keep / f"{job.key}.json").unlink(missing_ok=True)


def _refuse_others(jobs: Iterable[Job], keep: Path | None) -> None:
    """Raise `SettingError` if results would overwrite files of another program."""
    needed = {"fingerprint", "outcome", "seconds"}
    for path in () if keep is None else (keep / f"{job.key}.json" for job in jobs):
        refuse_foreign(path, "result", lambda text: needed <= set(json.loads(text)))


def refuse_foreign(path: Path, what: str, is_ours: Callable[[str], bool]) -> None:
    """Raise `SettingError` if a file exists and was not written by Groundling."""
    if not path.exists():
        return
    with contextlib.suppress(SettingError, ValueError, TypeError, RecursionError):
        if is_ours(read_plain(path, RESULT_BYTES, SettingError, links=True).decode()):
            return
    raise SettingError(
        f"{path} already exists and is not a {what} from Groundling, so it was not overwritten. "
        "Move the file, or choose another folder with --out."
    )


def _fingerprint(job: Job, source: Source, size: float) -> str:
    """Return a hash of the versions, settings and corpus that determine a result."""
    presets = get_task(job.task).presets
    settings = [repr(presets.select(job.preset, each)) for each in job.variants]
    versions = [__version__, task_package(job.task)]
    plain = replace(job, fold=job.fold._replace(seconds=0.0))
    shown = json.dumps([versions, settings, repr(plain), _mark(job.task, source, size)])
    return hashlib.sha256(shown.encode()).hexdigest()


@lru_cache(maxsize=8)
def _mark(task: str, source: Source, size: float) -> str:
    if source is None:
        return f"generated sample {size}"
    digest = hashlib.sha256()
    root = source / get_task(task).corpus if isinstance(source, Path) else Path()
    files = sorted(root.rglob("*")) if isinstance(source, Path) else map(Path, source)
    for path in files:
        if path.is_file():
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def assemble(
    task: str | Task[Any, Any],
    preset: str,
    variants: Sequence[str],
    results: Mapping[Job, Result],
    source: Source,
    *,
    quick: bool = False,
    changes: Changes = (),
    study: str = "",
) -> Report:
    """Return the report of a results table, computed from the results of its jobs."""
    asked = get_task(task) if isinstance(task, str) else task
    wanted = evaluation_jobs(
        asked, preset, variants, source, quick=quick, changes=changes, study=study
    )
    rows, mistakes = [], []
    for variant in variants:
        outcomes = [results[job]["outcome"][variant] for job in wanted if variant in job.variants]
        if study:
            rows += STUDIES[study].rows(asked, preset, variant, outcomes)
            continue
        row = asked.make_row(preset, variant, outcomes)
        # Published scores are for the real corpora only.
        rows.append(row if source is not None else replace(row, published={}))
        mistakes += [each for outcome in outcomes for each in outcome.get("mistakes", ())]
    corpus = load_corpus(asked.name, source)
    condition = asked.condition(corpus, preset, quick or bool(study))
    if study and not asked.folds(corpus, preset, variants[0], True)[0].held_out:
        condition = f"{len(wanted)} folds, {asked.part}s held out"
    if study and asked.study_condition:
        condition = asked.study_condition
    if source is None:
        condition = f"generated sample; {condition}"
    if quick:
        condition += "; quick"
    seconds = sum(results[job]["seconds"] for job in wanted)
    return Report(asked.name, preset, condition, rows, seconds, __version__, mistakes=mistakes)
