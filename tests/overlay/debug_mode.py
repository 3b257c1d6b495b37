"""What only debug mode finds; `test_semirings.py` runs this file in it, and in plain Python.

Run as `GROUNDLING_DEBUG_KERNELS=1 pytest tests/overlay/debug_mode.py`.
"""

import numpy as np
import pytest

from groundling.array_views import DEBUG, PLAIN, grid, view
from groundling.compiler import compiled, njit
from groundling.overlay import simd
from tests.overlay.semirings import CASES, make


def test_debug_mode_is_on():
    assert DEBUG


@pytest.mark.parametrize(
    ("name", "field"),
    [("graph, tiles", "rows"), ("graph, tiles", "asked"), ("flat", "rows")],
)
def test_debug_mode_finds_a_workspace_that_is_too_small(name, field):
    made = make(next(each for each in CASES if str(each) == name))
    [space] = made.scorer._workspaces
    whole = getattr(space.chart, field)
    small = space.chart._replace(**{field: whole[: len(whole) // 2]})
    made.scorer._workspaces = [space._replace(chart=small)]
    with pytest.raises((AssertionError, IndexError)):
        made.scorer.loss(made.theta)


@njit(cache=False)
def read(array, place):
    return simd.total(simd.load(array, place))


@njit(cache=False)
def write(array, place):
    simd.store(array, place, simd.spread(1.0))


@njit(cache=False)
def gather(array, index):
    return simd.total(simd.fetch(array, 0, index, 0))


def test_debug_mode_checks_eights():
    array, index = np.ones(10), np.arange(8, dtype=np.uint32)
    assert read(array, 2) == gather(array, index) == 8
    write(array, 2)
    index[5] = 10
    for job in (lambda: read(array, 3), lambda: write(array, -1), lambda: gather(array, index)):
        with pytest.raises(IndexError, match=r"must be within|out of bounds"):
            job()


@compiled
def sum_view(array, first, size):
    return view(array, first, size).sum()


@compiled
def sum_grid(array, rows, columns):
    return grid(array, rows, columns).sum()


@pytest.mark.skipif(PLAIN, reason="NumPy slices are views within the array in any case")
def test_debug_mode_checks_views():
    array = np.ones(10)
    assert sum_view(array, 2, 8) == sum_grid(array, 2, 4) == 8
    for job in (
        lambda: sum_view(array, 3, 8), lambda: sum_view(array, -1, 4),
        lambda: sum_view(array, 4, -1), lambda: sum_grid(array, 3, 4),
    ):  # fmt: skip
        with pytest.raises(IndexError, match="must be within"):
            job()
