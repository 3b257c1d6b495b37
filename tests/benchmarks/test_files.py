"""The benchmark of files runs, and what it writes is read."""

from benchmarks.files import Robot, generate, measure

from groundling.data import Demonstrations


def test_files_give_all_figures(tmp_path):
    figures = measure(50, tmp_path)
    assert {"read .jsonl", "write .parquet", "bare JSON"} <= set(figures)
    assert all(value > 0 for value in figures.values())
    world = Robot()
    found = Demonstrations.read(tmp_path / "shown.jsonl", worlds=world)
    assert [each.start for each in found] == [each.start for each in generate(50, world)]
