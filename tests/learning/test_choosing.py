"""Choices from the demonstrations: the right ones, the same ones, kept with the model."""

import random
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from groundling import (
    DecisionModel,
    Demonstration,
    Ensemble,
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
from groundling.language import ENGLISH, ChainParser, Instruction, SentenceLabel
from groundling.learning import choosing
from groundling.learning.counting import Lengths, PlanCounts
from groundling.learning.facts import Facts
from groundling.learning.presets import (
    configurations,
    features_for,
    learning_for,
    like,
    more_configurations,
    with_second_member,
)
from groundling.learning.trying import in_common, split
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
    assert chosen(Follower(parser="chain").fit(line_demonstrations()))["Features.slots"] == "()"


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
    assert str(follower.choices_) == "Nothing was left to choose."
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


def test_choosing_tries_the_likely_configurations_where_it_can():
    follower = Follower(parser="chain").fit(takes(40, actions=2))
    [why] = [each.why for each in follower.choices_ if each.what == "model"]
    assert "tried on a part of the demonstrations: plans over graphs" in why
    assert follower.score(takes(8, actions=2)) > 0.8


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
    assert kept.search == follower._learnt.search


def test_choosing_says_what_why_and_how_to_change_it():
    for each in Follower(parser="chain").fit(takes(6)).choices_:
        assert all((each.what, each.chosen, each.why))
        assert "=…" in each.change
        assert str(each).startswith(f"{each.what} = {each.chosen}: {each.why}")


def test_choosing_another_search_keeps_the_length():
    follower = Follower(parser="chain").fit(takes(6))
    assert follower.with_search(Search(beam=3))._learnt.search == Search(beam=3, max_length=1)


def test_choosing_keeps_groups_together_when_it_tries():
    shown = [replace(each, group=str(n % 9)) for n, each in enumerate(takes(27))]
    for test, learn in split(shown):
        assert not {each.group for each in test} & {each.group for each in learn}


def test_facts_count_plans_and_lengths():
    facts = Facts(line_demonstrations(), "chain")
    assert facts.longest == 2
    assert facts.covering(0.5) == 1
    assert facts.enumerable_length == 2
    starts = [each.start for each in facts.sampled][:3]
    counted = [sum(2 - (s in (0, 3)) for s in [start]) for start in starts]
    assert facts.plans(1) == sum(counted) / len(counted)


def test_facts_estimate_plans_that_are_too_many_to_count():
    facts = Facts([Demonstration("go", Line(100), 50, ("left",) * 40)], "chain")
    assert facts.plans(40) > 1e6
    assert facts.enumerable_length is None


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
    assert "colour" not in Facts(shown, "chain").slots


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


def test_choosing_gives_the_rest_where_only_reorder_is_asked_for():
    follower = Follower(parser="chain", features=Features(reorder=True)).fit(takes(10, actions=2))
    features = follower._learnt.settings.features
    assert features.reorder
    assert features.slots == ("colour", "name")


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


def told(*names):
    """Return sentences of one word each that come with labels, as a reader of one's own has it."""
    found = []
    for name in names:
        labels = (SentenceLabel("match", 1.0, "island", name),) if name else ()
        found.append(Instruction(("…",), (-1,), ("root",), labels=(SentenceLabel("said"), *labels)))
    return tuple(found)


def test_facts_see_labels_that_stand_for_sentences_and_units_that_name_nothing():
    text = told("ash", "", "", "", "elm", "elm", "elm")
    facts = Facts([Demonstration(text, Islands(), (), ("ash", "elm"))], "chain")
    assert facts.told == ("island",)
    assert facts.surplus
    assert facts.measures
    assert facts.roots == ("event",)
    few = Facts([Demonstration(told("ash", "elm"), Islands(), (), ("ash", "elm"))], "chain")
    assert not few.surplus


def test_choosing_reads_labelled_sentences_by_their_labels():
    text = told("ash", "", "fir", "", "elm", "", "", "", "")
    shown = [Demonstration(text, Islands(), (), ("ash", "fir", "elm"))]
    facts = Facts(shown, "chain")
    features = features_for(facts)
    assert (features.words, features.slots, features.numbers) == ((), ("island",), ("real",))
    assert learning_for(facts, TransducerModel()).l2 == 0.02
    assert learning_for(facts, TransducerModel(), 1000).l2 == 18
    assert learning_for(facts, PlanModel(), 1000).l2 == 1


def test_choosing_lets_words_learn_values_that_texts_often_do_not_spell():
    shown = renamed(takes(80))
    follower = Follower(parser="chain").fit(shown[:60])
    assert chosen(follower)["Features.joins"] == "('conjunction', 'slot', 'value')"
    asked = renamed(takes(80), every=1)[60:]
    assert follower.score(asked) > 0.9
    without = follower.chosen().set_params(features__joins=("conjunction", "slot"))
    assert without.fit(shown[:60]).score(asked) < 0.8


def test_choosing_leaves_values_alone_of_which_actions_have_several():
    class Crowded(Shelf):
        def ground(self, held, action, after):
            graph = super().ground(held, action, after)
            nodes = dict(zip(graph.node_names, graph.node_labels, strict=True))
            others = {f"other {each}": {"name": each} for each in self.things if each != action[1]}
            edges = [("event", "thing", "object"), *(("event", each, "near") for each in others)]
            return GroundingGraph(nodes | others, edges=edges)

    shown = renamed(takes(40))
    crowded = [replace(e, environment=Crowded(**e.environment.things)) for e in shown]
    assert Facts(shown, "chain").unsaid == ("name",)
    assert Facts(takes(40), "chain").unsaid == ()  # all is spelled
    assert Facts(crowded, "chain").unsaid == ()
    assert features_for(Facts(crowded, "chain")).joins == ("conjunction", "slot")


def test_choosing_like_the_best_differs_in_one_thing():
    class Stock(Shelf):
        def ground(self, held, action, after):
            graph = super().ground(held, action, after)
            nodes = dict(zip(graph.node_names, graph.node_labels, strict=True))
            return GroundingGraph(
                nodes | {"price": {"price": len(action[1])}},
                edges=[("event", "thing", "object"), ("event", "price", "for")],
            )

    shown = [replace(e, environment=Stock(**e.environment.things),
                     instructions=f"{e.instructions} for 3") for e in takes(20)]  # fmt: skip
    facts = Facts(shown, "chain")
    given = configurations(facts)[0]
    names = [each.name.removeprefix(f"{given.name}, ") for each in like(given, facts)]
    assert names == ["words in the tree", "words beside values", "numbers in intervals"]
    for each in like(given, facts):
        changed = {
            name: value
            for name, value in each.features.to_dict().items()
            if value != given.features.to_dict()[name]
        }
        assert set(changed) in ({"words", "compound_weight"}, {"joins"}, {"numbers"})


def test_choosing_stops_earlier_with_many_demonstrations():
    facts = Facts([Demonstration("ash", Islands(), (), ("ash",))], "chain")
    assert learning_for(facts, PlanModel(), 999).tolerance == 1e-4
    assert learning_for(facts, PlanModel(), 1000).tolerance == 1e-3


class Archipelago(Islands):
    """Islands that may be visited again; values have these names."""

    def __init__(self, *names):
        self.names = names

    def actions(self, seen):
        return ["ash", "elm", "fir", "oak", "yew"]

    def ground(self, seen, action, after):
        nodes = {"event": {"go": True, "far": 1.5}, "to": dict.fromkeys(self.names, action)}
        return GroundingGraph(nodes, [("event", "to", "to")])


def tours(islands, count=6):
    """Return tours of which most of the text names nothing."""
    dice, shown = random.Random(2), []
    for number in range(count):
        plan = tuple(dice.choices(("ash", "elm", "fir", "oak", "yew"), k=10))
        text = told(*(each for name in plan for each in (name, "", "")))
        shown.append(Demonstration(text, islands, (), plan, name=str(number)))
    return shown


def test_choosing_lets_values_count_under_their_own_name():
    follower = Follower(parser="chain").fit(tours(Archipelago("island", "near.island")))
    names = follower._learnt.fitted.space.names()
    assert "match ∧ to.island~" in names
    assert "match ∧ to.near.island~" not in names
    [choice] = [each for each in follower.choices_ if each.what == "Features.exclude"]
    assert "under its own name" in choice.why
    assert chosen(follower)["Search.beam"] == "60"


def test_choosing_takes_values_that_have_no_name_of_their_own():
    follower = Follower(parser="chain").fit(tours(Archipelago("near.island", "far.island")))
    assert "match ∧ to.near.island~" in follower._learnt.fitted.space.names()
    assert "Features.exclude" not in chosen(follower)


def test_choosing_leaves_out_whole_groups_where_there_are_enough():
    shown = [replace(each, group=each.name[-1]) for each in takes(60)]
    [(test, learn)] = split(shown)
    assert not {each.group for each in test} & {each.group for each in learn}


def test_choosing_counts_what_plans_have_in_common():
    world = CachedEnvironment(Line(9))
    one, other = (world.trace(4, actions, "") for actions in (("left", "left"), ("left", "right")))
    assert in_common(world, one, one) == 1
    assert in_common(world, one, other) == 0.5


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
    assert "begin where the one before in their group ended" in choice.why
    apart = Follower(parser="chain").fit(walks(8, group=""))
    assert apart.chosen().learning.composed == 0.0
    assert "Learning.composed" not in str(apart.choices_)
    once = [replace(each, actions=each.actions[:1]) for each in walks(8)]
    assert Follower(parser="chain").fit(once).chosen().learning.composed == 0.0


def test_choosing_takes_a_second_member_where_many_texts_are_not_clean():
    facts = Facts(walks(120, noisy=True), "chain")
    graphs, flat, *_ = configurations(facts)
    second = with_second_member(flat, facts)
    assert [each.overlay.skeleton for each in second.model.members] == ["chain"]
    assert second.model.model == flat.model
    assert with_second_member(graphs, facts) is None
    assert with_second_member(flat, Facts(walks(20), "chain")) is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LearningWarning)
        follower = Follower(parser="chain").fit(walks(120, noisy=True))
    settings = follower.chosen()
    tried = next(each for each in follower.choices_ if each.what == "model")
    assert isinstance(settings.model, Ensemble) == (settings.overlay.nodes == "flat")
    assert ("a second member" in tried.why) == isinstance(settings.model, Ensemble)


