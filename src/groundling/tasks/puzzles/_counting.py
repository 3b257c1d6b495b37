"""Compiled proof by counting: whether every block can be given to its row or its column at all.

Each line must be struck a multiple of k blocks along. Leave the order of the strikes out
of account, and a puzzle becomes a question about a bipartite graph: rows and columns are
its nodes, blocks its edges, and each edge is given to one of its ends. With an interval
for each line instead of the multiples, augmenting paths answer it exactly; where the
answer gives a line a number between two multiples, its interval is split in two. All
arithmetic is in whole numbers, so that "impossible" is a proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.compiling import njit

__all__ = ["IMPOSSIBLE", "POSSIBLE", "UNDECIDED", "can_be_counted_out"]

Bits = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
U = np.uint64

IMPOSSIBLE, POSSIBLE, UNDECIDED = 0, 1, 2


@njit(cache=True)
def augment(
    start: int,
    grid: Any,  # [row, column] in this orientation: a block stands here
    given: Any,  # [row, column]: it is given to the row
    sums: Any,  # blocks given, by row
    cross: Any,  # blocks given, by column
    least: Any,
    cross_most: Any,
    queue: Integers,
    from_row: Integers,
    from_column: Integers,
) -> bool:
    """Give one block more to a row, shifting others; no other row falls below its least."""
    rows, columns = grid.shape
    from_row[:rows] = -2
    from_column[:columns] = -1
    queue[0], head, tail = start, 0, 1
    from_row[start] = -1  # by which column each row was reached
    while head < tail:
        row = queue[head]
        head += 1
        for column in range(columns):
            if not grid[row, column] or given[row, column] or from_column[column] >= 0:
                continue
            from_column[column] = row
            end = -1
            if cross[column] >= cross_most[column]:
                for other in range(rows):
                    if not given[other, column] or from_row[other] != -2:
                        continue
                    from_row[other] = column
                    if sums[other] > least[other]:
                        end = other
                        break
                    queue[tail] = other
                    tail += 1
                if end < 0:
                    continue
                given[end, column] = False
                sums[end] -= 1
            else:
                cross[column] += 1
            while True:
                row = from_column[column]
                given[row, column] = True
                column = from_row[row]
                if column < 0:
                    sums[start] += 1
                    return True
                given[row, column] = False
    return False


@njit(cache=True)
def fill(
    grid: Any,
    given: Any,
    sums: Integers,  # [orientation, line]
    least: Integers,  # [orientation, line], blocks given to the rows
    most: Integers,
    queue: Integers,
    from_row: Integers,
    from_column: Integers,
) -> bool:
    """Bring all lines into their intervals; False when that is impossible."""
    turned, turned_given = grid.T, given.T
    for row in range(grid.shape[0]):
        while sums[0, row] < least[0, row]:
            if not augment(
                *(row, grid, given, sums[0], sums[1], least[0], most[1]),
                *(queue, from_row, from_column),
            ):
                return False
    for column in range(grid.shape[1]):
        while sums[1, column] < least[1, column]:
            if not augment(
                *(column, turned, turned_given, sums[1], sums[0], least[1], most[0]),
                *(queue, from_row, from_column),
            ):
                return False
    return True


@njit(cache=True)
def can_be_counted_out(grid: Any, k: int, limit: int) -> Any:
    """Tell whether each block can be given to a line such that all get multiples of k.

    Returns the answer and the number of intervals tried, at most `limit`.
    """
    height, width = grid.shape
    size = max(height, width)
    counts = np.zeros((2, size), dtype=np.int64)
    for row in range(height):
        for column in range(width):
            if grid[row, column]:
                counts[0, row] += 1
                counts[1, column] += 1
    # low and high: how often a line is struck along, [open interval, orientation, line]
    low = np.zeros((2 * size * size + 4, 2, size), dtype=np.int64)
    high = np.zeros_like(low)
    high[0] = counts // k
    least, most = np.zeros((2, size), dtype=np.int64), np.zeros((2, size), dtype=np.int64)
    sums = np.zeros((2, size), dtype=np.int64)
    given = np.zeros((height, width), dtype=np.bool_)
    queue = np.zeros(size, dtype=np.int64)
    from_row, from_column = queue.copy(), queue.copy()
    depth, tried = 0, 0
    while depth >= 0:
        if tried >= limit:
            return UNDECIDED, tried
        tried += 1
        for i in range(size):
            least[0, i], most[0, i] = k * low[depth, 0, i], k * high[depth, 0, i]
            least[1, i] = counts[1, i] - k * high[depth, 1, i]
            most[1, i] = counts[1, i] - k * low[depth, 1, i]
        sums[:] = 0
        given[:] = False
        if not fill(grid, given, sums, least, most, queue, from_row, from_column):
            depth -= 1
            continue
        worst, at_o, at_i = 0, -1, -1
        for o in range(2):
            for i in range(size):
                along = sums[0, i] if o == 0 else counts[1, i] - sums[1, i]
                off = min(along % k, k - along % k)
                if off > worst:
                    worst, at_o, at_i = off, o, i
        if at_o < 0:
            return POSSIBLE, tried
        along = sums[0, at_i] if at_o == 0 else counts[1, at_i] - sums[1, at_i]
        low[depth + 1] = low[depth]
        high[depth + 1] = high[depth]
        high[depth, at_o, at_i] = along // k
        low[depth + 1, at_o, at_i] = along // k + 1
        depth += 1
    return IMPOSSIBLE, tried
