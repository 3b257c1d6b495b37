"""Graphs of many actions together are those of each by itself, and give the same plans."""

import numpy as np
import pytest

from groundling import Demonstration, Features, Follower, Overlay, PlanModel, Search
from groundling.errors import GraphError, WorldError
from groundling.world import CachedEnvironment, GraphTable, GroundingGraph, check_environment

VERBS, THINGS = ("light", "dim", "clean"), ("red lamp", "blue lamp", "old mill", "sofa")
EDGES = (("event", "thing", "of"),)


class Flat:
    """Every verb can be done to every thing; the state is what was done last."""

    asked = 0

    def actions(self, state):
        return tuple((verb, thing) for thing in THINGS for verb in VERBS)

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        nodes = {"event": {"verb": action[0]}, "thing": {"name": action[1]}}
        return GroundingGraph(nodes, EDGES, roles=nodes)


class Together(Flat):
    def ground_many(self, state, actions):
        self.asked += 1
        nodes = {
            "event": ([{"verb": verb} for verb in VERBS], [VERBS.index(v) for v, _ in actions]),
            "thing": ([{"name": name} for name in THINGS], [THINGS.index(t) for _, t in actions]),
        }
        return GraphTable(nodes, EDGES, roles=nodes)


def demonstrations(world):
    return [
        Demonstration(f"{verb} the {thing}", world, "start", ((verb, thing),))
        for verb in VERBS
        for thing in THINGS
        if (verb, thing) != ("dim", "sofa")
    ]


@pytest.mark.parametrize(
    ("overlay", "model"),
    [
        (Overlay(), PlanModel()),
        (Overlay.flat(), PlanModel.flat()),
        (Overlay(nodes="both"), PlanModel(plan_scores=False)),
        (Overlay(action_scores=False), PlanModel(plan_words=True)),
    ],
    ids=["graph", "flat", "both", "no priors"],
)
@pytest.mark.parametrize("decode", ["plan", "outcome"])
def test_tables_give_the_plans_and_the_loss_of_single_graphs(overlay, model, decode):
    found = []
    for world in (Flat(), Together()):
        follower = Follower(
            model=model, parser="chain", overlay=overlay,
            features=Features(slots=("name",), names="spans"),
            search=Search(max_length=1, decode=decode),
        ).fit(demonstrations(world))  # fmt: skip
        texts = ["dim the sofa", "light the blue lamp", "clean it", "paint the red mill"]
        plans = follower.follow_many([(text, world, "start") for text in texts])
        plans += [follower.follow(text, world, "elsewhere") for text in texts]
        found.append((follower.learnt_.loss, plans))
    (loss, single), (again, together) = found
    assert again == pytest.approx(loss, abs=1e-9)
    for one, other in zip(single, together, strict=True):
        assert one.actions == other.actions
        assert one.states == other.states
        assert one.confidence == pytest.approx(other.confidence, abs=1e-9)
        assert [each.actions for each in one.alternatives] == [
            each.actions for each in other.alternatives
        ]
        assert str(one.explain()) == str(other.explain())


def test_environments_are_asked_for_a_table_once():
    world = CachedEnvironment(Together())
    table = world.ground_many("start")
    assert world.ground_many("start") is table
    assert world.environment.asked == 1
    actions = world.actions("start")
    assert [table[n] for n in range(len(table))] == [world.ground("start", a) for a in actions]


def test_worlds_notice_that_graphs_of_a_table_have_changed():
    inner = Together()
    world = CachedEnvironment(inner)
    world.ground_many("start")
    assert not world.notice("start")
    inner.ground = lambda state, action, after: GroundingGraph({"event": "other"})
    assert world.notice("start")


