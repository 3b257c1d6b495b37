"""Compiling kernels, kept on disk where that is possible; saying so while it lasts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
from numba.core import event

from groundling.errors import GroundlingWarning

__all__ = ["COMPILING", "announced", "njit"]

F = TypeVar("F", bound=Callable[..., Any])
_UNCACHED = (
    "Compiled kernels cannot be kept: neither the folder of the package nor the user's cache can "
    "be written. Every start compiles anew, for about a minute; set NUMBA_CACHE_DIR to a folder "
    "of your own to avoid it."
)


COMPILING = "compiling kernels, once; this takes a moment"


@contextmanager
def announced(tell: Callable[[str], object]) -> Iterator[None]:
    """Tell once that kernels are being compiled, if some are while the block runs.

    >>> @njit(cache=False)
    ... def half(number):
    ...     return number / 2
    >>> with announced(print):
    ...     half(4.0), half(6.0)
    compiling kernels, once; this takes a moment
    (2.0, 3.0)
    """
    with event.install_listener("numba:compile", _Once(tell)):
        yield


class _Once(event.Listener):
    """Tells of the first compilation."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self.tell: Callable[[str], object] | None = tell

    def on_start(self, event: object) -> None:
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell(COMPILING)

    def on_end(self, event: object) -> None:
        pass


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
