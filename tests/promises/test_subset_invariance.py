"""What is asked beside it does not change an answer."""

import pytest

from tests.promises.making import answer, demonstrations, requests


def test_subset_invariance_one_by_one_or_together(follower):
    asked = requests()
    together = follower.follow_many(asked)
    alone = [follower.follow(*each) for each in asked]
    for one, other in zip(together, alone, strict=True):
        assert one.actions == other.actions
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-12)


def test_subset_invariance_the_order_of_questions(follower):
    asked = requests()
    before = [answer(each) for each in follower.follow_many(asked)]
    after = [answer(each) for each in follower.follow_many(asked[::-1])][::-1]
    assert before == after


def test_subset_invariance_asking_leaves_no_trace(follower):
    asked = requests()[:3]
    before = [answer(follower.follow(*each)) for each in asked]
    weights = follower.theta_.tobytes()
    for each in requests():
        follower.follow(*each).explain()
    follower.score(demonstrations())
    assert follower.theta_.tobytes() == weights
    assert [answer(follower.follow(*each)) for each in asked] == before
