"""Conversations: memory in graphs, whole conversations as demonstrations, turns taken back."""

import contextlib
import io
import runpy
from pathlib import Path

import pytest

from groundling import (
    Conversation,
    Demonstration,
    Features,
    Follower,
    GroundingGraph,
    Learning,
    MemoryEnvironment,
    Overlay,
    PlanModel,
    Search,
    check_environment,
)
from groundling.conversation import _MEMORY
from groundling.errors import DemonstrationError, LearningWarning, NotFittedError, WorldError
from groundling.history import Memory, Remembered
from tests.worlds import GoalLine, Line

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "examples" / "conversation.py"
PAGE = (ROOT / "docs" / "conversations.md").read_text(encoding="utf-8")


class Lamps:
    def __init__(self, *colours):
        self.colours = colours

    def actions(self, lit):
        return tuple(("off" if c in lit else "on", c) for c in self.colours)

    def step(self, lit, action):
        return lit ^ {action[1]}

    def ground(self, lit, action, after):
        nodes = {
            "event": {action[0]: True},
            "lamp": {"colour": action[1]},
            "wall": {"paint": "grey"},
        }
        return GroundingGraph(nodes, [("event", "lamp", "of")])


def labels(world, remembered, action):
    graph = world.ground(remembered, action, world.step(remembered, action))
    return {name: {str(each) for each in graph.labels(name)} for name in graph.node_names}


@pytest.fixture
def world():
    return MemoryEnvironment(Lamps("red", "blue"))


@pytest.fixture(scope="module")
def ran():
    printed = io.StringIO()
    names = runpy.run_path(str(SCRIPT))
    with contextlib.redirect_stdout(printed):
        names["main"]()
    return names, printed.getvalue()


def test_remembering_adds_nothing_before_anything_happened(world):
    assert labels(world, world.begin(frozenset()), ("on", "red")) == {
        "event": {"on"}, "lamp": {"colour=red"}, "wall": {"paint=grey"},
    }  # fmt: skip


def test_remembering_tells_the_last_thing_from_others():
    world = MemoryEnvironment(Lamps("red", "blue"), steps=1)
    once = world.step(world.begin(frozenset()), ("on", "red"))
    assert labels(world, once, ("off", "red"))["lamp"] == {"colour=red", "last colour"}
    assert labels(world, once, ("on", "blue"))["lamp"] == {"colour=blue", "other colour"}
    # the wall was no part of the action
    assert labels(world, once, ("on", "blue"))["wall"] == {"paint=grey"}


def test_remembering_tells_repetitions_and_ways_back():
    world = MemoryEnvironment(Lamps("red", "blue"), steps=1)
    once = world.step(world.begin(frozenset()), ("on", "red"))
    assert labels(world, once, ("off", "red"))["event"] == {"off", "back"}
    assert labels(world, once, ("on", "blue"))["event"] == {"on", "alike"}
    line = MemoryEnvironment(Line(6), steps=1)
    moved = line.step(line.begin(1), "right")
    assert labels(line, moved, "right")["event"] == {"right", "again"}


def test_remembering_knows_what_was_mentioned(world):
    heard = world.listen(world.begin(frozenset()), "not the blue one")
    assert labels(world, heard, ("on", "blue"))["lamp"] == {"colour=blue", "mentioned"}
    assert labels(world, heard, ("on", "red"))["lamp"] == {"colour=red"}
    assert world.listen(heard, "go").memory.words == {"go"}


def test_remembering_asks_the_environment_what_an_action_is_about():
    class Wall(Lamps):
        def about(self, lit, action, after):
            return [("paint", "grey")]

    world = MemoryEnvironment(Wall("red"), steps=1)
    once = world.step(world.begin(frozenset()), ("on", "red"))
    found = labels(world, once, ("off", "red"))
    assert found["wall"] == {"paint=grey", "last paint"}
    assert found["lamp"] == {"colour=red"}


def test_remembering_keeps_optional_methods():
    world = MemoryEnvironment(GoalLine())
    assert world.is_goal(Remembered(3)) is True
    assert world.is_goal(Remembered(1)) is False
    assert world.outcome(world.step(Remembered(1), "right")) == 2  # what is remembered never counts


