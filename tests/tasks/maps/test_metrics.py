"""Scores of paths."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import SettingError
from groundling.tasks.maps.environment import Go, MapState
from groundling.tasks.maps.landscape import Step
from groundling.tasks.maps.metrics import (
    PathScore,
    bootstrap,
    score_by_map,
    score_path,
    score_paths,
    transitions,
)

PATHS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_transitions_ignore_sides_and_kinds_of_places() -> None:
    steps = [Step("a", "North"), Step("a", "East"), Go("b", "West"), MapState("c")]
    assert transitions(steps) == transitions("abc") == {("a", "b"): 1, ("b", "c"): 1}


def test_transitions_have_a_direction() -> None:
    assert score_path("ab", "ba").correct == 0


def test_score_counts_repeats_as_often_as_the_reference_has_them() -> None:
    assert score_path("ababab", "abab") == PathScore(correct=3, predicted=5, reference=3)
    assert score_path("abab", "ababab") == PathScore(correct=3, predicted=3, reference=5)


def test_score_of_nothing_is_nothing() -> None:
    assert score_path("a", "ab") == PathScore(0, 0, 1)
    for score in (PathScore(), PathScore(0, 0, 1), PathScore(0, 1, 0)):
        assert score.precision == score.recall == score.f1 == 0


@given(PATHS, PATHS)
@settings(deadline=None, derandomize=True)
def test_score_equals_crossing_out_by_hand(predicted: list[str], reference: list[str]) -> None:
    left = [(a, b) for a, b in itertools.pairwise(reference) if a != b]
    size, correct, moves = len(left), 0, 0
    for a, b in itertools.pairwise(predicted):
        if a != b:
            moves += 1
            if (a, b) in left:
                left.remove((a, b))
                correct += 1
    score = score_path(predicted, reference)
    assert score == PathScore(correct, moves, size)
    assert score_path(reference, predicted).f1 == score.f1
    if correct:
        p, r = score.precision, score.recall
        assert score.f1 == pytest.approx(2 * p * r / (p + r))


def test_scores_of_several_paths_are_a_micro_average() -> None:
    score = score_paths([("abcde", "abcde"), ("ab", "cd")])
    assert score == PathScore(correct=4, predicted=5, reference=5)
    assert score.precision == pytest.approx(4 / 5)  # the mean of the two would be 1/2


def test_scores_by_map_add_up_and_are_in_order() -> None:
    scores = [score_path("ab", "ab"), score_path("ab", "cd"), score_path("abc", "abc")]
    by_map = score_by_map(scores, [7, 2, 7])
    assert list(by_map) == [2, 7]
    assert sum(by_map.values(), PathScore()) == sum(scores, PathScore())
    with pytest.raises(ValueError):
        score_by_map(scores, [1, 2])


def test_bootstrap_is_repeatable_and_surrounds_the_score() -> None:
    scores = [PathScore(k % 8, 9, 9) for k in range(32)]
    low, high = bootstrap(scores, seed=1)
    assert (low, high) == bootstrap(scores, seed=1)
    assert low < sum(scores, PathScore()).f1 < high
    narrow = bootstrap(scores, seed=1, level=0.5)
    assert low < narrow.low < narrow.high < high
    assert str(narrow) == f"{narrow.low:.3f}–{narrow.high:.3f}"


def test_bootstrap_over_maps_is_wider_where_maps_differ() -> None:
    maps = [number for number in range(4) for _ in range(8)]
    scores = [PathScore(2 * number, 9, 9) for number in maps]
    over_maps, over_dialogues = bootstrap(score_by_map(scores, maps)), bootstrap(scores)
    assert over_maps.low < over_dialogues.low
    assert over_maps.high > over_dialogues.high


def test_bootstrap_of_equal_scores_has_no_width() -> None:
    assert bootstrap([PathScore(1, 2, 2)] * 5) == (0.5, 0.5)


def test_bootstrap_refuses_nonsense() -> None:
    with pytest.raises(SettingError, match="no scores"):
        bootstrap([])
    with pytest.raises(SettingError, match="level"):
        bootstrap([PathScore(1, 1, 1)], level=95)
