"""Pictures: the board step by step, with each hint beside the strike it caused."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling.errors import SettingError
from groundling.tasks.puzzles.board import Board, Strike, strike, struck_cells
from groundling.tasks.puzzles.corpus import Puzzle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groundling.explain.explanation import Plan

__all__ = ["draw_followed", "draw_plan", "draw_puzzle"]

_Line = tuple[str, int, str, str]  # text, size in points, color, weight
BLOCK, STRUCK, GONE, INK, QUIET = "#3b5b7a", "#e07a3f", "#e9edf1", "#1f2933", "#7b8794"


def draw_puzzle(puzzle: Puzzle, path: str | Path | None = None) -> Figure:
    """Draw a puzzle with its own solution; when there are as many hints, each beside its strike.

    Where the numbers differ, the surplus hints stand with the last strike, and strikes
    without a hint say so.

    >>> puzzle = Puzzle(1, Board.read(["##"]), 2, (Strike("row", (0,)),), "the row .")
    >>> [text.get_text() for text in draw_puzzle(puzzle).axes[1].texts]
    ['1', '“the row”', 'row 1']
    """
    hints = [[hint] for hint in puzzle.hints[: len(puzzle.plan)]]
    hints += [[] for _ in puzzle.plan[len(hints) :]]
    if hints:
        hints[-1] += puzzle.hints[len(puzzle.plan) :]
    title = f"Puzzle {puzzle.number}: strike {puzzle.k} blocks of one row or column at a time"
    return draw_plan(puzzle.board, puzzle.k, puzzle.plan, hints, title=title, path=path)


def draw_followed(plan: Plan, *, title: str = "", path: str | Path | None = None) -> Figure:
    """Draw a plan that a follower made, each hint beside the strikes it caused.

    A hint stands where most of it lies, and wherever else a third of it does.
    """
    explained = plan.explain()
    shares = explained.sentence_shares()
    hints: list[list[str]] = [[] for _ in plan.actions]
    for instruction, share in zip(explained.instructions, shares, strict=True):
        for place, part in enumerate(share):
            if part > 0 and (part == share.max() or part >= 1 / 3):
                hints[place].append(" ".join(instruction.tokens))
    state: Any = plan.start
    actions: Any = plan.actions
    return draw_plan(state.board, state.k, actions, hints, title=title, path=path)


def draw_plan(
    board: Board,
    k: int,
    plan: Sequence[Strike],
    hints: Sequence[Sequence[str]] = (),
    *,
    title: str = "",
    path: str | Path | None = None,
    columns: int = 3,
) -> Figure:
    """Draw the board before each strike, with the struck blocks marked, and at the end.

    Parameters
    ----------
    board, k, plan
        The board at the start, the number of blocks in a strike, and the strikes.
    hints
        For each strike the hints that caused it, none, one or several; empty for a plan
        made without hints.
    title
        What stands above.
    path
        Where to save it, as PNG, SVG or PDF by its ending; nothing is saved without.
    columns
        How many steps stand side by side.

    Examples
    --------
    >>> figure = draw_plan(Board.read(["##"]), 2, [Strike("row", (0,))], [["the row"]])
    >>> len(figure.axes)
    4
    """
    if hints and len(hints) != len(plan):
        raise SettingError(
            f"There are hints for {len(hints)} strikes, but the plan has {len(plan)}; "
            "give a list of hints, perhaps empty, for each strike."
        )
    if columns < 1:
        raise SettingError(f"The picture has {columns} columns; it needs at least one.")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    steps = len(plan) + 1
    cards = [_words(step, action, hints) for step, action in enumerate(plan)]
    columns = min(columns, steps)
    rows = math.ceil(steps / columns)
    # inches: a step is as high as its board or its words
    tall = 2.1 * min(max(board.height / board.width, 0.35), 1.6)
    tall = max(tall, max((_height(card) for card in cards), default=0.0))
    head = 0.75 if title else 0.2
    height = head + rows * (tall + 0.35)
    figure = Figure(figsize=(4.6 * columns, height))
    FigureCanvasAgg(figure)
    if title:
        figure.text(0.5, 1 - 0.35 / height, title, ha="center", va="center", size=13, color=INK)
    grid = figure.add_gridspec(
        *(rows, 2 * columns),
        width_ratios=(1.0, 1.05) * columns,
        left=0.02,
        right=0.99,
        bottom=0.3 / height,
        top=1 - head / height,
        wspace=0.08,
        hspace=0.35 / tall,
    )
    for step in range(steps):
        row, column = divmod(step, columns)
        action = plan[step] if step < len(plan) else None
        _draw_board(figure.add_subplot(grid[row, 2 * column]), board, action)
        if action is None:
            left = f"{board.blocks} blocks are left."
            card = [("Cleared." if not board.cells else left, 12, INK, "bold")]
        else:
            card = cards[step]
            board = strike(board, k, action)
        _write(figure.add_subplot(grid[row, 2 * column + 1]), card, tall)
    if path is not None:
        figure.savefig(path, dpi=110, facecolor="white")
    return figure


def _words(step: int, action: Strike, hints: Sequence[Sequence[str]]) -> list[_Line]:
    """Return the lines beside a step: its number, its hints, and the strike."""
    said = hints[step] if hints else ()
    lines: list[_Line] = [(str(step + 1), 12, STRUCK, "bold")]
    for hint in said:
        quoted = "“" + hint.removesuffix(" .").strip() + "”"
        lines += [(line, 11, INK, "normal") for line in textwrap.wrap(quoted, 24)]
    if hints and not said:
        lines.append(("(no hint)", 11, QUIET, "normal"))
    return lines + [(line, 9, QUIET, "normal") for line in textwrap.wrap(str(action), 30)]


def _height(card: Sequence[_Line]) -> float:
    return sum(size for _, size, _, _ in card) * 1.45 / 72


def _write(axes: Any, card: Sequence[_Line], tall: float) -> None:
    axes.axis("off")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, tall)
    level = (tall + _height(card)) / 2
    for text, size, color, weight in card:
        level -= size * 1.45 / 72
        shown = text.replace("$", r"\$")  # a dollar sign would begin a formula
        axes.text(0.03, level, shown, size=size, color=color, weight=weight, va="baseline")


def _draw_board(axes: Any, board: Board, action: Strike | None) -> None:
    from matplotlib.patches import FancyBboxPatch

    struck = struck_cells(board, action) if action else 0
    for row in range(board.height):
        for column in range(board.width):
            bit = 1 << (row * board.width + column)
            color = GONE
            if board.cells & bit:
                color = STRUCK if struck & bit else BLOCK
            axes.add_patch(
                FancyBboxPatch(
                    (column - 0.4, row - 0.4),
                    *(0.8, 0.8),
                    boxstyle="round,pad=0,rounding_size=0.14",
                    color=color,
                    linewidth=0,
                )
            )
    if action is not None:
        for line in action.lines:
            places = board.places(action.orientation, line)
            first = places[0] if action.first is None else action.first
            last = places[-1] if action.last is None else action.last
            ends, level = (first - 0.25, last + 0.25), (line, line)
            x, y = (ends, level) if action.orientation == "row" else (level, ends)
            axes.plot(x, y, color=INK, linewidth=2, solid_capstyle="round")
    axes.set_xlim(-0.6, board.width - 0.4)
    axes.set_ylim(board.height - 0.4, -0.6)
    axes.set_aspect("equal", anchor="E")
    axes.axis("off")
