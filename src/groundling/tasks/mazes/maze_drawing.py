"""Mazes as SVG: coloured halls, items, the path, and the possible actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundling.svg import Canvas
from groundling.tasks.mazes.actions import MazeAction, MazeState
from groundling.tasks.mazes.maze import COMPASS, DIRECTIONS, Maze

if TYPE_CHECKING:
    from groundling.tasks.mazes.environment import MazeEnvironment


FLOOR_COLORS = {
    "blue": "#8fb8de", "brick": "#cf8069", "concrete": "#bfc2c7", "flower": "#e8b4cb",
    "grass": "#98c48a", "gravel": "#8d8a86", "wood": "#c9a36d", "yellow": "#efd779",
}  # fmt: skip
SPARE_COLORS = ("#9fd0cb", "#b9a6d9", "#e3b58d", "#a9b58c", "#d59a9a", "#86a0b8", "#d9cf9f")
WALL_COLORS = ("#4d6d9a", "#9a5b4d", "#4f7f5a", "#7a5a94", "#8a7a3a")
UNIT, HALF = 80.0, 20.0  # distance between two places, and half the width of a hall
LEGEND = 26.0  # height of a line of the legend
_TURNS = {90: "turn right", 180: "turn around", 270: "turn left"}


def name_maze_action(action: MazeAction) -> str:
    """Return a description of an action in words.

    >>> from groundling.tasks.mazes.actions import STAY, move, rotate
    >>> [name_maze_action(each) for each in (move(1), move(2), rotate(270), STAY)]
    ['walk 1 step', 'walk 2 steps', 'turn left', 'stay']
    """
    if action.kind == "move":
        return f"walk {action.amount} step{'s' if action.amount > 1 else ''}"
    if action.kind == "rotate":
        return _TURNS.get(action.amount, str(action))
    return f"face {COMPASS[action.amount]}" if action.kind == "face" else str(action)


def draw_maze(
    environment: MazeEnvironment, state: MazeState, way: Sequence[MazeState], legend: bool = False
) -> str:
    """Return an SVG drawing of a maze, the agent, its path and the possible actions.

    With `legend`, the colours of floors and pictures are explained below the maze.

    >>> from groundling.tasks.mazes import MazeEnvironment, generate_mazes
    >>> world = MazeEnvironment(generate_mazes(seed=1, count=1)[0])
    >>> start = world.start(world.maze.positions[0], 90)
    >>> 'class="agent"' in draw_maze(world, start, [start])
    True
    """
    maze = environment.maze
    xs, ys = zip(*maze.positions, strict=True)
    left, top = (min(xs) - 0.62) * UNIT, (min(ys) - 0.62) * UNIT
    wide, tall = (max(xs) - min(xs) + 1.24) * UNIT, (max(ys) - min(ys) + 1.24) * UNIT
    wide = max(wide, 5 * UNIT) if legend else wide
    rows = -(-len(_keys(maze)) // 3) if legend else 0  # rounded up
    canvas = Canvas(left, top, wide, tall + LEGEND * rows)
    _halls(canvas, maze)
    canvas.way([(x * UNIT, y * UNIT) for (x, y), *_ in way or [state]])
    _targets(canvas, environment, state)
    _items(canvas, maze, state)
    _agent(canvas, state)
    if legend:
        for place, (name, color, high) in enumerate(_keys(maze)):
            row, column = divmod(place, 3)
            x, y = left + 12 + column * wide / 3, top + tall + (row + 0.5) * LEGEND
            canvas.add("rect", x=x, y=y - high / 2, width=26, height=high, fill=color)
            canvas.text(x + 34, y + 4.5, name, font_size=13)
    return str(canvas)


def _keys(maze: Maze) -> list[tuple[str, str, int]]:
    """Return the entries of the legend: name, colour, and height of the colour sample."""
    floors = [(f"{name} floor", color, 14) for name, color in floor_colors(maze).items()]
    return [*floors, *((f"{name} pictures", color, 4) for name, color in wall_colors(maze).items())]


def wall_colors(maze: Maze) -> dict[str, str]:
    """Return a colour for each kind of picture on walls."""
    names = sorted({hall.wall for _, _, hall in maze.halls()})
    return {name: WALL_COLORS[place % len(WALL_COLORS)] for place, name in enumerate(names)}


def floor_colors(maze: Maze) -> dict[str, str]:
    """Return a colour for each kind of floor."""
    names = sorted({hall.floor for _, _, hall in maze.halls()})
    spare = iter(SPARE_COLORS * len(names))
    return {name: FLOOR_COLORS.get(name) or next(spare) for name in names}


def _halls(canvas: Canvas, maze: Maze) -> None:
    colors, walls = floor_colors(maze), wall_colors(maze)
    floors = canvas.add("g", class_="halls")
    for position in maze.positions:
        x, y = position[0] * UNIT, position[1] * UNIT
        found = {side: hall for side in DIRECTIONS if (hall := maze.hall(position, side))}
        main = next(iter(found.values()), None)
        color = colors[main.floor] if main else "#bbbbbb"
        canvas.add("rect", floors, x=x - HALF, y=y - HALF, width=2 * HALF, height=2 * HALF,
                   fill=color, stroke=color)  # fmt: skip
        for side, (across, down) in DIRECTIONS.items():
            # Where floors meet, each side gets a triangle of its own floor.
            hall = found.get(side) or found.get((side + 180) % 360)
            if hall is None or main is None or hall.floor == main.floor:
                continue
            one = (x + HALF * (across - down), y + HALF * (down + across))
            two = (x + HALF * (across + down), y + HALF * (down - across))
            corners = " ".join(f"{a:g},{b:g}" for a, b in ((x, y), one, two))
            canvas.add("polygon", floors, points=corners, fill=colors[hall.floor])
    for one_end, other, hall in maze.halls():
        lies = one_end[1] == other[1]
        x, y = one_end[0] * UNIT, one_end[1] * UNIT
        long = UNIT - 2 * HALF
        box = (x + HALF, y - HALF, long, 2 * HALF) if lies else (x - HALF, y + HALF, 2 * HALF, long)
        color = colors[hall.floor]
        canvas.add("rect", floors, f"{hall.floor} floor, {hall.wall} pictures", x=box[0], y=box[1],
                   width=box[2], height=box[3], fill=color, stroke=color,
                   stroke_width=0.8)  # fmt: skip
        for edge in (0.0, 2 * HALF):  # the pictures hang on both sides
            dx, dy = (0.0, edge) if lies else (edge, 0.0)
            canvas.add("line", floors, stroke=walls[hall.wall], stroke_width=3,
                       x1=box[0] + dx, y1=box[1] + dy, x2=box[0] + (long if lies else dx),
                       y2=box[1] + (dy if lies else long))  # fmt: skip


def _targets(canvas: Canvas, environment: MazeEnvironment, state: MazeState) -> None:
    x, y = state.position
    for action in environment.actions(state):
        after, name = environment.step(state, action), name_maze_action(action)
        if action.kind == "move":
            canvas.target("circle", action, title=name, cx=after.position[0] * UNIT,
                          cy=after.position[1] * UNIT, r=HALF - 3)  # fmt: skip
        elif action.kind in ("rotate", "face") and after.orientation is not None:
            across, down = DIRECTIONS[after.orientation]
            canvas.target("circle", action, title=name, cx=x * UNIT + across * 31,
                          cy=y * UNIT + down * 31, r=8)  # fmt: skip


def _items(canvas: Canvas, maze: Maze, state: MazeState) -> None:
    for position in maze.positions:
        item = maze.item(position)
        if item:
            x, y = position[0] * UNIT, position[1] * UNIT
            y += 29 if position == state.position else 0
            wide = 7.4 * len(item) + 12
            label = canvas.add("g", class_="item")
            canvas.add("rect", label, x=x - wide / 2, y=y - 10, width=wide, height=20, rx=5)
            canvas.text(x, y + 4.5, item, label, text_anchor="middle", font_size=13)


def _agent(canvas: Canvas, state: MazeState) -> None:
    x, y = state.position[0] * UNIT, state.position[1] * UNIT
    agent = canvas.add("g", class_="agent", transform=f"translate({x:g} {y:g})")
    canvas.add("circle", agent, r=15)
    if state.orientation is None:
        canvas.text(0, 6, "?", agent, text_anchor="middle", font_size=18)
    else:
        canvas.add("path", agent, d="M0 -10 L7 7 L0 3.5 L-7 7 Z",
                   transform=f"rotate({state.orientation})")  # fmt: skip
