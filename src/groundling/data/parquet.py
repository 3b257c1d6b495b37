"""Parquet files, for large data sets; they need pyarrow, imported on first use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO

from groundling.data.canonical import Json
from groundling.data.format import FIELDS, FORMAT, VERSION
from groundling.data.lines import check_header, parse_json
from groundling.data.pages import read_footer, rows_at_once
from groundling.errors import DemonstrationError, SettingError, check_known
from groundling.files import open_plain
from groundling.limits import EXPANSION, LINE_BYTES

_PLAIN = {"text": "string", "weight": "float64", "group": "string", "turn": "int32"}
_PLAIN |= {"name": "string", "world": "string"}
_AT_ONCE = 10_000  # rows in a group, and so in memory
_MANY = 100_000  # number of rows that any file may have, however small
_SHORT = 1000  # rows up to this number of characters may recur without limit
_FREE = 2**28  # number of characters to which any file may expand
_VERSIONS = frozenset(map(str, range(100)))

Row = dict[str, Any]


def read_rows(path: Path) -> Iterator[tuple[int, Row | DemonstrationError]]:
    """Yield the number and content of each row, reading at most 10,000 rows at a time.

    The content of an invalid row is an exception. If the file is damaged, the content of the last
    item is an exception.
    """
    number = total = 0
    longest = LINE_BYTES.most
    arrow = _pyarrow()
    try:
        with open_plain(path) as raw, _open(path) as file:
            stored = path.stat().st_size
            for group, described in enumerate(read_footer(raw)):
                rows = rows_at_once(raw, described, _AT_ONCE)
                for batch in file.iter_batches(batch_size=rows, row_groups=[group]):
                    # Skip columns that contain only nulls in this batch.
                    columns = {
                        name: _listed(column)
                        for name, column in zip(batch.schema.names, batch.columns, strict=True)
                        if column.null_count < len(column)
                    }
                    for place in range(batch.num_rows):
                        number += 1
                        row = {name: column[place] for name, column in columns.items()}
                        try:
                            size = longest - _weigh(row, longest)
                        except DemonstrationError as error:
                            yield number, error
                            continue
                        total += size if size > _SHORT else 0
                        if total > _FREE and total > EXPANSION.most * stored:
                            raise EXPANSION.exceeded("more", DemonstrationError, "The file")
                        yield number, row
    except DemonstrationError as error:
        yield number + 1, error
    except (arrow.ArrowException, OSError, ValueError, MemoryError) as error:
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        yield (
            number + 1,
            DemonstrationError(
                f"The file cannot be read as Parquet ({said}). Write the demonstrations to a new "
                "file."
            ),
        )


def _listed(column: Any) -> list[Any]:
    """Return a column as Python values; a text that is stored once becomes one object.

    A text that is not UTF-8 becomes an exception, which is raised when its row is parsed.
    """
    types = import_module("pyarrow.types")
    kind = column.type
    if types.is_dictionary(kind):
        used: dict[int | None, Any] = {None: None}
        indices, values = column.indices.to_pylist(), column.dictionary
        for index in indices:
            if index not in used:
                if not 0 <= index < len(values):  # pyarrow does not check this, and wraps around
                    raise ValueError(
                        f"The dictionary indices of a column must be >= 0 and < {len(values)}; got "
                        f"{index}. The file is probably damaged."
                    )
                used[index] = _text(values[index])
        return [used[index] for index in indices]
    if types.is_list(kind) or types.is_large_list(kind):
        items, offsets = _listed(column.values), column.offsets.to_pylist()
        found: list[Any] = [items[start:end] for start, end in pairwise(offsets)]
    elif types.is_struct(kind):
        # Unlike direct access to children, `field` respects the offset of a sliced array.
        fields = {each.name: _listed(column.field(place)) for place, each in enumerate(kind)}
        found = [
            {name: values[place] for name, values in fields.items()} for place in range(len(column))
        ]
    elif types.is_string(kind) or types.is_large_string(kind):
        return [_text(each) for each in column]
    else:
        plain: list[Any] = column.to_pylist()
        return plain
    if column.null_count:
        found = [
            each if there else None
            for each, there in zip(found, column.is_valid().to_pylist(), strict=True)
        ]
    return found


def _text(scalar: Any) -> str | DemonstrationError | None:
    try:
        text: str | None = scalar.as_py()
        return text
    except UnicodeDecodeError as error:
        return DemonstrationError(
            f"A text must be UTF-8; got an invalid byte at position {error.start + 1}. Save "
            "the file as UTF-8."
        )


def count_rows(path: Path) -> int:
    """Return the number of records in a file, without reading them."""
    try:
        with _open(path) as file:
            # Callers allocate memory by this number, so limit what a file may claim.
            most = _MANY + EXPANSION.most * path.stat().st_size
            return min(most, max(0, int(file.metadata.num_rows)))
    except (_pyarrow().ArrowException, OSError, ValueError, DemonstrationError):
        return 0  # reading the file raises the error


def parse_row(row: Row | DemonstrationError) -> dict[str, Json]:
    """Convert a row to a record: parse JSON columns and drop nulls.

    >>> parse_row({"text": "turn left", "start": "[3, 4]", "weight": None})
    {'text': 'turn left', 'start': [3, 4]}
    """
    if isinstance(row, DemonstrationError):
        raise row
    record = {}
    for name, value in row.items():
        if value is None:
            continue
        # Lists and numbers need no parsing.
        if type(value) is str and (name not in _PLAIN or (name == "world" and value[:1] == "{")):
            value = _read_json(value, name)
        record[name] = value
    return record


def _weigh(value: Json, left: int) -> int:
    """Return a budget minus the size of a value; raise an error if nothing is left."""
    if isinstance(value, DemonstrationError):
        raise value
    left -= len(value) if type(value) is str else 1
    if left < 0:
        raise LINE_BYTES.exceeded("more", DemonstrationError, "A record")
    for each in value.values() if type(value) is dict else value if type(value) is list else ():
        left = _weigh(each, left)
    return left


def _read_json(text: str, name: str) -> Json:
    # States and plans recur, so parsed values are cached; do not modify them.
    read = _read_short if len(text) <= _SHORT else _read_long
    return read(text, f"The column {name} must contain JSON as text.")


_read_short = lru_cache(maxsize=20_000)(parse_json)
_read_long = lru_cache(maxsize=2)(parse_json)


def write_rows(file: BinaryIO, records: Iterable[dict[str, Json]]) -> int:
    """Write records in row groups, and return the number of records."""
    arrow, parquet = _pyarrow(), import_module("pyarrow.parquet")
    schema = arrow.schema(
        [(name, arrow.type_for_alias(_PLAIN.get(name, "string"))) for name in FIELDS],
        metadata={"format": FORMAT, "version": str(VERSION)},
    )
    waiting, written = iter(records), 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := [_row(record) for record in islice(waiting, _AT_ONCE)]:
            try:
                writer.write_table(arrow.Table.from_pylist(group, schema=schema))
            except (UnicodeError, arrow.ArrowException) as error:
                raise DemonstrationError(
                    f"The records after record {written} cannot be stored as Parquet ({error}). "
                    "Write JSON Lines (.jsonl.gz) instead."
                ) from error
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
    parquet = import_module("pyarrow.parquet")
    with open_plain(path) as raw, parquet.ParquetFile(raw) as file:
        schema = file.schema_arrow
        columns = [file.schema.column(place) for place in range(len(file.schema))]
        size, rows = path.stat().st_size, file.metadata.num_rows
    for field in schema:
        check_known(field.name, FIELDS, "A record has no field", DemonstrationError)
        if not _is_plain(field.type):
            raise DemonstrationError(
                f"The column {field.name} must contain text, numbers, Booleans, or lists or "
                f"structs of these; got {str(field.type)[:80]}."
            )
    if rows > _MANY:
        EXPANSION.check(rows // max(1, size), DemonstrationError, "The file")
    about = {
        key.decode("utf-8", "replace"): text.decode("utf-8", "replace")
        for key, text in (schema.metadata or {}).items()
    }
    if "format" in about:
        version = about.get("version", "")
        check_header(about["format"], int(version) if version in _VERSIONS else version)
    # Dictionary encoding stores a text that recurs in every row only once.
    texts = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
    return parquet.ParquetFile(path, read_dictionary=texts)


def _is_plain(kind: Any) -> bool:
    types = import_module("pyarrow.types")
    if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    if types.is_struct(kind):
        return all(_is_plain(each.type) for each in kind)
    checks = (
        types.is_string, types.is_large_string, types.is_integer, types.is_float32,
        types.is_float64, types.is_boolean, types.is_null,
    )  # fmt: skip
    return any(check(kind) for check in checks)


def _pyarrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise SettingError(
            f"Parquet files need pyarrow, which cannot be imported ({error}). Run `pip install "
            "pyarrow`, or use JSON Lines (.jsonl or .jsonl.gz)."
        ) from error
