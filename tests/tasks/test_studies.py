"""Studies: asking, speaking and listening, on a small sample of the mazes."""

import json

import pytest
from typer.testing import CliRunner

from groundling.cli.main import app
from groundling.tasks import benchmark
from tests.tasks.lamp_task import LampTask


def run(tmp_path, *options):
    out = tmp_path / "out.json"
    told = ["evaluate", "mazes", "--sample", "--quick", "-j", "1", "--json", str(out), *options]
    done = CliRunner().invoke(app, told)
    assert done.exit_code == 0, done.output
    return {row["name"]: row["metrics"] for row in json.loads(out.read_text())["rows"]}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(benchmark, "SAMPLE", 0.08)


def test_studies_say_what_asking_brings(tmp_path):
    rows = run(tmp_path, "--dialogue")
    assert {"80 %", "90 %", "80 %, own map", "not calibrated"} <= set(rows)
    assert rows["90 %"]["coverage"] >= rows["80 %"]["coverage"]
    assert rows["90 %"]["alone"] <= rows["80 %"]["alone"]


def test_studies_let_an_independent_follower_hear_the_speaker(tmp_path):
    pytest.importorskip("sacrebleu")
    rows = run(tmp_path, "--speaker")
    assert set(rows) == {"human text", "generated text"}
    assert rows["human text"]["bleu"] == 1.0
    assert 0 < rows["generated text"]["bleu"] < 1
    assert rows["generated text"]["success"] >= rows["human text"]["success"] - 0.2


def test_studies_compare_with_and_without_the_speaker(tmp_path):
    rows = run(tmp_path, "--pragmatic")
    assert set(rows) == {"full", "full, pragmatic"}
    assert abs(rows["full"]["macro"] - rows["full, pragmatic"]["macro"]) < 0.2
    assert rows["full, pragmatic"]["weight"] >= 0


def test_studies_cannot_be_combined(tmp_path):
    done = CliRunner().invoke(app, ["evaluate", "mazes", "--dialogue", "--speaker", "--sample"])
    assert done.exit_code == 1
    assert "--dialogue must not be combined with --speaker." in " ".join(done.output.split())


def test_studies_hold_parts_out_of_any_task():
    from groundling.tasks.studies import study_folds

    task = LampTask()
    folds = study_folds(task, task.load(None), "best", "full", quick=False)
    assert {part for fold in folds for part in fold.held_out} == {"red", "green", "blue"}
