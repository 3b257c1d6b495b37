"""Model folders: parts named after their checksums, and one manifest.

- `manifest.json` holds the format, the version, the settings, and the SHA-256 checksums of the
  parts and of itself;
- `tables-SUM.json` and `weights-SUM.safetensors` are the parts, each named after its own checksum.

A save writes new parts beside the old ones, then replaces the manifest atomically, then deletes
the old parts. An interrupted save therefore always leaves a manifest whose parts exist. A file is
deleted only if its name contains its own checksum.

Reading treats files as untrusted: part names come from checksums, files must be regular and
within the size limits, and JSON numbers must be finite. The meaning of the values is
checked by `groundling.io`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from groundling.errors import ModelFileError
from groundling.files import alone_in, is_leftover, read_plain, write_atomically
from groundling.limits import MANIFEST_BYTES, TABLES_BYTES, TABLES_VALUES, WEIGHTS_BYTES

FORMAT = "groundling-model"
FIRST, VERSION = 3, 3  # supported formats; 0.2.0, the first release, used format 3
MANIFEST = "manifest.json"
LIMITS = {
    MANIFEST: MANIFEST_BYTES,
    "tables.json": TABLES_BYTES,
    "weights.safetensors": WEIGHTS_BYTES,
}
"""Size limit of each file."""

_OURS = re.compile(r"(tables|weights)-([0-9a-f]{16})\.(json|safetensors)")
_TRIES = 5


def write_folder(
    folder: Path,
    manifest: Mapping[str, Any],
    parts: Mapping[str, bytes],
    note: Mapping[str, Any] | None = None,
) -> None:
    """Save a model in a folder, replacing an existing one atomically.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_folder(Path(folder), {"settings": {}}, {"tables.json": b"{}"}, {"task": "none"})
    ...     sorted(path.name[:8] for path in Path(folder).iterdir())
    ...     read_folder(Path(folder), ["tables.json"])[1], read_note(Path(folder))
    ['manifest', 'tables-4']
    ({'tables.json': b'{}'}, {'task': 'none'})
    """
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION, **manifest}
    if note is not None:
        content["note"] = dict(note)
    content["sha256"] = {name: _sum(data) for name, data in parts.items()}
    content["sha256"][MANIFEST] = _own_sum(content)
    last = json.dumps(content, indent=1).encode()
    _must_be_readable({**parts, MANIFEST: last})
    made = not folder.exists()
    if not made and not folder.is_dir():
        raise ModelFileError(
            f"The path of a model must be a folder; {folder} is a file. Choose another path."
        )
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder) as alone:
        mode = _mode_of_model(folder)
        try:
            for name, data in parts.items():
                path = folder / _name(name, content)
                if not _holds(path, content["sha256"][name]):
                    write_atomically(path, data, mode=mode)
            write_atomically(folder / MANIFEST, last, mode=mode)
        finally:
            # After a failure, delete parts that the current manifest does not name.
            with contextlib.suppress(OSError, ModelFileError):
                _sweep(folder, leftovers=alone)
            if made:
                with contextlib.suppress(OSError):
                    folder.rmdir()  # only if nothing is in it


def read_folder(folder: Path, names: Iterable[str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the requested parts of a model, with checksums verified."""
    wanted = list(names)
    for _ in range(_TRIES):
        manifest = _manifest(folder)
        try:
            return manifest, {name: _part(folder, name, manifest) for name in wanted}
        except ModelFileError:
            # Another process may have saved a new model in the meantime.
            if _manifest(folder)["sha256"] == manifest["sha256"]:
                raise
    raise ModelFileError(
        f"The model in {folder} kept changing while it was read. Wait until it is saved, and "
        "try again."
    )


def read_note(folder: Path) -> dict[str, Any] | None:
    """Return the note saved with a model, or None if the model has no note."""
    note = _manifest(folder).get("note")
    return note if isinstance(note, dict) else None


def is_model(folder: Path) -> bool:
    """Return whether a folder appears to hold a model, complete or not."""
    try:
        return b'"' + FORMAT.encode() + b'"' in read_plain(
            folder / MANIFEST, LIMITS[MANIFEST], ModelFileError
        )
    except ModelFileError:
        return False


def check_free(folder: Path) -> None:
    """Raise an error if a save would overwrite another program's file."""
    _mode_of_model(folder)


def read_json(data: bytes, where: Path | str) -> Any:
    """Parse JSON; non-finite numbers, deep nesting and too many values raise an error.

    >>> read_json(b'{"seed": 1e999}', "manifest.json")
    Traceback (most recent call last):
        ...
    groundling.errors.ModelFileError: manifest.json must be valid JSON (Numbers must be finite, and
    whole numbers within ±2**63; got 1e999). Save the follower again.
    """
    try:
        values = data.count(b",") + data.count(b"[") + data.count(b"{")
        TABLES_VALUES.check(values, ModelFileError, str(where))
        return json.loads(
            data, parse_constant=_refuse, parse_float=_checked(float), parse_int=_checked(int)
        )
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ModelFileError(
            f"{where} must be valid JSON ({str(said)[:200].rstrip('.')}). Save the follower again."
        ) from error


