"""Mazes: places on a grid, the halls between them, and the items in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from groundling.errors import CorpusError

Position: TypeAlias = tuple[int, int]

# y grows to the south, so that turning right adds 90 degrees
DIRECTIONS: Mapping[int, tuple[int, int]] = {0: (0, -1), 90: (1, 0), 180: (0, 1), 270: (-1, 0)}
COMPASS: Mapping[int, str] = {0: "north", 90: "east", 180: "south", 270: "west"}
SIDES: Mapping[str, int] = {"front": 0, "left": 270, "right": 90, "back": 180}


class Hall(NamedTuple):
    """A hall between two places: its floor, and the pictures on its walls."""

    floor: str
    wall: str


def direction_between(start: Position, end: Position) -> int | None:
    """Return the direction between two places on one straight line, else None.

    >>> direction_between((2, 3), (2, 1)), direction_between((2, 3), (5, 3))
    (0, 90)
    >>> direction_between((2, 3), (3, 4)) is None
    True
    """
    across, down = end[0] - start[0], end[1] - start[1]
    if (across == 0) == (down == 0):
        return None
    step = ((across > 0) - (across < 0), (down > 0) - (down < 0))
    return next(direction for direction, each in DIRECTIONS.items() if each == step)


class Maze:
    """A maze: places on a grid that are connected by halls.

    Parameters
    ----------
    name
        The name of the maze.
    places
        The position of each place and its item (or an empty string), as a mapping or pairs.
    halls
        Tuples (start, end, floor, wall); both ends are neighbours on the grid.

    Raises
    ------
    CorpusError
        If there are no places, if a coordinate is not an integer, if a place or a hall is given
        twice, or if a hall does not join two neighbours.

    Examples
    --------
    >>> maze = Maze(
    ...     "Small",
    ...     places={(0, 0): "", (1, 0): "sofa", (1, 1): ""},
    ...     halls=[((0, 0), (1, 0), "brick", "fish"), ((1, 0), (1, 1), "wood", "tower")],
    ... )
    >>> maze.item((1, 0)), maze.hall((0, 0), 90), maze.hall((0, 0), 180)
    ('sofa', Hall(floor='brick', wall='fish'), None)
    >>> maze.exits((1, 0)), maze.ahead((0, 0), 90)
    ((180, 270), ((1, 0),))
    """

    def __init__(
        self,
        name: str,
        places: Mapping[Position, str] | Iterable[tuple[Position, str]],
        halls: Iterable[tuple[Position, Position, str, str]],
    ) -> None:
        self.name = name
        self._items: dict[Position, str] = {}
        self._halls: dict[tuple[Position, int], Hall] = {}
        pairs = places.items() if isinstance(places, Mapping) else places
        for number, (position, item) in enumerate(pairs, 1):
            _check_position(position, f"Place {number} of the maze {name!r}")
            if position in self._items:
                raise CorpusError(
                    f"The positions of the maze {name!r} must be unique; got {position} "
                    f"again for place {number}. Remove one of them."
                )
            self._items[tuple(position)] = item
        if not self._items:
            raise CorpusError(
                f"The maze {name!r} must have at least one place; got none. Add a place."
            )
        for number, (one, other, floor, wall) in enumerate(halls, 1):
            where = f"Hall {number} of the maze {name!r}"
            for end in (one, other):
                _check_position(end, where)
                if end not in self._items:
                    raise CorpusError(
                        f"{where} joins {one} and {other}, but there is no place at {end}. Add "
                        "the place, or remove the hall."
                    )
            direction = direction_between(one, other)
            if direction is None or abs(one[0] - other[0]) + abs(one[1] - other[1]) != 1:
                raise CorpusError(
                    f"{where} must join neighbours on the grid; got {one} and {other}. Pass one "
                    "hall for each step."
                )
            if (one, direction) in self._halls:
                raise CorpusError(
                    f"{where} must be the only one from {one} to {other}; got a second one. Remove "
                    "one of the two halls; a hall leads in both directions."
                )
            self._halls[one, direction] = Hall(floor, wall)
            self._halls[other, (direction + 180) % 360] = Hall(floor, wall)

    @property
    def positions(self) -> tuple[Position, ...]:
        """Positions of all places, sorted."""
        return tuple(sorted(self._items))

    def halls(self) -> Iterator[tuple[Position, Position, Hall]]:
        """Yield every hall once, with both its ends."""
        for position, direction in sorted(self._halls):
            if direction in (90, 180):
                yield position, _step(position, direction), self._halls[position, direction]

    def __contains__(self, position: object) -> bool:
        return position in self._items

    def item(self, position: Position) -> str:
        """Return the item at a position, or an empty string if there is none."""
        return self._items[position]

    def hall(self, position: Position, direction: int) -> Hall | None:
        """Return the hall that leaves a position in a direction, or None for a blank wall."""
        return self._halls.get((position, direction))

    def exits(self, position: Position) -> tuple[int, ...]:
        """Return the directions in which halls leave a position."""
        return tuple(each for each in DIRECTIONS if (position, each) in self._halls)

    def ahead(self, position: Position, direction: int) -> tuple[Position, ...]:
        """Return the positions straight ahead, the nearest first."""
        found = []
        while (position, direction) in self._halls:
            position = _step(position, direction)
            found.append(position)
        return tuple(found)

    def mirrored(self) -> Maze:
        """Return the maze with left and right exchanged (x becomes -x).

        >>> Maze("M", {(2, 0): "", (3, 0): "lamp"}, [((2, 0), (3, 0), "", "")]).mirrored().positions
        ((-3, 0), (-2, 0))
        """
        return Maze(
            self.name,
            {(-x, y): item for (x, y), item in self._items.items()},
            [
                ((-one[0], one[1]), (-other[0], other[1]), hall.floor, hall.wall)
                for one, other, hall in self.halls()
            ],
        )

    def renamed(self, name: Callable[[str, str], str]) -> Maze:
        """Return the maze with its floors, walls and items renamed.

        `name` is a function of a kind (`floor`, `wall` or `item`) and a value that returns the new
        name. Empty values stay empty.

        >>> maze = Maze("M", {(2, 0): "", (3, 0): "lamp"}, [((2, 0), (3, 0), "wood", "fish")])
        >>> shout = maze.renamed(lambda kind, value: value.upper())
        >>> shout.item((3, 0)), shout.hall((2, 0), 90)
        ('LAMP', Hall(floor='WOOD', wall='FISH'))
        """

        def new(kind: str, value: str) -> str:
            return name(kind, value) if value else ""

        return Maze(
            self.name,
            {position: new("item", item) for position, item in self._items.items()},
            [
                (one, other, new("floor", hall.floor), new("wall", hall.wall))
                for one, other, hall in self.halls()
            ],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Maze):
            return NotImplemented
        return (self.name, self._items, self._halls) == (other.name, other._items, other._halls)

    def __hash__(self) -> int:
        return hash((self.name, self.positions))

    def __repr__(self) -> str:
        return f"Maze({self.name!r}, {len(self._items)} places, {len(self._halls) // 2} halls)"


def _step(position: Position, direction: int) -> Position:
    across, down = DIRECTIONS[direction]
    return position[0] + across, position[1] + down


def _check_position(position: object, where: str) -> None:
    good = (
        isinstance(position, tuple)
        and len(position) == 2
        and all(isinstance(each, int) and not isinstance(each, bool) for each in position)
    )
    if not good:
        raise CorpusError(
            f"{where}: a position must be a pair of integers such as (3, 5); got {position!r}."
        )
