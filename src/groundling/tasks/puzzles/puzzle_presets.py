"""The two systems for puzzles, `paper` and `best`, and the rows that take parts of them away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.decision import DecisionModel
from groundling.models.transducer import TransducerModel
from groundling.overlay.settings import Overlay
from groundling.tasks.puzzles.environment import PuzzleEnvironment
from groundling.tasks.variants import BasePreset, Presets


def hand_lexicon() -> Lexicon:
    """Return the declared lexicon of the puzzles, a text file that people can read and edit.

    >>> hand_lexicon().given["leftmost"]
    (('side', 'left'),)
    """
    return Lexicon.read(str(files("groundling.tasks.puzzles") / "lexicon.txt"))


@dataclass(frozen=True, kw_only=True)
class PuzzlePreset(BasePreset):
    """A follower's settings, the environment they are for, and what was published for them.

    With `winning_only`, hints are followed among the actions that are not proven to lose;
    what is learnt from are all actions. `length_told` gives the follower the number of
    actions of the demonstrated plan, and `split_hyphens` reads words such as *far-left* apart.
    With `any_order`, many plans score the same: the order of the actions decides ties, so that
    figures are means over random orders.
    """

    parser: str = "chain:english"
    winning_only: bool = False
    length_told: bool = False
    split_hyphens: bool = True
    any_order: bool = False

    def in_order(self, order: int) -> PuzzlePreset:
        """Return the same with the actions in a random order, which a number names."""
        return replace(self, environment={**self.environment, "order": order})

    def world(self) -> PuzzleEnvironment:
        """Return the environment to learn in; it remembers what its planner has proven."""
        return PuzzleEnvironment(**self.environment)

    def world_to_follow_in(self, world: PuzzleEnvironment) -> PuzzleEnvironment:
        """Return the environment to follow hints in, with the same planner."""
        if not self.winning_only:
            return world
        return PuzzleEnvironment(**self.environment, winning_only=True, planner=world.planner)


# Set beforehand, not fitted: most hints name one action, one in ten none and one in ten several.
_COST = 2.3

PAPER = PuzzlePreset(
    model=DecisionModel(alternatives_from="path"),
    overlay=replace(Overlay.bag(), action_scores=False),
    # The cut-off is on words: demonstrated strikes never lose, so a cut-off on what was
    # demonstrated would drop isLoss.
    features=Features(
        words=("word",),
        joins=("conjunction",),
        numbers=("bins",),
        promote=(),
        min_count=0,
        min_word_count=10,
    ),
    learning=Learning(iterations=50, tolerance=1e-5, augment=False),
    search=Search(max_length=16),
    environment={"plan_space": "original", "shape": "paper", "goal": False},
    length_told=True,
    split_hyphens=False,
    any_order=True,
    published={"match": 0.70, "success": 0.86},
)

BEST = PuzzlePreset(
    model=TransducerModel(unaligned_cost=_COST, fertility_cost=_COST),
    overlay=Overlay.bag(),
    features=Features(
        words=("word", "next", "previous"),
        slots=("side", "way"),
        numbers=("equal",),
        joins=("conjunction", "slot"),
        promote=(),
        lexicon=hand_lexicon(),
    ),
    learning=Learning(iterations=60, tolerance=1e-4),
    search=Search(max_length=16, beam=10, budget=200_000),
)


def _without_text(given: PuzzlePreset) -> PuzzlePreset:
    """Words carry no labels; only their number of hints is left, and what actions look like."""
    return replace(
        given,
        features=replace(given.features, words=()),
        overlay=replace(given.overlay, action_scores=True),
        published={"match": 0.54, "success": 0.78} if given.published else {},
    )


def _without_slots(given: PuzzlePreset) -> PuzzlePreset:
    """Words meet the raw values of labels: nothing is matched, counted or looked up."""
    plain = replace(
        given.features, slots=(), joins=("conjunction",), numbers=("bins",), lexicon="strings"
    )
    return replace(given, features=plain)


def _without_planning(given: PuzzlePreset) -> PuzzlePreset:
    return replace(given, search=given.search.without_planning())


def _changed(part: str, **values: Any) -> Callable[[PuzzlePreset], PuzzlePreset]:
    return lambda given: replace(given, **{part: replace(getattr(given, part), **values)})


VARIANTS: dict[str, dict[str, Callable[[PuzzlePreset], PuzzlePreset]]] = {
    "paper": {
        "full": lambda given: given,
        "no planning": lambda given: replace(
            _without_planning(given), published={"match": 0.64, "success": 0.66}
        ),
        "no text": _without_text,
        "event features": lambda given: replace(
            _changed("overlay", action_scores=True)(given), published={}
        ),
    },
    "best": {
        "full": lambda given: given,
        "length told": lambda given: replace(given, length_told=True),
        "no planning": _without_planning,
        "no text": _without_text,
        "no slots": _without_slots,
        "no lexicon": _changed("features", lexicon="strings"),
        "max alignment": lambda given: replace(given, model=DecisionModel()),
        "original plan space": lambda given: replace(
            given, environment={**given.environment, "plan_space": "original"}
        ),
        "winning actions only": lambda given: replace(given, winning_only=True),
        "no costs": lambda given: replace(given, model=TransducerModel()),
        "no mirror": _changed("learning", augment=False),
    },
}

VARIANTS["auto"] = {"full": lambda given: given}
PRESETS = Presets(
    "puzzles", {"paper": PAPER, "best": BEST, "auto": PuzzlePreset(auto=True)}, VARIANTS
)
