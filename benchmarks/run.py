"""Measure an evaluation (objective and gradient) and prediction, and write bench.json.

Run `python -m benchmarks.run`. With `--quick`, it measures a small corpus, to test that it works.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # must be set before NumPy loads
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.before import against, against_commit, check_out, install_base
from benchmarks.corpus import Corpus, describe, encoded, generate
from benchmarks.kernels import kernels
from benchmarks.limit import prepare_limit
from benchmarks.numpy_twin import numpy_loss
from benchmarks.page import BARS, PICTURE, draw_fits, reached, write_page
from benchmarks.prediction import prediction
from benchmarks.teaching import KNOWN, curve, teaching
from groundling.overlay.batch_builder import Encoding
from groundling.overlay.scorer import Scorer

__all__ = ["compare", "growth", "main"]

FACTORS = (1, 2, 4, 8, 16, 32)
EVALUATIONS = 100  # approximate number of evaluations of the objective in one fit


def main(argv: Sequence[str] | None = None) -> None:
    """Run all measurements, print them, and write bench.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small corpus and few repetitions")
    parser.add_argument(
        "--base",
        type=Path,
        help="folder of version 0.1.0; installed there if missing",
    )
    parser.add_argument(
        "--before",
        type=Path,
        help="folder of the commit before new worlds; created if missing",
    )
    parser.add_argument("--output", type=Path, default=Path("bench.json"))
    parser.add_argument(
        "--page", type=Path, help="write the figures in --output into this page, without measuring"
    )
    arguments = parser.parse_args(argv)
    console = Console(width=110)
    if arguments.page is not None:
        figures = json.loads(arguments.output.read_text(encoding="utf-8"))
        write_page(arguments.page, figures)
        picture = arguments.page.parent / PICTURE
        if picture.parent.is_dir():
            draw_fits(figures, picture)
        console.print(f"Written to {arguments.page}.")
        return
    quick = arguments.quick
    # Measurements that can fail because something is missing come first.
    base = None if arguments.base is None else install_base(arguments.base)
    figures = compare(0.02 if quick else 1, 2 if quick else 15, 2 if quick else 20, console)
    figures |= growth((0.01, 0.02) if quick else FACTORS, 2 if quick else 7, console)
    figures["kernel_graph_times_limit"] = figures["times_limit"]
    figures |= kernels(0.1 if quick else 1, 2 if quick else 9, console)
    figures |= prediction(20 if quick else 300, 1 if quick else 5, console)
    figures |= teaching(console, (30,) if quick else KNOWN, 3 if quick else 11)
    if not quick:
        figures |= curve(console)
    if base is not None:
        figures |= against(base, 0.02 if quick else 1, 1 if quick else 3, console)
    if arguments.before is not None:
        source = check_out(arguments.before)
        figures |= against_commit(source, 0.05 if quick else 1, 1 if quick else 3, console)
    show_bars(figures, console)
    arguments.output.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    console.print(f"Written to {arguments.output}.")


# ---- one corpus, every implementation ---------------------------------------------------------


