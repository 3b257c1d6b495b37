"""Landmarks, sides and the 75 pixel rule."""

import pytest

from groundling.errors import WorldError
from groundling.tasks.maps.landscape import (
    SIDES,
    Landmark,
    Landscape,
    MapStep,
    side_of,
    trace_route,
    visited_landmarks,
)

CAVE = Landmark("cave", 100, 100)


@pytest.mark.parametrize(
    ("point", "side"),
    [
        ((100, 60), "North"),
        ((100, 140), "South"),
        ((140, 100), "East"),
        ((60, 100), "West"),
        ((130, 130), "South"),
        ((70, 70), "North"),
    ],
)
def test_side_is_where_the_point_lies_seen_from_the_landmark(point, side) -> None:
    assert side_of(CAVE, point) == side


def test_route_passes_only_what_is_within_the_radius() -> None:
    landscape = Landscape((Landmark("start", 0, 0), CAVE))
    assert trace_route(landscape, [(0, 10), (100, 175)]) == (("start", "South"), ("cave", "South"))
    assert trace_route(landscape, [(0, 10), (100, 176)]) == (("start", "South"),)
    assert trace_route(landscape, [(0, 10), (100, 175)], radius=20) == (("start", "South"),)


def test_route_point_belongs_to_the_nearest_landmark_alone() -> None:
    landscape = Landscape((Landmark("start", 0, 0), CAVE, Landmark("hut", 160, 100)))
    assert trace_route(landscape, [(125, 100)]) == (("cave", "East"),)
    assert trace_route(landscape, [(135, 100)]) == (("hut", "West"),)


def test_route_counts_equal_neighbours_once_but_keeps_returns() -> None:
    landscape = Landscape((Landmark("start", 0, 0), CAVE))
    line = [(100, 60), (100, 61), (0, 5), (0, 6), (100, 60)]
    assert trace_route(landscape, line) == (
        ("cave", "North"),
        ("start", "South"),
        ("cave", "North"),
    )


def test_visited_landmarks_forget_sides() -> None:
    assert visited_landmarks([]) == ()
    assert visited_landmarks(
        [MapStep("a", "North"), MapStep("a", "West"), MapStep("b", "West")]
    ) == (
        "a",
        "b",
    )


def test_landscape_knows_its_landmarks_by_key() -> None:
    landscape = Landscape((Landmark("start", 0, 0), CAVE, Landmark("cave", 1, 1, copy=2)))
    assert landscape["cave 2"].name == "cave"
    assert landscape.place("cave") == 1
    assert "cave 3" not in landscape
    with pytest.raises(WorldError, match="Did you mean 'cave'"):
        landscape["cavee"]


def test_landscape_refuses_twins_missing_start_and_bad_coordinates() -> None:
    with pytest.raises(WorldError, match="unique keys; got 'cave' twice"):
        Landscape((Landmark("start", 0, 0), CAVE, CAVE))
    with pytest.raises(WorldError, match="must include the start; got 'start'"):
        Landscape((CAVE,))
    with pytest.raises(WorldError, match="finite"):
        Landscape((Landmark("start", float("nan"), 0),))


def test_point_lies_beside_the_centre_towards_the_side() -> None:
    landscape = Landscape((CAVE,), start="cave")
    points = {side: landscape.point("cave", side) for side in ("", *SIDES)}
    assert points.pop("") == (100, 100)
    assert points == {
        "North": (100, 75),
        "East": (125, 100),
        "South": (100, 125),
        "West": (75, 100),
    }
    assert all(side_of(CAVE, point) == side for side, point in points.items())
    with pytest.raises(WorldError, match="Did you mean 'North'"):
        landscape.point("cave", "Norht")
