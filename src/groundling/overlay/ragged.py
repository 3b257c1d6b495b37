"""Lists of different lengths in one array: where each begins, and how long it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["sizes_of", "starts_of"]


def sizes_of(starts: NDArray[Any]) -> NDArray[Any]:
    """Return how long each list is, given where each begins and the last one ends.

    >>> sizes_of(np.array([0, 2, 2, 5]))
    array([2, 0, 3])
    """
    # Much sooner done than np.diff, for the few of one request.
    sizes: NDArray[Any] = starts[1:] - starts[:-1]
    return sizes


def starts_of(sizes: NDArray[Any], kind: Any = np.int64) -> NDArray[Any]:
    """Return where each list begins and the last one ends, given how long they are.

    >>> starts_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    starts = np.empty(len(sizes) + 1, kind)
    starts[0] = 0
    np.cumsum(sizes, out=starts[1:])
    return starts
