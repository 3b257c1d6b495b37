"""Counting plans: any length, however many there are, gives a number."""

import math

import pytest

from groundling.learning.plan_counts import PlanCounts, count_plans
from groundling.world.cached_environment import CachedEnvironment


class Tree:
    """Every action leads to a state of its own."""

    def __init__(self, width=4):
        self.width = width

    def actions(self, state):
        return tuple(range(self.width))

    def step(self, state, action):
        return (*state[-6:], action)

    def ground(self, state, action, after): ...


@pytest.mark.parametrize("length", [800, 8_000, 100_000])
@pytest.mark.parametrize("width", [1, 2, 4, 90])
def test_counting_plans_of_any_length_gives_a_number(width, length):
    plans, actions = count_plans(CachedEnvironment(Tree(width)), (), length)
    assert 0 < plans < math.inf
    assert 0 < actions < math.inf
    counts = PlanCounts([(CachedEnvironment(Tree(width)), ())] * 3)
    assert math.isfinite(counts.plans(length) * 1e15)


def test_counting_plans_of_few_actions_takes_the_last_step_for_all_that_follow():
    # 4 + 16 + 64 + 256 are counted, with 340 steps; 1024 more, and each further step four times.
    plans, _ = count_plans(CachedEnvironment(Tree(4)), (), 9)
    assert plans == 4 + 16 + 64 + 256 + 1024 + 1024 * 4.0**4
