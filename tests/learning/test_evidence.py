"""First words where nothing is spelled like a value: the score test, and lexicons from it."""

import numpy as np
import pytest

from groundling import Demonstration, Features, Follower, GroundingGraph
from groundling.errors import LearningWarning
from groundling.features.lexicon import Lexicon
from groundling.learning.evidence import PlanValues, find_words
from groundling.models.plan import PlanModel
from groundling.overlay.settings import Overlay
from tests.learning.test_lexicon_induction import SYNONYMS, VERBS, make
from tests.test_follower import Rooms
from tests.worlds import objective_of

MORE_VERBS = ("seek", "try", "choose", "take", "show me", "head for", "walk to")
CODES = {"kitchen": "q1", "cellar": "q2", "garden": "q3", "attic": "q4"}


def shown_in_codes():
    """Rooms that are named by codes, with two words for each that resemble nothing."""
    rooms = list(CODES)
    found = []
    for number, verb in enumerate((*VERBS, *MORE_VERBS)):
        for place, room in enumerate(rooms):
            other = rooms[(place + 1 + number % 3) % 4]
            world = Rooms(CODES[room], CODES[other])
            for word in (room, SYNONYMS[room]):
                text = f"{verb} the {word}"
                found.append(Demonstration(text, world, "hall", (CODES[room],)))
    return found


class Shop:
    """So many things of a kind can be bought; numbers are the only values."""

    def actions(self, state):
        return (1, 2, 3) if state == 0 else ()

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"event": {"buy": True, "count": float(action)}}, [])

    def is_terminal(self, state):
        return state > 0


@pytest.fixture(scope="module")
def learnt():
    return make().fit(shown_in_codes())


def test_evidence_finds_words_for_values_that_nothing_is_spelled_like(learnt):
    for room, code in CODES.items():
        for word in (room, SYNONYMS[room]):
            entries = learnt.lexicon_.learnt.get(word, {})
            assert max(entries, key=entries.get, default=None) == ("room", code)


def test_evidence_leaves_other_words_alone(learnt):
    for word in (*VERBS, "the"):
        assert max(learnt.lexicon_.learnt.get(word, {"": 0.0}).values()) < 0.5


def test_evidence_makes_a_follower_that_chooses_by_words(learnt):
    world = Rooms("q3", "q1")
    assert learnt.follow("see the greens", world, "hall").actions == ("q3",)
    assert learnt.follow("see the stove", world, "hall").actions == ("q1",)


def test_evidence_same_seed_same_bytes(learnt):
    again = make().fit(shown_in_codes())
    assert again.lexicon_ == learnt.lexicon_
    assert again.theta_.tobytes() == learnt.theta_.tobytes()


def test_evidence_of_the_score_test_is_what_counting_gives():
    # Every demonstration has two rooms to choose from and a blind model that is even: the excess
    # of a room is a half each time its word is said, and its variance a quarter.
    objective, _ = objective_of(
        PlanModel.flat(), Overlay.flat(), shown_in_codes(),
        features=Features(words=("word",), slots=("room",)),
    )  # fmt: skip
    encoding = objective.scorer.encoding
    values = PlanValues(encoding, ("room",))
    texts = [str(each.instructions[0]).split() for each in objective.data.examples]
    words = ["kitchen", "see", "the"]
    said = np.array([[float(word in text) for word in words] for text in texts])
    blind = np.zeros(len(encoding.batch.candidate_gold))
    [found] = find_words(values, blind, said, np.ones(len(texts)), least=1.0, rounds=1)
    assert (words[found.word], found.meaning) == ("kitchen", ("room", "q1"))


def test_evidence_learns_words_for_numbers():
    world = Shop()
    words = {"min": 1, "tad": 2, "neled": 3}
    shown = [
        Demonstration(f"{verb} {word} {thing}", world, 0, (number,))
        for verb in ("buy", "bring", "take")
        for thing in ("cups", "nails", "eggs", "pens")
        for word, number in words.items()
    ]
    features = Features(words=("word",), slots=("count",), numbers=("equal",), lexicon="learn")
    follower = make(features=features).fit(shown)
    for word, number in words.items():
        entries = follower.lexicon_.learnt[word]
        assert max(entries, key=entries.get) == ("number", float(number))


def test_evidence_goes_together_with_words_that_are_given():
    given = {"stove": [("room", "q1")]}
    features = Features(
        words=("word",), slots=("room",), lexicon=Lexicon(given, learn=True)
    )  # fmt: skip
    follower = make(features=features).fit(shown_in_codes())
    assert follower.lexicon_.given["stove"] == (("room", "q1"),)
    entries = follower.lexicon_.learnt["greens"]
    assert max(entries, key=entries.get) == ("room", "q3")


def test_evidence_that_is_missing_is_a_warning_with_the_cure():
    world = Rooms("q1", "q2")
    shown = [Demonstration("go on", world, "hall", (room,)) for room in ("q1", "q2") * 3]
    with pytest.warns(LearningWarning, match=r"means a value of the slot .room."):
        make().fit(shown)


def test_evidence_is_kept_in_model_files(learnt, tmp_path):
    loaded = Follower.load(learnt.save(tmp_path / "model"))
    assert loaded.lexicon_ == learnt.lexicon_


def test_evidence_search_can_be_stopped():
    follower = make().fit(
        shown_in_codes(), progress=lambda step: step.stage == "finding first words"
    )
    assert not follower.lexicon_.learnt
