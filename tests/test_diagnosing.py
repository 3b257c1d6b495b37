"""Nothing fails in silence: warnings with the cure, and why a demonstration goes wrong."""

import math

import pytest

from groundling import (
    Demonstration,
    Features,
    Follower,
    GroundingGraph,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import (
    DemonstrationError,
    GroundlingError,
    LearningWarning,
    SearchError,
    SettingError,
)
from tests.worlds import GoalLine, Line, line_demonstrations

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
    with pytest.warns(LearningWarning, match=r"1 of 3 demonstrations are longer than Search.max_le"
                      r"ngth=2, .* 'f'. Use Search\(max_length=5\)"):  # fmt: skip
        make(search=Search(max_length=2)).fit(shown)


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
    with pytest.warns(LearningWarning, match="No word of the texts stands for .*'item', such as q"):
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
    """A line in which everything is red."""

    def ground(self, state, action, after):
        return GroundingGraph({"event": {action: True, "colour": "red"}})


def test_diagnosing_warns_of_labels_that_never_vary():
    with pytest.warns(LearningWarning, match="'colour' of the node 'event' is 'red' in all"):
        make().fit(line_demonstrations(Painted(9)))


def test_diagnosing_warns_of_sentences_of_one_token():
    shown = [
        Demonstration("stepovertotherightside", Line(), 1, ("right",)),
        Demonstration("stepovertotheleftside", Line(), 2, ("left",)),
    ]
    with pytest.warns(LearningWarning, match="2 of 2 sentences are one word each.* parser=…"):
        make().fit(shown)


def test_diagnosing_warns_of_an_empty_lexicon():
    opaque = Line(4, {0: "q1", 1: "q2", 2: "q3", 3: "q4"})
    shown = [Demonstration("go on", opaque, 1, ("left",)) for _ in range(3)]
    features = Features(slots=("item",), lexicon="learn")
    with pytest.warns(LearningWarning, match="lexicon that was to be learnt is empty"):
        make(features=features).fit(shown)


def test_diagnosing_warns_of_plans_that_the_search_cannot_find():
    shown = [Demonstration("go", GoalLine(4), 0, ("right",) * 3, name=str(n)) for n in range(4)]
    with pytest.warns(LearningWarning, match="the search does not find the plans of 4: '0', '1'"):
        make(model=TransducerModel(), search=Search(max_length=2)).fit(shown)


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
    follower = make().fit(SHOWN)
    found = follower.diagnose([*SHOWN, go_to("desk", 2, "left")])
    assert (found.right, found.count) == (len(SHOWN), len(SHOWN) + 1)
    assert found.reasons == {"lower score": 1}
    assert str(found).startswith(f"{len(SHOWN)} of {len(SHOWN) + 1} demonstrations are followed")
    assert "The others by reason: lower score 1." in str(found)


# ---- one bad record does not cost the rest --------------------------------------------------


BAD = [
    Demonstration("", ITEMS, 1, ("left",), name="empty"),
    Demonstration("jump", ITEMS, 1, ("jump",), name="impossible"),
]


def test_fit_names_the_demonstration_that_cannot_be_read():
    with pytest.raises(DemonstrationError, match=r"^The demonstration 'empty': .* has no words"):
        make().fit([*SHOWN, BAD[0]])


def test_fit_skips_bad_demonstrations_and_says_which():
    with pytest.warns(LearningWarning, match="2 demonstrations cannot be used and were left out: "
                      "'empty', 'impossible'. See skipped_"):  # fmt: skip
        follower = make().fit([BAD[0], *SHOWN, BAD[1]], skip_bad=True)
    assert [each.demonstration.name for each in follower.skipped_] == ["empty", "impossible"]
    assert "has no words" in follower.skipped_[0].problem
    whole = make().fit(SHOWN)
    assert follower.theta_.tobytes() == whole.theta_.tobytes()
    assert whole.skipped_ == ()


def test_fit_refuses_to_skip_everything():
    with pytest.raises(DemonstrationError, match=r"None of 2 demonstrations can be used\. The"):
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
    assert stages[0] == "looking at the demonstrations"
    for stage in ("reading", "listing plans", "encoding", "training", "checking"):
        assert stage in stages
    assert all(math.isnan(e.loss) for e in told if not e.stage.startswith("training"))
