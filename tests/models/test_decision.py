"""Decisions hold the units aligned with them; alternation may begin with an alignment."""

import numpy as np
import pytest

from groundling import DecisionModel, Demonstration, Follower, Learning, Overlay, Search
from groundling.errors import SettingError
from groundling.overlay.batch_builder import Instance
from groundling.overlay.candidates import Candidates
from tests.worlds import Line, objective_of, weights_for

MODEL = DecisionModel(begin="alignment")
SHOWN = [
    Demonstration("right then left then right", Line(4), 1, ("right", "left")),
    Demonstration("left left", Line(4), 3, ("left", "left", "right")),
]


def test_decisions_equal_whole_texts_of_which_only_aligned_units_count():
    objective, space = objective_of(MODEL, Overlay(unit="word"), SHOWN)
    theta = weights_for(space, 5)
    objective.realign(theta)
    loss, gradient = 0.0, np.zeros(len(space))
    for text, decisions, alignment in zip(
        objective.texts, objective.options, objective.alignment, strict=True
    ):
        for j, graphs in enumerate(decisions):
            instance = Instance(text.skeleton, text.words, [Candidates.single(graphs)])
            scorer = objective.data.encoder.encode([instance], space)
            grouped, free = scorer.group_scores(theta)
            active = np.array([each == j for each in alignment], float)
            scores = free + grouped.reshape(len(graphs), -1) @ active
            total = np.logaddexp.reduce(scores)
            loss += total - scores[0]
            blame = np.exp(scores - total)
            blame[0] -= 1
            gradient += scorer.weighted_gradient(theta, np.outer(blame, active).ravel(), blame)
    found, slope = objective.loss(theta)
    assert found == pytest.approx(loss)
    np.testing.assert_allclose(slope, gradient, atol=1e-9)


def test_decisions_without_any_unit_are_learnt_from_their_labels():
    # More actions than words.
    objective, space = objective_of(MODEL, Overlay(unit="word"), SHOWN[1:])
    value, gradient = objective.loss(weights_for(space))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_begin_with_an_alignment_spreads_units_evenly():
    objective, _ = objective_of(MODEL, Overlay(unit="word"), SHOWN[:1])
    assert objective.alignments() == [((0,), (0,), (0,), (1,), (1,))]
    assert objective.begins_aligned
    follower = Follower(
        parser="chain", model=MODEL, overlay=Overlay(unit="word"), search=Search(max_length=2)
    )
    assert follower.fit(SHOWN).learnt_.loss > 0


def test_begin_must_be_known():
    with pytest.raises(SettingError, match="Did you mean 'weights'"):
        DecisionModel(begin="weight")


def test_last_to_last_ties_the_last_unit_to_the_last_action():
    shown = [Demonstration("right then left then right", Line(4), 1, ("right", "left", "left"))]
    for seed in range(5):
        objective, space = objective_of(
            DecisionModel(last_to_last=True), Overlay(unit="word"), shown
        )
        objective.realign(weights_for(space, seed))
        [alignment] = objective.alignments()
        assert alignment[-1] == (2,)


def test_every_unit_is_aligned_with_every_action_when_all_are():
    objective, _ = objective_of(DecisionModel(aligned="all"), Overlay(unit="word"), SHOWN[1:])
    assert objective.alignments() == [((0, 1, 2), (0, 1, 2))]


@pytest.mark.parametrize("model", [DecisionModel(), DecisionModel(aligned="all")])
@pytest.mark.parametrize("compare", ["score", "text"])
def test_decisions_are_explained_by_the_score_they_were_compared_by(model, compare):
    chosen = DecisionModel(aligned=model.aligned, compare=compare)
    follower = Follower(
        parser="chain", model=chosen, overlay=Overlay(unit="word"), search=Search(max_length=2),
        learning=Learning(),  # which remembers nothing: the memory is no part of a score
    ).fit(SHOWN)  # fmt: skip
    plan = follower.follow("right then left", Line(4), 1)
    why = plan.explain()
    assert plan.alternatives
    margin = plan.log_probability - plan.alternatives[0].log_probability
    assert why.margin == pytest.approx(margin, abs=1e-9)
