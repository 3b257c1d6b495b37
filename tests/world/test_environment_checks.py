"""check_environment tells in plain sentences what an environment does wrong."""

from dataclasses import dataclass

import numpy as np
import pytest

from groundling.errors import WorldError
from groundling.world import Demonstration, GroundingGraph, check_environment
from groundling.world.environment_checks import apart


class Corridor:
    """Cells 0 … 5 in a row; a right environment that each test breaks in one way."""

    size = 6

    def actions(self, state):
        return tuple(
            name
            for name, ok in (("left", state > 0), ("right", state < self.size - 1))
            if ok
        )  # fmt: skip

    def step(self, state, action):
        return state + (1 if action == "right" else -1)

    def ground(self, state, action, after):
        return GroundingGraph(
            {"event": {action: True}, "cell": {"number": after, "door": "open"}},
            [("event", "cell", "to")],
        )


def complaint(environment, start=0, **options):
    with pytest.raises(WorldError) as caught:
        check_environment(environment, start, **options)
    return str(caught.value)


def test_checks_accept_a_right_environment():
    report = check_environment(Corridor(), 2)
    assert (report.states, report.actions, report.complete) == (6, 10, True)
    assert "all reachable states were checked" in str(report)


def test_checks_stop_at_the_bound_and_say_so():
    class Endless(Corridor):
        size = 10**9

    report = check_environment(Endless(), 0, states=30)
    assert report.states == 30
    assert not report.complete
    assert "Increase `states` to check more" in str(report)


def test_checks_bound_the_actions_of_one_state():
    class Wide:
        def actions(self, state):
            number = 0
            while True:
                yield number
                number += 1

        def step(self, state, action):
            return "there"

        def ground(self, state, action, after):
            return GroundingGraph({"event": "go"})

    report = check_environment(Wide(), "here", states=5)
    assert report.actions <= 100
    assert not report.complete


def test_checks_name_missing_methods():
    class Half:
        actions = Corridor.actions

    message = complaint(Half())
    assert "Half must follow the Environment protocol" in message
    assert "must have a method step" in message
    assert "must have a method ground" in message


def test_checks_find_an_unhashable_start():
    assert "The start state is [0], a list, which must be hashable" in complaint(Corridor(), [0])


def test_checks_find_unhashable_states():
    class Broken(Corridor):
        def step(self, state, action):
            return {"cell": 1}

    assert "step(0, 'right') returned {'cell': 1}, a dict" in complaint(Broken())


def test_checks_find_unhashable_actions():
    class Broken(Corridor):
        def actions(self, state):
            return [["right"]]

    assert "actions(0) offers ['right'], a list" in complaint(Broken())


def test_checks_name_state_and_action_where_a_method_raises():
    class Broken(Corridor):
        def step(self, state, action):
            if (state, action) == (3, "right"):
                raise KeyError("no such cell")
            return super().step(state, action)

    assert "step(3, 'right') raised KeyError: 'no such cell'" in complaint(Broken())


def test_checks_find_actions_that_raise_while_they_are_listed():
    class Broken(Corridor):
        def actions(self, state):
            yield "right"
            raise ValueError("lost count")

    assert "actions(0) raised ValueError: lost count" in complaint(Broken())


def test_checks_count_repeated_problems_once():
    class Broken(Corridor):
        def ground(self, state, action, after):
            raise RuntimeError("blind")

    message = complaint(Broken())
    assert message.count("blind") == 1
    assert "9 more places" in message


def test_checks_find_steps_that_differ_from_call_to_call():
    class Broken(Corridor):
        calls = 0

        def step(self, state, action):
            self.calls += 1
            return self.calls % 6

    assert "must be deterministic" in complaint(Broken())


def test_checks_find_actions_that_change_their_order():
    class Broken(Corridor):
        calls = 0

        def actions(self, state):
            self.calls += 1
            return ("left", "right") if self.calls % 2 else ("right", "left")

        def step(self, state, action):
            return 0

    message = complaint(Broken())
    assert "actions(0) must be deterministic; got ('left', 'right')" in message


def test_checks_find_graphs_that_differ_from_call_to_call():
    class Broken(Corridor):
        calls = 0

        def ground(self, state, action, after):
            self.calls += 1
            return GroundingGraph({"event": {"step": self.calls}})

    told = complaint(Broken())
    assert "got a graph with event*: step=1 and, in a second call, a" in told
    assert "graph with event*: step=2." in told


def test_checks_find_environments_that_remember():
    class Broken(Corridor):
        asked = 0

        def step(self, state, action):
            self.asked += 1
            return super().step(state, action) if self.asked < 20 else 0

    assert "must not depend on earlier calls" in complaint(Broken())


