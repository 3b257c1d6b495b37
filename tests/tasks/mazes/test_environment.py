"""The maze as an environment: actions, canonical plans, graphs and the mirror."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import DemonstrationError, SettingError, WorldError
from groundling.language.instruction import Instruction
from groundling.tasks.mazes import STAY, Maze, MazeEnvironment, face, move, rotate
from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.mirror import mirror_text
from groundling.world import CachedEnvironment, Demonstration, Environment


def cross() -> Maze:
    """A hall of five places from west to east, crossed in the middle; one item on each arm."""
    places = {(x, 0): "" for x in range(5)} | {(2, -1): "easel", (2, 1): "lamp"}
    places |= {(1, 0): "chair", (4, 0): "sofa"}
    halls = [((x, 0), (x + 1, 0), "brick", "fish") for x in range(4)]
    halls += [((2, -1), (2, 0), "grass", "tower"), ((2, 0), (2, 1), "wood", "tower")]
    return Maze("Cross", places, halls)


def plans(world, start, length):
    """Enumerate every plan of at most `length` actions with its final state."""
    found, layer = [], [((), start)]
    for _ in range(length):
        layer = [
            ((*plan, action), world.step(state, action))
            for plan, state in layer
            for action in world.actions(state)
        ]
        found += layer
    return found


def names(graph, node):
    return {str(label) for label in graph.labels(node)}


def test_environment_fulfils_the_protocol():
    assert isinstance(MazeEnvironment(cross()), Environment)


def test_environment_moves_as_far_as_the_hall_goes():
    world = MazeEnvironment(cross())
    start = world.start((1, 0), 90)
    assert world.actions(start)[:3] == (move(1), move(2), move(3))
    assert world.step(start, move(3)).position == (4, 0)
    with pytest.raises(WorldError, match=r"move\(4\) is impossible at \(1, 0\) by the chair"):
        world.step(start, move(4))


def test_environment_turns_clockwise():
    world = MazeEnvironment(cross())
    start = world.start((2, 0), 0)
    turned = [world.step(start, rotate(angle)).orientation for angle in (90, 180, 270)]
    assert turned == [90, 180, 270]
    assert world.describe(world.step(start, rotate(90))).endswith(
        "facing east along the brick hall"
    )


def test_environment_unknown_orientation_must_face_first():
    world = MazeEnvironment(cross())
    start = world.start((2, 0))
    assert world.actions(start) == (face(0), face(90), face(180), face(270), STAY)
    assert world.actions(world.step(start, face(90))) == (move(1), move(2))
    for action in (move(1), rotate(90)):
        with pytest.raises(WorldError, match="facing nowhere yet"):
            world.step(start, action)
    with pytest.raises(WorldError):
        world.step(world.start((2, 0), 0), face(0))


def test_environment_stay_is_the_whole_plan():
    world = MazeEnvironment(cross())
    start = world.start((2, 0), 0)
    after = world.step(start, STAY)
    assert world.is_terminal(after)
    assert world.actions(after) == ()
    assert world.outcome(after) == ((2, 0), 0)
    assert all(STAY not in plan for plan, _ in plans(world, start, 3) if len(plan) > 1)


@pytest.mark.parametrize("orientation", [0, 90, 180, 270, None])
def test_environment_plans_are_canonical(orientation):
    world = MazeEnvironment(cross())
    found = plans(world, world.start((2, 0), orientation), 4)
    for plan, _ in found:
        kinds = ["turn" if each.kind in ("rotate", "face") else each.kind for each in plan]
        assert all(one != two for one, two in itertools.pairwise(kinds))
        backs = [i for i, each in enumerate(plan) if each == rotate(180) and i > 0]
        assert all(i == len(plan) - 1 for i in backs)
    assert len({plan for plan, _ in found}) == len(found)


def test_environment_without_canonical_plans_allows_everything_always():
    world = MazeEnvironment(cross(), canonical=False)
    state = world.start((2, 0), 0)
    for action in (rotate(90), rotate(90), STAY, move(1), STAY, rotate(180), move(1)):
        assert action in world.actions(state)
        state = world.step(state, action)
    assert world.outcome(state) == ((2, 0), 0)
    assert not world.is_terminal(state)


def test_environment_restart_forgets_the_past():
    world = MazeEnvironment(cross())
    moved = world.step(world.start((0, 0), 90), move(2))
    assert move(1) not in world.actions(moved)
    assert move(1) in world.actions(world.restart(moved))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (((9, 9), 0), "must be a place"),
        (((2, 0), 45), "must be one of .* got 45"),
        (((2, 0), -1), "None"),
    ],
)
def test_environment_refuses_impossible_starts(arguments, says):
    with pytest.raises(WorldError, match=says):
        MazeEnvironment(cross()).start(*arguments)


def test_environment_suggests_the_shape_that_was_meant():
    with pytest.raises(SettingError, match="Did you mean 'paper'"):
        MazeEnvironment(cross(), "papr")


def near(graph, node):
    """Return the labels of what adjoins a place, without what is seen far away or counted."""
    far = ("sees:", "hall-length", "end:", "halls", "here")
    return {each for each in names(graph, node) if not any(name in each for name in far)}


def test_rich_graph_tells_what_adjoins_the_place():
    world = MazeEnvironment(cross())
    start = world.start((0, 0), 90)
    graph = world.ground(start, move(2), world.step(start, move(2)))
    assert graph.node_names == ("event", "here", "front", "left", "right", "back", "path")
    assert names(graph, "event") == {"move", "distance=2"}
    assert names(graph, "here") == {"m:floor=brick", "m:floor=grass", "m:floor=wood", "m:halls=4"}
    assert near(graph, "front") == {"m:open", "m:floor=brick", "m:wall=fish"}
    assert near(graph, "left") == {"m:open", "m:floor=grass", "m:wall=tower", "m:item=easel"}
    assert near(graph, "back") == {"m:open", "m:floor=brick", "m:wall=fish", "m:item=chair"}


def test_rich_graph_has_indicators_of_far_things_only_after_stay():
    world = MazeEnvironment(cross())
    start = world.start((2, 0), 90)
    for action in (move(1), rotate(90)):
        graph = world.ground(start, action, world.step(start, action))
        plain = {
            str(label)
            for node in graph.node_names
            for label in graph.labels(node)
            if label.value is None
        }
        letter = "m" if action.kind == "move" else "t"
        assert plain <= {"move", "rotate", "rotate-right", f"{letter}:open", f"{letter}:blocked"}


def test_rich_graph_turns_have_their_own_labels():
    world = MazeEnvironment(cross())
    start = world.start((4, 0), 0)
    graph = world.ground(start, rotate(270), world.step(start, rotate(270)))
    assert names(graph, "event") == {"rotate", "rotate-left"}
    assert names(graph, "here") == {"t:item=sofa", "t:floor=brick", "t:halls=1"}
    assert names(graph, "back") == {"t:blocked"}
    unknown = world.start((4, 0))
    faced = world.ground(unknown, face(270), world.step(unknown, face(270)))
    assert names(faced, "event") == {"face"}
    assert names(faced, "front") == names(graph, "front")


def test_rich_graph_without_action_prefixes():
    world = MazeEnvironment(cross(), by_action=False)
    start = world.start((4, 0), 0)
    graph = world.ground(start, rotate(270), world.step(start, rotate(270)))
    assert near(graph, "front") == {"open", "floor=brick", "wall=fish"}


def test_rich_graph_stay_sees_far():
    world = MazeEnvironment(cross())
    start = world.start((2, 0), 90)
    graph = world.ground(start, STAY, world.step(start, STAY))
    assert {"s:sees:item=sofa", "s:dead-end", "s:hall-length=2"} <= names(graph, "front")
    assert {"s:intersection", "s:crossing", "s:floor=grass"} <= names(graph, "here")


def test_rich_graph_stay_with_unknown_orientation_looks_around():
    world = MazeEnvironment(cross())
    start = world.start((2, 0))
    graph = world.ground(start, STAY, world.step(start, STAY))
    assert "front" not in graph.node_names
    assert {"s:floor=brick", "s:floor=grass", "s:item=lamp"} <= names(graph, "around")


def test_rich_graph_tells_what_a_move_passed():
    world = MazeEnvironment(cross())
    start = world.start((0, 0), 90)
    path = names(world.ground(start, move(2), world.step(start, move(2))), "path")
    assert {"m:passed:item=chair", "m:lefts=1", "m:rights=1", "m:intersections=1"} <= path
    assert {"m:first-side:floor=grass", "m:beyond:item=sofa"} <= path
    end = names(world.ground(start, move(4), world.step(start, move(4))), "path")
    assert "m:first:item=sofa" in end


def test_paper_graph_merges_neighbours_that_look_alike():
    world = MazeEnvironment(cross(), "paper")
    start = world.start((0, 0), 270)
    graph = world.ground(start, rotate(90), world.step(start, rotate(90)))
    assert graph.node_names == ("event", "here", "neighbour 1", "neighbour 2")
    assert names(graph, "event") == {"constant", "rotate", "angle=90"}
    assert names(graph, "here") == {"facing-wall"}
    assert names(graph, "neighbour 1") == {"floor=brick", "wall=fish", "has-item", "item=chair"}
    assert names(graph, "neighbour 2") == {"wall"}


def test_paper_graph_does_not_tell_directions_apart():
    world = MazeEnvironment(cross(), "paper")
    graphs = set()
    for orientation in (0, 90, 180, 270):
        start = world.start((2, 0), orientation)
        graphs.add(world.ground(start, STAY, world.step(start, STAY)))
    assert len(graphs) == 1


def test_label_plan_gives_length_and_pattern():
    world = MazeEnvironment(cross())
    start = world.start((2, 0))
    assert set(world.label_plan(start, (face(0), move(1)), ())) == {
        "plan",
        "length=2",
        "pattern=face-move",
    }


@given(st.sampled_from(["rich", "paper"]), st.integers(0, 10_000))
def test_mirror_shows_the_same_plan_with_sides_exchanged(shape, choice):
    world = MazeEnvironment(cross(), shape)
    start = world.start(*[((2, 0), 0), ((0, 0), 90), ((2, 1), None), ((4, 0), 180)][choice % 4])
    options = plans(world, start, 3)
    plan, _ = options[choice % len(options)]
    shown = Demonstration("turn left", world, start, plan, weight=3.0, also=(plan,))
    (copy,) = world.mirror(shown)
    assert copy.weight == 1.5
    assert copy.instructions == "turn right"
    original = CachedEnvironment(world).trace(start, plan)
    mirrored = CachedEnvironment(copy.environment).trace(copy.start, copy.actions)
    for one, two in zip(original.states, mirrored.states, strict=True):
        (x, y), (mirrored_x, mirrored_y) = one.position, two.position
        assert (-x, y) == (mirrored_x, mirrored_y)
    if shape == "rich":
        exchange = {"left": "right", "right": "left"}
        for one, two in zip(original.graphs, mirrored.graphs, strict=True):
            for node in ("here", "front", "left", "right", "back"):
                if node in one.node_names:
                    assert names(one, node) == names(two, exchange.get(node, node))
    (again,) = copy.environment.mirror(copy)
    assert again.environment is world
    assert (again.start, again.actions, again.also) == (start, plan, (plan,))


def test_mirror_reuses_the_mirrored_environment():
    world = MazeEnvironment(cross())
    shown = Demonstration(["go left", "stop"], world, world.start((2, 0), 0), (rotate(270),))
    (one,), (two,) = world.mirror(shown), world.mirror(shown)
    assert one.environment is two.environment
    assert one.instructions == ("go right", "stop")


def test_mirror_refuses_foreign_demonstrations():
    world = MazeEnvironment(cross())
    with pytest.raises(DemonstrationError, match="must start in a state of a maze"):
        world.mirror(Demonstration("go", world, "somewhere", ()))
    with pytest.raises(DemonstrationError, match="must have actions of a maze"):
        world.mirror(Demonstration("go", world, MazeState((2, 0), 0), ("jump",)))


@pytest.mark.parametrize(
    ("text", "mirrored"),
    [
        ("turn left", "turn right"),
        ("LEFT, then Right.", "RIGHT, then Left."),
        ("the left-hand hall", "the right-hand hall"),
        ("on your lefthand side", "on your righthand side"),
        ("a bright light, copyright, lefty", "a bright light, copyright, lefty"),
        ("two lefts", "two rights"),
        ("turn clockwise", "turn counterclockwise"),
        ("walk westward", "walk eastward"),
    ],
)
def test_mirror_text_exchanges_sides_only(text, mirrored):
    assert mirror_text(text) == mirrored


def test_mirror_text_keeps_the_tree():
    parsed = Instruction(("Turn", "left"), (-1, 0), ("root", "advmod"), text="Turn left!")
    mirrored = mirror_text(parsed)
    assert mirrored.tokens == ("Turn", "right")
    assert mirrored.text == "Turn right!"
    assert mirrored.heads == parsed.heads
