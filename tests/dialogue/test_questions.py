"""Questions: what a text describes, what is asked of it, and that nothing changes."""

import itertools
import math

import numpy as np
import pytest

from groundling import Agent, Demonstration, Follower, GroundingGraph, check_environment
from groundling.dialogue.questions import (
    Answerer,
    _any_loss,
    _count_loss,
    _set_loss,
    _value_loss,
    things_in,
)
from groundling.errors import DemonstrationError, ModelFileError, NotFittedError, WorldError
from groundling.language import ENGLISH


class Home:
    """Lamps and fans in rooms, which are switched and asked about."""

    def __init__(self, **devices):
        self.devices = devices

    def things(self, on):
        return {
            name: {"kind": kind, "room": room, "colour": colour, "on": name in on,
                   "off": name not in on, "name": f"{colour} {kind}"}
            for name, (kind, room, colour) in self.devices.items()
        }  # fmt: skip

    def actions(self, on):
        return [("off" if name in on else "on", name) for name in self.devices]

    def step(self, on, action):
        return on ^ {action[1]}

    def ground(self, on, action, after):
        kind, room, colour = self.devices[action[1]]
        nodes = {
            "event": {action[0]: True},
            "device": {"kind": kind, "room": room, "colour": colour},
        }
        return GroundingGraph(nodes, [("event", "device", "of")])


HOME = Home(
    a=("lamp", "kitchen", "red"), b=("lamp", "hall", "blue"), c=("fan", "kitchen", "white"),
    d=("fan", "attic", "black"), e=("lamp", "attic", "green"),
)  # fmt: skip
OTHER = Home(
    p=("lamp", "study", "pink"), q=("heater", "study", "grey"), r=("lamp", "porch", "gold")
)
ON = frozenset("abc")
QUESTIONS = [
    Demonstration(text, HOME, ON, answer=answer, name=text)
    for text, answer in [
        ("which lamps are on?", {"a", "b"}), ("which lamps are off?", {"e"}),
        ("which fans are on?", {"c"}), ("which lamps are there?", {"a", "b", "e"}),
        ("which fans are there in the attic?", {"d"}), ("what is on in the kitchen?", {"a", "c"}),
        ("how many lamps are on?", 2), ("how many fans are there?", 2),
        ("how many lamps are in the kitchen?", 1), ("is there a fan in the hall?", False),
        ("is there a lamp in the hall?", True), ("is there a fan in the attic?", True),
        ("what colour is the fan in the kitchen?", "white"),
        ("what colour is the lamp in the hall?", "blue"),
        ("what colour is the lamp in the attic?", "green"),
        ("which lamps are not on?", {"e"}),
    ]
]  # fmt: skip
COMMANDS = [
    Demonstration(f"switch {way} the {room} {kind}", HOME, lit, [(way, name)])
    for name, (kind, room, _) in HOME.devices.items()
    for way, lit in (("on", frozenset()), ("off", frozenset("abcde")))
]


@pytest.fixture(scope="module")
def answerer():
    return Answerer.learn(QUESTIONS, ENGLISH, commands=[e.instructions for e in COMMANDS])


@pytest.fixture(scope="module")
def follower():
    return Follower().fit([*COMMANDS, *QUESTIONS], check=False)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("which lamps are on?", {"p"}), ("which heaters are on?", set()),
        ("how many lamps are there?", 2), ("how many heaters are in the study?", 1),
        ("is there a heater in the porch?", False), ("is there a lamp in the porch?", True),
        ("what colour is the heater in the study?", "grey"), ("which lamps are not on?", {"r"}),
    ],
)  # fmt: skip
def test_questions_are_answered_in_a_new_world(answerer, text, answer):
    found = answerer.answer(text, OTHER, frozenset("p"))
    assert found.value == answer
    assert isinstance(found.value, bool) == isinstance(answer, bool)
    assert 0 < found.confidence <= 1


def test_questions_are_told_from_commands(answerer):
    for text in ("how many fans are in the study?", "which heaters are off?", "is there a lamp?"):
        assert answerer.is_question(text)
    for text in ("switch off the study heater", "switch on the porch lamp"):
        assert not answerer.is_question(text)


