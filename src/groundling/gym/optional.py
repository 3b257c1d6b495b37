"""Optional libraries that are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groundling.errors import GroundlingError


def require(library: str) -> Any:
    """Return an imported library; if it is missing, the error says how to install it.

    >>> require("math").sqrt(4.0)
    2.0
    >>> require("gymnasiumm")
    Traceback (most recent call last):
        ...
    groundling.errors.GroundlingError: gymnasiumm must be installed to use this feature. Run
    `pip install 'groundling[gym]'`.
    """
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        missing = (error.name or library).split(".")[0]
        raise GroundlingError(
            f"{missing} must be installed to use this feature. Run `pip install 'groundling[gym]'`."
        ) from error
