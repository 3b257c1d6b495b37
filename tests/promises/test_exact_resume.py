"""Training that is killed goes on to the very bytes it would have reached."""

import errno
import os
import random
import signal
import subprocess
import sys

import pytest
from safetensors import safe_open
from safetensors.numpy import load, save

from groundling.errors import ModelFileError, StorageWarning
from tests.promises.making import KINDS, demonstrations, make_follower
from tests.promises.soaking import note, rounds

SCRIPT = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from tests.promises.making import demonstrations, make_follower
steps = 0
def progress(report):
    global steps
    trained = report.loss == report.loss  # there is none before training
    steps += trained
    if trained and steps == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
follower = make_follower(sys.argv[1])
follower.fit(demonstrations(), checkpoint=sys.argv[2], checkpoint_every=2, progress=progress)
sys.stdout.write(follower.theta_.tobytes().hex())
"""


def train(kind, folder, stop, seed):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, kind, str(folder), str(stop)],
        capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )  # fmt: skip


def test_exact_resume_after_being_killed(followers, tmp_path):
    chance, kills = random.Random(2), 0
    kinds = ("plans", "lattice", "viterbi")
    for number in rounds(0.2, least=1, most=20):
        kind, folder = kinds[number % 3], tmp_path / f"{number}"
        stopped = train(kind, folder, chance.randint(1, 12), number)
        kills += stopped.returncode == -signal.SIGKILL
        done = train(kind, folder, 0, number + 100)
        assert done.returncode == 0, done.stderr
        whole = followers[kind]  # which knew of no checkpoints
        assert done.stdout == whole.theta_.tobytes().hex(), (kind, number)
    assert kills
    note(**{"trainings killed and resumed to the same bytes": kills})


class StopError(Exception):
    """What a user may raise to stop a training."""


@pytest.mark.parametrize("place", [1, 3, 7])
def test_exact_resume_after_an_error_in_between(tmp_path, place):
    steps = []

    def progress(report):
        steps.append(report)
        if len(steps) == place:
            raise StopError

    options = {"checkpoint": tmp_path / "states", "checkpoint_every": 2}
    with pytest.raises(StopError):
        make_follower().fit(demonstrations(), progress=progress, **options)
    resumed = make_follower().fit(demonstrations(), **options)
    assert resumed.theta_.tobytes() == make_follower().fit(demonstrations()).theta_.tobytes()


@pytest.mark.parametrize("every", [1, 4, 1000])
def test_exact_resume_checkpoints_do_not_change_what_is_learnt(follower, tmp_path, every):
    kind = type(follower.model)
    [found] = [name for name in KINDS if isinstance(make_follower(name).model, kind)]
    again = make_follower(found).fit(demonstrations(), checkpoint=tmp_path, checkpoint_every=every)
    assert again.theta_.tobytes() == follower.theta_.tobytes()
    assert again.learnt_.loss == follower.learnt_.loss


def test_exact_resume_with_another_number_of_iterations_between_checkpoints(tmp_path):
    def stop(report):
        return report.step == 8

    make_follower().fit(demonstrations(), checkpoint=tmp_path, checkpoint_every=3, progress=stop)
    assert len(list(tmp_path.iterdir())) == 2
    resumed = make_follower().fit(demonstrations(), checkpoint=tmp_path, checkpoint_every=5)
    assert resumed.theta_.tobytes() == make_follower().fit(demonstrations()).theta_.tobytes()
    assert len(list(tmp_path.iterdir())) == 1  # what training came to, and nothing on the way


def test_exact_resume_where_numbers_are_rounded_otherwise_loses_nothing_but_time(tmp_path):
    def stop(report):
        return report.step == 8

    make_follower().fit(demonstrations(), checkpoint=tmp_path, checkpoint_every=3, progress=stop)
    path = tmp_path / "state-0.0.1.safetensors"
    data = bytearray(path.read_bytes())
    arrays = load(bytes(data))
    arrays["marks"][2] ^= 1  # as if another θ had been asked about
    path.write_bytes(save(arrays, metadata=safe_open_note(path)))
    resumed = make_follower().fit(demonstrations(), checkpoint=tmp_path, checkpoint_every=3)
    assert resumed.theta_.tobytes() == make_follower().fit(demonstrations()).theta_.tobytes()


def safe_open_note(path):
    with safe_open(path, "numpy") as file:
        return file.metadata()


def test_exact_resume_on_a_full_disk_is_a_warning_and_training_goes_on(tmp_path, monkeypatch):
    states, kept = tmp_path / "states", []
    wanted = make_follower().fit(demonstrations()).theta_.tobytes()
    writing = os.write

    def full(handle, data):
        if len(kept) == 2:
            writing(handle, bytes(data)[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        kept.append(handle)
        return writing(handle, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.warns(StorageWarning, match=r"cannot be written to .*states \(No space left"):
        found = make_follower().fit(demonstrations(), checkpoint=states, checkpoint_every=2)
    assert found.theta_.tobytes() == wanted
    monkeypatch.undo()
    assert len(list(states.iterdir())) == 2  # whole ones, and no part of another
    again = make_follower().fit(demonstrations(), checkpoint=states, checkpoint_every=2)
    assert again.theta_.tobytes() == wanted


def test_exact_resume_of_another_training_is_refused(tmp_path):
    make_follower().fit(demonstrations(), checkpoint=tmp_path)
    with pytest.raises(ModelFileError, match="belongs to another training run"):
        make_follower().fit(demonstrations()[:4], checkpoint=tmp_path)
    with pytest.raises(ModelFileError, match="belongs to another training run"):
        make_follower(seed=8).fit(demonstrations(), checkpoint=tmp_path)
