"""The paper's search: Viterbi over states for a fixed alignment, and the alternation."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling import DecisionModel, Instruction, Overlay, Search
from groundling.errors import SearchError
from groundling.inference.alignment import align
from groundling.inference.alternation import Alternation, alternate, best_path
from groundling.inference.unit_scores import UnitScores
from groundling.world import CachedEnvironment
from tests.worlds import GoalLine, Line, line_demonstrations, objective_of, weights_for

TEXT = (Instruction.chain("go left"), Instruction.chain("then right"))


def unit_scores(world, seed=0, text=TEXT, spread=1.0):
    """Scores of a text under random weights over the features of the line world."""
    shown = line_demonstrations(Line(4, {1: "lamp"}))
    objective, space = objective_of(DecisionModel(), Overlay(), shown)
    theta = weights_for(space, seed, spread)
    return UnitScores(objective.data.encoder, space, theta, text, CachedEnvironment(world))


def walks(world, start, length):
    """Yield (states, actions) of every plan of a length, by trying all sequences."""
    for actions in itertools.product(("left", "right"), repeat=length):
        states = [start]
        for action in actions:
            if action not in world.actions(states[-1]):
                break
            states.append(world.step(states[-1], action))
        else:
            if not hasattr(world, "is_goal") or world.is_goal(states[-1]):
                yield tuple(states), actions


def path_score(scores, states, actions, weights):
    text, free = scores.actions(list(zip(states[:-1], actions, strict=True)))
    return float(free.sum() + (text * weights.T).sum())


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 50), st.integers(0, 3), st.integers(1, 4), st.booleans())
def test_alternation_best_path_equals_brute_force(seed, start, length, goal):
    world = (GoalLine if goal else Line)(4, {1: "lamp", 3: "sofa"})
    scores = unit_scores(world, seed)
    weights = np.random.default_rng(seed).integers(0, 2, (2, length)).astype(float)
    found = best_path(scores, start, weights, Search(max_length=4, beam=None))
    best = {}  # of each end state, since equal states are merged
    for states, actions in walks(world, start, length):
        value = path_score(scores, states, actions, weights)
        best[states[-1]] = max(best.get(states[-1], -np.inf), value)
    assert {each.end: pytest.approx(each.score) for each in found} == best
    values = [each.score for each in found]
    assert values == sorted(values, reverse=True)
    for each in found:
        assert path_score(scores, each.states, each.actions, weights) == pytest.approx(each.score)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 30), st.integers(0, 3), st.booleans())
def test_alternation_with_every_alignment_to_start_from_finds_the_best_plan(
    seed, start, last_to_last
):
    scores = unit_scores(Line(4), seed)
    search = Search(max_length=3, beam=None)
    how = Alternation(restarts=40, last_to_last=last_to_last, seed=seed)
    found = alternate(scores, start, search, lambda n: -0.1 * n, range(1, 4), how)
    expected = []
    for length in (1, 2, 3):
        for states, actions in walks(Line(4), start, length):
            text, free = scores.actions(list(zip(states[:-1], actions, strict=True)))
            total, _ = align(text.T, last_to_last=last_to_last)
            expected.append(total + free.sum() - 0.1 * length)
    assert found[0].score <= max(expected) + 1e-9
    for each in found:
        assert any(value == pytest.approx(each.score) for value in expected)


def test_alternation_with_every_unit_finds_the_best_plan_of_each_length():
    scores = unit_scores(Line(4), 3)
    search = Search(max_length=2, beam=None)
    how = Alternation(every_unit=True)
    found = alternate(scores, 1, search, lambda n: -1.0 * n, (1, 2), how)
    expected = {}
    for length in (1, 2):
        states, actions = max(
            walks(Line(4), 1, length),
            key=lambda walk: path_score(scores, *walk, np.ones((2, len(walk[1])))),
        )
        text, free = scores.actions(list(zip(states[:-1], actions, strict=True)))
        expected[actions] = pytest.approx(align(text.T)[0] + free.sum() - length)
    assert {each.actions: each.score for each in found} == expected


def test_alternation_same_seed_finds_the_same():
    one, other = (
        alternate(
            unit_scores(Line(4), 1),
            1,
            Search(max_length=3),
            lambda n: 0.0,
            (1, 2, 3),
            Alternation(seed=4),
        )
        for _ in range(2)
    )
    assert one == other


def test_alternation_compares_plans_by_their_text_alone_when_asked():
    found = {}
    for compare in ("score", "text"):
        scores = unit_scores(Line(4), 5)
        search, how = Search(max_length=3, beam=None), Alternation(compare=compare)
        found[compare] = alternate(scores, 1, search, lambda n: -7.0 * n, (1, 2, 3), how)
        values = [each.score for each in found[compare]]
        assert values == sorted(values, reverse=True)
    assert {each.actions for each in found["text"]} == {each.actions for each in found["score"]}
    for each in found["text"]:
        text, _ = scores.actions(list(zip(each.states[:-1], each.actions, strict=True)))
        assert each.score == pytest.approx(align(text.T)[0])
    # The price of length tells the two apart.
    assert len(found["score"][0].actions) < len(found["text"][0].actions)


def test_alternation_dead_ends_give_no_plan():
    class Pit(Line):
        def actions(self, state):
            return ()

    scores = unit_scores(Pit(4))
    assert best_path(scores, 1, np.ones((2, 2)), Search()) == []
    assert alternate(scores, 1, Search(), lambda n: 0.0, (1, 2)) == []


def test_alternation_reflex_agent_keeps_one_plan():
    scores = unit_scores(Line(4), 2)
    found = best_path(scores, 1, np.ones((2, 3)), Search(planning=False))
    assert len(found) == 1


def test_alternation_budget_is_respected():
    scores = unit_scores(Line(10**6))
    with pytest.raises(SearchError, match=r"Raise Search.budget"):
        best_path(scores, 500, np.ones((2, 100)), Search(beam=None, budget=50))
    assert len(scores) < 100


@pytest.mark.parametrize(
    ("steps", "most", "pairs"), [(1, 99, 1), (2, 99, 3), (9, 99, 6), (9, 4, 3)]
)
def test_units_look_ahead_scores_what_is_near_in_one_go(monkeypatch, steps, most, pairs):
    world = Line(4, {1: "lamp", 3: "sofa"})
    scores, plain = unit_scores(world), unit_scores(world)
    asked = []
    whole = scores._score
    monkeypatch.setattr(scores, "_score", lambda graphs: asked.append(graphs) or whole(graphs))
    scores.look_ahead(0, steps, most)
    assert len(scores) == pairs  # from the left end: one action, then two more, then three
    assert len(asked) == 1
    for one, other in zip(scores.options([0, 1]), plain.options([0, 1]), strict=True):
        np.testing.assert_allclose(one.text, other.text)
        np.testing.assert_allclose(one.free, other.free)
