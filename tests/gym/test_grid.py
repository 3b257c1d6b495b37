"""The immutable grid steps exactly as the simulator does."""

import random

import pytest

from groundling.errors import WorldError
from groundling.gym.grid import GONE, HELD, MOVES, GridReader, parse_grid, step

STEPS = 10_000


def walk(state, *moves):
    for move in moves:
        state = step(state, move)
    return state


def test_grid_equals_the_simulator_over_ten_thousand_random_steps():
    pytest.importorskip("minigrid")
    from groundling.gym.babyai_levels import babyai, levels

    dice, done = random.Random(0), 0
    names = levels()
    each = STEPS // len(names) + 1
    for name in names:
        level = babyai(name)
        env = level.make()
        level.reset(env, dice.randrange(1000))
        reader = GridReader(env)
        state = reader.read()
        for _ in range(each):
            move = dice.choices(range(7), [2, 2, 6, 4, 2, 4, 1])[0]
            env.unwrapped.step(move)
            state = step(state, MOVES[move])
            assert state == reader.read(), (name, MOVES[move])
            done += 1
        env.close()
    assert done >= STEPS


def test_grid_states_are_values():
    rows = ("#####", "#> k#", "#####")
    one, other = parse_grid(*rows), parse_grid(*rows)
    assert one == other
    assert hash(one) == hash(other)
    assert step(one, "forward") != one
    assert one == other  # stepping changes nothing


def test_grid_locked_door_opens_with_its_key_only():
    state = parse_grid("######", "#k>L #", "######", colours=["blue", "red"])
    assert walk(state, "toggle").doors == state.doors
    turned = walk(state, "left", "left", "pickup", "left", "left", "toggle")
    assert turned.doors == state.doors  # a blue key for a red door
    right = parse_grid("######", "#k>L #", "######", colours=["red", "red"])
    opened = walk(right, "left", "left", "pickup", "left", "left", "toggle")
    assert opened.doors[1] == 0
    assert opened.can_enter(opened.front)


def test_grid_box_gives_what_it_contains():
    state = parse_grid("####", "#>x#", "####", inside=[0])
    opened = walk(state, "toggle")
    assert opened.places[0] == GONE
    assert opened.at(opened.front) == 1
    assert walk(opened, "pickup").places[1] == HELD


def test_grid_refuses_unknown_moves_and_foreign_environments():
    with pytest.raises(WorldError, match=r"one of .*'forward'.*; got 'forwrd'"):
        step(parse_grid("###", "#>#", "###"), "forwrd")

    class Other:
        @property
        def unwrapped(self):
            return self

    with pytest.raises(WorldError, match="Other has no grid"):
        GridReader(Other())


def test_grid_rooms_are_found_by_cell():
    state = parse_grid("#####", "#> k#", "#####")
    assert state.layout.room(state.agent) == (0, 0, 5, 3)
