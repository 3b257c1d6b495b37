"""Layouts: flat plans, laid out side by side, score as they do one by one."""

import numpy as np
import pytest

from groundling.errors import DemonstrationError
from groundling.features.labels import NodeLabel, NodeLabeller, WordLabel
from groundling.features.space import FeatureSpace
from groundling.language.instruction import Instruction
from groundling.overlay import batch
from groundling.overlay.batch_builder import Instance, Scored, encode
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph, Layouts
from groundling.overlay.layout import (
    arrange,
    is_flat,
    lay_out_flat,
    lay_out_graphs,
)
from groundling.overlay.scorer import Scorer
from groundling.overlay.settings import Overlay
from groundling.overlay.skeletons import joined_skeleton
from groundling.world.graph import GroundingGraph
from tests.overlay.overlay_twin import shape_of

ONE = shape_of((((0, ("self",)),),), (True,))


def action(name):
    labels = tuple((NodeLabel(f"{part}.{name}"), 1.0) for part in ("event", "here"))
    return LaidOutGraph((labels,), ("action",), ONE, labels, ())


def encoded(lengths, text="go on and then turn left at last"):
    """Return an instance with a plan of each length, over five actions."""
    actions = [action(name) for name in "abcde"]
    plans = [
        (
            tuple(actions[(number + 3 * j) % 5] for j in range(length)),
            ((NodeLabel(f"plan.length={length}"), 1.0),),
        )
        for number, length in enumerate(lengths)
    ]
    skeleton = joined_skeleton(
        [Instruction.chain(text)], Overlay.flat(), lambda each, _: [[i] for i in range(len(each))]
    )
    words = [((WordLabel(f"word={place % 4}"), 1.0),) for place in skeleton.position]
    instance = Instance(skeleton, words, [Candidates(plans)], (1,))
    return encode(
        [instance, instance], FeatureSpace(min_count=0), grow=True,
        scored=Scored(advances=True, plan_words=True),
    )  # fmt: skip


def test_flat_layout_puts_the_longest_first_and_eight_side_by_side():
    encoding = encoded([1, 3, 2])
    assert is_flat(encoding.batch)
    flat = lay_out_flat(encoding.batch)
    assert flat.order.tolist() == [1, 2, 0, 1, 2, 0]
    assert flat.tile_strips.tolist() == [0, 3, 6]
    assert flat.strip_before.tolist() == [0, 1, 1] * 2
    assert flat.strip_after.tolist() == [1, 1, 0] * 2
    # Plan 1 is b e c, plan 2 is c a, plan 0 is a; nodes are numbered a b e c, as they occur.
    # Plan 0 comes last and fills the strip. Where a plan has ended, there is node 4, which is none.
    assert flat.state_node[:24].reshape(3, 8).tolist() == [
        [1, 3, 0, 0, 0, 0, 0, 0],
        [2, 0, 4, 4, 4, 4, 4, 4],
        [3, 4, 4, 4, 4, 4, 4, 4],
    ]


def test_flat_layout_cuts_many_candidates_into_tiles():
    flat = lay_out_flat(encoded([3] * 200).batch)
    assert flat.instance_tiles.tolist() == [0, 3, 6]
    assert np.diff(flat.tile_candidates).tolist() == [88, 88, 24] * 2
    assert np.diff(flat.tile_strips).tolist() == [33, 33, 9] * 2
    assert flat.strip_block[:66].tolist() == [block for block in range(11) for _ in range(3)] * 2


@pytest.mark.parametrize(
    "lengths", [[1, 3, 2], [3] * 200, [1] * 7, [2] * 8, list(range(1, 12)) * 9]
)
@pytest.mark.parametrize("size", [0.3, 3.0, 300.0])
def test_flat_kernels_equal_those_of_graphs(lengths, size):
    encoding = encoded(lengths)
    flat = Scorer(encoding, skip=0.5)
    layout = lay_out_graphs(encoding.batch)
    arranged = arrange(encoding)._replace(layout=layout)
    general = Scorer(encoding, skip=0.5, arrangement=arranged)
    theta = np.random.default_rng(0).normal(size=flat.width) * size
    for one, other in zip(flat.loss(theta), general.loss(theta), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    for one, other in zip(flat.group_scores(theta), general.group_scores(theta), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_flat_kernels_are_not_used_where_an_action_has_several_nodes():
    two = shape_of((((0, ("self",)),), ((1, ("self",)),)), (True, True))
    labels = ((NodeLabel("a"), 1.0),)
    graph = LaidOutGraph((labels, labels), ("one", "two"), two, labels, ())
    skeleton = joined_skeleton([Instruction.chain("go")], Overlay(), lambda each, _: [[0]])
    words = [((WordLabel("word=go"), 1.0),)]
    made = [Instance(skeleton, words, [Candidates.single([graph])], (0,))]
    assert not is_flat(encode(made, FeatureSpace(min_count=0), grow=True).batch)


def test_numbers_on_edges_are_one_relation():
    layouts = Layouts(Overlay(), NodeLabeller())
    seen = set()
    for distance in np.linspace(0, 1, 500):
        nodes = {"event": "move", "lamp": "round"}
        edges = [("event", "lamp", {"distance": float(distance), "side": "left"})]
        shape = layouts.lay_out(GroundingGraph(nodes, edges)).shape
        seen |= {relation for around in shape.near for _, relation in around}
    assert seen == {
        ("distance", "side=left"), ("distance reversed", "side=left reversed"), ("self",)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("most", "what"), [(10, "pairs of words and nodes in a batch"), (100, "array '.*' of a batch")]
)
def test_sizes_that_kernels_cannot_number_are_errors(most, what, monkeypatch):
    sound = encoded([3] * 60)
    monkeypatch.setattr(batch, "MOST", most)
    with pytest.raises(DemonstrationError, match=rf"{what} must be <= {most}; got \d+\. Use"):
        encoded([3] * 60)
    with pytest.raises(DemonstrationError, match=rf"links of a plan must be <= {most}; got 192"):
        Scorer(sound)
