"""Comparing states and actions, some of which refuse to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["among", "equal"]


def among(value: Any, others: Sequence[Any]) -> bool:
    """Tell whether a value is one of several.

    >>> among(1, [3, 2, 1]), among("x", [1])
    (True, False)
    """
    try:
        return value in others
    except Exception:  # some cannot be compared
        return any(equal(value, each) for each in others)


def equal(one: Any, other: Any) -> bool:
    """Tell whether two values are equal; what cannot be compared is not.

    >>> equal(1, 1.0), equal("x", 1)
    (True, False)
    """
    try:
        return one is other or bool(one == other)
    except Exception:
        return False
