"""Values that texts spell."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.language.languages import ENGLISH, NEUTRAL, Language
from groundling.language.literals import read_literals

CASES = [
    ("set the hall to 21.5 degrees", [("number", 21.5, "degree")]),
    ("minus two degrees", [("number", -2.0, "degree")]),
    ("20°C", [("number", 20.0, "degree")]),
    ("50% now", [("percentage", 50.0, "percent")]),
    ("fifty percent", [("percentage", 50.0, "percent")]),
    ("a hundred percent", [("percentage", 100.0, "percent")]),
    ("set it to half", [("percentage", 50.0, "percent")]),
    ("one hundred and twenty", [("number", 120.0, "")]),
    ("two thousand five hundred", [("number", 2500.0, "")]),
    ("twenty one", [("number", 21.0, "")]),
    ("two three", [("number", 2.0, ""), ("number", 3.0, "")]),
    ("between two and three", [("number", 2.0, ""), ("number", 3.0, "")]),
    ("in 1 hour and 20 minutes", [("duration", 4800.0, "second")]),
    ("two and a half minutes", [("duration", 150.0, "second")]),
    ("an hour and a half", [("duration", 5400.0, "second")]),
    ("half an hour", [("duration", 1800.0, "second")]),
    ("a quarter of an hour", [("duration", 900.0, "second")]),
    ("at 7:30am", [("time", "07:30", "")]),
    ("at 6 pm", [("time", "18:00", "")]),
    ("12 am", [("time", "00:00", "")]),
    ("half past six", [("time", "06:30", "")]),
    ("quarter to nine", [("time", "08:45", "")]),
    ("5 minutes past six", [("time", "06:05", "")]),
    ("6 o'clock", [("time", "06:00", "")]),
    ("noon", [("time", "12:00", "")]),
    ("the 2nd lamp", [("ordinal", 2.0, "")]),
    ("the third gray lamp", [("ordinal", 3.0, ""), ("colour", "grey", "")]),
    ("move two steps past the chair", [("number", 2.0, "")]),
    ("turn it off", []),
]


@pytest.mark.parametrize(("text", "found"), CASES)
def test_literals_of_english(text, found):
    read = read_literals(text.split(), ENGLISH)
    assert [(each.type, each.value, each.unit) for each in read] == found


def test_literals_know_their_places():
    [literal] = read_literals(["two", "and", "a", "half", "minutes", "of", "rest"], ENGLISH)
    assert literal.places == (0, 1, 2, 3, 4)


def test_literals_of_another_language():
    german = Language(
        "german",
        numerals={"zwei": 2, "zwanzig": 20},
        units={"Minuten": ("second", 60), "Grad": ("degree", 1)},
        fractions={"halb": 0.5},
        colours={"rot": "red"},
    )
    read = read_literals(["zwanzig", "Grad", "in", "zwei", "Minuten", "rot"], german)
    assert [each.value for each in read] == [20.0, 120.0, "red"]
    again = Language.from_dict(german.to_dict())
    assert read_literals(["zwei", "Minuten"], again)[0].value == 120.0
    assert [e.type for e in read_literals(["7:15", "und", "40", "%"], NEUTRAL)] == [
        "time",
        "percentage",
    ]


WORDS = "a an and half hour minutes 3 -2 7:30 to past six hundred twenty of percent % - o'clock"


@given(st.lists(st.sampled_from(WORDS.split(" "))))
def test_literals_of_any_order_end_and_stay_inside(words):
    for literal in read_literals(words, ENGLISH):
        assert literal.places
        assert set(literal.places) <= set(range(len(words)))


@given(st.text(max_size=40))
def test_literals_of_any_text(text):
    read_literals(text.split(), ENGLISH)


@pytest.mark.parametrize("text", ["hundred " * 200, "9" * 400, "million " * 60, "1e400"])
def test_literals_are_never_infinite(text):
    for words in (text.split(), ["in", *text.split(), "hours"], [*text.split(), "th"]):
        for found in read_literals(words, ENGLISH):
            assert found.type == "time" or math.isfinite(found.value)