def test_questions_name_words_that_nothing_explains(answerer):
    assert answerer.answer("how many zebras are on?", HOME, ON).unexplained == ("zebras",)
    assert answerer.answer("how many heaters are on?", OTHER, ON).unexplained == ()


def relations(**places):
    class Map:
        def things(self, state):
            return places

    return Map()


def test_questions_are_about_relations_that_are_said():
    old = relations(
        Oslo={"city": True, "north": ("Graz", "Rome")},
        Rome={"city": True, "south": ("Oslo", "Graz")},
        Graz={"city": True, "north": ["Rome"], "south": ["Oslo"]},
    )  # fmt: skip
    shown = [
        Demonstration(text, old, (), answer=answer)
        for text, answer in [
            ("what is north of Rome?", {"Oslo", "Graz"}),
            ("what is south of Oslo?", {"Graz", "Rome"}),
            ("which city is north of Graz?", {"Oslo"}), ("is Oslo north of Rome?", {"Oslo"}),
            ("is Rome north of Oslo?", set()), ("is Rome a city?", {"Rome"}),
        ]
    ]  # fmt: skip
    answerer = Answerer.learn(shown, ENGLISH)
    new = relations(
        Kiel={"harbour": True, "west": ["Bonn"]}, Bonn={"city": True, "east": ["Kiel"]},
        Ulm={"city": True, "west": ["Kiel", "Bonn"]},
    )  # fmt: skip
    # A relation and a kind that no question was about: their words spell them.
    assert answerer.answer("what is west of Bonn?", new, ()).value == {"Kiel", "Ulm"}
    assert answerer.answer("which city is west of Kiel?", new, ()).value == {"Ulm"}


def slope(loss, logs):
    """Return the slope by finite differences."""
    steps = 1e-6 * np.eye(len(logs))
    return np.array([(loss(logs + s)[0] - loss(logs - s)[0]) / 2e-6 for s in steps])


@pytest.mark.parametrize(
    "loss",
    [
        _set_loss([True, False, True, False]), _any_loss(True), _any_loss(False), _count_loss(0),
        _count_loss(2), _count_loss(4), _value_loss([False, True, False, True]),
    ],
)  # fmt: skip
def test_questions_have_right_slopes(loss):
    for seed in range(3):
        logs = np.log(np.random.default_rng(seed).uniform(0.05, 0.9, 4))
        assert loss(logs)[1] == pytest.approx(slope(loss, logs), abs=1e-6)


def test_questions_count_as_enumeration_does():
    chances = np.array([0.9, 0.2, 0.6, 0.35])
    for count in range(5):
        every = sum(
            math.prod(p if inside else 1 - p for p, inside in zip(chances, sets, strict=True))
            for sets in itertools.product((True, False), repeat=4)
            if sum(sets) == count
        )
        assert _count_loss(count)(np.log(chances))[0] == pytest.approx(-math.log(every))


def test_questions_and_commands_live_in_one_follower(follower):
    assert follower.follow("switch off the hall lamp", HOME, ON).actions == (("off", "b"),)
    assert follower.answer("how many fans are on?", HOME, ON).value == 1
    assert follower.score([*COMMANDS[:4], *QUESTIONS]) > 0.9
    assert set(follower.demonstrations_) >= set(QUESTIONS)
    agent = Agent(follower, HOME, ON)
    turn = agent.say("which lamps are on?")
    assert (turn.kind, turn.answer, turn.text) == ("answer", {"a", "b"}, "Blue lamp and red lamp.")
    assert agent.say("is there a fan in the hall?").text == "No."
    assert agent.say("how many lamps are on?").text == "2."
    assert agent.say("what colour is the lamp in the hall?").text == "Blue."
    assert agent.say("which fans are there in the hall?").text == "None."
    assert agent.say("how many zebras are on?").kind == "decline"
    assert agent.state == ON
    assert "lamps" in turn.explain().reason
    assert agent.say("switch off the hall lamp").kind == "act"
    assert agent.say("which lamps are on?").answer == {"a"}