def compare(factor: float, rounds: int, numpy_decisions: int, console: Console) -> dict[str, float]:
    """Return the best time of each implementation on one corpus, timed in alternation."""
    import torch

    from benchmarks.torch_twin import TorchTwin

    torch.set_num_threads(1)
    corpus = generate(factor)
    encoding = encoded(corpus)
    show_corpus(encoding, console)
    theta = weights(encoding)
    memory: dict[str, float] = {}
    one = grown(memory, "one", lambda: Scorer(encoding))
    grown(memory, "one", lambda: one.loss(theta))
    two = Scorer(encoding, threads=2)
    limit = prepare_limit(encoding)
    expected, gradient = one.loss(theta)
    limit(), two.loss(theta)
    twins = {}
    for way in ("logsumexp", "matmul"):
        twin = grown(memory, way, lambda way=way: TorchTwin(encoding, way))  # type: ignore[misc]
        value, slope = grown(memory, way, lambda twin=twin: twin.loss(theta))  # type: ignore[misc]
        check(way, value, slope, expected, gradient)
        twins[way] = twin
    # Processor time if there is one thread: other load on the machine then matters less.
    jobs: dict[str, Callable[[], object]] = {
        "one": lambda: one.loss(theta),
        "limit": limit,
        "logsumexp": lambda: twins["logsumexp"].loss(theta),
        "matmul": lambda: twins["matmul"].loss(theta),
    }
    seconds = best_in_turns(jobs, rounds, time.process_time)
    # Two threads are timed by elapsed time, and so is one thread that is compared with them.
    race: dict[str, Callable[[], object]] = {
        "one": lambda: one.loss(theta),
        "two": lambda: two.loss(theta),
    }
    wall = best_in_turns(race, 2 * rounds, time.perf_counter)
    main_thread = best_in_turns(race, rounds, time.thread_time)
    seconds["two"] = wall["two"]
    pairs, cells = len(encoding.tables.pair_node), int(encoding.cells.sum())
    seconds["loops"] = numpy_time(corpus, numpy_decisions, pairs, cells)
    show_seconds(seconds, cells, memory, numpy_decisions, console)
    return {
        "speedup_vs_torch": min(seconds["logsumexp"], seconds["matmul"]) / seconds["one"],
        "speedup_vs_torch_logsumexp": seconds["logsumexp"] / seconds["one"],
        "speedup_vs_numpy": seconds["loops"] / seconds["one"],
        "speedup_two_threads": wall["one"] / wall["two"],
        "speedup_two_threads_cpu": main_thread["one"] / main_thread["two"],
        "times_limit": seconds["one"] / seconds["limit"],
        "seconds_per_evaluation": seconds["one"],
        "seconds_limit": seconds["limit"],
        "cells_per_second": cells / seconds["one"],
    }


def numpy_time(corpus: Corpus, decisions: int, pairs: int, cells: int) -> float:
    """Return the time of the loops on a few decisions, scaled by the numbers of pairs and cells."""
    encoding = encoded(Corpus(corpus.instances[:decisions], corpus.overlay))
    theta = weights(encoding)
    expected, gradient = Scorer(encoding).loss(theta)
    loops = min(
        (numpy_loss(encoding, theta) for _ in range(3)),
        key=lambda each: each.pair_seconds + each.chart_seconds,
    )
    check("loops", loops.loss, loops.gradient, expected, gradient)
    return (
        loops.pair_seconds / len(encoding.tables.pair_node) * pairs
        + loops.chart_seconds / int(encoding.cells.sum()) * cells
    )


def weights(encoding: Encoding) -> np.ndarray:
    """Return random weights of the size that training gives."""
    return np.random.default_rng(0).normal(size=len(encoding.space)) * 0.3


def check(
    name: str, value: float, slope: np.ndarray, expected: float, gradient: np.ndarray
) -> None:
    """Raise an error unless two implementations compute the same function."""
    error = abs(value - expected) / abs(expected)
    slope_error = float(np.abs(slope - gradient).max() / np.abs(gradient).max())
    if not (error < 1e-8 and slope_error < 1e-8):
        raise AssertionError(f"{name}: objective off by {error:.1e}, gradient by {slope_error:.1e}")


