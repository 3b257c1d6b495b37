"""Load test of the service: response times for 50 users, and isolation of projects.

`python -m benchmarks.studio` trains small models and serves them on this machine. For two minutes,
users send requests to two of them, while a studio is taught continuously. Every response is
compared with that of the library. Then the studio is started twice, to measure a warm start. The
figures are written to results/studio.json; `--docs` puts them into docs/service.md.
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

from benchmarks.page import fill
from groundling import Demonstration, Follower
from groundling.studio.kitchen import Kitchen

WORLD = "groundling.studio.kitchen:Kitchen"
ROOT = Path(__file__).parents[1]
# The same words mean different things to the two models, so that mixed-up answers are noticed.
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
    follower = Follower(parser="chain").fit(shown)
    follower.save(folder)
    return follower


def start(*command: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "groundling.cli.main", *command, "--port", "0"],
        stdout=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return process, found[0].rstrip("/")
    raise RuntimeError("The server did not start.")


def stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait(timeout=60)
    if process.stdout is not None:
        process.stdout.close()


def warm_start(folder: Path) -> float:
    """Return the seconds from the command to a page with a trained follower, on a warm start."""
    seconds = 0.0
    for _ in range(2):
        began = time.perf_counter()
        process, address = start("studio", "--no-browser", "--project", str(folder))
        try:
            while True:
                about = httpx.get(f"{address}/api/projects/main", timeout=300).json()
                if about["learnt"] == about["revision"]:
                    break
                time.sleep(0.05)
            seconds = time.perf_counter() - began
        finally:
            stop(process)
    return seconds


class Tally:
    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.health: list[float] = []
        self.health_while_learning: list[float] = []
        self.taught = 0
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


async def watch(address: str, until: float, tally: Tally, seconds: list[float]) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        while time.monotonic() < until:
            began = time.perf_counter()
            answer = await client.get("/v1/health")
            seconds.append(time.perf_counter() - began)
            tally.count(answer.status_code)
            await asyncio.sleep(0.25)


async def teacher(address: str, until: float, tally: Tally) -> None:
    """Teach demonstrations one after another, each as soon as the previous one is learnt."""
    dice = random.Random(0)
    kitchen = Kitchen()
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        scene = (await client.get("/api/projects/main")).json()["scenes"][0]["name"]
        while time.monotonic() < until:
            action = dice.choice(kitchen.actions(kitchen.start))
            shown = {"scene": scene, "text": f"{action} number {tally.taught}", "actions": [action]}
            answer = await client.post("/api/projects/main/teach", json=shown)
            tally.count(answer.status_code)
            tally.taught += answer.status_code == 201
            while time.monotonic() < until:
                about = (await client.get("/api/projects/main")).json()
                if about["learnt"] == about["revision"]:
                    break
                await asyncio.sleep(0.1)


async def load(
    addresses: dict[str, str], expected: dict[str, dict[str, list[str]]], users: int,
    seconds: float, pause: float,
) -> Tally:  # fmt: skip
    tally = Tally()
    until = time.monotonic() + seconds
    names = list(LESSONS)
    tasks = [
        user(number, addresses[names[number % 2]], expected[names[number % 2]], until, tally, pause)
        for number in range(users)
    ]
    tasks += [watch(addresses[name], until, tally, tally.health) for name in names]
    tasks.append(watch(addresses["taught"], until, tally, tally.health_while_learning))
    tasks.append(teacher(addresses["taught"], until, tally))
    await asyncio.gather(*tasks)
    return tally


def share(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between questions")
    parser.add_argument("--json", type=Path, default=ROOT / "results" / "studio.json")
    parser.add_argument("--docs", action="store_true", help="put the figures into the page")
    asked = parser.parse_args()
    figures = measure(asked.users, asked.seconds, asked.pause)
    asked.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(table(figures))
    if asked.docs:
        fill(ROOT / "docs" / "service.md", "load: studio.json", table(figures))
    if figures["answers of 500 or more"] or figures["answers of another project"]:
        sys.exit("There were answers of 500 or more, or of another project.")


def measure(users: int, seconds: float, pause: float) -> dict[str, float]:
    """Return the figures of a load test."""
    kitchen = Kitchen()
    with tempfile.TemporaryDirectory() as made:
        processes, addresses = [], {}
        expected: dict[str, dict[str, list[str]]] = {}
        try:
            for name, lesson in LESSONS.items():
                folder = Path(made) / name
                follower = train(folder, lesson)
                expected[name] = {
                    text: list(map(str, follower.follow(text, kitchen, kitchen.start).actions))
                    for text in TEXTS
                }
                process, addresses[name] = start("serve", str(folder), "--world", WORLD)
                processes.append(process)
            taught = str(Path(made) / "taught")
            process, address = start("studio", WORLD, "--no-browser", "--project", taught)
            addresses["taught"] = address
            processes.append(process)
            tally = asyncio.run(load(addresses, expected, users, seconds, pause))
        finally:
            for process in processes:
                stop(process)
        started = warm_start(Path(made) / "project")
    return {
        "users": users,
        "seconds": seconds,
        "questions answered": len(tally.seconds),
        "demonstrations taught meanwhile": tally.taught,
        "answers of 500 or more": sum(n for status, n in tally.statuses.items() if status >= 500),
        "answers of another project": tally.mixed,
        "follow, median": statistics.median(tally.seconds),
        "follow, 95 of 100": share(tally.seconds, 0.95),
        "health, 95 of 100": share(tally.health, 0.95),
        "health, slowest": max(tally.health),
        "health while learning, 95 of 100": share(tally.health_while_learning, 0.95),
        "health while learning, slowest": max(tally.health_while_learning),
        "warm start of the studio": started,
    }


def table(figures: dict[str, float]) -> str:
    """Return the figures as Markdown.

    >>> print(table({"users": 50, "seconds": 2.0, "follow, median": 0.0123}))
    | what | figure |
    |---|---|
    | users | 50 |
    | seconds | 2 |
    | follow, median | 12 ms |
    """
    lines = ["| what | figure |", "|---|---|"]
    for name, value in figures.items():
        shown = f"{value:,.0f}"
        if isinstance(value, float) and name != "seconds":
            shown = f"{1000 * value:.0f} ms" if value < 1 else f"{value:.1f} s"
        lines.append(f"| {name} | {shown} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
