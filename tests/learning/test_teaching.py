"""Learning one more demonstration gives what learning all of them gives."""

import numpy as np
import pytest

import groundling.learning.teaching as teaching
import groundling.learning.trainer as trainer
from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Search
from groundling.models.base import Member
from groundling.models.ensemble import Ensemble
from groundling.models.plan import PlanModel
from groundling.overlay.settings import Overlay

COLOURS = ("red", "green", "blue", "white", "black")


class Lamps:
    """Lamps of several colours, one of which is lit."""

    def actions(self, state):
        return COLOURS

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"lamp": {"colour": action, "same": state == action}})


def shown(count, seed=0):
    random = np.random.default_rng(seed)
    world = Lamps()
    for number in range(count):
        colour, start = random.choice(COLOURS, 2)
        verb = random.choice(["light", "show", "take"])
        yield Demonstration(
            f"{verb} the {colour} one", world, str(start), (str(colour),), name=f"{number}"
        )


def follower(**settings):
    return Follower(
        parser="chain",
        search=Search(max_length=1),
        learning=Learning(l2=0.5, tolerance=1e-9),
        **{"features": Features(), **settings},
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"features": Features(min_word_count=2)},
        {"model": Ensemble((Member(Overlay(skeleton="bag")),), PlanModel())},
    ],
    ids=["plain", "rare words", "ensemble"],
)
def test_teaching_one_by_one_equals_learning_all(settings, monkeypatch):
    monkeypatch.setattr(teaching, "WARM_TOLERANCE", 1e-9)
    monkeypatch.setattr(trainer, "WARM_TOLERANCE", 1e-9)
    everything = list(shown(70))
    taught = follower(**settings).fit(everything[:60])
    for each in everything[60:]:
        taught = taught.teach([each])
    fresh = follower(**settings).fit(everything)
    assert taught.loss_ == pytest.approx(fresh.loss_, rel=1e-3)
    requests = [(f"{verb} the {c} one", Lamps(), "red") for c in COLOURS for verb in ("show", "hm")]
    assert [plan.actions for plan in taught.follow_many(requests)] == [
        plan.actions for plan in fresh.follow_many(requests)
    ]


def test_teaching_encodes_only_what_is_new(monkeypatch):
    everything = list(shown(64))
    taught = follower().fit(everything[:60]).teach([everything[60]])
    encoded = []
    objective = PlanModel.objective
    monkeypatch.setattr(
        PlanModel,
        "objective",
        lambda self, data: encoded.append(len(data.examples)) or objective(self, data),
    )
    for each in everything[61:]:
        taught = taught.teach([each])
    assert max(encoded) == 3
    for each in shown(10, seed=1):
        taught = taught.teach([each])
    assert 65 <= max(encoded) <= 74  # now and then everything


def test_teaching_new_words_get_weights():
    taught = follower().fit(list(shown(60))).teach(list(shown(1)))
    assert taught.weights("word=glow") == []
    taught = taught.teach([Demonstration("glow", Lamps(), "red", ("white",), name="new")])
    assert ("word=glow ∧ colour=white") in [name for name, _ in taught.weights("word=glow")]
    assert len(taught.demonstrations_) == 62
