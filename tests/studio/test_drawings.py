"""Drawings: every possible action can be clicked, and nothing in them can run."""

import re

import pytest

from groundling.data.scene_world import SceneWorld
from groundling.errors import WorldError
from groundling.studio.kitchen import Kitchen
from groundling.studio.pictures import picture
from groundling.studio.scenes import demo_setting
from groundling.svg import clean
from groundling.tasks.maps.environment import MapEnvironment
from groundling.tasks.maps.landscape import Landmark, Landscape
from groundling.tasks.puzzles.board import Board
from groundling.tasks.puzzles.environment import PuzzleEnvironment, PuzzleState

SVG = 'xmlns="http://www.w3.org/2000/svg"'


def clickable(environment, state):
    drawn = picture(environment, [state])
    assert drawn.problem is None
    return {str(each) for each in environment.actions(state) if f'="{each}"' in drawn.svg}


def test_drawings_mazes_can_be_clicked():
    scene = demo_setting().scenes[0]
    possible = {str(each) for each in scene.environment.actions(scene.start)}
    assert clickable(scene.environment, scene.start) == possible - {"stay"}


def test_drawings_mazes_show_the_way():
    scene = demo_setting().scenes[0]
    action = scene.environment.actions(scene.start)[0]
    after = scene.environment.step(scene.start, action)
    assert 'class="way"' not in picture(scene.environment, [scene.start]).svg
    assert 'class="way"' in picture(scene.environment, [scene.start, after]).svg


@pytest.mark.parametrize("shape", ["rich", "paper"])
def test_drawings_maps_can_be_clicked(shape):
    sheet = Landscape((Landmark("start", 50, 50), Landmark("mill & <co>", 50, 250)))
    world = MapEnvironment(sheet, shape=shape)
    assert picture(world, [world.start]).problem is None
    plain = Landscape((Landmark("start", 50, 50), Landmark("old mill", 50, 250)))
    world = MapEnvironment(plain, shape=shape)
    assert clickable(world, world.start) == {str(each) for each in world.actions(world.start)}


def test_drawings_puzzles_strike_single_lines():
    state = PuzzleState(Board.read(["##.#", "##..", "...."]), 2)
    world = PuzzleEnvironment(goal=False)
    single = {str(each) for each in world.actions(state) if len(each.lines) == 1}
    assert clickable(world, state) == single


def test_drawings_names_of_things_side_by_side_do_not_overlap():
    things = [("yellow parcel", "shed"), ("green parcel", "shed"), ("a box", "shed"),
              ("garden hose", "gate"), ("wheelbarrow", "gate")]  # fmt: skip
    world = SceneWorld({
        "title": "Yard", "places": [{"name": "shed", "size": [2, 1]}, {"name": "gate"}],
        "things": [{"name": name, "at": place, "can": ["take"]} for name, place in things],
        "movers": [{"name": "robot", "at": "gate"}],
    })  # fmt: skip
    svg = picture(world, [world.initial_state()]).svg
    slot = r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)"
    found = re.findall(slot + r'.*?font-size="([\d.]+)"[^>]*>([^<]+)<', svg)
    labels = [
        (float(y), float(x) - width / 2, float(x) + width / 2)
        for x, y, scale, size, name in found
        for width in [0.5 * float(scale) * float(size) * len(name)]
    ]
    assert len(labels) == 5
    for number, (row, _, end) in enumerate(labels):
        for other, begin, _ in labels[number + 1 :]:
            assert row != other or end < begin


def test_drawings_kitchen_can_be_clicked():
    kitchen = Kitchen()
    state = kitchen.step(kitchen.start, "take the blue cup")
    assert clickable(kitchen, kitchen.start) == set(kitchen.actions(kitchen.start))
    assert clickable(kitchen, state) == set(kitchen.actions(state))
    table = kitchen.step(state, "go to the table")  # it cannot take a second cup
    assert 'data-action="take' not in picture(kitchen, [table]).svg


