"""A full disk: one sentence, nothing lost, and questions are still answered."""

import os
import subprocess

import pytest

from groundling.errors import StorageError
from groundling.studio.app import make_studio
from groundling.studio.open_projects import OpenProjects
from groundling.studio.rate_limit import RateLimit
from tests.promises.making import demonstrations, make_follower
from tests.studio.conftest import LocalClient
from tests.studio.test_app import MAIN, SCENE, settle, teach


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, check=False, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip("only root can mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    """Leave no room at all."""
    with open(folder / "filler", "wb") as file:
        try:
            while True:
                os.write(file.fileno(), b"x" * 4096)
        except OSError:
            pass


def test_full_disk_studio_answers_and_loses_nothing(small_disk):
    folder = small_disk / "project"
    projects = OpenProjects(folder, {"kind": "lesson"})
    with LocalClient(make_studio(projects, limit=RateLimit(seconds=120))) as client:
        teach(client, "zum Tisch", "go to the table")
        fill(small_disk)
        body = {"scene": SCENE, "text": "zum Tisch"}
        told = [client.post(f"{MAIN}/say", json=body) for _ in range(30)]
        assert [each.status_code for each in told] == [200] * 30
        assert told[-1].json()["actions"][0]["json"] == "go to the table"
        assert "disk is full" in told[-1].json()["note"]
        assert client.post(f"{MAIN}/explain", json=body).status_code == 200
        assert client.get(MAIN).status_code == 200
        statuses = set()
        for _ in range(30):
            body = {"scene": SCENE, "text": "zum Regal " * 300, "actions": ["go to the shelf"]}
            refused = client.post(f"{MAIN}/teach", json=body)
            statuses.add(refused.status_code)
            if refused.status_code == 507:
                assert "disk is full" in refused.json()["detail"]
        assert statuses <= {201, 507}
        assert 507 in statuses
        known = client.get(MAIN).json()["known"]
        assert client.get(f"{MAIN}/demonstrations").status_code == 200
        (small_disk / "filler").unlink()
        teach(client, "nimm die Tasse", "take the blue cup")
        assert settle(client)["problem"] is None
        assert client.get(MAIN).json()["known"] == known + 1
    with LocalClient(make_studio(OpenProjects(folder, None))) as client:
        assert client.get(MAIN).json()["known"] == known + 1


def test_full_disk_a_model_that_cannot_be_saved_is_told(small_disk):
    follower = make_follower().fit(demonstrations())
    fill(small_disk)
    with pytest.raises(StorageError, match=r"cannot be saved in .*: No space left on device\. "):
        follower.save(small_disk / "model")


def test_full_disk_what_was_learnt_answers_though_it_cannot_be_kept(small_disk, tmp_path):
    folder = small_disk / "project"
    projects = OpenProjects(folder, {"kind": "lesson"})
    with LocalClient(make_studio(projects, limit=RateLimit(seconds=120))) as client:
        teach(client, "zum Tisch", "go to the table")
        project = projects.get("main")
        project.store.add([project.store.record(1)], "again")  # kept, and not learnt yet
        fill(small_disk)
        project.wake()
        about = settle(client)
        assert "Free some disk space" in about["problem"]
        assert "should not happen" not in about["problem"]
        follow = client.post(f"{MAIN}/say", json={"scene": SCENE, "text": "zum Tisch"})
        assert follow.status_code == 200
        (small_disk / "filler").unlink()
