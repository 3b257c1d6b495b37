"""Whole configurations that served: what a follower chooses from when it is not told."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon
from groundling.inference.search import Search
from groundling.learning.facts import Facts
from groundling.learning.settings import Learning
from groundling.learning.wording import in_characters, said_plainly
from groundling.models.base import Member, Model
from groundling.models.decision import DecisionModel
from groundling.models.ensemble import Ensemble
from groundling.models.plan import PlanModel
from groundling.models.transducer import TransducerModel
from groundling.overlay.settings import Overlay

__all__ = [
    "Configuration", "configurations", "default_model", "features_beside", "features_for",
    "learning_for", "like", "model_for", "more_configurations", "overlay_for", "search_beside",
    "why_learning", "with_second_member",
]  # fmt: skip

_TREE_WORDS = ("word", "first", "next", "head", "relation", "grandparent", "context", "verb")
_UNIT_WORDS = ("word", "next", "previous")
_JOINS = ("conjunction", "slot")
_COMPOUND = 0.7  # how much combinations of words count
_COST = 2.3  # log 10: one part of the text in ten names nothing, one in ten something more
_MORE_ACTIONS = 2.0  # times as many actions as units, which then name several each
_WIDE_BEAM = 60  # for texts of which most units name nothing
_FEW = 100  # demonstrations below which combinations of words are seen too seldom
_RARE = 200  # demonstrations from which words that occur once are left out
_LEAST, _MOST_OF_PLANS, _MOST_OF_UNITS = 0.02, 2.0, 50.0  # penalties
_SURPLUS = 1.5  # times the penalty for each unit, where most name nothing
_TOLERANCE = 1e-4
_MANY = 1000  # demonstrations from which learning may stop earlier
_TOLERANCE_OF_MANY = 1e-3
_LEXICON = 300  # demonstrations from which a lexicon can be learnt
_COMPOSED = 0.5  # the weight of two demonstrations as one
_ENSEMBLE = 300  # demonstrations from which a second member tells something else


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

    Characters, which hang from each other by chance: over flat actions. One action each: words
    over graphs. Several, where all plans can be listed: words over
    graphs, over flat actions, over graphs word by word (where units are too few), or unit by
    unit. Where there are too many plans: unit by unit; and if sentences come with labels that
    speak of values, these labels with those values only, or with everything.
    """
    if facts.enumerable_length is None:
        everything = _unit_by_unit(facts)
        return [_values_only(everything, facts), everything] if facts.told else [everything]
    if _in_characters(facts):
        return [_flat(facts)]
    if facts.longest == 1:
        return [_graphs(facts)]
    found = [_graphs(facts), _flat(facts)]
    if facts.crowded:
        found.append(_word_by_word(facts))
    return [*found, _unit_by_unit(facts)] if facts.units > 1.2 else found


def _in_characters(facts: Facts) -> bool:
    return in_characters(facts.examples, facts.encoder.reader.language)


def more_configurations(facts: Facts) -> list[Configuration]:
    """Return further ones, for a search that may take its time."""
    found = [_flat(facts), _soft_graphs(facts), _unit_by_unit(facts)]
    if facts.enumerable_length is None:
        found = [replace(_graphs(facts), name="sampled plans over graphs"), _decisions(facts)]
    return found


def like(given: Configuration, facts: Facts) -> list[Configuration]:
    """Return others that differ in one thing.

    Words alone or in the tree, a second member, texts that may be turned around, words beside
    values of slots or not, intervals of numbers.
    """
    if facts.told:
        return []
    alone = given.features.words == ("word",)
    words = Features.from_dict({"words": _TREE_WORDS if alone else ("word",)}).words
    features = replace(given.features, words=words, compound_weight=_COMPOUND if alone else 1.0)
    name = f"{given.name}, {'words in the tree' if alone else 'words alone'}"
    found = [replace(given, name=name, features=features)]
    second = None if alone else with_second_member(given, facts)
    if second is not None:
        found.append(replace(second, name=f"{given.name}, two members"))
    if facts.may_turn:
        turned = not given.features.reorder
        features = replace(given.features, reorder=turned)
        name = f"{given.name}, {'in any' if turned else 'in the same'} order"
        found.append(replace(given, name=name, features=features))
    if given.features.slots:
        beside = "value" not in given.features.joins
        joins = (*_JOINS, "value") if beside else _JOINS
        name = f"{given.name}, {'words' if beside else 'no words'} beside values"
        found.append(replace(given, name=name, features=replace(given.features, joins=joins)))
    if facts.numbers and facts.numerals:
        features = replace(given.features, numbers=("equal", "bins"))
        name = f"{given.name}, numbers in intervals"
        found.append(replace(given, name=name, features=features))
    return found


