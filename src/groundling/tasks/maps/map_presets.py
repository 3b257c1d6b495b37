"""The two systems for maps, `paper` and `best`, and the rows that take parts of them away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.decision import DecisionModel
from groundling.models.transducer import TransducerModel
from groundling.overlay.settings import Overlay
from groundling.tasks.maps.corpus import FOLLOWER, GIVER
from groundling.tasks.variants import BasePreset, Presets

# The words that may say on which side of a landmark the way passes, as in the authors' program.
SIDE_WORDS = (
    "north", "east", "south", "west", "above", "below",
    "left", "right", "top", "bottom", "side", "underneath",
)  # fmt: skip

STOP_WORDS = ("the", "a", "an")


@dataclass(frozen=True, kw_only=True)
class MapPreset(BasePreset):
    """A follower's settings, how dialogues become text for it, and what was published.

    `seeds` is how often it is trained and evaluated: once where no chance is involved.
    """

    parser: str = "chain:english"
    units: str = "mentions"
    speakers: tuple[str, ...] = (GIVER, FOLLOWER)
    fuzzy: bool = True
    seeds: int = 1

    def learns_like(self, other: BasePreset) -> bool:
        """Tell whether these settings differ from others only in how they search."""
        return replace(self, search=other.search, published=other.published) == other


# The protocol of the authors' program; docs/maps.md says what it does.
_NAMES_AND_DISTANCES = r"^string∈|^event\.(dist=|(same|other)-landmark$)"
PAPER = MapPreset(
    model=DecisionModel(
        alternatives=20,
        alternatives_from="path",
        begin="alignment",
        last_to_last=True,
        restarts=40,
        alternations=2,
        compare="text",
    ),
    overlay=Overlay(entry="any", edge_scores=False),
    features=Features(
        words=("word", "string"),
        stop_words=STOP_WORDS,
        joins=("conjunction", "contains"),
        numbers=(),
        include=_NAMES_AND_DISTANCES,
        min_count=0,
    ),
    learning=Learning(iterations=30, augment=False),
    search=Search(min_length=15, max_length=15),
    environment={"shape": "paper"},
    parser="default",
    units="sentences",
    speakers=(GIVER,),
    seeds=5,
    published={"precision": 0.51, "recall": 0.60, "f1": 0.55},
)

_POINTING = "(recent-)?(compass|page|place)"
_BEST_FEATURES = "|".join(
    (
        r"^event\.(?!go$|east$|north$)",
        r"^pass\.fresh$",
        r"^(silent|passed|follower|question|negation|motion|ending) ∧ pass\.fresh$",
        r" ∧ to\.landmark~$",
        r"^match ∧ from\.landmark~$",
        r"^match ∧ to\.[a-z-]+\.landmark~$",
        rf"^{_POINTING}-east ∧ event\.east$",
        rf"^{_POINTING}-north ∧ event\.north$",
        r"^silent ∧ event\.(distance|nearest|between)$",
        r"^passed ∧ event\.(unvisited|go)$",
    )
)
BEST = MapPreset(
    model=TransducerModel(allow_multiple=False, length_bonus=1.0, normaliser_power=0.6),
    overlay=Overlay.bag(),
    features=Features(
        words=(),
        slots=("landmark",),
        joins=("conjunction", "slot"),
        numbers=("real",),
        lexicon=Lexicon(string_match=False),
        include=_BEST_FEATURES,
        min_count=0,
    ),
    learning=Learning(l2=10.0, iterations=60, augment=False),
    search=Search(max_length=20, beam=60, budget=200_000, decode="transitions"),
    environment={"shape": "rich"},
)


def _without(pattern: str) -> Callable[[MapPreset], MapPreset]:
    """Return what takes features out of a preset."""

    def change(given: MapPreset) -> MapPreset:
        kept = given.features.exclude
        return replace(
            given,
            features=replace(given.features, exclude=f"{kept}|{pattern}" if kept else pattern),
        )

    return change


_SIDES = "|".join(SIDE_WORDS)
VARIANTS: dict[str, dict[str, Callable[[MapPreset], MapPreset]]] = {
    "paper": {
        "full": lambda given: given,
        "no planning": lambda given: replace(
            given,
            search=given.search.without_planning(),
            published={"precision": 0.44, "recall": 0.46, "f1": 0.45},
        ),
        "no grounding graphs": lambda given: replace(
            given,
            overlay=Overlay.bag(),
            published={"precision": 0.52, "recall": 0.52, "f1": 0.52},
        ),
        # The paper prints weights of sides; a filter of the released program removes them.
        "with sides": lambda given: replace(
            given,
            features=replace(
                given.features,
                include=rf"{given.features.include}|^word=({_SIDES}) ∧ (to\.)?side=",
            ),
            published={},
        ),
    },
    "best": {
        "full": lambda given: given,
        "giver only": lambda given: replace(given, speakers=(GIVER,)),
        "no geometry": _without(
            r"^event\.(?!unvisited)| ∧ to\.[a-z-]+\.landmark~$"
            r"|^(silent|follower|question) ∧ event\."
        ),
        "no apart, no visited namesakes": _without(r"^event\.(apart|namesake-visited)$"),
        "no direction words": _without(rf"^{_POINTING}-"),
        "no fuzzy names": lambda given: replace(given, fuzzy=False),
        "revisits allowed": lambda given: replace(
            given, environment={**given.environment, "revisits": True}
        ),
        "no bonus no evidence": lambda given: replace(
            given, model=TransducerModel(allow_multiple=False)
        ),
        "most probable plan": lambda given: replace(
            given, search=replace(given.search, decode="plan")
        ),
    },
}

# Dialogues are read as labels of their lines, most of which name no landmark; a landmark counts
# under its own name, not where it is said again; hardly a plan is right from end to end.
DECLARED: Mapping[str, Any] = {
    "model": TransducerModel(allow_multiple=False, length_bonus=1.0, normaliser_power=0.6),
    "overlay": Overlay.bag(),
    "features": Features(
        words=(),
        slots=("landmark",),
        numbers=("real",),
        joins=("conjunction", "slot"),
        lexicon=Lexicon(string_match=False),
        min_count=0,
        include=r"~$|pass\.|again\.|^event\.",
        exclude=r"\.[^ ]*[.:]landmark~$",
    ),
    "search": Search(beam=60, budget=200_000, decode="transitions"),
}

VARIANTS["auto"] = {"full": lambda given: given}
AUTO = MapPreset(auto=True, environment=BEST.environment)
PRESETS = Presets("maps", {"paper": PAPER, "best": BEST, "auto": AUTO}, VARIANTS)
