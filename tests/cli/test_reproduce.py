"""Reproduce: all tables of the tiny sample, kept, resumed, and put on a page."""

import json
import re

import pytest
from typer.testing import CliRunner

from groundling.cli import reproduce as module
from groundling.cli.main import app
from groundling.evaluation.report import Report, Row
from groundling.tasks import benchmark, jobs, task_registry
from groundling.tasks.puzzles import task as puzzles

runner = CliRunner()


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    monkeypatch.setattr(benchmark, "SAMPLE", 0.03)
    monkeypatch.setattr(puzzles, "ORDERS", 2)  # of the actions; twenty say no more here
    monkeypatch.delenv("GROUNDLING_CORPORA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "no-corpora"))


def run(*arguments, code=0):
    result = runner.invoke(app, ["reproduce", "--jobs", "1", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def outcome(job, *rest):
    """Stand in for the work of a job."""
    path = {"correct": 3, "predicted": 6, "reference": 8}
    scores = {
        "mazes": [(job.fold.name, {"right": right}) for right in (1.0, 0.0, 1.0)],
        "maps": [("3", path), ("3", path)],
        "puzzles": [("1", {"match": 1.0, "success": 1.0}), ("2", {"match": 0.0, "success": 1.0})],
    }[job.task]
    made = {"scores": scores, "seconds": [1.0, 1.0], "fold": job.fold.name}
    return {"outcome": dict.fromkeys(job.variants, made), "seconds": 2.0}


@pytest.fixture
def no_work(monkeypatch):
    monkeypatch.setattr(jobs, "run_job", outcome)


def test_reproduce_quickly_runs_the_papers_own_rows(tmp_path):
    result = run("--quick", "--task", "puzzles", "--out", tmp_path)
    assert "1/20 puzzles" in result.output
    paper = json.loads((tmp_path / "puzzles-paper.json").read_text())
    assert [row["name"] for row in paper["rows"]] == ["full", "no planning", "no text"]
    best = json.loads((tmp_path / "puzzles-best.json").read_text())
    assert [row["name"] for row in best["rows"]] == ["full"]


def test_reproduce_writes_every_table(no_work, tmp_path):
    run("--out", tmp_path)
    for task in module._paper_tasks():
        presets = task_registry.get_task(task).presets
        for preset in presets:
            if preset == "auto":  # no table of the paper
                continue
            report = json.loads((tmp_path / f"{task}-{preset}.json").read_text())
            rows = presets.variants_of(preset)
            assert tuple(row["name"] for row in report["rows"]) == rows
            assert report["condition"].startswith("generated sample")
    page = (tmp_path / "report.html").read_text()
    written = (tmp_path / "report.md").read_text()
    for text in (page, written):
        assert "generated samples for maps, mazes, puzzles" in text
        assert "no grounding graphs" in text
    assert page.count("<svg") == 3
    assert 'name="viewport"' in page
    assert not re.search(r"<(script|link|img)|src=|url\((?!#)", page)  # needs no other file


def test_reproduce_goes_on_where_it_stopped(no_work, tmp_path, monkeypatch):
    done = []

    def stop_later(job, *rest):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(job)
        return outcome(job)

    monkeypatch.setattr(jobs, "run_job", stop_later)
    stopped = run("--out", tmp_path, "--task", "mazes", code=130)
    assert "run the same command to resume" in stopped.output
    assert {each.name for each in tmp_path.iterdir()} == {"cells"}
    kept = set(done)
    done.clear()
    monkeypatch.setattr(jobs, "run_job", lambda job, *rest: done.append(job) or outcome(job))
    result = run("--out", tmp_path, "--task", "mazes")
    assert result.output.count("(kept from an earlier run)") == 5
    assert not kept & set(done)
    done.clear()
    run("--out", tmp_path, "--task", "mazes", "--again")
    assert kept <= set(done)


def test_reproduce_refuses_in_one_sentence(tmp_path):
    assert "Did you mean 'maps'?" in run("--task", "map", "--out", tmp_path, code=1).output
    (tmp_path / "file").write_text("")
    assert "Error: " in run("--out", tmp_path / "file", code=1).output


def test_errors_that_should_not_happen_are_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "run_job", lambda *given: {}["nothing"])
    result = run("--out", tmp_path, "--task", "puzzles", code=1)
    assert "Error: KeyError: 'nothing'. This is a bug" in result.output


def test_pages_show_what_was_published(tmp_path):
    row = Row("full", {"micro": 0.61, "macro": 0.6, "<Grid>": 0.5}, (0.5, 0.7), 1, {"macro": 0.596})
    report = Report("mazes", "paper", "one map left out", [row], 60.0, "1.0", "2026-01-31")
    page = module.write_pages(tmp_path, [report], {"mazes": tmp_path}).read_text()
    assert "<td>macro .596</td>" in page
    assert "◆</span> published" in page
    assert "&lt;Grid&gt;" in page
    assert "<Grid>" not in page
    assert "the real corpora" in page
    assert "macro .596" in (tmp_path / "report.md").read_text()
