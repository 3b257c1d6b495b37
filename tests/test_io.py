"""Model files: what is loaded is what was saved, and anything else is refused in one sentence."""

import contextlib
import json
import os
import shutil

import numpy as np
import pytest
from safetensors.numpy import load

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
from groundling.errors import ModelFileError, SettingError
from groundling.language import ChainParser
from groundling.modelfolder import read_note
from tests.learning.test_rounds import join_first
from tests.modelfiles import FILES, file_of, refused, resign
from tests.worlds import Line, line_demonstrations

TEXTS = ("go left", "go right then left", "please move right", "left then unknown")
FEATURES = Features(
    words=("word", "head", "string"), slots=("item",), stop_words=("please",),
    lexicon=Lexicon(given={"bench": [("item", "sofa")]}), compound_weight=0.8,
)  # fmt: skip
PLANS = PlanModel(skip=1.0)
WAYS = {
    "plans": PLANS,
    "decisions": DecisionModel(),
    "decisions-all": DecisionModel(aligned="all", compare="text"),
    "transducer": TransducerModel(length_bonus=0.3, normaliser_power=0.2),
    "ensemble": Ensemble([Member(Overlay.flat(), FEATURES)], PLANS),
}


def make(way="plans", **settings):
    chosen = {
        "model": WAYS[way],
        "overlay": Overlay(unit="word", neighbours=("given", "self")),
        "features": FEATURES,
        "learning": Learning(l2=0.1),
        "search": Search(max_length=3, decode="outcome", threshold=0.3),
        "parser": "chain",
        "seed": 7,
    } | settings
    return Follower(**chosen)


def shown():
    return line_demonstrations(Line(4, {1: "lamp", 2: "sofa"}))


@pytest.fixture(scope="module")
def fitted():
    return make().fit(shown()).calibrate(shown())


@pytest.fixture
def folder(fitted, tmp_path):
    return fitted.save(tmp_path / "model")


@pytest.mark.parametrize("way", WAYS)
def test_io_round_trip_gives_the_same_plans(way, tmp_path):
    before = make(way).fit(shown()).calibrate(shown())
    after = Follower.load(before.save(tmp_path / "model"))
    world = Line(6, {3: "sofa", 4: "fountain"})
    for text in TEXTS:
        for start in (1, 3):
            one, other = (each.follow(text, world, start) for each in (before, after))
            assert one == other
            assert one.log_probability == other.log_probability
            assert one.confidence == other.confidence


def test_io_keeps_settings_and_what_was_learnt(fitted, folder):
    loaded = Follower.load(folder)
    assert loaded.get_params() == fitted.get_params()
    assert loaded.theta_.tobytes() == fitted.theta_.tobytes()
    assert loaded.feature_names_ == fitted.feature_names_
    assert loaded.temperature_ == fitted.temperature_
    assert loaded.learnt_.loss == fitted.learnt_.loss
    assert loaded.lexicon_ == fitted.lexicon_


def test_io_same_seed_same_bytes(tmp_path):
    one, other = (make().fit(shown()).save(tmp_path / name) for name in ("one", "other"))
    for name in FILES:
        assert file_of(one, name).name == file_of(other, name).name
        assert file_of(one, name).read_bytes() == file_of(other, name).read_bytes()


def test_io_what_was_loaded_gives_the_same_weights(folder, tmp_path):
    again = Follower.load(folder).save(tmp_path / "again")
    assert file_of(again, FILES[2]).read_bytes() == file_of(folder, FILES[2]).read_bytes()
    assert Follower.load(again).theta_.tobytes() == Follower.load(folder).theta_.tobytes()


def test_io_holds_three_plain_files(folder):
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {
        "manifest.json", "tables", "weights"
    }  # fmt: skip
    json.loads((folder / "manifest.json").read_text())
    json.loads(file_of(folder, "tables.json").read_text())
    weights = load(file_of(folder, "weights.safetensors").read_bytes())
    assert set(weights) == {"theta0", "keys0"}


def test_io_over_an_older_model_replaces_it(folder):
    Follower(parser="chain").fit(shown()[:2]).save(folder)
    assert {path.name for path in folder.iterdir()} == {file_of(folder, n).name for n in FILES}
    assert Follower.load(folder).get_params()["seed"] == 0


