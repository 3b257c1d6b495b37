"""Nothing of a user's is deleted or overwritten, whatever folder a command is given."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from groundling.cli.main import app
from groundling.cli.reproduce import refuse_others
from groundling.errors import ModelFileError, SettingError
from groundling.learning.checkpoints import Checkpoint, states_in
from groundling.tasks import benchmark, model_notes
from groundling.tasks.benchmark import Fold
from groundling.tasks.jobs import Job, forget_results, run_jobs
from groundling.tasks.model_notes import Note, load_trained

runner = CliRunner()


@pytest.fixture(autouse=True)
def _tiny(monkeypatch, tmp_path):
    monkeypatch.setattr(benchmark, "SAMPLE", 0.1)
    monkeypatch.delenv("GROUNDLING_CORPORA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "no-corpora"))


def train(out, *more, code=0):
    result = runner.invoke(app, ["train", "puzzles", "--sample", "--out", str(out), *more])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


def test_user_files_kept_by_train(tmp_path):
    out = tmp_path / "mine"
    (out / "checkpoints").mkdir(parents=True)
    (out / "checkpoints" / "holiday.jpg").write_text("picture")
    assert "contains files that are not from a training run" in train(out, code=1)
    assert (out / "checkpoints" / "holiday.jpg").read_text() == "picture"
    assert [path.name for path in out.iterdir()] == ["checkpoints"]


def test_user_files_kept_beside_a_training(tmp_path):
    out = tmp_path / "mine"
    out.mkdir()
    for name in ("tables.json", "weights.safetensors", "task.json", "notes.txt"):
        (out / name).write_text("mine")
    train(out)
    for name in ("tables.json", "weights.safetensors", "task.json", "notes.txt"):
        assert (out / name).read_text() == "mine"
    assert not (out / "checkpoints").exists()
    assert load_trained(out)[1].task == "puzzles"
    (out / "manifest.json").write_text('{"name": "a page of mine"}')
    assert "is not from Groundling" in train(out, "--again", code=1)
    assert (out / "manifest.json").read_text() == '{"name": "a page of mine"}'


def test_user_files_kept_states_of_another_training_are_refused(tmp_path):
    folder = tmp_path / "checkpoints"
    first, second = Note("puzzles", "best", seed=1), Note("puzzles", "best", seed=2)
    assert not model_notes._begin(folder, first)
    Checkpoint(folder).save("1", 2.0, np.zeros(3), done=False)
    assert model_notes._begin(folder, first)  # the same training goes on
    with pytest.raises(SettingError, match="checkpoints of another training"):
        model_notes._begin(folder, second)
    assert len(states_in(folder)) == 1
    (folder / "state-mine.safetensors").write_text("mine")
    model_notes._end(folder)
    assert [path.name for path in folder.iterdir()] == ["state-mine.safetensors"]


def test_user_files_kept_links_are_not_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "checkpoints").symlink_to(tmp_path / "real")
    with pytest.raises(SettingError, match="must be a folder"):
        model_notes._begin(tmp_path / "checkpoints", Note("puzzles", "best"))


def test_user_files_kept_by_reproduce(tmp_path):
    jobs = [Job("puzzles", "best", ("full",), Fold(name)) for name in "12"]
    cells = tmp_path / "cells"
    cells.mkdir()
    result = json.dumps({"fingerprint": "x", "outcome": {}, "seconds": 1})
    (cells / f"{jobs[0].key}.json").write_text(result)
    (cells / "mazes-best-full-Grid.json").write_text(result)
    (cells / "mine.txt").write_text("mine")
    forget_results(jobs, cells)
    assert sorted(path.name for path in cells.iterdir()) == [
        "mazes-best-full-Grid.json", "mine.txt"
    ]  # fmt: skip
    (cells / f"{jobs[1].key}.json").write_text('{"mine": true}')
    for call in (lambda: forget_results(jobs, cells), lambda: run_jobs(jobs, {}, keep=cells)):
        with pytest.raises(SettingError, match="is not a result from Groundling"):
            call()
    assert (cells / f"{jobs[1].key}.json").read_text() == '{"mine": true}'


@pytest.mark.parametrize("name", ["report.md", "report.html", "puzzles-best.json"])
def test_user_files_kept_reports_of_others(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(SettingError, match="is not a report from Groundling"):
        refuse_others(tmp_path, ["puzzles-best.json"])
    (tmp_path / name).write_text('{"task": "puzzles", "preset": "best", "rows": []} '
                                 if name.endswith("json")
                                 else "# Groundling: the paper's tables, run again")  # fmt: skip
    refuse_others(tmp_path, ["puzzles-best.json"])


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_user_files_kept_what_is_no_file_is_not_read(tmp_path, make):
    make(tmp_path / "report.md")
    with pytest.raises(SettingError, match="is not a report from Groundling"):
        refuse_others(tmp_path, [])


def test_user_files_kept_notes_with_wrong_values_are_refused(tmp_path):
    with pytest.raises((ValueError, ModelFileError)):
        Note.from_dict({"format": "groundling-task-1", "task": ["puzzles"], "preset": "best"})
