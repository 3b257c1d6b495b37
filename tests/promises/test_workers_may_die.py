"""A process that dies, or Ctrl-C, ends in one sentence; what was finished is kept."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from groundling.errors import WorkerError
from groundling.tasks.benchmark import Fold
from groundling.tasks.jobs import Job, run_jobs


class Deadly:
    """What ends the process that receives it."""

    def __reduce__(self):
        return os._exit, (9,)


def test_workers_may_die_and_it_is_told(tmp_path):
    jobs = [Job("puzzles", "best", ("full",), Fold(str(fold))) for fold in range(2)]
    with pytest.raises(WorkerError, match=r"died.*Finished parts are kept\."):
        run_jobs(jobs, {"puzzles": Deadly()}, workers=2, keep=tmp_path)


SCRIPT = "from groundling.cli.main import app; app()"


def test_workers_may_die_by_a_key_without_a_traceback(tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "evaluate", "puzzles", "--sample", "--jobs", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
        start_new_session=True,
    )  # fmt: skip
    with running:
        try:
            told = running.stdout.readline()
            time.sleep(2)  # the workers are starting, or at work
            os.killpg(running.pid, signal.SIGINT)
            told += running.communicate(timeout=400)[0]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    if running.returncode == 0:
        pytest.skip("it was done before the key came")
    assert running.returncode == 130, told
    assert "Traceback" not in told
    assert "Stopped. Nothing was written." in told
