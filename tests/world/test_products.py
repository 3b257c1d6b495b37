"""Products of factors stand for their combinations, and are searched without listing them."""

import random
from typing import NamedTuple

import pytest

from groundling import Demonstration, Follower, GroundingGraph, check_environment
from groundling.errors import WorldError
from groundling.world.products import Product

VERBS = ("put", "tie", "lean", "hide")
THINGS = tuple(f"{colour} {kind}" for colour in ("red", "blue", "green", "white")
               for kind in ("box", "cup", "pole"))  # fmt: skip


class Act(NamedTuple):
    verb: str
    thing: str
    other: str


class Yard:
    """Two things and what is done with them: 4 × 12 × 12 actions, listed or as a product."""

    def __init__(self, listed=False):
        self.listed = listed

    def actions(self, state):
        if state:
            return ()
        found = Product(VERBS, THINGS, THINGS, make=Act)
        return tuple(found) if self.listed else found

    def step(self, state, action):
        return (action,)

    def ground(self, state, action, after):
        nodes = {"event": action.verb}
        for role in ("thing", "other"):
            colour, kind = getattr(action, role).split()
            nodes[role] = {"colour": colour, "kind": kind}
        return GroundingGraph(nodes, [("event", "thing", "of"), ("event", "other", "to")])


def demonstrations(count, world, seed=0):
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        act = Act(rng.choice(VERBS), *rng.sample(THINGS, 2))
        text = f"{act.verb} the {act.thing} to the {act.other}"
        found.append(Demonstration(text, world, (), (act,)))
    return found


def test_product_is_a_sequence_of_its_combinations():
    found = Product("ab", (1, 2, 3))
    assert list(found) == [found[n] for n in range(6)] == [*found[:3], *found[-3:]]
    assert ("b", 2) in found
    assert ("b", 4) not in found
    assert "b" not in found
    assert ("b", 2, 1) not in found
    assert found == Product("ab", (1, 2, 3))
    assert repr(found) == "Product(2 × 3 = 6)"
    with pytest.raises(IndexError):
        found[6]


def test_product_makes_actions_of_a_class():
    found = Product(VERBS, THINGS, THINGS, make=Act)
    assert isinstance(found[5], Act)
    assert Act("put", "red box", "red cup") in found
    assert len(set(found.some())) == 4 + 11 + 11


def test_product_needs_two_factors():
    with pytest.raises(WorldError, match="two or more factors; got 1"):
        Product("abc")


def test_arguments_are_chosen_jointly_and_as_if_all_were_listed():
    world, listed = Yard(), Yard(listed=True)
    check_environment(world, ())
    follower = Follower(parser="chain").fit(demonstrations(60, world))
    test = demonstrations(30, world, seed=1)
    assert follower.score(test) >= 0.9
    for each in test:
        found, wanted = (follower.follow(each.instructions, at, ()) for at in (world, listed))
        assert found.actions == wanted.actions
