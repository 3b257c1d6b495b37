"""Distinct values of an array, and the index of each item among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.ragged import starts_of

Numbers = NDArray[Any]

_SOME = 2**18  # keys per chunk
_MOST_EMPTY = 40  # maximum number of table entries per key
_COUNT = np.array([each.bit_count() for each in range(256)], np.uint8)  # bits set in each byte
_BELOW = (2 ** np.arange(8) - 1).astype(np.uint8)  # the bits below a bit


def distinct_keys(keys: NDArray[np.int64], nodes: int) -> tuple[NDArray[np.int64], Numbers]:
    """Return the distinct keys and the index of each item, like `np.unique` without sorting.

    Keys are `set << 32 | node`. A table with one bit for each (set, node) pair marks the keys that
    occur. The index of a key is the number of bits set before it. The table is small, and the
    time is linear in the number of keys.

    >>> [each.tolist() for each in distinct_keys(np.array([1 << 32, 2, 1 << 32]), 3)]
    [[2, 4294967296], [1, 0, 1]]
    """
    if not len(keys):
        return keys, keys
    size = (int(keys.max() >> 32) + 1) * nodes
    if size > _MOST_EMPTY * len(keys):
        distinct, where = np.unique(keys, return_inverse=True)
        return distinct, where
    seen = np.zeros(size, np.bool_)
    # Chunks fit in the processor cache and limit temporary memory.
    some = [slice(first, first + _SOME) for first in range(0, len(keys), _SOME)]
    for each in some:
        seen[_flat(keys[each], nodes)] = True
    found = np.flatnonzero(seen)
    high = found // nodes
    distinct = high << 32 | (found - high * nodes)
    where = np.empty(len(keys), np.uint32)
    bits = np.packbits(seen, bitorder="little")
    del seen
    before = starts_of(_COUNT[bits], np.int32)  # bits set before each byte
    for each in some:
        flat = _flat(keys[each], nodes)
        byte = flat >> 3
        where[each] = before[byte] + _COUNT[bits[byte] & _BELOW[flat & 7]]
    return distinct, where


def _flat(keys: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
    return (keys >> 32) * nodes + (keys & 0xFFFFFFFF)
