"""A text of a thousand words is followed and explained, in memory that grows with its length."""

import tracemalloc

import pytest

from tests.worlds import Line

SENTENCE = "go right then left and move right to the sofa . "  # ten words and a stop


def peak(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("words", [1_000])
def test_long_texts_are_followed_and_explained(follower, words):
    plan = follower.follow(SENTENCE * (words // 10), Line(5, {2: "sofa"}), 1)
    assert plan.actions
    explained = plan.explain()
    assert str(explained)
    # The text is scored anew for each word that is left out.
    assert len(explained.deletions) == 18


def test_long_texts_take_memory_as_their_length(follower):
    world = Line(5, {2: "sofa"})
    follower.follow(SENTENCE * 25, world, 1)  # whatever is made once
    small = peak(lambda: follower.follow(SENTENCE * 26, world, 1))
    large = peak(lambda: follower.follow(SENTENCE * 104, world, 1))
    assert large < 8 * small + 1_000_000
