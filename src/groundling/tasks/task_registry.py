"""Tasks by name: built-in tasks, tasks of installed packages, and users' worlds.

To add a task, a package declares an entry point for a subclass of `Task`::

    [project.entry-points."groundling.tasks"]
    kitchen = "kitchen_robot.task:KitchenTask"

Names are read from the metadata of installed packages. A task is imported only when it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from groundling.data.own import names_world
from groundling.errors import PluginError, check_known
from groundling.tasks.benchmark import Task

GROUP = "groundling.tasks"
DEMO = "mazes"
"""Task of `groundling demo` and of the studio's first page."""


def task_names() -> tuple[str, ...]:
    """Return the names of all tasks, without importing them.

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
    except (Exception, SystemExit) as error:  # a plug-in may raise any exception
        raise _broken(entry, f"cannot be loaded ({type(error).__name__}: {error})") from error
    if not isinstance(task, Task):
        raise _broken(entry, f"must be a groundling.tasks.benchmark.Task; got {entry.value}")
    if task.name != name:
        raise _broken(entry, f"must have the same name as its entry point; got {task.name!r}")
    return task


def corpus_tasks() -> dict[str, str]:
    """Return a mapping from the folder of each corpus to the name of its task.

    >>> corpus_tasks()["sail"]
    'mazes'
    """
    found = {}
    for name in task_names():
        with suppress(PluginError):  # a broken plug-in
            found[get_task(name).corpus] = name
    return found


def task_package(name: str) -> str:
    """Return the package of a task with its version; for a user's world, its name.

    >>> task_package("mazes").split()[0]
    'groundling'
    """
    return name if names_world(name) else _package(_entry(name))


@lru_cache(maxsize=8)
def _offered(path: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of all tasks by name, cached for each `sys.path`."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, []).append(entry)
    return {name: tuple(entries) for name, entries in sorted(found.items())}


def _entry(name: str) -> EntryPoint:
    offered = _offered(tuple(sys.path))
    if not offered:
        raise PluginError(
            "No task is registered, because the metadata of the installed package are outdated. "
            "Install Groundling again, for instance with `pip install --editable .`."
        )
    check_known(name, offered, "There is no task")
    entries = offered[name]
    if len(entries) > 1:
        packages = " and ".join(map(_package, entries))
        raise PluginError(
            f"The task {name!r} must be defined by one package; got {packages}. Uninstall all but "
            "one."
        )
    return entries[0]


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module


def _broken(entry: EntryPoint, why: str) -> PluginError:
    package = _package(entry)
    return PluginError(
        f"The task {entry.name!r} of the package {package} {why}. Fix, update or uninstall "
        f"{package.split()[0]}."
    )
