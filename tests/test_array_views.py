"""Views inside kernels give what slices give, and held named tuples what their values give."""

from typing import NamedTuple

import numpy as np
import pytest

from groundling.array_views import grid, hold, view
from groundling.compiler import compiled, inner, with_methods


@compiled
def double_part(array, first, size):
    part = view(array, first, size)
    for i in range(len(part)):
        part[i] = 2 * part[i]
    return part.size, part.shape[0], part.strides[0]


@pytest.mark.parametrize("kind", [np.float64, np.int32, np.uint64, np.bool_])
def test_array_views_are_slices(kind):
    array = np.ones(9, kind)
    expected = array.copy()
    expected[2:5] = (2 * expected[2:5]).astype(kind)
    assert double_part(array, np.int32(2), 3) == (3, 3, array.itemsize)
    assert (array == expected).all()


@compiled
def number_cells(array, rows, columns):
    cells = grid(array, rows, columns)
    for i in range(rows):
        for j in range(columns):
            cells[i, j] = 10 * i + j
    return cells[1, 2], cells[:, 1].sum(), cells.size


def test_grids_are_reshaped_arrays():
    array = np.zeros(8)
    assert number_cells(array, 2, 3) == (12, 12, 6)
    assert array.tolist() == [0, 1, 2, 10, 11, 12, 0, 0]


@with_methods
class Point(NamedTuple):
    place: float
    weight: np.ndarray

    def moved_by_weight(self, number):
        return self.place + number * self.weight[1]


class Pair(NamedTuple):
    name: int
    point: Point


@inner
def move(pair, number):
    return pair.name, pair.point.moved_by_weight(number)


@compiled
def move_both(pair, number):
    held = hold(pair)
    return move(held, number), move(pair, number)


def test_held_named_tuples_have_the_fields_and_methods_of_their_values():
    pair = Pair(7, Point(1.0, np.array([0.0, 3.0])))
    assert move_both(pair, 2.0) == ((7, 7.0), (7, 7.0))
