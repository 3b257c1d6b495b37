"""A model is read from its own folder: plain files only, whatever it says or links to."""

import json
import os
import tarfile

import pytest

from groundling import Follower
from groundling.corpora.archive import read_source
from groundling.errors import CorpusError, SettingError
from tests.modelfiles import FILES, file_of, own_sum, refused, resign


@pytest.fixture
def folder(followers, tmp_path):
    return followers["plans"].save(tmp_path / "model")


@pytest.mark.parametrize("name", FILES)
def test_inside_its_folder_links_are_refused(folder, name, tmp_path):
    part = file_of(folder, name)
    part.rename(tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    refused(folder, "must be a regular file")


@pytest.mark.parametrize("name", FILES)
def test_inside_its_folder_pipes_devices_and_folders_are_refused(folder, name):
    part = file_of(folder, name)
    part.unlink()
    os.mkfifo(part)
    refused(folder, "must be a regular file")
    part.unlink()
    part.symlink_to("/dev/zero")
    refused(folder, "must be a regular file")
    part.unlink()
    part.mkdir()
    refused(folder, "must be a regular file")


def test_inside_its_folder_a_link_to_the_folder_is_the_users_own(folder, tmp_path):
    (tmp_path / "latest").symlink_to(folder)
    assert Follower.load(tmp_path / "latest").seed == 7


@pytest.mark.parametrize(
    "claim", ["../../../../etc/passwd", "/etc/passwd", "..", "0" * 63 + "/", "x" * 64, 7, None]
)
def test_inside_its_folder_sums_are_no_paths(folder, claim):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"]["tables.json"] = claim
    manifest["sha256"]["manifest.json"] = own_sum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    refused(folder, "must have a checksum for tables.json")


def test_inside_its_folder_names_in_a_manifest_open_nothing(folder, tmp_path):
    (tmp_path / "secret").write_text("{}")

    def change(manifest, tables, arrays):
        manifest["sha256"]["../secret"] = "0"
        manifest["tables"] = manifest["files"] = "../secret"

    resign(folder, change)
    assert Follower.load(folder).seed == 7


@pytest.mark.parametrize(
    "parser",
    ["conllu:/etc/passwd", "spacy:json", "spacy:en_core_web_sm", "spacy:..", ""],
)
def test_inside_its_folder_parsers_of_a_model_open_nothing(folder, parser, monkeypatch, tmp_path):
    # A folder of this name must not be opened, nor a package of this name imported.
    (tmp_path / "en_core_web_sm").mkdir()
    monkeypatch.chdir(tmp_path)

    def change(manifest, tables, arrays):
        manifest["settings"]["parser"] = parser

    resign(folder, change)
    with pytest.raises(SettingError, match=r"Pass it to Follower\.load"):
        Follower.load(folder)
    assert Follower.load(folder, parser="chain").parser == "chain"


def test_inside_its_folder_archives_write_nowhere(tmp_path):
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        for name in ("../outside.txt", "/outside.txt", "data/sail/data/../../../outside.txt"):
            archive.addfile(tarfile.TarInfo(name))
        link = tarfile.TarInfo("data/sail/data/Paragraph.xml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(CorpusError, match="must be a regular file"):
        list(read_source(tmp_path / "all.tar.gz"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.tar.gz"]
