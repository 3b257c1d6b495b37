"""The lesson: ten demonstrations of one's own, in one's own language, are enough for most."""

from random import Random

import pytest

from groundling import Demonstration
from groundling.follower import Follower
from groundling.studio.kitchen import PLACES, THINGS, Kitchen
from groundling.studio.scenes import lesson_setting
from groundling.studio.teacher import learn

WORDS = {
    "German": {
        "go": "geh zum {place}", "take": "nimm die {thing}",
        "bring": "bring die {thing} zum {place}",
        "table": "Tisch", "sink": "Becken", "shelf": "Regal",
        "red cup": "rote Tasse", "blue cup": "blaue Tasse", "red bowl": "rote Schale",
    },
    # verbs last, and no word looks like anything in the kitchen
    "invented": {
        "go": "{place} ke vo", "take": "{thing} mi", "bring": "{thing} {place} ke ra",
        "table": "olu", "sink": "ando", "shelf": "iki",
        "red cup": "sero pun", "blue cup": "lano pun", "red bowl": "sero gol",
    },
}  # fmt: skip
TEN = (
    ("go", "", "table"), ("take", "red cup", ""), ("go", "", "shelf"), ("take", "blue cup", ""),
    ("bring", "red bowl", "table"), ("go", "", "sink"), ("bring", "blue cup", "shelf"),
    ("take", "red bowl", ""), ("bring", "red cup", "sink"), ("bring", "blue cup", "table"),
)  # fmt: skip
NEW = tuple(("bring", thing, place) for thing in THINGS for place in PLACES)


def demonstrate(words, verb, thing, place, dice):
    kitchen = Kitchen()
    while True:  # until there is something to do
        state = Kitchen.shuffled(dice.randrange(10**6))
        lies = dict(state.lying).get(thing)
        if (lies or state.at) != place:
            break
    here, actions = state.at, []
    if thing:
        actions += [f"go to the {lies}"] * (lies != here) + [f"take the {thing}"]
        here = lies
    if place and place != here:
        actions.append(f"go to the {place}")
    if thing and place:
        actions.append(f"put down the {thing}")
    text = words[verb].format(thing=words.get(thing), place=words.get(place))
    return Demonstration(text, kitchen, state, tuple(actions))


@pytest.mark.parametrize("language", WORDS)
def test_lesson_ten_demonstrations_are_enough_for_most(language):
    words, again, new = WORDS[language], [], []
    for seed in range(3):
        dice = Random(seed)
        shown = [demonstrate(words, *each, dice) for each in TEN]
        follower = lesson_setting().make().fit(shown, check=False)
        again.append(follower.score(shown))
        new.append(follower.score(demonstrate(words, *each, dice) for each in NEW))
    assert min(again) >= 0.9, again
    assert sum(new) / len(new) > 0.4, new


def test_lesson_learns_only_what_it_does_not_know():
    kitchen = Kitchen()
    shown = {
        name: Demonstration(name, kitchen, kitchen.start, (action,))
        for name, action in (("zum Tisch", "go to the table"), ("zum Regal", "go to the shelf"))
    }

    def refuse():
        raise AssertionError("it learnt everything again")

    first = learn(Follower, (), {"zum Tisch": shown["zum Tisch"]})
    both = learn(refuse, (), shown, known=first)
    assert len(first.demonstrations_) == 1  # who answers meanwhile is left alone
    assert both.follow("zum Regal", kitchen, kitchen.start).actions == ("go to the shelf",)
    fewer = learn(refuse, (), {"zum Regal": shown["zum Regal"]}, known=both)
    assert [each.name for each in fewer.demonstrations_] == ["zum Regal"]
