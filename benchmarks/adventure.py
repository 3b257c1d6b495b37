"""Benchmark of the text adventure in `examples/`: `python -m benchmarks.adventure`.

Names of several words share words, texts do not mention doors and paths, some sentences are
greetings, and quests have 3 to 14 steps. `Follower()` is trained on some quests and carries out 200
others in a separate environment. *won* is the share of quests that the environment ended as won;
*plans per second* is the number of texts followed one by one per second of processor time.
"""

from __future__ import annotations

import argparse
import json
import runpy
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groundling import Follower
from groundling.files import write_atomically

__all__ = ["main", "measure"]

SCRIPT = Path(__file__).parents[1] / "examples" / "text_adventure.py"


def measure(learn: int, test: int) -> dict[str, float]:
    """Train on `learn` quests; return the share of `test` other quests won, and the speed."""
    adventure: dict[str, Any] = runpy.run_path(str(SCRIPT))
    world = adventure["make_world"]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = [adventure["demonstrate"](world, seed) for seed in range(learn)]
        began = time.process_time()
        follower = Follower().fit(shown, check=False)
        fitted = time.process_time() - began
        others = [adventure["demonstrate"](world, 10_000 + number) for number in range(test)]
        began = time.process_time()
        for each in others:
            follower.follow(each.instructions, world, each.start)
        followed = time.process_time() - began
        env, agent, won = adventure["Adventure"](), world.agent(follower, threshold=0), 0
        for number in range(test):
            env.reset(seed=10_000 + number)
            won += agent.act(env.text, env).success
    return {
        "won": round(won / test, 4),
        "plans per second": round(test / followed, 1),
        "fit seconds": round(fitted, 1),
        "steps": round(sum(len(each.actions) for each in others) / test, 1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each number of demonstrations; with `--json`, also write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learn", nargs="*", type=int, default=[10, 30, 100])
    parser.add_argument("--test", type=int, default=200)
    parser.add_argument("--json", type=Path, help="such as results/adventure.json")
    chosen = parser.parse_args(arguments)
    found: dict[str, Any] = {"test": chosen.test, "rows": {}}
    for learn in chosen.learn:
        found["rows"][f"{learn} demonstrations"] = figures = measure(learn, chosen.test)
        print(f"{learn} demonstrations: {figures}", flush=True)
    if chosen.json:
        write_atomically(chosen.json, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
