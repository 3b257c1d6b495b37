import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import InstructionError, ParseError, SettingError
from groundling.language import (
    CachedParser,
    ChainParser,
    ConlluParser,
    Instruction,
    Parser,
    load_parser,
    write_conllu,
)


def test_chain_parser_splits_sentences_and_tags_punctuation():
    first, second = ChainParser().parse("Turn left, then stop. Wait")
    assert first.tokens == ("Turn", "left", ",", "then", "stop", ".")
    assert first.heads == (-1, 0, 1, 2, 3, 4)
    assert first.tags == ("", "", "PUNCT", "", "", "PUNCT")
    assert first.text == "Turn left, then stop."
    assert second.tokens == ("Wait",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("走到沙发旁边", 6),
        ("ソファまで歩け", 7),
        ("اذهب إلى الباب", 3),
        ("подойди к окну", 3),
        ("ให้เดินไป", 7),
        ("🙂🙂", 2),
    ],
)
def test_chain_parser_takes_any_script(text, words):
    [instruction] = ChainParser().parse(text)
    assert len(instruction) == words
    assert "".join(instruction.tokens) == text.replace(" ", "")


def test_parsers_give_nothing_for_no_words():
    for text in ("", "  \n", "...", "\x00", "?!"):
        assert ChainParser().parse(text) == []
    assert ChainParser().parse_many([]) == []


@given(st.text(max_size=80))
def test_chain_parser_always_gives_trees(text):
    for instruction in ChainParser().parse(text):
        assert instruction.heads.count(-1) == 1
        assert all(word and not word.isspace() for word in instruction.tokens)


@pytest.fixture
def file(tmp_path):
    turn = Instruction(
        ("Turn", "left", "."),
        (-1, 0, 0),
        ("root", "advmod", "punct"),
        ("VERB", "ADV", "PUNCT"),
        "Turn left.",
    )
    stop = Instruction(("Stop", "!"), (-1, 0), ("root", "punct"), text="Stop!")
    write_conllu([turn, stop], tmp_path / "trees.conllu")
    return tmp_path / "trees.conllu"


def test_conllu_parser_finds_sentences_by_text_and_by_words(file):
    parser = ConlluParser(file)
    assert parser.parse("Turn left.")[0].relations == ("root", "advmod", "punct")
    assert parser.parse("Turn left .") == parser.parse("Turn  left.")
    assert [len(each) for each in parser.parse("Turn left. Stop!")] == [3, 2]
    assert parser.parse_many(["Stop!", ""]) == [parser.parse("Stop!"), []]


def test_conllu_parser_complains_or_falls_back(file):
    with pytest.raises(ParseError, match=r"'jump' must be in the parsed files.*trees\.conllu"):
        ConlluParser(file).parse("jump")
    parser = ConlluParser(file, fallback=ChainParser())
    assert parser.parse("jump") == ChainParser().parse("jump")
    assert parser.name.endswith("+chain@2")


def test_conllu_parser_reads_folders_and_lists(file):
    assert ConlluParser(file.parent).parse("Stop!") == ConlluParser([file]).parse("Stop!")
    with pytest.raises(ParseError, match="must contain"):
        ConlluParser([file.parent / "..", file])


def test_conllu_parser_name_follows_the_content(file):
    before = ConlluParser(file).name
    assert ConlluParser(file).name == before
    write_conllu([Instruction.chain("go")], file)
    assert ConlluParser(file).name != before


def test_load_parser_by_name(file):
    assert load_parser("chain").name == load_parser("chain@2").name == "chain@2"
    parser = load_parser(f"conllu:{file}")
    assert load_parser(parser.name).name == parser.name
    assert isinstance(load_parser("default"), CachedParser)
    assert load_parser("spacy:some_name").parser.pipeline == "some_name"


def test_load_parser_keeps_parsers():
    parser = ChainParser()
    assert load_parser(parser) is parser
    assert isinstance(parser, Parser)


@pytest.mark.parametrize("name", ["defualt", "spacy", "spacy:", "conllu:", "", "stanza:en"])
def test_load_parser_refuses_unknown_names(name):
    with pytest.raises(SettingError, match="The parser must be one of"):
        load_parser(name)


def test_load_parser_hints_and_refuses_other_things():
    with pytest.raises(SettingError, match="Did you mean 'default'"):
        load_parser("defualt")
    with pytest.raises(SettingError, match="got int"):
        load_parser(3)


def test_cached_parser_complains_like_its_parser(tmp_path):
    for texts in ([None], ["go", None]):
        with pytest.raises(InstructionError, match="NoneType"):
            load_parser("default").parser.parse_many(texts)
        with pytest.raises(InstructionError, match="NoneType"):
            load_parser("default").parse_many(texts)


def test_import_does_not_load_spacy():
    code = "import sys, groundling.language; sys.exit('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
