"""An environment that never ends, raises or is huge: bounded time and memory, one sentence."""

import gc
import weakref

import numpy as np
import pytest

from groundling import Demonstration, GroundingGraph, check_environment
from groundling.cache import CacheBudget
from groundling.errors import DemonstrationError, GraphError, GroundlingError, WorldError
from groundling.world.cached_environment import CachedEnvironment, EnvironmentCache
from tests.worlds import GoalLine, Line


class Raising:
    """A value that cannot be compared, though it can be hashed."""

    def __eq__(self, other):
        raise RuntimeError("cannot compare")

    def __hash__(self):
        return 1


class Unshowable:
    def __repr__(self):
        raise RuntimeError("cannot show")


class Huge:
    """A state of ten megabytes that writes all of itself."""

    def __init__(self, number=0):
        self.number = number
        self.content = "x" * 10_000_000

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return self.number

    def __repr__(self):
        return self.content


def one_sentence(error, most=1000):
    assert isinstance(error, GroundlingError)
    assert len(str(error)) < most
    assert str(error).rstrip().endswith((".", ")"))
    return str(error)


def complaint(call):
    with pytest.raises(GroundlingError) as caught:
        call()
    return one_sentence(caught.value)


def endless(*_):
    number = 0
    while True:
        yield number
        number += 1


def test_bounded_worlds_actions_that_never_end():
    world = CachedEnvironment(type("Endless", (Line,), {"actions": endless})())
    told = complaint(lambda: world.actions(0))
    assert "must have at most 100,000 actions in a state; got more. Set GROUNDLING_LIMIT_" in told


@pytest.mark.parametrize("extra", [10**9, -1, "many", 1.5, None, float("nan")])
def test_bounded_worlds_extra_length(extra):
    environment = type("Long", (Line,), {"extra_length": lambda self, start: extra})()
    for told in (
        complaint(lambda: CachedEnvironment(environment).extra_length(0)),
        complaint(lambda: check_environment(environment, 0)),
    ):
        assert "between 0 and 1,000; got" in told
        assert "Set GROUNDLING_LIMIT_EXTRA_LENGTH" in told


@pytest.mark.parametrize("method", ["is_goal", "is_terminal", "is_dead_end"])
@pytest.mark.parametrize("answer", [np.zeros(3), np.zeros((1,)), np.array(["a", "b"])])
def test_bounded_worlds_arrays_instead_of_truth(method, answer):
    methods = {"is_goal": lambda self, state: True, method: lambda self, state: answer}
    environment = type("Array", (Line,), methods)()
    assert "return True or False" in complaint(
        lambda: getattr(CachedEnvironment(environment), method)(0)
    )
    assert "True or False" in complaint(lambda: check_environment(environment, 0))


def test_bounded_worlds_truth_of_numpy_is_truth():
    environment = type("Numpy", (Line,), {"is_goal": lambda self, state: np.bool_(state == 1)})()
    assert CachedEnvironment(environment).is_goal(1)
    assert not CachedEnvironment(environment).is_goal(0)


def test_bounded_worlds_states_that_cannot_be_compared():
    class Odd(Line):
        def actions(self, state):
            return ("go",)

        def step(self, state, action):
            return Raising()

    world = CachedEnvironment(Odd())
    world.actions(Raising())
    assert "cannot compare" in complaint(lambda: world.actions(Raising()))
    assert "cannot compare" in complaint(lambda: check_environment(Odd(), 0))
    shown = Demonstration("go", Odd(), 0, (Raising(),), negative_starts=(Raising(),))
    assert "impossible" in complaint(lambda: world.trace(0, shown.actions))


def test_bounded_worlds_values_that_cannot_be_shown():
    class Odd(Line):
        def actions(self, state):
            return (Unshowable(),)

        def step(self, state, action):
            raise ValueError(Unshowable())

    message = complaint(lambda: CachedEnvironment(Odd()).step(0, Unshowable()))
    assert "whose __repr__ raises RuntimeError" in message
    assert "whose __repr__ raises" in complaint(lambda: check_environment(Odd(), 0))


def test_bounded_worlds_messages_are_short_however_large_the_state():
    class Odd(Line):
        def actions(self, state):
            return ("left",)

        def step(self, state, action):
            raise ValueError("y" * 10_000_000)

        def describe(self, state):
            return 5

    for state in (Huge(), "s" * 10_000_000, tuple(range(1_000_000)), ("s" * 1_000_000,) * 9):
        complaint(lambda state=state: CachedEnvironment(Odd()).step(state, "left"))
        complaint(lambda state=state: CachedEnvironment(Odd()).trace(state, ["right"]))
        complaint(lambda state=state: check_environment(Odd(), state))


def test_bounded_worlds_thousands_of_actions_are_checked():
    class Wide:
        asked = 0

        def actions(self, state):
            return range(4000)

        def step(self, state, action):
            return action % 2

        def ground(self, state, action, after):
            Wide.asked += 1
            return GroundingGraph({"event": "go"})

    report = check_environment(Wide(), 0)
    assert report.actions == 4000
    assert Wide.asked < 3 * 4000


