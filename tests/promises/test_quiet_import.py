"""Importing and using the library says nothing, starts nothing and writes nowhere."""

import os
import subprocess
import sys

import pytest

from groundling import compiler
from groundling.errors import GroundlingWarning

SCRIPT = """
import logging, random, signal, sys, threading, warnings
warnings.simplefilter("error")
before = (random.getstate(), logging.root.handlers[:], logging.root.level, sys.excepthook,
          signal.getsignal(signal.SIGINT), threading.active_count(), sys.getrecursionlimit())
import groundling
from groundling import *
import groundling.follower, groundling.modelfolder, groundling.world
after = (random.getstate(), logging.root.handlers[:], logging.root.level, sys.excepthook,
         signal.getsignal(signal.SIGINT), threading.active_count(), sys.getrecursionlimit())
assert before == after
assert not any(name in sys.modules for name in ("matplotlib.pyplot", "spacy", "torch", "typer"))
"""


def test_quiet_import_says_and_changes_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "GROUNDLING_CACHE": ""}, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


READ_ONLY = """
import warnings
import groundling.compiler
groundling.compiler.cache_folder = lambda: None  # neither package nor home can be written
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import groundling.follower
    import groundling.overlay.recursion
    from groundling.compiler import njit
    @njit
    def double(number):
        return 2 * number
    assert double(4) == 8
print(len([each for each in told if "cannot be cached" in str(each.message)]))
"""


def test_quiet_import_works_where_nothing_can_be_written():
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\n"


def test_quiet_import_warns_once(monkeypatch):
    monkeypatch.setattr(compiler, "cache_folder", lambda: None)
    monkeypatch.setattr(compiler, "_told", set())
    with pytest.warns(GroundlingWarning, match="NUMBA_CACHE_DIR"):
        compiler.njit(lambda: 1)
    compiler.njit(lambda: 2)  # warnings are errors here
