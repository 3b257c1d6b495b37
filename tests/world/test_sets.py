"""Sets of things that texts describe."""

import pytest

from groundling import Demonstration, Follower, GroundingGraph, check_environment
from groundling.errors import WorldError
from groundling.language import ENGLISH
from groundling.language.literals import read_literals
from groundling.world.sets import OpenSet, TextValues, describe_set

THINGS = {
    "a": {"kind": "lamp", "room": "hall", "colour": "red"},
    "b": {"kind": "lamp", "room": "hall", "colour": "blue"},
    "c": {"kind": "lamp", "room": "attic", "colour": "green"},
    "d": {"kind": "fan", "room": "attic", "colour": "blue"},
    "e": {"kind": "fan", "room": "study", "colour": "red"},
}


class House:
    """Things that are started and stopped, several at a time."""

    open_values = ("set",)

    def __init__(self, things=THINGS):
        self.all = things

    def things(self, state):
        return self.all

    def actions(self, state):
        return (("start", OpenSet()), ("stop", OpenSet()))

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        labels, left_out = describe_set(self.all, action[1])
        nodes = {"event": {action[0]: True}, "thing": labels}
        edges = [("event", "thing", "of")]
        if left_out:
            nodes["rest"] = left_out
            edges.append(("thing", "rest", "without"))
        return GroundingGraph(nodes, edges)


def denoted(text, **having):
    words = text.split()
    known = {"kind": ("lamp", "fan"), "room": ("hall", "attic", "study"),
             "colour": ("red", "blue", "green")}  # fmt: skip
    found = [
        (kind, value, (place,))
        for place, word in enumerate(words)
        for kind, values in known.items()
        for value in values
        if word in (value, f"{value}s")
    ]
    said = TextValues(words, (), lambda values: found, ENGLISH)
    return ["".join(sorted(each)) for each in OpenSet(having).sets(THINGS, said)]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("all lamps", "abc"),
        ("everything", "abcde"),
        ("the red lamp", "a"),
        ("the lamps in the hall", "ab"),
        ("all lamps except the red one", "bc"),
        ("everything but the fans", "abc"),
        ("the lamps in the hall and the attic", "abc"),
        ("the red lamp and the blue fan", "ad"),
    ],
)
def test_descriptions_denote_sets(text, meant):
    assert meant in denoted(text)


def test_sets_are_few_and_never_empty():
    assert len(denoted("all red and blue lamps and fans in the hall and the attic")) < 40
    assert "" not in denoted("the green fan")


def test_sets_of_things_that_have_a_label():
    assert set(denoted("everything", kind="fan")) == {"de", "d", "e"}


def test_sets_say_what_they_agree_in():
    labels, left_out = describe_set(THINGS, {"a", "b"})
    assert labels["kind"] == ("lamp",)
    assert labels["room"] == ("hall",)
    assert labels["colour of some"] == ("blue", "red")
    assert (labels["count"], labels["several"], labels["all"]) == (2, True, True)
    assert not left_out
    labels, left_out = describe_set(THINGS, {"b", "c"})
    assert labels["some"]
    assert left_out["colour"] == ("red",)


@pytest.mark.parametrize("chosen", [{"x"}, set()])
def test_sets_hold_things_of_the_state(chosen):
    with pytest.raises(WorldError, match="must contain one or more"):
        describe_set(THINGS, chosen)


def shown(text, verb, things):
    return Demonstration(text, House(), (), ((verb, frozenset(things)),))


TAUGHT = [
    shown(f"{said} {what}", verb, things)
    for said, verb in (("turn on", "start"), ("stop", "stop"))
    for what, things in (
        ("all lamps", "abc"),
        ("all fans", "de"),
        ("the red lamp", "a"),
        ("the blue lamp", "b"),
        ("the blue fan", "d"),
        ("the lamps in the hall", "ab"),
        ("all lamps except the red one", "bc"),
        ("all lamps except the green one", "ab"),
        ("everything but the fans", "abc"),
        ("the lamps in the hall and the attic", "abc"),
        ("everything", "abcde"),
        ("everything in the attic", "cd"),
    )
]


@pytest.fixture(scope="module")
def follower():
    return Follower(parser="chain:english").fit(TAUGHT, check=False)


