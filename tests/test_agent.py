"""The agent: acts, asks, declines; replies are choices, and mistakes change nothing."""

import random

import pytest

from groundling import (
    Agent,
    Demonstration,
    Follower,
    GroundingGraph,
    MemoryEnvironment,
    OpenSet,
    OpenValue,
    Plan,
    Search,
    describe_set,
)
from groundling.agent import _named
from groundling.dialogue.prediction_sets import PredictionSets
from groundling.errors import DemonstrationError, GroundlingError, InstructionError, NotFittedError
from groundling.limits import TEXT_WORDS


class Home:
    """Devices that are switched; each is of a kind, in a room, of a colour."""

    def __init__(self, **devices):
        self.devices = devices

    def actions(self, on):
        return [("off" if name in on else "on", name) for name in self.devices]

    def step(self, on, action):
        return on ^ {action[1]}

    def ground(self, on, action, after):
        kind, room, colour = self.devices[action[1]]
        device = {"device": kind, "room": room, "colour": colour}
        nodes = {"event": {action[0]: True}, "device": device}
        return GroundingGraph(nodes, [("event", "device", "of")])


HOME = Home(
    a=("lamp", "kitchen", "red"), b=("lamp", "hall", "blue"), c=("fan", "kitchen", "white"),
    d=("fan", "attic", "black"), e=("lamp", "attic", "green"),
)  # fmt: skip
OFF = frozenset()


def demonstrate(count, seed, home=HOME):
    dice, shown = random.Random(seed), []
    for number in range(count):
        on = frozenset(name for name in home.devices if dice.random() < 0.5)
        way, name = dice.choice(home.actions(on))
        kind, room, colour = home.devices[name]
        ways = (f"{kind} in the {room}", f"{colour} {kind}", f"{room} {kind}")
        text = f"switch {way} the {dice.choice(ways)}"
        shown.append(Demonstration(text, home, on, [(way, name)], name=f"shown {number}"))
    return shown


@pytest.fixture(scope="module")
def follower():
    return Follower().fit(demonstrate(40, seed=0), check=False)


@pytest.fixture
def agent(follower):
    return Agent(follower, HOME, OFF)


def test_agent_acts_when_one_outcome_is_meant(agent):
    turn = agent.say("switch on the red lamp")
    assert (turn.kind, turn.plan.actions, agent.state) == ("act", (("on", "a"),), {"a"})
    assert turn.confidence == pytest.approx(turn.plan.confidence)
    assert "lamp" in turn.text
    assert not turn.options
    assert turn.demonstration.actions == (("on", "a"),)
    assert "red" in str(turn.explain().plan)


def test_agent_is_told_the_place_of_an_option(agent):
    turn = agent.say("switch on the lamp")
    chosen = agent.choose(1)
    assert (chosen.kind, chosen.replies) == ("act", True)
    assert chosen.plan.actions == turn.options[1].plan.actions
    assert chosen.demonstration.instructions == f"switch on the lamp, {turn.options[1].text}"
    agent.take_back()
    assert (agent.asking, agent.state) == (True, OFF)
    with pytest.raises(InstructionError, match=rf"to {len(turn.options) - 1}; got 9"):
        agent.choose(9)
    agent.say("never mind")
    with pytest.raises(InstructionError, match="requires an open question"):
        agent.choose(0)


def test_agent_asks_where_a_singular_fits_several_things(agent):
    turn = agent.say("switch on the lamp")
    assert turn.kind == "ask"
    assert agent.asking
    assert agent.state == OFF
    assert {each.outcome for each in turn.options} == set(map(frozenset, "abe"))
    assert turn.text.startswith("Which lamp: the ")
    assert turn.text.endswith("?")
    for option in turn.options:
        assert option.text in turn.text
    assert sum(each.probability for each in turn.options) > 0.8
    explained = turn.explain().to_dict()
    assert [each["text"] for each in explained["options"]] == [e.text for e in turn.options]


def test_agent_takes_the_very_words_of_an_option(agent):
    turn = agent.say("switch on the lamp")
    for place, option in enumerate(turn.options):
        agent.take_back()
        asked = agent.say("switch on the lamp")
        chosen = agent.say(f"{asked.options[place].text}.")
        assert (chosen.kind, agent.state) == ("act", option.outcome)
        agent.take_back()


