"""The presets of the maps train, follow and report, on maps of our own making."""

from dataclasses import replace

import numpy as np
import pytest

from groundling.errors import SettingError
from groundling.inference.units import UnitScores
from groundling.tasks.maps import generate_corpus, score_path
from groundling.tasks.maps.presets import PRESETS, preset, row_names
from groundling.tasks.maps.protocol import cross_validate, evaluate, folds, prepare, run
from groundling.tasks.maps.reading import read_mentions

CORPUS = generate_corpus(maps=4, dialogues=2, seed=3)

# A few steps of training are enough here.
pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


def quick(name, row="full"):
    chosen = preset(name, row)
    if name == "paper":
        learning = replace(chosen.learning, iterations=8, rounds=2, alternatives=8)
        search = replace(chosen.search, restarts=2, min_length=6, max_length=6)
        return replace(chosen, parser="chain", learning=learning, search=search)
    return replace(chosen, learning=replace(chosen.learning, iterations=25))


@pytest.mark.parametrize("name", PRESETS)
def test_protocol_learns_something_about_new_maps(name):
    train, test = CORPUS.split()
    assert not {each.map for each in train} & {each.map for each in test}
    done = run(quick(name), CORPUS, train, test)
    assert len(done.answers) == len(test)
    assert done.score.f1 > 0.1  # from six short dialogues on three maps
    assert sum(each.score.correct for each in done.answers) == done.score.correct
    again = run(quick(name), CORPUS, train, test)
    assert [a.plan.actions for a in again.answers] == [a.plan.actions for a in done.answers]


def test_protocol_best_never_visits_a_landmark_twice():
    train, test = CORPUS.split()
    for answer in run(quick("best"), CORPUS, train, test).answers:
        visited = [action.landmark for action in answer.plan.actions]
        assert len(set(visited)) == len(visited)


def test_protocol_scores_moves_and_not_sides():
    train, test = CORPUS.split()
    done = run(quick("paper"), CORPUS, train, test)
    for answer in done.answers:
        start = CORPUS.sheet(answer.dialogue).landscape.start
        gold = [start, *(step.landmark for step in CORPUS.steps(answer.dialogue))]
        path = [start, *(action.landmark for action in answer.plan.actions)]
        assert answer.score == score_path(path, gold)


def test_protocol_reads_givers_only_when_told():
    dialogue = CORPUS.dialogues[0]
    both = prepare(preset("best"), CORPUS, [dialogue])[0]
    giver = prepare(preset("best", "giver only"), CORPUS, [dialogue])[0]
    assert len(giver.instructions) < len(both.instructions)
    named = [label.name for unit in giver.instructions for label in unit.labels]
    assert "follower" not in named


def test_protocol_flat_bags_add_up_to_the_same_scores():
    train, test = CORPUS.split()
    done = run(quick("best"), CORPUS, train, test)
    follower, shown = done.follower, done.answers[0].demonstration
    text = follower._builder.reader.read(shown.instructions)
    world = follower._builder.world(shown.environment)
    pairs = [(s, a) for s in done.answers[0].plan.states for a in world.actions(s)]
    tables = []
    for adds_up in (True, False):
        scores = UnitScores(follower._builder, follower._space, follower.theta_, text, world)
        scores._adds_up = adds_up
        tables.append(scores.actions(pairs))
    np.testing.assert_allclose(tables[0][0], tables[1][0], atol=1e-9)
    np.testing.assert_allclose(tables[0][1], tables[1][1], atol=1e-9)


def test_protocol_report_has_rows_maps_and_intervals(monkeypatch):
    monkeypatch.setattr("groundling.tasks.maps.protocol.preset", quick)
    report = evaluate(CORPUS, "best", ["full", "revisits allowed"])
    assert [row.name for row in report.rows] == ["full", "revisits allowed"]
    for row in report.rows:
        assert row.metrics["map 3"] == pytest.approx(row.metrics["F1"])  # one map is for test
        low, high = row.interval
        assert low <= row.metrics["F1"] <= high


def test_protocol_cross_validation_leaves_every_map_out_once():
    train, _ = CORPUS.split()
    runs = cross_validate(quick("best"), CORPUS, train, count=3)
    assert sorted(m for each in runs for m in each.by_map()) == sorted({d.map for d in train})


def test_protocol_folds_share_the_maps():
    dealt = folds(range(12))
    assert sorted(number for fold in dealt for number in fold) == list(range(12))


def test_protocol_unknown_presets_and_rows_are_errors():
    with pytest.raises(SettingError, match="Did you mean 'paper'"):
        preset("papers")
    for name in PRESETS:
        for row in row_names(name):
            preset(name, row).follower()
        with pytest.raises(SettingError, match="has no row"):
            preset(name, "no such row")


def test_reading_units_meet_landmarks_by_key():
    dialogue = CORPUS.dialogues[0]
    landscape = CORPUS.sheet(dialogue).landscape
    units = read_mentions(dialogue, landscape)
    about = [label for unit in units for label in unit.labels if label.kind]
    assert about
    assert {label.kind for label in about} == {"landmark"}
    assert {label.value for label in about} <= set(landscape.keys)
    assert all(len(unit) == 1 for unit in units)
