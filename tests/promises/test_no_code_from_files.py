"""Nothing that is read from a file is ever run."""

import ast
import io
import json
import pickle
import shutil
import sqlite3
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

import groundling
from groundling import Features, Follower
from groundling.data import load_world
from groundling.errors import GroundlingError, ProjectError, SettingError, WorldError
from groundling.studio.exchange import import_lines
from groundling.studio.open_projects import OpenProjects
from groundling.studio.project import Project
from groundling.studio.store import FILE, Record, Store
from tests.modelfiles import FILES, file_of, refused, resign
from tests.promises.making import demonstrations, make_follower

SOURCE = Path(groundling.__file__).parent


class Trap:
    """What makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.fixture
def folder(followers, tmp_path):
    return followers["plans"].save(tmp_path / "model")


@pytest.mark.parametrize("name", FILES)
def test_no_code_from_files_pickles_are_refused(folder, name, tmp_path):
    mark = tmp_path / "it ran"
    plain = pickle.dumps(Trap(mark))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data.pkl", plain)
    for data in (plain, packed.getvalue(), b"\x93NUMPY\x01\x00" + plain):
        file_of(folder, name).write_bytes(data)
        refused(folder)
    assert not mark.exists()


def test_no_code_from_files_pickles_with_fitting_sums_are_refused(folder, tmp_path):
    mark = tmp_path / "it ran"
    resign(folder, weights=pickle.dumps(Trap(mark)))
    refused(folder)
    assert not mark.exists()


def test_no_code_from_files_pickles_beside_a_model_are_not_looked_at(folder, tmp_path):
    for name in ("model.pkl", "weights.pt", "__init__.py", "tables.py"):
        (folder / name).write_bytes(pickle.dumps(Trap(tmp_path / "it ran")))
    Follower.load(folder)
    assert not (tmp_path / "it ran").exists()


def join_own(word, node):
    return [("own", 1.0)]


def test_no_code_from_files_names_of_functions_are_not_looked_up(tmp_path):
    features = Features(joins=("conjunction", join_own))
    folder = make_follower(features=features).fit(demonstrations()).save(tmp_path / "own")
    with pytest.raises(SettingError, match="Pass it to"):
        Follower.load(folder)

    def change(manifest, tables, arrays):
        tables["members"][0]["features"]["joins"] = ["conjunction", "os.system"]

    resign(folder, change)
    with pytest.raises(groundling.GroundlingError):
        Follower.load(folder)


FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "joblib.load",
    "torch.load", "marshal.loads", "yaml.load", "os.system", "os.popen",
    "shelve.open",
}  # fmt: skip


def test_no_code_from_files_nothing_in_the_source_could_run_it():
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not called & FORBIDDEN, path
        for node in ast.walk(tree):
            for word in node.keywords if isinstance(node, ast.Call) else ():
                assert word.arg != "allow_pickle" or ast.unparse(word.value) == "False", path


# ---- projects of the studio: whatever of them names a program, nothing is run ---------------


def stored(folder, source):
    """Make a project whose file says that it was made from something."""
    store = Store(folder)
    store.begin(source, [])
    store.close()


def traps(mark, folder):
    """Return names of worlds that leave a mark when they are imported or called."""
    file = folder / "trap_world.py"
    file.write_text(
        f"open({str(mark)!r}, 'w').close()\n"
        "class World:\n"
        "    start = 0\n"
        "    def actions(self, state): return ()\n"
        "    def step(self, state, action): return state\n"
        "    def ground(self, state, action, after): ...\n"
    )
    return (f"{file}:World", f'subprocess:getoutput{{"cmd": "touch \'{mark}\'"}}',
            f'subprocess:Popen{{"args": ["touch", "{mark}"]}}', f'builtins:open{{"file": "{mark}", '
            '"mode": "w"}')  # fmt: skip


def attack_source(trap, folder, mark):
    """The project's file names the world that it was made from."""
    stored(folder, {"kind": "world", "world": trap})
    Project(folder)


