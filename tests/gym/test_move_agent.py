"""Agents of a GymWorld act in a running environment, and plan anew where it goes elsewhere."""

import pytest

from groundling import Search, TransducerModel
from groundling.errors import WorldError
from groundling.follower import Follower
from groundling.world.environment import Demonstration
from groundling.world.graph import GroundingGraph

gymnasium = pytest.importorskip("gymnasium")

from groundling.gym.move_agent import MoveAgent  # noqa: E402
from groundling.gym.simulator import GymWorld  # noqa: E402

NAMES = ("left", "down", "right", "up")


def make(**settings):
    settings = {"is_slippery": False, "map_name": "4x4", **settings}
    return gymnasium.make("FrozenLake-v1", **settings)


def ground(before, action, after):
    return GroundingGraph({"event": {NAMES[action]: True}})


def where(env, observation):
    return int(env.unwrapped.s)


def lake(**settings):
    return GymWorld(make(), ground, key=where, **settings)


@pytest.fixture(scope="module")
def follower():
    world = lake()
    start = world.reset(seed=0)
    shown = [Demonstration(f"go {name}", world, start, (i,)) for i, name in enumerate(NAMES)]
    model = TransducerModel(unaligned_cost=2, fertility_cost=2)  # sentence by sentence
    return Follower(model=model, parser="chain", search=Search(max_length=8, beam=3)).fit(shown)


def begun(**settings):
    env = make(**settings)
    env.reset(seed=0)
    return env


@pytest.mark.parametrize("way", ["deepcopy", "replay"])
def test_moving_does_what_was_planned(follower, way):
    env = begun()
    report = lake(way=way).agent(follower).act("Go down. Go down. Go right.", env)
    assert report.success
    assert (report.moves, report.surprises, env.unwrapped.s) == (3, 0, 9)
    assert report.done == ("Go down", "Go down", "Go right")


class Slip(gymnasium.Wrapper):
    """The second move goes nowhere."""

    moves = 0

    def step(self, action):
        self.moves += 1
        if self.moves == 2:
            return self.unwrapped.s, 0.0, False, False, {}
        return self.env.step(action)


def test_moving_plans_anew_what_is_left(follower):
    env = Slip(begun())
    report = lake(way="deepcopy").agent(follower).act("Go down. Go down. Go right.", env)
    assert report.success
    assert (report.moves, report.surprises, env.unwrapped.s) == (4, 1, 9)


def test_moving_tells_when_the_episode_ends_before_all_is_done(follower):
    report = lake().agent(follower).act("Go right. Go down. Go down.", begun())  # into a hole
    assert not report.success
    assert report.left == ("Go down",)
    assert report.moves == 2


def test_moving_knows_by_the_reward_where_the_environment_tells(follower):
    way = "Go down. Go down. Go right. Go right. Go down. Go right."
    assert lake(rewards=True).agent(follower).act(way, begun()).reward == 1.0
    report = lake(rewards=True).agent(follower).act("Go down.", begun())
    assert report.ending == "misunderstood"


def test_moving_does_nothing_that_it_does_not_understand(follower):
    env = begun()
    report = MoveAgent(follower, lake(), threshold=0.999999).act("Sing aloud.", env)
    assert report.ending == "not understood"
    assert (report.moves, env.unwrapped.s) == (0, 0)
    assert MoveAgent(follower, lake()).act(" ", env).ending == "not understood"


def test_moving_begins_elsewhere_by_what_was_observed(follower):
    env = begun()
    observation, *_ = env.step(1)
    with pytest.raises(WorldError, match="must be in its initial state for seed 0"):
        lake().agent(follower).act("Go down.", env)
    report = MoveAgent(follower, lake(way="deepcopy")).act("Go down.", env, observation)
    assert report.success
    assert env.unwrapped.s == 8
    with pytest.raises(WorldError, match="that replays actions cannot start from an observation"):
        MoveAgent(follower, lake(way="replay")).act("Go down.", env, observation)


def test_moving_needs_an_environment_of_its_own(follower):
    world = lake()
    with pytest.raises(WorldError, match="must not be the simulator of the GymWorld"):
        world.agent(follower).act("Go down.", world.env)


class Drift(Slip):
    """The second move leads where nobody would expect it."""

    def step(self, action):
        answer = super().step(action)
        if self.moves == 2:
            self.unwrapped.s = 13
            return 13, *answer[1:]
        return answer


def test_moving_goes_on_from_a_state_that_was_never_simulated(follower):
    env = Drift(begun())
    assert lake(way="deepcopy").agent(follower).act("Go down. Go right. Go left.", env).success
    assert env.unwrapped.s == 13


def test_moving_that_cannot_be_replayed_is_told(follower):
    report = lake(way="replay").agent(follower).act("Go down. Go right. Go left.", Drift(begun()))
    assert report.ending == "executor failed"
    assert "not deterministic" in report.sentence


def test_moving_accounts_for_all_sentences(follower):
    env = make()
    env.reset(seed=0)
    report = lake().agent(follower).act("Go right. Go right. Go right. Go right. Go right.", env)
    assert len(report.done) + len(report.left) == 5
    assert report.success == (not report.left)


def test_moving_a_won_episode_is_a_success_whatever_is_left(follower):
    way = "Go down. Go down. Go right. Go right. Go down. Go right. Go left."
    report = lake().agent(follower).act(way, begun())
    assert report.success
    assert report.left == ("Go left",)
    assert "Not needed: Go left." in report.sentence


def test_moving_reads_texts_as_fit_does(follower, monkeypatch):
    asked = []
    follow = Follower.follow

    def noticed(self, text, *rest, **more):
        asked.append(list(text))
        return follow(self, text, *rest, **more)

    monkeypatch.setattr(Follower, "follow", noticed)
    report = lake().agent(follower).act("Go down! Go down. Go right.", begun())
    assert asked[0] == ["Go down!", "Go down.", "Go right."]
    assert report.done == ("Go down", "Go down", "Go right")


class Other(gymnasium.Env):
    """A lake of another kind, whose observations are the same."""

    action_space = gymnasium.spaces.Discrete(4)
    observation_space = gymnasium.spaces.Discrete(16)

    def __init__(self):
        self.lake = make()

    def reset(self, *, seed=None, options=None):
        return self.lake.reset(seed=seed)

    def step(self, action):
        return self.lake.step(action)


def test_moving_says_what_it_needs_of_the_running_environment(follower):
    env = Other()
    env.reset(seed=0)
    with pytest.raises(
        WorldError, match=r"`key` raised AttributeError.* a Other, but GymWorld simulates"
    ):
        lake().agent(follower).act("Go down.", env, 0)
    twin = GymWorld(
        make(), ground, key=lambda env, observation: int(observation),
        get_state=lambda env: env.unwrapped.s,
        set_state=lambda env, state: setattr(env.unwrapped, "s", state),
    )  # fmt: skip
    report = twin.agent(follower).act("Go down. Go right.", env, start=twin.reset(seed=0))
    assert report.success
    assert env.lake.unwrapped.s == 5
