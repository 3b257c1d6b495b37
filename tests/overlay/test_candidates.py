"""Blocks: encoded as a block or one by one, plans are the same."""

import numpy as np
import pytest

from groundling import Features, Overlay, Search
from groundling.features.reading import Reader
from groundling.inference.plan_space import enumerate_plans
from groundling.language import ChainParser
from groundling.overlay.candidates import Block
from groundling.overlay.encoder import Encoder
from groundling.overlay.encoding import Candidate, Instance
from groundling.overlay.scorer import Model
from tests.worlds import Line


@pytest.mark.parametrize("overlay", [Overlay(), Overlay.flat(), Overlay(plan_scores=False)])
def test_blocks_encode_like_single_candidates(overlay):
    features = Features()
    reader = Reader(ChainParser(), features.promote, features.labeller(), features.first_lexicon())
    encoder = Encoder(reader, overlay, features.nodes())
    world = encoder.world(Line(5, {2: "lamp"}))
    spaces = [enumerate_plans(encoder, world, start, Search(max_length=3)) for start in (0, 2, 4)]
    instances = {}
    for way in ("single", "block"):
        instances[way] = []
        for text in ("go right to the lamp", "left"):
            passage = encoder.passage(tuple(reader.read(text)))
            candidates = [course.candidate(gold=place == 1) for place, course in
                          enumerate(spaces[0])]  # fmt: skip
            for courses in spaces[1:]:
                one_by_one = [course.candidate() for course in courses]
                candidates += one_by_one if way == "single" else [courses.block]
            instances[way].append(Instance(passage.skeleton, passage.words, candidates))
    space = features.space()
    single = encoder.encode(instances["single"], space, grow=True)
    block = encoder.encode(instances["block"], space)
    for name, one, two in zip(single.batch._fields, single.batch, block.batch, strict=True):
        np.testing.assert_array_equal(one, two, err_msg=name)
    theta = np.random.default_rng(0).normal(size=len(space))
    scores = [Model(each, overlay).candidate_scores(theta) for each in (single, block)]
    np.testing.assert_array_equal(*scores)


def test_blocks_hold_no_right_candidates():
    with pytest.raises(AssertionError):
        Block([Candidate((), gold=True)])
