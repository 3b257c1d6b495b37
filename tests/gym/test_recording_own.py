"""Recording in a world of one's own that has neither make nor reset nor a teacher."""

import pytest

from groundling.errors import DemonstrationError, SettingError
from groundling.gym.objects import ObjectWorld
from groundling.gym.recorder import record
from groundling.gym.segmentation import cut
from groundling.gym.verbs import Verb

gymnasium = pytest.importorskip("gymnasium")

DEVICES = ("blue fan", "red lamp")


class Switches(gymnasium.Env):
    """Action n turns the switch of the n-th device."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.MultiDiscrete([2, 2])
    scene = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.scene = (False, seed % 2 == 1)
        return self.scene, {}

    def step(self, action):
        self.scene = tuple(on != (n == action) for n, on in enumerate(self.scene))
        return self.scene, 0.0, False, False, {}


class World(ObjectWorld):
    verbs = (Verb("switch on"), Verb("switch off"))

    def objects(self, scene, start):
        return {
            name: {**dict(zip(("colour", "kind"), name.split(), strict=True)),
                   "state": "on" if on else "off"}
            for name, on in zip(DEVICES, scene, strict=True)
        }  # fmt: skip

    def observe(self, env):
        return env.unwrapped.scene

    def moves(self, scene, action):
        return [DEVICES.index(action.things[0][0])]


class Watching(World):
    def events(self, before, move, after):
        yield 1.0, "switch on" if after[move] else "switch off", (DEVICES[move],)


def play(*moves):
    waiting = list(moves)
    return lambda env, scene: waiting.pop(0) if waiting else None


def test_recording_own_world_uses_what_reset_returned():
    [found] = record(World(), [1], play(0, 1), env=Switches(), texts=["switch on the fan"])
    assert found.observations == found.scenes == ((False, True), (True, True), (True, False))
    assert found.moves == (0, 1)


def test_recording_own_world_says_what_is_missing():
    with pytest.raises(SettingError, match=r"World must have a method make\(\)"):
        record(World(), 1, play(0))
    with pytest.raises(SettingError, match="or pass texts"):
        record(World(), 1, play(0), env=Switches())
    with pytest.raises(SettingError, match="World must have a method mission"):
        record(World(), 1, env=Switches(), texts=["switch it on"])
    with pytest.raises(SettingError, match="one for each seed"):
        record(World(), 2, play(0), env=Switches(), texts=["switch it on"])
    with pytest.raises(SettingError, match="must be an ObjectWorld"):
        record(object(), 1, play(0), env=Switches())


def test_recording_own_world_each_event_is_used_once():
    said = "switch on the fan, then switch off the lamp"
    [found] = record(Watching(), [1], play(0, 1), env=Switches(), texts=[said])
    made = cut(Watching(), found)
    assert [(each.verb, each.things) for each in made.actions] == [
        ("switch on", ("blue fan",)),
        ("switch off", ("red lamp",)),
    ]
    with pytest.raises(DemonstrationError, match=r"events\(before, move, after\)"):
        cut(World(), found)