def test_remembering_is_an_environment_without_fault(world):
    assert "No problems" in str(check_environment(world, world.begin(frozenset())))


def test_remembering_conversations_become_demonstrations_of_one_group(world):
    turns = [("red on", [("on", "red")]), ("both", [("off", "red"), ("on", "blue")])]
    one, two = world.converse(frozenset(), turns, name="talk")
    assert (one.group, two.group, two.name) == ("talk", "talk", "talk-2")
    assert one.start == Remembered(frozenset(), Memory())
    assert two.start.state == {"red"}
    assert two.start.memory.action == ("on", "red")
    assert two.start.memory.words == {"red", "on"}
    with pytest.raises(DemonstrationError, match="'talk' must have at least one turn"):
        world.converse(frozenset(), [], name="talk")


def test_conversation_one_text_may_ask_for_several_actions(world):
    turns = [
        ("red on", [("on", "red")]),
        ("swap them", [("off", "red"), ("on", "blue")]),
        ("swap them", [("off", "blue"), ("on", "red")]),
        ("red off", [("off", "red")]),
    ]
    follower = Follower(parser="chain", search=Search(max_length=2)).fit(
        world.converse(frozenset(), turns * 3, name="talk")
    )
    talk = Conversation(follower, world, frozenset())
    assert talk.say("red on").actions == (("on", "red"),)
    assert set(talk.say("swap them").actions) == {("off", "red"), ("on", "blue")}
    assert talk.state == {"blue"}


def test_conversation_carries_state_and_memory_and_takes_back(world):
    shown = world.converse(
        frozenset(),
        [
            ("press red", [("on", "red")]),
            ("press blue", [("on", "blue")]),
            ("press red", [("off", "red")]),
            ("press blue", [("off", "blue")]),
        ]
        * 3,
        name="talk",
    )
    follower = Follower(
        model=PlanModel(), overlay=Overlay(), features=Features(slots=("colour",)),
        learning=Learning(l2=0.1), search=Search(max_length=1), parser="chain",
    ).fit(shown)  # fmt: skip
    talk = Conversation(follower, Lamps("red", "blue"), frozenset())
    plan = talk.say("press red")
    assert plan.actions == (("on", "red"),)
    assert (talk.state, talk.memory.words) == ({"red"}, {"press", "red"})
    assert talk.turns[0].plan is plan
    talk.take_back()
    talk.take_back()
    assert (talk.state, talk.turns, talk.memory) == (frozenset(), [], Memory())


def test_conversation_goes_on_from_what_was_meant(world):
    said = [("press red", [("on", "red")]), ("press blue", [("on", "blue")])]
    shown = world.converse(frozenset(), [*said, ("press it", [("off", "blue")])], name="talk")
    follower = Follower(parser="chain", search=Search(max_length=1)).fit(shown, check=False)
    lamps = Lamps("red", "blue")
    talk = Conversation(follower, lamps, frozenset())
    with pytest.raises(DemonstrationError, match="There is no turn to correct"):
        talk.correct([("on", "red")])
    talk.say("press red")
    before = talk.state, talk.memory, talk.turns[:]
    with pytest.raises(DemonstrationError, match="take_back"):
        talk.correct([])
    with pytest.raises(DemonstrationError, match=r"The correction: action 1.*is impossible"):
        talk.correct([("off", "red")])
    assert (talk.state, talk.memory, talk.turns) == before
    meant = talk.correct([("on", "blue"), ("on", "red")])
    assert (talk.state, talk.memory.action) == ({"red", "blue"}, ("on", "red"))
    assert talk.memory.words == {"press", "red"}
    assert [turn.plan.actions for turn in talk.turns] == [meant.actions]
    assert talk.turns[0].plan.states[-1].state == {"red", "blue"}
    [shown_so] = talk.world.converse(frozenset(), [("press red", meant.actions)])
    assert meant == shown_so
    talk.take_back()
    assert talk.state == frozenset()


