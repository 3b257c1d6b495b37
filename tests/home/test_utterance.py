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


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("I'm leaving, lock the front door", "lock the front door"),
        ("it's late so turn off the lights", "turn off the lights"),
        ("dim the desk lamp, it's too bright", "dim the desk lamp"),
        ("turn on the desk lamp and the radio", ""),
        ("it's dark in the den", ""),
    ],
)
def test_a_statement_beside_a_command_is_a_reason(text, command):
    assert Utterance.of(text, NAMES).without_reason == command


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("leave the desk lamp on and turn off the other lights",
         "turn off all lights except the desk lamp"),
        ("keep the radio on but turn off everything else", "turn off everything except the radio"),
        ("turn off all the lights but leave the desk lamp on",
         "turn off all the lights except the desk lamp"),
        ("turn off the radio but leave the desk lamp on", "turn off the radio"),
        ("make it a couple of degrees warmer", "make it 2 degrees warmer"),
        ("play leave the light on", "play leave the light on"),
    ],
)  # fmt: skip
def test_phrases_are_read_in_plain_words(text, words):
    assert " ".join(Utterance.of(text, NAMES).words) == words


def test_names_are_shortened_where_that_is_unique():
    home = Home.from_data({
        "areas": [{"id": "den", "name": "Den"}, {"id": "hall", "name": "Hall"}],
        "entities": [
            {"id": "media_player.tv", "name": "Den TV", "area": "den"},
            {"id": "lock.front", "name": "Front Door Lock", "area": "hall"},
            {"id": "light.a", "name": "Den Ceiling Light", "area": "den"},
            {"id": "light.b", "name": "Hall Ceiling Light", "area": "hall"},
        ],
    })  # fmt: skip
    names = HomeNames(home, home_language("en"))

    def named(text):
        found = Utterance.of(text, names).of_kind("name")
        return {id_ for each in found if each.full for id_ in each.ids}

    assert named("is the television on") == {"media_player.tv"}
    assert named("lock up the front door") == {"lock.front"}
    assert named("turn on the ceiling light") == set()


def test_articles_and_verbs_alone_are_no_part_of_a_name():
    home = Home.from_data({"entities": [{"id": "script.a", "name": "Close Up the House"}]})
    names = HomeNames(home, home_language("en"))
    assert Utterance.of("close the curtains", names).mentions == ()
    assert Utterance.of("close up the house", names).mentions[0].full


def test_the_plural_of_a_kind_is_not_a_sensor_of_that_name():
    home = Home.from_data({"entities": [{"id": "binary_sensor.light", "name": "Light"}]})
    names = HomeNames(home, home_language("en"))
    assert Utterance.of("turn off the lights", names).mentions == ()
    assert Utterance.of("is the light on", names).mentions != ()


def test_numbers_too_large_to_read_are_noticed():
    assert Utterance.of("in 10000000000 minutes", NAMES).has_unread_number
    assert not Utterance.of("in 10 minutes", NAMES).has_unread_number
