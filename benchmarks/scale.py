"""Training on workers and out of core: `python -m benchmarks.scale` writes scale.json.

Every part is measured once and stored in scale.json, so that an interrupted run resumes; `--again`
starts over. The generated demonstrations are stored in a folder and reused too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
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
from groundling.scale.cluster import ClusterExecutor, Evaluation, connected
from groundling.scale.executor import LocalExecutor
from groundling.scale.sharded_fit import parse_memory
from groundling.scale.sharded_rounds import fit_shards
from groundling.scale.shards import split
from groundling.scale.worker import ShardWorker, most_memory_used
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.generator import generate_demonstrations, generate_mazes

__all__ = ["main", "maze"]

MAZES = 8  # number of training mazes; one more is held out
IN_FILE = 4000
MEMORY = "4GB"
LITTLE = "1GB"  # less than training in memory takes, where the two are compared
LATENCY_ROUNDS = 30
ROUNDS = 20  # evaluations by one and by two workers, in alternation


def maze(number: int) -> MazeEnvironment:
    """Return one of the generated mazes; each worker generates them itself."""
    return MazeEnvironment(generate_mazes(seed=1, count=MAZES + 1)[number])


def follower(iterations: int) -> Follower:
    """Return the untrained follower: whole plans, words as units, a fixed number of steps."""
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
    """Generate one file of demonstrations, unless it exists."""
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
    """Return the first demonstrations: as files if these are used completely, else a list."""
    files = sorted(folder.glob("shown-*.jsonl"))[: math.ceil(count / IN_FILE)]
    found = Demonstrations.read(files, worlds={"maze": maze})
    if count % IN_FILE:
        return [each for each, _ in zip(found, range(count), strict=False)]
    return found


def held_out(count: int) -> list:
    """Return demonstrations in the held-out maze."""
    return generate_demonstrations([maze(MAZES).maze], count, seed=7, sentences=(1, 1))


# ---- measuring --------------------------------------------------------------------------


class Clock:
    """Records when each stage of training begins."""

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


class Times:
    """Times of evaluations: elapsed time and processor time."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.processor: list[float] = []

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        began, used = time.perf_counter(), time.process_time()
        yield
        self.seconds.append(time.perf_counter() - began)
        self.processor.append(time.process_time() - used)

    def described(self) -> dict:
        """Return the median and the best times, without the first, which fills caches.

        Other load on the machine can only make evaluations slower, so the best times are compared.
        """
        return {
            "evaluation_seconds": statistics.median(self.seconds[1:]),
            "best_seconds": min(self.seconds[1:]),
            "best_processor_seconds": min(self.processor[1:]),
        }


def described(clock: Clock, evaluations: list[float], learnt) -> dict:
    """Return the figures of one training run."""
    ready = clock.stages["encoding"]
    # The first evaluation also maps files and numbers the features.
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


def on_workers(folder: Path, count: int, workers: int, iterations: int, theta: Path):
    """Train on local workers."""
    with (
        connected(f"local:{workers}", parse_memory(MEMORY)) as client,
        tempfile.TemporaryDirectory() as here,
    ):
        client.run(os.getpid)
        clock = Clock()
        shards = split(read(folder, count), Path(here), size=IN_FILE, apart=True)
        with ClusterExecutor(client, shards, parse_memory(MEMORY)) as executor:
            learnt = fit_shards(trainer(iterations), executor, clock)
            peak = max(client.run(most_memory_used).values())
        found = described(clock, [each.seconds for each in executor.evaluations], learnt)
    np.save(theta, learnt.fitted.theta)
    found |= {"workers": workers, "peak_memory_gb": peak / 1e9}
    return found | {"accuracy": Follower._of(learnt).score(held_out(500))}


class Some(ClusterExecutor):
    """A subset of the workers of a cluster."""

    most = 1_000_000

    def total(self, job, theta):
        self.job = job
        return super().total(job, theta)

    def _threads(self) -> dict[str, int]:
        return dict([*super()._threads().items()][: self.most])


def in_turns(folder: Path, count: int, numbers: tuple[int, ...]) -> dict:
    """Return times of evaluations with different numbers of workers, in alternation."""
    with (
        connected(f"local:{max(numbers)}", parse_memory(MEMORY)) as client,
        tempfile.TemporaryDirectory() as here,
    ):
        shards = split(read(folder, count), Path(here), size=IN_FILE, apart=True)
        with Some(client, shards, parse_memory(MEMORY)) as executor:
            theta = fit_shards(trainer(1), executor).fitted.theta
            found: dict[int, list[Evaluation]] = {number: [] for number in numbers}
            for _ in range(1 + ROUNDS):
                for number in numbers:
                    executor.most = number
                    executor.total(executor.job, theta)
                    found[number].append(executor.evaluations[-1])
    by_workers = {}
    for number, evaluations in found.items():
        # The first evaluation rebuilds the shard files of other workers.
        best = min(evaluations[1:], key=lambda each: each.seconds)
        by_workers[str(number)] = {
            "evaluation_seconds": best.seconds,
            "median_seconds": statistics.median(each.seconds for each in evaluations[1:]),
            "apart_seconds": best.seconds - best.working,
        }
    return {"demonstrations": count, "features": len(theta), "by_workers": by_workers}


