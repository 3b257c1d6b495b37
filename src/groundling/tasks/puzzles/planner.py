"""Planner that solves puzzles or proves that they have no solution."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

from groundling.errors import SettingError
from groundling.tasks.puzzles._search import (
    DEAD,
    PAUSED,
    SOLVED,
    pack,
    search,
    symmetries,
    table_grow,
    unpack,
)
from groundling.tasks.puzzles.board import ORIENTATIONS, Board, Strike, collapse, full_lines, strike

_INFEASIBLE = 2  # status code of HiGHS for an infeasible program


def can_be_counted_out(grid: npt.NDArray[np.bool_], k: int, limit: int) -> bool | None:
    """Return whether blocks can be assigned to strikes, whatever the order of strikes.

    If they cannot, the board has no solution. The number of blocks struck along each line must be a
    multiple of k. SciPy solves this condition as an integer program (HiGHS). Returns None if the
    answer is unknown after `limit` nodes.

    >>> can_be_counted_out(np.array([[True, True], [False, True]]), k=2, limit=100)
    False
    """
    blocks, (height, width) = np.argwhere(grid), grid.shape
    lines, count = height + width, len(blocks)
    sizes = np.concatenate([grid.sum(axis=1), grid.sum(axis=0)])
    # Variables: whether a block is struck along its row, and the number of strikes per line.
    row = np.concatenate([blocks[:, 0], height + blocks[:, 1], np.arange(lines)])
    column = np.concatenate([np.arange(count), np.arange(count), count + np.arange(lines)])
    value = np.concatenate([np.ones(2 * count), np.repeat([-k, k], [height, width])])
    sums = np.concatenate([np.zeros(height), sizes[height:]])
    found = milp(
        np.zeros(count + lines),
        integrality=np.ones(count + lines),
        bounds=Bounds(0, np.concatenate([np.ones(count), sizes // k])),
        constraints=LinearConstraint(csc_array((value, (row, column))), sums, sums),
        options={"node_limit": limit},
    )
    return True if found.success else False if found.status == _INFEASIBLE else None


LARGEST = 64  # maximum number of lines, which must fit into the bits of a machine word
_FIRST_TRY, _SLICE, _COUNTINGS, _NOISE = 1_000, 50_000, 50_000, 2.0


@dataclass(frozen=True)
class SearchBudget:
    """Limits of a search.

    Parameters
    ----------
    nodes
        Maximum number of expanded boards.
    seconds
        Time limit; without one (None), the search is deterministic.
    megabytes
        Maximum size of the table of dead boards. When it is full, older boards are dropped;
        proofs stay sound but may take longer.

    Examples
    --------
    >>> SearchBudget(nodes=1000, seconds=None)
    SearchBudget(nodes=1000, seconds=None, megabytes=512)
    """

    nodes: int = 50_000_000
    seconds: float | None = 10.0
    megabytes: int = 512

    def __post_init__(self) -> None:
        for name in ("nodes", "seconds", "megabytes"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SettingError(f"`SearchBudget.{name}` must be > 0; got {value}.")


@dataclass(frozen=True)
class Verdict:
    """Result of a search.

    Parameters
    ----------
    status
        `solved`, `unsolvable` (proven) or `budget exhausted`.
    strikes
        If solved, strikes of one line each that clear the board, in order.
    nodes, seconds
        The number of expanded boards, and the time.

    Examples
    --------
    >>> Verdict("budget exhausted", nodes=2000).is_winnable is None
    True
    """

    status: Literal["solved", "unsolvable", "budget exhausted"]
    strikes: tuple[Strike, ...] = ()
    nodes: int = 0
    seconds: float = 0.0

    @property
    def plan(self) -> tuple[Strike, ...]:
        """Plan: the strikes, with consecutive full strikes of one orientation joined."""
        return collapse(self.strikes)

    @property
    def is_winnable(self) -> bool | None:
        """Whether there is a solution; None if that is unknown."""
        return {"solved": True, "unsolvable": False}.get(self.status)


class Planner:
    """Solver of boards, with a cache of boards that are known to be winnable or dead.

    The search is depth-first with restarts. A board counts as dead only if it is proven that no
    plan clears it (see `_search` and `can_be_counted_out`).

    Parameters
    ----------
    budget
        Default limits of a call.
    seed
        Random seed for ties between moves.

    Examples
    --------
    >>> planner = Planner(SearchBudget(seconds=None))
    >>> board = Board.read(["##.", ".##", "#.#"])
    >>> [str(each) for each in planner.solve(board, 2).plan]
    ['rows 1, 2 and 3']
    >>> planner.solve(Board.read(["##.", "..#"]), 2).status
    'unsolvable'
    """

    def __init__(self, budget: SearchBudget | None = None, seed: int = 0) -> None:
        self.budget = budget or SearchBudget()
        self.seed = seed
        self._known: dict[tuple[int, int, int, int], bool] = {}
        self._tables: dict[tuple[int, int, int], npt.NDArray[np.uint64]] = {}
        self._stored: dict[tuple[int, int, int], int] = {}

    def is_winnable(self, board: Board, k: int, budget: SearchBudget | None = None) -> bool | None:
        """Return whether some plan clears the board, or None if the budget is exhausted.

        >>> Planner().is_winnable(Board.read(["####", ".#.#"]), 4)
        False
        """
        known = self._known.get((board.height, board.width, k, board.cells))
        if known is not None:
            return known
        self._check(board, k)
        begin = time.perf_counter()
        status, _, _ = self._search(board, k, budget or self.budget, begin)
        return {SOLVED: True, DEAD: False}.get(status)

    def solve(self, board: Board, k: int, budget: SearchBudget | None = None) -> Verdict:
        """Search for strikes that clear the board, or for a proof that there are none."""
        self._check(board, k)
        begin = time.perf_counter()
        status, found, nodes = self._search(board, k, budget or self.budget, begin)
        seconds = time.perf_counter() - begin
        if status == PAUSED:
            return Verdict("budget exhausted", nodes=nodes, seconds=seconds)
        if status == DEAD:
            return Verdict("unsolvable", nodes=nodes, seconds=seconds)
        strikes = []
        for orientation, line, mask in found:
            places = [place for place in range(LARGEST) if mask >> place & 1]
            action = Strike(ORIENTATIONS[orientation], (line,), places[0], places[-1])
            if line in full_lines(board, k, action.orientation):
                action = Strike(action.orientation, action.lines)
            strikes.append(action)
            board = strike(board, k, action)
        return Verdict("solved", tuple(strikes), nodes, seconds)

    def _check(self, board: Board, k: int) -> None:
        if k < 1:
            raise SettingError(f"`k` must be >= 1; got {k}.")
        if max(board.height, board.width) > LARGEST:
            raise SettingError(
                f"A board for the planner must be at most {LARGEST} × {LARGEST}; got "
                f"{board.height} × {board.width}. Use a smaller board."
            )
        _compile()  # compile first, so that the time limit does not include compilation

    def _search(
        self, board: Board, k: int, budget: SearchBudget, begin: float
    ) -> tuple[int, list[tuple[int, int, int]], int]:
        height, width = board.height, board.width
        size, words = max(height, width), (height * width + 63) // 64
        depth, widest = board.blocks // k + 2, max(1, 2 * size * (size - k + 1))
        boards = np.empty((depth, 2, size), dtype=np.uint64)
        unpack(
            np.frombuffer(board.cells.to_bytes(words * 8, "little"), np.dtype("<u8")),
            *(height, width, boards[0]),
        )
        moves = np.empty((depth, widest, 2), dtype=np.int16)
        masks = np.empty((depth, widest), dtype=np.uint64)
        counts = np.zeros((depth, 2), dtype=np.int64)
        name = (height, width, k)
        control = np.array([0, 0, 0, self._stored.get(name, 0)], dtype=np.int64)
        images = symmetries(boards[0], height, width)
        random_state = np.array([(self.seed * 2 + 1) * 0x9E3779B97F4A7C15 % 2**64], dtype=np.uint64)
        fresh, limit, tried = True, _FIRST_TRY, 0
        while True:
            nodes = min(_SLICE, limit - tried, budget.nodes - int(control[1]))
            table = self._table(name, nodes, budget)
            before = int(control[1])
            status = int(
                search(
                    *(boards, moves, masks, counts, control, k, nodes, table),
                    *(images, random_state, _NOISE, fresh),
                )
            )
            self._stored[name] = int(control[3])
            tried += int(control[1]) - before
            fresh = False
            if status != PAUSED:
                break
            if limit == _FIRST_TRY and tried >= limit and self._is_miscounted(board, k):
                status = DEAD
                break
            if control[1] >= budget.nodes or (
                budget.seconds is not None and time.perf_counter() - begin > budget.seconds
            ):
                break
            if tried >= limit:  # restart, because an early bad choice may be very expensive
                fresh, tried, limit = True, 0, limit * 3 // 2
        found = []
        if status == SOLVED:
            for at in range(int(control[0])):
                m = counts[at, 1] - 1
                found.append((int(moves[at, m, 0]), int(moves[at, m, 1]), int(masks[at, m])))
        self._remember(board, k, status, boards[: len(found)])
        return status, found, int(control[1])

    def _remember(self, board: Board, k: int, status: int, won: npt.NDArray[np.uint64]) -> None:
        """Cache the result of a board, and the boards along its solution."""
        if len(self._known) >= 500_000:
            self._known.clear()
        height, width = board.height, board.width
        if status == DEAD:
            self._known[height, width, k, board.cells] = False
        words = np.empty((len(won), (height * width + 63) // 64), dtype="<u8")
        pack(won, len(won), height, width, words)
        for each in words:
            self._known[height, width, k, int.from_bytes(each.tobytes(), "little")] = True

    def _is_miscounted(self, board: Board, k: int) -> bool:
        """Return whether counting blocks proves that there is no plan."""
        grid = np.zeros((board.height, board.width), dtype=np.bool_)
        for row in range(board.height):
            grid[row, board.places("row", row)] = True
        return can_be_counted_out(grid, k, _COUNTINGS) is False

    def _table(
        self, name: tuple[int, int, int], nodes: int, budget: SearchBudget
    ) -> npt.NDArray[np.uint64]:
        """Return the table of dead boards of one shape, enlarged if necessary."""
        words = (name[0] * name[1] + 63) // 64 + 1
        rows = 256
        wanted = 2 * (self._stored.get(name, 0) + nodes)
        # both the old and the new table are in memory while a table grows
        most = max(budget.megabytes * 2**20 * 2 // 3 // (words * 8), 256)
        while rows < wanted and rows * 2 <= most:
            rows *= 2
        table = self._tables.get(name)
        if table is None or table.shape[0] < rows:
            others = sum(each.nbytes for key, each in self._tables.items() if key != name)
            if others + rows * words * 8 * 3 // 2 > budget.megabytes * 2**20:
                for key in [key for key in self._tables if key != name]:
                    del self._tables[key], self._stored[key]
            larger = np.zeros((rows, words), dtype=np.uint64)
            if table is not None:
                table_grow(table, larger)
            self._tables[name] = table = larger
        return table


@cache
def _compile() -> None:
    """Compile all kernels by solving a tiny board."""
    Planner()._search(Board(1, 1, 1), 1, SearchBudget(), time.perf_counter())
    table = np.zeros((256, 2), dtype=np.uint64)
    table_grow(table, table.copy())


def solve(board: Board, k: int, budget: SearchBudget | None = None) -> Verdict:
    """Search for strikes that clear a board, or for a proof that there are none.

    >>> solve(Board.read([".#.", "###"]), 2).status
    'solved'
    """
    return Planner().solve(board, k, budget)


def is_winnable(board: Board, k: int, budget: SearchBudget | None = None) -> bool | None:
    """Return whether some plan clears the board, or None if the budget is exhausted.

    >>> is_winnable(Board.read(["##", "##"]), 2)
    True
    """
    return Planner().is_winnable(board, k, budget)
