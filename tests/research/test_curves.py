"""Curves of searches."""

import pytest

from groundling.errors import CorpusError, SettingError
from groundling.tasks.puzzles.generator import generate_puzzle
from groundling.tasks.puzzles.planner import SearchBudget
from research.planners.compare import compare, summarise
from research.planners.compare import main as compare_main
from research.planners.curves import draw_curves, main


def test_curves_show_every_search_of_every_size(tmp_path):
    puzzles = [generate_puzzle(3, 3, 2, seed=1), generate_puzzle(4, 4, 2, seed=2)]
    rows = summarise(compare(puzzles, SearchBudget(nodes=200), widths=[5]))
    figure = draw_curves(rows, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000
    assert [axes.get_title() for axes in figure.axes] == ["3×3, 1 puzzles", "4×4, 1 puzzles"]
    names = [line.get_label() for line in figure.axes[0].lines]
    assert names == ["planner", "depth-first", "beam 5", "beam 5 with hints",
                     "widening beam", "widening beam with hints"]  # fmt: skip
    for line, row in zip(figure.axes[1].lines, rows[6:], strict=True):
        assert line.get_ydata()[-1] == row["solved"]
        assert list(line.get_xdata()[1:-1]) == row["solved after"]


def test_searches_that_solve_nothing_stay_on_the_ground():
    row = {"size": "9×9", "search": "beam 1", "puzzles": 2, "solved after": []}
    [line] = draw_curves([row]).axes[0].lines
    assert list(line.get_ydata()) == [0, 0]


def test_command_draws_what_was_saved(tmp_path):
    saved, out = tmp_path / "saved.json", tmp_path / "curves.png"
    compare_main(
        ["--sides", "3", "--each", "1", "--nodes", "50", "--widths", "2", "--out", str(saved)]
    )
    main([str(saved), str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")
    saved.write_text("[]")
    with pytest.raises(CorpusError, match="not a saved comparison"):
        main([str(saved), str(out)])


def test_nothing_to_draw_is_an_error():
    with pytest.raises(SettingError, match="at least one search to draw"):
        draw_curves([])