class Timed(LocalExecutor):
    """Records how long each evaluation takes."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.times = Times()

    def total(self, job, theta):
        with self.times.one():
            return super().total(job, theta)


def out_of_core(folder: Path, count: int, iterations: int, theta: Path, memory: str) -> dict:
    """Train in this process with bounded memory; return the figures."""
    with tempfile.TemporaryDirectory() as here:
        clock = Clock()
        shards = split(read(folder, count), Path(here), size=IN_FILE)
        executor = Timed(shards, ShardWorker(Path(here), parse_memory(memory)))
        learnt = fit_shards(trainer(iterations), executor, clock)
    np.save(theta, learnt.fitted.theta)
    found = described(clock, executor.times.seconds, learnt) | executor.times.described()
    return found | {"memory": memory, "peak_memory_gb": most_memory_used() / 1e9}


def in_memory(folder: Path, count: int, iterations: int, theta: Path | None) -> dict:
    """Train in memory, as by default; return the figures."""
    times = Times()
    loss = Scorer.loss

    def timed(scorer: Scorer, weights):
        with times.one():
            return loss(scorer, weights)

    began = time.perf_counter()
    with patch.object(Scorer, "loss", timed):
        learnt = trainer(iterations).fit(read(folder, count))
    if theta is not None:
        np.save(theta, learnt.fitted.theta)
    return {
        "demonstrations": count,
        "seconds": time.perf_counter() - began,
        **times.described(),
        "peak_memory_gb": most_memory_used() / 1e9,
        "accuracy": Follower._of(learnt).score(held_out(500)),
    }


def latency(workers: int) -> float:
    """Return the best time of a task that does nothing, in seconds."""
    with connected(f"local:{workers}") as client:
        times = []
        for _ in range(LATENCY_ROUNDS):
            began = time.perf_counter()
            client.gather([client.submit(os.getpid, pure=False) for _ in range(workers)])
            times.append(time.perf_counter() - began)
    return min(times)


# ---- running ----------------------------------------------------------------------------


class Results:
    """Results of the measured parts, each stored as soon as it is known."""

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


def apart(
    part: str, folder: Path, count: int, iterations: int, theta: Path, memory: str = MEMORY
) -> dict:
    """Run a part in a new process, so that its memory is measured separately."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--part", part, "--folder", str(folder),
         "--size", str(count), "--iterations", str(iterations), "--theta", str(theta),
         "--memory", memory],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def generate(folder: Path, count: int) -> dict:
    """Generate the files of demonstrations on two workers; return the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with connected("local:2") as client:
        places = range(math.ceil(count / IN_FILE))
        client.gather(client.map(write_file, [str(folder)] * len(places), places, pure=False))
    return {"seconds": time.perf_counter() - began}


def differences(thetas: Path, compared: int, whole: int) -> dict:
    """Return the largest differences of θ between two workers, out of core and in memory."""

    def difference(one: str, other: str) -> float:
        both = (np.load(thetas / f"{name}.npy") for name in (one, other))
        return float(np.abs(np.subtract(*both)).max())

    return {
        "workers and memory": difference(f"size-{compared}", "memory"),
        "out of core and memory": difference("little", "memory"),
        "workers and out of core": difference(f"size-{whole}", "out"),
    }


def run(folder: Path, out: Path, size: int, iterations: int, again: bool) -> dict:
    """Measure everything that is not in the file; return the derived figures."""
    few = max(IN_FILE, min(16_000, size // 8 // IN_FILE * IN_FILE))
    compared = min(max(64_000, few), size)
    results = Results(out, again, size)
    thetas = folder / "thetas"
    thetas.mkdir(parents=True, exist_ok=True)
    results.measure("generating", generate, folder, size)
    for count in (100, 1000):
        results.measure(f"size {count}", in_memory, folder, count, iterations, None)
    for count in sorted({few, compared, size}):
        kept = thetas / f"size-{count}.npy"
        results.measure(f"size {count}", on_workers, folder, count, 2, iterations, kept)
    middle = min(2 * few, size)
    results.measure("workers 1 and 2", in_turns, folder, middle, (1, 2))
    results.measure("workers 4", in_turns, folder, middle, (4,))
    results.measure("latency", lambda: {"seconds": latency(2)})
    for name, part, count, kept, memory in (
        ("in memory", "memory", compared, "memory", MEMORY),
        ("out of core, little memory", "out", compared, "little", LITTLE),
        ("out of core", "out", size, "out", MEMORY),
    ):
        theta = thetas / f"{kept}.npy"
        results.measure(name, apart, part, folder, count, iterations, theta, memory)
    results.measure("differences", differences, thetas, compared, size)
    found = summarise(results.parts, size)
    results.save(found)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--size", type=int, default=500_000, help="largest number of demonstrations"
    )
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "groundling-scale"
    )
    parser.add_argument("--out", type=Path, default=Path("scale.json"))
    parser.add_argument("--page", type=Path, help="a page whose table is updated")
    parser.add_argument("--again", action="store_true", help="discard earlier measurements")
    parser.add_argument("--part", choices=("memory", "out"), help=argparse.SUPPRESS)
    parser.add_argument("--theta", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--memory", default=MEMORY, help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the number of steps is fixed
    if given.part:
        what = (given.folder, given.size, given.iterations, given.theta)
        whole = given.part == "memory"
        print(json.dumps(in_memory(*what) if whole else out_of_core(*what, given.memory)))
        return
    size = max(IN_FILE, given.size // IN_FILE * IN_FILE)
    found = run(given.folder, given.out, size, given.iterations, given.again)
    shown = {name: value for name, value in found.items() if not isinstance(value, dict)}
    print(json.dumps(shown, indent=1))
    if given.page:
        write_page(given.page, found)


if __name__ == "__main__":
    main()
