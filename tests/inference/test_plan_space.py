"""Plans that a world allows: listed, sampled, beamed, or found greedily."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling import (
    DecisionModel,
    Demonstration,
    Follower,
    GroundingGraph,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import SearchError, WorldError
from groundling.inference.plan_space import (
    beam_plans,
    enumerate_plans,
    greedy_plans,
    sample_plans,
)
from groundling.world import CachedEnvironment
from tests.worlds import GoalLine, Line


def make_score(seed):
    """A score that depends on everything a plan does."""

    def score(plans):
        return np.array(
            [np.random.default_rng([seed, *map(len, p.actions)]).normal() for p in plans]
        )

    return score


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 3), st.booleans(), st.integers(0, 9))
def test_plan_space_beam_without_width_is_exhaustive(size, longest, start, goal, seed):
    world = CachedEnvironment((GoalLine if goal else Line)(size))
    search = Search(max_length=longest, beam=None)
    start = min(start, size - 1)
    every = enumerate_plans(world, start, search)
    beamed = beam_plans(world, start, search, make_score(seed))
    assert {p.actions for p in every} == {p.actions for p in beamed}
    assert len(every) == len(beamed)
    if every:
        scores = make_score(seed)(every)
        assert max(each.score for each in beamed) == scores.max()


def test_plan_space_enumeration_lists_every_walk():
    found = enumerate_plans(CachedEnvironment(Line(3)), 1, Search(max_length=2))
    assert [p.actions for p in found] == [
        ("left",), ("right",), ("left", "right"), ("right", "left"),
    ]  # fmt: skip


def test_plan_space_enumeration_respects_lengths():
    found = enumerate_plans(CachedEnvironment(Line(5)), 2, Search(min_length=2, max_length=2))
    assert {len(p.actions) for p in found} == {2}


def test_plan_space_enumeration_gives_up_over_budget():
    search = Search(max_length=30, budget=100)
    assert enumerate_plans(CachedEnvironment(Line(9)), 4, search) is None


def test_plan_space_enumeration_reaches_goals_only():
    found = enumerate_plans(CachedEnvironment(GoalLine(3)), 0, Search(max_length=4))
    assert found
    assert all(p.states[-1] == 2 for p in found)


def test_plan_space_dead_ends_end_plans():
    class Pit(Line):
        def actions(self, state):
            return () if state == 2 else super().actions(state)

    found = enumerate_plans(CachedEnvironment(Pit(4)), 1, Search(max_length=3))
    assert ("right",) in {p.actions for p in found}
    assert not any(p.actions[:2] == ("right", "right") for p in found)


def test_plan_space_beam_keeps_its_width():
    asked = []

    def score(plans):
        asked.append(len(plans))
        return np.zeros(len(plans))

    beam_plans(CachedEnvironment(Line(50)), 25, Search(max_length=6, beam=2), score)
    assert max(asked) <= 4


def test_plan_space_beam_stops_at_its_budget_before_it_grows():
    class Wide(Line):
        asked = 0

        def actions(self, state):
            return tuple(range(1000))

        def step(self, state, action):
            Wide.asked += 1
            return (state, action)

        def ground(self, state, action, after):
            return GroundingGraph({"event": "go"})

    search = Search(max_length=3, beam=None, budget=500)
    with pytest.raises(SearchError, match=r"Raise Search.budget"):
        beam_plans(CachedEnvironment(Wide()), 0, search, lambda plans: np.zeros(len(plans)))
    assert Wide.asked == 0


def test_plan_space_beam_returns_what_it_has_when_the_budget_ends():
    search = Search(max_length=20, beam=None, budget=20)
    found = beam_plans(CachedEnvironment(Line(9)), 4, search, lambda plans: np.zeros(len(plans)))
    assert {len(p.actions) for p in found} == {1, 2, 3}


def test_plan_space_samples_are_distinct_and_seeded():
    search = Search(max_length=4)
    one, other = (
        sample_plans(CachedEnvironment(Line(6)), 3, search, 10, np.random.default_rng(5))
        for _ in range(2)
    )
    actions = [p.actions for p in one]
    assert actions == [p.actions for p in other]
    assert len(set(actions)) == len(actions) == 10


def test_plan_space_samples_reach_goals_and_survive_dead_ends():
    class Pit(GoalLine):
        def actions(self, state):
            return () if state == 0 else super().actions(state)

    found = sample_plans(
        CachedEnvironment(Pit(3)), 1, Search(max_length=5), 5, np.random.default_rng(0)
    )
    assert found
    assert all(p.states[-1] == 2 for p in found)


def test_plan_space_greedy_takes_the_best_next_action_and_stops():
    wanted = {("right",): 1.0, ("right", "right"): 2.0}
    plan, *others = greedy_plans(
        CachedEnvironment(Line(6)), 0, Search(max_length=5),
        lambda plans: np.array([wanted.get(p.actions, 0.0) for p in plans]),
    )  # fmt: skip
    assert plan.actions == ("right", "right")
    assert plan.score == 2.0
    looked = [("right",), ("right", "left"), ("right", "right", "left")]
    assert set(looked) < {each.actions for each in others}
    assert plan not in others
    values = [each.score for each in others]
    assert values == sorted(values, reverse=True)


def test_plan_space_greedy_stops_only_at_a_goal():
    score = lambda plans: np.array([float(p.actions[-1] == "right") for p in plans])  # noqa: E731
    found = greedy_plans(CachedEnvironment(GoalLine(4)), 0, Search(max_length=5), score)
    assert found
    assert [plan.end for plan in found] == [3] * len(found)
    assert greedy_plans(CachedEnvironment(GoalLine(4)), 0, Search(max_length=2), score) == []


def test_plan_space_errors_of_the_world_name_state_and_action():
    class Broken(Line):
        def step(self, state, action):
            if state == 2:
                raise KeyError("hole")
            return super().step(state, action)

    with pytest.raises(WorldError, match=r"Broken.step\(2, 'left'\) raised KeyError"):
        enumerate_plans(CachedEnvironment(Broken(5)), 0, Search(max_length=4))


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


@pytest.mark.parametrize("model", [PlanModel(), TransducerModel(), DecisionModel()])
@pytest.mark.parametrize("budget", [20_000, 60])
def test_plan_space_dead_ends_are_dropped_and_plans_stay_the_same(model, budget):
    trap = _Trap()
    shown = [
        Demonstration("one then two", trap, 0, (1, 2)),
        Demonstration("two then one", trap, 0, (2, 1)),
    ]
    search = Search(max_length=3, beam=2, budget=budget)
    follower = Follower(parser="chain", model=model, search=search).fit(shown)
    plan = follower.follow("one then two", trap, 0)
    assert plan.end == 3
    assert any(state > 3 for state in trap.asked)
    for each in (plan, *plan.alternatives):
        assert max(each.states) == 3


def test_plan_space_dead_ends_mean_nothing_without_a_goal():
    trap = CachedEnvironment(_Trap())
    assert trap.is_dead_end(4)
    free = _Trap()
    free_world = CachedEnvironment(
        type("Free", (), {n: getattr(free, n) for n in ("actions", "step", "is_dead_end")})
    )
    assert not free_world.is_dead_end(4)
