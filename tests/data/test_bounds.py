"""Files that are made to cost far more than their size: refused soon, by name, in little room."""

import gzip
import io
import json
import resource
import subprocess
import sys
import time

import pytest

from groundling.data import Demonstrations
from groundling.data.codec import Codec
from groundling.data.pages import Column, pages_of, read_footer
from groundling.data.parquet import _listed, read_rows
from groundling.errors import DemonstrationError, WorldError
from tests.data.test_codec import Frozen
from tests.worlds import Line

SAME = 2**61 - 1  # multiples of it have the hash 0
SECONDS = 5.0  # far more than any of these takes, far less than without bounds


class Yard:
    json_classes = (Frozen,)


@pytest.fixture(autouse=True)
def _soon():
    began = time.process_time()
    yield
    assert time.process_time() - began < SECONDS


COLLIDING = {
    "numbers": [k * SAME for k in range(60_001)],
    "lists": [[k * SAME, "x"] for k in range(60_001)],
    "fractions": [[2.0 ** (61 * a), 2.0 ** (61 * b), 2.0 ** (61 * c), 2.0 ** (61 * d)]
                  for a in range(16) for b in range(16) for c in range(16) for d in range(14)],
    "ones and twos": [[-1 - (k >> bit & 1) for bit in range(16)] for k in range(60_001)],
}  # fmt: skip


@pytest.mark.parametrize("items", COLLIDING.values(), ids=COLLIDING)
@pytest.mark.parametrize("kind", ["set", "mapping"])
def test_bounds_sets_and_mappings_whose_hashes_are_equal_are_refused(items, kind):
    data = {"$set": items} if kind == "set" else {"Frozen": [[each, 1] for each in items]}
    with pytest.raises(WorldError, match=r"at most 256 .* same hash; got .*_LIMIT_EQUAL_HASHES"):
        Codec(Yard()).state_from_json(data)


@pytest.mark.parametrize("items", [[7] * 200_000, list(range(200_000)), ["a", 7, 7.5] * 60_000])
def test_bounds_do_not_refuse_large_sets_and_repetitions(items):
    assert Codec(Yard()).state_from_json({"$set": items}) == frozenset(items)
    assert dict(Codec(Yard()).state_from_json({"Frozen": [[each, 1] for each in items]})) == (
        dict.fromkeys(items, 1)
    )


def test_bounds_states_and_plans_whose_hashes_are_equal_are_refused():
    codec = Codec(Line(3))
    with pytest.raises(WorldError, match=r"The states .* at most 256"):
        [codec.state_from_json(k * SAME) for k in range(60_001)]
    with pytest.raises(WorldError, match=r"The plans .* at most 256"):
        [codec.actions_from_json([k * SAME]) for k in range(60_001)]


def test_bounds_do_not_refuse_the_same_state_again_and_again():
    codec = Codec(Line(3))
    for k in range(100_000):
        codec.state_from_json([k % 7, SAME])
        codec.state_from_json(k)


def test_bounds_plans_are_limited_in_length(monkeypatch):
    with pytest.raises(WorldError, match=r"at most 8,000 actions; got 10,001.*PLAN_ACTIONS"):
        Codec(Line(3)).actions_from_json(["left"] * 10_001)
    monkeypatch.setenv("GROUNDLING_LIMIT_PLAN_ACTIONS", "20000")
    Codec(Line(3)).actions_from_json(["left"] * 10_001)


GOOD = {"text": "go left", "start": 1, "actions": ["left"]}


def read(path, **options):
    return Demonstrations.read(path, worlds=Line(3), **options)


def test_bounds_compressed_newlines_are_refused(tmp_path):
    path = tmp_path / "shown.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(GOOD).encode() + b"\n" * 20_000_000))
    with pytest.raises(DemonstrationError, match=r"shown.jsonl.gz:\d+: .*100,000 empty lines"):
        list(read(path))
    assert len(read(path)) == 2  # the record, and the error that stands for the rest
    some = read(path, skip_bad=True)
    assert len(list(some)) == 1  # what came before is kept
    assert "EMPTY_LINES" in str(some.skipped[0])


def test_bounds_newlines_are_refused(tmp_path):
    path = tmp_path / "shown.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b"\r\n \t" * 10_000_000)
    with pytest.raises(DemonstrationError, match=r"shown.jsonl:\d+: .*100,000 empty lines"):
        list(read(path))


def test_bounds_files_that_grow_beyond_all_measure_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "shown.jsonl.gz"
    record = json.dumps(GOOD | {"note": "a" * 100_000}).encode() + b"\n"
    path.write_bytes(gzip.compress(record * 2_000))
    with pytest.raises(DemonstrationError, match=r"shown.jsonl.gz:\d+: .*250 bytes .*_EXP"):
        list(read(path))
    some = read(path, skip_bad=True)
    assert len(list(some)) > 1
    monkeypatch.setenv("GROUNDLING_LIMIT_EXPANSION", "2000")
    assert len(read(path)) == 2_000


