"""Training that grows from few demonstrations starts where the loss is lower."""

import numpy as np

from groundling import Follower, Learning
from groundling.learning.rounds import better_start
from tests.world.test_relations import Kitchen, demonstration


class Wells:
    """Two wells: a shallow one at -1, which a start at 0 runs into, and a deep one at 3."""

    def loss(self, theta):
        x = float(theta[0])
        shallow, deep = (x + 1) ** 2 + 5, (x - 3) ** 2
        if shallow < deep:
            return shallow, np.array([2 * (x + 1)])
        return deep, np.array([2 * (x - 3)])


def test_start_with_the_lowest_loss_is_kept():
    starts = (np.array([-2.0]), np.array([2.0]))
    found = better_start(Wells(), Learning(l2=0), starts, 0.0)
    assert found[0] > 2.9


def test_growing_learns_the_same_again_with_the_same_seed():
    import random

    rng = random.Random(0)
    shown = [demonstration(rng) for _ in range(48)]
    settings = Follower(parser="chain").fit(shown).chosen().set_params(learning__grow=True)
    one, two = (settings.fit(shown).weights() for _ in range(2))
    assert one == two
    assert settings.follow("take the leftmost cup", Kitchen(), shown[0].start).actions
