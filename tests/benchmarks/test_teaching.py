"""The figures of teaching are there, and are of what they say."""

from rich.console import Console

from benchmarks.page import fill
from benchmarks.teaching import SEEN, prequential, table, teaching
from groundling.tasks.mazes import generate_demonstrations, generate_mazes


def test_teaching_measures_every_size():
    figures = teaching(Console(quiet=True), (6, 12), lessons=2)
    assert list(figures) == ["teach_seconds_6", "teach_seconds_12"]
    assert min(figures.values()) > 0


def test_prequential_follows_before_it_learns():
    stream = generate_demonstrations(generate_mazes(1, 1), 6, seed=1)
    again = [stream[0]] * 4
    assert prequential(again, (1, 4)) == {1: 0.0, 4: 1.0}


def test_teaching_curve_goes_onto_the_page(tmp_path):
    page = tmp_path / "studio.md"
    page.write_text("a\n<!-- teaching -->\nold\n<!-- end -->\nb\n", encoding="utf-8")
    curve = table({f"prequential_demo_world_{mark}": mark / 300 for mark in SEEN})
    fill(page, "teaching", curve)
    assert "| demo world | .03 | .10 | .33 | 1.00 |\n<!-- end -->\nb\n" in page.read_text("utf-8")
