"""Tasks of other packages: found by their entry points, named when they are broken."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundling.cli.main import app
from groundling.errors import PluginError, SettingError
from groundling.modelfolder import read_note
from groundling.tasks import task_registry

runner = CliRunner()
MODULE = Path(__file__).with_name("lamp_task.py").read_text(encoding="utf-8")
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
OURS = tuple(sorted(PROJECT["project"]["entry-points"][task_registry.GROUP]))


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what puts a distribution on the path, as an installer would."""

    def install(entries, package="lamp-tasks", module=MODULE):
        folder = tmp_path / package
        note = folder / f"{package.replace('-', '_')}-1.2.dist-info"
        note.mkdir(parents=True)
        (note / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (note / "entry_points.txt").write_text(f"[{task_registry.GROUP}]\n{entries}\n")
        (folder / "lamp_task.py").write_text(module, encoding="utf-8")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, "lamp_task", raising=False)
        return folder

    yield install
    sys.modules.pop("lamp_task", None)


@pytest.fixture
def lamps(install, monkeypatch):
    monkeypatch.delenv("GROUNDLING_CORPORA", raising=False)
    return install("lamps = lamp_task:LampTask")


def run(*arguments, code=0):
    result = runner.invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def test_registry_knows_our_tasks_as_any_others():
    assert task_registry.task_names() == OURS
    assert [task_registry.get_task(name).name for name in OURS] == list(OURS)
    assert all(task_registry.task_package(name).startswith("groundling ") for name in OURS)


def test_registry_lists_names_without_importing_tasks(install):
    install("lamps = lamp_task:LampTask", module="raise RuntimeError('imported')")
    code = (
        "import sys\nfrom groundling.tasks.task_registry import task_names\nprint(task_names())\n"
        "print([m for m in sys.modules if m.startswith('groundling.tasks.m') or m == 'lamp_task'])"
    )
    code = f"import sys; sys.path[:] = {sys.path!r}\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(tuple(sorted(("lamps", *OURS)))), "[]"]


def test_registry_finds_a_task_of_another_package(lamps):
    assert task_registry.task_names() == tuple(sorted(("lamps", *OURS)))
    assert task_registry.get_task("lamps").metrics == ("right",)
    assert task_registry.task_package("lamps") == "lamp-tasks 1.2"


def test_registry_names_what_may_have_been_meant(lamps):
    with pytest.raises(SettingError, match="Did you mean 'lamps'"):
        task_registry.get_task("lamp")


@pytest.mark.parametrize(
    ("entry", "module", "why"),
    [
        ("lamp_task:LampTask", "import no_such_module", "ModuleNotFoundError: No module named"),
        ("lamp_task:LampTask", "raise SystemExit('bye')", "SystemExit: bye"),
        ("lamp_task:LampTask", "def (", "SyntaxError"),
        ("lamp_task:Nothing", "", "has no attribute 'Nothing'"),
        (
            "lamp_task:dict",
            "dict = dict",
            "must be a groundling.tasks.benchmark.Task; got lamp_task:dict",
        ),
        (
            "lamp_task:Half",
            "from groundling.tasks.benchmark import Task\nclass Half(Task): pass",
            "abstract",
        ),
        (
            "groundling.tasks.puzzles.task:PuzzleTask",
            "",
            "as its entry point; got 'puzzles'",
        ),
    ],
)
def test_registry_names_the_package_of_a_broken_task(install, entry, module, why):
    install(f"lamps = {entry}", module=module)
    assert task_registry.get_task("mazes").name == "mazes"  # others go on working
    with pytest.raises(PluginError) as found:
        task_registry.get_task("lamps")
    message = str(found.value)
    assert message.startswith("The task 'lamps' of the package lamp-tasks 1.2 ")
    assert why in message
    assert message.endswith("Fix, update or uninstall lamp-tasks.")
    shown = run("evaluate", "lamps", code=1).output
    assert len(shown.splitlines()) == 1
    assert "lamp-tasks 1.2" in shown


def test_registry_refuses_two_packages_with_one_name(install):
    install("mazes = lamp_task:LampTask")
    with pytest.raises(PluginError, match="Uninstall all but one") as found:
        task_registry.get_task("mazes")
    assert "lamp-tasks 1.2" in str(found.value)
    assert "groundling 0" in str(found.value)


