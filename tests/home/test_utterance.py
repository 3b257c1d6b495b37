"""Texts in a home: names, places and values are found, and the rest is what the model reads."""

import pytest

from groundling.home import Home
from groundling.home.knowledge import Knowledge
from groundling.home.locales import home_language
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
        ("front door in the dens", "‹name› in the ‹area›"),
        ("turn on the des k lamp", "turn on the ‹name›"),
    ],
)
def test_utterance_masks_what_is_particular_to_a_home(text, masked):
    read = Utterance.of(text, NAMES)
    assert " ".join(read.masked[1:]) == masked


def test_utterance_mends_words_that_are_one_edit_from_known_ones():
    known = {"turn": 9, "on": 9, "lights": 5, "the": 9, "all": 3}
    read = Utterance.of("trun on all lihgts zzzzqq", NAMES, Knowledge(known))
    assert read.masked[1:] == ("turn", "on", "all", "lights", "‹unknown›")


def test_utterance_marks_parts_of_names_that_are_no_words():
    known = {"turn": 9, "on": 9, "the": 9, "lamp": 4}
    assert Utterance.of("turn on the desk", NAMES, Knowledge(known)).masked[1:] == (
        "turn",
        "on",
        "the",
        "‹part›",
    )
    assert Utterance.of("turn on the lamp", NAMES, Knowledge(known)).masked[-1] == "lamp"


def test_utterance_names_places_without_their_word_for_room():
    rooms = ("Ada's Room", "Music Room", "Home Office")
    lamp = {"id": "light.lamp", "name": "Lamp"}
    home = Home.from_data(
        {"areas": [{"id": each, "name": each} for each in rooms], "entities": [lamp]}
    )
    names = HomeNames(home, home_language("en"))

    def places(text, *known):
        said = Utterance.of(text, names, Knowledge(dict.fromkeys(known, 9))).mentions
        return [each.ids[0] for each in said if each.kind == "area"]

    assert places("lights in the office") == ["Home Office"]
    assert places("ada's lamp") == ["Ada's Room"]
    assert places("this room") == []
    assert places("pause the music", "pause", "the", "music") == []


def test_utterance_takes_particles_for_no_numbers():
    german = HomeNames(HOME, home_language("de"))
    assert Utterance.of("schalte das Licht ein", german).masked[-1] == "ein"
    spanish = HomeNames(HOME, home_language("es"))
    assert Utterance.of("al 50 por ciento", spanish).masked[-1] == "‹percentage›"


def test_utterance_keeps_words_for_free_texts():
    read = Utterance.of("play Blue Moon on the radio", NAMES)
    radio = [each for each in read.mentions if each.ids == ("media_player.radio",)]
    assert read.instruction(radio).tokens[:4] == ("‹text›", "play", "blue", "moon")


def test_utterance_corrects_no_short_word_of_a_free_text():
    known = Knowledge({"play": 9, "band": 9, "album": 9}, {}, frozenset({"play", "band", "album"}))
    read = Utterance.of("play bad albumm", NAMES, known)
    assert [word for word, _ in read.masks([])] == ["‹text›", "play", "‹unknown›", "album"]
    assert "band" in read.masked


def test_utterance_finds_where_another_command_begins():
    read = Utterance.of("open the left blind, and lock the front door", NAMES)
    assert [read.part(0, place) for place in read.joints] == ["open the left blind"]


def test_utterance_splits_compounds_and_elisions():
    dutch = HomeNames(HOME, home_language("nl"))
    assert Utterance.of("radiolamp", dutch).words == ("radio", "lamp")
    french = HomeNames(HOME, home_language("fr"))
    assert Utterance.of("l'entrée", french).words == ("l", "entrée")
    arabic = HomeNames(HOME, home_language("ar"))
    assert Utterance.of("الDen", arabic).folded == ("den",)


def test_utterance_finds_names_that_share_their_noun():
    home = Home.from_data({"entities": [
        {"id": "lock.front", "name": "Front Door"}, {"id": "lock.back", "name": "Back Door"},
        {"id": "media_player.tv", "name": "Lounge TV"},
    ]})  # fmt: skip
    names = HomeNames(home, home_language("en"))

    def said(text):
        return {(e.ids, e.full) for e in Utterance.of(text, names).mentions}

    assert said("lock the front and back doors") == {
        (("lock.front",), True), (("lock.back",), True),
    }  # fmt: skip
    assert said("mute the tv") == {(("media_player.tv",), False)}


def test_utterance_divides_compounds_of_places():
    home = Home.from_data({
        "areas": [{"id": "k", "name": "Keuken"}],
        "entities": [{"id": "light.a", "name": "Keukenlamp plafond"},
                     {"id": "lock.b", "name": "Keukendeur"}],
    })  # fmt: skip
    names = HomeNames(home, home_language("nl"))
    assert Utterance.of("doe de keukenlampen uit", names).folded[2:4] == ("keuken", "lampen")
    assert Utterance.of("keukendeur", names).folded == ("keukendeur",)
    assert Utterance.of("keukenlamp plafond", names).of_kind("name")[0].full


def test_utterance_knows_inflected_words_and_units():
    polish = HomeNames(HOME, home_language("pl"))
    assert Utterance.of("roletami", polish, Knowledge({"roleta": 5})).folded == ("roleta",)
    known = Knowledge({"timer": 5})
    assert Utterance.of("timer 5 mniutes", NAMES, known).literals[0].value == 300.0
    assert not Utterance.of("the CO2 level", NAMES).literals


def test_utterance_marks_what_ends_like_a_question():
    assert Utterance.of("desk lamp on?", NAMES).masked[1] == "?"
    assert "?" not in Utterance.of("desk lamp on", NAMES).masked