@pytest.mark.parametrize(
    ("reply", "switched"),
    [
        ("the kitchen one", "a"), ("kitchen", "a"), ("the one in the hall", "b"),
        ("no, the red one", "a"), ("the red lamp", "a"), ("I mean the blue one please", "b"),
        ("both", "abe"), ("all of them", "abe"), ("switch on all lamps", "abe"),
        ("the red and the blue one", "ab"), ("red and green", "ae"),
        ("switch on the green lamp", "e"),
    ],
)  # fmt: skip
def test_agent_reads_replies_as_choices(agent, reply, switched):
    agent.say("switch on the lamp")
    turn = agent.say(reply)
    assert turn.kind == "act"
    assert agent.state == frozenset(switched)
    assert turn.confidence == 1.0
    assert not agent.asking
    assert turn.demonstration.instructions.startswith("switch on the lamp, the ")


@pytest.mark.parametrize(("reply", "place"), [("the second", 1), ("2", 1), ("the last one", -1)])
def test_agent_reads_places_as_choices(agent, reply, place):
    options = agent.say("switch on the lamp").options
    assert agent.say(reply).plan.end == options[place].outcome


def test_agent_narrows_the_question(agent):
    agent.say("switch on the lamp")
    turn = agent.say("not the red one")
    assert turn.kind == "ask"
    assert len(turn.options) == 2
    assert "red" not in turn.text
    assert agent.say("not the blue one").plan.actions == (("on", "e"),)


def test_agent_carries_out_several_commands(agent):
    turn = agent.say("switch on the red lamp and switch on the white fan")
    if turn.kind == "ask":
        assert len(turn.options) == 1
        turn = agent.say("yes")
    assert turn.kind == "act"
    assert agent.state == {"a", "c"}


def test_agent_drops_a_question(agent):
    for reply in ("never mind", "cancel", "none of these", "no"):
        agent.say("switch on the lamp")
        turn = agent.say(reply)
        assert turn.kind == "decline"
        assert not agent.asking
        assert agent.state == OFF


def test_agent_takes_another_command_for_what_it_is(agent):
    agent.say("switch on the lamp")
    turn = agent.say("switch on the white fan")
    assert turn.kind == "act"
    assert agent.state == {"c"}
    assert turn.demonstration.instructions == "switch on the white fan"


@pytest.mark.parametrize("text", ["light the green lamp", "switch off the green lamp"])
def test_agent_takes_a_request_with_words_of_its_own_for_no_reply(agent, text):
    agent.say("switch on the lamp")
    turn = agent.say(text)  # names an option, but is no fragment
    assert not turn.replies
    assert turn.reason != "The user chose this option."


def test_agent_reads_a_choice_beyond_those_offered(follower):
    lamps = {name: ("lamp", room, "red") for name, room in zip("abcde", ROOMS, strict=True)}
    agent = Agent(follower, Home(**lamps), OFF)
    turn = agent.say("switch on the lamp")
    assert len(turn.options) == 3
    assert "none of these" in turn.text
    missing = next(room for room in ROOMS if room not in turn.text)
    assert agent.say(f"the {missing} one").plan.actions == (("on", "abcde"[ROOMS.index(missing)]),)


ROOMS = ("kitchen", "hall", "attic", "study", "porch")


def test_agent_names_the_word_that_it_does_not_know(agent):
    turn = agent.say("switch on the green lamp pronto")
    assert turn.kind == "ask"
    assert turn.text.startswith("I do not know the word “pronto”.")
    assert len(turn.options) == 1
    assert agent.state == OFF
    assert agent.say("yes").plan.actions == (("on", "e"),)
    told = agent.say("feed the cat")
    assert (told.kind, told.text) == ("decline", "I do not know the words “feed” and “cat”.")
    assert agent.say("switch on the zebra").text.count("zebra") == 1


class Compass:
    def actions(self, place):
        return ("north", "south", "east", "west")

    def step(self, place, way):
        return f"{place}{way}"

    def ground(self, place, way, after):
        return GroundingGraph({"event": {"way": way}})


def test_agent_never_guesses_between_equals():
    compass = Compass()
    shown = [Demonstration(f"go {way}", compass, 0, [way]) for way in compass.actions(0)]
    agent = Agent(
        Follower(parser="chain:english", search=Search(max_length=1)).fit(shown, check=False),
        compass, 0,
    )  # fmt: skip
    turn = agent.say("go")
    assert (turn.kind, turn.text) == ("decline", "I do not understand what to do.")
    assert agent.say("go east").plan.actions == ("east",)


