"""Joint search over text and state equals the sum over all readings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling import Demonstration, Instruction, Overlay, Search, TransducerModel
from groundling.errors import SearchError
from groundling.inference.transduction import MARKS, Transduction, transduce
from groundling.inference.unit_scores import UnitScores
from groundling.world import CachedEnvironment
from tests.inference.test_alternation import walks
from tests.models.test_lattice import readings
from tests.worlds import GoalLine, Line, line_demonstrations, objective_of, weights_for


def learnt(seed, spread=1.0, demonstrations=None, unit="word", model=TransducerModel()):
    objective, space = objective_of(
        model, Overlay(unit=unit), demonstrations or line_demonstrations()
    )
    return objective.data.encoder, space, objective, weights_for(space, seed, spread)


def by_readings(scores, world, states, actions, costs=(0.0, 0.0)):
    """Return the log probability of a plan: all its readings, listed and summed."""
    starts, gold, rows = [0], [], []
    for place, state in enumerate(states):
        options = world.actions(state)
        if place < len(actions):
            gold.append(len(rows) + options.index(actions[place]))
        rows += [(state, option) for option in options]
        starts.append(len(rows))
    text, free = scores.actions(rows)
    *passing, again = scores.marks(MARKS)
    found = readings(text + free[:, None], starts, gold, np.array(passing), again, *costs)
    return np.logaddexp.reduce([score for score, _ in found])


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 50), st.integers(0, 2), st.sampled_from(["go", "go left", "left then right"]),
    st.booleans(), st.sampled_from([1.0, 4.0]), st.sampled_from([0.0, 0.7]),
)  # fmt: skip
def test_transduction_without_beam_equals_brute_force(seed, start, text, goal, spread, cost):
    encoder, space, _, theta = learnt(seed, spread)
    world = (GoalLine if goal else Line)(3)
    scores = UnitScores(encoder, space, theta, [Instruction.chain(text)], CachedEnvironment(world))
    search = Search(max_length=3, beam=None)
    how = Transduction(unaligned_cost=cost, fertility_cost=2 * cost)
    found = transduce(scores, start, search, how)
    expected = {
        actions: by_readings(scores, world, states, actions, (cost, 2 * cost))
        for length in (1, 2, 3)
        for states, actions in walks(world, start, length)
    }
    assert {each.actions: pytest.approx(each.score, abs=1e-9) for each in found} == expected
    values = [each.score for each in found]
    assert values == sorted(values, reverse=True)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 50), st.sampled_from([0.0, 1.0, 5.0]))
def test_transduction_probability_is_that_of_the_lattice_objective(seed, spread):
    for shown in line_demonstrations():
        encoder, space, objective, theta = learnt(seed, spread, [shown])
        text = encoder.reader.read(shown.instructions)
        scores = UnitScores(encoder, space, theta, text, CachedEnvironment(shown.environment))
        found = transduce(scores, shown.start, Search(max_length=4, beam=None))
        logs = {each.actions: each.score for each in found}
        assert -objective.loss(theta)[0] == pytest.approx(logs[shown.actions], abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 50), st.sampled_from([1.0, 1e3, 1e6]), st.sampled_from([1, 3, None]))
def test_transduction_probabilities_sum_to_at_most_one(seed, spread, beam):
    encoder, space, _, theta = learnt(seed, spread)
    text = [Instruction.chain("go left then right")]
    scores = UnitScores(encoder, space, theta, text, CachedEnvironment(Line(4)))
    found = transduce(scores, 1, Search(max_length=3, beam=beam))
    logs = np.array([each.score for each in found])
    assert (logs <= 1e-9).all()
    assert np.exp(logs).sum() <= 1 + 1e-9


def test_transduction_wider_beams_lose_nothing():
    encoder, space, _, theta = learnt(7)
    text = [Instruction.chain("right then left")]

    def best(beam):
        scores = UnitScores(encoder, space, theta, text, CachedEnvironment(Line(4)))
        return transduce(scores, 1, Search(max_length=3, beam=beam))[0].score

    assert best(2) <= best(8) + 1e-12 <= best(None) + 2e-12


def test_transduction_reads_sentences_as_units():
    encoder, space, _, theta = learnt(1, unit="sentence")
    text = [Instruction.chain("go left"), Instruction.chain("go right")]
    scores = UnitScores(encoder, space, theta, text, CachedEnvironment(Line(4)))
    assert scores.units == 2
    assert transduce(scores, 1, Search(max_length=2))


def test_transduction_dead_end_at_the_start_gives_no_plan():
    class Pit(Line):
        def actions(self, state):
            return ()

    encoder, space, _, theta = learnt(1)
    scores = UnitScores(encoder, space, theta, [Instruction.chain("go")], CachedEnvironment(Pit()))
    assert transduce(scores, 0, Search()) == []


def test_transduction_budget_is_respected():
    encoder, space, _, theta = learnt(1, 0.1)
    text = [Instruction.chain("go right then go right then go right")]
    scores = UnitScores(encoder, space, theta, text, CachedEnvironment(Line(10**6)))
    with pytest.raises(SearchError, match=r"Raise Search.budget"):
        transduce(scores, 500, Search(max_length=50, beam=30, budget=5))


def test_transduction_weighted_demonstrations_weigh_the_loss():
    shown = line_demonstrations()[0]
    once = learnt(3, demonstrations=[shown])
    twice = learnt(3, demonstrations=[shown.weighted(2.0)])
    assert twice[2].loss(twice[3])[0] == pytest.approx(2 * once[2].loss(once[3])[0])
    assert isinstance(shown, Demonstration)
