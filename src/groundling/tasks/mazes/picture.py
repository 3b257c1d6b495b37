"""Pictures of mazes: halls coloured by floor, items by name, and the ways walked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from groundling.tasks.mazes.maze import DIRECTIONS, Maze
from groundling.tasks.mazes.plans import Pose

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_maze", "save_picture"]

FLOOR_COLORS = {
    "blue": "#8fb8de",
    "brick": "#cf8069",
    "concrete": "#bfc2c7",
    "flower": "#e8b4cb",
    "grass": "#98c48a",
    "gravel": "#8d8a86",
    "wood": "#c9a36d",
    "yellow": "#efd779",
}
SPARE_COLORS = ("#9fd0cb", "#b9a6d9", "#e3b58d", "#a9b58c", "#d59a9a", "#86a0b8", "#d9cf9f")
WALL_COLORS = ("#4d6d9a", "#9a5b4d", "#4f7f5a", "#7a5a94", "#8a7a3a")
INK, PATH, PREDICTED, PAPER = "#2b2d33", "#1f3a8a", "#d9480f", "#fcfbf8"
BARE, BLANK_WALL = "#dddddd", "#6b6e75"
DASHES = (0, (2.6, 1.4))
HALL_WIDTH = 0.44


def draw_maze(
    maze: Maze,
    ax: Axes,
    *,
    path: Sequence[Pose] = (),
    predicted: Sequence[Pose] = (),
    names: tuple[str, str] = ("gold", "predicted"),
    legend: bool = True,
    title: str = "",
) -> None:
    """Draw a maze, with a way through it and, beside it, a predicted way.

    Parameters
    ----------
    maze, ax
        What to draw and where.
    path, predicted
        Poses as `poses_of` gives them; both start at the same place.
    names
        What the two ways are called in the legend.
    legend
        Explains floors, pictures and ways below the maze.
    title
        A headline, such as the instruction.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from groundling.tasks.mazes import generate_mazes
    >>> ax = Figure().subplots()
    >>> draw_maze(generate_mazes(1, 1)[0], ax, title="A maze")
    >>> ax.get_title("left")
    'A maze'
    """
    from matplotlib.lines import Line2D

    floors = _colors((hall.floor for _, _, hall in maze.halls()), FLOOR_COLORS, SPARE_COLORS)
    walls = _colors((hall.wall for _, _, hall in maze.halls()), {}, WALL_COLORS)
    _draw_halls(maze, ax, floors, walls)
    walked = {pose.position for pose in (*path, *predicted)}
    for position in maze.positions:
        x, y = position
        ax.plot([x], [y], "o", color="white", markersize=3.2, alpha=0.9, zorder=4)
        if item := maze.item(position):
            ax.text(
                x,
                y + (0.27 if position in walked else 0.0),  # beside the way, not under it
                item,
                ha="center",
                va="center",
                fontsize=8,
                color=INK,
                zorder=8,
                bbox={
                    "boxstyle": "round,pad=0.26",
                    "facecolor": "white",
                    "edgecolor": "#8a8d94",
                    "linewidth": 0.7,
                    "alpha": 0.94,
                },
            )
    beside = 0.09 if path and predicted else 0.0
    _draw_way(ax, path, PATH, -beside, "-")
    _draw_way(ax, predicted, PREDICTED, beside, DASHES)
    if path or predicted:
        _draw_start(ax, (path or predicted)[0])
    xs, ys = [x for x, _ in maze.positions], [y for _, y in maze.positions]
    ax.set_xlim(min(xs) - 0.6, max(xs) + 0.6)
    ax.set_ylim(max(ys) + 0.6, min(ys) - 0.6)  # y grows southward
    ax.set_aspect("equal")
    ax.set_facecolor(PAPER)
    ax.set_axis_off()
    if title:
        ax.set_title(title, fontsize=11, color=INK, loc="left")
    if legend:
        handles = [
            Line2D([], [], color=color, linewidth=8, solid_capstyle="butt", label=f"{floor} floor")
            for floor, color in floors.items()
        ]
        handles += [
            Line2D([], [], color=color, linewidth=1.6, label=f"{wall} pictures")
            for wall, color in walls.items()
        ]
        ways = ((path, PATH, "-", names[0]), (predicted, PREDICTED, DASHES, names[1]))
        handles += [
            Line2D([], [], color=color, linewidth=2.4, linestyle=style, label=name)  # type: ignore[arg-type]
            for way, color, style, name in ways
            if way
        ]
        ax.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=4,
            fontsize=8,
            frameon=False,
            labelcolor=INK,
            handlelength=2.0,
        )


def save_picture(
    file: str | Path,
    maze: Maze,
    *,
    path: Sequence[Pose] = (),
    predicted: Sequence[Pose] = (),
    names: tuple[str, str] = ("gold", "predicted"),
    title: str = "",
) -> Path:
    """Draw a maze into a PNG, SVG or PDF file.

    >>> from tempfile import TemporaryDirectory
    >>> from groundling.tasks.mazes import generate_mazes
    >>> with TemporaryDirectory() as folder:
    ...     save_picture(f"{folder}/maze.png", generate_mazes(1, 1)[0]).exists()
    True
    """
    from matplotlib.figure import Figure

    xs, ys = [x for x, _ in maze.positions], [y for _, y in maze.positions]
    size = (1.15 * (max(xs) - min(xs)) + 2.2, 1.15 * (max(ys) - min(ys)) + 2.8)
    figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
    headline = fill(title, width=max(20, int(10 * size[0])))
    draw_maze(maze, figure.subplots(), path=path, predicted=predicted, names=names, title=headline)
    figure.savefig(file, dpi=150, bbox_inches="tight", pad_inches=0.15)
    return Path(file)


def _colors(names: Iterable[str], known: Mapping[str, str], spare: Sequence[str]) -> dict[str, str]:
    """Give every name a color: its own, or the next of the spare ones."""
    colors: dict[str, str] = {}
    unknown = 0
    for name in sorted(set(names)):
        if name in known:
            colors[name] = known[name]
        else:
            colors[name] = spare[unknown % len(spare)]
            unknown += 1
    return colors


def _draw_halls(maze: Maze, ax: Axes, floors: Mapping[str, str], walls: Mapping[str, str]) -> None:
    from matplotlib.patches import Polygon, Rectangle

    half = HALL_WIDTH / 2
    for position in maze.positions:
        # a place is four triangles, each with the floor of the hall on its side
        x, y = position
        sides = {each: hall for each in DIRECTIONS if (hall := maze.hall(position, each))}
        for direction, (across, down) in DIRECTIONS.items():
            one = (x + half * (across - down), y + half * (down + across))
            two = (x + half * (across + down), y + half * (down - across))
            near = sides.get(direction) or sides.get((direction + 180) % 360)
            hall = near or next(iter(sides.values()), None)
            color = floors[hall.floor] if hall else BARE
            triangle = Polygon([(x, y), one, two], facecolor=color, edgecolor=color, lw=0.6)
            triangle.set_zorder(2)
            ax.add_patch(triangle)
            if direction not in sides:
                _line(ax, one, two, BLANK_WALL)
    for (x, y), (_, other_y), hall in maze.halls():
        long, color = 1.0 - HALL_WIDTH, floors[hall.floor]
        lies = y == other_y
        corner = (x + half, y - half) if lies else (x - half, y + half)
        size = (long, HALL_WIDTH) if lies else (HALL_WIDTH, long)
        ax.add_patch(Rectangle(corner, *size, facecolor=color, edgecolor=color, lw=0.6, zorder=2))
        for side in (0.0, HALL_WIDTH):  # the pictures hang on both sides
            start = (corner[0], corner[1] + side) if lies else (corner[0] + side, corner[1])
            end = (start[0] + long, start[1]) if lies else (start[0], start[1] + long)
            _line(ax, start, end, walls[hall.wall])


def _line(ax: Axes, one: tuple[float, float], two: tuple[float, float], color: str) -> None:
    xs, ys = (one[0], two[0]), (one[1], two[1])
    ax.plot(xs, ys, color=color, linewidth=1.8, zorder=3, solid_capstyle="round")


def _draw_way(ax: Axes, poses: Sequence[Pose], color: str, beside: float, style: object) -> None:
    if len(poses) < 2:
        return
    xs = [pose.position[0] + beside for pose in poses]
    ys = [pose.position[1] + beside for pose in poses]
    ax.plot(xs, ys, color="white", linewidth=5, alpha=0.7, zorder=5, solid_joinstyle="round")
    ax.plot(xs, ys, color=color, linewidth=2.6, linestyle=style, zorder=6, solid_joinstyle="round")
    end = poses[-1]
    if end.orientation is not None:
        _arrow(ax, xs[-1], ys[-1], end.orientation, color)


def _draw_start(ax: Axes, pose: Pose) -> None:
    x, y = pose.position
    ax.plot([x], [y], "o", color="white", markersize=13, zorder=9, markeredgecolor=INK)
    if pose.orientation is None:
        ax.text(x, y, "?", ha="center", va="center", fontsize=9, color=INK, zorder=10)
    else:
        _arrow(ax, x, y, pose.orientation, INK, length=0.2, back=0.12)


def _arrow(
    ax: Axes,
    x: float,
    y: float,
    direction: int,
    color: str,
    *,
    length: float = 0.3,
    back: float = 0.0,
) -> None:
    across, down = DIRECTIONS[direction]
    ax.annotate(
        "",
        xy=(x + length * across, y + length * down),
        xytext=(x - back * across, y - back * down),
        arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2.2, "mutation_scale": 14},
        zorder=11,
    )
