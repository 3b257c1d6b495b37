"""What labels join is remembered, and is what joining anew would give."""

import copy

import numpy as np
import pytest

from groundling import Follower, Overlay, PlanModel, Search
from groundling.features import feature_tables as module
from groundling.features.feature_tables import JoinedLabels
from groundling.overlay.batch_builder import Instance, Scored, encode
from groundling.overlay.scorer import Scorer
from tests.worlds import Line

TEXTS = ("go right to the lamp", "walk left twice", "stay at the sofa now")


def taught(**settings):
    from tests.promises.making import demonstrations

    return Follower(parser="chain", search=Search(max_length=2), **settings).fit(demonstrations())


def scores(follower, text, world, start, remembered):
    fitted = follower._learnt.fitted
    encoder = fitted.encoder
    [read] = encoder.reader.read_many([text])
    from groundling.models.plan import PlanSpaces

    space = PlanSpaces.of(encoder).plans(encoder.world(world), start, follower.search)
    labelled = encoder.label(read, space.candidates.graphs)
    instance = Instance(labelled.skeleton, labelled.words, [space.candidates])
    terms = encoder.terms
    encoding = encode(
        [instance], fitted.space, joined=remembered,
        scored=Scored(
            encoder.overlay.edge_scores, advances=terms.advance_scores, plan_words=terms.plan_words
        ),
    )  # fmt: skip
    return Scorer(encoding, skip=terms.skip).candidate_scores(fitted.theta)


@pytest.mark.parametrize(
    "settings", [{}, {"overlay": Overlay.flat(), "model": PlanModel.flat()}], ids=["graph", "flat"]
)
def test_joined_labels_give_the_scores_of_joining_anew(settings):
    follower = taught(**settings)
    remembered = JoinedLabels(follower._learnt.fitted.space)
    for size in (3, 5):  # later texts and worlds bring new labels
        for text in TEXTS:
            world = Line(size, {1: "lamp", size - 1: f"thing {size}"})
            anew = scores(follower, text, world, 1, None)
            for _ in range(2):
                again = scores(follower, text, world, 1, remembered)
                np.testing.assert_allclose(again, anew, rtol=1e-13)
    assert remembered.bytes > 0


def test_joined_labels_are_forgotten_when_they_are_too_many(monkeypatch):
    follower = taught()
    remembered = JoinedLabels(follower._learnt.fitted.space)
    scores(follower, TEXTS[0], Line(3, {1: "lamp"}), 1, remembered)
    monkeypatch.setattr(module, "_MOST_ENTRIES", 0)
    before = remembered.entries
    scores(follower, "go", Line(3, {1: "lamp"}), 1, remembered)
    assert remembered.entries < before


def test_joined_labels_of_nodes_are_forgotten_before_those_of_words(monkeypatch):
    follower = taught()
    remembered = JoinedLabels(follower._learnt.fitted.space)
    for _ in range(2):
        scores(follower, TEXTS[0], Line(5, {1: "lamp"}), 1, remembered)
    words, nodes = len(remembered._words), len(remembered._contents)
    monkeypatch.setattr(module, "_MOST_CONTENTS", 0)
    for size in range(3, 6):
        world = Line(size, {1: "lamp"})
        found = scores(follower, TEXTS[0], world, 1, remembered)
        np.testing.assert_allclose(found, scores(follower, TEXTS[0], world, 1, None), rtol=1e-12)
        assert 0 < len(remembered._contents) <= nodes  # those of the latest request
    assert len(remembered._words) == words > 0
    assert remembered.entries > 0


def test_joined_labels_of_new_words_are_not_kept():
    follower = taught()
    remembered = JoinedLabels(follower._learnt.fitted.space)
    line = Line(4, {1: "lamp"})
    scores(follower, "go right to the lamp", line, 1, remembered)
    assert not remembered._words  # words are kept once they occur again
    scores(follower, "go right to the lamp", line, 1, remembered)
    words = len(remembered._words)
    assert words
    for number in range(20):
        text = f"go right to the lamp word{number}"
        found = scores(follower, text, line, 1, remembered)
        np.testing.assert_allclose(found, scores(follower, text, line, 1, None), rtol=1e-12)
    assert len(remembered._words) <= words + 5


def test_joined_labels_of_a_copy_begin_anew():
    follower = taught()
    remembered = JoinedLabels(follower._learnt.fitted.space)
    scores(follower, TEXTS[0], Line(3, {1: "lamp"}), 1, remembered)
    assert copy.copy(remembered).entries == 0


def test_joined_labels_do_not_fit_a_space_that_has_grown():
    follower = taught()
    space = copy.copy(follower._learnt.fitted.space)
    remembered = JoinedLabels(space)
    assert remembered.fits(space)
    space.keys = space.keys[:-1]
    assert not remembered.fits(space)


def test_joined_labels_cost_what_a_request_is_about_however_many_things_were_met(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 8)
    follower = taught()
    space = follower._learnt.fitted.space
    remembered = JoinedLabels(space)
    for number in range(40):  # each brings a label of its own
        scores(follower, "go right", Line(3, {1: f"thing{number}"}), 1, remembered)
    assert len(remembered._nodes) > 40
    joined = []
    join = space.join

    def counting(words, nodes, pair_words, pair_nodes, **more):
        joined.append(len(set(pair_nodes.tolist())))
        return join(words, nodes, pair_words, pair_nodes, **more)

    monkeypatch.setattr(space, "join", counting)
    world = Line(3, {1: "thing0"})
    again = scores(follower, "walk left", world, 1, remembered)
    occurring = sum(joined)
    assert 0 < occurring < len(remembered._nodes)
    monkeypatch.undo()
    anew = scores(follower, "walk left", world, 1, None)
    np.testing.assert_allclose(again, anew, rtol=1e-13)