def test_drawings_clean_keeps_shapes_and_drops_what_runs_or_fetches():
    dirty = (
        f'<svg {SVG} onload="a()"><script>a()</script><style>*{{}}</style>'
        '<foreignObject><b>x</b></foreignObject><image href="http://x/y.png"/>'
        '<a href="javascript:a()"><circle r="1"/></a><use href="#own"/><use href="http://x#y"/>'
        '<rect fill="url(http://x)" stroke="url(#own)" onclick="a()" data-action="go"/>'
        '<text style="fill:red;font-size:3px;behavior:url(x)">a &lt; b</text></svg>'
    )
    assert clean(dirty, "x") == (
        f'<svg {SVG}><use href="#drawn-own" /><use />'
        '<rect stroke="url(#drawn-own)" data-action="go" />'
        '<text fill="red" font-size="3px">a &lt; b</text></svg>'
    )


@pytest.mark.parametrize(
    "value",
    [r"u\72l(http://x)", r"\75 rl(http://x)", "u/**/rl(http://x)", "url(\n'http://x')", "URL(//x)",
     "url( http://x)", r"\000075rl(x)"],
)  # fmt: skip
def test_drawings_clean_knows_other_ways_to_write_url(value):
    assert clean(f'<svg {SVG}><rect fill="{value}"/></svg>', "draw") == f"<svg {SVG}><rect /></svg>"


def test_drawings_clean_names_are_never_those_of_the_page():
    drawn = '<g id="live"><use href="#live"/><rect clip-path="url(#live)" id="toast"/></g>'
    cleaned = clean(f"<svg {SVG}>{drawn}</svg>", "draw")
    assert cleaned == (
        f'<svg {SVG}><g id="drawn-live"><use href="#drawn-live" />'
        '<rect clip-path="url(#drawn-live)" id="drawn-toast" /></g></svg>'
    )


@pytest.mark.parametrize(
    "bad", ["", "no svg", "<svg", 7, None, '<!DOCTYPE s [<!ENTITY a "b">]><svg>&a;</svg>']
)
def test_drawings_clean_refuses_what_is_no_svg(bad):
    with pytest.raises(WorldError, match=r"Yard\.draw must return"):
        clean(bad, "Yard.draw")


def test_drawings_clean_refuses_endless_nesting():
    deep = f"<svg {SVG}>" + "<g>" * 5000 + "</g>" * 5000 + "</svg>"
    with pytest.raises(WorldError, match="must nest elements at most"):
        clean(deep, "Yard.draw")


@pytest.fixture
def mission():
    pytest.importorskip("minigrid")
    from groundling import gym

    return gym.babyai("PutNextS6N3").record([4])[0]


def test_drawings_babyai_can_be_clicked(mission):
    world, (first, *_) = mission.environment, mission.actions
    plain = {str(each) for each in world.actions(()) if not each.earlier}
    assert clickable(world, ()) == plain
    where = {str(each) for each in world.actions((first,))}
    assert clickable(world, (first,)) == where


def test_drawings_babyai_show_what_comes_of_it(mission):
    world, plan = mission.environment, mission.actions
    before, after = picture(world, [()]), picture(world, [(), plan[:1], plan])
    assert 'class="way"' not in before.svg
    assert 'class="way"' in after.svg
    assert after.problem is None
    assert before.svg.count('class="thing"') == after.svg.count('class="thing"')


def test_drawings_babyai_know_doors_and_hands():
    from groundling.gym.babyai_levels import BabyAI
    from groundling.gym.grid import parse_grid, step

    grid = step(parse_grid("########", "#>kbx/ #", "#  D L #", "########"), "pickup")
    drawn = picture(BabyAI("BabyAI-GoToLocal-v0").episode(grid), [()])
    assert drawn.problem is None
    for name in ("open red door", "closed red door", "locked red door", "carrying the red key"):
        assert f"{name}</title>" in drawn.svg


def test_drawings_babyai_show_a_choice_that_cannot_be_done():
    from groundling.gym.babyai_levels import BabyAI
    from groundling.gym.grid import parse_grid

    world = BabyAI("BabyAI-GoToLocal-v0").episode(parse_grid("######", "#> #b#", "######"))
    [choice] = [each for each in world.actions(()) if each.verb == "go to"]
    drawn = picture(world, [(), (choice,)])
    assert drawn.problem is None
    assert 'class="way"' not in drawn.svg
