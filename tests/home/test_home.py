"""Reading homes: what is understood, and what is refused in one sentence."""

import re

import pytest

from groundling.home import Home, HomeError, read_home

GOOD = """
floors: [{id: up, name: Upstairs}]
areas: [{id: kitchen, name: Kitchen, floor: up, aliases: [Cookhouse]}]
entities:
  - {id: light.a, name: Lamp, area: kitchen, state: on, attributes: {brightness: 128}}
  - {id: sensor.t, name: Außen, state: 21.5}
"""


def write(tmp_path, text):
    path = tmp_path / "home.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_home_reads_floors_areas_and_entities(tmp_path):
    home = read_home(write(tmp_path, GOOD))
    lamp, sensor = home.entities
    assert (lamp.state, lamp.attribute("brightness"), lamp.domain) == ("on", 128, "light")
    assert (sensor.state, sensor.name, sensor.area) == ("21.5", "Außen", "")
    assert home.floor_id(lamp) == "up"
    assert home.areas[0].aliases == ("Cookhouse",)
    assert hash(home) == hash(read_home(write(tmp_path, GOOD)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "must be a mapping with `entities`; got a list"),
        ("entities: []", "at least one entity; got none"),
        ("entities: 3", "`entities` must be a list; got 3"),
        ("entities: [3]", "Item 1 of `entities` must be a mapping; got 3"),
        ("entities: [{name: a}]", "`id` of an entity must be a string; got None"),
        ("entities: [{id: light.a}]", "`name` of entity 'light.a' must be a string"),
        ("entities: [{id: lamp, name: a}]", "a domain and a name separated by a dot"),
        ("entities: [{id: l.a, name: a, state: [1]}]", "`state` of entity 'l.a' must be a string"),
        ("entities: [{id: l.a, name: a, aliases: x}]", "`aliases` of entity 'l.a' must be a list"),
        ("entities: [{id: l.a, name: a, attributes: 1}]", "`attributes` of entity 'l.a'"),
        ("entities: [{id: l.a, name: a, attributes: {b: {}}}]", "The attribute 'b' of entity"),
        ("entities: [{id: l.a, name: a}, {id: l.a, name: b}]", "must be unique; got 'l.a' twice"),
        (
            "entities: [{id: l.a, name: a, area: hal}]",
            "must be empty, because the home has no area; got 'hal'",
        ),
        ("areas: [{id: a, name: a, floor: x}]\nentities: [{id: l.a, name: a}]", "got 'x'"),
        ("entities: [{id: l.a, name: a", "must be valid YAML"),
        ("a: &x [1]\nentities: *x", "must not use YAML aliases"),
        ("entities: !!python/object:os.system []", "must be valid YAML"),
    ],
)
def test_home_says_what_is_wrong(tmp_path, text, told):
    with pytest.raises(HomeError, match=re.escape(told)):
        read_home(write(tmp_path, text))


def test_home_takes_ten_thousand_entities_and_no_more():
    rows = [{"id": f"light.l{n}", "name": f"Lamp {n}"} for n in range(10_001)]
    assert len(Home.from_data({"entities": rows[:-1]}).entities) == 10_000
    with pytest.raises(HomeError, match="at most 10,000 entities"):
        Home.from_data({"entities": rows})
