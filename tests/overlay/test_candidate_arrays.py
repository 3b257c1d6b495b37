"""Arrays of candidates are the same when they are kept, and only the latest are."""

import copy

import numpy as np
import pytest

from groundling import Features, Overlay, PlanModel, Search
from groundling.cache import Cache, CacheBudget
from groundling.features.feature_tables import JoinedLabels
from groundling.features.reader import Reader
from groundling.inference.plan_space import enumerate_plans
from groundling.language import ChainParser
from groundling.overlay import batch_builder
from groundling.overlay.batch_builder import Instance, Scored, encode
from groundling.overlay.encoder import Encoder
from groundling.overlay.layout import arrange
from groundling.overlay.scorer import Scorer
from tests.worlds import Line

CASES = {
    "graph": (Overlay(), PlanModel()),
    "flat": (Overlay.flat(), PlanModel.flat()),
    "without plan labels": (Overlay(), PlanModel(plan_scores=False)),
    "without ψ(y)": (Overlay(action_scores=False), PlanModel()),
}
TEXTS = ("go right to the lamp", "left", "stay. then walk left and left again", "zig zag")


class Room:
    """Worlds, plans and features to encode texts with."""

    def __init__(self, case):
        overlay, model = CASES[case]
        self.overlay, self.terms = overlay, model.terms()
        features = Features(min_count=0)
        reader = Reader(
            ChainParser(), features.promote, features.labeller(), features.first_lexicon()
        )
        self.encoder = Encoder(reader, overlay, features.nodes(), self.terms)
        self.world = self.encoder.world(Line(5, {2: "lamp"}))
        self.space = features.space()
        instances = [self.instance(text, [self.candidates(2)]) for text in TEXTS[:3]]
        self.encoder.encode(instances, self.space, grow=True)
        self.theta = np.random.default_rng(0).normal(size=len(self.space))

    def candidates(self, start):
        plans = enumerate_plans(self.world, start, Search(max_length=3))
        return self.encoder.candidates(self.world, plans)

    def instance(self, text, candidates, gold=()):
        labelled = self.encoder.label(tuple(self.encoder.reader.read(text)))
        return Instance(labelled.skeleton, labelled.words, candidates, gold)

    def encode(self, instances, joined, latest):
        return encode(
            instances, self.space,
            scored=Scored(
                self.overlay.edge_scores, self.overlay.action_scores, self.terms.advance_scores,
                self.terms.plan_words,
            ),
            joined=joined, latest=latest,
        )  # fmt: skip


def assert_same(one, two, name=""):
    if isinstance(one, tuple):
        assert type(one) is type(two), name
        for place, (left, right) in enumerate(zip(one, two, strict=True)):
            assert_same(left, right, f"{name}.{getattr(one, '_fields', range(99))[place]}")
    else:
        np.testing.assert_array_equal(one, two, err_msg=name)
        assert np.asarray(one).dtype == np.asarray(two).dtype, name


@pytest.mark.parametrize("case", CASES)
def test_candidate_arrays_that_are_kept_encode_texts_as_if_they_were_made_anew(case):
    room = Room(case)
    joined, latest = JoinedLabels(room.space), Cache(CacheBudget())
    lists = {start: [room.candidates(start)] for start in (0, 2)}
    lists[7] = [*lists[0], *lists[2]]  # several at once
    for text in (*TEXTS, *reversed(TEXTS)):
        for candidates in lists.values():
            instance = room.instance(text, candidates, gold=(1,) if text == "left" else ())
            kept = room.encode([instance], joined, latest)
            anew = room.encode([instance], joined, None)
            assert kept.kept is latest.get(tuple(map(id, candidates))).kept
            assert_same(tuple(kept.batch), tuple(anew.batch), "batch")
            assert_same(kept.tables, anew.tables, "tables")
            assert_same(arrange(kept), arrange(anew), "arrangement")
            assert list(kept.nodes) == list(anew.nodes)
            scores = [
                Scorer(each, skip=room.terms.skip).candidate_scores(room.theta)
                for each in (kept, anew)
            ]
            np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("case", CASES)
