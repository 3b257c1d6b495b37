"""Explanations: every number recomputes from θ, and words left out change what is stated."""

import html
import io
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from defusedxml.ElementTree import fromstring
from rich.console import Console

from groundling import (
    DecisionModel,
    Demonstration,
    Ensemble,
    Features,
    Follower,
    GroundingGraph,
    Instruction,
    Learning,
    Member,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import ConvergenceWarning, GroundlingError, InstructionError
from groundling.explain.figure import arc_levels
from groundling.overlay.batch_builder import Instance
from groundling.world.trajectory import Trajectory
from tests.overlay.overlay_twin import alignments

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning"
)
PNG = b"\x89PNG\r\n\x1a\n"


class Corridor:
    """Three places on a line; turn, or walk one step."""

    names = ("hatch", "gate", "lift")

    def actions(self, state):
        place, facing = state
        steps = ("walk",) if 0 <= place + facing <= 2 else ()
        return (*steps, "turn")

    def step(self, state, action):
        place, facing = state
        return (place + facing, facing) if action == "walk" else (place, -facing)

    def ground(self, state, action, after):
        place, facing = after
        here = {"place": self.names[place]}
        return GroundingGraph(
            {"event": action, "here": here, "view": {"wall": not 0 <= place + facing <= 2}},
            [("event", "here", "to"), ("here", "view", "ahead")],
        )


WORLD = Corridor()
SHOWN = [
    Demonstration("walk to the gate", WORLD, (0, 1), ("walk",)),
    Demonstration("turn around", WORLD, (0, 1), ("turn",)),
    Demonstration("go to the lift", WORLD, (1, 1), ("walk",)),
    Demonstration("go to the hatch", WORLD, (1, 1), ("turn", "walk")),
    Demonstration("walk to the gate", WORLD, (2, 1), ("turn", "walk")),
    Demonstration("turn around. walk to the hatch", WORLD, (1, 1), ("turn", "walk")),
]
FEATURES = Features(slots=("place",), numbers=("equal",), joins=("conjunction", "slot"))
MEMBER = Member(
    Overlay.bag(), Features(words=("word", "previous"), slots=("place",), numbers=("equal",),
                            joins=("conjunction", "slot")),
)  # fmt: skip
SETTINGS = {
    "plans": (Overlay(), PlanModel(skip=0.5)),
    "words": (
        Overlay(unit="word", nodes="both", entry="any", adjacency="soft"),
        PlanModel(advance_scores=True, plan_words=True, skip=1.0),
    ),
    "flat": (Overlay.flat(), PlanModel.flat()),
    "ensemble": (Overlay.flat(), Ensemble([MEMBER], PlanModel(plan_words=True))),
    "transducer": (Overlay(), TransducerModel()),
    "tuned transducer": (
        Overlay(),
        TransducerModel(
            unaligned_cost=0.2, fertility_cost=0.1, length_bonus=0.4, normaliser_power=0.3
        ),
    ),
    "transducer ensemble": (Overlay(), Ensemble([MEMBER], TransducerModel())),
    "best": (Overlay(), DecisionModel()),
    "by text": (Overlay(), DecisionModel(compare="text")),
    "best ensemble": (Overlay(), Ensemble([MEMBER], DecisionModel())),
    "all": (Overlay.bag(), DecisionModel(aligned="all")),
}


def fitted(name, l2=1.0):
    overlay, model = SETTINGS[name]
    return Follower(
        model=model,
        overlay=overlay,
        learning=Learning(iterations=15, l2=l2),
        features=FEATURES,
        search=Search(max_length=3, beam=None),
        parser="chain",
    ).fit(SHOWN)


@pytest.fixture(scope="module", params=SETTINGS)
def case(request):
    follower = fitted(request.param)
    plan = follower.follow("go to the gate. turn around", WORLD, (2, 1))
    return follower, plan, plan.explain()


def test_explanation_contributions_recompute_from_theta(case):
    follower, _, why = case
    weight = dict(zip(follower.feature_names_, follower.theta_.tolist(), strict=True))
    several = isinstance(follower.model, Ensemble)
    partner = dict(follower.weights(most=10_000, member=1)) if several else {}
    sums = [each for step in why.steps for each in (step.text, step.own)] + [why.whole]
    for each in (feature for one in sums for feature in one.features):
        weights = [every[each.feature] for every in (weight, partner) if each.feature in every]
        assert min(weights) - 1e-9 <= each.weight <= max(weights) + 1e-9
        if len(weights) == 1:
            assert each.weight == pytest.approx(weights[0], abs=0 if not partner else 1e-9)
        assert each.amount == each.weight * each.count
    assert sum(one.total for one in sums) + why.ambiguity == pytest.approx(why.score, abs=1e-9)


def test_explanation_margins_are_those_of_the_search(case):
    follower, plan, why = case
    for rival, other in zip(why.rivals, plan.alternatives, strict=False):
        found = follower.temperature_ * (plan.log_probability - other.log_probability)
        assert rival.margin == pytest.approx(found, abs=1e-9)
        assert rival.features.total + rival.ambiguity == pytest.approx(rival.margin, abs=1e-9)
        assert rival.actions == tuple(map(str, other.actions))


