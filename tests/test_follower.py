"""The follower as it is used: fit, follow, score, calibrate, and refuse what cannot be done."""

import itertools
import math
from copy import deepcopy
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
    Instruction,
    Learning,
    Lexicon,
    Member,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.answers import score_plans
from groundling.errors import (
    DemonstrationError,
    GraphError,
    InstructionError,
    LearningWarning,
    NotFittedError,
    SearchError,
    SettingError,
    WorldError,
)
from groundling.world.cached_environment import CachedEnvironment
from tests.worlds import Blocks, GoalLine, Line, line_demonstrations, put

PLANS = PlanModel(advance_scores=True, skip=2.0)
WAYS = {
    "plans": (PLANS, Learning(l2=0.02)),
    "decisions-best": (DecisionModel(), Learning(l2=0.1)),
    "decisions-all": (DecisionModel(aligned="all"), Learning(l2=0.1)),
    "transducer": (TransducerModel(), Learning(l2=0.1)),
    "ensemble": (
        Ensemble([Member(Overlay.flat(), Features(words=("word",)))], PLANS),
        Learning(l2=0.02),
    ),
}


def make(way="plans", **settings):
    model, learning = WAYS[way]
    chosen = {
        "model": model,
        "overlay": Overlay(unit="word"),
        "features": Features(words=("word",)),
        "learning": learning,
        "search": Search(max_length=3),
        "parser": "chain",
    } | settings
    return Follower(**chosen)


@pytest.fixture(scope="module")
def trained():
    return make().fit(line_demonstrations())


def with_search(follower, **settings):
    """Return a follower that has learnt the same and searches differently."""
    return follower.with_search(Search(**{"max_length": 3, **settings}))


# ---- learning and following -----------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_follower_learns_what_it_was_shown(way):
    follower = make(way)
    if way == "decisions-all":  # every unit with every action: only short plans can be told apart
        shown = line_demonstrations()[:4]
        follower.set_params(search=Search(max_length=1))
    else:
        shown = line_demonstrations()
    follower.fit(shown)
    assert follower.score(shown) == 1.0


def test_follower_follows_in_a_world_never_seen(trained):
    plan = trained.follow("move left then right", Line(9), 5)
    assert plan.actions == ("left", "right")
    assert plan.states == (5, 4, 5)


def test_follower_fit_returns_itself_and_forgets():
    follower = make()
    assert follower.fit(line_demonstrations()) is follower
    follower.fit([Demonstration("stand up", Line(), 1, ("left",))])
    assert not any("word=go" in name for name in follower.feature_names_)


def test_follower_follow_many_equals_one_by_one(trained):
    requests = [("go left", Line(), 2), ("go right then left", Line(9), 4), ("right", Line(), 0)]
    many = trained.follow_many(requests)
    for plan, request in zip(many, requests, strict=True):
        alone = trained.follow(*request)
        assert plan.actions == alone.actions
        assert plan.log_probability == pytest.approx(alone.log_probability)


def test_follower_reads_sentences_given_in_parts(trained):
    parts = ["go right", Instruction.chain("then left")]
    assert trained.follow(parts, Line(), 1).actions == ("right", "left")


def test_follower_known_length_is_kept(trained):
    assert len(trained.follow("go right", Line(9), 1, length=3)) == 3


def test_follower_weights_read_like_the_papers_table(trained):
    names = [name for name, weight in trained.weights("word=left") if weight > 0]
    assert "word=left ∧ left" in names


def test_follower_paper_model_aligns_words_with_nodes():
    pairs = list(itertools.permutations(Blocks.colours, 2))
    shown = [Demonstration([put(*pair)], Blocks(), "start", (pair,)) for pair in pairs]
    held_out, training = shown[::3], [each for each in shown if each not in shown[::3]]
    paper = Follower(
        overlay=Overlay(),
        features=Features(words=("word",)),
        model=DecisionModel(),
        learning=Learning(l2=0.1),
        search=Search(max_length=1),
        parser="chain",
    ).fit(training)
    bag = Follower(
        overlay=Overlay.bag(),
        # without the names of nodes, as a bag of labels
        features=Features(words=("word",), exclude=r"moved|target"),
        model=DecisionModel(),
        learning=Learning(l2=0.1),
        search=Search(max_length=1),
        parser="chain",
    ).fit(training)
    assert paper.score(training) == 1.0
    assert paper.score(held_out) == 1.0
    assert bag.score(training) < 1.0


