"""Ensembles: a follower's scores are the mean of what its members would score alone."""

from dataclasses import replace

import numpy as np
import pytest

from groundling import (
    DecisionModel,
    Ensemble,
    Features,
    Follower,
    Learning,
    Lexicon,
    Member,
    Overlay,
    PlanModel,
    Search,
    TransducerModel,
)
from groundling.answers import score_plans
from groundling.errors import SettingError
from groundling.models.base import Request
from tests.modelfiles import file_of, refused, resign
from tests.worlds import Line, line_demonstrations

WORLD = Line(5, {1: "lamp", 3: "sofa"})
OWN = (Overlay(unit="word"), Features(words=("word",)))
OTHER = (Overlay.flat(), Features(words=("word", "previous"), min_word_count=2))
THIRD = (Overlay(skeleton="chain", unit="word"), Features(words=("word", "next")))
TEXTS = ("go left", "go right then left", "left to the lamp")
PLANS = PlanModel(advance_scores=True, skip=2.0)
MODELS = {
    "plans": PLANS,
    "decisions": DecisionModel(),
    "decisions by text": DecisionModel(compare="text"),
    "decisions-all": DecisionModel(aligned="all"),
    "transducer": TransducerModel(),
    "transducer with search settings": TransducerModel(
        unaligned_cost=0.3, fertility_cost=0.2, length_bonus=0.7, normaliser_power=0.4
    ),
}


def make(own=OWN, others=(), model=PLANS, **settings):
    chosen = {"search": Search(max_length=3, beam=None), "learning": Learning(l2=0.1)} | settings
    if others:
        model = Ensemble(tuple(Member(*each) for each in others), model)
    return Follower(model=model, overlay=own[0], features=own[1], parser="chain", **chosen)


def shown():
    return line_demonstrations(WORLD)


@pytest.fixture(scope="module")
def together():
    return make(others=[OTHER]).fit(shown())


def scores(follower, text, starts=(1, 2)):
    [answer] = score_plans(follower.learnt_, [(text, WORLD, starts)])
    return {
        (start, plan.actions): score
        for start, (plans, values) in zip(starts, answer, strict=True)
        for plan, score in zip(plans, values.tolist(), strict=True)
    }


def asked(follower, text, start=2):
    """Return what a follower's model is asked, and all that it knows."""
    learnt = follower._learnt
    encoder = learnt.fitted.encoder
    [read] = encoder.reader.read_many([text])
    return learnt, Request(read, encoder.world(WORLD), start)


def searched(follower, text, start=2):
    """Return the scores of all plans that a search finds, by their actions."""
    learnt, request = asked(follower, text, start)
    [result] = learnt.model.search(learnt.fitted, [request], learnt.search)
    return result.plans


# ---- scores ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
def test_ensemble_scores_of_plans_are_means(together, text):
    alone = [scores(make(each).fit(shown()), text) for each in (OWN, OTHER)]
    assert alone[0] != pytest.approx(alone[1])
    for key, score in scores(together, text).items():
        assert score == pytest.approx((alone[0][key] + alone[1][key]) / 2)


@pytest.mark.parametrize("name", MODELS)
def test_ensemble_of_any_model_searches_with_the_mean_score(name):
    model = MODELS[name]
    members = (OWN, OTHER, THIRD)
    whole = make(OWN, members[1:], model).fit(shown())
    alone = [make(each, (), model).fit(shown()) for each in members]
    for fitted, one in zip(whole._learnt.fitted.members, alone, strict=True):
        assert fitted.theta.tobytes() == one.theta_.tobytes()
    for text in TEXTS[1:]:
        found = searched(whole, text)
        assert len(found) > 1
        each_of = []
        for one in alone:
            learnt, request = asked(one, text)
            each_of.append(learnt.model.scores(learnt.fitted, request, found, learnt.search))
        # What the first member scores is what its own search found.
        own = {plan.actions: plan.score for plan in searched(alone[0], text)}
        for plan, score in zip(found, each_of[0], strict=True):
            assert score == pytest.approx(own[plan.actions], abs=1e-9)
        np.testing.assert_allclose(
            [plan.score for plan in found], np.mean(each_of, axis=0), atol=1e-9
        )
        plan = whole.follow(text, WORLD, 2)
        best = max(found, key=lambda each: each.score)
        assert plan.actions == best.actions


