"""Open projects of a server: the main project, and projects that users create."""

from __future__ import annotations

import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from groundling.data.scene_world import SceneWorld
from groundling.errors import GroundlingError, ProjectError
from groundling.studio.exchange import Brought, import_lines, read_brought
from groundling.studio.problems import BusyError
from groundling.studio.project import Project
from groundling.studio.scenes import HARMLESS, named
from groundling.studio.store import FILE, Store

MAIN, TITLE, PUPIL = "main", "title", "pupil"
MOST = 60  # maximum number of projects that one process opens besides the main project
LISTED = 100  # maximum number of projects listed on the page, newest first


class ProjectSummary(NamedTuple):
    """Summary of a stored project.

    `pupil` is empty for a project that belongs to no pupil, and `known` is the number of
    demonstrations.
    """

    project: str
    title: str
    pupil: str
    known: int


class OpenProjects:
    """Open projects of a server, by generated names.

    Names sent by clients are never used as paths.

    Parameters
    ----------
    folder
        The folder of the main project; other projects are stored inside it.
    source, confirm
        The source of the main project, and the function that confirms opening it (see
        `Project`). Other projects can be opened only from sources that run no code: the gallery
        and the editor.

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
    This server has no project with this name. Choose one on the start page.
    """

    def __init__(
        self,
        folder: Path,
        source: Mapping[str, Any] | None,
        *,
        confirm: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> None:
        self.folder = folder
        self.pupils: dict[str, str] = {}  # names of the pupils in the current class, by project
        self._lock = threading.Lock()
        self._open = {MAIN: Project(folder, source, confirm=confirm)}
        self._closed = {
            each.name: each
            for inner in (folder / "lessons", folder / "projects")
            if inner.is_dir() and not inner.is_symlink()
            for each in inner.iterdir()
            if _is_project(each)
        }

    def get(self, name: str) -> Project:
        """Return a project by name; a stored project is opened on first use."""
        with self._lock:
            if name in self._closed:
                # If opening fails, the name stays in `_closed`, so that opening can be retried.
                found = self._open[name] = Project(self._closed[name])
                del self._closed[name]
                if pupil := found.store.get(PUPIL):
                    self.pupils[name] = str(pupil)  # the pupil joined an earlier class
                found.wake()  # the project may have been closed before training finished
            if name not in self._open:
                raise ProjectError(
                    "This server has no project with this name. Choose one on the start page."
                )
            return self._open[name]

    def begin(self, source: Mapping[str, Any], pupil: str = "") -> str:
        """Create a project from a world of the gallery or the editor; return its name."""
        if source.get("kind") not in HARMLESS:
            raise ProjectError(
                "The world must be from the gallery or the editor. Choose one on the start page."
            )
        with self._lock:
            if len(self._open) > MOST:
                raise BusyError(
                    429,
                    f"The server has reached its limit of {MOST} open projects. Restart it to open "
                    "others.",
                )
            if (self.folder / "projects").is_symlink():
                raise ProjectError(
                    f"{self.folder / 'projects'} must be a folder; got a link. Delete the link."
                )
            name = secrets.token_hex(6)
            found = self._open[name] = Project(self.folder / "projects" / name, source)
            # stored here, so that the project can be listed without opening its world
            found.store.set(TITLE, found.setting.title)
            if pupil:
                found.store.set(PUPIL, pupil)
                self.pupils[name] = pupil
            found.wake()
            return name

    def open_file(self, data: bytes) -> str:
        """Create a project from an exported file (see `export_lines`); return its name."""
        brought = read_brought(data)
        if brought is None:
            raise ProjectError(
                "This file must start with the world that its examples belong to. If it is from "
                "an older version, open its world, and import the file on the Examples page."
            )
        name = self.begin(brought.source)
        found = self.get(name)
        try:
            take_home(found, brought, data)
        except GroundlingError:  # no empty project stays behind
            with self._lock:
                del self._open[name]
            found.close()
            shutil.rmtree(found.folder, ignore_errors=True)
            raise
        return name

    def join(self, pupil: str) -> str:
        """Create an untrained project for a pupil; return its name.

        The world is that of the main project if that is a `SceneWorld`, and otherwise a kitchen. If
        another pupil of the class has the same name, a number is added: *Mia 2*.
        """
        taken = {each.casefold() for each in list(self.pupils.values())}
        names = (pupil, *(f"{pupil} {number}" for number in range(2, len(taken) + 3)))
        pupil = next(each for each in names if each.casefold() not in taken)
        world = self._open[MAIN].setting.scenes[0].environment
        if not isinstance(world, SceneWorld):
            return self.begin({"kind": "lesson"}, pupil)
        return self.begin({"kind": "scene", "scene": {**world.to_dict(), "examples": []}}, pupil)

    def summaries(self) -> list[ProjectSummary]:
        """Return summaries of the main project and of the newest other projects."""
        with self._lock:
            found = {name: each.folder for name, each in self._open.items()} | self._closed
            stores = {name: each.store for name, each in self._open.items()}
        newest = sorted(found, key=lambda name: (name != MAIN, -_changed(found[name])))[:LISTED]
        listed = [_summary(name, found[name], stores.get(name)) for name in newest]
        return [listed[0]._replace(title=self._open[MAIN].setting.title), *listed[1:]]

    @property
    def learning(self) -> bool:
        """Whether any project is training."""
        return any(each.progress is not None for each in list(self._open.values()))

    def close(self) -> None:
        """Close all open projects."""
        with self._lock:
            for each in self._open.values():
                each.close()
            self._open.clear()


def take_home(project: Project, brought: Brought, data: bytes) -> None:
    """Add the pupil and the demonstrations of an exported file to a project."""
    if brought.pupil:
        project.store.set(PUPIL, brought.pupil)
    # a file without demonstrations means that nothing has been taught yet
    if data.count(b"\n", 0, len(data.rstrip())):
        project.take_in(import_lines(project, data)[0])


def _summary(name: str, folder: Path, store: Store | None) -> ProjectSummary:
    """Return the summary of a project; the title of an unreadable project is empty."""
    try:
        opened = store or Store(folder)
        try:
            source, pupil = opened.get("source"), opened.get(PUPIL) or ""
            title = opened.get(TITLE) or (named(source) if isinstance(source, Mapping) else "")
            return ProjectSummary(name, str(title), str(pupil), sum(opened.counts()))
        finally:
            if store is None:
                opened.close()
    except ProjectError:
        return ProjectSummary(name, "", "", 0)


def _changed(folder: Path) -> float:
    """Return the modification time of a project; 0 if its file no longer exists."""
    try:
        return (folder / FILE).stat().st_mtime
    except OSError:
        return 0.0


def _is_project(folder: Path) -> bool:
    """Return whether a folder has a project file and is not a symbolic link."""
    return not folder.is_symlink() and (folder / FILE).is_file()
