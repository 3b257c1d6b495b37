"""Confidence on the three tasks, with small corpora of our own."""

import pytest

from groundling.tasks.maps import generate_corpus as generate_maps
from groundling.tasks.mazes import generate_mazes, generate_routes
from groundling.tasks.puzzles import generate_corpus as generate_puzzles
from research.confidence.__main__ import measure_task
from tools.corpus_files import write_maps, write_mazes, write_puzzles

pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


def make(task, folder):
    if task == "mazes":
        write_mazes(
            folder / "sail", generate_routes(generate_mazes(4, 3, size=4, halls=5), 8, seed=2)
        )
    elif task == "maps":
        write_maps(folder / "hcrc", generate_maps(maps=4, dialogues=1, seed=3))
    else:
        write_puzzles(generate_puzzles(6, seed=7, sizes=(3, 4)), folder / "crossblock" / "data")
    return folder


@pytest.mark.parametrize(("task", "trials"), [("mazes", 3), ("maps", 1), ("puzzles", 5)])
def test_confidence_is_measured_on_held_out_answers(task, trials, tmp_path):
    few = {"folds": 3} if task == "maps" else {}
    report = measure_task(task, make(task, tmp_path), **few)
    assert report.task == task
    assert len(report.thresholds) == trials
    assert sum(each.count for each in report.bins) == report.count
    assert all(0 <= each.right <= 1 for each in report.bins)
    assert 0 <= report.given.coverage <= 1