def test_candidate_arrays_that_are_kept_serve_many_texts_together_too(case):
    room = Room(case)
    joined, latest = JoinedLabels(room.space), Cache(CacheBudget())
    lists = [[room.candidates(start)] for start in (0, 2)]
    instances = [room.instance(text, each) for text in TEXTS for each in lists]
    room.encode(instances[:1], joined, latest)
    kept, anew = (room.encode(instances, joined, each) for each in (latest, None))
    assert kept.kept not in [latest.get((id(each),)).kept for [each] in lists]
    assert_same(tuple(kept.batch), tuple(anew.batch), "batch")
    assert_same(kept.tables, anew.tables, "tables")


def test_candidate_arrays_hold_when_joined_labels_are_forgotten():
    room = Room("graph")
    joined, latest = JoinedLabels(room.space), Cache(CacheBudget())
    instances = [room.instance("go right", [room.candidates(start)]) for start in (0, 2)]
    before = [room.encode([each], joined, latest).tables for each in instances]
    joined._forget()
    # In another order: labels get other numbers.
    after = [room.encode([each], joined, latest).tables for each in reversed(instances)]
    for one, two in zip(before, reversed(after), strict=True):
        rows = [
            sorted(zip(each.row_feature.tolist(), each.row_value.tolist(), strict=True))
            for each in (one, two)
        ]
        assert rows[0] == rows[1]
    [fresh] = [room.encode([instances[0]], JoinedLabels(room.space), None)]
    kept = room.encode([instances[0]], joined, latest)
    scores = [Scorer(each).candidate_scores(room.theta) for each in (kept, fresh)]
    np.testing.assert_allclose(*scores, rtol=1e-12)


def test_candidate_arrays_are_kept_within_a_budget():
    room = Room("flat")
    joined, latest = JoinedLabels(room.space), Cache(CacheBudget(400_000))
    lists = [[room.candidates(start % 5)] for start in range(60)]

    def arrays(candidates):
        room.encode([room.instance("go", candidates)], joined, latest)
        return latest.get(tuple(map(id, candidates)))

    first = arrays(lists[0])
    assert arrays(lists[0]) is first
    most = 0
    for each in lists:
        arrays(each)
        most = max(most, latest.bytes)
    assert 4 * first.nbytes < most <= 400_000  # several are kept, and never too many
    assert len(latest) < len(lists)
    assert copy.deepcopy(latest).bytes == 0
    latest.clear()
    assert arrays(lists[0]) is not first


def test_candidate_arrays_are_bounded_and_forgotten_by_an_encoder():
    room = Room("flat")
    instance = room.instance("go", [room.candidates(1)])
    before = room.encoder.remembered()["worlds, graphs and plans"]
    room.encoder.encode([instance], room.space)
    assert room.encoder.remembered()["worlds, graphs and plans"] > before
    room.encoder.empty()
    assert room.encoder.remembered()["worlds, graphs and plans"] == 0


def test_candidate_arrays_count_nodes_that_are_equal_as_one():
    room = Room("graph")
    twins = [room.candidates(2)]
    room.encoder._layouts.clear()
    room.encoder._graphs.clear()
    twins.append(room.candidates(2))  # laid out anew: equal, but not the same
    plans = copy.copy(twins[0])
    both = encode([room.instance("go right to the lamp", twins)], room.space)
    one = encode([room.instance("go right to the lamp", [plans])], room.space)
    assert both.batch.instance_nodes.tolist() == one.batch.instance_nodes.tolist()
    scores = Scorer(both).candidate_scores(room.theta).reshape(2, -1)
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12)
    np.testing.assert_allclose(scores[0], Scorer(one).candidate_scores(room.theta), rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_candidate_arrays_among_candidates_listed_anew_are_as_among_the_same(case, monkeypatch):
    room = Room(case)
    listed = {start: room.candidates(start) for start in (0, 2)}
    starts = (0, 2, 0, 0, 2)
    same = [room.instance("go right", [listed[start]], (1,)) for start in starts]
    anew = [room.instance("go right", [room.candidates(start)], (1,)) for start in starts]
    assert anew[0].candidates[0].signature() == anew[2].candidates[0].signature()
    assert anew[0].candidates[0].signature() != anew[1].candidates[0].signature()
    found = [room.encode(each, None, None) for each in (same, anew)]
    monkeypatch.setattr(batch_builder, "_FEW", 0)
    found.append(room.encode(anew, None, None))
    for other in found[1:]:
        assert_same(tuple(found[0].batch), tuple(other.batch), "batch")
        assert_same(found[0].tables, other.tables, "tables")
