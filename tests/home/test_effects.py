"""What commands change: states and attributes as Home Assistant has them, and only differences."""

import pytest

from groundling.home import HomeError
from groundling.home.effects import changes, initial_states, is_in_state, limits
from groundling.home.home import Entity
from tests.home.homes import HOME


@pytest.mark.parametrize(
    ("id_", "state", "attributes", "verb", "value", "wanted"),
    [
        ("light.a", "off", {}, "turn on", None, {"state": "on"}),
        ("light.a", "on", {}, "turn on", None, {}),
        ("light.a", "on", {}, "toggle", None, {"state": "off"}),
        ("light.a", "off", {}, "set brightness", 50.0,
         {"state": "on", "attributes": {"brightness": 128}}),
        ("light.a", "on", {"brightness": 100}, "set brightness", 0.0,
         {"state": "off", "attributes": {"brightness": 0}}),
        ("light.a", "on", {"brightness": 100}, "dim", None, {"attributes": {"brightness": 49}}),
        ("light.a", "on", {}, "set colour", "red", {"attributes": {"rgb_color": [255, 0, 0]}}),
        ("cover.a", "open", {"current_position": 100}, "close", None,
         {"state": "closed", "attributes": {"current_position": 0}}),
        ("cover.a", "open", {}, "close", None, {"state": "closed"}),
        ("cover.a", "closed", {"position": 0}, "set position", 40.0,
         {"state": "open", "attributes": {"position": 40}}),
        ("media_player.a", "on", {"volume_level": 0.5}, "set volume", 30.0,
         {"attributes": {"volume_level": 0.3}}),
        ("media_player.a", "on", {"volume_level": 0.95}, "louder", None,
         {"attributes": {"volume_level": 1.0}}),
        ("climate.a", "off", {"hvac_modes": ["off", "cool"]}, "turn on", None, {"state": "cool"}),
        ("climate.a", "heat", {"temperature": 20}, "warm up", 2.0,
         {"attributes": {"temperature": 22}}),
        ("climate.a", "heat", {"temperature": 20}, "set temperature", 20.5,
         {"attributes": {"temperature": 20.5}}),
        ("fan.a", "off", {}, "set speed", 60.0, {"state": "on", "attributes": {"percentage": 60}}),
        ("todo.a", "1", {"items": ["tea"]}, "add item", "milk",
         {"state": "2", "attributes": {"items": ["tea", "milk"]}}),
        ("todo.a", "1", {"items": ["Tea"]}, "complete item", "tea",
         {"state": "0", "attributes": {"items": []}}),
        ("lock.a", "locked", {}, "unlock", None, {"state": "unlocked"}),
        ("vacuum.a", "docked", {}, "start", None, {"state": "cleaning"}),
    ],
)  # fmt: skip
def test_effects_are_those_of_home_assistant(id_, state, attributes, verb, value, wanted):
    now = {"state": state, "attributes": attributes}
    assert changes(Entity(id_, "A"), now, verb, value) == wanted


def test_effects_states_of_a_request_override_the_home():
    given = initial_states(HOME, {"light.desk": {"state": True, "attributes": {"brightness": 9}}})
    assert given["light.desk"] == {"state": "on", "attributes": {"brightness": 9}}
    assert initial_states(HOME)["light.desk"]["state"] == "off"
    with pytest.raises(
        HomeError,
        match=r"must contain only entities of the home; got "
        r"'light\.moon'",
    ):
        initial_states(HOME, {"light.moon": {"state": "on"}})
    with pytest.raises(HomeError, match="must be a mapping with `state`"):
        initial_states(HOME, {"light.desk": "on"})


def test_effects_a_thermostat_that_heats_is_on():
    heating = {"state": "heat", "attributes": {}}
    assert is_in_state(Entity("climate.a", "A"), heating, "on")
    assert not is_in_state(Entity("light.a", "A"), heating, "on")


@pytest.mark.parametrize(
    ("verb", "value", "expected"),
    [
        ("set temperature", 21.0, None),
        ("set temperature", 68.0, None),  # the unit of the thermostat is unknown
        ("set temperature", 200.0, (0.0, 100.0)),
        ("warm up", 2.0, None),
        ("warm up", 50.0, (0.0, 20.0)),
    ],
)
def test_limits_are_those_of_the_scale(verb, value, expected):
    now = {"attributes": {"temperature": 20}}
    assert limits(verb, value, Entity("climate.a", "A"), now) == expected


def test_limits_of_a_thermostat_are_its_own():
    now = {"attributes": {"temperature": 68, "min_temp": 50, "max_temp": 85}}
    climate = Entity("climate.a", "A")
    assert limits("set temperature", 72.0, climate, now) is None
    assert limits("set temperature", 20.0, climate, now) == (50.0, 85.0)
    cold = {"attributes": {"temperature": 68, "min_temp": 50}}
    assert limits("set temperature", 20.0, climate, cold) == (50.0, 100.0)
