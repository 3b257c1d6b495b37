"""Confidences are probabilities: between nothing and one, and of one whole."""

import math

import numpy as np
import pytest

from tests.promises.making import demonstrations, make_follower, requests
from tests.worlds import Line


def test_confidence_bounds_of_every_answer(follower):
    for plan in follower.follow_many(requests()):
        assert plan.log_probability <= 0
        assert 0 <= plan.confidence <= 1
        assert math.isfinite(plan.log_probability)
        every = [plan.probability, *(each.probability for each in plan.alternatives)]
        assert sum(every) <= 1 + 1e-9
        if not plan.unexplained:  # words that nothing explains lower the confidence only
            assert plan.confidence >= plan.probability - 1e-9


def test_confidence_bounds_hold_for_scores_without_measure(followers):
    follower = make_follower("plans").fit(demonstrations())
    follower.theta_[:] = np.where(np.arange(len(follower.theta_)) % 2, 1e6, -1e6)
    for plan in follower.follow_many(requests()):
        assert plan.log_probability <= 0
        assert 0 <= plan.confidence <= 1
        assert not math.isnan(plan.log_probability)


def test_confidence_bounds_fewer_answers_are_surer(follower):
    asked = [(each.instructions, Line(5, {2: "sofa"}), 2) for each in demonstrations()]
    sure = sorted((plan.confidence for plan in follower.follow_many(asked)), reverse=True)
    means = [sum(sure[:count]) / count for count in range(1, len(sure) + 1)]
    assert means == sorted(means, reverse=True)


def test_confidence_bounds_calibration_changes_how_sure_not_what(followers):
    follower = make_follower("plans").fit(demonstrations())
    before = follower.follow_many(requests())
    follower.calibrate(demonstrations())
    assert 0 < follower.temperature_ < math.inf
    after = follower.follow_many(requests())
    for one, other in zip(before, after, strict=True):
        assert {one.actions, *(each.actions for each in one.alternatives)} == {
            other.actions, *(each.actions for each in other.alternatives)
        }  # fmt: skip


def test_confidence_bounds_below_the_threshold_nothing_is_understood():
    from groundling import Search

    follower = make_follower("plans", search=Search(max_length=2, threshold=1.0))
    plan = follower.fit(demonstrations()).follow("something else entirely", Line(), 1)
    assert not plan.understood
    assert plan.confidence == pytest.approx(plan.confidence)
