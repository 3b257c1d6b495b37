"""Arrays in files that are mapped."""

import os

import numpy as np
import pytest

from groundling.errors import ModelFileError, StorageError
from groundling.scale.arrays import map_arrays, write_arrays


def test_arrays_come_back_with_their_types_and_can_be_written_to(tmp_path):
    path = tmp_path / "shard"
    arrays = {
        "a": np.array([True, False, True]),
        "b": np.arange(6, dtype=np.int32).reshape(2, 3),
        "c": np.array([1.5, -0.0]),
        "d": np.zeros(0, np.uint32),
        "e": np.array([2**40]),
        "f": np.array([2**63], np.uint64),
    }
    write_arrays(path, arrays, {"weight": 2.5})
    found, note = map_arrays(path)
    assert note == {"weight": 2.5}
    assert {name: each.dtype for name, each in found.items()} == {
        name: each.dtype for name, each in arrays.items()
    }
    for name, each in arrays.items():
        np.testing.assert_array_equal(found[name], each)
        # Kernels are compiled for plain arrays like those that were written.
        assert type(found[name]) is np.ndarray
        assert found[name].flags.aligned
        assert found[name].flags.writeable
    found["c"][0] = 9.0
    assert map_arrays(path)[0]["c"][0] == 1.5
    assert [each.name for each in tmp_path.iterdir()] == ["shard"]


def test_arrays_that_share_memory_are_written_once(tmp_path):
    numbers = np.arange(1000, dtype=np.int32)
    arrays = {
        "a": numbers, "b": numbers.view(np.uint32), "c": numbers.reshape(10, 100),
        "d": numbers[:0], "e": numbers[:500],
    }  # fmt: skip
    write_arrays(tmp_path / "shard", arrays, {})
    assert 6000 <= (tmp_path / "shard").stat().st_size < 7000
    found, _ = map_arrays(tmp_path / "shard")
    for name, each in arrays.items():
        np.testing.assert_array_equal(found[name], each)
        assert found[name].dtype == each.dtype
    assert np.shares_memory(found["a"], found["b"])


@pytest.mark.parametrize("content", [b"12345678", b"\x02" + b"\0" * 7 + b"{}", b"\xff" * 40])
def test_arrays_of_a_broken_file_are_refused(tmp_path, content):
    (tmp_path / "shard").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"The shard .* is damaged"):
        map_arrays(tmp_path / "shard")


def test_arrays_on_a_full_disk_are_one_sentence_and_leave_nothing(tmp_path):
    if os.system(f"mount -t tmpfs -o size=64k tmpfs '{tmp_path}' 2>/dev/null"):
        pytest.skip("cannot mount a small disk")
    try:
        with pytest.raises(
            StorageError, match=rf"Shards cannot be written to {tmp_path} .* set TMPDIR"
        ):
            write_arrays(tmp_path / "shard", {"a": np.zeros(100_000)}, {})
        assert not list(tmp_path.iterdir())
    finally:
        os.system(f"umount -l '{tmp_path}'")
