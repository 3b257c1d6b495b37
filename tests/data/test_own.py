"""One's own world as commands take it: where to begin, and parts to test on."""

import json
from collections import Counter

import pytest

from groundling import Demonstration
from groundling.data import Worlds
from groundling.data.own import OwnWorld, folds, names_world, open_world
from groundling.errors import DemonstrationError, GroundlingError, WorldError
from tests.worlds import Line


class Begun(Line):
    def initial_state(self):
        return self.size // 2


def needs_size(size):
    return Line(size)


def test_own_worlds_are_told_from_tasks():
    assert names_world('my_world.py:Kitchen{"size": 3}')
    assert names_world("package.module:Kitchen")
    assert names_world("my_world.py")
    assert not names_world("puzzles")
    assert not names_world("model/folder")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shown.jsonl"
    record = {"world": {"needs_size": {"size": 9}}, "text": "go", "start": 7, "actions": ["left"]}
    path.write_text(json.dumps(record))
    return path


def test_own_world_begins_where_it_is_told():
    own = OwnWorld(Worlds(Begun))
    assert own.begin("3")[1] == 3
    assert own.begin()[1] == 2
    with pytest.raises(
        GroundlingError, match=r"must be valid JSON .* Pass the initial state as JSON"
    ):
        own.begin("kitchen")


def test_own_world_begins_where_the_first_demonstration_does(file):
    own = open_world("tests.data.test_own:needs_size", [file])
    world, start = own.begin()
    assert (world.environment.size, start) == (9, 7)
    with pytest.raises(WorldError, match="without arguments"):
        open_world("tests.data.test_own:needs_size").begin()
    with pytest.raises(WorldError, match="must define an initial state"):
        open_world("tests.worlds:Line").begin()
    file.write_text("")
    with pytest.raises(DemonstrationError, match="must contain at least one demonstration"):
        open_world("tests.data.test_own:needs_size", [file]).begin()


def test_own_world_says_that_its_beginning_is_wrong():
    class Wrong(Line):
        def initial_state(self):
            return [1]

    with pytest.raises(WorldError, match=r"Wrong.initial_state raised TypeError: unhashable"):
        OwnWorld(Worlds(Wrong)).begin()


def shown(groups):
    return [
        Demonstration(f"go {n}", Line(), 1, ("left",), group=each) for n, each in enumerate(groups)
    ]


def test_folds_test_everything_once_and_keep_groups_together():
    listed = shown([*"aaaabbccd", "", "", ""])
    found = folds(listed, 3, seed=1)
    assert len(found) == 3
    assert Counter(e.instructions for _, test in found for e in test) == Counter(
        e.instructions for e in listed
    )
    for learn, test in found:
        assert len(learn) + len(test) == len(listed)
        assert not {e.group for e in learn if e.group} & {e.group for e in test if e.group}
        assert len(test) == 4
    assert found == folds(listed, 3, seed=1)
    assert any(found != folds(listed, 3, seed=seed) for seed in range(5))


def test_folds_are_no_more_than_groups():
    assert len(folds(shown("aabb"), 5)) == 2
    with pytest.raises(DemonstrationError, match="got 5 and 1"):
        folds(shown("aaaa"), 5)
    with pytest.raises(DemonstrationError, match="got 1 and 2"):
        folds(shown("aabb"), 1)
