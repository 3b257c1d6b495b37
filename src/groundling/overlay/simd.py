"""SIMD for kernels: a numba type for vectors of eight doubles.

The compiler unrolls vectorised loops to 16 or 32 iterations, and runs the remaining iterations one
by one. Most chart rows are shorter than that. Kernels therefore pad rows to a multiple of eight,
and compute with vectors of eight, which leaves no remainder.

Every function has two versions: machine code, with bounds checks in debug mode, and NumPy code
(for NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from inspect import Signature
from inspect import signature as signature_of
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, register_jitable, register_model
from numba.extending import lower_builtin as _lower_builtin
from numpy.typing import NDArray

from groundling.array_views import PLAIN, check_range
from groundling.compiler import inner
from groundling.numba_internals import ConcreteTemplate, array_data, infer_global, signature

LANES = 8  # candidates or word sets processed in parallel

lower_builtin: Any = _lower_builtin
primitive: Any = models.PrimitiveModel
_DOUBLE, _INTEGER = ir.DoubleType(), ir.IntType(32)
_EIGHT, _INDICES = ir.VectorType(_DOUBLE, LANES), ir.VectorType(_INTEGER, LANES)
_FUSED = ("contract",)  # as in all kernels: allow fused multiply-add


def lane_rows(count: int) -> NDArray[np.float64]:
    """Return an uninitialised array of rows of eight doubles, aligned to cache lines.

    NumPy may place a row across two cache lines, which doubles the time of each access.

    >>> rows = lane_rows(3)
    >>> len(rows), rows.ctypes.data % 64
    (24, 0)
    """
    room = np.empty(LANES * (count + 1))
    first = -room.ctypes.data // room.itemsize % LANES
    return room[first : first + LANES * count]


@register_jitable
def up_to_eights(count: Any) -> Any:
    """Round a count up to a multiple of eight."""
    return (count + LANES - 1) // LANES * LANES


@inner
def fill(array: Any, count: int, value: Any) -> None:
    """Set the first `count` values of an array."""
    for i in range(np.uint64(count)):
        array[i] = value


class _Eight(types.Type):
    """A vector of eight doubles, which exists only inside kernels."""


_eight = _Eight("eight")


@register_model(_Eight)
class _Model(primitive):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _EIGHT)


def _at(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Return a vector pointer to eight values of an array, from `place` on."""
    data = array_data(context, builder, kind, array)
    check_range(context, builder, place, place.type(LANES), array, kind)
    return builder.bitcast(builder.gep(data, [place]), _EIGHT.as_pointer())


def _all_alike(builder: Any, number: Any) -> Any:
    empty = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    one = builder.insert_element(empty, number, _INTEGER(0))
    return builder.shuffle_vector(one, empty, ir.Constant(_INDICES, [0] * LANES))


def _constant(like: Any, number: float) -> Any:
    return ir.Constant(like, [number] * LANES if like == _EIGHT else number)