def test_bounds_names_without_end_are_refused(tmp_path):
    path = tmp_path / "shown.jsonl"
    name = "start" * 3_000_000
    for record in (GOOD | {name: 1}, GOOD | {"start": {name: 1}}, GOOD | {"world": name}):
        path.write_text(json.dumps(record))
        with pytest.raises(DemonstrationError) as caught:
            list(read(path))
        assert len(str(caught.value)) < 2_000


# ---- Parquet ----------------------------------------------------------------------------

parquet = pytest.importorskip("pyarrow.parquet", reason="needs groundling[data]")
pyarrow = pytest.importorskip("pyarrow", reason="needs groundling[data]")


@pytest.fixture(autouse=True)
def _small():
    # What a process took at most never shrinks, so that only growth counts.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 1_000, f"{grown:.0f} MB more"


def table(count, **columns):
    found = {"text": ["go left"] * count, "start": ["2"] * count, "actions": ['["left"]'] * count}
    return pyarrow.table(found | columns)


def bomb(path, **columns):
    parquet.write_table(table(10_000, **columns), path, compression="zstd")
    assert path.stat().st_size < 200_000
    return path


def repeated(value, count=10_000):
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count, "int32"), [value])


def test_bounds_parquet_of_one_long_text_in_every_row_is_refused(tmp_path):
    found = read(bomb(tmp_path / "bomb.parquet", note=repeated('"' + "x" * 1_000_000 + '"')))
    with pytest.raises(DemonstrationError, match=r"bomb.parquet:2\d\d: The file must .*_EXPANSION"):
        list(found)


def test_bounds_parquet_of_long_lists_in_every_row_is_refused(tmp_path):
    path, text = tmp_path / "bomb.parquet", "x" * 1_000_000
    actions = pyarrow.ListArray.from_arrays([*range(10_001)], repeated(text))
    with pytest.raises(DemonstrationError, match=r"bomb.parquet:2\d\d: The file must .*_EXPANSION"):
        list(read(bomb(path, actions=actions)))
    whole = pyarrow.ListArray.from_arrays([0, *[9_999] * 9_999, 10_000], repeated(text))
    found = read(bomb(path, actions=whole), skip_bad=True)
    assert len([each.start for each in found]) == 9_999
    assert "A record must have at most 16,777,216 bytes" in str(found.skipped[0])


def test_bounds_do_not_refuse_what_is_alike_in_every_row(tmp_path):
    path = tmp_path / "alike.parquet"
    parquet.write_table(table(60_000, note=['"' + "x" * 950 + '"'] * 60_000), path)
    assert path.stat().st_size < 20_000
    assert sum(1 for _ in read(path)) == 60_000


def test_bounds_parquet_of_prefixes_is_refused(tmp_path):
    path = tmp_path / "bomb.parquet"
    notes = ["x" * 1_000_000] * 300
    parquet.write_table(
        table(300, note=notes), path, compression="zstd", use_dictionary=False,
        column_encoding={"note": "DELTA_BYTE_ARRAY", "text": "PLAIN", "start": "PLAIN",
                         "actions": "PLAIN"},
    )  # fmt: skip
    assert path.stat().st_size < 20_000
    with pytest.raises(
        DemonstrationError, match=r"The column note must not use the encoding DELTA_BYTE_ARRAY"
    ):
        list(read(path))


