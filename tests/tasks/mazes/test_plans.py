"""Canonical plans: same end, nothing superfluous, nothing the environment forbids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.tasks.mazes import STAY, Maze, MazeEnvironment, face, generate_mazes, move, rotate
from groundling.tasks.mazes.actions import canonical
from groundling.tasks.mazes.plans import (
    Pose,
    actions_of,
    plans_within,
    poses_of,
    shortest_plans,
)
from groundling.world import CachedEnvironment

MAZE = generate_mazes(seed=11, count=1)[0]


@given(
    st.sampled_from(MAZE.positions),
    st.sampled_from([0, 90, 180, 270, None]),
    st.lists(st.integers(0, 5), max_size=14),
)
def test_canonical_plan_is_possible_and_ends_where_the_path_ends(position, orientation, choices):
    # a random walk of single steps and turns
    poses = [Pose(position, orientation)]
    for choice in choices:
        place, direction = poses[-1]
        if direction is None:
            poses.append(Pose(place, choice % 4 * 90))
        elif choice > 2 and MAZE.hall(place, direction):
            poses.append(Pose(MAZE.ahead(place, direction)[0], direction))
        else:
            poses.append(Pose(place, (direction + 90 * (choice % 3 + 1)) % 360))
    plan = canonical(actions_of(MAZE, poses))
    world = MazeEnvironment(MAZE)
    trace = CachedEnvironment(world).trace(world.start(*poses[0]), plan)
    assert world.outcome(trace.states[-1]) == poses[-1]
    assert canonical(plan) == plan
    assert actions_of(MAZE, poses_of(MAZE, poses[0], plan))[-1:] or plan == (STAY,)


@pytest.mark.parametrize(
    ("actions", "plan"),
    [
        ([], (STAY,)),
        ([STAY, STAY], (STAY,)),
        ([STAY, move(1), STAY], (move(1),)),
        ([face(270), rotate(180)], (face(90),)),
        ([face(90), rotate(270)], (face(0),)),
        ([move(1), rotate(90), rotate(270), move(2)], (move(3),)),
        ([move(2), rotate(180), move(2)], (rotate(180),)),
        ([move(1), rotate(180), move(3)], (rotate(180), move(2))),
        ([rotate(90), move(2), rotate(180), move(2)], (rotate(270),)),
        ([rotate(180), move(1), rotate(180), move(1)], (STAY,)),
    ],
)
def test_canonical_merges_and_cuts(actions, plan):
    assert canonical(actions) == plan


@pytest.mark.parametrize(
    ("poses", "reason"),
    [
        ([], "at least one pose"),
        ([Pose((9, 9), 0)], "must be a place of the maze"),
        ([Pose((0, 0), 45)], "orientation must be one of .* got 45"),
        ([Pose((0, 0), 90), Pose((0, 0), None)], "orientation must be known"),
        ([Pose((0, 0), 90), Pose((1, 0), 0)], "must not turn and move in one step"),
        ([Pose((0, 0), 0), Pose((1, 0), 0)], "while facing 0"),
        ([Pose((0, 0), None), Pose((1, 0), 90)], "must not turn and move in one step"),
        ([Pose((1, 0), 180), Pose((1, 1), 180)], "no hall leads"),
        ([Pose((0, 0), 90), Pose((1, 1), 90)], "while facing 90"),
    ],
)
def test_actions_of_says_why_a_path_is_impossible(poses, reason):
    maze = Maze(
        "Bend",
        {(0, 0): "", (1, 0): "", (0, 1): "", (1, 1): ""},
        [((0, 0), (1, 0), "", ""), ((0, 0), (0, 1), "", ""), ((0, 1), (1, 1), "", "")],
    )
    with pytest.raises(ValueError, match=reason):
        actions_of(maze, poses)


def test_plans_within_gives_every_canonical_plan_once():
    world = MazeEnvironment(MAZE)
    for position in MAZE.positions[:6]:
        for orientation in (0, 90, None):
            start = world.start(position, orientation)
            found = [plan for plan, _ in plans_within(world, start, 4)]
            assert len(set(found)) == len(found)
            assert [len(plan) for plan in found] == sorted(map(len, found))
            assert all(canonical(plan) == plan for plan in found)


def test_shortest_plans_agree_with_enumeration():
    world = MazeEnvironment(MAZE)
    start = world.start(MAZE.positions[3], 90)
    by_end: dict[Pose, list] = {}
    for plan, state in plans_within(world, start, 4):
        by_end.setdefault(Pose(*world.outcome(state)), []).append(plan)
    for end, plans in by_end.items():
        least = {plan for plan in plans if len(plan) == len(plans[0])}
        assert set(shortest_plans(world, start, end, 4, most=1000)) == least


def test_shortest_plans_stays_small_where_ways_abound():
    size = 12
    places = {(x, y): "" for x in range(size) for y in range(size)}
    halls = [((x, y), (x + 1, y), "", "") for x in range(size - 1) for y in range(size)]
    halls += [((x, y), (x, y + 1), "", "") for x in range(size) for y in range(size - 1)]
    world = MazeEnvironment(Maze("Square", places, halls))
    found = shortest_plans(world, world.start((0, 0), 0), Pose((11, 11), 270), 30, most=5)
    assert 1 <= len(found) <= 5


def test_shortest_plans_finds_all_of_the_least_length():
    places = {(x, y): "" for x in range(2) for y in range(2)}
    halls = [((0, 0), (1, 0), "", ""), ((0, 1), (1, 1), "", "")]
    halls += [((0, 0), (0, 1), "", ""), ((1, 0), (1, 1), "", "")]
    world = MazeEnvironment(Maze("Ring", places, halls))
    start = world.start((0, 0))
    either = shortest_plans(world, start, Pose((1, 1), 180), 5)
    assert either == ((face(90), move(1), rotate(90), move(1)),)
    assert shortest_plans(world, start, Pose((1, 1), 180), 3) == ()
    assert shortest_plans(world, start, Pose((0, 0), None), 3) == ((STAY,),)
