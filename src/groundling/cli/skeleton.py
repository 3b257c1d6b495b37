"""What `groundling new` writes: a small world that works, to be changed into one's own."""

from __future__ import annotations

import json

__all__ = ["skeleton"]

_WORLD = '''"""A robot goes from room to room and switches lamps. Change it into your world.

Try it:

    groundling check {module}.py:{Name} demonstrations.jsonl
    pytest test_{module}.py
"""

from typing import NamedTuple

from groundling import GroundingGraph


class State(NamedTuple):
    """All that can change. A state is a value: it is never altered, only replaced.

    Strings, numbers, tuples, named tuples, frozen data classes, enumerations and frozen sets
    can be written to files as they are.
    """

    room: str
    lit: frozenset[str] = frozenset()  # the rooms where the lamp is on


class {Name}:
    """What stays the same belongs to the world itself: here, which rooms there are.

    What it is made with can be given by name in a file of demonstrations, such as
    {{"world": {{"{Name}": {{"rooms": ["attic", "garage"]}}}}, ...}}.
    """

    def __init__(self, rooms=("kitchen", "hall", "cellar")):
        self.rooms = tuple(rooms)

    # ---- every world must have these three ----

    def actions(self, state):
        """Return what can be done in a state, always in the same order."""
        go = [("go", room) for room in self.rooms if room != state.room]
        lamp = "switch off" if state.room in state.lit else "switch on"
        return [*go, (lamp, state.room)]

    def step(self, state, action):
        """Return the state after an action."""
        verb, room = action
        if verb == "go":
            return state._replace(room=room)
        return state._replace(lit=state.lit ^ {{room}})

    def ground(self, state, action, after):
        """Return how an action looks: things and what is true of them, and how they hang together.

        Words can only be learnt for what is labelled here. A label is True, a string or a
        number, and keeps its kind. Label what people speak of: here the verb and the room.
        """
        verb, room = action
        return GroundingGraph(
            nodes={{"event": {{verb: True}}, "place": {{"room": room}}}},
            edges=[("event", "place", "at")],
        )

    # ---- some may have more, such as these ----

    def initial_state(self):
        """Return where all commands begin, unless told otherwise."""
        return State(self.rooms[0])

    def describe(self, state):
        """Return a line for people."""
        lit = ", ".join(sorted(state.lit)) or "nowhere"
        return f"in the {{state.room}}; light: {{lit}}"
'''

_TEST = '''"""The world keeps its contract, demonstrations fit it, and something is learnt."""

from pathlib import Path

from groundling import Follower, check_environment
from groundling.data import Demonstrations

from {module} import {Name}, State

FILE = Path(__file__).with_name("demonstrations.jsonl")


def test_world_keeps_its_contract():
    world = {Name}()
    print(check_environment(world, world.initial_state()))


def test_demonstrations_can_be_carried_out():
    assert len(list(Demonstrations.read(FILE, worlds={Name}, check=True))) > 0


def test_follower_learns_from_the_demonstrations():
    follower = Follower().fit(Demonstrations.read(FILE, worlds={Name}))
    plan = follower.follow("go to the cellar", {Name}(), State("kitchen"))
    assert plan.actions == (("go", "cellar"),)
'''

_SHOWN: tuple[tuple[str, str, tuple[str, ...], tuple[tuple[str, str], ...]], ...] = (
    ("go to the hall", "kitchen", (), (("go", "hall"),)),
    ("go to the kitchen", "cellar", (), (("go", "kitchen"),)),
    ("please walk to the cellar", "hall", (), (("go", "cellar"),)),
    ("walk to the kitchen", "hall", ("hall",), (("go", "kitchen"),)),
    ("turn on the light", "hall", (), (("switch on", "hall"),)),
    ("turn the light off", "cellar", ("cellar", "hall"), (("switch off", "cellar"),)),
    ("turn off the light", "kitchen", ("kitchen",), (("switch off", "kitchen"),)),
    ("turn the light on", "cellar", ("kitchen",), (("switch on", "cellar"),)),
    ("go to the cellar and turn on the light", "hall", (),
     (("go", "cellar"), ("switch on", "cellar"))),
    ("turn off the light and go to the hall", "kitchen", ("kitchen",),
     (("switch off", "kitchen"), ("go", "hall"))),
)  # fmt: skip


def skeleton(module: str) -> tuple[str, dict[str, str]]:
    """Return the class of a new world, and its files by name.

    >>> name, files = skeleton("my_world")
    >>> name, sorted(files)
    ('MyWorld', ['demonstrations.jsonl', 'my_world.py', 'test_my_world.py'])
    """
    name = "".join(part[:1].upper() + part[1:] for part in module.split("_"))
    if name in ("State", "GroundingGraph", "NamedTuple"):
        name += "World"
    lines = [json.dumps({"format": "groundling-demonstrations", "version": 1})]
    for text, room, lit, actions in _SHOWN:
        state: dict[str, object] = {"room": room}
        if lit:
            state["lit"] = {"$set": lit}
        record = {"text": text, "start": {"State": state}, "actions": actions}
        lines.append(json.dumps(record))
    return name, {
        f"{module}.py": _WORLD.format(module=module, Name=name),
        "demonstrations.jsonl": "\n".join(lines) + "\n",
        f"test_{module}.py": _TEST.format(module=module, Name=name),
    }
