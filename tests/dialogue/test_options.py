"""Options: plans grouped by where they end."""

import math

import pytest

from groundling.dialogue.options import group_by_outcome
from groundling.dialogue.outcomes import all_options, all_plans, decoded_plan, rank_plans, world_of
from tests.dialogue.conftest import Scene


def test_options_are_all_plans_grouped_by_outcome(follower, house):
    request = ("grab the lamp and walk to the hall", house, Scene("kitchen"))
    [plans], [options] = all_plans(follower, [request]), all_options(follower, [request])
    assert math.isclose(math.fsum(plan.probability for plan in plans), 1)
    expected = {}
    for plan in plans:
        expected[plan.end] = expected.get(plan.end, 0.0) + plan.probability
    assert {each.outcome: pytest.approx(each.probability) for each in options} == expected
    falling = [each.probability for each in options]
    assert falling == pytest.approx(sorted(falling, reverse=True), rel=1e-9)  # ties are equal
    for each in options:
        same = [plan for plan in plans if plan.end == each.outcome]
        assert each.plan.probability == max(plan.probability for plan in same)


def test_options_agree_with_follow(follower, house):
    request = ("take the book", house, Scene("attic"))
    plan, [options] = follower.follow(*request), all_options(follower, [request])
    assert options[0].outcome == plan.end
    assert options[0].probability == pytest.approx(plan.confidence)
    few = group_by_outcome((plan, *plan.alternatives))
    assert [each.outcome for each in few[:2]] == [each.outcome for each in options[:2]]
    assert sum(each.probability for each in few) <= 1 + 1e-9


def test_options_are_decoded_as_by_follow(follower, house):
    request = ("take the book", house, Scene("attic"))
    [plans] = all_plans(follower, [request])
    found = decoded_plan(follower, plans, world_of(follower, house), rank_plans(plans)[:11])
    plan = follower.follow(*request)
    assert found.actions == plan.actions
    assert found.confidence == pytest.approx(plan.confidence)
    assert [p.actions for p in found.alternatives] == [p.actions for p in plan.alternatives]
