"""What a text may mean in a home: the commands that are offered, and their graphs."""

from dataclasses import replace

import pytest

from groundling.home import Home, HomeWorld, Situation
from groundling.home.environment import Command, check_area
from groundling.home.home import HomeError, Timer
from groundling.home.knowledge import Knowledge
from groundling.home.locales import home_language
from groundling.world.environment_checks import check_environment
from tests.home.homes import HOME

WORLD = HomeWorld(HOME, home_language("en"))


def offered(text, situation=Situation()):
    return {
        (each.verb, frozenset(each.target.ids), each.value, each.target.choice)
        for each in WORLD.read(text).actions(situation)
    }


@pytest.mark.parametrize(
    ("text", "verb", "ids", "value"),
    [
        ("turn on the desk lamp", "turn on", {"light.desk"}, None),
        ("the lamps in the den", "turn off", {"light.desk", "light.floor"}, None),
        ("den lights to 30%", "set brightness", {"light.desk", "light.floor"}, 30.0),
        ("all lights on the ground floor", "turn on",
         {"light.desk", "light.floor", "light.hall"}, None),
        ("all lights but the desk lamp", "turn off", {"light.floor", "light.hall"}, None),
        ("all lights except in the den", "turn off", {"light.hall"}, None),
        ("the desk lamp and the floor lamp", "turn on", {"light.desk", "light.floor"}, None),
        ("lights in the den and the hall", "turn on",
         {"light.desk", "light.floor", "light.hall"}, None),
        ("everything in the hall", "turn off", {"light.hall"}, None),
        ("is the front door locked", "whether", {"lock.door"}, "locked"),
        ("thermostat to 21 degrees", "set temperature", {"climate.den"}, 21.0),
        ("add 5 minutes to the pizza timer", "add time", {"timer:0"}, 300.0),
        ("blue desk lamp", "set colour", {"light.desk"}, "blue"),
        ("temperature in the den", "temperature", {"climate.den"}, None),
        ("milk", "add item", {"todo.shopping_list"}, None),
        ("left blind half way", "set position", {"cover.left"}, 50.0),
        ("everything but the lights", "turn off", {"media_player.radio", "climate.den"}, None),
        ("everything but the lights in the den", "turn off",
         {"light.hall", "media_player.radio", "climate.den"}, None),
    ],
)  # fmt: skip
def test_environment_offers_what_is_meant(text, verb, ids, value):
    assert (verb, frozenset(ids), value, False) in offered(text)


def test_environment_offers_to_ask_which_of_several_is_meant():
    both = frozenset({"light.desk", "light.floor"})
    assert ("turn on", both, None, True) in offered("turn on the lamp")
    here = offered("turn on the light", Situation("den"))
    assert ("turn on", both, None, True) in here


@pytest.mark.parametrize("text", ["the desk lamp to 21 degrees", "the den lights to 21 degrees"])
def test_environment_offers_no_command_that_leaves_a_value_out(text):
    lights = {"light.desk", "light.floor", "light.hall"}
    doings = {verb for verb, ids, value, _ in offered(text) if ids & lights and value is None}
    assert doings <= {"what"}


def test_environment_asks_where_names_or_places_are_shared():
    data = {
        "areas": [{"id": n, "name": f"{n} bedroom"} for n in ("guest", "master")],
        "entities": [
            {"id": f"light.{n}", "name": "Ceiling", "area": n, "state": "off"}
            for n in ("guest", "master")
        ],
    }
    world = HomeWorld(Home.from_data(data), home_language("en"))
    for text, by in (("turn on the ceiling", "name"), ("turn on the bedroom lights", "kind")):
        doings = [e for e in world.read(text).actions(Situation()) if e.verb == "turn on"]
        found = [e.target.choice for e in doings if e.target.by == by and len(e.target.ids) > 1]
        assert any(found)
    said = world.read("turn on the ceiling in the guest bedroom").actions(Situation())
    assert any(e.target.ids == ("light.guest",) and not e.target.choice for e in said)


def test_environment_knows_what_was_spoken_of_before():
    before = Situation("", ("light.desk",))
    assert ("turn off", frozenset({"light.desk"}), None, False) in offered("turn it off", before)
    other = ("turn off", frozenset({"light.floor"}), None, False)
    assert other in offered("turn the other one off", before)


def test_environment_offers_words_of_the_text_as_free_values():
    said = WORLD.read("play Blue Moon on the radio")
    play = next(e for e in said.actions(Situation()) if e.verb == "play")
    texts = {each.value for each in said.spans(play).actions(Situation())}
    assert "Blue Moon" in texts
    assert not any("radio" in each for each in texts)


def test_environment_sees_which_free_values_begin_with_a_capital():
    said = WORLD.read("play the artist Blue Moon")
    play = next(e for e in said.actions(Situation()) if e.verb == "play")
    spans = said.spans(play)

    def labels(text):
        found = next(e for e in spans.actions(Situation()) if e.value == text)
        graph = spans.ground(Situation(), found, Situation())
        return {each.name for some in graph.node_labels for each in some}

    assert "begins with a capital" in labels("Blue Moon")
    assert "begins with a capital" not in labels("the artist Blue Moon")
    assert "leaves a capital" in labels("Blue")
    assert "leaves a capital" not in labels("Blue Moon")


