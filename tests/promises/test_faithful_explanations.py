"""What an explanation says can be computed again from the saved model."""

import json
import math

from groundling import Follower
from tests.promises.making import requests


def numbers(value):
    """Yield all numbers in nested data."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
    elif not isinstance(value, (str, type(None), bool)):
        for each in value:
            yield from numbers(each)


def test_faithful_explanations_recompute_from_the_saved_file(follower, tmp_path):
    loaded = Follower.load(follower.save(tmp_path / "model"))
    for request in requests()[:4]:
        before = follower.follow(*request).explain().to_dict()
        after = loaded.follow(*request).explain().to_dict()
        assert json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def test_faithful_explanations_hold_finite_numbers_only(follower):
    for request in requests()[:4]:
        told = follower.follow(*request).explain().to_dict()
        json.dumps(told, allow_nan=False)
        assert all(math.isfinite(each) for each in numbers(told))


def test_faithful_explanations_weights_are_those_of_the_model(follower):
    known = dict(follower.weights(most=10**6))
    told = json.dumps(follower.follow(*requests()[1]).explain().to_dict(), ensure_ascii=False)
    named = [name for name in known if json.dumps(name, ensure_ascii=False)[1:-1] in told]
    assert named, "an explanation names no feature"


def test_faithful_explanations_text_and_data_agree(follower):
    plan = follower.follow(*requests()[1])
    explained = plan.explain()
    for action in plan.actions:
        assert str(action) in str(explained)
    assert explained.to_dict() == plan.explain().to_dict()
