"""Reading of corpus files from an untrusted archive."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from groundling.corpora.checksums import manifest
from groundling.errors import CorpusError
from groundling.limits import ARCHIVE_BYTES, ARCHIVE_FILES, CORPUS_BYTES

# Errors caused by archives that are broken, encrypted or of an unknown format.
_BROKEN = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError,
    RuntimeError, ValueError, struct.error,
)  # fmt: skip


def read_source(path: str | Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and verified content of each corpus file in an archive or folder.

    Archives may be .tar.gz or .zip files. Other members of an archive are not read, and no path in
    an archive is used for writing.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     list(read_source(folder))
    []
    """
    path = Path(path)
    seen: set[str] = set()
    try:
        for name, data in _members(path):
            if name in seen:
                raise CorpusError(
                    f"{path} must contain {name} only once. Download the archive again."
                )
            seen.add(name)
            if hashlib.sha256(data).hexdigest() != manifest()[name]:
                raise CorpusError(
                    f"{name} in {path} has the wrong SHA-256 checksum. Nothing was installed; "
                    "download the archive again."
                )
            yield name, data
    except CorpusError:
        raise
    except _BROKEN as error:
        raise CorpusError(
            f"{path} is broken or incomplete ({str(error)[:200]}). Download the archive again."
        ) from error


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        return _from_folder(path)
    if not path.is_file():
        raise CorpusError(
            f"{path} must be an archive or a folder. Pass the downloaded archive, or a folder "
            "with its files."
        )
    with path.open("rb") as file:
        first = file.read(4)
    if first[:2] == b"\x1f\x8b":
        return _from_tar(path)
    if first == b"PK\x03\x04":
        return _from_zip(path)
    raise CorpusError(
        f"{path} must be a .tar.gz or .zip archive. Pass the archive of the repository "
        "jacobandreas/instructions, or a folder with its files."
    )


def _needed(name: str) -> str | None:
    """Return the path in the manifest that a member of an archive matches, or None.

    >>> _needed("instructions-master/data/sail/data/Paragraph.xml")
    'sail/data/Paragraph.xml'
    """
    parts = PurePosixPath(name).parts
    for skipped in range(min(3, len(parts))):  # the repository's name, and its folder `data`
        found = "/".join(parts[skipped:])
        if found in manifest():
            return found
    return None


def _from_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name in manifest():
        for path in (folder / "data" / name, folder / name):
            if path.is_file():
                with path.open("rb") as file:
                    yield name, _read(file, name, folder)
                break


def _read(file: IO[bytes] | None, name: str, where: Path) -> bytes:
    if file is None:
        raise CorpusError(f"{name} in {where} must be a regular file. Download the archive again.")
    data = file.read(CORPUS_BYTES.most + 1)
    CORPUS_BYTES.check(len(data), CorpusError, f"{name} in {where}")
    return data


class _Bounded:
    """A stream that raises `CorpusError` when an archive unpacks to too many bytes."""

    def __init__(self, file: IO[bytes], where: Path) -> None:
        self.file = file
        self.where = where
        self.left = ARCHIVE_BYTES.most

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise ARCHIVE_BYTES.exceeded("more", CorpusError, str(self.where))
        return data


def _from_tar(path: Path) -> Iterator[tuple[str, bytes]]:
    with gzip.open(path) as stream:
        bounded = _Bounded(stream, path)  # type: ignore[arg-type]
        with tarfile.open(fileobj=bounded, mode="r|") as archive:  # type: ignore[call-overload]
            for count, member in enumerate(archive):
                if name := _wanted(count, member.name, path):
                    file = archive.extractfile(member) if member.isreg() else None
                    yield name, _read(file, name, path)


def _from_zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for count, member in enumerate(archive.infolist()):
            if name := _wanted(count, member.filename, path):
                if member.flag_bits & 1:
                    raise CorpusError(
                        f"{name} in {path} must not be encrypted. Download the archive again."
                    )
                # The upper half of the attributes is the Unix mode; for links, it starts with 0o12.
                regular = not member.is_dir() and member.external_attr >> 28 != 0o12
                with archive.open(member) as file:
                    yield name, _read(file if regular else None, name, path)


def _wanted(count: int, member: str, path: Path) -> str | None:
    """Check the number of members; return the manifest path of this one, or None."""
    ARCHIVE_FILES.check(count + 1, CorpusError, str(path))
    return _needed(member)
