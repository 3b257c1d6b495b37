"""The presets and the protocol of the puzzles, on generated puzzles."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from groundling.errors import SettingError
from groundling.evaluation.report import Report
from groundling.inference.plan import Plan
from groundling.tasks.puzzles import generate_corpus, read_corpus, write_corpus
from groundling.tasks.puzzles.presets import preset, row_names
from groundling.tasks.puzzles.protocol import (
    Answer,
    evaluate,
    learn_and_follow,
    main,
    prepare,
    random_splits,
)

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
    rows = row_names(name)
    made = [preset(name, row) for row in rows]
    assert rows[0] == "full"
    shown = [repr(replace(each, published={})) for each in made]
    assert all(other != shown[0] for row, other in zip(rows[1:], shown[1:], strict=True) if row)


def test_unknown_names_are_errors():
    with pytest.raises(SettingError, match="preset 'worst'"):
        preset("worst")
    with pytest.raises(SettingError, match="no row 'no txt'"):
        preset("best", "no txt")


def test_best_learns_and_always_wins(corpus):
    chosen = preset("best")
    split = learn_and_follow(chosen, prepare(chosen, corpus.usable), range(4))
    assert [answer.success for answer in split.answers] == [True] * 4
    assert split.share("match") >= 0.5
    light = split.light()
    assert light.follower is None
    assert light.share("match") == split.share("match")
    numerals = [name for name, _ in split.follower.weights("‹number›", most=500)]
    assert any("event.count~" in name for name in numerals)


def test_paper_is_told_the_length_and_may_lose(corpus):
    chosen = preset("paper")
    cases = prepare(chosen, corpus.usable)
    assert not cases[0].environment.has_goal
    split = learn_and_follow(chosen, cases, range(4))
    for answer in split.answers:
        assert answer.plan is None or len(answer.plan) == len(answer.puzzle.plan)


def test_plans_outside_the_plan_space_are_not_learnt_from(corpus):
    chosen = preset("best", "original plan space")
    cases = prepare(chosen, generate_corpus(40, seed=2, sizes=(4, 5)).usable)
    outside = [case for case in cases if not case.offered]
    assert outside
    assert all(case.offered for case in prepare(preset("best"), [c.puzzle for c in outside]))
    first = cases.index(outside[0])
    split = learn_and_follow(chosen, cases[: first + 1], [first])
    assert not split.answers[0].match


def test_answers_tell_match_from_success(corpus):
    puzzle = corpus.usable[0]
    states = [puzzle.start]
    world = preset("best").world()
    for action in puzzle.plan:
        states.append(world.step(states[-1], action))
    right = Answer(puzzle, Plan(puzzle.plan, tuple(states), 0.0, 1.0))
    assert right.match
    assert right.success
    short = Answer(puzzle, Plan(puzzle.plan[:-1], tuple(states[:-1]), 0.0, 1.0))
    assert not short.match
    assert not short.success
    assert not Answer(puzzle, None).success


def test_evaluate_reports_spread_and_intervals(corpus, tmp_path):
    write_corpus(corpus, tmp_path)
    told = []
    report = evaluate(tmp_path, "best", ["full"], splits=2, one_left_out=False, tell=told.append)
    [row] = report.rows
    assert row.metrics["success"] == 1.0
    assert {"match sd", "match first five", "success sd", "success first five"} < set(row.metrics)
    assert row.interval is not None
    assert row.interval[0] <= row.metrics["match"] <= row.interval[1]
    assert "CPU seconds" in row.note
    assert len(told) == 2


def test_command_saves_every_row_as_soon_as_it_is_there(tmp_path, monkeypatch, capsys):
    write_corpus(generate_corpus(11, **SMALL), tmp_path)
    saved = []
    plain = Report.save
    monkeypatch.setattr(
        Report, "save", lambda report, path: (saved.append(len(report.rows)), plain(report, path))
    )
    out = tmp_path / "results.json"
    main(
        [str(tmp_path), str(out), "--preset", "paper", "--rows", "full", "no text", "--splits", "1"]
    )
    assert saved == [1, 2]
    written = json.loads(out.read_text())
    assert [row["name"] for row in written["rows"]] == ["full", "no text"]
    assert {"match one left out", "success one left out"} < set(written["rows"][0]["metrics"])
    assert written["rows"][1]["published"] == {"match": 0.54, "success": 0.78}
    assert "| no text |" in capsys.readouterr().out


def test_command_ends_with_one_sentence_about_bad_files(tmp_path, capsys):
    (tmp_path / "games.csv").write_text("1\n:0\n# #\n")
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), str(tmp_path / "results.json")])
    assert ended.value.code == 1
    assert "games.csv, line 2: puzzle 1 strikes 0 blocks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"splits": 0}, "at least one split"),
        ({"rows": ["full", "ful"]}, "no row 'ful'"),
        ({"out": "missing/results.json"}, "no folder missing"),
    ],
)
def test_evaluate_complains_before_it_measures(tmp_path, settings, message):
    write_corpus(generate_corpus(11, **SMALL), tmp_path)
    with pytest.raises(SettingError, match=message):
        evaluate(tmp_path, "best", tell=pytest.fail, **settings)


def test_evaluate_needs_more_puzzles_than_it_holds_out(tmp_path):
    write_corpus(generate_corpus(10, **SMALL), tmp_path)
    with pytest.raises(SettingError, match="Cannot hold out 10 of 10 puzzles"):
        evaluate(tmp_path)


@pytest.mark.corpora
def test_one_split_of_the_corpus():
    corpora = os.environ.get("GROUNDLING_CORPORA")
    if not corpora:
        pytest.skip("GROUNDLING_CORPORA is not set")
    chosen = preset("best")
    cases = prepare(chosen, read_corpus(Path(corpora) / "crossblock" / "data").usable)
    assert len(cases) == 46
    assert all(case.offered for case in cases)
    held_out = [place for place in range(46) if place % 9 == 0]
    split = learn_and_follow(chosen, cases, held_out)
    assert split.share("success") == 1.0
    assert split.share("match") >= 0.8
