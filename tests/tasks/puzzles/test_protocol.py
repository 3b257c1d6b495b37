"""The presets and the protocol of the puzzles, on generated puzzles."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from groundling.errors import SettingError
from groundling.explain.explanation import Plan
from groundling.tasks.puzzles import generate_corpus, read_corpus
from groundling.tasks.puzzles.metrics import split_row
from groundling.tasks.puzzles.presets import PRESETS
from groundling.tasks.puzzles.protocol import (
    Answer,
    judge,
    learn_and_follow,
    leave_one_out,
    prepare,
    random_splits,
)
from groundling.tasks.puzzles.task import PuzzleTask

SMALL = {"seed": 5, "sizes": (3, 4)}


@pytest.fixture(scope="module")
def corpus():
    return generate_corpus(14, **SMALL)


def test_splits_hold_out_distinct_places_and_differ():
    splits = random_splits(46, 20)
    assert all(len(set(each)) == 10 and max(each) < 46 for each in splits)
    assert len(set(splits)) == 20
    assert splits == random_splits(46, 20)
    with pytest.raises(SettingError, match="hold out"):
        random_splits(5, 1, held_out=5)


@pytest.mark.parametrize("name", ["paper", "best"])
def test_every_row_is_a_preset_and_changes_something(name):
    rows = PRESETS.variants_of(name)
    made = [PRESETS.select(name, row) for row in rows]
    assert rows[0] == "full"
    shown = [repr(replace(each, published={})) for each in made]
    assert all(other != shown[0] for row, other in zip(rows[1:], shown[1:], strict=True) if row)


def test_unknown_names_are_errors():
    with pytest.raises(SettingError, match="preset 'worst'"):
        PRESETS.select("worst")
    with pytest.raises(SettingError, match="no row 'no txt'"):
        PRESETS.select("best", "no txt")


def test_best_learns_and_always_wins(corpus):
    chosen = PRESETS.select("best")
    split = learn_and_follow(chosen, prepare(chosen, corpus.usable), range(4))
    assert [answer.success for answer in split.answers] == [True] * 4
    assert judge(split).share("match") >= 0.5
    numerals = [name for name, _ in split.follower.weights("‹number›", most=500)]
    assert any("event.count~" in name for name in numerals)


def test_paper_is_told_the_length_and_may_lose(corpus):
    chosen = PRESETS.select("paper")
    cases = prepare(chosen, corpus.usable)
    assert not cases[0].environment.has_goal
    split = learn_and_follow(chosen, cases, range(4))
    for answer in split.answers:
        assert answer.plan is None or len(answer.plan) == len(answer.puzzle.plan)


def test_plans_outside_the_plan_space_are_not_learnt_from(corpus):
    chosen = PRESETS.select("best", "original plan space")
    cases = prepare(chosen, generate_corpus(40, seed=2, sizes=(4, 5)).usable)
    outside = [case for case in cases if not case.offered]
    assert outside
    assert all(
        case.offered for case in prepare(PRESETS.select("best"), [c.puzzle for c in outside])
    )
    first = cases.index(outside[0])
    split = learn_and_follow(chosen, cases[: first + 1], [first])
    assert not split.answers[0].match


def test_answers_tell_match_from_success(corpus):
    puzzle = corpus.usable[0]
    states = [puzzle.start]
    world = PRESETS.select("best").world()
    for action in puzzle.plan:
        states.append(world.step(states[-1], action))
    right = Answer(puzzle, Plan(puzzle.plan, tuple(states), 0.0, 1.0))
    assert right.match
    assert right.success
    short = Answer(puzzle, Plan(puzzle.plan[:-1], tuple(states[:-1]), 0.0, 1.0))
    assert not short.match
    assert not short.success
    assert not Answer(puzzle, None).success


def test_split_row_reports_spread_and_intervals(corpus):
    chosen = PRESETS.select("best")
    cases = prepare(chosen, corpus.usable)
    splits = [judge(learn_and_follow(chosen, cases, way)) for way in random_splits(14, 2)]
    alone = [judge(learn_and_follow(chosen, cases, way)) for way in leave_one_out(14)[:2]]
    row = split_row("full", splits, alone, {"match": 0.7})
    assert row.metrics["success"] == 1.0
    assert {"match sd", "match first five", "success sd", "success first five"} < set(row.metrics)
    assert row.metrics["success one left out"] == 1.0
    assert row.interval[0] <= row.metrics["match"] <= row.interval[1]
    assert (row.seeds, row.published) == (2, {"match": 0.7})
    assert row.seconds["train"] > 0


def test_task_leaves_out_each_puzzle_once_for_the_full_row_only(corpus):
    task = PuzzleTask()
    full = [fold.name for fold in task.folds(corpus, "best", "full", quick=False)]
    assert full == ["splits 0-10", "splits 10-20", "left out 0-12", "left out 12-14"]
    assert [fold.name for fold in task.folds(corpus, "best", "no text", False)] == full[:2]
    assert [fold.name for fold in task.folds(corpus, "best", "full", quick=True)] == ["splits 0-5"]


def test_task_trains_on_what_evaluation_trains_on(corpus):
    given = PuzzleTask().training_set(corpus, PRESETS.select("best"), "1,3")
    assert given.left_out == "1,3"
    assert len(given.demonstrations) == len(corpus.usable) - 2


@pytest.mark.corpora
def test_one_split_of_the_corpus():
    corpora = os.environ.get("GROUNDLING_CORPORA")
    if not corpora:
        pytest.skip("GROUNDLING_CORPORA is not set")
    chosen = PRESETS.select("best")
    cases = prepare(chosen, read_corpus(Path(corpora) / "crossblock" / "data").usable)
    assert len(cases) == 46
    assert all(case.offered for case in cases)
    held_out = [place for place in range(46) if place % 9 == 0]
    split = learn_and_follow(chosen, cases, held_out)
    assert judge(split).share("success") == 1.0
    assert judge(split).share("match") >= 0.8