@pytest.mark.parametrize(
    ("text", "verb", "things"),
    [
        ("stop all fans", "stop", "de"),
        ("turn on all lamps except the blue one", "start", "ac"),
        ("stop everything but the lamps", "stop", "de"),
        ("turn on everything in the hall", "start", "ab"),
    ],
)
def test_sets_never_shown_are_found(follower, text, verb, things):
    assert follower.follow(text, House(), ()).actions == ((verb, frozenset(things)),)


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("all lamps except the one in the attic", "ab"),
        ("all lamps apart from the red ones", "bc"),
        ("all things that are not red", "bcd"),
        ("the lamps that are neither red nor blue", "c"),
        ("all but the fans", "abc"),
        ("the red lamp and the blue fan", "ad"),
        ("both fans", "de"),
        ("three lamps", "abc"),
        ("only the fans", "de"),
    ],
)
def test_quantifiers_exceptions_and_negations(follower, text, things):
    plan = follower.follow(f"turn on {text}", House(), ())
    assert plan.actions == (("start", frozenset(things)),)
    assert "the set has" in str(plan.explain())


@pytest.mark.parametrize("text", ["none of the lamps", "neither fan", "no lamps"])
def test_texts_that_ask_for_none_of_the_things_ask_for_nothing(follower, text):
    assert follower.follow(f"turn on {text}", House(), ()).actions == ()


def test_values_of_exceptions_are_explained(follower):
    kinds = ("heater", "heater", "heater", "lamp", "fan")
    house = House({n: {"kind": kind, "room": "hall"} for n, kind in enumerate(kinds)})
    plan = follower.follow("turn on everything but the heaters", house, ())
    assert (plan.actions, plan.unexplained) == ((("start", frozenset({3, 4})),), ())


def test_all_is_no_hall(follower):
    assert follower.follow("turn on all fans", House(), ()).actions == (("start", frozenset("de")),)


ROW = {n: {"kind": "cup", "from left": n + 1, "from right": 5 - n} for n in range(5)}


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("the 1st and 4th from the right", {4, 1}),
        ("the second from the left", {1}),
        ("the 2nd from the left and the 1st from the right", {1, 4}),
    ],
)
def test_numbers_belong_to_the_label_that_is_named(text, things):
    words = text.split()
    said = TextValues(words, read_literals(words, ENGLISH), language=ENGLISH)
    assert OpenSet().described(ROW, said) == [frozenset(things)]


def test_an_ordinal_that_nothing_has_fits_nothing():
    words = ["the", "9th", "from", "the", "left"]
    said = TextValues(words, read_literals(words, ENGLISH), language=ENGLISH)
    assert OpenSet().described({"a": {"from left": 1.0}, "b": {"from left": 2.0}}, said) == []


def test_numbers_that_describe_no_thing_are_unexplained(follower):
    assert follower.follow("turn on two lamps", House(), ()).unexplained == ()
    assert follower.follow("turn on seven lamps", House(), ()).unexplained == ("seven",)


def test_an_ordinal_that_two_labels_have_is_no_guess():
    words = ["the", "second", "one"]
    said = TextValues(words, read_literals(words, ENGLISH), language=ENGLISH)
    assert frozenset({1}) not in OpenSet().described(ROW, said)


def test_the_other_is_what_was_not_marked():
    things = {"a": {"kind": "fan", "last": True}, "b": {"kind": "fan"}, "c": {"kind": "lamp"}}
    words = ["the", "other", "fan"]
    said = TextValues(words, (), lambda values: [("kind", "fan", (2,))], ENGLISH)
    assert OpenSet().described(things, said) == [frozenset("b")]


def test_a_singular_that_fits_several_is_not_certain(follower):
    plan = follower.follow("stop the lamp", House(), ())
    rivals = {each.actions[0][1] for each in (plan, *plan.alternatives) if len(each.actions) == 1}
    assert {frozenset("a"), frozenset("b"), frozenset("c")} <= rivals
    assert plan.confidence < 0.7
    lamps = {each.actions[0][1] for each in (plan, *plan.candidates)}
    assert lamps == {frozenset("a"), frozenset("b"), frozenset("c")}
    assert {each.actions[0][0] for each in plan.candidates} == {"stop"}
    assert follower.follow("stop the red lamp", House(), ()).candidates == ()
    assert follower.follow("stop a lamp", House(), ()).candidates == ()


def test_check_environment_knows_sets():
    assert "No problems" in str(check_environment(House(), (), states=3))

    class Empty(House):
        things = property()

    with pytest.raises(WorldError, match="things"):
        check_environment(Empty(), (), states=3)
