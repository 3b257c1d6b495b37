"""Why a demonstration goes wrong: each reason with what was measured, and a cure of its own."""

from dataclasses import replace

import pytest

from groundling import (
    Demonstration,
    Features,
    Follower,
    GroundingGraph,
    Learning,
    Lexicon,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.checks.mistakes import amount
from tests.checks.test_registry import ITEMS, SHOWN, Pots, go_to, make
from tests.worlds import Line, line_demonstrations


def why(follower, shown):
    [mistake] = follower.diagnose([shown]).mistakes
    return mistake


@pytest.fixture(scope="module")
def goer():
    return make(overlay=Overlay()).fit(SHOWN)


@pytest.fixture(scope="module")
def walker():
    settings = {"model": PlanModel(), "overlay": Overlay(), "features": Features(words=("word",))}
    return make(**settings).fit(line_demonstrations())


def test_mistakes_too_long_names_the_setting():
    follower = make(search=Search(max_length=1)).fit(SHOWN[:5])
    found = why(follower, go_to("bed", 0, "right", "right", "right", name="far"))
    assert found.why == "too long"
    assert str(found).startswith(
        "The demonstration 'far', “go to the bed” (too long): It has 3 actions; the search "
        "considers only plans"
    )
    assert "Use Search(max_length=3)." in str(found)


def test_mistakes_of_a_lower_score_name_features_and_the_words_that_carry_them(goer):
    found = why(goer, go_to("desk", 2, "left"))
    assert found.why == "lower score"
    assert found.features
    for name, gain in found.features:
        assert gain > 0
        assert f"{name} {gain:+.2f}" in found.detail
    assert "desk" in found.misleading_words
    assert "“desk”, " in found.cure
    assert "favour the other plan: add demonstrations in which these words" in found.cure


def test_mistakes_name_words_that_were_never_learnt(goer, walker):
    found = why(goer, Demonstration("walk to the lamp", ITEMS, 2, ("right",)))
    assert found.unknown_words == ("walk",)
    assert "Unknown word: “walk”. Demonstrate texts with it, or add a lexicon entry" in found.cure
    # Without slots, a lexicon would say nothing.
    found = why(walker, Demonstration("step right", Line(), 1, ("left",)))
    assert "Unknown word: “step”. Demonstrate texts with it." in found.cure
    assert found.misleading_words == ("right",)


def test_mistakes_say_how_often_rare_words_were_shown():
    features = Features(words=("word",), min_word_count=3)
    shown = [*line_demonstrations(), Demonstration("hop left", Line(), 2, ("left",))]
    follower = make(model=PlanModel(), overlay=Overlay(), features=features).fit(shown)
    found = why(follower, Demonstration("hop move right", Line(), 1, ("left",)))
    assert found.rare_words == (("hop", 1), ("move", 2))
    assert (
        "Rare words: “hop” (1 time), “move” (2 times); words that occur fewer than 3" in found.cure
    )


class Doors:
    """Two doors, told apart by their colour."""

    def actions(self, state):
        return ("red", "blue", "green") if not state else ()

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"event": {"open": True, f"{action} door": True}})


def test_mistakes_name_labels_that_no_word_of_the_text_goes_with():
    shown = [Demonstration(f"take {each}", Doors(), "", (each,)) for each in ("red", "blue")] * 3
    follower = make(features=Features(words=("word",))).fit(shown)
    found = why(follower, Demonstration("take green", Doors(), "", ("green",)))
    assert found.missing_labels == ("green door",)
    assert "the labels that only the demonstrated actions have: green door." in found.cure
    found = why(follower, Demonstration("do it", Doors(), "", ("red",)))
    assert found.missing_labels == ("red door",)
    assert "In other texts, they go with word=red, word=take." in found.cure


def test_mistakes_see_what_was_demonstrated_otherwise(goer):
    found = why(goer, go_to("lamp", 1, "right"))
    assert found.why == "contradiction"
    assert "1 of 1 training demonstration with the same words and a similar start" in found.detail
    assert "does something else, such as 'go to the lamp': left." in found.detail
    assert "Correct the wrong ones" in found.cure
    # The same words elsewhere contradict nothing.
    assert why(goer, go_to("desk", 2, "left")).why != "contradiction"


