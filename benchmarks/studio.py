"""The service under load: 50 users at once, what they wait, and that answers do not mix.

`python -m benchmarks.studio` trains two small models, serves them on two ports of this machine,
and lets users ask both for two minutes. Every answer is compared with that of the library.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from groundling import Demonstration, Follower
from groundling.studio.kitchen import Kitchen
from groundling.studio.presets import lesson_follower

WORLD = "groundling.studio.kitchen:Kitchen"
# The same words mean different things to the two models, so that a mixed-up answer shows.
LESSONS = {
    "one": {"zum Tisch": "go to the table", "zum Regal": "go to the shelf",
            "nimm die Tasse": "take the blue cup"},
    "two": {"zum Tisch": "go to the shelf", "zum Regal": "take the blue cup",
            "nimm die Tasse": "go to the table"},
}  # fmt: skip
TEXTS = (
    "zum Tisch", "zum Regal", "nimm die Tasse", "nimm die Tasse und geh zum Tisch",
    "geh zum Regal und dann zum Tisch", "bitte nimm jetzt die blaue Tasse",
)  # fmt: skip


def train(folder: Path, lesson: dict[str, str]) -> Follower:
    kitchen = Kitchen()
    shown = [
        Demonstration(text, kitchen, kitchen.start, (action,)) for text, action in lesson.items()
    ]
    follower = lesson_follower().fit(shown)
    follower.save(folder)
    return follower


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "groundling.cli.main", "serve", str(folder), "--world", WORLD,
         "--port", "0"],
        stdout=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return process, found[0].rstrip("/")
    raise RuntimeError("the server did not start")


class Tally:
    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.health: list[float] = []
        self.statuses: dict[int, int] = {}
        self.mixed = 0

    def count(self, status: int) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1


async def user(
    number: int, address: str, expected: dict[str, list[str]], until: float, tally: Tally,
    pause: float,
) -> None:  # fmt: skip
    dice = random.Random(number)
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        while time.monotonic() < until:
            text = dice.choice(TEXTS)
            began = time.perf_counter()
            answer = await client.post("/v1/follow", json={"text": text})
            tally.seconds.append(time.perf_counter() - began)
            tally.count(answer.status_code)
            if answer.status_code == 200 and answer.json()["actions"] != expected[text]:
                tally.mixed += 1
            await asyncio.sleep(dice.uniform(0, 2 * pause))


async def watch(address: str, until: float, tally: Tally) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        while time.monotonic() < until:
            began = time.perf_counter()
            answer = await client.get("/v1/health")
            tally.health.append(time.perf_counter() - began)
            tally.count(answer.status_code)
            await asyncio.sleep(0.25)


async def load(
    addresses: dict[str, str], expected: dict[str, dict[str, list[str]]], users: int,
    seconds: float, pause: float,
) -> Tally:  # fmt: skip
    tally = Tally()
    until = time.monotonic() + seconds
    names = list(addresses)
    tasks = [
        user(number, addresses[names[number % 2]], expected[names[number % 2]], until, tally, pause)
        for number in range(users)
    ]
    tasks += [watch(address, until, tally) for address in addresses.values()]
    await asyncio.gather(*tasks)
    return tally


def share(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between questions")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    asked = parser.parse_args()
    kitchen = Kitchen()
    with tempfile.TemporaryDirectory() as made:
        processes, addresses, expected = [], {}, {}
        try:
            for name, lesson in LESSONS.items():
                folder = Path(made) / name
                follower = train(folder, lesson)
                expected[name] = {
                    text: list(follower.follow(text, kitchen, kitchen.start).actions)
                    for text in TEXTS
                }
                process, addresses[name] = start(folder)
                processes.append(process)
            tally = asyncio.run(load(addresses, expected, asked.users, asked.seconds, asked.pause))
        finally:
            for process in processes:
                process.terminate()
                process.wait(timeout=30)
                if process.stdout is not None:
                    process.stdout.close()
    figures = {
        "users": asked.users,
        "seconds": asked.seconds,
        "answers": len(tally.seconds),
        "statuses": tally.statuses,
        "follow p50": statistics.median(tally.seconds),
        "follow p95": share(tally.seconds, 0.95),
        "health p50": statistics.median(tally.health),
        "health p95": share(tally.health, 0.95),
        "health max": max(tally.health),
        "answers of another project": tally.mixed,
    }
    for name, value in figures.items():
        timed = isinstance(value, float) and name != "seconds"
        print(f"{name:>28}  {f'{value:.3f} s' if timed else value}")
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    broken = sum(count for status, count in tally.statuses.items() if status >= 500)
    if broken or tally.mixed:
        sys.exit(f"{broken} answers of 500 or more, {tally.mixed} of another project.")


if __name__ == "__main__":
    main()
