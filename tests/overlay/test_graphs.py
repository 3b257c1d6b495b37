"""Graphs are laid out as the overlay asks, and the numbering of their nodes does not matter."""

import itertools
import pickle
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling import Features, GroundingGraph, Instruction, Overlay
from groundling.features.labels import RANK, NodeLabeller
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import Layouts, Shape, spell_plan
from groundling.overlay.settings import PlanTerms
from groundling.world.graph import labels_of
from groundling.world.relations import Scene
from tests.overlay.overlay_twin import neighbours
from tests.worlds import workbench

NODES = {
    "event": {"move": True, "steps": 2},
    "here": {"item": "sofa"},
    "there": {"item": "lamp", "far": True},
}
EDGES = [("event", "here", "from"), ("event", "there", "to"), ("here", "there", "next")]


def near(graph, place, **settings):
    names = graph.node_names
    laid = Layouts(Overlay(**settings), NodeLabeller()).lay_out(graph)
    return {names[other]: relation for other, relation in laid.shape.near[names.index(place)]}


def test_graphs_neighbours_are_given_reversed_and_self():
    graph = GroundingGraph(NODES, EDGES)
    assert near(graph, "here") == {
        "there": ("next",),
        "event": ("from reversed",),
        "here": ("self",),
    }


def test_graphs_two_step_neighbours():
    graph = GroundingGraph({"a": "x", "b": "y", "c": "z"}, [("a", "b", "r"), ("b", "c", "r")])
    assert near(graph, "a", neighbours=("given", "two-step")) == {
        "b": ("r",),
        "c": ("two-step",),
    }


def test_graphs_soft_adjacency_reaches_every_node():
    graph = GroundingGraph({"a": "x", "b": "y"})
    assert near(graph, "a", adjacency="soft") == {"a": ("self",), "b": ("far",)}


def test_graphs_cycles_and_self_loops_are_walked():
    graph = GroundingGraph(
        {"a": "x", "b": "y"}, [("a", "b", "r"), ("b", "a", "s"), ("a", "a", "l")]
    )
    assert near(graph, "a") == {"a": ("l",), "b": ("r",)}


def test_graphs_root_entry_is_the_root_only():
    graph = GroundingGraph(NODES, EDGES, root="here")
    assert Layouts(Overlay(), NodeLabeller()).lay_out(graph).shape.enters == (False, True, False)
    assert all(Layouts(Overlay(entry="any"), NodeLabeller()).lay_out(graph).shape.enters)


def test_graphs_flat_labels_have_the_role_of_their_node_or_its_relation():
    layouts = Layouts(Overlay.flat(), NodeLabeller(slots=("item",)))
    laid = layouts.lay_out(GroundingGraph(NODES, EDGES, roles=("here",)))
    names = {str(label) for label, _ in laid.nodes[0]}
    assert {"root.move", "here.item", "to.far"} <= names


def test_graphs_both_adds_flat_labels_to_every_node():
    laid = Layouts(Overlay(nodes="both"), NodeLabeller()).lay_out(GroundingGraph(NODES, EDGES))
    assert all({"root.move"} <= {str(label) for label, _ in node} for node in laid.nodes)
    assert "move" in {str(label) for label, _ in laid.nodes[0]}


def test_graphs_of_plans_know_their_length_and_labels():
    spelled = spell_plan(3, {"turns": 2}, NodeLabeller(numbers=("real",)))
    assert [(str(label), amount) for label, amount in spelled] == [
        ("plan.length=3", 1.0),
        ("plan.turns", 2.0),
    ]


OVERLAYS = pytest.mark.parametrize(
    "overlay",
    [
        Overlay(),
        Overlay(entry="any", adjacency="soft"),
        Overlay(neighbours=("given", "two-step", "self")),
        Overlay(nodes="both", unit="word"),
        Overlay.flat(),
        Overlay.bag(),
    ],
    ids=["paper", "soft", "two-step", "both", "flat", "bag"],
)


