"""Figures derived from `benchmarks.scale`: growth exponents, a cost model, and a table."""

from __future__ import annotations

import math
import os
from pathlib import Path

from groundling.files import write_atomically

__all__ = ["cost_model", "growth_exponent", "summarise", "table", "write_page"]

BEGIN, END = "<!-- scale: scale.json -->", "<!-- end -->"


def growth_exponent(small: tuple[int, float], large: tuple[int, float]) -> float:
    """Return the exponent by which time grows with the number of demonstrations.

    >>> growth_exponent((1000, 3.0), (100_000, 300.0))
    1.0
    """
    return math.log(large[1] / small[1]) / math.log(large[0] / small[0])


def cost_model(
    work: float, features: int, wait: float, per_byte: float, workers: int, fan: int = 16
) -> float:
    """Return the seconds of one evaluation: shared work, then a sum of results in a tree.

    Parameters
    ----------
    work
        Seconds of computation for a single worker.
    features
        Number of features; θ and the gradient have 8 bytes for each.
    wait
        Seconds to send a task and receive its result.
    per_byte
        Seconds to send a byte from one process to another.
    workers
        Number of workers; each step of the tree adds the results of at most `fan`.

    Examples
    --------
    >>> cost_model(10.0, 1000, 0.01, 1e-9, 1)
    10.010016
    >>> cost_model(10.0, 1000, 0.01, 1e-9, 10) < 1.1
    True
    """
    depth = max(1, math.ceil(math.log(workers, fan))) if workers > 1 else 1
    # θ is passed from worker to worker; each process that adds reads up to `fan` gradients.
    sent = 8 * features * per_byte * (1 + depth * min(workers, fan))
    return work / workers + depth * wait + sent


def summarise(parts: dict, size: int) -> dict:
    """Return the entries of scale.json that are computed from the parts."""
    sizes = {int(name.split()[1]): each for name, each in parts.items() if name.startswith("size")}
    on_two = {count: each for count, each in sizes.items() if "workers" in each}
    evaluations = 20  # about the number of evaluations in a training run
    cost = {
        count: each["encoding_seconds"] + evaluations * each["evaluation_seconds"]
        for count, each in on_two.items()
    }
    small, large = min(on_two), max(on_two)
    found = {
        "demonstrations": size,
        "peak_memory_gb": max(
            [each["peak_memory_gb"] for each in on_two.values()]
            + [parts["out of core"]["peak_memory_gb"]]
        ),
        "growth_exponent": growth_exponent((small, cost[small]), (large, cost[large])),
        "growth_from": small,
        "evaluation_seconds": on_two[large]["evaluation_seconds"],
        "encoding_seconds": on_two[large]["encoding_seconds"],
        "out_of_core_evaluation_seconds": parts["out of core"]["evaluation_seconds"],
        "theta_difference": max(parts["differences"].values()),
        "accuracy": {str(count): each["accuracy"] for count, each in sorted(sizes.items())},
    }
    turns = [each for name, each in parts.items() if name.startswith("workers")]
    workers = {int(n): each for part in turns for n, each in part["by_workers"].items()}
    one, two = workers[1], workers[2]
    found["speedup_two_workers"] = one["evaluation_seconds"] / two["evaluation_seconds"]
    found["speedup_two_workers_median"] = one["median_seconds"] / two["median_seconds"]
    found["communication_share"] = two["apart_seconds"] / two["evaluation_seconds"]
    memory, little = parts["in memory"], parts["out of core, little memory"]
    compared = memory["demonstrations"]
    found["out_of_core_ratio"] = little["best_seconds"] / memory["best_seconds"]
    found["out_of_core_processor_ratio"] = (
        little["best_processor_seconds"] / memory["best_processor_seconds"]
    )
    # All demonstrations do not fit into memory, so the time is extrapolated.
    found["out_of_core_ratio_of_all"] = parts["out of core"]["best_seconds"] / (
        memory["best_seconds"] * size / compared
    )
    found["compared_demonstrations"] = compared
    found["out_of_core_peak_memory_gb"] = little["peak_memory_gb"]
    found["in_memory_peak_memory_gb"] = memory["peak_memory_gb"]
    features = turns[0]["features"]
    work = one["evaluation_seconds"] - one["apart_seconds"]
    wait = parts["latency"]["seconds"]
    spread = max(0.0, two["apart_seconds"] - wait)
    per_byte = spread / (8 * features * 3)
    work_of_all = work * size / turns[0]["demonstrations"]
    found["cost_model"] = {
        "work_seconds": work_of_all,
        "latency_seconds": wait,
        "seconds_per_byte": per_byte,
        "measured": {str(n): each["evaluation_seconds"] for n, each in workers.items()},
        "expected": {
            str(n): cost_model(work, features, wait, per_byte, min(n, os.cpu_count() or 1))
            for n in workers
        },
        "carried_on": {
            str(n): cost_model(work_of_all, features, wait, per_byte, n)
            for n in (1, 2, 4, 10, 30, 100, 300, 1000)
        },
        "communication_takes_over": next(
            (
                n
                for n in range(1, 100_000)
                if cost_model(work_of_all, features, wait, per_byte, n) > 2 * work_of_all / n
            ),
            None,
        ),
    }
    return found


