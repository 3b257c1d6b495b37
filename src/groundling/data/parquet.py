"""Parquet: records in columns, for many of them. Needs pyarrow, which is imported on first use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from groundling.data.codec import Json
from groundling.data.format import FIELDS, FORMAT, VERSION
from groundling.data.lines import check_header, parse_json
from groundling.errors import DemonstrationError, SettingError, did_you_mean

__all__ = ["count_rows", "parse_row", "read_rows", "write_rows"]

_PLAIN = {"text": "string", "weight": "float64", "group": "string", "turn": "int32"}
_PLAIN |= {"name": "string", "world": "string"}
_AT_ONCE = 10_000  # rows in a group: what is held in memory

Row = dict[str, Any]


def read_rows(path: Path) -> Iterator[tuple[int, Row | DemonstrationError]]:
    """Yield the number and the content of each row, some thousand at a time in memory.

    Where the file is broken, the last content is an error.
    """
    number = 0
    arrow = _pyarrow()
    try:
        with _open(path) as file:
            for batch in file.iter_batches(batch_size=_AT_ONCE):
                names = batch.schema.names
                columns = [column.to_pylist() for column in batch.columns]
                for values in zip(*columns, strict=True):
                    number += 1
                    yield number, dict(zip(names, values, strict=True))
    except DemonstrationError as error:
        yield number + 1, error
    except (arrow.ArrowException, OSError) as error:
        said = " ".join(str(error).split())
        yield number + 1, DemonstrationError(f"The file cannot be read as Parquet ({said}).")


def count_rows(path: Path) -> int:
    """Return how many records a file has, without reading them."""
    try:
        with _open(path) as file:
            return int(file.metadata.num_rows)
    except (_pyarrow().ArrowException, OSError, DemonstrationError):
        return 0  # going through it says what is wrong


def parse_row(row: Row | DemonstrationError) -> dict[str, Json]:
    """Return the record of a row: columns of JSON text are read, nulls are left out.

    >>> parse_row({"text": "turn left", "start": "[3, 4]", "weight": None})
    {'text': 'turn left', 'start': [3, 4]}
    """
    if isinstance(row, DemonstrationError):
        raise row
    record = {}
    for name, value in row.items():
        if value is None:
            continue
        # A column that holds lists or numbers itself is taken as it is.
        if type(value) is str and (name not in _PLAIN or (name == "world" and value[:1] == "{")):
            value = _read_json(value, name)
        record[name] = value
    return record


@lru_cache(maxsize=20_000)
def _read_json(text: str, name: str) -> Json:
    # States and plans come again and again; what is read here is never changed.
    return parse_json(text, f"The column {name} holds JSON as text.")


def write_rows(file: BinaryIO, records: Iterable[dict[str, Json]]) -> int:
    """Write records in groups of some thousand; return how many."""
    arrow, parquet = _pyarrow(), import_module("pyarrow.parquet")
    schema = arrow.schema(
        [(name, arrow.type_for_alias(_PLAIN.get(name, "string"))) for name in FIELDS],
        metadata={"format": FORMAT, "version": str(VERSION)},
    )
    waiting, written = iter(records), 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := [_row(record) for record in islice(waiting, _AT_ONCE)]:
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))
            written += len(group)
    return written


def _row(record: dict[str, Json]) -> Row:
    return {
        name: value
        if name in _PLAIN and not isinstance(value, dict)
        else json.dumps(value, allow_nan=False)
        for name, value in record.items()
    }


def _open(path: Path) -> Any:
    file = import_module("pyarrow.parquet").ParquetFile(path)
    schema = file.schema_arrow
    for name in schema.names:
        if name not in FIELDS:
            raise DemonstrationError(f"A record has no field {name!r}.{did_you_mean(name, FIELDS)}")
    about = {key.decode(): text.decode() for key, text in (schema.metadata or {}).items()}
    if "format" in about:
        version = about.get("version", "")
        check_header(about["format"], int(version) if version.isdigit() else version)
    return file


def _pyarrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise SettingError(
            f"Parquet files need pyarrow, which cannot be imported ({error}). Run `pip install "
            "pyarrow`, or use JSON Lines (.jsonl or .jsonl.gz)."
        ) from error
