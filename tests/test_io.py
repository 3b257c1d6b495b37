"""Model files: what is loaded is what was saved, and anything else is refused in one sentence."""

import hashlib
import json
import os
import shutil

import numpy as np
import pytest
from safetensors.numpy import load, save

from groundling import Features, Follower, Learning, Lexicon, Overlay, Search
from groundling.errors import ModelFileError, SettingError
from groundling.language import ChainParser
from groundling.saving import _own_sum
from tests.learning.test_training import join_first
from tests.worlds import Line, line_demonstrations

FILES = ("manifest.json", "tables.json", "weights.safetensors")
TEXTS = ("go left", "go right then left", "please move right", "left then unknown")
WAYS = {
    "plans": Learning(l2=0.1),
    "viterbi": Learning(normalise="decisions", alignment="viterbi"),
    "lattice": Learning(normalise="decisions"),
}


def make(way="plans", **settings):
    chosen = {
        "overlay": Overlay(unit="word", neighbours=("given", "self"), skip=1.0),
        "features": Features(
            words=("word", "head", "string"), slots=("item",), stop_words=("please",),
            lexicon=Lexicon(given={"bench": [("item", "sofa")]}), bins=(1.0, 2.5),
        ),
        "learning": WAYS[way],
        "search": Search(max_length=3, decode="outcome", threshold=0.3),
        "parser": "chain",
        "seed": 7,
    } | settings  # fmt: skip
    return Follower(**chosen)


def shown():
    return line_demonstrations(Line(4, {1: "lamp", 2: "sofa"}))


@pytest.fixture(scope="module")
def fitted():
    return make().fit(shown()).calibrate(shown())


@pytest.fixture
def folder(fitted, tmp_path):
    return fitted.save(tmp_path / "model")


def resign(folder, change):
    """Change the parts of a model as somebody who knows the format would: sums and all."""
    manifest = json.loads((folder / "manifest.json").read_text())
    tables = json.loads((folder / "tables.json").read_text())
    arrays = dict(load((folder / "weights.safetensors").read_bytes()))
    change(manifest, tables, arrays)
    (folder / "tables.json").write_text(json.dumps(tables))
    (folder / "weights.safetensors").write_bytes(save(arrays))
    for name in FILES[1:]:
        manifest["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    manifest["sha256"]["manifest.json"] = _own_sum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def refused(folder, words=""):
    with pytest.raises(ModelFileError) as caught:
        Follower.load(folder)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert message.endswith(".")
    return message


@pytest.mark.parametrize("way", WAYS)
def test_saving_round_trip_gives_the_same_plans(way, tmp_path):
    before = make(way).fit(shown()).calibrate(shown())
    after = Follower.load(before.save(tmp_path / "model"))
    world = Line(6, {3: "sofa", 4: "fountain"})
    for text in TEXTS:
        for start in (1, 3):
            one, other = (each.follow(text, world, start) for each in (before, after))
            assert one == other
            assert one.log_probability == other.log_probability
            assert one.confidence == other.confidence


def test_saving_keeps_settings_and_what_was_learnt(fitted, folder):
    loaded = Follower.load(folder)
    kept, now = fitted.get_params(), loaded.get_params()
    assert {n: v for n, v in kept.items() if n != "features"} == {
        n: v for n, v in now.items() if n != "features"
    }
    assert loaded.features.bins == (1.0, 2.5)
    assert loaded.theta_.tobytes() == fitted.theta_.tobytes()
    assert loaded.feature_names_ == fitted.feature_names_
    assert loaded.temperature_ == fitted.temperature_
    assert loaded.loss_ == fitted.loss_
    assert loaded.lexicon_ == fitted.lexicon_


def test_saving_same_seed_same_bytes(tmp_path):
    one, other = (make().fit(shown()).save(tmp_path / name) for name in ("one", "other"))
    for name in FILES:
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_saving_what_was_loaded_gives_the_same_weights(folder, tmp_path):
    again = Follower.load(folder).save(tmp_path / "again")
    assert (again / FILES[2]).read_bytes() == (folder / FILES[2]).read_bytes()
    assert Follower.load(again).theta_.tobytes() == Follower.load(folder).theta_.tobytes()


def test_saving_holds_three_plain_files(folder):
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    json.loads((folder / "manifest.json").read_text())
    json.loads((folder / "tables.json").read_text())
    assert set(load((folder / "weights.safetensors").read_bytes())) == {"theta", "keys"}


def test_saving_over_an_older_model_replaces_it(folder):
    Follower(parser="chain").fit(shown()[:2]).save(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert Follower.load(folder).get_params()["seed"] == 0


def test_saving_that_fails_half_way_leaves_no_trusted_mixture(folder, monkeypatch):
    written = []
    replace = os.replace

    def failing(source, target):
        if len(written) == 1:
            raise OSError("disk full")
        written.append(target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="disk full"):
        make(seed=9).fit(shown()[:3]).save(folder)
    monkeypatch.undo()
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    refused(folder, "does not match the manifest")


@pytest.mark.parametrize("name", FILES)
def test_saving_missing_files_are_refused(folder, name):
    (folder / name).unlink()
    refused(folder, name)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("keep", [0, 1, 0.5, -1])
def test_saving_truncated_files_are_refused(folder, name, keep):
    data = (folder / name).read_bytes()
    size = int(len(data) * keep) if isinstance(keep, float) else keep
    (folder / name).write_bytes(data[:size])
    refused(folder)


@pytest.mark.parametrize("name", FILES)
def test_saving_flipped_bits_are_refused_wherever_they_are(folder, name, tmp_path):
    data = (folder / name).read_bytes()
    random = np.random.default_rng(0)
    for place in random.choice(len(data), size=min(60, len(data)), replace=False):
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(random.integers(8))
        if name == "manifest.json" and bytes(damaged).split() == data.split():
            continue  # white space between entries says nothing
        copy = tmp_path / "damaged"
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        (copy / name).write_bytes(bytes(damaged))
        refused(copy)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x04\x95", b"[1, 2]", b"null", b'{"format": "other"}', b"\xff\xfe", b"[" * 100_000],
    ids=["empty", "pickle", "list", "null", "other", "bytes", "deep"],
)
def test_saving_foreign_manifests_are_refused(folder, content):
    (folder / "manifest.json").write_bytes(content)
    refused(folder)


def test_saving_folders_that_are_no_models_are_refused(tmp_path):
    refused(tmp_path, "holds no model")
    refused(tmp_path / "nowhere", "holds no model")


@pytest.mark.parametrize("version", [3, 99, 0, -1, "1", None, 1.5])
def test_saving_newer_and_strange_versions_are_refused(folder, version):
    def change(manifest, tables, arrays):
        manifest["version"] = version
        manifest["groundling"] = "7.0.0"

    resign(folder, change)
    assert "7.0.0" in refused(folder, f"format version {version}")


def test_saving_edited_manifests_are_refused(folder):
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
        delete("manifest", "settings", "overlay"),
        delete("manifest", "temperature"),
        put(0, "manifest", "temperature"),
        put(float("nan"), "manifest", "temperature"),
        put("hot", "manifest", "temperature"),
        put({"skeleton": "tree", "hack": 1}, "manifest", "settings", "overlay"),
        put({"skeleton": "web"}, "manifest", "settings", "overlay"),
        put([1], "manifest", "settings", "search"),
        put("many", "manifest", "settings", "threads"),
        delete("tables", "features"),
        delete("tables", "word_names"),
        put(["same", "same"], "tables", "word_names"),
        put([], "tables", "node_names"),
        put(5, "tables", "lexicon"),
        put({"word": "many"}, "tables", "counts"),
        put({"lexicon": "strings"}, "tables", "features"),
        delete("arrays", "theta"),
        put(np.zeros(3), "arrays", "theta"),
        put(np.array([np.nan]), "arrays", "theta"),
        put(np.array([2**62 - 1]), "arrays", "keys"),
    ],
)
def test_saving_models_that_do_not_fit_together_are_refused(folder, change):
    resign(folder, change)
    refused(folder)


