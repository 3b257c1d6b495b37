"""The map as an environment, in the paper's shape and in the rich one."""

import math
import os
from pathlib import Path

import pytest

from groundling.errors import SettingError, WorldError
from groundling.tasks.maps.corpus import load_corpus
from groundling.tasks.maps.environment import Go, MapEnvironment, MapState
from groundling.tasks.maps.generator import generate_map
from groundling.tasks.maps.geometry import Geometry
from groundling.tasks.maps.landscape import Landmark, Landscape, MapStep, visited_landmarks
from groundling.world import CachedEnvironment, Environment, GroundingGraph

# start and hut lie on a line from west to east, both caves south of them
LANDSCAPE = Landscape(
    (
        Landmark("start", 100, 100),
        Landmark("hut", 300, 100),
        Landmark("cave", 300, 400),
        Landmark("cave", 100, 900, copy=2),
    )
)


def graph_of(environment: MapEnvironment, state: MapState, action: Go) -> GroundingGraph:
    return environment.ground(state, action, environment.step(state, action))


def labels_of(graph: GroundingGraph, node: str = "event") -> dict[str, object]:
    return {label.name: label.value for label in graph.labels(node)}


@pytest.mark.parametrize("shape", ["paper", "rich"])
def test_environment_keeps_the_contract(shape) -> None:
    environment = MapEnvironment(LANDSCAPE, shape=shape)
    assert isinstance(environment, Environment)
    world = CachedEnvironment(environment)
    actions = environment.actions(environment.start)
    assert len(set(actions)) == len(actions)
    assert environment.actions(environment.start) == actions
    trace = world.trace(environment.start, actions[:1])
    assert hash(trace.states[-1]) == hash(environment.step(environment.start, actions[0]))


def test_paper_actions_go_to_every_landmark_and_side_and_may_stay() -> None:
    environment = MapEnvironment(LANDSCAPE)
    everywhere = environment.actions(environment.start)
    assert len(everywhere) == 4 * 4
    assert environment.actions(MapState("cave", "East")) == everywhere
    assert Go("cave", "East") in everywhere


def test_paper_state_forgets_the_way_so_that_equal_places_are_equal() -> None:
    environment = MapEnvironment(LANDSCAPE)
    direct = environment.step(environment.start, Go("cave", "East"))
    around = environment.step(
        environment.step(environment.start, Go("hut", "West")), Go("cave", "East")
    )
    assert direct == around == MapState("cave", "East")


def test_paper_without_revisits_still_walks_round_the_present_landmark() -> None:
    environment = MapEnvironment(LANDSCAPE, revisits=False)
    state = environment.step(environment.start, Go("hut", "West"))
    assert Go("hut", "East") in environment.actions(state)
    assert Go("start", "East") not in environment.actions(state)


def test_paper_graph_has_names_the_reached_side_and_sameness() -> None:
    environment = MapEnvironment(LANDSCAPE)
    graph = graph_of(environment, MapState("hut", "West"), Go("cave 2", "North"))
    assert set(labels_of(graph)) == {"go", "dist=15", "other-landmark"}
    assert labels_of(graph, "from") == {"from": None, "name": "hut"}
    assert labels_of(graph, "to") == {"to": None, "name": "cave", "side=North": None}
    # The second cave is another landmark, although its name is the same.
    caves = graph_of(environment, MapState("cave", "West"), Go("cave 2", "West"))
    assert "other-landmark" in labels_of(caves)


@pytest.mark.parametrize(
    ("here", "there", "label"),
    [
        (MapState("hut", "West"), Go("hut", "West"), "dist=zero"),
        (MapState("hut", "West"), Go("hut", "North"), "dist=0"),  # 35 pixels
        (MapState("hut", "West"), Go("hut", "East"), "dist=1"),  # 50 pixels
        (MapState("start"), Go("start", "North"), "dist=0"),  # 25, from the centre
        (MapState("start", "East"), Go("hut", "West"), "dist=3"),  # 150 of 200
        (MapState("start", "West"), Go("hut", "East"), "dist=5"),  # 250
    ],
)
def test_paper_distance_is_between_the_points_on_the_sides(here, there, label) -> None:
    labels = labels_of(graph_of(MapEnvironment(LANDSCAPE), here, there))
    assert {name for name in labels if name.startswith("dist=")} == {label}
    assert ("same-landmark" in labels) == (here.landmark == there.landmark)


