"""Evaluate and tune: on the generated sample, made tiny."""

import json

import pytest
from typer.testing import CliRunner

import groundling
from groundling.cli.main import app
from groundling.tasks import benchmark, task_registry
from groundling.tasks.puzzles import task as puzzles

runner = CliRunner()
METRICS = {
    "mazes": {"macro", "micro", "Maze1", "Maze2", "Maze3"},
    "maps": {"precision", "recall", "f1"},
    "puzzles": {"match", "success"},
}


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    monkeypatch.setattr(benchmark, "SAMPLE", 0.03)
    monkeypatch.setattr(puzzles, "ORDERS", 2)  # of the actions; twenty say no more here
    monkeypatch.delenv("GROUNDLING_CORPORA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "no-corpora"))


def run(*arguments, code=0):
    result = runner.invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.mark.parametrize("task", METRICS)
def test_evaluate_writes_the_report(task, tmp_path):
    file = tmp_path / "report.json"
    result = run("evaluate", task, "--quick", "--jobs", "1", "--json", file)
    assert "generated sample" in result.output
    report = json.loads(file.read_text())
    assert report["task"] == task
    assert report["preset"] == "best"
    assert report["version"] == groundling.__version__
    assert report["condition"].startswith("generated sample; ")
    assert report["seconds"] > 0
    assert report["date"]
    [row] = report["rows"]
    assert set(row) >= {"name", "metrics", "interval", "seeds", "published"}
    assert row["name"] == "full"
    assert set(row["metrics"]) >= METRICS[task]
    assert all(0 <= row["metrics"][name] <= 1 for name in METRICS[task])
    assert row["published"] == {}  # those are about the real corpora
    assert set(row["seconds"]) == {"train", "follow"}


def test_evaluate_gives_json_on_a_clean_output():
    rows = ("no planning", "full")
    named = [part for row in rows for part in ("--row", row)]
    result = run(
        "evaluate", "puzzles", "-p", "paper", "--quick", "-j", "1", "--json", "-", *named
    )  # fmt: skip
    assert [row["name"] for row in json.loads(result.stdout)["rows"]] == list(rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map"], "Did you mean 'maps'?"),
        (["maps", "--preset", "pepar"], "Did you mean 'paper'?"),
        (["maps", "--row", "no plan"], "has no row 'no plan'"),
        (["maps", "--row", "full", "--ablations"], "--ablations must not be combined with --row"),
        (["maps", "--json", "no/such/folder/file.json"], "does not exist"),
        (["maps", "--json", "."], "must be a writable file"),
    ],
)
def test_evaluate_refuses_in_one_sentence(arguments, message):
    result = run("evaluate", *arguments, code=1)
    assert message in result.output


def test_evaluate_follows_whole_routes(tmp_path):
    file = tmp_path / "routes.json"
    row = "single sentences: at once"
    run("evaluate", "mazes", "-p", "routes", "--row", row, "-j", "1", "--json", file)
    report = json.loads(file.read_text())
    assert "whole routes" in report["condition"]
    assert [each["name"] for each in report["rows"]] == [row]
    assert set(report["rows"][0]["metrics"]) >= METRICS["mazes"]


def test_evaluate_knows_all_rows_by_the_same_words():
    for task in METRICS:
        presets = task_registry.get_task(task).presets
        assert presets.variants_of("paper")[:2] == ("full", "no planning")
        assert presets.variants_of("best")[0] == "full"


def test_tune_tries_settings_inside_the_training_data(tmp_path):
    file = tmp_path / "tuned.json"
    run(
        "tune", "maps", "--setting", "learning.iterations=1,2", "-s", "search.beam=5", "-j", "1",
        "--json", file,
    )  # fmt: skip
    found = json.loads(file.read_text())
    assert found["metric"] == "f1"
    assert [each["settings"] for each in found["tried"]] == [
        {"learning.iterations": 1, "search.beam": 5},
        {"learning.iterations": 2, "search.beam": 5},
    ]
    assert set(found["tried"][0]["parts"]) == {"0", "1", "2"}  # map 3 is for test
    assert found["best"] in [each["settings"] for each in found["tried"]]


def test_tune_compares_rows_on_every_pair_of_mazes(tmp_path):
    file = tmp_path / "tuned.json"
    run("tune", "mazes", "--row", "tree", "--row", "bag", "-s", "learning.iterations=2", "-j", "1",
        "--json", file)  # fmt: skip
    found = json.loads(file.read_text())
    assert [each["settings"] for each in found["tried"]] == [
        {"row": "tree", "learning.iterations": 2},
        {"row": "bag", "learning.iterations": 2},
    ]
    parts = found["tried"][0]["parts"]
    assert len(parts) == 6
    assert "Maze1 → Maze3" in parts


def test_tune_refuses_settings_that_do_not_exist():
    assert "Did you mean 'tree'" in run("tune", "mazes", "--row", "tre", code=1).output
    assert "Did you mean" in run("tune", "maps", "-s", "learning.iteration=1", code=1).output
    assert "such as learning.l2=1,2,4" in run("tune", "maps", "-s", "l2", code=1).output
