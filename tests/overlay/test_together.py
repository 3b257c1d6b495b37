"""Graphs laid out together are those laid out one by one; what is asked once is forgotten."""

import random
from collections import Counter

import pytest

from benchmarks.new_worlds import SingleRoom, demonstrations, room
from benchmarks.scenes import superlative_demonstration
from groundling import Follower, GroundingGraph, Overlay, Search
from groundling.features.labels import NodeLabeller
from groundling.overlay.graphs import Layouts
from groundling.world.cached_environment import CachedEnvironment


@pytest.mark.parametrize("nodes", ["graph", "flat", "both"])
def test_graphs_laid_out_together_are_those_laid_out_one_by_one(nodes):
    world, state = SingleRoom(), room(random.Random(1), 20)
    graphs = [world.ground(state, each, ()) for each in world.actions(state)]
    graphs += [GroundingGraph({"there": "lit", "event": "go"}, [("event", "there", "to")], "event")]
    layouts = Layouts(Overlay(nodes=nodes), NodeLabeller())
    together = layouts.lay_out_many(graphs)
    assert len(together) == len(graphs) > 60
    assert [together[place] for place in range(len(graphs))] == list(map(layouts.lay_out, graphs))
    own, chosen = together.own()
    priors, of_graph = together.priors()
    for place, graph in enumerate(graphs):
        one = layouts.lay_out(graph)
        # The order of the labels of a whole graph does not matter.
        assert Counter(priors[of_graph[place]]) == Counter(one.prior)
        if nodes == "graph":
            kinds = chosen[place]
            assert [tuple(own[kind]) for kind in kinds[kinds >= 0]] == list(one.nodes)
    assert set(together.values) == {pair for each in together for pair in each.values}


@pytest.mark.parametrize("relations", [False, True])
def test_graphs_of_a_scene_laid_out_together_are_those_laid_out_one_by_one(relations):
    shown = superlative_demonstration(random.Random(1))
    world, state = CachedEnvironment(shown.environment), shown.start
    graphs, scene = [world.ground(state, e) for e in world.actions(state)], world.scene(state)
    layouts = Layouts(Overlay(relations=relations), NodeLabeller(slots=("colour",)))
    together = layouts.lay_out_many(graphs, scene)
    alone = [layouts.lay_out(each, scene) for each in graphs]
    assert [together[place] for place in range(len(graphs))] == alone
    own, chosen = together.own()
    for kinds, graph in zip(chosen, alone, strict=True):
        assert [tuple(own[kind]) for kind in kinds[kinds >= 0]] == list(map(tuple, graph.nodes))
    # ψ(y) has no words, so it needs only labels without a value to compare.
    priors, of_graph = together.priors()
    for place, graph in zip(of_graph, alone, strict=True):
        plain = [each for each in graph.prior if each[0].kind not in ("colour", "rank", "number")]
        assert [e for e in priors[place] if e[0].kind not in ("colour", "number")] == plain


class Counted(SingleRoom):
    """A room that counts the calls of its methods."""

    def __init__(self):
        self.calls = {"actions": 0, "step": 0, "ground": 0}

    def actions(self, state):
        self.calls["actions"] += 1
        return super().actions(state)

    def step(self, state, action):
        self.calls["step"] += 1
        return super().step(state, action)

    def ground(self, state, action, after):
        self.calls["ground"] += 1
        return super().ground(state, action, after)


@pytest.fixture(scope="module")
def follower():
    told = demonstrations("single room", 8, 1, 6)
    return Follower(parser="chain", search=Search(max_length=1)).fit(told, check=False)


def test_states_asked_about_once_are_forgotten_and_others_are_not(follower):
    world, dice = Counted(), random.Random(3)
    first, second = room(dice, 10), room(dice, 10)
    plans = [follower.follow("take the red cup", world, each) for each in (first, first)]
    assert world.calls == {"actions": 2, "step": 32, "ground": 32}  # the second time checks ends
    for state in (second, first, second):
        follower.follow("take the red cup", world, state)
    asked = world.calls["ground"]
    assert asked == 32 + 3 * 30
    again = follower.follow("take the red cup", world, first)
    assert world.calls["ground"] <= asked + 3  # the ends are checked, and the answer is explained
    assert {each.confidence for each in (*plans, again)} == {again.confidence}


def test_caches_do_not_grow_with_states_that_are_seen_once(follower):
    encoder, world = follower.learnt_.fitted.encoder, SingleRoom()
    dice, sizes = random.Random(5), []
    for _ in range(30):
        follower.follow("take the red cup", world, room(dice, 10))
        remembered = encoder.remembered()
        sizes.append(remembered["worlds, graphs and plans"])
    assert max(sizes[20:]) <= 1.2 * max(sizes[:10])
