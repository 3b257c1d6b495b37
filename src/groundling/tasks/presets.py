"""Presets and their rows by name: the full system, and the same with a part taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from groundling.errors import SettingError, did_you_mean
from groundling.features.settings import Features
from groundling.follower import Follower
from groundling.inference.settings import Search
from groundling.learning.settings import Learning
from groundling.model.settings import Overlay
from groundling.partner import Partner

__all__ = ["BasePreset", "find_row", "list_rows"]

Preset = TypeVar("Preset")


@dataclass(frozen=True, kw_only=True)
class BasePreset:
    """A follower's settings and those of the environment; tasks add what else they need.

    >>> chosen = BasePreset(
    ...     overlay=Overlay(), features=Features(), learning=Learning(), search=Search()
    ... )
    >>> chosen.follower(seed=3).seed
    3
    """

    overlay: Overlay
    features: Features
    learning: Learning
    search: Search
    environment: Mapping[str, Any] = field(default_factory=dict)
    parser: str = "default"
    partners: tuple[Partner, ...] = ()

    def follower(self, *, seed: int = 0, threads: int = 1) -> Follower:
        """Return a follower with these settings, not yet trained."""
        return Follower(
            overlay=self.overlay,
            features=self.features,
            learning=self.learning,
            search=self.search,
            parser=self.parser,
            seed=seed,
            threads=threads,
            partners=self.partners,
        )


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