@pytest.mark.parametrize("written", [0, 1, 2])
def test_io_saving_that_fails_half_way_leaves_the_older_model(folder, monkeypatch, written):
    before = sorted(path.name for path in folder.iterdir())
    calls, replace = [], os.replace

    def failing(source, target):
        if len(calls) == written:
            raise OSError("disk full")
        calls.append(target)
        replace(source, target)

    other = make(seed=9).fit(shown()[:3])
    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="disk full"):
        other.save(folder)
    monkeypatch.undo()
    assert len(calls) == written
    assert sorted(path.name for path in folder.iterdir()) == before
    assert Follower.load(folder).seed == 7


@pytest.mark.parametrize("name", FILES)
def test_io_missing_files_are_refused(folder, name):
    missing = file_of(folder, name)
    missing.unlink()
    refused(folder, missing.name)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("keep", [0, 1, 0.5, -1])
def test_io_truncated_files_are_refused(folder, name, keep):
    data = file_of(folder, name).read_bytes()
    size = int(len(data) * keep) if isinstance(keep, float) else keep
    file_of(folder, name).write_bytes(data[:size])
    refused(folder)


@pytest.mark.parametrize("name", FILES)
def test_io_flipped_bits_are_refused_wherever_they_are(folder, name, tmp_path):
    place_of = file_of(folder, name).name
    data = (folder / place_of).read_bytes()
    random = np.random.default_rng(0)
    for place in random.choice(len(data), size=min(60, len(data)), replace=False):
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(random.integers(8))
        with contextlib.suppress(ValueError):
            if name == "manifest.json" and json.loads(damaged) == json.loads(data):
                continue  # white space between entries, and digits beyond a float, say nothing
        copy = tmp_path / "damaged"
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        (copy / place_of).write_bytes(bytes(damaged))
        refused(copy)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x04\x95", b"[1, 2]", b"null", b'{"format": "other"}', b"\xff\xfe", b"[" * 100_000],
    ids=["empty", "pickle", "list", "null", "other", "bytes", "deep"],
)
def test_io_foreign_manifests_are_refused(folder, content):
    (folder / "manifest.json").write_bytes(content)
    refused(folder)


def test_io_folders_that_are_no_models_are_refused(tmp_path):
    refused(tmp_path, "contains no model")
    refused(tmp_path / "nowhere", "contains no model")


@pytest.mark.parametrize("version", [4, 99, 2, 0, -1, "1", None, 1.5, True])
def test_io_other_and_strange_versions_are_refused(folder, version):
    def change(manifest, tables, arrays):
        manifest["version"] = version
        manifest["groundling"] = "7.0.0"

    resign(folder, change)
    assert "7.0.0" in refused(folder, f"got {version}, written by")


def test_io_edited_manifests_are_refused(folder):
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"seed": 7', '"seed": 8'))
    refused(folder, "its own checksum")


def delete(*keys):
    def change(manifest, tables, arrays):
        part = {"manifest": manifest, "tables": tables, "arrays": arrays}
        for key in keys[:-1]:
            part = part[key]
        del part[keys[-1]]

    return change


def put(value, *keys):
    def change(manifest, tables, arrays):
        part = {"manifest": manifest, "tables": tables, "arrays": arrays}
        for key in keys[:-1]:
            part = part[key]
        part[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        delete("manifest", "settings"),
        delete("manifest", "settings", "model"),
        delete("manifest", "settings", "model", "kind"),
        put("Model", "manifest", "settings", "model", "kind"),
        put("os.system", "manifest", "settings", "model", "kind"),
        put(["PlanModel"], "manifest", "settings", "model", "kind"),
        put(-1, "manifest", "settings", "model", "skip"),
        put(1, "manifest", "settings", "model", "hack"),
        delete("manifest", "temperature"),
        put(0, "manifest", "temperature"),
        put(float("nan"), "manifest", "temperature"),
        put("hot", "manifest", "temperature"),
        put({"skeleton": "tree", "hack": 1}, "tables", "members", 0, "overlay"),
        put({"skeleton": "web"}, "tables", "members", 0, "overlay"),
        put({"nodes": "flat", "adjacency": "soft"}, "tables", "members", 0, "overlay"),
        put([1], "manifest", "settings", "search"),
        put("many", "manifest", "settings", "threads"),
        delete("tables", "members"),
        put([], "tables", "members"),
        delete("tables", "members", 0, "features"),
        delete("tables", "members", 0, "word_names"),
        put(["same", "same"], "tables", "members", 0, "word_names"),
        put([], "tables", "members", 0, "node_names"),
        put(5, "tables", "lexicon"),
        put({"word": "many"}, "tables", "members", 0, "counts"),
        put({"lexicon": "strings"}, "tables", "members", 0, "features"),
        delete("arrays", "theta0"),
        put(np.zeros(1), "arrays", "theta1"),
        put(np.zeros(3), "arrays", "theta0"),
        put(np.array([np.nan]), "arrays", "theta0"),
        put(np.array([2**62 - 1]), "arrays", "keys0"),
    ],
)
def test_io_models_that_do_not_fit_together_are_refused(folder, change):
    resign(folder, change)
    refused(folder)


