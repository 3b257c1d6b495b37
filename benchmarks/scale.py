"""Training on workers and out of core: `python -m benchmarks.scale` writes scale.json.

Every part is measured once and kept in scale.json, so that a run that was stopped goes on where
it was; `--again` begins anew. The demonstrations are generated into a folder and kept there too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.scale_figures import summarise, write_page
from groundling import Features, Follower, Learning, Overlay, PlanModel, Search
from groundling.data import Demonstrations
from groundling.errors import ConvergenceWarning
from groundling.files import write_atomically
from groundling.learning.trainer import Trainer
from groundling.overlay.scorer import Scorer
from groundling.scale.cluster import OnCluster, connected
from groundling.scale.crew import Alone
from groundling.scale.fitting import parse_memory
from groundling.scale.shards import split
from groundling.scale.training import fit_shards
from groundling.scale.workshop import Workshop, most_memory_used
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.generator import generate_demonstrations, generate_mazes

__all__ = ["main", "maze"]

MAZES = 8  # to learn in; one more is kept unseen
IN_FILE = 2000
MEMORY = "4GB"
LATENCY_ROUNDS = 30


def maze(number: int) -> MazeEnvironment:
    """Make one of the mazes; workers make them by themselves."""
    return MazeEnvironment(generate_mazes(seed=1, count=MAZES + 1)[number])


def follower(iterations: int) -> Follower:
    """Return what is trained: whole plans, reading word by word, a fixed number of steps."""
    return Follower(
        model=PlanModel.flat(),
        overlay=Overlay.flat(),
        features=Features(
            words=("word",),
            slots=("floor", "wall", "item"),
            numbers=("equal",),
            joins=("conjunction", "slot"),
        ),
        learning=Learning(l2=1.0, iterations=iterations, tolerance=0.0, augment=False),
        search=Search(max_length=3, decode="outcome"),
        parser="chain",
    )


def trainer(iterations: int) -> Trainer:
    return Trainer(**follower(iterations).get_params(deep=False))


# ---- demonstrations ---------------------------------------------------------------------


def write_file(folder: str, place: int) -> None:
    """Generate one file of demonstrations, unless it is there."""
    path = Path(folder) / f"shown-{place:05d}.jsonl"
    if path.exists():
        return
    mazes = [maze(number) for number in range(MAZES)]
    shown = generate_demonstrations(
        [each.maze for each in mazes], IN_FILE, seed=1000 + place, sentences=(1, 1)
    )
    numbers = {each.maze.name: number for number, each in enumerate(mazes)}
    Demonstrations(shown).write(
        path,
        worlds=lambda environment: ("maze", {"number": numbers[environment.maze.name]}),
    )


def read(folder: Path, count: int) -> Demonstrations | list:
    """Return the first demonstrations: files where they are whole ones, else a list."""
    files = sorted(folder.glob("shown-*.jsonl"))[: math.ceil(count / IN_FILE)]
    found = Demonstrations.read(files, worlds={"maze": maze})
    if count % IN_FILE:
        return [each for each, _ in zip(found, range(count), strict=False)]
    return found


def held_out(count: int) -> list:
    """Return demonstrations in the maze that nobody learns in."""
    return generate_demonstrations([maze(MAZES).maze], count, seed=7, sentences=(1, 1))


# ---- measuring --------------------------------------------------------------------------


class Clock:
    """Notes when each stage of a training begins."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.stages: dict[str, float] = {}
        self.steps: list[float] = []

    def __call__(self, step) -> None:
        now = time.perf_counter() - self.began
        if step.stage in ("reading", "encoding"):
            self.stages[step.stage] = now
        else:
            self.steps.append(now)


def described(clock: Clock, evaluations: list[float], learnt) -> dict:
    """Return the figures of one training."""
    ready = clock.stages["encoding"]
    # The first evaluation also maps files and gives features their numbers.
    usual = statistics.median(evaluations[1:] or evaluations)
    return {
        "encoding_seconds": ready,
        "first_evaluation_seconds": evaluations[0],
        "evaluation_seconds": usual,
        "evaluations": len(evaluations),
        "seconds": time.perf_counter() - clock.began,
        "features": len(learnt.fitted.theta),
        "loss": learnt.loss,
    }


