"""What an action brings about is found from the facts before and after it."""

import random

import pytest

from groundling import Demonstration, Follower, GroundingGraph, check_environment
from groundling.errors import GraphError
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.changes import label_changes, with_changes
from groundling.world.graph import Label

ROOMS = {"gate": ("open", "shut", "locked"), "lamp": ("on", "off"), "fan": ("fast", "slow", "idle")}


class Panel:
    """Buttons without names: each turns one thing to its next state."""

    def facts(self, state):
        return dict(state)

    def actions(self, state):
        return tuple((name, value) for name, values in ROOMS.items() for value in values)

    def step(self, state, action):
        name, value = action
        return tuple((each, value if each == name else now) for each, now in state)

    def ground(self, state, action, after):
        return GroundingGraph({"event": "press"})


def demonstration(rng, world):
    start = tuple((name, rng.choice(values)) for name, values in ROOMS.items())
    while True:
        name = rng.choice(list(ROOMS))
        value = rng.choice(ROOMS[name])
        if (name, value) not in start:
            return Demonstration(f"make sure the {name} is {value}", world, start, ((name, value),))


def test_action_is_found_by_what_it_brings_about():
    rng, world = random.Random(0), Panel()
    shown, test = ([demonstration(rng, world) for _ in range(count)] for count in (40, 40))
    check_environment(world, shown[0].start)
    assert Follower(parser="chain").fit(shown).score(test) >= 0.95

    blind = type("Blind", (), {k: v for k, v in vars(Panel).items() if k != "facts"})()
    follower = Follower(parser="chain").fit(
        [Demonstration(e.instructions, blind, e.start, e.actions) for e in shown], check=False
    )
    followed = [follower.follow(e.instructions, blind, e.start).actions == e.actions for e in test]
    assert sum(followed) < 20


def test_graph_says_what_changes_and_that_nothing_does():
    graph = GroundingGraph({"event": "press"})
    lit, dark = frozenset({Label("lamp", "on")}), frozenset({Label("lamp", "off")})
    changed = with_changes(graph, dark, lit)
    assert [str(each) for each in changed.labels("begins")] == ["lamp=on"]
    assert [str(each) for each in changed.labels("ends")] == ["lamp=off"]
    assert Label("changes nothing") in with_changes(graph, lit, lit).labels("event")


def test_plans_that_idle_or_undo_say_so():
    one, two = frozenset({Label("a")}), frozenset({Label("b")})
    assert label_changes([one, two]) == {"idles": False, "undoes": False}
    assert label_changes([one, one, two]) == {"idles": True, "undoes": False}
    assert label_changes([one, two, one]) == {"idles": False, "undoes": True}


def test_plan_labels_of_the_environment_are_kept():
    class Counting(Panel):
        def label_plan(self, start, actions, states):
            return {"long": True}

    world = CachedEnvironment(Counting())
    start = (("gate", "open"), ("lamp", "on"), ("fan", "idle"))
    after = world.step(start, ("lamp", "on"))
    labels = world.label_plan(start, (("lamp", "on"),), (start, after))
    assert {str(each) for each in labels} == {"long", "idles"}


def test_facts_must_be_labels():
    class Wrong(Panel):
        def facts(self, state):
            return 3

    with pytest.raises(GraphError, match="the state"):
        CachedEnvironment(Wrong()).facts(())
