"""Worlds without Python: read from JSON, acted in, drawn, and learnt in by all commands."""

import json
import re
from importlib.resources import files

import pytest

from groundling.data.codec import Codec
from groundling.data.own import names_world, starts_of
from groundling.data.scene_world import SceneState, SceneWorld
from groundling.data.worlds import load_world
from groundling.errors import WorldError
from groundling.svg import clean
from groundling.world.environment_checks import check_environment

YARD = {
    "title": "Yard",
    "places": [{"name": "shed", "at": [0, 0]}, {"name": "gate", "at": [1, 0], "size": [2, 1]}],
    "things": [
        {"name": "rake", "at": "shed", "can": ["take"], "colour": "red"},
        {"name": "cart", "at": "gate", "can": ["push"]},
        {"name": "door", "at": "shed", "can": ["open"]},
        {"name": "lamp", "at": "gate", "can": ["switch"], "is": "on"},
    ],
    "movers": [{"name": "ann", "at": "shed"}, {"name": "bob", "at": "gate"}],
    "verbs": ["go", "take", "put", "push", "open", "switch"],
    "scenes": 3,
}


def do(world, *actions):
    state = world.initial_state()
    for action in actions:
        assert action in world.actions(state)
        state = world.step(state, action)
    return state


def test_scene_world_does_all_verbs():
    world = SceneWorld(YARD)
    state = do(
        world, "ann: take the rake", "ann: go to the gate", "ann: put down the rake",
        "bob: push the cart to the shed", "bob: open the door", "ann: switch off the lamp",
    )  # fmt: skip
    assert world.describe(state) == (
        "The ann is at the gate; the bob is at the shed; the rake is at the gate; the cart is at "
        "the shed; the door is open at the shed; the lamp is off at the gate."
    )
    graph = world.ground(world.initial_state(), "ann: take the rake", state)
    assert "colour=red" in map(str, graph.labels("object"))
    assert "mover=ann" in map(str, graph.labels("who"))
    check_environment(world, world.initial_state(), states=40)
    assert clean(world.draw(state), "it")
    codec = Codec(world)
    assert codec.state_from_json(json.loads(json.dumps(codec.state_to_json(state)))) == state


def test_scene_world_is_found_by_its_file(tmp_path):
    file = SceneWorld(YARD).save(tmp_path / "yard.json")
    assert names_world(str(file))
    world = load_world(str(file))
    assert [name for name, _ in starts_of(world, "Yard")] == ["Yard 1", "Yard 2", "Yard 3"]
    assert world.to_dict() == SceneWorld(world.to_dict()).to_dict()
    file.write_text("[1")
    with pytest.raises(WorldError, match=r"yard\.json: The text must be valid JSON"):
        load_world(str(file))


@pytest.mark.parametrize("name", ["home", "warehouse"])
def test_scene_world_of_the_gallery_can_be_carried_out(name):
    world = SceneWorld.load(str(files("groundling.studio") / "worlds" / f"{name}.json"))
    assert len(world.examples) > 20  # each was carried out when it was read


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"places": []}, "1 to 60 entries"),
        ({"title": 3}, "`title` must be a string"),
        ({"verbs": ["fly"]}, "got 'fly'"),
        ({"movers": [{"name": "ann", "at": "moon"}]}, "name of a place"),
        ({"things": [{"name": "rake", "at": "shed", "can": "take"}]}, "must be a list"),
        ({"things": YARD["things"] * 2}, "must be unique"),
        ({"places": [{"name": "shed", "at": [0, "x"]}, {"name": "gate"}]}, "`at` of 'shed'"),
        ({"scenes": 1000}, "`scenes` must be"),
        ({"places": [{"name": "a" * 99}]}, "1 to 40"),
        ({"examples": [{"text": "fly", "actions": ["ann: fly"]}]}, "of example 1 must be possible"),
        ({"examples": [{"text": "fly", "actions": "ann"}]}, "`actions` of example 1 must be a li"),
        (
            {"examples": [{"text": "", "actions": []}]},
            "`text` of example 1 must have at least one word",
        ),
        ({"examples": [{"text": "a", "actions": [], "scene": -1}]}, "whole number from 1 to 3"),
        ({"examples": [{"text": "a", "actions": [], "scene": 1e400}]}, "whole number from 1 to 3"),
        ({"examples": "abc"}, "`examples` must be a list"),
        ({"examples": [1]}, "Example 1 must be a JSON object"),
        ({"movers": [{"name": "ann", "at": ["shed"]}]}, "name of a place"),
        ({"movers": [{"name": "ann", "at": {}}]}, "name of a place"),
        ({"movers": [{"name": "a\ud800", "at": "shed"}]}, "must be a string"),
        ({"movers": [{"name": "a\nb", "at": "shed"}]}, "must be a string"),
        ({"movers": [{"name": "ann", "at": "shed", "x" * 99: 1}]}, "The name of a property of"),
        ({"movers": [{"name": "ann", "at": "shed", "x": {}}]}, "`x` of 'ann' must be a number or"),
        ({"movers": [{"name": "ann", "at": "shed", "x": 1e400}]}, "`x` of 'ann' must be a number"),
        ({"things": [{"name": "lamp", "at": "shed", "can": ["switch"], "is": "red"}]}, "off or on"),
        ({"things": [{"name": "rake", "at": "shed", "is": "on"}]}, "must be left out"),
        ({"verbs": [["go"]]}, r"got \['go'\]"),
        ({"wall": 1}, "has no key 'wall'"),
    ],
)
def test_scene_world_says_what_is_wrong(change, said):
    with pytest.raises(WorldError, match=said):
        SceneWorld({**YARD, **change})