def on_workers(folder: Path, count: int, workers: int, iterations: int, theta: Path | None):
    """Train on local workers."""
    with (
        connected(f"local:{workers}", parse_memory(MEMORY)) as client,
        tempfile.TemporaryDirectory() as here,
    ):
        client.run(os.getpid)
        clock = Clock()
        shards = split(read(folder, count), Path(here), size=IN_FILE, apart=True)
        with OnCluster(client, shards, parse_memory(MEMORY)) as crew:
            learnt = fit_shards(trainer(iterations), crew, clock)
            peak = max(client.run(most_memory_used).values())
            times = crew.evaluations[1:] or crew.evaluations
        found = described(clock, [each.seconds for each in crew.evaluations], learnt)
        apart = [each.seconds - each.working for each in times]
        found |= {
            "workers": workers,
            "peak_memory_gb": peak / 1e9,
            "apart_seconds": statistics.median(apart),
            "communication_share": sum(apart) / sum(each.seconds for each in times),
        }
    if theta is not None:
        np.save(theta, learnt.fitted.theta)
    return found | {"accuracy": Follower._of(learnt).score(held_out(500))}


class Timed(Alone):
    """Notes how long each evaluation takes."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.times: list[float] = []

    def total(self, job, theta):
        began = time.perf_counter()
        found = super().total(job, theta)
        self.times.append(time.perf_counter() - began)
        return found


def out_of_core(folder: Path, count: int, iterations: int, theta: Path) -> dict:
    """Train in this process with bounded memory."""
    with tempfile.TemporaryDirectory() as here:
        clock = Clock()
        shards = split(read(folder, count), Path(here), size=IN_FILE)
        crew = Timed(shards, Workshop(Path(here), parse_memory(MEMORY)))
        learnt = fit_shards(trainer(iterations), crew, clock)
    np.save(theta, learnt.fitted.theta)
    found = described(clock, crew.times, learnt)
    return found | {"peak_memory_gb": most_memory_used() / 1e9}


def in_memory(folder: Path, count: int, iterations: int, theta: Path | None) -> dict:
    """Train at once, as ever."""
    times: list[float] = []
    loss = Scorer.loss

    def timed(scorer: Scorer, weights):
        began = time.perf_counter()
        found = loss(scorer, weights)
        times.append(time.perf_counter() - began)
        return found

    began = time.perf_counter()
    with patch.object(Scorer, "loss", timed):
        learnt = trainer(iterations).fit(read(folder, count))
    if theta is not None:
        np.save(theta, learnt.fitted.theta)
    return {
        "seconds": time.perf_counter() - began,
        "evaluation_seconds": statistics.median(times),
        "peak_memory_gb": most_memory_used() / 1e9,
        "accuracy": Follower._of(learnt).score(held_out(500)),
    }


def latency(workers: int) -> float:
    """Return how long a task takes that does nothing, in seconds."""
    with connected(f"local:{workers}") as client:
        times = []
        for _ in range(LATENCY_ROUNDS):
            began = time.perf_counter()
            client.gather([client.submit(os.getpid, pure=False) for _ in range(workers)])
            times.append(time.perf_counter() - began)
    return statistics.median(times)


# ---- running ----------------------------------------------------------------------------


class Results:
    """The parts that were measured, each kept as soon as it is there."""

    def __init__(self, path: Path, again: bool, size: int) -> None:
        self.path = path
        content = {}
        if path.exists() and not again:
            content = json.loads(path.read_text(encoding="utf-8"))
        self.parts = content.get("parts", {}) if content.get("size") == size else {}
        self.size = size

    def measure(self, name: str, function, *arguments) -> None:
        if name in self.parts:
            print(f"{name}: kept from an earlier run", flush=True)
            return
        began = time.perf_counter()
        self.parts[name] = function(*arguments)
        self.save({})
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)

    def save(self, more: dict) -> None:
        content = {**more, "size": self.size, "parts": self.parts}
        write_atomically(self.path, json.dumps(content, indent=1) + "\n")


def apart(part: str, folder: Path, count: int, iterations: int, theta: Path) -> dict:
    """Run a part in a process of its own, so that its memory is its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--part", part, "--folder", str(folder),
         "--size", str(count), "--iterations", str(iterations), "--theta", str(theta)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def generate(folder: Path, count: int) -> dict:
    """Generate the files on two workers."""
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with connected("local:2") as client:
        places = range(math.ceil(count / IN_FILE))
        client.gather(client.map(write_file, [str(folder)] * len(places), places, pure=False))
    return {"seconds": time.perf_counter() - began}