def test_saving_keys_that_name_nothing_are_refused(folder):
    def change(manifest, tables, arrays):
        arrays["keys"] = arrays["keys"].copy()
        arrays["keys"][-1] |= (1 << 58) - 1

    resign(folder, change)
    refused(folder)


def test_saving_unsorted_keys_are_refused(folder):
    def change(manifest, tables, arrays):
        arrays["keys"] = arrays["keys"][::-1].copy()

    resign(folder, change)
    refused(folder)


@pytest.mark.parametrize("claim", [10**15, 2**63, -1])
def test_saving_claims_of_huge_arrays_are_refused(folder, claim):
    header = json.dumps({"theta": {"dtype": "F64", "shape": [claim], "data_offsets": [0, claim]}})
    data = len(header).to_bytes(8, "little") + header.encode()
    (folder / "weights.safetensors").write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"]["weights.safetensors"] = hashlib.sha256(data).hexdigest()
    manifest["sha256"]["manifest.json"] = _own_sum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    refused(folder)


def test_saving_very_large_files_are_not_read(folder):
    with open(folder / "tables.json", "wb") as file:
        file.truncate(3_000_000_000)  # sparse: it takes no workspace
    refused(folder, "larger than any model")


def test_saving_names_of_files_come_from_us_not_from_the_manifest(folder, tmp_path):
    (tmp_path / "secret").write_text("{}")

    def change(manifest, tables, arrays):
        manifest["sha256"]["../secret"] = "0"
        manifest["tables"] = "../secret"

    resign(folder, change)
    assert Follower.load(folder).seed == 7


@pytest.mark.parametrize("parser", ["conllu:/etc/passwd", "spacy:../pipeline", "spacy:/tmp/x", ""])
def test_saving_models_cannot_choose_files_to_read(folder, parser):
    resign(folder, put(parser, "manifest", "settings", "parser"))
    with pytest.raises(SettingError, match=r"not part of the model. Pass it to Follower.load"):
        Follower.load(folder)
    assert Follower.load(folder, parser="chain").parser == "chain"


def test_saving_parsers_of_ones_own_are_passed_again(tmp_path):
    folder = make(parser=ChainParser()).fit(shown()).save(tmp_path / "model")
    with pytest.raises(SettingError, match=r"Pass it to Follower.load"):
        Follower.load(folder)
    loaded = Follower.load(folder, parser=ChainParser())
    assert loaded.follow("go left", Line(), 2).actions


def test_saving_joining_functions_of_ones_own_are_passed_again(tmp_path):
    features = Features(words=("word",), joins=("conjunction", join_first))
    before = make(features=features).fit(shown())
    folder = before.save(tmp_path / "model")
    with pytest.raises(SettingError, match="joining function 'join_first' of your own"):
        Follower.load(folder)
    after = Follower.load(folder, joins=[join_first])
    assert after.follow("go left", Line(), 2) == before.follow("go left", Line(), 2)


def test_saving_models_of_the_first_format_are_read(fitted, folder):
    def change(manifest, tables, arrays):
        manifest["version"] = 1
        del tables["partners"]

    resign(folder, change)
    loaded = Follower.load(folder)
    assert loaded.partners == ()
    assert loaded.follow("go left", Line(4), 2) == fitted.follow("go left", Line(4), 2)
