"""Array slices and references to named tuples for use in compiled kernels.

Without this module, most of the compilation time goes into two things: slices, for which numba
infers and compiles many checks, and named tuples, which numba splits into the fields of all their
arrays whenever they are passed to a function. `view` and `grid` slice an array without these
checks. `hold` stores a named tuple on the stack, so that functions receive a single address; the
optimiser then removes the address, because all these functions are inlined.
"""

from __future__ import annotations

import os
from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types

from groundling.numba_internals import (
    AttributeTemplate,
    array_data,
    array_with,
    named_tuple,
    read_field,
    signature,
    stored,
)

DEBUG = os.environ.get("GROUNDLING_DEBUG_KERNELS", "") not in ("", "0")
"""Whether kernels check all indices and the sizes of their workspaces."""

PLAIN = bool(getattr(numba.config, "DISABLE_JIT", 0))
"""Whether kernels run in plain Python."""

_extending: Any = extending  # has no type stubs
_primitive: Any = extending.models.PrimitiveModel
_ONE = ir.IntType(64)(1)


# ---- parts of arrays --------------------------------------------------------------------------


@_extending.intrinsic  # type: ignore[untyped-decorator]
def view(typing: Any, array: Any, first: Any, size: Any) -> Any:
    """Return `array[first : first + size]` of a one-dimensional array."""

    def generate(context: Any, builder: Any, kinds: Any, given: Any) -> Any:
        values, first, size = given
        check_range(context, builder, first, size, values, kinds.args[0])
        return _shaped(context, builder, kinds, values, first, [size])

    return signature(array, array, types.intp, types.intp), generate


@_extending.intrinsic  # type: ignore[untyped-decorator]
def grid(typing: Any, array: Any, rows: Any, columns: Any) -> Any:
    """Return the first rows × columns values of an array as a matrix."""

    def generate(context: Any, builder: Any, kinds: Any, given: Any) -> Any:
        values, rows, columns = given
        size = builder.mul(rows, columns)
        check_range(context, builder, size.type(0), size, values, kinds.args[0])
        return _shaped(context, builder, kinds, values, size.type(0), [rows, columns])

    return signature(array.copy(ndim=2), array, types.intp, types.intp), generate


def _shaped(
    context: Any, builder: Any, kinds: Any, array: Any, first: Any, shape: list[Any]
) -> Any:
    """Return a view of an array that starts at the index `first`."""
    old = kinds.args[0]
    data = array_data(context, builder, old, array)
    item = first.type(old.dtype.bitwidth // 8 if old.dtype != types.bool_ else 1)
    total, strides = _ONE, [item]
    for size in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], size))
    for size in shape:
        total = builder.mul(total, size)
    fields = {"data": [builder.gep(data, [first])], "nitems": [total], "shape": shape,
              "strides": strides}  # fmt: skip
    return array_with(context, builder, (kinds.return_type, old), array, fields)


def check_range(context: Any, builder: Any, first: Any, size: Any, array: Any, kind: Any) -> None:
    """In debug mode, let a kernel raise an error if a range is not within an array."""
    if not DEBUG:
        return
    end = builder.add(first, size)
    place = context.data_model_manager[kind].get_field_position("nitems")
    length = builder.extract_value(array, place)
    within = builder.and_(
        builder.icmp_signed("<=", first.type(0), first),
        builder.and_(builder.icmp_signed("<=", first, end), builder.icmp_signed("<=", end, length)),
    )
    with builder.if_then(builder.not_(within), likely=False):
        text = "Indices must be within the array. Check the kernel that reads or writes it."
        context.call_conv.return_user_exc(builder, IndexError, (text,))


# ---- named tuples by address ------------------------------------------------------------------


class Held(types.Type):
    """The numba type of the address of a named tuple."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.instance_class = kind, kind.instance_class
        super().__init__(f"held {self.instance_class.__name__} {kind._code}")

    @property
    def key(self) -> Any:
        """The type of the held named tuple, which identifies this type to numba."""
        return self.kind

    def field(self, name: str) -> Any:
        """Return the type of a field; a nested named tuple is also passed by address."""
        kind = self.kind[self.kind.fields.index(name)]
        return Held(kind) if isinstance(kind, named_tuple) else kind


@extending.register_model(Held)
class _HeldModel(_primitive):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, manager[kind.kind].get_value_type().as_pointer())


@_extending.intrinsic  # type: ignore[untyped-decorator]
def hold(typing: Any, given: Any) -> Any:
    """Store a named tuple on the stack, and return its address.

    The address is valid until the calling function returns.
    """

    def generate(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return stored(builder, values[0])

    return signature(Held(given), given), generate


@_extending.infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = Held

    def generic_resolve(self, held: Any, name: str) -> Any:
        return held.field(name) if name in held.kind.fields else None


@_extending.lower_getattr_generic(Held)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, held: Any, address: Any, name: str) -> Any:
    place = held.kind.fields.index(name)
    return read_field(builder, address, place, load=not isinstance(held.field(name), Held))


# ---- plain Python -----------------------------------------------------------------------------


def _view(array: Any, first: Any, size: Any) -> Any:
    return array[int(first) : int(first) + int(size)]


def _grid(array: Any, rows: Any, columns: Any) -> Any:
    return array[: int(rows) * int(columns)].reshape(int(rows), int(columns))


def _same(given: Any) -> Any:
    return given


if PLAIN:
    view, grid, hold = _view, _grid, _same
