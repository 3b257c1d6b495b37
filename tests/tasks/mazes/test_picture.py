"""Pictures: everything is on them, and nothing is imported before it is needed."""

import subprocess
import sys

import pytest
from matplotlib.figure import Figure

from groundling.tasks.mazes import Maze, face, generate_mazes, move, rotate
from groundling.tasks.mazes.picture import draw_maze, save_picture
from groundling.tasks.mazes.plans import Pose, poses_of

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def ax():
    return Figure().subplots()


def texts(ax):
    return sorted(text.get_text() for text in ax.texts if text.get_text())


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def small():
    places = {(0, 0): "lamp", (1, 0): "", (1, 1): "robot"}
    halls = [((0, 0), (1, 0), "brick", "fish"), ((1, 0), (1, 1), "ice", "stars")]
    return Maze("Small", places, halls)


def test_draw_maze_names_items_floors_and_pictures(ax):
    draw_maze(small(), ax)
    assert texts(ax) == ["lamp", "robot"]
    assert legend(ax) == ["brick floor", "ice floor", "fish pictures", "stars pictures"]


def test_draw_maze_shows_both_ways_and_an_unknown_start(ax):
    start = Pose((0, 0), None)
    path = poses_of(small(), start, [face(90), move(1), rotate(90), move(1)])
    draw_maze(small(), ax, path=path, predicted=path[:3], names=("shown", "followed"))
    assert "?" in texts(ax)
    assert legend(ax)[-2:] == ["shown", "followed"]


def test_draw_maze_has_south_below(ax):
    draw_maze(small(), ax, legend=False)
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert ax.get_legend() is None


def test_draw_maze_with_a_single_place_and_a_plan_that_stays(ax):
    draw_maze(Maze("One", {(0, 0): ""}, []), ax, path=[Pose((0, 0), 90)])
    assert texts(ax) == []


def test_save_picture_writes_a_png(tmp_path):
    (maze,) = generate_mazes(3, 1)
    file = save_picture(tmp_path / "maze.png", maze, title="a long headline " * 12)
    assert file.read_bytes().startswith(PNG)


def test_picture_loads_matplotlib_only_when_it_draws():
    code = "import sys, groundling.tasks.mazes.picture; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
