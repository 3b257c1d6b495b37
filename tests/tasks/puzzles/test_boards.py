"""Boards as searches hold them, against boards as everybody else does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.tasks.puzzles._search import pack, symmetries, unpack
from groundling.tasks.puzzles.board import Board


@st.composite
def boards(draw):
    height, width = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    return Board(height, width, draw(st.integers(0, 2 ** (height * width) - 1)))


def lines_of(board):
    words = np.zeros((board.height * board.width + 63) // 64, dtype=np.uint64)
    for place in range(len(words)):
        words[place] = board.cells >> (64 * place) & (2**64 - 1)
    lines = np.ones((2, max(board.height, board.width)), dtype=np.uint64)
    unpack(words, board.height, board.width, lines)
    return words, lines


@settings(deadline=None)  # the first call compiles
@given(boards())
def test_unpack_writes_rows_and_columns_and_pack_undoes_it(board):
    words, lines = lines_of(board)
    for number, orientation in enumerate(("row", "column")):
        for line in range(board.size(orientation)):
            bits = sum(1 << place for place in board.places(orientation, line))
            assert int(lines[number, line]) == bits
    again = np.ones((1, len(words)), dtype=np.uint64)
    pack(lines[None], 1, board.height, board.width, again)
    assert again[0].tolist() == words.tolist()


@settings(deadline=None)  # the first call compiles
@given(boards(), st.booleans(), st.booleans(), st.booleans())
def test_symmetries_are_those_that_leave_the_board(board, swap, up, left):
    if swap and board.height != board.width:
        return
    image = (board.transposed() if swap else board).rows()
    image = [row[::-1] if left else row for row in (image[::-1] if up else image)]
    found = symmetries(lines_of(board)[1], board.height, board.width)
    assert found[0].tolist() == [0, 0, 0, board.height - 1, board.width - 1]
    listed = [int(swap), int(up), int(left)] in found[:, :3].tolist()
    assert listed == (Board.read(image) == board)
