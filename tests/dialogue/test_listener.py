"""The pragmatic listener: exact, off where it does not help, on where it does."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from groundling.dialogue.cross_fit import cross_fit
from groundling.dialogue.listener import PragmaticListener, _compare, learn_translation
from groundling.dialogue.outcomes import all_plans
from groundling.errors import DemonstrationError, SearchError, SettingError
from tests.dialogue.conftest import Scene, learn, tell

TEXT = "grab the lamp and walk to the hall"


@pytest.fixture(scope="module")
def listener(follower):
    model = learn_translation(follower, follower.demonstrations_)
    return PragmaticListener(follower, model, weight=0.3)


def test_listener_without_weight_is_the_follower(listener, follower, house):
    requests = [(each.instructions, house, each.start) for each in follower.demonstrations_[:10]]
    assert replace(listener, weight=0.0).follow_many(requests) == follower.follow_many(requests)


def test_listener_ranks_by_the_formula(listener, follower, house):
    request = (TEXT, house, Scene("kitchen"))
    [before], [after] = all_plans(follower, [request]), listener._plans([request])
    order = np.argsort([-plan.log_probability for plan in before], kind="stable")[:11]
    assert math.isclose(sum(p.probability for p in after), 1)
    speaker = [math.fsum(row) for row in listener._words(TEXT, before, _world(listener, house))]
    scores = np.array([before[p].log_probability + 0.3 * speaker[p] for p in order])
    mass = math.fsum(before[p].probability for p in order)
    expected = np.exp(scores - np.logaddexp.reduce(scores)) * mass
    assert [after[p].probability for p in order] == pytest.approx(expected.tolist())
    for place in set(range(len(before))) - set(order.tolist()):
        assert after[place] == before[place]


def _world(listener, house):
    from groundling.dialogue.outcomes import world_of

    return world_of(listener.follower, house)


def test_listener_gives_exact_reasons(listener, house):
    plan = listener.follow(TEXT, house, Scene("kitchen"))
    for rival in plan.alternatives:
        reason = listener.reason(TEXT, house, plan, rival)
        ratio = plan.log_probability - rival.log_probability
        assert reason.total == pytest.approx(ratio, abs=1e-9)
        assert [word for word, _ in reason.words] == TEXT.split()
    with pytest.raises(SettingError, match="finds for this text"):
        listener.reason(TEXT, house, plan, replace(plan, actions=("fly",)))


def test_listener_gives_options_for_prediction_sets(listener, house):
    [options] = listener.options([(TEXT, house, Scene("kitchen"))])
    plan = listener.follow(TEXT, house, Scene("kitchen"))
    assert options[0].outcome == plan.end
    assert options[0].probability == pytest.approx(plan.confidence)


def test_listener_is_off_where_the_speaker_says_nothing():
    dice = np.random.default_rng(0)
    right = np.array([True, False, False])
    noise = [(np.log([0.6, 0.3, 0.1]), 30 * dice.normal(size=3), right) for _ in range(200)]
    trials = _compare(noise, (0.0, 0.1, 0.5))
    assert max(trials, key=lambda each: each.bound).weight == 0
    assert trials[0].gain == trials[0].error == 0
    sharp = np.array([0.6, 0.3, 0.1]) ** (1 / 0.7)  # right in every case: the lowest temperature
    assert math.isclose(trials[0].likelihood, math.log(sharp[0] / sharp.sum()))


def test_listener_is_on_where_the_speaker_helps():
    right = np.array([False, True])
    helpful = [(np.log([0.55, 0.45]), np.array([-9.0, -4.0]), right)] * 5
    trials = _compare(helpful, (0.0, 0.1, 0.5))
    assert [each.gain > 0 for each in trials] == [False, True, True]


def test_listener_learns_its_weight_from_held_out_demonstrations(house):
    shown = tell(random.Random(5), house, 24)
    follower = learn(shown)
    folds = cross_fit(follower, shown, 2)
    assert sorted(e.name for fold in folds for e in fold.held_out) == sorted(e.name for e in shown)
    for fold in folds:
        assert not {e.name for e in fold.learnt} & {e.name for e in fold.held_out}
    found = PragmaticListener.learn(follower, cross_fitted=folds, weights=(0.2,))
    again = PragmaticListener.learn(follower, parts=2, weights=(0.2,))
    assert found.trials == again.trials
    assert [each.weight for each in found.trials] == [0.0, 0.2]
    assert found.weight == max(found.trials, key=lambda each: each.bound).weight


def test_listener_refuses_bad_weights(listener):
    for weight in (-1, math.inf, math.nan):
        with pytest.raises(SettingError, match="`weight` must be >= 0"):
            replace(listener, weight=weight)


def test_listener_needs_demonstrations(follower, tmp_path):
    loaded = type(follower).load(follower.save(tmp_path / "model"))
    with pytest.raises(DemonstrationError, match="needs demonstrations"):
        PragmaticListener.learn(loaded)


def test_listener_says_why_there_is_no_plan(listener):
    class Nowhere:
        def actions(self, state):
            return ()

        def step(self, state, action):
            return state

        def ground(self, state, action, after):
            raise AssertionError

    with pytest.raises(SearchError, match="No action is possible"):
        listener.follow("go", Nowhere(), Scene("kitchen"))
