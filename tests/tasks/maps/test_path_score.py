"""Scores of paths."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.tasks.maps.environment import Go, MapState
from groundling.tasks.maps.landscape import MapStep
from groundling.tasks.maps.path_score import PathScore, score_by_map, score_path, transitions

PATHS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_transitions_ignore_sides_and_kinds_of_places() -> None:
    steps = [MapStep("a", "North"), MapStep("a", "East"), Go("b", "West"), MapState("c")]
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


def test_scores_by_map_add_up_and_are_in_order() -> None:
    scores = [score_path("ab", "ab"), score_path("ab", "cd"), score_path("abc", "abc")]
    by_map = score_by_map(scores, [7, 2, 7])
    assert list(by_map) == [2, 7]
    assert sum(by_map.values(), PathScore()) == sum(scores, PathScore())
    with pytest.raises(ValueError):
        score_by_map(scores, [1, 2])
