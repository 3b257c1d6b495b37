"""Plan and alignment searched together: exact, and never worse than in turns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling import Features, Follower, Instruction, Learning, Search
from groundling.errors import SearchError
from groundling.inference.alternation import alternate
from groundling.inference.joint import best_together
from groundling.inference.alignment import align
from tests.inference.test_alternation import unit_scores, walks
from tests.worlds import GoalLine, Line, line_demonstrations

TEXTS = [
    (Instruction.chain("go left"),),
    (Instruction.chain("go left"), Instruction.chain("then right")),
    (Instruction.chain("right"), Instruction.chain("go left"), Instruction.chain("then right")),
]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 50), st.integers(0, 3), st.sampled_from([None, 0.0, 0.4]), st.booleans(),
    st.booleans(), st.sampled_from(TEXTS),
)  # fmt: skip
def test_joint_equals_brute_force(seed, start, silence, last_to_last, goal, text):
    world = (GoalLine if goal else Line)(4, {1: "lamp", 3: "sofa"})
    scores = unit_scores(world, seed, text)
    lengths = (1, 2, 3, 4)
    how = {"silence": silence, "last_to_last": last_to_last}
    best = {}  # of each length and end
    for length in lengths:
        for states, actions in walks(world, start, length):
            table, free = scores.actions(list(zip(states[:-1], actions, strict=True)))
            value = align(table.T, **how)[0] + free.sum() - 0.3 * length
            key = (length, states[-1])
            best[key] = max(best.get(key, -np.inf), value)
    found = best_together(scores, start, Search(max_length=4), lambda n: -0.3 * n, lengths, **how)
    assert {(len(e.actions), e.states[-1]): pytest.approx(e.score) for e in found} == best
    assert [each.score for each in found] == sorted((e.score for e in found), reverse=True)
    for each in found:
        pairs = list(zip(each.states[:-1], each.actions, strict=True))
        assert [world.step(*pair) for pair in pairs] == list(each.states[1:])
        table, free = scores.actions(pairs)
        aligned = [silence if j < 0 else table[j, i] for i, j in enumerate(each.alignment)]
        assert sum(aligned) + free.sum() - 0.3 * len(pairs) == pytest.approx(each.score)
        named = [j for j in each.alignment if j >= 0]
        assert named == sorted(named)


@pytest.mark.parametrize("seed", range(5))
def test_joint_is_never_worse_than_alternation(seed):
    scores = unit_scores(Line(6, {1: "lamp"}), seed, TEXTS[2])
    search = Search(max_length=11, beam=None)
    together = best_together(scores, 2, search, lambda n: 0.0, (11,))
    in_turns = alternate(scores, 2, search, lambda n: 0.0, (11,), seed=seed)
    assert together[0].score >= in_turns[0].score - 1e-9
    pairs = list(zip(together[0].states[:-1], together[0].actions, strict=True))
    table, free = scores.actions(pairs)
    assert together[0].score == pytest.approx(align(table.T)[0] + free.sum())


def test_joint_without_a_goal_in_reach_finds_nothing():
    class Nowhere(Line):
        def is_goal(self, state):
            return False

    assert best_together(unit_scores(Nowhere(4)), 1, Search(), lambda n: 0.0, (1, 2)) == []


def test_joint_gives_up_beyond_its_budget():
    with pytest.raises(SearchError, match=r"over 3 actions .* joint=False"):
        best_together(unit_scores(Line(9)), 4, Search(budget=3), lambda n: 0.0, (1, 2, 3))


def test_joint_serves_the_follower():
    follower = Follower(
        features=Features(words=("word",)),
        learning=Learning(normalise="decisions", alignment="viterbi", begin="alignment"),
        search=Search(max_length=3, joint=True),
        parser="chain",
    ).fit(line_demonstrations(Line(4)))
    plan = follower.follow("go right", Line(4), 1)
    assert plan.actions[0] == "right"
    follower.search = Search(max_length=3, joint=True, planning=False)
    assert follower.follow("go right", Line(4), 1).actions[0] == "right"
