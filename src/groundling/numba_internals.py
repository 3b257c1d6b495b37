"""The parts of numba's private interface that Groundling uses.

Any version of numba may change these names. `tests/overlay/test_numba_internals.py` checks each of
them and documents what depends on it. `pyproject.toml` limits numba to the newest tested version.
"""

from __future__ import annotations

from typing import Any

from numba.core import caching as _caching
from numba.core import cgutils as _cgutils
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import event, types
from numba.core import typing as _typing
from numba.core.typing import templates as _templates

__all__ = [
    "NO_REFERENCE_COUNTS", "AttributeTemplate", "CacheLocator", "ConcreteTemplate",
    "InlinedCompiler", "KernelCompiler", "Listener", "array_data", "array_with", "infer_global",
    "install_listener", "keep_compiled", "named_tuple", "read_field", "signature", "stored",
]  # fmt: skip

# These modules have no type stubs.
caching: Any = _caching
cgutils: Any = _cgutils
codegen: Any = _codegen
compiler: Any = _compiler
templates: Any = _templates
signature: Any = _typing.signature  # type: ignore[attr-defined]

NO_REFERENCE_COUNTS: dict[str, Any] = {"_nrt": False}
"""Option of `numba.njit`: kernels that allocate nothing need no reference counts."""

CacheLocator: Any = caching._CacheLocator
"""Base class that decides where compiled code is cached and when it is valid."""

Listener: Any = event.Listener
install_listener: Any = event.install_listener

AttributeTemplate: Any = templates.AttributeTemplate
ConcreteTemplate: Any = templates.ConcreteTemplate
infer_global: Any = templates.infer_global

named_tuple: Any = types.BaseNamedTuple
"""The numba type of named tuples; its `instance_class` is the Python class."""


def array_data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of an array's first item."""
    return builder.extract_value(array, context.data_model_manager[kind].get_field_position("data"))


def array_with(
    context: Any, builder: Any, kinds: tuple[Any, Any], array: Any, fields: dict[str, list[Any]]
) -> Any:
    """Return a view of an array's data with a different type or shape.

    `kinds` are the new and the old type. `fields` has the lists `shape` and `strides`, and lists of
    one value for the others.
    """
    new, old = (cgutils.create_struct_proxy(each) for each in kinds)
    old, new = old(context, builder, value=array), new(context, builder)
    new.meminfo, new.parent, new.itemsize = old.meminfo, old.parent, old.itemsize
    new.data, new.nitems = fields["data"][0], fields["nitems"][0]
    new.shape = cgutils.pack_array(builder, fields["shape"])
    new.strides = cgutils.pack_array(builder, fields["strides"])
    return new._getvalue()


def stored(builder: Any, value: Any) -> Any:
    """Store a value on the stack, and return its address."""
    return cgutils.alloca_once_value(builder, value)


def read_field(builder: Any, address: Any, place: int, load: bool) -> Any:
    """Return a field of a struct in memory or, without `load`, its address."""
    field = cgutils.gep_inbounds(builder, address, 0, place)
    return builder.load(field) if load else field


class _Environments:
    """A code generator without numba's environment objects.

    Inlined functions do not need these objects.
    """

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Ignore the environment object."""


class _KernelLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code library of a kernel, optimised in one pass after inlining.

    By default, numba optimises each function by itself and then the whole module twice, with a
    pass that removes reference counts in between.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)


class _InlinedLibrary(_KernelLibrary):
    """The code of a function that is inlined into its callers.

    The function is optimised in its caller. Skipping its own optimisation and machine code saves a
    third of the compilation time.
    """

    @property
    def codegen(self) -> Any:
        return _Environments(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class KernelCompiler(compiler.Compiler):  # type: ignore[misc]
    """The compiler for kernels that Python calls (numba's `pipeline_class`)."""

    library: Any = _KernelLibrary

    def __init__(self, typing: Any, target: Any, library: Any, *given: Any) -> None:
        if not library:
            library = self.library(target.codegen(), self.library.__name__)
            library.enable_object_caching()
        super().__init__(typing, target, library, *given)


class InlinedCompiler(KernelCompiler):
    """The compiler for functions that are always inlined."""

    library = _InlinedLibrary


def keep_compiled(dispatcher: Any, locator: Any) -> None:
    """Make a dispatcher cache its compiled code in the folder of a locator class.

    Raises `RuntimeError` if the locator has no folder for the compiled code.
    """

    class Kept(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = [locator]  # noqa: RUF012

    class Cache(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Kept

    dispatcher._cache = Cache(dispatcher.py_func)
