"""Demonstrations in shards."""

import pytest

from groundling.data import Demonstrations
from groundling.errors import DemonstrationError
from groundling.scale.shards import split
from tests.scale.making import shown
from tests.worlds import Line


def names(shards):
    return [[each.name for each in part.read()] for part in shards.parts]


def test_shards_of_a_list_follow_its_order_and_can_be_read_again(tmp_path):
    given = shown(7)
    shards = split(given, tmp_path, size=3)
    assert [len(each) for each in names(shards)] == [3, 3, 1]
    assert names(shards) == names(shards)
    assert [each for part in shards.parts for each in part.read()] == given
    assert [each.number for each in shards.parts] == [0, 1, 2]


def test_shards_of_files_span_no_two_files(tmp_path):
    line = Line(5, {1: "lamp"})
    for file, count in (("a.jsonl", 5), ("b.jsonl", 2)):
        alike = [each for each in shown(20) if each.environment.size == 5][:count]
        moved = [type(each)(each.instructions, line, each.start, each.actions) for each in alike]
        Demonstrations(moved).write(tmp_path / file)
    read = Demonstrations.read(str(tmp_path / "*.jsonl"), worlds=line)
    assert [part.count for part in split(read, tmp_path, size=3).parts] == [3, 2, 2]


def test_shards_of_what_comes_only_once_are_written(tmp_path):
    given = shown(7)
    shards = split((each for each in given), tmp_path / "new", size=3)
    assert names(shards) == names(split(given, tmp_path, size=3))
    environments = {id(each.environment) for part in shards.parts for each in part.read()}
    assert environments == {id(each.environment) for each in given}
    assert len(list((tmp_path / "new").iterdir())) == 3
    assert len(names(split(iter(given), tmp_path / "none", size=3, apart=True))) == 3
    assert not (tmp_path / "none").exists()


def test_shards_leave_bad_records_out(tmp_path):
    file, line = tmp_path / "a.jsonl", Line(9)
    Demonstrations(
        [type(e)(e.instructions, line, e.start, e.actions, name=e.name) for e in shown(4)]
    ).write(file)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:2], "{}", *lines[2:]]))
    read = Demonstrations.read(file, worlds=line, skip_bad=True)
    assert names(split(read, tmp_path, size=3)) == [["0", "1", "2"], ["3"]]


def test_shards_of_names_ask_for_worlds(tmp_path):
    with pytest.raises(DemonstrationError, match=r"got the name .* Pass Demonstrations.read"):
        split(str(tmp_path / "*.jsonl"), tmp_path)
    with pytest.raises(DemonstrationError, match="must be iterable; got a int"):
        split(3, tmp_path)
