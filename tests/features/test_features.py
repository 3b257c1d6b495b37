"""Joined features: labels of words and nodes, lexicon, index, names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import LexiconError, SettingError
from groundling.features.feature_settings import Features
from groundling.features.labels import (
    NUMBER,
    NodeLabel,
    NodeLabeller,
    WordLabel,
    WordLabeller,
    kind_of,
    meaning_of,
)
from groundling.features.lexicon import Lexicon, matches_name
from groundling.features.reader import Reader
from groundling.features.space import FeatureSpace
from groundling.language import ENGLISH, NEUTRAL, ChainParser, Instruction, Language
from groundling.world.graph import Label


def names(space, words, nodes):
    """Return (feature, value) of all pairs of the labels."""
    pairs = np.array([(w, n) for w in range(len(words)) for n in range(len(nodes))])
    joined = space.join(words, nodes, pairs[:, 0], pairs[:, 1], grow=True)
    return [
        (space.name(key), round(float(value), 3))
        for key, value in zip(joined.key, joined.value, strict=True)
    ]


# ---- joining --------------------------------------------------------------------------------


def test_space_conjunctions_of_indicators_and_strings():
    found = names(
        FeatureSpace(joins=("conjunction",)),
        [WordLabel("word=top")],
        [NodeLabel("near"), NodeLabel("side", "side", "North")],
    )
    assert found == [("word=top ∧ near", 1.0), ("word=top ∧ side=North", 1.0)]


def test_space_slots_hide_values_and_fire_when_they_agree():
    space = FeatureSpace(joins=("conjunction", "slot"), slots=("floor",))
    words = [WordLabel("word=‹floor›"), WordLabel("word=‹floor›", "floor", "brick")]
    nodes = [NodeLabel("front.floor", "floor", "Brick"), NodeLabel("back.floor", "floor", "grass")]
    assert names(space, words, nodes) == [("word=‹floor› ∧ front.floor~", 1.0)]


def test_space_values_of_slots_join_words_that_spell_none():
    space = FeatureSpace(joins=("conjunction", "slot", "value"), slots=("floor",))
    words = [
        WordLabel(""), WordLabel("word=‹floor›"), WordLabel("word=bricky"),
        WordLabel("next=path word=bricky"), WordLabel("word=‹floor›", "floor", "grass"),
    ]  # fmt: skip
    nodes = [NodeLabel("front.floor", "floor", "brick"), NodeLabel("far", "number", 2.0)]
    assert names(space, words, nodes) == [("word=bricky ∧ front.floor=brick", 1.0)]


def test_space_numerals_and_ordinals_match_by_value():
    space = FeatureSpace(joins=("slot",))
    words = [WordLabel("word=‹number›", "number", 2.0), WordLabel("word=‹ordinal›", "ordinal", 2.0)]
    nodes = [NodeLabel("distance", "number", 2.0), NodeLabel("distance", "number", 3.0)]
    assert [name for name, _ in names(space, words, nodes)] == [
        "word=‹number› ∧ distance~",
        "word=‹ordinal› ∧ distance~",
    ]


def test_space_similarity_and_containment_of_strings():
    space = FeatureSpace(joins=("similarity", "contains"))
    nodes = [NodeLabel("name", "name", "old mill")]
    found = dict(names(space, [WordLabel("string", "string", "mill")], nodes))
    assert found == {"string≈name": 1.0, "string∈name": 1.0}
    near = dict(names(space, [WordLabel("string", "string", "mills")], nodes))
    assert 0.7 <= near["string≈name"] < 1
    assert names(space, [WordLabel("string", "string", "quarry")], nodes) == []


def test_space_own_functions_in_one_line():
    space = FeatureSpace(joins=(lambda word, node: [(f"{word}+{node}", 2.0)],))
    assert names(space, [WordLabel("a")], [NodeLabel("b")]) == [("a+b", 2.0)]


def test_space_keeps_what_fires_often_enough():
    space = FeatureSpace(min_count=2)
    words, nodes = [WordLabel("a"), WordLabel("b")], [NodeLabel("x")]
    joined = space.join(words, nodes, np.array([0, 1]), np.array([0, 0]), grow=True)
    space.index(np.concatenate([joined.key, joined.key[:1]]), np.ones(3))
    assert space.names() == ["a ∧ x"]


def test_space_filters_by_name():
    space = FeatureSpace(include="word", exclude="x$")
    words = [WordLabel("word=a"), WordLabel("tag=b")]
    nodes = [NodeLabel("x"), NodeLabel("y")]
    places = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    joined = space.join(words, nodes, *places, grow=True)
    space.index(joined.key, np.ones(len(joined.key)))
    assert space.names() == ["word=a ∧ y"]


def test_space_does_not_grow_unless_told():
    space = FeatureSpace()
    joined = space.join([WordLabel("a")], [NodeLabel("x")], np.array([0]), np.array([0]))
    assert len(joined.key) == 0
    assert space.places(np.array([7])).tolist() == [-1]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_space_names_and_places_belong_together(pairs):
    space = FeatureSpace(joins=("conjunction",))
    words = [WordLabel(f"word={i}") for i in range(6)]
    nodes = [NodeLabel(f"n{i}") for i in range(6)]
    w, n = np.array(pairs).T
    joined = space.join(words, nodes, w, n, grow=True)
    space.index(joined.key, np.ones(len(joined.key)))
    places = space.places(joined.key)
    listed = space.names()
    assert [listed[p] for p in places] == [f"word={a} ∧ n{b}" for a, b in pairs]
    assert len(set(listed)) == len(set(pairs))


# ---- labels ---------------------------------------------------------------------------------


def test_labels_numbers_are_real_values_bins_and_slots():
    labeller = NodeLabeller(numbers=("real", "bins", "equal"), bins=(1.0, 3.0))
    found = labeller.spell([Label("far", 2.0)], "front.")
    assert found == [
        (NodeLabel("front.far"), 2.0),
        (NodeLabel("front.far∈[1,3)"), 1.0),
        (NodeLabel("front.far", "number", 2.0), 1.0),
    ]


@pytest.mark.parametrize(
    ("number", "interval"),
    [(-5, "[-∞,1)"), (0.99, "[-∞,1)"), (1, "[1,3)"), (3, "[3,∞)"), (1e9, "[3,∞)")],
)
def test_labels_every_number_falls_in_one_interval(number, interval):
    assert NodeLabeller(bins=(1.0, 3.0)).interval(number) == interval


def test_labels_kinds_and_meanings():
    assert kind_of(Label("left:front.floor", "brick")) == "floor"
    assert meaning_of(WordLabel("w", "floor", "Brick")) == ("floor", "brick")
    assert meaning_of(WordLabel("string", "string", "brick")) is None
    assert meaning_of(NodeLabel("near")) is None


def test_labels_of_words_from_their_place_in_the_tree():
    walk = Instruction(
        ("walk", "to", "lamp"), (-1, 0, 1), ("root", "case", "obl"), ("VERB", "ADP", "NOUN")
    )
    labeller = WordLabeller(
        ("word", "first", "next", "previous", "head", "relation", "grandparent", "preposition",
         "verb", "tag")
    )  # fmt: skip
    cores = ["walk", "to", "‹item›"]
    assert labeller.names(walk, cores, 0, "walk") == [
        "word=walk", "first", "tag=VERB", "previous=^ word=walk", "head=^ word=walk",
        "dep=root word=walk",
    ]  # fmt: skip
    assert labeller.names(walk, cores, 2, "‹item›") == [
        "word=‹item›", "tag=NOUN", "word=‹item› next=$", "previous=to word=‹item›",
        "head=to word=‹item›", "dep=obl word=‹item›", "grandparent=walk word=‹item›",
        "grandparent=walk head=to word=‹item›", "preposition=to word=‹item›",
        "verb=walk word=‹item›", "preposition=to verb=walk word=‹item›",
    ]  # fmt: skip


# ---- reading --------------------------------------------------------------------------------


def reader(**settings):
    return Reader(ChainParser(), labeller=WordLabeller(("word",)), **settings)


def test_reading_drops_stop_words_but_never_all_words():
    made = Reader(ChainParser(), labeller=WordLabeller(("word",), frozenset({"please", "the"})))
    (instruction,) = made.read("please find the lamp")
    assert instruction.tokens == ("find", "lamp")
    (alone,) = made.read("please")
    assert alone.tokens == ("please",)


def test_reading_promotes_prepositions():
    walk = Instruction(("walk", "to", "sofa"), (-1, 2, 0), ("root", "case", "obl"))
    (read,) = reader(promote=("case",)).read(walk)
    assert read.heads == (-1, 0, 1)


def test_reading_words_with_learnt_senses_carry_them_by_extent():
    lexicon = Lexicon(learnt={"bench": {("item", "sofa"): 0.5}})
    (instruction,) = reader().read("bench")
    (labels,) = reader(lexicon=lexicon).label(instruction, {"item": {"sofa"}})
    assert (WordLabel("word=bench"), 1.0) in labels
    assert (WordLabel("word=‹item›", "item", "sofa"), 0.5) in labels


def test_reading_senses_follow_the_values_of_the_moment():
    made = reader()
    for value in ("library", "stable", "studio", "garage") * 3:
        # Each mapping is new, and may stand where the last one stood.
        assert made.sense(value, {"room": {value}}) == (("room", value),)
        assert made.sense("library", {"room": {"attic"}}) == ()


def test_reading_finds_names_of_several_characters_where_there_are_no_spaces():
    made = Reader(
        ChainParser(language=Language("mine", spaced=False, numerals={"十二": 12})),
        labeller=WordLabeller(("word", "next")),
        lexicon=Lexicon({"にんじん": [("crop", "人参")]}),
    )
    [instruction] = made.read("玉ねぎと人参に水を十二杯、にんじん")
    values = {"crop": {"ねぎ", "玉ねぎ", "人参"}, "number": ()}
    compound, owner = made.compound(instruction, values)
    assert compound.tokens == (
        "玉ねぎ", "と", "人参", "に", "水", "を", "十二", "杯", "、", "にんじん"
    )  # fmt: skip
    assert owner[:6] == (0, 0, 0, 1, 2, 2)
    assert compound.heads == tuple(range(-1, 9))
    labelled = made.label(instruction, values)
    assert len(labelled) == len(instruction)
    assert (WordLabel("word=‹crop›", "crop", "玉ねぎ"), 1.0) in labelled[0]
    assert (WordLabel("word=‹crop› next=と"), 1.0) in labelled[0]
    assert labelled[1] == labelled[2] == ()
    assert (WordLabel("word=‹number›", "number", 12.0), 1.0) in labelled[owner.index(6)]
    assert (WordLabel("word=‹crop›", "crop", "人参"), 1.0) in labelled[owner.index(9)]


def test_reading_finds_new_names_of_characters_in_any_language():
    made = reader()
    [instruction] = made.read("大根に水")
    assert made.label(instruction, {"crop": {"人参"}})[1] != ()
    new = made.label(instruction, {"crop": {"大根"}})
    assert any(label.value == "大根" for label, _ in new[0])
    assert new[1] == ()
    [spaced] = made.read("go to the sofa")
    assert made.compound(spaced, {"item": {"goto"}})[0] is spaced


# ---- lexicon --------------------------------------------------------------------------------


def test_lexicon_given_entries_come_before_string_match():
    lexicon = Lexicon(given={"Brick": [("item", "sofa")]})
    values = {"item": {"sofa"}, "floor": {"brick"}}
    assert lexicon.look_up("brick", values) == (("item", "sofa"),)
    assert lexicon.look_up("brick", {"floor": {"brick"}}) == (("floor", "brick"),)


def test_lexicon_given_words_are_found_with_the_endings_of_the_language():
    german = Language("german", plurals=(("en", ""), ("n", "")))
    lexicon = Lexicon({"rot": [("fence", "red")], "blau": [("fence", "blue")]})
    values = {"fence": {"red", "blue", "blauen"}}
    assert lexicon.look_up("roten", values, language=german) == (("fence", "red"),)
    assert lexicon.look_up("Blaun", values, language=german) == (("fence", "blue"),)
    assert lexicon.look_up("blauen", values, language=german) == (("fence", "blauen"),)
    assert lexicon.look_up("roten", {"crop": {"beans"}}, language=german) == ()
    assert lexicon.look_up("roten", values) == ()
    apart = Lexicon({"rot": [("fence", "red")], "roten": [("crop", "beet")]}, string_match=False)
    assert apart.look_up("roten", values, language=german) == ()


def test_lexicon_exact_matches_come_before_near_ones():
    values = {"floor": {"stone", "stones"}}
    assert Lexicon().look_up("stone", values) == (("floor", "stone"),)


def test_lexicon_numbers_need_to_be_asked_for():
    def look_up(word, values):
        return Lexicon().look_up(word, values, language=ENGLISH)

    assert look_up("two", {"number": ()}) == (("number", 2.0),)
    assert look_up("third", {"number": ()}) == (("ordinal", 3.0),)
    assert look_up("two", {"item": {"sofa"}}) == ()


def test_lexicon_knows_no_numerals_of_a_language_that_is_not_named():
    assert Lexicon().look_up("two", {"number": ()}) == ()
    assert Lexicon().look_up("2", {"number": ()}) == (("number", 2.0),)


def test_lexicon_numbers_are_numbers_however_they_are_written(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("tad = number:2\nminui = ordinal:1\n")
    lexicon = Lexicon.read(path)
    assert lexicon.look_up("tad", {"number": ()}) == (("number", 2.0),)
    assert lexicon.look_up("minui", {"number": ()}) == (("ordinal", 1.0),)
    path.write_text(lexicon.table())
    assert Lexicon.read(path) == lexicon
    path.write_text("tad = number:two\n")
    with pytest.raises(LexiconError, match=r"words.txt: .* 'tad' .* in digits; got 'two'"):
        Lexicon.read(path)


def test_reading_pairs_of_words_stand_for_values_at_their_last_word():
    made = reader()
    made.lexicon = Lexicon(learnt={"hat rack": {("item", "q7"): 0.5}})
    [instruction] = made.read("past the hat rack")
    labelled = made.label(instruction, {"item": {"q7"}})
    with_value = [any(label.value == "q7" for label, _ in labels) for labels in labelled]
    assert with_value == [False, False, False, True]


def test_lexicon_without_string_match_knows_only_what_is_given():
    assert Lexicon(string_match=False).look_up("brick", {"floor": {"brick"}}) == ()


@pytest.mark.parametrize(
    ("word", "value", "rare", "same"),
    [
        ("Brick", "brick", False, True),
        ("berries", "berry", False, True),
        ("hatrak", "hatrack", False, False),
        ("hatrak", "hatrack", True, True),
        ("mill", "old mill", False, True),
        ("of", "house of cards", False, False),
        ("ric", "brick", False, False),
        ("", "brick", False, False),
    ],
)
def test_lexicon_spellings(word, value, rare, same):
    assert matches_name(word, value, rare=rare, language=ENGLISH) is same


def test_lexicon_plurals_are_those_of_the_language():
    assert matches_name("cups", "cup", language=ENGLISH) is False  # too short a stem
    assert matches_name("berries", "berry", language=NEUTRAL) is False
    plural = Language("sylvan", plurals=(("rim", ""),))
    assert matches_name("lampyrim", "lampy", language=plural)


def test_lexicon_files_are_read_and_written(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("# rooms\nBench = item:sofa, item:chair  # both\n\ncement = floor:concrete\n")
    lexicon = Lexicon.read(path)
    assert lexicon.given["bench"] == (("item", "sofa"), ("item", "chair"))
    path.write_text(lexicon.table())
    assert Lexicon.read(path) == lexicon


@pytest.mark.parametrize(
    "line", ["bench", "= item:sofa", "bench = sofa", "bench = item:", "a = :b"]
)
def test_lexicon_files_with_broken_lines_say_which(tmp_path, line):
    path = tmp_path / "words.txt"
    path.write_text(f"lamp = item:lamp\n{line}\n")
    with pytest.raises(LexiconError, match=r"words.txt, line 2: .* must be of the form"):
        Lexicon.read(path)


def test_lexicon_files_that_cannot_be_read(tmp_path):
    with pytest.raises(LexiconError, match="cannot be read"):
        Lexicon.read(tmp_path / "nowhere.txt")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LexiconError, match="must be UTF-8"):
        Lexicon.read(tmp_path / "bytes.txt")


def test_settings_lexicons_are_read_from_files(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("bench = item:sofa\n")
    assert "bench" in Features(slots=("item",), lexicon=path).first_lexicon().given
    with pytest.raises(SettingError, match="must be a lexicon file"):
        Features(lexicon=tmp_path / "nowhere.txt")


def test_settings_single_names_may_be_written_without_a_tuple():
    assert Features(words="word", slots="item").slots == ("item",)


def test_word_labels_beside_name_a_known_word_with_all_others():
    words = Instruction.chain("the second cup from the right")
    cores = ["the", "‹ordinal›", "‹kind›", "from", "the", "right"]
    names = WordLabeller(("beside",)).names(words, cores, 1, "‹ordinal›")
    assert names == [
        f"beside={other} word=‹ordinal›" for other in ("the", "‹kind›", "from", "right")
    ]
    assert WordLabeller(("beside",)).names(words, cores, 5, "right") == []


def test_features_new_words_are_left_out_on_request():
    reader = Reader(ChainParser(), labeller=WordLabeller(("word",)), drops_new=True)
    reader.know({"go": 2, "to": 2, "the": 2}, {})
    [text] = reader.read("Could you go to the bricks")
    labelled = reader.label(text, {"floor": {"brick"}})
    assert [bool(each) for each in labelled] == [False, False, True, True, True, True]


def test_features_digits_shown_once_mean_their_value_only():
    reader = Reader(ChainParser(), labeller=WordLabeller(("word",)))
    reader.know({"5": 1, "7": 2, "both": 1}, {NUMBER: ()})
    [text] = reader.read("5 7 both")
    named = [{label.name for label, _ in each} for each in reader.label(text, {NUMBER: ()})]
    assert "word=5" not in named[0]
    assert {"word=7", "word=‹number›"} <= named[1]
    assert "word=both" in named[2]
