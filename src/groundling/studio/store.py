"""What a project keeps: demonstrations and their history, answers, models, in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from groundling.errors import DemonstrationError, ProjectError

__all__ = ["Change", "Record", "Store"]

FILE, VERSION = "project.sqlite", 1
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE demonstrations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scene TEXT NOT NULL, text TEXT NOT NULL, start TEXT NOT NULL, actions TEXT NOT NULL,
    weight REAL NOT NULL, apart INTEGER NOT NULL, origin TEXT NOT NULL, at REAL NOT NULL,
    right_before INTEGER
);
CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, what TEXT NOT NULL,
    changes TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE answers (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, scene TEXT NOT NULL,
    text TEXT NOT NULL, start TEXT NOT NULL, actions TEXT NOT NULL, confidence REAL NOT NULL,
    understood INTEGER NOT NULL, revision INTEGER NOT NULL
);
CREATE TABLE models (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, revision INTEGER NOT NULL,
    folder TEXT NOT NULL, known INTEGER NOT NULL, accuracy REAL, seconds REAL NOT NULL
);
"""


@dataclass(frozen=True)
class Record:
    """A demonstration as the project keeps it; `start` and `actions` are JSON.

    `apart` ones are never learnt from, only followed to see how well it does. `origin` says
    where it comes from: given, shown, picked, edited or imported. `right_before` tells whether
    the follower would have done the same before it learnt this one.
    """

    scene: str
    text: str
    start: Any
    actions: tuple[Any, ...]
    weight: float = 1.0
    apart: bool = False
    origin: str = "shown"
    at: float = 0.0
    right_before: bool | None = None
    id: int = 0


@dataclass(frozen=True)
class Change:
    """One step of the history: what was done, and each demonstration before and after."""

    what: str
    changes: tuple[tuple[Record | None, Record | None], ...]


