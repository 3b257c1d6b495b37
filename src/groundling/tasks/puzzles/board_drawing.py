"""Puzzles as SVG: the board, the last strike, and the possible strikes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from groundling.svg import Canvas
from groundling.tasks.puzzles.board import Strike

if TYPE_CHECKING:
    from groundling.tasks.puzzles.environment import PuzzleEnvironment, PuzzleState


_CELL = 48.0


def draw_puzzle(
    environment: PuzzleEnvironment, state: PuzzleState, way: Sequence[PuzzleState]
) -> str:
    """Return an SVG drawing of a board; removed blocks show their strike's number.

    Clickable handles at the edges strike a row or a column.

    >>> from groundling.tasks.puzzles.board import Board
    >>> from groundling.tasks.puzzles.environment import PuzzleEnvironment, PuzzleState
    >>> state = PuzzleState(Board.read(["##.", "##.", "..."]), 2)
    >>> drawing = draw_puzzle(PuzzleEnvironment(), state, [state])
    >>> drawing.count('class="block"'), 'data-action="row 1"' in drawing
    (4, True)
    """
    board = state.board
    canvas = Canvas(-_CELL, -_CELL, (board.width + 1.3) * _CELL, (board.height + 1.3) * _CELL)
    gone = [one.board.cells & ~two.board.cells for one, two in pairwise(way)]
    for row in range(board.height):
        for column in range(board.width):
            bit = 1 << (row * board.width + column)
            number = next((n for n, cells in enumerate(gone, 1) if cells & bit), 0)
            last = number == len(gone) > 0
            kind = "block" if board.cells & bit else "struck" if last else "hole"
            canvas.add("rect", class_=kind, x=column * _CELL + 3, y=row * _CELL + 3,
                       width=_CELL - 6, height=_CELL - 6, rx=7)  # fmt: skip
            if number:
                canvas.text((column + 0.5) * _CELL, (row + 0.5) * _CELL + 6, str(number),
                            text_anchor="middle", font_size=17)  # fmt: skip
    for orientation, size in (("row", board.height), ("column", board.width)):
        for line in range(size):
            place = (line + 0.5) * _CELL
            x, y = (-_CELL / 2, place) if orientation == "row" else (place, -_CELL / 2)
            canvas.text(x, y + 5, str(line + 1), class_="number", text_anchor="middle",
                        font_size=15)  # fmt: skip
    for action in environment.actions(state):
        if len(action.lines) == 1:
            _handle(canvas, state, action)
    return str(canvas)


def _handle(canvas: Canvas, state: PuzzleState, action: Strike) -> None:
    """Add a handle that strikes a line when it is clicked."""
    line = action.lines[0]
    if action.first is None or action.last is None:
        first, last, wide = -1.0, 0.0, 0.62  # drawn over the number next to the line
    else:
        first, last, wide = float(action.first), float(action.last + 1), 0.2
    along, across = (first * _CELL, (line + 0.5 - wide / 2) * _CELL)
    long, thick = (last - first) * _CELL, wide * _CELL
    box = (along, across, long, thick)
    if action.orientation == "column":
        box = (across, along, thick, long)
    canvas.target("rect", action, title=f"strike {action}", x=box[0] + 4, y=box[1] + 2,
                  width=max(4.0, box[2] - 8), height=max(4.0, box[3] - 4), rx=6)  # fmt: skip