def test_questions_may_be_asked_before_a_reply(follower):
    agent = Agent(follower, HOME, frozenset())
    assert agent.say("switch on the lamp").kind == "ask"
    assert agent.say("how many lamps are on?").answer == 0
    assert agent.say("the hall one").plan.actions == (("on", "b"),)


def test_questions_are_diagnosed(follower):
    wrong = Demonstration("how many lamps are on?", HOME, ON, answer=4, name="wrong")
    found = follower.diagnose([*COMMANDS[:2], *QUESTIONS[:3], wrong])
    assert (found.count, found.reasons["wrong answer"]) == (6, 1)
    assert "The answer is 2; the demonstrated answer is 4." in str(found)
    assert follower.diagnose([*COMMANDS, *QUESTIONS], parts=2).count == len(COMMANDS + QUESTIONS)


def test_questions_are_saved_taught_and_forgotten(follower, tmp_path):
    loaded = Follower.load(follower.save(tmp_path / "model"))
    assert loaded.answer("how many lamps are on?", HOME, ON).value == 2
    with pytest.raises(DemonstrationError, match="`known` must contain the questions"):
        loaded.teach(QUESTIONS[:1])
    kept = Follower().fit([*COMMANDS, *QUESTIONS[:4]], check=False)
    kept.teach(QUESTIONS[6:9])
    assert kept.answer("how many fans are on?", HOME, ON).value == 1
    kept.forget([each.name for each in (*QUESTIONS[:4], *QUESTIONS[6:9])])
    with pytest.raises(NotFittedError, match="not trained on questions"):
        kept.answer("how many fans are on?", HOME, ON)


def test_questions_are_checked_with_the_environment():
    assert check_environment(HOME, ON).states
    for wrong, told in (
        ([1], "must return labels for each thing"),
        ({"a": 3}, "must be a mapping from names"),
    ):
        home = Home(a=("lamp", "hall", "red"))
        home.things = lambda on, wrong=wrong: wrong
        with pytest.raises(WorldError, match=told):
            check_environment(home, frozenset())


def test_questions_refuse_what_cannot_be(answerer):
    with pytest.raises(WorldError, match=r"must have a method `things\(state\)`"):
        things_in(object(), 0)
    with pytest.raises(DemonstrationError, match="either actions or an answer"):
        Demonstration("is it on?", HOME, ON, [("on", "a")], answer=True)
    for answer in ({"z"}, 17, "purple"):
        with pytest.raises(DemonstrationError, match=r"The answer of .* must be"):
            Answerer.learn([Demonstration("which?", HOME, ON, answer=answer)], ENGLISH)
    with pytest.raises(DemonstrationError, match="got only questions"):
        Follower().fit(QUESTIONS)
    with pytest.raises(ModelFileError, match="must map names to weights"):
        Answerer.from_dict({"features": {"bias": "much"}}, ENGLISH)
    assert Answerer.from_dict(answerer.to_dict(), ENGLISH) == answerer


class Dark(Home):
    """A home that does not list its things."""

    things = None


def test_questions_in_a_world_without_things_are_one_sentence(follower):
    agent = Agent(follower, Dark(**HOME.devices), ON)
    with pytest.raises(WorldError, match=r"Dark must have a method `things\(state\)`"):
        agent.say("how many lamps are on?")
    assert (agent.state, agent.turns, agent.asking) == (ON, [], False)
    assert agent.say("switch off the hall lamp").kind == "act"


def test_questions_are_never_read_as_a_choice(follower):
    agent = Agent(follower, HOME, frozenset())
    assert agent.say("switch on the lamp").kind == "ask"
    turn = agent.say("is the lamp in the hall on?")
    assert (turn.kind, turn.answer, agent.state) == ("answer", False, frozenset())
    assert agent.asking
    assert agent.say("the hall lamp").kind == "act"


def test_questions_begin_as_demonstrated_and_end_with_a_question_mark(follower):
    answerer = follower._get_answerer()
    assert answerer.is_question("is the hall lamp on?")
    for text in ("switch on the hall lamp", "switch on the hall lamp?"):
        assert not answerer.is_question(text), text
    assert not answerer.begins_question("the hall one?")
