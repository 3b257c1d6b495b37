"""Connectives that turn the order of a text around: learnt, kept, and used."""

from dataclasses import replace

import pytest

from groundling import Demonstration, Features, Follower, Learning, Overlay, PlanModel, Search
from groundling.errors import SettingError
from groundling.features.connectives import Connective, in_order, possible_connectives
from groundling.language import ChainParser, Instruction
from tests.worlds import Line

WAYS = ("left", "right")
SAYINGS = (
    "go {a} then {verb} {b}",
    "{verb} {a} and go {b}",
    "{verb} {a}. Go {b}",
    "{verb} {b} after you go {a}",
    "before you {verb} {b}, go {a}",
    "go {b}. Before that {verb} {a}",
)


def shown(sayings=SAYINGS, verbs=("go", "walk", "move", "step")):
    world = Line(9)
    return [
        Demonstration(saying.format(a=a, b=b, verb=verb), world, 4, (a, b))
        for saying in sayings
        for verb in verbs
        for a in WAYS
        for b in WAYS
    ]


def make(**settings):
    features = {"words": ("word", "previous"), "reorder": True} | settings
    return Follower(
        model=PlanModel.flat(),
        overlay=replace(Overlay.flat(), skeleton="chain"),
        features=Features(**features),
        learning=Learning(l2=0.3, tolerance=1e-5, iterations=300),
        search=Search(max_length=2),
        parser="chain",
    )


@pytest.fixture(scope="module")
def follower():
    return make().fit(shown())


def connectives(follower):
    return follower._learnt.fitted.encoder.reader.connectives


def tokens(text, *known):
    parsed = ChainParser().parse(text)
    return [" ".join(each.tokens) for each in in_order(parsed, {Connective(*c) for c in known})]


def test_ordering_turns_a_sentence_around_at_a_connective():
    assert tokens("stop after you turn.", ("after", "middle")) == ["after you turn stop ."]
    assert tokens("before you stop, turn.", ("before", "front")) == ["turn before you stop , ."]
    assert tokens("stop. Before that turn.", ("before", "sentence")) == [
        "Before that turn .", "stop .",
    ]  # fmt: skip


def test_ordering_leaves_other_texts_as_they_are():
    assert tokens("after you turn stop", ("after", "middle")) == ["after you turn stop"]
    assert tokens("turn, stop") == ["turn , stop"]
    assert tokens("before that turn", ("before", "sentence")) == ["before that turn"]


def test_ordering_keeps_the_tree():
    tree = Instruction(
        tokens=("stop", "after", "you", "turn"),
        heads=(-1, 3, 3, 0),
        relations=("root", "mark", "nsubj", "advcl"),
    )
    [turned] = in_order([tree], {Connective("after", "middle")})
    assert turned.tokens == ("after", "you", "turn", "stop")
    assert turned.heads == (2, 2, 3, -1)
    assert turned.relations == ("mark", "nsubj", "advcl", "root")


def test_ordering_looks_at_every_word_that_could_turn_a_text():
    found = possible_connectives(ChainParser().parse("before you go, stop. Then wait here"))
    assert {Connective("before", "front"), Connective("then", "sentence")} <= found
    assert Connective("here", "middle") not in found


def test_ordering_connectives_are_learnt_and_others_are_not(follower):
    assert connectives(follower) == {
        Connective("after", "middle"),
        Connective("before", "front"),
        Connective("before", "sentence"),
    }


def test_ordering_is_followed_in_texts_never_shown(follower):
    world = Line(9)
    for text in ("run left after you go right", "before you run left, go right",
                 "run left. Before that go right", "go right then run left"):  # fmt: skip
        assert follower.follow(text, world, 4).actions == ("right", "left"), text


def test_ordering_costs_where_no_connective_pays():
    assert not connectives(make().fit(shown(SAYINGS[:3])))


def test_ordering_is_not_learnt_unless_asked_for():
    assert not connectives(make(reorder=False).fit(shown()))


def test_ordering_is_kept_in_model_files(follower, tmp_path):
    loaded = Follower.load(follower.save(tmp_path / "model"))
    assert connectives(loaded) == connectives(follower)
    plan = loaded.follow("go left after you go right", Line(9), 4)
    assert plan.actions == ("right", "left")


def test_ordering_of_single_actions_is_an_idle_setting():
    single = [Demonstration(f"go {way}", Line(9), 4, (way,)) for way in WAYS]
    with pytest.raises(SettingError, match=r"Features.reorder has no effect"):
        make().fit(single)
