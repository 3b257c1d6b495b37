"""MiniGrid states as compact immutable values, and the effects of moves on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from groundling.errors import WorldError

MOVES = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
"""Names of the moves, in the order of the simulator's action numbers."""

HELD, INSIDE, GONE = -1, -2, -3
"""Places that are not cells: in the agent's hand, in a closed box, removed."""

OPEN, CLOSED, LOCKED = 0, 1, 2
"""Status values of a door."""

HEADINGS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Change of column and of row, for each direction."""

PORTABLE = frozenset({"ball", "box", "key"})
"""Kinds of things that can be carried."""

_FLAT = frozenset({"goal", "floor", "lava"})


class Thing(NamedTuple):
    """A thing in the grid; for a box, `contains` is the number of the thing inside."""

    kind: str
    colour: str
    contains: int = -1

    def __str__(self) -> str:
        return f"{self.colour} {self.kind}"


@dataclass(frozen=True)
class GridLayout:
    """Part of the grid that is fixed during an episode: walls, rooms and things.

    Cells are numbered row by row. Rooms are (left, top, width, height), walls included.
    """

    width: int
    height: int
    walls: bytes  # one byte per cell: 1 for a wall
    things: tuple[Thing, ...]
    rooms: tuple[tuple[int, int, int, int], ...] = ()
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        value = hash((self.width, self.height, self.walls, self.things, self.rooms))
        object.__setattr__(self, "_hash", value)

    @property
    def steps(self) -> tuple[int, int, int, int]:
        """Offsets in cell numbers of the neighbours to the east, south, west and north."""
        return (1, self.width, -1, -self.width)

    def point(self, cell: int) -> tuple[int, int]:
        """Return the column and the row of a cell."""
        row, column = divmod(cell, self.width)
        return column, row

    def room(self, cell: int) -> tuple[int, int, int, int]:
        """Return the room of a cell; for a wall between rooms, the last of these rooms."""
        x, y = self.point(cell)
        for left, top, width, height in reversed(self.rooms):
            if left <= x < left + width and top <= y < top + height:
                return left, top, width, height
        return 0, 0, self.width, self.height

    def __hash__(self) -> int:
        return self._hash


class GridState(NamedTuple):
    """State of the grid that changes during an episode, as a small hashable value.

    `places` contains the cell of each thing in the layout, or `HELD`, `INSIDE` or `GONE`. `doors`
    contains the status of each door, and 0 for other things. Directions are 0 (east), 1 (south),
    2 (west) and 3 (north).

    >>> state = parse_grid("#####", "#> k#", "#####")
    >>> ahead = step(step(state, "forward"), "pickup")
    >>> ahead.layout.point(ahead.agent), ahead.carrying
    ((2, 1), 0)
    >>> print(ahead)
    #####
    # > #
    #####
    """

    layout: GridLayout
    agent: int
    direction: int
    carrying: int  # number of the carried thing, or -1
    places: tuple[int, ...]
    doors: tuple[int, ...]

    @property
    def front(self) -> int:
        """Cell in front of the agent."""
        return self.agent + self.layout.steps[self.direction]

    def at(self, cell: int) -> int:
        """Return the number of the thing on a cell, or -1 if there is none."""
        try:
            return self.places.index(cell)
        except ValueError:
            return -1

    def is_free(self, cell: int) -> bool:
        """Return whether the agent can put a thing on a cell."""
        return not self.layout.walls[cell] and cell not in self.places and cell != self.agent

    def can_enter(self, cell: int) -> bool:
        """Return whether the agent can walk onto a cell."""
        if self.layout.walls[cell]:
            return False
        number = self.at(cell)
        if number < 0:
            return True
        kind = self.layout.things[number].kind
        return kind in _FLAT or (kind == "door" and self.doors[number] == OPEN)

    def __str__(self) -> str:
        layout = self.layout
        cells = ["#" if wall else " " for wall in layout.walls]
        for number, (place, thing) in enumerate(zip(self.places, layout.things, strict=True)):
            if place >= 0:
                letter = "/DL"[self.doors[number]] if thing.kind == "door" else _letter(thing)
                cells[place] = letter
        cells[self.agent] = ">v<^"[self.direction]
        width = layout.width
        return "\n".join(
            "".join(cells[row * width : (row + 1) * width]) for row in range(layout.height)
        )


def _letter(thing: Thing) -> str:
    return {"box": "x", "ball": "b", "key": "k", "goal": "G", "lava": "~"}.get(thing.kind, "?")


def step(state: GridState, move: str) -> GridState:
    """Return the state after a move, as in the simulator.

    >>> step(parse_grid("####", "#>b#", "####"), "forward").agent  # a ball is in the way
    5
    """
    layout, _agent, direction, carrying, places, doors = state
    if move == "left":
        return state._replace(direction=(direction + 3) % 4)
    if move == "right":
        return state._replace(direction=(direction + 1) % 4)
    front = state.front
    if move == "forward":
        return state._replace(agent=front) if state.can_enter(front) else state
    if move == "done":
        return state
    number = state.at(front)
    if move == "pickup":
        if number < 0 or carrying >= 0 or layout.things[number].kind not in PORTABLE:
            return state
        return state._replace(carrying=number, places=put(places, number, HELD))
    if move == "drop":
        if carrying < 0 or number >= 0 or layout.walls[front]:
            return state
        return state._replace(carrying=-1, places=put(places, carrying, front))
    if move == "toggle":
        if number < 0:
            return state
        kind, colour, contains = layout.things[number]
        if kind == "box":
            places = put(places, number, GONE)
            return state._replace(places=put(places, contains, front) if contains >= 0 else places)
        if kind != "door":
            return state
        status = doors[number]
        if status == LOCKED:
            if carrying < 0 or layout.things[carrying][:2] != ("key", colour):
                return state
            status = CLOSED
        return state._replace(doors=put(doors, number, CLOSED if status == OPEN else OPEN))
    raise WorldError(f"`move` must be one of {', '.join(map(repr, MOVES))}; got {move!r}.")


def put(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    """Return a copy of a tuple with one value replaced."""
    return (*values[:place], value, *values[place + 1 :])


class GridReader:
    """Reader of the states of a MiniGrid environment, which numbers the things in it.

    Create a new reader after each `reset`. Things that look the same have different numbers,
    because the simulator distinguishes them.
    """

    def __init__(self, env: Any) -> None:
        self.env = env.unwrapped
        grid = getattr(self.env, "grid", None)
        if grid is None or not hasattr(self.env, "agent_dir"):
            raise WorldError(
                f"{type(self.env).__name__} has no grid. Call env.reset(seed=…) first. For an "
                "environment that is not from MiniGrid, use GymWorld."
            )
        held = [] if self.env.carrying is None else [self.env.carrying]
        shown = [each for each in grid.grid if each is not None and each.type != "wall"] + held
        self._objects = list(shown)
        # the list grows during the loop, because boxes may contain boxes
        for each in self._objects:
            if each.contains is not None:
                self._objects.append(each.contains)
        self._numbers = {id(each): number for number, each in enumerate(self._objects)}
        self.layout = GridLayout(
            grid.width,
            grid.height,
            bytes(each is not None and each.type == "wall" for each in grid.grid),
            tuple(
                Thing(
                    each.type,
                    each.color,
                    -1 if each.contains is None else self._numbers[id(each.contains)],
                )
                for each in self._objects
            ),
            tuple(
                (int(room.top[0]), int(room.top[1]), int(room.size[0]), int(room.size[1]))
                for row in getattr(self.env, "room_grid", ())
                for room in row
            ),
        )

    def number(self, thing: Any) -> int:
        """Return the number of an object of the simulator, or -1 if it is not numbered."""
        return self._numbers.get(id(thing), -1)

    def read(self) -> GridState:
        """Return the current state of the environment."""
        grid, layout = self.env.grid, self.layout
        places = [GONE] * len(layout.things)
        for cell, each in enumerate(grid.grid):
            if each is not None and each.type != "wall":
                if id(each) not in self._numbers:
                    raise WorldError(
                        f"The {each.color} {each.type} did not exist when the GridReader was "
                        "created. Create a new GridReader after env.reset."
                    )
                number = self._numbers[id(each)]
                places[number] = cell
        carrying = -1 if self.env.carrying is None else self._numbers[id(self.env.carrying)]
        if carrying >= 0:
            places[carrying] = HELD
        for number, thing in enumerate(layout.things):
            if thing.contains >= 0 and places[number] != GONE:
                places[thing.contains] = INSIDE
        doors = tuple(map(_status, self._objects))
        x, y = map(int, self.env.agent_pos)
        return GridState(
            layout, y * layout.width + x, int(self.env.agent_dir), carrying, tuple(places), doors
        )


def _status(thing: Any) -> int:
    """Return the status of a door, or 0 for any other thing."""
    if thing.type != "door" or thing.is_open:
        return OPEN
    return LOCKED if thing.is_locked else CLOSED


def parse_grid(*rows: str, colours: Sequence[str] = (), inside: Iterable[int] = ()) -> GridState:
    """Return the state that is drawn with characters, for tests and examples.

    In the drawing, `#` is a wall, `>v<^` is the agent, `b` a ball, `k` a key, `x` a box and `G` the
    goal. A door is `/` if open, `D` if closed and `L` if locked. `colours` are the colours of the
    things in reading order (red by default). `inside` lists the numbers of boxes that contain a
    key; these keys get the last numbers.

    >>> state = parse_grid("####", "#>x#", "####", inside=[0])
    >>> step(state, "toggle").places
    (-3, 6)
    """
    width = len(rows[0])
    kinds = {"b": "ball", "k": "key", "x": "box", "/": "door", "D": "door", "L": "door",
             "G": "goal"}  # fmt: skip
    found = [
        (kinds[letter], row * width + column, "/DL".find(letter))
        for row, line in enumerate(rows)
        for column, letter in enumerate(line)
        if letter in kinds
    ]
    text = "".join(rows)
    boxes = list(inside)
    holds = {box: len(found) + place for place, box in enumerate(boxes)}
    kinds_of = [kind for kind, _, _ in found] + ["key"] * len(boxes)
    things = tuple(
        Thing(kind, colours[number] if number < len(colours) else "red", holds.get(number, -1))
        for number, kind in enumerate(kinds_of)
    )
    places = tuple(cell for _, cell, _ in found) + (INSIDE,) * len(boxes)
    doors = tuple(max(0, status) for _, _, status in found) + (0,) * len(boxes)
    agent = next(cell for cell, letter in enumerate(text) if letter in ">v<^")
    walls = bytes(letter == "#" for letter in text)
    layout = GridLayout(width, len(rows), walls, things)
    return GridState(layout, agent, ">v<^".index(text[agent]), -1, places, doors)
