"""Presets and their rows by name: the full system, and the same with a part taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from groundling.errors import SettingError, did_you_mean

__all__ = ["find_row", "list_rows"]

Preset = TypeVar("Preset")


def list_rows(task: str, rows: Mapping[str, Mapping[str, Any]], preset: str) -> tuple[str, ...]:
    """Return the names of a preset's rows, or say which preset may have been meant.

    >>> list_rows("Lamps", {"best": {"full": None}}, "bst")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: Lamps have no preset 'bst'. Did you mean 'best'?
    """
    if preset not in rows:
        raise SettingError(f"{task} have no preset {preset!r}.{did_you_mean(preset, rows)}")
    return tuple(rows[preset])


def find_row(
    task: str,
    presets: Mapping[str, Preset],
    rows: Mapping[str, Mapping[str, Callable[[Preset], Preset]]],
    preset: str,
    row: str,
) -> Preset:
    """Return the settings of a row, or say which name may have been meant.

    >>> find_row("Lamps", {"best": 1}, {"best": {"full": lambda given: given}}, "best", "full")
    1
    """
    known = list_rows(task, rows, preset)
    if row not in known:
        raise SettingError(f"The preset {preset!r} has no row {row!r}.{did_you_mean(row, known)}")
    return rows[preset][row](presets[preset])
