"""Kernel compilation: options, a cache for compiled code, and a debug mode.

numba keys its cache by the source file of the called function, and misses changes in the
functions it calls. Here compiled code is cached in a folder named after a digest of all kernel
sources, the versions of numba, llvmlite and NumPy, and the processor.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache as once
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from llvmlite import binding
from numba import extending
from platformdirs import user_cache_path

from groundling.array_views import DEBUG, Held
from groundling.errors import GroundlingWarning
from groundling.numba_internals import (
    NO_REFERENCE_COUNTS,
    CacheLocator,
    InlinedCompiler,
    KernelCompiler,
    Listener,
    install_listener,
    keep_compiled,
    named_tuple,
)

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

COMPILING = "compiling kernels, once; this takes a moment"

_PACKAGE = Path(__file__).parent
_TABLES = "features/feature_tables.py"  # kernels receive its named tuples
_NAMES = b"groundling.compiler", b"groundling.numba_internals"  # kernel modules import one
_KEPT = 4  # folders of other digests to keep, in addition to those used within a day
_DAY = 24 * 3600.0
_UNCACHED = (
    "Compiled kernels cannot be cached, because neither the package folder nor the user's cache "
    "folder is writable. Every start compiles them again, for about a minute; set NUMBA_CACHE_DIR "
    "to a writable folder to avoid it."
)


# ---- cache ------------------------------------------------------------------------------------


def kernel_sources() -> list[Path]:
    """Return the source files that compiled kernels depend on.

    These are the modules of the overlay (kernels contain their constants), the module of the
    feature tables, and all modules that compile functions or configure numba.

    >>> {"ties.py", "compiler.py", "recursion.py"} <= {path.name for path in kernel_sources()}
    True
    """
    overlay, tables = _PACKAGE / "overlay", _PACKAGE / _TABLES
    return [
        path
        for path in sorted(_PACKAGE.rglob("*.py"))
        if path.parent == overlay
        or path == tables
        or any(name in path.read_bytes() for name in _NAMES)
    ]


@once
def digest() -> str:
    """Return a digest of everything that compiled kernels depend on."""
    features = binding.get_host_cpu_features().flatten()
    versions = (numba.__version__, llvmlite.__version__, np.__version__)
    built = (*versions, sys.implementation.cache_tag, binding.get_host_cpu_name(), features, DEBUG)
    found = hashlib.sha256(repr(built).encode())
    for path in (Path(__file__), _PACKAGE / "numba_internals.py", *kernel_sources()):
        found.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0")
        found.update(path.read_bytes())
    return found.hexdigest()[:20]


@once
def cache_folder() -> Path | None:
    """Return the cache folder of compiled kernels, or None if no folder is writable.

    The folder is in NUMBA_CACHE_DIR if that is set, and otherwise beside the package or in the
    user's cache. Folders of other digests that were not used recently are deleted.
    """
    chosen = getattr(numba.config, "CACHE_DIR", "")
    roots = [Path(chosen)] if chosen else [_PACKAGE / "__pycache__", user_cache_path("groundling")]
    for root in roots:
        folder = root / "groundling-kernels" / digest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            _clean(folder.parent)
            return folder
    return None


def _clean(folder: Path) -> None:
    """Delete the cache folders of other versions, except those used recently."""
    used: list[tuple[float, Path]] = []
    with suppress(OSError):
        used = sorted(((each.stat().st_mtime, each) for each in folder.iterdir()), reverse=True)
    for last, each in used[_KEPT + 1 :]:
        if time.time() - last > _DAY:
            shutil.rmtree(each, ignore_errors=True)


class _Locator(CacheLocator):  # type: ignore[misc]
    """A numba cache location: the folder named after the digest of the kernel sources."""

    def __init__(self, folder: Path, function: Any, file: Path) -> None:
        self._folder = folder
        self._line = function.__code__.co_firstlineno
        self._file = file

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return a checksum of the function's file; within the package, a constant."""
        own = b"" if self._file.is_relative_to(_PACKAGE) else self._file.read_bytes()
        return hashlib.sha256(own).hexdigest()

    def get_disambiguator(self) -> str:
        return f"{self._line}-{hashlib.sha256(bytes(self._file)).hexdigest()[:8]}"

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Locator | None:
        folder = cache_folder()
        return None if folder is None else cls(folder, function, Path(file))


