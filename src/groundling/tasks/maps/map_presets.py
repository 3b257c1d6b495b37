"""The two systems for maps, `paper` and `best`, and the rows that take parts of them away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from groundling.tasks.maps.corpus import FOLLOWER, GIVER
from groundling.tasks.presets import Preset, read_presets


@dataclass(frozen=True, kw_only=True)
class MapPreset(Preset):
    """A follower's settings, how dialogues become text for it, and what was published.

    `seeds` is how often it is trained and evaluated: once where no chance is involved.
    """

    parser: str = "chain:english"
    units: str = "mentions"
    speakers: tuple[str, ...] = (GIVER, FOLLOWER)
    fuzzy: bool = True
    seeds: int = 1

    def learns_like(self, other: Preset) -> bool:
        """Tell whether these settings differ from others only in how they search."""
        return replace(self, search=other.search, published=other.published) == other


PRESETS = read_presets("maps", MapPreset, files("groundling.tasks.maps"))
_BEST = PRESETS.select("best")

# Dialogues are read as labels of their lines, most of which name no landmark; a landmark counts
# under its own name, not where it is said again; hardly a plan is right from end to end.
DECLARED: Mapping[str, Any] = {
    "model": _BEST.model,
    "overlay": _BEST.overlay,
    "features": replace(
        _BEST.features, include=r"~$|pass\.|again\.|^event\.", exclude=r"\.[^ ]*[.:]landmark~$"
    ),
    "search": replace(_BEST.search, max_length=None),
}
