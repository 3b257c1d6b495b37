"""`Follower.tuned`: the race by seconds, with the baseline in every lap."""

import numpy as np
import pytest

from groundling import Follower
from groundling.errors import DemonstrationError, SettingError
from groundling.selection.comparison import BASELINE, compare
from groundling.selection.race import Race
from tests.selection.test_choices import takes
from tests.worlds import line_demonstrations

SETTINGS = {"parser": "chain", "seed": 0, "threads": 1}


def test_tuned_returns_the_fitted_winner_and_shows_the_table():
    told = []
    follower = Follower.tuned(takes(30), seconds=600, parser="chain", show=told.append)
    lines = told[-1].splitlines()
    assert lines[0].split()[:3] == ["configuration", "l2", "right"]
    assert lines[1].startswith(BASELINE)
    assert sum("← kept" in line for line in lines) == 1
    assert sum(" ±" in line for line in lines) > 6
    assert follower.score(takes(30)) == 1.0
    assert follower.choices_
    assert "compared on" in str(follower.choices_)


class Seconds:
    """A clock on which a lap takes so many seconds for each demonstration, and nothing else."""

    def __init__(self, monkeypatch, each=1.0, slow=(), score=lambda name: 0.5):
        self.now, self.each, self.laps = 0.0, each, []

        def attempt(race, runner, learn, test, size):
            self.now += self.each * len(learn) * (50 if runner.name in slow else 1)
            race.budget.check(None)
            runner.learning_seconds = self.each
            known = runner.credit if runner.size == size else np.empty(0)
            share = score(runner.name)
            got = np.arange(len(test)) < share * len(test)
            runner.credit, runner.size = np.append(known, got.astype(float)), size
            self.laps.append((runner.name, size))

        monkeypatch.setattr(Race, "_try", attempt)

    def __call__(self):
        return self.now


@pytest.mark.parametrize("seconds", [1_000.0, 3_000.0, 10_000.0])
def test_tuned_keeps_to_its_seconds_with_the_last_fit(monkeypatch, seconds):
    clock = Seconds(monkeypatch)
    found = compare(SETTINGS, takes(300), seconds, now=clock)
    assert clock.now + 300 * clock.each <= seconds
    assert found.compared <= 300
    if found.compared < 300:
        assert f"Compared on {found.compared} of 300 demonstrations" in str(found)


def test_tuned_compares_on_all_where_time_allows(monkeypatch):
    found = compare(SETTINGS, takes(150), 1e6, now=Seconds(monkeypatch))
    assert found.compared == 150
    assert "within the budget" not in str(found)
    assert any("times the penalty" in each.name for each in found.ranked)


def test_tuned_never_drops_the_baseline(monkeypatch):
    def score(name):
        return 0.1 if name == BASELINE else 0.9

    clock = Seconds(monkeypatch, score=score)
    found = compare(SETTINGS, takes(150), 1e6, now=clock)
    assert (BASELINE, 150) in clock.laps
    assert BASELINE in [each.name for each in found.ranked]
    assert found.best != BASELINE


def test_tuned_keeps_the_baseline_where_nothing_is_clearly_better(monkeypatch):
    found = compare(SETTINGS, takes(60), 1e6, now=Seconds(monkeypatch))
    assert found.best == BASELINE


def test_tuned_says_what_could_not_be_compared(monkeypatch):
    found = compare(SETTINGS, takes(300), 400.0, now=Seconds(monkeypatch, slow=("graph",)))
    assert any(name == "graph" and why == "no time left" for name, why in found.skipped)
    assert "Not compared: graph (no time left)." in str(found)


def test_tuned_says_that_nothing_is_learnt():
    with pytest.raises(DemonstrationError, match="No configuration follows any"):
        compare(SETTINGS, line_demonstrations()[:2], 0.0)


@pytest.mark.parametrize("seconds", ["60", None, float("nan"), -1, True])
def test_tuned_refuses_seconds_that_are_no_number(seconds):
    with pytest.raises(SettingError, match="`seconds` must be a number >= 0, such as 60; got"):
        Follower.tuned(line_demonstrations(), seconds, parser="chain")
