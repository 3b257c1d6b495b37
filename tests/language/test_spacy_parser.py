import copy
import importlib.util
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import InstructionError, SettingError
from groundling.language import ParseCache, ShippedParser, SpacyParser, load_parser, split_commands
from groundling.language import spacy_parser as module
from groundling.language.sentences import is_unspaced
from groundling.language.spacy_parser import SHIPPED_PIPELINE, SPACY_VERSIONS, universal_tags

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture(scope="module")
def parser():
    return ShippedParser()


def assert_sound(instruction):
    """One root, no cycle and no loose word; `Instruction` itself refuses anything else."""
    assert instruction.heads.count(-1) == 1
    assert len(instruction.top_down()) == len(instruction)
    assert instruction.relations[instruction.root] == "root"
    assert instruction.relations.count("root") == 1
    known = universal_tags | {""} if is_unspaced(instruction.text) else universal_tags
    assert all(tag in known for tag in instruction.tags)
    assert all(token and not token.isspace() for token in instruction.tokens)


def heads(instruction):
    return [instruction.tokens[head] if head >= 0 else "-" for head in instruction.heads]


def test_shipped_parser_keeps_no_words_of_the_texts_it_read(parser):
    """spaCy would keep every word for ever; a service reads new ones every day."""
    [before] = parser.parse("walk to the zorbel")
    kept = len(parser.language.vocab.strings)
    for number in range(50):
        parser.parse(f"walk to room{number} and take the gadget{number}")
    assert len(parser.language.vocab.strings) == kept
    assert parser.parse("walk to the zorbel") == [before]


def test_shipped_parser_is_used_by_several_threads_at_once(parser):
    texts = [f"take the gizmo{number} and walk to hall{number}" for number in range(60)]
    wanted = [parser.parse(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(parser.parse, texts)) == wanted


def test_shipped_parser_stays_usable_after_a_text_that_it_refuses(parser):
    with pytest.raises(InstructionError):
        parser.parse("go " * 20_000)
    assert parser.parse("go")[0].tokens == ("go",)
    assert copy.copy(parser).parse("go")[0].tokens == ("go",)


def test_shipped_parser_reads_left_as_a_direction(parser):
    [turn] = parser.parse("turn left")
    assert turn.heads == (-1, 0)
    assert turn.relations == ("root", "advmod")
    assert turn.tags == ("VERB", "ADV")


@pytest.mark.parametrize(
    "text",
    ["move forward two steps", "face the door", "head to the exit", "take a left at the bin"],
)
def test_shipped_parser_puts_the_verb_at_the_root(parser, text):
    [instruction] = parser.parse(text)
    assert instruction.root == 0
    assert instruction.tags[0] == "VERB"


def test_shipped_parser_splits_sentences_and_keeps_their_text(parser):
    first, second = parser.parse("Turn left.  Don't stop!")
    assert first.text == "Turn left."
    assert second.tokens == ("Do", "n't", "stop", "!")
    assert second.text == "Don't stop!"


def test_shipped_parser_with_split_commands(parser):
    [sentence] = parser.parse("turn left and walk to the sofa")
    assert [str(each) for each in split_commands(sentence)] == ["turn left", "walk to the sofa"]


def test_shipped_parser_does_not_depend_on_the_batch(parser):
    texts = ["turn left", "go to the door and stop", "", "there is a lamp behind you. wait"]
    assert parser.parse_many(texts) == [parser.parse(text) for text in texts]
    assert parser.parse_many([]) == []


def test_shipped_pipeline_is_small_and_says_its_licence():
    size = sum(path.stat().st_size for path in SHIPPED_PIPELINE.rglob("*") if path.is_file())
    assert size <= 7_000_000
    assert "CC BY-SA 4.0" in (SHIPPED_PIPELINE / "README.md").read_text(encoding="utf-8")
    assert "UD_English-EWT" in (SHIPPED_PIPELINE / "NOTICE").read_text(encoding="utf-8")
    assert not list(SHIPPED_PIPELINE.rglob("*.pkl"))


def test_shipped_pipeline_was_made_for_the_installed_spacy(parser, recwarn):
    import spacy

    wanted = parser.language.meta["spacy_version"]
    assert wanted == SPACY_VERSIONS
    assert spacy.util.is_compatible_version(spacy.about.__version__, wanted)
    spacy.load(SHIPPED_PIPELINE)
    assert not [each for each in recwarn if "W095" in str(each.message)]


@pytest.mark.parametrize("version", ["3.7.5", "3.8.1", "3.9.0", "3.9.0rc1", "4.0.0.dev2"])
def test_shipped_parser_refuses_versions_of_spacy_that_were_not_tested(monkeypatch, version):
    monkeypatch.setattr(module.metadata, "version", lambda package: version)
    with pytest.raises(SettingError, match=f"spaCy {version}"):
        ShippedParser().parse("go")


@pytest.mark.parametrize("version", ["3.8.2", "3.8.18", "3.8.99"])
def test_shipped_parser_takes_its_whole_minor_series(monkeypatch, version):
    monkeypatch.setattr(module.metadata, "version", lambda package: version)
    assert ShippedParser().parse("turn left")[0].heads == (-1, 0)


def test_spacy_parser_leaves_versions_to_other_pipelines(monkeypatch):
    monkeypatch.setattr(module.metadata, "version", lambda package: "3.9.1")
    assert SpacyParser(SHIPPED_PIPELINE).parse("turn left")


def test_shipped_pipeline_and_package_ask_for_the_same_versions_of_spacy():
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert f"spacy{SPACY_VERSIONS}" in project["dependencies"]


def test_shipped_parser_name_is_stable_and_needs_no_model():
    first, second = ShippedParser(), ShippedParser()
    assert first.name == second.name
    assert first.name.startswith("default@")
    assert "language" not in vars(first)
    assert load_parser(first.name).name == first.name


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "...", "?!;", "\x00", "\u200b"])
def test_shipped_parser_gives_nothing_for_no_words(parser, text):
    assert parser.parse(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "🙂 go 👩‍👩‍👧 left 👍🏽",
        "turn\x00left",
        "اتجه إلى اليسار ثم قف",
        "\u202eturn left\u202c",
        "向左转，然后走到沙发。停！",
        "a" * 5000,
        "(" * 3000 + "go" + ")" * 3000,
        "go-" * 2000,
        "\ud800 go",
        "go http://example.org/?q=left now",
        "go \u2028 left \u3000 now",
        "-1",
        ":) :( go",
    ],
)
def test_shipped_parser_takes_odd_text(parser, text):
    instructions = parser.parse(text)
    assert instructions
    for instruction in instructions:
        assert_sound(instruction)


