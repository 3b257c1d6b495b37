"""Geometry of moves between landmarks, relative to the visited landmarks."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from groundling.tasks.maps.landscape import NEARBY, Landscape

NEAR, FAR = 100.0, 300.0  # pixels

# A move turns back if it deviates from the previous move by more than 120 degrees.
_BACK = -0.5


class Sight(NamedTuple):
    """A move, and what its labels depend on besides the geometry of the map.

    `left`, `rank` and `between` count unvisited landmarks: all except the current one, those
    nearer than the target, and those on the way. `fresh` is whether the target is unvisited;
    `namesake` and `seen`, whether another landmark of its name is unvisited and nearer, or was
    visited.
    """

    here: str
    there: str
    previous: str | None
    left: int
    rank: int
    between: int
    fresh: bool
    namesake: bool
    seen: bool


class Geometry:
    """Distances and directions between all landmarks of a landscape, computed once.

    Attributes
    ----------
    distances
        [landmark, landmark] distances in pixels, in the order of `landscape.landmarks`.
    east, north
        [landmark, landmark] components of the unit vector from the first to the second.
    between
        For each pair, the landmarks within 75 pixels of the straight line between them.

    Examples
    --------
    >>> from groundling.tasks.maps.landscape import Landmark
    >>> landscape = Landscape(
    ...     (Landmark("start", 0, 0), Landmark("hut", 200, 0), Landmark("cave", 400, 0))
    ... )
    >>> geometry = Geometry(landscape)
    >>> geometry.between[0][2]
    frozenset({1})
    >>> labels = geometry.labels("start", "cave", visited={"start"})
    >>> labels["distance"], labels["rank"], labels["between"], labels["far"], labels["east"]
    (4.0, 1.0, 1.0, True, 1.0)
    """

    def __init__(self, landscape: Landscape) -> None:
        self.landscape = landscape
        places = np.array([each.position for each in landscape.landmarks], dtype=float)
        across = places[None, :, :] - places[:, None, :]
        self.distances: npt.NDArray[np.float64] = np.hypot(across[..., 0], across[..., 1])
        # landmarks at the same place have no direction between them
        length = np.where(self.distances > 0, self.distances, 1.0)
        self.east: npt.NDArray[np.float64] = across[..., 0] / length
        self.north: npt.NDArray[np.float64] = -across[..., 1] / length
        size = range(len(landscape))
        self.between = tuple(
            tuple(
                frozenset(
                    each
                    for each in size
                    if each not in (here, there)
                    and _from_segment(places[each], places[here], places[there]) <= NEARBY
                )
                for there in size
            )
            for here in size
        )
        # The landmarks in between are bit sets, for fast counting.
        self._between = [[_bits(each) for each in row] for row in self.between]
        self._nearer = [
            [_bits(k for k in size if row[k] < row[there]) for there in size]
            for row in self.distances
        ]
        names = [each.name for each in landscape.landmarks]
        self._namesakes = [_bits(k for k in size if names[k] == name) for name in names]
        others = self.distances + np.diag(np.full(len(names), np.inf))
        self._apart = np.min(others, axis=1, initial=FAR)
        self._lefts: dict[frozenset[str], int] = {}

    def labels(
        self, here: str, there: str, visited: Collection[str] = (), previous: str | None = None
    ) -> dict[str, bool | float]:
        """Return the labels of a move from one landmark to another.

        - `distance` and `log-distance`: in units of 100 pixels, and log(1 + distance);
        - `nearest` and `rank`: the rank of the target's distance among the unvisited landmarks
          (rank 0 is the nearest);
        - `between`: the number of unvisited landmarks between the two;
        - `north` and `east`: the unit displacement;
        - `turn`: the cosine of the angle to the previous move; `back`: more than 120 degrees;
        - `far`: more than 300 pixels; `near`: less than 100;
        - `unvisited`: the share of unvisited landmarks;
        - `namesake-nearer` and `namesake-visited`: another landmark of the same name is unvisited
          and nearer, or was visited;
        - `apart`: the distance of the target from its nearest landmark, in units of 100 pixels,
          at most 3.

        Labels that are false are omitted. So are `turn` and `back` for the first move.
        """
        return dict(self.labels_of(self.sight(here, there, visited, previous)))

    def sight(
        self, here: str, there: str, visited: Collection[str] = (), previous: str | None = None
    ) -> Sight:
        """Return a move with its counts of unvisited landmarks (see `Sight`)."""
        i, j = self.landscape.place(here), self.landscape.place(there)
        unvisited = self._left(visited)
        left = unvisited & ~(1 << i)
        return Sight(
            here,
            there,
            previous if previous != here else None,
            left.bit_count(),
            (left & self._nearer[i][j]).bit_count(),
            (left & self._between[i][j]).bit_count(),
            bool(left >> j & 1),
            bool(left & self._nearer[i][j] & self._namesakes[j]),
            bool(self._namesakes[j] & ~unvisited & ~(1 << j)),
        )

    def _left(self, visited: Collection[str]) -> int:
        """Return the set of unvisited landmarks, as bits."""
        key = visited if isinstance(visited, frozenset) else frozenset(visited)
        if key not in self._lefts:
            everything = (1 << len(self.landscape)) - 1
            self._lefts[key] = everything & ~_bits(self.landscape.place(each) for each in key)
        return self._lefts[key]

    def labels_of(self, sight: Sight) -> Mapping[str, bool | float]:
        """Return the labels of a move that `sight` returned (see `labels`)."""
        i, j = self.landscape.place(sight.here), self.landscape.place(sight.there)
        distance = float(self.distances[i, j])
        labels: dict[str, bool | float] = {
            "distance": distance / 100.0,
            "log-distance": math.log1p(distance / 100.0),
            "rank": float(sight.rank),
            "between": float(sight.between),
            "north": float(self.north[i, j]),
            "east": float(self.east[i, j]),
            "unvisited": sight.left / len(self.landscape),
            "apart": float(self._apart[j]) / 100.0,
        }
        flags = {
            "nearest": sight.rank == 0 and sight.fresh,
            "far": distance > FAR,
            "near": distance < NEAR,
            "namesake-nearer": sight.namesake,
            "namesake-visited": sight.seen,
        }
        if sight.previous is not None:
            h = self.landscape.place(sight.previous)
            turn = float(self.north[h, i] * self.north[i, j] + self.east[h, i] * self.east[i, j])
            labels["turn"] = turn
            flags["back"] = turn < _BACK
        labels.update((each, True) for each, holds in flags.items() if holds)
        return labels


def _bits(places: Iterable[int]) -> int:
    return sum(1 << place for place in set(places))


def _from_segment(
    point: npt.NDArray[np.float64], first: npt.NDArray[np.float64], last: npt.NDArray[np.float64]
) -> float:
    along = last - first
    length = float(along @ along)
    share = 0.0 if length == 0 else min(1.0, max(0.0, float((point - first) @ along) / length))
    return float(np.hypot(*(point - first - share * along)))
