"""A world of one's own on the command line: begun, examined, and told what is wrong with it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import groundling
from groundling.cli.main import app

SOURCE = Path(groundling.__file__).parents[1]
runner = CliRunner()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name, each in list(sys.modules.items()):
        if str(getattr(each, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def kitchen(folder):
    assert runner.invoke(app, ["new", "kitchen"]).exit_code == 0
    return folder


def checked(*arguments):
    result = runner.invoke(app, ["check", *arguments])
    assert "Traceback" not in result.output
    return result.exit_code, result.output


def test_new_writes_what_passes_its_own_test(folder):
    result = runner.invoke(app, ["new", "my_world.py", "--out", "deep/er"])
    assert result.exit_code == 0, result.output
    assert "groundling check deep/er/my_world.py:MyWorld deep/er/demonstrations.jsonl" in (
        result.output
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"],
        cwd=folder / "deep" / "er", capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_new_is_right_as_its_check_says(kitchen):
    code, said = checked("kitchen.py:Kitchen", "demonstrations.jsonl")
    assert code == 0, said
    assert "No problems found in 24 states" in said
    assert 'Initial state: {"State": {"room": "kitchen", "lit": {"$set": []}}}' in said
    assert "10 demonstrations are valid: 1 to 2 actions." in said


def test_new_overwrites_nothing(kitchen):
    (kitchen / "kitchen.py").write_text("mine")
    result = runner.invoke(app, ["new", "kitchen"])
    assert result.exit_code == 1
    assert "kitchen.py already exists" in result.output
    assert (kitchen / "kitchen.py").read_text() == "mine"
    other = runner.invoke(app, ["new", "cellar"])  # its demonstrations would replace the others
    assert "demonstrations.jsonl already exists" in other.output
    assert not (kitchen / "cellar.py").exists()


@pytest.mark.parametrize("name", ["my world", "class", "json", "groundling", "../up", "küche", "_"])
def test_new_refuses_names_that_python_cannot_import(folder, name):
    result = runner.invoke(app, ["new", name])
    assert result.exit_code == 1
    assert "must be a Python identifier" in result.output
    assert list(folder.iterdir()) == []


def test_new_finds_another_name_for_a_class_that_is_taken(folder):
    assert runner.invoke(app, ["new", "state"]).exit_code == 0
    assert checked("state.py:StateWorld", "demonstrations.jsonl")[0] == 0


def test_check_takes_arguments_and_a_start(kitchen):
    code, said = checked('kitchen.py:Kitchen{"rooms": ["attic"]}')
    assert code == 0, said
    assert '"room": "attic"' in said
    code, said = checked("kitchen.py:Kitchen", "--start", '{"State": {"room": "hall"}}')
    assert code == 0, said
    assert 'Actions there: ["go", "kitchen"], ["go", "cellar"], ["switch on", "hall"]' in said
    code, said = checked("kitchen.py:Kitchen", "--start", "hall")
    assert code == 1
    assert "Pass the initial state as JSON" in said


def test_check_lists_demonstrations_that_do_not_fit(kitchen):
    with open(kitchen / "demonstrations.jsonl", "a") as file:
        record = {"text": "go", "start": {"State": {"room": "hall"}}, "actions": [["go", "hall"]]}
        file.write(json.dumps(record) + "\n")
        file.write("{}\n" * 25)
    code, said = checked("kitchen.py:Kitchen", "demonstrations.jsonl")
    assert code == 1
    assert "10 demonstrations are valid" in said
    assert "26 are unusable:" in said
    assert "- demonstrations.jsonl:12: The plan: action 1, ('go', 'hall'), is impossible" in said
    assert "- demonstrations.jsonl:13: A record must have a `start`" in said
    assert "- and 6 more" in said


def test_check_says_so_if_no_demonstration_fits(kitchen):
    (kitchen / "bad.jsonl").write_text("{}\n{}\n")
    code, said = checked("kitchen.py:Kitchen", "bad.jsonl")
    assert code == 1
    assert "2 are unusable:" in said


def test_check_tells_what_a_world_does_wrong(folder):
    (folder / "odd.py").write_text(
        "class Odd:\n"
        "    def actions(self, state): return ['go']\n"
        "    def step(self, state, action): return [1]\n"
        "    def ground(self, state, action, after): return None\n"
        "    def initial_state(self): return 0\n"
    )
    code, said = checked("odd.py:Odd")
    assert code == 1
    assert "Odd must follow the Environment protocol:\n- step(0, 'go') returned [1]" in said


def test_check_tells_that_states_have_no_json(folder):
    (folder / "plain.py").write_text(
        "from groundling import GroundingGraph\n"
        "class Thing:\n"
        "    def __eq__(self, other): return isinstance(other, Thing)\n"
        "    def __hash__(self): return 1\n"
        "class Plain:\n"
        "    def actions(self, state): return ['go']\n"
        "    def step(self, state, action): return state\n"
        "    def ground(self, state, action, after): return GroundingGraph({'a': 'b'})\n"
        "    def initial_state(self): return Thing()\n"
    )
    code, said = checked("plain.py:Plain")
    assert code == 1
    assert "a Thing" in said
    assert "state_to_json and state_from_json" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kichen.py:Kitchen"], "There is no file kichen.py. Did you mean 'kitchen.py'"),
        (["kitchen.py:Kichen"], "kitchen.py does not define 'Kichen'. Did you mean 'Kitchen'?"),
        (["kitchen.py:Kitchen", "shown.jsonl"], "There is no file shown.jsonl."),
        (["mazes"], "No installed package provides a world 'mazes'."),
    ],
)
def test_check_says_in_one_sentence_what_is_missing(kitchen, arguments, said):
    code, output = checked(*arguments)
    assert code == 1
    assert output.startswith("Error: ")
    assert said in output


def test_check_says_so_if_there_is_no_demonstration(kitchen):
    (kitchen / "empty.jsonl").write_text("", encoding="utf-8")
    code, said = checked("kitchen.py:Kitchen", "empty.jsonl")
    assert (code, "got none in empty.jsonl." in " ".join(said.split())) == (
        1,
        True,
    )