def test_choosing_tells_how_to_change_one_setting_and_keep_the_others():
    shown = takes(6)
    follower = Follower(parser="chain").fit(shown)
    for each in follower.choices_:
        group, _, setting = each.what.partition(".")
        change = each.change.replace("…", f"follower.chosen().{group.lower()}"
                                     + (f".{setting}" if setting else ""))  # fmt: skip
        if "model=follower" in change:
            continue  # three at once
        again = eval(change, {"follower": follower}).fit(shown)
        assert again.choices_ == ()
        assert np.array_equal(again.theta_, follower.theta_)


def test_choosing_does_not_depend_on_names():
    shown = takes(40, actions=2)
    named = [replace(each, name=f"other {each.name}") for each in shown]
    one, other = (Facts(each, "chain") for each in (shown, named))
    assert [each.instructions for each in one.sampled] == [e.instructions for e in other.sampled]


def test_choosing_speaks_of_the_length_that_was_given():
    follower = Follower(parser="chain", search=Search(max_length=3)).fit(takes(10, actions=2))
    [model] = [each for each in follower.choices_ if each.what == "model"]
    assert "plans of up to 3" in model.why


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


def test_choosing_says_how_many_units_and_actions_there_are():
    follower = Follower(parser="chain").fit(
        [Demonstration("go on", Line(200), 60, ("right", "left") * 12, name="long")]
    )
    [overlay] = [each for each in follower.choices_ if each.what == "overlay"]
    assert "a text has 1.0 sentences and 24.0 actions in the mean" in overlay.why


