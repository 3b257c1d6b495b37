"""Ties: rounding never decides."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.ties import CLOSE, at_least, rank, rank_kept


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.integers(0, 99))
def test_ties_noise_and_order_change_no_ranking(values, seed):
    random = np.random.default_rng(seed)
    names = random.permutation(len(values)).tolist()
    scores = np.array(values) * 1000.0
    before = [names[place] for place in rank(scores, names.__getitem__)]
    order = random.permutation(len(values)).tolist()
    noisy = (scores * (1 + 1e-12 * random.normal(size=len(values))))[order]
    after = [names[order[place]] for place in rank(noisy, lambda place: names[order[place]])]
    assert before == after


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1e-13, 1.0, 1.0 + 1e-13, -np.inf]), max_size=12))
def test_ties_compiled_ranking_is_the_same(values):
    scores = np.array(values)
    kept = np.arange(0, len(values), 2)
    assert rank_kept(scores, kept).tolist() == [kept[place] for place in rank(scores[kept])]


def test_ties_what_is_clearly_better_comes_first_whatever_its_name():
    assert rank(np.array([1.0, 1.0 + 10 * CLOSE]), ["a", "b"].__getitem__) == [1, 0]
    assert rank(np.array([1.0, 1.0 + CLOSE / 10]), ["a", "b"].__getitem__) == [0, 1]


def test_ties_names_are_asked_for_among_the_first_only():
    asked = []

    def name(place):
        asked.append(place)
        return -place

    order = rank(np.array([0.0, 5.0, 0.0, 5.0, 7.0]), name, most=2)
    assert order[:3] == [4, 3, 1]
    assert set(asked) == {1, 3}


def test_ties_a_bound_is_reached_in_spite_of_rounding():
    assert at_least(sum([1 / 3] * 9), 3.0)
    assert not at_least(2.9, 3.0)
    assert at_least(-np.inf, -np.inf)