def default_model() -> Model:
    """Return the model whose settings are meant where none is named."""
    return PlanModel()


def model_for(facts: Facts, features: Features) -> Model:
    """Return a model for an overlay that was given: whole plans where they can be listed."""
    if facts.enumerable_length is None and not features.learns_lexicon:
        return _transducer(facts)
    return PlanModel()


def overlay_for(facts: Facts, model: Model | None) -> Overlay:
    """Return an overlay for a model that was given: bags where text is read unit by unit."""
    if model is not None and _reads(model):
        return replace(Overlay.bag(), unit=facts.unit)
    if _in_characters(facts):
        return Overlay.flat()
    return Overlay(unit="word" if facts.crowded else facts.unit)


def features_beside(facts: Facts, model: Model | None) -> Features:
    """Return features for a model that was given: its own words where text is read by units."""
    if model is not None and _reads(model):
        return replace(features_for(facts, _UNIT_WORDS), promote=())
    return features_for(facts)


def search_beside(facts: Facts, model: Model) -> Search:
    """Return a search for a model that was given: as long as its plans can be."""
    if _reads(model):
        return _reading(facts)
    if model.member_model.lists_plans:
        return Search(max_length=facts.enumerable_length or facts.longest)
    return Search(max_length=_roomy_length(facts))


def learning_for(facts: Facts, model: Model, count: int | None = None) -> Learning:
    """Return how to learn from so many of the demonstrations: the penalty is the same for each.

    A demonstration is one choice among plans; a text read unit by unit, one for each unit and
    action. These are alike, and there are the more weights for what goes by chance with some of
    them, if most units name nothing: then the penalty is larger.
    """
    count = facts.count if count is None else count
    each, most = (facts.steps, _MOST_OF_UNITS) if _reads(model) else (1.0, _MOST_OF_PLANS)
    if _reads(model) and facts.surplus:
        each *= _SURPLUS
    penalty = min(most, max(_LEAST, float(f"{count * each / 1000:.2g}")))
    joined = facts.longest > 1 and not _reads(model) and facts.consecutive
    composed = _COMPOSED if joined else 0.0
    # The more there are, the less the last steps change of what is followed, and the longer
    # they take.
    tolerance = _TOLERANCE if count < _MANY else _TOLERANCE_OF_MANY
    return Learning.from_dict({"l2": penalty, "tolerance": tolerance, "composed": composed})


def why_learning(facts: Facts, model: Model) -> str:
    """Say why learning is as `learning_for` has it."""
    if not _reads(model):
        return f"a thousandth for each of {facts.count:,} demonstrations, between 0.02 and 2"
    share = f"{_SURPLUS:g} thousandths" if facts.surplus else "a thousandth"
    return (
        f"{share} for each unit and action of {facts.count:,} demonstrations, about "
        f"{facts.steps:.0f} in each, between 0.02 and {_MOST_OF_UNITS:g}"
    )


def with_second_member(given: Configuration, facts: Facts) -> Configuration | None:
    """Return the same with a second look at the text, from word to word, where that pays.

    It does where language is not clean, plans are flat and demonstrations many.
    """
    if given.overlay.nodes != "flat" or facts.count < _ENSEMBLE:
        return None
    # The same words as a chain has them: without what only a tree knows.
    features = replace(
        given.features, words=("word", "first", "previous", "next", "context", "verb")
    )
    second = Member(replace(given.overlay, skeleton="chain"), features)
    return replace(given, model=Ensemble((second,), given.model))


def _reads(model: Model) -> bool:
    return isinstance(model.member_model, TransducerModel)


