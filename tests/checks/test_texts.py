"""Texts that are far longer than the median are named before the time is spent."""

import warnings

import pytest

from groundling import Demonstration, Follower, Learning, Search
from groundling.checks.registry import warn_of_long_texts
from groundling.errors import LearningWarning
from tests.worlds import Line


def shown(text, **more):
    return Demonstration(text, Line(), 1, ("left",), **more)


def test_texts_far_longer_than_others_are_named():
    few = [shown("go left") for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_long_texts(few)
        warn_of_long_texts([shown("go left " * 150) for _ in range(4)])
        warn_of_long_texts([*few, shown("go left " * 90)])
        warn_of_long_texts([])
    with pytest.warns(LearningWarning, match=r"1 of 5 texts .*'essay' \(300 words\)"):
        warn_of_long_texts([*few, shown(["go left " * 75] * 2, name="essay")])


def test_texts_are_looked_at_by_fit():
    follower = Follower(
        parser="chain", learning=Learning(iterations=1), search=Search(max_length=1)
    )
    few = [shown("go left"), Demonstration("go right", Line(), 1, ("right",))]
    with pytest.warns() as heard:
        follower.fit([*few, shown("go left " * 110, name="essay")])
    assert any("far longer than the median" in str(each.message) for each in heard)