def test_mistakes_see_actions_left_out_or_added(goer, walker):
    found = why(goer, go_to("bed", 0, "right", "right"))
    assert found.why == "length"
    assert "The only difference: 1 action of 2 left out." in found.detail
    assert "1 of 6 training demonstrations has 2 actions: add more of that length." in found.cure
    found = why(walker, Demonstration("go up", Line(), 1, ("right",)))
    assert "The only difference: 1 action added to 1." in found.detail


def test_mistakes_of_length_name_the_settings_of_units():
    follower = make(
        model=TransducerModel(unaligned_cost=1.0, fertility_cost=2.0), overlay=Overlay.bag(),
        features=Features(words=("word",), promote=()), search=Search(max_length=3),
    ).fit(line_demonstrations())  # fmt: skip
    short = why(follower, Demonstration("move right", Line(), 1, ("right", "right")))
    assert short.why == "length"
    assert "Raise TransducerModel.length_bonus (it is 0), or unaligned_cost (it is 1)" in short.cure
    more = why(follower, Demonstration(["go right", "go right"], Line(9), 2, ("right",)))
    assert more.why == "length"
    assert "or raise fertility_cost (it is 2)" in more.cure


def test_mistakes_of_length_compare_units_with_actions():
    text = "go right and go right"
    shown = [
        *line_demonstrations()[:4],
        Demonstration("go left and go right", Line(), 2, ("left", "right")),
    ]
    follower = Follower(
        model=PlanModel(), overlay=Overlay(), features=Features(words=("word",)),
        search=Search(max_length=2),
    ).fit(shown, check=False)  # fmt: skip
    found = why(follower, Demonstration(text, Line(6), 1, ("right", "right")))
    assert found.why == "length"
    assert "1 sentence and 2 clauses for 2 actions: try Overlay(unit='clause')." in found.cure


def water(text, *actions):
    return Demonstration(text, Pots("fern", "palm", "ivy"), (), actions)


@pytest.fixture(scope="module")
def gardener():
    shown = [
        water("water the fern", 0), water("water the palm", 1), water("water the ivy", 2),
        water("water the fern then the ivy", 0, 2), water("water the palm then the fern", 1, 0),
    ] * 2  # fmt: skip
    return make(overlay=Overlay(unit="word")).fit(shown)


def test_mistakes_of_order_name_reordering(gardener):
    found = why(gardener, water("water the fern before that the ivy", 2, 0))
    assert found.why == "order"
    assert "It has the same actions in another order." in found.detail
    assert "follower.chosen().set_params(features__reorder=True), which learns" in found.cure


def test_mistakes_name_ranks_where_a_number_tells_plans_apart():
    shown = [Demonstration("water one", Pots("fern", "fern", "fern"), (), (0,))]
    follower = make(features=Features(words=("word",))).fit(shown)
    third = Demonstration("water the third", Pots("fern", "fern", "fern"), (), (2,))
    assert (
        "The number 'x' distinguishes the actions: if “the”, “third”" in why(follower, third).cure
    )
    assert "give the environment a method things(state)." in why(follower, third).cure
    world = Pots("fern", "fern", "fern")
    world.things = lambda state: {f"pot {n}": {"x": n} for n in range(3)}
    assert "things(state)" not in why(follower, replace(third, environment=world)).cure


def test_mistakes_of_unknown_words_name_slots_where_there_are_none():
    shown = [Demonstration("water the fern", Pots("fern", "palm"), (), (0,))]
    follower = make(features=Features(words=("word",))).fit(shown)
    found = why(follower, Demonstration("water the palm", Pots("fern", "palm"), (), (1,)))
    assert found.unknown_words == ("palm",)
    assert "if it means a value of 'plant', add that label to Features.slots" in found.cure


class Twins:
    """Two cups that look alike."""

    def actions(self, state):
        return ("first", "second") if not state else ()

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"event": {"take": True}, "cup": {"thing": "cup"}})


def test_mistakes_say_that_plans_look_alike():
    follower = make().fit([Demonstration("take the cup", Twins(), "", ("first",))], check=False)
    found = why(follower, Demonstration("take the other cup", Twins(), "", ("second",)))
    assert found.why == "same graph"
    assert "Add a label that distinguishes the two plans." in str(found)
    assert found.unknown_words == ("other",)


def test_mistakes_of_texts_in_another_order_name_connectives_where_actions_differ_too(gardener):
    found = why(gardener, water("water the fern before that the ivy and the palm", 2, 0))
    assert "The text names things in a different order from the actions." in found.cure
    assert "features__reorder=True" in found.cure


