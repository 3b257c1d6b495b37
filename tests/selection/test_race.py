"""The race: growing laps, fair comparisons, the simplest of equals, a counted budget."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from groundling import Follower
from groundling.selection import constants
from groundling.selection.configurations import configurations
from groundling.selection.profile import Profile
from groundling.selection.race import Budget, Race
from tests.selection.test_choices import takes

SETTINGS = Follower(parser="chain").get_params(deep=False)


def race(monkeypatch, shown, credit):
    """Return a race whose laps give so much credit, by name and place of the configuration."""
    profile = Profile(shown, "chain")
    found = Race(SETTINGS, profile, Budget(profile.count))
    runners = [found.runner(each) for each in configurations(profile)]
    places = {each.name: place for place, each in enumerate(runners)}
    laps = []

    def attempt(race, runner, learn, test, size):
        assert not {each.group for each in learn} & {each.group for each in test} - {""}
        known = runner.credit if runner.size == size else np.empty(0)
        dice = np.random.default_rng(size)  # the same demonstrations are hard for all
        got = dice.random(len(test)) < credit[places[runner.name]]
        runner.credit, runner.size = np.append(known, got.astype(float)), size
        laps.append((runner.name, size))

    monkeypatch.setattr(Race, "_try", attempt)
    return found, runners, laps


def test_race_keeps_the_simplest_of_equals(monkeypatch):
    found, runners, _ = race(monkeypatch, takes(120), [0.7] * 9)
    assert found.run(runners) is runners[0]


def test_race_takes_what_is_clearly_better_and_drops_the_rest(monkeypatch):
    found, runners, laps = race(monkeypatch, takes(300), [0.2, 0.9, *[0.2] * 7])
    assert found.run(runners) is runners[1]
    assert runners[0] in found.dropped
    assert max(size for name, size in laps if name == runners[0].name) == 60


def test_race_ends_at_once_where_the_simplest_is_perfect(monkeypatch):
    found, runners, laps = race(monkeypatch, takes(300), [1.0] * 9)
    assert found.run(runners) is runners[0]
    assert laps == [(runners[0].name, 60)]


def test_race_grows_within_its_budget(monkeypatch):
    shown = takes(300)
    found, runners, laps = race(monkeypatch, shown, [0.7] * 9)
    found.run(runners)
    sizes = sorted({size for _, size in laps})
    assert sizes[:2] == [60, 120]
    # What extends the leader may repeat the last lap.
    within = [size for name, size in laps if name != "flat, two members"]
    assert sum(within) <= constants.RACE_BUDGET * len(shown)
    assert sum(size for _, size in laps) - sum(within) <= sizes[-1]


def test_race_lets_what_adds_to_another_wait_until_that_leads(monkeypatch):
    found, runners, laps = race(monkeypatch, takes(1000), [0.6, 0.3, 0.2, 0.9])
    names = [each.name for each in runners]
    assert names == ["flat", "soft graph", "graph", "flat, two members"]
    assert found.run(runners).name == "flat, two members"
    assert ("flat, two members", 60) not in laps


def test_race_without_budget_for_another_lap_lets_extensions_repeat_the_last(monkeypatch):
    monkeypatch.setattr("groundling.selection.race.RACE_BUDGET", 0)
    found, runners, laps = race(monkeypatch, takes(1000), [0.6, 0.3, 0.2, 0.9])
    assert found.run(runners).name == "flat, two members"
    assert laps[-1] == ("flat, two members", 60)
    found, runners, laps = race(monkeypatch, takes(1000), [0.6, 0.8, 0.2, 0.9])
    assert found.run(runners).name == "soft graph"
    assert "flat, two members" not in {name for name, _ in laps}


def test_race_keeps_groups_together(monkeypatch):
    shown = [replace(each, group=str(number % 9)) for number, each in enumerate(takes(90))]
    found, runners, _ = race(monkeypatch, shown, [0.7] * 9)
    found.run(runners)  # its laps look at the groups


def test_race_splits_a_single_group():
    alone = [replace(each, group="all") for each in takes(30)]
    profile = Profile(alone, "chain")
    found = Race(SETTINGS, profile, Budget(profile.count))
    assert found.run([found.runner(configurations(profile)[0])]).size == 30


def test_race_is_the_same_whatever_the_order():
    shown = takes(60, actions=2)
    chosen = []
    for each in (shown, shown[::-1]):
        profile = Profile(each, "chain")
        found = Race(SETTINGS, profile, Budget(profile.count))
        runners = [found.runner(option) for option in configurations(profile)]
        winner = found.run(runners)
        chosen.append((winner.name, [(e.name, e.credit.tolist()) for e in found.finished]))
    assert chosen[0] == chosen[1]


def test_constants_are_few_have_reasons_and_are_in_one_place():
    lines = [
        line
        for line in Path(constants.__file__).read_text(encoding="utf-8").splitlines()
        if ": Final = " in line
    ]
    assert len(lines) <= 25
    assert all("  # " in line for line in lines)
    assert len(lines) == sum(name.isupper() for name in vars(constants))