@pytest.mark.parametrize("name", MODELS)
def test_ensemble_of_any_model_learns_explains_and_is_saved(name, tmp_path):
    follower = make(OWN, [OTHER], MODELS[name]).fit(shown())
    plan = follower.follow("go right then left", WORLD, 1)
    why = plan.explain()
    margin = plan.log_probability - plan.alternatives[0].log_probability
    assert why.margin == pytest.approx(margin, abs=1e-9)
    sums = [each for step in why.steps for each in (step.text, step.own)] + [why.whole]
    assert sum(one.total for one in sums) + why.ambiguity == pytest.approx(why.score, abs=1e-9)
    loaded = Follower.load(follower.save(tmp_path / "model"))
    assert loaded.model == follower.model
    assert loaded.follow("go right then left", WORLD, 1) == plan


def test_ensemble_scores_agree_when_plans_are_beamed(together):
    everything = scores(together, "go right then left", (2,))
    # The beam is wide enough for all plans, but members find them in different orders.
    other = together.with_search(Search(max_length=3, budget=13, beam=50))
    beamed = scores(other, "go right then left", (2,))
    assert beamed.keys() == everything.keys()
    for key, score in beamed.items():
        assert score == pytest.approx(everything[key])


@pytest.mark.parametrize("search", [{"budget": 13, "beam": 50}, {"planning": False}])
def test_ensemble_members_have_their_say_however_plans_are_found(together, search):
    everything = scores(together, "go right then left", (2,))
    other = together.with_search(Search(max_length=3, **search))
    best = other.follow("go right then left", WORLD, 2)
    assert len(best.alternatives) > 1
    for each in best.alternatives:
        margin = everything[2, best.actions] - everything[2, each.actions]
        assert best.log_probability - each.log_probability == pytest.approx(margin)


def test_ensemble_does_not_compare_starts_where_members_keep_different_plans():
    # Texts that say left to one member and right to the other.
    follower = make(others=[OTHER]).fit(shown())
    theta = follower._learnt.fitted.others[0].theta
    theta *= -1.0
    narrow = follower.with_search(Search(max_length=3, budget=10, beam=1))
    with pytest.raises(SettingError, match=r"members keep different plans. Raise Search.budget"):
        scores(narrow, "go right then left", (2,))


# ---- in use ---------------------------------------------------------------------------------


def test_ensemble_is_calibrated_and_judged_as_a_whole():
    follower = make(others=[OTHER]).fit(shown()).calibrate(shown())
    assert follower.temperature_ != 1.0
    assert follower.score(shown()) == 1.0


def test_ensemble_loss_is_that_of_all_members(together):
    alone = [make(each).fit(shown()) for each in (OWN, OTHER)]
    assert together.learnt_.loss == pytest.approx(sum(each.learnt_.loss for each in alone))
    weights = [len(member.theta) for each in alone for member in each.learnt_.fitted.members]
    assert sum(len(each.theta) for each in together.learnt_.fitted.members) == sum(weights)


