"""An environment that has changed since it was asked is not answered for from memory."""

import pytest

from groundling import GroundingGraph
from tests.promises.making import demonstrations, make_follower
from tests.worlds import Line


class Door(Line):
    """A line with a door that may be locked, which only the actions in its middle tell."""

    locked = False

    def actions(self, state):
        return ("left", "right") if not (self.locked and state == 4) else ("left",)

    def ground(self, state, action, after):
        return GroundingGraph({"event": {action: True}})


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


@pytest.mark.parametrize("way", ["noticed", "told"])
def test_changed_environments_offer_only_what_is_possible_now(follower, way):
    world = Door(9)
    start = 4 if way == "noticed" else 3
    before = follower.follow("right", world, start)
    options = [before, *before.alternatives]
    assert any(5 in plan.states for plan in options)
    world.locked = True
    if way == "told":  # the start looks as before
        follower.clear_cache(world)
    after = follower.follow("right", world, start)
    assert not any(5 in plan.states for plan in (after, *after.alternatives))
