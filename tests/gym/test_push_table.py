"""A world that is no grid: continuous positions, pushing."""

import pytest

pytest.importorskip("gymnasium")

from examples.push_table import PushTable, PushTableWorld
from groundling.gym.agent import Agent


def test_tabletop_passes_gymnasiums_own_check():
    from gymnasium.utils.env_checker import check_env

    check_env(PushTable(), skip_render_check=True)


def test_tabletop_is_learnt_and_carried_out():
    world = PushTableWorld()
    agent = Agent(world.follower().fit(world.record(range(20))), world)
    env = world.make()
    reports = []
    for seed in range(900, 915):
        text, _ = world.reset(env, seed)
        reports.append(agent.act(text, env))
    assert sum(each.success for each in reports) >= 14


def test_tabletop_noise_is_answered_by_planning_anew():
    world = PushTableWorld(noise=0.05)
    agent = Agent(world.follower().fit(world.record(range(20))), world)
    env = world.make()
    reports = []
    for seed in range(900, 910):
        text, _ = world.reset(env, seed)
        reports.append(agent.act(text, env))
    assert sum(each.success for each in reports) >= 7
    assert sum(each.surprises for each in reports) > 0


def test_tabletop_same_seed_same_table():
    one, other = PushTable(), PushTable()
    one.reset(seed=3)
    other.reset(seed=3)
    assert (one.scene, one.mission) == (other.scene, other.mission)