def attack_source_of_a_model(trap, folder, mark):
    """The project's file names a model and the world that it acts in."""
    make_follower().fit(demonstrations()).save(folder / "model")
    stored(folder, {"kind": "model", "model": str(folder / "model"), "world": trap})
    Project(folder)


def attack_lesson(trap, folder, mark):
    """The file of a lesson inside a project names a world."""
    stored(folder / "lessons" / "0a1b2c3d4e5f", {"kind": "world", "world": trap})
    projects = OpenProjects(folder, {"kind": "lesson"})
    try:
        projects.get("0a1b2c3d4e5f")
    finally:
        projects.close()


def attack_records(trap, folder, mark):
    """Scenes, states and actions of a project's demonstrations name programs."""
    with_records(folder, trap)
    project = Project(folder)
    with suppress(GroundlingError):
        project.learn_now()
    project.close()


def with_records(folder, trap):
    Project(folder, {"kind": "lesson"}).close()
    store = Store(folder)
    loaded = {"subprocess:getoutput": {"cmd": trap}}
    store.add(
        [Record(trap, "go", loaded, (trap,)), Record("Kitchen 1", "go", loaded, (loaded,))], "x"
    )
    store.close()


def attack_saved_model(trap, folder, mark):
    """A model inside the project is a pickle."""
    project = Project(folder, {"kind": "lesson"})
    start = project.write_state("Kitchen 1", project.setting.scenes[0].start)
    project.store.add([Record("Kitchen 1", "zum Tisch", start, ("go to the table",))], "x")
    project.learn_now()
    project.close()
    [model] = (folder / "models").iterdir()
    for file in list(model.iterdir()):
        file.write_bytes(pickle.dumps(Trap(mark)))
    shutil.copytree(model, folder / "models" / "7")
    Project(folder).close()


def attack_import(trap, folder, mark):
    """Lines that are imported name worlds, classes and programs."""
    project = Project(folder, {"kind": "lesson"})
    line = {"text": "go", "world": trap, "start": {"subprocess:getoutput": {"cmd": trap}},
            "actions": [trap], "arguments": {"cmd": trap}}  # fmt: skip
    try:
        for each in (line, {**line, "world": "Kitchen 1"}, {**line, "world": {"name": trap}}):
            with pytest.raises(GroundlingError):
                import_lines(project, json.dumps(each).encode())
    finally:
        project.close()


PROJECT_FORMATS = {
    "project.sqlite: source": (attack_source, True),
    "project.sqlite: source of a model": (attack_source_of_a_model, True),
    "lessons/*/project.sqlite": (attack_lesson, True),
    "project.sqlite: demonstrations": (attack_records, False),
    "models/*": (attack_saved_model, False),
    "imported JSON Lines": (attack_import, False),
}


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("name", PROJECT_FORMATS)
def test_no_code_from_files_of_projects(name, number, tmp_path):
    attack, refuses = PROJECT_FORMATS[name]
    mark = tmp_path / "it ran"
    trap = traps(mark, tmp_path)[number]
    if refuses:
        with pytest.raises(ProjectError, match=r"another world|pass it on the command line"):
            attack(trap, tmp_path / "project", mark)
    else:
        attack(trap, tmp_path / "project", mark)
    assert not mark.exists()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_no_code_from_files_what_is_no_environment_is_not_called(number, tmp_path):
    mark = tmp_path / "it ran"
    with pytest.raises(WorldError, match="must create an environment"):
        load_world(traps(mark, tmp_path)[number])
    assert not mark.exists()


def test_no_code_from_files_a_source_that_is_no_source_is_told(tmp_path):
    for number, source in enumerate(([], "demo", {"kind": ["lesson"]}, {"kind": "world"}, 3)):
        stored(tmp_path / str(number), source)
        with pytest.raises(GroundlingError):
            Project(tmp_path / str(number), confirm=lambda source: True)
    Project(tmp_path / "p", {"kind": "lesson"}).close()
    with sqlite3.connect(tmp_path / "p" / FILE) as file:
        file.execute("UPDATE meta SET value='{' WHERE key='source'")
    file.close()
    with pytest.raises(ProjectError, match="damaged"):
        Project(tmp_path / "p")
