"""GymWorld: snapshots, interning, caching, cost."""

import pytest

from groundling.errors import LearningWarning, SettingError, WorldError
from groundling.follower import Follower
from groundling.world.environment import Demonstration
from groundling.world.environment_checks import check_environment
from groundling.world.graph import GroundingGraph

gymnasium = pytest.importorskip("gymnasium")

from groundling.gym.simulator import GymWorld, digest  # noqa: E402


class Line(gymnasium.Env):
    """An agent on a line of five cells: 0 goes left, 1 goes right."""

    def __init__(self, noisy=False):
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Discrete(5)
        self.noisy = noisy
        self.stepped = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(1, 4)) if not self.noisy else 2
        return self.at, {}

    def step(self, action):
        self.stepped += 1
        self.at = max(0, min(4, self.at + (1 if action else -1)))
        return self.at, 0.0, self.at == 4, False, {}


class Forgetful(Line, gymnasium.utils.EzPickle):
    def __init__(self):
        gymnasium.utils.EzPickle.__init__(self)
        Line.__init__(self)


def ground(before, action, after):
    return GroundingGraph({"event": {"right" if action else "left": True}})


def where(env, observation):
    return int(env.unwrapped.at)


def walk(world, start, actions):
    for action in actions:
        start = world.step(start, action)
    return start


@pytest.mark.parametrize("way", ["state", "deepcopy", "replay"])
def test_simulator_steps_are_pure_whatever_the_way(way):
    given = (
        {"get_state": lambda env: env.at, "set_state": lambda env, at: setattr(env, "at", at)}
        if way == "state"
        else {}
    )
    world = GymWorld(Line(), ground, way=way, key=where, **given)
    start = world.reset(seed=1)
    there = walk(world, start, [0, 1])
    assert there == start  # interned by the key
    assert walk(world, start, [0]) == walk(world, start, [0])
    assert world.seen(walk(world, start, [0])).observation == world.seen(start).observation - 1
    assert world.way_ == way


def test_simulator_detects_that_ezpickle_forgets():
    world = GymWorld(Forgetful(), ground, key=where)
    assert world.way_ == "replay"
    assert "EzPickle" in world.why_
    assert "get_state and set_state" in world.why_
    with pytest.raises(WorldError, match="Forgetful loses its state: it is an EzPickle"):
        GymWorld(Forgetful(), ground, key=where, way="deepcopy")


def test_simulator_copies_what_can_be_copied():
    assert GymWorld(Line(), ground, key=where).way_ == "deepcopy"


def test_simulator_remembers_steps_and_reports_cost():
    env = Line()
    world = GymWorld(env, ground, key=where, way="replay")
    start = world.reset(seed=1)
    for _ in range(5):
        walk(world, start, [0])
    assert env.stepped == 1
    assert (world.cost.asked, world.cost.simulated) == (5, 1)
    assert "80% cached" in str(world.cost)
    assert "replay" in str(world.cost)


def test_simulator_terminal_states_end_plans():
    world = GymWorld(Line(), ground, key=where)
    end = walk(world, world.reset(seed=1), [1, 1, 1, 1])
    assert world.is_terminal(end)
    assert not world.is_terminal(world.reset(seed=1))


def test_simulator_says_when_replay_leads_elsewhere():
    class Drifting(Line):
        resets = 0

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            Drifting.resets += 1
            self.at = Drifting.resets
            return self.at, {}

    world = GymWorld(Drifting(), ground, key=where, way="replay")
    start = world.reset(seed=1)
    with pytest.raises(WorldError, match="not deterministic"):
        world.step(start, 0)


def test_simulator_refuses_what_it_cannot_do():
    with pytest.raises(SettingError, match="deepcopy, replay; got 'copy'"):
        GymWorld(Line(), ground, way="copy")
    with pytest.raises(SettingError, match="`get_state` and `set_state` must be passed"):
        GymWorld(Line(), ground, get_state=lambda env: env.at)
    env = Line()
    env.action_space = gymnasium.spaces.Box(-1, 1, (2,))
    with pytest.raises(SettingError, match="must be discrete"):
        GymWorld(env, ground)
    with pytest.raises(WorldError, match="must come from this GymWorld"):
        GymWorld(Line(), ground).step("elsewhere", 0)


def test_simulator_default_key_tells_states_apart():
    world = GymWorld(Line(), ground, way="replay")
    start = world.reset(seed=1)
    assert world.step(start, 0) != start
    assert digest({"a": [1, 2]}) != digest({"a": [2, 1]})


def test_simulator_can_be_followed_in():
    world = GymWorld(Line(), ground, key=where)
    start = world.reset(seed=1)
    assert "No problems" in str(check_environment(world, start))
    shown = [
        Demonstration("go left", world, start, (0,)),
        Demonstration("go right", world, start, (1,)),
    ]
    follower = Follower(parser="chain").fit(shown)
    assert follower.follow("please go left", world, start).actions == (0,)


def test_simulator_notices_states_that_are_not_restored():
    def get(env):
        return env.unwrapped.at

    world = GymWorld(Line(), ground, key=where, get_state=get, set_state=lambda env, state: None)
    with pytest.raises(WorldError, match="Let `set_state` restore everything"):
        world.reset(seed=1)


