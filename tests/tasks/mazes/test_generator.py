"""The built-in maze world: well formed, repeatable, varied, and true to what is done."""

import re
from random import Random

import pytest

from groundling.errors import SettingError
from groundling.tasks.mazes import (
    STAY,
    Maze,
    MazeEnvironment,
    generate_demonstrations,
    generate_mazes,
    generate_routes,
)
from groundling.tasks.mazes.grammar import FLOORS, ITEMS, Phrasebook
from groundling.tasks.mazes.plans import Pose, poses_of
from groundling.world import CachedEnvironment


def test_generate_mazes_repeats_for_a_seed_and_differs_between_seeds():
    assert generate_mazes(3, 2) == generate_mazes(3, 2)
    assert generate_mazes(3, 2) != generate_mazes(4, 2)
    assert generate_mazes(3, 4)[:2] == generate_mazes(3, 2)


@pytest.mark.parametrize("size", [3, 5, 9])
def test_generate_mazes_hang_together_and_keep_one_floor_along_a_line(size):
    for maze in generate_mazes(5, 4, size=size, halls=2 * size):
        reached, front = set(), [maze.positions[0]]
        while front:
            place = front.pop()
            reached.add(place)
            for direction in maze.exits(place):
                line = maze.ahead(place, direction)
                hall, then = maze.hall(place, direction), maze.hall(line[0], direction)
                assert then is None or then.floor == hall.floor
                front += [each for each in line if each not in reached]
        assert reached == set(maze.positions)
        assert all(0 <= x < size and 0 <= y < size for x, y in maze.positions)


def test_generate_mazes_places_as_many_items_as_asked():
    (maze,) = generate_mazes(2, 1, items=9)
    assert sum(bool(maze.item(place)) for place in maze.positions) == 9
    (crowded,) = generate_mazes(2, 1, size=3, halls=3, items=99)
    assert all(crowded.item(place) for place in crowded.positions)


@pytest.mark.parametrize(
    "settings", [{"size": 2}, {"halls": 1}, {"items": -1}, {"count": -1}, {"size": 0}]
)
def test_generate_mazes_refuses_impossible_settings(settings):
    ((name, value),) = settings.items()
    with pytest.raises(SettingError, match=rf"`{name}` must be >= \d; got {value}\."):
        generate_mazes(**({"seed": 1, "count": 1} | settings))


@pytest.fixture(scope="module")
def routes():
    return generate_routes(generate_mazes(1, 4), 600, seed=8)


def test_generate_routes_repeat_and_grow(routes):
    assert routes[:20] == generate_routes(generate_mazes(1, 4), 20, seed=8)
    assert routes[:20] != generate_routes(generate_mazes(1, 4), 20, seed=9)


def test_generate_routes_are_possible_and_never_walk_back(routes):
    for route in routes:
        world = MazeEnvironment(route.maze)
        CachedEnvironment(world).trace(world.start(*route.start), route.plan, route.name)
        apart = [action for actions in route.actions for action in actions if action != STAY]
        assert poses_of(route.maze, route.start, apart) == poses_of(
            route.maze, route.start, route.plan
        )
        assert route.poses()[-1] == poses_of(route.maze, route.start, route.plan)[-1]


def test_generate_routes_single_sentences_chain_up(routes):
    for route in routes[:100]:
        world = CachedEnvironment(MazeEnvironment(route.maze))
        singles = route.single_sentences(world.environment)
        assert len(singles) == len(route.sentences)
        ends = [world.trace(each.start, each.actions).states[-1] for each in singles]
        for end, following in zip(ends, singles[1:], strict=False):
            assert world.outcome(end) == world.outcome(following.start)


def test_generate_routes_use_the_whole_grammar(routes):
    text = " . ".join(" . ".join(route.sentences) for route in routes)
    for word in ("until", "second", "bench", "couch", "two", "past", "should", "behind", "around"):
        assert re.search(rf"\b{word}\b", text), word
    starts = [route.start.orientation for route in routes]
    assert 0.08 < starts.count(None) / len(starts) < 0.25
    assert {len(route.sentences) for route in routes} == {1, 2, 3}
    assert any(route.actions == ((STAY,),) for route in routes)
    assert "  " not in text
    assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", text)


