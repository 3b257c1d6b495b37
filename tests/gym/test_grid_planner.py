"""The planner gets through doors, locks and obstacles."""

import random

import pytest

from groundling.gym.grid import parse_grid, step
from groundling.gym.grid_planner import GridPlanner, PlanningError, moves_for


def done(state, verb, *things):
    for move in moves_for(state, verb, *things):
        state = step(state, move)
    return state


def test_planner_goes_before_a_thing():
    state = parse_grid("######", "#>   #", "#   b#", "######")
    after = done(state, "go to", {0})
    assert after.at(after.front) == 0


def test_planner_takes_the_nearest_of_several():
    state = parse_grid("########", "#b  > b#", "########")
    assert done(state, "pick up", {0, 1}).carrying == 1


def test_planner_opens_doors_on_the_way():
    state = parse_grid("#######", "#>D  b#", "#######")
    assert done(state, "pick up", {1}).carrying == 1


def test_planner_fetches_the_key_of_a_locked_door():
    state = parse_grid("########", "#k >L b#", "#   ####", "########", colours=["red"] * 3)
    after = done(state, "pick up", {2})
    assert after.carrying == 2
    assert after.places[0] >= 0


def test_planner_takes_the_key_out_of_a_box():
    state = parse_grid("########", "#x >L b#", "#   ####", "########", inside=[0])
    assert done(state, "pick up", {2}).carrying == 2


def test_planner_moves_what_blocks_the_way():
    state = parse_grid("########", "#  >bDk#", "#   ####", "########")
    after = done(state, "pick up", {2})
    assert after.carrying == 2


def test_planner_keeps_what_it_carries_while_clearing():
    state = parse_grid("##########", "#k  >bDb #", "#    #   #", "##########")
    held = done(state, "pick up", {0})
    after = done(held, "put", {0}, {3})
    beside = {after.places[3] + way for way in after.layout.steps}
    assert after.places[0] in beside


def test_planner_puts_things_next_to_others():
    state = parse_grid("#######", "#> b  #", "#    k#", "#######")
    after = done(state, "put", {0}, {1})
    assert after.places[0] in {after.places[1] + way for way in after.layout.steps}
    assert after.carrying == -1


def test_planner_closes_an_open_door_before_it_opens_it():
    state = parse_grid("######", "#> / #", "######")
    moves = moves_for(state, "open", {0})
    assert moves[-2:] == ("toggle", "toggle")
    assert done(state, "open", {0}).doors == (0,)


def reached_without(state, cell):
    """Return the cells that can be reached if one is blocked, found by walking."""
    found, waiting = {state.agent}, [state.agent]
    while waiting:
        here = waiting.pop()
        for other in (here + way for way in state.layout.steps):
            thing = state.at(other)
            is_door = thing >= 0 and state.layout.things[thing].kind == "door"
            passable = state.doors[thing] != 2 if is_door else state.can_enter(other)
            if other != cell and passable and other not in found:
                found.add(other)
                waiting.append(other)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_planner_puts_things_only_where_they_cut_nothing_off(seed):
    dice = random.Random(seed)
    rows = [
        [dice.choice("#b   DL/") if dice.random() < 0.6 else " " for _ in range(7)] for _ in "12345"
    ]
    rows[2][3] = ">"
    state = parse_grid("#" * 9, *(f"#{''.join(row)}#" for row in rows), "#" * 9)
    everything = reached_without(state, -1)
    free = {cell for cell in everything if state.is_free(cell)}
    harmless = {c for c in free if len(reached_without(state, c)) == len(everything) - 1}
    assert GridPlanner(state)._droppable() == (harmless or free)


def test_planner_says_what_cannot_be_reached():
    with pytest.raises(PlanningError, match="there is no red key"):
        moves_for(parse_grid("######", "#>L b#", "######"), "go to", {1})
    with pytest.raises(PlanningError, match="no path to the red ball"):
        moves_for(parse_grid("######", "#> #b#", "######"), "go to", {0})
    with pytest.raises(PlanningError, match="got 'eat'"):
        moves_for(parse_grid("###", "#>#", "###"), "eat")


@pytest.mark.parametrize(
    "level", ["KeyCorridorS3R1", "UnlockToUnlock", "PutNextS4N1", "MiniBossLevel", "KeyInBox"]
)
def test_planner_carries_out_missions_in_the_simulator(level):
    pytest.importorskip("minigrid")
    from groundling.gym import exam as protocol

    exam = protocol.Exam(level, 8)
    grades, why = exam.grade_oracle()
    exam.close()
    assert sum(grades) == 8, why
