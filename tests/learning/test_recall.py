"""The memory of demonstrations: a sentence that was shown is understood when it is said again."""

from dataclasses import replace

import pytest

from groundling import Demonstration, Follower, GroundingGraph, Learning
from groundling.errors import SettingError
from groundling.examples import Lamp, lamp_demonstrations
from groundling.models.memory import DemonstrationMemory, RememberedText, likeness
from groundling.studio.kitchen import Kitchen

TEN = (
    ("geh zum Tisch", 0, ("go to the table",)),
    ("ab ans Regal", 0, ("go to the shelf",)),
    ("nimm die blaue Tasse", 0, ("take the blue cup",)),
    ("hol die rote Tasse", 0, ("go to the table", "take the red cup")),
    ("Schüssel greifen", 0, ("go to the shelf", "take the red bowl")),
    ("räum die blaue Tasse ins Regal", 0,
     ("take the blue cup", "go to the shelf", "put down the blue cup")),
    ("zurück zur Spüle", 1, ("go to the sink",)),
    ("rote Tasse her", 1, ("take the red cup",)),
    ("los", 1, ("go to the shelf",)),
    ("bring die Schüssel auf den Tisch", 0,
     ("go to the shelf", "take the red bowl", "go to the table", "put down the red bowl")),
)  # fmt: skip


def test_recall_ten_requests_shown_once_each_are_understood(tmp_path):
    kitchen = Kitchen()
    starts = (kitchen.start, kitchen.start._replace(at="table"))
    follower, shown = Follower(), []
    for text, start, actions in TEN:
        shown.append(Demonstration(text, kitchen, starts[start], actions, name=text))
        follower.teach(shown[-1:], check=False)
        plan = follower.follow(text, kitchen, starts[start])
        assert plan.end == shown_end(shown[-1]), text
        assert plan.confidence > 0.5, text
    again = follower.follow_many([(e.instructions, kitchen, e.start) for e in shown])
    right = [plan.end == shown_end(each) for plan, each in zip(again, shown, strict=True)]
    sure = [plan.confidence > 0.5 for plan in again]
    assert sum(right) == sum(sure) == 10
    told = again[2].explain()
    assert told.plan.remembered.shown.name == "nimm die blaue Tasse"
    assert "similar demonstration: “nimm die blaue tasse”" in str(told)
    assert told.to_dict()["remembered"]["amount"] > 1
    assert [each.chosen for each in follower.choices_ if each.what == "Learning.recall"] == ["8"]
    follower.save(tmp_path / "model")
    loaded = Follower.load(tmp_path / "model")
    assert loaded.learnt_.memory == replace(follower.learnt_.memory)
    for each, plan in zip(shown, again, strict=True):
        assert loaded.follow(each.instructions, kitchen, each.start) == plan


def shown_end(each):
    state = each.start
    for action in each.actions:
        state = each.environment.step(state, action)
    return state


def test_recall_is_off_unless_asked_for():
    plain = Follower(parser="chain", learning=Learning()).fit(lamp_demonstrations())
    assert plain.learnt_.memory == DemonstrationMemory()
    assert plain.follow("light the lamp", Lamp(), "off").remembered is None
    with pytest.raises(SettingError, match="recall"):
        Learning(recall=-1)


class Doors:
    """Three doors in a ring."""

    def actions(self, state):
        return ("red", "green", "blue")

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"door": {action: True}})


def test_recall_is_off_where_it_does_not_help():
    # “onward” means another door from each: what was shown elsewhere misleads.
    doors, ring = Doors(), {"red": "green", "green": "blue", "blue": "red"}
    shown = [Demonstration("onward", doors, one, (two,), name=one) for one, two in ring.items()]
    follower = Follower(parser="chain").fit(shown, check=False)
    assert follower.learnt_.memory.strength == 0
    assert follower.follow("onward", doors, "red").remembered is None


def test_recall_a_correction_replaces_what_was_shown():
    kitchen = Kitchen()
    follower = Follower()
    for actions in (("go to the table",), ("go to the shelf",)):
        shown = Demonstration("los", kitchen, kitchen.start, actions, name=actions[0])
        follower.teach([shown], check=False)
    assert [each.name for each in follower.learnt_.memory.shown] == ["go to the shelf"]
    plan = follower.follow("los", kitchen, kitchen.start)
    assert plan.actions == ("go to the shelf",)
    assert plan.confidence > 0.9


def test_recall_texts_are_alike_by_words_and_their_order():
    memory = DemonstrationMemory((RememberedText(("left", "then", "right"), {}, {}),), 1.0)
    assert memory.like(("left", "then", "right"))[0][1] == 1.0
    assert memory.like(("right", "then", "left")) == []
    assert 0.1 < memory.like(("left", "then", "right", "now"))[0][1] < 0.5
    assert memory.like(("bring", "tea")) == []
    assert likeness([{}], [()]) == 0.0


def test_recall_a_broken_memory_is_refused():
    good = DemonstrationMemory((RememberedText(("go",), {"move": 1}, {"move": 1}),), 2.0).to_dict()
    for change in ({"strength": 1e9}, {"labels": []}, {"shown": [[["go"], 3, [], ""]]}):
        with pytest.raises((ValueError, LookupError, TypeError)):
            DemonstrationMemory.from_dict({**good, **change})
