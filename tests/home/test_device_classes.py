"""Covers without a device class: the class that their names say."""

import pytest

from groundling.home import Home
from groundling.home.agent import HomeAgent
from groundling.home.device_classes import with_device_classes
from groundling.home.locales import home_language


def covers(*names, **attributes):
    return Home.from_data({
        "entities": [
            {"id": f"cover.c{n}", "name": name, "state": "open", "attributes": attributes}
            for n, name in enumerate(names)
        ]
    })  # fmt: skip


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        ("en", "Living Room Curtains", "curtain"),
        ("en", "Garage Door", "garage"),
        ("en", "Garage Window Blinds", "blind"),
        ("en", "Patio Door", "door"),
        ("en", "Projector Screen", ""),
        ("de", "Markise", "awning"),
        ("de", "Rollladen Küche", "shutter"),
        ("de", "Küchenrollo", "blind"),
        ("de", "Garagentor", "garage"),
        ("fr", "Volets du salon", "shutter"),
        ("es", "Persianas del salón", "blind"),
        ("nl", "Gordijnen", "curtain"),
        ("pl", "Brama garażowa", "garage"),
        ("it", "Tapparelle", "shutter"),
        ("ko", "거실 커튼", "curtain"),
    ],
)
def test_a_cover_has_the_class_of_its_name(code, name, expected):
    [found] = with_device_classes(covers(name), home_language(code)).entities
    assert found.device_class == expected


def test_declared_classes_and_other_domains_are_kept():
    home = covers("Kitchen Blinds", device_class="shade")
    assert with_device_classes(home, home_language("en")) is home
    lamp = Home.from_data({"entities": [{"id": "light.a", "name": "Curtain Lamp"}]})
    assert with_device_classes(lamp, home_language("en")) is lamp


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("close the blinds", {"cover.c0"}),
        ("close all blinds", {"cover.c0"}),
        ("close the curtains", {"cover.c1"}),
        ("close the awning", {"cover.c2"}),
    ],
)
def test_a_noun_means_the_covers_that_it_names(text, closed):
    home = covers("Living Room Blinds", "Bedroom Curtains", "Patio Awning", "Garage Door")
    reply = HomeAgent(home).reply(text)
    assert (reply.kind, set(reply.changes)) == ("act", closed)
