"""Run every kernel on small cases in plain Python, and list the lines that none of them reaches.

Run as `NUMBA_DISABLE_JIT=1 GROUNDLING_DEBUG_KERNELS=1 pytest tests/overlay/kernel_paths.py`.
"""

import inspect
import sys
from types import CodeType

import pytest

from groundling.array_views import PLAIN
from groundling.overlay import layout, passes, recursion, semiring
from tests.overlay.semirings import CASES, check

MODULES = (recursion, semiring, layout, passes)
KERNELS = {
    layout: ("GraphTile", "FlatTile", "GraphLayout", "FlatLayout", "_lay_out_tile"),
}
"""Of these modules only these are kernels; of the others, everything."""


def codes(module):
    """Yield the code of all functions and methods that are kernels."""
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        if name not in KERNELS.get(module, (name,)):
            continue
        held = vars(thing).values() if inspect.isclass(thing) else (thing,)
        for each in held:
            code = getattr(each, "__code__", None)
            if isinstance(code, CodeType) and code.co_filename == module.__file__:
                yield code


LINES = {
    (code, line)
    for module in MODULES
    for code in codes(module)
    for _, _, line in code.co_lines()
    if line and line != code.co_firstlineno
}


@pytest.fixture(scope="module")
def reached():
    """Check all cases, and return the lines of kernels that each has executed."""
    assert PLAIN
    watched = {code for code, _ in LINES}
    found = {}
    for case in CASES:
        seen = found[case] = set()

        def trace(frame, event, argument, seen=seen):
            if frame.f_code not in watched:
                return None
            if event == "line":
                seen.add((frame.f_code, frame.f_lineno))
            return trace

        sys.settrace(trace)
        try:
            check(case)
        finally:
            sys.settrace(None)
    return found


def names_of(lines):
    return sorted(f"{code.co_qualname}:{line}" for code, line in lines)


def test_kernel_paths_reach_every_line(reached):
    assert names_of(LINES.difference(*reached.values())) == []


def test_kernel_paths_are_measured(reached):
    """Without the cases of flat plans, lines are left out."""
    left = LINES.difference(*(seen for case, seen in reached.items() if not case.flat))
    assert any(name.startswith("FlatTile.add") for name in names_of(left))
