"""What the studio opens."""

import pytest

from groundling.data.own import starts_of
from groundling.errors import DemonstrationError, ModelFileError, ProjectError, WorldError
from groundling.follower import Follower
from groundling.studio.project import Project
from groundling.studio.scenes import open_setting
from groundling.studio.store import Record

KITCHEN = "groundling.studio.kitchen:Kitchen"


def test_worlds_own_world_begins_at_its_start(small_world):
    setting = open_setting({"kind": "world", "world": f"{small_world}:Lamp"})
    assert [(each.name, each.start) for each in setting.scenes] == [("Lamp", "off")]


def test_worlds_without_a_start_is_told(small_world):
    with pytest.raises(WorldError, match="must define an initial state"):
        open_setting({"kind": "world", "world": f"{small_world}:Lost"})


def test_worlds_may_have_several_starts():
    class Yard:
        starts = {"by day": 1, "by night": 2}  # noqa: RUF012

        def start(self):
            raise AssertionError

    assert starts_of(Yard(), "Yard") == [("by day", 1), ("by night", 2)]

    class Numbered:
        def starts(self):
            return [7, 8]

    assert starts_of(Numbered(), "Hall") == [("Hall 1", 7), ("Hall 2", 8)]


def test_worlds_start_that_raises_is_told():
    class Yard:
        def start(self):
            raise ValueError("fenced")

    with pytest.raises(WorldError, match=r"Yard\.start raised ValueError: fenced"):
        starts_of(Yard(), "Yard")


def test_worlds_begin_where_the_world_that_new_writes_does(tmp_path):
    from groundling.cli.skeleton import skeleton

    name, files = skeleton("yard_of_mine")
    (tmp_path / "yard_of_mine.py").write_text(files["yard_of_mine.py"], encoding="utf-8")
    setting = open_setting({"kind": "world", "world": f"{tmp_path}/yard_of_mine.py:{name}"})
    assert [each.start.room for each in setting.scenes] == ["kitchen"]


@pytest.mark.parametrize("task", ["mazes", "maps", "puzzles"])
def test_worlds_trained_models_are_followed_in_their_task(task, tmp_path):
    # a follower of the task that learnt a little is enough to see that all fits together
    from groundling.tasks.model_notes import Note, train
    from groundling.tasks.task_registry import get_task

    asked = get_task(task)
    corpus = asked.load(None, 0.02)
    train(Note(task, "paper", sample=True), corpus, tmp_path / "model")
    setting = open_setting({"kind": "model", "model": str(tmp_path / "model")})
    project = Project(tmp_path / "project", dict(setting.source))
    scene = project.setting.scenes[0]
    said = {"mazes": "turn left", "maps": "go to the windmill", "puzzles": "the top row"}[task]
    plan = project.follow(scene, scene.start, said)
    start = project.write_state(scene.name, scene.start)
    assert project.read_state(scene, start) == scene.start
    actions = project.write_actions(scene.name, plan.actions)
    assert project.read_actions(scene.name, actions) == plan.actions
    project.check(Record(scene.name, said, start, tuple(actions)))
    project.close()


def test_worlds_model_needs_its_world(tmp_path):
    from groundling import Demonstration
    from groundling.studio.kitchen import Kitchen

    kitchen = Kitchen()
    shown = [Demonstration("zum Tisch", kitchen, kitchen.start, ("go to the table",))]
    Follower().fit(shown).save(tmp_path)
    with pytest.raises(ModelFileError, match="--world"):
        open_setting({"kind": "model", "model": str(tmp_path)})
    setting = open_setting({"kind": "model", "model": str(tmp_path), "world": KITCHEN})
    plan = setting.trained.follow("zum Tisch", kitchen, kitchen.start)
    assert plan.actions == ("go to the table",)
    with pytest.raises(DemonstrationError, match="does not store its training demonstrations"):
        setting.base()


def test_worlds_project_of_another_world_is_refused(tmp_path):
    Project(tmp_path, {"kind": "lesson"}).close()
    with pytest.raises(ProjectError, match="belongs to another world"):
        Project(tmp_path, {"kind": "demo"})
    with pytest.raises(ProjectError, match="There is no project in"):
        Project(tmp_path / "new", None)


def test_worlds_project_finds_a_world_that_moved(tmp_path, small_world):
    Project(tmp_path / "p", {"kind": "world", "world": f"{small_world}:Lamp"}).close()
    moved = small_world.rename(tmp_path / "moved_world.py")
    with pytest.raises(WorldError, match="There is no file"):
        Project(tmp_path / "p", None, confirm=lambda source: True)
    Project(tmp_path / "p", {"kind": "world", "world": f"{moved}:Lamp"}).close()
    with pytest.raises(ProjectError, match="pass it on the command line"):
        Project(tmp_path / "p", None)
    reopened = Project(tmp_path / "p", None, confirm=lambda source: True)
    assert reopened.setting.title == "Lamp"
    reopened.close()
