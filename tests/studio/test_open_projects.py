"""Projects are found again after a restart, and pupils come back to their robots."""

import shutil
import threading

import pytest

from groundling.data.scene_world import SceneWorld
from groundling.errors import DemonstrationError, ProjectError
from groundling.studio.exchange import export_lines, import_lines, read_brought
from groundling.studio.open_projects import MOST, OpenProjects
from groundling.studio.problems import BusyError
from groundling.studio.project import Project
from groundling.studio.server import read_exported
from groundling.studio.store import Record

YARD = {
    "title": "Yard",
    "places": [{"name": "shed"}, {"name": "gate"}],
    "things": [{"name": "rake", "at": "shed", "can": ["take"]}],
    "movers": [{"name": "robot", "at": "gate"}],
    "examples": [{"text": "to the shed", "actions": ["go to the shed"]}],
}


def taught(project, text, *actions):
    scene = project.setting.scenes[0]
    start = project.write_state(scene.name, scene.start)
    return project.store.add([Record(scene.name, text, start, actions)], "taught")


def test_projects_are_listed_after_a_restart(tmp_path):
    projects = OpenProjects(tmp_path, {"kind": "lesson"})
    yard = projects.begin({"kind": "scene", "scene": YARD})
    taught(projects.get(yard), "get the rake", "go to the shed", "take the rake")
    projects.close()
    projects = OpenProjects(tmp_path, None)
    try:
        main, other = projects.summaries()
        assert (main.project, main.title, main.known) == ("main", "Kitchen", 0)
        assert (other.project, other.title, other.known) == (yard, "Yard", 2)
        assert projects.get(yard).setting.title == "Yard"
        shutil.rmtree(tmp_path / "projects" / yard)  # deleted by hand, by its owner
        assert projects.summaries()[0].project == "main"
    finally:
        projects.close()


def test_projects_that_cannot_be_read_are_listed_without_a_title(tmp_path):
    (tmp_path / "projects" / "a").mkdir(parents=True)
    (tmp_path / "projects" / "a" / "project.sqlite").write_text("no database")
    projects = OpenProjects(tmp_path, {"kind": "lesson"})
    try:
        assert projects.summaries()[1] == ("a", "", "", 0)
        for source in ([], 3, {"kind": ["lesson"]}):
            projects.get("main").store.set("source", source)
            assert projects.summaries()[0].title == "Kitchen"
    finally:
        projects.close()


def test_projects_on_disk_do_not_count_as_open(tmp_path, monkeypatch):
    monkeypatch.setattr("groundling.studio.open_projects.MOST", 2)
    for _ in range(2):  # a class each week
        projects = OpenProjects(tmp_path, {"kind": "lesson"})
        try:
            projects.join("Anna")
            projects.join("Ben")
            with pytest.raises(BusyError, match="limit of 2 open projects"):
                projects.join("Cleo")
        finally:
            projects.close()
    assert len(list((tmp_path / "projects").iterdir())) == 4
    assert MOST >= 40  # a class


def test_projects_pupils_come_back_to_their_robots(tmp_path):
    projects = OpenProjects(tmp_path, {"kind": "lesson"})
    anna = projects.join("Anna")
    projects.close()
    projects = OpenProjects(tmp_path, None)
    try:
        assert projects.pupils == {}
        assert projects.summaries()[1].pupil == "Anna"
        projects.get(anna)  # her browser remembers it
        assert projects.pupils == {anna: "Anna"}
    finally:
        projects.close()


@pytest.mark.parametrize("kind", ["scene", "world"])
def test_projects_pupils_have_the_world_of_their_teacher(tmp_path, kind):
    path = SceneWorld(YARD).save(tmp_path / "yard.json")
    source = {"kind": "scene", "scene": YARD} if kind == "scene" else {"world": str(path)}
    projects = OpenProjects(tmp_path / "project", {"kind": kind, **source})
    try:
        robot = projects.get(projects.join("Anna"))
        assert robot.setting.title == "Yard"
        assert robot.store.counts() == (0, 0)  # untrained
    finally:
        projects.close()


def test_project_may_learn_in_two_threads_at_once(tmp_path):
    project = Project(tmp_path, {"kind": "lesson"})
    try:
        taught(project, "zum Tisch", "go to the table")
        project.learn_now()
        for number in range(3):
            taught(project, f"Regal {number}", "go to the shelf")
            threads = [threading.Thread(target=project.learn_now) for _ in range(2)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        scene = project.setting.scenes[0]
        assert project.follow(scene, scene.start, "zum Tisch").actions == ("go to the table",)
        assert not project.is_behind
    finally:
        project.close()


def test_projects_go_home_as_one_file_with_world_and_name(tmp_path):
    school = OpenProjects(tmp_path / "school", {"kind": "scene", "scene": YARD})
    pupil = school.get(school.join("Mia"))
    taught(pupil, "hopp zum Schuppen", "go to the shed")
    data = "".join(export_lines(pupil)).encode()
    school.close()
    file = tmp_path / "Mia.jsonl"
    file.write_bytes(data)
    assert read_exported(str(file)) == (read_brought(data), data)
    assert read_brought(data).pupil == "Mia"
    home = OpenProjects(tmp_path / "home", {"kind": "lesson"})
    try:
        with pytest.raises(DemonstrationError) as told:
            import_lines(home.get("main"), data)
        assert str(told.value) == (
            "This file belongs to the world “Yard”, and this project is the world “Kitchen”. "
            "Nothing was imported. The file contains its own world: open it with “Open a file” on "
            "the Worlds page."
        )
        bare = b"\n".join(data.split(b"\n")[1:])
        with pytest.raises(DemonstrationError, match="open that world first, and import"):
            import_lines(home.get("main"), bare)
        with pytest.raises(ProjectError, match="must start with the world"):
            home.open_file(bare)
        opened = home.get(home.open_file(data))
        assert (opened.setting.title, opened.store.get("pupil")) == ("Yard", "Mia")
        assert [each.text for each in opened.store.records()] == ["hopp zum Schuppen"]
        before = {each.project for each in home.summaries()}
        with pytest.raises(DemonstrationError, match="Line 2: A record must have `actions`"):
            home.open_file(data.split(b"\n")[0] + b'\n{"start": 1}\n')
        assert {each.project for each in home.summaries()} == before
        assert len([*(tmp_path / "home" / "projects").iterdir()]) == len(before) - 1
        empty = home.get(home.open_file(data.split(b"\n")[0]))
        assert empty.store.counts()[0] == 0
        unsafe = data.replace(b'"kind": "scene"', b'"kind": "world", "world": "evil.py:World"')
        with pytest.raises(DemonstrationError, match="gallery or the editor"):
            home.open_file(unsafe)
    finally:
        home.close()


def test_projects_tell_two_pupils_with_one_name_apart(tmp_path):
    projects = OpenProjects(tmp_path, {"kind": "lesson"})
    try:
        for name in ("Mia", "mia", "Mia", "Ben"):
            projects.join(name)
        assert list(projects.pupils.values()) == ["Mia", "mia 2", "Mia 3", "Ben"]
    finally:
        projects.close()


def test_projects_count_all_examples_also_those_held_out(tmp_path):
    projects = OpenProjects(tmp_path, {"kind": "gallery", "name": "kitchen"})
    try:
        assert projects.summaries()[0].known == len(projects.get("main").store.records())
    finally:
        projects.close()
