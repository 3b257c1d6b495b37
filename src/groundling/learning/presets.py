"""Whole configurations that served: what a follower chooses from when it is not told."""

from __future__ import annotations

from dataclasses import dataclass, replace

from groundling.features.settings import Features
from groundling.inference.settings import Search
from groundling.learning.facts import Facts
from groundling.learning.settings import Learning
from groundling.models.base import Model
from groundling.models.decision import DecisionModel
from groundling.models.plan import PlanModel
from groundling.models.transducer import TransducerModel
from groundling.overlay.settings import Overlay

__all__ = [
    "Configuration", "configurations", "default_model", "features_for", "learning_for",
    "model_for", "more_configurations", "overlay_for", "roomy_length",
]  # fmt: skip

_TREE_WORDS = ("word", "first", "next", "head", "relation", "grandparent", "context", "verb")
_UNIT_WORDS = ("word", "next", "previous")
_COMPOUND = 0.7  # how much combinations of words count
_COST = 2.3  # log 10: one part of the text in ten names nothing, one in ten something more
_FEW = 100  # demonstrations below which combinations of words are seen too seldom
_RARE = 200  # demonstrations from which words that occur once are left out
_LEXICON = 300  # demonstrations from which a lexicon can be learnt


@dataclass(frozen=True)
class Configuration:
    """Settings that go together, by a name."""

    name: str
    model: Model
    overlay: Overlay
    features: Features
    search: Search


def configurations(facts: Facts) -> list[Configuration]:
    """Return what may suit some demonstrations, the most likely one first.

    One action each: words over graphs. Several, where all plans can be listed: words over
    graphs, over flat actions, or unit by unit. Where there are too many plans: unit by unit.
    """
    if facts.enumerable_length is None:
        return [_unit_by_unit(facts)]
    if facts.longest == 1:
        return [_graphs(facts)]
    found = [_graphs(facts), _flat(facts)]
    return [*found, _unit_by_unit(facts)] if facts.units > 1.2 else found


def more_configurations(facts: Facts) -> list[Configuration]:
    """Return further ones, for a search that may take its time."""
    found = [_flat(facts), _soft_graphs(facts), _unit_by_unit(facts)]
    if facts.enumerable_length is None:
        found = [replace(_graphs(facts), name="sampled plans over graphs"), _decisions(facts)]
    return found


def default_model() -> Model:
    """Return the model whose settings are meant where none is named."""
    return PlanModel()


def model_for(facts: Facts, features: Features) -> Model:
    """Return a model for an overlay that was given: whole plans where they can be listed."""
    if facts.enumerable_length is None and not features.learns_lexicon:
        return _transducer()
    return PlanModel()


def overlay_for(facts: Facts, model: Model | None) -> Overlay:
    """Return an overlay for a model that was given: bags where text is read unit by unit."""
    if model is not None and isinstance(model.member_model, TransducerModel):
        return replace(Overlay.bag(), unit=facts.unit)
    return Overlay(unit=facts.unit)


def learning_for(count: int) -> Learning:
    """Return how to learn from so many demonstrations: the penalty is the same for each.

    >>> learning_for(500).l2, learning_for(10).l2, learning_for(9000).l2
    (0.5, 0.02, 2.0)
    """
    return Learning(l2=min(2.0, max(0.02, count / 1000)), tolerance=1e-4)


def features_for(facts: Facts, words: tuple[str, ...] = _TREE_WORDS) -> Features:
    """Return the features that served on every task, with the slots of these demonstrations."""
    few = facts.count < _FEW
    wanted: dict[str, object] = {
        "words": ("word",) if few else words,
        "compound_weight": 1.0 if few else _COMPOUND,
        "slots": facts.slots,
        "numbers": ("bins",) if facts.numbers and not facts.numerals else ("equal",),
        "joins": ("conjunction", "slot"),
        "min_count": 0,
        "min_word_count": 2 if facts.count >= _RARE else 1,
    }
    if facts.slots and facts.count >= _LEXICON and facts.spoken < 0.8 and words is not _UNIT_WORDS:
        wanted["lexicon"] = "learn"
    return Features.from_dict(wanted)


def _transducer() -> TransducerModel:
    return TransducerModel(unaligned_cost=_COST, fertility_cost=_COST)


def _graphs(facts: Facts) -> Configuration:
    return Configuration(
        "plans over graphs", PlanModel(), Overlay(unit=facts.unit), features_for(facts),
        _listing(facts),
    )  # fmt: skip


def _soft_graphs(facts: Facts) -> Configuration:
    overlay = Overlay(unit="word", nodes="both", adjacency="soft", entry="any")
    return Configuration(
        "plans over graphs, softly", PlanModel.flat(), overlay, features_for(facts), _listing(facts)
    )


def _flat(facts: Facts) -> Configuration:
    model = PlanModel() if facts.longest == 1 else PlanModel.flat()
    return Configuration(
        "plans over flat actions", model, Overlay.flat(), features_for(facts), _listing(facts)
    )


def _unit_by_unit(facts: Facts) -> Configuration:
    return Configuration(
        "unit by unit",
        _transducer(),
        replace(Overlay.bag(), unit=facts.unit),
        replace(features_for(facts, _UNIT_WORDS), promote=()),
        Search(max_length=roomy_length(facts), beam=10, budget=200_000),
    )


def _decisions(facts: Facts) -> Configuration:
    return Configuration(
        "decisions over graphs",
        DecisionModel(),
        Overlay(),
        features_for(facts),
        Search(max_length=roomy_length(facts)),
    )


def roomy_length(facts: Facts) -> int:
    """Return a length for plans that are not listed: a quarter more than was ever shown."""
    return facts.longest + (facts.longest + 3) // 4 if facts.longest > 1 else 1


def _listing(facts: Facts) -> Search:
    length = facts.enumerable_length or facts.longest
    decode = "outcome" if facts.has_outcome and not facts.has_goal else "plan"
    return Search.from_dict({"max_length": length, "decode": decode})
