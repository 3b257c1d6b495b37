"""Pairs of many word sets and labels score as those of each instance alone."""

import numpy as np
import pytest

from groundling.features.labels import NodeLabel, WordLabel
from groundling.features.space import FeatureSpace
from groundling.language.instruction import Instruction
from groundling.overlay import potentials
from groundling.overlay.batch_builder import Instance, encode
from groundling.overlay.candidates import Candidates
from groundling.overlay.graphs import LaidOutGraph
from groundling.overlay.scorer import Scorer
from groundling.overlay.settings import Overlay
from groundling.overlay.simd import LANES
from groundling.overlay.skeletons import joined_skeleton
from tests.overlay.overlay_twin import shape_of

ONE = shape_of((((0, ("self",)),),), (True,))


def instance(number, labels):
    """Return a text about two graphs, with labels of its own and some that all have."""
    graphs = []
    for side in "ab":
        names = [f"{side}{number}.{k}" for k in range(labels)] + [f"all.{k}" for k in range(5)]
        content = tuple((NodeLabel(name), 1.0) for name in names)
        graphs.append(LaidOutGraph((content,), ("action",), ONE, content, ()))
    skeleton = joined_skeleton(
        [Instruction.chain("x y z")], Overlay.flat(), lambda text, _: [[i] for i in range(3)]
    )
    words = [((WordLabel(f"word={(number + place) % 11}"), 1.0),) for place in skeleton.position]
    return Instance(skeleton, words, [Candidates.single(graphs)], (0,))


@pytest.mark.parametrize("labels", [1, 60])
def test_labels_of_one_block_of_word_sets_do_not_reach_the_next(labels):
    instances = [instance(number, labels) for number in range(22)]
    space = FeatureSpace(joins=("conjunction",), min_count=0)
    both = Scorer(encode(instances, space, grow=True))
    few = LANES * both.labels <= potentials._CACHED  # the two ways to clear labels
    assert few == (labels == 1)
    assert len(both.arrangement.pairs.block_nodes) > 2
    theta = np.random.default_rng(0).normal(size=len(space))
    alone = [Scorer(encode([each], space)).loss(theta) for each in instances]
    for _ in range(2):  # the second time with labels of the first in memory
        loss, gradient = both.loss(theta)
        assert loss == pytest.approx(sum(each for each, _ in alone), rel=1e-12)
        expected = np.sum([slope for _, slope in alone], axis=0)
        np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)