def test_explanation_names_the_runner_up_of_each_action(case):
    follower, plan, why = case
    assert why.to_dict()["margin"] == why.margin
    for step, action in zip(why.steps, plan.actions, strict=True):
        others = [each for each in plan.alternatives if action not in each.actions]
        assert (step.without is None) == (not others)
        if others:
            found = follower.temperature_ * (plan.log_probability - others[0].log_probability)
            assert step.without.margin == pytest.approx(found, abs=1e-9)
            assert step.to_dict()["without"]["actions"] == list(others[0].actions)


def test_explanation_deletion_changes_the_score_by_the_stated_amount(case):
    follower, plan, why = case
    top = max(why.deletions, key=lambda each: abs(each.score))
    text = [
        each.select([p for p in range(len(each)) if (s, p) != (top.sentence, top.position)])
        for s, each in enumerate(why.instructions)
    ]
    again = follower.follow(text, WORLD, plan.start)
    paths = [Trajectory(each.states, each.actions) for each in (plan, again)]
    learnt, request = follower._learnt, replace(why._source.request, text=tuple(text))
    ours, best = np.mean(
        [
            learnt.model.member_model.scores(each, request, paths, learnt.search)
            for each in learnt.fitted.members
        ],
        axis=0,
    )
    assert top.score == pytest.approx(ours - why.score, abs=1e-9)
    assert top.score != 0
    for same in (p for p in (again, *again.alternatives) if p.actions == plan.actions):
        lag = follower.temperature_ * (again.log_probability - same.log_probability)
        assert best - ours == pytest.approx(lag, abs=1e-9)


def test_explanation_of_a_saved_follower_is_the_same(case, tmp_path):
    follower, plan, why = case
    follower.save(tmp_path / "model")
    loaded = Follower.load(tmp_path / "model")
    again = loaded.follow("go to the gate. turn around", WORLD, plan.start).explain()
    assert again.to_dict() == why.to_dict()


def test_explanation_is_json_text_rich_and_a_picture(case, tmp_path):
    _, plan, why = case
    assert json.loads(json.dumps(why.to_dict()))["actions"] == list(plan.actions)
    assert str(why).startswith(", ".join(plan.actions))
    console = Console(width=70, record=True, file=io.StringIO())
    console.print(why)
    assert plan.actions[0] in console.export_text()
    drawn = fromstring(why.svg())
    assert {*plan.actions} <= {each.partition("  ")[2] for each in drawn.itertext()}
    data = why.save(tmp_path / "why.png").read_bytes()
    width = int.from_bytes(data[16:20], "big")
    assert data.startswith(PNG)
    assert width >= 1800


def test_explanation_folds_names_of_features_and_leaves_an_empty_column_out(case):
    _, _, why = case

    def shown(why):
        console = Console(width=50, record=True, file=io.StringIO())
        console.print(why)
        return console.export_text()

    assert "…" not in shown(why)
    assert ("words on" in shown(why)) == ("words on nodes" in str(why))
    bare = replace(why, steps=tuple(replace(step, links=()) for step in why.steps))
    assert "words on" not in shown(bare)


@pytest.mark.parametrize("name", ["plans", "words"])
def test_explanation_links_and_ambiguity_are_those_of_all_alignments(name):
    follower = fitted(name)
    plan = follower.follow(Instruction.chain("go gate"), WORLD, (2, 1))
    why = plan.explain()
    weight = dict(zip(follower.feature_names_, follower.theta_.tolist(), strict=True))
    encoder, model = follower._learnt.fitted.encoder, follower.model
    candidates = encoder.candidates(encoder.world(WORLD), [Trajectory(plan.states, plan.actions)])
    graphs = candidates.actions(0)
    text = encoder.label(why.instructions, graphs)
    instance = Instance(text.skeleton, text.words, [candidates])
    found = list(
        alignments(instance, (tuple(graphs), None), weight, model.skip,
                   advance=model.advance_scores, slots=("place",))
    )  # fmt: skip
    scores = np.array([score for _, score, _ in found])
    shares = np.exp(scores - np.logaddexp.reduce(scores))
    expected = {}
    for (states, _, _), share in zip(found, shares, strict=True):
        for w, (j, k) in enumerate(states):
            key = (j, text.word(w), graphs[j].names[k])
            expected[key] = expected.get(key, 0.0) + share
    told = {
        (j, link.word, link.node): link.probability
        for j, step in enumerate(why.steps)
        for link in step.links
    }
    for key in expected.keys() | told.keys():
        assert told.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=0.006)
    if name == "plans":  # one unit cannot skip between words: what is left is entropy
        entropy = -float(np.sum(shares * np.log(np.maximum(shares, 1e-300))))
        assert why.ambiguity == pytest.approx(entropy, abs=1e-9)