def features_for(facts: Facts, words: tuple[str, ...] = _TREE_WORDS) -> Features:
    """Return the features that served on every task, with the slots of these demonstrations."""
    if facts.told:
        return _told_features(facts)
    few = facts.count < _FEW
    wanted: dict[str, object] = {
        "words": ("word",) if few else words,
        "compound_weight": 1.0 if few else _COMPOUND,
        "slots": facts.slots,
        "numbers": ("bins",) if facts.numbers and not facts.numerals else ("equal",),
        "joins": _JOINS,
        "min_count": 0,
        "min_word_count": 2 if facts.count >= _RARE else 1,
    }
    if facts.unsaid:
        wanted["joins"] = (*_JOINS, "value")
    if facts.count >= _LEXICON and words is not _UNIT_WORDS:
        if facts.opaque:
            wanted |= {"slots": facts.opaque, "numbers": ("equal",), "lexicon": "learn"}
        elif facts.slots and facts.spoken < 0.8:
            wanted["lexicon"] = "learn"
    if facts.turning:
        wanted["reorder"] = True
    return Features.from_dict(wanted)


def _told_features(facts: Facts) -> Features:
    """Return features for sentences that come with labels, which say what counts in them."""
    return Features.from_dict(
        {
            "words": (),
            "slots": facts.told,
            "numbers": ("real",) if facts.measures else ("equal",),
            "joins": _JOINS,
            "lexicon": Lexicon(string_match=False),
            "min_count": 0,
        }
    )


def _transducer(facts: Facts) -> TransducerModel:
    if facts.surplus:  # most units name nothing, and what says so is learnt
        return TransducerModel(allow_multiple=False, length_bonus=1.0, normaliser_power=0.6)
    cost = _COST
    if facts.actions >= _MORE_ACTIONS * facts.units:
        # As many actions as units have follow each other if one more has this probability.
        cost = float(f"{-math.log(1 - facts.units / facts.actions):.2g}")
    return TransducerModel(unaligned_cost=cost, fertility_cost=cost)


def _graphs(facts: Facts) -> Configuration:
    return Configuration(
        "plans over graphs", PlanModel(), Overlay(unit=facts.unit), features_for(facts),
        _listing(facts),
    )  # fmt: skip


def _word_by_word(facts: Facts) -> Configuration:
    return replace(
        _graphs(facts), name="plans over graphs, word by word", overlay=Overlay(unit="word")
    )


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
        _transducer(facts),
        replace(Overlay.bag(), unit=facts.unit),
        features_beside(facts, _transducer(facts)),
        _reading(facts),
    )


def _values_only(everything: Configuration, facts: Facts) -> Configuration:
    """Return the same, where labels of sentences meet the values that they speak of, only.

    A value counts under its own name. Where a node has it under others, too, as `near.island`,
    each would have a weight with every label of a sentence, most of them seen by chance.
    """
    roots = "|".join(map(re.escape, facts.roots))
    plain = "|".join(map(re.escape, said_plainly(facts.examples, facts.told)))
    features = replace(
        everything.features,
        include=rf"~$|pass\.|again\.|^({roots})\.",
        exclude=rf"\.[^ ]*[.:]({plain})~$" if plain else "",
    )
    return replace(everything, name="unit by unit, values only", features=features)


def _reading(facts: Facts) -> Search:
    """Return a search for texts that are read unit by unit.

    Of long plans through texts that name few of them, hardly one is right from end to end; so
    the plan is taken that has most in common with the others.
    """
    search = Search(max_length=_roomy_length(facts), beam=10, budget=200_000)
    if facts.surplus and not facts.has_goal:
        return replace(search, beam=_WIDE_BEAM, decode="transitions")
    return search


def _decisions(facts: Facts) -> Configuration:
    return Configuration(
        "decisions over graphs",
        DecisionModel(),
        Overlay(),
        features_for(facts),
        Search(max_length=_roomy_length(facts)),
    )


def _roomy_length(facts: Facts) -> int:
    """Return a length for plans that are not listed: a quarter more than was ever shown."""
    return facts.longest + (facts.longest + 3) // 4 if facts.longest > 1 else 1


def _listing(facts: Facts) -> Search:
    length = facts.enumerable_length or facts.longest
    decode = "outcome" if facts.has_outcome and not facts.has_goal else "plan"
    return Search.from_dict({"max_length": length, "decode": decode})
