"""Every objective's gradient is right, and its value is a probability's."""

import numpy as np
import pytest

from groundling import Demonstration, Features, Overlay, Search
from groundling.errors import DemonstrationError
from groundling.models.examples import prepare
from groundling.models.plan import (
    DecisionObjective,
    LatticeObjective,
    PlanObjective,
    make_objective,
)
from groundling.learning.settings import Learning
from tests.worlds import Blocks, Line, line_demonstrations, put, slopes, workbench

KINDS = {
    "plans-marginal": (PlanObjective, Learning()),
    "plans-viterbi": (PlanObjective, Learning(alignment="viterbi")),
    "decisions-viterbi": (
        DecisionObjective,
        Learning(normalise="decisions", alignment="viterbi", silence=-1.0),
    ),
    "decisions-all": (DecisionObjective, Learning(normalise="decisions", alignment="all")),
    "decisions-marginal": (LatticeObjective, Learning(normalise="decisions")),
}
OVERLAYS = {
    "paper": Overlay(),
    "flat": Overlay.flat(),
    "words": Overlay(unit="word", adjacency="soft", null_node=True, advance_scores=True, skip=0.5),
    "bag": Overlay.bag(),
}


def make(learning, overlay=None, demonstrations=None, features=None, search=None, threads=1):
    encoder, space = workbench(overlay, features)
    shown = demonstrations or line_demonstrations(Line(4, {1: "lamp", 2: "sofa"}))
    examples = prepare(encoder, shown)
    objective = make_objective(
        encoder, space, examples, learning, search or Search(max_length=3),
        np.random.default_rng(0), threads=threads,
    )  # fmt: skip
    return objective, space


def at(space, seed=0, spread=1.0):
    return np.random.default_rng(seed).normal(size=len(space)) * spread


@pytest.mark.parametrize("overlay", OVERLAYS.values(), ids=OVERLAYS.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_objectives_gradient_equals_finite_differences(kind, overlay):
    wanted, learning = KINDS[kind]
    objective, space = make(learning, overlay)
    assert type(objective) is wanted
    theta = at(space)
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
            from groundling import GroundingGraph

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
    objective, space = make(KINDS[kind][1], Overlay(), shown, features)
    assert any("~" in name for name in space.names())
    assert any("≈" in name for name in space.names())
    theta = at(space, 1)
    objective.realign(theta)
    gradient = objective.loss(theta)[1].copy()
    expected = slopes(lambda t: objective.loss(t)[0], theta, 1e-3)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("spread", [1e2, 1e6])
@pytest.mark.parametrize("kind", KINDS)
def test_objectives_probabilities_are_at_most_one_at_huge_scores(kind, spread):
    objective, space = make(KINDS[kind][1], Overlay(entry="any"))
    for seed in range(3):
        theta = at(space, seed, spread)
        objective.realign(theta)
        value, gradient = objective.loss(theta)
        assert value >= 0
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("kind", KINDS)
def test_objectives_one_thread_and_two_agree(kind):
    results = []
    for threads in (1, 2):
        objective, space = make(KINDS[kind][1], threads=threads)
        theta = at(space, 2)
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
        objective, space = make(Learning(), demonstrations=[shown])
        losses.append(objective.loss(np.zeros(len(space)))[0])
    assert losses[1] < losses[0]


def test_objectives_of_plans_too_long_for_the_search_use_a_shorter_way():
    shown = [Demonstration("wander", Line(4), 1, ("left", "right", "right"))]
    objective, _ = make(Learning(), demonstrations=shown, search=Search(max_length=2))
    (gold,), (courses,) = objective.gold, objective.courses
    assert [courses[place].actions for place in gold] == [("right",)]


def test_objectives_of_plans_keep_a_demonstration_nothing_else_reaches():
    shown = [Demonstration("walk far", Line(9), 0, ("right",) * 5)]
    objective, _ = make(Learning(), demonstrations=shown, search=Search(max_length=2))
    (gold,), (courses,) = objective.gold, objective.courses
    assert [courses[place].actions for place in gold] == [("right",) * 5]


def test_objectives_sampled_rivals_grow_by_beam():
    search = Search(max_length=8, budget=60, beam=3)
    objective, space = make(
        Learning(alternatives=4), demonstrations=line_demonstrations(Line(30)), search=search
    )
    assert not objective.complete
    before = [len(courses) for courses in objective.courses]
    assert objective.realign(at(space, 3))
    after = [len(courses) for courses in objective.courses]
    assert all(now >= was for was, now in zip(before, after, strict=True))
    assert sum(after) > sum(before)
    theta = at(space, 3)
    gradient = objective.loss(theta)[1].copy()
    expected = slopes(lambda t: objective.loss(t)[0], theta, 1e-3)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_objectives_viterbi_fixes_the_best_alignment():
    learning = KINDS["decisions-viterbi"][1]
    objective, space = make(learning, Overlay(unit="word"))
    theta = at(space, 4)
    objective.realign(theta)
    assert not objective.realign(theta)
    for found in objective.alignments():
        named = [actions[0] for actions in found if actions]
        assert named == sorted(named)
        assert all(len(actions) <= 1 for actions in found)


def test_objectives_viterbi_of_plans_is_never_more_likely_than_the_sum():
    for seed in range(3):
        summed, space = make(KINDS["plans-marginal"][1], Overlay(unit="word"))
        pinned, _ = make(KINDS["plans-viterbi"][1], Overlay(unit="word"))
        theta = at(space, seed)
        pinned.realign(theta)
        assert pinned.loss(theta)[0] >= summed.loss(theta)[0] - 1e-9


@pytest.mark.parametrize("origin", ["decision", "path"])
def test_objectives_alternatives_are_sampled_and_seeded(origin):
    learning = Learning(
        normalise="decisions", alignment="viterbi", alternatives=2, alternatives_from=origin
    )
    shown = [Demonstration([put("red", "blue")], Blocks(), "start", (("red", "blue"),))]
    one, _ = make(learning, demonstrations=shown)
    other, _ = make(learning, demonstrations=shown)
    counts = np.diff(one.model.batch.instance_candidates)
    assert counts.tolist() == [3]
    assert one.model.encoding.graphs[0][0].nodes == other.model.encoding.graphs[0][0].nodes


def test_objectives_lattice_alternatives_keep_the_demonstrated_action():
    learning = Learning(normalise="decisions", alternatives=1)
    shown = [Demonstration([put("red", "blue")], Blocks(), "start", (("red", "blue"),))]
    objective, space = make(learning, demonstrations=shown)
    value, _ = objective.loss(np.zeros(len(space)))
    assert np.isfinite(value)


def test_objectives_without_any_alignment_say_which_demonstration():
    learning = KINDS["decisions-marginal"][1]
    # Without neighbours a sentence of two words cannot be laid over any graph.
    objective, space = make(learning, Overlay(neighbours=()))
    with pytest.raises(DemonstrationError, match="no way of aligning"):
        objective.loss(np.zeros(len(space)))
