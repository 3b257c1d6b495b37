"""Plans made of the simulator's own moves."""

import pytest

pytest.importorskip("minigrid")

from groundling.gym.babyai_levels import babyai
from groundling.gym.grid import parse_grid, step
from groundling.gym.primitive import distances
from groundling.world.environment_checks import check_environment


def test_primitive_distances_count_moves():
    state = parse_grid("######", "#>  b#", "#    #", "######")
    assert distances(state) == {0: 2}
    assert distances(step(state, "left")) == {0: 3}
    assert distances(step(state, "forward")) == {0: 1}
    assert distances(parse_grid("#######", "#> D b#", "#######")) == {0: 1, 1: 4}


def test_primitive_small_levels_are_learnt():
    level = babyai("GoToLocalS5N2", actions="primitive")
    follower = level.follower().fit(level.record(range(40)))
    env = level.make()
    done = []
    for seed in range(800, 815):
        text, _ = level.reset(env, seed)
        done.append(level.agent(follower).act(text, env))
    env.close()
    assert sum(each.success for each in done) >= 13


def test_primitive_environment_keeps_its_contract():
    level = babyai("GoToObjS4", actions="primitive")
    [shown] = level.record([0])
    report = check_environment(shown.environment, shown.start)
    assert "No problems" in str(report), str(report)
