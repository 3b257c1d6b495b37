"""Models of version 0.1.0 are read, and answer as they did then."""

import json
import shutil

import numpy as np
import pytest

from groundling import DecisionModel, Ensemble, Follower, PlanModel, TransducerModel
from tests.modelfiles import refused, resign
from tests.oldmodels import FOLDER, answers, requests

NAMES = sorted(path.name for path in FOLDER.iterdir())


def told(name):
    return json.loads((FOLDER / name / "answers.json").read_text())


def test_io_before_has_a_model_of_every_kind_and_format():
    kinds = {type(Follower.load(FOLDER / name).model) for name in NAMES}
    assert kinds == {PlanModel, DecisionModel, TransducerModel, Ensemble}
    versions = [json.loads((FOLDER / n / "manifest.json").read_text())["version"] for n in NAMES]
    assert set(versions) == {1, 2}


@pytest.mark.parametrize("name", NAMES)
def test_io_before_answers_are_those_of_then(name):
    found = answers(Follower.load(FOLDER / name))
    assert len(found) == len(requests())
    for now, then in zip(found, told(name), strict=True):
        assert [plan for plan, _ in now["plans"]] == [plan for plan, _ in then["plans"]]
        logs = [[log for _, log in each["plans"]] for each in (now, then)]
        np.testing.assert_allclose(logs[0], logs[1], rtol=0, atol=1e-9)
        assert now["confidence"] == pytest.approx(then["confidence"], abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_io_before_models_are_explained_and_saved_anew(name, tmp_path):
    old = Follower.load(FOLDER / name)
    again = Follower.load(old.save(tmp_path / "model"))
    assert json.loads((tmp_path / "model" / "manifest.json").read_text())["version"] == 3
    assert again.get_params() == old.get_params()
    for request in requests():
        plan = again.follow(*request)
        assert plan == old.follow(*request)
        assert plan.explain().score == old.follow(*request).explain().score


def test_io_before_settings_are_todays():
    assert Follower.load(FOLDER / "plans").model == PlanModel(plan_words=True, skip=0.5)
    assert Follower.load(FOLDER / "plans-1").model == PlanModel(plan_words=True, skip=0.5)
    assert Follower.load(FOLDER / "bag").model == PlanModel()
    assert Follower.load(FOLDER / "viterbi").model == DecisionModel(
        begin="alignment", last_to_last=True, restarts=4, alternations=3
    )
    assert Follower.load(FOLDER / "all").model == DecisionModel(
        aligned="all", alternatives=3, alternatives_from="path", compare="text"
    )
    assert Follower.load(FOLDER / "units").model == TransducerModel(
        unaligned_cost=0.4, fertility_cost=0.2, length_bonus=0.5, normaliser_power=0.25
    )
    assert Follower.load(FOLDER / "one-action-units").model == TransducerModel(allow_multiple=False)
    partner = Follower.load(FOLDER / "partner")
    assert partner.model.model == PlanModel.flat()
    [member] = partner.model.members
    assert (member.overlay.skeleton, member.features.compound_weight) == ("chain", 0.6)
    assert partner.weight_count_ > len(partner.theta_)
    assert Follower.load(FOLDER / "lexicon").lexicon_.learnt["smithy"]


@pytest.mark.parametrize(
    ("name", "group", "setting", "value"),
    [
        ("plans", "learning", "alignment", "viterbi"),
        ("units", "learning", "alignment", "best"),
        ("viterbi", "learning", "silence", -1.0),
        ("viterbi", "search", "joint", True),
        ("plans", "overlay", "null_node", True),
        ("plans", "overlay", "skip_before", 0.5),
        ("plans", "overlay", "skip_after", 0.5),
    ],
)
def test_io_before_refuses_what_is_no_more(name, group, setting, value, tmp_path):
    shutil.copytree(FOLDER / name, tmp_path / "model")

    def change(manifest, tables, arrays):
        manifest["settings"][group][setting] = value

    resign(tmp_path / "model", change)
    message = refused(tmp_path / "model", "trained by version 0.1.0 with")
    assert setting in message


def test_io_before_refuses_partners_whose_plans_are_scored_otherwise(tmp_path):
    shutil.copytree(FOLDER / "partner", tmp_path / "model")

    def change(manifest, tables, arrays):
        manifest["settings"]["partners"][0]["skip"] = 0.25

    resign(tmp_path / "model", change)
    refused(tmp_path / "model", "partners that differ in skip")


def test_io_before_refuses_bins_of_its_own(tmp_path):
    shutil.copytree(FOLDER / "bag", tmp_path / "model")

    def change(manifest, tables, arrays):
        tables["features"]["bins"] = [1.0, 2.0]

    resign(tmp_path / "model", change)
    refused(tmp_path / "model", "bins of its own")