def test_choosing_reads_words_where_no_unit_is_small_enough_for_one_action():
    facts = Facts(takes(20, actions=2), "chain")  # which knows no clauses
    assert facts.crowded
    assert "plans over graphs, word by word" in [each.name for each in configurations(facts)]
    assert Follower(parser="chain").fit(takes(10, actions=2)).chosen().overlay.unit == "word"
    assert not Facts(takes(20), "chain").crowded
    split = [replace(e, instructions=e.instructions.split(" and ")) for e in takes(20, actions=2)]
    assert not Facts(split, "chain").crowded


def errands(count):
    """Short texts for long walks, most steps of which no word names."""
    dice, line, shown = random.Random(3), Line(40, {0: "lamp", 39: "desk"}), []
    for _ in range(count):
        start = dice.randint(6, 33)
        item = "lamp" if start < 13 or (start < 27 and dice.random() < 0.5) else "desk"
        steps = min(12, start if item == "lamp" else 39 - start)
        way = "left" if item == "lamp" else "right"
        shown.append(Demonstration(f"walk {way} for long", line, start, (way,) * steps))
    return shown


def test_choosing_lets_units_name_many_actions_where_there_are_many_more():
    facts = Facts(errands(12), "chain")
    [*_, units] = more_configurations(facts)
    unit_by_unit = next(e for e in [*configurations(facts), units] if e.name == "unit by unit")
    assert 0 < unit_by_unit.model.fertility_cost < 0.3
    assert unit_by_unit.model.unaligned_cost == unit_by_unit.model.fertility_cost
    usual = Facts(takes(20), "chain")
    [likely] = [e for e in more_configurations(usual) if e.name == "unit by unit"]
    assert likely.model.fertility_cost == 2.3


