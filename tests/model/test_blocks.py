"""Blocks: encoded as a block or one by one, plans are the same."""

import numpy as np
import pytest

from groundling import Features, Overlay, Search
from groundling.features.reading import Reader
from groundling.inference.courses import enumerate_courses
from groundling.language import ChainParser
from groundling.model.blocks import Block
from groundling.model.builder import Builder
from groundling.model.encoding import Candidate, Problem
from groundling.model.scoring import Model
from tests.worlds import Line


@pytest.mark.parametrize("overlay", [Overlay(), Overlay.flat(), Overlay(plan_scores=False)])
def test_blocks_encode_like_single_candidates(overlay):
    features = Features()
    reader = Reader(ChainParser(), features.promote, features.labeller(), features.first_lexicon())
    builder = Builder(reader, overlay, features.nodes())
    world = builder.world(Line(5, {2: "lamp"}))
    spaces = [enumerate_courses(builder, world, start, Search(max_length=3)) for start in (0, 2, 4)]
    problems = {}
    for way in ("single", "block"):
        problems[way] = []
        for text in ("go right to the lamp", "left"):
            passage = builder.passage(tuple(reader.read(text)))
            candidates = [course.candidate(gold=place == 1) for place, course in
                          enumerate(spaces[0])]  # fmt: skip
            for courses in spaces[1:]:
                one_by_one = [course.candidate() for course in courses]
                candidates += one_by_one if way == "single" else [courses.block]
            problems[way].append(Problem(passage.forest, passage.words, candidates))
    space = features.space()
    single = builder.encode(problems["single"], space, grow=True)
    block = builder.encode(problems["block"], space)
    for name, one, two in zip(single.charts._fields, single.charts, block.charts, strict=True):
        np.testing.assert_array_equal(one, two, err_msg=name)
    theta = np.random.default_rng(0).normal(size=len(space))
    scores = [Model(each, overlay).candidate_scores(theta) for each in (single, block)]
    np.testing.assert_array_equal(*scores)


def test_blocks_hold_no_right_candidates():
    with pytest.raises(AssertionError):
        Block([Candidate((), gold=True)])
