"""Nothing fails in silence: warnings with the cure, and why a demonstration goes wrong."""

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from groundling import (
    Demonstration,
    Features,
    Follower,
    GroundingGraph,
    Lexicon,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.checks.registry import CHECKS, Subject, run_checks
from groundling.errors import (
    DemonstrationError,
    GroundlingError,
    LearningWarning,
    LexiconError,
    SearchError,
    SettingError,
)
from groundling.language import ChainParser, Instruction
from tests.worlds import GoalLine, Line, line_demonstrations
from tools.tables import checks_table

ITEMS = Line(4, {0: "lamp", 1: "sofa", 2: "desk", 3: "bed"})


def make(**settings):
    return Follower(parser="chain", **settings)


def go_to(item, start, *actions, world=ITEMS, name=""):
    return Demonstration(f"go to the {item}", world, start, actions, name=name)


SHOWN = [
    go_to("lamp", 1, "left"), go_to("desk", 1, "right"), go_to("bed", 2, "right"),
    go_to("sofa", 0, "right"), go_to("sofa", 2, "left"), go_to("bed", 1, "right", "right"),
]  # fmt: skip


def kinds(follower, shown):
    return [each.kind for each in follower.diagnose(shown).findings]


def test_diagnosing_warns_of_demonstrations_that_are_too_long():
    shown = [*line_demonstrations()[:2], Demonstration("far", Line(9), 0, ("right",) * 5, name="f")]
    with pytest.warns(LearningWarning, match=r"1 of 3 demonstrations is longer than Search.max_le"
                      r"ngth=2, .* 'f'. Use Search\(max_length=5\)"):  # fmt: skip
        make(search=Search(max_length=2)).fit(shown)


class Rack:
    """Many jugs; each can be filled again and again."""

    def actions(self, state):
        return range(30)

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        return GroundingGraph({"event": {"fill": True}, "jug": {f"jug {action}": True}},
                              [("event", "jug", "of")])  # fmt: skip


def test_diagnosing_warns_of_a_length_that_was_chosen_and_says_what_more_costs():
    rack = Rack()
    shown = [Demonstration(f"fill {n}", rack, (), (n % 9,), name=str(n)) for n in range(1, 40)]
    shown += [Demonstration("fill all", rack, (), (0, 1, 2, 3), name="all")]
    with pytest.warns(LearningWarning, match=r"1 of 40 demonstrations is longer than .* 'all'. "
                      r"Use follower.chosen\(\).set_params\(search__max_length=4\). That makes "
                      r"about [\d,]{7} plans from a start instead of 30, and"):  # fmt: skip
        follower = make().fit(shown)
    [length] = [each for each in follower.choices_ if each.what == "Search.max_length"]
    assert (length.chosen, "too many to learn from" in length.why) == ("1", True)
    [mistake] = follower.diagnose(shown[-1:]).mistakes
    assert "Use follower.chosen().set_params(search__max_length=4)." in mistake.cure


def test_diagnosing_refuses_to_learn_from_plans_that_are_all_too_long():
    shown = [each for each in line_demonstrations() if len(each.actions) > 1]
    with pytest.raises(DemonstrationError, match=r"Nothing can be learnt: 3 of 3 .*max_length=2\)"):
        make(search=Search(max_length=1)).fit(shown)


def test_diagnosing_warns_of_contradictions():
    wrong = go_to("lamp", 1, "right", name="wrong")
    with pytest.warns(LearningWarning, match=r"2 demonstrations contradict each other: .*'go to "
                      r"the lamp', 'wrong' \(numbers 1, 7\). .* also=…"):  # fmt: skip
        follower = make().fit([*SHOWN, wrong])
    assert "contradiction" in kinds(follower, SHOWN)
    both = [
        replace(SHOWN[0], also=(("right",),)), replace(wrong, also=(("left",),)), *SHOWN[1:]
    ]  # fmt: skip
    assert "contradiction" not in kinds(make().fit(both), SHOWN)


class Vague(Line):
    """A line in which all actions look alike."""

    def ground(self, state, action, after):
        return GroundingGraph({"event": {"move": True, "speed": 1.0}})


def test_diagnosing_warns_of_graphs_that_are_all_the_same():
    with pytest.warns(LearningWarning, match="All actions of a state have the same grounding gr"):
        follower = make().fit(line_demonstrations(Vague()))
    assert kinds(follower, line_demonstrations(Vague())) == ["same graphs"]


class Pots:
    """Pots in a row, told apart by where they are."""

    def __init__(self, *plants):
        self.plants = plants

    def actions(self, state):
        return tuple(range(len(self.plants)))

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        pot = {"plant": self.plants[action], "x": action}
        return GroundingGraph({"event": {"water": True}, "pot": pot}, [("event", "pot", "of")])


@pytest.mark.filterwarnings("error")
def test_diagnosing_is_silent_where_all_is_well():
    make().fit(SHOWN)
    make().fit(line_demonstrations())


@pytest.mark.filterwarnings("error")
def test_diagnosing_at_fit_can_be_switched_off():
    make(features=Features(slots=("itme",))).fit(SHOWN, check=False)


def test_diagnosing_warns_of_slots_that_no_graph_has():
    with pytest.warns(LearningWarning, match="string label 'itme'.* Did you mean 'item'"):
        make(features=Features(slots=("itme",))).fit(SHOWN)


def test_diagnosing_warns_of_slots_that_no_word_matches():
    opaque = Line(4, {0: "q1", 1: "q2", 2: "q3", 3: "q4"})
    shown = [Demonstration("go there", opaque, 1, ("left",)) for _ in range(3)]
    with pytest.warns(LearningWarning, match="No word in the texts means .*'item', such as q"):
        make(features=Features(slots=("item",))).fit(shown)


class Islands(Line):
    """A line whose second node hangs from nothing."""

    def ground(self, state, action, after):
        return GroundingGraph({"event": {action: True}, "cell": {f"at {after}": True}})


def test_diagnosing_warns_of_nodes_that_no_relation_reaches():
    shown = line_demonstrations(Islands())
    with pytest.warns(LearningWarning, match="No relation leads to the node 'cell'"):
        make(overlay=Overlay()).fit(shown)
    soft = make(overlay=Overlay(adjacency="soft")).fit(shown)
    assert kinds(soft, shown) == []


class Painted(Line):
    """A line in which everything is red, or of another paint."""

    paint = "red"

    def ground(self, state, action, after):
        return GroundingGraph({"event": {action: True, "colour": self.paint}})


def test_diagnosing_warns_of_labels_that_never_vary():
    with pytest.warns(LearningWarning, match="'colour' of the node 'event' is 'red' on all"):
        make().fit(line_demonstrations(Painted(9)))


def test_diagnosing_warns_of_sentences_of_one_token():
    shown = [
        Demonstration("stepovertotherightside", Line(), 1, ("right",)),
        Demonstration("stepovertotheleftside", Line(), 2, ("left",)),
    ]
    with pytest.warns(
        LearningWarning,
        match="2 of 2 sentences are parsed as a single word.* parser=….*spaced=False",
    ):
        make().fit(shown)


class Whole(ChainParser):
    """A parser that knows no words in sentences, whatever they are written in."""

    name = "whole@1"

    def parse(self, text):
        return [Instruction.chain([text])]


def test_diagnosing_warns_of_sentences_of_one_token_in_scripts_without_spaces():
    shown = [
        Demonstration("右へ動いて", Line(), 1, ("right",)),
        Demonstration("左へ動いて", Line(), 2, ("left",)),
    ]
    with pytest.warns(LearningWarning, match="2 of 2 sentences are parsed as a single word"):
        Follower(parser=Whole()).fit(shown)


def test_diagnosing_of_few_texts_does_not_speak_against_slots_that_work(tmp_path):
    follower = make(features=Features(slots=("item",)), search=Search(max_length=2)).fit(SHOWN)
    few = [Demonstration("go there", ITEMS, 1, ("left",))]
    assert kinds(follower, few) == []
    follower.save(tmp_path / "model")
    assert kinds(Follower.load(tmp_path / "model"), few) == []


def test_diagnosing_of_few_texts_does_not_speak_against_labels_that_vary_elsewhere():
    red, blue = Painted(9), Painted(9)
    blue.paint = "blue"
    follower = make().fit([*line_demonstrations(red), *line_demonstrations(blue)], check=False)
    assert "constant label" not in kinds(follower, line_demonstrations(red))


def test_diagnosing_knows_that_what_only_some_actions_have_is_not_constant():
    class Marked(Line):
        def ground(self, state, action, after):
            graph = super().ground(state, action, after)
            nodes = dict(zip(graph.node_names, graph.node_labels, strict=True))
            marked = nodes | ({"mark": {"mark": "left"}} if action == "left" else {})
            return GroundingGraph(marked, edges=graph.edges)

    follower = make().fit(line_demonstrations(Marked(9)), check=False)
    assert "constant label" not in kinds(follower, line_demonstrations(Marked(9)))


def test_diagnosing_warns_where_little_is_right_of_what_was_kept_apart():
    dice = random.Random(1)
    texts = [f"{dice.choice('abcdefgh')}{number}" for number in range(60)]  # they mean nothing
    noise = [Demonstration(e, Line(9), 4, dice.choices(("left", "right"), k=3)) for e in texts]
    with pytest.warns(
        LearningWarning, match=r"In cross-validation, \d+% of the held-out dem"
    ) as told:
        Follower(parser="chain").fit(noise)
    assert len(told)


def test_diagnosing_in_parts_follows_what_was_not_learnt_from():
    follower = make().fit(SHOWN)
    known, theta = follower.diagnose(SHOWN), follower.theta_
    apart = follower.diagnose(SHOWN, parts=3)
    assert apart.count == known.count == len(SHOWN)
    assert apart.right < known.right
    assert len(apart.mistakes) == apart.count - apart.right
    assert len(set(apart.findings)) == len(apart.findings)
    assert follower.theta_ is theta
    with pytest.raises(
        DemonstrationError, match="must have at least 2 folds and 2 groups of demonstrations; got 1"
    ):
        follower.diagnose(SHOWN, parts=1)


def test_diagnosing_names_contradictions_by_their_numbers():
    wrong = [go_to("lamp", 1, "right")] * 2
    told = r"3 demonstrations contradict each other: .* 'go to the lamp' \(numbers 1, 7, 8\)\. "
    with pytest.warns(LearningWarning, match=told):
        make(search=Search(max_length=2)).fit([*SHOWN, *wrong])


class Trail:
    """A state is the way that was gone, so that no two plans end alike."""

    def actions(self, trail):
        return ("left", "right")

    def step(self, trail, way):
        return (*trail, way)

    def ground(self, trail, way, after):
        return GroundingGraph({"event": {way: True}})


def narrow_and_wide():
    trail, there = Trail(), ("left", "left", "right")
    shown = [Demonstration("go on. then. back.", trail, (), there, name=str(n)) for n in range(4)]
    shown += [Demonstration("go", trail, (), ("right",), name=f"r{n}") for n in range(40)]
    wide = make(model=PlanModel(), overlay=Overlay(), search=Search(max_length=3))
    wide.fit(shown, check=False)
    return shown, wide.with_search(Search(max_length=3, beam=1, budget=6)), wide


def test_diagnosing_warns_of_plans_that_the_search_cannot_find():
    shown, narrow, wide = narrow_and_wide()
    subject = Subject(narrow._learnt, narrow._learnt.examples[:4])
    found = [each for each in run_checks(subject, "fit") if each.kind == "not found"]
    assert (
        "The search does not find the plans of 4 of 4 demonstrations: '0', '1'" in found[0].message
    )
    assert "Raise Search.beam (now 1) or Search.budget (now 6);" in found[0].cure
    [mistake] = narrow.diagnose(shown[:1]).mistakes
    assert (mistake.why, wide.score(shown[:1])) == ("not found", 1.0)
    assert "which scores higher than the best plan found" in mistake.detail
    assert "each search then takes proportionally longer" in mistake.cure


def test_diagnosing_does_not_blame_the_beam_for_plans_that_score_less_than_what_is_found():
    _, narrow, _ = narrow_and_wide()
    other = Demonstration("go then", Trail(), (), ("left", "left"), name="other")
    [mistake] = narrow.diagnose([other]).mistakes
    assert mistake.why == "lower score"
    assert "beam" not in str(mistake)


def test_diagnosing_says_of_long_plans_that_they_are_too_long_and_not_that_the_beam_is():
    shown = [Demonstration("go", GoalLine(4), 0, ("right",) * 3, name=str(n)) for n in range(4)]
    with pytest.warns(LearningWarning) as told:
        make(model=TransducerModel(), search=Search(max_length=2)).fit(shown)
    assert any("4 of 4 demonstrations are longer" in str(each.message) for each in told)
    assert not any("beam" in str(each.message) for each in told)


def test_diagnosing_warns_of_accuracy_near_chance():
    shown = [
        Demonstration("go", Line(), start, (way,))
        for start, way in ((1, "left"), (1, "right"), (2, "left"), (2, "right")) * 3
    ]
    with pytest.warns(LearningWarning, match=r"Only \d+ of 12 .* chance would be .*diagnose"):
        make().fit(shown)


class Blank(Line):
    """A line in which nothing has a label."""

    def ground(self, state, action, after):
        return GroundingGraph({"event": {}})


def test_diagnosing_refuses_to_learn_where_there_is_no_feature():
    follower = make(
        model=PlanModel(plan_scores=False), overlay=Overlay(edge_scores=False),
        features=Features(words=()),
    )  # fmt: skip
    with pytest.raises(DemonstrationError, match="Nothing can be learnt: no label"):
        follower.fit(line_demonstrations(Blank()))


# ---- what it sums up --------------------------------------------------------------------------


def test_diagnosing_refuses_what_cannot_be_carried_out():
    with pytest.raises(DemonstrationError, match="'impossible'"):
        make().fit(SHOWN).diagnose([BAD[1]])


def test_diagnosing_counts_the_right_ones_and_sums_up():
    follower = make(overlay=Overlay()).fit(SHOWN)
    found = follower.diagnose([*SHOWN, go_to("desk", 2, "left")])
    assert (found.right, found.count) == (len(SHOWN), len(SHOWN) + 1)
    assert found.reasons == {"lower score": 1}
    assert str(found).startswith(f"{len(SHOWN)} of {len(SHOWN) + 1} demonstrations are followed")
    assert "Mistakes by reason: lower score 1." in str(found)


# ---- one bad record does not cost the rest --------------------------------------------------


BAD = [
    Demonstration("", ITEMS, 1, ("left",), name="empty"),
    Demonstration("jump", ITEMS, 1, ("jump",), name="impossible"),
]


def test_fit_names_the_demonstration_that_cannot_be_read():
    with pytest.raises(
        DemonstrationError,
        match=r"^The demonstration 'empty': .* must "
        "contain at least one word",
    ):
        make().fit([*SHOWN, BAD[0]])


def test_fit_skips_bad_demonstrations_and_says_which():
    with pytest.warns(LearningWarning, match="2 demonstrations cannot be used, and were left out: "
                      "'empty', 'impossible'. See skipped_"):  # fmt: skip
        follower = make().fit([BAD[0], *SHOWN, BAD[1]], skip_bad=True)
    assert [each.demonstration.name for each in follower.skipped_] == ["empty", "impossible"]
    assert "must contain at least one word" in follower.skipped_[0].problem
    whole = make().fit(SHOWN)
    assert follower.theta_.tobytes() == whole.theta_.tobytes()
    assert whole.skipped_ == ()


def test_fit_refuses_to_skip_everything():
    with pytest.raises(
        DemonstrationError,
        match=r"At least one demonstration must be usable; got 2 with errors\. The",
    ):
        make().fit(BAD, skip_bad=True)


def test_follow_many_returns_errors_in_their_places():
    follower = make(search=Search(max_length=2)).fit(SHOWN)
    requests = [
        ("go to the lamp", ITEMS, 1), ("", ITEMS, 1), ("go to the bed", GoalLine(9), 0),
        ("go to the bed", ITEMS, 2),
    ]  # fmt: skip
    found = follower.follow_many(requests, errors="return")
    assert found[0].actions == ("left",)
    assert isinstance(found[1], GroundlingError)
    assert isinstance(found[2], SearchError)
    assert found[3].actions == ("right",)
    with pytest.raises(GroundlingError):
        follower.follow_many(requests)
    with pytest.raises(SettingError, match="'raise' or 'return'"):
        follower.follow_many(requests, errors="hide")


def test_fit_reports_progress_from_the_first_second():
    told = []
    make().fit(SHOWN, progress=told.append)
    stages = list(dict.fromkeys(each.stage for each in told))
    assert stages[0] == "examining the demonstrations"
    for stage in ("reading", "listing plans", "encoding", "training", "checking"):
        assert stage in stages
    assert all(math.isnan(e.loss) for e in told if not e.stage.startswith("training"))


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"bulb": [("item", "lmap")]}, r"'bulb' has item:lmap, .* Did you mean 'lamp'\? "),
        ({"bulb": [("itme", "lamp")]}, r"'bulb' has a value of 'itme', .* mean 'item'\? "),
        ({"light bulb": [("item", "lamp")]}, "'light bulb' is more than one word, and is never"),
    ],
)
def test_diagnosing_warns_of_words_of_a_lexicon_that_stand_for_nothing(entry, told):
    features = Features(words=("word",), slots=("item",), lexicon=Lexicon(entry))
    with pytest.warns(LearningWarning, match=told):
        follower = make(features=features, search=Search(max_length=2)).fit(SHOWN)
    assert kinds(follower, SHOWN) == ["idle entry"]


