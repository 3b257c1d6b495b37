"""Sums of losses and gradients over shards, added in a reproducible order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from groundling.overlay.batch import Reals

Place = tuple[int, int]
"""A node of the tree: its level, and its index in this level. Shards have level 0."""


@dataclass(frozen=True)
class Total:
    """A loss and its gradient, with the total weight of the demonstrations."""

    loss: float
    gradient: Reals
    weight: float

    def __add__(self, other: Total) -> Total:
        return Total(
            self.loss + other.loss, self.gradient + other.gradient, self.weight + other.weight
        )


class TreeSum:
    """A sum over shards in the order of a binary tree, reproducible to the last bit.

    Neighbouring shards are added first, then pairs of pairs. Each addition has the same operands,
    whichever process evaluates a shard and in whatever order results arrive. If neighbouring shards
    come from the same process, at most about 2 · log₂(shards) partial gradients are in memory.

    Parameters
    ----------
    shards
        Number of shards.

    Examples
    --------
    >>> import numpy as np
    >>> one, other = TreeSum(3), TreeSum(3)
    >>> for shard in (2, 0):
    ...     one.add((0, shard), Total(0.1 * shard, np.ones(1), 1.0))
    >>> other.add((0, 1), Total(0.1, np.ones(1), 1.0))
    >>> sorted(one.parts), one.whole
    ([(0, 0), (1, 1)], None)
    >>> one.update(other.parts)
    >>> one.whole.weight
    3.0
    """

    def __init__(self, shards: int) -> None:
        self.shards = shards
        self.parts: dict[Place, Total] = {}

    def add(self, place: Place, total: Total) -> None:
        """Add the total of a node of the tree, and merge the pairs that are now complete."""
        level, number = place
        while (1 << level) < self.shards:
            beside = (level, number ^ 1)
            found = self.parts.pop(beside, None)
            if found is not None:
                total = total + found if number % 2 == 0 else found + total
            elif number % 2 or (number + 1) << level < self.shards:
                break  # its neighbour has no total yet
            level, number = level + 1, number // 2
        self.parts[level, number] = total

    def update(self, parts: Mapping[Place, Total]) -> None:
        """Add the partial sums of another tree to this one."""
        for place, total in parts.items():
            self.add(place, total)

    @property
    def whole(self) -> Total | None:
        """The sum over all shards; None while any shard is missing."""
        if len(self.parts) != 1:
            return None
        [((level, number), total)] = self.parts.items()
        return total if number == 0 and (1 << level) >= self.shards else None
