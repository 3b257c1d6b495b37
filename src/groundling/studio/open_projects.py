"""Open projects of one server: the main project and those that users create."""

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
MOST = 60  # projects in addition to the main one


class OpenProjects:
    """Open projects, keyed by generated names.

    A name from a client is never used as a path.

    Parameters
    ----------
    folder
        The folder of the main project; other projects are stored inside it.
    source, confirm
        The source of the main project and the callback that confirms it (see `Project`). Other
        projects can only be opened from sources that run no code: the gallery and the editor.

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
    This server has no such project. Open its start page again.
    """

    def __init__(
        self,
        folder: Path,
        source: Mapping[str, Any] | None,
        *,
        confirm: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> None:
        self.folder = folder
        self.pupils: dict[str, str] = {}  # pupils of the current class, by project
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
        """Return a project by name; stored projects are opened on first use."""
        with self._lock:
            if name in self._closed:
                # On failure it stays in `_closed`, so that opening can be retried.
                self._open[name] = Project(self._closed[name])
                del self._closed[name]
                self._open[name].wake()  # it may have been closed before training finished
            if name not in self._open:
                raise ProjectError("This server has no such project. Open its start page again.")
            return self._open[name]

    def begin(self, source: Mapping[str, Any]) -> str:
        """Create a project from a gallery or editor world, and return its name."""
        if source.get("kind") not in HARMLESS:
            raise ProjectError("The world must be from the gallery or the editor.")
        with self._lock:
            if len(self._open) + len(self._closed) > MOST:
                raise BusyError(
                    429,
                    f"A server must have at most {MOST} projects. Delete old ones from the "
                    "`projects` folder of the main project, and restart the server.",
                )
            name = secrets.token_hex(6)
            self._open[name] = Project(self.folder / "projects" / name, source)
            self._open[name].wake()
            return name

    def join(self, name: str) -> str:
        """Create an untrained project for a pupil, and return its name."""
        project = self.begin({"kind": "lesson"})
        self.pupils[project] = name
        return project

    def titles(self) -> list[tuple[str, str]]:
        """Return the names and titles of all open projects."""
        with self._lock:
            return [(name, each.setting.title) for name, each in self._open.items()]

    @property
    def learning(self) -> bool:
        """Whether any project is training."""
        return any(each.progress is not None for each in list(self._open.values()))

    def close(self) -> None:
        """Close all projects."""
        with self._lock:
            for each in self._open.values():
                each.close()
            self._open.clear()


def _is_project(folder: Path) -> bool:
    """Return whether a folder is a project: not a symbolic link, with a project file."""
    return not folder.is_symlink() and (folder / FILE).is_file()
