"""Words that nothing explains."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling import Demonstration, Follower, GroundingGraph
from groundling.features.coverage import trust


class Lights:
    """Lights by name; states are what was done."""

    def __init__(self, *names):
        self.names = names

    def actions(self, state):
        return tuple((verb, name) for verb in ("on", "off") for name in self.names)

    def step(self, state, action):
        return (*state, action)

    def ground(self, state, action, after):
        return GroundingGraph(
            {"event": {action[0]: True}, "light": {"name": action[1]}}, [("event", "light", "of")]
        )


HOME = Lights("kitchen", "hall", "attic")
TAUGHT = [
    Demonstration(f"{said} the {name} light", HOME, (), ((verb, name),))
    for said, verb in (("turn on", "on"), ("switch off", "off"), ("light", "on"))
    for name in HOME.names
    for _ in range(4)
]


@pytest.fixture(scope="module")
def follower():
    return Follower(parser="chain:english").fit(TAUGHT, check=False)


def test_words_that_nothing_explains_lower_the_confidence(follower):
    known = follower.follow("turn on the hall light", HOME, ())
    assert known.unexplained == ()
    assert known.confidence > 0.8
    strange = follower.follow("feed the cat in the kitchen", HOME, ())
    assert strange.unexplained == ("feed", "cat")
    assert strange.confidence < 0.1
    assert strange.to_dict()["unexplained"] == ["feed", "cat"]


def test_new_names_typos_and_numbers_are_explained(follower):
    world = Lights("pantry", "cellar")
    assert follower.follow("turn on the pantry light", world, ()).unexplained == ()
    assert follower.follow("tuurn on the hall light 2", HOME, ()).unexplained == ()


def test_names_that_the_plan_does_not_have_explain_nothing(follower):
    plan = follower.follow("turn on the pantry light", HOME, ())
    assert plan.unexplained == ("pantry",)
    assert plan.confidence < 0.5


def test_coverage_survives_saving(follower, tmp_path):
    loaded = Follower.load(follower.save(tmp_path / "model"))
    strange = loaded.follow("feed the cat in the kitchen", HOME, ())
    assert strange == follower.follow("feed the cat in the kitchen", HOME, ())


@given(
    st.dictionaries(st.text(min_size=1), st.integers(1, 50), max_size=8),
    st.integers(0, 30),
    st.integers(0, 30),
)
def test_trust_falls_with_unknown_words(counts, size, unknown):
    unknown = min(unknown, size)
    values = [trust(counts, size, k) for k in range(unknown + 1)]
    assert all(0 <= value <= 1 for value in values)
    assert all(one >= other - 1e-12 for one, other in pairwise(values))


def test_another_letter_in_a_short_word_makes_another_word(follower):
    plan = follower.follow("turn on the hill light", HOME, ())
    assert plan.unexplained == ("hill",)
    assert follower.follow("turn on the hlal light", HOME, ()).unexplained == ()


def test_quantifiers_are_known_and_negations_are_not(follower):
    assert follower.follow("turn on the other hall light", HOME, ()).unexplained == ()
    assert follower.follow("do not turn on the hall light", HOME, ()).unexplained == ("not",)