def test_simulator_notices_randomness_of_others():
    flips = iter([0, 1] * 50)

    class Shaken(Line):
        def step(self, action):
            return super().step(next(flips))

        def __deepcopy__(self, memory):
            made = Shaken()
            made.__dict__.update(self.__dict__)
            return made

    world = GymWorld(Shaken(), ground, key=where)
    with pytest.raises(WorldError, match="external randomness"):
        world.reset(seed=1)


def test_simulator_key_must_be_hashable():
    with pytest.raises(WorldError, match="`key` must be hashable"):
        GymWorld(Line(), ground, key=lambda env, observation: [1], way="replay").reset(seed=1)


def test_simulator_says_why_it_replays():
    class Counted(Line):
        def __deepcopy__(self, memory):
            return Counted()

    world = GymWorld(Counted(), ground, key=where)
    if world.way_ == "replay":
        assert world.why_.endswith(
            "Actions are replayed instead; get_state and set_state would be faster."
        )
        assert "way=" not in world.why_
    with pytest.raises(WorldError, match="way='replay'"):
        GymWorld(Counted(), ground, key=where, way="deepcopy")


class Stairs(gymnasium.Env):
    """Commands come from `info`: go up or down between floors, or ring the bell at the top."""

    action_space = gymnasium.spaces.Text(20)
    observation_space = gymnasium.spaces.Text(20)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.floor = 0
        return "floor 0", self.info()

    def info(self):
        ways = ["up"] * (self.floor < 3) + ["down"] * (self.floor > 0)
        return {"commands": [*ways, *(["ring"] * (self.floor == 3))], "floor": self.floor}

    def step(self, command):
        self.floor += {"up": 1, "down": -1}.get(command, 0)
        return (
            f"floor {self.floor}",
            float(command == "ring"),
            command == "ring",
            False,
            self.info(),
        )


def stairs(**settings):
    settings.setdefault("key", lambda env, observation: observation)
    return GymWorld(
        Stairs(),
        lambda before, action, after: GroundingGraph({"event": {action: True}}),
        **settings,
    )


def climb(seen, wish):
    """Plan the stairs that nobody speaks of."""
    return ["up"] * (3 - seen.info["floor"]) + ["ring"] if wish == "ring" else []


@pytest.mark.parametrize("way", ["auto", "replay"])
def test_simulator_takes_actions_from_info(way):
    world = stairs(actions=lambda seen: seen.info["commands"], way=way)
    start = world.reset(seed=0)
    assert world.actions(start) == ("up",)
    assert world.actions(world.step(start, "up")) == ("up", "down")


@pytest.mark.parametrize("way", ["auto", "replay"])
def test_simulator_plans_what_is_not_mentioned(way):
    world = stairs(actions=["ring", "sing"], moves=climb, way=way)
    start = world.reset(seed=0)
    assert world.actions(start) == ("ring",)  # nobody knows how to sing
    end = world.step(start, "ring")
    assert world.seen(end).observation == "floor 3"
    assert world.seen(end).reward == 1
    assert world.is_terminal(end)
    assert world.moves(start, "ring") == ("up", "up", "up", "ring")
    assert world.cost.moves == 4
    with pytest.raises(
        WorldError, match="`moves` must return at least one move for a possible action"
    ):
        world.step(start, "sing")


def test_simulator_advises_where_it_is_slow():
    cost = GymWorld(Line(), ground, key=where, way="replay").cost
    cost.asked = cost.simulated = 10
    cost.moves, cost.seconds = 50, 0.3
    assert "get_state and set_state" in cost.advice
    assert "replay makes 5.0 moves" in cost.advice
    assert "symbolic model" in cost.advice
    cost.way = "deepcopy"
    assert "deepcopy copies the whole" in cost.advice
    cost.way = "state"
    assert "get_state" not in cost.advice
    cost.seconds = 0.01
    assert cost.advice == ""


def test_simulator_warns_of_a_slow_one_while_learning(monkeypatch):
    monkeypatch.setattr("groundling.gym.simulator._MEASURED", 2)
    monkeypatch.setattr("groundling.gym.simulator._SLOW", 0.0)
    world = GymWorld(Line(), ground, key=where, way="replay")
    start = world.reset(seed=1)
    world.step(start, 0)
    with pytest.warns(LearningWarning, match=r"A simulated step takes .* symbolic model"):
        world.step(start, 1)


def test_simulator_progress_is_told_while_the_environment_is_asked(monkeypatch):
    monkeypatch.setattr("groundling.selection.choices._TICK", 0.0)
    world = GymWorld(Line(), ground, key=where)
    start = world.reset(seed=1)
    shown = [Demonstration(f"go {w}", world, start, (a,)) for a, w in enumerate(("left", "right"))]
    stages = []
    Follower(parser="chain").fit(shown, progress=lambda p: stages.append(p.stage) and None)
    assert stages[0] == "examining the demonstrations"
    assert "querying the environments (2 steps)" in stages
