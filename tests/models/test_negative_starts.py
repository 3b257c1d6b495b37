"""Negative starts: what was done must also win against all plans from elsewhere."""

import numpy as np
import pytest

from groundling import Demonstration, Follower, Learning, PlanModel, Search
from groundling.answers import score_plans
from groundling.errors import DemonstrationError
from tests.worlds import Line, objective_of, slopes, weights_for


def told(world, negative):
    shown = [
        ("to the lamp", 1, ("right",)),
        ("to the lamp", 3, ("left",)),
        ("to the sofa", 4, ("right",)),
        ("go right", 0, ("right",)),
        ("go left", 2, ("left",)),
    ]
    return [
        Demonstration(text, world, start, actions, negative_starts=negative(start))
        for text, start, actions in shown
    ]


def fitted(negative, **learning):
    world = Line(6, {2: "lamp", 5: "sofa"})
    shown = told(world, negative)
    settings = {"augment": False, "iterations": 200, "tolerance": 1e-6} | learning
    follower = Follower(parser="chain", search=Search(max_length=2), learning=Learning(**settings))
    return follower.fit(shown), world, shown


def others(start):
    return tuple(state for state in range(6) if state != start)


def test_negative_starts_loss_is_that_of_a_softmax_over_the_plans_of_all_starts():
    follower, world, shown = fitted(others)
    expected = 0.5 * follower.learning.l2 * float(follower.theta_ @ follower.theta_)
    for each in shown:
        request = (each.instructions, world, (each.start, *each.negative_starts))
        (answer,) = score_plans(follower.learnt_, [request])
        plans, scores = answer[0]
        gold = next(s for p, s in zip(plans, scores, strict=True) if p.actions == each.actions)
        end = next(p.states[-1] for p in plans if p.actions == each.actions)
        elsewhere = [
            score
            for others, values in answer[1:]
            for plan, score in zip(others, values, strict=True)
            if plan.states[-1] != end
        ]
        expected += np.logaddexp.reduce([*scores, *elsewhere]) - gold
    assert follower.learnt_.loss == pytest.approx(expected, rel=1e-9)


def test_negative_starts_make_a_text_evidence_of_where_it_was_said():
    def mass(follower, world):
        (answer,) = score_plans(follower.learnt_, [("to the sofa", world, range(6))])
        sums = np.array([np.logaddexp.reduce(scores) for _, scores in answer])
        return float(np.exp(sums - np.logaddexp.reduce(sums))[4])

    assert mass(*fitted(others)[:2]) > mass(*fitted(lambda start: ())[:2]) + 0.1


def test_negative_starts_leave_the_right_plan_alone_where_both_starts_allow_it():
    follower, world, _ = fitted(others)
    assert follower.follow("go right", world, 1).actions[0] == "right"


def test_negative_starts_work_where_plans_are_sampled():
    world = Line(6, {2: "lamp", 5: "sofa"})
    follower = Follower(
        parser="chain",
        model=PlanModel(alternatives=3),
        search=Search(max_length=3, budget=6, beam=2),
        learning=Learning(augment=False, tolerance=1e-6),
    ).fit(told(world, others))
    assert np.isfinite(follower.learnt_.loss)


def test_negative_starts_bring_new_plans_to_win_against_where_plans_are_sampled():
    world = Line(12, {2: "lamp", 5: "sofa"})
    search = Search(max_length=5, budget=6, beam=3)
    objective, space = objective_of(PlanModel(alternatives=2), None, told(world, others),
                                    search=search)  # fmt: skip
    before = [[len(each) for each in spaces] for spaces in objective.negative]
    assert objective.realign(weights_for(space, 1))
    after = [[len(each) for each in spaces] for spaces in objective.negative]
    assert sum(map(sum, after)) > sum(map(sum, before))
    theta = weights_for(space, 2)
    gradient = objective.loss(theta)[1].copy()
    expected = slopes(lambda t: objective.loss(t)[0], theta, 1e-3)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_negative_starts_cannot_hold_the_start_itself():
    with pytest.raises(DemonstrationError, match="must not contain `start`"):
        Demonstration("go", Line(), 1, ("left",), negative_starts=(0, 1))


def test_score_plans_agrees_with_what_is_followed():
    follower, world, _ = fitted(others)
    plan = follower.follow("to the lamp", world, 1)
    (answer,) = score_plans(follower.learnt_, [("to the lamp", world, (1,))])
    plans, scores = answer[0]
    assert plans[int(np.argmax(scores))].actions == plan.actions
    log = scores.max() - np.logaddexp.reduce(scores)
    assert plan.log_probability == pytest.approx(log)


def test_score_plans_answers_in_order_when_scored_in_parts(monkeypatch):
    follower, world, _ = fitted(others)
    requests = [("go left", world, (1, 2)), ("to the sofa", world, (4,)), ("go", world, (3, 0))]
    whole = list(score_plans(follower.learnt_, requests))
    monkeypatch.setattr("groundling.models.plan._PLANS_TOGETHER", 1)
    parts = list(score_plans(follower.learnt_, requests))
    for one, two in zip(whole, parts, strict=True):
        for (plans, scores), (same, again) in zip(one, two, strict=True):
            assert [p.actions for p in plans] == [p.actions for p in same]
            np.testing.assert_allclose(scores, again)
