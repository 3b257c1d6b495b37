"""Learning one more demonstration gives what learning all of them gives."""

import copy
import pickle

import numpy as np
import pytest

import groundling.learning.incremental as teaching
import groundling.learning.trainer as trainer
from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Search
from groundling.errors import LearningWarning
from groundling.models.base import Member
from groundling.models.ensemble import Ensemble
from groundling.models.plan import PlanModel
from groundling.overlay.settings import Overlay
from groundling.selection.race import Race
from tests.worlds import line_demonstrations

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
    assert taught.learnt_.loss == pytest.approx(fresh.learnt_.loss, rel=1e-3)
    requests = [(f"{verb} the {c} one", Lamps(), "red") for c in COLOURS for verb in ("show", "hm")]
    assert [plan.actions for plan in taught.follow_many(requests)] == [
        plan.actions for plan in fresh.follow_many(requests)
    ]


def note_encoded(monkeypatch):
    """Return a list that is told how many examples every objective from now on is made of."""
    encoded = []
    objective = PlanModel.objective
    monkeypatch.setattr(
        PlanModel,
        "objective",
        lambda self, data: encoded.append(len(data.examples)) or objective(self, data),
    )
    return encoded


def test_teaching_encodes_only_what_is_new(monkeypatch):
    everything = list(shown(64))
    taught = follower().fit(everything[:60]).teach([everything[60]])
    encoded = note_encoded(monkeypatch)
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


def settings_of(follower):
    return follower.chosen().get_params(deep=False)


def one_by_one(demonstrations, **settings):
    taught = Follower(parser="chain", **settings)
    for each in demonstrations:
        taught = taught.teach([each], check=False)
    return taught


def steps():
    """Demonstrations with names: four of one action, then three of two."""
    return [
        Demonstration(each.instructions, each.environment, each.start, each.actions, name=f"{n}")
        for n, each in enumerate(line_demonstrations())
    ]


def spelt():
    """Demonstrations whose texts spell a colour, but for the first one."""
    return [Demonstration("surprise me", Lamps(), "white", ("red",), name="first"), *shown(12)]


@pytest.mark.parametrize("everything", [steps(), spelt()], ids=["longer", "slots"])
def test_teaching_chooses_again_what_learning_all_would(everything):
    fresh = Follower(parser="chain").fit(everything)
    at_once = Follower(parser="chain").fit(everything[:4], check=False).teach(everything[4:])
    assert settings_of(Follower(parser="chain").fit(everything[:1], check=False)) != settings_of(
        fresh
    )
    for taught in (at_once, one_by_one(everything)):
        assert settings_of(taught) == settings_of(fresh)
        assert taught.choices_ == fresh.choices_
        assert taught.score(everything) == fresh.score(everything)
        assert taught.learnt_.loss == pytest.approx(fresh.learnt_.loss, rel=0.01)
        assert taught.search == "auto"


def test_teaching_chooses_again_after_loading(tmp_path):
    everything = steps()
    folder = Follower(parser="chain").fit(everything[:4]).save(tmp_path / "model")
    fresh = Follower(parser="chain").fit(everything)
    taught = Follower.load(folder).teach(everything[4:], known=everything[:4])
    assert settings_of(taught) == settings_of(fresh)
    refitted = Follower.load(folder).fit(everything)
    assert settings_of(refitted) == settings_of(fresh)
    searched = Follower(parser="chain", search=Search(threshold=0.3)).fit(everything[:4])
    again = Follower.load(searched.save(tmp_path / "other"))
    assert again.search == Search(threshold=0.3)


def test_teaching_keeps_what_was_given_since():
    everything = steps()
    searched = Follower(parser="chain").fit(everything[:4]).with_search(Search(max_length=1))
    with pytest.warns(LearningWarning, match="longer than Search.max_length=1"):
        searched.teach(everything[4:])
    assert searched.chosen().search.max_length == 1


def test_teaching_warns_of_what_cannot_be_found_with_what_was_given():
    everything = steps()
    follower = Follower(parser="chain", search=Search(max_length=1)).fit(everything[:4])
    with pytest.warns(LearningWarning, match="1 of 1 demonstration is longer than Search.max_le"):
        follower.teach(everything[4:5])
    follower.teach(everything[5:6], check=False)


def test_teaching_warns_of_contradictions_with_what_is_known():
    everything = steps()
    follower = Follower(parser="chain").fit(everything)
    other = Demonstration("go left", everything[0].environment, 2, ("right",), name="wrong")
    with pytest.warns(LearningWarning, match="2 demonstrations contradict each other"):
        follower.teach([other])
    follower.teach([Demonstration("go right", other.environment, 2, ("right",), name="fine")])


def test_forgetting_chooses_again():
    everything = steps()
    follower = Follower(parser="chain").fit(everything)
    assert follower.chosen().search.max_length == 2
    follower.forget(["4", "5", "6"])
    assert settings_of(follower) == settings_of(Follower(parser="chain").fit(everything[:4]))


def test_teaching_tries_again_when_there_are_twice_as_many(monkeypatch):
    tried, run = [], Race.run
    monkeypatch.setattr(
        Race, "run", lambda race, runners: tried.append(race.profile.count) or run(race, runners)
    )
    world, texts = line_demonstrations()[0].environment, line_demonstrations()
    many = [
        Demonstration(each.instructions, world, each.start, each.actions, name=f"{n} {each}")
        for n in range(10)
        for each in texts
    ]
    chosen = Follower(parser="chain").fit(many[:30]).chosen()
    for given in ({}, {"features": chosen.features}, {"search": Search(max_length=3)}):
        tried.clear()
        follower = Follower(parser="chain", **given).fit(many[:30], check=False)
        for each in many[30:62]:
            follower.teach([each], check=False)
        assert set(tried) == {30, 60}


def test_teaching_encodes_only_what_is_new_where_settings_are_chosen(monkeypatch):
    everything = list(shown(64))
    taught = Follower(parser="chain").fit(everything[:60]).teach([everything[60]])
    encoded = note_encoded(monkeypatch)
    for each in everything[61:]:
        taught.teach([each])
    assert max(encoded) == 3
    assert taught.chosen().learning.l2 == 0.064


@pytest.mark.parametrize("how", ["teach", "forget"])
def test_teaching_leaves_a_follower_that_can_be_copied(how):
    told = []
    everything = list(shown(12))
    follower = Follower(parser="chain").fit(everything[:10])
    same = (
        follower.teach(everything[10:11], progress=told.append)
        if how == "teach"
        else follower.forget(["3"], progress=told.append)
    )
    assert same is follower
    assert told
    for other in (pickle.loads(pickle.dumps(follower)), copy.deepcopy(follower)):
        assert other.learnt_.loss == follower.learnt_.loss
        assert other.teach(everything[11:]).demonstrations_