def best_in_turns(
    jobs: dict[str, Callable[[], object]], rounds: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Return each job's best time; jobs alternate, so that other load affects all equally."""
    best = dict.fromkeys(jobs, float("inf"))
    for number in range(rounds):
        for name, job in jobs.items():
            slow = name in ("logsumexp", "matmul")
            if slow and number >= 5:
                continue
            for _ in range(1 if slow else 3):
                start = clock()
                job()
                best[name] = min(best[name], clock() - start)
    return best


def grown(memory: dict[str, float], name: str, job: Callable[[], object]):  # type: ignore[no-untyped-def]
    """Run a job, and store by how many megabytes its peak memory exceeds that before."""
    before = _reset_peak()
    result = job()
    memory[name] = memory.get(name, 0.0) + max(0.0, _peak() - before) / 2**20
    return result


def _reset_peak() -> float:
    with contextlib.suppress(OSError):  # Linux: reset the peak
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return float(line.split()[1]) * 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


# ---- growth -----------------------------------------------------------------------------------


def growth(factors: tuple[float, ...], rounds: int, console: Console) -> dict[str, float]:
    """Return times of evaluations of growing corpora, and the exponent of time in size."""
    table = Table(title="Growth with the corpus (one thread)")
    for heading in ("factor", "decisions", "chart cells", "pairs per cell", "encoding, s",
                    "evaluation, s", "ns per cell"):  # fmt: skip
        table.add_column(heading, justify="right")
    times, fits = [], []
    for factor in factors:
        gc.disable()  # millions of small objects are created, and none of them is garbage
        corpus = generate(factor)
        gc.enable()
        gc.freeze()
        start = time.process_time()
        encoding = encoded(corpus)
        encoding_seconds = time.process_time() - start
        scorer = Scorer(encoding)
        del corpus
        gc.unfreeze()
        theta = weights(encoding)
        best = best_in_turns({"one": lambda: scorer.loss(theta)}, rounds, time.process_time)["one"]  # noqa: B023
        times.append(best)
        fits.append(encoding_seconds + EVALUATIONS * best)
        cells = int(encoding.cells.sum())
        table.add_row(
            f"{factor:g}", f"{len(encoding.batch.instance_weight):,}", f"{cells:,}",
            f"{len(encoding.tables.pair_node) / cells:.3f}", f"{encoding_seconds:.2f}",
            f"{best:.4f}", f"{best / cells * 1e9:.1f}",
        )  # fmt: skip
    console.print(table)
    return {
        "growth_exponent": float(np.polyfit(np.log(factors), np.log(times), 1)[0]),
        "growth_exponent_with_encoding": float(np.polyfit(np.log(factors), np.log(fits), 1)[0]),
    }


# ---- tables -----------------------------------------------------------------------------------


def show_corpus(encoding: Encoding, console: Console) -> None:
    table = Table(title="The corpus", show_header=False)
    for name, count in describe(encoding).items():
        table.add_row(name, f"{count:,}")
    console.print(table)


def show_seconds(
    seconds: dict[str, float],
    cells: int,
    memory: dict[str, float],
    numpy_decisions: int,
    console: Console,
) -> None:
    names = {
        "one": "this library, one thread",
        "two": "this library, two threads (wall clock)",
        "logsumexp": "PyTorch, log-sum-exp, one thread",
        "matmul": "PyTorch, matrix products, one thread",
        "loops": f"NumPy loops ({numpy_decisions} decisions, scaled)",
        "limit": "limit: exp, log and memory traffic alone",
    }
    table = Table(title="Objective and gradient")
    for heading in ("", "seconds", "cells per second", "× this library", "memory, MB"):
        table.add_column(heading, justify="right" if heading else "left")
    for key, name in names.items():
        table.add_row(
            name, f"{seconds[key]:.4f}", f"{cells / seconds[key]:,.0f}",
            f"{seconds[key] / seconds['one']:.2f}",
            f"{memory[key]:.0f}" if key in memory else "",
        )  # fmt: skip
    console.print(table)


def show_bars(figures: dict[str, float], console: Console) -> None:
    table = Table(title="Targets")
    for heading in ("figure", "value", "target", "reached"):
        table.add_column(heading)
    for name, (bar, sense) in BARS.items():
        if name not in figures:
            continue  # not compared with 0.1.0
        shown = "yes" if reached(name, figures[name]) else "no"
        table.add_row(name, f"{figures[name]:.2f}", f"{sense} {bar:g}", shown)
    console.print(table)


if __name__ == "__main__":
    main()
