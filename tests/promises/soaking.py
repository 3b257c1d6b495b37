"""How long the long tests run: `GROUNDLING_SOAK` seconds in all, nothing by default.

Each long test has its share of the time. What it did goes into `soak.json`, from which the
figures in `docs/reliability.md` are taken.
"""

import fcntl
import json
import os
import platform
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


class Lateness:
    """How late this machine wakes whoever sleeps: what a promise of seconds is measured with.

    Where nothing else runs it is next to nothing; where much does, nobody can be on time.
    """

    def __init__(self):
        self.seconds = 0.0

    def __enter__(self):
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._measure, daemon=True)
        self._watch.start()
        return self

    def _measure(self):
        while not self._over.is_set():
            began = time.monotonic()
            time.sleep(0.005)
            # Whoever ends a command is woken several times: the signal, its thread, its parent.
            self.seconds += max(0.0, time.monotonic() - began - 0.01)

    def __exit__(self, *_):
        self._over.set()
        self._watch.join()


def note(**figures):
    """Add figures to those of this run."""
    if not SECONDS:
        return
    with open(FILE.with_suffix(".lock"), "w") as lock:  # parts may run beside each other
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        new = json.loads(json.dumps(figures))  # keys are texts, as those in the file are
        for name, value in new.items():
            known[name] = {**known.get(name, {}), **value} if name == "parts" else value
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def note_session(session, began):
    """Add how long a run took, and how it ended."""
    if SECONDS and session.testscollected:
        part = os.environ.get("GROUNDLING_SOAK_PART", "all")
        note(parts={part: {
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "hours": round((time.monotonic() - began) / 3600, 2),
            "failed": session.testsfailed, "tests": session.testscollected,
            "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        }})  # fmt: skip
