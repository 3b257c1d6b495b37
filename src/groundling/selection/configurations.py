"""The table of whole configurations that take part in the race, and when each applies.

The order of the table is the order of preference: of configurations that do equally well, the
first is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

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
    CHARGE,
    COMPOSED,
    COMPOUND,
    COST,
    FEW,
    LEAST_PENALTY,
    LOOSE,
    MANY,
    MOST_PENALTY,
    MOSTLY,
    TIGHT,
)
from groundling.selection.profile import Profile

_TREE = ("word", "first", "next", "head", "relation", "grandparent", "context", "verb")
_CHAIN = ("word", "first", "previous", "next", "context", "verb")  # what needs no tree
_UNIT = ("word", "next", "previous")  # what needs no links


@dataclass(frozen=True)
class Configuration:
    """Settings that go together, by name; `base` is the simpler one that it adds to, if any."""

    name: str
    model: Model
    overlay: Overlay
    features: Features
    search: Search
    base: str = ""


@dataclass(frozen=True)
class Structure:
    """A way to lay texts over plans: its name, when it applies, and what it sets."""

    name: str
    applies: Callable[[Profile], bool]
    when: str
    make: Callable[[Profile, Features], Configuration]


@dataclass(frozen=True)
class Join:
    """A way in which words meet values: its name, when it applies, and what it sets."""

    name: str
    applies: Callable[[Profile], bool]
    when: str
    settings: Callable[[Profile], dict[str, object]]


# ---- how words meet values ------------------------------------------------------------------


def _words(profile: Profile) -> dict[str, object]:
    few = profile.count < FEW
    wanted: dict[str, object] = {
        "words": ("word",) if few else _TREE,
        "compound_weight": 1.0 if few else COMPOUND,
        "joins": ("conjunction",),
        "min_count": 0,
        "reorder": bool(profile.reordering),
        # A word that was shown once is mostly a slip; but it may be all that names a rare label.
        "min_word_count": 2 if profile.count >= MANY and not profile.has_rare_meaning else 1,
    }
    if profile.says_numbers:
        wanted["numbers"] = ("equal",)
    elif profile.has_numbers:
        wanted["numbers"] = ("bins",)
    return wanted


def _slots(profile: Profile) -> dict[str, object]:
    wanted: dict[str, object] = {"slots": profile.slots, "joins": ("conjunction", "slot")}
    if profile.count >= MANY and profile.listable is not None and profile.spoken < MOSTLY:
        wanted["lexicon"] = "learn"
    return wanted


def _names(profile: Profile) -> dict[str, object]:
    slots = (*(each for each in profile.meant if each != LABEL), LABEL)
    return {"slots": slots, "names": "spans", "joins": ("conjunction", "slot", "value")}


def _learnt(profile: Profile) -> dict[str, object]:
    return {"slots": profile.opaque, "joins": ("conjunction", "slot"), "lexicon": "learn",
            "numbers": ("equal",)}  # fmt: skip


JOINS: tuple[Join, ...] = (
    Join(
        "names",
        lambda profile: profile.named or bool(profile.unsaid),
        "values of a string label have several words, or a fifth of the texts do not spell them",
        _names,
    ),
    Join(
        "slots",
        lambda profile: bool(profile.slots) and not profile.named,
        "words spell most values of a string label, each of one word",
        _slots,
    ),
    Join(
        "lexicon",
        lambda profile: profile.count >= MANY and bool(profile.opaque) and bool(profile.listable),
        "words spell hardly any value, and there are enough demonstrations to learn a lexicon",
        _learnt,
    ),
)
"""How words meet values; where none of these applies, they meet labels as they are."""

_PLAIN = Join("", lambda profile: True, "none of the others applies", lambda profile: {})


def _number(features: Features) -> tuple[str, ...]:
    """Return the labels of plurals and of numbers that features have."""
    return tuple(each for each in ("number", "around") if each in features.words)


# ---- how texts are laid over plans ------------------------------------------------------------


def _listing(profile: Profile) -> Search:
    length = profile.listable or profile.longest
    decode = "outcome" if profile.has_outcome and not profile.has_goal else "plan"
    return Search.from_dict({"max_length": length, "decode": decode})


def _reading(profile: Profile) -> Search:
    return Search(max_length=_roomy(profile), beam=10, budget=200_000)


def _roomy(profile: Profile) -> int:
    """Return a length for plans that are not listed: a quarter more than was ever shown."""
    return profile.longest + (profile.longest + 3) // 4 if profile.longest > 1 else 1


def _graph(profile: Profile, features: Features) -> Configuration:
    overlay = Overlay(unit="word" if profile.crowded else profile.unit)
    return Configuration("graph", PlanModel(), overlay, features, _listing(profile))


def _graph_other(profile: Profile, features: Features) -> Configuration:
    overlay = Overlay(unit=profile.unit if profile.crowded else "word")
    name = f"graph, {overlay.unit} by {overlay.unit}"
    return Configuration(name, PlanModel(), overlay, features, _listing(profile))


def _soft_graph(profile: Profile, features: Features) -> Configuration:
    overlay = Overlay(unit=profile.unit, adjacency="soft", entry="any")
    return Configuration("soft graph", PlanModel(), overlay, features, _listing(profile))


def _related(profile: Profile, features: Features) -> Configuration:
    # Clauses are read from left to right: what they hang from is where parsers err most.
    overlay = Overlay(skeleton="chain", adjacency="soft", entry="any", relations=True)
    own = features.changed_to(words=("word", *_number(features)), compound_weight=1.0)
    return Configuration("relations", PlanModel(), overlay, own, _listing(profile))


def _flat(profile: Profile, features: Features) -> Configuration:
    model = PlanModel() if profile.longest == 1 else PlanModel.flat()
    return Configuration("flat", model, Overlay.flat(), features, _listing(profile))


def _units(profile: Profile, features: Features) -> Configuration:
    cost = COST
    if profile.actions >= 2 * profile.units:
        # As many actions as units have follow each other if one more has this probability.
        cost = float(f"{-math.log(1 - profile.units / profile.actions):.2g}")
    own: dict[str, object] = {
        "words": (*(_UNIT if len(features.words) > 1 else _UNIT[:1]), *_number(features))
    }
    if features.learns_lexicon:
        own["lexicon"] = "strings"
    return Configuration(
        "unit by unit",
        TransducerModel(unaligned_cost=cost, fertility_cost=cost),
        replace(Overlay.bag(), unit=profile.unit),
        features.changed_to(promote=(), **own),
        _reading(profile),
    )


def _two_members(profile: Profile, features: Features) -> Configuration:
    one = _flat(profile, features)
    # The same words as a chain has them: without what only a tree knows.
    words = (*_CHAIN, *_number(features))
    second = Member(replace(one.overlay, skeleton="chain"), features.changed_to(words=words))
    return replace(one, name="flat, two members", model=Ensemble((second,), one.model), base="flat")


STRUCTURES: tuple[Structure, ...] = (
    Structure(
        "soft graph",
        lambda p: p.listable is not None and p.longest == 1 and not p.in_characters,
        "plans of one action can be listed: which words lie on which nodes is learnt, not given",
        _soft_graph,
    ),
    Structure(
        "relations",
        lambda p: p.listable is not None and p.relates and not p.in_characters,
        "texts name other things than those acted on, of those that the environment lists; nothing "
        "else can tell how these lie to each other",
        _related,
    ),
    Structure(
        "graph",
        lambda p: p.listable is not None and not p.in_characters,
        "plans can be listed",
        _graph,
    ),
    Structure(
        "flat, two members",
        lambda p: p.listable is not None and p.longest > 1 and p.count >= MANY,
        "plans of several actions can be listed, and there are enough demonstrations for a second "
        "reading: the mean of two is steadier, so that one is kept only where it is better",
        _two_members,
    ),
    Structure("flat", lambda p: p.listable is not None, "plans can be listed", _flat),
    Structure(
        "graph, other units",
        lambda p: p.listable is not None and p.longest > 1 and not p.in_characters,
        "plans can be listed, and some have several actions",
        _graph_other,
    ),
    Structure(
        "unit by unit",
        lambda p: p.listable is None or (p.longest > 1 and p.units > 1),
        "plans cannot be listed, or texts have several units for several actions",
        _units,
    ),
    Structure(
        "flat, two members",
        lambda p: p.listable is not None and p.longest == 1 and p.count >= MANY,
        "plans of one action can be listed, and there are enough demonstrations for a second "
        "reading",
        _two_members,
    ),
)
"""How texts are laid over plans."""


def configurations(profile: Profile) -> list[Configuration]:
    """Return the configurations that are feasible for some demonstrations, simplest first."""
    joins = [each for each in JOINS if each.applies(profile)] or [_PLAIN]
    found = []
    related = [each for each in STRUCTURES if each.name == "relations" and each.applies(profile)]
    for row in related or STRUCTURES:
        for join in joins if row.applies(profile) else ():
            features = Features.from_dict({**_words(profile), **join.settings(profile)})
            if (profile.says_numbers or profile.has_things) and "slot" not in features.joins:
                features = replace(features, joins=(*features.joins, "slot"))
            if profile.takes_sets:
                features = replace(features, words=(*features.words, "number"))
            if profile.shares_numbers and "slot" in features.joins:
                features = replace(features, words=(*features.words, "around"))
            made = row.make(profile, features)
            more = f", {join.name}" if join is not joins[0] else ""
            base = f"{made.base}{more}" if made.base else ""
            found.append(replace(made, name=f"{made.name}{more}", base=base))
    return found


def variants(given: Configuration, profile: Profile) -> list[Configuration]:
    """Return configurations that differ from a given one in one thing, for `tuned`."""
    found = []
    features = given.features
    plain = tuple(each for each in features.words if each == "word")
    if len(features.words) > len(plain):
        alone = features.changed_to(words=plain, compound_weight=1.0)
        found.append(replace(given, name=f"{given.name}, words alone", features=alone))
    elif given.overlay.skeleton != "bag":
        compound = features.changed_to(words=_TREE, compound_weight=COMPOUND)
        found.append(replace(given, name=f"{given.name}, words in the tree", features=compound))
    if profile.has_numbers and profile.says_numbers:
        both = replace(features, numbers=("equal", "bins"))
        found.append(replace(given, name=f"{given.name}, numbers in intervals", features=both))
    if features.min_word_count > 1:
        rare = replace(features, min_word_count=1)
        found.append(replace(given, name=f"{given.name}, rare words", features=rare))
    if profile.listable is None:
        model = DecisionModel()
        decided = replace(given, name="decisions over graphs", model=model, overlay=Overlay())
        found.append(replace(decided, search=Search(max_length=_roomy(profile))))
    if isinstance(given.model, Ensemble):
        return found[:0]  # both members would have to change
    return found


def default_model() -> Model:
    """Return the model whose settings are meant where none is named."""
    return PlanModel()


def reads_units(model: Model | str) -> bool:
    """Tell whether a model reads a text unit by unit.

    >>> reads_units(TransducerModel()), reads_units(PlanModel()), reads_units("auto")
    (True, False, False)
    """
    return not isinstance(model, str) and isinstance(model.member_model, TransducerModel)


def learning_for(profile: Profile, model: Model, count: int | None = None) -> Learning:
    """Return how to learn from so many of the demonstrations: the penalty is the same for each.

    A demonstration is one choice among plans; a text read unit by unit is one for each unit and
    action.
    """
    count = profile.count if count is None else count
    reads = reads_units(model)
    choices = count * (profile.units + profile.actions if reads else 1)
    penalty = max(LEAST_PENALTY, float(f"{choices * CHARGE:.2g}"))
    joined = profile.longest > 1 and not reads and profile.consecutive
    return Learning.from_dict(
        {
            "l2": penalty if reads else min(MOST_PENALTY, penalty),
            "tolerance": LOOSE if CHARGE * count >= 1 else TIGHT,
            "composed": COMPOSED if joined else 0.0,
            # Fewer demonstrations charge so little that a weight can be learnt from one of them.
            "grow": profile.relates,
            "rare_words": count >= FEW and profile.has_rare_meaning,
        }
    )
