"""Compare what users wait for with version 0.1.0, installed beside this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from rich.console import Console
from rich.table import Table

__all__ = ["BASE", "against", "install_base", "measure"]

BASE = "bc4cd78"
"""Version 0.1.0 in the history of this repository."""
_ROOT = Path(__file__).parent.parent
_SIDE = Path(__file__).with_name("side.py")


def install_base(folder: Path) -> Path:
    """Check 0.1.0 out into a folder, with an environment of its own; return its interpreter."""
    folder = folder.absolute()  # measurements run in a folder of their own
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        if not folder.exists():
            subprocess.run(
                ["git", "worktree", "add", "--detach", str(folder), BASE],
                cwd=_ROOT, check=True, capture_output=True,
            )  # fmt: skip
        venv.create(folder / ".venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(folder)], check=True)
    return python


def measure(python: Path | str, name: str, size: float, *, fresh: bool = False) -> dict[str, float]:
    """Measure one thing with one interpreter; `fresh` lets it find nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        surroundings = dict(os.environ)
        if Path(python) != Path(sys.executable):
            surroundings.pop("PYTHONPATH", None)
        if fresh:
            surroundings["NUMBA_CACHE_DIR"] = folder
        done = subprocess.run(
            [str(python), str(_SIDE), name, str(size)],
            cwd=folder, env=surroundings, check=True, capture_output=True, text=True,
        )  # fmt: skip
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def against(base: Path, size: float, rounds: int, console: Console) -> dict[str, float]:
    """Measure both versions in turns, keep the best of each, and divide."""
    table = Table(title="Against version 0.1.0 (CPU seconds, plans per second, bytes)")
    for heading in ("", "0.1.0", "now", "ratio"):
        table.add_column(heading, justify="right" if heading else "left")
    found: dict[str, float] = {}

    def note(key: str, before: float, now: float, ratio: float) -> None:
        found[key] = ratio
        found[f"{key}_before"], found[f"{key}_now"] = before, now
        table.add_row(key.replace("_", " "), f"{before:,.2f}", f"{now:,.2f}", f"{ratio:.2f}")

    def both(name: str, times: int = rounds, fresh: bool = False) -> list[list[dict[str, float]]]:
        sides: list[list[dict[str, float]]] = [[], []]
        for _ in range(times):
            sides[0].append(measure(base, name, size, fresh=fresh))
            sides[1].append(measure(sys.executable, name, size, fresh=fresh))
        return sides

    fits = ["scene", "mazes"]
    if os.environ.get("GROUNDLING_CORPORA") and size >= 1:
        fits += [f"{each} corpus" for each in ("mazes", "maps", "puzzles")]
    for name in fits:
        old, new = both(f"fit {name}", 1 if "corpus" in name else rounds)
        key = f"fit_{name.replace(' ', '_')}"
        for part, ending in (("seconds", ""), ("seconds_to_first_step", "_first_step")):
            one, two = (min(each[part] for each in side) for side in (old, new))
            note(f"{key}{ending}_speedup", one, two, one / two)
            found[f"{key}{ending}_seconds"] = two
        one, two = (min(each["peak"] for each in side) for side in (old, new))
        note(f"{key}_peak_ratio", one, two, one / two)
    old, new = both("follow")
    for part in ("one", "many"):
        one, two = (max(each[part] for each in side) for side in (old, new))
        note(f"follow_{part}_speedup", one, two, two / one)
    old, new = both("memory", 1)
    one, two = old[0]["bytes"], new[0]["bytes"]
    note("memory_per_plan_ratio", one, two, one / two)
    found["memory_per_plan_bytes"] = two
    for name, key in (("first run", "first_run"), ("demo", "first_demo")):
        old, new = both(name, 1, fresh=True)
        one, two = old[0]["seconds"], new[0]["seconds"]
        note(f"{key}_speedup", one, two, one / two)
        found[f"{key}_seconds"] = two
    console.print(table)
    found |= measure(sys.executable, "requests", size)
    return found
