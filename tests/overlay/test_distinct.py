"""Distinct keys are those that sorting finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.overlay import distinct as module
from groundling.overlay.distinct import distinct_keys


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 30)), max_size=80),
    st.integers(1, 100),
)
def test_distinct_keys_are_those_that_sorting_finds(pairs, some):
    keys = np.array([high << 32 | low for high, low in pairs], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SOME", some)
        found, where = distinct_keys(keys, 31)
        patch.setattr(module, "_MOST_EMPTY", 10**9)
        others, there = distinct_keys(keys, 31)
    distinct, places = np.unique(keys, return_inverse=True)
    for each, place in ((found, where), (others, there)):
        assert each.tolist() == distinct.tolist()
        assert place.tolist() == places.tolist()