def differences(thetas: Path, sizes: tuple[int, ...], whole: int) -> dict:
    """Return by how much θ differs between two workers, out of core and in memory."""
    small = sizes[0]
    ours = {name: np.load(thetas / f"{name}.npy") for name in ("out-small", "memory-small")}
    ours |= {f"size-{n}": np.load(thetas / f"size-{n}.npy") for n in {small, whole}}
    ours["out"] = np.load(thetas / "out.npy")
    return {
        "workers and memory": float(np.abs(ours[f"size-{small}"] - ours["memory-small"]).max()),
        "out of core and memory": float(np.abs(ours["out-small"] - ours["memory-small"]).max()),
        "workers and out of core": float(np.abs(ours[f"size-{whole}"] - ours["out"]).max()),
    }


def run(folder: Path, out: Path, size: int, iterations: int, again: bool) -> dict:
    """Measure everything that is not yet in the file; return what follows."""
    few = max(IN_FILE, min(16_000, size // 8 // IN_FILE * IN_FILE))
    sizes = tuple(sorted({few, min(max(64_000 // IN_FILE * IN_FILE, few), size), size}))
    results = Results(out, again, size)
    thetas = folder / "thetas"
    thetas.mkdir(parents=True, exist_ok=True)
    results.measure("generating", generate, folder, size)
    for count in (100, 1000):
        results.measure(f"size {count}", in_memory, folder, count, iterations, None)
    for count in sizes:
        kept = thetas / f"size-{count}.npy"
        results.measure(f"size {count}", on_workers, folder, count, 2, iterations, kept)
    middle = min(2 * few, size)
    for workers in (1, 2, 4):
        results.measure(f"workers {workers}", counted, folder, middle, workers)
    results.measure("latency", lambda: {"seconds": latency(2)})
    for name, part, count in (
        ("in memory small", "memory", few), ("out of core small", "out", few),
        ("out of core", "out", size),
    ):  # fmt: skip
        kept = thetas / (f"{part}-small.npy" if count == few else f"{part}.npy")
        if name == "out of core":
            kept = thetas / "out.npy"
        results.measure(name, apart, part, folder, count, iterations, kept)
    results.measure("differences", differences, thetas, sizes, size)
    found = summarise(results.parts, size)
    results.save(found)
    return found


def counted(folder: Path, count: int, workers: int) -> dict:
    return on_workers(folder, count, workers, 8, None) | {"demonstrations": count}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=500_000, help="demonstrations, at most")
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "groundling-scale"
    )
    parser.add_argument("--out", type=Path, default=Path("scale.json"))
    parser.add_argument("--page", type=Path, help="a page whose table is made anew")
    parser.add_argument("--again", action="store_true", help="forget what was measured")
    parser.add_argument("--part", choices=("memory", "out"), help=argparse.SUPPRESS)
    parser.add_argument("--theta", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of steps
    if given.part:
        measure = {"memory": in_memory, "out": out_of_core}[given.part]
        print(json.dumps(measure(given.folder, given.size, given.iterations, given.theta)))
        return
    size = max(IN_FILE, given.size // IN_FILE * IN_FILE)
    found = run(given.folder, given.out, size, given.iterations, given.again)
    shown = {name: value for name, value in found.items() if not isinstance(value, dict)}
    print(json.dumps(shown, indent=1))
    if given.page:
        write_page(given.page, found)


if __name__ == "__main__":
    main()