def test_checks_find_states_that_a_step_changes():
    class Cell:
        def __init__(self, place):
            self.place = place

        def __eq__(self, other):
            return self.place == other.place

        def __hash__(self):
            return 1

        def __repr__(self):
            return "a cell"

    class Broken(Corridor):
        def actions(self, state):
            return ("right",) if state.place < 3 else ()

        def step(self, state, action):
            state.place += 1
            return Cell(state.place)

    assert "must not modify its arguments; it changed a cell" in complaint(Broken(), Cell(0))


def test_checks_find_states_equal_only_to_themselves():
    class Cell:
        pass

    class Broken(Corridor):
        def actions(self, state):
            return ("right",)

        def step(self, state, action):
            return Cell()

    message = complaint(Broken(), Cell(), states=5)
    assert "does not define equality" in message
    assert "frozen dataclass" in message


def test_checks_accept_frozen_dataclasses():
    @dataclass(frozen=True)
    class Cell:
        place: int

    class Right(Corridor):
        def actions(self, state):
            return super().actions(state.place)

        def step(self, state, action):
            return Cell(super().step(state.place, action))

        def ground(self, state, action, after):
            return super().ground(state.place, action, after.place)

    assert check_environment(Right(), Cell(0)).states == 6


def test_checks_find_what_is_not_a_grounding_graph():
    class Broken(Corridor):
        def ground(self, state, action, after):
            return {"event": action}

    assert "must return a GroundingGraph" in complaint(Broken())


@pytest.mark.parametrize(
    ("nodes", "root", "words"),
    [
        ({"event": "go"}, "nowhere", "one of its nodes, ['event']; got 'nowhere'"),
        ({}, None, "at least one node"),
        ({"event": {"far": float("nan")}}, None, "'far' of node 'event' must be finite; got nan"),
    ],
)
def test_checks_say_where_a_graph_cannot_be_made(nodes, root, words):
    class Broken(Corridor):
        def ground(self, state, action, after):
            return GroundingGraph(nodes, root=root)

    message = complaint(Broken())
    assert words in message
    assert "ground(0, 'right', 1) raised GraphError" in message


def test_checks_find_labels_that_change_their_kind():
    class Broken(Corridor):
        def ground(self, state, action, after):
            return GroundingGraph({"cell": {"number": after if after < 3 else "many"}})

    message = complaint(Broken())
    assert "The label 'number' must be of one kind; got a number" in message
    assert "and a string" in message


def test_checks_find_actions_listed_twice():
    class Broken(Corridor):
        def actions(self, state):
            return (*super().actions(state), *super().actions(state))

    assert "actions(0) must list every action once; got 'right'" in complaint(Broken())


def test_checks_find_one_string_instead_of_actions():
    class Broken(Corridor):
        def actions(self, state):
            return "right"

    message = complaint(Broken())
    assert "got the string 'right'" in message
    assert message.count("\n- ") == 1


def test_checks_find_sets_of_actions():
    class Broken(Corridor):
        def actions(self, state):
            return set(super().actions(state))

    assert "whose order may change" in complaint(Broken())


def test_checks_find_a_step_that_forgets_to_return():
    class Broken(Corridor):
        def step(self, state, action):
            pass

    assert "step(0, 'right') must return the next state; got None" in complaint(Broken())


def test_checks_find_a_start_where_nothing_can_be_done():
    class Broken(Corridor):
        def actions(self, state):
            return ()

    assert "The start state must have an action; 0 has none" in complaint(Broken())


def test_checks_find_a_terminal_start():
    class Broken(Corridor):
        def is_terminal(self, state):
            return True

    assert "is_terminal returned True" in complaint(Broken())


@pytest.mark.parametrize("method", ["is_terminal", "is_goal", "outcome", "describe"])
def test_checks_find_optional_methods_that_raise(method):
    def broken(self, state):
        raise ZeroDivisionError("division by zero")

    environment = type("Broken", (Corridor,), {method: broken})()
    assert f"{method}(0) raised ZeroDivisionError: division by zero." in complaint(environment)


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        ("is_terminal", 0, "must return True or False"),
        ("is_goal", "yes", "must return True or False"),
        ("describe", 7, "must return a line of text"),
        ("outcome", [1], "a list, which must be hashable"),
    ],
)
def test_checks_find_optional_methods_that_answer_in_the_wrong_type(method, answer, words):
    environment = type("Broken", (Corridor,), {method: lambda self, state: answer})()
    message = complaint(environment)
    assert f"{method}(0) " in message
    assert words in message


