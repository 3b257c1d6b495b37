"""Drawings of worlds: by the environment's own method, framed, and written to files."""

import re

import pytest

from groundling.errors import SettingError, WorldError
from groundling.svg import Canvas, draw_way, framed, write_picture
from groundling.tasks.mazes import Maze, MazeEnvironment
from groundling.tasks.mazes.maze_drawing import draw_maze
from groundling.tasks.puzzles import Board, PuzzleEnvironment, Strike
from groundling.tasks.puzzles.environment import PuzzleState

SQUARE = str(Canvas(0, 0, 30, 10))


class Walk:
    """A world that draws its whole way."""

    def draw(self, state, way=()):
        canvas = Canvas(0, 0, 10, 10)
        for each in way:
            canvas.text(1, 1, str(each))
        return str(canvas)


def test_svg_gives_the_way_to_drawings_that_take_it():
    assert re.findall(r">(\d)<", draw_way(Walk(), [1, 2, 3])) == ["1", "2", "3"]


def test_svg_says_what_a_drawing_raised():
    class Broken:
        def draw(self, state):
            raise KeyError("paint")

    with pytest.raises(WorldError, match=r"Broken\.draw\(1\) raised KeyError: 'paint'"):
        draw_way(Broken(), [1])


def test_svg_frames_long_titles_in_several_lines():
    page = framed(SQUARE, "go on and on " * 20, ["1. a < b"])
    assert page.count("<text") > 3
    assert "1. a &lt; b" in page
    assert page.count("<svg") == 2
    assert 'width="900"' in page


def test_svg_frames_drawings_without_a_view_box():
    page = framed('<svg xmlns="http://www.w3.org/2000/svg" width="60px" height="20px"></svg>')
    assert 'viewBox="0 0 60px 20px"' not in page
    assert re.search(r'viewBox="0 0 60 20"', page)


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<svg"), ("a.pdf", b"%PDF")]
)
def test_svg_is_written_the_same_each_time(name, start, tmp_path):
    first = write_picture(SQUARE, tmp_path / name, "title").read_bytes()
    assert first.startswith(start)
    if not name.endswith("pdf"):  # which carries the time
        assert write_picture(SQUARE, tmp_path / name, "title").read_bytes() == first


def test_svg_refuses_other_formats(tmp_path):
    with pytest.raises(SettingError, match=r"must end in \.png"):
        write_picture(SQUARE, tmp_path / "a.gif")


def test_maze_drawing_has_a_legend_on_request():
    maze = Maze("Two", {(0, 0): "", (1, 0): "sofa"}, [((0, 0), (1, 0), "wood", "fish")])
    world = MazeEnvironment(maze)
    start = world.start((0, 0), 90)
    assert "wood floor</text>" in draw_maze(world, start, [start], legend=True)
    assert "fish pictures</text>" in draw_maze(world, start, [start], legend=True)
    plain = world.draw(start, [start])
    assert "wood floor</text>" not in plain
    assert ">sofa</text>" in plain
    assert world.name_action(world.actions(start)[0]) == "walk 1 step"


def test_puzzle_drawing_numbers_what_was_struck():
    world = PuzzleEnvironment()
    states = [PuzzleState(Board.read(["##", "##"]), 2)]
    for line in (0, 1):
        states.append(world.step(states[-1], Strike("row", (line,))))
    drawing = world.draw(states[-1], states)
    assert re.findall(r'font-size="17">(\d)<', drawing) == ["1", "1", "2", "2"]
    assert drawing.count('class="struck"') == 2
