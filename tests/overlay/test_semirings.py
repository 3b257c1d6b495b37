"""Every semiring in every layout equals brute force, compiled, checked and in plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from groundling.overlay import scorer as module
from groundling.overlay.passes import EXPECT, LEARN, SCORE, UNITS
from tests.overlay.semirings import CASES, PATHS, check, make

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_semirings_equal_brute_force(case):
    check(case)


@pytest.fixture(scope="module")
def passed():
    """All passes that the cases make: the case, semiring, purpose, and what was to be in logs."""
    found = []
    kernel = module.pass_instances
    with pytest.MonkeyPatch.context() as patch:
        for case in CASES:

            def watched(texts, plans, layout, psi, space, job, case=case):
                before = job.in_logs.copy()
                loss = kernel(texts, plans, layout, psi, space, job)
                ring = type(psi.ring).__name__
                found.append((case, ring, job.purpose, tuple(job.in_logs & ~before), space))
                return loss

            patch.setattr(module, "pass_instances", watched)
            made = make(case)
            scorer, theta = made.scorer, made.theta
            scorer.candidate_scores(theta)
            scorer.loss(theta)
            grouped, free = scorer.group_scores(theta)
            weight = np.where(np.isfinite(grouped), 1.0, 0.0)
            scorer.weighted_gradient(theta, weight, np.ones_like(free))
            for best in (False, True):
                scorer.posteriors(scorer.potentials(theta), 0, 0, best=best)
    return found


def test_semirings_are_all_read_in_every_layout_for_every_purpose(passed):
    """Sums (of plans and units), gradients, marginals, and the best alignment."""
    seen = {(ring, case.kind, purpose) for case, ring, purpose, _, _ in passed}
    kinds, purposes = ("graph", "flat", "units"), (SCORE, LEARN, UNITS, EXPECT)
    assert {kind for _, kind, _ in seen} == set(kinds)
    for kind in kinds:
        assert {(ring, kind, each) for ring in ("Scaled", "Logs") for each in purposes} <= seen
        assert ("Best", kind, EXPECT) in seen


@pytest.mark.parametrize("path", PATHS)
def test_semirings_take_every_path(path, passed):
    """The list of paths is what cases are made for; each is found in some case, by its data."""
    takes = PATHS[path]
    assert any(takes(made, passes) for made, passes in _with_passes(passed))


def _with_passes(passed):
    for case in CASES:
        yield make(case), [each[1:] for each in passed if each[0] is case]


def run_tests(*names, **surroundings):
    """Run tests in another process; cases run in it as they do here."""
    named = [f"tests/overlay/{each}" for each in names]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *named],
        cwd=ROOT, capture_output=True, text=True, timeout=1200, check=False,
        env={**os.environ, **surroundings},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_semirings_reach_every_line_of_the_kernels_in_plain_python():
    """Plain Python tells whether a line of a kernel is left out, and what is out of bounds."""
    plain = {"NUMBA_DISABLE_JIT": "1", "GROUNDLING_DEBUG_KERNELS": "1"}
    run_tests("kernel_paths.py", "debug_mode.py", **plain)


def test_overlay_tests_hold_in_debug_mode():
    """Indices are checked, also those that `load`, `store` and `fetch` go by."""
    twins = "test_semirings.py::test_semirings_equal_brute_force"
    names = ("debug_mode.py", "test_layout.py", "test_overlay.py", twins)
    run_tests(*names, GROUNDLING_DEBUG_KERNELS="1", NUMBA_OPT="1")