def test_io_keys_that_name_nothing_are_refused(folder):
    def change(manifest, tables, arrays):
        arrays["keys0"] = arrays["keys0"].copy()
        arrays["keys0"][-1] |= (1 << 58) - 1

    resign(folder, change)
    refused(folder)


def test_io_unsorted_keys_are_refused(folder):
    def change(manifest, tables, arrays):
        arrays["keys0"] = arrays["keys0"][::-1].copy()

    resign(folder, change)
    refused(folder)


@pytest.mark.parametrize("claim", [10**15, 2**63, -1])
def test_io_claims_of_huge_arrays_are_refused(folder, claim):
    header = json.dumps({"theta0": {"dtype": "F64", "shape": [claim], "data_offsets": [0, claim]}})
    data = len(header).to_bytes(8, "little") + header.encode()
    resign(folder, weights=data)
    refused(folder)


def test_io_very_large_files_are_not_read(folder):
    with open(file_of(folder, "tables.json"), "wb") as file:
        file.truncate(3_000_000_000)  # sparse: it takes no room
    refused(folder, "at most 64,000,000 bytes; got 3,000,000,000")


def test_io_names_of_files_come_from_us_not_from_the_manifest(folder, tmp_path):
    (tmp_path / "secret").write_text("{}")

    def change(manifest, tables, arrays):
        manifest["sha256"]["../secret"] = "0"
        manifest["tables"] = "../secret"

    resign(folder, change)
    assert Follower.load(folder).seed == 7


@pytest.mark.parametrize(
    "parser", ["conllu:/etc/passwd", "spacy:../pipeline", "spacy:/tmp/x", "spacy:json", ""]
)
def test_io_models_cannot_choose_files_to_read(folder, parser):
    resign(folder, put(parser, "manifest", "settings", "parser"))
    with pytest.raises(SettingError, match=r"not part of the model. Pass it to Follower.load"):
        Follower.load(folder)
    assert Follower.load(folder, parser="chain").parser == "chain"


def test_io_parsers_of_ones_own_are_passed_again(tmp_path):
    folder = make(parser=ChainParser()).fit(shown()).save(tmp_path / "model")
    with pytest.raises(SettingError, match=r"Pass it to Follower.load"):
        Follower.load(folder)
    loaded = Follower.load(folder, parser=ChainParser())
    assert loaded.follow("go left", Line(), 2).actions


def test_io_joining_functions_of_ones_own_are_passed_again(tmp_path):
    features = Features(words=("word",), joins=("conjunction", join_first))
    before = make(features=features).fit(shown())
    folder = before.save(tmp_path / "model")
    with pytest.raises(SettingError, match="custom joining function 'join_first'"):
        Follower.load(folder)
    after = Follower.load(folder, joins=[join_first])
    assert after.follow("go left", Line(), 2) == before.follow("go left", Line(), 2)


def test_io_notes_are_kept_with_the_model(fitted, tmp_path):
    folder = fitted.save(tmp_path / "model", note={"task": "lines", "score": 0.5})
    assert read_note(folder) == {"task": "lines", "score": 0.5}
    assert Follower.load(folder).theta_.tobytes() == fitted.theta_.tobytes()


def test_io_models_of_ones_own_are_not_saved(tmp_path):
    class Mine(PlanModel):
        """A model of another package."""

    follower = make(model=Mine()).fit(shown())
    with pytest.raises(SettingError, match=r"Only PlanModel.* can be saved; got Mine"):
        follower.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_io_a_file_is_not_overwritten_by_a_folder(fitted, tmp_path):
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"must be a folder; .*taken is a file"):
        fitted.save(tmp_path / "taken")
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"