def test_checks_accept_truth_values_of_numpy():
    class Right(Corridor):
        def is_goal(self, state):
            return np.int64(state) == 3

    assert check_environment(Right(), 0).complete


def test_checks_find_an_optional_method_that_is_no_method():
    class Broken(Corridor):
        is_goal = 5

    assert "is_goal must be a method; got 5" in complaint(Broken())


def test_checks_find_goals_that_cannot_be_reached():
    class Broken(Corridor):
        def is_goal(self, state):
            return state == 99

    assert "it is False for all 6" in complaint(Broken())


def test_checks_find_wrong_labels_of_plans():
    class Broken(Corridor):
        def label_plan(self, start, actions, states):
            return {"length": float("inf")}

    assert "label_plan(0, ('right',), (0, 1))" in complaint(Broken())


def test_checks_find_mirror_images_that_cannot_be_done():
    class Broken(Corridor):
        def mirror(self, demonstration):
            return [Demonstration("back", self, 0, ("left",))]

    assert "'left', is impossible in state 0" in complaint(Broken())


def test_checks_find_mirror_images_that_are_no_demonstrations():
    class Broken(Corridor):
        def mirror(self, demonstration):
            return [demonstration.actions]

    assert "must return a list of Demonstrations" in complaint(Broken())


def test_checks_list_all_problems_at_once():
    class Broken(Corridor):
        def ground(self, state, action, after):
            return None

        def describe(self, state):
            return None

    assert complaint(Broken()).count("\n- ") == 2


def test_checks_refuse_a_bound_of_no_states():
    with pytest.raises(WorldError, match="must be >= 1; got 0"):
        check_environment(Corridor(), 0, states=0)


class Written(Corridor):
    """A corridor with a JSON of its own."""

    def state_to_json(self, state):
        return {"x": state}

    def state_from_json(self, data):
        return data["x"]

    def action_to_json(self, action):
        return action[0]

    def action_from_json(self, data):
        return {"l": "left", "r": "right"}[data]


def test_checks_accept_json_of_its_own():
    assert check_environment(Written(), 0).complete


def test_checks_find_json_that_does_not_come_back():
    class Lossy(Written):
        def state_from_json(self, data):
            return 0

        def action_from_json(self, data):
            return "left"

    said = complaint(Lossy())
    assert "state_from_json({'x': 1}) must return the state 1" in said
    assert "action_from_json('r') must return the action 'right'" in said


def test_checks_find_json_that_is_none():
    class Sets(Written):
        def state_to_json(self, state):
            return {state}

        def action_from_json(self, data):
            raise KeyError(data)

    said = complaint(Sets())
    assert "state_to_json(0) must return JSON data; got {0}" in said
    assert "action_from_json('r') raised KeyError: 'r'" in said


def test_checks_find_half_a_json():
    class Half(Corridor):
        def state_to_json(self, state):
            return state

    assert "both state_to_json and state_from_json; state_from_json is missing" in complaint(Half())


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (lambda actions: actions, ""),
        (lambda actions: (*actions, "jump"), "'jump', is impossible"),
        (lambda actions: actions[:-1], "must return a plan with the same outcome"),
    ],
)
def test_checks_canonical_plans(plan, reason):
    class Canonical(Corridor):
        def canonical_plan(self, start, actions):
            return plan(actions)

    if reason:
        assert reason in complaint(Canonical())
    else:
        assert check_environment(Canonical(), 2).complete


def test_checks_find_states_that_are_toggled_in_place():
    class Cell:
        lit = False

    class Broken(Corridor):
        def actions(self, state):
            return ("switch",)

        def step(self, state, action):
            state.lit = not state.lit  # twice is as if never
            return state

        def ground(self, state, action, after):
            return GroundingGraph({"event": {"switch": True}})

    assert "step(" in (told := complaint(Broken(), Cell()))
    assert "Return a new value instead." in told


def test_checks_name_the_labels_in_which_graphs_differ():
    one, other = (
        GroundingGraph({"event": {"go": True}, "thing": labels}, [("event", "thing", "to")])
        for labels in ({"name": "lamp"}, {})
    )
    assert apart(one, other) == ("a graph with thing: name=lamp", "a graph with thing: ")
    larger = GroundingGraph({"event": {"go": True}, "thing": {}, "more": {"big": True}},
                            [("event", "thing", "to")])  # fmt: skip
    assert apart(larger, other) == ("a graph with more: big", "one without")
    assert apart(1, 2) == ("1", "2")