def table(found: dict) -> str:
    """Return the figures as the tables of a page."""
    model, compared = found["cost_model"], f"{found['compared_demonstrations']:,}"
    figures = [
        ("demonstrations", f"{found['demonstrations']:,}"),
        ("encoding on two workers", f"{found['encoding_seconds']:.0f} s"),
        ("one evaluation on two workers", f"{found['evaluation_seconds']:.2f} s"),
        ("one evaluation out of core, alone", f"{found['out_of_core_evaluation_seconds']:.2f} s"),
        ("most memory of a process", f"{found['peak_memory_gb']:.2f} GB"),
        (
            f"growth from {found['growth_from']:,} on, encoding included",
            f"n^{found['growth_exponent']:.2f}",
        ),
        ("two workers against one, the best of each", f"{found['speedup_two_workers']:.2f}×"),
        ("the same, medians", f"{found['speedup_two_workers_median']:.2f}×"),
        ("share of an evaluation that is not calculation", f"{found['communication_share']:.0%}"),
        (
            f"out of core against all in memory, {compared} demonstrations",
            f"{found['out_of_core_ratio']:.2f}×",
        ),
        ("the same of processor time", f"{found['out_of_core_processor_ratio']:.2f}×"),
        (
            f"memory of these two, of {compared}",
            f"{found['out_of_core_peak_memory_gb']:.2f} GB and "
            f"{found['in_memory_peak_memory_gb']:.2f} GB",
        ),
        (
            f"out of core, all, against {compared} in memory, for each demonstration",
            f"{found['out_of_core_ratio_of_all']:.2f}×",
        ),
        ("largest difference of θ", f"{found['theta_difference']:.1e}"),
    ]
    lines = [
        "| what | figure |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in figures),
    ]
    lines += ["", "| workers | one evaluation, expected | measured |", "|---|---|---|"]
    lines += [
        f"| {count} | {model['expected'][count]:.3f} s | {seconds:.3f} s |"
        for count, seconds in model["measured"].items()
    ]
    lines += [
        "",
        f"| workers, all {found['demonstrations']:,} | one evaluation, on paper |",
        "|---|---|",
    ]
    lines += [f"| {count} | {seconds:.3f} s |" for count, seconds in model["carried_on"].items()]
    over = model["communication_takes_over"]
    lines += ["", f"Communication takes as long as calculation from {over} workers on."]
    lines += ["", "| demonstrations | right in an unseen maze |", "|---|---|"]
    lines += [f"| {int(count):,} | {share:.3f} |" for count, share in found["accuracy"].items()]
    return "\n".join(lines)


def write_page(path: Path, found: dict) -> None:
    """Replace the tables in a page."""
    text = path.read_text(encoding="utf-8")
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise SystemExit(f"{path} must have the markers {BEGIN} and {END}.")
    write_atomically(path, f"{before}{BEGIN}\n{table(found)}\n{END}{after}")
