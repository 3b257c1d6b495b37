"""Models of every release are read and answer as they did; other formats are refused.

A model whose features are extracted differently now is noticed: `Follower.load` warns, and the
studio learns it again.

`python -m tests.promises.test_old_models_load` stores the models of the installed version.
"""

import json
import shutil
from pathlib import Path

import pytest

import groundling
from groundling import Follower
from groundling.errors import ModelWarning
from groundling.features.labels import NodeLabeller, WordLabeller
from groundling.features.space import FeatureSpace
from groundling.io import is_outdated
from groundling.modelfolder import FIRST, VERSION
from groundling.studio.project import Project
from groundling.studio.store import Record
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
    [(FIRST - 1, "Train and save the follower again."), (VERSION + 1, "Update Groundling to 9.0.")],
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


def changed(monkeypatch, kind, name):
    """Let a method of feature extraction answer something else."""
    before = getattr(kind, name)

    def after(self, *given, **named):
        found = before(self, *given, **named)
        return found[:-1] if isinstance(found, (list, tuple)) else found + 1

    monkeypatch.setattr(kind, name, after)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(WordLabeller, "names"), (WordLabeller, "amount"), (NodeLabeller, "spell"),
     (NodeLabeller, "values")],
)  # fmt: skip
def test_old_models_load_with_a_warning_if_features_are_extracted_otherwise(
    kind, name, monkeypatch, tmp_path
):
    folder = make_follower("plans").fit(demonstrations()).save(tmp_path / "model")
    assert not is_outdated(folder)
    Follower.load(folder)  # warnings are errors here
    changed(monkeypatch, kind, name)
    with pytest.warns(ModelWarning, match="features that this version no longer extracts") as told:
        Follower.load(folder)
    assert str(told[0].message).endswith("Train it again.")
    assert is_outdated(folder)


def test_old_models_load_with_a_warning_if_pairs_are_joined_otherwise(monkeypatch):
    monkeypatch.setattr(FeatureSpace, "name", lambda self, key: "another name")
    with pytest.warns(ModelWarning, match="no longer extracts"):
        Follower.load(STORED[0])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda manifest: manifest.pop("features"), "does not record the features"),
        (lambda manifest: manifest.update(features=[7]), "no longer extracts"),
        (
            lambda manifest: manifest["settings"].update(parser_name="chain@1"),
            "was trained with the parser 'chain@1'; the current one is 'chain@2'",
        ),
    ],
)
def test_old_models_load_with_a_warning_if_they_are_of_development_versions(change, told, tmp_path):
    folder = shutil.copytree(STORED[-1], tmp_path / "model")
    (folder / "expected.json").unlink()
    resign(folder, lambda manifest, tables, arrays: change(manifest))
    with pytest.warns(ModelWarning, match=told):
        Follower.load(folder)


def test_old_models_load_in_the_studio_only_to_be_learnt_again(monkeypatch, tmp_path):
    project = Project(tmp_path, {"kind": "lesson"})
    start = project.write_state("Kitchen 1", project.setting.scenes[0].start)
    project.teach(Record("Kitchen 1", "zum Tisch", start, ("go to the table",)))
    project.learn_now()
    project.close()
    changed(monkeypatch, WordLabeller, "names")
    project = Project(tmp_path, {"kind": "lesson"})
    assert project.follower is None
    project.learn_now()
    assert project.follower is not None
    project.close()


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