def test_paper_bin_can_be_set() -> None:
    graph = graph_of(MapEnvironment(LANDSCAPE, bin=100), MapState("start"), Go("hut", "West"))
    assert "dist=1" in labels_of(graph)  # 175 pixels


def test_rich_actions_never_come_back_unless_allowed() -> None:
    environment = MapEnvironment(LANDSCAPE, shape="rich")
    state = environment.step(environment.start, Go("cave"))
    assert environment.actions(state) == (Go("hut"), Go("cave 2"))
    for key in ("hut", "cave 2"):
        state = environment.step(state, Go(key))
    assert environment.actions(state) == ()
    free = MapEnvironment(LANDSCAPE, shape="rich", revisits=True)
    assert free.actions(MapState("cave", visited=frozenset({"start", "cave"}))) == (
        Go("start"),
        Go("hut"),
        Go("cave 2"),
    )


def test_rich_graph_has_geometry_and_history() -> None:
    environment = MapEnvironment(LANDSCAPE, shape="rich")
    first = labels_of(graph_of(environment, environment.start, Go("hut")))
    assert first["distance"] == 2
    assert first["log-distance"] == pytest.approx(math.log(3))
    assert (first["north"], first["east"]) == (0, 1)
    assert first["rank"] == 0
    assert "nearest" in first
    assert "turn" not in first
    assert first["unvisited"] == 3 / 4

    state = environment.step(environment.start, Go("hut"))
    south = labels_of(graph_of(environment, state, Go("cave")))
    assert (south["north"], south["east"]) == (-1, 0)
    assert south["turn"] == pytest.approx(0)
    assert "back" not in south
    far = graph_of(environment, state, Go("cave 2"))
    assert "far" in labels_of(far)
    assert labels_of(far)["rank"] == 1
    assert "namesake-nearer" in labels_of(far)
    key = "cave 2"
    assert labels_of(far, "to") == {
        "to": None,
        "name": "cave",
        "x": 1,
        "y": 9,
        "landmark": key,
        "far.landmark": key,
        "behind.landmark": key,
        "namesake-nearer.landmark": key,
    }


def test_rich_graph_notices_going_back_and_what_lies_between() -> None:
    line = Landscape(
        (
            Landmark("start", 0, 0),
            Landmark("hut", 90, 0),
            Landmark("cave", 200, 60),
            Landmark("pond", 400, 0),
        )
    )
    environment = MapEnvironment(line, shape="rich")
    assert labels_of(graph_of(environment, environment.start, Go("pond")))["between"] == 2
    assert "near" in labels_of(graph_of(environment, environment.start, Go("hut")))
    at_pond = environment.step(environment.start, Go("pond"))
    back = labels_of(graph_of(environment, at_pond, Go("hut")))
    assert back["turn"] == pytest.approx(-1)
    assert "back" in back
    assert back["between"] == 1
    at_cave = environment.step(at_pond, Go("cave"))
    assert labels_of(graph_of(environment, at_cave, Go("hut")))["between"] == 0


def test_rich_graph_tells_of_namesakes_that_were_visited_and_of_lonely_landmarks() -> None:
    environment = MapEnvironment(LANDSCAPE, shape="rich")
    at_hut = environment.step(environment.start, Go("hut"))
    before = labels_of(graph_of(environment, at_hut, Go("cave 2")))
    assert "namesake-visited" not in before
    # The nearest landmark to each counts, visited or not, and 300 pixels are far enough.
    assert before["apart"] == 3
    assert labels_of(graph_of(environment, environment.start, Go("hut")))["apart"] == 2
    at_cave = environment.step(at_hut, Go("cave"))
    assert "namesake-visited" in labels_of(graph_of(environment, at_cave, Go("cave 2")))
    returning = MapEnvironment(LANDSCAPE, shape="rich", revisits=True)
    assert "namesake-visited" not in labels_of(
        graph_of(returning, environment.step(at_cave, Go("hut")), Go("cave"))
    )


def test_geometry_of_a_single_landmark_is_finite() -> None:
    assert Geometry(Landscape((Landmark("start", 5, 5),))).labels("start", "start")["apart"] == 3


