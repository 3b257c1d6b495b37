"""Learning the lexicon by cross-fitting: synonyms carry over, seeded and resumable."""

from dataclasses import replace

import numpy as np
import pytest

from groundling import (
    DecisionModel,
    Demonstration,
    Features,
    Follower,
    Learning,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.errors import SettingError
from groundling.features.lexicon import Lexicon
from tests.learning.test_rounds import KilledError, killed_after
from tests.test_follower import Rooms
from tests.worlds import in_training, objective_of, slopes, weights_for

SYNONYMS = {"kitchen": "stove", "cellar": "depths", "garden": "greens", "attic": "rafters"}
VERBS = ("enter", "visit", "find", "see", "reach")


class MirroredRooms(Rooms):
    """The same rooms, and each demonstration once more in other words."""

    def mirror(self, demonstration):
        text = demonstration.instructions.replace("the ", "that wonderful ")
        return [replace(demonstration, instructions=text)]


def shown(rooms_of=Rooms):
    """Rooms by name and by synonyms, always beside one other room."""
    rooms = list(SYNONYMS)
    found = []
    for number, verb in enumerate(VERBS):
        for place, room in enumerate(rooms):
            other = rooms[(place + 1 + number % 3) % 4]
            world = rooms_of(room, other)
            found.append(Demonstration(f"{verb} the {room}", world, "hall", (room,)))
            found.append(Demonstration(f"{verb} the {SYNONYMS[room]}", world, "hall", (room,)))
    return found


def make(**settings):
    chosen = {
        "model": PlanModel.flat(),
        "overlay": Overlay.flat(),
        "features": Features(words=("word",), slots=("room",), lexicon="learn"),
        "learning": Learning(),
        "search": Search(max_length=1),
        "parser": "chain",
    } | settings
    return Follower(**chosen)


@pytest.fixture(scope="module")
def learnt():
    return make().fit(shown())


def test_lexicon_learns_synonyms(learnt):
    for room, word in SYNONYMS.items():
        entries = learnt.lexicon_.learnt.get(word, {})
        assert max(entries, key=entries.get, default=None) == ("room", room)
        assert 0 < entries["room", room] <= 1.5


def test_lexicon_leaves_words_that_mean_no_value_alone(learnt):
    for verb in (*VERBS, "the"):
        assert max(learnt.lexicon_.learnt.get(verb, {"": 0.0}).values()) < 0.5


def test_lexicon_is_learnt_from_what_was_shown_not_from_images_of_it(learnt):
    follower = make(learning=Learning(augment=True)).fit(shown(MirroredRooms))
    assert follower.lexicon_ == learnt.lexicon_
    assert "wonderful" in str(follower.weights())  # the rest is learnt from both


def test_lexicon_is_kept_in_model_files(learnt, tmp_path):
    loaded = Follower.load(learnt.save(tmp_path / "model"))
    assert loaded.lexicon_ == learnt.lexicon_
    world = Rooms("cellar", "garden")
    assert loaded.follow("see the greens", world, "hall") == learnt.follow(
        "see the greens", world, "hall"
    )


def test_lexicon_same_seed_same_bytes(learnt):
    again = make().fit(shown())
    assert again.lexicon_ == learnt.lexicon_
    assert again.theta_.tobytes() == learnt.theta_.tobytes()


def test_lexicon_learning_killed_and_resumed_ends_in_the_same_bytes(tmp_path):
    told = []
    whole = make().fit(shown(), checkpoint=tmp_path / "whole", progress=in_training(told.append))
    assert told[0].stage == "learning the lexicon"
    first = sum(each.stage == "learning the lexicon" for each in told)
    for steps in (2, first // 2, first, first + 3):
        folder = tmp_path / f"killed-{steps}"
        with pytest.raises(KilledError):
            make().fit(shown(), checkpoint=folder, progress=killed_after(steps))
        resumed = make().fit(shown(), checkpoint=folder)
        assert resumed.lexicon_ == whole.lexicon_
        assert resumed.theta_.tobytes() == whole.theta_.tobytes()


def test_lexicon_is_learnt_with_decisions_too():
    follower = make(model=DecisionModel(), overlay=Overlay.flat()).fit(shown())
    learnt = follower.lexicon_.learnt
    assert learnt
    for word, entries in learnt.items():
        if word in SYNONYMS.values():
            best = max(entries, key=entries.get)
            assert SYNONYMS[best[1]] == word


def test_lexicon_needs_slots():
    with pytest.raises(SettingError, match=r"Features.slots must list"):
        make(features=Features(words=("word",), lexicon="learn")).fit(shown())
    with pytest.raises(SettingError, match=r"Features.slots must list"):
        Features(words=("word",), numbers=(), lexicon="learn")


def test_lexicon_needs_alignments_or_whole_plans():
    with pytest.raises(SettingError, match=r"'learn'\)\. Use PlanModel or DecisionModel"):
        make(model=TransducerModel()).fit(shown())


@pytest.mark.parametrize("steps", [1, 3, 4])
def test_lexicon_learning_stops_where_progress_says_so(steps, tmp_path):
    told = []

    def stop(progress):
        told.append(progress.stage)
        return len(told) == steps

    follower = make().fit(shown(), progress=in_training(stop), checkpoint=tmp_path)
    assert told.count("learning the lexicon") == steps
    # The words of the first round are known after its three steps.
    assert bool(follower.lexicon_.learnt) == (steps >= 3)


def test_lexicon_learning_that_was_stopped_does_not_stay_so(learnt, tmp_path):
    def stop(progress):
        return progress.stage == "learning the lexicon" and progress.step == 4

    whole = make().fit(shown(), checkpoint=tmp_path / "whole")
    stopped = make().fit(shown(), checkpoint=tmp_path / "stopped", progress=in_training(stop))
    assert stopped.theta_.tobytes() != whole.theta_.tobytes()
    resumed = make().fit(shown(), checkpoint=tmp_path / "stopped")
    assert resumed.lexicon_ == learnt.lexicon_
    assert resumed.theta_.tobytes() == whole.theta_.tobytes()


def test_lexicon_gradient_by_extents_equals_finite_differences():
    features = Features(
        words=("word",), slots=("room",),
        lexicon=Lexicon(learnt={"stove": {("room", "kitchen"): 0.6, ("room", "attic"): 0.3}}),
    )  # fmt: skip
    objective, space = objective_of(
        PlanModel.flat(), Overlay.flat(), shown()[:8], features=features,
        search=Search(max_length=1),
    )  # fmt: skip
    theta = weights_for(space, 1)
    amounts = objective.scorer.tables.set_amount
    assert {0.3, 0.6} <= set(amounts.tolist())
    every = np.ones(len(amounts), bool)

    def loss(values):
        amounts[:] = values
        return objective.scorer.amount_loss(theta, every)[0]

    start = amounts.copy()
    gradient = objective.scorer.amount_loss(theta, every)[1].copy()
    expected = slopes(loss, start, 1e-3)
    amounts[:] = start
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    # Of some, it is the same, and nothing of the others.
    some = start < 0.5
    partly = objective.scorer.amount_loss(theta, some)[1]
    np.testing.assert_array_equal(partly, np.where(some, gradient, 0.0))
