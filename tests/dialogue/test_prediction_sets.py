"""Prediction sets: against two other implementations, by definition, and by their promise."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from groundling import Plan
from groundling.dialogue.options import Option
from groundling.dialogue.prediction_sets import (
    DialogueScores,
    PredictionSets,
    decide,
    evaluate,
    nonconformity,
)
from groundling.errors import DemonstrationError, SettingError


def options_from(probabilities):
    """Return options whose outcomes are their places in an array."""
    found = [
        Option(place, float(p), Plan((), (place,), math.log(max(p, 1e-300)), float(p)))
        for place, p in enumerate(probabilities)
    ]
    return sorted(found, key=lambda each: -each.probability)


def draw(count, classes=5, seed=0, sharpness=1.5):
    """Return probabilities of classes, and a class drawn from other ones than these."""
    dice = np.random.default_rng(seed)
    scores = dice.normal(size=(count, classes)) * sharpness
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truth = np.exp(0.6 * scores) / np.exp(0.6 * scores).sum(axis=1, keepdims=True)
    right = np.array([dice.choice(classes, p=p) for p in truth])
    return probabilities, right


def cases_from(probabilities, right):
    return [(options_from(p), {int(y)}) for p, y in zip(probabilities, right, strict=True)]


def sets_as_matrix(sets, probabilities):
    found = np.zeros(probabilities.shape, dtype=bool)
    for row, each in enumerate(probabilities):
        for option in sets.select(options_from(each)):
            found[row, option.outcome] = True
    return found


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_prediction_sets_are_those_of_mapie(coverage):
    mapie = pytest.importorskip("mapie.classification")
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Known(ClassifierMixin, BaseEstimator):
        """A classifier whose input is its output."""

        def fit(self, X, y):
            self.classes_ = np.arange(X.shape[1])
            return self

        def predict_proba(self, X):
            return X

        def predict(self, X):
            return X.argmax(axis=1)

    (calibration, right), (test, _) = draw(137, seed=1), draw(300, seed=2)
    oracle = mapie.SplitConformalClassifier(
        Known().fit(calibration, right), confidence_level=coverage, conformity_score="lac",
        prefit=True,
    )  # fmt: skip
    oracle.conformalize(calibration, right)
    expected = oracle.predict_set(test)[1][:, :, 0]
    sets = PredictionSets.calibrate(cases_from(calibration, right), coverage, score="probability")
    found = sets_as_matrix(sets, test)
    # MAPIE adds the best class to a set that would be empty.
    empty = ~found.any(axis=1)
    assert (found == expected)[~empty].all()
    assert (expected[empty].sum(axis=1) <= 1).all()
    assert found.any()
    assert not found.all()


@pytest.mark.parametrize("score", ["probability", "ratio"])
@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_prediction_sets_are_those_of_crepes(coverage, score):
    crepes = pytest.importorskip("crepes")
    (calibration, right), (test, _) = draw(137, seed=3), draw(300, seed=4)

    def scores(probabilities):
        return np.array([nonconformity(row.tolist(), score) for row in probabilities])

    oracle = crepes.ConformalClassifier()
    oracle.fit(scores(calibration)[np.arange(len(right)), right])
    expected = oracle.predict_set(scores(test), confidence=coverage, smoothing=False)
    sets = PredictionSets.calibrate(cases_from(calibration, right), coverage, score=score)
    assert (sets_as_matrix(sets, test) == np.asarray(expected, dtype=bool)).all()


@pytest.mark.parametrize("score", ["probability", "ratio"])
@pytest.mark.parametrize(("coverage", "count"), [(0.8, 50), (0.9, 50), (0.95, 50), (0.9, 200)])
def test_prediction_sets_cover_as_often_as_theory_says(score, coverage, count):
    # Without ties, the right outcome is covered with probability k / (n + 1) exactly.
    place = math.ceil((count + 1) * coverage)
    covered = trials = 0
    for seed in range(150):
        probabilities, right = draw(count + 20, seed=1000 + seed)
        cases = cases_from(probabilities, right)
        sets = PredictionSets.calibrate(cases[:count], coverage, score=score)
        for options, truth in cases[count:]:
            covered += any(each.outcome in truth for each in sets.select(options))
            trials += 1
    expected = place / (count + 1)
    # Texts of one draw share a threshold, which widens the binomial: beta-binomial variance.
    spread = stats.betabinom(20, place, count + 1 - place).std() * math.sqrt(150) / trials
    low, high = stats.norm.interval(0.999, expected, spread)
    assert low <= covered / trials <= high


@given(
    st.lists(st.integers(0, 8), min_size=9, max_size=30),
    st.integers(0, 8),
    st.sampled_from([0.5, 0.7, 0.8, 0.9]),
)
@settings(max_examples=150, deadline=None)
def test_prediction_sets_are_p_values_above_the_level(calibration, new, coverage):
    # Scores with many ties; a p-value counts ties against the new score: conservative.
    def options(eighths):
        return options_from([1 - eighths / 8, eighths / 8 / 2])

    sets = PredictionSets.calibrate(
        [(options(each), {0}) for each in calibration], coverage, score="probability"
    )
    value = (1 + sum(each >= new for each in calibration)) / (len(calibration) + 1)
    expected = value > 1 - coverage + 1e-9
    inside = any(each.outcome == 0 for each in sets.select(options(new)))
    assert inside == expected


def test_prediction_sets_ratio_holds_the_best_always():
    sets = PredictionSets(0.9, 0.0, 20)
    for probabilities in draw(50)[0]:
        assert sets.select(options_from(probabilities))[0].outcome == probabilities.argmax()


def test_prediction_sets_count_several_right_outcomes_by_the_best():
    cases = [(options_from([0.5, 0.3, 0.2]), {1, 2})] * 9
    sets = PredictionSets.calibrate(cases, 0.9, score="probability")
    assert math.isclose(sets.threshold, 0.7)


def test_prediction_sets_hold_everything_where_search_misses_too_often():
    cases = [(options_from([0.9, 0.1]), {7})] * 3 + [(options_from([0.9, 0.1]), {0})] * 17
    sets = PredictionSets.calibrate(cases, 0.9)
    assert sets.threshold == math.inf
    assert len(sets.select(options_from([0.98, 0.01, 0.01]))) == 3
    assert PredictionSets.from_dict(json.loads(json.dumps(sets.to_dict()))) == sets
    # An outcome that the search did not find is not covered, whatever the threshold.
    assert evaluate(cases, sets).coverage == 17 / 20


def test_prediction_sets_survive_json():
    sets = PredictionSets.calibrate(cases_from(*draw(60)), 0.9)
    assert PredictionSets.from_dict(json.loads(json.dumps(sets.to_dict()))) == sets


@pytest.mark.parametrize("data", [{}, {"coverage": 2}, {"threshold": "x"}, []])
def test_prediction_sets_refuse_bad_files(data):
    with pytest.raises(SettingError, match="must"):
        PredictionSets.from_dict(data)


@pytest.mark.parametrize("coverage", [0, 1, -0.5, 1.5, math.nan])
def test_prediction_sets_refuse_bad_coverage(coverage):
    with pytest.raises(SettingError, match="above 0 and below 1"):
        PredictionSets.calibrate([], coverage)


def test_prediction_sets_refuse_unknown_scores():
    with pytest.raises(SettingError, match="probability, ratio; got 'rank'"):
        PredictionSets(0.9, 0.1, 5, "rank")


@pytest.mark.parametrize(("coverage", "least"), [(0.8, 4), (0.9, 9), (0.95, 19)])
def test_prediction_sets_say_how_many_demonstrations_they_need(coverage, least):
    cases = cases_from(*draw(least))
    with pytest.raises(DemonstrationError, match=f"at least {least} demonstrations"):
        PredictionSets.calibrate(cases[:-1], coverage)
    assert PredictionSets.calibrate(cases, coverage).count == least


# ---- acting or asking ---------------------------------------------------------------------


def test_decide_acts_asks_and_offers_the_best_three():
    sets = PredictionSets(0.9, 0.6, 50, "probability")
    assert decide(options_from([0.9, 0.1]), sets).kind == "act"
    two = decide(options_from([0.5, 0.45, 0.05]), sets)
    assert (two.kind, len(two.options), two.complete) == ("ask", 2, True)
    wide = PredictionSets(0.9, 0.9, 50, "probability")
    four = decide(options_from([0.3, 0.3, 0.2, 0.2]), wide)
    assert (len(four.options), four.complete) == (3, False)


def test_decide_asks_where_nothing_is_probable_enough():
    sets = PredictionSets(0.8, 0.3, 50, "probability")
    nothing = decide(options_from([0.5, 0.3, 0.2]), sets)
    assert (nothing.kind, len(nothing.options), nothing.complete) == ("ask", 3, False)


@pytest.mark.parametrize("tied", [2, 3, 5])
def test_decide_never_guesses_between_equals_without_calibration(tied):
    assert decide(options_from([1 / tied] * tied)).kind == "ask"
    assert decide(options_from([0.9 / tied] * tied + [0.1])).kind == "ask"


def test_decide_keeps_all_ties_of_an_uncalibrated_set():
    found = decide(options_from([0.5, 0.25, 0.125, 0.125]))
    assert len(found.options) == 3
    assert not found.complete


def test_decide_refuses_nothing():
    with pytest.raises(SettingError, match="at least one option"):
        decide([])


def test_evaluate_counts_by_hand():
    sets = PredictionSets(0.9, 0.7, 50, "probability")
    cases = [
        (options_from([0.9, 0.1]), {0}),  # alone, right
        (options_from([0.8, 0.2]), {1}),  # alone, wrong: overstep, not covered
        (options_from([0.6, 0.4]), {0}),  # asked though the first was right
        (options_from([0.5, 0.5]), {1}),  # asked, picked
        (options_from([0.34, 0.33, 0.33]), {9}),  # asked, never found
    ]
    found = evaluate(cases, sets)
    assert found == DialogueScores(
        coverage=0.6,
        alone=0.4,
        asked=0.6,
        options=(1 + 1 + 2 + 2 + 3) / 5,
        success_alone=0.5,
        success_after_one_answer=0.6,
        overask=0.2,
        overstep=0.2,
        count=5,
    )
    assert set(found.to_dict()) >= {
        "coverage", "alone", "asked", "options", "success_alone", "success_after_one_answer",
        "overask", "overstep",
    }  # fmt: skip


def test_evaluate_offers_three_options_of_many():
    everything = PredictionSets(0.9, math.inf, 50)
    four = options_from([0.4, 0.3, 0.2, 0.1])
    assert evaluate([(four, {2})], everything).success_after_one_answer == 1
    assert evaluate([(four, {3})], everything).success_after_one_answer == 0
    assert evaluate([(four, {3})], everything).coverage == 1


def test_scores_are_averaged_with_success_alone_by_how_often_it_was_alone():
    sets = PredictionSets(0.9, 0.7, 50, "probability")
    one = evaluate([(options_from([0.9, 0.1]), {0})], sets)
    two = evaluate([(options_from([0.5, 0.5]), {0})], sets)
    mean = DialogueScores.mean([one, two])
    assert (mean.alone, mean.success_alone, mean.count) == (0.5, 1.0, 2)
    with pytest.raises(SettingError, match="at least one evaluation"):
        DialogueScores.mean([])
    with pytest.raises(DemonstrationError, match="at least one text"):
        evaluate([], sets)