def test_ensemble_is_saved_and_loaded(together, tmp_path):
    loaded = Follower.load(together.save(tmp_path / "model"))
    assert loaded.model.members[0].overlay == OTHER[0]
    assert loaded.model.members[0].features.words == ("word", "previous")
    for text in TEXTS:
        assert scores(loaded, text) == scores(together, text)
    again = loaded.save(tmp_path / "again")
    weights = [file_of(each, "weights.safetensors") for each in (again, tmp_path / "model")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_ensemble_members_share_the_lexicon():
    lexicon = Lexicon(given={"bench": [("item", "sofa")]})
    slots = {"slots": ("item",), "lexicon": lexicon}
    own = (OWN[0], replace(OWN[1], **slots))
    follower = make(own, [(OTHER[0], replace(OTHER[1], **slots))]).fit(shown())
    for each in follower._learnt.fitted.members:
        assert each.encoder.reader.lexicon is follower.lexicon_
    assert follower.lexicon_.given["bench"] == (("item", "sofa"),)


def test_ensemble_members_share_a_lexicon_that_is_learnt():
    slots = {"slots": ("item",), "lexicon": "learn"}
    own, other = (OWN[0], replace(OWN[1], **slots)), (OTHER[0], replace(OTHER[1], **slots))
    follower = make(own, [other]).fit(shown())
    for each in follower._learnt.fitted.members:
        assert each.encoder.reader.lexicon is follower.lexicon_


@pytest.mark.parametrize(
    ("name", "value"),
    [("lexicon", Lexicon(given={"bench": [("item", "sofa")]})), ("promote", ()),
     ("stop_words", ("go",))],
)  # fmt: skip
def test_ensemble_members_that_read_otherwise_are_refused(name, value):
    other = (OTHER[0], replace(OTHER[1], **{name: value}))
    with pytest.raises(SettingError, match=rf"Features\.{name} of every .* Make them equal"):
        make(others=[other]).fit(shown())


def test_ensemble_weights_are_asked_for_by_number(together):
    names = [name for name, _ in together.weights("previous=", member=1)]
    assert names
    assert together.weights("previous=") == []
    with pytest.raises(SettingError, match="from 0 to 1; got 2"):
        together.weights(member=2)


def test_ensemble_training_resumes_from_checkpoints(tmp_path):
    settings = {"learning": Learning(l2=0.1, iterations=6)}
    whole = make(others=[OTHER], **settings)
    with pytest.warns(UserWarning, match="before it converged"):
        whole.fit(shown(), checkpoint=tmp_path, checkpoint_every=2)
    assert (tmp_path / "1").is_dir()
    for path in sorted((tmp_path / "1").iterdir())[1:]:
        path.unlink()
    resumed = make(others=[OTHER], **settings)
    with pytest.warns(UserWarning, match="before it converged"):
        resumed.fit(shown(), checkpoint=tmp_path, checkpoint_every=2)
    for one, two in zip(whole._learnt.fitted.members, resumed._learnt.fitted.members, strict=True):
        np.testing.assert_array_equal(one.theta, two.theta)


# ---- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [DecisionModel(), TransducerModel()])
def test_ensemble_of_decisions_cannot_compare_starts(model):
    follower = make(others=[OTHER], model=model).fit(shown())
    with pytest.raises(SettingError, match=r"Use PlanModel"):
        scores(follower, "go left")


def test_ensemble_members_may_be_listed_and_must_be_members():
    assert Ensemble([Member(*OTHER)]).members == (Member(*OTHER),)
    with pytest.raises(SettingError, match=r"Ensemble.members must be a Member; got Overlay"):
        Ensemble((OTHER[0],))
    with pytest.raises(SettingError, match=r"Ensemble.members must be a tuple; got Member"):
        Ensemble(Member(*OTHER))
    with pytest.raises(SettingError, match=r"Ensemble.model must be a Model; got 'plans'"):
        Ensemble([Member()], "plans")


def test_ensemble_of_nobody_or_of_ensembles_is_refused():
    with pytest.raises(SettingError, match=r"members must contain at least one member"):
        Follower(model=Ensemble(), parser="chain").fit(shown())
    inner = Ensemble([Member(*OTHER)])
    with pytest.raises(SettingError, match="must be a single model; got another Ensemble"):
        make(others=[OTHER], model=inner).fit(shown())


def test_ensemble_checks_the_settings_of_every_member():
    with pytest.raises(SettingError, match=r"PlanModel.advance_scores has no effect with Overlay"):
        make(others=[(Overlay.bag(), OTHER[1])]).fit(shown())


@pytest.mark.parametrize("lost", ["tables", "weights", "keys"])
def test_ensemble_member_lost_from_a_model_file_is_refused(together, tmp_path, lost):
    folder = together.save(tmp_path / "model")

    def lose(manifest, tables, arrays):
        if lost == "tables":
            tables["members"].pop()
        else:
            del arrays["theta1" if lost == "weights" else "keys1"]

    resign(folder, lose)
    refused(folder)