@pytest.mark.parametrize("reply", ["the second", "yes", "never mind", "both", "the first one"])
def test_agent_says_that_nothing_was_asked(agent, reply):
    turn = agent.say(reply)
    assert turn.kind == "decline"
    assert "did not ask" in turn.text
    assert agent.state == OFF


@pytest.mark.parametrize("text", ["", "  ", "?!", "go " * 10_001, 3])
def test_agent_refuses_what_cannot_be_read(agent, text):
    agent.say("switch on the lamp")
    with pytest.raises((InstructionError, GroundlingError), match=r"\.$"):
        agent.say(text)
    assert TEXT_WORDS.most == 10_000
    assert agent.asking
    assert len(agent.turns) == 1
    assert agent.state == OFF


def test_agent_takes_a_turn_back(agent):
    agent.say("switch on the lamp")
    agent.say("the red one")
    agent.take_back()
    assert agent.asking
    assert agent.state == OFF
    assert agent.say("the blue one").plan.actions == (("on", "b"),)
    agent.take_back(), agent.take_back(), agent.take_back()
    assert not agent.turns
    assert not agent.asking


def test_agent_teaches_what_was_settled():
    follower = Follower().fit(demonstrate(40, seed=0), check=False)
    agent = Agent(follower, HOME, OFF)
    agent.say("switch on the green lamp pronto")
    agent.say("yes")
    agent.say("switch off the green lamp")
    before = len(follower.demonstrations_)
    assert len(agent.teach().follower.demonstrations_) == before + 1
    assert len(agent.teach().follower.demonstrations_) == before + 1
    assert agent.say("switch on the red lamp pronto").kind == "act"


def test_agent_keeps_the_promised_coverage(follower):
    held_out = demonstrate(60, seed=1)
    follower.calibrate(held_out, coverage=0.9)
    try:
        sets = PredictionSets.of(follower.learnt_)
        assert (sets.coverage, sets.count) == (0.9, 60)
        agent = Agent(follower, HOME, OFF)
        assert agent.say("switch on the lamp").kind == "ask"
        assert "90%" in agent.turns[-1].reason
        with pytest.raises(
            DemonstrationError, match=r"Calibration for a coverage of .* needs at least"
        ):
            follower.calibrate(held_out[:5], coverage=0.95)
        assert PredictionSets.of(follower.learnt_) == sets
    finally:
        follower.calibrate(held_out)
    assert PredictionSets.of(follower.learnt_) is None


def test_agent_sets_survive_saving(follower, tmp_path):
    kept = follower.with_search()
    kept.calibrate(demonstrate(30, seed=2), coverage=0.8)
    loaded = Follower.load(kept.save(tmp_path / "model"))
    assert PredictionSets.of(loaded.learnt_) == PredictionSets.of(kept.learnt_)
    turn = Agent(loaded, HOME, OFF).say("switch on the red lamp")
    assert turn.kind == "act"
    assert turn.text
    loaded.teach(demonstrate(1, seed=3), known=demonstrate(40, seed=0), check=False)
    assert PredictionSets.of(loaded.learnt_) is None


def lamps(verb, on, off):
    ways = ((on, "ein", OFF), (off, "aus", EVERY))
    return [
        Demonstration(f"{verb} {each} {said}", Lamps(), lit, [(way, each)])
        for each in ("rot", "blau") for said, way, lit in ways
    ]  # fmt: skip


def test_agent_speaks_the_language_of_the_demonstrations():
    agent = Agent(
        Follower(parser="chain").fit(lamps("schalte das Licht", "ein", "aus"), check=False),
        Lamps(), OFF,
    )  # fmt: skip
    turn = agent.say("schalte das Licht ein")
    assert (turn.kind, turn.text) == ("ask", "Was ist gemeint: blau oder rot?")
    assert agent.say("nein, lieber die rote").plan is None or agent.state != {"blau"}
    agent.take_back()
    assert agent.say("das zweite").plan.actions == (("ein", "rot"),)
    assert agent.say("egal").text == "Ich habe nichts gefragt. Sag bitte, was ich tun soll."
    assert agent.say("schalte den Toaster ein").text == "Das Wort „Toaster“ kenne ich nicht."


def test_agent_speaks_no_language_that_it_does_not_know():
    follower = Follower(parser="chain").fit(lamps("ke", "vo", "ra"), check=False)
    agent = Agent(follower, Lamps(), OFF)
    turn = agent.say("ke vo")
    assert turn.kind == "ask"
    assert sorted(turn.text.removesuffix("?").split(" / ")) == ["blau", "rot"]
    assert agent.say("rot").text == "ke rot vo"
    told = Agent(follower, Lamps(), OFF, language="english").say("ke vo")
    assert told.text.startswith("Which one: the ")
    with pytest.raises(GroundlingError, match="`language` must be one of english, german"):
        Agent(follower, Lamps(), OFF, language="klingon")


