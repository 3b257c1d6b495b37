"""The alignment lattice sums over all readings, and its gradient is right."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from groundling.models.transducer import lattice_gradient
from tests.worlds import slopes


def readings(act, starts, gold, passing, again, unaligned_cost, fertility_cost, power=0.0):
    """Yield (log probability, unit that names each action) of every reading, step by step."""
    units, actions = act.shape[1], len(gold)

    def walk(i, j, named, score, names):
        if i == units:
            if j == actions and not named:
                yield score, names
            return
        extra = again[i] if named else 0.0
        options = [passing[named, i]] + [act[y, i] + extra for y in range(starts[j], starts[j + 1])]
        norm = np.logaddexp.reduce(options)
        if again[i] > -np.inf or not named:
            norm *= 1 - power
        leave = 0.0 if named else unaligned_cost
        yield from walk(i + 1, j, 0, score + passing[named, i] - norm - leave, names)
        if j < actions:
            step = act[gold[j], i] + extra - norm - (fertility_cost if named else 0.0)
            yield from walk(i, j + 1, 1, score + step, (*names, i))

    yield from walk(0, 0, 0, 0.0, ())


@st.composite
def lattices(draw, spread=2.0):
    units, actions = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    counts = [draw(st.integers(1, 3)) for _ in range(actions)] + [draw(st.integers(0, 2))]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    gold = [int(starts[j]) + draw(st.integers(0, counts[j] - 1)) for j in range(actions)]
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    scores = random.normal(size=(int(starts[-1]) + 3, units)) * spread
    if draw(st.booleans()):
        scores[-1] = -np.inf  # a unit names one action at most
    costs = draw(st.sampled_from([(0.0, 0.0, 0.0), (1.5, 0.25, 0.0), (0.5, 0.1, 0.4)]))
    return scores, starts, np.array(gold, np.int32), costs


def run(scores, starts, gold, costs=(0.0, 0.0, 0.0)):
    count, units = int(starts[-1]), scores.shape[1]
    gradient = np.zeros_like(scores)
    arcs = np.zeros((units, len(gold)))
    again_grad = np.zeros(units)
    passing_grad = np.zeros((2, units))
    act_grad = np.zeros((count, units))
    loss = lattice_gradient(
        np.ascontiguousarray(scores[:count]), starts, gold,
        np.ascontiguousarray(scores[count : count + 2]), scores[count + 2].copy(),
        act_grad, passing_grad, again_grad, arcs, *costs,
    )  # fmt: skip
    gradient[:count], gradient[count : count + 2], gradient[-1] = act_grad, passing_grad, again_grad
    return loss, gradient, arcs


def listed(scores, starts, gold, costs):
    count = int(starts[-1])
    marks = scores[count : count + 2], scores[count + 2]
    return list(readings(scores[:count], starts, gold, *marks, *costs))


@settings(max_examples=60, deadline=None)
@given(lattices())
def test_lattice_loss_and_arcs_equal_brute_force(case):
    loss, _, arcs = run(*case)
    found = listed(*case)
    total = np.logaddexp.reduce([score for score, _ in found]) if found else -np.inf
    assert loss == pytest.approx(-total, rel=1e-10)
    if total == -np.inf:
        return  # no reading leads to these actions
    expected = np.zeros_like(arcs)
    for score, names in found:
        for action, unit in enumerate(names):
            expected[unit, action] += math.exp(score - total)
    np.testing.assert_allclose(arcs, expected, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(lattices())
def test_lattice_gradient_equals_finite_differences(case):
    scores, starts, gold, costs = case
    loss, gradient, _ = run(*case)
    assume(np.isfinite(loss))
    expected = slopes(
        lambda flat: run(flat.reshape(scores.shape), starts, gold, costs)[0], scores.ravel(), 1e-3
    ).reshape(scores.shape)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(lattices(spread=1e6))
def test_lattice_probability_is_at_most_one_at_huge_scores(case):
    scores, starts, gold, costs = case
    loss, gradient, _ = run(scores, starts, gold, (*costs[:2], 0.0))
    assert loss >= 0
    assert not math.isnan(loss)
    assert np.isfinite(gradient).all()


def test_lattice_without_a_reading_is_infinitely_bad():
    loss, _, _ = run(np.zeros((3, 0)), np.array([0, 0], np.int32), np.zeros(0, np.int32))
    assert loss == 0
    impossible = np.zeros((4, 1))
    impossible[0] = -np.inf
    assert run(impossible, np.array([0, 1, 1], np.int32), np.zeros(1, np.int32))[0] == math.inf