def test_registry_says_when_the_installation_is_older_than_the_source(monkeypatch):
    monkeypatch.setattr(task_registry, "_offered", lambda path: {})
    with pytest.raises(PluginError, match="Install Groundling again"):
        task_registry.get_task("mazes")


# ---- a foreign task on the command line ------------------------------------------------------


def test_foreign_task_is_trained_and_followed(lamps, tmp_path):
    trained = run("train", "lamps", "--out", tmp_path / "model")
    assert "Data: generated sample (the task has no corpus)." in trained.output
    assert "from 6 demonstrations" in trained.output
    assert read_note(tmp_path / "model")["task"] == "lamps"
    said = "light the blue lamp"
    found = json.loads(run("follow", tmp_path / "model", said, "--json").stdout)
    assert (found["task"], found["where"]) == ("lamps", "lamp blue")
    assert found["actions"] == ["('light', 'blue')"]
    for name in ("way.svg", "way.png", "way.pdf"):
        run("follow", tmp_path / "model", said, "--picture", tmp_path / name)
    drawn = (tmp_path / "way.svg").read_text(encoding="utf-8")
    assert drawn.count("<circle") == 3
    assert "light the blue lamp" in drawn
    assert (tmp_path / "way.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "way.pdf").read_bytes().startswith(b"%PDF")
    wrong = run("follow", tmp_path / "model", said, "--start", "dim", code=1)
    assert "--start must not be used" in wrong.output
    wrong = run("train", "lamps", "--corpora", tmp_path, "--out", tmp_path / "other", code=1)
    assert "task that has a corpus; lamps has none. Remove --corpora." in wrong.output


def test_foreign_task_is_evaluated_beside_what_was_published(lamps, tmp_path):
    run("evaluate", "lamps", "--ablations", "-j", "1", "--json", tmp_path / "lamps.json")
    report = json.loads((tmp_path / "lamps.json").read_text())
    assert report["condition"] == "generated sample; 3 lamps, 3 folds"
    full, plain = report["rows"]
    assert (full["name"], plain["name"]) == ("full", "no words")
    assert full["metrics"]["right"] > plain["metrics"]["right"]


def test_foreign_task_is_tuned(lamps, tmp_path):
    file = tmp_path / "tuned.json"
    run("tune", "lamps", "-s", "learning.l2=1,1000", "-j", "1", "--json", file)
    tuned = json.loads(file.read_text())
    assert tuned["metric"] == "right"
    assert [set(each["parts"]) for each in tuned["tried"]] == [{"red", "green", "blue"}] * 2
    assert tuned["best"] == {"learning.l2": 1}


def test_foreign_task_is_opened_in_the_studio(lamps, tmp_path):
    pytest.importorskip("fastapi", reason="needs groundling[studio]")
    from groundling.studio.pictures import picture
    from groundling.studio.trained import task_setting

    run("train", "lamps", "--out", tmp_path / "model")
    setting = task_setting(tmp_path / "model", {})
    [scene] = setting.scenes
    assert setting.read(scene, "Light the BLUE lamp") == "light the blue lamp"
    assert picture(scene.environment, [scene.start]).svg.count("<circle") == 3
    assert len(setting.base()) == 6


def test_foreign_task_needs_five_methods(lamps):
    import lamp_task

    from groundling.tasks.benchmark import Task

    own = {name for name in vars(lamp_task.LampTask) if callable(getattr(lamp_task.LampTask, name))}
    assert own == {"load", "prepare", "judge", "read"}  # and Lamps.draw
    assert Task.__abstractmethods__ == {"load", "prepare"}


def test_foreign_task_judges_a_trained_model(lamps, tmp_path):
    run("train", "lamps", "--out", tmp_path / "model", "--leave-out", "blue")
    shown = run("evaluate", "lamps", "--model", tmp_path / "model", "--json", "-").stdout
    assert json.loads(shown)["condition"].endswith("on 2 demonstrations")


def test_foreign_task_runs_in_other_processes(lamps):
    shown = run("evaluate", "lamps", "-j", "2", "--json", "-").stdout
    assert json.loads(shown)["rows"][0]["metrics"]["right"] == 1.0


def test_foreign_model_says_which_package_is_missing(lamps, tmp_path, monkeypatch):
    run("train", "lamps", "--out", tmp_path / "model")
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(lamps)])
    shown = run("follow", tmp_path / "model", "go", code=1).output
    assert "needs the task 'lamps', which is not installed" in shown
