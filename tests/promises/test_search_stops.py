"""A search ends: in worlds that go round, lead nowhere, raise, or are not the same twice."""

import contextlib

import pytest

from groundling import GroundlingError, Search
from groundling.errors import SearchError, WorldError
from tests.promises.making import demonstrations, make_follower
from tests.worlds import GoalLine, Line


class Ring(Line):
    """A line whose ends meet."""

    def actions(self, state):
        return ("left", "right")

    def step(self, state, action):
        return super().step(state, action) % self.size


class Stuck(Line):
    def actions(self, state):
        return ()


class Holes(Line):
    """A world where a step raises, in one place only."""

    def step(self, state, action):
        if (state, action) == (2, "right"):
            raise OverflowError("a hole")
        return super().step(state, action)


class Fickle(Line):
    """A world that answers otherwise each time."""

    asked = 0

    def step(self, state, action):
        self.asked += 1
        return self.asked

    def actions(self, state):
        return ("left", "right")


class Counting(Line):
    """A world without end that counts how often it is asked."""

    asked = 0

    def actions(self, state):
        return tuple(range(10))

    def step(self, state, action):
        self.asked += 1
        return (state, action)

    def ground(self, state, action, after):
        return super().ground(0, "right", 1)


def test_search_stops_where_the_world_goes_round(follower):
    plan = follower.follow("go left then right", Ring(4), 0)
    assert 1 <= len(plan.actions) <= 3


def test_search_stops_where_nothing_can_be_done(follower):
    with pytest.raises(SearchError, match="No action is possible in state 0"):
        follower.follow("go left", Stuck(4), 0)


def test_search_stops_where_no_goal_is_near(follower):
    with pytest.raises(SearchError, match="reaches a goal"):
        follower.follow("go left", GoalLine(40), 0)


def test_search_stops_where_a_step_raises(follower):
    with pytest.raises(WorldError, match=r"Holes\.step\(2, 'right'\) raised OverflowError: a hole"):
        follower.follow("go right then right", Holes(4), 1)


def test_search_stops_in_a_world_that_is_fickle(follower):
    with contextlib.suppress(GroundlingError):
        assert len(follower.follow("go left", Fickle(4), 0).actions) <= 3


@pytest.mark.parametrize("kind", ["plans", "viterbi", "lattice"])
def test_search_stops_when_its_budget_is_spent(followers, kind):
    follower = make_follower(kind).fit(demonstrations())
    follower.set_params(search=Search(max_length=6, beam=3, budget=200))
    world = Counting()
    with contextlib.suppress(SearchError):
        follower.follow("go left", world, 0)
    # A beam of three, six actions deep, ten ways each, and what was tried before the beam.
    assert world.asked < 5_000


def test_search_stops_reading_a_long_text(follower):
    assert follower.follow("go left then " * 100, Line(4), 2).actions