# ---- probabilities and answers --------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_follower_plan_probabilities_sum_to_at_most_one(way):
    follower = make(way).fit(line_demonstrations())
    plan = follower.follow("go left then right", Line(), 2)
    everything = [plan, *plan.alternatives]
    assert all(each.log_probability <= 0 for each in everything)
    assert sum(each.probability for each in everything) <= 1 + 1e-9
    logs = [each.log_probability for each in plan.alternatives]
    assert logs == sorted(logs, reverse=True)
    assert len({each.actions for each in everything}) == len(everything)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spread", [1e3, 1e6])
def test_follower_log_probability_is_at_most_zero_at_huge_weights(way, spread):
    follower = make(way).fit(line_demonstrations())
    follower.theta_[:] = np.random.default_rng(0).normal(size=len(follower.theta_)) * spread
    plan = follower.follow("go left then right", Line(), 2)
    assert plan.log_probability <= 0
    assert not math.isnan(plan.log_probability)
    assert 0 <= plan.confidence <= 1


def test_follower_decodes_outcomes_by_summing_over_plans(trained):
    class Ends(Line):
        def outcome(self, state):
            return "anywhere"

    plan = with_search(trained, decode="outcome").follow("go left", Ends(), 2)
    assert plan.confidence == pytest.approx(1.0)
    assert plan.probability < 1


@pytest.mark.parametrize("way", ["plan", "outcome", "transitions"])
def test_follower_decodes_in_every_way(trained, way):
    plan = with_search(trained, decode=way).follow("go right then left", Line(), 1)
    assert plan.actions == ("right", "left")
    assert 0 < plan.confidence <= 1


def test_follower_hears_another_bound_of_memory_after_learning():
    follower = make().fit(line_demonstrations())
    follower.follow("go right", Line(), 1)
    small = with_search(follower, memory=1)
    assert small._learnt.fitted.encoder.budget.most == 1_000_000
    assert small.follow("go right", Line(), 1).actions == ("right",)


def test_follower_says_when_it_does_not_understand(trained):
    unsure = with_search(trained, threshold=1.0).follow("recite a poem", Line(), 1)
    assert not unsure.understood
    assert str(unsure).startswith("I do not understand")
    assert with_search(trained, threshold=0.0).follow("recite a poem", Line(), 1).understood


def test_follower_calibration_makes_confidence_honest():
    shown = line_demonstrations()
    wrong = [
        Demonstration("go left", Line(), 2, ("right",)),
        Demonstration("go right", Line(), 1, ("left",)),
    ]
    follower = make(learning=Learning(l2=0.01)).fit(shown)
    before = follower.follow("go left", Line(), 2).confidence
    assert follower.calibrate(shown + wrong) is follower
    assert follower.temperature_ > 1
    assert follower.follow("go left", Line(), 2).confidence < before


def test_follower_calibration_is_about_what_is_decoded():
    class Loop(Line):  # every plan ends alike
        def outcome(self, state):
            return "somewhere"

    shown = [replace(each, environment=Loop()) for each in line_demonstrations()]
    wrong = [Demonstration("go left", Loop(), 2, ("right",))] * len(shown)
    plans = make(learning=Learning(l2=0.01)).fit(shown).calibrate(shown + wrong)
    assert plans.temperature_ > 1  # plans are often wrong, though outcomes never are


def test_follower_calibration_does_not_change_the_best_plan(trained):
    copy = with_search(trained)
    before = copy.follow("right then right", Line(), 0).actions
    copy.calibrate(line_demonstrations())
    assert copy.follow("right then right", Line(), 0).actions == before


def test_follower_score_counts_other_correct_plans(trained):
    shown = Demonstration("go left", Line(), 2, ("right",), also=(("left",),))
    assert trained.score([shown]) == 1.0


def test_follower_score_weighs_demonstrations(trained):
    good = Demonstration("go left", Line(), 2, ("left",), weight=3.0)
    bad = Demonstration("go left", Line(), 2, ("right",))
    assert trained.score([good, bad]) == pytest.approx(0.75)


