"""Eight numbers at once do what NumPy does with each."""

import numba
import numpy as np
import pytest

from groundling.overlay import simd
from groundling.overlay.simd import LANES, lane_rows


@numba.njit
def combine(one, other, number, place, written):
    first, second = simd.load(one, place), simd.load(other, place)
    simd.store(written, 0, first + second)
    simd.store(written, 8, first * second)
    simd.store(written, 16, number * second)
    simd.store(written, 24, simd.quotient(first, second))
    simd.store(written, 32, simd.spread(number) + second)
    simd.store(written, 40, simd.difference(first, second))
    return simd.total(first)


@numba.njit
def fetch(array, first, index, place, written):
    simd.store(written, 0, simd.fetch(array, first, index, place))


@numba.njit
def over(one, other):
    return simd.quotient(one, other), simd.difference(one, other)


def test_simd_calculate_as_numpy_does():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=20), rng.random(20)
    other[7] = 0.0
    written = np.zeros(48)
    total = combine(one, other, 3.0, 5, written)
    first, second = one[5:13], other[5:13]
    quotient = np.divide(first, second, out=np.zeros(8), where=second > 0)
    expected = [
        first + second, first * second, 3 * second, quotient, 3 + second, first - second,
    ]  # fmt: skip
    np.testing.assert_allclose(written.reshape(6, 8), expected, rtol=1e-15)
    assert total == pytest.approx(first.sum(), rel=1e-14)


def test_simd_fetch_by_index():
    array, written = np.arange(20.0), np.zeros(8)
    index = np.array([9, 0, 1, 2, 3, 3, 4, 0, 2], np.uint32)
    fetch(array, 10, index, 1, written)
    assert written.tolist() == [10, 11, 12, 13, 13, 14, 10, 12]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (6.0, 2.0, (3.0, 4.0)),
        (6.0, 0.0, (0.0, 6.0)),
        (6.0, -np.inf, (0.0, -np.inf)),
        (-np.inf, -np.inf, (0.0, -np.inf)),
        (-np.inf, 2.0, (-np.inf, -np.inf)),
    ],
)
def test_simd_quotients_and_differences_of_nothing_are_nothing(one, other, expected):
    assert over(one, other) == expected
    written = np.zeros(48)
    combine(np.full(8, one), np.full(8, other), 1.0, 0, written)
    assert (written[24:32] == expected[0]).all()
    assert (written[48:] == expected[1]).all()


def test_rows_of_eight_begin_where_the_cache_does():
    for count in range(1, 6):
        rows = lane_rows(count)
        assert len(rows) == LANES * count
        assert rows.ctypes.data % 64 == 0
