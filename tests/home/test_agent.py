"""The agent of a home: it acts, asks, answers or declines, and remembers what was said."""

from datetime import datetime

import pytest

from groundling.home import HomeError, read_home, teach_phrase
from groundling.home.agent import HomeAgent
from groundling.home.home import Home
from tests.home.homes import DATA, HOME

yaml = pytest.importorskip("yaml", reason="needs groundling[home]")


@pytest.fixture
def agent():
    return HomeAgent(HOME)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("turn on the desk lamp", {"light.desk": {"state": "on"}}),
        ("turn off the lights in the hall", {"light.hall": {"state": "off"}}),
        ("turn off all the lights", {"light.floor": {"state": "off"},
                                     "light.hall": {"state": "off"}}),
        ("set the floor lamp to 50%", {"light.floor": {"attributes": {"brightness": 128}}}),
        ("close the left blind", {"cover.left": {"state": "closed",
                                                 "attributes": {"current_position": 0}}}),
        ("set the thermostat to 22 degrees", {"climate.den": {"attributes": {"temperature": 22}}}),
        ("unlock the front door", {"lock.door": {"state": "unlocked"}}),
        ("start robbie", {"vacuum.rob": {"state": "cleaning"}}),
        ("turn on teh desk lamp", {"light.desk": {"state": "on"}}),
        ("turn on the desk lamp and unlock the front door",
         {"light.desk": {"state": "on"}, "lock.door": {"state": "unlocked"}}),
    ],
)  # fmt: skip
def test_agent_carries_out_commands(agent, text, wanted):
    reply = agent.reply(text)
    assert (reply.kind, reply.changes) == ("act", wanted)
    assert reply.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("is the front door locked?", "Yes: Front Door is locked."),
        ("is the desk lamp on?", "No: Desk Lamp is off."),
        ("which lights are on?", "Floor Lamp and Ceiling."),
        ("how many lights are on?", "2"),
        ("what is the temperature in the den?", "19.5 ° in Thermostat."),
        ("what time is it?", "It is 14:05."),
        ("what is the date?", "It is Wednesday, 2026-11-18."),
    ],
)
def test_agent_answers_questions_and_changes_nothing(agent, text, said):
    reply = agent.reply(text, now=datetime(2026, 11, 18, 14, 5))
    assert (reply.kind, reply.text, reply.changes) == ("answer", said, {})


def test_agent_asks_which_of_several_and_understands_the_answer(agent):
    question = agent.reply("turn on the lamp")
    assert (question.kind, question.changes) == ("ask", {})
    assert {"Desk Lamp", "Floor Lamp"} <= set(question.options)
    assert agent.reply("the desk one").changes == {"light.desk": {"state": "on"}}


def test_agent_knows_it_from_before(agent):
    agent.reply("turn on the desk lamp")
    assert agent.reply("turn it off").changes == {"light.desk": {"state": "off"}}


def test_agent_declines_what_is_no_command_for_a_home(agent):
    reply = agent.reply("tell me a joke")
    assert (reply.kind, reply.changes) == ("decline", {})
    assert agent.reply("").kind == "decline"


def test_agent_adds_to_lists_and_starts_timers(agent):
    added = agent.reply("add oat milk to the shopping list")
    assert added.changes["todo.shopping_list"]["attributes"] == {"items": ["oat milk"]}
    timer = agent.reply("set a timer for 5 minutes")
    assert timer.changes["timer.3"]["attributes"]["duration"] == 300


def test_agent_uses_the_states_and_area_of_a_request(agent):
    reply = agent.reply("turn off the lights", area="hall", states={"light.hall": {"state": "on"}})
    assert reply.changes == {"light.hall": {"state": "off"}}
    with pytest.raises(HomeError, match="`area` must be the id"):
        agent.reply("turn off the lights", area="attic")
    with pytest.raises(HomeError, match="must contain only entities"):
        agent.reply("turn off the lights", states={"light.moon": {"state": "on"}})
    with pytest.raises(HomeError, match="must have at most"):
        agent.reply("on " * 5000)


