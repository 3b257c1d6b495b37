"""Configurations compared: a table, the best of it, groups kept apart."""

import math

import pytest

from groundling import Follower
from groundling.errors import DemonstrationError, SettingError
from groundling.learning import tuning
from groundling.learning.choosing import Choices
from groundling.learning.tuning import Comparison, Trial, compare
from tests.learning.test_choosing import takes, turns
from tests.worlds import line_demonstrations

SETTINGS = {"parser": "chain", "seed": 0, "threads": 1}


def test_tuning_returns_the_fitted_best_and_shows_the_table():
    told = []
    follower = Follower.tuned(takes(24), seconds=600, parser="chain", show=told.append)
    lines = told[-1].splitlines()
    own = "as Follower() chooses (plans over graphs)"
    assert told[0].startswith(f"{own}, l2=")  # each as soon as it is done
    assert len(told) == 1 + sum(" ±" in line for line in lines)
    assert lines[1].startswith(own)
    assert lines[0].split() == ["configuration", "l2", "right", "seconds"]
    assert sum("← best" in line for line in lines) == 1
    assert len(lines) > 6
    assert follower.score(takes(24)) == 1.0
    assert [each.what for each in follower.choices_] == ["configuration", "Learning.l2"]


class Clock:
    """Seconds that pass as learning takes them: so many for each demonstration, no others."""

    def __init__(self, monkeypatch, each=1.0):
        self.now, self.each, self.sizes = 0.0, each, []
        monkeypatch.setattr(
            tuning._Race, "_fit", lambda race, option, some, *_: self.fit(len(some))
        )
        monkeypatch.setattr(
            tuning, "_cross_validated", lambda trainer, parts, *_: self.tried(parts)
        )

    def __call__(self):
        return self.now

    def fit(self, count):
        self.now += self.each * count

    def tried(self, parts):
        began = self.now
        for learn, test in parts:
            self.fit(len(learn))
            self.sizes.append(len(learn) + len(test))
        return 0.5, self.now - began


def test_tuning_tries_all_there_is_time_for(monkeypatch):
    found = compare(SETTINGS, takes(60), 100_000.0, clock=Clock(monkeypatch))
    assert any(each.name.endswith("words in the tree") for each in found.trials)
    assert len({each.l2 for each in found.trials}) > 4
    assert (found.compared, found.left_out) == (60, ())
    assert "time" not in str(found)
    assert all(each.seconds == 120 for each in found.trials)


@pytest.mark.parametrize("seconds", [1_000.0, 2_000.0, 4_000.0])
def test_tuning_keeps_to_its_seconds_with_the_last_fit(monkeypatch, seconds):
    clock = Clock(monkeypatch)
    found = compare(SETTINGS, takes(300), seconds, clock=clock)
    assert found.compared < 300
    assert set(clock.sizes) == {found.compared}
    assert 0.5 * seconds < clock.now + 300 * clock.each <= seconds
    assert f"Compared on {found.compared} of 300 demonstrations" in str(found)


def test_tuning_says_what_it_left_out(monkeypatch):
    clock = Clock(monkeypatch)
    found = compare(SETTINGS, takes(300), 700.0, clock=clock)
    tried = {each.name for each in found.trials}
    assert found.left_out
    assert not tried & {name for name, _ in found.left_out if ", l2=" not in name}
    name, took = found.left_out[0]
    assert f"Left out for want of time: {name} (about {took:.0f} s)" in str(found)


def test_tuning_compares_on_few_where_the_last_fit_takes_all_the_time(monkeypatch):
    clock = Clock(monkeypatch)
    found = compare(SETTINGS, takes(300), 200.0, clock=clock)
    assert len(found.trials) == 1
    assert found.compared == 24


def test_tuning_tries_one_configuration_when_there_is_no_time():
    found = compare(SETTINGS, takes(12), 0.0)
    assert len(found.trials) == 1
    assert found.best is found.trials[0]