def test_explanation_tells_which_action_nobody_asked_for():
    why = fitted("plans", l2=0.05).follow("go to the hatch", WORLD, (1, 1)).explain()
    turn, walk = why.steps
    assert (turn.action, turn.asked) == ("turn", False)
    assert turn.without is not None
    assert "turn" not in turn.without.actions
    assert walk.asked
    assert walk.causes[0].unit.text == "go to the hatch"
    assert "not mentioned in the text" in str(why)
    assert "without it the best plan is" in str(why)


def test_explanation_says_when_every_plan_has_the_action():
    why = fitted("plans").follow("go to the gate", WORLD, (2, 1)).explain()
    assert why.steps[0].without is None  # facing the wall, nothing but a turn is possible
    assert "every considered plan has it" in str(why)


@pytest.mark.parametrize("name", ["plans", "transducer", "best", "best ensemble"])
def test_explanation_is_exact_for_names_that_training_never_saw(name):
    class Renamed(Corridor):
        names = ("cellar", "attic", "porch")

    plan = fitted(name).follow("go to the attic. turn to the porch", Renamed(), (2, 1))
    why = plan.explain()
    assert why.rivals
    for rival, other in zip(why.rivals, plan.alternatives, strict=False):
        found = plan.log_probability - other.log_probability
        assert rival.margin == pytest.approx(found, abs=1e-9)


def test_explanation_causes_of_the_best_alignment_are_certain_and_monotone():
    why = fitted("best").follow("turn around. walk to the hatch", WORLD, (1, 1)).explain()
    for cause in (cause for step in why.steps for cause in step.causes):
        assert cause.probability == pytest.approx(1.0)
    named = [cause.unit.sentence for step in why.steps for cause in step.causes]
    assert named == sorted(named)


def test_explanation_shares_of_a_sentence_sum_to_one_when_plans_are_normalised():
    why = fitted("words").follow("turn around. walk to the hatch", WORLD, (1, 1)).explain()
    assert why.sentence_shares().sum(axis=1) == pytest.approx([1.0, 1.0], abs=0.05)


def test_explanation_of_words_counts_those_expected_on_an_action():
    why = fitted("words").follow("turn around. walk to the hatch", WORLD, (1, 1)).explain()
    for step in why.steps:
        expected = sum(cause.probability for cause in step.causes)
        assert step.support == pytest.approx(min(1.0, expected), abs=0.05)


def test_explanation_without_a_word_covers_all_its_occurrences():
    why = fitted("plans").follow("turn around. turn around", WORLD, (1, 1)).explain()
    assert why.without("TURN").score != pytest.approx(why.deletions[0].score)
    with pytest.raises(InstructionError, match=r"got 'turns'\. Did you mean 'turn'"):
        why.without("turns")


def test_explanation_of_one_word_has_no_deletions():
    why = fitted("plans").follow("turn", WORLD, (1, 1)).explain()
    assert why.deletions == ()
    with pytest.raises(InstructionError, match="must not be the only word"):
        why.without("turn")
    assert "Words left out" not in str(why)


def test_explanation_keeps_its_weights_when_the_follower_learns_anew():
    follower = fitted("plans")
    plan = follower.follow("turn around", WORLD, (1, 1))
    before = plan.explain().to_dict()
    follower.fit(SHOWN[:2])
    assert plan.explain().to_dict() == before


def test_explanation_respects_the_length_that_follow_was_told():
    plan = fitted("plans").follow("go to the gate", WORLD, (2, 1), length=3)
    why = plan.explain()
    assert len(why.steps) == 3
    assert why.margin == pytest.approx(
        plan.log_probability - plan.alternatives[0].log_probability, abs=1e-9
    )


def test_alternatives_cannot_be_explained():
    plan = fitted("plans").follow("turn around", WORLD, (1, 1))
    with pytest.raises(GroundlingError, match=r"that Follower\.follow returned"):
        plan.alternatives[0].explain()


def test_arc_levels_never_let_overlapping_arcs_share_a_level():
    heads = (-1, 4, 1, 4, 0, 4)
    sentence = Instruction(tuple("abcdef"), heads, ("root", *"vwxyz"))
    levels = arc_levels(sentence)
    spans = {p: sorted((p, heads[p])) for p in levels}
    for one, two in itertools.combinations(levels, 2):
        overlap = max(spans[one][0], spans[two][0]) < min(spans[one][1], spans[two][1])
        assert not overlap or levels[one] != levels[two]
    assert not math.isnan(sum(levels.values()))


def test_explanation_shows_itself_in_a_notebook():
    why = fitted("plans").follow("turn around", WORLD, (1, 1)).explain()
    shown = why._repr_html_()
    assert why.svg() in shown
    assert fromstring(shown).get("aria-label").split() == str(why).split()


def test_explanation_in_a_notebook_says_the_same_in_words_without_harm():
    text = Instruction.chain(["turn", "<script>alert(1)</script>", '"around"'])
    why = fitted("plans").follow(text, WORLD, (1, 1)).explain()
    shown = why._repr_html_()
    assert "<script>" not in shown
    label = shown[shown.index('label="') + 7 : shown.index('"><svg')]
    assert '"' not in label
    assert html.unescape(label) == str(why)