EVERY = frozenset({"rot", "blau"})


class Lamps:
    def actions(self, on):
        return [("aus" if each in on else "ein", each) for each in ("rot", "blau")]

    def step(self, on, action):
        return on ^ {action[1]}

    def ground(self, on, action, after):
        nodes = {"event": {action[0]: True}, "lamp": {"colour": action[1]}}
        return GroundingGraph(nodes, [("event", "lamp", "of")])


def test_agent_remembers_what_went_before():
    world = MemoryEnvironment(HOME, steps=1)
    turns = [("switch on the red lamp", [("on", "a")]), ("off again", [("off", "a")]),
             ("switch on the white fan", [("on", "c")]), ("off again", [("off", "c")]),
             ("switch on the black fan", [("on", "d")]), ("off again", [("off", "d")])]  # fmt: skip
    shown = world.converse(OFF, turns * 2, name="talk")
    agent = Agent(Follower().fit(shown, check=False), world, OFF)
    assert agent.say("switch on the white fan").kind == "act"
    agent.say("off again")
    assert agent.state == OFF


def test_agent_needs_a_fitted_follower():
    with pytest.raises(NotFittedError):
        Agent(Follower(), HOME, OFF)


class Switches(Home):
    """Devices whose actions are always possible, even if they change nothing."""

    def actions(self, on):
        return [(way, name) for way in ("on", "off") for name in self.devices]

    def step(self, on, action):
        return on | {action[1]} if action[0] == "on" else on - {action[1]}


@pytest.mark.parametrize("world", [HOME, Switches(**HOME.devices)])
def test_agent_asks_only_about_things_that_the_verb_applies_to(world):
    follower = Follower().fit(demonstrate(40, seed=0), check=False)
    agent = Agent(follower, world, frozenset("ab"))
    turn = agent.say("switch on the lamp")  # one of three lamps is off
    assert (turn.kind, turn.plan.actions) == ("act", (("on", "e"),))
    agent.say("switch off the red lamp")
    turn = agent.say("switch off the lamp")
    assert turn.kind == "ask"
    assert {each.plan.actions for each in turn.options} == {(("off", "b"),), (("off", "e"),)}
    agent.say("the blue one")
    turn = agent.say("switch off the lamp")
    assert (turn.kind, agent.state) == ("act", OFF)


def test_agent_excludes_the_opposite_of_a_verb_that_it_never_saw_contrasted():
    nothing, everything = OFF, frozenset(HOME.devices)
    shown = [
        Demonstration(f"switch {way} the {room} {kind}", HOME, state, [(way, name)])
        for name, (kind, room, _) in HOME.devices.items()
        for way, state in (("on", nothing), ("off", everything))
    ]
    agent = Agent(Follower().fit(shown, check=False), HOME, frozenset("a"))
    turn = agent.say("switch off the lamp")
    assert (turn.kind, turn.plan.actions) == ("act", (("off", "a"),))
    assert "another kind of action" in turn.explain().reason


def test_agent_says_that_a_command_is_fulfilled_already():
    agent = Agent(Follower().fit(demonstrate(40, seed=0), check=False), HOME, frozenset("abe"))
    turn = agent.say("switch on the lamp")  # all lamps are on
    assert (turn.kind, turn.text) == ("decline", "That is so already.")
    assert agent.state == frozenset("abe")
    assert agent.say("switch off the green lamp").kind == "act"


class Steady(Switches):
    """Switches where one can also wait."""

    def actions(self, on):
        return [("wait", ""), *super().actions(on)]

    def step(self, on, action):
        return on if action[0] == "wait" else super().step(on, action)

    def ground(self, on, action, after):
        if action[0] == "wait":
            return GroundingGraph({"event": {"wait": True}})
        return super().ground(on, action, after)


STEADY = Steady(**HOME.devices)


@pytest.fixture(scope="module")
def steady():
    shown = [
        Demonstration(f"switch {way} the {room} {kind}", STEADY, state, [(way, name)])
        for name, (kind, room, _) in STEADY.devices.items()
        for way, state in (("on", OFF), ("off", frozenset(STEADY.devices)))
    ]
    waits = [Demonstration(text, STEADY, OFF, [("wait", "")])
             for text in ("wait a moment", "just wait", "wait")]  # fmt: skip
    return Follower().fit([*shown, *waits], check=False)


