"""SIGINT and SIGTERM end every command within two seconds, in every phase, in one sentence."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.promises.soaking import SECONDS as SOAK
from tests.promises.soaking import Lateness, note, rounds

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

# As `pip` writes it. What is asked before Python has started and found us is none of ours.
SCRIPT = (
    "import re, sys; from groundling_start import run; print('begun', flush=True); sys.exit(run())"
)
SECONDS = 2.0
LATEST = 12 if SOAK else 4  # seconds after which a command is stopped
COMMANDS = {
    "demo": ["demo", "--out", "shown"],
    "train": ["train", "puzzles", "--sample", "--out", "model"],
    "evaluate": ["evaluate", "puzzles", "--sample", "--jobs", "2"],
    "train own": ["train", "world.py:Endless", "shown.jsonl", "--out", "model"],
    "train own in shards": ["train", "world.py:Endless", "shown.jsonl", "--memory", "1GB"],
    "check": ["check", "world.py:Endless", "shown.jsonl"],
    "diagnose": ["diagnose", "world.py:Endless", "shown.jsonl"],
    "compile": ["compile"],
    "evaluate dialogue": ["evaluate", "mazes", "--sample", "--dialogue", "--jobs", "2"],
    "studio": ["studio", "--no-browser", "--port", "0"],
    "home reply": ["home", "reply", "home.yaml"],
    "home reply to a file": ["home", "reply", "--file", "asked.jsonl", "--json", "told.jsonl"],
    "home mcp": ["home", "mcp", "home.yaml"],
    "home serve": ["home", "serve", "home.yaml", "--port", "0"],
    "home teach": ["home", "teach", "home.yaml", "movie time", "turn off the desk lamp"],
    "corpora": ["corpora", "list"],
    "help": ["--help"],
}
WORLD = """
import time
from groundling import GroundingGraph

class Endless:
    def actions(self, state):
        sum(range(50_000_000))  # long inside one call of C
        return ("on", "off")
    def step(self, state, action): return action
    def ground(self, state, action, after): return GroundingGraph.event({"kind": action})
"""


# Neither Python's handlers nor its threads run while C code holds the interpreter lock.
HELD = """
import ctypes, sys
import typer
import groundling.cli.main as main
main.app = typer.Typer()
@main.app.command()
def hold():
    print("held", flush=True)
    ctypes.PyDLL(None).sleep(60)
from groundling_start import run
sys.argv = ["groundling"]
run()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux has it")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_commands_stop_where_compiled_code_holds_the_interpreter(number):
    running = subprocess.Popen([sys.executable, "-c", HELD], stdout=subprocess.PIPE, text=True)
    with running:
        assert running.stdout.readline() == "held\n"
        with Lateness(running.pid) as late:
            running.send_signal(number)
            running.wait(timeout=30)
        assert late.took < SECONDS
        assert running.stdout.read() == ""  # nobody else holds the pipe


SHUTTING = """
import atexit, ctypes, sys, time
import typer
import groundling.cli.main as main
main.app = typer.Typer()
@main.app.command()
def wait():
    atexit.register(lambda: ctypes.PyDLL(None).sleep(60))
    print("waits", flush=True)
    time.sleep(60)
from groundling_start import run
sys.argv = ["groundling"]
run()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux has it")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_commands_stop_by_the_same_signal_if_the_shutdown_takes_long(number):
    """A caller that asks by SIGTERM is not told that something else killed the command."""
    running = subprocess.Popen(
        [sys.executable, "-c", SHUTTING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    with running:
        assert running.stdout.readline() == "waits\n"
        with Lateness(running.pid) as late:
            running.send_signal(number)
            running.wait(timeout=30)
        assert running.returncode in (-number, 128 + number)
        assert late.took < SECONDS


LOST = """
import os, signal, sys, time
import typer
import groundling.cli.main as main
main.app = typer.Typer()
class Closed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
@main.app.command()
def lose():
    Closed()
    time.sleep(60)
from groundling_start import run
sys.argv = ["groundling"]
if {fork}:
    os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGINT))
