"""Ties: scores that differ only by rounding count as equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.compiler import njit

CLOSE = 1e-9
"""Relative tolerance (absolute below 1) within which scores count as equal.

Sums of the same numbers in another order, or on another processor, differ by far less; scores of
plans with different meanings differ by far more.
"""

Name = Callable[[int], Any]
"""Maps an index to a comparable name that does not depend on the order of search."""


def margin(score: float) -> float:
    """Return the largest difference at which another score ties with this one.

    >>> margin(0.5), margin(-1024.0) == 1024 * CLOSE
    (1e-09, True)
    """
    size = abs(score)
    return CLOSE * max(1.0, size) if size < np.inf else 0.0


def at_least(score: float, bound: float) -> bool:
    """Return whether a score reaches a bound, up to rounding.

    >>> at_least(0.1 + 0.2 - 0.3 + 0.7, 0.7), at_least(0.6, 0.7)
    (True, False)
    """
    return score >= bound - margin(bound)


def rank(
    scores: NDArray[np.float64], name: Name | None = None, most: int | None = None
) -> list[int]:
    """Return indices by decreasing score; break ties by name, or else by index.

    Names are computed only for ties among the first `most` indices; the order of later ties is
    arbitrary.

    >>> scores = np.array([0.3, 0.1 + 0.2, 0.5, -np.inf, -np.inf])
    >>> rank(scores)
    [2, 0, 1, 3, 4]
    >>> rank(scores, ["c", "b", "a", "e", "d"].__getitem__)
    [2, 1, 0, 4, 3]
    """
    order = np.argsort(-scores, kind="stable")
    ranked: list[int] = order.tolist()
    if len(ranked) < 2:
        return ranked
    falling = scores[order]
    sizes = np.abs(falling[:-1])
    bounds = np.where(sizes < np.inf, CLOSE * np.maximum(1.0, sizes), 0.0)
    # Infinite scores are equal to themselves; their difference is not a number.
    close = (falling[1:] == falling[:-1]) | (falling[1:] >= falling[:-1] - bounds)
    if not close.any():
        return ranked
    starts = np.flatnonzero(np.concatenate([[True], ~close]))
    stops = np.append(starts[1:], len(ranked))
    tied = stops > starts + 1
    for start, stop in zip(starts[tied].tolist(), stops[tied].tolist(), strict=True):
        if most is not None and start >= most:
            break
        run = sorted(ranked[start:stop])
        ranked[start:stop] = run if name is None else sorted(run, key=name)
    return ranked


def _rank_kept(values: NDArray[np.float64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the given indices by decreasing value; break ties by index."""
    order = kept[np.argsort(-values[kept], kind="mergesort")]
    start = 0
    for stop in range(1, len(order) + 1):
        if stop < len(order):
            above = values[order[stop - 1]]
            size = abs(above)
            bound = CLOSE * max(1.0, size) if size < np.inf else 0.0
            if values[order[stop]] == above or values[order[stop]] >= above - bound:
                continue
        if stop > start + 1:
            order[start:stop] = np.sort(order[start:stop])
        start = stop
    return order


rank_kept: Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.int64]] = njit(_rank_kept)
"""Compiled `rank` of selected indices, without names."""
