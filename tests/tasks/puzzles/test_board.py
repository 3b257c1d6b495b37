"""The board and the rules of the game."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import WorldError
from groundling.tasks.puzzles.board import (
    Board,
    Strike,
    collapse,
    each_strike,
    expand,
    full_lines,
    is_stuck,
    strike,
)

boards = st.integers(1, 5).flatmap(
    lambda height: st.integers(1, 5).flatmap(
        lambda width: st.builds(
            Board, st.just(height), st.just(width), st.integers(0, 2 ** (height * width) - 1)
        )
    )
)


@given(boards)
def test_board_text_round_trip(board):
    assert Board.read(board.rows()) == board
    assert hash(Board.read(board.rows())) == hash(board)


@given(boards)
def test_board_counts_and_places_agree(board):
    for orientation in ("row", "column"):
        for line in range(board.size(orientation)):
            places = board.places(orientation, line)
            assert board.count(orientation, line) == board.counts[orientation][line] == len(places)
            assert all(board.cells & board.bit(orientation, line, place) for place in places)


@given(boards)
def test_board_transposed_swaps_lines(board):
    turned = board.transposed()
    assert turned.counts["row"] == board.counts["column"]
    assert turned.transposed() == board


@given(boards, st.integers(1, 4))
def test_every_legal_strike_takes_k_blocks_of_one_line(board, k):
    for action in each_strike(board, k):
        after = strike(board, k, action)
        taken = board.cells & ~after.cells
        assert after.blocks == board.blocks - k
        assert taken & ~board.mask(action.orientation, action.lines[0]) == 0


def test_legal_strikes_reach_across_holes_but_not_over_blocks():
    found = each_strike(Board.read(["#.#.#"]), 2)
    assert [(each.first, each.last) for each in found] == [(0, 2), (2, 4)]


def test_strike_several_lines_at_once():
    board = Board.read(["##.", "###", ".##"])
    assert full_lines(board, 2, "row") == (0, 2)
    assert strike(board, 2, Strike("row", (0, 2))) == Board.read(["...", "###", "..."])


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Strike("row", (1,)), "must be 2 for a strike; got 3 in row 2"),
        (Strike("row", (0, 1)), "must be 2 for a strike; got 3 in row 2"),
        (Strike("row", (9,)), "must lie on the board"),
        (Strike("row", (0, 0)), "lines of a strike must be different"),
        (Strike("row", ()), "at least one line"),
        (Strike("row", (1,), 0, 2), "got 3"),
        (Strike("row", (0, 1), 0, 1), "must have one line"),
    ],
)
def test_strike_against_the_rules(action, message):
    with pytest.raises(WorldError, match=message):
        strike(Board.read(["##.", "###"]), 2, action)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one row"),
        (["##", "#"], "got 1 in row 2"),
        (["#x"], "'x' in row 1, column 2"),
    ],
)
def test_board_read_bad_rows(rows, message):
    with pytest.raises(WorldError, match=message):
        Board.read(rows)


def test_board_refuses_blocks_outside():
    with pytest.raises(WorldError, match="must be on the board"):
        Board(1, 2, 0b100)
    with pytest.raises(WorldError, match="at least one"):
        Board(0, 2, 0)


def test_collapse_joins_only_full_strikes_of_one_orientation():
    row, other, column = Strike("row", (3,)), Strike("row", (1,)), Strike("column", (0,))
    part = Strike("row", (2,), 0, 1)
    assert collapse([row, other, column, part, row]) == (
        Strike("row", (1, 3)),
        column,
        part,
        row,
    )


def test_expand_undoes_collapse_up_to_order():
    plan = (Strike("row", (1, 3)), Strike("column", (0,), 1, 2))
    assert collapse(expand(plan)) == plan


@given(boards, st.integers(1, 4))
def test_board_is_stuck_where_blocks_are_left_but_no_strike(board, k):
    assert is_stuck(board, k) == (board.cells > 0 and not any(each_strike(board, k)))
