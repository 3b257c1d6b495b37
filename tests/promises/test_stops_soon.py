"""Ctrl-C and SIGTERM end `studio` and `serve` soon, whatever they are doing."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from groundling import Demonstration, GroundingGraph
from groundling.follower import Follower
from tests.promises.soaking import SECONDS, Lateness, note, rounds

SLOW = '''
import time
from groundling import GroundingGraph

class Slow:
    """A lamp whose switch takes a minute when it is dark."""
    start = "off"
    def actions(self, state): return ("on", "off")
    def step(self, state, action):
        if state == "dark":
            time.sleep(60)
        return action
    def ground(self, state, action, after): return GroundingGraph({"lamp": {action: True}})
'''
ENTRY = "from groundling_start import run; run()"
MOST = 2.0  # seconds


class Lamp:
    start = "off"

    def actions(self, state):
        return ("on", "off")

    def step(self, state, action):
        return action

    def ground(self, state, action, after):
        return GroundingGraph({"lamp": {action: True}})


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stops")
    (folder / "slow.py").write_text(SLOW)
    shown = [Demonstration(each, Lamp(), "off", (each,)) for each in ("on", "off")]
    Follower().fit(shown).save(folder / "model")
    return folder


@contextmanager
def started(place, command, folder):
    given = {
        "studio": ["studio", f"{place}/slow.py:Slow", "--project", str(folder), "--no-browser"],
        "serve": ["serve", str(place / "model"), "--world", f"{place}/slow.py:Slow"],
    }[command]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, *given, "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def address_of(process):
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(r"http://\S+?/(?=\s|\?)", line):
            return found[0]
    raise AssertionError(said)


def busy(address, command):
    """Ask for what takes a minute."""
    path = "v1/follow" if command == "serve" else "api/projects/main/walk"
    body = {"text": "on", "state": "dark"} if command == "serve" else (
        {"scene": "Slow", "start": "dark", "actions": ["on"]})  # fmt: skip

    def ask():
        with suppress(httpx.HTTPError):
            httpx.post(address + path, json=body, timeout=120)

    threading.Thread(target=ask, daemon=True).start()
    time.sleep(0.5)


def listen(address):
    """Hold some streams open."""

    def hear():
        with (
            suppress(httpx.HTTPError),
            httpx.stream("GET", f"{address}api/projects/main/events", timeout=120) as stream,
        ):
            for _ in stream.iter_raw():
                pass

    for _ in range(5):
        threading.Thread(target=hear, daemon=True).start()
    time.sleep(0.3)


def teach(address):
    """Give it something to learn."""
    body = {"scene": "Slow", "text": "light it", "actions": ["on"]}
    assert httpx.post(f"{address}api/projects/main/teach", json=body, timeout=60).status_code == 201


PHASES = {
    "starting": (),
    "open": (),
    "busy": ("busy",),
    "streams": ("listen",),
    "learning": ("teach",),
    "all": ("listen", "teach", "busy"),
}
CASES = [
    ("studio", "open", signal.SIGINT), ("studio", "all", signal.SIGTERM),
    ("studio", "learning", signal.SIGINT), ("serve", "busy", signal.SIGINT),
    ("serve", "open", signal.SIGTERM), ("studio", "starting", signal.SIGTERM),
]  # fmt: skip


def stop(place, folder, command, phase, sent, wait=0.4):
    """Start a server, bring it into a phase, send it a signal; return how long it took to end.

    The time that it waited for a processor is not counted.
    """
    with started(place, command, folder) as process:
        if phase == "starting":
            time.sleep(wait)
        else:
            address = address_of(process)
            for each in PHASES[phase]:
                if each == "busy":
                    busy(address, command)
                elif each == "listen":
                    listen(address)
                else:
                    teach(address)
        with Lateness(process.pid) as late:
            process.send_signal(sent)
            process.wait(timeout=60)
        said = process.stdout.read()
        if phase != "starting":  # Python itself is not ready for it before
            assert "Traceback" not in said, said
        assert process.returncode in (130, 143, -sent, 128 + sent), said
    return late.took


@pytest.mark.parametrize(("command", "phase", "sent"), CASES)
def test_stops_soon(place, tmp_path, command, phase, sent):
    assert stop(place, tmp_path / "project", command, phase, sent) < MOST


def test_stops_soon_and_keeps_what_was_taught(place, tmp_path):
    from groundling.studio.project import Project

    assert stop(place, tmp_path / "project", "studio", "learning", signal.SIGTERM) < MOST
    project = Project(tmp_path / "project", {"kind": "world", "world": f"{place}/slow.py:Slow"})
    assert project.store.counts() == (1, 0)
    project.close()


@pytest.mark.skipif(not SECONDS, reason="runs for long: `make soak`")
def test_stops_soon_at_any_moment(place, tmp_path):
    import random

    chance, took = random.Random(0), []
    for number in rounds(0.3, least=3):
        command = chance.choice(["studio", "serve"])
        phases = [each for each in PHASES if command == "studio" or each in ("starting", "busy")]
        phase, sent = chance.choice(phases), chance.choice([signal.SIGINT, signal.SIGTERM])
        folder = tmp_path / f"project{number}"
        took.append(stop(place, folder, command, phase, sent, wait=chance.uniform(0, 4)))
    note(stops=len(took), slowest_stop=round(max(took), 2))
    assert max(took) < MOST
