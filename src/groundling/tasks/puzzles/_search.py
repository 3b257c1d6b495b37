"""Compiled depth-first search over boards, with proofs of dead ends.

A strike removes k blocks of one line. So each block of a line is struck either *along* the line or
*across* it (along the crossing line), and the number of blocks struck along a line is a multiple of
k. `propagate` derives the consequences; if a line has no possible multiple, the board is dead.
Three facts keep the search small:

- A strike that is possible now stays possible after any other strikes. So a strike that
  is in every winning plan can be made immediately.
- A line whose blocks must all be struck along it is changed only by its own strikes:
  its next strike is one of its windows, and can be made immediately.
- Blocks that share no line, even indirectly, do not interact, so they are cleared in turn.

Boards that are proven dead are stored in a table, in full and not as hashes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.compiler import njit

Bits = npt.NDArray[np.uint64]
Integers = npt.NDArray[Any]
U = np.uint64

DEAD, SOLVED, PAUSED = 0, 1, 2
PROBES = 8
DEPTH, NODES, LEFT, STORED = 0, 1, 2, 3  # indices of the control array


@njit(cache=True, inline="always")
def popcount(x: Any) -> Any:
    """Return the number of set bits."""
    x = x - ((x >> U(1)) & U(0x5555555555555555))
    x = (x & U(0x3333333333333333)) + ((x >> U(2)) & U(0x3333333333333333))
    x = (x + (x >> U(4))) & U(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * U(0x0101010101010101)) >> U(56))


@njit(cache=True)
def force(bits: Any, line: int, target: Any) -> None:
    """Set the bits of a line's blocks in all lines that cross it."""
    while bits:
        lowest = bits & (~bits + U(1))
        target[popcount(lowest - U(1))] |= U(1) << U(line)
        bits ^= lowest


