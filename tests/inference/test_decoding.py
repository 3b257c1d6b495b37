"""Decoding: the best plan, the best outcome, the least risk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.inference.decoder import decode, log_softmax


def same(state):
    return state


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8),
    st.sampled_from([0.05, 1.0, 50.0]),
)
def test_decoding_log_probabilities_are_at_most_zero_and_sum_to_one(scores, temperature):
    logs = log_softmax(np.array(scores), temperature)
    assert (logs <= 0).all()
    assert np.exp(logs).sum() == pytest.approx(1.0)


def test_decoding_temperature_flattens():
    scores = np.array([0.0, 2.0])
    assert log_softmax(scores, 10.0).max() < log_softmax(scores, 1.0).max()


def test_decoding_plans_and_outcomes_can_differ():
    logs = np.log([0.4, 0.3, 0.3])
    paths = ["ab", "ac", "adc"]
    assert decode("plan", logs, paths, same) == (0, pytest.approx(0.4))
    assert decode("outcome", logs, paths, same) == (1, pytest.approx(0.6))


def test_decoding_outcomes_are_what_the_world_says():
    logs = np.log([0.4, 0.3, 0.3])
    place, confidence = decode("outcome", logs, ["ab", "aC", "ac"], str.lower)
    assert place == 1
    assert confidence == pytest.approx(0.6)


def test_decoding_transitions_prefers_the_plan_most_like_the_others():
    logs = np.log([0.36, 0.34, 0.30])
    paths = ["az", "abcd", "abce"]
    place, gain = decode("transitions", logs, paths, same)
    assert place == 1
    assert gain == pytest.approx(0.34 + 0.30 * 2 / 3)


def test_decoding_transitions_of_very_many_plans_is_bounded():
    logs = log_softmax(np.arange(3000.0) / 1000)
    paths = [(0, number) for number in range(3000)]
    assert decode("transitions", logs, paths, same)[0] == 2999


def test_decoding_transitions_lead_from_outcome_to_outcome():
    # The states differ in what they remember; what counts is the letter.
    paths = [("a1", "b1"), ("a2", "c1", "d1"), ("a3", "c2", "e1")]
    logs = np.log(np.array([0.4, 0.3, 0.3]))
    place, _ = decode("transitions", logs, paths, lambda state: state[0])
    assert place in (1, 2)
    assert decode("transitions", logs, paths, lambda state: state)[0] == 0
