"""Download of the corpora: resumable, verified, and installed atomically.

The library pooch is not used, because it can neither resume downloads nor verify the files of an
archive before they are installed.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from groundling.corpora.archive import read_source
from groundling.corpora.checksums import CORPORA, check, manifest
from groundling.errors import CorpusError
from groundling.files import read_plain, write_atomically
from groundling.limits import DOWNLOAD_BYTES, NOTE_BYTES

SOURCE = "https://github.com/jacobandreas/instructions/archive/HEAD.tar.gz"
ATTEMPTS = 3
TIMEOUT = 30.0
_PIECE = 1 << 16

Tell = Callable[[int, int | None], None]


def _silent(done: int, total: int | None) -> None:
    pass


def fetch(into: str | Path, source: str = SOURCE, *, tell: Tell = _silent) -> bool:
    """Install the corpora in a folder; return False if they are already installed.

    `source` is a URL, an archive or a folder with the files of the authors' repository. Files are
    installed only after all of them are verified. `tell` is called with the number of bytes so far
    and, if known, the total.
    """
    into = Path(into)
    if check(into).good:
        return False
    remote = source.startswith(("http://", "https://"))
    if not remote and not Path(source).exists():
        raise CorpusError(
            f"{source} does not exist. Pass an archive, a folder or a URL, or leave out --from "
            "to download the corpora from their authors."
        )
    _refuse_others(into)
    into.mkdir(parents=True, exist_ok=True)
    archive = download(source, into / ".download.part", tell=tell) if remote else Path(source)
    work = Path(tempfile.mkdtemp(prefix=".new-", dir=into))
    try:
        _unpack(archive, work)
        for corpus in CORPORA:
            _put(work / corpus.folder, into / corpus.folder, work)
    except CorpusError:
        if remote:
            _forget(archive)  # a broken archive must be downloaded again
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if remote:
        _forget(archive)
    return True


def _refuse_others(into: Path) -> None:
    """Raise `CorpusError` if a folder that would be replaced contains other files."""
    for corpus in CORPORA:
        for path in sorted((into / corpus.folder).rglob("*")):
            name = path.relative_to(into).as_posix()
            if path.is_file() and name not in manifest():
                raise CorpusError(
                    f"{into / corpus.folder} contains {path.name}, which is not part of the "
                    "corpora and would be lost. Move this file, or choose another folder with "
                    "--into."
                )


def _unpack(archive: Path, folder: Path) -> None:
    found = set()
    for name, data in read_source(archive):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        found.add(name)
    if missing := [name for name in manifest() if name not in found]:
        raise CorpusError(
            f"{archive} must contain all {len(manifest())} files of the corpora; got "
            f"{len(found)}, without {missing[0]}. Pass the archive of the repository "
            "jacobandreas/instructions."
        )


def _put(new: Path, place: Path, work: Path) -> None:
    """Move a folder into place; an existing one is moved away first and deleted later."""
    if place.exists():
        os.replace(place, work / f"old-{place.name}")
    os.replace(new, place)


def download(url: str, part: Path, *, tell: Tell = _silent) -> Path:
    """Download a file to `part`, and return its path; an earlier attempt is resumed.

    An attempt is resumed only if the server supports ranges and still sends the same ETag.
    """
    problem: Exception | None = None
    for _ in range(ATTEMPTS):
        try:
            _attempt(url, part, tell)
            return part
        except (CorpusError, PermissionError):
            raise
        except urllib.error.HTTPError as error:
            error.close()
            problem = error
            if error.code != 416:
                break
            _forget(part)  # the file is complete, or has changed
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = error
    raise CorpusError(
        f"{url} could not be downloaded ({str(problem).rstrip('.')}). Run the same command again "
        "to resume, or download the archive yourself and pass it with --from FILE."
    ) from problem


def read_note(path: Path) -> dict[str, str]:
    """Return the metadata of an unfinished download, or an empty dictionary."""
    try:
        found = json.loads(read_plain(path, NOTE_BYTES, CorpusError))
    except (CorpusError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _attempt(url: str, part: Path, tell: Tell) -> None:
    note = _note(part)
    kept = read_note(note)
    have = part.stat().st_size if part.is_file() and kept.get("url") == url else 0
    headers = {"User-Agent": "groundling", "Accept-Encoding": "identity"}
    if have and kept.get("etag"):
        headers |= {"Range": f"bytes={have}-", "If-Range": kept["etag"]}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        resumed = answer.status == 206 and _starts_at(answer.headers) == have
        if answer.status == 206 and not resumed:
            _forget(part)
            raise ValueError("The server must send the bytes that were requested; got others.")
        size = answer.headers.get("Content-Length", "")
        have = have if resumed else 0
        total = have + int(size) if size.isdecimal() else None
        if not resumed:
            etag = answer.headers.get("ETag", "")
            write_atomically(note, json.dumps({"url": url, "etag": etag}))
        with part.open("ab" if resumed else "wb") as file:
            while piece := answer.read(_PIECE):
                have += len(piece)
                DOWNLOAD_BYTES.check(have, CorpusError, url)
                file.write(piece)
                tell(have, total)
    if total is not None and have != total:
        raise ValueError(f"The server must send {total} bytes; got only {have}.")


def _starts_at(headers: http.client.HTTPMessage) -> int:
    shown = headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(shown) if shown.isdecimal() else -1


def _note(part: Path) -> Path:
    return part.with_suffix(".json")


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _note(part).unlink(missing_ok=True)
