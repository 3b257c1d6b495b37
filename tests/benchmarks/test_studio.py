"""The figures of a load go onto the page."""

import pytest

pytest.importorskip("httpx")

from benchmarks.page import fill
from benchmarks.studio import share, table


def test_studio_figures_go_onto_the_page(tmp_path):
    page = tmp_path / "service.md"
    page.write_text("a\n<!-- load: studio.json -->\nold\n<!-- end -->\nb\n", encoding="utf-8")
    fill(
        page,
        "load: studio.json",
        table({"users": 50, "health, slowest": 0.0312, "warm start": 3.21}),
    )
    shown = page.read_text("utf-8")
    assert "old" not in shown
    assert "| health, slowest | 31 ms |\n| warm start | 3.2 s |\n<!-- end -->\nb\n" in shown


def test_studio_share_is_a_value_that_was_measured():
    assert share([3.0, 1.0, 2.0], 0.95) == 3.0
    assert share([float(n) for n in range(100)], 0.95) == 95.0
