"""The home as an environment: commands, what they change, and how they look."""

import pytest

from groundling import check_environment
from groundling.home import Command, Home, HomeEnvironment, HomeError

HOME = Home.from_data({
    "floors": [{"id": "up", "name": "Upstairs"}],
    "areas": [{"id": "hall", "name": "Hall", "floor": "up"}, {"id": "den", "name": "Den"}],
    "entities": [
        {"id": "light.a", "name": "Big Lamp", "area": "hall", "state": "off"},
        {"id": "light.b", "name": "Lamp", "area": "den", "state": "off", "aliases": ["Lantern"]},
        {"id": "cover.c", "name": "Drape", "area": "hall", "state": "open",
         "attributes": {"device_class": "curtain"}},
        {"id": "sensor.t", "name": "Outside", "state": "20"},
    ],
    "timers": [{"name": "pizza", "start_minutes": 5, "rounded_minutes_left": 3}],
})  # fmt: skip
WORLD = HomeEnvironment(HOME)
START = WORLD.initial_state("hall")


def step(*command):
    return WORLD.step(START, Command(*command))


def labels(*command):
    graph = WORLD.ground(START, Command(*command), step(*command))
    return {
        name: {(label.name, label.value) for label in found}
        for name, found in zip(graph.node_names, graph.node_labels, strict=True)
    }


def test_environment_keeps_its_contract():
    assert "fine" in str(check_environment(WORLD, START, states=60))


def test_environment_groups_are_by_kind_and_place():
    groups = {key: [each.id for each in found] for key, found in WORLD.groups.items()}
    assert groups["light", ""] == ["light.a", "light.b"]
    assert groups["light", "floor:up"] == ["light.a"]
    assert groups["cover:curtain", "area:hall"] == ["cover.c"]
    assert not any(what == "sensor" for what, _ in groups)


def test_environment_a_group_and_its_only_member_have_one_outcome():
    one, group = step("turn on", "light.a"), step("turn on", "light", "area:hall")
    assert WORLD.outcome(one) == WORLD.outcome(group)
    assert WORLD.outcome(one) != WORLD.outcome(step("turn on", "light"))


def test_environment_a_command_without_effect_is_part_of_the_outcome():
    started = WORLD.initial_state("hall", {"light.a": {"state": "on"}, "light.b": {"state": "on"}})
    ends = [WORLD.step(started, Command("turn on", each)) for each in ("light.a", "light.b")]
    assert ends[0].changes == ends[1].changes == started.changes
    assert WORLD.outcome(ends[0]) != WORLD.outcome(ends[1])


def test_environment_values_change_attributes():
    after = step("set brightness", "light.b", "", 50)
    assert after.changes == (("light.b", "brightness", 50), ("light.b", "state", "on"))
    assert ("cover.c", "state", "closed") in step("set position", "cover.c", "", 0).changes


def test_environment_timers():
    assert step("add time", "timer:0", "", 2).timers[0].left == 300
    assert not step("pause", "timer:0").timers[0].is_active
    assert step("cancel", "timer").timers == ()


def test_environment_labels_are_plain():
    found = labels("turn on", "light.b")
    assert found["event"] == {("turn on", None)}
    assert {("name", "Lamp"), ("name", "Lantern"), ("domain", "light")} <= found["thing"]
    assert found["place"] == {("area", "Den")}
    assert ("here", None) in labels("turn on", "light", "area:hall")["place"]
    assert labels("turn on", "light", "floor:up")["place"] == {("floor", "Upstairs")}
    assert labels("turn on", "light")["place"] == {("everywhere", None)}


def test_environment_refuses_unknown_ids():
    with pytest.raises(HomeError, match="must be the id of an area of the home; got 'attic'"):
        WORLD.initial_state("attic")
    with pytest.raises(HomeError, match=r"must name entities of the home; got 'light\.z'"):
        WORLD.initial_state("", {"light.z": {"state": "on"}})
