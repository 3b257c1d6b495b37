"""An environment that has changed since it was asked is not answered for from memory."""

from tests.promises.making import demonstrations, make_follower
from tests.worlds import Line


def test_changed_environments_are_noticed_by_follow(follower):
    world = Line(9)
    follower.follow("go right then right", world, 3)
    world.size = 5  # the way goes on to 4 now, and no further
    plan = follower.follow("go right then right", world, 3)
    assert max(plan.states) <= 4


def test_changed_environments_give_other_graphs(followers):
    world = Line(6, {3: "sofa"})
    follower = make_follower().fit(demonstrations())
    before = follower.follow("go to the sofa", world, 2)
    world.items = {1: "sofa"}
    after = follower.follow("go to the sofa", world, 2)
    fresh = follower.follow("go to the sofa", Line(6, {1: "sofa"}), 2)
    assert after.log_probability == fresh.log_probability
    assert before.states[0] == 2
