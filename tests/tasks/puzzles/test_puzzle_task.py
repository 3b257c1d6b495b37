"""The presets and the task of the puzzles, on generated puzzles."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from groundling.errors import SettingError
from groundling.plan import Plan
from groundling.tasks.benchmark import Fold, demonstrations, follow_cases
from groundling.tasks.puzzles import Board, PuzzleEnvironment, generate_corpus
from groundling.tasks.puzzles.corpus import PuzzleCorpus
from groundling.tasks.puzzles.environment import PuzzleState
from groundling.tasks.puzzles.puzzle_presets import PRESETS
from groundling.tasks.puzzles.task import PuzzleTask, random_splits

TASK = PuzzleTask()
FIRST = Fold("split 0", ("1", "2", "3", "4"))


@pytest.fixture(scope="module")
def corpus():
    return generate_corpus(14, seed=5, sizes=(3, 4))


def test_splits_hold_out_distinct_parts_and_differ():
    parts = list(map(str, range(46)))
    splits = random_splits(parts, 20)
    assert all(len(set(each)) == 10 and set(each) <= set(parts) for each in splits)
    assert len(set(splits)) == 20
    assert splits == random_splits(parts, 20)
    with pytest.raises(SettingError, match="held_out"):
        random_splits(parts[:5], 1, held_out=5)


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
    cases = TASK.prepare(corpus, chosen)
    follower, _ = TASK.fit(chosen, cases, FIRST)
    scores = [score for _, score in TASK.follow(follower, cases, FIRST.held_out)["scores"]]
    assert [score["success"] for score in scores] == [1.0] * 4
    assert sum(score["match"] for score in scores) >= 2
    numerals = [name for name, _ in follower.weights("‹number›", most=500)]
    assert any("event.count~" in name for name in numerals)


def test_paper_is_told_the_length_and_may_lose(corpus):
    chosen = PRESETS.select("paper")
    cases = TASK.prepare(corpus, chosen)
    assert not cases[0].environment.has_goal
    follower, _ = TASK.fit(chosen, cases, FIRST)
    for case, plan in zip(cases[:4], follow_cases(follower, cases[:4]), strict=True):
        assert plan is None or len(plan) == len(case.demonstration.actions)


def test_plans_outside_the_plan_space_are_not_learnt_from():
    chosen = PRESETS.select("best", "original plan space")
    corpus = generate_corpus(40, seed=2, sizes=(4, 5))
    cases = TASK.prepare(corpus, chosen)
    outside = [case for case in cases if not case.learnable]
    assert outside
    assert all(case.learnable for case in TASK.prepare(corpus, PRESETS.select("best")))
    assert len(demonstrations(cases)) == len(cases) - len(outside)
    few = PuzzleCorpus(
        tuple(each for each in corpus if int(outside[0].part) - each.number in range(8))
    )
    done = TASK.evaluate(few, {"full": chosen}, Fold("left out", (outside[0].part,)))
    assert done["full"]["scores"][0][1]["match"] == 0


def test_judge_tells_match_from_success(corpus):
    case = TASK.prepare(corpus, PRESETS.select("best"))[0]
    world, plan = PRESETS.select("best").world(), case.demonstration.actions
    states = [case.demonstration.start]
    for action in plan:
        states.append(world.step(states[-1], action))
    whole = Plan(plan, tuple(states), 0.0, 1.0)
    assert TASK.judge(case, whole) == {"match": 1.0, "success": 1.0}
    short = Plan(plan[:-1], tuple(states[:-1]), 0.0, 1.0)
    assert TASK.judge(case, short) == {"match": 0.0, "success": 0.0}
    assert TASK.judge(case, None) == {"match": 0.0, "success": 0.0}


def outcome(fold, *matches):
    scores = [(str(n), {"match": each, "success": 1.0}) for n, each in enumerate(matches)]
    return {"fold": fold, "scores": scores, "seconds": [2.0, 1.0]}


def test_rows_report_spread_and_intervals():
    done = [outcome("split 0", 1.0, 0.0), outcome("split 1", 1.0, 1.0), outcome("left out 1", 0.0)]
    row = TASK.make_row("paper", "full", done)
    assert row.metrics["match"] == 0.75
    assert row.metrics["match one left out"] == 0.0
    assert {"match sd", "match first five", "success sd", "success first five"} < set(row.metrics)
    assert row.interval[0] <= row.metrics["match"] <= row.interval[1]
    assert (row.seeds, row.published["match"]) == (2, 0.7)
    assert row.seconds == {"train": 2.0, "follow": 1.0}
    assert row.note == "puzzles not matched in at least one split: 1"


def test_paper_follows_each_split_with_the_actions_in_twenty_orders(corpus, monkeypatch):
    assert "mean over 20 random orders of the actions" in TASK.condition(corpus, "paper", False)
    assert "random order" not in TASK.condition(corpus, "best", quick=False)
    seen = []

    def watch(self, corpus, chosen):
        seen.append(chosen.environment.get("order"))
        return []

    def stop(self, chosen, cases, fold):
        raise KeyboardInterrupt

    monkeypatch.setattr(PuzzleTask, "prepare", watch)
    monkeypatch.setattr(PuzzleTask, "fit", stop)
    for name in ("paper", "best"):
        fold = TASK.folds(corpus, name, "no text", quick=False)[0]
        with pytest.raises(KeyboardInterrupt):
            TASK.evaluate(corpus, {"no text": PRESETS.select(name, "no text")}, fold)
    assert seen == [*range(1, 21), None]


def test_orders_of_actions_differ_and_hold_everywhere():
    state = PuzzleState(Board.read(["###", "###", "###"]), 3)
    orders = []
    for order in (None, 1, 1, 2):
        offered = PuzzleEnvironment(order=order).actions(state)
        orders.append([str(e) for e in sorted(offered, key=lambda each: each.canonical_name)])
    assert orders[1] == orders[2]
    assert len(set(map(tuple, orders))) == 3
    assert len(set(map(frozenset, orders))) == 1


def test_task_leaves_out_each_puzzle_once_for_the_full_row_only(corpus):
    full = TASK.folds(corpus, "best", "full", quick=False)
    assert [each.name for each in full[:20]] == [f"split {n}" for n in range(20)]
    assert [each.held_out for each in full[20:]] == [(part,) for part in TASK.parts(corpus)]
    assert TASK.folds(corpus, "best", "no text", False) == full[:20]
    assert len(TASK.folds(corpus, "best", "full", quick=True)) == 5


@pytest.mark.corpora
def test_one_split_of_the_corpus():
    corpora = os.environ.get("GROUNDLING_CORPORA")
    if not corpora:
        pytest.skip("GROUNDLING_CORPORA is not set")
    corpus = TASK.load(Path(corpora))
    chosen = PRESETS.select("best")
    cases = TASK.prepare(corpus, chosen)
    assert len(cases) == 46
    assert all(case.learnable for case in cases)
    fold = Fold("ninth", tuple(TASK.parts(corpus)[::9]))
    scores = [s for _, s in TASK.evaluate(corpus, {"full": chosen}, fold)["full"]["scores"]]
    assert all(score["success"] for score in scores)
    assert sum(score["match"] for score in scores) >= 0.8 * len(scores)
