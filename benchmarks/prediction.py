"""Measure prediction: plans per second, and the time from import to the first plan."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from rich.console import Console
from rich.table import Table

from groundling import Features, Follower, Learning, Overlay, PlanModel, Search
from groundling.errors import ConvergenceWarning
from groundling.tasks.mazes import generate_demonstrations, generate_mazes

__all__ = ["prediction"]

_COLD = """
import time
start = time.perf_counter()
import sys
from groundling import Follower
imported = time.perf_counter() - start
from groundling.tasks.mazes import MazeEnvironment, generate_mazes
[maze] = generate_mazes(7, 1)
follower = Follower.load(sys.argv[1])
world = MazeEnvironment(maze)
place = maze.positions[0]
follower.follow("turn left and walk to the lamp", world, world.start(place, 0))
print(imported, time.perf_counter() - start)
"""


def prediction(demonstrations: int, rounds: int, console: Console) -> dict[str, float]:
    """Train on generated mazes; follow in an unseen one, many at once and one by one."""
    *training, unseen = generate_mazes(1, 4)
    follower = Follower(
        model=PlanModel.flat(),
        overlay=Overlay.flat(),
        features=Features(slots=("floor", "wall", "item"), numbers=("equal",), min_count=0),
        learning=Learning(iterations=10),
        search=Search(max_length=3, decode="outcome"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few training steps are enough
        follower.fit(generate_demonstrations(training, demonstrations, seed=1))
    wanted = generate_demonstrations([unseen], demonstrations, seed=2)
    requests = [(each.instructions, each.environment, each.start) for each in wanted]
    follower.follow_many(requests)
    many, single = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        follower.follow_many(requests)
        many.append(time.perf_counter() - start)
        start = time.perf_counter()
        for request in requests[:50]:
            follower.follow(*request)
        single.append(time.perf_counter() - start)
    with tempfile.TemporaryDirectory() as folder:
        follower.save(Path(folder) / "model")
        times = [_cold(Path(folder) / "model") for _ in range(max(2, rounds))]
    figures = {
        "plans_per_second": len(requests) / min(many),
        "plans_per_second_one_by_one": min(50, len(requests)) / min(single),
        "seconds_import": min(imported for imported, _ in times),
        "seconds_to_first_plan": min(first for _, first in times),
    }
    table = Table(title="Prediction (generated mazes, one thread)", show_header=False)
    for name, value in figures.items():
        table.add_row(name.replace("_", " "), f"{value:,.2f}")
    console.print(table)
    return figures


def _cold(model: Path) -> tuple[float, float]:
    """Return the seconds to import and to the first plan, in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", _COLD, str(model)], capture_output=True, text=True, check=True
    )
    imported, first = (float(each) for each in done.stdout.split())
    return imported, first