def test_environment_uses_a_duration_for_the_timer_or_the_time_to_add():
    timers = (Timer("", "", 300, 200), Timer("", "", 600, 300))
    world = HomeWorld(replace(HOME, timers=timers), home_language("en"))

    def added(text):
        found = world.read(text).actions(Situation())
        return {(e.target.ids, e.value) for e in found if e.verb == "add time"}

    every = ("timer:0", "timer:1")
    assert added("add 2 minutes to the 5 minute timer") == {
        (("timer:0",), 120.0), (every, 120.0), (every, 300.0),
    }  # fmt: skip
    assert added("add 5 minutes to the timer") == {(every, 300.0)}
    assert (("timer:0",), 300.0) in added("add 5 minutes to the 5 minute timer")


def test_environment_offers_only_kinds_that_words_suggest():
    known = Knowledge({"open": 5, "lights": 5, "the": 9}, {"lights": {"light": 1.0}})
    world = HomeWorld(HOME, home_language("en"), known)
    kinds = {e.target.kind for e in world.read("the lights").actions(Situation())}
    assert "light" in kinds
    assert "lock" not in kinds


def test_environment_is_one_that_followers_accept():
    said = WORLD.read("turn on the desk lamp and lock the front door")
    assert "No problems" in str(check_environment(said, Situation("den")))


def test_environment_refuses_unknown_areas():
    assert check_area(HOME, None) == ""
    with pytest.raises(HomeError, match="`area` must be the id of an area in the home; got 'moon'"):
        check_area(HOME, "moon")


def test_environment_commands_say_what_they_are():
    assert str(Command("time")) == "time"
    assert Command("which").is_question
    assert not Command("turn on").is_question


@pytest.mark.parametrize("text", ["did anybody turn off the desk lamp", "hey, is the desk lamp on"])
def test_environment_offers_no_command_for_a_question(text):
    found = WORLD.read(text).actions(Situation())
    assert any(each.is_question for each in found)
    assert not any(each.target.ids and not each.is_question for each in found)
    assert ("turn off", frozenset({"light.desk"}), None, False) in offered(
        "how about turning off the desk lamp"
    )


def test_environment_lets_part_of_a_name_decide_which_of_a_kind_are_meant():
    bedside = [
        {"id": f"light.{side}", "name": f"{side} Bedside Lamp"} for side in ("left", "right")
    ]
    home = Home.from_data({"entities": [*bedside, {"id": "light.desk", "name": "Desk Lamp"}]})
    known = Knowledge.learn([(("turn", "both", "lamps", "off"), "light")] * 3)
    world = HomeWorld(home, home_language("en"), known)

    def lamps(text):
        found = world.read(text).actions(Situation())
        several = (e.target for e in found if e.verb == "turn off" and len(e.target.ids) > 1)
        return {each.ids for each in several if each.by != "everything"}

    assert lamps("turn both bedside lamps off") == {("light.left", "light.right")}
    assert ("light.left", "light.right", "light.desk") in lamps("turn both lamps off")


def test_environment_offers_only_timers_and_delays_for_a_duration():
    found = offered("turn on the desk lamp in 20 minutes")
    assert ("delay", frozenset(), 1200.0, False) in found
    assert ("turn on", frozenset({"light.desk"}), None, False) not in found
    assert ("turn on", frozenset({"light.desk"}), None, False) in offered(
        "turn on the desk lamp for a second"
    )


def test_environment_says_whether_something_fits():
    known = Knowledge.learn([
        (("turn", "on", "the", "fan"), "fan"), (("turn", "on", "the", "radio"), "media_player"),
    ] * 3)  # fmt: skip
    world = HomeWorld(HOME, home_language("en"), known)

    def fits(text):
        said, start = world.read(text), Situation()
        graph = said.ground(start, Command("decline"), said.step(start, Command("decline")))
        return [str(each) for each in graph.labels("event") if "fits" in str(each)]

    assert fits("turn on the radio in the den") == ["something fits"]
    assert fits("turn on the fan in the hall") == ["nothing fits"]


def test_environment_takes_this_room_for_the_speakers():
    home = Home.from_data({
        "areas": [{"id": "room", "name": "Room"}, {"id": "hall", "name": "Hall"}],
        "entities": [{"id": "light.a", "name": "A", "area": "room"},
                     {"id": "light.b", "name": "B", "area": "hall"}],
    })  # fmt: skip
    world = HomeWorld(home, home_language("en"))
    for text, ids in (
        ("lights in this room off", "light.b"),
        ("lights in the room off", "light.a"),
    ):
        found = world.read(text).actions(Situation("hall"))
        there = (e.target.ids for e in found if e.target.where and e.verb == "turn off")
        assert next(there) == (ids,)


def test_environment_takes_the_other_one_for_what_has_a_similar_name():
    lamps = ("Left Bedside Lamp", "Right Bedside Lamp", "Ceiling")
    home = Home.from_data(
        {"entities": [{"id": f"light.l{n}", "name": name} for n, name in enumerate(lamps)]}
    )
    world = HomeWorld(home, home_language("en"))
    found = world.read("turn the other one on").actions(Situation(before=("light.l0",)))
    assert {e.target.ids for e in found if e.target.by == "other"} == {("light.l1",)}
    found = world.read("turn the lamp on").actions(Situation(before=("light.l0",)))
    assert not any(e.target.by in ("other", "it") for e in found)
