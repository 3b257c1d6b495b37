"""Compare times that users notice with version 0.1.0, installed in its own environment."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from rich.console import Console
from rich.table import Table

__all__ = ["BASE", "LATER", "against", "against_commit", "check_out", "install_base", "measure"]

BASE = "bc4cd78"
"""Commit of version 0.1.0."""
LATER = "c5cc166"
"""Last commit before the optimisation of worlds that are new in every request."""
_ROOT = Path(__file__).parent.parent
_SIDE = Path(__file__).with_name("side.py")


def install_base(folder: Path) -> Path:
    """Install version 0.1.0 in a folder with its own environment; return its interpreter."""
    folder = folder.resolve()  # sides are measured elsewhere
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        if not folder.exists():
            subprocess.run(
                ["git", "worktree", "add", "--force", "--detach", str(folder), BASE],
                cwd=_ROOT, check=True, capture_output=True,
            )  # fmt: skip
        venv.create(folder / ".venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(folder)], check=True)
    return python


def check_out(folder: Path, commit: str = LATER) -> Path:
    """Check out a commit into a folder, to run with this interpreter; return its sources."""
    folder = folder.resolve()
    if not folder.exists():
        subprocess.run(
            ["git", "worktree", "add", "--force", "--detach", str(folder), commit],
            cwd=_ROOT, check=True, capture_output=True,
        )  # fmt: skip
    return folder / "src"


def measure(
    python: Path | str, name: str, size: float, *, fresh: bool = False, source: Path | None = None
) -> dict[str, float]:
    """Return the figures of one measurement with an interpreter.

    `source` is a folder with another version of the package.
    """
    with tempfile.TemporaryDirectory() as folder:
        surroundings = dict(os.environ)
        if Path(python) != Path(sys.executable):
            surroundings.pop("PYTHONPATH", None)
        if source is not None:
            surroundings["PYTHONPATH"] = str(source)
        if fresh:
            surroundings["NUMBA_CACHE_DIR"] = folder
        done = subprocess.run(
            [str(python), str(_SIDE), name, str(size)],
            cwd=folder, env=surroundings, check=True, capture_output=True, text=True,
        )  # fmt: skip
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def against(base: Path, size: float, rounds: int, console: Console) -> dict[str, float]:
    """Return ratios of both versions, measured in alternation, each by its best round."""
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


def against_commit(source: Path, size: float, rounds: int, console: Console) -> dict[str, float]:
    """Return figures for new worlds, measured with another commit and with this one."""
    table = Table(title=f"Worlds that are new in every request, against {LATER}")
    for heading in ("", "before", "now", "ratio"):
        table.add_column(heading, justify="right" if heading else "left")
    sides: list[list[dict[str, float]]] = [[], []]
    for _ in range(rounds):
        sides[0].append(measure(sys.executable, "new worlds", size, source=source))
        sides[1].append(measure(sys.executable, "new worlds", size))
    found: dict[str, float] = {}
    for name in ("home", "room"):
        for part in ("one", "many", "p95_ms"):
            key = f"new_world_{name}_{part}"
            best = min if part == "p95_ms" else max
            old, new = (best(each[f"{name}_{part}"] for each in side) for side in sides)
            found[f"{key}_before"], found[f"{key}_now"] = old, new
            found[f"{key}_speedup"] = old / new if part == "p95_ms" else new / old
            table.add_row(
                f"{name} {part}", f"{old:,.1f}", f"{new:,.1f}", f"{found[f'{key}_speedup']:.1f}"
            )
    found["new_world_plans_per_second"] = min(
        found[f"new_world_{name}_one_now"] for name in ("home", "room")
    )
    found["new_world_plans_per_second_together"] = min(
        found[f"new_world_{name}_many_now"] for name in ("home", "room")
    )
    found["new_world_p95_ms"] = max(
        found[f"new_world_{name}_p95_ms_now"] for name in ("home", "room")
    )
    if importlib.util.find_spec("hassil") is not None:
        rival = measure(sys.executable, "hassil", size)["one"]
        found["speed_vs_hassil"] = found["new_world_home_one_now"] / rival
        table.add_row("home one, hassil beside it", f"{rival:,.1f}", "", "")
    console.print(table)
    return found
