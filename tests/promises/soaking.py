"""How long the long tests run: `GROUNDLING_SOAK` seconds in all, nothing by default.

Each long test has its share of the time. What it did goes into `soak.json`, from which the
figures in `docs/reliability.md` are taken.
"""

import json
import os
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


def note(**figures):
    """Add figures to those of this run."""
    if SECONDS:
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        known.update(figures)
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
