"""The projects that one server has open: the main one, and lessons that people begin."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from groundling.errors import ProjectError
from groundling.studio.problems import BusyError
from groundling.studio.project import Project
from groundling.studio.store import FILE

__all__ = ["Rooms"]

MAIN = "main"
LESSONS = 60
LESSON = {"kind": "lesson"}


class Rooms:
    """Projects by name. Names are made here: none that a client sends is ever a path.

    Parameters
    ----------
    folder
        The folder of the main project; lessons are kept inside it.
    source, confirm
        What to open the main project with, and who allows what its file names (see `Project`).
        Lessons are opened as lessons, whatever their files name.

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

    def __init__(
        self,
        folder: Path,
        source: Mapping[str, Any] | None,
        *,
        confirm: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._open = {MAIN: Project(folder, source, confirm=confirm)}
        lessons = folder / "lessons"
        self._closed = (
            {each.name: each for each in lessons.iterdir() if _is_lesson(each)}
            if lessons.is_dir()
            else {}
        )

    def get(self, name: str) -> Project:
        """Return a project by its name; lessons of earlier days are opened when asked for."""
        with self._lock:
            if name in self._closed:
                # One that cannot be opened now may be later.
                self._open[name] = Project(self._closed[name], LESSON)
                del self._closed[name]
                self._open[name].wake()  # it may have been closed before it had learnt
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
            self._open[name] = Project(self.folder / "lessons" / name, LESSON)
            return name

    @property
    def learning(self) -> bool:
        """Whether anything is being learnt."""
        return any(each.progress is not None for each in list(self._open.values()))

    def close(self) -> None:
        """Close all projects."""
        with self._lock:
            for each in self._open.values():
                each.close()
            self._open.clear()


def _is_lesson(folder: Path) -> bool:
    """Tell whether a folder is a lesson of ours: a plain one, that holds a project."""
    return not folder.is_symlink() and (folder / FILE).is_file()
