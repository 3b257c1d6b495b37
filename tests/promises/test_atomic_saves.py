"""Whenever a save is stopped, the old model or the new one loads, and nothing else is lost."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from groundling import Follower
from groundling.errors import ModelFileError
from groundling.files import write_atomically
from groundling.modelfolder import read_folder, read_note
from tests.modelfiles import file_of
from tests.promises import faults
from tests.promises.soaking import long_test, note, rounds
from tests.worlds import Line, line_demonstrations

SCRIPT = Path(faults.__file__)


@pytest.fixture
def disk(tmp_path):
    """A folder in memory, if there is one: disks that are waited for make this slow."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def run(*arguments, wrapped=(), **options):
    return subprocess.run(
        [*wrapped, sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=600, **options,
    )  # fmt: skip


@pytest.mark.parametrize("scenario", ["first", "replace", "same"])
def test_atomic_saves_survive_a_fault_at_every_call(scenario, disk):
    done = run(scenario, disk / "model")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    # Fewer calls than this would mean that the faults did not reach the disk.
    assert min(counts.values()) >= 20
    note(**{f"faults in saves, {scenario}": counts})


def test_atomic_saves_survive_full_disks_of_every_size(tmp_path):
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here")
    done = run("sizes", tmp_path / "disk", wrapped=("unshare", "--mount"))
    if "cannot mount" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("only root may mount a small disk")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["refused"] > 5
    note(**{"full disks": json.loads(done.stdout)})


def kill_once(folder, random_):
    saving = subprocess.Popen(
        [sys.executable, str(SCRIPT), "endless", str(folder)], stdout=subprocess.PIPE, text=True
    )
    with saving:
        assert saving.stdout.readline() == "saving\n"
        time.sleep(random_.random() * 0.1)
        saving.send_signal(signal.SIGKILL)
    manifest, parts = read_folder(folder, faults.NAMES)
    assert parts == faults.model(manifest["settings"]["seed"], 20_000)[1]


def test_atomic_saves_survive_being_killed(disk):
    random_, kills = random.Random(1), 0
    for _ in rounds(0.1, least=3):
        kill_once(disk / "model", random_)
        kills += 1
    note(**{"kills of saves at random moments": kills})


@long_test
def test_atomic_saves_survive_being_killed_at_every_system_call(tmp_path):
    if shutil.which("strace") is None:
        pytest.skip("there is no strace here")
    kills = 0
    # strace counts each kind of call by itself.
    for call in [
        "rename",
        "renameat",
        "fsync",
        "unlink",
        "unlinkat",
        "fchmod",
        "write",
        "flock",
        "mkdir",
    ]:
        for place in range(1, 100):
            faults.prepare("replace", tmp_path / "model")
            traced = ("strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                      "-e", f"inject={call}:signal=KILL:when={place}")  # fmt: skip
            done = run("once", tmp_path / "model", wrapped=traced)
            faults.check("replace", f"killed at {call}", place, tmp_path / "model")
            if done.returncode == 0:
                break
            kills += 1
    assert kills > 15
    note(**{"kills of saves, one at every system call": kills})


@pytest.fixture
def saved(tmp_path):
    follower = Follower(parser="chain").fit(line_demonstrations())
    return follower.save(tmp_path / "model", note={"about": "lines"})


def test_atomic_saves_are_of_whole_followers(saved, monkeypatch):
    before = Follower.load(saved)
    other = Follower(parser="chain", seed=5).fit(line_demonstrations()[:3])

    def failing(source, target):
        if Path(target).name == "manifest.json":
            raise OSError(28, "No space left on device")
        return replace(source, target)

    replace = os.replace
    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="No space left"):
        other.save(saved)
    monkeypatch.undo()
    after = Follower.load(saved)
    assert after.theta_.tobytes() == before.theta_.tobytes()
    assert after.follow("go left", Line(), 2) == before.follow("go left", Line(), 2)
    assert len(list(saved.iterdir())) == 3
    assert read_note(saved) == {"about": "lines"}


def test_atomic_saves_keep_what_is_not_theirs(saved):
    mine = {
        "manifest.json.bak": "a",
        "tables-notes.json": "b",
        "weights-0123456789abcdef.safetensors": "c",
    }
    for name, content in mine.items():
        (saved / name).write_text(content)
    Follower(parser="chain", seed=5).fit(line_demonstrations()[:3]).save(saved)
    for name, content in mine.items():
        assert (saved / name).read_text() == content


def test_atomic_saves_refuse_to_replace_what_is_no_model(tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "my web page"}')
    with pytest.raises(ModelFileError, match="is not from Groundling"):
        Follower(parser="chain").fit(line_demonstrations()).save(tmp_path)
    assert (tmp_path / "manifest.json").read_text() == '{"name": "my web page"}'
    assert len(list(tmp_path.iterdir())) == 1


def test_atomic_saves_keep_permissions(saved):
    os.chmod(saved / "manifest.json", 0o640)
    Follower(parser="chain", seed=5).fit(line_demonstrations()[:3]).save(saved)
    for name in ("manifest.json", "tables.json", "weights.safetensors"):
        assert stat.S_IMODE(file_of(saved, name).stat().st_mode) == 0o640
    path = saved / "note.txt"
    path.write_text("old")
    path.chmod(0o600)
    write_atomically(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_atomic_saves_refuse_what_could_not_be_read_again(tmp_path):
    follower = Follower(parser="chain").fit(line_demonstrations())
    with pytest.raises(ModelFileError, match=r"Numbers must be finite, .*; got NaN"):
        follower.save(tmp_path / "model", note={"distance": float("nan")})
    assert not (tmp_path / "model").exists()


def test_atomic_saves_readers_see_one_model_while_another_is_saved(disk):
    folder = disk / "model"
    saving = subprocess.Popen(
        [sys.executable, str(SCRIPT), "endless", str(folder)], stdout=subprocess.PIPE, text=True
    )
    with saving:
        assert saving.stdout.readline() == "saving\n"
        try:
            for _ in range(100):
                manifest, parts = read_folder(folder, faults.NAMES)
                assert parts == faults.model(manifest["settings"]["seed"], 20_000)[1]
        finally:
            saving.kill()
