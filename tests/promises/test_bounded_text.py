"""Endless, wild and empty texts: a clear error, or bounded time and memory."""

import tracemalloc

import pytest

from groundling import Follower, GroundlingError
from groundling.errors import InstructionError, LimitError
from groundling.language import ChainParser, ConlluParser, Instruction, Limits, load_parser
from tests.worlds import Line, line_demonstrations

WILD = (
    "🙂" * 50,
    "go\u200bleft",
    "اذهب يسارا",
    "go\0left",
    "\ud800 go",
    "a" * 5000,
    "e\u0301" * 999,
)


@pytest.fixture(scope="module")
def fitted():
    return Follower(parser="chain").fit(line_demonstrations())


def test_bounded_text_has_a_limit_of_characters():
    for parser in (load_parser("chain"), load_parser("default")):
        with pytest.raises(LimitError, match="at most 100,000 characters; got 10,000,000"):
            parser.parse("a" * 10_000_000)


def test_bounded_text_has_a_limit_of_words():
    for parser in (load_parser("chain"), load_parser("default")):
        with pytest.raises(LimitError, match=r"at most 10,000 words; got .*Split it"):
            parser.parse("go left. " * 6_000)


def test_bounded_text_limits_can_be_raised_and_lowered(tmp_path):
    assert len(ChainParser(Limits(words=20_000)).parse("go " * 12_000)[0]) == 12_000
    parser = load_parser("chain", limits=Limits(characters=5))
    with pytest.raises(LimitError, match="at most 5 characters; got 7"):
        parser.parse("go left")
    (tmp_path / "a.conllu").write_text("1\tgo\t_\t_\t_\t_\t0\troot\t_\t_\n")
    looked_up = ConlluParser(tmp_path, fallback=ChainParser(), limits=Limits(words=3))
    with pytest.raises(LimitError, match="at most 3 words; got 4"):
        looked_up.parse("go left and right")


def test_bounded_text_errors_do_not_repeat_the_text():
    with pytest.raises(LimitError) as caught:
        ChainParser().parse("x" * 5_000_000)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", WILD)
def test_bounded_text_wild_characters_are_read(fitted, text):
    assert fitted.follow(text, Line(), 1).actions


@pytest.mark.parametrize("text", ["", "  ", "...", "\0\0", "\u200b"])
def test_bounded_text_without_words_is_refused(fitted, text):
    with pytest.raises(InstructionError, match="must contain at least one word"):
        fitted.follow(text, Line(), 1)


def test_bounded_text_too_long_is_refused_before_any_work(fitted):
    tracemalloc.start()
    try:
        with pytest.raises(GroundlingError, match="characters"):
            fitted.follow("go left " * 1_000_000, Line(), 1)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_bounded_text_deep_chains_are_no_recursion():
    chain = Instruction.chain(["go"] * 5_000)
    assert len(chain.top_down()) == 5_000
    assert chain.tree().count("\n") == 4_999
    assert len(chain.select(range(0, 5_000, 2))) == 2_500
