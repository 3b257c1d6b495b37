"""All that Groundling takes from numba beyond its documented interface, in one place.

Any version of numba may change these names. `tests/overlay/test_internals.py` checks each one and
says what depends on it; `pyproject.toml` caps numba at the newest version that was tested.
"""

from __future__ import annotations

from typing import Any

from numba.core import caching, cgutils, event, types
from numba.core.typing import signature, templates

__all__ = [
    "NO_REFERENCE_COUNTS", "CacheLocator", "ConcreteTemplate", "Listener", "array_data",
    "infer_global", "install_listener", "keep_compiled", "named_tuple", "signature",
]  # fmt: skip

NO_REFERENCE_COUNTS: dict[str, Any] = {"_nrt": False}
"""Option of `numba.njit`: kernels that allocate nothing need no reference counts."""

CacheLocator: Any = caching._CacheLocator
"""Says where compiled code is kept, and for which sources it is valid."""

Listener: Any = event.Listener
install_listener: Any = event.install_listener

ConcreteTemplate: Any = templates.ConcreteTemplate
infer_global: Any = templates.infer_global

named_tuple: Any = types.BaseNamedTuple
"""The type of named tuples, which has the class of a tuple as `instance_class`."""


def array_data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of an array's first item."""
    return cgutils.create_struct_proxy(kind)(context, builder, value=array).data


def keep_compiled(dispatcher: Any, locator: Any) -> None:
    """Keep what a dispatcher compiles where a class of locators says.

    Raises `RuntimeError` where the locator has no place for it.
    """

    class Kept(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = [locator]  # noqa: RUF012

    class Cache(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Kept

    dispatcher._cache = Cache(dispatcher.py_func)