@pytest.mark.parametrize(
    ("text", "on"),
    [("switch off the green lamp", "a"), ("switch on the hall lamp", "ab"),
     ("switch off the lamp", "cd")],
)  # fmt: skip
def test_agent_leaves_alone_what_is_so_already(steady, text, on):
    agent = Agent(steady, STEADY, frozenset(on))
    turn = agent.say(text)
    assert (turn.kind, turn.text) == ("decline", "That is so already.")
    assert agent.state == frozenset(on)


def test_agent_does_not_do_the_opposite_of_what_one_demonstration_says():
    lamps = Home(a=("lamp", "attic", "red"), b=("fan", "hall", "white"))
    shown = [
        Demonstration("light the lamp up", lamps, OFF, [("on", "a")]),
        Demonstration("start the fan", lamps, OFF, [("on", "b")]),
        Demonstration("make the fan rest", lamps, frozenset("b"), [("off", "b")]),
    ]
    agent = Agent(Follower().fit(shown, check=False), lamps, OFF)
    assert agent.say("light the lamp up").kind == "act"
    turn = agent.say("light the lamp up")
    assert turn.kind != "act"
    assert agent.state == {"a"}


def test_agent_asks_before_it_acts_on_a_question(agent):
    turn = agent.say("is the red lamp in the kitchen on?")
    assert (turn.kind, agent.state) == ("ask", OFF)


def test_agent_does_not_go_elsewhere_than_to_the_place_that_is_named():
    class Farm:
        def actions(self, at):
            return [each for each in ("barn", "pond", "stable", "field") if each != at]

        def step(self, at, action):
            return action

        def ground(self, at, action, after):
            return GroundingGraph({"event": {"go": True}, "goal": {"place": action}},
                                  [("event", "goal", "to")])  # fmt: skip

    shown = [Demonstration("walk to the stable", Farm(), "barn", ["stable"]),
             Demonstration("see the ducks", Farm(), "barn", ["pond"])]  # fmt: skip
    agent = Agent(Follower().fit(shown, check=False), Farm(), "barn")
    turn = agent.say("walk to the field")
    offered = {each.outcome for each in turn.options} or {turn.plan.end}
    assert offered == {"field"}


def test_agent_carries_out_an_action_that_never_changes_anything(steady):
    turn = Agent(steady, STEADY, frozenset("a")).say("wait")
    assert (turn.kind, turn.plan.actions) == ("act", (("wait", ""),))


def test_agent_prefers_outcomes_with_everything_that_is_named(steady):
    turn = Agent(steady, STEADY, OFF).say("switch on the fan in the attic")
    assert (turn.kind, turn.plan.actions) == ("act", (("on", "d"),))


@pytest.mark.parametrize("text", ["hello", "thank you"])
def test_agent_takes_no_greeting_for_a_reply(agent, text):
    turn = agent.say(text)
    assert turn.kind == "decline"
    assert "did not ask" not in turn.text


class Haus:
    """German devices with a kind and a room."""

    def __init__(self, *devices):
        self.devices = {f"{kind} {room}": (kind, room) for kind, room in devices}

    def actions(self, on):
        return [("aus" if name in on else "an", name) for name in self.devices]

    def step(self, on, action):
        return on ^ {action[1]}

    def ground(self, on, action, after):
        kind, room = self.devices[action[1]]
        nodes = {"event": {action[0]: True}, "device": {"art": kind, "ort": room}}
        return GroundingGraph(nodes, [("event", "device", "of")])


@pytest.fixture(scope="module")
def german():
    articles = {"Lampe": "die", "Ofen": "den", "Radio": "das"}
    places = {"Küche": "in der", "Flur": "im", "Bad": "im"}
    old = Haus(("Lampe", "Küche"), ("Lampe", "Flur"), ("Ofen", "Küche"), ("Ofen", "Bad"),
               ("Radio", "Bad"), ("Radio", "Flur"))  # fmt: skip
    dice, shown = random.Random(0), []
    for number in range(40):
        on = frozenset(name for name in old.devices if dice.random() < 0.5)
        way, name = dice.choice(old.actions(on))
        kind, room = old.devices[name]
        verb = dice.choice(("schalte", "mach"))
        text = f"{verb} {articles[kind]} {kind} {places[room]} {room} {way}"
        shown.append(Demonstration(text, old, on, [(way, name)], name=f"shown {number}"))
    return Follower().fit(shown, check=False)


