"""Models of every release are read and answer as they did; other formats are refused.

`python -m tests.promises.test_old_models_load` stores the models of the installed version.
"""

import json
import shutil
from pathlib import Path

import pytest

import groundling
from groundling import Follower
from groundling.modelfolder import FIRST, VERSION
from tests.modelfiles import FILES, refused, resign
from tests.promises.making import KINDS, demonstrations, make_follower, requests

MODELS = Path(__file__).parent / "models"
STORED = sorted(path.parent for path in MODELS.glob("*/*/manifest.json"))


def answers(follower):
    found = follower.follow_many(requests())
    return [[list(plan.actions), plan.log_probability, plan.confidence] for plan in found]


def check_answers(follower, folder):
    expected = json.loads((folder / "expected.json").read_text())
    found = answers(follower)
    assert [plan for plan, _, _ in found] == [plan for plan, _, _ in expected]
    for (_, *numbers), (_, *then) in zip(found, expected, strict=True):
        assert numbers == pytest.approx(then, abs=1e-9)


def test_old_models_load_has_every_kind_of_every_release():
    names = {path.name for path in MODELS.iterdir()}
    assert names == {"0.2.0"}
    assert {path.relative_to(MODELS).as_posix() for path in STORED} == {
        f"{name}/{kind}" for name in names for kind in KINDS
    }


@pytest.mark.parametrize("stored", STORED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_old_models_load_and_answer_as_they_did(stored, tmp_path):
    follower = Follower.load(stored)
    check_answers(follower, stored)
    folder = tmp_path / "model"
    shutil.copytree(stored, folder)
    follower.save(folder)
    assert json.loads((folder / "manifest.json").read_text())["version"] == VERSION
    # What was there and not ours stays; parts of the old model are gone.
    assert len(list(folder.iterdir())) == len(FILES) + 1
    check_answers(Follower.load(folder), folder)


@pytest.mark.parametrize(
    ("version", "cure"),
    [(FIRST - 1, "Train and save it again."), (VERSION + 1, "Update Groundling to 9.0.")],
)
def test_old_models_load_but_other_formats_are_refused(version, cure, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(STORED[-1], folder)
    (folder / "expected.json").unlink()

    def change(manifest, tables, arrays):
        manifest["version"] = version
        manifest["groundling"] = "9.0"

    resign(folder, change)
    refused(folder, f"must have format version {FIRST} to {VERSION}; got {version}, written by "
                    f"Groundling 9.0. {cure}")  # fmt: skip


def main():
    """Store a model of each kind with what it answers."""
    for kind in KINDS:
        folder = MODELS / groundling.__version__.partition(".dev")[0] / kind
        shutil.rmtree(folder, ignore_errors=True)
        follower = make_follower(kind).fit(demonstrations())
        follower.save(folder)
        text = json.dumps(answers(follower), indent=1)
        (folder / "expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
