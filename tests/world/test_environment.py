"""A world remembers answers, and its errors say which question went wrong."""

import re
from collections import namedtuple
from dataclasses import dataclass

import pytest

from groundling.errors import DemonstrationError, GraphError, WorldError
from groundling.world import CachedEnvironment, Demonstration, Environment, GroundingGraph
from groundling.world.reprs import shorten
from tests.world.test_environment_checks import Corridor


def test_environment_protocol_recognises_environments():
    assert isinstance(Corridor(), Environment)
    assert not isinstance(object(), Environment)


def test_world_asks_every_question_once():
    class Counting(Corridor):
        asked = 0

        def step(self, state, action):
            self.asked += 1
            return super().step(state, action)

    world = CachedEnvironment(Counting())
    assert [world.step(0, "right") for _ in range(3)] == [1, 1, 1]
    world.ground(0, "right")
    assert world.environment.asked == 1


def test_world_has_no_actions_in_terminal_states():
    class Ending(Corridor):
        def is_terminal(self, state):
            return state == 3

    assert CachedEnvironment(Ending()).actions(3) == ()


def test_world_takes_an_action_once_that_is_listed_twice():
    class Twice(Corridor):
        def actions(self, state):
            return (*super().actions(state), *super().actions(state))

    world, once = CachedEnvironment(Twice()), CachedEnvironment(Corridor())
    assert world.actions(2) == once.actions(2)
    assert world.repeated == "Twice.actions(2)"
    assert not once.repeated
    assert not world.notice(2)


def test_world_notices_changes_where_only_the_graph_is_still_cached():
    """The cache may have dropped the step that led to a graph it still knows."""
    world = CachedEnvironment(Corridor())
    for action in world.actions(2):
        world.ground(2, action)
    world._of(2).steps.clear()
    assert not world.notice(2)


def test_world_without_a_goal_test_may_end_anywhere():
    world = CachedEnvironment(Corridor())
    assert not world.has_goal
    assert world.is_goal(3)


def test_world_error_names_method_state_and_action():
    class Broken(Corridor):
        def step(self, state, action):
            raise RuntimeError("the floor gave way")

    with pytest.raises(WorldError) as caught:
        CachedEnvironment(Broken()).step(4, "left")
    message = str(caught.value)
    assert "Broken.step(4, 'left') raised RuntimeError: the floor gave way" in message
    assert "check_environment" in message


@pytest.mark.parametrize("start", [[0], {"cell": 0}])
def test_world_refuses_unhashable_start_states(start):
    with pytest.raises(WorldError, match="must be hashable"):
        CachedEnvironment(Corridor()).actions(start)


def test_world_refuses_unhashable_next_states():
    class Broken(Corridor):
        def step(self, state, action):
            return [1]

    with pytest.raises(WorldError, match=r"got \[1\], a list from .*step\(0, 'right'\)"):
        CachedEnvironment(Broken()).step(0, "right")


def test_world_refuses_unhashable_actions():
    class Broken(Corridor):
        def actions(self, state):
            return [{"go": 1}]

    with pytest.raises(WorldError, match=r"got \{'go': 1\}, a dict from .*actions\(0\)"):
        CachedEnvironment(Broken()).actions(0)


def test_world_refuses_unhashable_outcomes():
    class Broken(Corridor):
        def outcome(self, state):
            return [state]

    with pytest.raises(WorldError, match=r"got \[0\], a list from .*outcome\(0\)"):
        CachedEnvironment(Broken()).outcome(0)


@pytest.mark.parametrize("answer", [None, 5, "right"])
def test_world_refuses_actions_that_are_no_collection(answer):
    environment = type("Broken", (Corridor,), {"actions": lambda self, state: answer})()
    with pytest.raises(WorldError, match="return a tuple"):
        CachedEnvironment(environment).actions(0)


def test_world_refuses_what_is_not_a_grounding_graph():
    class Broken(Corridor):
        def ground(self, state, action, after):
            return "a picture"

    with pytest.raises(WorldError, match="must return a GroundingGraph; got 'a picture'"):
        CachedEnvironment(Broken()).ground(0, "right")