def test_agent_speaks_german_with_articles(german, tmp_path):
    new = Haus(("Lampe", "Bad"), ("Lampe", "Küche"), ("Ofen", "Flur"), ("Ofen", "Küche"),
               ("Radio", "Küche"), ("Tischlampe", "Flur"))  # fmt: skip
    loaded = Follower.load(german.save(tmp_path / "model"))
    for agent in (Agent(german, new, OFF), Agent(loaded, new, OFF)):
        turn = agent.say("schalte die Lampe an")
        assert turn.kind == "ask"
        assert turn.text.startswith("Welche Lampe meinst du: ")
        assert agent.say("die in der Küche").text.endswith("die Lampe in der Küche an")
        assert agent.say("mach den Ofen an").text.startswith("Welchen Ofen meinst du: ")
        assert agent.say("im Flur").text.endswith("den Ofen im Flur an")
        # “das … in der …” was never demonstrated, and neither was the compound.
        assert agent.say("schalte das Radio an").text.endswith("das Radio in der Küche an")
        assert agent.say("schalte die Tischlampe an").text.endswith("die Tischlampe im Flur an")


def test_agent_asks_again_if_a_choice_is_out_of_range(agent):
    asked = agent.say("switch on the lamp")
    for reply in ("the fifth", "9"):
        turn = agent.say(reply)
        assert (turn.kind, turn.text) == ("ask", asked.text)
    turn = agent.say("the purple one")
    assert (turn.kind, turn.text) == ("decline", "I do not know the word “purple”.")
    assert agent.asking
    assert agent.say("the green one").plan.actions == (("on", "e"),)


def test_agent_offers_both_only_of_two(agent):
    agent.say("switch on the green lamp pronto")  # offers one option
    assert agent.say("both").kind == "ask"
    assert agent.state == OFF


@pytest.mark.parametrize("text", ["no, the red one", "not the red lamp", "2"])
def test_agent_acts_on_no_reply_without_a_question(agent, text):
    turn = agent.say(text)
    assert (turn.kind, agent.state) == ("decline", OFF)
    assert "did not ask" in turn.text


def test_agent_repeats_unknown_words_briefly(agent):
    turn = agent.say("zig zag zog zug zeg zeg zeg " + "z" * 300)
    assert turn.kind == "decline"
    assert len(turn.text) < 100


def test_agent_never_guesses_which_thing_a_singular_means():
    follower = Follower().fit(demonstrate(40, seed=0), check=False)
    follower.calibrate(demonstrate(60, seed=1))  # all are unambiguous: probabilities are sharp
    agent = Agent(follower, HOME, OFF)
    turn = agent.say("switch on the lamp")
    assert (turn.kind, len(turn.options)) == ("ask", 3)
    assert agent.say("the red one").kind == "act"
    assert agent.say("switch on a lamp").kind in ("act", "ask")
    one = Agent(follower, Switches(**HOME.devices), frozenset("a"))
    assert one.say("switch off the lamp").plan.actions == (("off", "a"),)
    assert one.state == OFF


def test_agent_declines_negated_commands_and_misspelt_verbs_that_do_not_apply():
    agent = Agent(Follower().fit(demonstrate(40, seed=0), check=False), HOME, frozenset("a"))
    assert agent.say("don't switch off the red lamp").kind == "decline"
    turn = agent.say("switch off the red lamp and the blue lamp")  # the blue one is off
    assert turn.kind != "act"
    assert agent.state == frozenset("a")


def test_agent_takes_no_adjective_for_the_noun_of_a_question(follower):
    home = Home(a=("lamp", "kitchen", "red"), c=("fan", "kitchen", "red"))
    turn = Agent(follower, home, OFF).say("switch on the red one")
    assert turn.kind == "ask"
    assert "Which red" not in turn.text
    assert "lamp" in turn.text
    assert "fan" in turn.text


class Room:
    """Things of one kind each, which are toggled; only possible actions are listed."""

    def __init__(self, *names):
        self.names = names

    def actions(self, on):
        return [("off" if name in on else "on", name) for name in self.names]

    def step(self, on, action):
        return on ^ {action[1]}

    def ground(self, on, action, after):
        nodes = {"event": {action[0]: True}, "thing": {"device": action[1]}}
        return GroundingGraph(nodes, [("event", "thing", "of")])


