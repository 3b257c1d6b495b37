"""Configurations compared: a table, the best of it, groups kept apart."""

import itertools

import pytest

from groundling import Follower
from groundling.errors import DemonstrationError
from groundling.learning import tuning
from groundling.learning.tuning import compare
from tests.learning.test_choosing import takes
from tests.worlds import line_demonstrations

SETTINGS = {"parser": "chain", "seed": 0, "threads": 1}


def test_tuning_returns_the_fitted_best_and_shows_the_table():
    told = []
    follower = Follower.tuned(takes(24), seconds=600, parser="chain", show=told.append)
    [table] = told
    lines = table.splitlines()
    assert lines[0].split() == ["configuration", "l2", "right", "seconds"]
    assert sum("← best" in line for line in lines) == 1
    assert len(lines) > 6
    assert follower.score(takes(24)) == 1.0
    assert [each.what for each in follower.choices_] == ["configuration", "Learning.l2"]


def test_tuning_varies_words_and_begins_nothing_that_there_is_no_time_for(monkeypatch):
    clock = itertools.count(0, 10)  # every look at the clock is ten seconds later
    monkeypatch.setattr(tuning.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(tuning, "_cross_validated", lambda trainer, parts: 0.5)
    found = compare(SETTINGS, takes(24), 10_000.0)
    assert any(each.name.endswith("words in the tree") for each in found.trials)
    assert all(each.seconds == 10 for each in found.trials)
    # A trial takes thirty seconds with the looks around it; the fourth would end too late.
    clock = itertools.count(0, 10)
    assert len(compare(SETTINGS, takes(24), 95.0).trials) == 3


def test_tuning_tries_one_configuration_when_there_is_no_time():
    found = compare(SETTINGS, takes(12), 0.0)
    assert len(found.trials) == 1
    assert found.best is found.trials[0]


def test_tuning_says_that_nothing_is_learnt():
    shown = line_demonstrations()[:2]
    with pytest.raises(DemonstrationError, match="No configuration follows any"):
        compare(SETTINGS, [*shown[:1], *shown[1:]], 0.0)
