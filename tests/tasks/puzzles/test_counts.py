"""The proof by counting against all ways to give blocks to lines."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.tasks.puzzles.planner import can_be_counted_out


def by_enumeration(grid, k):
    blocks = np.argwhere(grid)
    for choice in itertools.product((0, 1), repeat=len(blocks)):
        taken = np.array(choice, dtype=bool)
        rows = np.bincount(blocks[taken, 0], minlength=1)
        columns = np.bincount(blocks[~taken, 1], minlength=1)
        if not (rows % k).any() and not (columns % k).any():
            return True
    return False


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.data())
def test_counting_agrees_with_enumeration(height, width, k, data):
    cells = data.draw(
        st.lists(st.booleans(), min_size=height * width, max_size=height * width).filter(
            lambda cells: sum(cells) <= 10
        )
    )
    grid = np.array(cells, dtype=bool).reshape(height, width)
    assert can_be_counted_out(grid, k, 10_000) is by_enumeration(grid, k)


def test_counting_stops_at_its_limit():
    grid = np.random.default_rng(1).random((12, 12)) < 0.7
    assert can_be_counted_out(grid, 5, 0) is None
