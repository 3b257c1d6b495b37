"""The configurations that take part in the race, and the conditions for each.

Rows are in order of preference: of several configurations with equal accuracy, the first one wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groundling.features.feature_settings import Features
from groundling.features.labels import LABEL
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.base import Member, Model
from groundling.models.decision import DecisionModel
from groundling.models.ensemble import Ensemble
from groundling.models.plan import PlanModel
from groundling.models.transducer import TransducerModel
from groundling.overlay.settings import Overlay
from groundling.selection.constants import (
    COMPOSED_WEIGHT,
    ENOUGH_FOR_PAIRS,
    L2_PER_DEMONSTRATION,
    LAPS,
    LARGE_DATA,
    LOOSE_TOLERANCE,
    MAX_L2,
    MIN_L2,
    NEARLY_ALL,
    TOLERANCE,
    UNALIGNED_COST,
    WORD_PAIR_WEIGHT,
)
from groundling.selection.profile import Profile

_TREE = ("word", "first", "next", "head", "relation", "grandparent", "context", "verb")
_CHAIN = ("word", "first", "previous", "next", "context", "verb")  # these labels need no tree
_UNIT = ("word", "next", "previous")  # these labels need no links


@dataclass(frozen=True)
class Configuration:
    """A named set of settings; `base` is the configuration that this one extends."""

    name: str
    model: Model
    overlay: Overlay
    features: Features
    search: Search
    base: str = ""


@dataclass(frozen=True)
class Join:
    """A way to match words with values: name, condition and settings.

    `extends` is the name of another join. If that join leads the race, this one takes part too.
    """

    name: str
    applies: Callable[[Profile], bool]
    settings: Callable[[Profile], Mapping[str, object]]
    extends: str = ""


@dataclass(frozen=True)
class Structure:
    """A way to align texts with plans, and the condition for it."""

    name: str
    applies: Callable[[Profile], bool]
    make: Callable[[Profile, Features], Configuration]


# ---- matching words with values -----------------------------------------------------------------


def _slots(profile: Profile) -> dict[str, object]:
    if profile.count >= LARGE_DATA and profile.listable and profile.spoken < NEARLY_ALL:
        return _lexicon(profile, profile.slots)
    return {"slots": profile.slots, "joins": ("conjunction", "slot")}


def _lexicon(profile: Profile, slots: tuple[str, ...]) -> dict[str, object]:
    # The lexicon has a single value for each word; in plans of one action, features can learn more.
    joins = ("conjunction", "slot", *(("value",) if profile.longest == 1 else ()))
    return {"slots": slots, "joins": joins, "lexicon": "learn"}


JOINS: tuple[Join, ...] = (
    Join(  # names have several words, or many texts do not spell the values
        "names",
        lambda p: p.named or bool(p.unsaid),
        lambda p: {
            "slots": (*(each for each in p.meant if each != LABEL), LABEL),
            "names": "spans",
            "joins": ("conjunction", "slot", "value"),
        },
    ),
    Join("slots", lambda p: bool(p.slots) and not p.named, _slots),
    Join(  # other words may mean the values as well (*brick* for “cube”)
        "values",
        lambda p: p.leaves_unsaid and not (p.named or p.unsaid or "lexicon" in _slots(p)),
        lambda p: {**_slots(p), "joins": ("conjunction", "slot", "value")},
        extends="slots",
    ),
    Join(  # words spell hardly any value
        "lexicon",
        lambda p: p.count >= LARGE_DATA and bool(p.opaque) and bool(p.listable),
        lambda p: {**_lexicon(p, p.opaque), "numbers": ("equal",)},
    ),
)
"""Ways to match words with values; if none applies, words are joined with labels directly."""
_PLAIN = Join("", lambda p: True, lambda p: {})


def _features(profile: Profile, join: Join) -> Features:
    """Return the features for a way of matching words, with settings that suit the data."""
    pairs = profile.count >= ENOUGH_FOR_PAIRS
    numbers = ("equal",) if profile.says_numbers else ("bins",) if profile.has_numbers else None
    wanted: dict[str, Any] = {
        "words": _TREE if pairs else ("word",),
        "typos": True,
        "compound_weight": WORD_PAIR_WEIGHT if pairs else 1.0,
        "joins": ("conjunction",),
        "min_count": 0,
        "reorder": bool(profile.reordering),
        # A word that occurs once is usually a typo, but it may be the only name of a rare label.
        "min_word_count": 2 if profile.count >= LARGE_DATA and not profile.has_rare_meaning else 1,
        **({"numbers": numbers} if numbers else {}),
        **join.settings(profile),
    }
    if (profile.says_numbers or profile.has_things) and "slot" not in wanted["joins"]:
        wanted["joins"] += ("slot",)
    if profile.takes_sets:
        wanted["words"] += ("number",)
    # In a text about several actions, words around a number may describe another action.
    if profile.longest == 1 and profile.shares_numbers and "slot" in wanted["joins"]:
        wanted["words"] += ("around",)
    return Features.from_dict(wanted)


def _with_words(features: Features, words: tuple[str, ...], **more: object) -> Features:
    """Return features with other word labels; labels for plurals and numbers are kept."""
    numbers = tuple(each for each in ("number", "around") if each in features.words)
    return features.changed_to(words=(*words, *numbers), **more)


# ---- aligning texts with plans ------------------------------------------------------------------


def _graph(name: str, p: Profile, features: Features, **overlay: Any) -> Configuration:
    """Return a configuration that lists all plans and aligns words with nodes."""
    # Words without weights would favour graphs with more nodes.
    features = features.changed_to(new_words="drop")
    return _listed(name, PlanModel(), Overlay(**overlay), p, features)


def _listed(
    name: str, model: Model, overlay: Overlay, profile: Profile, features: Features
) -> Configuration:
    length = profile.listable or profile.longest
    decode = "outcome" if profile.has_outcome and not profile.has_goal else "plan"
    search = Search.from_dict({"max_length": length, "decode": decode})
    return Configuration(name, model, overlay, features, search)


def _graph_by_other_units(profile: Profile, features: Features) -> Configuration:
    unit = profile.unit if profile.crowded else "word"
    return _graph(f"graph, {unit} by {unit}", profile, features, unit=unit)


def _relations(profile: Profile, features: Features) -> Configuration:
    # Clauses are read from left to right, because parsers often attach them wrongly.
    own = _with_words(features, ("word",), compound_weight=1.0)
    soft: dict[str, Any] = {"skeleton": "chain", "adjacency": "soft", "entry": "any"}
    return _graph("relations", profile, own, relations=True, **soft)


def _flat(profile: Profile, features: Features) -> Configuration:
    model = PlanModel() if profile.longest == 1 else PlanModel.flat()
    return _listed("flat", model, Overlay.flat(), profile, features)


def _two_members(profile: Profile, features: Features) -> Configuration:
    one = _flat(profile, features)
    second = Member(replace(one.overlay, skeleton="chain"), _with_words(features, _CHAIN))
    return replace(one, name="flat, two members", model=Ensemble((second,), one.model), base="flat")


def _unit_by_unit(profile: Profile, features: Features) -> Configuration:
    cost = UNALIGNED_COST
    if profile.actions >= 2 * profile.units:
        # With this probability of one more action, units name as many actions as texts have.
        cost = float(f"{-math.log(1 - profile.units / profile.actions):.2g}")
    own: dict[str, object] = {"lexicon": "strings"} if features.learns_lexicon else {}
    # Each unit counts as an example.
    pairs = profile.count * profile.units >= ENOUGH_FOR_PAIRS
    words, weight = (_UNIT, WORD_PAIR_WEIGHT) if pairs else (("word",), 1.0)
    return Configuration(
        "unit by unit",
        TransducerModel(unaligned_cost=cost, fertility_cost=cost),
        replace(Overlay.bag(), unit=profile.unit),
        _with_words(features, words, compound_weight=weight, promote=(), **own),
        Search(max_length=_roomy(profile), beam=10, budget=200_000),
    )


def _roomy(profile: Profile) -> int:
    """Return the maximum plan length of the search: the longest demonstration plus 25 %."""
    return profile.longest + (profile.longest + 3) // 4 if profile.longest > 1 else 1


def _has_graphs(profile: Profile) -> bool:
    return bool(profile.listable) and not profile.in_characters


def _has_two(profile: Profile) -> bool:
    return bool(profile.listable) and profile.count >= LARGE_DATA


def _needs_no_graph(profile: Profile) -> bool:
    # With much data, combinations of words replace the structure of a graph. With less, they make
    # words of places and kinds evidence for the verbs they happened to occur with.
    return bool(profile.listable) and profile.longest == 1 and profile.count >= LAPS[1]


STRUCTURES: tuple[Structure, ...] = (
    Structure("flat", _needs_no_graph, _flat),
    Structure(
        "soft graph",
        lambda p: _has_graphs(p) and p.longest == 1,
        lambda p, f: _graph("soft graph", p, f, unit=p.unit, adjacency="soft", entry="any"),
    ),
    Structure("relations", lambda p: _has_graphs(p) and p.relates, _relations),
    Structure(
        "graph",
        _has_graphs,
        lambda p, f: _graph("graph", p, f, unit="word" if p.crowded else p.unit),
    ),
    # For long plans, the mean of two members is more stable, so it is preferred to one member.
    Structure("flat, two members", lambda p: _has_two(p) and p.longest > 1, _two_members),
    Structure("flat", lambda p: bool(p.listable) and not _needs_no_graph(p), _flat),
    Structure(
        "graph, other units", lambda p: _has_graphs(p) and p.longest > 1, _graph_by_other_units
    ),
    Structure(
        "unit by unit",
        lambda p: not p.listable or (p.longest > 1 and p.units > 1),
        _unit_by_unit,
    ),
    Structure("flat, two members", _needs_no_graph, _two_members),
)
"""Ways to align texts with plans."""


def configurations(profile: Profile) -> list[Configuration]:
    """Return the feasible configurations for the demonstrations, simplest first."""
    joins = [each for each in JOINS if each.applies(profile)] or [_PLAIN]
    rows = [each for each in STRUCTURES if each.applies(profile)]
    # No other configuration captures the relations between the things that a text names.
    rows = [each for each in rows if each.name == "relations"] or rows
    found = []
    ending = {join.name: f", {join.name}" if join is not joins[0] else "" for join in joins}
    for row in rows:
        for join in joins:
            made = row.make(profile, _features(profile, join))
            base = f"{made.base}{ending[join.name]}" if made.base else ""
            if join.extends:
                base = f"{made.name}{ending[join.extends]}"
            found.append(replace(made, name=f"{made.name}{ending[join.name]}", base=base))
    return found


def variants(given: Configuration, profile: Profile) -> list[Configuration]:
    """Return variants of a configuration, for `tuned` to compare with it."""
    if isinstance(given.model, Ensemble):
        return []  # a variant would have to change both members of an ensemble
    features = given.features
    found: dict[str, Features] = {}
    if plain := tuple(each for each in features.words if each == "word"):
        if len(features.words) > 1:
            found["words alone"] = features.changed_to(words=plain, compound_weight=1.0)
        elif given.overlay.skeleton != "bag":
            tree: dict[str, Any] = {"words": _TREE, "compound_weight": WORD_PAIR_WEIGHT}
            found["words in the tree"] = features.changed_to(**tree)
    if profile.has_numbers and profile.says_numbers:
        found["numbers in intervals"] = replace(features, numbers=("equal", "bins"))
    if features.min_word_count > 1:
        found["rare words"] = replace(features, min_word_count=1)
    made = [
        replace(given, name=f"{given.name}, {name}", features=own) for name, own in found.items()
    ]
    if not profile.listable:
        search = Search(max_length=_roomy(profile))
        decided = {"model": DecisionModel(), "overlay": Overlay(), "search": search}
        made.append(replace(given, name="decisions over graphs", **decided))  # type: ignore[arg-type]
    return made


def default_model() -> Model:
    """Return the default model, which nested settings such as `model__skip` change."""
    return PlanModel()


def reads_units(model: Model | str) -> bool:
    """Return whether a model reads a text unit by unit.

    >>> reads_units(TransducerModel()), reads_units(PlanModel()), reads_units("auto")
    (True, False, False)
    """
    return not isinstance(model, str) and isinstance(model.member_model, TransducerModel)


def learning_for(profile: Profile, model: Model, count: int | None = None) -> Learning:
    """Return training settings that suit the data.

    The L2 penalty is proportional to the size of the data, within limits. The size is the number of
    demonstrations. If texts are read unit by unit, each unit and each action of a demonstration
    counts instead.
    """
    count = profile.count if count is None else count
    reads = reads_units(model)
    choices = count * (profile.units + profile.actions if reads else 1)
    l2 = max(MIN_L2, float(f"{choices * L2_PER_DEMONSTRATION:.2g}"))
    joined = profile.longest > 1 and not reads and profile.consecutive
    return Learning.from_dict(
        {
            "l2": l2 if reads else min(MAX_L2, l2),
            "tolerance": LOOSE_TOLERANCE if L2_PER_DEMONSTRATION * count >= 1 else TOLERANCE,
            "composed": COMPOSED_WEIGHT if joined else 0.0,
            "grow": profile.relates,
            # With less data, the penalty is too small: a single demonstration determines a weight.
            "rare_words": count >= ENOUGH_FOR_PAIRS and profile.has_rare_meaning,
        }
    )
