import pytest

from groundling.errors import InstructionError
from groundling.language import ENGLISH, split_sentences, split_words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("turn left", ["turn left"]),
        ("Turn left. Stop!  Wait?", ["Turn left.", "Stop!", "Wait?"]),
        ("go; stop", ["go;", "stop"]),
        ("what?! go", ["what?!", "go"]),
        ("go\n\nstop\r\nwait", ["go", "stop", "wait"]),
        ("wait... then go", ["wait...", "then go"]),
        ("walk 2.5 m. stop", ["walk 2.5 m.", "stop"]),
        ("see Dr. Bell. stop", ["see Dr. Bell.", "stop"]),
        ("use tools, e.g. a saw. stop", ["use tools, e.g. a saw.", "stop"]),
        ('say "stop." then go', ['say "stop."', "then go"]),
        ("向左转。走到沙发！停", ["向左转。", "走到沙发！", "停"]),
        ("قف؟ امش", ["قف؟", "امش"]),
        ("", []),
        (" \t\n ", []),
        ("... !!! ,", []),
        ("\x00", []),
        ("go\x00left", ["go left"]),
        ("🙂", ["🙂"]),
        ("\ud800", ["\ufffd"]),
    ],
)
def test_split_sentences(text, sentences):
    assert split_sentences(text, ENGLISH) == sentences


def test_split_sentences_refuses_what_is_no_text():
    with pytest.raises(InstructionError, match="NoneType"):
        split_sentences(None)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("turn left,then stop.", ["turn", "left", ",", "then", "stop", "."]),
        ("the t-junction's end", ["the", "t-junction's", "end"]),
        ("at 10:30 walk 1,000 m", ["at", "10:30", "walk", "1,000", "m"]),
        ("走到椅子", ["走", "到", "椅", "子"]),
        ("いすへ3歩", ["い", "す", "へ", "3", "歩"]),
        ("اتجه يسارا", ["اتجه", "يسارا"]),
        ("café", ["café"]),
        ("cafe\u0301 x", ["cafe\u0301", "x"]),
        ("go 👍🏽 now", ["go", "👍🏽", "now"]),
    ],
)
def test_split_words(sentence, words):
    assert split_words(sentence) == words


@pytest.mark.parametrize(
    "run", ["." * 200_000 + "a", "." * 1000 + "'" * 200_000 + "a", "?!" * 100_000 + "a"]
)
def test_split_sentences_takes_endless_runs_of_marks(run):
    assert split_sentences(run) == [run]
    assert split_words(run)[-1] == "a"
