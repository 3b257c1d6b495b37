"""Presets of the `maps` task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from groundling.tasks.maps.corpus import FOLLOWER, GIVER
from groundling.tasks.presets import Preset, read_presets


@dataclass(frozen=True, kw_only=True)
class MapPreset(Preset):
    """Settings of a follower and of how it reads dialogues, with published scores.

    `units` are the text units: `"mentions"` of landmarks (see `read_mentions`) or the giver's
    `"sentences"` (see `read_sentences`). `speakers` and `fuzzy`, which also matches similar words,
    apply only to mentions. `seeds` is the number of training runs; 1 if training is deterministic.
    """

    parser: str = "chain:english"
    units: str = "mentions"
    speakers: tuple[str, ...] = (GIVER, FOLLOWER)
    fuzzy: bool = True
    seeds: int = 1

    def learns_like(self, other: Preset) -> bool:
        """Return whether only the search differs, so that presets can share training."""
        return replace(self, search=other.search, published=other.published) == other


PRESETS = read_presets("maps", MapPreset, files("groundling.tasks.maps"))
_BEST = PRESETS.select("best")

# Settings that automatic selection cannot find: utterances are given as labels, most without
# a landmark, and hardly any plan is entirely correct.
DECLARED: Mapping[str, Any] = {
    "model": _BEST.model,
    "overlay": _BEST.overlay,
    "features": replace(
        _BEST.features, include=r"~$|pass\.|again\.|^event\.", exclude=r"\.[^ ]*[.:]landmark~$"
    ),
    "search": replace(_BEST.search, max_length=None),
}