def test_tuning_compares_several_where_a_fit_takes_a_sixth_of_the_time(monkeypatch):
    clock = Clock(monkeypatch, each=10 / 60)
    found = compare(SETTINGS, takes(60), 60.0, clock=clock)
    assert len(found.trials) >= 3
    assert clock.now + 60 * clock.each <= 60.0


def test_tuning_stops_looking_at_what_takes_too_long(monkeypatch):
    clock = Clock(monkeypatch, each=0.1)

    def fit(race, option, some, until=math.inf):
        stops = race._stops(until)
        for _ in some:
            clock.fit(100 if option.overlay.nodes == "flat" else 1)
            stops(None)

    monkeypatch.setattr(tuning._Race, "_fit", fit)
    found = compare(SETTINGS, takes(60), 100.0, clock=clock)
    assert [name for name, _ in found.left_out if "flat" in name]
    assert len({(each.name, each.l2) for each in found.trials}) >= 3
    assert clock.now + 60 * clock.each <= 100.0


def test_tuning_stops_a_trial_that_takes_longer_than_was_seen(monkeypatch):
    clock = Clock(monkeypatch, each=0.1)

    def tried(trainer, parts, progress, _):
        began = clock.now
        for learn, _ in parts:
            for _ in learn:
                clock.fit(1 if trainer.overlay.nodes == "graph" else 30)
                progress(None)
        return 0.5, clock.now - began

    monkeypatch.setattr(tuning, "_cross_validated", tried)
    found = compare(SETTINGS, takes(60), 100.0, clock=clock)
    assert all("flat" not in each.name for each in found.trials)
    assert any("flat" in name for name, _ in found.left_out)
    assert clock.now + 60 * clock.each <= 104.0


def test_tuning_says_that_nothing_is_learnt():
    shown = line_demonstrations()[:2]
    with pytest.raises(DemonstrationError, match="No configuration follows any"):
        compare(SETTINGS, [*shown[:1], *shown[1:]], 0.0)


def test_tuning_tries_the_quickest_where_there_is_no_time_for_any(monkeypatch):
    clock = Clock(monkeypatch)

    def fit(race, option, some, *_):
        clock.fit(len(some) * (10 if option.overlay.nodes == "graph" else 1))

    monkeypatch.setattr(tuning._Race, "_fit", fit)
    [trial, *_] = compare(SETTINGS, takes(300), 100.0, clock=clock).trials
    assert trial.name == "plans over flat actions"


def test_tuning_keeps_to_what_is_chosen_unless_another_is_better_than_by_chance():
    own, near = Trial("own", 1.0, 0.55, 1.0, 60), Trial("near", 1.0, 0.6, 1.0, 60)
    far = Trial("far", 1.0, 0.75, 1.0, 60)
    assert Comparison((own, near), None, Choices()).best is own
    assert Comparison((own, near, far), None, Choices()).best is far
    said = str(Comparison((own, near), None, Choices(), 60, 60))
    assert "0.55 ±0.06" in said
    assert "Scores that differ by 0.06 or less may do so by chance; of such the first" in said


def test_tuning_tries_other_orders_where_words_may_turn_texts(monkeypatch):
    shown = turns(60)
    found = compare(SETTINGS, shown, 100_000.0, clock=Clock(monkeypatch))
    assert any(each.name.endswith(" order") for each in found.trials)
    straight = compare(SETTINGS, takes(20, actions=2), 100_000.0, clock=Clock(monkeypatch))
    assert not any(each.name.endswith(" order") for each in straight.trials)


@pytest.mark.parametrize("seconds", ["60", None, float("nan"), -1, True])
def test_tuning_refuses_seconds_that_are_no_number(seconds):
    with pytest.raises(SettingError, match="seconds is a number from 0 on, such as 60, not"):
        Follower.tuned(line_demonstrations(), seconds, parser="chain")