@njit(cache=True)
def propagate(lines: Bits, along: Bits, across: Bits, k: int) -> bool:
    """Derive which blocks must be struck along or across each line.

    Returns False if the board is dead. All arrays are [orientation, line] of bits over the
    positions along the line.
    """
    size = lines.shape[1]
    along[:] = U(0)
    across[:] = U(0)
    changed = True
    while changed:
        changed = False
        for o in range(2):
            for i in range(size):
                present = lines[o, i]
                if present == U(0):
                    continue
                must, never = along[o, i], across[o, i]
                count, least = popcount(present), popcount(must)
                most = count - popcount(never)
                highest = (most // k) * k
                lowest = ((least + k - 1) // k) * k
                if lowest > highest:
                    return False
                if most == least:
                    continue
                rest = present & ~(must | never)
                if highest == least:
                    across[o, i] = never | rest
                    force(rest, i, along[1 - o])
                    changed = True
                elif lowest == most:
                    along[o, i] = must | rest
                    force(rest, i, across[1 - o])
                    changed = True
    return True


@njit(cache=True)
def add_windows(
    present: Any, never: Any, o: int, i: int, k: int, moves: Integers, masks: Bits, found: int
) -> int:
    """Append a move for each k consecutive blocks; return the number of all moves."""
    if popcount(present & ~never) < k:
        return found
    window, held = U(0), 0
    while present:
        bit = present & (~present + U(1))
        present ^= bit
        if never & bit:
            window, held = U(0), 0
            continue
        window |= bit
        held += 1
        if held > k:
            window &= window - U(1)
            held -= 1
        if held == k:
            moves[found, 0] = o
            moves[found, 1] = i
            masks[found] = window
            found += 1
    return found


@njit(cache=True)
def smallest_component(lines: Bits) -> Any:
    """Return the rows and columns of the smallest set of connected blocks."""
    size = lines.shape[1]
    fewest, best_rows, best_columns, seen = 1 << 60, U(0), U(0), U(0)
    for start in range(size):
        if lines[0, start] == U(0) or (seen >> U(start)) & U(1):
            continue
        rows, columns = U(1) << U(start), U(0)
        while True:
            wider = U(0)
            for i in range(size):
                if (rows >> U(i)) & U(1):
                    wider |= lines[0, i]
            higher = U(0)
            for i in range(size):
                if (wider >> U(i)) & U(1):
                    higher |= lines[1, i]
            if higher == rows and wider == columns:
                break
            rows, columns = higher, wider
        seen |= rows
        blocks = 0
        for i in range(size):
            if (rows >> U(i)) & U(1):
                blocks += popcount(lines[0, i])
        if blocks < fewest:
            fewest, best_rows, best_columns = blocks, rows, columns
    return best_rows, best_columns


@njit(cache=True)
def forced_move(
    lines: Bits, along: Bits, across: Bits, k: int, moves: Integers, masks: Bits
) -> int:
    """Fill in moves of which at least one starts a winning plan; return their number."""
    size = lines.shape[1]
    fewest, best_o, best_i = 4, -1, -1  # larger sets of moves take more time than they save
    for o in range(2):
        for i in range(size):
            must = along[o, i]
            if must == U(0):
                continue
            present = lines[o, i]
            count, least = popcount(present), popcount(must)
            if least == count:
                if count - k + 1 < fewest:
                    fewest, best_o, best_i = count - k + 1, o, i
            elif least == k and (count - popcount(across[o, i])) // k == 1:
                # the only strike of this line; possible now if no block is in between
                span = must
                for shift in (1, 2, 4, 8, 16, 32):
                    span |= span >> U(shift)
                span &= ~((must & (~must + U(1))) - U(1))
                if present & span == must:
                    moves[0, 0], moves[0, 1], masks[0] = o, i, must
                    return 1
    if best_o < 0:
        return 0
    return int(add_windows(lines[best_o, best_i], U(0), best_o, best_i, k, moves, masks, 0))


@njit(cache=True)
def random_unit(state: Bits) -> float:
    """Return a random number in [0, 1), and advance the generator (xorshift)."""
    x = state[0]
    x ^= x << U(13)
    x ^= x >> U(7)
    x ^= x << U(17)
    state[0] = x
    return float(x >> U(11)) / 9007199254740992.0


@njit(cache=True)
def list_moves(
    lines: Bits,
    k: int,
    along: Bits,
    across: Bits,
    moves: Integers,
    masks: Bits,
    scores: npt.NDArray[np.float64],
    random_state: Bits,
    noise: float,
) -> int:
    """Fill in the moves to try, best first; return their number (0 for a dead board)."""
    if not propagate(lines, along, across, k):
        return 0
    found = forced_move(lines, along, across, k, moves, masks)
    if found:
        return int(found)
    size = lines.shape[1]
    rows, columns = smallest_component(lines)
    for o in range(2):
        inside = rows if o == 0 else columns
        for i in range(size):
            if (inside >> U(i)) & U(1):
                found = add_windows(lines[o, i], across[o, i], o, i, k, moves, masks, found)
    for m in range(found):
        # Prefer blocks that must be struck along this line, and crossing lines that stay divisible.
        o, i, bits = moves[m, 0], moves[m, 1], masks[m]
        score = 5.0 * popcount(bits & along[o, i]) + 2.0 * (popcount(lines[o, i]) % k)
        while bits:
            lowest = bits & (~bits + U(1))
            crossing = popcount(lines[1 - o, popcount(lowest - U(1))])
            score += (1.0 if crossing % k else -1.0) + (4.0 if crossing < k else 0.0)
            bits ^= lowest
        scores[m] = score / k + noise * random_unit(random_state)
    for m in range(1, found):
        score = scores[m]
        if scores[m - 1] >= score:
            continue
        o, i, mask, at = moves[m, 0], moves[m, 1], masks[m], m - 1
        while at >= 0 and scores[at] < score:
            scores[at + 1], masks[at + 1] = scores[at], masks[at]
            moves[at + 1, 0], moves[at + 1, 1] = moves[at, 0], moves[at, 1]
            at -= 1
        scores[at + 1], masks[at + 1] = score, mask
        moves[at + 1, 0], moves[at + 1, 1] = o, i
    return int(found)


@njit(cache=True)
def write_image(lines: Bits, symmetry: Integers, image: Bits) -> None:
    """Write the image of a board under a symmetry as one long number.

    A symmetry is an array (swap, flip rows, flip columns, rows - 1, columns - 1).
    """
    swap, flip_rows, flip_columns = symmetry[0], symmetry[1], symmetry[2]
    bottom, right = symmetry[3], symmetry[4]
    image[:] = U(0)
    for r in range(bottom + 1):
        bits = lines[swap, bottom - r if flip_rows else r]
        if flip_columns:
            turned = U(0)
            for c in range(right + 1):
                turned |= ((bits >> U(c)) & U(1)) << U(right - c)
            bits = turned
        at = r * (right + 1)
        word, shift = at >> 6, at & 63
        image[word] |= bits << U(shift)
        if shift + right + 1 > 64:
            image[word + 1] |= bits >> U(64 - shift)


@njit(cache=True)
def board_key(lines: Bits, symmetries: Integers, key: Bits, scratch: Bits) -> None:
    """Write the canonical key of a board: its smallest image under the symmetries."""
    write_image(lines, symmetries[0], key)
    for s in range(1, symmetries.shape[0]):
        write_image(lines, symmetries[s], scratch)
        for q in range(key.shape[0]):
            if scratch[q] != key[q]:
                if scratch[q] < key[q]:
                    key[:] = scratch
                break


@njit(cache=True)
def table_slot(table: Bits, key: Bits) -> Any:
    """Return the slot of a board in a table, and whether the board is stored there.

    A slot is in use if its last word is 1.
    """
    rows, words = table.shape[0], key.shape[0]
    h = U(0x9E3779B97F4A7C15)
    for q in range(words):
        h ^= key[q]
        h *= U(0xBF58476D1CE4E5B9)
        h ^= h >> U(29)
        h *= U(0x94D049BB133111EB)
        h ^= h >> U(32)
    home = np.int64(h & U(rows - 1))
    for probe in range(PROBES):
        at = (home + probe) & (rows - 1)
        if table[at, words] == U(0):
            return at, False
        same = True
        for q in range(words):
            if table[at, q] != key[q]:
                same = False
                break
        if same:
            return at, True
    return home, False


@njit(cache=True)
def table_put(table: Bits, key: Bits) -> int:
    """Store a board in a table; return 1 if the number of stored boards grew.

    If the table is full, the board replaces an older one.
    """
    at, there = table_slot(table, key)
    if there:
        return 0
    words = key.shape[0]
    grew = 0 if table[at, words] else 1
    table[at, :words] = key
    table[at, words] = U(1)
    return grew


@njit(cache=True)
def table_grow(table: Bits, larger: Bits) -> None:
    """Copy every board of a table to a larger table."""
    words = table.shape[1] - 1
    for at in range(table.shape[0]):
        if table[at, words]:
            table_put(larger, table[at, :words])


@njit(cache=True)
def search(
    boards: Bits,  # [depth, orientation, line]
    moves: Integers,  # [depth, move, (orientation, line)]
    masks: Bits,  # [depth, move]
    counts: Integers,  # [depth, (moves found, moves tried)]
    control: Integers,  # see DEPTH, NODES, LEFT, STORED
    k: int,
    nodes: int,
    table: Bits,
    symmetries: Integers,
    random_state: Bits,
    noise: float,
    fresh: bool,
) -> int:
    """Continue the search until the board is solved, proven dead, or out of nodes."""
    size, words = boards.shape[2], table.shape[1] - 1
    along = np.empty((2, size), dtype=np.uint64)
    across = np.empty((2, size), dtype=np.uint64)
    scores = np.empty(moves.shape[1])
    key, scratch = np.empty(words, dtype=np.uint64), np.empty(words, dtype=np.uint64)
    stop = control[NODES] + nodes
    depth, left = control[DEPTH], control[LEFT]
    if fresh:
        depth, left = 0, 0
        for i in range(size):
            left += popcount(boards[0, 0, i])
        if left == 0:
            control[DEPTH] = 0
            return SOLVED
        if left % k:
            return DEAD
        board_key(boards[0], symmetries, key, scratch)
        if table_slot(table, key)[1]:
            return DEAD
        control[NODES] += 1
        counts[0, 1] = 0
        counts[0, 0] = list_moves(
            boards[0], k, along, across, moves[0], masks[0], scores, random_state, noise
        )
    while True:
        if counts[depth, 1] >= counts[depth, 0]:
            board_key(boards[depth], symmetries, key, scratch)
            control[STORED] += table_put(table, key)
            if depth == 0:
                return DEAD
            depth -= 1
            left += k
            continue
        if control[NODES] >= stop:
            control[DEPTH], control[LEFT] = depth, left
            return PAUSED
        m = counts[depth, 1]
        counts[depth, 1] += 1
        o, i, mask = moves[depth, m, 0], moves[depth, m, 1], masks[depth, m]
        child = boards[depth + 1]
        child[:] = boards[depth]
        child[o, i] &= ~mask
        while mask:
            lowest = mask & (~mask + U(1))
            child[1 - o, popcount(lowest - U(1))] &= ~(U(1) << U(i))
            mask ^= lowest
        if left == k:
            control[DEPTH] = depth + 1
            return SOLVED
        board_key(child, symmetries, key, scratch)
        if table_slot(table, key)[1]:
            continue
        depth += 1
        left -= k
        control[NODES] += 1
        counts[depth, 1] = 0
        counts[depth, 0] = list_moves(
            child, k, along, across, moves[depth], masks[depth], scores, random_state, noise
        )


@njit(cache=True)
def unpack(words: Bits, height: int, width: int, lines: Bits) -> None:
    """Unpack a board into the bits of every row and column.

    The result is an array [orientation, line].
    """
    lines[:] = U(0)
    for row in range(height):
        for column in range(width):
            at = row * width + column
            if (words[at >> 6] >> U(at & 63)) & U(1):
                lines[0, row] |= U(1) << U(column)
                lines[1, column] |= U(1) << U(row)


@njit(cache=True)
def pack(boards: Bits, count: int, height: int, width: int, words: Bits) -> None:
    """Pack each board of an array [board, orientation, line] into one long number."""
    identity = np.array([0, 0, 0, height - 1, width - 1])
    for number in range(count):
        write_image(boards[number], identity, words[number])


@njit(cache=True)
def symmetries(lines: Bits, height: int, width: int) -> Any:
    """Return the reflections and rotations that preserve a board, identity first.

    Boards that a symmetry of the whole puzzle maps to each other are all winnable or all dead.
    """
    found = np.empty((8, 5), dtype=np.int64)
    own = np.empty((height * width + 63) // 64, dtype=np.uint64)
    image = np.empty_like(own)
    count = 0
    for swap in range(2 if height == width else 1):
        for up in range(2):
            for left in range(2):
                found[count] = np.array([swap, up, left, height - 1, width - 1])
                write_image(lines, found[count], image)
                if count == 0:
                    own[:] = image
                if (image == own).all():
                    count += 1
    return found[:count].copy()
