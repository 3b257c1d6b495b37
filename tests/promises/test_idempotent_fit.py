"""A fit forgets what was learnt before; an unfitted follower explains itself."""

import pytest

from groundling import Follower
from groundling.errors import DemonstrationError, NotFittedError
from tests.promises.making import KINDS, demonstrations, make_follower, requests
from tests.worlds import Line, line_demonstrations


@pytest.mark.parametrize("kind", KINDS)
def test_idempotent_fit_gives_the_same_follower_again(followers, kind):
    follower = make_follower(kind)
    assert follower.fit(line_demonstrations(Line(7))[:4]) is follower
    follower.fit(demonstrations())
    assert follower.theta_.tobytes() == followers[kind].theta_.tobytes()
    assert follower.feature_names_ == followers[kind].feature_names_
    assert follower.learnt_.loss == followers[kind].learnt_.loss


def test_idempotent_fit_that_fails_keeps_what_was_learnt(followers):
    follower = make_follower("plans").fit(demonstrations())
    with pytest.raises(DemonstrationError):
        follower.fit([])
    assert follower.theta_.tobytes() == followers["plans"].theta_.tobytes()


@pytest.mark.parametrize(
    "use",
    [
        lambda follower: follower.follow(*requests()[0]),
        lambda follower: follower.score(demonstrations()),
        lambda follower: follower.calibrate(demonstrations()),
        lambda follower: follower.save("nowhere"),
        lambda follower: follower.weights(),
        lambda follower: follower.theta_,
    ],
)
def test_idempotent_fit_comes_first(use):
    with pytest.raises(
        NotFittedError, match=r"Call `fit` with demonstrations, or `Follower\.load`"
    ):
        use(Follower())
