"""SIGINT and SIGTERM end every command within two seconds, in every phase, in one sentence."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.promises.soaking import note, rounds

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

# What is asked before Python has started and found us is none of ours.
SCRIPT = "from groundling.cli.entry import run; print('begun', flush=True); run()"
SECONDS = 2.0
COMMANDS = {
    "demo": ["demo", "--out", "shown"],
    "train": ["train", "puzzles", "--sample", "--out", "model"],
    "evaluate": ["evaluate", "puzzles", "--sample", "--jobs", "2"],
    "train own": ["train", "world.py:Endless", "shown.jsonl", "--out", "model"],
    "train own in shards": ["train", "world.py:Endless", "shown.jsonl", "--memory", "1GB"],
    "check": ["check", "world.py:Endless", "shown.jsonl"],
    "diagnose": ["diagnose", "world.py:Endless", "shown.jsonl"],
    "compile": ["compile"],
    "studio": ["studio", "--no-browser", "--port", "0"],
    "corpora": ["corpora", "list"],
    "help": ["--help"],
}
WORLD = """
import time
from groundling import GroundingGraph

class Endless:
    def actions(self, state):
        sum(range(100_000_000))  # long inside one call of C
        return ("on", "off")
    def step(self, state, action): return action
    def ground(self, state, action, after): return GroundingGraph.event({"kind": action})
"""


def stop(command, number, after, folder):
    """Run a command, send it a signal after a while; return its code, output, seconds to end."""
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, text=True, cwd=folder, start_new_session=True,
    )  # fmt: skip
    with running:
        try:
            assert running.stdout.readline() == "begun\n"
            time.sleep(after)
            began = time.monotonic()
            (os.killpg if number == signal.SIGINT else os.kill)(running.pid, number)
            code = running.wait(timeout=60)
            seconds = time.monotonic() - began
            return code, running.stdout.read(), seconds
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "world.py").write_text(WORLD)
    record = {"text": "light it", "start": "off", "actions": ["on"]}
    (tmp_path / "shown.jsonl").write_text(json.dumps(record) + "\n")
    return tmp_path


def check(command, number, after, folder):
    code, said, seconds = stop(command, number, after, folder)
    where = f"{command} {signal.Signals(number).name} after {after:.2f} s: {code}\n{said}"
    assert seconds < SECONDS + 1.0, f"{seconds:.1f} s: {where}"  # two cores have much else to do
    assert "Traceback" not in said, where
    assert "should not happen" not in said, where
    # 1 is what click says where it was asked before any command began.
    assert code in (0, 1, 128 + number), where


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
@pytest.mark.parametrize("command", ["train own", "demo", "studio"])
@pytest.mark.parametrize("after", [0.02, 0.2, 3.0])
def test_commands_stop_soon(folder, command, number, after):
    check(COMMANDS[command], number, after, folder)


def test_commands_stop_soon_whatever_they_do(folder):
    chance, stopped = random.Random(5), 0
    for _ in rounds(0.05, least=3):
        command = chance.choice(list(COMMANDS))
        number = chance.choice((signal.SIGINT, signal.SIGTERM))
        check(COMMANDS[command], number, 0.01 + 12 * chance.random() ** 3, folder)
        stopped += 1
    note(**{"commands that were told to stop": stopped})
