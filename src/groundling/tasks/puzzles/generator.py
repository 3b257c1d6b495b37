"""A generator of puzzles that can be solved, of any size, with hints."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from groundling.errors import SettingError
from groundling.tasks.puzzles.board import ORIENTATIONS, Board, Orientation, Strike, collapse
from groundling.tasks.puzzles.corpus import Puzzle, PuzzleCorpus
from groundling.tasks.puzzles.environment import offered_plan
from groundling.tasks.puzzles.hints import write_hints


def generate_puzzle(
    height: int,
    width: int,
    k: int,
    *,
    seed: int,
    density: float = 0.6,
    partial: float = 0.3,
    number: int = 1,
) -> Puzzle:
    """Make a puzzle by playing backwards from the empty board, so that it has a solution.

    Parameters
    ----------
    height, width, k
        The size of the board, and how many blocks a strike takes.
    seed
        The same seed gives the same puzzle.
    density
        The share of cells that hold a block; fewer when nothing more fits.
    partial
        How often, where there is a choice, a line is made longer than k, so that only a
        part of it can be struck at first.
    number
        The number of the puzzle.

    Examples
    --------
    >>> puzzle = generate_puzzle(4, 5, 3, seed=1)
    >>> print(puzzle.board)
    # . # . #
    # # # . #
    . # # # #
    . . . . #
    >>> puzzle.hints[:2]
    ('remove the left three off the second row from the bottom',
     'the bottom three off the right column')
    """
    if height < 1 or width < 1 or not 1 <= k <= max(height, width):
        raise SettingError(
            f"There is no puzzle of {height} × {width} with {k} blocks in a strike; give at "
            "least one row and one column, and k from 1 to the longer side."
        )
    for name, share in (("density", density), ("partial", partial)):
        if not 0 <= share <= 1:
            raise SettingError(f"The {name} is {share}; give a number from 0 to 1.")
    rng = random.Random(f"{seed} {height} {width} {k} {density} {partial}")
    board = Board(height, width, 0)
    reverse: list[Strike] = []
    while not reverse or board.blocks + k <= density * height * width:
        places = list(_openings(board, k))
        if not places:
            break
        longer = rng.random() < partial
        liked = [each for each in places if (board.count(*each[:2]) > 0) == longer]
        orientation, line, first, last = rng.choice(liked or places)
        gap = range(first, last + 1)
        chosen = sorted(rng.sample(gap, k))
        was = board.count(orientation, line)
        for place in chosen:
            bit = board.bit(orientation, line, place)
            board = Board(height, width, board.cells | bit)
        reverse.append(
            Strike(orientation, (line,), chosen[0], chosen[-1])
            if was
            else Strike(orientation, (line,))
        )
    plan = offered_plan(board, k, collapse(reversed(reverse)))
    return Puzzle(number, board, k, plan, write_hints(board, k, plan, rng))


def _openings(board: Board, k: int) -> Iterator[tuple[Orientation, int, int, int]]:
    """Yield the runs of at least k holes between the blocks of a line, ends included."""
    for orientation in ORIENTATIONS:
        across: Orientation = "column" if orientation == "row" else "row"
        for line in range(board.size(orientation)):
            blocks = (-1, *board.places(orientation, line), board.size(across))
            for before, after in pairwise(blocks):
                if after - before - 1 >= k:
                    yield orientation, line, before + 1, after - 1


def generate_corpus(
    count: int,
    *,
    seed: int,
    sizes: tuple[int, int] = (3, 8),
    density: float = 0.6,
    partial: float = 0.3,
) -> PuzzleCorpus:
    """Make a corpus of puzzles of mixed sizes, with solutions and hints.

    >>> corpus = generate_corpus(3, seed=7, sizes=(3, 5))
    >>> len(corpus.usable)
    3
    """
    if count < 1 or not 2 <= sizes[0] <= sizes[1]:
        raise SettingError(
            f"Cannot make {count} puzzles with sides from {sizes[0]} to {sizes[1]}; make at least "
            "one, with sides of two or more."
        )
    rng = random.Random(seed)
    puzzles = []
    for number in range(1, count + 1):
        height, width = rng.randint(*sizes), rng.randint(*sizes)
        # as in puzzles made by people: the larger the board, the more blocks in a strike
        k = rng.randint(2, max(2, (height + width) // 3))
        puzzles.append(
            generate_puzzle(
                *(height, width, min(k, max(height, width))),
                seed=rng.randrange(2**32),
                density=density,
                partial=partial,
                number=number,
            )
        )
    return PuzzleCorpus(tuple(puzzles))
