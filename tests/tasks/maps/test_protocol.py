"""The presets of the maps train, follow and report, on maps of our own making."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from groundling.errors import CorpusError, SettingError
from groundling.inference.transduction import _UnitReader
from groundling.inference.unit_scores import UnitScores
from groundling.tasks.maps import (
    Dialogue,
    Utterance,
    draw_map,
    generate_corpus,
    load_corpus,
    score_path,
)
from groundling.tasks.maps.causes import cause_of
from groundling.tasks.maps.metrics import run_row
from groundling.tasks.maps.presets import PRESETS
from groundling.tasks.maps.protocol import deal_maps, follow, judge, learn_and_follow, prepare
from groundling.tasks.maps.reading import read_mentions
from groundling.tasks.maps.task import MapTask

CORPUS = generate_corpus(maps=8, dialogues=2, seed=3)
TRAIN, TEST = CORPUS.split()


def quick(name, row="full"):
    chosen = PRESETS.select(name, row)
    if name == "paper":
        model = replace(chosen.model, alternatives=8, restarts=2)
        learning = replace(chosen.learning, iterations=8, rounds=2)
        search = replace(chosen.search, min_length=6, max_length=6)
        return replace(chosen, parser="chain", model=model, learning=learning, search=search)
    return replace(chosen, learning=replace(chosen.learning, iterations=12))


@pytest.fixture(scope="module")
def best():
    return learn_and_follow(quick("best"), CORPUS, TRAIN, TEST)


@pytest.fixture(scope="module", params=["paper", "best"])
def done(request):
    if request.param == "best":
        return "best", request.getfixturevalue("best")
    return request.param, learn_and_follow(quick(request.param), CORPUS, TRAIN, TEST)


def test_protocol_learns_something_about_new_maps(done):
    name, found = done
    assert not {each.map for each in TRAIN} & {each.map for each in TEST}
    assert [answer.dialogue for answer in found.answers] == list(TEST)
    assert judge(found).total.f1 > (0.25 if name == "paper" else 0.75)


def test_protocol_paper_knows_names_and_distances_and_sides_when_told():
    plain = learn_and_follow(quick("paper"), CORPUS, TRAIN, TEST[:1]).follower.feature_names_
    assert "string∈name" in plain
    assert "event.dist=0" in plain
    assert not any("side=" in name or "from" in name for name in plain)
    sided = learn_and_follow(
        quick("paper", "with sides"), CORPUS, TRAIN, TEST[:1]
    ).follower.feature_names_
    added = set(sided) - set(plain)
    assert any(name.startswith("word=left ∧ side=") for name in added)
    assert all("side=" in name for name in added)


def test_protocol_same_seed_same_plans(done):
    name, found = done
    again = learn_and_follow(quick(name), CORPUS, TRAIN, TEST)
    assert [a.plan.actions for a in again.answers] == [a.plan.actions for a in found.answers]


def test_protocol_scores_moves_and_not_sides(done):
    for answer in done[1].answers:
        start = CORPUS.sheet(answer.dialogue).landscape.start
        gold = [start, *(step.landmark for step in CORPUS.steps(answer.dialogue))]
        path = [start, *(action.landmark for action in answer.plan.actions)]
        assert answer.score == score_path(path, gold)


def test_protocol_best_never_visits_a_landmark_twice(best):
    for answer in best.answers:
        visited = [action.landmark for action in answer.plan.actions]
        assert len(set(visited)) == len(visited)


def test_protocol_reads_givers_only_when_told():
    dialogue = CORPUS.dialogues[0]
    both = prepare(PRESETS.select("best"), CORPUS, [dialogue])[0]
    giver = prepare(PRESETS.select("best", "giver only"), CORPUS, [dialogue])[0]
    assert len(giver.instructions) < len(both.instructions)
    named = [label.name for unit in giver.instructions for label in unit.labels]
    assert "follower" not in named


def test_protocol_flat_bags_add_up_to_the_same_scores(best):
    follower, shown = best.follower, best.answers[0].demonstration
    fitted = follower._learnt.fitted
    text = fitted.encoder.reader.read(shown.instructions)
    world = fitted.encoder.world(shown.environment)
    pairs = [(s, a) for s in best.answers[0].plan.states for a in world.actions(s)]
    tables = []
    for adds_up in (True, False):
        scores = UnitScores(fitted.encoder, fitted.space, fitted.theta, text, world)
        scores._adds_up = adds_up
        tables.append(scores.actions(pairs))
    np.testing.assert_allclose(tables[0][0], tables[1][0], atol=1e-9)
    np.testing.assert_allclose(tables[0][1], tables[1][1], atol=1e-9)


def test_protocol_rows_have_maps_intervals_and_seconds(best):
    row = run_row("full", [judge(best)])
    assert {"precision", "recall", "f1", "map 6", "map 7"} == set(row.metrics)
    low, high = row.interval
    assert low <= row.metrics["f1"] <= high
    assert row.seconds["train"] > 0


def test_protocol_rows_of_several_seeds_have_a_spread(best):
    row = run_row("full", [judge(best), judge(best)], {"f1": 0.55})
    assert (row.seeds, row.published) == (2, {"f1": 0.55})
    assert row.metrics["f1 sd"] == 0
    assert row.metrics["f1"] == judge(best).total.f1


def test_task_trains_once_for_variants_that_search_otherwise(monkeypatch):
    task = MapTask()
    few = replace(quick("best").learning, iterations=3)
    monkeypatch.setitem(PRESETS.presets, "best", replace(quick("best"), learning=few))
    names = ("full", "most probable plan")
    assert PRESETS.group("best", ["full", "giver only", *names[1:]]) == [names, ("giver only",)]
    together = task.evaluate_fold(CORPUS, "best", names, "seed 0")
    assert together[names[0]]["answers"] != together[names[1]]["answers"]
    alone = task.evaluate_fold(CORPUS, "best", names[1:], "seed 0")
    assert alone[names[1]]["answers"] == together[names[1]]["answers"]
    assert len({each["seconds"][0] for each in together.values()}) == 1


def test_task_evaluates_seeds_where_chance_is_involved():
    task = MapTask()
    assert len(task.folds(CORPUS, "paper", "full", quick=False)) == 5
    assert len(task.folds(CORPUS, "paper", "full", quick=True)) == 1
    assert len(task.folds(CORPUS, "best", "full", quick=False)) == 1


def test_task_says_whose_lines_are_read():
    assert MapTask().condition(CORPUS, "paper", False).endswith("lines of the giver")
    assert MapTask().condition(CORPUS, "best", False).endswith("lines of the giver and follower")


def test_protocol_folds_share_the_maps():
    dealt = deal_maps(range(12))
    assert sorted(number for fold in dealt for number in fold) == list(range(12))


def test_protocol_unknown_presets_and_rows_are_errors():
    with pytest.raises(SettingError, match="Did you mean 'paper'"):
        PRESETS.select("papers")
    for name in PRESETS:
        for row in PRESETS.variants_of(name):
            PRESETS.select(name, row).follower()
        with pytest.raises(SettingError, match="has no row"):
            PRESETS.select(name, "no such row")


def test_protocol_bad_corpora_and_dialogues_are_named(best):
    cases = [
        (Dialogue("mute", TEST[0].map, (Utterance("f", "hello"),)), "'mute' has no giver lines"),
        (Dialogue("lost", 77, TEST[0].utterances), "'lost' is about map 77"),
    ]
    for dialogue, said in cases:
        for name in PRESETS:
            with pytest.raises(CorpusError, match=said):
                follow(best.follower, quick(name), CORPUS, [dialogue])
    with pytest.raises(CorpusError, match="3 maps"):
        MapTask().folds(generate_corpus(maps=3, dialogues=1), "best", "full", quick=False)


def test_reading_units_meet_landmarks_by_key():
    dialogue = CORPUS.dialogues[0]
    landscape = CORPUS.sheet(dialogue).landscape
    units = read_mentions(dialogue, landscape)
    about = [label for unit in units for label in unit.labels if label.kind]
    assert about
    assert {label.kind for label in about} == {"landmark"}
    assert {label.value for label in about} <= set(landscape.keys)
    assert all(len(unit) == 1 for unit in units)


def long_dialogue(count):
    """Return a dialogue of that many utterances, most of them talk about nothing."""
    said = []
    spoken = TEST[0].utterances
    for number, utterance in enumerate(spoken, 1):
        said.append(utterance)
        idle = count * number // len(spoken) - len(said)
        said += [Utterance("g", "and so on and so forth")] * idle
    return Dialogue("long", TEST[0].map, tuple(said))


def test_protocol_best_looks_at_a_long_dialogue_in_linear_work(best, monkeypatch):
    """The beam is the same at every unit, so the work per unit is bounded."""
    widest = []
    read = _UnitReader.read

    def watched(self, unit, named, frontier, passed):
        widest.append(len(frontier))
        return read(self, unit, named, frontier, passed)

    monkeypatch.setattr(_UnitReader, "read", watched)
    looks = {}
    for count in (300, 2000):
        widest.clear()
        dialogue = long_dialogue(count)
        assert len(dialogue.utterances) == count
        done = follow(best.follower, quick("best"), CORPUS, [dialogue])
        units = len(done.answers[0].demonstration.instructions)
        assert units > 0.9 * count
        assert max(widest) <= best.follower.search.beam
        looks[count] = len(widest) / units
    assert looks[300] == looks[2000] == 1


def test_protocol_paper_looks_at_a_long_dialogue_in_linear_work(monkeypatch):
    """However long the text, the same graphs are laid over it, each unit once."""
    chosen = quick("paper")
    follower = learn_and_follow(chosen, CORPUS, TRAIN, TEST[:1]).follower
    laid = []
    score = UnitScores._score

    def watched(self, graphs):
        laid.append(len(graphs) * self.units)
        return score(self, graphs)

    monkeypatch.setattr(UnitScores, "_score", watched)
    work = {}
    for count in (200, 1000):
        laid.clear()
        done = follow(follower, chosen, CORPUS, [long_dialogue(count)])
        assert len(done.answers[0].plan.actions) == chosen.search.max_length
        work[count] = sum(laid) / len(done.answers[0].demonstration.instructions)
    # Not exactly the same graphs: another alignment meets other states.
    assert work[1000] < 1.5 * work[200]


def test_protocol_answers_can_be_drawn_with_their_causes(best):
    answer = best.answers[0]
    sheet = CORPUS.sheet(answer.dialogue)
    cause = cause_of(answer.demonstration, answer.plan, 1)
    assert cause.sentence in [each.text for each in answer.dialogue.utterances]
    assert cause.words
    figure = draw_map(sheet, answer.plan.states, cause=cause)
    assert figure.axes
    with pytest.raises(SettingError, match="There is no step 99"):
        cause_of(answer.demonstration, answer.plan, 99)


@pytest.mark.corpora
def test_protocol_best_reaches_its_bar_on_the_corpus():
    folder = os.environ.get("GROUNDLING_CORPORA")
    if not folder:
        pytest.skip("GROUNDLING_CORPORA is not set")
    corpus = load_corpus(Path(folder) / "hcrc")
    train, test = corpus.split()
    assert (len(train), len(test)) == (96, 32)
    done = learn_and_follow(PRESETS.select("best"), corpus, train, test)
    assert judge(done).total.f1 >= 0.70