def _emits(kinds: Callable[..., Any]) -> Any:
    """Turn a function that emits machine code into an intrinsic with the signature `kinds`."""

    def decorate(emit: Callable[..., Any]) -> Any:
        def typed(context: Any, *given: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                return emit(context, builder, signature.args, *values)

            return kinds(*given), generate

        context, *_ = signature_of(typed).parameters.values()
        parameters = [context, *signature_of(kinds).parameters.values()]
        typed.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        typed.__name__ = emit.__name__
        return intrinsic(typed)

    return decorate


@_emits(lambda array, place: signature(_eight, array, types.intp))
def load(context: Any, builder: Any, kinds: Any, array: Any, place: Any) -> Any:
    """Return eight consecutive values of an array, starting at `place`."""
    return builder.load(_at(context, builder, kinds[0], array, place), align=8)


@_emits(lambda array, place, eight: signature(types.void, array, types.intp, _eight))
def store(context: Any, builder: Any, kinds: Any, array: Any, place: Any, eight: Any) -> Any:
    """Write eight consecutive values to an array, starting at `place`."""
    builder.store(eight, _at(context, builder, kinds[0], array, place), align=8)
    return context.get_dummy_value()


@_emits(lambda number: signature(_eight, types.float64))
def spread(context: Any, builder: Any, kinds: Any, number: Any) -> Any:
    """Return a vector of eight copies of a number."""
    return _all_alike(builder, number)


@_emits(lambda array, first, index, place: signature(_eight, array, types.intp, index, types.intp))
def fetch(context: Any, builder: Any, kinds: Any, *given: Any) -> Any:
    """Return array[first + index[place + k]] for k = 0 … 7."""
    data, indices = (array_data(context, builder, kinds[i], given[i]) for i in (0, 2))
    array, first, index, place = given
    check_range(context, builder, place, place.type(LANES), index, kinds[2])
    found = ir.Constant(_EIGHT, ir.Undefined)
    for k in range(LANES):
        entry = builder.load(builder.gep(indices, [builder.add(place, place.type(k))]))
        entry = builder.add(first, builder.zext(entry, first.type))
        check_range(context, builder, entry, entry.type(1), array, kinds[0])
        number = builder.load(builder.gep(data, [entry]))
        found = builder.insert_element(found, number, _INTEGER(k))
    return found


@_emits(lambda above, below: signature(above, above, above))
def quotient(context: Any, builder: Any, kinds: Any, above: Any, below: Any) -> Any:
    """Divide numbers or vectors; the result is 0 where the divisor is not positive."""
    zero = _constant(above.type, 0.0)
    some = builder.fcmp_ordered(">", below, zero)
    return builder.select(some, builder.fdiv(above, below), zero)


@_emits(lambda one, other: signature(one, one, one))
def difference(context: Any, builder: Any, kinds: Any, one: Any, other: Any) -> Any:
    """Subtract numbers or vectors; the result is -inf where `other` is -inf."""
    nothing = _constant(one.type, float("-inf"))
    some = builder.fcmp_ordered(">", other, nothing)
    return builder.select(some, builder.fsub(one, other), nothing)


@_emits(lambda eight: signature(types.float64, _eight))
def total(context: Any, builder: Any, kinds: Any, eight: Any) -> Any:
    """Return the sum of a vector, by repeatedly adding its halves."""
    size = LANES
    while size > 1:
        size //= 2
        low, high = (
            builder.shuffle_vector(
                eight, eight, ir.Constant(ir.VectorType(_INTEGER, size), [*range(i, i + size)])
            )
            for i in (0, size)
        )
        eight = builder.fadd(low, high)
    return builder.extract_element(eight, _INTEGER(0))


class _Same(ConcreteTemplate):  # type: ignore[misc]
    cases = [  # noqa: RUF012
        signature(_eight, _eight, _eight),
        signature(_eight, types.float64, _eight),
    ]


for _symbol, _name in ((operator.add, "fadd"), (operator.mul, "fmul")):
    infer_global(_symbol)(type(f"_Same_{_name}", (_Same,), {}))

    def _lower(context: Any, builder: Any, kinds: Any, given: Any, name: str = _name) -> Any:
        one = given[0] if kinds.args[0] == _eight else _all_alike(builder, given[0])
        return getattr(builder, name)(one, given[1], flags=_FUSED)

    lower_builtin(_symbol, _eight, _eight)(_lower)
    lower_builtin(_symbol, types.float64, _eight)(_lower)


# ---- plain Python -----------------------------------------------------------------------------


def _eight_of(array: Any, place: Any) -> Any:
    if not 0 <= place <= len(array) - LANES:
        raise IndexError("Indices must be within the array.")
    return array[int(place) : int(place) + LANES]


def _read(array: Any, place: Any) -> Any:
    return _eight_of(array, place).copy()


def _write(array: Any, place: Any, eight: Any) -> None:
    _eight_of(array, place)[:] = eight


def _gather(array: Any, first: Any, index: Any, place: Any) -> Any:
    return array[int(first) + _eight_of(index, place).astype(np.int64)]


def _divide(above: Any, below: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0.0, np.divide(above, below), 0.0)[()]


def _subtract(one: Any, other: Any) -> Any:
    with np.errstate(invalid="ignore"):
        return np.where(other > -np.inf, np.subtract(one, other), -np.inf)[()]


if PLAIN:
    load, store, fetch, spread = _read, _write, _gather, partial(np.full, LANES)
    total, quotient, difference = np.sum, _divide, _subtract
