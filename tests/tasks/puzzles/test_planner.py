"""The planner against brute force, and its budgets."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import SettingError
from groundling.tasks.puzzles.board import Board, each_strike, strike
from groundling.tasks.puzzles.planner import (
    Planner,
    SearchBudget,
    Verdict,
    is_winnable,
    solve,
)


def brute_force(board, k, memory):
    """Try every order of every strike."""
    if board.cells not in memory:
        memory[board.cells] = board.cells == 0 or any(
            brute_force(strike(board, k, action), k, memory) for action in each_strike(board, k)
        )
    return memory[board.cells]


def clears(board, k, verdict):
    for action in verdict.strikes:
        board = strike(board, k, action)
    return board.cells == 0


@st.composite
def small_boards(draw):
    """Boards whose number of blocks is a multiple of k, so that many can be won."""
    height, width, k = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    cells = draw(st.integers(0, 2 ** (height * width) - 1))
    while cells.bit_count() % k or cells.bit_count() > 16:
        cells &= cells - 1
    return Board(height, width, cells), k


SHARED = Planner(SearchBudget(seconds=None))


@settings(max_examples=400, deadline=None)
@given(small_boards())
def test_planner_agrees_with_brute_force(case):
    board, k = case
    verdict = SHARED.solve(board, k)
    assert verdict.is_winnable == brute_force(board, k, {})
    assert verdict.status != "solved" or clears(board, k, verdict)


@settings(max_examples=200, deadline=None)
@given(small_boards(), st.integers(0, 3))
def test_planner_agrees_with_brute_force_on_symmetric_boards(case, which):
    small, k = case
    rows = ["".join(row.split()) for row in small.rows()]
    if which == 0:
        rows = rows + rows[::-1]
    elif which == 1:
        rows = [row + row[::-1] for row in rows]
    elif which == 2:
        rows = rows + [row[::-1] for row in rows[::-1]]
    else:
        size = max(small.height, small.width)
        square = Board.read(
            [row.ljust(size, ".") for row in rows] + ["." * size] * (size - len(rows))
        )
        rows = Board(size, size, square.cells | square.transposed().cells).rows()
    board = Board.read(rows)
    if board.blocks > 16:
        return
    assert Planner(SearchBudget(seconds=None)).is_winnable(board, k) == brute_force(board, k, {})


def scattered(size, k, blocks, seed):
    cells = random.Random(seed).sample(range(size * size), blocks // k * k)
    return Board(size, size, sum(1 << cell for cell in cells))


def test_solve_dense_large_board():
    board = scattered(12, 3, 100, seed=1)
    verdict = solve(board, 3, SearchBudget(seconds=None))
    assert verdict.status == "solved"
    assert clears(board, 3, verdict)
    assert verdict.nodes < 100_000


def test_solve_large_unsolvable_board_is_proven_at_once():
    verdict = solve(scattered(12, 7, 70, seed=1), 7, SearchBudget(seconds=None))
    assert verdict.status == "unsolvable"
    assert verdict.nodes <= 1


def test_solve_says_when_the_budget_runs_out():
    board = scattered(12, 5, 84, seed=3)
    full = solve(board, 5, SearchBudget(seconds=None))
    assert full.nodes > 10
    short = solve(board, 5, SearchBudget(nodes=10, seconds=None))
    assert (short.status, short.is_winnable, short.nodes) == ("budget exhausted", None, 10)
    assert solve(board, 5, SearchBudget(seconds=1e-9)).status in ("budget exhausted", full.status)


def test_solve_is_deterministic():
    board = scattered(10, 4, 60, seed=5)
    first, second = (solve(board, 4, SearchBudget(seconds=None)) for _ in range(2))
    assert (first.strikes, first.nodes) == (second.strikes, second.nodes)


def test_full_table_forgets_but_stays_right():
    board = scattered(11, 6, 66, seed=7)
    assert (
        solve(board, 6, SearchBudget(nodes=500_000, seconds=None, megabytes=1)).status
        == solve(board, 6, SearchBudget(nodes=500_000, seconds=None)).status
        != "budget exhausted"
    )


def test_planner_remembers_boards_on_the_way():
    planner = Planner(SearchBudget(seconds=None))
    board = scattered(8, 3, 40, seed=2)
    verdict = planner.solve(board, 3)
    after = strike(board, 3, verdict.strikes[0])
    assert planner.is_winnable(after, 3, SearchBudget(nodes=1, seconds=None)) is True


def test_empty_board_is_solved():
    assert solve(Board(3, 3, 0), 2).status == "solved"


def test_widest_board():
    board = Board(64, 64, 2**4096 - 1)
    assert is_winnable(board, 64) is True
    with pytest.raises(SettingError, match="65 × 1"):
        solve(Board(65, 1, 1), 1)


def test_bad_settings():
    with pytest.raises(SettingError, match="must be >= 1"):
        solve(Board(1, 1, 1), 0)
    with pytest.raises(SettingError, match="nodes` must be > 0"):
        SearchBudget(nodes=0)


def test_verdict_plan_joins_strikes():
    board = Board.read(["##", "##"])
    assert len(solve(board, 2).plan) == 1
    assert Verdict("unsolvable").plan == ()


def test_counting_proves_what_search_cannot():
    rows = (
        *(".#..#......#", "..######.###", "####..######", "#.####.....#", ".###########"),
        *(".###.###.###", "############", "##.####.####", "#.##########", "###.########"),
        *("#.##########", "#.#.#####.##"),
    )
    verdict = solve(Board.read(rows), 7, SearchBudget(nodes=10_000, seconds=None))
    assert verdict.status == "unsolvable"