def test_world_says_which_action_has_a_broken_graph():
    class Broken(Corridor):
        def ground(self, state, action, after):
            return GroundingGraph({"cell": {"far": float("nan")}})

    with pytest.raises(GraphError, match=r"Broken.ground\(0, 'right', 1\): The label 'far'"):
        CachedEnvironment(Broken()).ground(0, "right")


def test_world_trace_passes_all_states():
    trace = CachedEnvironment(Corridor()).trace(0, ("right", "right", "left"))
    assert trace.states == (0, 1, 2, 1)
    assert len(trace.graphs) == 3


def test_world_trace_names_the_impossible_action():
    with pytest.raises(DemonstrationError) as caught:
        CachedEnvironment(Corridor()).trace(0, ("right", "up"), "The walk")
    message = str(caught.value)
    assert "The walk: action 2, 'up', is impossible in state 1" in message
    assert "Possible there: 'left', 'right'." in message


class House:
    """Many lamps, each of which is on or off."""

    def actions(self, on):
        return [("off" if each in on else "on", *each) for each in ROOMS]

    def step(self, on, action):
        return on ^ {action[1:]}

    def ground(self, on, action, after):
        return GroundingGraph({"event": {action[0]: True}})


ROOMS = [(room, what) for what in ("lamp", "fan") for room in ("attic", "barn", "cellar", "den",
                                                               "hall", "kitchen")]  # fmt: skip


def test_world_names_the_possible_actions_that_are_nearest_to_an_impossible_one():
    with pytest.raises(DemonstrationError) as caught:
        CachedEnvironment(House()).trace(frozenset(), [("off", "kitchen", "fan")])
    assert "Did you mean ('on', 'kitchen', 'fan') or ('on', 'kitchen', 'lamp')? Possible" in str(
        caught.value
    )


def test_world_says_that_one_action_was_given_instead_of_a_list():
    shown = Demonstration("light the kitchen", House(), frozenset(), ("on", "kitchen", "lamp"))
    with pytest.raises(DemonstrationError, match=re.escape(
        "write actions=[('on', 'kitchen', 'lamp')]."
    )):  # fmt: skip
        CachedEnvironment(House()).trace(shown.start, shown.actions)


Lit = namedtuple("Lit", "room on")


@dataclass(frozen=True)
class Kept:
    on: frozenset


def test_shorten_shows_sets_in_an_order_of_their_own():
    """Hashes of strings differ between processes; so many orders are not the sorted one by luck."""
    names = "gdbfaech"
    listed = ", ".join(map(repr, sorted(names)))
    assert shorten(set(names)) == f"{{{listed}}}"
    assert shorten(Lit("den", frozenset(names))) == f"Lit(room='den', on=frozenset({{{listed}}}))"
    assert shorten(Kept(frozenset(names))) == f"Kept(on=frozenset({{{listed}}}))"
    mixed = {("a", None), ("b", 2), ("a", 1), *names}
    assert shorten(mixed) == f"{{{listed}, ('a', 1), ('a', None), ('b', 2)}}"
    sets = {frozenset("ab"), frozenset("cd"), frozenset("c")}
    assert shorten(sets).endswith("frozenset({'c'}), frozenset({'c', 'd'})}")
    assert shorten((set(), frozenset())) == "(set(), frozenset())"
    assert len(shorten(frozenset(range(100_000)))) == 80


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_demonstration_refuses_impossible_weights(weight):
    with pytest.raises(DemonstrationError, match="weight"):
        Demonstration("go", Corridor(), 0, ("right",), weight=weight)


def test_demonstration_is_named_by_its_text_or_its_name():
    shown = Demonstration("go right", Corridor(), 0, ("right",))
    assert str(shown) == "The demonstration 'go right'"
    named = Demonstration("go", Corridor(), 0, ("right",), name="walk 3")
    assert str(named) == "The demonstration 'walk 3'"
