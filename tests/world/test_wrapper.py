"""Wrapped environments: their files, their messages and their starts are those of the inside."""

import json
from typing import NamedTuple

import pytest

from groundling import GroundingGraph, MemoryEnvironment, check_environment
from groundling.data import Codec, Demonstrations
from groundling.data.own import starts_of
from groundling.errors import WorldError
from groundling.history import Memory, Remembered
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Wrapper
from tests.worlds import Line

WRAPPERS = (MemoryEnvironment, lambda world: MemoryEnvironment(Wrapped(world)))


class Wrapped(Wrapper):
    """A wrapper that changes nothing."""

    def __getattr__(self, name):
        if name.startswith("__") or name == "environment":
            raise AttributeError(name)
        return getattr(self.environment, name)


class Patch(NamedTuple):
    wet: frozenset = frozenset()


class Farm:
    def __init__(self, beds=3):
        self.beds = beds

    def initial_state(self):
        return Patch()

    def actions(self, state):
        return tuple(("water", bed) for bed in range(self.beds) if bed not in state.wet)

    def step(self, state, action):
        if action[1] == 1:
            raise KeyError("boom")
        return Patch(state.wet | {action[1]})

    def ground(self, state, action, after):
        return GroundingGraph({"event": {"water": True}, "bed": {"x": action[1]}})


class Dry(Farm):
    def step(self, state, action):
        return Patch(state.wet | {action[1]})


class OwnJson(Dry):
    def state_to_json(self, state):
        return "".join(map(str, sorted(state.wet)))

    def state_from_json(self, data):
        return Patch(frozenset(map(int, data)))

    def action_to_json(self, action):
        return action[1]

    def action_from_json(self, data):
        return ("water", data)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_wrapping_messages_name_the_class_that_people_wrote(wrap):
    world = wrap(Farm())
    [(_, start)] = starts_of(world, "Farm")
    with pytest.raises(WorldError, match=r"Farm\.step\(.* raised KeyError"):
        CachedEnvironment(world).step(start, ("water", 1))
    with pytest.raises(WorldError, match=r"^Farm must follow the Environment protocol"):
        check_environment(world, start)


@pytest.mark.parametrize("kind", [Dry, OwnJson])
@pytest.mark.parametrize("wrap", WRAPPERS)
def test_wrapping_states_and_actions_have_json(wrap, kind):
    world = wrap(kind())
    [(_, start)] = starts_of(world, "Farm")
    codec = Codec(world)
    codec.check(start, *world.actions(start))
    codec.check(world.step(start, ("water", 2)))
    assert codec.owner == kind.__name__
    check_environment(world, start)


def test_wrapping_memory_comes_back_from_json():
    world = MemoryEnvironment(OwnJson())
    heard = world.listen(world.step(world.begin(Patch()), ("water", 2)), "water the last bed")
    assert heard.memory.words
    codec = Codec(world)
    codec.check(heard)
    assert codec.state_from_json({"state": "12"}) == Remembered(Patch(frozenset({1, 2})), Memory())


def test_wrapping_turns_in_a_file_remember_what_was_said_before(tmp_path):
    world = MemoryEnvironment(Dry())
    turns = [("water bed 2", [("water", 2)]), ("and bed 0", [("water", 0)])]
    shown = world.converse(Patch(), turns, name="talk")
    lines = [
        {"text": text, "actions": actions, "group": "talk", "turn": turn}
        for turn, (text, actions) in enumerate(turns, 1)
    ]
    lines[0]["start"] = {"Remembered": {"state": {"Patch": {}}}}
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    back = list(Demonstrations.read(file, worlds=world))
    assert [each.start for each in back] == [each.start for each in shown]


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_wrapping_demonstrations_are_written_and_read(wrap, tmp_path):
    world = wrap(Dry())
    shown = world.converse(Patch(), [("water bed 2", [("water", 2)]), ("0", [("water", 0)])])
    [file] = Demonstrations(shown).write(tmp_path / "shown.jsonl")
    back = list(Demonstrations.read(file, worlds={"Dry": world}, check=True))
    assert [each.start for each in back] == [each.start for each in shown]
    assert [each.actions for each in back] == [each.actions for each in shown]


def test_a_cached_environment_of_a_cached_one_asks_the_environment_itself():
    line = Line()
    twice = CachedEnvironment(CachedEnvironment(line))
    assert twice.environment is line
    assert twice.trace(2, ("left",)).end == 1
