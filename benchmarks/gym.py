"""Speed of following BabyAI missions, and time until the first follower.

`python -m benchmarks.gym` prints plans per second on unseen seeds of BossLevel, in processor time
and elapsed time, and how many seconds the first example of docs/gymnasium.md takes in a new
process. With `--cold`, that process compiles all kernels, as after `pip install`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from groundling.gym import exam as protocol
from groundling.gym.babyai_levels import babyai

__all__ = ["first_follower", "plans_a_second"]

PAGE = Path(__file__).parents[1] / "docs" / "gymnasium.md"


def plans_a_second(level: str = "BossLevel", seeds: int = 100) -> dict[str, float]:
    """Return the speed of following parsed missions, each in a new scene."""
    world = babyai(level)
    follower = world.follower().fit(world.record(protocol.training_seeds(0, 50)), check=False)
    exam = protocol.Exam(level, seeds + 5)
    exam.close()
    episodes = [case.episode for case in exam.cases]
    for each in episodes[:5]:  # a first plan, so that kernels are loaded
        follower.follow(each.parts, each, ())
    clock, processor = time.perf_counter(), time.process_time()
    for each in episodes[5:]:
        follower.follow(each.parts, each, ())
    return {
        f"{level}, plans a second by the clock": seeds / (time.perf_counter() - clock),
        f"{level}, plans a processor second": seeds / (time.process_time() - processor),
    }


def first_follower(*, cold: bool = False) -> dict[str, float]:
    """Return the seconds that the first example of the page takes."""
    [code] = re.findall(
        r"## A first follower\n\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.S
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, **({"NUMBA_CACHE_DIR": folder} if cold else {})}
        clock, before = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-c", code], check=True, env=settings)
        after = os.times()
        return {
            "first follower, seconds by the clock": time.perf_counter() - clock,
            "first follower, processor seconds": (
                after.children_user - before.children_user
                + after.children_system - before.children_system
            ),
        }  # fmt: skip


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--level", default="BossLevel")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--cold", action="store_true", help="compile kernels anew")
    asked = parser.parse_args()
    figures = plans_a_second(asked.level, asked.seeds) if asked.seeds else {}
    for name, value in {**figures, **first_follower(cold=asked.cold)}.items():
        print(f"{name}: {value:.0f}")


if __name__ == "__main__":
    main()
