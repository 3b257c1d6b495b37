"""Generator of solvable puzzles with hints."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

from groundling.errors import SettingError
from groundling.language.languages import ENGLISH
from groundling.tasks.puzzles.board import (
    ORIENTATIONS,
    Board,
    Orientation,
    Strike,
    collapse,
    full_lines,
    strike,
)
from groundling.tasks.puzzles.board_graphs import ENDS
from groundling.tasks.puzzles.corpus import Puzzle, PuzzleCorpus
from groundling.tasks.puzzles.environment import offered_plan

# Only the first word of each number is used: one, not once.
_CARDINALS = {value: word for word, value in reversed([*ENGLISH.numerals.items()])}
_ORDINALS = {value: word for word, value in ENGLISH.ordinals.items()}
_VERBS = ("strike", "wipe out", "remove", "take away")


def cardinal(number: int) -> str:
    """Return a number below one hundred as a word.

    >>> cardinal(7), cardinal(42)
    ('seven', 'forty-two')
    """
    if not 0 <= number < 100:
        raise SettingError(f"A number in hints must be from 0 to 99; got {number}.")
    if number in _CARDINALS:
        return _CARDINALS[number]
    return f"{_CARDINALS[number - number % 10]}-{_CARDINALS[number % 10]}"


def ordinal(number: int) -> str:
    """Return the ordinal word for a number.

    >>> ordinal(1), ordinal(12), ordinal(20), ordinal(23)
    ('first', 'twelfth', 'twentieth', 'twenty-third')
    """
    head, dash, tail = cardinal(number).rpartition("-")
    if (value := ENGLISH.numerals[tail]) in _ORDINALS:
        return head + dash + _ORDINALS[value]
    return head + dash + (tail[:-1] + "ieth" if tail.endswith("y") else tail + "th")


def _place(orientation: Orientation, line: int, size: int, rng: random.Random) -> str:
    """Return words that identify a line by its number from the nearer end."""
    start, end = ENDS[orientation]
    if line == 0:
        return f"the {start} {orientation}"
    if line == size - 1:
        return f"the {end} {orientation}"
    if size % 2 and line == size // 2 and rng.random() < 0.5:
        return f"the middle {orientation}"
    if line < size / 2:
        return f"the {ordinal(line + 1)} {orientation} from the {start}"
    return f"the {ordinal(size - line)} {orientation} from the {end}"


def _part(board: Board, k: int, action: Strike) -> str:
    """Return words that identify a part of a line by the positions of its blocks."""
    across: Orientation = "column" if action.orientation == "row" else "row"
    start, end = ENDS[across]
    places = board.places(action.orientation, action.lines[0])
    first = places.index(action.first) if action.first is not None else 0
    after = len(places) - first - k
    if first == 0:
        return f"the {start} {cardinal(k)}"
    if after == 0:
        return f"the {end} {cardinal(k)}"
    if first == after:
        return f"the middle {cardinal(k)}"
    nearer, skipped = (start, first) if first < after else (end, after)
    return f"the {nearer} {cardinal(k)} but {cardinal(skipped)}"


def hint_for(board: Board, k: int, action: Strike, rng: random.Random) -> str:
    """Return words that identify a strike on its board.

    >>> board = Board.read(["####", "##..", "#..."])
    >>> hint_for(board, 2, Strike("row", (0,), first=0, last=1), random.Random(0))
    'the left two off the top row'
    >>> hint_for(board, 2, Strike("row", (1,)), random.Random(0))
    'the row'
    """
    size = board.size(action.orientation)
    if not action.is_full:
        where = _place(action.orientation, action.lines[0], size, rng)
        return f"{_part(board, k, action)} {rng.choice(('from', 'off'))} {where}"
    able = full_lines(board, k, action.orientation)
    name = action.orientation + ("s" if len(action.lines) > 1 else "")
    kind = f"{name} of {cardinal(k)}" if rng.random() < 0.3 else name
    if action.lines == able:
        if len(able) == 1:
            return f"the {kind}"
        return (
            f"both {kind}"
            if len(able) == 2 and rng.random() < 0.4
            else (f"the {cardinal(len(able))} {kind}")
        )
    if len(action.lines) == 1:
        return _place(action.orientation, action.lines[0], size, rng)
    start, end = ENDS[action.orientation]
    count = len(action.lines)
    if action.lines == able[:count]:
        return f"the {start} {cardinal(count)} {kind}"
    if action.lines == able[-count:]:
        return f"the {end} {cardinal(count)} {kind}"
    named = [cardinal(line + 1) for line in action.lines]
    return f"{name} {' '.join(named[:-1])} and {named[-1]}"


def write_hints(board: Board, k: int, plan: Sequence[Strike], rng: random.Random) -> str:
    """Return a text with one hint for each action, in the style of the corpus.

    >>> board = Board.read([".#.", "###"])
    >>> write_hints(board, 2, [Strike("column", (1,)), Strike("row", (1,))], random.Random(1))
    'strike the column of two , then the row of two .'
    """
    parts: list[str] = []
    for number, action in enumerate(plan):
        words = hint_for(board, k, action, rng)
        if number == 0 or rng.random() < 0.15:
            words = f"{rng.choice(_VERBS)} {words}"
        if number:
            last = number == len(plan) - 1
            parts.append(rng.choice((" then ", " , then ", " , ")) if last else " , ")
        parts.append(words)
        board = strike(board, k, action)
    return "".join(parts) + " ."


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
    """Generate a solvable puzzle by adding strikes to an empty board, last one first.

    Parameters
    ----------
    height, width, k
        The size of the board, and the number of blocks that a strike removes.
    seed
        Random seed.
    density
        The maximum share of cells with a block.
    partial
        The probability of extending a line beyond k blocks, which makes partial strikes
        necessary.
    number
        The number of the puzzle.

    Examples
    --------
    >>> puzzle = generate_puzzle(height=4, width=5, k=3, seed=1)
    >>> print(puzzle.board)
    # . # . #
    # # # . #
    . # # # #
    . . . . #
    >>> puzzle.hints[:2]
    ('remove the left three off the second row from the bottom',
     'the bottom three off the right column')
    """
    if height < 1 or width < 1:
        raise SettingError(
            f"A puzzle must have at least one row and one column; got {height} × {width}."
        )
    if not 1 <= k <= max(height, width):
        raise SettingError(f"`k` must be from 1 to {max(height, width)}; got {k}.")
    for name, share in (("density", density), ("partial", partial)):
        if not 0 <= share <= 1:
            raise SettingError(f"`{name}` must be from 0 to 1; got {share}.")
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
    """Yield the sequences of at least k holes in a line, including those at its ends."""
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
    """Generate a corpus of puzzles of mixed sizes, with solutions and hints.

    >>> corpus = generate_corpus(3, seed=7, sizes=(3, 5))
    >>> len(corpus.usable)
    3
    """
    if count < 1:
        raise SettingError(f"`count` must be >= 1; got {count}.")
    if not 2 <= sizes[0] <= sizes[1]:
        raise SettingError(f"`sizes` must be two numbers >= 2 in ascending order; got {sizes}.")
    rng = random.Random(seed)
    puzzles = []
    for number in range(1, count + 1):
        height, width = rng.randint(*sizes), rng.randint(*sizes)
        # larger boards have longer strikes, as in puzzles made by people
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
