"""What single words say about single labels adds up to what whole units say about actions."""

import copy

import numpy as np
import pytest

from groundling import Instruction, Overlay, TransducerModel
from groundling.inference.unit_scores import UnitScores, WordScores
from groundling.world import CachedEnvironment
from tests.worlds import Line, line_demonstrations, objective_of, weights_for

TEXT = [Instruction.chain("go left"), Instruction.chain("then go right right")]


@pytest.fixture
def learnt():
    objective, space = objective_of(TransducerModel(), Overlay.bag(), line_demonstrations())
    return objective.data.encoder, space, weights_for(space, 3, 1.0)


def pairs(world):
    return [(state, action) for state in range(4) for action in world.actions(state)]


def test_word_scores_add_up_to_those_of_the_overlay(learnt):
    encoder, space, theta = learnt
    world = CachedEnvironment(Line(4))
    scores = UnitScores(encoder, space, theta, TEXT, world)
    text, free = scores.actions(pairs(world))
    laid_over = scores._score([encoder.ground(world, *pair) for pair in pairs(world)])
    assert np.abs(text).max() > 0.1
    np.testing.assert_allclose(text, laid_over[0], atol=1e-12)
    np.testing.assert_allclose(free, laid_over[1], atol=1e-12)


def test_word_scores_of_known_words_need_no_overlay(learnt, monkeypatch):
    encoder, space, theta = learnt
    world = CachedEnvironment(Line(4))
    first = UnitScores(encoder, space, theta, TEXT, world).actions(pairs(world))
    monkeypatch.setattr(encoder, "encode", None)
    again = UnitScores(encoder, space, theta, TEXT[::-1], world).actions(pairs(world))
    assert np.array_equal(first[0], again[0][:, ::-1])


def test_word_scores_are_forgotten_with_the_weights(learnt):
    encoder, space, theta = learnt
    known = WordScores.of(encoder, space, theta)
    assert WordScores.of(encoder, space, theta.copy()) is known
    theta[0] += 1.0  # in place
    assert WordScores.of(encoder, space, theta) is not known


def test_word_scores_copies_begin_anew(learnt):
    encoder, space, theta = learnt
    known = WordScores.of(encoder, space, theta)
    assert copy.deepcopy(known).theta.tolist() == theta.tolist()


def test_word_scores_grow_beyond_their_first_room(learnt):
    encoder, space, theta = learnt
    many = [Instruction.chain(" ".join(f"word{n}" for n in range(200)) + " left")]
    world = CachedEnvironment(Line(4))
    scores = UnitScores(encoder, space, theta, many, world)
    text, _ = scores.actions(pairs(world))
    few = UnitScores(encoder, space, theta, [Instruction.chain("left")], world)
    np.testing.assert_allclose(text, few.actions(pairs(world))[0], atol=1e-12)


def test_word_scores_are_counted_and_take_a_part_of_the_budget(learnt):
    encoder, space, theta = learnt
    world = CachedEnvironment(Line(4))
    UnitScores(encoder, space, theta, TEXT, world).actions(pairs(world))
    known = WordScores.of(encoder, space, theta)
    assert encoder.remembered()["scores"] == known.bytes > 64 * 64 * 9
    encoder.budget.allow(1000)  # too few bytes for any
    again = UnitScores(encoder, space, theta, TEXT, world).actions(pairs(world))
    assert len(known._words) <= len({word for each in TEXT for word in each.tokens}) + 2
    assert again[0].any()
    encoder.empty()
    assert encoder.remembered()["scores"] == 0