def njit(function: F | None = None, *, cache: bool = True, **options: Any) -> Any:
    """Compile a function like `numba.njit`; do not cache if no folder is writable.

    >>> @njit(cache=False)
    ... def double(number):
    ...     return 2 * number
    >>> double(4)
    8
    """
    if function is None:
        return lambda chosen: njit(chosen, cache=cache, **options)
    made = numba.njit(boundscheck=DEBUG or None, **options)(function)
    if not cache or made is function or not os.path.exists(function.__code__.co_filename):
        return made
    try:
        keep_compiled(made, _Locator)
    except RuntimeError:
        if not _told:
            _told.add(True)
            warnings.warn(_UNCACHED, GroundlingWarning, stacklevel=2)
    return made


_told: set[bool] = set()  # warn once, not once per kernel


# ---- kernels ----------------------------------------------------------------------------------

_OPTIONS: dict[str, Any] = NO_REFERENCE_COUNTS | {
    "nogil": True, "error_model": "numpy", "fastmath": {"contract"}, "no_cfunc_wrapper": True,
    "pipeline_class": KernelCompiler,
}  # fmt: skip
# Inner kernels need no Python wrapper, which takes time to compile. They are inlined, because
# passing all arrays takes longer than most of the work that they do.
_INNER: dict[str, Any] = _OPTIONS | {
    "no_cpython_wrapper": True, "forceinline": True,
    "pipeline_class": InlinedCompiler,
}  # fmt: skip


def compiled(function: F) -> F:
    """Compile a kernel that Python calls; it must not create arrays.

    >>> @compiled
    ... def double(number):
    ...     return 2 * number
    >>> double(4)
    8
    """
    return cast(F, njit(**_OPTIONS)(function))


def inner(function: F) -> F:
    """Compile a kernel that only other kernels call.

    >>> @inner
    ... def half(number):
    ...     return number / 2
    >>> @compiled
    ... def quarter(number):
    ...     return half(half(number))
    >>> quarter(4.0)
    1.0
    """
    return cast(F, njit(cache=False, **_INNER)(function))


def with_methods(kind: C) -> C:
    """Let kernels call the methods of a named-tuple class.

    Methods are resolved at compile time: each class gets its own machine code.

    >>> from typing import NamedTuple
    >>> @with_methods
    ... class Line(NamedTuple):
    ...     slope: float
    ...     def height(self, place):
    ...         return self.slope * place
    >>> @compiled
    ... def rise(line):
    ...     return line.height(3.0) - line.height(1.0)
    >>> rise(Line(0.5))
    1.0
    """
    for name, method in vars(kind).items():
        if inspect.isfunction(method) and not name.startswith("_") and name not in _known:
            _known.add(name)
            options = _INNER | {"boundscheck": DEBUG or None}
            for kinds in (named_tuple, Held):
                overload_method(kinds, name, jit_options=options)(_finder(name, method))
    return kind


def _finder(name: str, method: Any) -> Any:
    """Return a function that resolves a method name for a type."""

    def find(self: Any, *given: Any) -> Any:
        return getattr(self.instance_class, name, None)

    find.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return find


_known: set[str] = set()
overload_method: Any = extending.overload_method


# ---- announcement -----------------------------------------------------------------------------


@contextmanager
def announced(tell: Callable[[str], object]) -> Iterator[None]:
    """Call `tell` once if kernels are compiled while the block runs.

    >>> @njit(cache=False)
    ... def half(number):
    ...     return number / 2
    >>> with announced(print):
    ...     half(4.0), half(6.0)
    compiling kernels, once; this takes a moment
    (2.0, 3.0)
    """
    with install_listener("numba:compile", _CompileOnce(tell)):
        yield


class _CompileOnce(Listener):  # type: ignore[misc]
    """A numba event listener that calls a function when the first kernel is compiled."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self.tell: Callable[[str], object] | None = tell

    def on_start(self, event: object) -> None:
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell(COMPILING)

    def on_end(self, event: object) -> None:
        pass
