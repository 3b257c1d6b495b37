"""Ragged arrays: lists of different lengths in one array, with offsets and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def sizes_of(starts: NDArray[Any]) -> NDArray[Any]:
    """Return the size of each list, given their offsets.

    >>> sizes_of(np.array([0, 2, 2, 5]))
    array([2, 0, 3])
    """
    # Much faster than np.diff for short arrays.
    sizes: NDArray[Any] = starts[1:] - starts[:-1]
    return sizes


def starts_of(sizes: NDArray[Any], kind: Any = np.int64) -> NDArray[Any]:
    """Return the offsets of lists (all starts and the last end), given their sizes.

    >>> starts_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    starts = np.empty(len(sizes) + 1, kind)
    starts[0] = 0
    sizes.cumsum(out=starts[1:])  # np.cumsum takes longer for short arrays
    return starts


def owners_of(starts: NDArray[Any]) -> NDArray[np.int64]:
    """Return the index of the list that each entry belongs to, given the offsets of lists.

    >>> owners_of(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(len(starts) - 1), sizes_of(starts))


def sums_of(values: NDArray[Any], starts: NDArray[Any]) -> NDArray[np.int64]:
    """Return the sum of the values of each list, given the offsets of lists.

    >>> sums_of(np.array([3, 1, 5]), np.array([0, 2, 2, 3])).tolist()
    [4, 0, 5]
    """
    sums: NDArray[np.int64] = sizes_of(starts_of(values)[starts])
    return sums


def entries_of(starts: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any]:
    """Return the indices of all entries of several lists, one list after the other.

    >>> entries_of(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = starts_of(sizes)
    return np.repeat(starts - ends[:-1], sizes) + np.arange(ends[-1])


def renumbered(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values in ascending order, and each value's index in them.

    The values must be integers >= 0. The result is that of `np.unique` with `return_inverse`, but
    takes only linear time if the values are small.

    >>> [each.tolist() for each in renumbered(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    size = int(values.max(initial=-1)) + 1
    if size > 1000 + 20 * len(values):
        distinct, where = np.unique(values, return_inverse=True)
        return distinct, where
    place = np.zeros(size, np.int64)
    place[values] = 1
    distinct = place.nonzero()[0]
    place[distinct] = np.arange(len(distinct))
    return distinct, place[values]


def concatenated(parts: Sequence[NDArray[Any]], kind: Any = np.int32) -> NDArray[Any]:
    """Concatenate any number of arrays; a single array is returned without a copy."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, kind)


def shifted(parts: Sequence[NDArray[Any]], sizes: NDArray[Any]) -> NDArray[Any]:
    """Convert indices into several lists to indices into the concatenated list.

    `sizes` are the sizes of the lists.

    >>> shifted([np.array([0, 1]), np.array([0])], np.array([2, 1])).tolist()
    [0, 1, 2]
    """
    joined = concatenated(parts)
    if len(parts) < 2:
        return joined
    before = np.repeat(starts_of(sizes)[:-1], [len(each) for each in parts])
    both: NDArray[Any] = joined + before
    return both


def joined_ends(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the offsets of one ragged array that joins several ragged arrays.

    Each of the given arrays has the end offsets of one of them, without the first 0. In the
    example, lists of the sizes 2 and 1 are joined with a list of the size 1:

    >>> joined_ends([np.array([2, 3]), np.array([1])]).tolist()
    [0, 2, 3, 4]
    """
    sizes = [int(each[-1]) if len(each) else 0 for each in parts]
    return np.concatenate([[0], shifted(parts, np.array(sizes, np.int64))])
