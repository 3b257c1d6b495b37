"""SQLite store of a project's demonstrations, their history, responses and models."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError

from groundling.errors import DemonstrationError, ProjectError
from groundling.limits import STORED_BYTES
from groundling.studio.texts import plain_json

FILE, VERSION = "project.sqlite", 2
_WRITER = "writer.lock"
_LARGEST = 2**53  # upper bound of ids and revisions, which JSON and SQLite both represent exactly
_TABLES = {
    "meta": "key TEXT PRIMARY KEY, value TEXT NOT NULL",
    "demonstrations": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        scene TEXT NOT NULL, text TEXT NOT NULL, start TEXT NOT NULL, actions TEXT NOT NULL,
        weight REAL NOT NULL, apart INTEGER NOT NULL, origin TEXT NOT NULL, at REAL NOT NULL,
        right_before INTEGER""",
    "history": """
        id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, what TEXT NOT NULL,
        changes TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0""",
    "answers": """
        id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, scene TEXT NOT NULL,
        text TEXT NOT NULL, start TEXT NOT NULL, actions TEXT NOT NULL, confidence REAL NOT NULL,
        understood INTEGER NOT NULL, revision INTEGER NOT NULL""",
    "models": """
        id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, revision INTEGER NOT NULL,
        folder TEXT NOT NULL, known INTEGER NOT NULL, accuracy REAL, seconds REAL NOT NULL,
        fingerprint TEXT, digest TEXT""",
}
_INDEXES = {
    "demonstrations_listed": "demonstrations (apart, id)",
    "demonstrations_tried": "demonstrations (id) WHERE right_before IS NOT NULL",
    "history_done": "history (id) WHERE undone=0",
}
_COLUMNS = "id, scene, text, start, actions, weight, apart, origin, at, right_before"


class DiskFullError(ProjectError):
    """Error for a full disk; nothing was changed."""


_Place = Annotated[int, Field(gt=0, lt=_LARGEST)]


@dataclass(frozen=True)
class Record:
    """A stored demonstration; `start` and `actions` are JSON.

    Records with `apart` are held out to measure accuracy. `origin` is `given` (it came with the
    world), `shown` (by the user), `picked` (from the options of a question), `edited` or
    `imported`. `right_before` is true if the follower got the demonstration right before learning
    it. `problem` is an error message if the record cannot be read.
    """

    scene: str
    text: str
    start: Any
    actions: tuple[Any, ...]
    weight: FiniteFloat = 1.0
    apart: bool = False
    origin: str = "shown"
    at: FiniteFloat = 0.0
    right_before: bool | None = None
    id: _Place = 0
    problem: str | None = None

    @property
    def fingerprint(self) -> str:
        """Hash of everything that training uses: scene, text, start, actions and weight."""
        return fingerprint([self.scene, self.text, self.start, self.actions, self.weight])

    @property
    def content(self) -> str:
        """Hash of text, start, actions and `apart`, which identifies duplicates."""
        return fingerprint([self.text, self.start, self.actions, self.apart])


def fingerprint(content: Any) -> str:
    """Return the SHA-256 hash of JSON content.

    >>> fingerprint(["turn left", 1.0]) == fingerprint(["turn left", 2.0])
    False
    """
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


_Changes = tuple[tuple[Record | None, Record | None], ...]
_HISTORY = TypeAdapter(_Changes)


@dataclass(frozen=True)
class Change:
    """One change in the history, with the records before and after it.

    `what` describes the change.
    """

    what: str
    changes: _Changes