def test_agent_carries_out_phrases_of_the_household(tmp_path):
    path = tmp_path / "my_home.yaml"
    path.write_text(yaml.safe_dump(DATA), encoding="utf-8")
    before = path.read_bytes()
    taught = teach_phrase(path, "movie time", ["turn off the floor lamp", "close the left blind"])
    reply = HomeAgent(read_home(path)).reply("movie time")
    assert reply.kind == "act"
    assert set(reply.changes) == {"light.floor", "cover.left"}
    assert path.read_bytes() == before
    assert taught.name == "my_home.phrases.yaml"
    teach_phrase(path, "Movie Time", ["turn on the desk lamp"])
    assert len(read_home(path).phrases) == 1
    with pytest.raises(HomeError, match="must be a string or a list of strings"):
        teach_phrase(path, "party", [])


def test_agent_explains_itself(agent):
    told = agent.explain("turn on the desk lamp")
    assert "turn on light.desk" in told


def test_agent_speaks_of_homes_in_other_scripts():
    home = Home.from_data({"entities": [{"id": "light.a", "name": "居間", "state": "off"}]})
    assert HomeAgent(home).reply("turn on 居間").changes == {"light.a": {"state": "on"}}


def test_agent_speaks_of_timers_that_were_just_started():
    lamp = {"id": "light.desk", "name": "Desk Lamp"}
    agent = HomeAgent(Home.from_data({"entities": [lamp]}))
    agent.reply("set a timer for 10 minutes")
    assert agent.reply("how much time is left on the timer").text == "10 min left."
    assert agent.reply("cancel the timer").changes["timer.1"]["state"] == "idle"
    assert not agent.home.timers


def test_agent_says_what_is_on_a_list_and_shares_in_percent():
    things = [
        {"id": "todo.shopping_list", "name": "Shopping List", "attributes": {"items": ["milk"]}},
        {"id": "light.desk", "name": "Desk Lamp", "state": "on"},
    ]
    agent = HomeAgent(Home.from_data({"entities": things}))
    assert agent.reply("what is on the shopping list").text == "Shopping List is milk."
    assert agent.reply("set the desk lamp to 20 percent").text.endswith("20 %.")


def test_agent_asks_where_a_word_for_a_kind_is_in_one_name_only():
    names = {"light.porch": "Porch Light", "light.globe": "Globe", "light.bulb": "Chandelier"}
    things = [{"id": id_, "name": name, "state": "off"} for id_, name in names.items()]
    agent = HomeAgent(Home.from_data({"entities": things}))
    for text in ("light on", "turn on the light"):
        assert agent.reply(text).kind == "ask"
    assert set(agent.reply("turn on the porch light").changes) == {"light.porch"}


@pytest.mark.parametrize("text", ["don't turn off the floor lamp", "do not unlock the front door"])
def test_agent_does_nothing_it_is_told_not_to_do(agent, text):
    reply = agent.reply(text)
    assert (reply.kind, reply.changes) == ("decline", {})


@pytest.mark.parametrize(
    "text",
    [
        "set the thermostat to 900 degrees",
        "dim the floor lamp to 999 percent",
        "set the radio volume to 300 percent",
        "set a timer for minus five minutes",
        "set a timer for -5 minutes",
        "turn off the floor lamp in 10000000000 minutes",
        "turn off the floor lamp in 100000000 minutes",
    ],
)
def test_agent_declines_values_out_of_range(agent, text):
    reply = agent.reply(text)
    assert (reply.kind, reply.changes) == ("decline", {})
    assert reply.text


def test_agent_says_which_values_are_possible(agent):
    reply = agent.reply("set the thermostat to 900 degrees")
    assert reply.text == "That is out of range: 0° – 100° is possible."