def test_bounds_parquet_of_large_pages_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.parquet"
    notes = ["x" * 100_000_000]
    parquet.write_table(table(1, note=notes), path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 20_000
    with pytest.raises(DemonstrationError, match=r"bomb.parquet:1: .*at most 67,108,864 bytes in"):
        list(read(path))
    monkeypatch.setenv("GROUNDLING_LIMIT_PAGE_BYTES", "200_000_000")
    with pytest.raises(DemonstrationError, match=r"A record must have at most 16,777,216 bytes"):
        list(read(path))


def test_bounds_parquet_of_many_values_or_rows_is_refused(tmp_path):
    path = tmp_path / "bomb.parquet"
    offsets = [0, 20_000_000]
    actions = pyarrow.ListArray.from_arrays(
        pyarrow.array(offsets, "int32"), repeated("left", 20_000_000)
    )
    parquet.write_table(table(1, actions=actions), path, compression="zstd")
    with pytest.raises(DemonstrationError, match=r"at most 10,000,000 values in a row group"):
        list(read(path))
    rows = pyarrow.nulls(10_000_000, pyarrow.string())
    parquet.write_table(pyarrow.table({"text": rows}), path, compression="zstd")
    with pytest.raises(DemonstrationError, match=r"must have at most 250 bytes for each"):
        list(read(path, skip_bad=True))


@pytest.mark.parametrize("kind", ["timestamp[ns]", "duration[ns]", "binary", "time64[ns]"])
def test_bounds_parquet_of_other_types_is_refused_by_name(tmp_path, kind):
    path = tmp_path / "other.parquet"
    column = pyarrow.array([b"\xff" if kind == "binary" else 1]).cast(pyarrow.type_for_alias(kind))
    parquet.write_table(table(1, start=column), path)
    with pytest.raises(
        DemonstrationError,
        match=r"The column start must contain text, "
        "numbers.*got",
    ):
        list(read(path))


def test_bounds_parquet_with_one_text_that_is_none_keeps_the_others(tmp_path):
    path = tmp_path / "other.parquet"
    texts = pyarrow.array([b"go left", b"\xff\xfe", b"go left"])
    wrong = texts.view(pyarrow.string())
    nested = pyarrow.ListArray.from_arrays([0, 1, 2, 3], wrong)
    for columns in ({"text": wrong}, {"actions": nested}, {"start": wrong}):
        parquet.write_table(table(3, start=[2, 2, 2]).drop_columns([*columns]).append_column(
            *columns, *columns.values()), path)  # fmt: skip
        some = read(path, skip_bad=True)
        if "start" in columns:
            continue
        assert len(list(some)) == 2
        assert [each.number for each in some.skipped] == [2]
        assert "A text must be UTF-8; got an invalid byte at position 1" in str(some.skipped[0])


def test_bounds_parquet_columns_come_back_as_they_were_written(tmp_path):
    path = tmp_path / "own.parquet"
    notes = [{"a": [[1, 2], None, []], "b": "x"}, None, {"a": None, "b": None}] * 5_000
    actions = [["left", "right"], ["left"], []] * 5_000
    parquet.write_table(table(15_000, note=notes, actions=actions), path, row_group_size=7_001)
    rows = [row for _, row in read_rows(path)]
    assert [each.get("note") for each in rows] == notes
    assert [each["actions"] for each in rows] == actions


@pytest.mark.parametrize(
    "header",
    [
        b"\x15\x00\x15\x10\x15\x10\x21\x00",  # a truth value instead of the header of the data
        b"\x1c\x00\x15\x10\x15\x10\x00",  # a structure instead of the kind of page
        b"\x15\x00\x11\x15\x10\x00",  # a truth value instead of a size
        b"\x15\x00\x15\x0f\x15\x10\x00",  # a size below 0
        b"\x15\x00" + b"\x15" + b"\xff" * 20,
        b"",
    ],
)
def test_bounds_parquet_headers_that_are_none_are_refused(header):
    for place in (4, 2**70, 0, -5):
        column = Column("text", 3, 100, place, None)
        with pytest.raises(DemonstrationError, match="valid page headers"):
            list(pages_of(io.BytesIO(b"PAR1" + header), column))


def test_bounds_parquet_footers_are_read_as_pyarrow_reads_them(tmp_path):
    path = tmp_path / "own.parquet"
    notes = [{"a": [1], "b": "x"}, None] * 500
    parquet.write_table(table(1_000, note=notes), path, row_group_size=300)
    about = parquet.ParquetFile(path).metadata
    with path.open("rb") as file:
        groups = read_footer(file)
    assert len(groups) == about.num_row_groups == 4
    for number, columns in enumerate(groups):
        theirs = [about.row_group(number).column(place) for place in range(len(columns))]
        assert len(columns) == about.row_group(number).num_columns
        for mine, other in zip(columns, theirs, strict=True):
            assert mine == tuple(getattr(other, name) for name in Column._fields)


def test_bounds_parquet_without_a_description_of_a_column_does_not_end_the_process(tmp_path):
    """Pyarrow ends the process where it is asked for what the footer lacks."""
    path = tmp_path / "own.parquet"
    parquet.write_table(table(3), path)
    whole = path.read_bytes()
    size = int.from_bytes(whole[-8:-4], "little")
    code = (
        "import sys; from groundling.data import Demonstrations; from tests.worlds import Line\n"
        "from groundling import GroundlingError\n"
        "path = sys.argv[1]; whole = open(path, 'rb').read()\n"
        "for place in range(len(whole) - 8 - int(sys.argv[2]), len(whole), 4):\n"
        "    for bit in (1, 16):\n"
        "        changed = bytearray(whole); changed[place] ^= bit\n"
        "        open(path, 'wb').write(changed)\n"
        "        try: list(Demonstrations.read(path, worlds=Line(3)))\n"
        "        except GroundlingError: pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(size)], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("index", [5, -1])
def test_parquet_dictionary_index_outside_its_values_is_refused(index):
    arrow = pytest.importorskip("pyarrow")
    broken = arrow.DictionaryArray.from_arrays(
        arrow.array([0, index], arrow.int8()), arrow.array(["go", "stop"]), safe=False
    )
    said = f"must be >= 0 and < 2; got {index}"
    with pytest.raises(ValueError, match=said):
        _listed(broken)
