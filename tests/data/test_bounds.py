"""Files that are made to cost far more than their size: refused soon, by name, in little room."""

import gzip
import json
import time

import pytest

from groundling.data import Demonstrations
from groundling.data.codec import Codec
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
    with pytest.raises(WorldError, match=r"at most 10,000 actions; got 10,001.*PLAN_ACTIONS"):
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
    with pytest.raises(
        DemonstrationError, match=r"shown.jsonl.gz:\d+: .*250 bytes .*_EXP"
    ):
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
