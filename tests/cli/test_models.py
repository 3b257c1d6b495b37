"""Train, follow, explain, weights: on the generated sample, made tiny."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from groundling import Follower
from groundling.cli import stage
from groundling.cli.main import app
from groundling.errors import ModelFileError
from groundling.tasks import benchmark
from groundling.tasks.model_notes import load_trained

runner = CliRunner()


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    monkeypatch.setattr(benchmark, "SAMPLE", 0.1)
    monkeypatch.delenv("GROUNDLING_CORPORA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "no-corpora"))


def run(*arguments, code=0, **options):
    result = runner.invoke(app, [str(each) for each in arguments], **options)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmark, "SAMPLE", 0.1)
        for task in ("mazes", "maps", "puzzles"):
            run("train", task, "--out", folder / task, "--sample")
    return folder


def test_train_says_where_data_come_from_and_what_it_left_out(tmp_path):
    result = run("train", "puzzles", "--out", tmp_path / "new")
    assert "Data: generated sample (no corpora found" in result.output
    assert "held out: 7,8." in result.output
    follower, note = load_trained(tmp_path / "new")
    assert (note.task, note.preset, note.sample) == ("puzzles", "best", True)
    assert len(follower.theta_) > 0
    assert {each.name.partition("-")[0] for each in (tmp_path / "new").iterdir()} == {
        "manifest.json", "tables", "weights"
    }  # fmt: skip


def test_train_counts_the_weights_of_all_its_models(models, tmp_path):
    result = run("train", "mazes", "--out", tmp_path / "new", "--sample")
    follower, _ = load_trained(models / "mazes")
    counts = [len(follower.weights(most=10**9, member=each)) for each in (0, 1)]
    assert min(counts) > 0
    assert f"Learnt {sum(counts):,} weights" in result.output


def test_train_keeps_a_model_unless_told(models):
    result = run("train", "puzzles", "--out", models / "puzzles", "--sample", code=1)
    assert "already contains a model" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["maze"], "Did you mean 'mazes'?"),
        (["mazes", "--preset", "bset"], "Did you mean 'best'?"),
        (["mazes", "--preset", "routes"], "can only be evaluated, not trained"),
        (["mazes", "--row", "chian"], "Did you mean 'chain'?"),
        (["mazes", "--corpora", "nowhere"], "groundling corpora fetch --into nowhere"),
        (["mazes", "--corpora", ".", "--sample"], "--sample must not be combined with --corpora"),
        (["mazes", "--leave-out", "Maze9"], "Did you mean"),
        (["maps", "--leave-out", "99"], "There is no map '99'"),
        (["puzzles", "--leave-out", "x"], "There is no puzzle 'x'"),
    ],
)
def test_train_refuses_in_one_sentence(arguments, message, tmp_path):
    result = run("train", *arguments, "--out", tmp_path / "new", code=1)
    assert message in result.output
    assert result.output.splitlines()[-1].startswith("Error: ")


def test_train_refuses_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    result = run("train", "mazes", "--out", tmp_path / "file" / "model", code=1)
    assert "Error: Not a directory" in result.output


def test_train_stopped_leaves_no_model_and_goes_on(tmp_path, monkeypatch):
    from groundling.learning import rounds

    whole = rounds.minimise
    calls = []

    def stop_at_second(*args, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*args, **options)

    monkeypatch.setattr(rounds, "minimise", stop_at_second)
    out = tmp_path / "model"
    stopped = run("train", "mazes", "--out", out, code=130)
    assert "run the same command to resume" in stopped.output
    assert [each.name for each in out.iterdir()] == ["checkpoints"]
    with pytest.raises(ModelFileError, match="not finished"):
        load_trained(out)
    calls.append(1)
    result = run("train", "mazes", "--out", out)
    assert "Resuming" in result.output
    assert len(calls) == 4  # the first member was not trained again; the other one was
    resumed = load_trained(out)[0]
    run("train", "mazes", "--out", tmp_path / "at once")
    assert resumed.theta_.tolist() == load_trained(tmp_path / "at once")[0].theta_.tolist()


def test_train_refuses_what_another_training_has_reached(tmp_path):
    out = tmp_path / "model"
    (out / "checkpoints").mkdir(parents=True)
    (out / "checkpoints" / "state-0.0.0.safetensors").write_bytes(b"broken")
    result = run("train", "puzzles", "--out", out, code=1)
    assert "contains files that are not from a training run" in result.output
    assert (out / "checkpoints" / "state-0.0.0.safetensors").read_bytes() == b"broken"


# ---- follow ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "said", "where"),
    [
        ("mazes", ["turn left. walk forward", "turn around"], "map Maze3"),
        ("maps", ["go south", "f: right"], "map 3"),
        ("puzzles", ["the top row, then the left column"], "puzzle 7"),
    ],
)
def test_follow_gives_json_on_a_clean_output(models, task, said, where):
    result = run("follow", models / task, *said, "--json")
    found = json.loads(result.stdout)
    assert found["task"] == task
    assert found["where"] == where  # what was left out
    assert found["instructions"] == said
    assert found["actions"] == [each for plan in found["plans"] for each in plan["actions"]]
    assert len(found["plans"]) == (3 if task == "mazes" else 1)
    assert "which the model was trained on" in result.stderr


def test_follow_reads_files_and_pipes(models, tmp_path):
    (tmp_path / "said.txt").write_text("turn left\n\nturn right\n")
    from_file = run("follow", models / "mazes", "--file", tmp_path / "said.txt").output
    from_pipe = run("follow", models / "mazes", input="turn left\nturn right\n").output
    assert from_file == from_pipe
    assert from_file.count("confidence") == 2


def test_follow_starts_where_it_is_told(models):
    result = run("follow", models / "mazes", "turn", "--where", "maze1", "--start", "0,3,west")
    assert "map Maze1: at (0, 3), facing west" in result.output


def test_follow_draws_the_way(models, tmp_path):
    for task, said in (("mazes", "turn left"), ("maps", "go south"), ("puzzles", "the top row")):
        run("follow", models / task, said, "--picture", tmp_path / f"{task}.png")
        assert (tmp_path / f"{task}.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mazes", "go", "--where", "Maze9"], "There is no map 'Maze9'"),
        (["mazes", "go", "--start", "here"], "such as 3,4,north"),
        (["mazes", "go", "--start", "99,99,north"], "got (99, 99)"),
        (["maps", "go", "--where", "x"], "There is no map 'x'"),
        (["maps", "go", "--start", "x"], "--start must not be used"),
        (["maps", "f: right"], "All lines of the dialogue start with `f:`"),
        (["puzzles", "go", "--where", "x"], "There is no puzzle 'x'"),
        (["puzzles", "go", "--start", "x"], "--start must not be used"),
        (["mazes", "..."], "must have at least one word; got none"),
        (["mazes", "go", "--file", "x"], "--file must not be combined"),
        (["mazes", "--file", "no-such-file"], "cannot be read: No such file"),
        (["mazes", "go", "--picture", "x.gif"], "must end in .png"),
        (["nothing", "go"], "contains no trained model"),
    ],
)
def test_follow_refuses_in_one_sentence(models, arguments, message):
    name, *rest = arguments
    result = run("follow", models / name, *rest, code=1)
    assert message in result.output


def test_follow_refuses_a_model_that_is_no_task(models, tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    assert "contains no trained model" in run("follow", tmp_path, "go", code=1).output
    Follower.load(models / "mazes").save(tmp_path / "without a note")
    shown = run("follow", tmp_path / "without a note", "go", code=1).output
    assert "does not record its task" in shown


def test_train_in_shards_learns_the_same(models, tmp_path):
    run("train", "puzzles", "--out", tmp_path / "model", "--sample", "--memory", "2GB")
    wanted, found = (Follower.load(each) for each in (models / "puzzles", tmp_path / "model"))
    np.testing.assert_allclose(found.theta_, wanted.theta_, rtol=0, atol=1e-9)
    result = run(
        "train", "puzzles", "--out", tmp_path / "x", "--sample", "--cluster", "local:x", code=1
    )
    assert "must be local:N or an address" in result.output


def test_follow_does_not_take_the_sample_for_the_corpora(models, tmp_path):
    follower, note = load_trained(models / "mazes")
    follower.save(tmp_path, note=replace(note, sample=False).to_dict())
    assert "groundling corpora fetch" in run("follow", tmp_path, "go", code=1).output
    assert "--sample" in run("follow", tmp_path, "go", "--sample").output


def test_follow_lets_the_plan_grow_as_one_types(models, monkeypatch):
    lines = iter(["turn left", "turn left", "...", "walk forward", "the first", ""])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    monkeypatch.setattr(stage, "instructions", lambda *given: None)
    result = run("follow", models / "mazes")
    shown = result.output
    assert "Do you mean “turn left”" in shown  # a small model is not sure, and asks
    assert "must have at least one word." in shown
    assert shown.count("  1. rotate(") == 2  # the plan is shown again whenever something was done
    assert "  2. move(" in shown
    assert "  +" in shown  # what is new is marked


# ---- explain, weights -------------------------------------------------------------------------


def test_explain_says_why(models, tmp_path):
    figure = tmp_path / "why.png"
    result = run("explain", models / "mazes", "turn left", "walk", "--figure", figure)
    assert "word=left" in result.output
    assert (tmp_path / "why-1.png").exists()
    assert (tmp_path / "why-2.png").exists()


def test_explain_fits_a_narrow_terminal(models, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    result = run("explain", models / "puzzles", "the top row")
    assert max(len(line) for line in result.output.splitlines()[2:]) <= 40


def test_explain_gives_json(models):
    [why] = json.loads(run("explain", models / "maps", "go south", "--json").stdout)
    assert {"steps", "rivals", "deletions", "confidence"} <= set(why)


def test_explain_needs_words(models, monkeypatch):
    monkeypatch.setattr(stage, "instructions", lambda *given: None)
    assert "must have an instruction" in run("explain", models / "maps", code=1).output


def test_weights_of_a_word(models):
    found = json.loads(run("weights", models / "mazes", "--word", "left", "--json").stdout)
    assert found
    assert all("left" in each["feature"].partition(" ∧ ")[0] for each in found)
    sizes = [abs(each["weight"]) for each in found]
    assert sizes == sorted(sizes, reverse=True)
    shown = run("weights", models / "mazes", "--most", "3").output
    assert len(shown.splitlines()) == 4
    other = run("weights", models / "mazes", "--member", "1", "--most", "3").output
    assert other != shown
    assert "from 0 to 1; got 2" in run("weights", models / "mazes", "--member", "2", code=1).output
    wrong = run("weights", models / "mazes", "--word", "lefft", code=1)
    assert "Did you mean 'left'?" in wrong.output
