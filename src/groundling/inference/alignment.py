"""Monotone alignments of text units with actions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundling.compiler import njit

NOWHERE = -1


def align(
    scores: NDArray[np.float64], *, last_to_last: bool = False
) -> tuple[float, tuple[int, ...]]:
    """Return the score of the best monotone alignment, and the alignment itself.

    `scores[i, j]` is ψ(x_i, y_j). Every unit aligns with one action, and never with an earlier
    action than the unit before it. Several units may share an action, and actions may have no unit.
    With `last_to_last`, the last unit aligns with the last action, as in the
    implementation published with the paper.

    >>> align(np.array([[1.0, 0.0], [2.0, 3.0]]))
    (4.0, (0, 1))
    """
    units, actions = scores.shape
    if units == 0:
        return 0.0, ()
    if actions == 0:
        return 0.0, (NOWHERE,) * units
    table = np.ascontiguousarray(scores, np.float64)
    if last_to_last:
        table = table.copy()
        table[-1, :-1] = -np.inf
    total, back = _align(table)
    chosen = []
    bound = actions - 1
    for i in range(units - 1, -1, -1):
        bound = int(back[i, bound])
        chosen.append(bound)
    return float(total), tuple(reversed(chosen))


@njit(cache=True)
def _align(scores: NDArray[np.float64]) -> tuple[float, NDArray[np.int64]]:
    """Return the best score, and `back[i, j]`: the best action up to j for unit i."""
    units, actions = scores.shape
    best = np.zeros(actions)  # best score so far, with the latest unit aligned at or before j
    back = np.zeros((units, actions), np.int64)
    for i in range(units):
        place, top = 0, -np.inf
        for j in range(actions):
            here = best[j] + scores[i, j]
            # Ties go to the earlier action, regardless of rounding errors.
            margin = 1e-9 * max(1.0, abs(top)) if np.isfinite(top) else 0.0
            if here > top + margin:
                place, top = j, here
            back[i, j] = place
            best[j] = top
    return best[-1], back


def spread(units: int, actions: int, random: np.random.Generator | None = None) -> tuple[int, ...]:
    """Return an initial alignment, evenly spread or, given `random`, drawn at random.

    >>> spread(units=4, actions=2)
    (0, 0, 1, 1)
    """
    if actions == 0:
        return (NOWHERE,) * units
    if random is None:
        return tuple(int(i * actions / units) for i in range(units))
    return tuple(int(each) for each in np.sort(random.integers(0, actions, units)))
