"""What labels bring is measured on worlds that can be carried out."""

import random

from benchmarks.labels import Home, Lamps, Pairs, Row, put, small, switch, take, told
from groundling import Features, Follower, Overlay, check_environment
from groundling.world.cached_environment import CachedEnvironment


def test_labels_worlds_are_fine():
    dice = random.Random(3)
    row, pairs = Row("numbers", "things", "values", "indicators"), Pairs(linked=True)
    for shown in (take(dice, row), put(dice, pairs, "{} by {}"), switch(dice, Lamps(), cut=True)):
        CachedEnvironment(shown.environment).trace(shown.start, shown.actions, "shown")
        assert "No problems" in str(check_environment(shown.environment, shown.start))


def test_labels_of_a_home_are_those_asked_for():
    [(_, state, actions)] = [e for e in told(0, several=False)[0] if e[0].startswith("make")][:1]
    plain, rich = Home(), Home("words", "steps", "all")
    looks = [str(home.ground(state, actions[0], None)) for home in (plain, rich)]
    assert ["step=" in look for look in looks] == [False, True]


def test_labels_texts_of_all_are_several_actions_where_no_action_is_for_all():
    several, one = told(0, several=True)[0], told(0, several=False)[0]
    for (text, state, actions), (same, _, single) in zip(several, one, strict=True):
        assert text == same
        assert all(each[2] != "everywhere" for each in actions)
        assert actions == single or len(actions) > len(single) == 1
        CachedEnvironment(Home("left", "next", several=True)).trace(state, actions, text)


def test_labels_are_measured_on_texts_that_were_not_learnt_from(capsys):
    follower = Follower(
        overlay=Overlay(unit="word"),
        features=Features(words=("word",), slots=("colour",)),
        parser="chain",
    )
    small("lamps", follower, lambda dice: switch(dice, Lamps(), cut=False), shown=30)
    assert float(capsys.readouterr().out.split()[1].rstrip(",")) > 0.8
