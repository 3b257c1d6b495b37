"""gSCAN: the executor, the corpus, the sample, and what is learnt from a few demonstrations."""

import gzip
import json
from pathlib import Path

import pytest

from groundling import check_environment
from groundling.corpora import find_corpora
from groundling.errors import CorpusError
from groundling.tasks.gscan.corpus import FILE, SPLITS, TRAIN, read_corpus
from groundling.tasks.gscan.environment import (
    MANNERS,
    Grid,
    GridThing,
    GscanCommand,
    GscanEnvironment,
)
from groundling.tasks.gscan.generator import generate_corpus
from groundling.tasks.gscan.task import GscanTask

CIRCLE, SQUARE = GridThing(2, 3, "circle", "red", 4), GridThing(2, 0, "square", "blue", 1)
GRID = Grid(4, 2, 1, 0, (SQUARE, CIRCLE))
EXAMPLE = {
    "split": "train",
    "command": "pull,a,red,circle,hesitantly",
    "target_commands": "walk,stay,walk,stay,pull,stay,pull,stay",
    "situation": {
        "grid_size": 6,
        "agent_position": {"row": "2", "column": "1"},
        "agent_direction": 0,
        "placed_objects": {
            "0": {
                "position": {"row": "2", "column": "3"},
                "object": {"shape": "circle", "color": "red", "size": "4"},
            },
            "1": {
                "position": {"row": "0", "column": "0"},
                "object": {"shape": "square", "color": "blue", "size": "1"},
            },
        },
    },
}


def write(path, *lines):
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def test_executor_walks_and_pulls_heavy_things_in_two_moves():
    world = GscanEnvironment()
    assert world.execute(GRID, GscanCommand("walk", 1, 0)) == ("walk", "walk")
    pulled = world.execute(GRID, GscanCommand("pull", 1, 0))
    assert pulled == ("walk", "walk", *["pull"] * 4)  # until the square is in the way
    assert world.execute(GRID, GscanCommand("push", 1, 0)) == ("walk", "walk")  # at the wall


@pytest.mark.parametrize(
    ("manner", "moves"),
    [
        ("cautiously", "turn left,turn left,turn left,turn right,turn right,turn left,walk"),
        ("hesitantly", "turn left,turn left,walk,stay"),
        ("while spinning", "turn left,turn left,turn left,turn left,turn left,turn left,walk"),
        ("while zigzagging", "turn left,turn left,walk"),
    ],
)
def test_executor_knows_manners(manner, moves):
    command = GscanCommand("walk", 0, list(MANNERS).index(manner))
    assert ",".join(GscanEnvironment().execute(GRID, command)) == moves


def test_environment_is_sound():
    check_environment(GscanEnvironment(), GRID)
    assert GscanEnvironment().describe(GRID) == "A grid of 4 by 4 with blue square 1, red circle 4."


def test_corpus_sorts_things_and_keeps_what_is_meant(tmp_path):
    [example] = read_corpus(write(tmp_path / FILE, json.dumps(EXAMPLE)))
    assert example.grid.things[example.command.thing].shape == "circle"
    assert example.command == GscanCommand("pull", 1, 2)
    assert example.grid.things[0].shape == "square"


@pytest.mark.parametrize("line", ["{}", "[1]", "nothing", '{"situation": 3}'])
def test_corpus_names_a_line_that_is_wrong(tmp_path, line):
    with pytest.raises(CorpusError, match="line 2: a line must be an example of gSCAN"):
        read_corpus(write(tmp_path / FILE, json.dumps(EXAMPLE), line))


def test_corpus_must_be_a_gzip_file(tmp_path):
    path = tmp_path / FILE
    path.write_text("{}")
    with pytest.raises(CorpusError, match=r"line 1: The file cannot be read .*gzip"):
        read_corpus(path)


def test_sample_holds_out_what_the_splits_are_about():
    corpus = generate_corpus(60, 5, seed=3)
    shown = [each for each in corpus if each.split == TRAIN]
    assert not any("cautiously" in each.text for each in shown)
    assert not any(each.text.startswith("pull") and "spinning" in each.text for each in shown)
    targets = [each.grid.things[each.command.thing] for each in shown]
    assert not any(each.shape == "square" and each.colour == "red" for each in targets)
    assert {each.split for each in corpus} == {TRAIN, *SPLITS.values()}


@pytest.mark.parametrize("row", ["50 demonstrations", "200 demonstrations, manner learnt"])
def test_sample_is_followed_well(row):
    task = GscanTask()
    corpus = task.load(None, 0.06)
    outcome = task.evaluate(
        corpus, {row: task.presets.select("auto", row)}, task.folds(corpus, "auto", row, False)[0]
    )
    found = task.make_row("auto", row, [outcome[row]])
    assert set(found.metrics) == {*SPLITS, "mean"}
    assert found.metrics["mean"] >= 0.9


def test_corpus_must_have_all_splits(tmp_path):
    task = GscanTask()
    (tmp_path / "gscan").mkdir()
    write(tmp_path / "gscan" / FILE, json.dumps(EXAMPLE))
    corpus = task.load(tmp_path)
    with pytest.raises(CorpusError, match="must contain commands of all splits"):
        task.prepare(corpus, task.default())


@pytest.mark.corpora
def test_executor_makes_the_moves_of_the_corpus():
    folder = find_corpora(None, "gscan").folder
    if folder is None:
        pytest.skip("the corpora are not there")
    world = GscanEnvironment()
    corpus = read_corpus(Path(folder) / "gscan" / FILE)
    assert all(world.execute(each.grid, each.command) == each.moves for each in corpus[::5])
