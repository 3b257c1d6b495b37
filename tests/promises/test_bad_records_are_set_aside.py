"""One bad demonstration never stops the rest: it is named, set aside and shown."""

import json
import sqlite3

import pytest

from groundling.studio.app import make_studio
from groundling.studio.kitchen import Kitchen
from groundling.studio.open_projects import OpenProjects
from groundling.studio.project import Project
from groundling.studio.rate_limit import RateLimit
from groundling.studio.store import FILE, Record
from tests.studio.conftest import LocalClient

MAIN, SCENE = "/api/projects/main", "Kitchen 1"
NDJSON = {"content-type": "application/x-ndjson"}


@pytest.fixture
def client(tmp_path):
    projects = OpenProjects(tmp_path / "project", {"kind": "lesson"})
    with LocalClient(make_studio(projects, limit=RateLimit(seconds=120))) as made:
        yield made


def line(**fields):
    shown = {"text": "zum Tisch", "world": SCENE, "actions": ["go to the table"]}
    start = {"KitchenState": {"at": "sink", "holds": "", "lying": {"$set": []}}}
    return json.dumps({**shown, "start": start, **fields}).encode()


BAD = {
    "no actions": {"actions": []},
    "no words": {"text": "..."},
    "a million characters": {"text": "geh " * 250_000},
    "6,000 actions": {"actions": ["go to the table", "go to the sink"] * 3000},
    "an odd state": {"start": {"KitchenState": {"at": 3, "holds": None, "lying": [1]}}},
    "no state": {"start": "nowhere"},
    "an unknown scene": {"world": "Cellar"},
    "an impossible action": {"actions": ["fly"]},
    "an odd action": {"actions": [{"$bytes": "é"}]},
    "an action that is a list": {"actions": [["go", "to"]]},
    "a heavy weight": {"weight": 1e9},
    "a weight of 400 digits": {"weight": 10**400},
    "half of a character": {"text": "zum \ud800"},
    "half of a character in an action": {"actions": ["\udfff"]},
}


@pytest.mark.parametrize("name", BAD)
def test_bad_records_import_takes_the_others(client, name):
    lines = b"\n".join([line(), line(**BAD[name]), line(text="nimm die Tasse")])
    done = client.post(f"{MAIN}/import", content=lines, headers=NDJSON)
    assert done.status_code == 200, done.text
    told = done.json()
    assert told["imported"] == 2
    assert [each["line"] for each in told["refused"]] == [2]
    assert told["refused"][0]["problem"]
    assert "\n" not in told["refused"][0]["problem"]
    assert len(told["refused"][0]["problem"]) < 1000
    alone = client.post(f"{MAIN}/import", content=line(**BAD[name]), headers=NDJSON)
    assert alone.status_code == 422
    assert alone.json()["detail"].startswith("Line 1: ")


@pytest.mark.parametrize("name", BAD)
def test_bad_records_teach_and_edit_refuse_the_same(client, name):
    start = line()
    client.post(f"{MAIN}/import", content=start, headers=NDJSON)
    fields = {key: value for key, value in BAD[name].items() if key != "world"}
    if not fields:
        return
    edited = client.patch(
        f"{MAIN}/demonstrations/1", content=json.dumps(fields),
        headers={"content-type": "application/json"},
    )  # fmt: skip
    assert edited.status_code in (400, 413, 422), edited.text
    shown = {"scene": SCENE, "text": "zum Tisch", "actions": ["go to the table"], **fields}
    taught = client.post(
        f"{MAIN}/teach", content=json.dumps(shown), headers={"content-type": "application/json"}
    )
    assert taught.status_code in (400, 413, 422), taught.text
    assert client.get(MAIN).json()["known"] == 1


