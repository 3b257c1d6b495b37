"""The wrapper tells what a follower would do."""

import pytest

from groundling.errors import SettingError

pytest.importorskip("minigrid")

from groundling.gym.babyai_levels import babyai
from groundling.gym.wrapper import InstructionFollowing


@pytest.fixture(scope="module")
def level():
    return babyai("PutNextLocal")


@pytest.fixture(scope="module")
def follower(level):
    return level.follower().fit(level.record(range(15)))


@pytest.mark.parametrize("replan", [False, True])
def test_wrapper_suggestions_lead_to_the_reward(level, follower, replan):
    env = InstructionFollowing(level.make(), follower, level, replan=replan)
    for seed in range(300, 304):
        _, info = env.reset(seed=seed)
        told = info["instruction"]
        assert told["plan"]
        assert 0 < told["confidence"] <= 1
        assert told["alignment"] == (0, 1)
        assert len(told["parts"]) == 2
        reward = 0.0
        for _ in range(100):
            _, reward, over, _, info = env.step(info["instruction"]["suggestion"])
            if over:
                break
        assert reward > 0
    env.close()


def test_wrapper_follows_another_way_than_suggested(level, follower):
    env = InstructionFollowing(level.make(), follower, level)
    _, info = env.reset(seed=300)
    for move in (0, 0, 1):
        *_, info = env.step(move)
    assert info["instruction"]["suggestion"] is not None
    assert info["instruction"]["left"] == 1
    env.close()


def test_wrapper_needs_a_world_of_objects(follower):
    with pytest.raises(SettingError, match="must be an ObjectWorld"):
        InstructionFollowing(babyai("GoToLocal").make(), follower, "GoToLocal")