class Timer:
    """A timer of so many minutes."""

    def actions(self, state):
        return (1, 5, 30, 60) if state is None else ()

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"event": {"ring": True, "minutes": action}})


def test_mistakes_say_that_words_learn_nothing_of_numbers_without_bins():
    timer = Timer()
    said = [("ring very soon", 1), ("ring soon", 5), ("ring later", 30), ("ring at 60", 60)]
    shown = [Demonstration(text, timer, None, (minutes,)) for text, minutes in said]
    features = Features(words=("word",), numbers=("equal",))
    follower = make(features=features, search=Search(max_length=1)).fit(shown, check=False)
    wrong = {each.demonstration.instructions: each for each in follower.diagnose(shown).mistakes}
    told = wrong["ring soon"].cure
    assert told.startswith("The number 'minutes' distinguishes the actions, but Features.number")
    assert "Use Features(numbers=('equal', 'bins')), which has edges at" in told
    assert "0.5, 1.5, 2.5, 4.5, 8.5, 16.5" in told
    assert "string label for each range" in told
    assert "Add demonstrations" not in told
    assert "ring at 60" not in wrong


def test_mistakes_say_where_bins_would_not_part_numbers():
    class Later(Timer):
        def actions(self, state):
            return (30, 60) if state is None else ()

    said = [("ring later", 30), ("ring much later", 60)]
    shown = [Demonstration(text, Later(), None, (minutes,)) for text, minutes in said]
    features = Features(words=("word",), numbers=("equal",))
    follower = make(features=features, search=Search(max_length=1)).fit(shown, check=False)
    [found] = follower.diagnose(shown).mistakes
    assert (
        "the intervals of 'bins', 0.5, 1.5, 2.5, 4.5, 8.5, 16.5, do not separate the values."
        in found.cure
    )


class Thermostat:
    """A temperature from 16 to 25, with what it is set to and by how much."""

    def actions(self, now):
        return [each for each in range(16, 26) if each != now]

    def step(self, now, action):
        return action

    def ground(self, now, action, after):
        event = {"raise" if action > now else "lower": True}
        nodes = {"event": event, "to": {"to": action}, "by": {"by": abs(action - now)}}
        return GroundingGraph(nodes, [("event", "to", "to"), ("event", "by", "by")])


def test_mistakes_name_the_number_that_bins_would_part():
    home = Thermostat()
    said = [("make it warmer", now, now + 1) for now in (17, 18, 20, 22)]
    said += [("make it cooler", now, now - 1) for now in (19, 20, 22, 23)]
    said += [("set it to 21", 18, 21), ("set it to 19", 23, 19)]
    shown = [Demonstration(text, home, now, (to,)) for text, now, to in said]
    features = Features(words=("word",), numbers=("equal",))
    follower = make(features=features, search=Search(max_length=1)).fit(shown, check=False)
    wrong = follower.diagnose(shown).mistakes
    assert wrong
    for each in wrong:
        assert each.cure.startswith("The number 'by' distinguishes the actions")
        assert "Use Features(numbers=('equal', 'bins'))" in each.cure
        assert "'by said'" in each.cure


class Lamps:
    """Devices that can be switched, in a slot."""

    def actions(self, state):
        return [(way, each) for each in ("fan", "lamp") for way in ("on", "off")]

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        way, device = action
        nodes = {"event": {way: True}, "device": {"device": device}}
        return GroundingGraph(nodes, [("event", "device", "of")])


