"""The store: history, undo, and nothing lost."""

import sqlite3
import subprocess
import sys
import textwrap

import pytest

from groundling.errors import DemonstrationError, ProjectError
from groundling.studio.store import FILE, Record, Store


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "project")
    yield made
    made.close()


def texts(store):
    return [each.text for each in store.records()]


def record(text):
    return Record("hall", text, [1, 2], ("go", {"to": 3}))


def test_store_keeps_what_it_was_given(store):
    [added] = store.add([record("turn left")], "teaching")
    assert store.record(added.id) == added
    assert added.start == [1, 2]
    assert added.actions == ("go", {"to": 3})


def test_store_undo_takes_back_adding_editing_and_deleting(store):
    [one] = store.add([record("one")], "teaching one")
    store.change(one.id, "editing one", text="uno", weight=2.0)
    store.remove([one.id], "deleting uno")
    assert texts(store) == []
    assert store.undo().what == "deleting uno"
    assert store.record(one.id).text == "uno"
    assert store.undo().what == "editing one"
    assert store.record(one.id) == one
    assert store.undo().what == "teaching one"
    assert texts(store) == []
    assert store.undo() is None
    assert store.revision == 6  # each change and each undoing is one


def test_store_undo_takes_an_import_back_as_a_whole(store):
    store.add([record("one"), record("two")], "importing")
    store.undo()
    assert texts(store) == []


def test_store_deleting_what_is_gone_is_told(store):
    with pytest.raises(DemonstrationError, match="There is no demonstration 7"):
        store.remove([7], "deleting")
    assert store.revision == 0


def test_store_two_stores_share_one_file(store, tmp_path):
    other = Store(tmp_path / "project")
    other.add([record("from the other")], "teaching")
    store.add([record("from this one")], "teaching")
    assert texts(store) == texts(other) == ["from the other", "from this one"]
    assert store.revision == other.revision == 2
    other.close()


def test_store_survives_a_kill(tmp_path):
    code = f"""
    import os, signal, pathlib
    from groundling.studio.store import Record, Store
    store = Store(pathlib.Path({str(tmp_path)!r}))
    for number in range(5):
        store.add([Record("hall", f"sentence {{number}}", 0, ("go",))], "teaching")
    os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False, timeout=120)
    assert done.returncode == -9
    store = Store(tmp_path)
    assert len(store.records()) == 5
    store.undo()
    assert len(store.records()) == 4
    store.close()


def test_store_of_a_newer_version_is_refused(tmp_path):
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as file:
        file.execute("PRAGMA user_version=99")
    file.close()
    with pytest.raises(ProjectError, match="created by a newer version"):
        Store(tmp_path)


def test_store_that_is_no_database_is_told(tmp_path):
    (tmp_path / FILE).write_text("this is no database at all, but long enough to be read as one")
    with pytest.raises(ProjectError, match=r"project\.sqlite is damaged"):
        Store(tmp_path)


def test_store_on_a_full_disk_changes_nothing(store):
    store.add([record("kept")], "teaching")
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(ProjectError, match="disk is full; nothing was changed"):
        store.add([record("x" * 200_000)], "teaching")
    assert texts(store) == ["kept"]
    assert store.revision == 1
    store._db.execute("PRAGMA max_page_count=1000000")
    store.add([record("again")], "teaching")
    assert texts(store) == ["kept", "again"]


def test_store_in_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ProjectError, match="another folder with --project"):
        Store(tmp_path / "file" / "project")


def test_store_keeps_answers_and_models(store):
    store.answered("hall", "turn left", 0, ["left"], 0.75, True, 3)
    store.learnt(3, 10, 0.5, 1.25)
    [answer], [model] = store.answers(), store.models()
    assert (answer["text"], answer["confidence"], answer["revision"]) == ("turn left", 0.75, 3)
    assert (model["known"], model["accuracy"], model["seconds"]) == (10, 0.5, 1.25)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 300])
def test_store_names_a_folder_that_cannot_be(tmp_path, name):
    with pytest.raises(ProjectError, match=r"not a valid name|too long"):
        Store(tmp_path / name)
