"""Atomic file writes, folder locks, and size-limited reads of regular files."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from groundling.errors import GroundlingError
from groundling.limits import Limit

_PREFIX, _SUFFIX = ".groundling-", ".tmp"
# Errors of file systems that cannot sync or lock a folder. They are ignored.
_UNABLE = (errno.EINVAL, errno.EACCES, errno.EPERM, errno.EBADF, errno.EISDIR, errno.ENOTSUP,
           errno.ENOLCK, errno.ENOSYS)  # fmt: skip
_SHOWN = 300  # characters of a path in a message
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for a writer
    | getattr(os, "O_BINARY", 0)
)


def write_atomically(path: Path, data: bytes | str, *, mode: int | None = None) -> None:
    """Write a file atomically: readers see the old content or the new, never a mix.

    A replaced file keeps its permissions unless `mode` is given; a new file follows the umask.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "note.txt", "done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    content = data.encode("utf-8") if isinstance(data, str) else data
    if mode is None:
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(os.stat(path).st_mode)
    temporary = path.parent / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, 0o666)
    try:
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(handle, left) :]
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(handle, mode)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that atomically replaces `path` when the block ends.

    If an exception is raised inside the block, the old file is kept.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "note.txt") as file:
    ...         length = file.write(b"done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    temporary = path.parent / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def is_leftover(name: str) -> bool:
    """Return whether a file is a temporary file left by an interrupted write.

    >>> is_leftover(".groundling-0123456789abcdef.tmp"), is_leftover("notes.tmp")
    (True, False)
    """
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, where the system supports it."""
    with _opened(folder) as handle:
        if handle is None:
            return
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in _UNABLE:
                raise


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Hold an exclusive lock on a folder; yield False if locking is not supported.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, alone_in(Path(folder)) as locked:
    ...     print("no other process can lock it" if locked else "locking is not supported")
    no other process can lock it
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield False
        return
    with _opened(folder) as handle:
        sure = handle is not None
        if handle is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)  # released with the handle or the process
            except OSError:
                sure = False
        yield sure


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        if error.errno not in _UNABLE:
            raise
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def read_plain(
    path: Path, limit: Limit, error: type[GroundlingError], *, links: bool = False
) -> bytes:
    """Return the content of a regular file of limited size.

    Raises `error` if the file is not a regular file, or if it is too large. Symbolic links are
    followed only if `links` is True; devices and pipes are never read.

    >>> from tempfile import TemporaryDirectory
    >>> from groundling.errors import CorpusError
    >>> from groundling.limits import NOTE_BYTES
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "note.txt").write_text("done")
    ...     read_plain(Path(folder) / "note.txt", NOTE_BYTES, CorpusError)
    b'done'
    >>> read_plain(Path("/dev/null"), NOTE_BYTES, CorpusError)
    Traceback (most recent call last):
        ...
    groundling.errors.CorpusError: /dev/null must be a regular file, not a link,
    folder or device.
    """
    try:
        handle = os.open(path, _READ & ~(getattr(os, "O_NOFOLLOW", 0) if links else 0))
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):
            raise _not_plain(path, error) from None
        why = f"cannot be read: {problem.strerror}. Check the path."
        raise error(f"{str(path)[:_SHOWN]} {why}") from problem
    except ValueError:  # a null character, or one that has no encoding
        shown = repr(str(path)[:_SHOWN])
        raise error(f"{shown} cannot be the name of a file. Check the path.") from None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise _not_plain(path, error)
        limit.check(found.st_size, error, str(path))
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(limit.most + 1)
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem.strerror}. Check the path.") from problem
    finally:
        os.close(handle)
    limit.check(len(content), error, str(path))  # it may have grown since fstat
    return content


def open_plain(path: Path) -> BinaryIO:
    """Open a regular file, or a link to one, for reading; a pipe never blocks.

    >>> open_plain(Path("/dev/null"))
    Traceback (most recent call last):
        ...
    OSError: [Errno 22] Not a regular file: '/dev/null'
    """
    handle = os.open(path, _READ & ~getattr(os, "O_NOFOLLOW", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    return open(handle, "rb", buffering=2**18)


def _not_plain(path: Path, error: type[GroundlingError]) -> GroundlingError:
    return error(f"{path} must be a regular file, not a link, folder or device.")
