"""Monotone alignments equal brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from groundling.inference.alignment import NOWHERE, align, spread


def all_alignments(units, actions, silent, last_to_last):
    places = ([NOWHERE] if silent else []) + list(range(actions))
    for choice in itertools.product(places, repeat=units):
        named = [place for place in choice if place != NOWHERE]
        if named != sorted(named):
            continue
        if last_to_last and choice[-1] not in (NOWHERE, actions - 1):
            continue
        yield choice


def total(scores, choice, silence):
    return sum(
        silence if place == NOWHERE else scores[unit, place] for unit, place in enumerate(choice)
    )


matrices = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(-6, 6).map(float))
)


@settings(max_examples=150, deadline=None)
@given(matrices, st.sampled_from([None, -4.0, 0.0, 3.0]), st.booleans())
def test_path_align_equals_brute_force(scores, silence, last_to_last):
    value, choice = align(scores, silence=silence, last_to_last=last_to_last)
    allowed = list(all_alignments(*scores.shape, silence is not None, last_to_last))
    assert value == max(total(scores, each, silence) for each in allowed)
    assert choice in allowed
    assert total(scores, choice, silence) == value


@settings(max_examples=30, deadline=None)
@given(matrices)
def test_path_align_survives_huge_scores(scores):
    value, choice = align(scores * 1e6)
    assert value == pytest.approx(total(scores * 1e6, choice, 0.0))


def test_path_align_without_units_or_actions():
    assert align(np.zeros((0, 3))) == (0.0, ())
    assert align(np.zeros((2, 0)), silence=-1.0) == (-2.0, (NOWHERE, NOWHERE))


def test_path_align_lets_several_units_share_an_action_and_actions_stay_unnamed():
    scores = np.array([[0.0, 5.0, 0.0], [0.0, 5.0, 0.0]])
    assert align(scores) == (10.0, (1, 1))


def test_path_align_of_five_thousand_units():
    value, choice = align(np.ones((5000, 3)))
    assert value == 5000.0
    assert choice == tuple(sorted(choice))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 3))
def test_path_spread_is_monotone(units, actions, seed):
    for random in (None, np.random.default_rng(seed)):
        choice = spread(units, actions, random)
        assert list(choice) == sorted(choice)
        assert all(0 <= place < actions for place in choice)
