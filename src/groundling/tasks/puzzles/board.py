"""Boards, strikes and rules of Crossblock puzzles."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from groundling.errors import WorldError

Orientation: TypeAlias = Literal["row", "column"]
ORIENTATIONS: tuple[Orientation, Orientation] = ("row", "column")


@lru_cache(maxsize=4096)
def _line_masks(height: int, width: int) -> dict[Orientation, tuple[int, ...]]:
    row = (1 << width) - 1
    column = sum(1 << (r * width) for r in range(height))
    return {
        "row": tuple(row << (r * width) for r in range(height)),
        "column": tuple(column << c for c in range(width)),
    }


@lru_cache(maxsize=65536)
def _places(bits: int, length: int, step: int) -> tuple[int, ...]:
    return tuple(place for place in range(length) if bits >> (place * step) & 1)


@dataclass(frozen=True)
class Board:
    """A board: a rectangle of blocks and holes, stored as the bits of one number.

    Parameters
    ----------
    height, width
        The number of rows and of columns.
    cells
        Bit `row * width + column` is set for a block.

    Examples
    --------
    >>> board = Board.read(["# # .", ". # ."])
    >>> print(board)
    # # .
    . # .
    >>> board.blocks, board.count("column", 1), board.places("row", 0)
    (3, 2, (0, 1))
    """

    height: int
    width: int
    cells: int

    def __post_init__(self) -> None:
        if self.height < 1 or self.width < 1:
            raise WorldError(
                "A board must have at least one row and one column; got "
                f"{self.height} × {self.width}."
            )
        if self.cells < 0 or self.cells >> (self.height * self.width):
            raise WorldError(
                f"All blocks must be on the board of {self.height} × {self.width}; got "
                f"cells={self.cells}. Create boards with Board.read."
            )

    @classmethod
    def read(cls, rows: Sequence[str]) -> Board:
        """Return the board with the given rows, in which `#` is a block and `.` a hole.

        Spaces are ignored.
        """
        lines = ["".join(row.split()) for row in rows]
        if not lines or not lines[0]:
            raise WorldError(
                "A board must have at least one row and one column; got none. Pass a list of rows."
            )
        cells = 0
        for number, line in enumerate(lines):
            if len(line) != len(lines[0]):
                raise WorldError(
                    "The rows of a board must have the same number of cells; got "
                    f"{len(line)} in row {number + 1} and {len(lines[0])} in row 1."
                )
            for column, mark in enumerate(line):
                if mark not in "#.":
                    raise WorldError(
                        f"A cell must be '#' (block) or '.' (hole); got {mark!r} in row "
                        f"{number + 1}, column {column + 1}."
                    )
                if mark == "#":
                    cells |= 1 << (number * len(line) + column)
        return cls(len(lines), len(lines[0]), cells)

    @property
    def blocks(self) -> int:
        """Number of blocks on the board."""
        return self.cells.bit_count()

    def size(self, orientation: Orientation) -> int:
        """Return the number of rows or of columns."""
        return self.height if orientation == "row" else self.width

    def mask(self, orientation: Orientation, line: int) -> int:
        """Return the bits of all cells in a line."""
        return _line_masks(self.height, self.width)[orientation][line]

    def count(self, orientation: Orientation, line: int) -> int:
        """Return the number of blocks in a line."""
        return (self.cells & self.mask(orientation, line)).bit_count()

    @cached_property
    def counts(self) -> dict[Orientation, tuple[int, ...]]:
        """Number of blocks in each row and in each column."""
        masks = _line_masks(self.height, self.width)
        return {
            orientation: tuple((self.cells & mask).bit_count() for mask in masks[orientation])
            for orientation in ORIENTATIONS
        }

    def bit(self, orientation: Orientation, line: int, place: int) -> int:
        """Return the bit of the cell at a position along a line."""
        row, column = (line, place) if orientation == "row" else (place, line)
        return 1 << (row * self.width + column)

    def places(self, orientation: Orientation, line: int) -> tuple[int, ...]:
        """Return the positions of the blocks along a line."""
        bits = self.cells & self.mask(orientation, line)
        if orientation == "row":
            return _places(bits >> (line * self.width), self.width, 1)
        return _places(bits >> line, self.height, self.width)

    def without(self, cells: int) -> Board:
        """Return the board without the blocks in the given cells."""
        return Board(self.height, self.width, self.cells & ~cells)

    def rows(self) -> tuple[str, ...]:
        """Return the rows of the board as strings."""
        return tuple(
            " ".join(
                "#" if self.cells >> (r * self.width + c) & 1 else "." for c in range(self.width)
            )
            for r in range(self.height)
        )

    def transposed(self) -> Board:
        """Return the board with rows and columns swapped.

        >>> print(Board.read(["##", ".."]).transposed())
        # .
        # .
        """
        cells = 0
        for row in range(self.height):
            for column in self.places("row", row):
                cells |= 1 << (column * self.height + row)
        return Board(self.width, self.height, cells)

    def __str__(self) -> str:
        return "\n".join(self.rows())


@dataclass(frozen=True)
class Strike:
    """Action that strikes whole lines or a part of one; lines are numbered from 0.

    Parameters
    ----------
    orientation
        Whether rows or columns are struck.
    lines
        The lines, from the top or the left; more than one only for whole lines.
    first, last
        For a part of a line: the positions along the line of its first and last block. None for
        whole lines.

    Examples
    --------
    >>> print(Strike("row", (0,)), Strike("column", (1, 3)), sep="; ")
    row 1; columns 2 and 4
    >>> part = Strike("row", (2,), first=0, last=4)
    >>> print(part)
    row 3 from column 1 to 5
    >>> part.kind, Strike("column", (1, 3)).kind
    ('partial', 'multi')
    """

    orientation: Orientation
    lines: tuple[int, ...]
    first: int | None = None
    last: int | None = None

    @property
    def kind(self) -> str:
        """`single` for one line, `multi` for several, `partial` for a part of one."""
        if self.first is not None:
            return "partial"
        return "single" if len(self.lines) == 1 else "multi"

    @property
    def canonical_name(self) -> str:
        """Sort key of strikes: parts, whole rows, whole columns; fewer lines first."""
        numbers = (len(self.lines), *self.lines, self.first or 0, self.last or 0)
        kind = f"{int(self.is_full)}{ORIENTATIONS.index(self.orientation)}"
        return " ".join((kind, *(f"{number:03}" for number in numbers)))

    @property
    def is_full(self) -> bool:
        """Whether the strike removes whole lines."""
        return self.first is None

    def __str__(self) -> str:
        names = [str(line + 1) for line in self.lines]
        listed = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
        text = f"{self.orientation}{'s' if len(names) > 1 else ''} {listed}"
        if self.first is None or self.last is None:
            return text
        across = "column" if self.orientation == "row" else "row"
        return f"{text} from {across} {self.first + 1} to {self.last + 1}"


@dataclass(frozen=True)
class ShuffledStrike(Strike):
    """A strike with a pseudo-random sort key, determined by `order`.

    >>> strikes = [ShuffledStrike("row", (line,), order=8) for line in range(4)]
    >>> [each.lines[0] for each in sorted(strikes, key=lambda each: each.canonical_name)]
    [2, 0, 1, 3]
    """

    order: int = 0

    @property
    def canonical_name(self) -> str:
        """Sort key of strikes: a hash of the strike and `order`."""
        return hashlib.sha256(f"{self.order} {super().canonical_name}".encode()).hexdigest()


def full_lines(board: Board, k: int, orientation: Orientation) -> tuple[int, ...]:
    """Return the lines with exactly k blocks, which can be struck whole.

    >>> full_lines(Board.read(["##.", "###", "#.#"]), 2, "row")
    (0, 2)
    """
    return tuple(line for line, n in enumerate(board.counts[orientation]) if n == k)


def each_strike(board: Board, k: int) -> Iterator[Strike]:
    """Yield every strike of a single line: the whole line, or a part of a longer line.

    A part has k consecutive blocks; holes between the blocks do not matter.

    >>> for each in each_strike(Board.read(["#.##", "...#"]), 2):
    ...     print(each)
    row 1 from column 1 to 3
    row 1 from column 3 to 4
    column 4
    """
    for orientation in ORIENTATIONS:
        for line, n in enumerate(board.counts[orientation]):
            if n == k:
                yield Strike(orientation, (line,))
            elif n > k:
                places = board.places(orientation, line)
                for i in range(n - k + 1):
                    yield Strike(orientation, (line,), places[i], places[i + k - 1])


def is_stuck(board: Board, k: int) -> bool:
    """Return whether blocks are left although no strike is possible.

    >>> is_stuck(Board.read(["#.", ".#"]), 2)
    True
    """
    return bool(board.cells) and all(max(board.counts[each]) < k for each in ORIENTATIONS)


def struck_cells(board: Board, strike: Strike) -> int:
    """Return the bits of the blocks that a strike removes.

    >>> bin(struck_cells(Board.read(["###"]), Strike("row", (0,), first=1, last=2)))
    '0b110'
    """
    if strike.first is None or strike.last is None:
        return sum(board.cells & board.mask(strike.orientation, line) for line in strike.lines)
    line = strike.lines[0]
    return sum(
        board.bit(strike.orientation, line, place)
        for place in board.places(strike.orientation, line)
        if strike.first <= place <= strike.last
    )


def strike(board: Board, k: int, action: Strike) -> Board:
    """Return the board after a strike; raise `WorldError` if the rules forbid it.

    >>> print(strike(Board.read(["##.", ".##"]), 2, Strike("row", (0,))))
    . . .
    . # #
    """
    size = board.size(action.orientation)
    if not action.lines:
        raise WorldError(f"A strike must have at least one line; got {action!r}.")
    if len(set(action.lines)) < len(action.lines):
        raise WorldError(f"The lines of a strike must be different; got {action!r}.")
    for line in action.lines:
        if not 0 <= line < size:
            raise WorldError(
                f"The strike {str(action)!r} must lie on the board of {board.height} × "
                f"{board.width} cells."
            )
    if not action.is_full:
        if len(action.lines) > 1:
            raise WorldError(f"A partial strike must have one line; got {action!r}.")
        struck = struck_cells(board, action)
        if struck.bit_count() != k:
            raise WorldError(
                f"The number of blocks in the strike {str(action)!r} must be {k}; got "
                f"{struck.bit_count()}."
            )
        return board.without(struck)
    for line in action.lines:
        if board.counts[action.orientation][line] != k:
            raise WorldError(
                f"The number of blocks in a full {action.orientation} must be {k} for a strike; "
                f"got {board.counts[action.orientation][line]} in {action.orientation} {line + 1}."
            )
    return board.without(struck_cells(board, action))


def expand(plan: Iterable[Strike]) -> tuple[Strike, ...]:
    """Return the plan with each multi-strike split into single lines.

    >>> [str(each) for each in expand([Strike("row", (0, 2)), Strike("column", (1,))])]
    ['row 1', 'row 3', 'column 2']
    """
    strikes: list[Strike] = []
    for action in plan:
        if action.is_full:
            strikes += [Strike(action.orientation, (line,)) for line in action.lines]
        else:
            strikes.append(action)
    return tuple(strikes)


def collapse(plan: Iterable[Strike]) -> tuple[Strike, ...]:
    """Return the plan with consecutive full strikes of one orientation joined.

    >>> [str(each) for each in collapse([Strike("row", (2,)), Strike("row", (0,))])]
    ['rows 1 and 3']
    """
    joined: list[Strike] = []
    for action in plan:
        if joined and action.is_full and joined[-1].is_full:
            before = joined[-1]
            if before.orientation == action.orientation:
                lines = tuple(sorted(before.lines + action.lines))
                joined[-1] = Strike(action.orientation, lines)
                continue
        joined.append(action)
    return tuple(joined)