@pytest.fixture(scope="module")
def lantern():
    room = Room("lantern", "radio", "fan")
    shown = [Demonstration("turn the lantern on", room, OFF, [("on", "lantern")])]
    return room, Follower().fit(shown, check=False)


@pytest.mark.parametrize(
    ("text", "on", "said"),
    [
        ("turn the lantern off", "", "That is so already."),
        ("turn off the radio", "", "That is so already."),
        ("turn the lantern up", "", "I do not know the word “up”."),
        ("turn the lantern around", "", "I do not know the word “around”."),
        ("turn the lantern on", "lantern", "That is so already."),
        ("please turn the lantern on now", "lantern", "That is so already."),
    ],
)
def test_agent_obeys_no_word_that_it_does_not_know_instead_of_a_known_one(lantern, text, on, said):
    room, follower = lantern
    agent = Agent(follower, room, frozenset(on.split()))
    turn = agent.say(text)
    assert (turn.kind, turn.text) == ("decline", said)
    assert agent.state == frozenset(on.split())


@pytest.mark.parametrize(("way", "on", "then"), [("on", "", "fan"), ("off", "fan", "")])
def test_agent_obeys_what_one_demonstration_and_a_label_say(lantern, way, on, then):
    room, follower = lantern
    agent = Agent(follower, room, frozenset(on.split()))
    assert agent.say(f"please turn the fan {way}").kind == "act"
    assert agent.state == frozenset(then.split())


def test_agent_acts_on_all_things_if_the_text_says_so(agent):
    turn = agent.say("switch on all lamps")
    assert (turn.kind, agent.state) == ("act", frozenset("abe"))
    assert turn.text.count("lamp") == 3
    assert agent.say("switch off everything").kind == "act"
    assert agent.state == OFF


def test_agent_calibrated_on_single_things_acts_on_all_of_them(follower):
    calibrated = follower.with_search()
    calibrated.calibrate(demonstrate(60, seed=1), coverage=0.9)
    agent = Agent(calibrated, HOME, OFF)
    assert agent.say("switch on all lamps").kind == "act"
    assert agent.state == frozenset("abe")


def test_agent_describes_each_part_of_a_choice_of_several(agent):
    agent.say("switch on the lamp")
    turn = agent.say("the red and the blue one")
    assert turn.text == " and ".join(
        turn.plan.parts and [agent.follower.describe(each, HOME) for each in turn.plan.parts]
    )


def test_agent_asks_if_a_text_has_no_verb(agent):
    turn = agent.say("the red one")
    assert (turn.kind, agent.state) == ("ask", OFF)
    assert turn.reason == "The text names no action."


def test_agent_names_options_with_german_articles(german):
    agent = Agent(german, Haus(("Lampe", "Bad"), ("Lampe", "Küche")), OFF)
    turn = agent.say("schalte die Lampe an")
    options = ("die im Bad", "die in der Küche")
    assert {each.text for each in turn.options} == {*options}
    assert turn.text.removeprefix("Welche Lampe meinst du: ").removesuffix("?") in (
        " oder ".join(options), " oder ".join(options[::-1]),
    )  # fmt: skip
    assert agent.say("die in der Küche").plan.actions == (("an", "Lampe Küche"),)
    assert agent.say("schalte beide Lampen aus").plan.actions == (("aus", "Lampe Küche"),)
    assert agent.say("schalte nicht die Lampe im Bad an").kind == "decline"


class Bunt(Haus):
    """German devices with a kind and a colour."""

    def ground(self, on, action, after):
        kind, colour = self.devices[action[1]]
        nodes = {"event": {action[0]: True}, "device": {"art": kind, "farbe": colour}}
        return GroundingGraph(nodes, [("event", "device", "of")])


def test_agent_inflects_german_adjectives():
    colours = {"rot": "rote", "blau": "blaue", "gelb": "gelbe"}
    old = Bunt(*((kind, colour) for kind in ("Lampe", "Ofen") for colour in colours))
    shown = []
    for name, (kind, colour) in old.devices.items():
        thing = f"die {colours[colour]} Lampe" if kind == "Lampe" else f"den {colour}en Ofen"
        for way, on in (("an", OFF), ("aus", frozenset(old.devices))):
            if name != "Ofen gelb":  # “gelben” was never demonstrated
                shown.append(Demonstration(f"schalte {thing} {way}", old, on, [(way, name)]))
    agent = Agent(Follower().fit(shown, check=False), old, OFF)
    turn = agent.say("schalte den Ofen an")
    assert {each.text for each in turn.options} <= {"den roten", "den blauen", "den gelben"}
    assert agent.say("den gelben").plan.actions == (("an", "Ofen gelb"),)
    assert agent.follower._get_speaker().led("farbe", "gelb", "den").name == "gelben"
    assert agent.say("schalte den blauen Ofen an").text == "schalte den blauen Ofen an"
    turn = agent.say("schalte die Lampe an")
    assert {each.text for each in turn.options} <= {"die rote", "die blaue", "die gelbe"}
    assert agent.say("die blaue").text == "schalte die blaue Lampe an"


