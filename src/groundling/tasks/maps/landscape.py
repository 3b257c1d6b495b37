"""Landscapes: the landmarks on a map, and the landmarks along a drawn route."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from groundling.errors import WorldError, check_known, did_you_mean

Point: TypeAlias = tuple[float, float]

SIDES = ("North", "East", "South", "West")

# Maximum distance, in pixels, at which a route passes a landmark.
NEARBY = 75.0

# Distance, in pixels, of a side of a landmark from its centre.
BESIDE = 25.0

_TOWARDS = {"": (0, 0), "North": (0, -1), "East": (1, 0), "South": (0, 1), "West": (-1, 0)}


class MapStep(NamedTuple):
    """One step of a path: a landmark (by its key) and the side on which it is passed.

    >>> MapStep("old mill", "North")
    MapStep(landmark='old mill', side='North')
    """

    landmark: str
    side: str = ""


@dataclass(frozen=True)
class Landmark:
    """A landmark of a map, such as an old mill.

    Parameters
    ----------
    name
        Name of the landmark; two landmarks of a map may have the same name.
    x, y
        Centre in pixels: x increases eastwards, y **southwards**.
    copy
        1 for the first landmark with this name, 2 for the second, …
    outline
        Corners of the drawing of the landmark, if known.
    crossable
        Whether the route may cross the landmark, such as a bridge.
    radius
        Radius in the map file, in pixels.

    Examples
    --------
    >>> mill = Landmark("old mill", 120, 80, copy=2)
    >>> mill.key, mill.words, mill.position
    ('old mill 2', ('old', 'mill'), (120, 80))
    """

    name: str
    x: float
    y: float
    copy: int = 1
    outline: tuple[Point, ...] = ()
    crossable: bool = False
    radius: float = 20.0

    @property
    def key(self) -> str:
        """Name that is unique on the map."""
        return self.name if self.copy == 1 else f"{self.name} {self.copy}"

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the name."""
        return tuple(self.name.split())

    @property
    def position(self) -> Point:
        """Centre of the landmark, in pixels from the north-west corner."""
        return self.x, self.y


@dataclass(frozen=True)
class Landscape:
    """Landmarks of a map, including the start, but without the route and the finish.

    Parameters
    ----------
    landmarks
        The landmarks, including the start, with unique keys.
    start
        The key of the start.
    name
        Name of the map for error messages.

    Examples
    --------
    >>> landscape = Landscape(
    ...     (Landmark("start", 50, 50), Landmark("old mill", 50, 250), Landmark("cave", 250, 250))
    ... )
    >>> landscape.distance("start", "old mill"), landscape.keys
    (200.0, ('start', 'old mill', 'cave'))
    >>> landscape["cave"].x
    250
    """

    landmarks: tuple[Landmark, ...]
    start: str = "start"
    name: str = ""
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "landmarks", tuple(self.landmarks))
        places: dict[str, int] = {}
        for number, landmark in enumerate(self.landmarks):
            if landmark.key in places:
                raise WorldError(
                    f"{self} must have landmarks with unique keys; got {landmark.key!r} twice. "
                    "Set copy=2, 3, … for landmarks with the same name."
                )
            if not (math.isfinite(landmark.x) and math.isfinite(landmark.y)):
                raise WorldError(
                    f"{self}: the coordinates of {landmark.key!r} must be finite; got "
                    f"{landmark.position}."
                )
            places[landmark.key] = number
        object.__setattr__(self, "_places", places)
        if self.start not in places:
            raise WorldError(
                f"The landmarks of {self} must include the start; got {self.start!r}."
                f"{did_you_mean(self.start, places)}"
            )

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the landmarks, in order."""
        return tuple(self._places)

    def place(self, key: str) -> int:
        """Return the index in `landmarks` of the landmark with the given key."""
        check_known(key, self._places, f"{self} has no landmark", WorldError)
        return self._places[key]

    def __getitem__(self, key: str) -> Landmark:
        return self.landmarks[self.place(key)]

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self.landmarks)

    def distance(self, first: str, second: str) -> float:
        """Return the distance between two landmarks' centres, in pixels."""
        return math.dist(self[first].position, self[second].position)

    def point(self, key: str, side: str = "") -> Point:
        """Return the point on a side of a landmark, or its centre if no side is given.

        >>> Landscape((Landmark("start", 50, 50),)).point("start", "North")
        (50.0, 25.0)
        """
        check_known(side or SIDES[0], SIDES, f"{key} has no side", WorldError)
        (x, y), (east, south) = self[key].position, _TOWARDS[side]
        return x + BESIDE * east, y + BESIDE * south

    def __str__(self) -> str:
        return f"The landscape {self.name!r}" if self.name else "The landscape"


def side_of(landmark: Landmark, point: Point) -> str:
    """Return the side of a landmark on which a point lies.

    A point on a diagonal counts as north or south.

    >>> side_of(Landmark("cave", 100, 100), (130, 90)), side_of(Landmark("cave", 100, 100), (9, 9))
    ('East', 'North')
    """
    east, south = point[0] - landmark.x, point[1] - landmark.y
    if abs(east) > abs(south):
        return "East" if east > 0 else "West"
    return "South" if south > 0 else "North"


def trace_route(
    landscape: Landscape, route: Sequence[Point], radius: float = NEARBY
) -> tuple[MapStep, ...]:
    """Return the landmarks that a drawn route passes, each with the side passed.

    Each point belongs to its nearest landmark within `radius` pixels. Consecutive equal steps are
    merged. A path may return to a landmark later.

    >>> landscape = Landscape((Landmark("start", 0, 0), Landmark("cave", 300, 0)))
    >>> line = [(x, 40) for x in range(0, 400, 10)]
    >>> [tuple(step) for step in trace_route(landscape, line)]
    [('start', 'South'), ('start', 'East'), ('cave', 'West'), ('cave', 'South'), ('cave', 'East')]
    """
    steps: list[MapStep] = []
    for point in route:
        nearest = min(landscape.landmarks, key=lambda each: math.dist(each.position, point))
        if math.dist(nearest.position, point) > radius:
            continue
        step = MapStep(nearest.key, side_of(nearest, point))
        if not steps or steps[-1] != step:
            steps.append(step)
    return tuple(steps)


def visited_landmarks(steps: Iterable[MapStep]) -> tuple[str, ...]:
    """Return the landmarks of a path in order, one for each visit.

    >>> visited_landmarks([MapStep("a", "North"), MapStep("a", "East"), MapStep("b"), MapStep("a")])
    ('a', 'b', 'a')
    """
    found: list[str] = []
    for step in steps:
        if not found or found[-1] != step.landmark:
            found.append(step.landmark)
    return tuple(found)
