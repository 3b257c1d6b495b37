"""The tasks by name: those of Groundling, those that installed packages add, users' own worlds.

A package adds a task by an entry point that names a class derived from `Task`::

    [project.entry-points."groundling.tasks"]
    kitchen = "kitchen_robot.task:KitchenTask"

The names are read from the packages' metadata; a task is imported when it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from groundling.data.own import names_world
from groundling.errors import PluginError, SettingError, did_you_mean
from groundling.tasks.benchmark import Task

GROUP = "groundling.tasks"
DEMO = "mazes"
"""The task in whose generated world `groundling demo` and the studio begin."""


def task_names() -> tuple[str, ...]:
    """Return the names of all tasks; none of them is imported.

    >>> {"mazes", "maps", "puzzles"} <= set(task_names())
    True
    """
    return tuple(_offered(tuple(sys.path)))


def get_task(name: str) -> Task[Any, Any]:
    """Return a task by its name, or the task of a world such as `my_world.py:Kitchen`.

    >>> get_task("mazes").metrics
    ('micro', 'macro')
    >>> get_task("maze")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is no task 'maze'. Did you mean 'mazes'?
    """
    if names_world(name):
        from groundling.tasks.user_world import UserWorldTask

        return UserWorldTask(name)
    entry = _entry(name)
    try:
        task = entry.load()()
    except (Exception, SystemExit) as error:  # whatever a foreign module does when imported
        raise _broken(entry, f"cannot be loaded ({type(error).__name__}: {error})") from error
    if not isinstance(task, Task):
        raise _broken(entry, f"is no groundling.tasks.benchmark.Task but {entry.value}")
    if task.name != name:
        raise _broken(entry, f"calls itself {task.name!r}")
    return task


def corpus_tasks() -> dict[str, str]:
    """Return by the folder of each corpus the task that is measured on it.

    >>> corpus_tasks()["sail"]
    'mazes'
    """
    found = {}
    for name in task_names():
        with suppress(PluginError):  # of another package, and broken
            found[get_task(name).corpus] = name
    return found


def task_package(name: str) -> str:
    """Return the package that a task comes from, with its version; a world is by itself.

    >>> task_package("mazes").split()[0]
    'groundling'
    """
    return name if names_world(name) else _package(_entry(name))


@lru_cache(maxsize=8)
def _offered(path: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return all entry points by name. Looking for them takes long, so it is done once a path."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, []).append(entry)
    return {name: tuple(entries) for name, entries in sorted(found.items())}


def _entry(name: str) -> EntryPoint:
    offered = _offered(tuple(sys.path))
    if not offered:
        raise PluginError(
            "No task is registered: the installation of Groundling is older than its source. "
            "Install it again, such as with `pip install --editable .`."
        )
    if name not in offered:
        raise SettingError(f"There is no task {name!r}.{did_you_mean(name, offered)}")
    entries = offered[name]
    if len(entries) > 1:
        packages = " and ".join(map(_package, entries))
        raise PluginError(
            f"The task {name!r} is offered by {packages}. Uninstall all but one of them."
        )
    return entries[0]


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module


def _broken(entry: EntryPoint, why: str) -> PluginError:
    package = _package(entry)
    return PluginError(
        f"The task {entry.name!r} of the package {package} {why}. Mend, update or uninstall "
        f"{package.split()[0]}."
    )
