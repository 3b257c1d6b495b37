"""Every objective's gradient is right, and its value is a probability's."""

import numpy as np
import pytest

from groundling import (
    DecisionModel,
    Demonstration,
    Ensemble,
    Features,
    GroundingGraph,
    Member,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import DemonstrationError
from groundling.models.decision import DecisionObjective
from groundling.models.plan import PlanObjective
from groundling.models.transducer import TransducerObjective
from tests.worlds import (
    Blocks,
    Line,
    line_demonstrations,
    objective_of,
    put,
    slopes,
    weights_for,
)

KINDS = {
    "plans": (PlanObjective, PlanModel()),
    "plans-linked": (PlanObjective, PlanModel(plan_words=True, advance_scores=True, skip=0.5)),
    "decisions-best": (DecisionObjective, DecisionModel()),
    "decisions-all": (DecisionObjective, DecisionModel(aligned="all")),
    "transducer": (TransducerObjective, TransducerModel()),
    "transducer-costs": (
        TransducerObjective,
        TransducerModel(unaligned_cost=0.7, fertility_cost=0.3),
    ),
    "ensemble": (PlanObjective, Ensemble([Member(Overlay.flat())])),
}
OVERLAYS = {
    "paper": Overlay(),
    "flat": Overlay.flat(),
    "words": Overlay(unit="word", adjacency="soft"),
    "bag": Overlay.bag(),
}


@pytest.mark.parametrize("overlay", OVERLAYS.values(), ids=OVERLAYS.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_objectives_gradient_equals_finite_differences(kind, overlay):
    wanted, model = KINDS[kind]
    objective, space = objective_of(model, overlay)
    assert type(objective) is wanted
    theta = weights_for(space)
    objective.realign(theta)
    value, gradient = objective.loss(theta)
    gradient = gradient.copy()
    assert value > 0
    expected = slopes(lambda t: objective.loss(t)[0], theta, 1e-3)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * scale)


@pytest.mark.parametrize("kind", KINDS)
def test_objectives_gradient_with_numbers_strings_and_slots(kind):
    class Rooms(Line):
        def ground(self, state, action, after):
            return GroundingGraph(
                {
                    "event": {action: True, "cells": abs(after - state)},
                    "cell": {"item": self.items.get(after, "nothing"), "name": "old mill"},
                },
                [("event", "cell", "to")],
            )

    world = Rooms(4, {1: "lamp", 2: "sofa"})
    shown = [
        Demonstration("go right one to the lamp", world, 0, ("right",)),
        Demonstration("left to the sofa past the mill", world, 3, ("left",)),
    ]
    features = Features(words=("word", "head", "string"), slots=("item",))
    objective, space = objective_of(KINDS[kind][1], Overlay(), shown, features=features)
    assert any("~" in name for name in space.names())
    assert any("≈" in name for name in space.names())
    theta = weights_for(space, 1)
    objective.realign(theta)
    gradient = objective.loss(theta)[1].copy()
    expected = slopes(lambda t: objective.loss(t)[0], theta, 1e-3)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("spread", [1e2, 1e6])
@pytest.mark.parametrize("kind", KINDS)
def test_objectives_probabilities_are_at_most_one_at_huge_scores(kind, spread):
    objective, space = objective_of(KINDS[kind][1], Overlay(entry="any"))
    for seed in range(3):
        theta = weights_for(space, seed, spread)
        objective.realign(theta)
        value, gradient = objective.loss(theta)
        assert value >= 0
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("kind", KINDS)
def test_objectives_one_thread_and_two_agree(kind):
    results = []
    for threads in (1, 2):
        objective, space = objective_of(KINDS[kind][1], threads=threads)
        theta = weights_for(space, 2)
        objective.realign(theta)
        value, gradient = objective.loss(theta)
        results.append((value, gradient.copy()))
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-9)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-9, atol=1e-12)


def test_objectives_of_plans_know_other_correct_plans():
    world = Line(4)
    alone = Demonstration("go to the end", world, 2, ("right",))
    both = Demonstration("go to the end", world, 2, ("right",), also=(("left", "left"),))
    losses = []
    for shown in (alone, both):
        objective, space = objective_of(PlanModel(), shown=[shown])
        losses.append(objective.loss(np.zeros(len(space)))[0])
    assert losses[1] < losses[0]


def test_objectives_of_plans_too_long_for_the_search_use_a_shorter_way():
    shown = [Demonstration("wander", Line(4), 1, ("left", "right", "right"))]
    objective, _ = objective_of(PlanModel(), shown=shown, search=Search(max_length=2))
    (gold,), (plans,) = objective.gold, objective.plans
    assert [plans[place].actions for place in gold] == [("right",)]


