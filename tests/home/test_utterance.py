"""Texts in a home: names, places and values are found, and the rest is what the model reads."""

import pytest

from groundling.home.languages import home_language
from groundling.home.utterance import HomeNames, Utterance
from tests.home.homes import HOME

NAMES = HomeNames(HOME, home_language("en"))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("turn on the desk lamp", "turn on the ‹name›"),
        ("Desk lamp to 50%!", "‹name› to ‹percentage›"),
        ("lights in the den off", "lights in the ‹area› off"),
        ("all lights on the ground floor", "all lights on the ‹floor›"),
        ("set the thermostat to 21 degrees", "set the ‹name› thermostat to ‹degree›"),
        ("turn on the desc lamp", "turn on the ‹name›"),
        ("what is the front door's state", "what is the ‹name› state"),
        ("cancel the pizza timer", "cancel the ‹timer› timer"),
        ("timer for 1 hour, 15 minutes", "timer for ‹duration›"),
        ("half an hour", "‹duration›"),
    ],
)
def test_reading_masks_what_is_particular_to_a_home(text, masked):
    read = Utterance.of(text, NAMES)
    assert " ".join(read.masked[1:]) == masked


def test_reading_mends_words_that_are_one_edit_from_known_ones():
    known = {"turn": 9, "on": 9, "lights": 5, "the": 9, "all": 3}
    read = Utterance.of("trun on all lihgts zzzzqq", NAMES, known)
    assert read.masked[1:] == ("turn", "on", "all", "lights", "‹unknown›")


def test_reading_keeps_words_for_free_texts():
    read = Utterance.of("play Blue Moon on the radio", NAMES)
    radio = [each for each in read.mentions if each.ids == ("media_player.radio",)]
    assert read.instruction(radio).tokens[:4] == ("‹text›", "play", "blue", "moon")


def test_reading_finds_where_another_command_begins():
    read = Utterance.of("open the left blind, and lock the front door", NAMES)
    assert [read.part(0, place) for place in read.joints] == ["open the left blind"]


def test_reading_splits_compounds_and_elisions():
    dutch = HomeNames(HOME, home_language("nl"))
    assert Utterance.of("radiolamp", dutch).words == ("radio", "lamp")
    french = HomeNames(HOME, home_language("fr"))
    assert Utterance.of("l'entrée", french).words == ("l", "entrée")
    arabic = HomeNames(HOME, home_language("ar"))
    assert Utterance.of("الDen", arabic).folded == ("den",)