class Store:
    """A project's file; every change is on disk before the call returns.

    Parameters
    ----------
    folder
        The project's folder; it is made if it is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     added = store.add([Record("hall", "turn left", 3, ("left",))], "taught")
    ...     print(store.revision, [each.text for each in store.records()])
    ...     print(store.undo().what, store.revision, store.records())
    ...     store.close()
    1 ['turn left']
    taught 2 []
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        with _plainly(folder):
            folder.mkdir(parents=True, exist_ok=True)
            # Autocommit: transactions are written out below, where they are meant.
            self._db = sqlite3.connect(
                folder / FILE, check_same_thread=False, isolation_level=None, timeout=10
            )
            try:
                self._db.row_factory = sqlite3.Row
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=FULL")
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if version > VERSION:
            raise ProjectError(
                f"The project in {self.folder} was made by a newer Groundling (format {version}; "
                f"this one reads up to {VERSION}). Install the newer version to open it."
            )
        if version == 0:
            with self._writing():
                if int(self._db.execute("PRAGMA user_version").fetchone()[0]) == 0:
                    for statement in _SCHEMA.split(";\n"):
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA user_version={VERSION}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold a transaction: all of it is kept, or nothing."""
        with self._lock, _plainly(self.folder):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _read(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock, _plainly(self.folder):
            return self._db.execute(query, values).fetchall()

    def _json(self, text: Any) -> Any:
        """Return what a text of the file says; anybody may have changed it."""
        try:
            return json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._broken(f"{text!r:.40} is not JSON") from error

    def _broken(self, what: str) -> ProjectError:
        return ProjectError(
            f"The file project.sqlite in {self.folder} is broken: {what}. Restore a copy of it."
        )

    def close(self) -> None:
        """Close the file; what was written is on disk already."""
        with self._lock:
            self._db.close()

    # ---- what the project is ------------------------------------------------------------

    def get(self, key: str) -> Any:
        """Return what was kept under a key, or nothing."""
        found = self._read("SELECT value FROM meta WHERE key=?", key)
        return self._json(found[0]["value"]) if found else None

    def set(self, key: str, value: Any) -> None:
        """Keep something under a key."""
        with self._writing():
            self._set(key, value)

    def _set(self, key: str, value: Any) -> None:
        self._db.execute("REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    @property
    def revision(self) -> int:
        """How often the demonstrations were changed."""
        return int(self.get("revision") or 0)

    # ---- demonstrations -----------------------------------------------------------------

    def records(self) -> list[Record]:
        """Return all demonstrations, oldest first."""
        return [_record(row) for row in self._read("SELECT * FROM demonstrations ORDER BY id")]

    def snapshot(self) -> tuple[int, list[Record]]:
        """Return the revision and the demonstrations of the same moment."""
        with self._lock:
            return self.revision, self.records()

    def record(self, number: int) -> Record:
        """Return one demonstration."""
        found = self._read("SELECT * FROM demonstrations WHERE id=?", number)
        if not found:
            raise DemonstrationError(f"There is no demonstration {number}; it was deleted.")
        return _record(found[0])

    def add(self, records: Sequence[Record], what: str) -> list[Record]:
        """Add demonstrations, as one step of the history."""
        with self._writing():
            added = [self._insert(replace(each, at=each.at or time.time())) for each in records]
            self._note(what, [(None, each) for each in added])
        return added

    def change(self, number: int, what: str, **fields: Any) -> Record:
        """Change fields of a demonstration."""
        with self._writing():
            before = self.record(number)
            after = replace(before, **fields)
            self._insert(after)
            self._note(what, [(before, after)])
        return after

    def remove(self, numbers: Sequence[int], what: str) -> None:
        """Delete demonstrations; the history keeps them."""
        with self._writing():
            gone = [self.record(number) for number in numbers]
            for each in gone:
                self._db.execute("DELETE FROM demonstrations WHERE id=?", (each.id,))
            self._note(what, [(each, None) for each in gone])

    def undo(self) -> Change | None:
        """Take the last change back that was not taken back; nothing if there is none."""
        with self._writing():
            change, number = self._last()
            if change is None:
                return None
            for before, after in reversed(change.changes):
                if after is not None:
                    self._db.execute("DELETE FROM demonstrations WHERE id=?", (after.id,))
                if before is not None:
                    self._insert(before)
            self._db.execute("UPDATE history SET undone=1 WHERE id=?", (number,))
            self._set("revision", self.revision + 1)
            return change

    def last_change(self) -> Change | None:
        """Return what `undo` would take back."""
        with self._lock, _plainly(self.folder):
            return self._last()[0]

    def _last(self) -> tuple[Change | None, int]:
        found = self._db.execute(
            "SELECT id, what, changes FROM history WHERE undone=0 ORDER BY id DESC LIMIT 1"
        ).fetchone()
        if found is None:
            return None, 0
        pairs = [
            tuple(None if each is None else _revived(each) for each in pair)
            for pair in json.loads(found["changes"])
        ]
        return Change(found["what"], tuple(pairs)), int(found["id"])  # type: ignore[arg-type]

    def begin(self, source: Any, records: Sequence[Record]) -> None:
        """Fill a new project: where it comes from and what it knows; this is never undone."""
        with self._writing():
            for each in records:
                self._insert(replace(each, at=time.time()))
            self._set("source", source)
            self._set("revision", 1 if records else 0)

    def _insert(self, record: Record) -> Record:
        values = (
            record.id or None, record.scene, record.text, json.dumps(record.start),
            json.dumps(record.actions), record.weight, int(record.apart), record.origin,
            record.at, record.right_before,
        )  # fmt: skip
        done = self._db.execute(f"REPLACE INTO demonstrations VALUES ({_marks(values)})", values)
        return replace(record, id=int(done.lastrowid or 0))

    def _note(self, what: str, changes: Sequence[tuple[Record | None, Record | None]]) -> None:
        kept = [[None if each is None else asdict(each) for each in pair] for pair in changes]
        self._db.execute(
            "INSERT INTO history (at, what, changes) VALUES (?, ?, ?)",
            (time.time(), what, json.dumps(kept)),
        )
        self._set("revision", self.revision + 1)

    # ---- answers and models -------------------------------------------------------------

    def answered(
        self, scene: str, text: str, start: Any, actions: Sequence[Any], confidence: float,
        understood: bool, revision: int,
    ) -> None:  # fmt: skip
        """Keep an answer that was given."""
        values = (time.time(), scene, text, json.dumps(start), json.dumps(list(actions)),
                  confidence, int(understood), revision)  # fmt: skip
        with self._writing():
            self._db.execute(f"INSERT INTO answers VALUES (NULL, {_marks(values)})", values)

    def answers(self, most: int = 20) -> list[dict[str, Any]]:
        """Return the latest answers, newest first."""
        rows = self._read("SELECT * FROM answers ORDER BY id DESC LIMIT ?", most)
        return [dict(row) for row in rows]

    def learnt(
        self, revision: int, folder: str, known: int, accuracy: float | None, seconds: float
    ) -> None:
        """Note a saved model: what it knows, and how well it does."""
        values = (time.time(), revision, folder, known, accuracy, seconds)
        with self._writing():
            self._db.execute(f"INSERT INTO models VALUES (NULL, {_marks(values)})", values)

    def models(self) -> list[dict[str, Any]]:
        """Return all models that were learnt, oldest first."""
        return [dict(row) for row in self._read("SELECT * FROM models ORDER BY id")]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _record(row: sqlite3.Row) -> Record:
    right = row["right_before"]
    return Record(
        row["scene"], row["text"], json.loads(row["start"]), tuple(json.loads(row["actions"])),
        row["weight"], bool(row["apart"]), row["origin"], row["at"],
        None if right is None else bool(right), row["id"],
    )  # fmt: skip


def _revived(kept: dict[str, Any]) -> Record:
    return Record(**{**kept, "actions": tuple(kept["actions"])})


@contextmanager
def _plainly(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the disk complain of into one sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        said = str(error)
        if "full" in said:
            cure = "The disk is full, so nothing was changed. Make room and try again."
        elif "locked" in said:
            cure = "Another program holds it. Close that program and try again."
        elif "readonly" in said or "unable to open" in said:
            cure = "It cannot be written. Choose a folder of your own with --project."
        else:
            cure = "Its file project.sqlite is broken. Restore a copy of the folder."
        raise ProjectError(f"The project in {folder} gave “{said}”. {cure}") from error
    except OSError as error:
        raise ProjectError(
            f"The project in {folder} cannot be kept: {error.strerror}. Make room or choose "
            "another folder with --project."
        ) from error
