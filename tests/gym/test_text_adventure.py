"""The text adventure: quests in words, names that share words, ways that nobody mentions."""

import pytest

pytest.importorskip("gymnasium")

from benchmarks.adventure import measure
from examples.text_adventure import COMMAND, Adventure, demonstrate, make_world, route, wishes
from groundling import GroundingGraph
from groundling.gym import GymWorld


def test_adventure_quests_can_be_won():
    world, lengths = make_world(), set()
    for seed in range(30):
        shown = demonstrate(world, seed)
        state = shown.start
        for action in shown.actions:
            assert not world.is_terminal(state)
            state = world.step(state, action)
        assert world.seen(state).terminated
        assert world.seen(state).reward == 1
        lengths.add(len(shown.actions))
    assert min(lengths) <= 4
    assert max(lengths) >= 13


def test_adventure_leaves_out_ways_and_doors():
    env = Adventure()
    for seed in range(20):
        _, info = env.reset(seed=seed)
        assert "through" not in env.text
        assert " door" not in env.text
        for wish in wishes(info):
            *ways, last = route(info, wish) or [wish]
            assert COMMAND.fullmatch(wish)
            assert wish.startswith("go to") or last == wish
            assert all(each.startswith(("open ", "go through ")) for each in ways)


def test_adventure_is_the_same_for_a_seed():
    one, two = Adventure(), Adventure()
    assert one.reset(seed=3) == two.reset(seed=3)
    assert (one.text, one.quest) == (two.text, two.quest)
    assert one.step("go through oak door") == two.step("go through oak door")


def test_adventure_quests_are_learnt_and_won():
    found = measure(learn=20, test=8)
    assert found["won"] >= 0.75


def test_textworld_games_are_a_gym_world(tmp_path):
    """TextWorld lists its commands in `info`; it can only be replayed."""
    textworld = pytest.importorskip("textworld")
    gym = pytest.importorskip("textworld.gym")
    options = textworld.GameOptions()
    options.seeds, options.path = 1, str(tmp_path / "game.z8")
    options.nb_rooms = options.quest_length = 2
    file, _ = textworld.make(options)
    asked = textworld.EnvInfos(admissible_commands=True, feedback=True)
    name = gym.register_game(file, asked)

    class Game:
        """The calls of Gymnasium, for an environment of the older Gym."""

        action_space = None

        def __init__(self):
            self.env = gym.make(name)
            self.unwrapped = self

        def reset(self, *, seed=None, options=None):
            return self.env.reset()

        def step(self, command):
            observation, score, done, info = self.env.step(command)
            return observation, float(score), done, False, info

    world = GymWorld(
        Game(),
        lambda before, action, after: GroundingGraph({"event": {action.split()[0]: True}}),
        actions=lambda seen: sorted(seen.info["admissible_commands"]),
        key=lambda env, observation: observation,
        way="replay",
    )
    start = world.reset(seed=0)
    assert world.actions(start)
    assert world.seen(world.step(start, world.actions(start)[0])).observation