# ---- searching ------------------------------------------------------------------------------


def test_follower_reflex_agent_takes_one_action_after_another(trained):
    plan = with_search(trained, planning=False).follow("go left", Line(), 2)
    assert plan.actions[0] == "left"
    # What it could have done at its first step, and what it looked at before it stopped.
    looked = {each.actions for each in plan.alternatives}
    assert {("right",), (*plan.actions, "left"), (*plan.actions, "right")} <= looked


@pytest.mark.parametrize("way", WAYS)
def test_follower_without_planning_answers_and_may_be_unsure(way):
    search = Search(max_length=3, planning=False)
    follower = make(way, search=search).fit(line_demonstrations())
    plan = follower.follow("go left", Line(), 2)
    assert plan.actions
    assert 0 < plan.confidence < 1


@pytest.mark.parametrize("way", WAYS)
def test_follower_reaches_the_goal(way):
    follower = make(way).fit(line_demonstrations())
    plan = follower.follow("go left", GoalLine(4), 2)
    assert plan.end == 3


@pytest.mark.parametrize("way", WAYS)
def test_follower_says_when_no_plan_reaches_the_goal(way):
    follower = make(way).fit(line_demonstrations())
    with pytest.raises(
        SearchError, match=r"No plan of 1 to 3 actions that .* was found from state 0"
    ):
        follower.follow("go right", GoalLine(9), 0)


@pytest.mark.parametrize("way", WAYS)
def test_follower_says_when_nothing_can_be_done(way):
    class Stuck(Line):
        def actions(self, state):
            return ()

    follower = make(way).fit(line_demonstrations())
    with pytest.raises(SearchError, match="No action is possible in state 1: the state is final"):
        follower.follow("go left", Stuck(), 1)


@pytest.mark.parametrize("way", WAYS)
def test_follower_survives_dead_ends_and_cycles(way):
    class Pit(Line):
        def actions(self, state):
            return () if state == 3 else ("left", "right")

        def step(self, state, action):
            return (state + (1 if action == "right" else -1)) % 4

    follower = make(way).fit(line_demonstrations())
    plan = follower.follow("go right then left", Pit(), 1)
    assert 1 <= len(plan) <= 3
    assert 3 not in plan.states[:-1]


@pytest.mark.parametrize("way", WAYS)
def test_follower_names_state_and_action_where_a_world_raises(way):
    class Broken(Line):
        def step(self, state, action):
            if (state, action) == (3, "left"):
                raise OSError("the door is jammed")
            return super().step(state, action)

    follower = make(way, search=Search(max_length=4, beam=None)).fit(line_demonstrations())
    with pytest.raises(WorldError, match=r"Broken.step\(3, 'left'\) raised OSError: the door"):
        follower.follow("right right right left", Broken(5), 1)


@pytest.mark.parametrize("way", WAYS)
def test_follower_refuses_unhashable_starts(way):
    follower = make(way).fit(line_demonstrations())
    with pytest.raises(WorldError, match=r"must be hashable.* got \[1\], a list"):
        follower.follow("go left", Line(), [1])


def test_follower_beams_where_plans_cannot_be_listed(trained):
    follower = with_search(trained, max_length=12, budget=300, beam=5)
    plan = follower.follow("go right then left", Line(50), 25)
    assert plan.actions[:2] == ("right", "left")


def test_follower_budget_is_respected(trained):
    class Wide(Line):
        def actions(self, state):
            return tuple(range(5000))

        def step(self, state, action):
            return (state, action)

    follower = with_search(trained, budget=100)
    with pytest.raises(SearchError, match=r"Raise Search.budget"):
        follower.follow("go left", Wide(), 1)


class Moody:
    """Says another thing about each action for each of its instances."""

    def __init__(self, mood):
        self.mood = mood

    def actions(self, state):
        return ("on", "off")

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        same = action if self.mood == "plain" else {"on": "off", "off": "on"}[action]
        return GroundingGraph({"event": {same: True}})


def moody_follower(plain):
    shown = [
        Demonstration("light", plain, "off", ("on",)),
        Demonstration("darken", plain, "on", ("off",)),
    ]
    return make(search=Search(max_length=1)).fit(shown)