def test_generate_routes_say_left_only_for_left(routes):
    for route in routes:
        for text, actions in zip(route.sentences, route.actions, strict=True):
            turns = {action.amount for action in actions if action.kind == "rotate"}
            if re.search(r"\b(turn|take a|make a) left", text):
                assert 270 in turns, text
            if re.search(r"\b(turn|take a|make a) right", text):
                assert 90 in turns, text
            if text.startswith(("turn around", "turn back", "do an about")):
                assert 180 in turns, text


def test_generate_routes_walk_to_what_they_name(routes):
    names = {way: item for item, ways in ITEMS.items() for way in ways}
    checked = 0
    for route in routes:
        for text, pose in zip(route.sentences, route.poses()[1:], strict=True):
            found = re.search(r"until you reach the ([a-z ]+)$", text)
            if found and found[1] in names:
                assert route.maze.item(pose.position) == names[found[1]], text
                checked += 1
    assert checked > 5


def test_generate_routes_name_halls_that_are_there(routes):
    names = {way: floor for floor, ways in FLOORS.items() for way in ways}
    checked = 0
    for route in routes:
        for text, pose in zip(route.sentences, route.poses()[1:], strict=True):
            found = re.search(r"\bturn(?: left| right)? (?:onto|into) the ([a-z ]+) \w+$", text)
            if found and found[1] in names:
                hall = route.maze.hall(pose.position, pose.orientation)
                assert hall is not None
                assert hall.floor == names[found[1]], text
                checked += 1
    assert checked > 5


def test_generate_routes_leave_some_turns_unsaid():
    """A hall or a thing is named that is not ahead, and the plan turns to it."""
    (maze,) = generate_mazes(1, 1)
    unsaid = [
        route
        for route in generate_routes([maze], 300, seed=2, sentences=(1, 1))
        if [action.kind for action in route.plan] == ["rotate", "move"]
        and not re.search(r"turn|left|right|take a", route.sentences[0])
    ]
    assert len(unsaid) > 10


@pytest.mark.parametrize(
    "settings",
    [{"sentences": (0, 1)}, {"sentences": (3, 2)}, {"unknown_starts": 1.5}, {"mazes": []}],
)
def test_generate_routes_refuses_impossible_settings(settings):
    arguments = {"mazes": generate_mazes(1, 1), "count": 1, "seed": 1} | settings
    (name,) = settings
    with pytest.raises(SettingError, match=f"`{name}` must"):
        generate_routes(**arguments)


def test_generate_routes_gives_up_on_a_maze_without_halls():
    with pytest.raises(SettingError, match="is too small for a route"):
        generate_routes([Maze("One", {(0, 0): ""}, [])], 1, seed=1, unknown_starts=1.0)


def test_generate_demonstrations_share_one_environment_for_each_maze():
    mazes = generate_mazes(1, 2)
    shown = generate_demonstrations(
        mazes, 10, seed=1, environment=lambda maze: MazeEnvironment(maze, "paper")
    )
    assert len({id(each.environment) for each in shown}) == 2
    assert {each.environment.shape for each in shown} == {"paper"}
    assert shown[0].name == "Maze1-1"


def test_phrasebook_clauses_can_be_carried_out_and_fit_one_plan_only():
    for maze in generate_mazes(6, 2):
        world = MazeEnvironment(maze)
        for place in maze.positions[::5]:
            for orientation in (0, 90, 180, 270, None):
                meanings: dict[str, set] = {}
                book = Phrasebook(maze, Random(0))
                for clause in book.clauses(Pose(place, orientation)):
                    CachedEnvironment(world).trace(world.start(place, orientation), clause.actions)
                    meanings.setdefault(clause.text, set()).add(clause.actions)
                for text, plans in meanings.items():
                    assert len(plans) == 1, (text, plans)


def test_phrasebook_copes_with_names_it_does_not_know():
    maze = Maze("Odd", {(0, 0): "", (1, 0): "robot"}, [((0, 0), (1, 0), "ice", "stars")])
    texts = [clause.text for clause in Phrasebook(maze, Random(1)).clauses(Pose((0, 0), 90))]
    assert any("robot" in text for text in texts)
    unknown = [clause.text for clause in Phrasebook(maze, Random(1)).clauses(Pose((0, 0), None))]
    assert any("stars" in text for text in unknown)
