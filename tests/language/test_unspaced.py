"""Text without spaces: names of several characters are matched, those never seen as well."""

import random

import pytest

from groundling import Demonstration, Follower, GroundingGraph, Overlay
from groundling.errors import LimitError
from groundling.language import ChainParser, Language
from groundling.language.parse_cache import ParseCache
from groundling.language.parser import load_parser
from groundling.language.sentences import are_characters, is_unspaced, runs_of
from groundling.language.text_limits import Limits
from groundling.selection.profile import Profile

KNOWN = ("人参", "玉ねぎ", "豆", "トマト", "かぼちゃ", "レタス")
NEW = ("ねぎ", "じゃがいも", "大根", "ほうれん草")
SAID = {"water": ("{}に水をやって", "{}の水やりをお願いします"), "pick": ("{}を収穫してください",)}


class Garden:
    """Beds with a crop each."""

    def __init__(self, crops):
        self.crops = tuple(crops)

    def actions(self, done):
        return tuple((verb, crop) for verb in SAID for crop in self.crops)

    def step(self, done, action):
        return (*done, action)

    def ground(self, done, action, after):
        nodes = {"event": {action[0]: True}, "bed": {"crop": action[1]}}
        return GroundingGraph(nodes, [("event", "bed", "of")])


def demonstrations(dice, names, count):
    found = []
    for _ in range(count):
        garden = Garden(dice.sample(names, 4))
        verb, crop = dice.choice(sorted(SAID)), dice.choice(garden.crops)
        text = dice.choice(SAID[verb]).format(crop)
        found.append(Demonstration(text, garden, (), ((verb, crop),)))
    return found


@pytest.mark.parametrize("parser", ["chain", ChainParser(language=Language("ja", spaced=False))])
def test_unspaced_names_that_were_never_seen_are_matched(parser):
    dice = random.Random(3)
    # In a chain of words whose verb comes last, no word hangs from the one that names its action.
    follower = Follower(parser=parser, overlay=Overlay(nodes="flat"))
    follower.fit(demonstrations(dice, KNOWN, 30))
    assert follower.chosen().features.slots == ("crop",)
    assert follower.score(demonstrations(dice, NEW, 30)) >= 0.9


def test_unspaced_runs_stop_at_punctuation_and_at_their_length():
    assert list(runs_of(["a", "b", "，", "c", "d"])) == ["ab", "cd"]
    assert list(runs_of(["a", "b", "c"], longest=2)) == ["ab", "bc"]
    assert not are_characters(["go", "to", "a", "b"])


def test_unspaced_texts_come_out_right_with_the_default_parser():
    dice = random.Random(3)
    follower = Follower().fit(demonstrations(dice, KNOWN, 30))
    assert follower.chosen().features.slots == ("crop",)
    assert "Overlay.nodes = 'flat'" in str(follower.choices_)
    assert follower.score(demonstrations(dice, NEW, 30)) >= 0.9


def test_unspaced_sentences_are_chains_to_the_default_parser_and_others_are_trees():
    parser = load_parser("default", cache=ParseCache(None))
    mixed = "豆に水をやって。Turn left and walk to the sofa. 停！"
    first, second, third = parser.parse(mixed)
    assert [first, third] == ChainParser().parse("豆に水をやって。停！")
    assert second == parser.parse("Turn left and walk to the sofa.")[0]
    assert second.relations != ("root", *("next",) * (len(second) - 1))
    with pytest.raises(LimitError):
        load_parser("default", cache=ParseCache(None), limits=Limits(words=5)).parse("向左转到沙发")


def test_unspaced_is_a_sentence_by_its_letters():
    assert is_unspaced("歯医者を Thursday に移して")
    assert not is_unspaced("go to 東京 on Monday")
    assert not is_unspaced("turn left")
    assert not is_unspaced("")


def test_unspaced_is_not_what_has_names_of_one_letter():
    def given(text):
        return [Demonstration(text, Garden(KNOWN), (), (("water", "豆"),))]

    letters = ChainParser(language=Language("mine", spaced=False))
    assert Profile(given("豆に水をやって"), "chain").in_characters
    assert Profile(given("water"), letters).in_characters
    assert not Profile(given("A to B"), "chain").in_characters