def test_shipped_parser_takes_ten_thousand_words(parser):
    [instruction] = parser.parse("go left and " * 3333 + "stop")
    assert len(instruction) == 10_000
    assert_sound(instruction)


def test_shipped_parser_refuses_what_is_no_text(parser):
    with pytest.raises(InstructionError, match="must be a string"):
        parser.parse(7)
    with pytest.raises(InstructionError, match="characters"):
        parser.parse("a" * 1_000_001)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=4))
def test_shipped_parser_always_gives_trees(parser, texts):
    for instructions in parser.parse_many(texts):
        for instruction in instructions:
            assert_sound(instruction)


def test_default_parser_is_cached_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path))
    first = load_parser().parse("turn left. stop")
    again = load_parser("default")
    monkeypatch.setattr(again.parser, "parse_many", None)
    assert again.parse("turn left. stop") == first


def test_shipped_parser_travels_light(parser):
    parser.parse("go")
    copied = copy.copy(parser)
    assert "language" not in vars(copied)
    assert copied.name == parser.name


def test_spacy_parser_takes_a_folder(parser):
    other = SpacyParser(str(SHIPPED_PIPELINE))
    assert other.parse("turn left") == parser.parse("turn left")
    assert str(SHIPPED_PIPELINE) in other.name
    loaded = load_parser(f"spacy:{SHIPPED_PIPELINE}", cache=ParseCache(None))
    assert loaded.parse("turn left") == parser.parse("turn left")


def test_spacy_parser_refuses_a_pipeline_without_a_parser(tmp_path):
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(SettingError, match="must have a dependency parser; got only a tokeniser"):
        SpacyParser(tmp_path / "blank").parse("go")


def test_spacy_parser_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(SettingError, match="pip install spacy"):
        SpacyParser("en_core_web_sm").parse("go")


def test_spacy_parser_explains_an_unknown_pipeline():
    assert importlib.util.find_spec("en_no_such_pipeline") is None
    with pytest.raises(SettingError, match="'en_no_such_pipeline' cannot be loaded"):
        SpacyParser("en_no_such_pipeline").parse("go")


def test_spacy_parser_mends_several_roots():
    """A pipeline that attaches nothing still gives one tree."""
    import spacy
    from spacy.language import Language

    @Language.component("groundling_test_flat", assigns=["token.head"])
    def flat(document):
        return document

    language = spacy.blank("en")
    language.add_pipe("groundling_test_flat", name="parser")
    parser = SpacyParser("flat")
    parser.__dict__["language"] = language
    [instruction] = parser.parse("turn left now")
    assert instruction.heads == (-1, 0, 0)
    assert instruction.relations == ("root", "dep", "dep")
    assert instruction.tags == ("", "", "")