@pytest.mark.parametrize("text", ["add to the shopping list", "play", "announce", "add"])
def test_agent_declines_verbs_without_their_text(agent, text):
    reply = agent.reply(text)
    assert (reply.kind, reply.changes) == ("decline", {})


@pytest.mark.parametrize(
    "text", ["turn off everything except everything", "turn off the lights except the zorbo"]
)
def test_agent_asks_if_it_does_not_understand_an_exception(agent, text):
    reply = agent.reply(text)
    assert reply.kind in ("ask", "decline")
    assert not reply.changes


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("turn on the desk lamp unlock the front door", {"light.desk", "lock.door"}),
        ("desk lamp on floor lamp off", {"light.desk", "light.floor"}),
        ("turn on the desk lamp but unlock the front door", {"light.desk", "lock.door"}),
        ("it's dark in the den turn on the desk lamp", {"light.desk"}),
        ("somebody left the floor lamp on turn it off", {"light.floor"}),
    ],
)
def test_agent_reads_commands_without_conjunctions_and_reasons(agent, text, changed):
    reply = agent.reply(text)
    assert set(reply.changes) == changed


def test_agent_takes_the_verb_before_a_name_for_no_part_of_it():
    lock = {"id": "lock.front", "name": "Front Door Lock", "state": "unlocked"}
    home = Home.from_data({"entities": [lock, {"id": "lock.back", "name": "Back Door Lock"}]})
    reply = HomeAgent(home).reply("lock the front door")
    assert reply.changes == {"lock.front": {"state": "locked"}}


def test_agent_does_not_take_a_word_for_another_that_rhymes():
    things = [{"id": "climate.hall", "name": "Thermostat", "state": "off"},
              {"id": "light.hall", "name": "Globe", "state": "off"}]  # fmt: skip
    reply = HomeAgent(Home.from_data({"entities": things})).reply("turn on the pool pump")
    assert not reply.changes


def test_agent_leaves_other_covers_alone_if_the_home_has_no_garage():
    curtain = {"id": "cover.a", "name": "Curtain", "state": "closed",
               "attributes": {"device_class": "curtain"}}  # fmt: skip
    lamp = {"id": "light.a", "name": "Lamp", "state": "off"}
    reply = HomeAgent(Home.from_data({"entities": [curtain, lamp]})).reply("open the garage door")
    assert not reply.changes


def test_agent_changes_nothing_by_a_pronoun_for_what_it_asks_about():
    things = [{"id": f"fan.{n}", "name": "Desk Fan", "state": "on"} for n in "ab"]
    lamp = {"id": "light.a", "name": "Night Light", "state": "on"}
    agent = HomeAgent(Home.from_data({"entities": [*things, lamp]}))
    for text in ("somebody left the desk fan on turn it off", "turn off the desk fan and lock it"):
        agent.forget()
        assert not agent.reply(text).changes


def test_nothing_is_done_before_a_question_in_a_text_of_two_commands_is_answered():
    things = [
        {"id": "light.a", "name": "Desk Lamp", "state": "off"},
        {"id": "light.b", "name": "Floor Lamp", "state": "off"},
        {"id": "lock.door", "name": "Front Door", "state": "unlocked"},
    ]
    agent = HomeAgent(Home.from_data({"entities": things}))
    asked = agent.reply("lock the front door and turn on the lamp")
    assert (asked.kind, asked.changes, asked.options) == ("ask", {}, ("Desk Lamp", "Floor Lamp"))
    assert agent.states["lock.door"]["state"] == "unlocked"
    done = agent.reply("the floor lamp")
    assert done.kind == "act"
    assert done.changes == {"lock.door": {"state": "locked"}, "light.b": {"state": "on"}}
    assert "Front Door" in done.text
    assert "Floor Lamp" in done.text
    agent.reply("unlock the front door and turn on the lamp")
    agent.reply("turn off the floor lamp")  # a new command; the first text is dropped
    assert agent.states["lock.door"]["state"] == "locked"
