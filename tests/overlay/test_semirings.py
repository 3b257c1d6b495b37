"""Every semiring in every layout equals brute force, compiled, checked and in plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.overlay.semirings import CASES, PATHS, check

ROOT = Path(__file__).parents[2]
PLAIN = {"NUMBA_DISABLE_JIT": "1", "GROUNDLING_DEBUG_KERNELS": "1"}


def run(*command, **surroundings):
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=1200,
        check=False, env={**os.environ, **surroundings},
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_semirings_equal_brute_force(case):
    check(case)


def test_semirings_reach_every_line_of_the_kernels_in_plain_python():
    """Cases are made for these paths; plain Python tells whether a line is left out."""
    assert len(PATHS) == len(set(PATHS))
    done = run("-W", "ignore", "-m", "tests.overlay.kernel_paths", **PLAIN)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_semirings_reach_is_measured():
    """Without the cases of flat plans, lines are left out."""
    script = (
        "from tests.overlay import kernel_paths as paths\n"
        "paths.CASES = [each for each in paths.CASES if not each.flat]\n"
        "print(*paths.never_reached())"
    )
    done = run("-W", "ignore", "-c", script, **PLAIN)
    assert "FlatTile.add" in done.stdout, done.stderr


def test_overlay_tests_hold_in_debug_mode():
    """Indices are checked, also those that `load`, `store` and `fetch` go by."""
    tests = ("test_semirings_equal_brute_force", "test_layout.py", "test_overlay.py")
    named = [f"tests/overlay/{each}" for each in tests[1:]]
    named.append(f"tests/overlay/test_semirings.py::{tests[0]}")
    done = run("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *named,
               GROUNDLING_DEBUG_KERNELS="1")  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


SMALL = """
import numpy as np
from groundling.overlay.layout import make_workspace
from tests.overlay.semirings import CASES, make
case = next(each for each in CASES if str(each) == {case!r})
made = make(case)
room = made.scorer.arrangement.room
made.scorer._workspaces = [make_workspace(room._replace({field}=room.{field} // 2))]
made.scorer.loss(made.theta)
"""


@pytest.mark.parametrize("surroundings", [{"GROUNDLING_DEBUG_KERNELS": "1"}, PLAIN])
@pytest.mark.parametrize(
    ("case", "field"),
    [("graph, tiles", "cells"), ("graph, tiles", "tile_states"), ("flat", "cells")],
)
def test_debug_mode_finds_a_workspace_that_is_too_small(case, field, surroundings):
    done = run("-c", SMALL.format(case=case, field=field), **surroundings)
    assert done.returncode != 0
    assert "must hold" in done.stderr or "IndexError" in done.stderr, done.stderr


CHECKED = """
import numpy as np
from groundling.overlay import simd
from groundling.compiling import njit
@njit(cache=False)
def read(array, place):
    return simd.total(simd.load(array, place))
@njit(cache=False)
def write(array, place):
    simd.store(array, place, simd.spread(1.0))
@njit(cache=False)
def gather(array, index):
    return simd.total(simd.fetch(array, 0, index, 0))
array, index = np.ones(10), np.arange(8, dtype=np.uint32)
assert read(array, 2) == gather(array, index) == 8
write(array, 2)
index[5] = 10
for job in (lambda: read(array, 3), lambda: write(array, -1), lambda: gather(array, index)):
    try:
        job()
    except IndexError as error:
        assert "must lie within" in str(error)
    else:
        raise AssertionError("nothing was checked")
"""


@pytest.mark.parametrize("surroundings", [{"GROUNDLING_DEBUG_KERNELS": "1"}, PLAIN])
def test_debug_mode_checks_eights(surroundings):
    done = run("-c", CHECKED, **surroundings)
    assert done.returncode == 0, done.stderr
