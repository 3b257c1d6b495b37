"""Compiled boards: from the bits of one number to the lines that searches work on, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.compiler import njit

Bits = npt.NDArray[np.uint64]
U = np.uint64


@njit(cache=True)
def unpack(words: Bits, height: int, width: int, lines: Bits) -> None:
    """Write the blocks of every row and column, [orientation, line], as bits along the line."""
    lines[:] = U(0)
    for row in range(height):
        for column in range(width):
            at = row * width + column
            if (words[at >> 6] >> U(at & 63)) & U(1):
                lines[0, row] |= U(1) << U(column)
                lines[1, column] |= U(1) << U(row)


@njit(cache=True)
def pack(boards: Bits, count: int, height: int, width: int, words: Bits) -> None:
    """Write the blocks of some boards, [board, orientation, line], as one long number each."""
    words[:] = U(0)
    for number in range(count):
        for row in range(height):
            at, bits = row * width, boards[number, 0, row]
            words[number, at >> 6] |= bits << U(at & 63)
            if (at & 63) + width > 64:
                words[number, (at >> 6) + 1] |= bits >> U(64 - (at & 63))


@njit(cache=True)
def symmetries(lines: Bits, height: int, width: int) -> Any:
    """Return the reflections and rotations that leave a board as it is, identity first.

    Each is (swap, flip rows, flip columns, rows - 1, columns - 1). Boards that follow from
    one another by a symmetry of the whole puzzle are won or dead together.
    """
    found = np.empty((8, 5), dtype=np.int64)
    count = 0
    for swap in range(2 if height == width else 1):
        for up in range(2):
            for left in range(2):
                same = True
                for row in range(height):
                    bits = lines[swap, height - 1 - row if up else row]
                    if left:
                        turned = U(0)
                        for column in range(width):
                            turned |= ((bits >> U(column)) & U(1)) << U(width - 1 - column)
                        bits = turned
                    if bits != lines[0, row]:
                        same = False
                        break
                if same:
                    found[count, 0], found[count, 1], found[count, 2] = swap, up, left
                    found[count, 3], found[count, 4] = height - 1, width - 1
                    count += 1
    return found[:count].copy()
