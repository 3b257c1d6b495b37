"""Settings: checked by type and range where they are given, and never without effect."""

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from groundling import (
    DecisionModel,
    Ensemble,
    Features,
    Follower,
    Learning,
    Lexicon,
    Member,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import SettingError
from groundling.settings import Settings, setting
from tests.worlds import line_demonstrations

GROUPS = (Overlay, Features, Learning, Search, PlanModel, DecisionModel, TransducerModel, Member,
          Ensemble)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Oven(Settings):
    """Settings of every type."""

    heat: float = setting(180.0, least=0, most=300)
    minutes: int = setting(10, least=1)
    speed: float = setting(1.0, above=0)
    trays: int | None = setting(None, least=1)
    mode: Literal["fan", "grill"] = "fan"
    lamp: bool = True
    names: tuple[str, ...] = ()
    modes: tuple[Literal["fan", "grill"], ...] = ("fan",)
    size: tuple[int, float] = (1, 2.0)
    search: Search = Search()  # noqa: RUF009 - a frozen value


# ---- types and ranges -----------------------------------------------------------------------


ONE_OF = "Oven.{} must be one of 'fan', 'grill'; got {}"


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("heat", "hot", "Oven.heat must be a number; got 'hot'."),
        ("heat", None, "Oven.heat must be a number; got None."),
        ("heat", True, "Oven.heat must be a number; got True."),
        ("heat", [1.0], "Oven.heat must be a number; got [1.0]."),
        ("heat", float("nan"), "Oven.heat must be a finite number; got nan."),
        ("heat", float("inf"), "Oven.heat must be a finite number; got inf."),
        ("heat", 301, "Oven.heat must be between 0 and 300; got 301.0."),
        ("heat", -0.5, "Oven.heat must be between 0 and 300; got -0.5."),
        ("minutes", 1.5, "Oven.minutes must be a whole number; got 1.5."),
        ("minutes", "1", "Oven.minutes must be a whole number; got '1'."),
        ("minutes", None, "Oven.minutes must be a whole number; got None."),
        ("minutes", 0, "Oven.minutes must be >= 1; got 0."),
        ("speed", 0, "Oven.speed must be > 0; got 0.0."),
        ("trays", 0, "Oven.trays must be >= 1; got 0."),
        ("trays", "two", "Oven.trays must be a whole number; got 'two'."),
        (
            "mode",
            "gril",
            ONE_OF.format("mode", "'gril'. Did you mean 'grill'?"),
        ),
        ("mode", 3, ONE_OF.format("mode", "3.")),
        (
            "mode",
            ["fan"],
            ONE_OF.format("mode", "['fan']. Did you mean 'fan'?"),
        ),
        ("lamp", 1, "Oven.lamp must be True or False; got 1."),
        ("lamp", "no", "Oven.lamp must be True or False; got 'no'."),
        ("names", 5, "Oven.names must be a tuple; got 5."),
        ("names", {"a": 1}, "Oven.names must be a tuple; got {'a': 1}."),
        ("names", (1,), "Oven.names must be a str; got 1."),
        (
            "modes",
            ("fan", "gril"),
            ONE_OF.format("modes", "'gril'. Did you mean 'grill'?"),
        ),
        ("size", (1,), "Oven.size must have 2 items; got 1."),
        ("size", (1.5, 2), "Oven.size must be a whole number; got 1.5."),
        ("search", "wide", "Oven.search must be a Search; got 'wide'."),
        ("search", {}, "Oven.search must be a Search; got {}."),
    ],
)
def test_settings_complain_of_the_wrong_type_or_range(name, value, complaint):
    with pytest.raises(SettingError) as caught:
        Oven(**{name: value})
    assert str(caught.value) == complaint


def test_settings_take_what_means_the_same():
    oven = Oven(
        heat=np.float32(200), minutes=np.int64(3), trays=2.0, names="cake", modes=["grill"],
        size=[2, 3],
    )  # fmt: skip
    assert oven.to_dict() == {
        "heat": 200.0, "minutes": 3, "speed": 1.0, "trays": 2, "mode": "fan", "lamp": True,
        "names": ["cake"], "modes": ["grill"], "size": [2, 3.0], "search": Search().to_dict(),
    }  # fmt: skip
    assert [type(each) for each in (oven.heat, oven.minutes, oven.trays)] == [float, int, int]
    assert hash(oven) == hash(Oven(200, 3, 1, 2, "fan", True, ("cake",), ("grill",), (2, 3)))


def test_settings_long_values_are_cut_in_messages():
    with pytest.raises(SettingError) as caught:
        Oven(heat="x" * 1000)
    assert len(str(caught.value)) < 100


def test_settings_show_what_was_changed():
    assert repr(Oven(heat=90, names=("tart",))) == "Oven(heat=90.0, names=('tart',))"
    assert Oven(mode="grill").changed() == ["mode"]
    assert repr(Oven()) == "Oven()"