def test_mistakes_of_values_that_no_word_spells_name_the_slot_and_a_line_of_a_lexicon():
    said = [("kill the light", "off", "lamp"), ("light off", "off", "lamp"),
            ("light on", "on", "lamp"), ("fan on", "on", "fan"), ("kill the fan", "off", "fan"),
            ("lamp on", "on", "lamp"), ("fan off", "off", "fan"),
            ("fan on now", "on", "fan")]  # fmt: skip
    shown = [Demonstration(text, Lamps(), "", ((way, what),)) for text, way, what in said]
    settings = {"model": PlanModel(), "overlay": Overlay.flat(), "search": Search(max_length=1)}
    slots = Features(words=("word",), slots=("device",))
    follower = make(features=slots, **settings).fit(shown, check=False)
    found = why(follower, shown[0])
    assert found.missing_labels == ("of.device=lamp",)
    assert "No word of the text spells 'lamp', the value of 'device'" in found.cure
    assert "such as “light = device:lamp”; or give the node a label" in found.cure
    assert "{'device': 'lamp', 'lamp': True}" in found.cure
    assert "Demonstrate texts" not in found.cure
    # A word that was never shown may be the one that means it.
    found = why(follower, Demonstration("chandelier off", Lamps(), "", (("off", "lamp"),)))
    assert "such as “chandelier = device:lamp”" in found.cure
    # Both cures work.
    words = Lexicon({"light": [("device", "lamp")]})
    lexicon = Features(words=("word",), slots=("device",), lexicon=words)
    assert make(features=lexicon, **settings).fit(shown).score(shown) == 1.0

    class Beside(Lamps):
        def ground(self, state, action, after):
            way, device = action
            nodes = {"event": {way: True}, "device": {"device": device, device: True}}
            return GroundingGraph(nodes, [("event", "device", "of")])

    beside = [replace(each, environment=Beside()) for each in shown]
    assert make(features=slots, **settings).fit(beside).score(beside) == 1.0


class Gates(Doors):
    def actions(self, state):
        return ("white", "black") if not state else ()


def test_mistakes_are_those_that_following_makes_among_equal_scores():
    shown = [Demonstration(f"take {each}", Doors(), "", (each,)) for each in ("red", "blue")] * 3
    follower = make(features=Features(words=("word",))).fit(shown)
    asked = [Demonstration("take one", Gates(), "", (each,)) for each in ("white", "black")]
    assert follower.follow("take one", Gates(), "").actions == ("black",)
    report = follower.diagnose(asked)
    assert (report.right, [each.why for each in report.mistakes]) == (1, ["tie"])
    assert report.mistakes[0].demonstration is asked[0]


class Ways(Doors):
    """Two of the doors lead to the same place."""

    def outcome(self, state):
        return "yard" if state == "red" else "house"


def test_mistakes_tell_of_outcomes_that_win_with_plans_that_score_less():
    shown = [Demonstration(f"take {each}", Ways(), "", (each,)) for each in ("red", "blue")] * 3
    follower = make(
        model=PlanModel(), overlay=Overlay(), features=Features(words=("word",)),
        search=Search(max_length=1, decode="outcome"), learning=Learning(l2=5.0),
    ).fit(shown, check=False)  # fmt: skip
    found = why(follower, shown[0])
    assert found.why == "lower score"
    assert (
        "leads to an outcome that is more probable over all plans that lead there" in found.detail
    )
    assert "scores -" not in str(found)


def test_mistakes_call_a_lead_a_tie_that_is_next_to_nothing(goer, monkeypatch):
    far = go_to("desk", 2, "left")
    assert why(goer, far).why == "lower score"
    monkeypatch.setattr("groundling.checks.mistakes.NEGLIGIBLE_MARGIN", 1e9)
    found = why(goer, far)
    assert found.why == "tie"
    assert "more: hardly any weight distinguishes the two plans." in found.detail
    assert found.misleading_words == ()


def test_mistakes_do_not_blame_words_that_most_texts_have():
    said = [("robot go left", "left")] * 6 + [("robot go", "left")] * 3 + [("robot right", "right")]
    shown = [Demonstration(text, Line(5), 2, (way,)) for text, way in said]
    follower = make(model=PlanModel(), overlay=Overlay(), features=Features(words=("word",)))
    follower.fit(shown, check=False)
    found = why(follower, Demonstration("robot go please", Line(5), 3, ("right",)))
    assert any(name.startswith("word=robot") for name, _ in found.features)
    assert found.misleading_words == ()
    assert "robot" not in found.cure


def test_mistakes_show_small_differences():
    assert (amount(0.0004), amount(1.239, "+")) == ("0.0004", "+1.24")


def test_mistakes_say_that_no_reading_of_a_text_leads_to_a_plan():
    settings = {"model": TransducerModel(allow_multiple=False), "search": Search(max_length=3)}
    shown = [each for each in line_demonstrations() if len(each.actions) == 1]
    follower = make(**settings).fit(shown, check=False)
    found = why(follower, Demonstration("go right", Line(), 0, ("right", "right")))
    assert (found.why, found.detail) == (
        "not found", "No reading of the text leads to its 2 actions."
    )  # fmt: skip
    assert "Use a smaller unit of text (Overlay.unit is 'sentence')" in found.cure
