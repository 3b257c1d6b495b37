"""The maze: what is built, and what is refused."""

import pytest

from groundling.errors import CorpusError
from groundling.tasks.mazes import Maze
from groundling.tasks.mazes.maze import Hall, direction_between

PLACES = {(0, 0): "", (1, 0): "sofa", (2, 0): "", (1, 1): "lamp"}
HALLS = [
    ((0, 0), (1, 0), "brick", "fish"),
    ((2, 0), (1, 0), "brick", "fish"),
    ((1, 0), (1, 1), "wood", "tower"),
]


def test_maze_knows_halls_from_both_ends():
    maze = Maze("T", PLACES, HALLS)
    assert maze.hall((1, 0), 180) == Hall("wood", "tower") == maze.hall((1, 1), 0)
    assert maze.exits((1, 0)) == (90, 180, 270)
    assert maze.ahead((0, 0), 90) == ((1, 0), (2, 0))
    assert maze.ahead((1, 1), 180) == ()


def test_maze_gives_every_hall_once_with_neighbouring_ends():
    halls = list(Maze("T", PLACES, HALLS).halls())
    assert len(halls) == 3
    assert ((1, 0), (2, 0), Hall("brick", "fish")) in halls


def test_maze_equality_follows_content_not_order():
    assert Maze("T", PLACES, HALLS) == Maze("T", PLACES, reversed(HALLS))
    assert hash(Maze("T", PLACES, HALLS)) == hash(Maze("T", PLACES, HALLS[::-1]))
    assert Maze("T", PLACES, HALLS) != Maze("T", PLACES, HALLS[:2])


def test_maze_mirrored_twice_is_the_maze():
    maze = Maze("T", PLACES, HALLS)
    assert maze.mirrored() != maze
    assert maze.mirrored().mirrored() == maze
    assert maze.mirrored().hall((0, 0), 270) == maze.hall((0, 0), 90)


@pytest.mark.parametrize(
    ("places", "halls", "says"),
    [
        ({}, [], "at least one place"),
        ([((0, 0), ""), ((0, 0), "lamp")], [], r"got \(0, 0\) again for place 2"),
        ({(0.5, 0): ""}, [], "pair of integers"),
        ({(True, 0): ""}, [], "pair of integers"),
        ({(0, 0, 0): ""}, [], "pair of integers"),
        (PLACES, [((0, 0), (0, 1), "", "")], r"Hall 1 .* there is no place at \(0, 1\)"),
        (PLACES, [((0, 0), (2, 0), "", "")], "must join neighbours"),
        (PLACES, [((0, 0), (1, 1), "", "")], "must join neighbours"),
        (PLACES, [((0, 0), (0, 0), "", "")], "must join neighbours"),
        (PLACES, [*HALLS, ((1, 0), (0, 0), "", "")], "Hall 4 .* must be the only one from"),
        (PLACES, [((0, 0), ("1", 0), "", "")], "pair of integers"),
    ],
)
def test_maze_refuses_broken_parts(places, halls, says):
    with pytest.raises(CorpusError, match=says):
        Maze("Broken", places, halls)


def test_direction_between_places():
    assert direction_between((4, 4), (4, 9)) == 180
    assert direction_between((4, 4), (1, 4)) == 270
    assert direction_between((4, 4), (4, 4)) is None
