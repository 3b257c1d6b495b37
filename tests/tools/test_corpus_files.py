"""The written samples are read as the tasks generate them."""

import pytest

from groundling.tasks import benchmark
from groundling.tasks.maps.task import MapTask
from groundling.tasks.mazes.corpus import as_corpus, load_sail
from groundling.tasks.mazes.task import MazeTask, generate_sample
from groundling.tasks.puzzles.task import PuzzleTask
from tools.corpus_files import main, write_mazes


def content(corpus):
    """What the sentences and routes of mazes say, without their environments."""
    return {
        name: [
            [(e.name, e.instructions, e.start, e.actions) for e in some]
            for some in (found.sentences, found.paragraphs, found.dropped)
        ]
        + [found.environment.maze, found.destinations]
        for name, found in corpus.mazes.items()
    }


def test_main_writes_the_samples_of_all_tasks(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "SAMPLE", 0.1)
    main([str(tmp_path)])
    assert content(MazeTask().load(tmp_path)) == content(MazeTask().load(None))
    assert MapTask().load(tmp_path) == MapTask().load(None)
    assert PuzzleTask().load(tmp_path) == PuzzleTask().load(None)


@pytest.mark.parametrize("size", [0.03, 1.0])
def test_as_corpus_equals_the_corpus_read_from_files(tmp_path, size):
    routes = generate_sample(size)
    write_mazes(tmp_path, routes)
    assert content(load_sail(tmp_path)) == content(as_corpus(routes))
