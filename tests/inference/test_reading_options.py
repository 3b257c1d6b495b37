"""What changes the joint search over text and state: one action per unit, bonus, normalisers."""

import numpy as np
import pytest

from groundling import Features, Instruction, Search, TransducerModel
from groundling.inference.transduction import MARKS, Transduction, transduce
from groundling.inference.unit_scores import UnitScores
from groundling.models.base import FittedModel, Request
from groundling.world import CachedEnvironment
from tests.inference.test_alternation import walks
from tests.inference.test_transduction import learnt
from tests.worlds import Line

TEXT = [Instruction.chain("left then right")]


def table(seed):
    encoder, space, _, theta = learnt(seed)
    return UnitScores(encoder, space, theta, TEXT, CachedEnvironment(Line(3)))


def found(scores, **how):
    plans = transduce(scores, 1, Search(max_length=3, beam=None), Transduction(**how))
    return {plan.actions: plan.score for plan in plans}


def by_readings(scores, states, actions, power=0.0):
    """Sum all readings in which no unit names two actions."""
    world, passing = scores.world, scores.marks(MARKS)
    totals = []

    def walk(unit, j, score):
        if unit == scores.units:
            if j == len(actions):
                totals.append(score)
            return
        options = world.actions(states[j])
        text, free = scores.actions([(states[j], each) for each in options])
        values = text[:, unit] + free
        norm = (1 - power) * np.logaddexp.reduce([passing[0, unit], *values])
        walk(unit + 1, j, score + passing[0, unit] - norm)
        if j < len(actions):
            walk(unit + 1, j + 1, score + values[options.index(actions[j])] - norm)

    walk(0, 0, 0.0)
    return np.logaddexp.reduce(totals)


@pytest.mark.parametrize("seed", range(4))
def test_transduction_one_action_per_unit_equals_brute_force(seed):
    scores = table(seed)
    plans = found(scores, allow_multiple=False)
    assert max(map(len, plans)) == scores.units
    for states, actions in [w for n in (1, 2, 3) for w in walks(Line(3), 1, n)]:
        expected = by_readings(scores, states, actions)
        assert plans[actions] == pytest.approx(expected, abs=1e-9)


def test_transduction_one_action_per_unit_is_a_part_of_all_readings():
    scores = table(1)
    every, single = found(scores), found(scores, allow_multiple=False)
    assert set(single) <= set(every)
    assert np.exp(list(single.values())).sum() <= 1 + 1e-9


@pytest.mark.parametrize("many", [True, False])
def test_transduction_length_bonus_counts_actions(many):
    scores = table(2)
    plain = found(scores, allow_multiple=many)
    paid = found(scores, allow_multiple=many, length_bonus=1.5)
    for actions, value in plain.items():
        assert paid[actions] == pytest.approx(value + 1.5 * len(actions))


def test_transduction_normaliser_power_weighs_normalisers():
    scores = table(3)
    plain = found(scores, allow_multiple=False)
    for power in (0.4, 1.0):
        full = found(scores, allow_multiple=False, normaliser_power=power)
        assert full.keys() == plain.keys()
        assert any(abs(full[a] - plain[a]) > 1e-6 for a in plain)
        for states, actions in [w for n in (1, 2, 3) for w in walks(Line(3), 1, n)]:
            expected = by_readings(scores, states, actions, power)
            assert full[actions] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("many", [True, False])
def test_transduction_scores_of_plans_are_those_of_the_search(many):
    model = TransducerModel(
        allow_multiple=many, unaligned_cost=0.6, fertility_cost=0.2 if many else 0.0,
        length_bonus=0.8, normaliser_power=0.3,
    )  # fmt: skip
    encoder, space, _, theta = learnt(2)
    world = encoder.world(Line(3))
    scores = UnitScores(encoder, space, theta, TEXT, world)
    search = Search(max_length=3, beam=None)
    plans = transduce(scores, 1, search, Transduction(**model.to_dict()))
    fitted = FittedModel(Features(), encoder, space, theta)
    again = model.scores(fitted, Request(tuple(TEXT), world, 1), plans, search)
    np.testing.assert_allclose(again, [plan.score for plan in plans], atol=1e-9)
