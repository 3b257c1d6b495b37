"""What no sum can hold is refused by name: the demonstration, the label, the setting."""

import math

import pytest

from groundling import Demonstration, Features, Follower, GroundlingError, Learning
from tests.promises.making import demonstrations, make_follower
from tests.worlds import Line


def refused(call, words):
    with pytest.raises(GroundlingError, match=words):
        call()


@pytest.mark.parametrize("weight", [1e300, math.inf, math.nan])
def test_named_infinities_weights_of_demonstrations(weight):
    refused(lambda: Demonstration("go far", Line(), 1, ("left",), weight=weight), "go far")


class Far(Line):
    """A line whose cells are measured in a strange unit."""

    def __init__(self, distance):
        super().__init__()
        self.distance = distance

    def ground(self, state, action, after):
        from groundling import GroundingGraph

        return GroundingGraph({"event": {action: True, "distance": self.distance}})


@pytest.mark.parametrize("distance", [1e155, 1e300, math.inf, math.nan, 10**400])
def test_named_infinities_labels(distance):
    shown = [Demonstration("go left", Far(distance), 1, ("left",))]
    refused(lambda: make_follower().fit(shown), "distance")


@pytest.mark.parametrize("strength", [math.inf, math.nan])
def test_named_infinities_settings(strength):
    refused(lambda: make_follower(learning=Learning(l2=strength)).fit(demonstrations()), "l2")


def join_huge(word, node):
    return [("huge", 1e200)]


def test_named_infinities_features_of_ones_own():
    features = Features(joins=("conjunction", join_huge))
    refused(lambda: make_follower(features=features).fit(demonstrations()), "huge")


def test_named_infinities_what_is_large_but_not_too_large_is_learnt():
    shown = [Demonstration("go left", Far(1e6), 2, ("left",)), *demonstrations()]
    follower = make_follower().fit(shown)
    assert math.isfinite(follower.learnt_.loss)


def test_named_infinities_long_plans_are_learnt_from():
    line = Line(4, {1: "lamp"})
    shown = [
        Demonstration("go right and left for ever", line, 1, ("right", "left") * 400),
        Demonstration("go left", line, 1, ("left",)),
    ]
    assert Follower().fit(shown).follow("go left", line, 1).actions == ("left",)
