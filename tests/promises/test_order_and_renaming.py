"""The order of demonstrations and the names of nodes do not matter."""

import numpy as np
import pytest

from groundling import Demonstration, Follower, GroundingGraph
from tests.promises.making import demonstrations, make_follower, requests
from tests.worlds import Line

KINDS = ("plans", "lattice")  # the alternation begins at random, so that order is its seed


def plans_of(follower, asked):
    return [(each.actions, each.log_probability) for each in follower.follow_many(asked)]


def alike(one, other):
    for (actions, value), (again, also) in zip(one, other, strict=True):
        assert actions == again
        assert value == pytest.approx(also, abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_order_and_renaming_the_order_of_demonstrations(followers, kind):
    shown = demonstrations()
    before = plans_of(followers[kind], requests())
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(len(shown))
        other = make_follower(kind).fit([shown[place] for place in order])
        alike(before, plans_of(other, requests()))


class Renamed(Line):
    """The same line, whose graphs have other names, and their nodes and edges another order."""

    def ground(self, state, action, after):
        graph = super().ground(state, action, after)
        names = {name: f"node {number}" for number, name in enumerate(graph.node_names)}
        return GroundingGraph(
            {
                names[name]: list(labels)
                for name, labels in reversed(
                    list(zip(graph.node_names, graph.node_labels, strict=True))
                )
            },
            [(names[a], names[b], list(labels)) for a, b, labels in reversed(graph.edges)],
            root=names[graph.root],
        )


@pytest.mark.parametrize("kind", KINDS)
def test_order_and_renaming_the_names_and_numbers_of_nodes(followers, kind):
    def renamed(world):
        return Renamed(world.size, world.items)

    shown = [
        Demonstration(each.instructions, renamed(each.environment), each.start, each.actions)
        for each in demonstrations()
    ]
    asked = [(text, renamed(world), start) for text, world, start in requests()]
    alike(plans_of(followers[kind], requests()), plans_of(make_follower(kind).fit(shown), asked))


CUPS = {"a": ("red", 1), "b": ("red", 4), "c": ("blue", 2), "d": ("blue", 6)}


class Row:
    """Cups in a row, of which one is taken; `order` says how things and actions are listed."""

    def __init__(self, order=0, prefix=""):
        self.order = order
        self.names = {each: f"{prefix}{each}" for each in CUPS}

    def listed(self):
        names = list(CUPS)
        return [names[place] for place in np.random.default_rng(self.order).permutation(4)]

    def actions(self, state):
        return self.listed()

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        nodes = {"act": {"take": True}, self.names[action]: {"colour": CUPS[action][0]}}
        return GroundingGraph(nodes, [("act", self.names[action], "of")], root="act")

    def things(self, state):
        return {
            self.names[each]: {"colour": CUPS[each][0], "x": CUPS[each][1]}
            for each in self.listed()
        }


def test_order_and_renaming_of_things_and_actions_leaves_scores_equal():
    row = Row()
    shown = [
        Demonstration(f"take the {side} {colour} cup", row, "", (cup,))
        for side, colour, cup in (("left", "red", "a"), ("right", "red", "b"),
                                  ("left", "blue", "c"), ("right", "blue", "d"))
    ]  # fmt: skip
    follower = Follower(parser="chain").fit(shown, check=False)
    texts = ("take the left blue cup", "take the right one", "take the red cup")

    def scores(world):
        return [
            {each.actions: each.log_probability for each in (plan, *plan.alternatives)}
            for plan in (follower.follow(text, world, "") for text in texts)
        ]

    before = scores(row)
    for order in (1, 2, 3):
        for found, wanted in zip(scores(Row(order, "node ")), before, strict=True):
            assert found.keys() == wanted.keys()
            for plan, score in found.items():
                assert score == pytest.approx(wanted[plan], abs=1e-9)