class Feeding:
    def actions(self, fed):
        return tuple((animal, n) for animal in ("goats", "hens") for n in (1, 2, 3))

    def step(self, fed, action):
        return (*fed, action)

    def ground(self, fed, action, after):
        nodes = {"event": {"feed": True, "buckets": action[1]}, "animal": {"animal": action[0]}}
        return GroundingGraph(nodes, [("event", "animal", "of")])


def test_remembering_tells_the_same_number():
    world = MemoryEnvironment(Feeding())
    once = world.step(world.begin(()), ("goats", 2))
    assert labels(world, once, ("hens", 2))["event"] >= {"alike", "same number"}
    assert "same number" not in labels(world, once, ("hens", 3))["event"]
    assert "same number" in labels(world, once, ("goats", 2))["event"]


def test_conversation_warns_of_a_follower_that_never_saw_a_memory(world):
    turns = [("red on", [("on", "red")]), ("red off", [("off", "red")]), ("again", [("on", "red")])]
    settings = {"parser": "chain", "search": Search(max_length=1)}
    lamps = world.environment
    single = [Demonstration(text, lamps, frozenset(), [("on", "red")]) for text in ("a b", "c d")]
    plain = Follower(**settings).fit(single, check=False)
    with pytest.warns(LearningWarning, match="not trained on conversations"):
        Conversation(plain, lamps, frozenset())
    assert not _MEMORY.search("word=last ∧ again.again")
    assert all(
        map(_MEMORY.search, ("word=it ∧ last colour", "event.same number", "lamp.again", "back"))
    )
    Conversation(Follower(**settings).fit(world.converse(frozenset(), turns)), lamps, frozenset())


def test_conversation_needs_a_trained_follower():
    with pytest.raises(NotFittedError, match="Call `fit`"):
        Conversation(Follower(parser="chain"), Line(), 0)


def test_conversation_page_has_the_example_and_what_it_prints(ran):
    code = SCRIPT.read_text(encoding="utf-8")
    assert len(code.splitlines()) < 100
    assert f"```python\n{code}```" in PAGE
    assert f"```\n{ran[1]}```" in PAGE


def test_conversation_page_corrects_as_it_says(ran):
    names, _ = ran
    _, _, rest = PAGE.partition("continues from there:\n\n```python\n")
    talking = Conversation(names["train"](), names["Lamps"]("purple", "orange"), frozenset())
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(rest.partition("```")[0], {"talking": talking})
    assert f"# {printed.getvalue().strip()}\n```" in rest


def test_conversation_example_follows_conversations_it_never_saw(ran):
    names, _ = ran
    follower, right, count = names["train"](), 0, 0
    import random

    dice = random.Random(99)
    for _ in range(10):
        lamps = MemoryEnvironment(names["Lamps"]("pink", "grey"))
        for shown in lamps.converse(frozenset(), names["talk"](dice, lamps.environment), name="t"):
            assert isinstance(shown, Demonstration)
            plan = follower.follow(shown.instructions, lamps, shown.start)
            right += plan.actions == shown.actions
            count += 1
    assert right / count >= 0.9


def test_remembering_refuses_states_without_memory(world):
    message = r"must have a memory; got frozenset\(\)\. Use world.begin\(state\)"
    shown = [Demonstration("red on", world, frozenset(), [("on", "red")])]
    with pytest.raises(WorldError, match=message):
        Follower(parser="chain").fit(shown)
    follower = Follower(parser="chain").fit(world.converse(frozenset(), [("on", [("on", "red")])]))
    with pytest.raises(WorldError, match=message):
        follower.follow("red on", world, frozenset())
    assert follower.follow("red on", world, world.begin(frozenset())).actions


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        (
            [("red on", ("on", "red"))],
            r"Turn 1, 'red on' must have a list of actions; got .* Put it",
        ),
        ([("red on", [("on", "red")]), ("off",)], r"Turn 2 must be a pair .*; got \('off',\)"),
        ([("red on", [("on", "grey")])], r"Turn 1, 'red on': action 1, .* is impossible"),
    ],
)
def test_remembering_says_what_is_wrong_with_a_turn(world, turns, message):
    with pytest.raises(DemonstrationError, match=message):
        world.converse(frozenset(), turns)


def test_conversation_page_tells_how_a_state_begins():
    assert "world.begin(state)" in PAGE