class Garden(Home):
    """Devices that can be asked about."""

    def things(self, on):
        return {
            name: {"device": kind, "room": room, "colour": colour, "on": name in on}
            for name, (kind, room, colour) in self.devices.items()
        }


@pytest.fixture(scope="module")
def asked():
    world = Garden(**HOME.devices)
    questions = [
        Demonstration("which lamp is on?", world, frozenset("ac"), answer={"a"}),
        Demonstration("which fan is on?", world, frozenset("ac"), answer={"c"}),
        Demonstration("is the red lamp on?", world, frozenset("a"), answer=True),
        Demonstration("is the white fan on?", world, frozenset("a"), answer=False),
        Demonstration("where is the red lamp?", world, OFF, answer="kitchen"),
        Demonstration("where is the black fan?", world, OFF, answer="attic"),
    ]
    follower = Follower().fit([*demonstrate(40, seed=0, home=world), *questions], check=False)
    return Agent(follower, world, frozenset("be"))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("what is on?", {"b", "e"}), ("which lamps are on?", {"b", "e"}),
        ("is there a lamp in the attic?", True), ("is the green lamp on?", True),
        ("where is the blue lamp?", "hall"),
    ],
)  # fmt: skip
def test_agent_answers_other_questions_of_demonstrated_types(asked, text, answer):
    turn = asked.say(text)
    assert (turn.kind, turn.answer) == ("answer", answer)
    assert asked.state == frozenset("be")


@pytest.mark.parametrize("text", ["how many lamps are on?", "where am I?", "lamp", "who is that?"])
def test_agent_answers_nothing_that_it_cannot_know(asked, text):
    turn = asked.say(text)
    assert turn.kind != "answer"
    assert asked.state == frozenset("be")


CALLS = {name: {"kind": "call", "name": name} for name in ("sales", "team", "press")}


class Calls:
    """Calls that are started at a time of day, shortened by minutes, or cancelled."""

    open_values = ("time", "duration", "set")

    def things(self, state):
        return CALLS

    def actions(self, state):
        return (
            ("cancel", OpenSet()),
            *[("start", call, OpenValue("time")) for call in CALLS],
            *[("shorten", call, OpenValue("duration")) for call in CALLS],
            *[("extend", call, OpenValue("duration")) for call in CALLS],
        )

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        labels = CALLS.get(action[1]) or describe_set(CALLS, action[1])[0]
        nodes = {"event": {action[0]: True}, "call": labels}
        if len(action) > 2:
            nodes["value"] = {"to": action[2]}
        return GroundingGraph(nodes, [("event", node, "of") for node in nodes if node != "event"])


@pytest.fixture(scope="module")
def calls():
    shown = []
    for name in CALLS:
        for text, action in (
            (f"start the {name} call at 9:30", ("start", name, "09:30")),
            (f"start the {name} call at 14:00", ("start", name, "14:00")),
            (f"cancel the {name} call", ("cancel", frozenset({name}))),
            (f"cancel all calls except the {name} call",
             ("cancel", frozenset({*CALLS} - {name}))),
            (f"make the {name} call ten minutes shorter", ("shorten", name, 600.0)),
        ):  # fmt: skip
            shown.append(Demonstration(text, Calls(), (), (action,)))
    return Follower().fit(shown)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("start the team call at 16:15", "act"),
        ("cancel all calls except the team call", "act"),
        ("make the sales call ten minutes longer", "ask"),
    ],
)
def test_agent_tells_values_and_exceptions_from_unknown_words(calls, text, kind):
    turn = Agent(calls, Calls(), ()).say(text)
    assert turn.kind == kind
    assert ("longer" in turn.text) == ("longer" in text)


def test_agent_lists_sets_in_the_names_of_actions(calls):
    plan = Plan((("cancel", frozenset({"team", "press"})),), ((), ()), 0.0, 1.0)
    assert _named(Calls(), plan) == "cancel press, team"
