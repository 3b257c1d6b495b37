"""Decisions hold the units aligned with them; alternation may begin with an alignment."""

import numpy as np
import pytest

from groundling import Demonstration, Follower, Overlay, Search
from groundling.errors import SettingError
from groundling.learning.settings import Learning
from groundling.overlay.encoding import Candidate, Instance
from groundling.overlay.scorer import Model
from tests.learning.test_objectives import at, make
from tests.worlds import Line

LEARNING = Learning(normalise="decisions", alignment="viterbi", silence=-1.0, begin="alignment")
SHOWN = [
    Demonstration("right then left then right", Line(4), 1, ("right", "left")),
    Demonstration("left left", Line(4), 3, ("left", "left", "right")),
]


def test_decisions_equal_problems_in_which_other_units_are_inactive():
    objective, space = make(LEARNING, Overlay(unit="word"), SHOWN)
    theta = at(space, 5)
    objective.realign(theta)
    instances = []
    for text, decisions, alignment in zip(
        objective.texts, objective.options, objective.alignment, strict=True
    ):
        for j, graphs in enumerate(decisions):
            candidates = [Candidate((g,), gold=i == 0) for i, g in enumerate(graphs)]
            active = [each == j for each in alignment]
            instances.append(Instance(text.skeleton, text.words, candidates, active=active))
    encoding = objective.encoder.encode(instances, space)
    value, gradient = Model(encoding, objective.encoder.overlay).loss(theta)
    gradient = gradient.copy()
    found, slope = objective.loss(theta)
    assert found == pytest.approx(value)
    np.testing.assert_allclose(slope, gradient, atol=1e-9)


def test_decisions_without_any_unit_are_learnt_from_their_labels():
    objective, space = make(LEARNING, Overlay(unit="word"), SHOWN[1:])  # more actions than words
    value, gradient = objective.loss(at(space))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_begin_with_an_alignment_spreads_units_evenly():
    objective, _ = make(LEARNING, Overlay(unit="word"), SHOWN[:1])
    assert objective.alignments() == [((0,), (0,), (0,), (1,), (1,))]
    follower = Follower(
        parser="chain", learning=LEARNING, overlay=Overlay(unit="word"), search=Search(max_length=2)
    )
    assert follower.fit(SHOWN).loss_ > 0


def test_begin_must_be_known():
    with pytest.raises(SettingError, match="Did you mean 'weights'"):
        Learning(begin="weight")
