"""Every edit of a demonstration reaches the model; a stale model is noticed at open."""

import json
import shutil
import sqlite3

import numpy as np
import pytest

from groundling.follower import Follower
from groundling.studio.kitchen import Kitchen
from groundling.studio.project import Project
from groundling.studio.store import _INDEXES, FILE, Record

SCENE = "Kitchen 1"
SHOWN = (
    ("zum Tisch", "go to the table"), ("nimm die Tasse", "take the blue cup"),
    ("zum Regal", "go to the shelf"),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A project that has learnt three demonstrations."""
    project = Project(tmp_path / "project", {"kind": "lesson"})
    start = project.write_state(SCENE, Kitchen.start)
    project.store.add([Record(SCENE, text, start, (action,)) for text, action in SHOWN], "showing")
    project.learn_now()
    assert told(project) == ("go to the table",)
    project.close()
    return tmp_path / "project"


def told(project, text="zum Tisch"):
    scene = project.setting.scenes[0]
    return project.follow(scene, scene.start, text).actions


def moved(project):
    return project.write_state(SCENE, Kitchen.start._replace(at="shelf"))


EDITS = {
    "text": lambda project: {"text": "zum großen Tisch"},
    "start": lambda project: {"start": moved(project)},
    "actions": lambda project: {"actions": ("go to the shelf",)},
    "weight": lambda project: {"weight": 7.0},
    "scene": lambda project: {"scene": "Kitchen 2"},
}


@pytest.mark.parametrize("field", EDITS)
@pytest.mark.parametrize("reopened", [False, True])
def test_model_is_what_the_page_says_after_every_edit(folder, field, reopened):
    project = Project(folder)
    before = project.fingerprint
    project.store.change(1, "editing", **EDITS[field](project))
    assert project.is_behind
    if reopened:
        project.close()
        project = Project(folder)
        assert project.is_behind
    project.learn_now()
    assert not project.is_behind
    assert project.fingerprint != before
    # The same as one that never knew it otherwise.
    alone = Follower().fit([project.demonstration(each) for each in project.store.records()])
    for text in ("zum Tisch", "nimm die Tasse", "Regal"):
        scene = project.setting.scenes[0]
        one, two = (
            each.follow(text, scene.environment, scene.start) for each in (project.follower, alone)
        )
        assert one.actions == two.actions
        assert one.confidence == pytest.approx(two.confidence, abs=0.02)
    project.close()


def test_model_is_what_the_page_says_after_an_edit_of_a_running_follower(folder):
    project = Project(folder)
    project.store.change(2, "editing", weight=2.0)
    project.learn_now()  # from here on it learns only what is new
    project.store.change(1, "editing", actions=("go to the shelf",))
    project.learn_now()
    assert told(project) == ("go to the shelf",)
    before = np.array(project.follower.theta_)
    project.store.change(1, "editing", weight=30.0)
    project.learn_now()
    assert not np.array_equal(before, project.follower.theta_)
    assert [each.weight for each in project.follower.demonstrations_ if each.weight > 2] == [30.0]
    project.store.undo()
    project.store.undo()
    project.learn_now()
    assert told(project) == ("go to the table",)
    project.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE demonstrations SET actions='[\"go to the shelf\"]' WHERE id=1",
        "UPDATE demonstrations SET weight=9 WHERE id=1",
        "UPDATE demonstrations SET text='zum Stuhl' WHERE id=1",
        "UPDATE demonstrations SET apart=1 WHERE id=1",
        "DELETE FROM demonstrations WHERE id=1",
        "UPDATE models SET fingerprint='other'",
    ],
)
def test_model_that_is_stale_is_noticed_at_open(folder, change):
    with sqlite3.connect(folder / FILE) as file:
        file.execute(change)  # the revision stays as it was
    file.close()
    project = Project(folder)
    assert project.is_behind
    project.learn_now()
    assert not project.is_behind
    project.close()
    again = Project(folder)
    assert not again.is_behind
    again.close()


def test_model_of_somebody_else_in_the_folder_is_noticed(folder, tmp_path):
    project = Project(tmp_path / "another", {"kind": "lesson"})
    start = project.write_state(SCENE, Kitchen.start)
    project.store.add([Record(SCENE, "zum Tisch", start, ("go to the shelf",))], "showing")
    project.learn_now()
    project.close()
    [mine], [other] = ((each / "models").iterdir() for each in (folder, tmp_path / "another"))
    shutil.rmtree(mine)
    shutil.copytree(other, mine)
    project = Project(folder)
    assert project.is_behind
    project.learn_now()
    assert told(project) == ("go to the table",)
    project.close()


def test_model_taken_back_to_what_it_was_is_not_learnt_again(folder):
    project = Project(folder)
    project.store.change(1, "editing", weight=3.0)
    project.store.undo()
    project.close()
    project = Project(folder)
    assert not project.is_behind
    project.close()


def test_model_of_a_project_of_the_first_format_is_learnt_again(folder):
    with sqlite3.connect(folder / FILE) as file:
        rows = file.execute("SELECT at, revision, folder, known, accuracy, seconds FROM models")
        kept = rows.fetchall()
        file.execute("DROP TABLE models")
        file.execute(
            "CREATE TABLE models (id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, "
            "revision INTEGER NOT NULL, folder TEXT NOT NULL, known INTEGER NOT NULL, "
            "accuracy REAL, seconds REAL NOT NULL)"
        )
        file.executemany("INSERT INTO models VALUES (NULL, ?, ?, ?, ?, ?, ?)", kept)
        for name in _INDEXES:
            file.execute(f"DROP INDEX {name}")
        file.execute("PRAGMA user_version=1")
    file.close()
    project = Project(folder)
    assert project.is_behind
    assert told(project) == ("go to the table",)  # it answers meanwhile
    project.learn_now()
    assert not project.is_behind
    assert json.loads(json.dumps(project.store.models()))[-1]["known"] == 3
    project.close()