def test_settings_are_frozen():
    with pytest.raises(AttributeError):
        Oven().heat = 3


def test_settings_read_what_they_wrote():
    oven = Oven(heat=90, names=("tart",), trays=3)
    assert Oven.from_dict({**oven.to_dict(), "search": Search()}) == oven
    with pytest.raises(SettingError, match=r"Oven has no setting 'heet'. Did you mean 'heat'"):
        Oven.from_dict({"heet": 1})


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_settings_of_every_group_refuse_the_wrong_type_by_name(group):
    assert fields(group)
    for each in fields(group):
        with pytest.raises(SettingError, match=rf"{group.__name__}\.{each.name} ") as caught:
            group(**{each.name: object()})
        assert str(caught.value).endswith((".", "?"))


@pytest.mark.parametrize("group", [*GROUPS[:7]], ids=lambda group: group.__name__)
def test_settings_of_every_group_are_read_as_they_were_written(group):
    assert group.from_dict(group().to_dict()) == group()
    assert group().changed() == []
    assert repr(group()) == f"{group.__name__}()"


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Learning(l2=-1), "Learning.l2 must be >= 0; got -1.0."),
        (lambda: Learning(l1=float("nan")), "Learning.l1 must be a finite number"),
        (lambda: Learning(l1=-0.1), "Learning.l1 must be >= 0"),
        (lambda: Learning(iterations=0), "Learning.iterations must be >= 1"),
        (lambda: Learning(rounds=0), "Learning.rounds must be >= 1"),
        (lambda: Learning(tolerance=-1e-9), "Learning.tolerance must be >= 0"),
        (lambda: PlanModel(alternatives=0), "PlanModel.alternatives must be >= 1"),
        (lambda: PlanModel(skip=-1), "PlanModel.skip must be >= 0"),
        (lambda: DecisionModel(aligned="viterbi"), "must be one of "),
        (lambda: DecisionModel(alternatives=0), "DecisionModel.alternatives must be >= 1"),
        (lambda: DecisionModel(alternatives_from="paths"), "Did you mean 'path'"),
        (lambda: DecisionModel(begin="weight"), "Did you mean 'weights'"),
        (lambda: DecisionModel(restarts=0), "DecisionModel.restarts must be >= 1"),
        (lambda: DecisionModel(alternations=0), "DecisionModel.alternations must be >= 1"),
        (lambda: DecisionModel(compare="texts"), "Did you mean 'text'"),
        (lambda: TransducerModel(unaligned_cost=-1), "TransducerModel.unaligned_cost must be >="),
        (lambda: TransducerModel(fertility_cost=-1), "TransducerModel.fertility_cost must be >="),
        (lambda: Overlay(skeleton="trees"), "Did you mean 'tree'"),
        (lambda: Overlay(unit="sentense"), "Did you mean 'sentence'"),
        (lambda: Overlay(neighbours=("givn",)), "Did you mean 'given'"),
        (lambda: Search(decode="plans"), "Did you mean 'plan'"),
        (lambda: Search(max_length=0), "Search.max_length must be between 1 and 10000"),
        (lambda: Search(min_length=5, max_length=2), "must be <= max_length"),
        (lambda: Search(beam=0), "Search.beam must be >= 1"),
        (lambda: Search(budget=0), "Search.budget must be >= 1"),
        (lambda: Search(threshold=1.5), "Search.threshold must be between 0.0 and 1.0"),
        (lambda: Features(words=("wrod",)), "Did you mean 'word'"),
        (lambda: Features(joins=("conjuction",)), "Did you mean 'conjunction'"),
        (lambda: Features(numbers=("bin",)), "Did you mean 'bins'"),
        (lambda: Features(compound_weight=0), "Features.compound_weight must be > 0"),
        (lambda: Features(compound_weight=1.2), "Features.compound_weight must be <= 1"),
        (lambda: Features(min_word_count=0), "Features.min_word_count must be >= 1"),
        (lambda: Features(include="("), "must be regular expressions"),
        (lambda: Features(exclude="["), "must be regular expressions"),
        (lambda: Features(lexicon="lern"), "Did you mean 'learn'"),
        (lambda: Features(lexicon=Path("nowhere.txt")), "must be a lexicon file"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_get_a_hint(build, words):
    with pytest.raises(SettingError, match=re.escape(words)):
        build()


# ---- no silent setting ----------------------------------------------------------------------

BENCH = Lexicon(given={"bench": [("item", "sofa")]})
GIVEN = [
    (lambda: Overlay(nodes="flat", adjacency="soft"), "Overlay.adjacency", "nodes='flat'"),
    (lambda: Overlay(nodes="flat", neighbours=("given",)), "Overlay.neighbours", "nodes='flat'"),
    (lambda: Overlay(nodes="flat", entry="any"), "Overlay.entry", "nodes='flat'"),
    (lambda: Overlay(skeleton="bag", adjacency="soft"), "Overlay.adjacency", "skeleton='bag'"),
    (lambda: Overlay(skeleton="bag", neighbours=()), "Overlay.neighbours", "skeleton='bag'"),
    (lambda: Overlay(skeleton="bag", edge_scores=False), "Overlay.edge_scores", "skeleton='bag'"),
    (lambda: Search(planning=False, beam=3), "Search.beam", "planning=False"),
    (lambda: Search(planning=False, beam=None), "Search.beam", "planning=False"),
    (lambda: Features(compound_weight=0.5), "Features.compound_weight", "words="),
    (lambda: Features(numbers=(), lexicon=BENCH), "Features.lexicon", "without Features.slots"),
]
FITTED = [
    ({"model": PlanModel(skip=1.0), "overlay": Overlay.bag()}, "PlanModel.skip", "bag"),
    (
        {"model": PlanModel(advance_scores=True), "overlay": Overlay.bag()},
        "PlanModel.advance_scores",
        "bag",
    ),
    (
        {"model": PlanModel(plan_scores=False, plan_words=True)},
        "PlanModel.plan_words",
        "plan_scores=False",
    ),
    *(
        ({"model": DecisionModel(aligned="all", **each)}, f"DecisionModel.{name}", "aligned='all'")
        for each in ({"begin": "alignment"}, {"restarts": 3}, {"alternations": 2})
        for name in each
    ),
    (
        {"model": TransducerModel(allow_multiple=False, fertility_cost=1.0)},
        "TransducerModel.fertility_cost",
        "allow_multiple=False",
    ),
    (
        {"model": TransducerModel(), "learning": Learning(rounds=2)},
        "Learning.rounds",
        "instead of alternating",
    ),
]


@pytest.mark.parametrize(("build", "name", "why"), GIVEN, ids=[each[1] for each in GIVEN])
def test_settings_without_effect_are_refused_where_they_are_given(build, name, why):
    with pytest.raises(SettingError, match=rf"^{re.escape(name)} has no effect with") as caught:
        build()
    told(caught.value, why)


@pytest.mark.parametrize(("settings", "name", "why"), FITTED, ids=[each[1] for each in FITTED])
def test_settings_without_effect_are_refused_when_the_follower_learns(settings, name, why):
    follower = Follower(parser="chain", **settings)
    with pytest.raises(SettingError, match=rf"^{re.escape(name)} has no effect") as caught:
        follower.fit(line_demonstrations())
    told(caught.value, why)
    inside = {**settings, "model": Ensemble([Member(settings.get("overlay", Overlay()))],
                                            settings["model"])}  # fmt: skip
    with pytest.raises(SettingError, match=rf"^{re.escape(name)} has no effect"):
        Follower(parser="chain", **inside).fit(line_demonstrations())


def told(error, why):
    """Check that a complaint says why, and how to mend it."""
    message = str(error)
    assert why in message
    assert re.search(r"\. (Leave it out|Add a label|Set slots)", message)
    assert message.endswith(".")


# ---- the follower's own ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("overlay", "flat", "Follower.overlay must be Overlay(…) or 'auto'; got 'flat'."),
        ("model", "plans", "Follower.model must be PlanModel(…) or 'auto'; got 'plans'."),
        ("model", PlanModel, "must be PlanModel(…) or 'auto'"),
        ("model", Overlay(), "must be PlanModel(…) or 'auto'"),
        ("features", ("word",), "must be Features(…) or 'auto'"),
        ("learning", {"l2": 1}, "must be Learning(…) or 'auto'"),
        ("search", None, "Follower.search must be Search(…) or 'auto'; got None."),
        ("parser", 3, "Follower.parser must be a parser or the name of one; got 3."),
        ("seed", "one", "Follower.seed must be a whole number; got 'one'."),
        ("seed", True, "Follower.seed must be a whole number; got True."),
        ("seed", -1, "Follower.seed must be >= 0; got -1."),
        ("threads", 0, "Follower.threads must be >= 1; got 0."),
        ("threads", 1.0, "Follower.threads must be a whole number; got 1.0."),
    ],
)
def test_settings_of_the_follower_are_checked(name, value, complaint):
    with pytest.raises(SettingError, match=re.escape(complaint)):
        Follower(**{name: value})
    with pytest.raises(SettingError, match=re.escape(complaint)):
        Follower().set_params(**{name: value})
    follower = Follower(parser="chain")
    setattr(follower, name, value)
    with pytest.raises(SettingError, match=re.escape(complaint)):
        follower.fit(line_demonstrations())


def test_settings_of_the_follower_take_numpy_numbers():
    follower = Follower(parser="chain", seed=np.int64(3), threads=np.int32(1))
    assert follower.fit(line_demonstrations()).theta_.size