def _refuse(text: str) -> Any:
    raise ValueError(f"Numbers must be finite, and whole numbers within ±2**63; got {text}.")


def _checked(kind: type) -> Callable[[str], float]:
    def read(text: str) -> float:
        value: float = kind(text) if len(text) < 100 else math.inf
        if not abs(value) < 2.0**63 if kind is int else not math.isfinite(value):
            _refuse(text[:40])
        return value

    return read


# ---- reading ----------------------------------------------------------------------------


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not _is_there(path):
        raise ModelFileError(
            f"{folder} contains no model: it has no {MANIFEST}. Check the path, or save a "
            "follower there first."
        )
    manifest = read_json(read_plain(path, LIMITS[MANIFEST], ModelFileError), path)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(
            f"The model folder must contain a valid Groundling manifest; {path} is not one. Pass a "
            "folder that was written by `save`."
        )
    version = manifest.get("version")
    if type(version) is not int or not FIRST <= version <= VERSION:
        made_by = str(manifest.get("groundling", "another version"))[:40]
        older = type(version) is int and version < FIRST
        cure = "Train and save the follower again" if older else f"Update Groundling to {made_by}"
        raise ModelFileError(
            f"The model in {folder} must have format version {FIRST} to {VERSION}; got "
            f"{str(version)[:40]}, written by Groundling {made_by}. {cure}."
        )
    sums = manifest.get("sha256")
    if not isinstance(sums, dict):
        raise ModelFileError(f"{path} must contain checksums. Save the follower again.")
    if sums.get(MANIFEST) != _own_sum(manifest):
        raise ModelFileError(
            f"{path} does not match its own checksum: it is damaged or was edited. "
            "Save the follower again."
        )
    return manifest


def _is_there(path: Path) -> bool:
    """Return whether a path exists; raise an error if this cannot be determined."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be read: {error.strerror}. Check the path and its permissions."
        ) from error
    return True


def _part(folder: Path, name: str, manifest: Mapping[str, Any]) -> bytes:
    path = folder / _name(name, manifest)
    data = read_plain(path, LIMITS[name], ModelFileError)
    if _sum(data) != manifest["sha256"].get(name):
        raise ModelFileError(
            f"{path} does not match its manifest: it is damaged or belongs to another save. "
            "Save the follower again."
        )
    return data


def _name(name: str, manifest: Mapping[str, Any]) -> str:
    """Return the file name of a part, built from its validated checksum."""
    checksum = str(manifest["sha256"].get(name))
    if not re.fullmatch(r"[0-9a-f]{64}", checksum):
        raise ModelFileError(
            f"{MANIFEST} must have a checksum for {name}. Save the follower again."
        )
    stem, _, suffix = name.rpartition(".")
    return f"{stem}-{checksum[:16]}.{suffix}"


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _own_sum(manifest: Mapping[str, Any]) -> str:
    """Return the checksum of a manifest, computed without its checksum entry."""
    sums = {name: each for name, each in manifest["sha256"].items() if name != MANIFEST}
    return _sum(json.dumps({**manifest, "sha256": sums}, sort_keys=True).encode())


# ---- replacing --------------------------------------------------------------------------


def _mode_of_model(folder: Path) -> int | None:
    """Return the permissions of the saved model, or None if there is none.

    Raises an error if the folder holds something else.
    """
    path = folder / MANIFEST
    if not _is_there(path):
        return None
    if not is_model(folder):
        raise ModelFileError(
            f"{folder} already has a {MANIFEST} that is not from Groundling, and saving would "
            "overwrite it. Save to another folder; nothing was changed."
        )
    return stat.S_IMODE(path.lstat().st_mode)


def _must_be_readable(files: Mapping[str, bytes]) -> None:
    """Raise an error if a file is too large to be loaded again."""
    for name, data in files.items():
        LIMITS[name].check(
            len(data), ModelFileError, f"With this `min_count` and these features, {name}"
        )
        if name.endswith(".json"):
            read_json(data, name)


def _holds(path: Path, checksum: str) -> bool:
    """Return whether a file exists and has the given checksum."""
    try:
        return _sum(read_plain(path, WEIGHTS_BYTES, ModelFileError)) == checksum
    except ModelFileError:
        return False


def _sweep(folder: Path, *, leftovers: bool) -> None:
    """Delete parts that the manifest does not name, and leftover temporary files."""
    used = set()
    if _is_there(folder / MANIFEST):
        manifest = _manifest(folder)
        used = {_name(name, manifest) for name in manifest["sha256"] if name in LIMITS}
    for entry in list(os.scandir(folder)):
        if entry.name in used or not entry.is_file(follow_symlinks=False):
            continue
        if marked := _OURS.fullmatch(entry.name):
            data = read_plain(folder / entry.name, WEIGHTS_BYTES, ModelFileError)
            ours = _sum(data).startswith(marked[2])
        else:
            ours = leftovers and is_leftover(entry.name)
        if ours:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
