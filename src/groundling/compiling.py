"""Compiling kernels, kept on disk where that is possible."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba

from groundling.errors import GroundlingWarning

__all__ = ["njit"]

F = TypeVar("F", bound=Callable[..., Any])
_UNCACHED = (
    "Compiled kernels cannot be kept: neither the folder of the package nor the user's cache can "
    "be written. Every start compiles anew, for about a minute; set NUMBA_CACHE_DIR to a folder "
    "of your own to avoid it."
)


def njit(function: F | None = None, *, cache: bool = True, **options: Any) -> Any:
    """Compile a function as `numba.njit` does; go on uncached where nothing can be written.

    >>> @njit(cache=False)
    ... def double(number):
    ...     return 2 * number
    >>> double(4)
    8
    """
    if function is None:
        return lambda chosen: njit(chosen, cache=cache, **options)
    try:
        return numba.njit(cache=cache, **options)(function)
    except RuntimeError as error:
        if not cache or "cache" not in str(error):
            raise
    if not _told:
        _told.add(True)
        warnings.warn(_UNCACHED, GroundlingWarning, stacklevel=2)
    return numba.njit(cache=False, **options)(function)


_told: set[bool] = set()  # one warning is enough, however many kernels there are
