"""Sets of things that texts describe."""

import pytest

from groundling import Demonstration, Follower, GroundingGraph, check_environment
from groundling.errors import WorldError
from groundling.language import ENGLISH
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

    def things(self, state):
        return THINGS

    def actions(self, state):
        return (("start", OpenSet()), ("stop", OpenSet()))

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        labels, left_out = describe_set(THINGS, action[1])
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
    with pytest.raises(WorldError, match="must hold one or more"):
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
    assert "fine" in str(check_environment(House(), (), states=3))

    class Empty(House):
        things = property()

    with pytest.raises(WorldError, match="things"):
        check_environment(Empty(), (), states=3)
