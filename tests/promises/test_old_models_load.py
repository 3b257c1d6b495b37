"""Every format that was ever written is read; newer ones are refused with a sentence."""

import json
import shutil
from pathlib import Path

import pytest

from groundling import Follower
from groundling.modelfolder import VERSION
from tests.modelfiles import FILES, refused, resign
from tests.worlds import Line

MODELS = Path(__file__).parent / "models"


def same_answers(follower, expected):
    world = Line(6, {3: "sofa"})
    for text, wanted in expected.items():
        plan = follower.follow(text, world, 2)
        assert list(plan.actions) == wanted["actions"]
        assert plan.log_probability == pytest.approx(wanted["log_probability"], abs=1e-9)
        assert plan.confidence == pytest.approx(wanted["confidence"], abs=1e-9)


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_old_models_load_and_answer_as_they_did(version):
    folder = MODELS / f"format-{version}"
    assert json.loads((folder / "manifest.json").read_text())["version"] == version
    expected = json.loads((folder / "expected.json").read_text())
    assert len(expected) == 3
    same_answers(Follower.load(folder), expected)


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_old_models_load_and_are_saved_in_the_new_format(version, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MODELS / f"format-{version}", folder)
    Follower.load(folder).save(folder)
    assert json.loads((folder / "manifest.json").read_text())["version"] == VERSION
    # What was there and not ours stays; parts of the old model are gone.
    assert len(list(folder.iterdir())) == len(FILES) + 1
    expected = json.loads((folder / "expected.json").read_text())
    same_answers(Follower.load(folder), expected)


def test_old_models_load_but_newer_ones_are_refused(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MODELS / f"format-{VERSION}", folder)
    (folder / "expected.json").unlink()

    def change(manifest, tables, arrays):
        manifest["version"] = VERSION + 1
        manifest["groundling"] = "9.0"

    resign(folder, change)
    refused(folder, f"has format version {VERSION + 1}; this Groundling reads up to {VERSION}. "
                    "Update Groundling to 9.0.")  # fmt: skip