CORRUPTIONS = {
    "actions that are no JSON": "UPDATE demonstrations SET actions='[' WHERE id=2",
    "actions that are no list": "UPDATE demonstrations SET actions='3' WHERE id=2",
    "an action that is none": "UPDATE demonstrations SET actions='[\"fly\"]' WHERE id=2",
    "no actions": "UPDATE demonstrations SET actions='[]' WHERE id=2",
    "a start that is no JSON": "UPDATE demonstrations SET start='nowhere' WHERE id=2",
    "an odd start": 'UPDATE demonstrations SET start=\'[1, {"$bytes": "\u00e9"}]\' WHERE id=2',
    "an unknown scene": "UPDATE demonstrations SET scene='Cellar' WHERE id=2",
    "a text of bytes": "UPDATE demonstrations SET text=x'ff00' WHERE id=2",
    "a text that is no UTF-8": "UPDATE demonstrations SET text=CAST(x'ff' AS TEXT) WHERE id=2",
    "an endless text": "UPDATE demonstrations SET text=printf('%.200000c', 'x') WHERE id=2",
    "a weight in words": "UPDATE demonstrations SET weight='much' WHERE id=2",
    "a weight without end": "UPDATE demonstrations SET weight=9e999 WHERE id=2",
    "a weight below zero": "UPDATE demonstrations SET weight=-1 WHERE id=2",
}


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_bad_records_in_the_file_are_set_aside_and_shown(tmp_path, name, apart):
    folder = tmp_path / "project"
    project = Project(folder, {"kind": "lesson"})
    start = project.write_state(SCENE, Kitchen.start)
    shown = [
        Record(SCENE, text, start, (action,), apart=apart and number == 1)
        for number, (text, action) in enumerate(
            [("zum Tisch", "go to the table"), ("Tasse", "take the blue cup"),
             ("zum Regal", "go to the shelf")]
        )
    ]  # fmt: skip
    project.store.add(shown, "showing")
    project.close()
    with sqlite3.connect(folder / FILE) as file:
        file.execute(CORRUPTIONS[name])
    file.close()
    project = Project(folder)
    project.learn_now()
    told = {each.id: project.problem_of(each) for each in project.store.records()}
    if name != "a text that is no UTF-8":  # this is mended where it is read
        assert told[2]
        assert len(told[2]) < 1000
    assert told[1] is None
    assert told[3] is None
    scene = project.setting.scenes[0]
    assert project.follow(scene, scene.start, "zum Regal").actions == ("go to the shelf",)
    project.close()
    with LocalClient(make_studio(OpenProjects(folder, None))) as client:
        about = client.get(MAIN).json()
        assert about["aside"] == int(name != "a text that is no UTF-8")
        rows = client.get(f"{MAIN}/demonstrations").json()["demonstrations"]
        shown = {each["id"]: each["problem"] for each in rows}
        assert shown == told
        assert client.get(f"{MAIN}/export").status_code == 200
        assert client.delete(f"{MAIN}/demonstrations/2").status_code == 200
        assert client.post(f"{MAIN}/undo").status_code == 200


def test_bad_records_that_only_learning_finds_are_set_aside(tmp_path, monkeypatch):
    """Whatever it is that fits no model: the one that fails alone is named."""
    from groundling.models import example

    project = Project(tmp_path / "project", {"kind": "lesson"})
    start = project.write_state(SCENE, Kitchen.start)
    project.store.add(
        [Record(SCENE, text, start, ("go to the table",)) for text in ("zum Tisch", "bäng", "los")],
        "showing",
    )
    real = example.prepare

    def failing(*arguments, **options):
        found = real(*arguments, **options)
        if any("bäng" in str(each.instructions) for each in found):
            raise OverflowError("(34, 'Numerical result out of range')")
        return found

    monkeypatch.setattr("groundling.learning.trainer.prepare", failing)
    project.learn_now()
    told = [project.problem_of(each) for each in project.store.records()]
    assert told[0] is None
    assert told[2] is None
    assert "Numerical result out of range" in told[1]
    scene = project.setting.scenes[0]
    assert project.follow(scene, scene.start, "los").actions == ("go to the table",)
    project.close()
