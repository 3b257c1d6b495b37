"""L-BFGS with L1 and L2 finds the minimum, and what it reports is the penalised loss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.learning.optimise import minimise
from tests.models.test_objectives import KINDS
from tests.worlds import objective_of, slopes, weights_for


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100), st.sampled_from([0.0, 0.3, 2.0]), st.sampled_from([0.0, 0.5, 3.0]))
def test_optimise_finds_the_minimum_of_a_quadratic(seed, l1, l2):
    centre = np.random.default_rng(seed).normal(size=6) * 2

    def loss(theta):
        return 0.5 * float((theta - centre) @ (theta - centre)), theta - centre

    value, theta, done = minimise(loss, np.zeros(6), l1=l1, l2=l2, tolerance=1e-14)
    expected = np.sign(centre) * np.maximum(np.abs(centre) - l1, 0) / (1 + l2)
    np.testing.assert_allclose(theta, expected, atol=1e-5)
    penalty = l1 * np.abs(expected).sum() + 0.5 * l2 * expected @ expected
    assert value == pytest.approx(loss(expected)[0] + penalty, abs=1e-8)
    assert done


def test_optimise_l1_gives_exact_zeros():
    centre = np.array([3.0, 0.5, -0.5, -3.0])
    _, theta, _ = minimise(
        lambda t: (0.5 * float((t - centre) @ (t - centre)), t - centre), np.zeros(4), l1=1.0
    )
    assert (theta == 0).tolist() == [False, True, True, False]


@pytest.mark.parametrize("kind", KINDS)
def test_optimise_meets_the_conditions_of_a_minimum(kind):
    objective, space = objective_of(KINDS[kind][1])
    l1, l2 = 0.05, 0.5
    theta = weights_for(space, 1, 0.1)
    objective.realign(theta)
    value, theta, _ = minimise(objective.loss, theta, l1=l1, l2=l2, iterations=500, tolerance=1e-15)
    loss, gradient = objective.loss(theta)
    slope = gradient + l2 * theta
    on = theta != 0
    np.testing.assert_allclose(slope[on], -l1 * np.sign(theta[on]), atol=1e-4)
    assert (np.abs(slope[~on]) <= l1 + 1e-4).all()
    penalty = l1 * np.abs(theta).sum() + 0.5 * l2 * theta @ theta
    assert value == pytest.approx(loss + penalty, rel=1e-9)


def test_optimise_penalised_gradient_equals_finite_differences():
    objective, space = objective_of(KINDS["plans"][1])
    theta = weights_for(space)
    l2 = 0.7

    def penalised(t):
        value, gradient = objective.loss(t)
        return value + 0.5 * l2 * float(t @ t), gradient + l2 * t

    expected = slopes(lambda t: penalised(t)[0], theta, 1e-3)
    np.testing.assert_allclose(penalised(theta)[1], expected, rtol=1e-6, atol=1e-7)


def test_optimise_reports_every_iteration():
    told = []
    minimise(
        lambda t: (float(t @ t), 2 * t), np.full(3, 5.0), progress=lambda *each: told.append(each)
    )
    assert [step for step, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][1] == pytest.approx(0, abs=1e-9)


def test_optimise_stops_where_progress_says_so():
    told = []

    def stop(step, _):
        told.append(step)
        return step == 2

    def loss(theta):  # far from a minimum after two steps
        return float((theta**4).sum()), 4 * theta**3

    value, theta, _ = minimise(loss, np.full(3, 50.0), progress=stop)
    assert told == [1, 2]
    assert 0 < value < loss(np.full(3, 50.0))[0]
    assert value == pytest.approx(loss(theta)[0])


def test_optimise_of_no_weights_at_all():
    value, theta, done = minimise(lambda t: (2.5, t), np.zeros(0))
    assert (value, len(theta), done) == (2.5, 0, True)