def test_geometry_between_equals_a_walk_along_the_line() -> None:
    landscape = generate_map(seed=9).landscape
    geometry = Geometry(landscape)
    marks = landscape.landmarks
    for i, here in enumerate(marks):
        for j, there in enumerate(marks):
            shares = [k / 2000 for k in range(2001)] if i < j and j < 5 else []
            for n, each in enumerate(marks):
                if not shares or n in (i, j):
                    continue
                nearest = min(
                    math.dist(
                        each.position,
                        (here.x + s * (there.x - here.x), here.y + s * (there.y - here.y)),
                    )
                    for s in shares
                )
                assert (n in geometry.between[i][j]) == (nearest <= 75)


def test_geometry_of_landmarks_at_one_place_has_no_direction() -> None:
    geometry = Geometry(Landscape((Landmark("start", 5, 5), Landmark("hut", 5, 5))))
    labels = geometry.labels("start", "hut", {"start"})
    assert (labels["north"], labels["east"], labels["distance"]) == (0, 0, 0)


PATH = (
    MapStep("start", "South"),
    MapStep("hut", "West"),
    MapStep("hut", "South"),
    MapStep("start", "East"),
    MapStep("hut", "South"),
    MapStep("cave", "North"),
)


def test_plan_follows_the_reference_path_in_each_shape() -> None:
    assert MapEnvironment(LANDSCAPE).plan(PATH) == tuple(Go(*step) for step in PATH)
    once = MapEnvironment(LANDSCAPE, revisits=False).plan(PATH)
    assert once == tuple(Go(*PATH[number]) for number in (0, 1, 2, 5))
    assert MapEnvironment(LANDSCAPE, shape="rich").plan(PATH) == (Go("hut"), Go("cave"))
    again = MapEnvironment(LANDSCAPE, shape="rich", revisits=True).plan(PATH)
    assert again == (Go("hut"), Go("start"), Go("hut"), Go("cave"))


def test_plan_and_step_refuse_unknown_landmarks() -> None:
    environment = MapEnvironment(LANDSCAPE)
    with pytest.raises(WorldError, match="'hutt'"):
        environment.plan([MapStep("hutt", "North")])
    with pytest.raises(WorldError, match="'hutt'"):
        environment.step(environment.start, Go("hutt", "North"))


@pytest.mark.parametrize("shape", ["paper", "rich"])
@pytest.mark.parametrize("revisits", [True, False])
def test_plan_of_a_generated_map_can_be_carried_out(shape, revisits) -> None:
    sheet = generate_map(seed=4)
    environment = MapEnvironment(sheet.landscape, shape=shape, revisits=revisits)
    plan = environment.plan(sheet.steps)
    trace = CachedEnvironment(environment).trace(environment.start, plan)
    passed = [environment.start.landmark, *(state.landmark for state in trace.states[1:])]
    assert visited_landmarks(map(MapStep, passed)) == visited_landmarks(sheet.steps)


def test_describe_says_where_and_how_far() -> None:
    environment = MapEnvironment(LANDSCAPE)
    assert environment.describe(MapState("hut", "West")) == "at hut (west side)"
    rich = MapEnvironment(LANDSCAPE, shape="rich")
    assert rich.describe(rich.start) == "at start, 1 of 4 landmarks visited"


def test_environment_refuses_unknown_settings() -> None:
    with pytest.raises(SettingError, match="Did you mean 'rich'"):
        MapEnvironment(LANDSCAPE, shape="ritch")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="bin"):
        MapEnvironment(LANDSCAPE, bin=0)


@pytest.mark.corpora
@pytest.mark.skipif("GROUNDLING_CORPORA" not in os.environ, reason="set GROUNDLING_CORPORA")
@pytest.mark.parametrize("shape", ["paper", "rich"])
def test_every_hcrc_route_can_be_carried_out(shape) -> None:
    for sheet in load_corpus(Path(os.environ["GROUNDLING_CORPORA"], "hcrc")).maps.values():
        environment = MapEnvironment(sheet.landscape, shape=shape)
        plan = environment.plan(sheet.steps)
        trace = CachedEnvironment(environment).trace(environment.start, plan)
        assert {state.landmark for state in trace.states} == {s.landmark for s in sheet.steps}
