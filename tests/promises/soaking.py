"""How long the long tests run: `GROUNDLING_SOAK` seconds for each part, nothing by default.

Each long test has its share of the time, or a number of rounds. What a part did goes into its
section of `soak.json`, from which the figures in `docs/reliability.md` are taken.
"""

import contextlib
import fcntl
import json
import os
import platform
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

SECONDS = float(os.environ.get("GROUNDLING_SOAK") or 0)
FILE = Path(os.environ.get("GROUNDLING_SOAK_FILE", "soak.json"))

long_test = pytest.mark.skipif(not SECONDS, reason="runs for long: `make soak`")


def rounds(share, *, least=0, most=None):
    """Yield numbers while a share of the time lasts, but at least and at most so many."""
    ends = time.monotonic() + share * SECONDS
    number = 0
    while number < least or (
        SECONDS and time.monotonic() < ends and (most is None or number < most)
    ):
        yield number
        number += 1


def folder_in_memory():
    """Return a temporary folder in memory if there is one: thousands of small files cost little."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(dir=where)


class Lateness:
    """How long a process takes, without the time that it waits for a processor.

    On an idle machine this is the time on the clock. On a busy one it is what it would be there:
    the kernel counts for how long each thread was ready to run and did not; of all threads, the
    one that waited most counts.
    """

    def __init__(self, pid):
        self.tasks = Path(f"/proc/{pid}/task")
        self.took = 0.0
        self._waited = 0.0

    def __enter__(self):
        self._over = threading.Event()
        self._first = self._read()
        self._watch = threading.Thread(target=self._measure, daemon=True)
        self._began = time.monotonic()
        self._watch.start()
        return self

    def _read(self):
        """Return the seconds that each thread has waited so far."""
        found = {}
        with contextlib.suppress(OSError):  # there is no such process any more
            for task in self.tasks.iterdir():
                with contextlib.suppress(OSError, IndexError):
                    found[task.name] = int((task / "schedstat").read_text().split()[1]) / 1e9
        return found

    def _measure(self):
        while not self._over.wait(0.01):
            now = self._read()
            grown = (now[each] - self._first.get(each, 0.0) for each in now)
            self._waited = max(self._waited, max(grown, default=0.0))

    def __exit__(self, *_):
        took = time.monotonic() - self._began
        self._over.set()
        self._watch.join()
        self.took = max(0.0, took - self._waited)


COMMIT = subprocess.run(  # now: later it may be another one
    ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False,
    cwd=Path(__file__).parent,
).stdout.strip() if SECONDS else ""  # fmt: skip
_noted = {}  # figures of this session


def note(**figures):
    """Add figures to those of this session."""
    _noted.update(json.loads(json.dumps(figures)))  # keys are texts, as those in the file are


def note_session(session, began):
    """Write the section of this part: its figures, how long it took, and how it ended.

    A section comes from one run of its part; what another run wrote there is replaced.
    """
    if not SECONDS or not session.testscollected:
        return
    section = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "hours": round((time.monotonic() - began) / 3600, 3),
        "failed": session.testsfailed, "tests": session.testscollected,
        "commit": COMMIT,
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "figures": _noted,
    }  # fmt: skip
    with open(FILE.with_suffix(".lock"), "w") as lock:  # parts may run beside each other
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(FILE.read_text()) if FILE.exists() else {"parts": {}}
        known["parts"][os.environ.get("GROUNDLING_SOAK_PART", "all")] = section
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
