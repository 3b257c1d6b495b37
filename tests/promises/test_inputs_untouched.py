"""What is given to a follower is as it was afterwards."""

import copy

import numpy as np
import pytest

from groundling import Demonstration
from tests.promises.making import KINDS, demonstrations, make_follower, requests
from tests.worlds import Line


def picture(demonstration):
    world = demonstration.environment
    return (
        demonstration.instructions, demonstration.start, demonstration.actions,
        demonstration.weight, demonstration.also, copy.deepcopy(vars(world)),
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_untouched_by_fit_score_and_follow(kind):
    shown = demonstrations()
    before = [picture(each) for each in shown]
    follower = make_follower(kind)
    settings = repr(follower.get_params())
    follower.fit(shown).score(shown)
    assert [picture(each) for each in shown] == before
    assert repr(follower.get_params()) == settings
    asked = requests()
    seen = [(text, copy.deepcopy(vars(world)), start) for text, world, start in asked]
    for plan in follower.follow_many(asked):
        plan.explain()
    assert [(text, vars(world), start) for text, world, start in asked] == seen


def test_inputs_untouched_lists_stay_lists():
    text, actions = ["go left", "go right"], ["left", "right"]
    shown = Demonstration(text, Line(), 2, actions)
    make_follower().fit([shown])
    assert (text, actions) == (["go left", "go right"], ["left", "right"])


def test_inputs_untouched_random_numbers_of_others():
    np.random.seed(3)  # noqa: NPY002 - the very state that must not be touched
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    make_follower("viterbi").fit(demonstrations())
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


def test_inputs_untouched_iterators_are_enough(followers):
    follower = make_follower().fit(iter(demonstrations()))
    assert follower.theta_.tobytes() == followers["plans"].theta_.tobytes()
    assert len(follower.follow_many(iter(requests()))) == len(requests())
