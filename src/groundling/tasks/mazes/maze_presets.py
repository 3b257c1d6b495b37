"""The two systems for mazes, `paper` and `best`, and the rows that take parts of them away."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal

from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.base import Member
from groundling.models.decision import DecisionModel
from groundling.models.ensemble import Ensemble
from groundling.models.plan import PlanModel
from groundling.overlay.settings import Overlay
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze import Maze
from groundling.tasks.variants import BasePreset, Presets


def hand_lexicon() -> Lexicon:
    """Return the declared lexicon of the mazes, a text file that people can read and edit.

    >>> hand_lexicon().given["bench"]
    (('item', 'sofa'),)
    """
    return Lexicon.read(str(files("groundling.tasks.mazes") / "lexicon.txt"))


def opaque_name(kind: str, value: str) -> str:
    """Return a code for a value, which tells nothing of its name.

    >>> opaque_name("floor", "brick")
    'q3233'
    """
    digest = hashlib.sha256(f"{kind} {value}".encode()).hexdigest()
    return f"q{int(digest, 16) % 10_000:04}"


@dataclass(frozen=True, kw_only=True)
class MazePreset(BasePreset):
    """A follower's settings, the environment they are for, and what was published for them.

    With `train_within_limit`, only plans that are short enough to be found are learnt from. With
    `opaque`, floors, walls and items have codes for names, which no word resembles.
    """

    split_commands: bool = False
    published_start: bool = False
    train_within_limit: bool = False
    opaque: bool = False

    def world(self, maze: Maze) -> MazeEnvironment:
        """Return a maze as the environment that the preset is for."""
        seen = maze.renamed(opaque_name) if self.opaque else maze
        return MazeEnvironment(seen, **self.environment)


PAPER = MazePreset(
    model=DecisionModel(aligned="all", last_to_last=True),
    overlay=Overlay(neighbours=("given", "self"), edge_scores=False, action_scores=False),
    features=Features(
        words=("word",),
        stop_words=("the", "a", "an"),
        joins=("conjunction",),
        numbers=("bins",),
        min_count=11,
    ),
    learning=Learning(l1=1.0, l2=0.0, iterations=60, augment=False),
    search=Search(max_length=2),
    environment={"shape": "paper", "canonical": False},
    split_commands=True,
    published_start=True,
    train_within_limit=True,
    published={"macro": 0.596},
)

_TREE = Features(
    words=("word", "first", "next", "head", "relation", "grandparent", "context", "verb"),
    compound_weight=0.7,
    slots=("floor", "wall", "item"),
    numbers=("equal",),
    joins=("conjunction", "slot"),
    lexicon=hand_lexicon(),
    min_count=0,
    min_word_count=2,
)
_CHAIN = replace(_TREE, words=("word", "first", "previous", "next", "context", "verb"))

# One member reads along the dependencies, the other from word to word.
BEST = MazePreset(
    model=Ensemble((Member(replace(Overlay.flat(), skeleton="chain"), _CHAIN),), PlanModel.flat()),
    overlay=Overlay.flat(),
    features=_TREE,
    learning=Learning(l2=2.0, iterations=40, composed=0.5),
    search=Search(max_length=3, decode="outcome"),
)


def _without_slots(given: MazePreset) -> MazePreset:
    plain = replace(
        given.features, slots=(), joins=("conjunction",), numbers=("bins",), lexicon="strings"
    )
    return replace(given, features=plain)


def _lexicon(name: str) -> Callable[[MazePreset], MazePreset]:
    """Return what gives all members of the ensemble another lexicon."""

    def change(given: MazePreset) -> MazePreset:
        assert isinstance(given.model, Ensemble)
        members = tuple(
            replace(each, features=replace(each.features, lexicon=name))
            for each in given.model.members
        )
        return replace(
            given,
            model=replace(given.model, members=members),
            features=replace(given.features, lexicon=name),
        )

    return change


def _skeleton(name: Literal["tree", "chain", "bag"]) -> Callable[[MazePreset], MazePreset]:
    """Return what lays words over plans in another order, by one model alone."""

    def change(given: MazePreset) -> MazePreset:
        # A bag has no links, so that nothing can be passed over.
        model = PlanModel(plan_words=True) if name == "bag" else PlanModel.flat()
        return replace(given, model=model, overlay=replace(given.overlay, skeleton=name))

    return change


VARIANTS: dict[str, dict[str, Callable[[MazePreset], MazePreset]]] = {
    "paper": {
        "full": lambda given: given,
        "no planning": lambda given: replace(
            given, search=given.search.without_planning(), published={"macro": 0.589}
        ),
        "no grounding graphs": lambda given: replace(
            given, overlay=replace(Overlay.bag(), action_scores=False), published={"macro": 0.517}
        ),
        "chain": lambda given: replace(
            given, overlay=replace(given.overlay, skeleton="chain"), published={}
        ),
        "bag": lambda given: replace(
            given,
            overlay=Overlay(skeleton="bag", entry="any", action_scores=False),
            published={},
        ),
    },
    "best": {
        "full": lambda given: given,
        "no lexicon": _lexicon("learn"),
        "opaque names": lambda given: replace(
            _lexicon("learn")(given),
            opaque=True,
            parser="default:neutral",
            learning=replace(given.learning, augment=False),
        ),
        "string match only": _lexicon("strings"),
        "tree": _skeleton("tree"),
        "chain": _skeleton("chain"),
        "bag": _skeleton("bag"),
        "tree, no slots": lambda given: _without_slots(_skeleton("tree")(given)),
        "chain, no slots": lambda given: _without_slots(_skeleton("chain")(given)),
        "bag, no slots": lambda given: _without_slots(_skeleton("bag")(given)),
        "graph nodes": lambda given: replace(
            given,
            model=PlanModel.flat(),
            overlay=Overlay(
                unit="word", nodes="both", adjacency="soft", neighbours=("self",), entry="any"
            ),
        ),
        "no mirror": lambda given: replace(given, learning=replace(given.learning, augment=False)),
        "no composed demonstrations": lambda given: replace(
            given, learning=replace(given.learning, composed=0.0)
        ),
    },
}

VARIANTS["auto"] = {"full": lambda given: given}
PRESETS = Presets("mazes", {"paper": PAPER, "best": BEST, "auto": MazePreset(auto=True)}, VARIANTS)
