"""Eight numbers at once do what NumPy does with each."""

import numba
import numpy as np
import pytest

from groundling.overlay import vectors
from groundling.overlay.vectors import LANES, lane_rows


@numba.njit
def combine(one, other, number, place, written):
    first, second = vectors.load(one, place), vectors.load(other, place)
    vectors.store(written, 0, first + second)
    vectors.store(written, 8, first * second)
    vectors.store(written, 16, number * second)
    vectors.store(written, 24, vectors.divided(first, second))
    vectors.store(written, 32, vectors.larger(first, second))
    vectors.store(written, 40, vectors.spread(number) + second)
    return vectors.total(first), vectors.largest(first)


@numba.njit
def fetch(array, first, index, place, none, written):
    eight = vectors.fetch(array, first, index, place)
    vectors.store(written, 0, eight)
    vectors.store(written, 8, vectors.without(eight, index, place, none))


@numba.njit
def between(low, array, high):
    return vectors.between(low, vectors.load(array, 0), high)


def test_vectors_calculate_as_numpy_does():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=20), rng.random(20)
    other[7] = 0.0
    written = np.zeros(48)
    total, largest = combine(one, other, 3.0, 5, written)
    first, second = one[5:13], other[5:13]
    quotient = np.divide(first, second, out=np.zeros(8), where=second > 0)
    expected = [
        first + second, first * second, 3 * second, quotient, np.maximum(first, second), 3 + second,
    ]  # fmt: skip
    np.testing.assert_allclose(written.reshape(6, 8), expected, rtol=1e-15)
    assert total == pytest.approx(first.sum(), rel=1e-14)
    assert largest == first.max()


def test_vectors_fetch_by_index():
    array, written = np.arange(20.0), np.zeros(16)
    index = np.array([9, 0, 1, 2, 3, 3, 4, 0, 2], np.uint32)
    fetch(array, 10, index, 1, 3, written)
    assert written[:8].tolist() == [10, 11, 12, 13, 13, 14, 10, 12]
    assert written[8:].tolist() == [10, 11, 12, 0, 0, 14, 10, 12]


@pytest.mark.parametrize("bad", [0.0, -1.0, 1.0, np.nan, np.inf])
def test_vectors_tell_when_one_number_is_out_of_range(bad):
    assert between(0.0, np.full(8, 0.5), 1.0)
    for place in range(LANES):
        numbers = np.full(8, 0.5)
        numbers[place] = bad
        assert not between(0.0, numbers, 1.0)


def test_rows_of_eight_begin_where_the_cache_does():
    for count in range(1, 6):
        rows = lane_rows(count)
        assert len(rows) == LANES * count
        assert rows.ctypes.data % 64 == 0
