"""`groundling follow` on a terminal: it acts, asks, and hears replies."""

import pytest
from rich.console import Console

from groundling.cli import stage
from groundling.tasks.benchmark import Scene
from groundling.tasks.model_notes import Note
from tests.test_agent import HOME, OFF, Follower, demonstrate


@pytest.fixture(scope="module")
def place():
    follower = Follower().fit(demonstrate(40, seed=0), check=False)
    return stage.Stage(follower, Note("home", "best"), Scene("home", HOME, OFF), None)


def talk(place, monkeypatch, *lines):
    waiting = iter(lines)
    monkeypatch.setattr("builtins.input", lambda prompt: next(waiting, ""))
    console = Console(record=True, width=100, quiet=False)
    said, plans = stage.converse(place, console)
    return said, plans, console.export_text()


def test_talk_asks_and_acts(place, monkeypatch):
    said, plans, shown = talk(
        place, monkeypatch, "switch on the lamp", "the red one", "feed the cat", "?!",
        "switch on the white fan",
    )  # fmt: skip
    assert "Which lamp: the " in shown
    assert "I do not know the words “feed” and “cat”." in shown
    assert "The text must contain at least one word; got '?!'. Please rephrase it." in shown
    assert [plan.actions for plan in plans] == [(("on", "a"),), (("on", "c"),)]
    assert said == ["the red one", "switch on the white fan"]


def test_talk_follows_unasked_where_the_length_is_told(place, monkeypatch):
    told = stage.Stage(place.follower, place.note, place.scene, 1)
    _, plans, shown = talk(told, monkeypatch, "switch on the lamp")
    assert len(plans) == 1
    assert "Which" not in shown
