"""Sums for several word sets at once: eight numbers in one register, compiled.

A loop over eight numbers is too short for the compiler to do side by side of its own accord; so
these two sums are written in its own language, for vectors of eight. Their twins in plain Python
are in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = ["LANES", "add_lanes", "lane_rows", "spread_lanes"]

LANES = 8  # word sets that are scored side by side

cgutils: Any = _cgutils  # has no types
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_FUSED = ("contract",)  # as in all kernels: a product and a sum may be rounded once


def lane_rows(count: int) -> NDArray[np.float64]:
    """Return room for rows of eight numbers, none of which lies across two lines of the cache.

    NumPy aligns by less than that, and a row in two lines takes twice as long to read or write.

    >>> rows = lane_rows(3)
    >>> len(rows), rows.ctypes.data % 64
    (24, 0)
    """
    room = np.empty(LANES * (count + 1))
    first = -room.ctypes.data // room.itemsize % LANES
    return room[first : first + LANES * count]


def _signature(amount: Any, label: Any, scratch: Any, table: Any) -> Any:
    return types.void(amount, label, types.int64, types.int64, scratch, table, types.int64)


def _pointers(context: Any, builder: Any, signature: Any, given: Any) -> list[Any]:
    """Return where the four arrays begin: amount, label, scratch, table."""
    return [
        cgutils.create_struct_proxy(signature.args[i])(context, builder, value=given[i]).data
        for i in (0, 1, 4, 5)
    ]


def _vector_at(builder: Any, array: Any, place: Any) -> Any:
    return builder.bitcast(builder.gep(array, [place]), _VECTOR.as_pointer())


def _entry(builder: Any, amount: Any, label: Any, scratch: Any, i: Any) -> tuple[Any, Any]:
    """Return an amount eight times, and where the eight numbers of its label are."""
    place = builder.zext(builder.load(builder.gep(label, [i])), ir.IntType(64))
    one = builder.insert_element(
        ir.Constant(_VECTOR, ir.Undefined), builder.load(builder.gep(amount, [i])),
        ir.Constant(ir.IntType(32), 0),
    )  # fmt: skip
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    all_alike = builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)
    return all_alike, _vector_at(builder, scratch, place)


def _add_lanes(
    context: Any, amount: Any, label: Any, first: Any, last: Any, scratch: Any, table: Any,
    place: Any,
) -> Any:  # fmt: skip
    """table[place + k] = Σ_i amount[i] · scratch[label[i] + k], for k = 0 … 7, first ≤ i < last."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        amounts, labels, rows, sums = _pointers(context, builder, signature, given)
        total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
        with cgutils.for_range_slice(builder, given[2], given[3], given[2].type(1)) as (i, _):
            times, there = _entry(builder, amounts, labels, rows, i)
            product = builder.fmul(times, builder.load(there, align=8), flags=_FUSED)
            builder.store(builder.fadd(builder.load(total), product, flags=_FUSED), total)
        builder.store(builder.load(total), _vector_at(builder, sums, given[6]), align=8)
        return context.get_dummy_value()

    return _signature(amount, label, scratch, table), generate


def _spread_lanes(
    context: Any, amount: Any, label: Any, first: Any, last: Any, scratch: Any, table: Any,
    place: Any,
) -> Any:  # fmt: skip
    """scratch[label[i] + k] += amount[i] · table[place + k], for k = 0 … 7, first ≤ i < last."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        amounts, labels, rows, sums = _pointers(context, builder, signature, given)
        count = builder.load(_vector_at(builder, sums, given[6]), align=8)
        with cgutils.for_range_slice(builder, given[2], given[3], given[2].type(1)) as (i, _):
            times, there = _entry(builder, amounts, labels, rows, i)
            product = builder.fmul(times, count, flags=_FUSED)
            builder.store(
                builder.fadd(builder.load(there, align=8), product, flags=_FUSED), there, align=8
            )
        return context.get_dummy_value()

    return _signature(amount, label, scratch, table), generate


# As kernels call them: without the context.
add_lanes: Any = intrinsic(_add_lanes)
spread_lanes: Any = intrinsic(_spread_lanes)