def test_check_environment_compares_tables_with_graphs():
    assert check_environment(Together(), "start").complete

    class Wrong(Together):
        def ground_many(self, state, actions):
            nodes = {"event": ([{"verb": "light"}], [0] * len(actions))}
            return GraphTable(nodes)

    class Short(Together):
        def ground_many(self, state, actions):
            return super().ground_many(state, actions[:-1])

    with pytest.raises(Exception, match="must return the same graphs as ground"):
        check_environment(Wrong(), "start")
    with pytest.raises(Exception, match="must return a GraphTable"):
        check_environment(Short(), "start")
    with pytest.raises(WorldError, match="must return a GraphTable"):
        CachedEnvironment(Short()).ground_many("start")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ({}, "must be a mapping"),
        ({"event": (["go"], [0, 1])}, "must be from 0 to 0, or -1 for a graph .*; got 0 to 1"),
        ({"event": (["go"], [-2])}, "must be from 0 to 0, or -1"),
        ({"event": (["go"], [-1])}, "must have the root 'event'"),
        ({"event": (["go"], [0]), "thing": (["red"], [0, 0])}, "one index for each action"),
    ],
)
def test_tables_refuse_what_is_no_table(nodes, said):
    with pytest.raises(GraphError, match=said):
        GraphTable(nodes)


def test_tables_may_be_sliced_and_have_other_roles():
    nodes = {"event": (["go", "stop"], np.array([0, 1, 1]))}
    table = GraphTable(nodes)
    assert [str(each) for each in table[1:]] == ["event*: stop"] * 2
    assert table.changed(roles=("event",))[0].roles == {"event"}
    assert table[0].roles == frozenset()


BESIDE = (*EDGES, ("thing", "left", "left"), ("left", "right", "across"))


class Row(Flat):
    """Things in a row; the graph of an action has the neighbours of its thing, if any."""

    def ground(self, state, action, after):
        verb, thing = action
        place = THINGS.index(thing)
        nodes = {"event": {"verb": verb}, "thing": {"name": thing}}
        for name, other in (("left", place - 1), ("right", place + 1)):
            if 0 <= other < len(THINGS):
                nodes[name] = {"beside": THINGS[other]}
        return GroundingGraph(nodes, [each for each in BESIDE if {*each[:2]} <= {*nodes}])


class RowTogether(Row):
    def ground_many(self, state, actions):
        places = [THINGS.index(thing) for _, thing in actions]
        beside = [{"beside": name} for name in THINGS]
        nodes = {
            "event": ([{"verb": verb} for verb in VERBS], [VERBS.index(v) for v, _ in actions]),
            "thing": ([{"name": name} for name in THINGS], places),
            "left": (beside, [place - 1 for place in places]),
            "right": (beside, [place + 1 if place + 1 < len(THINGS) else -1 for place in places]),
        }
        return GraphTable(nodes, BESIDE)


def test_graphs_of_a_table_may_lack_nodes():
    world = RowTogether()
    table = world.ground_many("start", world.actions("start"))
    assert [len(graph) for graph in table[::3]] == [3, 4, 4, 3]
    assert [graph.parts[-1] for graph in table[::3]] == ["node", "across", "across", "left"]
    assert check_environment(world, "start").complete
    found = []
    for overlay in (Overlay(), Overlay.flat(), Overlay(nodes="both")):
        for world in (Row(), RowTogether()):
            follower = Follower(
                model=PlanModel(), parser="chain", overlay=overlay,
                features=Features(slots=("name", "beside"), names="spans"),
                search=Search(max_length=1),
            ).fit(demonstrations(world))  # fmt: skip
            texts = ["dim the sofa", "light the blue lamp", "clean it", "paint the red mill"]
            plans = [follower.follow(text, world, "elsewhere") for text in texts]
            plans += follower.follow_many([(text, world, "anywhere") for text in texts])
            found.append([(each.actions, each.confidence) for each in plans])
    for single, together in zip(found[::2], found[1::2], strict=True):
        for (actions, confidence), (same, again) in zip(single, together, strict=True):
            assert actions == same
            assert confidence == pytest.approx(again, abs=1e-9)
