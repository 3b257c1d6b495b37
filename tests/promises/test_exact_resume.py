"""Training that is killed goes on to the very bytes it would have reached."""

import os
import random
import signal
import subprocess
import sys

import pytest

from groundling.errors import ModelFileError
from tests.promises.making import demonstrations, make_follower
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
    for number in rounds(0.15, least=1, most=20):
        kind, folder = kinds[number % 3], tmp_path / f"{number}"
        stopped = train(kind, folder, chance.randint(1, 12), number)
        kills += stopped.returncode == -signal.SIGKILL
        done = train(kind, folder, 0, number + 100)
        assert done.returncode == 0, done.stderr
        # The same steps without a stop: checkpoints decide where L-BFGS begins anew.
        whole = make_follower(kind).fit(
            demonstrations(), checkpoint=tmp_path / f"{number} whole", checkpoint_every=2
        )
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
    whole = make_follower().fit(demonstrations(), checkpoint=tmp_path / "whole", checkpoint_every=2)
    assert resumed.theta_.tobytes() == whole.theta_.tobytes()


def test_exact_resume_of_another_training_is_refused(tmp_path):
    make_follower().fit(demonstrations(), checkpoint=tmp_path)
    with pytest.raises(ModelFileError, match="is of another training"):
        make_follower().fit(demonstrations()[:4], checkpoint=tmp_path)
    with pytest.raises(ModelFileError, match="is of another training"):
        make_follower(seed=8).fit(demonstrations(), checkpoint=tmp_path)