run()
"""


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="POSIX has it")
@pytest.mark.parametrize("fork", [True, False])
def test_commands_stop_where_python_loses_the_interrupt(fork):
    """An exception in a hook around a fork or in a finaliser cannot reach the command."""
    script = LOST.format(fork=fork)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 128 + signal.SIGINT, done.stderr
    assert done.stderr.strip() == "Stopped. No partial files were left behind."


def test_commands_stop_leaves_no_process_behind(folder):
    """Whatever a command starts to watch over it ends with it."""
    before = set(watchers())
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "corpora", "list"], capture_output=True, cwd=folder,
        timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(b"begun")
    for _ in range(100):
        if not (left := set(watchers()) - before):
            break
        time.sleep(0.05)
    assert not left


def watchers():
    """Yield the ids of processes that were started with the script of these tests."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"groundling_start import run; print('begun'" in each.read_bytes():
                yield each.parent.name


def stop(command, number, after, folder):
    """Run a command and send it a signal; return code, output, and the seconds to its end."""
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.PIPE, text=True, cwd=folder, start_new_session=True,
    )  # fmt: skip
    with running:
        try:
            assert running.stdout.readline() == "begun\n"
            time.sleep(after)
            with Lateness(running.pid) as late:
                (os.killpg if number == signal.SIGINT else os.kill)(running.pid, number)
                code = running.wait(timeout=60)
            return code, running.stdout.read(), late.took
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "world.py").write_text(WORLD)
    record = {"text": "light it", "start": "off", "actions": ["on"]}
    (tmp_path / "shown.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "home.yaml").write_text("entities: [{id: light.desk, name: Desk lamp}]")
    asked = {"home": "home.yaml", "text": "turn on the desk lamp"}
    (tmp_path / "asked.jsonl").write_text(f"{json.dumps(asked)}\n" * 10_000)
    return tmp_path


def check(command, number, after, folder):
    code, said, seconds = stop(command, number, after, folder)
    where = f"{command} {signal.Signals(number).name} after {after:.2f} s: {code}\n{said}"
    assert seconds < SECONDS, f"{seconds:.1f} s: {where}"
    assert "Traceback" not in said, where
    assert "should not happen" not in said, where
    assert said.count("Stopped.") <= 1, where
    half_written = [each.name for each in folder.iterdir() if each.name.startswith(".groundling-")]
    assert not half_written, where
    # 1 is what click says where it was asked before any command began, and -2 what Python does.
    assert code in (0, 1, 128 + number, -number), where
    return seconds


@pytest.mark.parametrize(
    ("command", "after"),
    [
        *((each, after) for each in ("train own", "demo", "studio") for after in (0.02, 0.2, 3.0)),
        ("home reply", 3.0), ("home reply to a file", 4.0), ("home mcp", 4.0),
        ("evaluate dialogue", 3.5),
    ],
)  # fmt: skip
def test_commands_stop_soon(folder, command, after):
    other = shutil.copytree(folder, folder / "other")
    with ThreadPoolExecutor() as pool:  # both wait most of the time
        asked = [
            pool.submit(check, COMMANDS[command], number, after, where)
            for number, where in ((signal.SIGINT, folder), (signal.SIGTERM, other))
        ]
    for each in asked:
        each.result()


def test_commands_stop_soon_whatever_they_do(folder):
    chance, took = random.Random(5), []
    for _ in rounds(0.4, least=3):
        command = chance.choice(list(COMMANDS))
        number = chance.choice((signal.SIGINT, signal.SIGTERM))
        took.append(check(COMMANDS[command], number, 0.01 + LATEST * chance.random() ** 3, folder))
    note(commands_stopped=len(took), commands_slowest_stop=round(max(took), 2))


def test_commands_stop_before_anything_is_imported(folder):
    """Ctrl-C while Python starts may show a traceback of Python's, and never one of ours."""
    ours = 0
    for number in range(30 if SOAK else 8):
        running = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, "--help"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, cwd=folder,
        )  # fmt: skip
        with running:
            time.sleep(number * 0.01)
            running.send_signal(signal.SIGINT)
            said = running.communicate(timeout=60)[0]
        ours += "begun" in said
        assert "Traceback" not in said.partition("begun")[2], said
        assert "groundling/" not in said.partition("Traceback")[2], said
    note(commands_stopped_at_the_start=number + 1)


def test_commands_stop_once_however_often_they_are_told(folder):
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *COMMANDS["train own"]], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, cwd=folder,
    )  # fmt: skip
    with running:
        assert running.stdout.readline() == "begun\n"
        time.sleep(1.0)
        for _ in range(5):
            running.send_signal(signal.SIGINT)
            time.sleep(0.02)
        said = running.communicate(timeout=60)[0]
    assert "Traceback" not in said, said
    assert running.returncode in (130, -signal.SIGINT), said
