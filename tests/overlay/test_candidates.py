"""Candidates: in one list or in many, shared or made anew, plans are the same."""

import numpy as np
import pytest

from groundling import Features, Overlay, PlanModel, Search
from groundling.features.reader import Reader
from groundling.inference.plan_space import enumerate_plans
from groundling.language import ChainParser
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates
from groundling.overlay.encoder import Encoder
from tests.worlds import Line

CASES = {
    "graph": (Overlay(), PlanModel()),
    "flat": (Overlay.flat(), PlanModel.flat()),
    "without plan labels": (Overlay(), PlanModel(plan_scores=False)),
}


@pytest.mark.parametrize("case", CASES)
def test_candidates_encode_alike_in_one_list_and_in_many(case):
    overlay, model = CASES[case]
    features = Features()
    reader = Reader(ChainParser(), features.promote, features.labeller(), features.first_lexicon())
    encoder = Encoder(reader, overlay, features.nodes(), model.terms())
    world = encoder.world(Line(5, {2: "lamp"}))
    search = Search(max_length=3)
    spaces = [enumerate_plans(world, start, search) for start in (0, 2, 4)]
    shared = [encoder.candidates(world, plans) for plans in spaces]
    whole = encoder.candidates(world, [plan for plans in spaces for plan in plans])
    ways = {
        "whole": [whole],
        "shared": shared,
        "single": [encoder.candidates(world, [plan]) for plans in spaces for plan in plans],
    }
    assert {len(whole)} == {sum(map(len, each)) for each in ways.values()}
    space, scorers = features.space(), {}
    for way, candidates in ways.items():
        instances = []
        for text in ("go right to the lamp", "left"):
            labelled = encoder.label(tuple(reader.read(text)))
            instances.append(Instance(labelled.skeleton, labelled.words, candidates, (1, 5)))
        scorers[way] = encoder.encode(instances, space, grow=way == "whole")
    theta = np.random.default_rng(0).normal(size=len(space))
    whole_scorer = scorers.pop("whole")
    assert np.flatnonzero(whole_scorer.batch.candidate_gold[: len(whole)]).tolist() == [1, 5]
    for scorer in scorers.values():
        for name, one, two in zip(
            scorer.batch._fields, whole_scorer.batch, scorer.batch, strict=True
        ):
            np.testing.assert_array_equal(one, two, err_msg=name)
        np.testing.assert_array_equal(
            whole_scorer.candidate_scores(theta), scorer.candidate_scores(theta)
        )


def test_candidates_number_each_graph_and_label_once():
    one, two = object(), object()  # stand for graphs
    short, long = (("short", 1.0),), (("long", 1.0),)
    candidates = Candidates([((one,), short), ((two, one), long), ((), short)])
    assert candidates.graphs == [one, two]
    assert candidates.labels == [short, long]
    assert [candidates.actions(place) for place in range(3)] == [[one], [two, one], []]
    assert candidates.plan_labels.tolist() == [0, 1, 0]
    assert candidates.order.tolist() == [0, -1, 1, -2]


def test_candidates_all_have_labels_or_none_has():
    with pytest.raises(AssertionError):
        Candidates([((object(),), None), ((object(),), (("short", 1.0),))])
