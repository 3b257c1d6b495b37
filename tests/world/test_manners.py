"""Manners are found from sequences of primitive moves, and give them again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import WorldError
from groundling.world.manners import PLAIN, Manner, explain_sequence, learn_manners

ROUTES = st.lists(
    st.tuples(st.lists(st.sampled_from(["left", "right"]), max_size=2), st.just("walk")),
    min_size=1,
    max_size=5,
)
PATTERNS = st.lists(st.sampled_from(["left", "right", "stay"]), min_size=1, max_size=4)


@given(ROUTES, PATTERNS, st.sampled_from(["before turns", "before move", "after move"]))
def test_manner_that_made_a_sequence_is_among_those_that_explain_it(route, pattern, slot):
    manner = Manner(tuple(pattern), slot)
    found = list(explain_sequence(manner.render(route), {"": route}))
    assert manner in found
    assert all(each.render(route) == manner.render(route) for each in found)


def test_what_no_manner_explains_has_none():
    assert not list(explain_sequence(["walk", "jump"], {"": [((), "walk"), ((), "walk")]}))


def test_routes_are_told_apart():
    routes = {"": [((), "walk"), (("left",), "walk")], "other": [(("left",), "walk"), ((), "walk")]}
    assert list(explain_sequence(["left", "walk", "walk"], routes)) == [Manner(route="other")]


def test_fewest_manners_are_learnt():
    early, late = Manner(("stay",), "before turns"), Manner(("stay",), "before move")
    assert learn_manners([[early, late], [late], [PLAIN], [early, late]]) == (late, PLAIN)


def test_pattern_needs_a_slot():
    with pytest.raises(WorldError, match="if and only if `pattern` is"):
        Manner(("stay",))
