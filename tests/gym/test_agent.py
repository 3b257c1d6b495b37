"""Agents act, watch, plan anew, and say how it ended."""

import pytest

pytest.importorskip("minigrid")

from groundling.errors import SettingError, WorldError
from groundling.gym.agent import Agent, carry_out
from groundling.gym.babyai_levels import babyai


@pytest.fixture(scope="module")
def level():
    return babyai("GoToLocal")


@pytest.fixture(scope="module")
def follower(level):
    return level.follower().fit(level.record(range(25)))


@pytest.fixture
def env(level):
    env = level.make()
    yield env
    env.close()


def test_acting_succeeds_by_the_reward(level, follower, env):
    agent = Agent(follower, level)
    reports = []
    for seed in range(500, 510):
        text, _ = level.reset(env, seed)
        reports.append(agent.act(text, env))
    assert all(each.success and each.reward > 0 for each in reports)
    assert reports[0].done
    assert not reports[0].left
    assert str(reports[0]).startswith("Done: go to")


def test_acting_tells_misunderstanding_from_failure(level, follower, env):
    text, scene = level.reset(env, 500)
    named = text.split()[-1]
    others = [
        f"go to the {thing.colour} {thing.kind}"
        for number, thing in enumerate(scene.layout.things)
        if thing.kind != named
    ]
    report = level.agent(follower).act(others[0], env)
    assert report.ending in ("misunderstood", "success")  # the way there may pass the other
    level.reset(env, 500)
    stuck = level.macro("go to", [{0}])

    class Closed(type(level)):
        def moves(self, scene, action):
            from groundling.gym.grid_planner import PlanningError

            raise PlanningError("There is no way to the thing.")

    closed = Closed(level.level)
    failed = carry_out(closed, env, [stuck])
    assert failed.ending == "executor failed"
    assert "no way" in failed.sentence
    assert failed.left


def test_acting_does_nothing_that_it_does_not_understand(level, follower, env):
    level.reset(env, 500)
    report = Agent(follower, level, threshold=0.9).act("sing me a song", env)
    assert report.ending == "not understood"
    assert report.moves == 0
    assert "I do not understand" in report.sentence
    assert Agent(follower, level).act("", env).ending == "not understood"


class Slippery:
    """An environment that turns the agent round once, in the middle of its way."""

    def __init__(self, env):
        self.env = env
        self.count = 0

    @property
    def unwrapped(self):
        return self.env.unwrapped

    def step(self, move):
        self.count += 1
        found = self.env.step(move)
        if self.count == 2 and not found[2]:
            self.env.unwrapped.agent_dir = (self.env.unwrapped.agent_dir + 2) % 4
        return found


def test_acting_plans_anew_when_the_world_is_not_as_expected(level, follower, env):
    surprised = 0
    for seed in range(500, 512):
        text, _ = level.reset(env, seed)
        report = Agent(follower, level).act(text, Slippery(env))
        assert report.success, text
        surprised += report.surprises
    assert surprised > 0


class Thief(Slippery):
    """An environment in which the things of the second part disappear after some moves."""

    def step(self, move):
        self.count += 1
        found = self.env.step(move)
        if self.count == 1:
            grid = self.env.unwrapped.grid
            for place, each in enumerate(grid.grid):
                if each is not None and each.type == "ball":
                    grid.grid[place] = None
        return found


def test_acting_follows_what_is_left_when_something_is_gone(level, follower, env):
    for seed in range(500, 530):
        _, scene = level.reset(env, seed)
        kinds = [thing.kind for thing in scene.layout.things]
        if "ball" in kinds and "box" in kinds:
            break
    agent = Agent(follower, level)
    report = agent.act("go to a box then go to a ball", Thief(env))
    assert report.surprises > 0 or report.ending == "success"
    assert report.ending in ("misunderstood", "success", "out of time", "executor failed")


def test_acting_below_its_threshold_says_how_to_change_it(level, follower, env):
    level.reset(env, 500)
    report = level.agent(follower).act("sing me a song", env)
    assert (report.ending, report.moves) == ("not understood", 0)
    assert "below 0.5" in report.sentence
    assert "threshold=" in report.sentence
    assert level.agent(follower, 0).act("sing me a song", env).moves > 0
    wary = level.follower(search__threshold=0.7)
    assert wary.threshold == 0.7
    assert Agent(follower, level).threshold == 0.5
    with pytest.raises(SettingError, match="search__threshold"):
        level.follower(threshold=0.7)
    with pytest.raises(SettingError, match="Did you mean 'search'"):
        level.follower(serach=1)
    with pytest.raises(SettingError, match="between 0 and 1"):
        level.agent(follower, 7).act("go to a box", env)


def test_acting_says_what_was_planned_if_it_was_not_meant(level, follower, env):
    for seed in range(500, 520):
        text, scene = level.reset(env, seed)
        others = {thing.kind for thing in scene.layout.things} - {text.split()[-1], "wall", "door"}
        if not others:
            continue
        kind = sorted(others)[0]
        report = level.agent(follower).act(f"go to the {kind}", env)
        if report.ending == "misunderstood":
            assert f"go to the {kind}" in report.sentence
            return
    pytest.fail("every way led past what was meant")


def test_acting_needs_an_environment_that_was_reset(level, follower):
    env = level.make()
    with pytest.raises(WorldError, match="must be reset first"):
        level.agent(follower).act("go to a box", env)
    env.close()
