"""The presets of the maps train, follow and report, on maps of our own making."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from groundling.errors import CorpusError, SettingError
from groundling.inference.transduction import _UnitReader
from groundling.inference.unit_scores import UnitScores
from groundling.tasks.benchmark import Fold, follow_cases
from groundling.tasks.maps import Dialogue, DialogueLine, generate_corpus, score_path
from groundling.tasks.maps.map_presets import PRESETS
from groundling.tasks.maps.mentions import read_mentions
from groundling.tasks.maps.path_score import PathScore
from groundling.tasks.maps.task import MapTask

TASK = MapTask()
CORPUS = generate_corpus(maps=8, dialogues=2, seed=3)
TRAIN, TEST = CORPUS.split()
FOLD = Fold("seed 0", TASK.held_out(CORPUS))


def quick(name, row="full"):
    chosen = PRESETS.select(name, row)
    if name == "paper":
        model = replace(chosen.model, alternatives=8, restarts=2)
        learning = replace(chosen.learning, iterations=8, rounds=2)
        search = replace(chosen.search, min_length=6, max_length=6)
        return replace(chosen, parser="chain", model=model, learning=learning, search=search)
    return replace(chosen, learning=replace(chosen.learning, iterations=12))


class Done:
    """A follower trained on the training maps, the test cases, and its plans for them."""

    def __init__(self, chosen):
        cases = TASK.prepare(CORPUS, chosen)
        self.follower, _ = TASK.fit(chosen, cases, FOLD)
        self.cases = [each for each in cases if each.part in FOLD.held_out]
        self.plans = follow_cases(self.follower, self.cases)

    @property
    def total(self):
        pairs = zip(self.cases, self.plans, strict=True)
        return sum((PathScore(**TASK.judge(*pair)) for pair in pairs), PathScore())


def follow(follower, chosen, dialogue):
    [case] = TASK.prepare(replace(CORPUS, dialogues=(dialogue,)), chosen)
    return case, follow_cases(follower, [case])[0]


@pytest.fixture(scope="module")
def best():
    return Done(quick("best"))


@pytest.fixture(scope="module", params=["paper", "best"])
def done(request):
    if request.param == "best":
        return "best", request.getfixturevalue("best")
    return request.param, Done(quick(request.param))


def test_task_learns_something_about_new_maps(done):
    name, found = done
    assert not {each.map for each in TRAIN} & {each.map for each in TEST}
    assert [case.demonstration.name for case in found.cases] == [each.name for each in TEST]
    assert found.total.f1 > (0.25 if name == "paper" else 0.75)


def test_task_paper_knows_names_and_distances_and_sides_when_told(done):
    if done[0] != "paper":
        pytest.skip("of the preset paper")
    plain = done[1].follower.feature_names_
    assert "string∈name" in plain
    assert "event.dist=0" in plain
    assert not any("side=" in name or "from" in name for name in plain)
    sided = Done(quick("paper", "with sides")).follower.feature_names_
    added = set(sided) - set(plain)
    assert any(name.startswith("word=left ∧ side=") for name in added)
    assert all("side=" in name for name in added)


def test_task_same_seed_same_plans(done):
    name, found = done
    again = Done(quick(name))
    assert [plan.actions for plan in again.plans] == [plan.actions for plan in found.plans]


def test_task_scores_moves_and_not_sides(done):
    for case, plan in zip(done[1].cases, done[1].plans, strict=True):
        start = case.demonstration.environment.landscape.start
        path = [start, *(action.landmark for action in plan.actions)]
        assert PathScore(**TASK.judge(case, plan)) == score_path(path, [start, *case.reference])
    assert TASK.judge(case, None)["predicted"] == 0


def test_task_best_never_visits_a_landmark_twice(best):
    for plan in best.plans:
        visited = [action.landmark for action in plan.actions]
        assert len(set(visited)) == len(visited)


def test_task_reads_givers_only_when_told():
    both = TASK.prepare(CORPUS, PRESETS.select("best"))[0].demonstration
    giver = TASK.prepare(CORPUS, PRESETS.select("best", "giver only"))[0].demonstration
    assert len(giver.instructions) < len(both.instructions)
    named = [label.name for unit in giver.instructions for label in unit.labels]
    assert "follower" not in named


def test_task_flat_bags_add_up_to_the_same_scores(best):
    follower, shown = best.follower, best.cases[0].demonstration
    fitted = follower._learnt.fitted
    text = fitted.encoder.reader.read(shown.instructions)
    world = fitted.encoder.world(shown.environment)
    pairs = [(s, a) for s in best.plans[0].states for a in world.actions(s)]
    tables = []
    for adds_up in (True, False):
        scores = UnitScores(fitted.encoder, fitted.space, fitted.theta, text, world)
        scores._adds_up = adds_up
        tables.append(scores.actions(pairs))
    np.testing.assert_allclose(tables[0][0], tables[1][0], atol=1e-9)
    np.testing.assert_allclose(tables[0][1], tables[1][1], atol=1e-9)


@pytest.fixture(scope="module")
def together():
    few = replace(quick("best").learning, iterations=3)
    full = replace(quick("best"), learning=few)
    other = replace(full, search=PRESETS.select("best", "most probable plan").search)
    return TASK.evaluate(CORPUS, {"full": full, "most probable plan": other}, FOLD)


def test_task_rows_have_maps_intervals_and_seconds(together):
    row = TASK.make_row("best", "full", [together["full"]])
    assert {"precision", "recall", "f1", "map 6", "map 7"} == set(row.metrics)
    low, high = row.interval
    assert low <= row.metrics["f1"] <= high
    assert row.seconds["train"] > 0


def test_task_rows_of_several_seeds_have_a_spread(together):
    one = TASK.make_row("paper", "full", [together["full"]])
    row = TASK.make_row("paper", "full", [together["full"]] * 2)
    assert (row.seeds, row.published["f1"]) == (2, 0.55)
    assert row.metrics["f1 sd"] == 0
    assert row.metrics["f1"] == one.metrics["f1"]


def test_task_trains_once_for_variants_that_search_otherwise(together):
    names = ("full", "most probable plan")
    assert PRESETS.group("best", ["full", "giver only", *names[1:]]) == [names, ("giver only",)]
    assert together[names[0]]["scores"] != together[names[1]]["scores"]
    assert len({each["seconds"][0] for each in together.values()}) == 1


def test_task_evaluates_seeds_where_chance_is_involved():
    task = TASK
    assert len(task.folds(CORPUS, "paper", "full", quick=False)) == 5
    assert len(task.folds(CORPUS, "paper", "full", quick=True)) == 1
    assert len(task.folds(CORPUS, "best", "full", quick=False)) == 1


def test_task_says_whose_lines_are_read():
    assert TASK.condition(CORPUS, "paper", False).endswith("lines of the giver")
    assert TASK.condition(CORPUS, "best", False).endswith("lines of the giver and follower")


def test_task_tuning_folds_share_the_training_maps():
    folds = TASK.tuning_folds(CORPUS)
    shared = [part for fold in folds for part in fold.held_out]
    assert sorted(shared) == [str(number) for number in range(6)]
    assert all(fold.unused == ("6", "7") for fold in folds)


def test_task_unknown_presets_and_rows_are_errors():
    with pytest.raises(SettingError, match="Did you mean 'paper'"):
        PRESETS.select("papers")
    for name in PRESETS:
        for row in PRESETS.variants_of(name):
            PRESETS.select(name, row).follower()
        with pytest.raises(SettingError, match="has no row"):
            PRESETS.select(name, "no such row")


def test_task_bad_corpora_and_dialogues_are_named(best):
    cases = [
        (
            Dialogue("mute", TEST[0].map, (DialogueLine("f", "hello"),)),
            "'mute' must contain instructions of the giver",
        ),
        (
            Dialogue("lost", 77, TEST[0].utterances),
            "'lost' must refer to a map of the corpus; got 77",
        ),
    ]
    for dialogue, said in cases:
        for name in PRESETS:
            with pytest.raises(CorpusError, match=said):
                follow(best.follower, quick(name), dialogue)
    with pytest.raises(CorpusError, match=r"at least four maps.*got 3"):
        TASK.folds(generate_corpus(maps=3, dialogues=1), "best", "full", quick=False)


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
        said += [DialogueLine("g", "and so on and so forth")] * idle
    return Dialogue("long", TEST[0].map, tuple(said))


def test_task_best_looks_at_a_long_dialogue_in_linear_work(best, monkeypatch):
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
        case, _ = follow(best.follower, quick("best"), dialogue)
        units = len(case.demonstration.instructions)
        assert units > 0.9 * count
        assert max(widest) <= best.follower.search.beam
        looks[count] = len(widest) / units
    assert looks[300] == looks[2000] == 1


def test_task_paper_looks_at_a_long_dialogue_in_linear_work(monkeypatch):
    """However long the text, the same graphs are laid over it, each unit once."""
    chosen = quick("paper")
    follower = Done(chosen).follower
    laid = []
    score = UnitScores._score

    def watched(self, graphs):
        laid.append(len(graphs) * self.units)
        return score(self, graphs)

    monkeypatch.setattr(UnitScores, "_score", watched)
    work = {}
    for count in (200, 1000):
        laid.clear()
        case, plan = follow(follower, chosen, long_dialogue(count))
        assert len(plan.actions) == chosen.search.max_length
        work[count] = sum(laid) / len(case.demonstration.instructions)
    # Not exactly the same graphs: another alignment meets other states.
    assert work[1000] < 1.5 * work[200]


@pytest.mark.corpora
def test_task_best_reaches_its_bar_on_the_corpus():
    folder = os.environ.get("GROUNDLING_CORPORA")
    if not folder:
        pytest.skip("GROUNDLING_CORPORA is not set")
    corpus = TASK.load(Path(folder))
    assert [len(each) for each in corpus.split()] == [96, 32]
    [fold] = TASK.folds(corpus, "best", "full", quick=False)
    done = TASK.evaluate(corpus, {"full": PRESETS.select("best")}, fold)["full"]
    assert TASK.make_row("best", "full", [done]).metrics["f1"] >= 0.70