def test_bounded_worlds_dead_ends_are_checked():
    class Liar(GoalLine):
        def is_dead_end(self, state):
            return state == 2

    message = complaint(lambda: check_environment(Liar(4), 0))
    assert "is_dead_end(2) must be False, because ('right',) reaches a goal" in message
    right = type("Right", (GoalLine,), {"is_dead_end": lambda self, state: False})
    assert check_environment(right(4), 0).complete
    raising = type("Raising", (GoalLine,), {"is_dead_end": lambda self, state: 1 / 0})
    assert "is_dead_end(0) raised ZeroDivisionError" in complaint(
        lambda: check_environment(raising(4), 0)
    )


def test_bounded_worlds_large_states_are_not_copied_for_ever():
    class Large(Line):
        copied = 0

        def actions(self, state):
            return range(300)

        def step(self, state, action):
            return state

        def ground(self, state, action, after):
            return GroundingGraph({"event": "go"})

    class State(Huge):
        def __deepcopy__(self, memory):
            Large.copied += 1
            return self

    check_environment(Large(), State())
    assert 0 < Large.copied < 100


def test_bounded_worlds_memory_has_a_bound_in_bytes():
    class Endless(Line):
        def actions(self, state):
            return ("right",)

        def step(self, state, action):
            return (state[0] + 1, "x" * 1000)

    budget = CacheBudget(1_000_000)
    worlds = EnvironmentCache(budget)
    state = (0, "")
    for _ in range(5000):
        world = worlds.of(Endless())
        world.actions(state)
        state = world.step(state, "right")
        assert budget.used <= budget.most
    one = CachedEnvironment(Endless(), budget)
    most = 0
    for number in range(5000):
        one.step((number, ""), "right")
        most = max(most, len(one._answers))  # the end may come just after older ones were dropped
    assert budget.used <= budget.most
    assert 100 < most < 5000


def test_bounded_worlds_of_which_nothing_is_remembered_are_let_go():
    budget = CacheBudget(20_000)
    worlds = EnvironmentCache(budget)
    kept = weakref.WeakSet()
    for number in range(300):
        line = Line(9, {1: f"item {number}"})
        kept.add(line)
        world = worlds.of(line)
        for state in range(9):
            world.actions(state)
        del line, world
    gc.collect()
    assert budget.shrunk > 2
    assert 0 < len(kept) < 100


def test_bounded_worlds_are_found_by_their_environment_and_not_by_a_number():
    worlds = EnvironmentCache()
    first = Line(4)
    world = worlds.of(first)
    # What happens when the number of a freed object is used again:
    other = Line(9)
    worlds._worlds[id(other)] = world
    assert worlds.of(other).environment is other
    assert worlds.of(first) is world


def test_bounded_worlds_that_change_are_noticed_and_can_be_forgotten():
    line = Line(4, {1: "lamp"})
    world = CachedEnvironment(line)
    assert world.actions(3) == ("left",)
    world.ground(0, "right")
    assert not world.notice(3)
    line.size = 9
    assert world.notice(3)
    assert world.generation == 1
    assert world.actions(3) == ("left", "right")
    world.ground(0, "right")
    world.actions(0)
    line.items[1] = "sofa"
    assert world.notice(0)
    line.items[5] = "sofa"
    world.forget()
    assert world.generation == 3
    assert "sofa" in str(world.ground(4, "right"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: GroundingGraph({str(number): "go" for number in range(100_000)}),
        lambda: GroundingGraph({"event": endless()}),
        lambda: GroundingGraph({"event": {"item": map(str, endless())}}),
        lambda: GroundingGraph({"event": "go"}, (("event", "event", "to") for _ in endless())),
        lambda: GroundingGraph({"event": {"far": 1e155}}),
        lambda: GroundingGraph({"event": {"far": 10**400}}),
        lambda: GroundingGraph({"event": {"name": "x" * 10_000_000}}),
        lambda: GroundingGraph({"event": {"x" * 10_000_000: float("nan")}}),
        lambda: GroundingGraph({"x" * 10_000_000: 5}),
        lambda: GroundingGraph({"event": "go"}, [("event", "x" * 10_000_000, "to")]),
    ],
)
def test_bounded_worlds_graphs_without_end(make):
    with pytest.raises(GraphError) as caught:
        make()
    one_sentence(caught.value)


def test_bounded_worlds_weights_that_no_sum_can_hold():
    with pytest.raises(DemonstrationError, match=r"`weight` must be .* got 1e\+300"):
        Demonstration("go", Line(), 0, ("right",), weight=1e300)


def test_bounded_worlds_errors_are_of_the_world():
    with pytest.raises(WorldError):
        CachedEnvironment(type("Endless", (Line,), {"actions": endless})()).actions(0)
