"""Page headers of Parquet files, which tell how much memory a column needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from groundling.errors import DemonstrationError
from groundling.limits import FOOTER_BYTES, GROUP_VALUES, PAGE_BYTES

_SHORT, _LONG = 2**14, 2**22  # sizes of header reads, in bytes
_DEPTH = 8  # maximum nesting of page headers, which need two levels
_FOOTER_DEPTH = 20  # maximum nesting of footers, which need eight levels
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_PREFIXES = 7  # the encoding DELTA_BYTE_ARRAY, in which texts share prefixes
_BATCH_BYTES = 32 * 2**20
_BROKEN = (
    "A Parquet file must have a valid footer and valid page headers; this file is damaged or in "
    "another format. Write the demonstrations to a new file."
)


class Page(NamedTuple):
    """A page: its uncompressed size, and its number of values (0 for a dictionary)."""

    size: int
    values: int


class Column(NamedTuple):
    """A column of a row group, as described in the footer."""

    path_in_schema: str
    num_values: int
    total_compressed_size: int
    data_page_offset: int
    dictionary_page_offset: int | None


def read_footer(file: BinaryIO) -> list[list[Column]]:
    """Return the columns of each row group.

    pyarrow aborts the process if the description of a column is missing, so the footer is parsed
    here.
    """
    end = file.seek(0, 2)
    file.seek(max(0, end - 8))
    tail = file.read(8)
    size = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or size > end - 12:
        raise DemonstrationError(_BROKEN)
    FOOTER_BYTES.check(size, DemonstrationError, "The file")
    file.seek(end - 8 - size)
    try:
        found, _ = _structure(file.read(size), 0, _FOOTER_DEPTH)
        return [[_column(each) for each in group[1]] for group in found.get(4, [])]
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise DemonstrationError(_BROKEN) from None


def _column(chunk: dict[int, Any]) -> Column:
    about = chunk[3]
    numbers = [about[5], about[7], about[9], about.get(11, 0)]
    if not all(type(each) is int for each in numbers):
        raise TypeError
    path = b".".join(about[3]).decode("utf-8", "replace")
    return Column(path, about[5], about[7], about[9], about.get(11))


def rows_at_once(file: BinaryIO, columns: Iterable[Column], most: int) -> int:
    """Return how many rows of a row group to read at a time.

    Raises an error if a page is too large for memory. The sizes come from the page headers, by
    which pyarrow allocates memory; the sizes in footers can be wrong.
    """
    for column in columns:
        nested = "." in column.path_in_schema
        if nested:  # the number of values in a row is unknown until they are read
            GROUP_VALUES.check(column.num_values, DemonstrationError, column.path_in_schema)
        for page in pages_of(file, column):
            PAGE_BYTES.check(page.size, DemonstrationError, f"The column {column.path_in_schema}")
            if page.values > column.num_values:
                raise DemonstrationError(
                    f"A page of the column {column.path_in_schema} must not have more values than "
                    "the column. The file is damaged. Write the demonstrations to a new file."
                )
            if not nested and page.values:
                most = min(most, _BATCH_BYTES * page.values // max(1, page.size))
    return max(1, most)


def pages_of(file: BinaryIO, column: Column) -> Iterator[Page]:
    """Yield the pages of a column, in order."""
    starts = (column.dictionary_page_offset, column.data_page_offset)
    place = min((start for start in starts if start is not None and start > 0), default=-1)
    end, seen = place + column.total_compressed_size, 0
    while seen < column.num_values and place < end:
        header, size = _read_header(file, place)
        unpacked, packed, kind = (_whole(header.get(field)) for field in (2, 3, 1))
        place += size + packed
        content = header.get({_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}.get(kind, 0), {})
        values = _whole(content.get(1, 0) if type(content) is dict else None)
        if kind == _DICTIONARY:
            yield Page(unpacked, 0)
        elif kind in (_DATA, _DATA_2):
            seen += values
            if content.get(2 if kind == _DATA else 4) == _PREFIXES:
                raise DemonstrationError(
                    f"The column {column.path_in_schema} must not use the encoding "
                    "DELTA_BYTE_ARRAY, which can expand without limit. Write the column with the "
                    "encoding PLAIN."
                )
            yield Page(unpacked, values)


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise DemonstrationError(_BROKEN)
    return value


def _read_header(file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    for size in (_SHORT, _LONG):
        try:
            file.seek(place)
        except (OSError, OverflowError, ValueError):
            break
        data = file.read(size)
        try:
            return _structure(data, 0, _DEPTH)
        except (IndexError, RecursionError):
            if len(data) < size:
                break
    raise DemonstrationError(_BROKEN)


# ---- the compact protocol of Thrift, used for headers ------------------------------------------


def _structure(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return a Thrift structure as a mapping by field number, and the position after it."""
    if not depth:
        raise RecursionError
    found: dict[int, Any] = {}
    field = 0
    while data[at]:
        step, kind = divmod(data[at], 16)
        at += 1
        if step:
            field += step
        else:
            field, at = _signed(data, at)
        if kind in (1, 2):  # booleans are encoded in the type
            found[field] = kind == 1
        else:
            found[field], at = _value(data, at, kind, depth)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (4, 5, 6):
        return _signed(data, at)
    if kind in (1, 2, 3):
        return None, at + 1
    if kind == 7:
        return None, at + 8
    if kind == 8:
        size, at = _number(data, at)
        if at + size > len(data):
            raise IndexError
        return data[at : at + size], at + size
    if kind == 12:
        return _structure(data, at, depth - 1)
    if kind in (9, 10):
        size, inner = divmod(data[at], 16)
        at += 1
        if size == 15:
            size, at = _number(data, at)
        if depth < 0:
            raise RecursionError
        items = []
        for _ in range(size):
            item, at = _value(data, at, inner, depth - 1)
            if at > len(data):
                raise IndexError
            items.append(item)
        return items, at
    raise RecursionError  # maps do not occur in headers


def _number(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, at
        shift += 7
        if shift > 63:
            raise RecursionError


def _signed(data: bytes, at: int) -> tuple[int, int]:
    found, at = _number(data, at)
    return (found >> 1) ^ -(found & 1), at
