"""Partners: a follower's scores are the mean of what it and they would score alone."""

from dataclasses import replace

import numpy as np
import pytest

from groundling import Features, Follower, Learning, Lexicon, Overlay, Partner, Search
from groundling.errors import SettingError
from tests.test_saving import refused, resign
from tests.worlds import Line, line_demonstrations

WORLD = Line(5, {1: "lamp", 3: "sofa"})
OWN = (Overlay(unit="word", advance_scores=True, skip=2.0), Features(words=("word",)))
OTHER = (Overlay.flat(), Features(words=("word", "previous"), min_word_count=2))
TEXTS = ("go left", "go right then left", "left to the lamp")


def make(own=OWN, others=(), **settings):
    chosen = {"search": Search(max_length=3), "learning": Learning(l2=0.1)} | settings
    partners = [Partner(*each) for each in others]
    return Follower(overlay=own[0], features=own[1], parser="chain", partners=partners, **chosen)


def shown():
    return line_demonstrations(WORLD)


@pytest.fixture(scope="module")
def together():
    return make(others=[OTHER]).fit(shown())


def scores(follower, text, starts=(1, 2)):
    [answer] = follower.score_plans([(text, WORLD, starts)])
    return {
        (start, plan.actions): score
        for start, (plans, values) in zip(starts, answer, strict=True)
        for plan, score in zip(plans, values.tolist(), strict=True)
    }


@pytest.mark.parametrize("text", TEXTS)
def test_partner_scores_are_means(together, text):
    alone = [scores(make(each).fit(shown()), text) for each in (OWN, OTHER)]
    assert alone[0] != pytest.approx(alone[1])
    for key, score in scores(together, text).items():
        assert score == pytest.approx((alone[0][key] + alone[1][key]) / 2)


@pytest.mark.parametrize("search", [{"budget": 8, "beam": 50}, {"planning": False}])
def test_partner_has_its_say_however_plans_are_found(together, search):
    everything = scores(together, "go right then left", (2,))
    other = make(others=[OTHER], search=Search(max_length=3, **search))
    other._learnt(together._parts, together._lengths, together.loss_)
    for (start, actions), score in scores(other, "go right then left", (2,)).items():
        assert score == pytest.approx(everything[start, actions])
    best = other.follow("go right then left", WORLD, 2)
    for each in best.alternatives:
        margin = everything[2, best.actions] - everything[2, each.actions]
        assert best.log_probability - each.log_probability == pytest.approx(margin)
    assert len(best.alternatives) > 1


def test_partner_is_calibrated_and_judged_with_the_rest(together):
    follower = make(others=[OTHER]).fit(shown()).calibrate(shown())
    assert follower.temperature_ != 1.0
    assert follower.score(shown()) == 1.0


def test_partner_is_saved_and_loaded(together, tmp_path):
    loaded = Follower.load(together.save(tmp_path / "model"))
    assert loaded.partners[0].overlay == OTHER[0]
    assert loaded.partners[0].features.words == ("word", "previous")
    for text in TEXTS:
        assert scores(loaded, text) == scores(together, text)
    again = loaded.save(tmp_path / "again")
    weights = "weights.safetensors"
    assert (again / weights).read_bytes() == (tmp_path / "model" / weights).read_bytes()


def test_partner_shares_the_lexicon_whatever_it_says():
    lexicon = Lexicon(given={"bench": [("item", "sofa")]})
    slots = {"slots": ("item",), "lexicon": lexicon}
    own = (OWN[0], replace(OWN[1], **slots))
    follower = make(own, [(OTHER[0], replace(OTHER[1], slots=("item",)))]).fit(shown())
    assert follower._parts[1].encoder.reader.lexicon is follower.lexicon_
    assert follower.lexicon_.given["bench"] == (("item", "sofa"),)


def test_partner_weights_are_asked_for_by_number(together):
    names = [name for name, _ in together.weights("previous=", partner=1)]
    assert names
    assert together.weights("previous=") == []
    with pytest.raises(SettingError, match="no partner 2: this follower has 1"):
        together.weights(partner=2)


def test_partner_training_resumes_from_checkpoints(tmp_path):
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
    for one, two in zip(whole._parts, resumed._parts, strict=True):
        np.testing.assert_array_equal(one.theta, two.theta)


def test_partner_needs_whole_plans():
    follower = make(others=[OTHER], learning=Learning(normalise="decisions"))
    with pytest.raises(SettingError, match="normalise='plans'"):
        follower.fit(shown())


def test_partner_may_stand_alone_and_must_be_one():
    assert Follower(partners=Partner(*OTHER)).partners == (Partner(*OTHER),)
    with pytest.raises(SettingError, match="holds a Overlay; make it a Partner"):
        make().set_params(partners=(OTHER[0],)).fit(shown())


@pytest.mark.parametrize("lost", ["tables", "settings", "weights"])
def test_partner_lost_from_a_model_file_is_refused(together, tmp_path, lost):
    folder = together.save(tmp_path / "model")

    def lose(manifest, tables, arrays):
        if lost == "tables":
            tables["partners"].pop()
        elif lost == "settings":
            manifest["settings"]["partners"].pop()
        else:
            del arrays["theta1"]

    resign(folder, lose)
    refused(folder)
