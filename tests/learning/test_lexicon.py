"""Learning the lexicon by cross-fitting: synonyms carry over, seeded and resumable."""

import numpy as np
import pytest

from groundling import Demonstration, Features, Follower, Learning, Overlay, Search
from groundling.errors import SettingError
from groundling.features.lexicon import Lexicon
from groundling.models.examples import prepare
from groundling.models.plan import make_objective
from tests.learning.test_training import KilledError, killed_after
from tests.test_follower import Rooms
from tests.worlds import slopes, workbench

SYNONYMS = {"kitchen": "stove", "cellar": "depths", "garden": "greens", "attic": "rafters"}
VERBS = ("enter", "visit", "find", "see", "reach")


def shown():
    """Rooms by name and by synonyms, always beside one other workspace."""
    rooms = list(SYNONYMS)
    found = []
    for number, verb in enumerate(VERBS):
        for place, workspace in enumerate(rooms):
            other = rooms[(place + 1 + number % 3) % 4]
            world = Rooms(workspace, other)
            found.append(Demonstration(f"{verb} the {workspace}", world, "hall", (workspace,)))
            found.append(Demonstration(f"{verb} the {SYNONYMS[workspace]}", world, "hall", (workspace,)))
    return found


def make(**settings):
    chosen = {
        "overlay": Overlay.flat(),
        "features": Features(words=("word",), slots=("workspace",), lexicon="learn"),
        "learning": Learning(),
        "search": Search(max_length=1),
        "parser": "chain",
    } | settings
    return Follower(**chosen)


@pytest.fixture(scope="module")
def learnt():
    return make().fit(shown())


def test_lexicon_learns_synonyms(learnt):
    for workspace, word in SYNONYMS.items():
        entries = learnt.lexicon_.learnt.get(word, {})
        assert max(entries, key=entries.get, default=None) == ("workspace", workspace)
        assert 0 < entries["workspace", workspace] <= 1.5


def test_lexicon_leaves_words_that_mean_no_value_alone(learnt):
    for verb in (*VERBS, "the"):
        assert max(learnt.lexicon_.learnt.get(verb, {"": 0.0}).values()) < 0.5


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
    whole = make().fit(shown(), checkpoint=tmp_path / "whole", progress=told.append)
    assert told[0].stage == "learning the lexicon"
    first = sum(each.stage == "learning the lexicon" for each in told)
    for steps in (2, first // 2, first, first + 3):
        folder = tmp_path / f"killed-{steps}"
        with pytest.raises(KilledError):
            make().fit(shown(), checkpoint=folder, progress=killed_after(steps))
        resumed = make().fit(shown(), checkpoint=folder)
        assert resumed.lexicon_ == whole.lexicon_
        assert resumed.theta_.tobytes() == whole.theta_.tobytes()


def test_lexicon_needs_slots():
    with pytest.raises(SettingError, match=r"needs Features.slots"):
        make(features=Features(words=("word",), lexicon="learn")).fit(shown())


def test_lexicon_needs_alignments_or_whole_plans():
    with pytest.raises(SettingError, match=r"goes with Learning.normalise='plans'"):
        make(learning=Learning(normalise="decisions")).fit(shown())


def test_lexicon_gradient_by_extents_equals_finite_differences():
    features = Features(
        words=("word",), slots=("workspace",),
        lexicon=Lexicon(learnt={"stove": {("workspace", "kitchen"): 0.6, ("workspace", "attic"): 0.3}}),
    )  # fmt: skip
    encoder, space = workbench(Overlay.flat(), features)
    examples = prepare(encoder, shown()[:8])
    objective = make_objective(
        encoder, space, examples, Learning(), Search(max_length=1), np.random.default_rng(0)
    )
    theta = np.random.default_rng(1).normal(size=len(space))
    amounts = objective.model.scores.set_amount
    assert {0.3, 0.6} <= set(amounts.tolist())

    def loss(values):
        amounts[:] = values
        return objective.model.amount_loss(theta)[0]

    start = amounts.copy()
    gradient = objective.model.amount_loss(theta)[1].copy()
    expected = slopes(loss, start, 1e-3)
    amounts[:] = start
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
