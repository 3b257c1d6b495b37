"""Choices from the demonstrations: the right ones, the same ones, kept with the model."""

import random
import warnings
from collections import Counter
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from groundling import (
    DecisionModel,
    Demonstration,
    Features,
    Follower,
    GroundingGraph,
    Learning,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import LearningWarning
from groundling.language import ENGLISH, ChainParser
from groundling.learning.plan_counts import Lengths, PlanCounts
from groundling.selection.choices import choose
from groundling.selection.configurations import configurations, learning_for
from groundling.selection.profile import Profile
from groundling.world.cached_environment import CachedEnvironment
from tests.worlds import Line, line_demonstrations


class Shelf:
    """Things with colours; one can be taken, or put back."""

    def __init__(self, **things):
        self.things = things

    def actions(self, held):
        return [("put" if thing in held else "take", thing) for thing in self.things]

    def step(self, held, action):
        return held ^ {action[1]}

    def ground(self, held, action, after):
        verb, thing = action
        nodes = {"event": {verb: True}, "thing": {"name": thing, "colour": self.things[thing]}}
        return GroundingGraph(nodes, edges=[("event", "thing", "object")])


def takes(count, *, actions=1):
    dice = random.Random(0)
    names, colours = ("mug", "bowl", "plate", "jug"), ("red", "blue", "green")
    shown = []
    for number in range(count):
        shelf = Shelf(**{each: dice.choice(colours) for each in names})
        wanted = dice.sample(names, actions)
        text = " and ".join(f"take the {shelf.things[each]} {each}" for each in wanted)
        plan = [("take", each) for each in wanted]
        shown.append(Demonstration(text, shelf, frozenset(), plan, name=str(number)))
    return shown


SYNONYMS = {"mug": "beaker", "bowl": "basin", "plate": "disc", "jug": "pitcher"}


def renamed(shown, every=2):
    """Say other words for the things, in every so many texts."""
    found = []
    for place, each in enumerate(shown):
        text = each.instructions
        for name, other in SYNONYMS.items():
            text = text if place % every else text.replace(name, other)
        found.append(replace(each, instructions=text))
    return found


def chosen(follower):
    return {each.what: each.chosen for each in follower.choices_}


def test_choosing_takes_one_action_where_all_demonstrations_have_one():
    follower = Follower(parser="chain").fit(takes(10))
    assert chosen(follower)["Search.max_length"] == "1"
    plan = follower.follow("take the red bowl", Shelf(bowl="red", pan="red"), frozenset())
    assert plan.actions == (("take", "bowl"),)


def test_choosing_takes_the_longest_demonstration_where_plans_are_few():
    follower = Follower(parser="chain").fit(takes(10, actions=2))
    assert chosen(follower)["Search.max_length"] == "2"


def test_choosing_finds_the_slots_that_words_spell():
    follower = Follower(parser="chain").fit(takes(10))
    assert chosen(follower)["Features.slots"] == "('colour', 'name')"
    assert Follower(parser="chain").fit(line_demonstrations()).choices_
    assert "Features.slots" not in chosen(Follower(parser="chain").fit(line_demonstrations()))


def test_choosing_keeps_what_was_given():
    given = {
        "model": PlanModel(plan_scores=False),
        "overlay": Overlay(entry="any"),
        "features": Features(words=("word",)),
        "learning": Learning(l2=0.5),
        "search": Search(max_length=2, threshold=0.3),
    }
    follower = Follower(parser="chain", **given).fit(takes(6))
    assert follower.choices_ == ()
    assert str(follower.choices_) == "All settings were given; none was chosen."
    settings = follower._learnt.settings
    assert {name: getattr(settings, name) for name in given} == given


@pytest.mark.parametrize("name", ["model", "overlay", "features", "learning", "search"])
def test_choosing_fills_in_beside_what_was_given(name):
    given = {
        "model": TransducerModel(),
        "overlay": Overlay.flat(),
        "features": Features(words=("word",)),
        "learning": Learning(l2=0.5),
        "search": Search(threshold=0.3),
    }[name]
    follower = Follower(parser="chain", **{name: given}).fit(takes(6))
    assert getattr(follower, name) == given
    kept = getattr(follower._learnt.settings, name)
    assert kept == (given if name != "search" else Search(threshold=0.3, max_length=1))


def test_choosing_leaves_the_constructor_as_it_was():
    follower = Follower(parser="chain").fit(takes(6))
    assert follower.get_params(deep=False)["model"] == "auto"
    assert repr(follower) == "Follower(parser='chain')"


def test_choosing_is_the_same_whatever_the_order():
    shown = takes(40, actions=2)
    one, other = (Follower(parser="chain").fit(each) for each in (shown, shown[::-1]))
    assert one.choices_ == other.choices_


def test_choosing_reads_unit_by_unit_where_plans_are_too_many():
    follower = Follower(parser="chain").fit(
        [Demonstration("go on", Line(200), 60, ("right", "left") * 12, name="long")]
    )
    assert chosen(follower)["model"].startswith("TransducerModel(")
    assert chosen(follower)["Search.max_length"] == "30"


def test_choosing_is_kept_with_the_model(tmp_path):
    follower = Follower(parser="chain").fit(takes(6))
    kept = Follower.load(follower.save(tmp_path / "model"))
    assert kept.choices_ == follower.choices_
    assert str(kept.choices_) == str(follower.choices_)
    assert kept._learnt.search == follower._learnt.search


def test_choosing_says_what_why_and_how_to_change_it():
    for each in Follower(parser="chain").fit(takes(6)).choices_:
        assert all((each.what, each.chosen, each.why))
        assert "=…" in each.change
        assert str(each).startswith(f"{each.what} = {each.chosen}: {each.why}")


def test_choosing_another_search_keeps_the_length():
    follower = Follower(parser="chain").fit(takes(6))
    assert follower.with_search(Search(beam=3))._learnt.search == Search(beam=3, max_length=1)


def test_facts_count_plans_and_lengths():
    facts = Profile(line_demonstrations(), "chain")
    assert facts.longest == 2
    assert facts.listing.covering(0.5) == 1
    assert facts.listable == 2
    starts = [each.start for each in facts.ordered][:3]
    counted = [sum(2 - (s in (0, 3)) for s in [start]) for start in starts]
    assert facts.plans(1) == sum(counted) / len(counted)


def test_facts_estimate_plans_that_are_too_many_to_count():
    facts = Profile([Demonstration("go", Line(100), 50, ("left",) * 40)], "chain")
    assert facts.plans(40) > 1e6
    assert facts.listable is None


def test_facts_count_plans_of_many_actions_by_some_states():
    asked = []

    class Board:
        def actions(self, state):
            return tuple(range(300 - len(state)))

        def step(self, state, action):
            asked.append(action)
            return (*state, action)

    counts = PlanCounts([(CachedEnvironment(Board()), ())])
    assert counts.plans(2) == pytest.approx(300 + 300 * 299)
    assert counts.actions(3) == pytest.approx(300 + 300 * 299 + 300 * 299 * 298, rel=0.01)
    assert len(asked) < 30_000


def test_facts_do_not_take_labels_for_slots_that_words_contradict():
    shown = [
        Demonstration(f"take the {word} thing", Shelf(mug="red", bowl="blue"), frozenset(),
                      [("take", thing)])
        for word, thing in (("blue", "mug"), ("red", "bowl"), ("blue", "mug"))
    ]  # fmt: skip
    assert "colour" not in Profile(shown, "chain").slots


def turns(count):
    """Two commands, of which half are said in the other order."""
    shown = []
    for each in takes(count, actions=2):
        one, other = (f"take the {each.environment.things[a[1]]} {a[1]}" for a in each.actions)
        late = int(each.name) % 2
        text = f"{other} after you {one}" if late else f"{one} and {other}"
        shown.append(replace(each, instructions=text))
    return shown


def test_choosing_learns_connectives_where_texts_are_turned_around():
    follower = Follower(parser="chain").fit(turns(60))
    assert chosen(follower)["Features.reorder"] == "True"
    assert follower.score(turns(80)[60:]) > 0.7
    assert "Features.reorder" not in chosen(Follower(parser="chain").fit(takes(40, actions=2)))


def test_choosing_takes_features_that_are_given_as_they_are():
    features = Features(reorder=True)
    follower = Follower(parser="chain", features=features).fit(takes(10, actions=2), check=False)
    assert follower.chosen().features == features


def test_choosing_learns_a_lexicon_from_nothing_where_no_word_is_spelled_like_a_value():
    codes = {"mug": "q1", "bowl": "q2", "plate": "q3", "jug": "q4"}
    dice = random.Random(1)
    shown = []
    for number in range(320):
        word, other = dice.sample(list(codes), 2)
        shelf = Shelf(**{codes[each]: "plain" for each in (word, other)})
        text = f"{dice.choice(('take', 'get', 'bring'))} the {word}"
        plan = [("take", codes[word])]
        shown.append(Demonstration(text, shelf, frozenset(), plan, name=str(number)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LearningWarning)  # the colour never varies
        follower = Follower(parser="chain").fit(shown)
    assert chosen(follower)["Features.slots"] == "('name',)"
    assert chosen(follower)["Features.lexicon"] == "'learn'"
    for word, code in codes.items():
        entries = follower.lexicon_.learnt[word]
        assert max(entries, key=entries.get) == ("name", code)


class Islands:
    """A line of islands; boats go to any that was not visited."""

    def actions(self, seen):
        return [name for name in ("ash", "elm", "fir", "oak", "yew") if name not in seen]

    def step(self, seen, action):
        return (*seen, action)

    def ground(self, seen, action, after):
        nodes = {
            "event": {"go": True, "far": 1.5},
            "to": {"island": action, "near.island": action},
        }
        return GroundingGraph(nodes, [("event", "to", "to")])


def test_values_of_which_actions_have_several_are_learnt_only_if_that_helps():
    class Crowded(Shelf):
        def ground(self, held, action, after):
            graph = super().ground(held, action, after)
            nodes = dict(zip(graph.node_names, graph.node_labels, strict=True))
            others = {f"other {each}": {"name": each} for each in self.things if each != action[1]}
            edges = [("event", "thing", "object"), *(("event", each, "near") for each in others)]
            return GroundingGraph(nodes | others, edges=edges)

    shown = renamed(takes(40))
    crowded = [replace(e, environment=Crowded(**e.environment.things)) for e in shown]
    assert Profile(shown, "chain").unsaid == ("name",)
    assert Profile(takes(40), "chain").unsaid == ()  # all is spelled
    assert Profile(crowded, "chain").unsaid == ()
    plain, values = configurations(Profile(crowded, "chain"))[:2]
    assert plain.features.joins == ("conjunction", "slot")
    assert values.features.joins == ("conjunction", "slot", "value")
    assert values.base == plain.name  # it is tried where spelling alone leads
    [joins] = {each.features.joins for each in configurations(Profile(takes(40), "chain"))}
    assert joins == ("conjunction", "slot")


def test_choosing_stops_earlier_with_many_demonstrations():
    facts = Profile([Demonstration("ash", Islands(), (), ("ash",))], "chain")
    assert learning_for(facts, PlanModel(), 999).tolerance == 1e-4
    assert learning_for(facts, PlanModel(), 1000).tolerance == 1e-3


def walks(count, *, group="walk {}", noisy=False):
    """Walks along a line, three demonstrations each, one where the other ended."""
    dice, line, shown = random.Random(1), Line(14), []
    for walk in range(count):
        state = 7
        for _ in range(3):
            plan = [dice.choice(("left", "right"))] * dice.randint(1, 2)
            said = ["some", "way"] if noisy and dice.random() < 0.6 else plan
            text = f"go {' '.join(said)}"
            shown.append(Demonstration(text, line, state, plan, group=group.format(walk)))
            for each in plan:
                state = line.step(state, each)
    return shown


def test_choosing_composes_demonstrations_that_follow_each_other():
    follower = Follower(parser="chain").fit(walks(8))
    assert follower.chosen().learning.composed == 0.5
    [choice] = [each for each in follower.choices_ if each.what == "Learning.composed"]
    assert "start where the previous one of their group ended" in choice.why
    apart = Follower(parser="chain").fit(walks(8, group=""))
    assert apart.chosen().learning.composed == 0.0
    assert "Learning.composed" not in str(apart.choices_)
    once = [replace(each, actions=each.actions[:1]) for each in walks(8)]
    assert Follower(parser="chain").fit(once).chosen().learning.composed == 0.0


def test_choosing_tells_how_to_change_one_setting_and_keep_the_others():
    shown = takes(6)
    follower = Follower(parser="chain").fit(shown)
    for each in follower.choices_:
        group, _, setting = each.what.partition(".")
        change = each.change.replace("…", f"follower.chosen().{group.lower()}"
                                     + (f".{setting}" if setting else ""))  # fmt: skip
        again = eval(change, {"follower": follower}).fit(shown)
        assert again.choices_ == ()
        assert np.array_equal(again.theta_, follower.theta_)


def test_choosing_does_not_depend_on_names():
    shown = takes(40, actions=2)
    named = [replace(each, name=f"other {each.name}") for each in shown]
    one, other = (Profile(each, "chain") for each in (shown, named))
    assert [each.instructions for each in one.ordered] == [
        each.instructions for each in other.ordered
    ]


def test_choosing_takes_the_longest_of_few_demonstrations_at_some_cost():
    counts, lengths = Counter({1: 40, 2: 20, 3: 2}), Counter({1: 400, 2: 200, 3: 20})
    starts = [(CachedEnvironment(Islands()), ())]
    few = Lengths(Many(), counts, 4)
    assert (few.of_trials, few.of_plans) == (2, 3)
    many = Lengths(Many(), lengths, 4)
    assert (many.of_trials, many.of_plans) == (2, 2)
    assert Lengths(PlanCounts(starts), counts, 4, 2).of_plans == 2


class Many(PlanCounts):
    """Twenty actions, whatever was done."""

    def __init__(self):
        super().__init__([])

    def plans(self, length):
        return float(sum(20**each for each in range(1, length + 1)))

    def actions(self, length):
        return self.plans(length) / 2


def test_choosing_races_graphs_also_where_no_unit_is_small_enough_for_one_action():
    shown = takes(60, actions=2)
    facts = Profile(shown, "chain")  # which knows no clauses
    names = {each.name for each in configurations(facts)}
    assert {"graph", "flat", "graph, sentence by sentence"} <= names
    assert Follower(parser="chain").fit(shown[:40], check=False).score(shown[40:]) == 1


def test_choosing_lets_units_name_many_actions_where_there_are_many_more():
    few = [Demonstration("go on", Line(200), 60, ("right", "left") * 12, name="long")]
    [units] = configurations(Profile(few, "chain"))
    assert 0 < units.model.fertility_cost < 0.3
    assert units.model.unaligned_cost == units.model.fertility_cost
    split = [replace(e, instructions=e.instructions.split(", ")) for e in long_walks(6)]
    [usual] = configurations(Profile(split, "chain"))
    assert usual.model.fertility_cost == 2.3


@pytest.mark.parametrize(("word", "says"), [("first", False), ("two", True), ("first", True)])
def test_facts_see_numbers_only_where_texts_say_them(word, says):
    class Counted(Line):
        def ground(self, state, action, after):
            number = 1.0 if says else 0.5
            return GroundingGraph({"event": {action: True, "number": number}})

    parser = ChainParser(language=ENGLISH)
    facts = Profile([Demonstration(f"go {word}", Counted(), 1, ("left",))], parser)
    assert facts.says_numbers == says


def long_walks(count):
    """Walks of many steps, each said in a clause: too many plans to list them."""
    dice, line, shown = random.Random(5), Line(40), []
    for _ in range(count):
        ways = [dice.choice(("left", "right")) for _ in range(dice.randint(12, 16))]
        text = ", ".join(f"go {way}" for way in ways)
        shown.append(Demonstration(text, line, 20, ways))
    return shown


WORLDS = {
    "one action": (takes(10), {}),
    "too few to try": (takes(10, actions=2), {}),
    "raced": (takes(36, actions=2), {}),
    "crowded": (turns(40), {}),
    "unit by unit": (long_walks(16), {}),
    "decisions": (takes(12, actions=2), {"model": DecisionModel()}),
    "read by units": (takes(12, actions=2), {"model": TransducerModel()}),
}


@pytest.mark.parametrize("world", WORLDS)
def test_choices_rebuild_the_same_follower(world):
    shown, given = WORLDS[world]
    follower = Follower(parser="chain", **given).fit(shown, check=False)
    rebuilt = Follower(parser="chain", **given).set_params(**follower.choices_.params)
    rebuilt.fit(shown, check=False)
    assert rebuilt.chosen().get_params() == follower.chosen().get_params()
    assert rebuilt.theta_.tobytes() == follower.theta_.tobytes()


@pytest.mark.parametrize("world", WORLDS)
def test_choices_list_every_setting_that_differs_from_its_default(world):
    shown, given = WORLDS[world]
    trainer, choices = choose(Follower(parser="chain", **given).get_params(deep=False), shown)
    listed = {each.what for each in choices}
    for group in ("overlay", "features", "learning", "search"):
        value = getattr(trainer, group)
        for name in value.changed():
            assert f"{type(value).__name__}.{name}" in listed
    assert ("model" in listed) == (trainer.model not in (PlanModel(), given.get("model")))


def test_choices_are_rebuilt_from_a_file(tmp_path):
    follower = Follower(parser="chain").fit(takes(36, actions=2), check=False)
    kept = Follower.load(follower.save(tmp_path / "model"))
    assert kept.choices_.params == follower.choices_.params


def test_choosing_prefers_what_an_environment_declares():
    class Declared(Shelf):
        follower_settings = MappingProxyType({"overlay": Overlay.flat(), "search": Search(beam=3)})

    shown = [replace(e, environment=Declared(**e.environment.things)) for e in takes(36)]
    trainer, choices = choose(Follower(parser="chain").get_params(deep=False), shown)
    assert trainer.overlay == Overlay.flat()
    assert trainer.search == Search(beam=3, max_length=1)
    [nodes] = [each for each in choices if each.what == "Overlay.nodes"]
    assert nodes.why == "the environment declares it"
    given = Follower(parser="chain", overlay=Overlay()).get_params(deep=False)
    assert choose(given, shown)[0].overlay == Overlay()


def test_choosing_drops_what_an_environment_declares_where_something_else_is_better():
    class Deaf(Shelf):
        follower_settings = MappingProxyType({"features": Features(words=())})

    shown = [replace(e, environment=Deaf(**e.environment.things)) for e in takes(36)]
    trainer, choices = choose(Follower(parser="chain").get_params(deep=False), shown)
    assert trainer.features.words
    assert "the environment declares" not in str(choices).partition("standard error")[0]
    few, _ = choose(Follower(parser="chain").get_params(deep=False), shown[:20])
    assert few.features == Features(words=())  # too few to hold some out


class Manners:
    """One of four things is taken, with care or without."""

    def actions(self, state):
        return [(thing, manner) for thing in "abcd" for manner in ("plainly", "with care")]

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        thing, manner = action
        event = {"take": True} | ({"careful": True} if manner == "with care" else {})
        return GroundingGraph(
            {"event": event, "thing": {f"thing {thing}": True}}, [("event", "thing", "of")]
        )


def test_choosing_keeps_a_word_shown_once_that_goes_with_a_label_shown_once():
    dice, world = random.Random(4), Manners()
    words = {"a": "kobu", "b": "limo", "c": "navi", "d": "pesa"}
    shown = [
        Demonstration(f"take the {words[thing]}", world, "", [(thing, "plainly")], name=str(number))
        for number, thing in enumerate(dice.choices("abcd", k=320))
    ]
    once = Demonstration("take the kobu cautiously", world, "", [("a", "with care")])
    assert Follower(parser="chain").fit(shown, check=False).chosen().features.min_word_count == 2
    follower = Follower(parser="chain").fit([*shown, once], check=False)
    assert follower.chosen().features.min_word_count == 1
    weights = follower.weights("word=cautiously", most=99)
    assert any(name.endswith("careful") and weight > 0 for name, weight in weights)