@OVERLAYS
def test_graphs_numbering_of_nodes_and_edges_does_not_matter(overlay):
    text = Instruction(
        ("walk", "far", "to", "lamp"), (-1, 0, 0, 2), ("root", "advmod", "case", "obl")
    )
    encoder, space = workbench(
        overlay,
        Features(words=("word", "string"), promote=()),
        PlanTerms(advance_scores=True),
    )
    orders = list(itertools.permutations(NODES))
    graphs = [
        GroundingGraph({name: NODES[name] for name in order}, edges, root="event")
        for order, edges in zip(orders, itertools.permutations(EDGES), strict=True)
    ]
    laid = [encoder.lay_out(graph) for graph in graphs]
    labelled = encoder.label([text], laid)
    candidates = Candidates(((graph, graph), None) for graph in laid)
    instance = Instance(labelled.skeleton, labelled.words, [candidates], (0,))
    scorer = encoder.encode([instance], space, grow=True)
    theta = np.random.default_rng(0).normal(size=len(space))
    scores = scorer.candidate_scores(theta)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, scores[0], rtol=1e-12)


@OVERLAYS
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_graphs_names_and_order_of_nodes_that_are_no_roles_do_not_matter(overlay, data):
    things = data.draw(st.lists(st.sampled_from(["sofa", "lamp", "chair"]), min_size=2, max_size=5))
    encoder, space = workbench(overlay, Features(words=("word", "string"), promote=()))
    laid = []
    for _ in range(3):
        order = data.draw(st.permutations(range(len(things))))
        nodes = {"event": {"move": True}} | {f"thing {n}": {"item": things[n]} for n in order}
        names = data.draw(st.permutations([f"node {n}" for n in range(len(nodes))]))
        called = dict(zip(nodes, names, strict=True))
        edges = [("event", f"thing {n}", "to") for n in order]
        edges += [(f"thing {n}", f"thing {n - 1}", "beside") for n in order if n]
        laid.append(
            encoder.lay_out(
                GroundingGraph(
                    {called[name]: labels for name, labels in nodes.items()},
                    [(called[one], called[other], label) for one, other, label in edges],
                    root=called["event"],
                )
            )
        )
    text = encoder.label([Instruction.chain("walk to the far lamp")], laid)
    instance = Instance(text.skeleton, text.words, [Candidates.single(laid)], (0,))
    scorer = encoder.encode([instance], space, grow=True)
    scores = scorer.candidate_scores(np.random.default_rng(0).normal(size=len(space)))
    np.testing.assert_allclose(scores, scores[0], rtol=0, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 1e3, 1e6]))
def test_graphs_log_probabilities_are_at_most_zero(seed, spread):
    overlay = Overlay(entry="any")
    encoder, space = workbench(overlay, Features(words=("word",), promote=()))
    laid = [
        encoder.lay_out(GroundingGraph(NODES, EDGES[:count], root="event")) for count in range(4)
    ]
    text = encoder.label([Instruction.chain("walk to the far lamp")], laid)
    instance = Instance(text.skeleton, text.words, [Candidates.single(laid)], (1,))
    scorer = encoder.encode([instance], space, grow=True)
    theta = np.random.default_rng(seed).normal(size=len(space)) * spread
    loss, gradient = scorer.loss(theta)
    assert loss >= 0
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("nodes", ["graph", "flat", "both"])
def test_layouts_that_remember_give_what_fresh_ones_give(nodes):
    remembering = Layouts(Overlay(nodes=nodes), NodeLabeller(slots=("item",)))
    graphs = [GroundingGraph(NODES, EDGES), GroundingGraph({**NODES, "new": "far"}, EDGES)]
    for graph in graphs:
        fresh = Layouts(Overlay(nodes=nodes), NodeLabeller(slots=("item",))).lay_out(graph)
        laid = remembering.lay_out(graph)
        for part in ("nodes", "names", "shape", "prior", "values"):
            assert getattr(laid, part) == getattr(fresh, part)


def test_layouts_share_what_is_equal():
    layouts = Layouts(Overlay(), NodeLabeller())
    one = layouts.lay_out(GroundingGraph(NODES, EDGES))
    two = layouts.lay_out(GroundingGraph({**NODES}, EDGES))
    assert one.shape is two.shape
    assert all(a is b for a, b in zip(one.nodes, two.nodes, strict=True))


