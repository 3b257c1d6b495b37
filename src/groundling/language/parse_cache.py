"""A cache of parses, in memory and on disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

import platformdirs

from groundling.cache import Cache, CacheBudget
from groundling.errors import GroundlingError
from groundling.language.instruction import Instruction

_FILE = "parses.sqlite3"
_CHUNK = 500  # well below SQLite's limit of variables in one statement


def cache_folder() -> Path | None:
    """Return the folder for cached parses, by default the user's cache folder.

    The environment variable ``GROUNDLING_CACHE`` sets another folder. If it is empty, the cache
    on disk is disabled and None is returned.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"GROUNDLING_CACHE": ""}):
    ...     print(cache_folder())
    None
    """
    chosen = os.environ.get("GROUNDLING_CACHE")
    if chosen is None:
        return Path(platformdirs.user_cache_dir("groundling", appauthor=False))
    return Path(chosen) if chosen.strip() else None


class ParseCache:
    """A cache of parses, keyed by parser and text. File system errors are ignored.

    Parameters
    ----------
    folder
        Folder of the cache file. With None, parses are cached in memory only.
    room
        Maximum size of the cache in memory, in bytes.
    patience
        Maximum time to wait for another process that is writing, in seconds.

    Examples
    --------
    >>> cache = ParseCache(None)
    >>> cache.put("chain", {"turn left": [Instruction.chain("turn left")]})
    >>> cache.get("chain", ["turn left", "stop"])["turn left"][0].tokens
    ('turn', 'left')
    """

    def __init__(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        room: int = 8_000_000,
        patience: float = 1.0,
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.patience = patience
        self._memory: Cache[tuple[str, str], tuple[Instruction, ...]] = Cache(CacheBudget(room))

    def get(self, parser: str, texts: Iterable[str]) -> dict[str, list[Instruction]]:
        """Return the cached parses by text; texts that are not cached are left out."""
        found: dict[str, list[Instruction]] = {}
        unknown: dict[str, str] = {}
        for text in texts:
            known = self._memory.get((parser, text))
            if known is None:
                unknown[_digest(text)] = text
            else:
                found[text] = list(known)
        for key, written in self._read(parser, list(unknown)):
            parsed = _decode(written)
            if key in unknown and parsed is not None:
                found[unknown[key]] = parsed
                self._remember(parser, unknown[key], parsed)
        return found

    def put(self, parser: str, parses: Mapping[str, list[Instruction]]) -> None:
        """Add the parses of some texts to the cache."""
        for text, parsed in parses.items():
            self._remember(parser, text, parsed)
        if self.folder is None or not parses:
            return
        rows = [(parser, _digest(text), _encode(parsed)) for text, parsed in parses.items()]
        with contextlib.suppress(OSError, sqlite3.Error, ValueError):
            # Sentences may be private, so other users must not be able to read them.
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._write(rows)
            except sqlite3.OperationalError:  # locked or read-only
                return
            except sqlite3.DatabaseError:  # not a database: replace it
                (self.folder / _FILE).unlink()
                self._write(rows)

    def _remember(self, parser: str, text: str, parsed: list[Instruction]) -> None:
        # Approximate size of a word with its head, relation, tag and children.
        size = 200 + 2 * len(text) + 350 * sum(map(len, parsed))
        self._memory.put((parser, text), tuple(parsed), size)

    def _read(self, parser: str, keys: list[str]) -> list[tuple[str, str]]:
        if self.folder is None or not keys:
            return []
        rows: list[tuple[str, str]] = []
        try:
            path = self.folder / _FILE
            if not path.is_file():
                return []
            with contextlib.closing(sqlite3.connect(path, timeout=self.patience)) as connection:
                for start in range(0, len(keys), _CHUNK):
                    chunk = keys[start : start + _CHUNK]
                    marks = ",".join("?" * len(chunk))
                    rows += connection.execute(
                        f"SELECT text, parses FROM parses WHERE parser = ? AND text IN ({marks})",
                        [parser, *chunk],
                    )
        except (OSError, sqlite3.Error, ValueError):
            pass
        return rows

    def _write(self, rows: list[tuple[str, str, str]]) -> None:
        assert self.folder is not None
        path = self.folder / _FILE
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if path.stat().st_mode & 0o077:  # SQLite gives its journals the same permissions
            path.chmod(0o600)
        connection = sqlite3.connect(path, timeout=self.patience)
        with contextlib.closing(connection), connection:
            connection.execute("PRAGMA synchronous = OFF")  # lost entries are parsed again
            connection.execute(
                "CREATE TABLE IF NOT EXISTS parses"
                " (parser TEXT, text TEXT, parses TEXT, PRIMARY KEY (parser, text))"
            )
            connection.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?, ?)", rows)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _encode(parsed: list[Instruction]) -> str:
    return json.dumps(
        [[each.tokens, each.heads, each.relations, each.tags, each.text] for each in parsed]
    )


def _decode(written: str) -> list[Instruction] | None:
    """Return the parses of an entry, or None if it is invalid."""
    try:
        return [
            Instruction(tuple(tokens), tuple(heads), tuple(relations), tuple(tags), text)
            for tokens, heads, relations, tags, text in json.loads(written)
        ]
    except (GroundlingError, ValueError, TypeError):
        return None
