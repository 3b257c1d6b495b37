"""Two processes on one project: one writes and learns, the other reads, sees it, and is told."""

import re
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager

import httpx
import pytest

from groundling.errors import ProjectError
from groundling.studio.app import make_studio
from groundling.studio.kitchen import Kitchen
from groundling.studio.open_projects import OpenProjects
from groundling.studio.project import Project
from groundling.studio.store import Record
from tests.studio.conftest import LocalClient

MAIN = "/api/projects/main"
OTHER = """
import sys, pathlib
from groundling.studio.project import Project
from groundling.studio.store import Record
from groundling.studio.kitchen import Kitchen
project = Project(pathlib.Path({folder!r}), {{"kind": "lesson"}})
start = project.write_state("Kitchen 1", Kitchen.start)
print("open", project.writes, flush=True)
for line in sys.stdin:
    text, action = line.strip().split("|")
    project.store.add([Record("Kitchen 1", text, start, (action,))], "teaching")
    project.learn_now()
    print("learnt", flush=True)
"""


@pytest.fixture
def other(tmp_path):
    """Another process that has the project open, and learns what it is told."""
    code = textwrap.dedent(OTHER.format(folder=str(tmp_path / "project")))
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "open True\n"

    def learn(text, action):
        process.stdin.write(f"{text}|{action}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "learnt\n"

    process.learn = learn
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def until(check):
    for _ in range(600):
        if check():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def test_two_processes_the_second_sees_what_the_first_learns(other, tmp_path):
    other.learn("zum Tisch", "go to the table")
    projects = OpenProjects(tmp_path / "project", None)
    with LocalClient(make_studio(projects)) as client:
        about = client.get(MAIN).json()
        assert about["writes"] is False
        body = {"scene": "Kitchen 1", "text": "zum Regal", "actions": ["go to the shelf"]}
        refused = client.post(f"{MAIN}/teach", json=body)
        assert refused.status_code == 409
        assert "another process" in refused.json()["detail"]
        for method, path, sent in (
            ("POST", "/undo", None), ("DELETE", "/demonstrations/1", None),
            ("PATCH", "/demonstrations/1", {"weight": 2}),
        ):  # fmt: skip
            assert client.request(method, MAIN + path, json=sent).status_code == 409
        other.learn("zum Regal", "go to the shelf")

        def told():
            plan = client.post(f"{MAIN}/say", json={"scene": "Kitchen 1", "text": "zum Regal"})
            return [each["json"] for each in plan.json()["actions"]] == ["go to the shelf"]

        until(told)
        about = client.get(MAIN).json()
        assert about["known"] == 2
        assert about["learnt"] == about["revision"]
        other.kill()  # then the second may write
        other.wait()
        until(lambda: client.get(MAIN).json()["writes"])
        assert client.post(f"{MAIN}/teach", json=body).status_code == 201


def test_two_processes_lessons_are_claimed_one_by_one(other, tmp_path):
    project = Project(tmp_path / "project")
    with pytest.raises(ProjectError, match="another process"):
        project.check_writes()
    project.close()
    mine = Project(tmp_path / "mine", {"kind": "lesson"})
    start = mine.write_state("Kitchen 1", Kitchen.start)
    mine.check_writes()
    mine.store.add([Record("Kitchen 1", "zum Tisch", start, ("go to the table",))], "teaching")
    mine.close()


@contextmanager
def studio(folder):
    """A studio as a user starts it; yields its address and the process."""
    script = "from groundling_start import run; run()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "studio", "groundling.studio.kitchen:Kitchen", "--project",
         str(folder), "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"http://[^\s?]+", line):
                yield found[0].rstrip("/"), process
                return
        raise AssertionError(said)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_two_processes_of_the_command_on_one_project(tmp_path):
    folder = tmp_path / "project"
    with studio(folder) as (first, process), studio(folder) as (other, _):
        scene = httpx.get(first + MAIN, timeout=60).json()["scenes"][0]["name"]
        body = {"scene": scene, "text": "zum Tisch", "actions": ["go to the table"]}
        assert httpx.get(other + MAIN, timeout=60).json()["writes"] is False
        refused = httpx.post(f"{other}{MAIN}/teach", json=body, timeout=60)
        assert refused.status_code == 409
        assert "another process" in refused.json()["detail"]
        assert httpx.post(f"{first}{MAIN}/teach", json=body, timeout=60).status_code == 201

        def told():
            asked = {"scene": scene, "text": "zum Tisch"}
            plan = httpx.post(f"{other}{MAIN}/say", json=asked, timeout=60).json()
            return plan.get("actions", [{}])[0].get("json") == "go to the table"

        until(told)
        process.kill()
        until(lambda: httpx.get(other + MAIN, timeout=60).json()["writes"])
        assert httpx.post(f"{other}{MAIN}/teach", json=body, timeout=60).status_code == 201
        assert httpx.get(other + MAIN, timeout=60).json()["known"] == 2
