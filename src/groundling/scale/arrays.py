"""Arrays in memory-mapped files, read page by page on access."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

from groundling.errors import ModelFileError, StorageError
from groundling.files import open_plain
from groundling.world.reprs import said

_TYPES = {
    "F64": np.float64, "I64": np.int64, "I32": np.int32, "U64": np.uint64, "U32": np.uint32,
    "BOOL": np.bool_,
}  # fmt: skip
_CODES = {np.dtype(kind): code for code, kind in _TYPES.items()}


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], note: Mapping[str, Any]) -> None:
    """Write arrays, and a note as JSON, to a file atomically.

    Arrays that share memory are written only once.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_arrays(Path(folder) / "shard", {"weight": np.array([1.0, 2.0])}, {"count": 2})
    ...     arrays, note = map_arrays(Path(folder) / "shard")
    ...     arrays["weight"].tolist(), note
    ([1.0, 2.0], {'count': 2})
    """
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    whole: dict[str, NDArray[Any]] = {}
    views: dict[str, tuple[str, str, tuple[int, ...]]] = {}  # name -> array, type, shape
    known: dict[tuple[int, int], str] = {}
    for name, array in arrays.items():
        each = np.ascontiguousarray(array)
        first = known.setdefault((each.ctypes.data, each.nbytes), name) if each.nbytes else name
        if first == name:
            whole[name] = each
        else:
            views[name] = (first, _CODES[each.dtype], each.shape)
    metadata = {"note": json.dumps(note), "views": json.dumps(views)}
    try:
        save_file(whole, temporary, metadata=metadata)
        os.replace(temporary, path)
    except (SafetensorError, OSError) as error:
        raise StorageError(
            f"Shards cannot be written to {path.parent} ({said(error)}). Free some space in it, or "
            "set TMPDIR to another folder."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def map_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Map the arrays of a file into memory, and return them with the note of the file.

    The arrays are writable, because kernels require this, but changes do not reach the file.
    """
    try:
        with open_plain(path) as file:
            raw = np.asarray(np.memmap(file, np.uint8, mode="c"))
        begin = 8 + int(raw[:8].view("<u8")[0])
        header = json.loads(raw[8:begin].tobytes())
        metadata = header.pop("__metadata__")
        note = json.loads(metadata["note"])
        arrays = {}
        for name, each in header.items():
            first, last = each["data_offsets"]
            kind = np.dtype(_TYPES[each["dtype"]])
            arrays[name] = raw[begin + first : begin + last].view(kind).reshape(each["shape"])
        for name, (first, code, shape) in json.loads(metadata["views"]).items():
            arrays[name] = arrays[first].reshape(-1).view(_TYPES[code]).reshape(shape)
    except (
        KeyError, TypeError, ValueError, AttributeError, RecursionError, OSError,
    ) as error:  # fmt: skip
        raise ModelFileError(
            f"The shard {path} is damaged ({error}). Delete it, and train again."
        ) from error
    return arrays, note
