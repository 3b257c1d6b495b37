"""Speed of writing and reading demonstrations: `python -m benchmarks.files [RECORDS]`."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

from groundling import Demonstration, GroundingGraph
from groundling.data import Demonstrations

__all__ = ["Robot", "generate", "measure"]

PLACES = ("sink", "table", "shelf", "stove", "drawer", "window")
THINGS = ("mug", "jug", "pan", "bowl", "plate", "fork")


class State(NamedTuple):
    """State: the place of the robot, and what it holds."""

    at: tuple[int, int]
    holds: frozenset[str] = frozenset()
    last: str = "start"


class Robot:
    """A world in which nothing is carried out."""

    def actions(self, state):
        return ()

    def step(self, state, action):
        return state

    def ground(self, state, action, after):
        return GroundingGraph({"event": "go"})


def generate(count: int, world: Robot, seed: int = 0) -> Iterator[Demonstration]:
    """Yield demonstrations of ten words and three actions, in one of about 9,000 states."""
    dice = random.Random(seed)
    for number in range(count):
        place, thing = dice.choice(PLACES), dice.choice(THINGS)
        state = State(
            (dice.randrange(20), dice.randrange(20)),
            frozenset(dice.sample(THINGS, dice.randrange(3))),
        )
        actions = [("go", place, dice.randrange(5)), ("take", thing, 1), ("go", "home", 2)]
        text = f"go to the {place} and take the {thing} home now"
        yield Demonstration(text, world, state, tuple(actions), group=f"route {number // 5}")


def measure(count: int, folder: Path) -> dict[str, float]:
    """Return records per second of processor time: written, counted, read, and bare JSON."""
    world, figures = Robot(), {}
    for ending in (".jsonl", ".jsonl.gz", ".parquet"):
        path = folder / f"shown{ending}"
        began = process_time()
        for _ in generate(count, world):
            pass
        made = process_time() - began
        began = process_time()
        Demonstrations(generate(count, world)).write(path)
        figures[f"write {ending}"] = count / max(process_time() - began - made, 1e-9)
        shown = Demonstrations.read(path, worlds=world)
        began = process_time()
        assert len(shown) == count
        figures[f"count {ending}"] = count / max(process_time() - began, 1e-9)
        began = process_time()
        assert sum(1 for _ in shown) == count
        figures[f"read {ending}"] = count / max(process_time() - began, 1e-9)
        figures[f"bytes {ending}"] = path.stat().st_size / count
    began = process_time()
    with open(folder / "shown.jsonl", "rb") as file:
        for line in file:
            json.loads(line)
    figures["bare JSON"] = count / max(process_time() - began, 1e-9)
    return figures


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        for name, value in measure(int((sys.argv[1:] or ["200000"])[0]), Path(folder)).items():
            print(f"{name:16} {value:14,.0f}")
