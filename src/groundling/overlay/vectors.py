"""Eight numbers at once, for kernels: a type of its own, which the compiler keeps in registers.

A compiler does the turns of a loop side by side only in bundles, and what is left over one by one.
Rows of charts are so short that most would be left over. Kernels that lay rows out in eights, and
calculate with them as they would with numbers, leave nothing over.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.core import types
from numba.core import typing as _typing
from numba.core.typing import templates as _templates
from numba.extending import intrinsic, models, register_model
from numba.extending import lower_builtin as _lower_builtin
from numpy.typing import NDArray

__all__ = [
    "LANES", "between", "divided", "fetch", "lane_rows", "larger", "largest", "load", "spread",
    "store", "total", "without",
]  # fmt: skip

LANES = 8  # candidates or word sets that are done side by side

# What has no types.
cgutils: Any = _cgutils
typing: Any = _typing
signature = typing.signature
templates: Any = _templates
primitive: Any = models.PrimitiveModel
lower_builtin: Any = _lower_builtin
_DOUBLE, _INTEGER = ir.DoubleType(), ir.IntType(32)
_EIGHT, _INDICES = ir.VectorType(_DOUBLE, LANES), ir.VectorType(_INTEGER, LANES)
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


class _Eight(types.Type):
    """Eight numbers; only kernels have them."""


_eight = _Eight("eight")


@register_model(_Eight)
class _Model(primitive):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _EIGHT)


def _at(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Return where eight numbers of an array begin."""
    data = cgutils.create_struct_proxy(kind)(context, builder, value=array).data
    return builder.bitcast(builder.gep(data, [place]), _EIGHT.as_pointer())


def _all_alike(builder: Any, number: Any) -> Any:
    empty = ir.Constant(_EIGHT, ir.Undefined)
    one = builder.insert_element(empty, number, _INTEGER(0))
    return builder.shuffle_vector(one, empty, ir.Constant(_INDICES, [0] * LANES))


def _load(context: Any, array: Any, place: Any) -> Any:
    """Return eight numbers of an array from a place on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.load(_at(context, builder, signature.args[0], *given), align=8)

    return signature(_eight, array, types.intp), generate


def _store(context: Any, array: Any, place: Any, eight: Any) -> Any:
    """Write eight numbers into an array from a place on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        builder.store(given[2], _at(context, builder, signature.args[0], *given[:2]), align=8)
        return context.get_dummy_value()

    return signature(types.void, array, types.intp, _eight), generate


def _spread(context: Any, number: Any) -> Any:
    """Return a number eight times."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _all_alike(builder, given[0])

    return signature(_eight, types.float64), generate


def _fetch(context: Any, array: Any, first: Any, index: Any, place: Any) -> Any:
    """Return array[first + index[place + k]] for k = 0 … 7."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data, indices = (
            cgutils.create_struct_proxy(signature.args[i])(context, builder, value=given[i]).data
            for i in (0, 2)
        )
        data = builder.gep(data, [given[1]])
        found = ir.Constant(_EIGHT, ir.Undefined)
        for k in range(LANES):
            entry = builder.gep(indices, [builder.add(given[3], given[3].type(k))])
            entry = builder.zext(builder.load(entry), ir.IntType(64))
            number = builder.load(builder.gep(data, [entry]))
            found = builder.insert_element(found, number, _INTEGER(k))
        return found

    return signature(_eight, array, types.intp, index, types.intp), generate


def _without(context: Any, eight: Any, index: Any, place: Any, none: Any) -> Any:
    """Return eight numbers, with 0 where index[place + k] is `none`."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        indices = cgutils.create_struct_proxy(signature.args[1])(context, builder, value=given[1])
        there = builder.bitcast(builder.gep(indices.data, [given[2]]), _INDICES.as_pointer())
        empty = ir.Constant(_INDICES, ir.Undefined)
        none = builder.insert_element(empty, builder.trunc(given[3], _INTEGER), _INTEGER(0))
        none = builder.shuffle_vector(none, empty, ir.Constant(_INDICES, [0] * LANES))
        some = builder.icmp_unsigned("!=", builder.load(there, align=4), none)
        return builder.select(some, given[0], ir.Constant(_EIGHT, [0.0] * LANES))

    return signature(_eight, _eight, index, types.intp, types.intp), generate


def _divided(context: Any, above: Any, below: Any) -> Any:
    """Return quotients; where one would be by 0, 0."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        none = ir.Constant(_EIGHT, [0.0] * LANES)
        some = builder.fcmp_ordered(">", given[1], none)
        return builder.select(some, builder.fdiv(*given), none)

    return signature(_eight, _eight, _eight), generate


def _between(context: Any, low: Any, eight: Any, high: Any) -> Any:
    """Tell whether all eight numbers are between two others."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        above = builder.fcmp_ordered(">", given[1], _all_alike(builder, given[0]))
        below = builder.fcmp_ordered("<", given[1], _all_alike(builder, given[2]))
        both = builder.bitcast(builder.and_(above, below), ir.IntType(LANES))
        return builder.icmp_unsigned("==", both, ir.IntType(LANES)(2**LANES - 1))

    return signature(types.boolean, types.float64, _eight, types.float64), generate


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_unordered(">", one, other), one, other)


def _halved(builder: Any, eight: Any, join: Any) -> Any:
    """Join halves, their halves, and the last two."""
    size = LANES
    while size > 1:
        size //= 2
        low, high = (
            builder.shuffle_vector(
                eight, eight, ir.Constant(ir.VectorType(_INTEGER, size), [*range(i, i + size)])
            )
            for i in (0, size)
        )
        eight = join(low, high)
    return builder.extract_element(eight, _INTEGER(0))


def _larger_ones(context: Any, one: Any, other: Any) -> Any:
    """Return the larger number of each two; what is not a number is the larger one."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _larger(builder, *given)

    return signature(_eight, _eight, _eight), generate


def _largest(context: Any, eight: Any) -> Any:
    """Return the largest of eight numbers."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _halved(builder, given[0], lambda one, other: _larger(builder, one, other))

    return signature(types.float64, _eight), generate


def _total(context: Any, eight: Any) -> Any:
    """Return the sum of eight numbers."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _halved(builder, given[0], builder.fadd)

    return signature(types.float64, _eight), generate


# As kernels call them: without the context.
load: Any = intrinsic(_load)
store: Any = intrinsic(_store)
spread: Any = intrinsic(_spread)
fetch: Any = intrinsic(_fetch)
without: Any = intrinsic(_without)
larger: Any = intrinsic(_larger_ones)
largest: Any = intrinsic(_largest)
divided: Any = intrinsic(_divided)
between: Any = intrinsic(_between)
total: Any = intrinsic(_total)


class _Same(templates.ConcreteTemplate):  # type: ignore[misc]
    cases = [  # noqa: RUF012
        signature(_eight, _eight, _eight),
        signature(_eight, types.float64, _eight),
    ]


for _symbol, _name in ((operator.add, "fadd"), (operator.mul, "fmul")):
    templates.infer_global(_symbol)(type(f"_Same_{_name}", (_Same,), {}))

    def _both(context: Any, builder: Any, signature: Any, given: Any, name: str = _name) -> Any:
        return getattr(builder, name)(*given, flags=_FUSED)

    def _number_first(
        context: Any, builder: Any, signature: Any, given: Any, name: str = _name
    ) -> Any:
        alike = _all_alike(builder, given[0])
        return getattr(builder, name)(alike, given[1], flags=_FUSED)

    lower_builtin(_symbol, _eight, _eight)(_both)
    lower_builtin(_symbol, types.float64, _eight)(_number_first)
