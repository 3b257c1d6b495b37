"""Curves of searches."""

import pytest

from groundling.errors import SettingError
from groundling.tasks.puzzles import Budget, generate_puzzle
from groundling.tasks.puzzles.compare_planners import compare, summarise
from groundling.tasks.puzzles.curves import draw_curves


def test_curves_show_every_search_of_every_size(tmp_path):
    puzzles = [generate_puzzle(3, 3, 2, seed=1), generate_puzzle(4, 4, 2, seed=2)]
    rows = summarise(compare(puzzles, Budget(nodes=200), widths=[5]))
    figure = draw_curves(rows, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000
    assert [axes.get_title() for axes in figure.axes] == ["3×3, 1 puzzles", "4×4, 1 puzzles"]
    names = [line.get_label() for line in figure.axes[0].lines]
    assert names == ["planner", "depth-first", "beam 5", "beam 5 with hints"]
    for line, row in zip(figure.axes[1].lines, rows[4:], strict=True):
        assert list(line.get_ydata()) == list(row["curve"].values())


def test_nothing_to_draw_is_an_error():
    with pytest.raises(SettingError, match="no searches"):
        draw_curves([])