def test_diagnosing_is_silent_of_a_lexicon_without_fault():
    lexicon = Lexicon({"bulb": [("item", "lamp")], "couch": [("item", "sofa")]})
    features = Features(words=("word",), slots=("item",), lexicon=lexicon)
    follower = make(features=features, search=Search(max_length=2)).fit(SHOWN)
    assert kinds(follower, SHOWN) == []


@pytest.mark.parametrize("meaning", ["mug", ("name", "mug"), 5])
def test_lexicon_refuses_what_is_no_list_of_pairs(meaning):
    with pytest.raises(LexiconError, match=r"must be a list of \(kind, value\) pairs; got"):
        Lexicon({"cup": meaning})


def test_registry_is_what_the_page_of_troubleshooting_shows():
    page = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert checks_table() in page


def test_registry_names_every_check_once_and_says_what_to_do():
    assert len({each.name for each in CHECKS}) == len(CHECKS) <= 12
    assert all(each.when and each.find.__doc__ and each.fix for each in CHECKS)


def test_registry_does_not_advise_what_is_set():
    opaque = Line(4, {0: "q1", 1: "q2", 2: "q3", 3: "q4"})
    shown = [Demonstration("go there", opaque, 1, ("left",)) for _ in range(3)]
    for lexicon, advised in (("strings", True), ("learn", False)):
        follower = make(features=Features(slots=("item",), lexicon=lexicon)).fit(shown, check=False)
        [told] = [e for e in follower.diagnose(shown).findings if e.kind == "idle slot"]
        assert ("lexicon='learn'" in told.cure) == advised
