"""The two systems for mazes, `paper` and `best`, and the rows that take parts of them away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files

from groundling.features.lexicon import Lexicon
from groundling.features.settings import Features
from groundling.inference.settings import Search
from groundling.learning.settings import Learning
from groundling.model.settings import Overlay
from groundling.partner import Partner
from groundling.tasks.presets import BasePreset, Presets

__all__ = ["PRESETS", "Preset", "hand_lexicon"]


def hand_lexicon() -> Lexicon:
    """Return the declared lexicon of the mazes, a text file that people can read and edit.

    >>> hand_lexicon().given["bench"]
    (('item', 'sofa'),)
    """
    return Lexicon.read(str(files("groundling.tasks.mazes") / "lexicon.txt"))


@dataclass(frozen=True, kw_only=True)
class Preset(BasePreset):
    """A follower's settings, the environment they are for, and what was published for them.

    With `train_within_limit`, only plans that are short enough to be found are learnt from.
    """

    split_commands: bool = False
    published_start: bool = False
    train_within_limit: bool = False


PAPER = Preset(
    overlay=Overlay(
        neighbours=("given", "self"), edge_scores=False, action_scores=False, plan_scores=False
    ),
    features=Features(
        words=("word",),
        stop_words=("the", "a", "an"),
        joins=("conjunction",),
        numbers=("bins",),
        min_count=11,
    ),
    learning=Learning(
        normalise="decisions",
        alignment="all",
        last_to_last=True,
        l1=1.0,
        l2=0.0,
        iterations=60,
        mirror=False,
    ),
    search=Search(max_length=2),
    environment={"shape": "paper", "canonical": False},
    split_commands=True,
    published_start=True,
    train_within_limit=True,  # the authors' program learns from what it can also produce
    published={"macro": 0.596},
)

_TREE = Features(
    words=("word", "first", "next", "head", "relation", "grandparent", "context", "verb"),
    composed=0.7,
    slots=("floor", "wall", "item"),
    numbers=("equal",),
    joins=("conjunction", "slot"),
    lexicon=hand_lexicon(),
    min_count=0,
    min_word_count=2,
)
_CHAIN = replace(_TREE, words=("word", "first", "previous", "next", "context", "verb"))

# One model reads along the dependencies, its partner from word to word.
BEST = Preset(
    overlay=Overlay.flat(),
    features=_TREE,
    learning=Learning(l2=2.0, iterations=40),
    search=Search(max_length=3, decode="outcome"),
    partners=(Partner(replace(Overlay.flat(), skeleton="chain"), _CHAIN),),
)


def _without_slots(given: Preset) -> Preset:
    plain = replace(given.features, slots=(), joins=("conjunction",), numbers=("bins",),
                    lexicon=Lexicon(string_match=False))  # fmt: skip
    return replace(given, features=plain)


def _skeleton(name: str) -> Callable[[Preset], Preset]:
    """Return what lays words over plans in another order, without a partner."""
    return lambda given: replace(given, overlay=replace(given.overlay, skeleton=name), partners=())


def _flat(given: Preset) -> Preset:
    overlay = replace(given.overlay, skeleton="bag", nodes="flat", entry="any")
    return replace(given, overlay=overlay, published={"macro": 0.517})


VARIANTS: dict[str, dict[str, Callable[[Preset], Preset]]] = {
    "paper": {
        "full": lambda given: given,
        "no planning": lambda given: replace(
            given, search=replace(given.search, planning=False), published={"macro": 0.589}
        ),
        "no grounding graphs": _flat,
        "chain": lambda given: replace(_skeleton("chain")(given), published={}),
        "bag": lambda given: replace(
            given,
            overlay=replace(given.overlay, skeleton="bag", entry="any"),
            published={},
        ),
    },
    "best": {
        "full": lambda given: given,
        "no lexicon": lambda given: replace(
            given, features=replace(given.features, lexicon="learn")
        ),
        "string match only": lambda given: replace(
            given, features=replace(given.features, lexicon="strings")
        ),
        "tree": _skeleton("tree"),
        "chain": _skeleton("chain"),
        "bag": _skeleton("bag"),
        "tree, no slots": lambda given: _without_slots(_skeleton("tree")(given)),
        "chain, no slots": lambda given: _without_slots(_skeleton("chain")(given)),
        "bag, no slots": lambda given: _without_slots(_skeleton("bag")(given)),
        "graph nodes": lambda given: replace(
            given,
            overlay=replace(given.overlay, nodes="both", adjacency="soft"),
            partners=(),
        ),
        "no mirror": lambda given: replace(given, learning=replace(given.learning, mirror=False)),
    },
}

PRESETS = Presets("mazes", {"paper": PAPER, "best": BEST}, VARIANTS)
