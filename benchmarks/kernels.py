"""Kernels on flat plans and on units read one by one, compared with their limits."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace

import numpy as np
from rich.console import Console

from benchmarks.limit import prepare_limit
from groundling.overlay.encoder import Encoder
from groundling.overlay.scorer import Scorer
from groundling.tasks.benchmark import demonstrations
from groundling.tasks.task_registry import get_task

__all__ = ["kernels", "scorer_of"]

_TASKS = {"flat": ("mazes", 1.0), "units": ("maps", 1.0)}


def scorer_of(task: str, size: float) -> Scorer:
    """Return the encoded training instances of a task's best preset, on generated data."""
    found = get_task(task)
    chosen = found.presets.select("best")
    corpus = found.load(None, size)
    shown = demonstrations(found.prepare(corpus, chosen), found.held_out(corpus))
    made: list[Scorer] = []
    encode = Encoder.encode

    def kept(self, *given, **named):  # type: ignore[no-untyped-def]
        made.append(encode(self, *given, **named))
        return made[-1]

    follower = chosen.follower(seed=0)
    follower.learning = replace(follower.learning, iterations=1)
    Encoder.encode = kept  # type: ignore[method-assign]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            follower.fit(shown)
    finally:
        Encoder.encode = encode  # type: ignore[method-assign]
    return max(made, key=lambda each: int(each.encoding.cells.sum()))


def kernels(size: float, rounds: int, console: Console) -> dict[str, float]:
    """Return the time of evaluations as a multiple of their limits, timed in alternation."""
    figures: dict[str, float] = {}
    for name, (task, share) in _TASKS.items():
        scorer = scorer_of(task, share * size)
        theta = np.random.default_rng(0).normal(size=scorer.width) * 0.1
        limit = prepare_limit(scorer.encoding)
        scorer.loss(theta), limit()
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            for side, job in enumerate((lambda: scorer.loss(theta), limit)):  # noqa: B023
                began = time.process_time()
                job()
                best[side] = min(best[side], time.process_time() - began)
        cells = int(scorer.encoding.cells.sum())
        figures[f"kernel_{name}_times_limit"] = best[0] / best[1]
        figures[f"kernel_{name}_ns_per_cell"] = best[0] / cells * 1e9
        console.print(
            f"{name}: {cells:,} cells, {best[0] / cells * 1e9:.1f} ns per cell, "
            f"{best[0] / best[1]:.2f} times the limit"
        )
    return figures
