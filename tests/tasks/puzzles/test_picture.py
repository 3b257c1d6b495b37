"""Pictures of plans."""

import subprocess
import sys

import pytest

from groundling.errors import SettingError, WorldError
from groundling.tasks.puzzles import demo
from groundling.tasks.puzzles.board import Board, Strike
from groundling.tasks.puzzles.corpus import Puzzle
from groundling.tasks.puzzles.generator import generate_puzzle
from groundling.tasks.puzzles.picture import draw_plan, draw_puzzle

BOARD = Board.read([".#.", "###"])
PLAN = (Strike("column", (1,)), Strike("row", (1,)))


def words(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_draw_puzzle_saves_a_picture(tmp_path):
    draw_puzzle(generate_puzzle(5, 4, 2, seed=1), tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_draw_plan_writes_hints_beside_strikes():
    said = words(draw_plan(BOARD, 2, PLAN, [["the column for $5"], []]))
    assert said == [
        "1",
        r"“the column for \$5”",
        "column 2",
        "2",
        "(no hint)",
        "row 2",
        "Cleared.",
    ]


def test_draw_plan_unfinished_says_what_is_left():
    assert words(draw_plan(BOARD, 2, PLAN[:1]))[-1] == "2 blocks are left."


def test_draw_puzzle_keeps_surplus_hints_with_the_last_strike():
    said = words(draw_puzzle(Puzzle(1, BOARD, 2, PLAN, "one , two , three .")))
    assert said[-4:-1] == ["“two”", "“three”", "row 2"]


def test_draw_plan_marks_the_struck_blocks():
    figure = draw_plan(BOARD, 2, PLAN)
    colors = [patch.get_facecolor() for patch in figure.axes[0].patches]
    assert len(colors) == 6
    assert colors[1] == colors[4] != colors[3]
    assert len(figure.axes[0].lines) == 1


def test_draw_plan_bad_input():
    with pytest.raises(SettingError, match="hints for 1 strikes"):
        draw_plan(BOARD, 2, PLAN, [["the column"]])
    with pytest.raises(SettingError, match="at least one"):
        draw_plan(BOARD, 2, PLAN, columns=0)
    with pytest.raises(WorldError):
        draw_plan(BOARD, 2, PLAN[::-1])


def test_matplotlib_is_loaded_only_to_draw():
    code = (
        "import sys, groundling.tasks.puzzles, groundling.tasks.puzzles.picture;"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_followed_plan_has_each_hint_beside_its_strike(tmp_path):
    from groundling.tasks.puzzles import generate_corpus
    from groundling.tasks.puzzles.picture import draw_followed
    from groundling.tasks.puzzles.presets import PRESETS
    from groundling.tasks.puzzles.protocol import learn_and_follow, prepare

    chosen = PRESETS.select("best")
    cases = prepare(chosen, generate_corpus(10, seed=5, sizes=(3, 4)).usable)
    [answer] = learn_and_follow(chosen, cases, [9]).answers
    figure = draw_followed(answer.plan, title="followed", path=tmp_path / "followed.png")
    assert (tmp_path / "followed.png").stat().st_size > 1000
    shown = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
    words = " ".join(shown.split())
    for instruction in cases[9].demonstration.instructions:
        assert instruction.tokens[-2] in words


def test_demo_draws_what_a_follower_did(tmp_path, monkeypatch):
    small = demo.follow_demo(6, size=4, seed=1)
    monkeypatch.setattr(demo, "follow_demo", lambda seed: small)
    demo.main([str(tmp_path / "demo.png")])
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert not small.end.board.cells
