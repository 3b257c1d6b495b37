"""Grounding graphs hold labels of every kind, and refuse what no graph can be."""

import numpy as np
import pytest

from groundling.errors import GraphError
from groundling.world.graph import GroundingGraph, Label, labels_of, labels_of_each


def test_graph_may_have_cycles_and_self_loops():
    graph = GroundingGraph(
        {"a": "one", "b": "two"}, [("a", "b", "to"), ("b", "a", "back"), ("a", "a", "self")]
    )
    assert len(graph.edges) == 3


def test_graph_edges_may_have_values():
    graph = GroundingGraph({"a": "one", "b": "two"}, [("a", "b", {"distance": 2.5})])
    assert graph.edges[0][2] == (Label("distance", 2.5),)


def test_graph_equality_is_by_content():
    one, other = (GroundingGraph({"a": {"x": 1, "y": "z"}}, root="a") for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != GroundingGraph({"a": {"x": 2, "y": "z"}})


def test_graph_without_nodes_is_refused():
    with pytest.raises(GraphError, match="at least one node"):
        GroundingGraph({})


def test_graph_root_must_be_a_node():
    with pytest.raises(GraphError, match=r"root of a graph must be one of its nodes.*got 'b'"):
        GroundingGraph({"a": "x"}, root="b")


def test_graph_edges_must_end_at_nodes():
    with pytest.raises(GraphError, match=r"must join two nodes of the graph; got 'b'"):
        GroundingGraph({"a": "x"}, [("a", "b", "to")])


@pytest.mark.parametrize("edge", [("a", "a"), "a->a", ("a", "a", "to", 1.0)])
def test_graph_edges_must_be_triples(edge):
    with pytest.raises(GraphError, match="An edge must be a triple"):
        GroundingGraph({"a": "x"}, [edge])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -np.inf])
def test_graph_numbers_must_be_finite(value):
    with pytest.raises(
        GraphError, match=r"label 'far' of node 'a' must be finite.*Leave the label"
    ):
        GroundingGraph({"a": {"far": value}})


@pytest.mark.parametrize("labels", [5, None])
def test_graph_labels_must_be_names_or_a_mapping(labels):
    with pytest.raises(GraphError, match="The labels of node 'a' must be a mapping"):
        GroundingGraph({"a": labels})


def test_graph_nodes_must_be_a_mapping():
    with pytest.raises(GraphError, match="a mapping from names to labels"):
        GroundingGraph(["a", "b"])


def test_labels_of_numpy_truth_values_are_indicators():
    assert labels_of({"wall": np.True_, "door": np.False_}) == (Label("wall"),)


def test_labels_of_numpy_numbers_are_numbers():
    assert labels_of({"far": np.int64(3)}) == (Label("far", 3.0),)


def test_labels_of_collections_are_several():
    assert labels_of({"item": {"sofa", "lamp"}}) == (Label("item", "lamp"), Label("item", "sofa"))


def test_labels_of_objects_are_refused():
    with pytest.raises(GraphError, match="must be True, a string, a number"):
        labels_of({"item": object()})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"x", "bytes"), (b"1", "bytes"), ({"k": 1}, "dict"), ({}, "dict"), (1j, "complex"),
        ([b"x"], "bytes"), ([None], "NoneType"), ((True,), "bool"), ([[1]], "list"),
    ],
)  # fmt: skip
def test_labels_of_a_wrong_type_are_refused(value, kind):
    with pytest.raises(GraphError, match=rf"label 'bad' of node 'event' must be .*, a {kind}"):
        GroundingGraph({"event": {"go": True, "bad": value}})


@pytest.mark.parametrize("value", [None, False, (), [], frozenset()])
def test_labels_of_nothing_are_not_there(value):
    assert labels_of({"go": True, "item": value}) == (Label("go"),)


def test_labels_do_not_depend_on_the_order_they_are_written_in():
    assert labels_of({"a": 1, "b": "c"}) == labels_of({"b": "c", "a": 1})


def test_labels_of_what_it_returned_is_the_same_object():
    labels = labels_of({"far": 2, "wall": True})
    assert labels_of(labels) is labels
    shared = GroundingGraph({"a": labels}, [("a", "a", labels)])
    assert shared == GroundingGraph({"a": {"wall": True, "far": 2}}, [("a", "a", list(labels))])


@pytest.mark.parametrize(
    "listed",
    [
        [],
        [{}, {}],
        [{"lit": True}],
        [{"lit": True, "item": "lamp"}, {"item": "sofa", "lit": False}, {"lit": None, "item": ""}],
        [{"size": 1}, {"size": True}, {"size": 1.0}],
        [{"size": True}, {"size": "big"}],
        [{"item": "lamp"}, {"lit": True}],
        [{"item": "lamp"}, "lamp", ["lit", "red"]],
        [{"item": "x" * 500}, {"item": "lamp"}],
        [{"item": ["a", "b"]}, {"item": "a"}],
    ],
)
def test_labels_read_by_column_are_those_read_one_by_one(listed):
    assert labels_of_each(listed) == [labels_of(each) for each in listed]


def test_labels_read_by_column_are_checked():
    with pytest.raises(GraphError, match="finite"):
        labels_of_each([{"size": float("nan")}, {"size": 2.0}], "node 'lamp'")
