"""The index finds what comparing a word with every name finds."""

from hypothesis import given
from hypothesis import strategies as st

from groundling.features.lexicon import Lexicon, index_names, matches_name
from groundling.features.name_index import LayeredValues
from groundling.language import ENGLISH

WORDS = st.text("abls Y", min_size=0, max_size=9)


def compared(word, values, rare):
    exact = [(k, v) for k in values for v in values[k] if ENGLISH.fold(v) == word]
    near = [
        (k, v)
        for k in values
        for v in values[k]
        if (k, v) not in exact and matches_name(word, v, rare=rare, language=ENGLISH)
    ]
    return sorted(exact), sorted(near)


@given(WORDS, st.sets(WORDS), st.sets(WORDS), st.booleans())
def test_index_finds_what_comparing_with_every_name_finds(word, names, kinds, rare):
    word = ENGLISH.fold(word)
    values = {"name": names, "kind": kinds}
    wanted = compared(word, values, rare)
    assert index_names(values, ENGLISH).find(word, rare=rare) == wanted
    base = index_names({"name": names}, ENGLISH)
    layered = index_names({"kind": kinds}, ENGLISH, base)
    for _ in range(2):  # the second time it is remembered
        assert layered.find(word, rare=rare) == wanted


def test_layered_values_are_those_of_both_layers():
    known = {"item": {"sofa"}, "wall": {"brick"}}
    values = LayeredValues(known, {"item": {"lamp"}})
    assert dict(values) == {"item": {"sofa", "lamp"}, "wall": {"brick"}}
    assert "item" in values
    assert "floor" not in values
    assert known["item"] == {"sofa"}
    lexicon = Lexicon()
    assert lexicon.look_up("lamp", values) == (("item", "lamp"),)
    assert lexicon.look_up("sofas", values, language=ENGLISH) == (("item", "sofa"),)