def deep():
    found = []
    for _ in range(50_000):
        found = [found]
    return found


@pytest.mark.parametrize("place", ["title", "places", "things", "verbs", "scenes", "examples"])
def test_scene_world_refuses_what_is_nested_without_end(place):
    with pytest.raises(WorldError):
        SceneWorld({**YARD, place: deep()})
    with pytest.raises(WorldError):
        SceneWorld({**YARD, place: [deep()]})


def test_scene_world_refuses_actions_that_take_too_long_to_list():
    def named(kind, **more):
        return [{"name": f"{kind}{number}", **more} for number in range(60)]

    places = named("p")
    things, movers = named("t", at="p0", can=["push"]), named("m", at="p0")
    with pytest.raises(WorldError, match=r"at most 5,000 actions .* got 219,600"):
        SceneWorld({"title": "All", "places": places, "things": things, "movers": movers,
                    "verbs": ["go", "push"]})  # fmt: skip


@pytest.mark.parametrize(
    "state",
    [
        7,
        SceneState((), ()),
        SceneState((("moon", ""),), (("shed", ""),)),
        SceneState((("shed", "rake"),), (("shed", ""),)),
        SceneState((("shed", ""),), (("", ""),)),
        SceneState((("shed", ""),), (("shed", "broken"),)),
        SceneState((("shed", ""),) * 2, (("shed", ""),)),
        SceneState((("shed", ["rake"]),), (("", ""),)),
        SceneState(None, None),
    ],
)
def test_scene_world_refuses_states_of_other_worlds(state):
    world = SceneWorld({
        "title": "Yard", "places": [{"name": "shed"}],
        "things": [{"name": "rake", "at": "shed", "can": ["take"]}],
        "movers": [{"name": "robot", "at": "shed"}],
    })  # fmt: skip
    with pytest.raises(WorldError, match="A state of Yard must give each mover a place"):
        world.actions(state)


def test_scene_world_refuses_two_actions_of_one_name():
    places = [{"name": "a"}, {"name": "a to the a"}]
    things = [{"name": each, "at": "a", "can": ["push"]} for each in ("x", "x to the a")]
    movers = [{"name": "robot", "at": "a"}]
    with pytest.raises(WorldError, match="Action names must be unique"):
        SceneWorld({"title": "T", "places": places, "things": things, "movers": movers,
                    "verbs": ["push"]})  # fmt: skip


def test_scene_world_places_have_cells_of_their_own():
    places = [{"name": "lab", "at": [1, 0]}, {"name": "bridge", "at": [1, 0]}]
    with pytest.raises(WorldError, match=r"'lab' and 'bridge' share column 2, row 1\."):
        SceneWorld({"title": "Ship", "places": places, "movers": [{"name": "Robby", "at": "lab"}]})


def crowded(count):
    things = [{"name": f"thing {n}", "at": "hold", "can": ["take", "push"]} for n in range(count)]
    return SceneWorld({
        "title": "Ship", "places": [{"name": "hold"}, {"name": "bridge"}], "things": things,
        "movers": [{"name": "Robby", "at": "hold"}], "verbs": ["go", "take", "push"],
    })  # fmt: skip


def test_scene_world_things_in_one_room_do_not_overlap():
    for count in (1, 2, 4, 5, 8):
        world = crowded(count)
        drawn = world.draw(world.initial_state())
        slots = re.findall(r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)", drawn)
        assert len(slots) == count + 1
        boxes = [(float(x), float(y), 58 * float(k), 60 * float(k)) for x, y, k in slots]
        for number, (x, y, w, h) in enumerate(boxes):
            for left, top, *_ in boxes[number + 1 :]:
                assert abs(x - left) >= w - 0.5 or abs(y - top) >= h - 0.5


def test_scene_world_pushes_by_a_click_in_the_room_to_push_to():
    world = crowded(1)
    drawn = world.draw(world.initial_state())
    assert 'data-action="push the thing 0 to the bridge"' in drawn
    assert 'data-action="take the thing 0"' in drawn


def test_scene_world_calls_a_mover_with_a_proper_name_by_it():
    assert crowded(0).describe(crowded(0).initial_state()) == "Robby is at the hold."