class Store:
    """A project's database file; every change is on disk before the call returns.

    The content of the file is not trusted. Unreadable content raises `ProjectError`, except that an
    unreadable demonstration becomes a record with a `problem`.

    Parameters
    ----------
    folder
        The project folder; it is created if it does not exist.

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
        self._writer: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        with _plainly(folder):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except ValueError:  # the name has a null character, or a character without an encoding
                raise ProjectError(
                    f"{str(folder)[:200]!r} is not a valid name for a folder. Choose another name."
                ) from None
            for name in (FILE, _WRITER, *(f"{FILE}-{each}" for each in ("wal", "shm", "journal"))):
                _check_plain(folder / name)
            # Autocommit mode: transactions are explicit, see `_writing`.
            self._db = sqlite3.connect(
                folder / FILE, check_same_thread=False, isolation_level=None, timeout=10
            )
            try:
                self._prepare()
                self._identity = _identity(folder / FILE)
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        self._db.row_factory = sqlite3.Row
        self._db.text_factory = lambda data: data.decode("utf-8", "replace")
        self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, STORED_BYTES.most)
        self._db.create_function("folded", 1, _folded, deterministic=True)
        self._db.execute("PRAGMA trusted_schema=OFF")
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if version > VERSION:
            raise ProjectError(
                f"The format of the project in {self.folder} must be {VERSION} or older; got "
                f"{version}. It was created by a newer version of Groundling. Install "
                "that version to open it."
            )
        self._check_schema(version)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        if version < VERSION:
            with self._writing():
                self._bring_up(int(self._db.execute("PRAGMA user_version").fetchone()[0]))

    def _bring_up(self, version: int) -> None:
        """Create the tables, or migrate tables of an earlier format."""
        if version == 0:
            for name, columns in _TABLES.items():
                self._db.execute(f"CREATE TABLE {name} ({columns})")
        elif version == 1:
            for name in ("fingerprint", "digest"):
                self._db.execute(f"ALTER TABLE models ADD COLUMN {name} TEXT")
        for name, columns in _INDEXES.items():
            self._db.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {columns}")
        self._db.execute(f"PRAGMA user_version={VERSION}")

    def _check_schema(self, version: int) -> None:
        """Raise an error for unexpected tables, triggers, views and computed columns."""
        for kind, name in self._db.execute("SELECT type, name FROM sqlite_master").fetchall():
            own = name in (_TABLES if kind == "table" else _INDEXES)
            if not (own and version) and not str(name).startswith("sqlite_"):
                raise self._broken(f"it has an unexpected {kind} {str(name)[:40]!r}")
        for name in _TABLES if version else ():
            for column in self._db.execute(f"PRAGMA table_xinfo({name})").fetchall():
                if column["hidden"]:
                    raise self._broken(f"{name}.{str(column['name'])[:40]} is a computed column")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Run a `with` block in a transaction, which is rolled back after an error."""
        with self._lock, _plainly(self.folder):
            # SQLite would continue to write to a file that no longer has a name.
            if self._identity is not None and _identity(self.folder / FILE) != self._identity:
                raise ProjectError(
                    f"The project in {self.folder} was moved or deleted while it was open, so "
                    "nothing was changed. Restart the studio, and open it where it is now."
                )
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _read(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock, _plainly(self.folder):
            return self._db.execute(query, values).fetchall()

    def _json(self, text: Any) -> Any:
        """Parse JSON from the file; raise `ProjectError` if it is invalid."""
        try:
            return _read_json(text)
        except ValueError as error:
            raise self._broken(str(error)) from error

    def _broken(self, what: str) -> ProjectError:
        return ProjectError(
            f"The file project.sqlite in {self.folder} is damaged: {what}. Restore a backup."
        )

    def claim(self) -> bool:
        """Try to become the only process that writes; return whether that succeeded.

        The operating system releases the lock when the process ends.
        """
        with self._lock:
            if self._writer is None:
                lock = sqlite3.connect(
                    self.folder / _WRITER, timeout=0, isolation_level=None, check_same_thread=False
                )
                try:
                    lock.execute("BEGIN EXCLUSIVE")
                except sqlite3.Error as error:
                    lock.close()
                    return "locked" not in str(error)  # without file locks, every process may write
                self._writer = lock
            return True

    def close(self) -> None:
        """Close the database file."""
        with self._lock:
            self._db.close()
            if self._writer is not None:
                self._writer.close()

    # ---- metadata -----------------------------------------------------------------------

    def get(self, key: str) -> Any:
        """Return the value stored under a key, or None."""
        found = self._read("SELECT value FROM meta WHERE key=?", key)
        return self._json(found[0]["value"]) if found else None

    def set(self, key: str, value: Any) -> None:
        """Store a value under a key."""
        with self._writing():
            self._set(key, value)

    def _set(self, key: str, value: Any) -> None:
        self._db.execute("REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    @property
    def revision(self) -> int:
        """Number of changes made to the demonstrations so far."""
        found = self.get("revision") or 0
        if type(found) is not int or not 0 <= found < _LARGEST:
            raise self._broken(f"its revision is {found!r:.40}")
        return found

    # ---- demonstrations -----------------------------------------------------------------

    def records(self) -> list[Record]:
        """Return all demonstrations, oldest first."""
        return list(map(_record, self._read(f"SELECT {_COLUMNS} FROM demonstrations ORDER BY id")))

    def page(self, search: str, offset: int, limit: int) -> tuple[int, list[Record]]:
        """Return how many demonstrations have a string in their text, and a page of them.

        Training demonstrations come before held-out ones; both are listed newest first.
        """
        where = "WHERE instr(folded(text), ?)" if search else ""
        sought = (search.casefold(),) if search else ()
        [count] = self._read(f"SELECT count(*) AS n FROM demonstrations {where}", *sought)
        rows = self._read(
            f"SELECT {_COLUMNS} FROM demonstrations {where} ORDER BY apart, id DESC LIMIT ? "
            "OFFSET ?", *sought, limit, offset,
        )  # fmt: skip
        return int(count["n"]), list(map(_record, rows))

    def latest(self, most: int, *, apart: bool) -> list[Record]:
        """Return the newest training demonstrations or, with `apart`, held-out ones."""
        query = f"SELECT {_COLUMNS} FROM demonstrations WHERE apart=? ORDER BY id DESC LIMIT ?"
        return list(map(_record, self._read(query, int(apart), most)))

    def texts_for(self, actions: Sequence[Any]) -> Iterator[str]:
        """Yield the texts of all demonstrations with the given actions."""
        query = "SELECT text FROM demonstrations WHERE actions=?"
        return (str(row["text"]) for row in self._read(query, json.dumps(list(actions))))

    def counts(self) -> tuple[int, int]:
        """Return the numbers of training and held-out demonstrations."""
        [found] = self._read(
            "SELECT count(*) AS n, (SELECT count(*) FROM demonstrations WHERE apart=0) AS known "
            "FROM demonstrations"
        )
        return int(found["known"]), int(found["n"]) - int(found["known"])

    def first_tries(self, most: int = 1000) -> list[bool]:
        """Return whether recent demonstrations were followed correctly before learning.

        The oldest demonstration comes first.
        """
        rows = self._read(
            "SELECT right_before FROM demonstrations WHERE right_before IS NOT NULL "
            "ORDER BY id DESC LIMIT ?", most,
        )  # fmt: skip
        return [bool(row["right_before"]) for row in reversed(rows)]

    def snapshot(self) -> tuple[int, list[Record]]:
        """Return the revision and the demonstrations, read in one transaction."""
        with self._lock, _plainly(self.folder):
            self._db.execute("BEGIN")  # another process may be writing at the same time
            try:
                return self.revision, self.records()
            finally:
                self._db.execute("ROLLBACK")

    def record(self, number: int) -> Record:
        """Return the demonstration with the given number."""
        if not 0 < number < _LARGEST:
            raise DemonstrationError(f"The number of a demonstration must be >= 1; got {number}.")
        found = self._read(f"SELECT {_COLUMNS} FROM demonstrations WHERE id=?", number)
        if not found:
            raise DemonstrationError(
                f"There is no demonstration {number}; it may have been deleted. Reload the page."
            )
        return _record(found[0])

    def add(self, records: Sequence[Record], what: str) -> list[Record]:
        """Add demonstrations as one undoable change; return their records."""
        with self._writing():
            added = [self._insert(replace(each, at=each.at or time.time())) for each in records]
            self._note(what, [(None, each) for each in added])
        return added

    def change(self, number: int, what: str, **fields: Any) -> Record:
        """Change fields of a demonstration as one undoable change; return the new record."""
        with self._writing():
            before = self.record(number)
            after = replace(before, **fields, problem=None)
            self._insert(after)
            self._note(what, [(before, after)])
        return after

    def remove(self, numbers: Sequence[int], what: str) -> None:
        """Delete demonstrations as one undoable change; the history keeps them."""
        with self._writing():
            gone = [self.record(number) for number in numbers]
            for each in gone:
                self._db.execute("DELETE FROM demonstrations WHERE id=?", (each.id,))
            self._note(what, [(each, None) for each in gone])

    def undo(self) -> Change | None:
        """Undo the last change that has not been undone, and return it.

        Returns None if there is no such change.
        """
        with self._writing():
            found = self._db.execute(
                "SELECT id, what, changes FROM history WHERE undone=0 ORDER BY id DESC LIMIT 1"
            ).fetchone()
            if found is None:
                return None
            change = Change(str(found["what"]), self._changes(found["changes"]))
            for before, after in reversed(change.changes):
                if after is not None:
                    self._db.execute("DELETE FROM demonstrations WHERE id=?", (after.id,))
                if before is not None:
                    self._insert(before)
            self._db.execute("UPDATE history SET undone=1 WHERE id=?", (found["id"],))
            self._set("revision", self.revision + 1)
            return change

    def last_change(self) -> str | None:
        """Return the description of the change that `undo` would revert."""
        found = self._read("SELECT what FROM history WHERE undone=0 ORDER BY id DESC LIMIT 1")
        return str(found[0]["what"]) if found else None

    def _changes(self, text: Any) -> _Changes:
        self._json(text)  # raises an error for numbers and texts that JSON does not allow
        try:
            return _HISTORY.validate_json(text, strict=True)
        except ValidationError as error:
            raise self._broken("its history cannot be read") from error

    def begin(self, source: Any, records: Sequence[Record]) -> None:
        """Initialise a project with its source and demonstrations; this cannot be undone."""
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

    def _note(self, what: str, changes: Iterable[tuple[Record | None, Record | None]]) -> None:
        kept = [[None if each is None else _kept(each) for each in pair] for pair in changes]
        self._db.execute(
            "INSERT INTO history (at, what, changes) VALUES (?, ?, ?)",
            (time.time(), what, json.dumps(kept)),
        )
        self._set("revision", self.revision + 1)

    # ---- responses and models -----------------------------------------------------------

    def answered(
        self, scene: str, text: str, start: Any, actions: Sequence[Any], confidence: float,
        understood: bool, revision: int,
    ) -> None:  # fmt: skip
        """Store a response of the agent."""
        values = (time.time(), scene, text, json.dumps(start), json.dumps(list(actions)),
                  confidence, int(understood), revision)  # fmt: skip
        with self._writing():
            self._db.execute(f"INSERT INTO answers VALUES (NULL, {_marks(values)})", values)

    def answers(self, most: int = 20) -> list[dict[str, Any]]:
        """Return the latest responses of the agent, newest first."""
        rows = self._read("SELECT * FROM answers ORDER BY id DESC LIMIT ?", most)
        return [dict(row) for row in rows]

    def learnt(
        self, revision: int, known: int, accuracy: float | None, seconds: float,
        fingerprint: str = "", digest: str = "", aside: Mapping[int, str] | None = None,
    ) -> None:  # fmt: skip
        """Store a row about a trained model, and the problems of skipped demonstrations.

        `known` is the number of training demonstrations, `seconds` the training time, `fingerprint`
        that of the demonstrations, and `digest` the hash of the model's manifest. `aside` maps the
        ids of skipped demonstrations to their problems.
        """
        values = (time.time(), revision, str(revision), known, accuracy, seconds, fingerprint,
                  digest)  # fmt: skip
        with self._writing():
            self._db.execute(
                "INSERT INTO models (at, revision, folder, known, accuracy, seconds, fingerprint, "
                f"digest) VALUES ({_marks(values)})", values,
            )  # fmt: skip
            self._set("aside", {str(number): said for number, said in (aside or {}).items()})

    def aside(self) -> dict[int, str]:
        """Return the problems of demonstrations that were set aside, by id."""
        found = self.get("aside") or {}
        if not isinstance(found, dict):
            raise self._broken("its list of demonstrations that were set aside cannot be read")
        return {
            int(number): said
            for number, said in found.items()
            if len(number) < 16 and number.isdecimal() and isinstance(said, str)
        }

    def models(self, most: int = 300) -> list[dict[str, Any]]:
        """Return the latest models, oldest first."""
        rows = self._read(
            "SELECT at, revision, known, accuracy, seconds, fingerprint, digest FROM models "
            "ORDER BY id DESC LIMIT ?", most,
        )  # fmt: skip
        return [dict(row) for row in reversed(rows) if _is_model(row)]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _folded(text: Any) -> str:
    return str(text).casefold()


def _check_plain(path: Path) -> None:
    """Raise `ProjectError` if a path is not a regular file but, for example, a link."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise ProjectError(f"{path} must be a regular file. Restore a backup of the project.")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return numbers that identify a file even if it is renamed; None if it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _read_json(text: Any) -> Any:
    def refuse(number: str) -> Any:
        raise ValueError(f"A JSON number must be finite; got {number}.")

    try:
        found = json.loads(text, parse_constant=refuse)
        # Escapes may be unpaired surrogates, and exponents may overflow to infinity.
        return plain_json(found) if "\\u" in text or "e" in text else found
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"Stored data must be valid JSON; got {text!r:.40}.") from error


def _record(row: sqlite3.Row) -> Record:
    """Return the record in a row; its `problem` says what cannot be read, if anything."""
    problems: list[str] = []

    def told(name: str, fits: bool, instead: Any) -> Any:
        if not fits:
            problems.append(f"its {name} cannot be read")
        return row[name] if fits else instead

    def parsed(name: str) -> Any:
        try:
            return _read_json(row[name])
        except ValueError:
            problems.append(f"its {name} cannot be read")
            return None

    actions = parsed("actions")
    if not isinstance(actions, list):
        problems.append("its actions cannot be read")
        actions = []
    right, at, weight = row["right_before"], row["at"], row["weight"]
    found = Record(
        told("scene", isinstance(row["scene"], str), str(row["scene"])),
        told("text", isinstance(row["text"], str), str(row["text"])),
        parsed("start"),
        tuple(actions),
        told("weight", _is_number(weight) and 0 <= weight <= 1000, 0.0),
        bool(row["apart"]),
        str(row["origin"]),
        at if _is_number(at) else 0.0,
        None if right is None else bool(right),
        row["id"],
    )
    if problems:
        return replace(found, problem=f"The record in project.sqlite is damaged: {problems[0]}.")
    return found


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_model(row: sqlite3.Row) -> bool:
    return (
        all(type(row[name]) is int and 0 <= row[name] < _LARGEST for name in ("revision", "known"))
        and all(_is_number(row[name]) for name in ("at", "seconds"))
        and (row["accuracy"] is None or _is_number(row["accuracy"]))
    )


def _kept(record: Record) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name != "problem"}


@contextmanager
def _plainly(folder: Path) -> Iterator[None]:
    """Turn SQLite and file system errors into `ProjectError`."""
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:
        said = str(error)
        kind = ProjectError
        if "full" in said:
            kind = DiskFullError
            cure = "The disk is full; nothing was changed. Free some disk space and try again."
        elif "locked" in said:
            cure = "Another program has locked it. Close that program and try again."
        elif "readonly" in said or "unable to open" in said:
            cure = "The folder is not writable. Choose another folder with --project."
        elif "too big" in said:
            raise STORED_BYTES.exceeded("more", ProjectError, f"The project in {folder}") from error
        elif "closed" in said:
            cure = "The project is closed. Open it again."
        else:
            cure = "Its file project.sqlite is damaged. Restore a backup of the folder."
        raise kind(f"The project in {folder} cannot be used: “{said[:200]}”. {cure}") from error
    except OSError as error:
        raise ProjectError(
            f"The project in {folder} cannot be saved: {error.strerror}. Free some disk space, or "
            "choose another folder with --project."
        ) from error
