"""A scheduler that is lost: one sentence, and the next training goes on from the checkpoint."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from groundling.errors import WorkerError
from groundling.scale import cluster as clusters
from tests.scale.making import fit

pytest.importorskip("distributed", reason="needs groundling[cluster]")
pytestmark = pytest.mark.filterwarnings("ignore::groundling.errors.ConvergenceWarning")


@contextlib.contextmanager
def machines(folder):
    """Start a scheduler and a worker as on machines of their own; yield address and process."""
    file = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    path = os.pathsep.join([*filter(None, sys.path), os.getcwd()])
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "dask", "scheduler", "--port", "0", "--host", "127.0.0.1",
         "--dashboard-address", ":0", "--scheduler-file", str(file)], **quiet,
    )  # fmt: skip
    worker = None
    try:
        while not file.exists() or not file.read_text().strip():
            assert scheduler.poll() is None
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        worker = subprocess.Popen(
            [sys.executable, "-m", "dask", "worker", address, "--nthreads", "2", "--no-nanny",
             "--no-dashboard", "--local-directory", str(folder)],
            env={**os.environ, "PYTHONPATH": path}, **quiet,
        )  # fmt: skip
        yield address, scheduler
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.kill()
                process.wait()


def test_lost_scheduler_is_told_and_training_goes_on_later(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "_CONNECT", 4.0)
    states = tmp_path / "states"
    wanted = fit().fitted.theta
    (tmp_path / "one").mkdir()
    with machines(tmp_path / "one") as (address, scheduler):

        def progress(step):
            if step.stage == "training" and step.step == 5:
                scheduler.send_signal(signal.SIGKILL)

        with pytest.raises(
            WorkerError, match=r"connection to the cluster's scheduler was lost .*states"
        ):
            fit(cluster=address, checkpoint=states, every=2, progress=progress)
    assert len(list(states.iterdir())) == 2
    (tmp_path / "two").mkdir()
    with machines(tmp_path / "two") as (address, _):
        # Two threads of one worker share its shards.
        found = fit(cluster=address, checkpoint=states, every=2).fitted.theta
    assert found.tobytes() == wanted.tobytes()


def test_lost_scheduler_before_the_first_checkpoint_names_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "_CONNECT", 4.0)
    with machines(tmp_path) as (address, scheduler):

        def progress(step):
            if step.stage == "encoding":
                scheduler.send_signal(signal.SIGKILL)

        with pytest.raises(WorkerError, match=r"was lost .* No checkpoint was written yet"):
            fit(cluster=address, checkpoint=tmp_path / "states", every=2, progress=progress)
    assert not (tmp_path / "states").exists()
