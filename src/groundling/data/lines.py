"""JSON Lines files, plain or compressed: one record per line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from groundling.data.canonical import Json
from groundling.data.format import FORMAT, VERSION
from groundling.errors import DemonstrationError
from groundling.files import open_plain
from groundling.limits import EMPTY_LINES, EXPANSION, LINE_BYTES
from groundling.world.environment import shorten

_SMALL = 16 * 2**20  # bytes to which any compressed file may expand


def read_lines(path: Path) -> Iterator[tuple[int, bytes | DemonstrationError]]:
    """Yield the number and content of each line; only one line is in memory at a time.

    Empty lines are skipped. If the file is damaged, the content of the last item is an exception.
    """
    number = empty = size = 0
    longest = LINE_BYTES.most
    try:
        with open_plain(path) as file:
            packed = path.suffix == ".gz"
            source = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if packed else file
            while line := source.readline(longest + 1):
                number += 1
                if len(line) > longest:
                    raise LINE_BYTES.exceeded("more", DemonstrationError, "A line")
                if packed:
                    size += len(line)
                    if size > _SMALL and size > EXPANSION.most * file.tell():
                        raise EXPANSION.exceeded("more", DemonstrationError, "The file")
                if line.isspace():
                    empty += 1
                    EMPTY_LINES.check(empty, DemonstrationError, "The file")
                    continue
                yield number, line
    except DemonstrationError as error:
        yield number, error
    except (EOFError, OSError, zlib.error) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else error
        yield (
            number + 1,
            DemonstrationError(
                f"The file cannot be read beyond this line ({said}). Replace it with an intact "
                "copy."
            ),
        )


def count_lines(path: Path) -> int:
    """Return the number of records in a file, without parsing the records."""
    found = 0
    for _, line in read_lines(path):
        if isinstance(line, DemonstrationError) or not (b'"format"' in line and _is_header(line)):
            found += 1
    return found


def _is_header(line: bytes) -> bool:
    try:
        return parse_line(line) is None
    except DemonstrationError:
        return False


def parse_line(line: bytes | DemonstrationError) -> dict[str, Json] | None:
    """Return the record in a line, or None if the line is empty or a header.

    >>> parse_line(b'{"text": "turn left"}')
    {'text': 'turn left'}
    >>> parse_line(b'{"format": "groundling-demonstrations", "version": 1}')
    >>> parse_line(b'{"text": "turn left')
    Traceback (most recent call last):
        ...
    groundling.errors.DemonstrationError: The text must be valid JSON (Unterminated string starting
    at column 10). Write one object per line.
    """
    if isinstance(line, DemonstrationError):
        raise line
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise DemonstrationError(
            f"A line must be UTF-8; got an invalid byte at position {error.start + 1}. Save the "
            "file as UTF-8."
        ) from error
    if text[:1] == "\ufeff":  # a byte order mark
        text = text[1:]
    if not text:
        return None
    record = parse_json(text, "Write one object per line.")
    if type(record) is not dict:
        raise DemonstrationError(
            f"A record must be an object; got {shorten(record)}. Write one object per line."
        )
    if "format" in record:
        check_header(record.get("format"), record.get("version"))
        return None
    return cast(dict[str, Json], record)


def parse_json(text: str, cure: str) -> Json:
    """Parse strict JSON, without NaN or infinity; error messages end with `cure`.

    >>> parse_json("[NaN]", "Leave it out.")
    Traceback (most recent call last):
        ...
    groundling.errors.DemonstrationError: JSON must not contain NaN. Leave it out.
    """
    try:
        found, end = _DECODER.raw_decode(text)
        if end == len(text):
            return found
        problem = f"extra text after column {end}"
    except json.JSONDecodeError as error:
        problem = f"{error.msg.removesuffix(' at')} at column {error.colno}"
    except RecursionError:
        problem = "nested too deeply"
    except _ConstantError as error:
        raise DemonstrationError(f"JSON must not contain {error}. {cure}") from None
    except ValueError as error:  # such as a number with thousands of digits
        problem = str(error)
    raise DemonstrationError(f"The text must be valid JSON ({problem}). {cure}")


def check_header(name: Json, version: Json) -> None:
    """Raise an error unless a header has the right format and a supported version.

    >>> check_header("groundling-demonstrations", 1)
    """
    if name != FORMAT:
        raise DemonstrationError(f"`format` must be {FORMAT!r}; got {shorten(name)}.")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise DemonstrationError(
            f"`version` of the format must be from 1 to {VERSION}; got {shorten(version)}. "
            "Update Groundling to read newer files."
        )


def write_lines(file: BinaryIO, records: Iterable[dict[str, Json]], *, compress: bool) -> int:
    """Write a header and records; return the number of records.

    The same records always give the same bytes.
    """
    if compress:
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            return write_lines(cast(BinaryIO, packed), records, compress=False)
    file.write(_line({"format": FORMAT, "version": VERSION}))
    number = 0
    for number, record in enumerate(records, 1):  # noqa: B007 - the last one is their number
        file.write(_line(record))
    return number


def _line(record: dict[str, Json]) -> bytes:
    try:
        return (_WRITER.encode(record) + "\n").encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot encode
        return (json.dumps(record, allow_nan=False) + "\n").encode("ascii")


class _ConstantError(Exception):
    """Raised for NaN and infinity, which are not valid JSON."""


def _refuse(name: str) -> None:
    raise _ConstantError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