def test_follower_copies_do_not_confuse_worlds():
    plain, other = Moody("plain"), Moody("contrary")
    follower = moody_follower(plain)
    follower.follow("light", other, "off")
    copy = deepcopy(follower)
    # The copy remembers copies of the worlds, under the identities of the originals.
    plain.mood = "contrary"
    assert copy.follow("light", plain, "off").actions == ("off",)
    assert copy.follow("light", other, "off").actions == ("off",)
    assert copy.follow("light", Moody("plain"), "off").actions == ("on",)


def test_follower_freed_worlds_do_not_answer_for_new_ones():
    follower = moody_follower(Moody("plain"))
    encoder = follower._learnt.fitted.encoder
    for number in range(200):
        world = Moody("plain" if number % 2 else "contrary")
        wanted = "on" if number % 2 else "off"
        assert follower.follow("light", world, "off").actions == (wanted,)
        assert encoder.world(world).environment is world
        encoder.worlds._worlds.clear()  # as when too many are remembered
        del world


def test_follower_worlds_that_are_given_are_their_own():
    follower = moody_follower(Moody("plain"))
    encoder = follower._learnt.fitted.encoder
    place = Moody("contrary")
    given = CachedEnvironment(place)
    assert encoder.world(given) is given
    assert encoder.world(place) is given
    stale = CachedEnvironment(Moody("plain"))
    encoder.worlds._worlds[id(place)] = stale
    assert encoder.world(given) is given
    encoder.worlds._worlds[id(place)] = stale
    assert encoder.world(place).environment is place


def test_follower_says_when_text_fits_no_plan():
    # Words hang from words, but no node has a neighbour: no alignment of two words exists.
    follower = make(overlay=Overlay(neighbours=("given",))).fit(
        [Demonstration("left", Line(), 1, ("left",)), Demonstration("right", Line(), 1, ("right",))]
    )
    deep = Instruction.chain("left left left left")
    with pytest.raises(SearchError):
        follower.follow([deep], Line(), 1, length=1)


# ---- features in use ------------------------------------------------------------------------


class Rooms:
    """Doors to rooms by name; entering one ends the walk."""

    def __init__(self, *rooms, kind="room"):
        self.rooms = rooms
        self.kind = kind

    def actions(self, state):
        return self.rooms if state == "hall" else ()

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph(
            {"event": "enter", "door": {self.kind: after}}, [("event", "door", "to")]
        )


def rooms_follower(**features):
    home = Rooms("kitchen", "cellar", "garden")
    shown = [Demonstration(f"enter the {room}", home, "hall", (room,)) for room in home.rooms]
    return make(
        overlay=Overlay(entry="any", adjacency="soft"), features=Features(**features),
        search=Search(max_length=1),
    ).fit(shown)  # fmt: skip


def test_follower_slots_work_for_values_never_seen():
    follower = rooms_follower(words=("word",), slots=("room",))
    there = Rooms("library", "attic", "stable")
    for room in there.rooms:
        assert follower.follow(f"enter the {room}", there, "hall").actions == (room,)


def test_follower_slots_of_one_world_do_not_leak_into_another():
    follower = rooms_follower(words=("word",), slots=("room",))
    for names in (("library", "attic"), ("stable", "tower"), ("studio", "garage")):
        there = Rooms(*names)
        for room in names:
            plan = follower.follow(f"enter the {room}", there, "hall")
            assert plan.actions == (room,)
            assert plan.confidence > 0.6


def test_follower_string_similarity_works_for_names_never_seen():
    follower = rooms_follower(words=("word", "string"), joins=("similarity", "contains"))
    there = Rooms("old library", "west attic", "stable")
    assert follower.follow("enter the libary", there, "hall").actions == ("old library",)
    assert follower.follow("enter the attic", there, "hall").actions == ("west attic",)


def test_follower_conjunctions_alone_cannot_name_what_was_never_seen():
    follower = rooms_follower(words=("word",), joins=("conjunction",))
    there = Rooms("library", "attic")
    plan = follower.follow("enter the attic", there, "hall")
    assert plan.confidence == pytest.approx(0.5)


def test_follower_given_lexicon_translates():
    lexicon = Lexicon(given={"küche": [("room", "kitchen")]})
    follower = rooms_follower(words=("word",), slots=("room",), lexicon=lexicon)
    home = Rooms("kitchen", "cellar")
    assert follower.follow("enter the küche", home, "hall").actions == ("kitchen",)


