"""Run every kernel on small cases in plain Python, and list the lines that none of them reaches.

Run as `NUMBA_DISABLE_JIT=1 GROUNDLING_DEBUG_KERNELS=1 python -m tests.overlay.kernel_paths`.
"""

import inspect
import sys
from types import CodeType

from groundling.overlay import layout, passes, recursion, semiring
from tests.overlay.semirings import CASES, check

MODULES = (recursion, semiring, layout, passes)
KERNELS = {
    layout: ("GraphTile", "FlatTile", "GraphLayout", "FlatLayout", "_pull", "_lay_out_tile"),
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


def never_reached() -> list[str]:
    """Check all cases, and return the lines of kernels that were not executed."""
    watched = {code: set() for module in MODULES for code in codes(module)}

    def trace(frame, event, argument):
        lines = watched.get(frame.f_code)
        if lines is None:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        for case in CASES:
            check(case)
    finally:
        sys.settrace(None)
    return [
        f"{code.co_qualname}:{line}"
        for code, seen in watched.items()
        for line in sorted({line for _, _, line in code.co_lines() if line} - seen)
        if line != code.co_firstlineno
    ]


if __name__ == "__main__":
    print("\n".join(never_reached()))