def things(rng, count):
    """Things that lack some labels, stand in the same place, or name each other."""
    found = {}
    for number in range(count):
        labels = {
            "colour": rng.choice(("red", "blue", None)), "kind": rng.choice(("cup", "jug")),
            "in": rng.choice((None, None, f"t{rng.randrange(count)}")),
        }  # fmt: skip
        labels |= {name: rng.choice((0, 1, 2, 3, None)) for name in ("x", "y", "size")}
        found[f"t{number}"] = labels
    return found


@pytest.mark.parametrize(
    "overlay",
    [
        Overlay(relations=True), Overlay(relations=True, adjacency="soft", entry="any"),
        Overlay(relations=True, nodes="both"),
        Overlay(relations=True, neighbours=("given", "two-step")),
    ],
    ids=["hard", "soft", "both", "two-step"],
)  # fmt: skip
def test_relations_are_laid_out_like_the_graph_that_has_them(overlay):
    """What is shared between actions gives the graph that `Scene.related` writes out."""
    rng = random.Random(5)
    for _ in range(40):
        labels = things(rng, rng.randint(1, 7))
        scene = Scene(labels)
        chosen = rng.sample(list(labels), min(len(labels), rng.randint(1, 2)))
        # Some nodes have the names of things, others are known by their labels.
        names = [name if rng.random() < 0.5 else f"node {name}" for name in chosen]
        nodes = {"event": "go"} | {
            name: labels[thing] for name, thing in zip(names, chosen, strict=True)
        }
        edges = [("event", names[0], "of"), *[(names[0], name, "to") for name in names[1:]]]
        if rng.random() < 0.3:
            nodes["lost"] = "far"
        graph = GroundingGraph(nodes, edges)
        whole = scene.related(graph)
        found = Layouts(overlay, NodeLabeller()).lay_out(graph, scene)
        plain = Layouts(replace(overlay, relations=False), NodeLabeller())
        assert found.names == whole.node_names
        assert found.shape == plain.lay_out(whole).shape
        ranked = Layouts(replace(overlay, relations=False), NodeLabeller()).lay_out(graph, scene)
        assert tuple(found.prior) == tuple(ranked.prior)
        for name, node, content in zip(
            whole.node_names, whole.node_labels, found.nodes, strict=True
        ):
            ranks = scene.ranks(name, node)
            ranked = [(rank, among) for label, _ in content if label.kind == RANK
                      for rank, among in [(label.name, label.value)]]  # fmt: skip
            assert ranked[: len(ranks or ())] == list(ranks or ())


@pytest.mark.parametrize("adjacency", ["hard", "soft"])
@pytest.mark.parametrize(
    "kinds", [(), ("given",), ("given", "reversed"), ("reversed", "self"), ("self", "two-step")]
)
def test_neighbours_in_arrays_are_those_of_the_loops(adjacency, kinds):
    overlay, rng = Overlay(adjacency=adjacency, neighbours=kinds), random.Random(2)
    labels = [labels_of(name) for name in ("of", "to", "at", ())]
    for _ in range(30):
        count = rng.randint(1, 12)
        edges = [
            (rng.randrange(count), rng.randrange(count), rng.choice(labels))
            for _ in range(rng.randint(0, 40))
        ]
        enters = [rng.random() < 0.5 for _ in range(count)]
        assert Shape(edges, enters, overlay).near == neighbours(edges, count, overlay)
        alone = list({edge[:2]: edge for edge in edges}.values())  # none is merged with another
        assert Shape(alone, enters, overlay).near == neighbours(alone, count, overlay)


def test_copies_of_layouts_start_without_what_was_laid_out():
    scene = Scene({"a": {"x": 1}, "b": {"x": 2}})
    graph = GroundingGraph({"event": "go", "a": {"x": 1}}, [("event", "a", "of")])
    layouts = Layouts(Overlay(), NodeLabeller())
    found = layouts.lay_out(graph, scene)
    assert layouts.lay_out(graph, scene) is found
    again = pickle.loads(pickle.dumps(layouts))
    assert again.has_ranks
    assert not again.bytes
    assert again.lay_out(graph, scene).nodes == found.nodes
