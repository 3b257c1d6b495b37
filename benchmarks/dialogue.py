"""Measure the processor time of `Follower.describe`, `Agent.say` and `Follower.follow`.

`python -m benchmarks.dialogue` trains on two mazes (SAIL with `GROUNDLING_CORPORA`, else generated
ones) and prints the times for sentences and plans of the third, first and repeated calls alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from groundling import Agent, Demonstration, Follower, Plan
from groundling.errors import GroundlingWarning
from groundling.tasks.benchmark import demonstrations
from groundling.tasks.task_registry import get_task
from groundling.world.cached_environment import CachedEnvironment

__all__ = ["main", "measure"]

COUNT = 200


def _milliseconds(call: Callable[[Any], object], given: Iterable[Any]) -> list[float]:
    found = []
    for each in given:
        began = time.process_time()
        call(each)
        found.append(1000 * (time.process_time() - began))
    return found


def measure(follower: Follower, test: Sequence[Demonstration]) -> dict[str, list[float]]:
    """Return the milliseconds of each call, by its name.

    Each text is followed and said with caches as the calls before it left them; half of the texts
    are followed first, the other half said first.
    """
    plans = []
    for each in test:
        way = CachedEnvironment(each.environment).trace(each.start, each.actions)
        plans.append((Plan(way.actions, way.states, 0.0, 1.0), each.environment))
    texts = [str(e.instructions if isinstance(e.instructions, str) else
                 " ".join(map(str, e.instructions))) for e in test]  # fmt: skip

    def follow(place: int) -> object:
        return follower.follow(texts[place], test[place].environment, test[place].start)

    def say(place: int) -> object:
        agent = Agent(follower, test[place].environment, test[place].start)
        return agent.say(texts[place])

    def describe(place: int) -> object:
        return follower.describe(*plans[place])

    half, every = len(test) // 2, range(len(test))
    follow(0), say(0), describe(0)  # kernels and the speaker are made at the first call
    found = {
        "follow": _milliseconds(follow, every[:half]),
        "say": _milliseconds(say, every[half:]),
        "describe": _milliseconds(describe, every),
    }
    found["say"] += _milliseconds(say, every[:half])
    found["follow"] += _milliseconds(follow, every[half:])
    return found


def main() -> None:
    """Print the mean, the median and the 95th percentile of each call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="number of sentences")
    given = parser.parse_args()
    warnings.simplefilter("ignore", GroundlingWarning)
    task = get_task("mazes")
    corpora = os.environ.get("GROUNDLING_CORPORA")
    corpus = task.load(Path(corpora) if corpora else None, 1.0)
    cases = task.prepare(corpus, chosen := task.presets.select("best"))
    held_out = task.held_out(corpus)
    follower = chosen.fit(demonstrations(cases, held_out), check=False)
    test = [each.demonstration for each in cases if each.part in held_out]
    found = measure(follower, test[:: max(1, len(test) // given.count)][: given.count])
    table = Table("milliseconds of processor time", "mean", "median", "95 %", "calls")
    for name, times in found.items():
        high = statistics.quantiles(times, n=20)[-1]
        table.add_row(name, f"{statistics.fmean(times):.1f}", f"{statistics.median(times):.1f}",
                      f"{high:.1f}", f"{len(times)}")  # fmt: skip
    console = Console()
    console.print(table)
    ratio = statistics.fmean(found["say"]) / statistics.fmean(found["follow"])
    console.print(f"say / follow: {ratio:.2f}")


if __name__ == "__main__":
    main()
