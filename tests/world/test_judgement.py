"""One function says whether a plan is right, wherever it is asked."""

import pytest

from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Search
from groundling.selection.race import credits_of
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.judgement import Judgement, is_right
from tests.worlds import GoalLine, Line


class Lamps:
    """Three lamps, one of which is lit; the left and the right one are equally good."""

    def actions(self, state):
        return ("left", "middle", "right")

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"lamp": {action: True}})


LAMPS = Lamps()
EITHER = [
    Demonstration("light a side", LAMPS, "", ("left",), also=(("right",),), name=str(number))
    for number in range(12)
]


def learnt(**settings):
    right = [Demonstration("light a side", LAMPS, "", ("right",))] * 4
    return Follower(
        parser="chain", features=Features(words=("word",)), learning=Learning(l2=0.1), **settings
    ).fit(right, check=False)


@pytest.mark.parametrize("decode", ["plan", "outcome"])
def test_judgement_of_calibrate_and_score_takes_also_for_right(decode):
    follower = learnt(search=Search(max_length=1, decode=decode))
    assert follower.score(EITHER) == 1.0
    sharp = follower.calibrate(EITHER).temperature_
    wrong = [Demonstration("light a side", LAMPS, "", ("left",))] * 12
    assert sharp < 0.1 < follower.calibrate(wrong).temperature_


def test_judgement_of_the_race_takes_also_for_right():
    assert credits_of(learnt(search=Search(max_length=1))._learnt, EITHER) == [1.0] * 12


def test_judgement_of_diagnosis_takes_also_for_right():
    found = learnt(search=Search(max_length=1)).diagnose(EITHER)
    assert (found.right, found.mistakes) == (12, ())


def test_judgement_gives_half_of_what_wrong_plans_have_in_common():
    world = CachedEnvironment(Line(9))
    judgement = Judgement.of(world, Demonstration("", Line(9), 4, ("left", "left")))
    same, part, none = (
        world.trace(4, actions, "") for actions in (("left",) * 2, ("left", "right"), ("right",))
    )
    assert [judgement.credit(each) for each in (same, part, none, None)] == [1.0, 0.25, 0.0, 0.0]


def test_judgement_in_a_world_with_a_goal_credits_the_actions():
    world = CachedEnvironment(GoalLine(4))
    shown = Demonstration("", GoalLine(4), 1, ("right", "right"))
    detour = world.trace(1, ("left", "right", "right", "right"), "")
    assert is_right(world, shown, detour)
    assert Judgement.of(world, shown).credit(detour) < 1