class Dial:
    """A dial that is turned to a number."""

    def __init__(self, *numbers):
        self.numbers = numbers

    def actions(self, state):
        return self.numbers if state is None else ()

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"dial": {"number": after}})


def test_follower_numbers_match_by_value_at_values_never_seen():
    shown = [Demonstration(f"turn to {n}", Dial(1, 2, 3), None, (n,)) for n in (1, 2, 3)]
    follower = make(
        features=Features(words=("word",), numbers=("equal",)),
        search=Search(max_length=1),
        parser="chain:english",
    ).fit(shown)
    assert follower.follow("turn to seven", Dial(5, 6, 7), None).actions == (7,)
    assert follower.follow("turn to the 6th", Dial(5, 6, 7), None).actions


def test_follower_real_numbers_carry_over_to_larger_ones():
    shown = [
        Demonstration("turn high", Dial(1, 2, 3), None, (3,)),
        Demonstration("turn low", Dial(1, 2, 3), None, (1,)),
    ]
    follower = make(
        features=Features(words=("word",), numbers=("real",)), search=Search(max_length=1)
    ).fit(shown)
    assert follower.follow("turn high", Dial(4, 90, 7), None).actions == (90,)
    assert follower.follow("turn low", Dial(4, 90, 7), None).actions == (4,)


def test_follower_bins_learn_what_lies_between():
    shown = [
        Demonstration("turn medium", Dial(1, 5, 20), None, (5,)),
        Demonstration("turn up", Dial(1, 5, 20), None, (20,)),
        Demonstration("turn down", Dial(1, 5, 20), None, (1,)),
    ]
    follower = make(
        features=Features(words=("word",), numbers=("bins",)),
        search=Search(max_length=1),
    ).fit(shown)
    assert follower.follow("turn medium", Dial(0, 8, 30), None).actions == (8,)


def test_follower_joins_by_a_function_of_ones_own():
    def initials(word, node):
        same = isinstance(node.value, str) and word.name[5:6] == node.value[:1]
        return [("same initial", 1.0)] if same else []

    follower = rooms_follower(words=("word",), joins=(initials,))
    assert "same initial" in follower.feature_names_
    there = Rooms("library", "attic")
    assert follower.follow("walk to a", there, "hall").actions == ("attic",)


def test_follower_own_joins_that_fail_say_where():
    def broken(word, node):
        return 1 / 0

    with pytest.raises(SettingError, match=r"broken must .* For .* it raised ZeroDivisionError"):
        rooms_follower(words=("word",), joins=(broken,))


def test_follower_own_joins_must_be_finite():
    def endless(word, node):
        return [("endless", float("inf"))]

    with pytest.raises(SettingError, match=r"endless must return values within .*; got inf"):
        rooms_follower(words=("word",), joins=(endless,))


class MemoryEnvironment(Line):
    """A line whose labels know where the agent has been."""

    def actions(self, state):
        return super().actions(state[0])

    def step(self, state, action):
        place, visited = state
        return (super().step(place, action), visited | {place})

    def ground(self, state, action, after):
        seen = after[0] in state[1]
        return GroundingGraph({"event": {"again" if seen else "new": True}})

    def outcome(self, state):
        return state[0]


def test_follower_labels_may_describe_the_plan_so_far():
    world = MemoryEnvironment(6)
    start = (2, frozenset())
    shown = [
        Demonstration("there and back", world, start, ("right", "left")),
        Demonstration("there and on", world, start, ("right", "right")),
        Demonstration("there and back", world, (3, frozenset()), ("left", "right")),
        Demonstration("there and on", world, (3, frozenset()), ("left", "left")),
    ]
    follower = make(search=Search(min_length=2, max_length=2, decode="outcome")).fit(shown)
    assert follower.follow("there and back", world, start).end[0] == 2


