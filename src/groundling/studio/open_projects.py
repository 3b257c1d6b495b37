"""The projects that one server has open: the main one, and those that people begin."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from groundling.errors import ProjectError
from groundling.studio.problems import BusyError
from groundling.studio.project import Project
from groundling.studio.scenes import HARMLESS
from groundling.studio.store import FILE

__all__ = ["OpenProjects"]

MAIN = "main"
MOST = 60  # projects beside the main one


class OpenProjects:
    """Projects by name. Names are made here: none that a client sends is ever a path.

    Parameters
    ----------
    folder
        The folder of the main project; others are kept inside it.
    source, confirm
        What to open the main project with, and who allows what its file names (see `Project`).
        Others are opened only if they are harmless: of the gallery, or of the editor.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     projects = OpenProjects(Path(folder), {"kind": "lesson"})
    ...     other = projects.begin({"kind": "gallery", "name": "warehouse"})
    ...     print(projects.get(other) is projects.get("main"))
    ...     try:
    ...         projects.get("../../etc")
    ...     except ProjectError as error:
    ...         print(error)
    ...     projects.close()
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
        self.pupils: dict[str, str] = {}  # of the class that is on, by project
        self._lock = threading.Lock()
        self._open = {MAIN: Project(folder, source, confirm=confirm)}
        self._closed = {
            each.name: each
            for inner in (folder / "lessons", folder / "projects")
            if inner.is_dir()
            for each in inner.iterdir()
            if _is_project(each)
        }

    def get(self, name: str) -> Project:
        """Return a project by its name; lessons of earlier days are opened when asked for."""
        with self._lock:
            if name in self._closed:
                # One that cannot be opened now may be later.
                self._open[name] = Project(self._closed[name])
                del self._closed[name]
                self._open[name].wake()  # it may have been closed before it had learnt
            if name not in self._open:
                raise ProjectError(
                    "There is no such project on this server. Open its first page again."
                )
            return self._open[name]

    def begin(self, source: Mapping[str, Any]) -> str:
        """Make a new project of a world of the gallery or the editor, and return its name."""
        if source.get("kind") not in HARMLESS:
            raise ProjectError("Only worlds of the gallery and of the editor can be opened here.")
        with self._lock:
            if len(self._open) + len(self._closed) > MOST:
                raise BusyError(
                    429,
                    f"{MOST} projects were begun here. Delete old ones from the project's folder "
                    "projects, and start the server again.",
                )
            name = secrets.token_hex(6)
            self._open[name] = Project(self.folder / "projects" / name, source)
            self._open[name].wake()
            return name

    def join(self, name: str) -> str:
        """Make an empty kitchen for a pupil, and return the project's name."""
        project = self.begin({"kind": "lesson"})
        self.pupils[project] = name
        return project

    def titles(self) -> list[tuple[str, str]]:
        """Return the names of the projects that are open, with their titles."""
        with self._lock:
            return [(name, each.setting.title) for name, each in self._open.items()]

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


def _is_project(folder: Path) -> bool:
    """Tell whether a folder is a project of ours: a plain one, that holds its file."""
    return not folder.is_symlink() and (folder / FILE).is_file()
