"""The order of demonstrations and the names of nodes do not matter."""

import numpy as np
import pytest

from groundling import Demonstration, GroundingGraph
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
