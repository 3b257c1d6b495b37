"""The comparison of `Follower()` with settings by hand runs, and its worlds are sound."""

import pytest

from benchmarks.defaults import GENERATED, demonstrations, measure, reported
from benchmarks.worlds import KINDS, scene_demonstrations, sequence_demonstrations
from groundling import check_environment
from groundling.evaluation.report import Report, Row


@pytest.mark.parametrize("which", ["auto", "hand"])
def test_defaults_measure_everything(which):
    found = measure("scene", which, 12)
    assert set(found) == {"right", "fit", "plans per second", "memory"}
    assert all(value >= 0 for value in found.values())


@pytest.mark.parametrize("world", GENERATED)
def test_defaults_learn_from_other_demonstrations_than_they_follow(world):
    learn, test = demonstrations(world)
    seen = {(each.instructions, str(each.start)) for each in learn}
    assert learn != test
    assert len({(each.instructions, str(each.start)) for each in test} - seen) > 30


def test_worlds_are_sound_and_as_told():
    shown = scene_demonstrations(40)
    check_environment(shown[0].environment, ())
    assert {len(each.actions) for each in shown} == {1}
    things = {thing.kind for each in shown for thing in each.environment.things}
    assert things == set(KINDS)
    assert len(KINDS) == 20
    joined = [each.instructions for each in sequence_demonstrations(40)]
    assert any(" and then " in text for text in joined)
    assert scene_demonstrations(3, seed=5)[0].instructions == (
        scene_demonstrations(3, seed=5)[0].instructions
    )


def test_defaults_take_the_figures_of_tasks_from_their_reports(tmp_path):
    row = Row("full", {"f1": 0.7, "recall": 0.8}, seconds={"train": 12.0, "follow": 3.0})
    Report("maps", "auto", "some", [row], 20.0, "1").save(tmp_path / "maps-auto.json")
    assert reported("maps", "auto", tmp_path) == {"right": 0.7, "fit": 12.0}
    with pytest.raises(SystemExit, match="evaluate maps --preset best"):
        reported("maps", "hand", tmp_path)
