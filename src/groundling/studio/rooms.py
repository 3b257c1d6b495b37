"""The projects that one server has open: the main one, and lessons that people begin."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundling.errors import ProjectError
from groundling.studio.problems import BusyError
from groundling.studio.project import Project

__all__ = ["Rooms"]

MAIN = "main"
LESSONS = 60


class Rooms:
    """Projects by name. Names are made here: none that a client sends is ever a path.

    Parameters
    ----------
    folder
        The folder of the main project; lessons are kept inside it.
    source
        What to open the main project with.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rooms = Rooms(Path(folder), {"kind": "lesson"})
    ...     lesson = rooms.begin_lesson()
    ...     print(rooms.get(lesson) is rooms.get("main"))
    ...     try:
    ...         rooms.get("../../etc")
    ...     except ProjectError as error:
    ...         print(error)
    ...     rooms.close()
    False
    There is no such project on this server. Open its first page again.
    """

    def __init__(self, folder: Path, source: Mapping[str, Any] | None) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._open = {MAIN: Project(folder, source)}
        lessons = folder / "lessons"
        self._closed = (
            {each.name: each for each in lessons.iterdir() if each.is_dir()}
            if lessons.is_dir()
            else {}
        )

    def get(self, name: str) -> Project:
        """Return a project by its name; lessons of earlier days are opened when asked for."""
        with self._lock:
            if name in self._closed:
                self._open[name] = Project(self._closed.pop(name))
            if name not in self._open:
                raise ProjectError(
                    "There is no such project on this server. Open its first page again."
                )
            return self._open[name]

    def begin_lesson(self) -> str:
        """Make a new lesson and return its name."""
        with self._lock:
            if len(self._open) + len(self._closed) > LESSONS:
                raise BusyError(
                    429,
                    f"{LESSONS} lessons were begun here. Delete old ones from the project's "
                    "folder lessons, and start the server again.",
                )
            name = secrets.token_hex(6)
            self._open[name] = Project(self.folder / "lessons" / name, {"kind": "lesson"})
            return name

    def close(self) -> None:
        """Close all projects."""
        with self._lock:
            for each in self._open.values():
                each.close()
            self._open.clear()