def test_follower_labels_may_describe_the_whole_plan():
    class Counted(Line):
        def label_plan(self, start, actions, states):
            return {"turns back": any(a != b for a, b in itertools.pairwise(actions))}

        def ground(self, state, action, after):
            return GroundingGraph({"event": "step"})

    world = Counted(9)
    shown = [
        Demonstration("return", world, 4, ("right", "left")),
        Demonstration("continue", world, 4, ("right", "right")),
    ]
    follower = make(
        model=PlanModel(plan_words=True),
        overlay=Overlay(),
        search=Search(min_length=2, max_length=2),
    ).fit(shown)
    plan = follower.follow("return", world, 3)
    assert plan.actions[0] != plan.actions[1]


def test_follower_learns_a_lexicon_when_asked():
    home = Rooms("kitchen", "cellar", "garden")
    words = {"kitchen": "stove", "cellar": "depth", "garden": "green"}
    shown = [
        Demonstration(f"{verb} the {words[room]}", home, "hall", (room,))
        for room in home.rooms
        for verb in ("enter", "visit", "see", "find")
    ]
    shown += [Demonstration(f"enter the {room}", home, "hall", (room,)) for room in home.rooms]
    follower = make(
        model=PlanModel.flat(),
        overlay=Overlay.flat(),
        features=Features(words=("word",), slots=("room",), lexicon="learn"),
        search=Search(max_length=1),
    ).fit(shown)
    assert follower.score(shown) == 1.0
    assert isinstance(follower.lexicon_.learnt, dict)


# ---- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda f: f.follow("go", Line(), 1),
        lambda f: f.score(line_demonstrations()),
        lambda f: f.calibrate(line_demonstrations()),
        lambda f: f.save("nowhere"),
        lambda f: score_plans(f.learnt_, []),
        lambda f: f.with_search(Search()),
        lambda f: f.with_search(temperature=2.0),
        lambda f: f.learnt_.loss,
        lambda f: f.theta_,
        lambda f: f.temperature_,
        lambda f: f.learnt_.fitted.members,
        lambda f: f.feature_names_,
        lambda f: f.lexicon_,
        lambda f: f.weights(),
    ],
)
def test_follower_must_be_fitted_first(use):
    with pytest.raises(NotFittedError, match="Call `fit` with demonstrations"):
        use(make())


@pytest.mark.parametrize("text", ["", "  \n ", []])
def test_follower_refuses_empty_instructions(trained, text):
    with pytest.raises(InstructionError, match="must contain at least one word"):
        trained.follow(text, Line(), 1)


def test_follower_needs_demonstrations_to_judge_by(trained):
    with pytest.raises(DemonstrationError, match="total weight of demonstrations must be > 0"):
        trained.score([])
    with pytest.raises(DemonstrationError, match="total weight of demonstrations must be > 0"):
        trained.calibrate([line_demonstrations()[0].weighted(0.0)])


def test_follower_cannot_be_calibrated_where_nothing_fits(trained):
    far = Demonstration("go right", Line(9), 0, ("right",) * 6)
    with pytest.raises(DemonstrationError, match=r"Raise Search.max_length"):
        trained.calibrate([far])


def test_follower_nan_labels_met_while_following_say_where(trained):
    class Broken(Line):
        def ground(self, state, action, after):
            return GroundingGraph({"event": {"speed": float("nan")}})

    with pytest.raises(GraphError, match=r"Broken.ground\(1, 'left', 0\): The label 'speed'"):
        trained.follow("go", Broken(), 1)


def test_follower_names_a_parser_that_does_not_exist():
    with pytest.raises(SettingError, match="Did you mean 'chain'"):
        make(parser="chian").fit(line_demonstrations())


# ---- what was learnt is kept ----------------------------------------------------------------


def test_follower_with_search_shares_what_was_learnt(trained):
    other = trained.with_search(Search(max_length=1))
    assert other is not trained
    assert other.theta_ is trained.theta_
    assert other.search == Search(max_length=1)
    assert trained.search == Search(max_length=3)
    assert len(other.follow("right then right", Line(), 0)) == 1
    assert len(trained.follow("right then right", Line(), 0)) == 2
    assert other.temperature_ == trained.temperature_


def test_follower_with_search_is_checked():
    follower = make("transducer").fit(line_demonstrations())
    with pytest.raises(SettingError, match=r"Search.beam has no effect with planning=False"):
        follower.with_search(Search(beam=3, planning=False))


