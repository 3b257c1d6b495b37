"""A world of one's own without rewards: what was done and what was left are told apart."""

import pytest

from groundling.errors import GroundlingError, WorldError
from groundling.gym.objects import ObjectWorld
from groundling.gym.verbs import Verb

gymnasium = pytest.importorskip("gymnasium")

START = ("blue jar", "red bowl", "red mug", "white plate")


class Counter(gymnasium.Env):
    """A counter: action n takes away its n-th thing; some things vanish by themselves."""

    action_space = gymnasium.spaces.Discrete(len(START))
    observation_space = gymnasium.spaces.Discrete(2)

    def __init__(self, vanishing=None, keeps=False):
        self.vanishing, self.keeps, self.scene, self.taken = vanishing, keeps, None, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.scene, self.taken = START, []
        return 0, {}

    def step(self, action):
        self.taken.append(START[action])
        if not self.keeps:
            self.scene = tuple(each for each in self.scene if each != START[action])
        self.scene = tuple(each for each in self.scene if each != self.vanishing)
        return 0, 0.0, False, False, {}


class World(ObjectWorld):
    verbs = (Verb("take"),)

    def objects(self, scene, start):
        return {name: dict(zip(("colour", "kind"), name.split(), strict=True)) for name in scene}

    def observe(self, env):
        return env.unwrapped.scene

    def moves(self, scene, action):
        there = [each for each in action.things[0] if each in scene]
        if not there:
            raise GroundlingError("it is gone.")
        return [START.index(there[0])]


@pytest.fixture(scope="module")
def follower():
    world = World()
    shown = [
        world.demonstrate(f"take the {name}", START, [("take", [[name]])]) for name in START
    ] + [
        world.demonstrate(
            "take the bowl then take the blue jar", START,
            [("take", [["red bowl"]]), ("take", [["blue jar"]])],
        ),
        world.demonstrate(
            "take the mug and the plate", START,
            [("take", [["red mug"]]), ("take", [["white plate"]])],
        ),
    ]  # fmt: skip
    return world.follower().fit(shown, check=False)


def act(follower, text, world=None, **settings):
    env = Counter(**settings)
    env.reset()
    return env, (world or World()).agent(follower).act(text, env)


def test_counter_without_rewards_carried_out_is_success(follower):
    env, report = act(follower, "Take the mug. Take the jar.")
    assert env.taken == ["red mug", "blue jar"]
    assert report.success
    assert (report.done, report.left) == (("take the mug", "take the jar"), ())


def test_counter_same_part_twice_is_done_twice(follower):
    env, report = act(follower, "take the mug, then take the mug", keeps=True)
    assert env.taken == ["red mug", "red mug"]
    assert len(report.done) == 2


def test_counter_all_parts_are_accounted_for(follower):
    for text in ("take the jar and the bowl", "take the mug, the plate and the jar"):
        env, report = act(follower, text)
        assert sorted((*report.done, *report.left)) == sorted(World().read(text))
        assert len(env.taken) == len(report.done)


def test_counter_parts_without_action_are_left(follower):
    class Single(World):  # plans for one action only
        def follower(self, **changes):
            return super().follower(search__max_length=1, **changes)

    world = Single()
    shown = [world.demonstrate(f"take the {n}", START, [("take", [[n]])]) for n in START]
    env = Counter()
    env.reset()
    taught = world.follower().fit(shown, check=False)
    report = world.agent(taught, 0).act("Take the mug. Take the jar.", env)
    assert report.ending == "partly understood"
    assert len(env.taken) == len(report.done) == len(report.left) == 1
    assert report.left[0] in report.sentence


def test_counter_what_vanished_is_not_replaced(follower):
    env, report = act(follower, "take the bowl then take the mug", vanishing="red mug")
    assert env.taken == ["red bowl"]
    assert report.ending in ("executor failed", "not understood")
    assert report.done == ("take the bowl",)
    assert report.left == ("then take the mug",)


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        (None, "Odd.moves must return a list .* got None"),
        (2, "Odd.moves must return a list .* got 2"),
        ("left", "Odd.moves must return a list .* got 'left'"),
        ([99], "the environment's action space .* got 99"),
        (["left"], "the environment's action space .* got 'left'"),
    ],
)
def test_counter_moves_are_checked(follower, moves, message):
    class Odd(World):
        def moves(self, scene, action):
            return moves

    with pytest.raises(WorldError, match=message):
        act(follower, "take the mug", Odd())


def test_counter_rewards_decide_where_the_world_says_so(follower):
    class Rewarded(World):
        rewards = True

    _, report = act(follower, "take the mug", Rewarded())
    assert report.ending == "misunderstood"
    assert "take the mug" in report.sentence
