"""What changes the joint search over text and state: one action per unit, bonus, evidence."""

import numpy as np
import pytest

from groundling import Instruction, Search
from groundling.inference.transduction import transduce
from groundling.inference.units import UnitScores
from groundling.world import World
from tests.inference.test_alternation import walks
from tests.inference.test_transduction import learnt
from tests.worlds import Line

TEXT = [Instruction.chain("left then right")]


def table(seed):
    encoder, space, _, _, theta = learnt(seed)
    return UnitScores(encoder, space, theta, TEXT, World(Line(3)))


def found(scores, again=True, **settings):
    search = Search(max_length=3, beam=None, **settings)
    return {a: value for value, _, a in transduce(scores, 1, search, again=again)}


def by_readings(scores, states, actions):
    """Sum all readings in which no unit names two actions."""
    world, (passing, _) = scores.world, scores.marks()
    totals = []

    def walk(unit, j, score):
        if unit == scores.units:
            if j == len(actions):
                totals.append(score)
            return
        options = world.actions(states[j])
        text, free = scores.actions([(states[j], each) for each in options])
        values = text[:, unit] + free
        norm = np.logaddexp.reduce([passing[0, unit], *values])
        walk(unit + 1, j, score + passing[0, unit] - norm)
        if j < len(actions):
            walk(unit + 1, j + 1, score + values[options.index(actions[j])] - norm)

    walk(0, 0, 0.0)
    return np.logaddexp.reduce(totals)


@pytest.mark.parametrize("seed", range(4))
def test_one_action_per_unit_equals_brute_force(seed):
    scores = table(seed)
    plans = found(scores, again=False)
    assert max(map(len, plans)) == scores.units
    for states, actions in [w for n in (1, 2, 3) for w in walks(Line(3), 1, n)]:
        expected = by_readings(scores, states, actions)
        assert plans[actions] == pytest.approx(expected, abs=1e-9)


def test_one_action_per_unit_is_a_part_of_all_readings():
    scores = table(1)
    every, single = found(scores), found(scores, again=False)
    assert set(single) <= set(every)
    assert np.exp(list(single.values())).sum() <= 1 + 1e-9


@pytest.mark.parametrize("again", [True, False])
def test_bonus_counts_actions(again):
    scores = table(2)
    plain, paid = found(scores, again), found(scores, again, bonus=1.5)
    for actions, value in plain.items():
        assert paid[actions] == pytest.approx(value + 1.5 * len(actions))


def test_evidence_weighs_normalisers():
    scores = table(3)
    full = found(scores, again=False, evidence=1.0)
    plain = found(scores, again=False)
    assert full.keys() == plain.keys()
    assert any(abs(full[a] - plain[a]) > 1e-6 for a in plain)
