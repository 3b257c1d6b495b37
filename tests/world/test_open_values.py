"""Holes in actions that are filled from the text."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from groundling import Demonstration, Follower, GroundingGraph, OpenValue, check_environment
from groundling.errors import DemonstrationError, WorldError
from groundling.language import ENGLISH
from groundling.language.literals import read_literals
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.open_values import fill, fills, holes
from groundling.world.sets import TextValues

DEGREES = OpenValue("number", low=5, high=35, unit="degree")


class Heating:
    """Rooms that are heated to what is said, a timer, and a list."""

    open_values = ("number", "duration", "text")

    def actions(self, state):
        heat = [("heat", room, DEGREES) for room in ("hall", "attic")]
        step = OpenValue("number", low=0.5, high=5, unit="degree", default=1.0)
        warmer = [("warmer", room, step) for room in ("hall", "attic")]
        timer, item = OpenValue("duration", low=1), OpenValue("text")
        return (*heat, *warmer, ("timer", "", timer), ("buy", "", item))

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        verb, room, value = action
        nodes = {"event": {verb: True}, "value": {f"{verb} to": value}}
        edges = [("event", "value", "to")]
        if room:
            nodes["room"] = {"room": room}
            edges.append(("event", "room", "in"))
        return GroundingGraph(nodes, edges)


def shown(text, *action):
    return Demonstration(text, Heating(), (), (action,))


TAUGHT = [
    *(shown(f"heat the {r} to {v} degrees", "heat", r, v) for r in ("hall", "attic")
      for v in (18.0, 20.5)),
    *(shown(f"make the {r} {w} warmer", "warmer", r, v) for r in ("hall", "attic")
      for w, v in (("two degrees", 2.0), ("a bit", 1.0))),
    shown("remind me in ten minutes", "timer", "", 600.0),
    shown("remind me in an hour", "timer", "", 3600.0),
    *(shown(f"add {item} to the list", "buy", "", item) for item in ("milk", "brown bread")),
    shown("add soap to the list", "buy", "", "soap"),
    shown("put rice on the list", "buy", "", "rice"),
]  # fmt: skip


@pytest.fixture(scope="module")
def follower():
    return Follower(parser="chain:english").fit(TAUGHT, check=False)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("heat the attic to 23.5 degrees", ("heat", "attic", 23.5)),
        ("heat the hall to 19", ("heat", "hall", 19.0)),
        ("make the hall three degrees warmer", ("warmer", "hall", 3.0)),
        ("make the attic warmer", ("warmer", "attic", 1.0)),
        ("remind me in 45 seconds", ("timer", "", 45.0)),
        ("add oat milk to the list", ("buy", "", "oat milk")),
        ("put black pepper on the list", ("buy", "", "black pepper")),
    ],
)
def test_values_never_shown_are_filled_in(follower, text, action):
    assert follower.follow(text, Heating(), ()).actions == (action,)


def test_values_outside_the_range_are_not_filled_in(follower):
    plan = follower.follow("heat the attic to 90 degrees", Heating(), ())
    assert plan.actions[0][2] != 90.0


def test_values_that_no_text_says_are_an_error():
    with pytest.raises(DemonstrationError, match="heat"):
        Follower(parser="chain:english").fit([shown("heat the hall", "heat", "hall", 20.0)])


def test_filled_plans_are_judged_and_explained(follower):
    assert follower.score([shown("heat the hall to 30 degrees", "heat", "hall", 30.0)]) == 1.0
    plan = follower.follow("heat the hall to 30 degrees", Heating(), ())
    assert "30" in str(plan.explain())
    [heated] = plan.explain().steps
    [bought] = follower.follow("add oat milk to the list", Heating(), ()).explain().steps
    assert not any("free text" in each for each in heated.meanings)
    assert "“oat milk” is free text" in bought.meanings


def test_one_environment_serves_many_texts(follower):
    world = Heating()
    for value in (18, 19, 20, 21):
        plan = follower.follow(f"heat the hall to {value} degrees", world, ())
        assert plan.actions == (("heat", "hall", float(value)),)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"type": "nummer"}, "must be one of"),
        ({"type": "colour", "low": 1}, "must be left out"),
        ({"type": "duration", "unit": "degree"}, "must be left out"),
        ({"type": "number", "low": 3, "high": 1}, "must be <= `high`"),
        ({"type": "number", "unit": "degrees"}, "must be the base unit 'degree'"),
        ({"type": "number", "unit": "percent"}, "Use the type 'percentage'"),
        ({"type": "number", "high": 5, "default": 9}, "`default` must be of type"),
        ({"type": "text", "now": 1}, "`now` must be left out"),
        ({"type": "number", "step": 1}, "`now` must be set"),
    ],
)
def test_bad_declarations(wrong, message):
    with pytest.raises(WorldError, match=message):
        OpenValue(**wrong)


def test_check_environment_knows_open_values():
    assert "No problems" in str(check_environment(Heating(), (), states=3))

    class Silent(Heating):
        open_values = ("number",)

    with pytest.raises(WorldError, match="must list every type of open value"):
        check_environment(Silent(), (), states=3)


def test_numbers_with_their_unit_come_first():
    text = ["in", "3", "minutes", "heat", "it", "to", "20", "degrees", "or", "21"]
    assert DEGREES.values(text, read_literals(text, ENGLISH)) == (20.0,)
    text = ["heat", "it", "to", "20"]
    assert DEGREES.values(text, read_literals(text, ENGLISH)) == (20.0,)
    assert DEGREES.values((), ()) == ()


class Named(NamedTuple):
    verb: str
    value: object


@dataclass(frozen=True)
class Data:
    verb: str
    value: object


@pytest.mark.parametrize("kind", [Named, Data])
def test_actions_of_all_kinds_have_holes(kind):
    action = kind("heat", DEGREES)
    assert holes(action) == [DEGREES]
    assert fill(action, DEGREES, 20.0) == kind("heat", 20.0)
    assert fills(kind("heat", 20), [action])
    assert not fills(kind("heat", 99), [action])
    assert not fills(kind("cool", 20), [action])
    assert not fills(kind("heat", "x"), [action])
    assert fill(DEGREES, DEGREES, 1) == 1
    assert holes("heat") == []


class Thermostat:
    """A temperature that is set, or changed by what is said or by a step."""

    open_values = ("number",)

    def actions(self, degrees):
        return (("set", OpenValue("number", low=5, high=35, unit="degree", now=degrees, step=1)),)

    def step(self, degrees, action):
        return action[1]

    def ground(self, degrees, action, after):
        nodes = {"event": {"set": True}, "value": {"to": after}}
        return GroundingGraph(nodes, [("event", "value", "to")])


def test_relative_values_are_learnt_and_explained():
    shown = [
        Demonstration(text, Thermostat(), start, (("set", end),))
        for start in (15.0, 18.0, 22.0)
        for text, end in (
            ("set it to 20 degrees", 20.0),
            ("make it two degrees warmer", start + 2),
            ("make it three degrees colder", start - 3),
            ("a bit warmer", start + 1),
            ("a bit colder", start - 1),
        )
    ]
    follower = Follower(parser="chain:english").fit(shown, check=False)
    plan = follower.follow("make it five degrees colder", Thermostat(), 20.0)
    assert plan.actions == (("set", 15.0),)
    assert not plan.unexplained
    assert "15 is “five degrees” less than the current value" in str(plan.explain())
    plan = follower.follow("warmer", Thermostat(), 30.0)
    assert plan.actions == (("set", 31.0),)
    assert plan.explain().steps[0].meanings == ("31 is one step more than the current value",)


def test_a_value_that_is_also_a_change_has_the_labels_of_both():
    hole = OpenValue("percentage", low=0, high=100, now=40)
    words = ["turn", "it", "down", "by", "20", "percent"]
    read = hole.readings(words, read_literals(words, ENGLISH))
    assert read[20.0] == ("to what is said", "less than now", "by what is said")
    assert read[60.0] == ("more than now", "by what is said")


def test_values_that_a_plan_does_not_use_are_unexplained(follower):
    plan = follower.follow("heat the hall to 21 degrees", Heating(), ())
    assert plan.unexplained == ()
    late = follower.follow("heat the hall to 21 degrees in ten minutes", Heating(), ())
    assert late.unexplained == (("ten", "minutes") if "duration" in Heating.open_values else ())


def test_ordinals_are_also_said_as_numbers():
    words = ["play", "track", "number", "five"]
    assert OpenValue("ordinal").values(words, read_literals(words, ENGLISH)) == (5.0,)


def test_free_text_is_copied_and_names_nothing(follower):
    plan = follower.follow("add oat milk to the list", Heating(), ())
    assert plan.unexplained == ()
    assert "“oat milk” is free text" in plan.explain().steps[0].meanings
    said = TextValues(("add", "oat", "milk", "to", "the", "list"))
    [graph] = CachedEnvironment(Heating()).bound(said).trace((), plan.actions).graphs
    assert {str(each) for each in graph.labels("value")} == {
        "buy to",
        "said after add",
        "said before to",
    }


def test_only_what_fills_an_open_value_is_free_text():
    class Lists(Heating):
        def actions(self, state):
            return (("buy", "soap", 1), ("buy", "", OpenValue("text")))

    world = CachedEnvironment(Lists()).bound(TextValues(("buy", "soap")))
    assert world.texts([((), ("buy", "soap", 1))]) == set()
    assert world.texts([((), ("buy", "", "soap"))]) == {"soap"}
