"""Languages: numerals, plurals, case, sentence ends and words, and files that hold them."""

import json

import pytest

from groundling.errors import InstructionError, SettingError
from groundling.language import (
    ENGLISH,
    NEUTRAL,
    ChainParser,
    Language,
    SpacyParser,
    language_of,
    load_language,
    load_parser,
    split_sentences,
    split_words,
)
from groundling.language.spacy_parser import SHIPPED_PIPELINE


@pytest.mark.parametrize(
    ("word", "value"),
    [("two", 2), ("Twelve", 12), ("forty-two", 42), ("2.5", 2.5), ("twice", 2), ("too", None),
     ("-", None), ("1" * 400, None), ("½", 0.5), ("²", None), ("", None), ("٣", 3), ("三", 3),
     ("two-three", None), ("forty-", None)],
)  # fmt: skip
def test_languages_english_numerals_have_values(word, value):
    assert ENGLISH.numeral(word) == value


@pytest.mark.parametrize(
    ("word", "value"), [("second", 2), ("3rd", 3), ("11th", 11), ("two", None), ("th", None)]
)
def test_languages_english_ordinals_have_values(word, value):
    assert ENGLISH.ordinal(word) == value


def test_languages_neutral_knows_digits_of_any_script_and_no_word():
    assert [NEUTRAL.numeral(each) for each in ("7", "७", "४२", "seven")] == [7, 7, 42, None]
    assert NEUTRAL.ordinal("third") is None
    assert NEUTRAL.singular("halls") == "halls"


def test_languages_case_can_matter():
    exact = Language("exact", numerals={"Ni": 2}, cased=False)
    assert exact.numeral("Ni") == 2
    assert exact.numeral("ni") is None


def test_languages_without_spaces_have_characters_for_words_and_keep_numbers():
    unspaced = Language("unspaced", spaced=False)
    assert split_words("kota12mi.", unspaced) == ["k", "o", "t", "a", "12", "m", "i", "."]


def test_languages_a_tokeniser_of_the_user_cuts_words():
    halves = Language("halves", segment=lambda text: [text[:2], " ", text[2:]])
    assert [turn.tokens for turn in ChainParser(language=halves).parse("kota")] == [("ko", "ta")]
    broken = Language("broken", segment=lambda text: text)
    with pytest.raises(InstructionError, match="must return a list of words; got 'kota'"):
        ChainParser(language=broken).parse("kota")


def test_languages_sentence_ends_and_abbreviations_are_theirs():
    language = Language("mine", sentence_ends="|", abbreviations=("vgl",))
    assert split_sentences("eins | zwei vgl. drei. vier", language) == [
        "eins |", "zwei vgl. drei.", "vier",
    ]  # fmt: skip
    assert split_sentences("see Dr. Bell") == ["see Dr.", "Bell"]


def test_languages_are_read_from_files(tmp_path):
    path = tmp_path / "sindarin.json"
    path.write_text(json.dumps({"numerals": {"tad": 2}, "plurals": [["in", ""]]}))
    language = load_language(str(path))
    assert (language.name, language.numeral("tad")) == ("sindarin", 2.0)
    assert Language.from_dict(json.loads(json.dumps(language.to_dict()))) == language
    parser = load_parser(f"chain:{path}")
    assert language_of(parser) == language
    assert parser.name == "chain:sindarin@2"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("{", "cannot be read"), ("[]", "must contain a JSON object; got list"),
     ('{"numerals": {"tad": "two"}}', "must map words to numbers"), ('{"numerals": 3}', "such as"),
     ('{"words": []}', "no field 'words'")],
)  # fmt: skip
def test_languages_that_are_broken_say_what_is_wrong(tmp_path, content, complaint):
    path = tmp_path / "broken.json"
    path.write_text(content)
    with pytest.raises(SettingError, match=complaint):
        Language.read(path)


def test_languages_with_a_tokeniser_cannot_be_written():
    with pytest.raises(SettingError, match="must not have a `segment` function"):
        Language("halves", segment=list).to_dict()


def test_languages_parsers_say_what_they_speak():
    assert language_of(load_parser("chain")) == NEUTRAL
    assert language_of(load_parser("chain:english")) == ENGLISH
    assert language_of(load_parser("default")) == ENGLISH
    assert language_of(load_parser("default:neutral")) == NEUTRAL
    assert load_parser("default:neutral").name.startswith("default:neutral@")
    with pytest.raises(SettingError, match="Did you mean 'english'"):
        load_parser("chain:englsh")

    class Mine:
        name = "mine"

        def parse(self, text):
            return []

        def parse_many(self, texts):
            return [[] for _ in texts]

    assert language_of(Mine()) == NEUTRAL


def test_languages_of_spacy_pipelines_are_told_or_known_by_their_code():
    assert SpacyParser(SHIPPED_PIPELINE).spoken == ENGLISH
    mine = Language("mine", abbreviations=("zzz",))
    parser = SpacyParser(SHIPPED_PIPELINE, language=mine)
    assert language_of(parser) == mine
    assert len(parser.parse("turn zzz. left")) == 1