def test_objectives_of_plans_keep_a_demonstration_nothing_else_reaches():
    shown = [Demonstration("walk far", Line(9), 0, ("right",) * 5)]
    objective, _ = objective_of(PlanModel(), shown=shown, search=Search(max_length=2))
    (gold,), (plans,), (further,) = objective.gold, objective.plans, objective.further
    assert [[*plans, *further][place].actions for place in gold] == [("right",) * 5]


def test_objectives_sampled_rivals_grow_by_beam():
    search = Search(max_length=8, budget=60, beam=3)
    objective, space = objective_of(
        PlanModel(alternatives=4), shown=line_demonstrations(Line(30)), search=search
    )
    assert not objective.complete
    assert [len(plans) for plans in objective.plans] == [4] * len(objective.plans)

    def sizes():
        return np.diff(objective.scorer.batch.instance_candidates)

    before = sizes()
    assert objective.realign(weights_for(space, 3))
    assert (sizes() >= before).all()
    assert sizes().sum() > before.sum()
    theta = weights_for(space, 3)
    gradient = objective.loss(theta)[1].copy()
    expected = slopes(lambda t: objective.loss(t)[0], theta, 1e-3)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_objectives_of_decisions_fix_the_best_alignment():
    objective, space = objective_of(DecisionModel(), Overlay(unit="word"))
    theta = weights_for(space, 4)
    objective.realign(theta)
    assert not objective.realign(theta)
    for found in objective.alignments():
        named = [actions[0] for actions in found if actions]
        assert named == sorted(named)
        assert all(len(actions) <= 1 for actions in found)


@pytest.mark.parametrize("origin", ["decision", "path"])
def test_objectives_alternatives_are_sampled_and_seeded(origin):
    model = DecisionModel(alternatives=2, alternatives_from=origin)
    shown = [Demonstration([put("red", "blue")], Blocks(), "start", (("red", "blue"),))]
    (one, _), (other, _) = (objective_of(model, shown=shown) for _ in range(2))
    counts = np.diff(one.scorer.batch.instance_candidates)
    assert counts.tolist() == [3]
    assert [[graph.nodes for graph in each] for each in one.scorer.encoding.graphs] == [
        [graph.nodes for graph in each] for each in other.scorer.encoding.graphs
    ]


def test_objectives_alternatives_of_a_path_come_from_all_its_states():
    shown = [Demonstration("right then left", Line(4, {1: "lamp"}), 0, ("right", "left"))]
    counts = {}
    for origin in ("decision", "path"):
        objective, _ = objective_of(DecisionModel(alternatives_from=origin), shown=shown)
        counts[origin] = np.diff(objective.scorer.batch.instance_candidates).tolist()
    assert counts == {"decision": [1, 2], "path": [3, 3]}


def test_objectives_of_transducers_without_any_alignment_say_which_demonstration():
    # Without neighbours a sentence of two words cannot be laid over any graph.
    objective, space = objective_of(TransducerModel(), Overlay(neighbours=()))
    with pytest.raises(DemonstrationError, match="'go left': its text must have an alignment"):
        objective.loss(np.zeros(len(space)))


@pytest.mark.parametrize("model", [PlanModel(), DecisionModel(), DecisionModel(aligned="all")])
def test_objectives_without_any_alignment_say_which_demonstration_at_once(model):
    with pytest.raises(DemonstrationError, match="'go left': its words must have an alignment"):
        objective_of(model, Overlay(neighbours=()))


def test_objectives_of_transducers_with_one_action_per_unit_refuse_longer_plans():
    objective, space = objective_of(TransducerModel(allow_multiple=False))
    with pytest.raises(
        DemonstrationError, match="'go right then left': its text must have an alignment"
    ):
        objective.loss(np.zeros(len(space)))


@pytest.mark.parametrize("model", [DecisionModel(), TransducerModel()])
def test_objectives_of_decisions_refuse_negative_starts(model):
    shown = [Demonstration("go left", Line(), 2, ("left",), negative_starts=(1,))]
    with pytest.raises(DemonstrationError, match=r"no effect in \w+\. Use PlanModel, or leave"):
        objective_of(model, shown=shown)


def test_objectives_begin_where_the_model_says():
    for model, random in ((PlanModel(), False), (DecisionModel(aligned="all"), False),
                          (TransducerModel(), False), (DecisionModel(), True)):  # fmt: skip
        objective, space = objective_of(model)
        first = objective.first(len(space), 3)
        assert (np.abs(first).max() > 0) == random
        np.testing.assert_array_equal(first, objective.first(len(space), 3))