@pytest.mark.parametrize(("word", "says"), [("first", False), ("two", True), ("first", True)])
def test_facts_see_numbers_only_where_texts_say_them(word, says):
    class Counted(Line):
        def ground(self, state, action, after):
            number = 1.0 if says else 0.5
            return GroundingGraph({"event": {action: True, "number": number}})

    parser = ChainParser(language=ENGLISH)
    facts = Facts([Demonstration(f"go {word}", Counted(), 1, ("left",))], parser)
    assert facts.numerals == says


def test_choosing_tries_no_more_where_the_first_is_as_good_as_can_be(monkeypatch):
    tried = []
    monkeypatch.setattr(choosing, "pilot", lambda trainer, facts: tried.append(trainer) or 0.96)
    choosing.choose(Follower(parser="chain").get_params(deep=False), takes(20, actions=2))
    assert len(tried) == 1
    monkeypatch.setattr(choosing, "pilot", lambda trainer, facts: tried.append(trainer) or 0.94)
    choosing.choose(Follower(parser="chain").get_params(deep=False), takes(20, actions=2))
    assert len(tried) > 3


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
    "tried": (takes(30, actions=2), {}),
    "crowded": (turns(24), {}),
    "unit by unit": (long_walks(16), {}),
    "decisions": (takes(12, actions=2), {"model": DecisionModel()}),
    "read by units": (takes(12, actions=2), {"model": TransducerModel()}),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", ["model", "overlay", "features", "learning", "search"])
def test_choosing_the_rest_is_the_same_where_what_would_be_chosen_is_given(world, name):
    shown, given = WORLDS[world]
    settings = Follower(parser="chain", **given).get_params(deep=False)
    alone, choices = choosing.choose(settings, shown)
    beside, others = choosing.choose({**settings, name: getattr(alone, name)}, shown)
    assert beside == alone
    kept = [each for each in choices if not each.what.lower().startswith(name)]
    assert [each.what for each in others] == [each.what for each in kept]


def test_choosing_tries_others_with_the_features_that_were_given(monkeypatch):
    def scored(trainer, facts):
        return 0.8 if trainer.overlay.nodes == "flat" and trainer.overlay.unit == "word" else 0.2

    monkeypatch.setattr(choosing, "pilot", scored)
    features = Features(words=("word",), slots=("name",))
    settings = Follower(parser="chain", features=features).get_params(deep=False)
    trainer, _ = choosing.choose(settings, takes(20, actions=2))
    assert trainer.overlay == Overlay.flat()
    assert trainer.features == features


def test_choosing_keeps_units_and_features_with_a_model_that_reads():
    shown = long_walks(6)
    settings = Follower(parser="chain").get_params(deep=False)
    alone, _ = choosing.choose(settings, shown)
    model = replace(alone.model, length_bonus=0.5)
    beside, _ = choosing.choose({**settings, "model": model}, shown)
    assert beside == replace(alone, model=model)
