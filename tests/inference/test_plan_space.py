"""Plans that a world allows: listed, sampled, beamed, or found greedily."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling import Demonstration, Follower, GroundingGraph, Learning, Search
from groundling.errors import SearchError, WorldError
from groundling.inference.plan_space import (
    beam_plans,
    enumerate_plans,
    greedy_plans,
    sample_plans,
)
from groundling.world import World
from tests.worlds import GoalLine, Line, workbench


def make_score(seed):
    """A score that depends on everything a plan does."""

    def score(courses):
        return np.array(
            [np.random.default_rng([seed, *map(len, c.actions)]).normal() for c in courses]
        )

    return score


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 3), st.booleans(), st.integers(0, 9))
def test_courses_beam_without_width_is_exhaustive(size, longest, start, goal, seed):
    encoder, _ = workbench()
    world = World((GoalLine if goal else Line)(size))
    search = Search(max_length=longest, beam=None)
    start = min(start, size - 1)
    every = enumerate_plans(encoder, world, start, search)
    beamed = beam_plans(encoder, world, start, search, make_score(seed))
    assert {c.actions for c in every} == {c.actions for c, _ in beamed}
    assert len(every) == len(beamed)
    if every:
        scores = make_score(seed)(every)
        best = max(beamed, key=lambda each: each[1])
        assert best[1] == scores.max()


def test_courses_enumeration_lists_every_walk():
    encoder, _ = workbench()
    found = enumerate_plans(encoder, World(Line(3)), 1, Search(max_length=2))
    assert [c.actions for c in found] == [
        ("left",), ("right",), ("left", "right"), ("right", "left"),
    ]  # fmt: skip


def test_courses_enumeration_respects_lengths():
    encoder, _ = workbench()
    found = enumerate_plans(encoder, World(Line(5)), 2, Search(min_length=2, max_length=2))
    assert {len(c.actions) for c in found} == {2}


def test_courses_enumeration_gives_up_over_budget():
    encoder, _ = workbench()
    search = Search(max_length=30, budget=100)
    assert enumerate_plans(encoder, World(Line(9)), 4, search) is None


def test_courses_enumeration_reaches_goals_only():
    encoder, _ = workbench()
    found = enumerate_plans(encoder, World(GoalLine(3)), 0, Search(max_length=4))
    assert found
    assert all(c.states[-1] == 2 for c in found)


def test_courses_dead_ends_end_plans():
    class Pit(Line):
        def actions(self, state):
            return () if state == 2 else super().actions(state)

    encoder, _ = workbench()
    found = enumerate_plans(encoder, World(Pit(4)), 1, Search(max_length=3))
    assert ("right",) in {c.actions for c in found}
    assert not any(c.actions[:2] == ("right", "right") for c in found)


def test_courses_beam_keeps_its_width():
    encoder, _ = workbench()
    asked = []

    def score(courses):
        asked.append(len(courses))
        return np.zeros(len(courses))

    beam_plans(encoder, World(Line(50)), 25, Search(max_length=6, beam=2), score)
    assert max(asked) <= 4


def test_courses_beam_stops_at_its_budget_before_it_grows():
    class Wide(Line):
        asked = 0

        def actions(self, state):
            return tuple(range(1000))

        def step(self, state, action):
            Wide.asked += 1
            return (state, action)

        def ground(self, state, action, after):
            return GroundingGraph({"event": "go"})

    encoder, _ = workbench()
    search = Search(max_length=3, beam=None, budget=500)
    with pytest.raises(SearchError, match=r"Raise Search.budget"):
        beam_plans(encoder, World(Wide()), 0, search, lambda c: np.zeros(len(c)))
    assert Wide.asked == 0


def test_courses_beam_returns_what_it_has_when_the_budget_ends():
    encoder, _ = workbench()
    search = Search(max_length=20, beam=None, budget=20)
    found = beam_plans(encoder, World(Line(9)), 4, search, lambda c: np.zeros(len(c)))
    assert {len(c.actions) for c, _ in found} == {1, 2, 3}


def test_courses_samples_are_distinct_and_seeded():
    encoder, _ = workbench()
    search = Search(max_length=4)
    one, other = (
        sample_plans(encoder, World(Line(6)), 3, search, 10, np.random.default_rng(5))
        for _ in range(2)
    )
    actions = [c.actions for c in one]
    assert actions == [c.actions for c in other]
    assert len(set(actions)) == len(actions) == 10


def test_courses_samples_reach_goals_and_survive_dead_ends():
    class Pit(GoalLine):
        def actions(self, state):
            return () if state == 0 else super().actions(state)

    encoder, _ = workbench()
    found = sample_plans(
        encoder, World(Pit(3)), 1, Search(max_length=5), 5, np.random.default_rng(0)
    )
    assert found
    assert all(c.states[-1] == 2 for c in found)


def test_courses_greedy_takes_the_best_next_action_and_stops():
    encoder, _ = workbench()
    wanted = {("right",): 1.0, ("right", "right"): 2.0}
    (course, score), *others = greedy_plans(
        encoder, World(Line(6)), 0, Search(max_length=5),
        lambda courses: np.array([wanted.get(c.actions, 0.0) for c in courses]),
    )  # fmt: skip
    assert course.actions == ("right", "right")
    assert score == 2.0
    looked = [("right",), ("right", "left"), ("right", "right", "left")]
    assert set(looked) < {each.actions for each, _ in others}
    assert course not in [each for each, _ in others]
    values = [value for _, value in others]
    assert values == sorted(values, reverse=True)


def test_courses_greedy_stops_only_at_a_goal():
    encoder, _ = workbench()
    score = lambda courses: np.array([float(c.actions[-1] == "right") for c in courses])  # noqa: E731
    found = greedy_plans(encoder, World(GoalLine(4)), 0, Search(max_length=5), score)
    assert [course.states[-1] for course, _ in found] == [3] * len(found)
    assert greedy_plans(encoder, World(GoalLine(4)), 0, Search(max_length=2), score) == []


def test_courses_errors_of_the_world_name_state_and_action():
    class Broken(Line):
        def step(self, state, action):
            if state == 2:
                raise KeyError("hole")
            return super().step(state, action)

    encoder, _ = workbench()
    with pytest.raises(WorldError, match=r"Broken.step\(2, 'left'\) raised KeyError"):
        enumerate_plans(encoder, World(Broken(5)), 0, Search(max_length=4))


class _Trap:
    """Count to three from zero; four and more is a trap that never reaches the goal."""

    def __init__(self):
        self.asked = []

    def actions(self, state):
        return (1, 2, 4) if state < 8 else ()

    def step(self, state, action):
        return state + action

    def ground(self, state, action, after):
        return GroundingGraph({"step": {f"by {action}": True}})

    def is_goal(self, state):
        return state == 3

    def is_dead_end(self, state):
        self.asked.append(state)
        return state > 3


@pytest.mark.parametrize(
    "learning",
    [
        Learning(),
        Learning(normalise="decisions"),
        Learning(normalise="decisions", alignment="viterbi"),
    ],
)
@pytest.mark.parametrize("budget", [20_000, 60])
def test_dead_ends_are_dropped_and_plans_stay_the_same(learning, budget):
    trap = _Trap()
    shown = [
        Demonstration("one then two", trap, 0, (1, 2)),
        Demonstration("two then one", trap, 0, (2, 1)),
    ]
    search = Search(max_length=3, beam=2, budget=budget)
    follower = Follower(parser="chain", learning=learning, search=search).fit(shown)
    plan = follower.follow("one then two", trap, 0)
    assert plan.end == 3
    assert any(state > 3 for state in trap.asked)
    for each in (plan, *plan.alternatives):
        assert max(each.states) == 3


def test_dead_ends_mean_nothing_without_a_goal():
    trap = World(_Trap())
    assert trap.is_dead_end(4)
    free = _Trap()
    free_world = World(
        type("Free", (), {n: getattr(free, n) for n in ("actions", "step", "is_dead_end")})
    )
    assert not free_world.is_dead_end(4)
