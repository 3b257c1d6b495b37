"""Plans as a tree are the plans they stand for."""

import numpy as np

from groundling import Search
from groundling.inference.plan_space import PlanTree, ScoredPlans, enumerate_plans
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.trajectory import Trajectory
from tests.worlds import Line


def listed(world, start, length):
    """List all plans the slow way."""
    layer, found = [Trajectory((start,))], []
    for _ in range(length):
        layer = [
            plan.extended(action, world.step(plan.end, action))
            for plan in layer
            for action in world.actions(plan.end)
        ]
        found += layer
    return found


def test_plan_tree_holds_what_listing_gives():
    world = CachedEnvironment(Line(4, {1: "lamp"}))
    tree = enumerate_plans(world, 1, Search(max_length=3))
    assert list(tree) == listed(world, 1, 3)
    assert [tree[place] for place in range(len(tree))] == list(tree)
    assert tree[1:3] == list(tree)[1:3]
    assert tree.ends() == [plan.end for plan in tree]


def test_plan_tree_takes_a_few_bytes_a_plan():
    tree = PlanTree("start")
    tree.keep(tree.grow(0, "go", "end") for _ in range(1000))
    assert tree.nbytes < 30_000


def test_plan_tree_scores_stay_with_their_plans():
    plans = [Trajectory(("a", "b"), ("go",)), Trajectory(("a", "c"), ("stop",))]
    scored = ScoredPlans(plans, np.array([1.0, 2.0]))
    assert [(plan.actions, plan.score) for plan in scored] == [(("go",), 1.0), (("stop",), 2.0)]
    again = ScoredPlans(scored, np.array([3.0, 4.0]))
    assert (again[1].end, again[1].score, again.ends()) == ("c", 4.0, ["b", "c"])
