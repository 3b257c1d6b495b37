"""One progress display for all jobs, and settings as they are typed."""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.console import Console

from groundling.cli.progress import counting
from groundling.errors import SettingError, did_you_mean
from groundling.features.feature_settings import Features
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.every import every_model
from groundling.overlay.settings import Overlay
from groundling.settings import Settings, check_value
from groundling.tasks.jobs import Changes, Job, Result, Sources, run_jobs

_GROUPS: dict[str, tuple[type[Settings], ...]] = {
    "model": tuple(dict.fromkeys(type(each["model"]) for each in every_model())),
    "overlay": (Overlay,),
    "features": (Features,),
    "learning": (Learning,),
    "search": (Search,),
}


def run_with_progress(
    jobs: Sequence[Job],
    sources: Sources,
    console: Console,
    *,
    workers: int = 0,
    keep: Path | None = None,
    cluster: str | None = None,
) -> dict[Job, Result]:
    """Run jobs, on all cores unless told otherwise, and show how far it is."""
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
                total -= job.fold.seconds  # so that the estimate is of what is left to do
            else:
                done += job.fold.seconds
            if lines:
                note = " (kept from an earlier run)" if kept else ""
                console.print(f"{number}/{len(jobs)} {job}{note}")
            else:
                tell(done, total, f"{number}/{len(jobs)}")

        return run_jobs(jobs, sources, workers=workers, keep=keep, tell=show, cluster=cluster)


def read_settings(given: Sequence[str]) -> list[Changes]:
    """Return all combinations of what is to be tried.

    >>> read_settings(["learning.l2=1,2", "search.beam=5"])
    [(('learning.l2', 1), ('search.beam', 5)), (('learning.l2', 2), ('search.beam', 5))]
    """
    options = [[(name, value) for value in values] for name, values in map(_read, given)]
    return list(itertools.product(*options))


def read_changes(given: Sequence[str]) -> Changes:
    """Return settings that are to be changed; complain of names and values that cannot be.

    That is before any data is read. Whether a model that is chosen has a setting is told later.

    >>> read_changes(["learning.l2=3", "features.slots=room,thing"])
    (('learning.l2', 3), ('features.slots', ('room', 'thing')))
    >>> read_changes(["l2=3"])
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: --setting knows no 'l2'. Did you mean 'learning.l2'?
    """
    known = {
        f"{group}.{each.name}": (kind, each)
        for group, kinds in _GROUPS.items()
        for kind in reversed(kinds)
        for each in fields(kind)
    }
    changes: list[tuple[str, Any]] = []
    for name, values in map(_read, given):
        if name not in known:
            raise SettingError(f"--setting knows no {name!r}.{_hint(name, known)}")
        kind, each = known[name]
        several = isinstance(each.default, tuple)
        if not several and len(values) > 1:
            raise SettingError(f"--setting {name} takes one value, not {len(values)}.")
        changes.append((name, values if several else values[0]))
        check_value(kind, each.name, changes[-1][1])
    return tuple(changes)


def _read(given: str) -> tuple[str, tuple[Any, ...]]:
    """Return a setting and its values, from what was typed."""
    name, mark, values = given.partition("=")
    if not mark or not values.strip():
        raise SettingError(
            f"{given!r} names no value. Write NAME=VALUE,VALUE, such as learning.l2=1,2,4."
        )
    return name.strip(), tuple(map(_value, values.split(",")))


def _hint(name: str, known: Collection[str]) -> str:
    """Return which setting was meant, or all that there are."""
    inside = [each for each in known if each.partition(".")[2] == name.rpartition(".")[2]]
    if inside or difflib.get_close_matches(name, known):
        return did_you_mean(inside[0] if inside else name, inside or known)
    groups = (", ".join(sorted(e for e in known if e.startswith(f"{g}."))) for g in _GROUPS)
    return " Known: " + ",\n".join(groups) + "."  # long lines of an error are cut


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