def test_follower_with_temperature_changes_confidence_only(trained):
    soft = trained.with_search(temperature=5.0)
    plan, sure = (each.follow("go left", Line(), 2) for each in (soft, trained))
    assert (soft.temperature_, trained.temperature_) == (5.0, 1.0)
    assert plan.actions == sure.actions
    assert plan.confidence < sure.confidence
    margins = [p.log_probability - p.alternatives[0].log_probability for p in (plan, sure)]
    assert margins[0] == pytest.approx(margins[1] / 5)
    for wrong in (0, -1.0, math.inf, math.nan):
        with pytest.raises(SettingError, match="`temperature` must be > 0; got"):
            trained.with_search(temperature=wrong)


def test_follower_calibration_of_one_leaves_the_other_alone(trained):
    copy = trained.with_search(trained.search)
    copy.calibrate(line_demonstrations())
    assert copy.temperature_ != 1.0
    assert trained.temperature_ == 1.0


@pytest.mark.parametrize("way", WAYS)
def test_follower_settings_changed_after_fit_change_nothing_until_the_next(way, tmp_path):
    follower = make(way).fit(line_demonstrations())
    request = ("go right then left", Line(), 1)
    plan = follower.follow(*request)
    before = (plan, plan.explain().to_dict(), follower.score(line_demonstrations()))
    follower.save(tmp_path / "before")
    follower.set_params(
        model=DecisionModel(last_to_last=True),
        overlay=Overlay.bag(),
        features=Features(words=("word", "next"), exclude="left"),
        learning=Learning(l2=50.0, iterations=7),
        search=Search(max_length=1, decode="outcome", threshold=1.0),
        parser="default",
        seed=3,
    )
    follower.overlay = Overlay(unit="sentence")
    again = follower.follow(*request)
    after = (again, again.explain().to_dict(), follower.score(line_demonstrations()))
    assert after == before
    follower.save(tmp_path / "after")
    files = [sorted(each.iterdir()) for each in (tmp_path / "before", tmp_path / "after")]
    for one, other in zip(*files, strict=True):
        assert one.name == other.name
        assert one.read_bytes() == other.read_bytes()
    loaded = Follower.load(tmp_path / "after")
    assert loaded.search == Search(max_length=3)
    assert loaded.follow(*request) == plan


def test_follower_settings_changed_after_fit_are_heard_at_the_next():
    follower = make().fit(line_demonstrations())
    follower.set_params(search__max_length=1).fit(line_demonstrations())
    assert len(follower.follow("right then right", Line(), 0)) == 1


def test_follower_training_that_fails_leaves_what_was_learnt(trained):
    follower = make().fit(line_demonstrations())
    before = follower.theta_.copy()
    with pytest.raises(DemonstrationError):
        follower.fit([])
    np.testing.assert_array_equal(follower.theta_, before)


def test_follower_stops_where_progress_says_so():
    told = []

    def stop(progress):
        if progress.stage == "training":
            told.append(progress)
        return len(told) == 3

    follower = make().fit(line_demonstrations(), progress=stop)
    assert len(told) == 3
    assert follower.follow("go left", Line(), 2).actions
    whole = make().fit(line_demonstrations())
    assert follower.learnt_.loss > whole.learnt_.loss


@pytest.mark.parametrize("answer", [None, 1, "yes", False])
def test_follower_goes_on_whatever_else_progress_returns(answer):
    whole = make().fit(line_demonstrations())
    follower = make().fit(line_demonstrations(), progress=lambda _: answer)
    assert follower.theta_.tobytes() == whole.theta_.tobytes()


def test_follower_says_that_a_class_was_given_for_a_world(trained):
    with pytest.raises(WorldError, match=r"got the class Line. Pass Line\(…\)"):
        trained.follow("go right", Line, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"or a list of sentences; got None\.$"),
        (5, r"or a list of sentences; got 5, of type int\.$"),
        (b"go", r"got b'go', of type bytes. Decode it first\.$"),
    ],
)
def test_follower_says_what_is_no_text(trained, text, message):
    with pytest.raises(InstructionError, match=message):
        trained.follow(text, Line(), 1)


def test_follower_calibration_on_too_few_says_so():
    follower = make().fit(line_demonstrations())
    with pytest.warns(LearningWarning, match=r"among the held-out demonstrations \(1\), it cannot"):
        follower.calibrate(line_demonstrations()[:1])
