"""Proof by counting: whether every block can be given to its row or its column at all.

Each line must be struck a multiple of k blocks along. Leave the order of the strikes out of
account, and a puzzle becomes an integer program: give each block to its row or its column such
that every line gets a multiple of k. SciPy's branch and bound (HiGHS) decides it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

_INFEASIBLE = 2  # the status by which HiGHS says so


def can_be_counted_out(grid: npt.NDArray[np.bool_], k: int, limit: int) -> bool | None:
    """Tell whether each block can be given to a line such that all lines get multiples of k.

    None means that it is not decided after `limit` nodes of branch and bound.

    >>> can_be_counted_out(np.array([[True, True], [False, True]]), 2, 100)
    False
    """
    blocks, (height, width) = np.argwhere(grid), grid.shape
    lines, count = height + width, len(blocks)
    sizes = np.concatenate([grid.sum(axis=1), grid.sum(axis=0)])
    # Unknowns: of each block, whether it is given to its row; of each line, how often it is
    # struck. A row is given k blocks a strike; a column is given all of its blocks but those.
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
