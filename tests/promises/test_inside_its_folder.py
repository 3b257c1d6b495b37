"""A model is read from its own folder: plain files only, whatever it says or links to."""

import json
import os
import tarfile
from dataclasses import replace

import pytest

from groundling import Follower
from groundling.corpora.archive import read_source
from groundling.errors import CorpusError, ProjectError, SettingError
from groundling.studio.open_projects import OpenProjects
from groundling.studio.project import Project
from groundling.studio.store import _WRITER as WRITER
from groundling.studio.store import FILE, Record
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


SHOWN = Record("Kitchen 1", "zum Tisch", None, ("go to the table",))


@pytest.fixture
def project(tmp_path):
    """A project that has learnt once; nothing is learnt in the background."""
    found = Project(tmp_path / "project", {"kind": "lesson"})
    found.wake = lambda: None
    found.teach(SHOWN)
    found.learn_now()
    yield found
    found.close()


@pytest.mark.parametrize("which", ["models", "models/2"])
def test_inside_its_folder_a_project_learns(project, tmp_path, which):
    others = tmp_path / "others"
    for number in range(20):
        (others / str(number)).mkdir(parents=True)
    link = project.folder / which
    if link.exists():
        link.rename(tmp_path / "moved")
    link.symlink_to(others)
    project.teach(replace(SHOWN, text="Tisch"))
    with pytest.raises(ProjectError, match="must be a folder; got a link"):
        project.learn_now()
    assert sorted(os.listdir(others)) == sorted(map(str, range(20)))
    assert not any(os.listdir(each) for each in others.iterdir())
    assert project.learnt_revision == project.store.revision  # in use, though not saved
    assert 2 not in project.kept_models()


def test_inside_its_folder_projects_are_begun(tmp_path):
    projects = OpenProjects(tmp_path / "project", {"kind": "lesson"})
    (tmp_path / "others").mkdir()
    (tmp_path / "project" / "projects").symlink_to(tmp_path / "others")
    with pytest.raises(ProjectError, match="must be a folder; got a link"):
        projects.begin({"kind": "lesson"})
    assert not os.listdir(tmp_path / "others")
    projects.close()


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal", "-writer"])
def test_inside_its_folder_the_file_of_a_project_is(tmp_path, ending):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "mine").write_text("my own")
    (project / (WRITER if ending == "-writer" else f"{FILE}{ending}")).symlink_to(tmp_path / "mine")
    with pytest.raises(ProjectError, match="must be a regular file"):
        Project(project, {"kind": "lesson"})
    assert (tmp_path / "mine").read_text() == "my own"


@pytest.mark.parametrize("lost", ["folder", "file", "replaced"])
def test_inside_its_folder_a_lost_project_takes_nothing_in(project, tmp_path, lost):
    if lost == "folder":
        project.folder.rename(tmp_path / "moved")
    else:
        (project.folder / FILE).unlink()
    if lost == "replaced":
        (project.folder / FILE).write_bytes(b"")
    with pytest.raises(ProjectError, match="moved or deleted"):
        project.teach(replace(SHOWN, text="Tisch"))
    scene = project.setting.scenes[0]
    assert project.follow(scene, scene.start, "zum Tisch").actions == SHOWN.actions
